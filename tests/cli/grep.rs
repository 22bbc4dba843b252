//! `mnem grep`

use super::support::{FIRST, Place, json, lines};

/// A store with three nodes: a text of several lines, a value that is none, and a staged text.
fn notes() -> Place {
    let place = Place::with_store();
    place.mnem(&["put", "doc/a", "one steak\n\nTwo Steaks\r\nthree", "-qm", "a"]).output();
    place.mnem(&["put", "doc/b", "{ \"dish\": \"st\\u0065ak\",\n \"n\": 1.0 }", "-t", "json", "-qm", "b"]).output();
    place.mnem(&["put", "c", "steak and steak"]).output();
    place
}

fn row(id: &str, line: usize, text: &str, spans: &[(usize, usize)]) -> String {
    let spans: Vec<_> = spans.iter().map(|(start, end)| format!("{{\"start\":{start},\"end\":{end}}}")).collect();
    let (id, text, spans) = (json(id), json(text), spans.join(","));
    format!("{{\"v\":1,\"type\":\"match\",\"id\":{id},\"line\":{line},\"text\":{text},\"spans\":[{spans}]}}\n")
}

#[test]
fn it_prints_each_line_that_matches_behind_its_id() {
    let place = notes();
    for (arguments, expected) in [
        (&["steak"][..], &["c:steak and steak", "doc/a:one steak"][..]),
        (&["steak", "doc/"], &["doc/a:one steak"]),
        (&["steak", "c", "doc/*"], &["c:steak and steak", "doc/a:one steak"]),
        (&["-i", "steak"], &["c:steak and steak", "doc/a:one steak", "doc/a:Two Steaks^M"]),
        (&["--ignore-case", "STEAKS"], &["doc/a:Two Steaks^M"]),
        (
            &["-n", "t"],
            &[
                "c:1:steak and steak",
                "doc/a:1:one steak",
                "doc/a:3:Two Steaks^M",
                "doc/a:4:three",
                "doc/b:1:{ \"dish\": \"st\\u0065ak\",",
            ],
        ),
        (&["--line-number", "three", "doc/"], &["doc/a:4:three"]),
        (&["^$"], &["doc/a:"]),
        (&["^three$"], &["doc/a:three"]),
        (&["1.0"], &["doc/b: \"n\": 1.0 }"]),
        (&["-F", "st\\u0065ak"], &["doc/b:{ \"dish\": \"st\\u0065ak\","]),
        (&["--fixed-strings", "-i", "STEAK A"], &["c:steak and steak"]),
        (&["-l", "t"], &["c", "doc/a", "doc/b"]),
        (&["--ids", "e{2}"], &["doc/a"]),
        (&["-c", "t"], &["c:1", "doc/a:3", "doc/b:1"]),
        (&["--count", "-i", "O", "doc/a"], &["doc/a:2"]),
        (&["--literal", "-l", "t", "doc/b"], &["doc/b"]),
    ] {
        place.mnem(&["grep"]).arguments(arguments).says(&lines(expected), "");
    }
    for arguments in [&["no such text"][..], &["-F", "st.ak"], &["--literal", "t", "doc/*"], &["-c", "x"], &["-l", "x"]]
    {
        place.mnem(&["grep"]).arguments(arguments).ends(1, "", "");
        place.mnem(&["grep", "--json"]).arguments(arguments).ends(1, "", "");
    }
}

#[test]
fn it_reads_head_with_what_is_staged_or_a_revision() {
    let place = Place::with_story();
    place.mnem(&["put", "new", "vegan again"]).output();
    place.mnem(&["grep", "vegan"]).says("new:vegan again\n", "");
    place.mnem(&["grep", "vegan", "--session", "other"]).ends(1, "", "");
    place.mnem(&["grep", "vegan", "-r", FIRST]).says("user/diet:vegan since 2019\n", "");
    place.mnem(&["grep", "vegan"]).env("MNEM_REV", "HEAD~2").says("user/diet:vegan since 2019\n", "");
    place.mnem(&["rm", "user/diet"]).output();
    place.mnem(&["grep", "steak"]).ends(1, "", "");
    place.mnem(&["grep", "steak", "--rev", "HEAD"]).says("user/diet:loves steak\n", "");
}

#[test]
fn before_the_first_commit_it_searches_what_is_staged() {
    let place = Place::with_store();
    place.mnem(&["grep", "v"]).ends(1, "", "");
    place.mnem(&["put", "k", "v"]).output();
    place.mnem(&["grep", "v"]).says("k:v\n", "");
    place.mnem(&["grep", "v", "-r", "HEAD"]).refuses(
        128,
        "mnem: error[bad-revision]: no commit yet on 'main'\n\
         hint: make one with 'mnem put ID CONTENT' and 'mnem commit -m MESSAGE'\n",
    );
}

#[test]
fn as_json_each_line_is_one_row_with_its_matches() {
    let place = notes();
    let a = row("doc/a", 1, "one steak", &[(4, 9)]);
    let c = row("c", 1, "steak and steak", &[(0, 5), (10, 15)]);
    place.mnem(&["grep", "--json", "steak"]).says(&format!("{c}{a}"), "");
    place.mnem(&["grep", "--json", "-nz", "steaks\r$", "-i"]).says(&row("doc/a", 3, "Two Steaks\r", &[(4, 11)]), "");
    place.mnem(&["grep", "--json", "x*$", "c"]).says(&row("c", 1, "steak and steak", &[]), "");
    let value = "{ \"dish\": \"st\\u0065ak\",";
    place.mnem(&["grep", "--json", "dish"]).says(&row("doc/b", 1, value, &[(3, 7)]), "");
    let count =
        |id: &str, count: usize| format!("{{\"v\":1,\"type\":\"matches\",\"id\":\"{id}\",\"count\":{count}}}\n");
    for option in ["-l", "-c"] {
        let rows = format!("{}{}", count("c", 1), count("doc/a", 2));
        place.mnem(&["grep", "--json", option, "-i", "steak", "c", "doc/a"]).says(&rows, "");
    }
}

#[test]
fn what_a_terminal_would_act_on_is_escaped_for_people_and_exact_with_nul_and_in_json() {
    let place = Place::with_store();
    let (id, text) = ("a\u{202e}", "x\u{1b}[31m\ty\u{202e}");
    place.mnem(&["put", id, text]).output();
    place.mnem(&["grep", "x"]).says("a\\u{202e}:x^[[31m\ty\\u{202e}\n", "");
    place.mnem(&["grep", "-c", "x"]).says("a\\u{202e}:1\n", "");
    place.mnem(&["grep", "-l", "x"]).says("a\\u{202e}\n", "");
    place.mnem(&["grep", "-nz", "x"]).says(&format!("{id}:1:{text}\0"), "");
    place.mnem(&["grep", "-cz", "x"]).says(&format!("{id}:1\0"), "");
    place.mnem(&["grep", "-lz", "x"]).says(&format!("{id}\0"), "");
    place.mnem(&["grep", "--json", "x"]).says(&row(id, 1, text, &[(0, 1)]), "");
    let colored = "\u{1b}[1ma\\u{202e}\u{1b}[0m:1:x^[[31m\t\u{1b}[7my\u{1b}[0m\\u{202e}\n";
    place.mnem(&["grep", "-n", "y", "--color", "always"]).says(colored, "");
}

#[test]
fn a_long_line_is_cut_for_people_alone() {
    let place = Place::with_store();
    let text = format!("{}needle{}", "x".repeat(100_000), "y".repeat(100_000));
    place.mnem(&["put", "k", "-"]).input(text.clone()).output();
    let shown = format!("{}needle{}", "x".repeat(200), "y".repeat(794));
    place.mnem(&["grep", "needle"]).says(&format!("k:[... 99800 bytes ...]{shown}[... 99206 bytes ...]\n"), "");
    place.mnem(&["grep", "-z", "needle"]).says(&format!("k:{text}\0"), "");
    place.mnem(&["grep", "--json", "needle"]).says(&row("k", 1, &text, &[(100_000, 100_006)]), "");
}

#[test]
fn a_regular_expression_may_begin_with_a_dash_unless_it_looks_like_an_option() {
    let place = Place::with_store();
    place.mnem(&["put", "k", "a -5 --x -v -rf"]).output();
    for arguments in
        [&["-5"][..], &["-5 *--"], &["-[vw]"], &["-F", "-5 --x"], &["--", "--x"], &["-F", "--", "-v"], &["--", "-rf"]]
    {
        place.mnem(&["grep", "-l"]).arguments(arguments).says("k\n", "");
    }
    let hint = "hint: mnem grep -- REGEX\n";
    for word in ["--nope", "--x=1", "-e", "-w", "-iw"] {
        let said = format!("mnem: error[usage]: unknown option '{word}'\n{hint}");
        place.mnem(&["grep", word, "k"]).refuses(129, &said);
    }
    let said = "mnem: error[usage]: '-rHEAD' is text, or the option -r\nhint: -r HEAD, or mnem grep -- REGEX\n";
    place.mnem(&["grep", "-rHEAD", "k"]).refuses(129, said);
}

#[test]
fn a_wrong_call_is_refused() {
    let place = Place::with_story();
    let help = "hint: see 'mnem grep --help'\n";
    place.mnem(&["grep", "(\u{1b}"]).refuses(129, "mnem: error[bad-pattern]: REGEX '(^[': unclosed group\n");
    place.mnem(&["grep", "x", "a["]).refuses(
        129,
        "mnem: error[bad-pattern]: 'a[': a '[' has no ']' in pattern 'a['\n\
         hint: such as 'user/' or 'user/*'; '--literal' takes * ? [ as they are\n",
    );
    for (options, said) in [
        (["-l", "-c"], "'--ids' cannot be used with '--count'"),
        (["-l", "-n"], "'--ids' cannot be used with '--line-number'"),
        (["-c", "-n"], "'--count' cannot be used with '--line-number'"),
    ] {
        let said = format!("mnem: error[usage]: the argument {said}\n{help}");
        place.mnem(&["grep", "x"]).arguments(options).refuses(129, &said);
    }
    let missing = "the following required arguments were not provided: <REGEX>";
    place.mnem(&["grep"]).refuses(129, &format!("mnem: error[usage]: {missing}\n{help}"));
}
