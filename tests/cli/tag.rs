//! `mnem tag`

use super::support::{FIRST, Place, SECOND, THIRD, json};

const TIME: &str = "2025-12-01T08:00:00.000+00:00";

#[test]
fn a_tag_is_set_and_listed_with_what_it_says() {
    let place = Place::with_story();
    place.mnem(&["tag"]).says("", "");
    place.mnem(&["tag", "v1", "HEAD~1"]).says(&format!("{SECOND}\n"), "set tag 'v1'\n");
    place
        .mnem(&["tag", "a/\u{202e}", "-m", "one\nline", "-m", "two"])
        .says(&format!("{THIRD}\n"), "set tag 'a/\\u{202e}'\n");
    place.mnem(&["tag"]).says("a/\\u{202e}\nv1\n", "");
    place.mnem(&["tag", "-z"]).says("a/\u{202e}\0v1\0", "");
    let (second, third) = (&SECOND[..10], &THIRD[..10]);
    place
        .mnem(&["tag", "-n"])
        .says(&format!("a/\\u{{202e}} {third} {TIME} one\nv1 {second} {TIME} plan the dinner\n"), "");
    let row = |name: &str, commit: &str, message: &str, subject: &str| {
        format!(
            "{{\"v\":1,\"type\":\"tag\",\"name\":{},\"commit\":\"{commit}\",\"time\":\"{TIME}\",\
             \"message\":{message},\"subject\":\"{subject}\"}}\n",
            json(name)
        )
    };
    place.mnem(&["tag", "--json"]).says(
        &[
            row("a/\u{202e}", THIRD, &json("one\nline\n\ntwo"), "forget the allergies"),
            row("v1", SECOND, "null", "plan the dinner"),
        ]
        .concat(),
        "",
    );
    place.mnem(&["tag", "v2", "--json", FIRST]).says(
        &format!("{{\"v\":1,\"type\":\"ref\",\"ref\":\"refs/tags/v2\",\"old\":null,\"new\":\"{FIRST}\"}}\n"),
        "set tag 'v2'\n",
    );
}

#[test]
fn the_log_shows_tags_beside_branches() {
    let place = Place::with_story();
    place.mnem(&["tag", "-q", "v1"]).output();
    place.mnem(&["branch", "-q", "b"]).output();
    place
        .mnem(&["log", "--oneline", "-n1"])
        .says(&format!("{} (HEAD -> main, b, tag: v1) forget the allergies\n", &THIRD[..10]), "");
    place.mnem(&["log", "--oneline", "-n1", "--color", "always"]).says(
        &format!(
            "\u{1b}[33m{}\u{1b}[0m (\u{1b}[36m\u{1b}[1mHEAD ->\u{1b}[0m \u{1b}[32m\u{1b}[1mmain\u{1b}[0m, \
             \u{1b}[32m\u{1b}[1mb\u{1b}[0m, \u{1b}[33m\u{1b}[1mtag: v1\u{1b}[0m) forget the allergies\n",
            &THIRD[..10]
        ),
        "",
    );
    let row = place.mnem(&["log", "--json", "-n1"]).output();
    assert!(row.contains(r#""refs":["refs/heads/main","refs/heads/b","refs/tags/v1"]"#), "{row}");
    // No commit moves a tag.
    place.mnem(&["put", "k", "v", "-qm", "k"]).output();
    place.mnem(&["log", "--ids", "-n1", "refs/tags/v1"]).says(&format!("{THIRD}\n"), "");
}

#[test]
fn a_tag_that_is_there_moves_only_by_force_and_back_by_the_line_that_is_shown() {
    let place = Place::with_story();
    let said = "it's 5%:\n\t$HOME `x` \\n \u{202e}";
    place.mnem(&["tag", "-q", "v1", FIRST, "-m", said]).output();
    let before = place.mnem(&["tag", "--json"]).output();
    place.mnem(&["tag", "v1"]).refuses(
        128,
        "mnem: error[ref-exists]: the tag 'v1' exists already\nhint: move it with 'mnem tag --force v1 REV'\n",
    );
    let moved = place.mnem(&["tag", "-f", "v1"]).answer();
    assert_eq!(moved.stdout, format!("{THIRD}\n"));
    assert!(moved.stderr.starts_with(&format!("moved tag 'v1' (was {})\nto undo: ", &FIRST[..10])), "{moved:?}");
    let listed = place.mnem(&["tag", "--json"]).output();
    assert!(listed.contains(THIRD) && listed.contains("\"message\":null"), "{listed}");
    assert_eq!(place.undo(&moved).answer().status, 0);
    assert_eq!(place.mnem(&["tag", "--json"]).output(), before);
    let deleted = place.mnem(&["tag", "-d", "v1"]).answer();
    assert_eq!(deleted.stdout, format!("{FIRST}\n"));
    assert!(deleted.stderr.starts_with(&format!("deleted tag 'v1' (was {})\nto undo: ", &FIRST[..10])), "{deleted:?}");
    place.mnem(&["tag"]).says("", "");
    assert_eq!(place.undo(&deleted).answer().status, 0);
    assert_eq!(place.mnem(&["tag", "--json"]).output(), before);
    let files = place.files();
    place.mnem(&["tag", "-qf", "v1", FIRST, "-m", said]).says(&format!("{FIRST}\n"), "");
    assert!(place.files() == files, "nothing is written for nothing");
    place.mnem(&["tag", "-qf", "v1", FIRST, "-m", "other"]).says(&format!("{FIRST}\n"), "");
    assert!(place.mnem(&["tag", "--json"]).output().contains("\"message\":\"other\""));
}

#[test]
fn a_pattern_chooses_which_tags_are_listed() {
    let place = Place::with_story();
    for name in ["v1", "v1/a", "v2", "w"] {
        place.mnem(&["tag", "-q", name]).output();
    }
    for (arguments, names) in [
        (&["-l"][..], "v1\nv1/a\nv2\nw\n"),
        (&["--list", "v*"], "v1\nv2\n"),
        (&["-l", "v1/", "w"], "v1/a\nw\n"),
        (&["-l", "none"], ""),
        (&["-l", "v**"], "v1\nv1/a\nv2\n"),
    ] {
        place.mnem(&["tag"]).arguments(arguments).says(names, "");
    }
    let long = format!("w {} {TIME} forget the allergies\n", &THIRD[..10]);
    place.mnem(&["tag", "-n", "w"]).says(&long, "");
    place.mnem(&["tag", "-l", "--long", "w"]).says(&long, "");
    place.mnem(&["tag", "-l", "["]).refuses(
        129,
        "mnem: error[bad-pattern]: '[': a '[' has no ']' in pattern '['\n\
         hint: such as 'user/' or 'user/*'; '--literal' takes * ? [ as they are\n",
    );
}

#[test]
fn tags_are_deleted_all_or_none() {
    let place = Place::with_story();
    place.mnem(&["tag", "-q", "one"]).output();
    place.mnem(&["tag", "-q", "second", FIRST]).output();
    place
        .mnem(&["tag", "-d", "one", "secnod"])
        .refuses(128, "mnem: error[bad-revision]: no tag 'secnod'\nhint: did you mean 'second'?\n");
    place.mnem(&["tag", "-d", "main"]).refuses(128, "mnem: error[bad-revision]: no tag 'main'\nhint: see 'mnem tag'\n");
    place.mnem(&["tag", "-d", "second", "one", "--json"]).says(
        &format!(
            "{{\"v\":1,\"type\":\"ref\",\"ref\":\"refs/tags/one\",\"old\":\"{THIRD}\",\"new\":null}}\n\
             {{\"v\":1,\"type\":\"ref\",\"ref\":\"refs/tags/second\",\"old\":\"{FIRST}\",\"new\":null}}\n"
        ),
        &format!(
            "deleted tag 'one' (was {})\nto undo: MNEM_DATE={TIME} mnem tag one {THIRD}\n\
             deleted tag 'second' (was {})\nto undo: MNEM_DATE={TIME} mnem tag second {FIRST}\n",
            &THIRD[..10],
            &FIRST[..10]
        ),
    );
}

#[test]
fn a_wrong_call_is_refused() {
    let place = Place::with_story();
    place.mnem(&["tag", "a..b"]).refuses(
        129,
        "mnem: error[bad-ref]: 'a..b': a tag name may not hold '..' or '@{' or end with '.'\n\
         hint: such as 'v1' or 'before/import'\n",
    );
    place
        .mnem(&["tag", "a", "HEAD", "c"])
        .refuses(129, "mnem: error[usage]: unexpected argument 'c'\nhint: mnem tag NAME REV\n");
    place.mnem(&["tag", "a", "-m", " "]).refuses(
        129,
        "mnem: error[usage]: the message may not be blank\nhint: say what changed: -m 'learn preferences'\n",
    );
    for arguments in [
        &["-d"][..],
        &["-f"],
        &["-m", "x"],
        &["-l", "-f", "x"],
        &["-l", "-d", "x"],
        &["-n", "-m", "x"],
        &["-d", "-f", "x"],
        &["-d", "x", "-m", "x"],
    ] {
        let answer = place.mnem(&["tag"]).arguments(arguments).answer();
        assert_eq!((answer.status, answer.stdout.as_str()), (129, ""), "{arguments:?}: {answer:?}");
    }
    let empty = Place::with_store();
    empty.mnem(&["tag", "v1"]).refuses(
        128,
        "mnem: error[bad-revision]: no commit yet on 'main'\n\
         hint: make one with 'mnem put ID CONTENT' and 'mnem commit -m MESSAGE'\n",
    );
    place.mnem(&["tag", "v1"]).env("MNEM_REV", "HEAD").refuses(
        129,
        "mnem: error[read-only-rev]: MNEM_REV is set to 'HEAD', so nothing is written\n\
         hint: to write, run it without: env -u MNEM_REV mnem …\n",
    );
}
