//! `mnem test`

use super::support::{FIRST, Place, SECOND};

#[test]
fn the_answer_is_the_exit_status_and_each_predicate_that_fails_is_told() {
    let place = Place::with_story();
    let steak = ["test", "--equals", "user/diet", "loves steak"];
    place.mnem(&steak).says("", "");
    place.mnem(&steak).arguments(["--absent", "user/allergies", "--not", "--present", "x"]).says("", "");
    let told = "--equals user/diet vegan: 'user/diet' is \"loves steak\"\n\
        --not --path-equals plan/dinner /at '\"20:00\"': 'plan/dinner' has \"20:00\" at '/at'\n\
        --path-exists plan/dinner /seats/0: 'plan/dinner' has nothing at '/seats/0'\n\
        --contains user/allergies peanuts: there is no node 'user/allergies'\n\
        --count '*/*' gt 2: 2 nodes match\n\
        --not --count user/ eq 1: 1 node matches\n\
        --any 'user/*' tofu: no node that matches contains it\n\
        --not --any '**' 2: 'plan/dinner' is {\"at\": \"20:00\"}\n\
        --equals user/diet '': 'user/diet' is \"loves steak\"\n";
    let words = [
        &["test", "--equals", "user/diet", "vegan", "--not", "--path-equals", "plan/dinner", "/at", "\"20:00\""][..],
        &["--path-exists", "plan/dinner", "/seats/0", "--present", "user/diet", "--contains", "user/allergies"],
        &["peanuts", "--count", "*/*", "gt", "2", "--not", "--count", "user/", "eq", "1", "--any", "user/*", "tofu"],
        &["--not", "--any", "**", "2", "--equals", "user/diet", ""],
    ];
    place.mnem(&words.concat()).ends(1, "", told);
    place.mnem(&words.concat()).arguments(["-q"]).ends(1, "", "");
}

#[test]
fn it_reads_head_with_what_is_staged_or_a_revision() {
    let place = Place::with_story();
    place.mnem(&["put", "user/diet", "v"]).output();
    place.mnem(&["rm", "plan/dinner"]).output();
    place
        .mnem(&["test", "--equals", "user/diet", "v", "--absent", "plan/dinner", "--count", "**", "eq", "1"])
        .says("", "");
    let steak = ["test", "--equals", "user/diet", "loves steak", "--count", "**", "eq", "2"];
    place.mnem(&steak).arguments(["--session", "other"]).says("", "");
    place.mnem(&steak).arguments(["-r", "HEAD"]).says("", "");
    place.mnem(&["test", "-r", SECOND, "--any", "user/", "steak"]).says("", "");
    let vegan = ["test", "--present", "user/allergies", "--rev", FIRST, "--matches", "user/diet", "^vegan"];
    place.mnem(&vegan).says("", "");
    let vegan = ["test", "--matches", "user/diet", "2019$"];
    place.mnem(&vegan).env("MNEM_REV", "HEAD~2").says("", "");
    place.mnem(&vegan).ends(1, "", "--matches user/diet '2019$': 'user/diet' is \"v\"\n");
}

#[test]
fn words_behind_a_predicate_are_its_own_wherever_options_stand() {
    let place = Place::with_store();
    for (id, content) in [("-r", "--json"), ("--", "-5"), ("--not", "--not")] {
        place.mnem(&["put", "--", id, content]).output();
    }
    let words = [
        &["-q", "test", "--equals", "-r", "--json", "--equals", "--", "-5"][..],
        &["--not", "--contains", "--", "--", "--session", "default", "--contains", "--not", "--not"],
        &["--present=-r", "--not", "--present", "-x"],
    ];
    place.mnem(&words.concat()).says("", "");
}

#[test]
fn as_json_each_predicate_is_one_row() {
    let place = Place::with_story();
    place.mnem(&["put", "null", "-t", "json", "{ \"a\" : null }"]).output();
    let row = |holds: bool, predicate: &str, rest: &str| {
        format!("{{\"v\":1,\"type\":\"test\",\"holds\":{holds},\"predicate\":{predicate},{rest}}}\n")
    };
    let rows = [
        row(
            true,
            r#"["--not","--equals","null","\"\u001b"]"#,
            r#""id":"null","present":true,"content":{"a":null},"count":null"#,
        ),
        row(
            true,
            r#"["--path-equals","null","/a","null"]"#,
            r#""id":"null","present":true,"content":null,"count":null"#,
        ),
        row(
            true,
            r#"["--not","--path-exists","null","/b"]"#,
            r#""id":"null","present":false,"content":null,"count":null"#,
        ),
        row(false, r#"["--present","none"]"#, r#""id":"none","present":false,"content":null,"count":null"#),
        row(true, r#"["--count","none/","lt","1"]"#, r#""id":null,"present":false,"content":null,"count":0"#),
        row(true, r#"["--count","**","ne","2"]"#, r#""id":null,"present":true,"content":null,"count":3"#),
        row(
            true,
            r#"["--any","*/*","0"]"#,
            r#""id":"plan/dinner","present":true,"content":{"at":"20:00"},"count":null"#,
        ),
        row(true, r#"["--not","--any","*","tofu"]"#, r#""id":null,"present":false,"content":null,"count":null"#),
    ];
    let words = [
        &["test", "--json", "--not", "--equals", "null", "\"\u{1b}", "--path-equals", "null", "/a", "null"][..],
        &["--not", "--path-exists", "null", "/b", "--present", "none", "--count", "none/", "lt", "1"],
        &["--count", "**", "ne", "2", "--any", "*/*", "0", "--not", "--any", "*", "tofu"],
    ];
    let told = "--present none: there is no node 'none'\n";
    place.mnem(&words.concat()).ends(1, &rows.concat(), told);
    place
        .mnem(&["test", "--json", "--absent", "none"])
        .says(&row(true, r#"["--absent","none"]"#, r#""id":"none","present":false,"content":null,"count":null"#), "");
}

#[test]
fn before_the_first_commit_the_memory_is_what_is_staged() {
    let place = Place::with_store();
    place.mnem(&["test", "--count", "**", "eq", "0", "--absent", "a"]).says("", "");
    place.mnem(&["put", "a", "1"]).output();
    place.mnem(&["test", "--count", "**", "eq", "1", "--equals", "a", "1"]).says("", "");
    let unborn = "mnem: error[bad-revision]: no commit yet on 'main'\n\
        hint: make one with 'mnem put ID CONTENT' and 'mnem commit -m MESSAGE'\n";
    place.mnem(&["test", "--present", "a", "-r", "HEAD"]).refuses(128, unborn);
}

#[test]
fn what_a_terminal_would_act_on_is_escaped() {
    let place = Place::with_store();
    let long = format!("\u{1b}[31m\u{202e}{}", "x".repeat(100));
    place.mnem(&["put", "a\u{202e}", &long]).output();
    let told = format!(
        "--equals \"$(printf %b 'a\\0342\\0200\\0256')\" \"$(printf %b 'it\\0047s\\0033')\": 'a\\u{{202e}}' is \"\\u001b[31m\\u{{202e}}{}…\n",
        "x".repeat(60 - "\"\\u001b[31m\u{202e}".chars().count())
    );
    place.mnem(&["test", "--equals", "a\u{202e}", "it's\u{1b}"]).ends(1, "", &told);
}

#[test]
fn a_wrong_call_is_refused() {
    let place = Place::with_story();
    let usage = |message: &str, hint: &str| format!("mnem: error[usage]: {message}\nhint: {hint}\n");
    let bad = |message: &str| format!("mnem: error[bad-predicate]: {message}\nhint: see 'mnem test --help'\n");
    let help = "see 'mnem test --help'";
    for (words, said) in [
        (&[][..], usage("no predicate is named", "mnem test --contains user/diet vegan")),
        (&["-r", "HEAD"], usage("no predicate is named", "mnem test --contains user/diet vegan")),
        (&["user/diet"], usage("unexpected argument 'user/diet' found", help)),
        (&["--present", "a", "b"], usage("unexpected argument 'b' found", help)),
        (&["--equal", "a", "b"], usage("unexpected argument '--equal' found", "a similar argument exists: '--equals'")),
        (&["--equals", "a"], usage("2 values required for '--equals <ID> <TEXT>' but 1 was provided", help)),
        (&["--present"], usage("a value is required for '--present <ID>' but none was supplied", help)),
        (&["--not"], bad("'--not' needs a predicate behind it")),
        (&["--not", "--not", "--present", "a"], bad("'--not' needs a predicate behind it")),
        (&["--present", ""], bad("'--present': '' is no id: an id may not be blank")),
        (&["--any", "a[", "x"], bad("'--any': 'a[' is no pattern: a '[' has no ']' in pattern 'a['")),
        (
            &["--equals-json", "a", "{"],
            bad("'--equals-json': '{' is no JSON value: EOF while parsing an object at line 1 column 1"),
        ),
        (&["--path-exists", "a", "b"], bad("'--path-exists': JSON pointer 'b' does not begin with '/'")),
        (&["--matches", "a", "("], bad("'--matches': '(' is no regex: unclosed group")),
        (&["--count", "a", "=", "1"], bad("'--count': '=' is none of 'lt', 'le', 'eq', 'ne', 'ge', 'gt'")),
        (&["--count", "a", "eq", "-1"], bad("'--count': '-1' is no number of nodes")),
    ] {
        place.mnem(&["test"]).arguments(words).refuses(129, &said);
    }
    let said = "{\"v\":1,\"type\":\"error\",\"code\":\"bad-predicate\",\"message\":\"'--matches': '(' is no regex: unclosed \
        group\",\"hint\":\"see 'mnem test --help'\",\"exit\":129}\n";
    place.mnem(&["test", "--json", "--matches", "a", "("]).refuses(129, said);
    let empty = Place::empty();
    let no_store = "mnem: error[no-store]: no memory store in '[PLACE]' or any parent directory\n\
        hint: create one with 'mnem init'\n";
    empty.mnem(&["test", "--absent", "a"]).refuses(128, no_store);
}
