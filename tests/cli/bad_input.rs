//! Refusals: each has its word, its status and a hint where there is one, and leaves the store byte for byte as it was.

use super::support::{Place, Run, json};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

const ID_HINT: &str = "such as 'user/diet'; 'mnem put --new CONTENT' generates one";
const TIME_HINT: &str = "a time looks like 2026-11-30T18:05:00+01:00";
const ROW_HINT: &str = "a row is such as {\"id\":\"user/diet\",\"content\":\"vegan\"}";
const UTF8_HINT: &str = "store bytes as text, such as the output of 'base64 -w0 FILE'";
const DAMAGE_HINT: &str = "nothing was changed; keep a copy of the store before anything else";

/// A store with commits and with a staged change.
fn place() -> Place {
    let place = Place::with_story();
    place.mnem(&["put", "k", "staged"]).says("k\n", "");
    place
}

/// What is said of an error, for people and as JSON.
fn error(status: i32, word: &str, message: &str, hint: &str) -> [String; 2] {
    let hints: String = hint.lines().map(|line| format!("hint: {line}\n")).collect();
    let in_json = if hint.is_empty() { "null".to_owned() } else { json(hint) };
    [
        format!("mnem: error[{word}]: {message}\n{hints}"),
        format!(
            "{{\"v\":1,\"type\":\"error\",\"code\":\"{word}\",\"message\":{},\"hint\":{in_json},\"exit\":{status}}}\n",
            json(message)
        ),
    ]
}

/// Claims the refusal for people and with `--json`, which stands first.
#[track_caller]
fn refused(run: impl Fn(&[&str]) -> Run, status: i32, word: &str, message: &str, hint: &str) {
    let [text, row] = error(status, word, message, hint);
    run(&[]).refuses(status, &text);
    run(&["--json"]).refuses(status, &row);
}

#[test]
fn without_a_store_a_command_that_needs_one_says_so() {
    let place = Place::empty();
    for arguments in [
        &["put", "k", "v"][..],
        &["put", "k", "v", "-m", "c"],
        &["get", "k"],
        &["commit", "-m", "c"],
        &["commit", "--dry-run"],
        &["log"],
        &["log", "--", "k"],
    ] {
        let run = |json: &[&str]| place.mnem(json).arguments(arguments);
        let message = "no memory store in '[PLACE]' or any parent directory";
        refused(run, 128, "no-store", message, "create one with 'mnem init'");
    }
}

#[test]
fn a_wrong_call_is_usage() {
    let place = place();
    let help = "see 'mnem --help'";
    let put = "mnem put ID CONTENT, or mnem put --new CONTENT";
    let content = "mnem put ID CONTENT; '-' in its place reads standard input";
    let rows = "with --jsonl ids and contents come from the rows";
    for (arguments, message, hint) in [
        (&[][..], "no command is named", help),
        (&["help"], "unrecognized subcommand 'help'", help),
        (&["put"], "no id is given", put),
        (&["put", "k"], "no content is given", content),
        (&["put", "--new"], "no content is given", content),
        (&["put", "--new", "k", "v"], "with --new only the content is given", "mnem put --new CONTENT"),
        (&["put", "k", "v", "w"], "unexpected argument 'w' found", help),
        (
            &["put", "k", "v", "-F", "f"],
            "CONTENT and -F both give the content",
            "mnem put ID CONTENT, or mnem put ID -F FILE",
        ),
        (&["put", "k", "-F"], "a value is required for '--file <FILE>' but none was supplied", help),
        (
            &["put", "k", "v", "-t", "yaml"],
            "invalid value 'yaml' for '--type <TYPE>' [possible values: text, json]",
            help,
        ),
        (&["put", "--jsonl", "-", "k"], rows, "mnem put --jsonl FILE"),
        (&["put", "--jsonl", "-", "--new"], rows, "mnem put --jsonl FILE"),
        (&["put", "--jsonl", "-", "-F", "f"], rows, "mnem put --jsonl FILE"),
        (&["put", "--jsonl", "-", "-t", "json"], rows, "mnem put --jsonl FILE"),
        (&["put", "k", "v", "-m", " \n"], "the message may not be blank", "say what changed: -m 'learn preferences'"),
        (&["get"], "the following required arguments were not provided: <ID>...", help),
        (&["get", "k", "--stdin"], "the argument '[ID]...' cannot be used with '--stdin'", help),
        (&["get", "k", "--path", "a"], "JSON pointer 'a' does not begin with '/'", "such as --path /a/0"),
        (
            &["get", "k", "--path", "/~2"],
            "JSON pointer '/~2' has a '~' that is neither '~0' nor '~1'",
            "such as --path /a/0",
        ),
        (&["commit"], "no message is given", "mnem commit -m MESSAGE"),
        (&["commit", "-m", ""], "the message may not be blank", "say what changed: -m 'learn preferences'"),
        (
            &["commit", "-m", "c", "-F", "f"],
            "the argument '--message <MESSAGE>' cannot be used with '--file <FILE>'",
            help,
        ),
        (
            &["commit", "-m", "c", "--allow-empty", "--skip-empty"],
            "the argument '--allow-empty' cannot be used with '--skip-empty'",
            help,
        ),
        (
            &["commit", "-m", "c", "--author", " "],
            "--author may not be blank",
            "such as --author 'Name <mail@example.org>'",
        ),
        (
            &["commit", "-m", "c", "--author", "a\rb"],
            "--author may have one line only",
            "such as --author 'Name <mail@example.org>'",
        ),
        (&["log", "HEAD", "-r", "HEAD"], "REV and --rev both name a revision", "mnem log REV"),
        (&["log", "--ids", "--oneline"], "the argument '--ids' cannot be used with '--oneline'", help),
        (&["log", "-n", "-1"], "invalid value '-1' for '--max-count <COUNT>': invalid digit found in string", help),
        (&["log", "--skip", "-1"], "invalid value '-1' for '--skip <COUNT>': invalid digit found in string", help),
        (&["log", "-n", "x"], "invalid value 'x' for '--max-count <COUNT>': invalid digit found in string", help),
        (
            &["log", "--skip", "99999999999999999999"],
            "invalid value '99999999999999999999' for '--skip <COUNT>': number too large to fit in target type",
            help,
        ),
        (&["log", "--nope"], "unexpected argument '--nope' found", "a similar argument exists: '--no-pager'"),
        (
            &["log", "--color", "red"],
            "invalid value 'red' for '--color <WHEN>' [possible values: auto, always, never]",
            help,
        ),
        (&["log", "-q", "-v"], "the argument '--quiet' cannot be used with '--verbose'", help),
        (
            &["log", "--lock-timeout", "soon"],
            "--lock-timeout: cannot read 'soon' as a duration such as 10s, 500ms, 2m or 1h",
            "such as 500ms, 10s or 2m",
        ),
        (&["init", "--store", "a", "b"], "PATH and --store both name a place", "mnem init PATH"),
        (&["version", "x"], "unexpected argument 'x' found", help),
        (&["demo", "x"], "unexpected argument 'x' found", help),
        (&["-q", "--session", "s", "demo", "x"], "unexpected argument 'x' found", "see 'mnem demo --help'"),
        (
            &["--color", "red", "demo"],
            "invalid value 'red' for '--color <WHEN>' [possible values: auto, always, never]",
            "see 'mnem demo --help'",
        ),
    ] {
        let called = arguments.first().filter(|word| hint == help && **word != "help");
        let hint = called.map_or(hint.to_owned(), |command| format!("see 'mnem {command} --help'"));
        refused(|json| place.mnem(json).arguments(arguments), 129, "usage", message, &hint);
    }
    let blank = |json: &[&str]| place.mnem(json).arguments(["commit", "-m", "c"]).env("MNEM_AUTHOR", " \u{a0}");
    refused(blank, 129, "usage", "MNEM_AUTHOR may not be blank", "such as --author 'Name <mail@example.org>'");
    let [several, _] = error(129, "usage", "several ids are only printed with --json", "mnem get --json ID ID …");
    place.mnem(&["get", "user/diet", "k"]).refuses(129, &several);
    place.mnem(&["get", "--stdin"]).input("k\n").refuses(129, &several);
    let soon = |json: &[&str]| place.mnem(json).arguments(["log"]).env("MNEM_LOCK_TIMEOUT", "soon");
    let message = "MNEM_LOCK_TIMEOUT: cannot read 'soon' as a duration such as 10s, 500ms, 2m or 1h";
    refused(soon, 129, "usage", message, "such as 500ms, 10s or 2m");
}

#[test]
fn an_id_is_refused_alike_by_every_command() {
    let place = place();
    let long = "é".repeat(513);
    let cut = format!("{}…", "é".repeat(60));
    for (id, shown, reason) in [
        ("", "", "an id may not be blank"),
        (" ", " ", "an id may not be blank"),
        ("\u{2003}\u{a0}", "\u{2003}\u{a0}", "an id may not be blank"),
        (&long, &cut, "an id may have at most 1024 bytes, this one has 1026"),
        ("a\nb", "a^Jb", "an id may not hold control characters, this one has U+000A at byte 1"),
        ("é\u{7f}", "é^?", "an id may not hold control characters, this one has U+007F at byte 2"),
        ("\u{9b}1m", "\\u{9b}1m", "an id may not hold control characters, this one has U+009B at byte 0"),
    ] {
        let row = format!("{{\"content\":1}}\n{{\"content\":1,\"id\":{}}}\n", json(id));
        for (arguments, place_of_id) in [
            (&["put", id, "v"][..], ""),
            (&["put", id, "v", "-m", "c"], ""),
            (&["put", "--jsonl", "-"], "line 2: the key 'id': "),
            (&["get", id], ""),
            (&["get", "--json", "user/diet", id], ""),
            (&["rm", id], ""),
            (&["log", "--", "user/diet", id], ""),
            (&["ls", id], ""),
            (&["restore", "user/diet", id], ""),
            (&["export", id], ""),
            (&["commit", "-m", "c", "--only", id], ""),
        ] {
            let message = format!("{place_of_id}'{shown}': {reason}");
            let [text, _] = error(129, "bad-id", &message, ID_HINT);
            let run = place.mnem(arguments).input(row.clone());
            if arguments.contains(&"--json") {
                let [_, row] =
                    error(129, "bad-id", &format!("'{}': {reason}", if id == long { &cut } else { id }), ID_HINT);
                run.refuses(129, &row);
            } else {
                run.refuses(129, &text);
            }
        }
    }
}

#[test]
fn a_pattern_that_is_none_is_refused() {
    let place = place();
    let hint = "such as 'user/' or 'user/*'; '--literal' takes * ? [ as they are";
    for (pattern, reason) in [
        ("user/[a", "a '[' has no ']' in pattern 'user/[a'"),
        ("[b-a]", "range 'b-a' is upside down in pattern '[b-a]'"),
        ("*\\", "nothing stands behind the last '\\' in pattern '*\\'"),
    ] {
        let run = |json: &[&str]| place.mnem(json).arguments(["log", "--", pattern]);
        refused(run, 129, "bad-pattern", &format!("'{pattern}': {reason}"), hint);
    }
}

#[test]
fn a_time_that_no_calendar_has_is_refused() {
    let place = place();
    let syntax = "a time is written in RFC 3339, such as 2024-05-06T07:08:09Z: ";
    let unreal = "there is no such date, time of day or offset";
    let leap = "a leap second is at 23:59:60 UTC on 30 June or 31 December";
    for (time, reason) in [
        ("", &format!("{syntax}premature end of input")[..]),
        ("1704164645", &format!("{syntax}premature end of input")),
        ("now", &format!("{syntax}premature end of input")),
        ("2024-01-02", &format!("{syntax}premature end of input")),
        ("2024-01-02T03:04:05Zx", &format!("{syntax}trailing input")),
        ("+12024-01-01T00:00:00Z", &format!("{syntax}input contains invalid characters")),
        ("-0044-03-15T00:00:00Z", &format!("{syntax}input contains invalid characters")),
        ("2023-02-29T00:00:00Z", unreal),
        ("2024-01-02T24:00:00Z", unreal),
        ("2024-01-02T03:04:05+24:00", unreal),
        ("2024-01-02T03:04:05", "a time needs an offset: Z, +hh:mm or -hh:mm"),
        ("2024-01-02T03:04:05.1234567890Z", "a time may have at most nine fraction digits, this one has 10"),
        ("2024-01-02T03:04:60Z", leap),
        ("2016-12-31T23:59:60+01:00", leap),
    ] {
        let reason = format!("the event time '{time}': {reason}");
        let run = |json: &[&str]| place.mnem(json).arguments(["put", "k", "v", "--event-time", time]);
        refused(run, 129, "bad-time", &reason, TIME_HINT);
        let rows = format!("{{\"content\":1}}\n{{\"content\":1,\"event_time\":{}}}\n", json(time));
        let run = |json: &[&str]| place.mnem(json).arguments(["put", "--jsonl", "-"]).input(rows.clone());
        refused(run, 129, "bad-time", &format!("line 2: the key 'event_time': {reason}"), TIME_HINT);
    }
    let hint = "a time looks like 2026-11-30T18:05:00+01:00, '2026-11-30 18:05', '2 days ago' or @1764522300";
    for (time, reason) in [
        ("soon", "cannot read 'soon' as a time".to_owned()),
        ("1704164645", "cannot read '1704164645' as a time".to_owned()),
        ("2023-02-29", format!("cannot use '2023-02-29' as a time: {unreal}")),
        (
            "@253402300800",
            "cannot use '@253402300800' as a time: a time may not lie outside the years 0000 to 9999".into(),
        ),
    ] {
        let run = |json: &[&str]| place.mnem(json).arguments(["commit", "-m", "c", "--date", time]);
        refused(run, 129, "bad-time", &format!("--date: {reason}"), hint);
        for arguments in [&["commit", "-m", "c"][..], &["put", "k", "v", "-m", "c"], &["put", "--new", "v"]] {
            let run = |json: &[&str]| place.mnem(json).arguments(arguments).env("MNEM_DATE", time);
            refused(run, 129, "bad-time", &format!("MNEM_DATE: {reason}"), hint);
        }
    }
    let run = |json: &[&str]| place.mnem(json).arguments(["commit", "-m", "c", "--date", ""]);
    refused(run, 129, "bad-time", "--date: cannot read '' as a time", hint);
}

#[test]
fn a_session_name_that_is_none_is_refused() {
    let place = place();
    let long = "a".repeat(65);
    for name in ["A", ".a", "-a", "_a", "a/b", "../a", "a b", "é", &long] {
        let message =
            format!("'{name}': a session name has 1 to 64 of a-z 0-9 . _ - and begins with a letter or digit");
        for arguments in
            [&["put", "k", "v"][..], &["put", "k", "v", "-m", "c"], &["get", "k"], &["commit", "-m", "c"], &["log"]]
        {
            let option = format!("--session={name}");
            let by_option = |json: &[&str]| place.mnem(json).arguments(arguments).arguments([&option]);
            refused(by_option, 129, "bad-session", &message, "such as --session agent-7");
            let by_variable = |json: &[&str]| place.mnem(json).arguments(arguments).env("MNEM_SESSION", name);
            refused(by_variable, 129, "bad-session", &message, "such as --session agent-7");
        }
    }
    let run = |json: &[&str]| place.mnem(json).arguments(["log", "--session", ""]);
    let message = "'': a session name has 1 to 64 of a-z 0-9 . _ - and begins with a letter or digit";
    refused(run, 129, "bad-session", message, "such as --session agent-7");
}

#[test]
fn a_branch_name_that_is_none_is_refused() {
    let place = Place::empty();
    let run = |json: &[&str]| place.mnem(json).arguments(["init", "-b", "a b"]);
    let message = "'a b': a branch name may not hold a space, a control character or one of ~ ^ : ? * [ \\";
    refused(run, 129, "bad-ref", message, "such as 'main' or 'agents/seven'");
}

#[test]
fn a_claim_and_any_other_kind_are_refused() {
    let place = place();
    for (kind, reason) in [
        ("claim", "content kind 'claim' is reserved for a later version"),
        ("Note", "unknown content kind 'Note'"),
        ("", "unknown content kind ''"),
    ] {
        let run = |json: &[&str]| place.mnem(json).arguments(["put", "k", "v", "--kind", kind]);
        refused(run, 129, "unsupported-kind", reason, "the one kind is 'note'");
        let row = format!("{{\"content\":1,\"content_kind\":\"{kind}\"}}");
        let run = |json: &[&str]| place.mnem(json).arguments(["put", "--jsonl", "-"]).input(row.clone());
        let message = format!("line 1: the key 'content_kind': {reason}");
        refused(run, 129, "unsupported-kind", &message, "the one kind is 'note'");
    }
}

#[test]
fn a_revision_that_names_no_commit_is_refused() {
    let place = place();
    let grammar = "a revision is HEAD, a branch, a tag or a commit id, with ~N, ^N, @{N} or @{TIME} behind it";
    let log = "see 'mnem log --oneline'";
    for (revision, message, hint) in [
        ("mian", "unknown revision 'mian'", "did you mean 'main'?"),
        ("main/", "unknown revision 'main/'", "did you mean 'main'?"),
        ("nothing-like-it", "unknown revision 'nothing-like-it'", log),
        ("HEAD1", "unknown revision 'HEAD1'", log),
        ("refs/heads/none", "unknown revision 'refs/heads/none'", log),
        ("8f5", "unknown revision '8f5'", log),
        ("0000", "unknown revision '0000'", log),
        (&"0".repeat(64), &format!("unknown revision '{}'", "0".repeat(64)), log),
        (&"0".repeat(65), &format!("unknown revision '{}'", "0".repeat(65)), log),
        ("HEAD~3", "'HEAD~3' leads behind the first commit", log),
        ("main~1^^", "'main~1^^' asks for a parent that the commit does not have", log),
        ("HEAD~18446744073709551615", "'HEAD~18446744073709551615' leads behind the first commit", log),
        ("HEAD^2", "'HEAD^2' asks for a parent that the commit does not have", log),
        ("", "'' is not a revision: it names no commit", grammar),
        ("~1", "'~1' is not a revision: it names no commit", grammar),
        ("a b", "'a b' is not a revision: a name holds no white space and no control characters", grammar),
        ("HEAD~x", "'HEAD~x' is not a revision: behind a name only ~N, ^N, @{N} and @{TIME} may stand", grammar),
        (
            "HEAD^{tree}",
            "'HEAD^{tree}' is not a revision: behind a name only ~N, ^N, @{N} and @{TIME} may stand",
            grammar,
        ),
        ("HEAD~18446744073709551616", "'HEAD~18446744073709551616' is not a revision: a count is too large", grammar),
    ] {
        refused(|json| place.mnem(json).arguments(["get", "k", "--rev", revision]), 128, "bad-revision", message, hint);
        let behind = "; ids stand behind '--', such as 'mnem log -- ID'";
        let unknown = if message.starts_with("unknown") && hint == log { behind } else { "" };
        let hint = format!("{hint}{unknown}");
        for arguments in [&["log", revision][..], &["log", "-r", revision]] {
            refused(|json| place.mnem(json).arguments(arguments), 128, "bad-revision", message, &hint);
        }
    }
}

#[test]
fn json_that_is_none_is_refused_with_line_and_column() {
    let place = place();
    for (text, reason) in [
        ("", "EOF while parsing a value at line 1 column 0"),
        ("vegan", "expected value at line 1 column 1"),
        ("{\"a\":1,}", "key must be a string at line 1 column 8"),
        ("[1,\n 2,\n tru]", "expected ident at line 3 column 5"),
        ("[1] [2]", "trailing characters at line 1 column 5"),
        ("01", "invalid number at line 1 column 2"),
        ("1.", "invalid number at line 1 column 2"),
        ("+1", "expected value at line 1 column 1"),
        ("NaN", "expected value at line 1 column 1"),
        ("'a'", "expected value at line 1 column 1"),
        ("\"\\x\"", "invalid escape at line 1 column 3"),
        ("\"\\ud8\"", "EOF while parsing a string at line 1 column 6"),
        ("\"a\nb\"", "control character (\\u0000-\\u001F) found while parsing a string at line 1 column 2"),
        ("[\"é\", x]", "expected value at line 1 column 8"),
        ("{\"a\" 1}", "expected `:` at line 1 column 6"),
        ("{a:1}", "key must be a string at line 1 column 2"),
        ("[1\u{a0}]", "expected `,` or `]` at line 1 column 3"),
        ("\u{feff}{\"a\":1}", "the JSON begins with a byte-order mark (U+FEFF)"),
    ] {
        let message = format!("the content: {reason}");
        let hint = "text that is no JSON is put without '-t json'";
        for arguments in [&["put", "k", "-t", "json", "-"][..], &["put", "--new", "-t", "json", "-"]] {
            let run = |json: &[&str]| place.mnem(json).arguments(arguments).input(text);
            refused(run, 129, "bad-json", &message, hint);
        }
        place.write("f", text);
        let run = |json: &[&str]| place.mnem(json).arguments(["put", "k", "-t", "json", "-F", "f", "-m", "c"]);
        refused(run, 129, "bad-json", &message, hint);
        let rows = format!("{{\"content\":1}}\n\n{{\"id\":\"k\",\"content_json\":{}}}\n", json(text));
        let run = |json: &[&str]| place.mnem(json).arguments(["put", "--jsonl", "-"]).input(rows.clone());
        refused(run, 129, "bad-json", &format!("line 3: the key 'content_json': {reason}"), ROW_HINT);
    }
    for (text, reason) in [
        (
            "{\"who\":\"me\"}",
            "unknown key 'who'; the keys are 'agent_step', 'observation', 'tool_call', 'source', 'note'",
        ),
        ("{\"note\":1}", "the key 'note': invalid type: integer `1`, expected a string"),
        ("{\"note\":\"a\",\"note\":null}", "the key 'note' stands twice"),
        ("[null,null,null,null,null]", "invalid type: sequence, expected a JSON object"),
        ("web", "expected value at column 1"),
        ("", "EOF while parsing a value"),
    ] {
        let run = |json: &[&str]| place.mnem(json).arguments(["put", "k", "v", "--provenance", text]);
        let hint = "such as --provenance '{\"source\":\"web\"}'";
        refused(run, 129, "bad-json", &format!("--provenance: {reason}"), hint);
    }
}

#[test]
fn a_row_that_is_none_is_refused_with_line_and_key_and_no_row_is_staged() {
    let place = place();
    let keys = "'id', 'content', 'content_json', 'content_kind', 'provenance', 'event_time', 'deleted'";
    for (row, reason) in [
        ("{\"id\":\"k\",\"kontent\":1}", format!("unknown key 'kontent'; the keys are {keys}")),
        ("{\"id\":\"k\",\"content\":tru}", "the key 'content': expected ident at column 24".to_owned()),
        ("{\"id\":\"k\",\"content\":[1,]}", "the key 'content': expected value at column 24".to_owned()),
        ("{\"id\":\"k\",\"content\":\"a", "the key 'content': EOF while parsing a string at column 22".to_owned()),
        ("{\"id\":7,\"content\":1}", "the key 'id': invalid type: integer `7`, expected a string".to_owned()),
        ("{\"id\":\"k\",\"content\":1,\"content\":2}", "the key 'content' stands twice".to_owned()),
        ("{\"id\":\"k\"}", "the key 'content' is missing".to_owned()),
        (
            "{\"content\":1,\"content_json\":\"1\"}",
            "the keys 'content' and 'content_json' exclude each other".to_owned(),
        ),
        ("{\"deleted\":true}", "the key 'deleted' needs the key 'id'".to_owned()),
        ("{\"id\":\"k\",\"deleted\":true,\"content\":1}", "beside the key 'deleted' only 'id' may stand".to_owned()),
        (
            "{\"content\":1,\"deleted\":\"yes\"}",
            "the key 'deleted': invalid type: string \"yes\", expected a boolean".to_owned(),
        ),
        ("[1]", "invalid type: sequence, expected a JSON object".to_owned()),
        ("vegan", "expected value at column 1".to_owned()),
        ("{\"content\":1} {}", "trailing characters at column 15".to_owned()),
        ("\u{feff}{\"content\":1}", "the JSON begins with a byte-order mark (U+FEFF)".to_owned()),
        (
            "{\"content\":1,\"provenance\":{\"who\":\"me\"}}",
            "the key 'provenance': unknown key 'who'; the keys are 'agent_step', 'observation', 'tool_call', 'source', 'note'"
                .to_owned(),
        ),
        (
            "{\"content\":1,\"provenance\":\"web\"}",
            "the key 'provenance': invalid type: string \"web\", expected a JSON object at column 5".to_owned(),
        ),
    ] {
        let rows = format!("{{\"id\":\"a\",\"content\":1}}\r\n\n{row}\n{{\"id\":\"b\",\"content\":1}}\n");
        for arguments in [&["put", "--jsonl", "-"][..], &["put", "--jsonl", "-", "-m", "c"]] {
            let run = |json: &[&str]| place.mnem(json).arguments(arguments).input(rows.clone());
            refused(run, 129, "bad-json", &format!("line 3: {reason}"), ROW_HINT);
        }
    }
}

#[test]
fn what_is_not_utf_8_is_refused_with_its_offset() {
    let place = place();
    place.write("f", b"ab\xffcd");
    for (arguments, name, offset) in [
        (&["put", "k", "-"][..], "standard input", 2),
        (&["put", "k", "-t", "json", "-"], "standard input", 2),
        (&["put", "k", "-F", "f"], "f", 2),
        (&["put", "--jsonl", "-"], "standard input", 2),
        (&["put", "--jsonl"], "standard input", 2),
        (&["put", "--jsonl", "f"], "f", 2),
        (&["put", "--jsonl", "f", "--commits"], "f", 2),
        (&["import", "f"], "f", 2),
        (&["import", "-"], "standard input", 2),
        (&["commit", "-F", "-"], "standard input", 2),
        (&["commit", "-F", "f"], "f", 2),
    ] {
        let run = |json: &[&str]| place.mnem(json).arguments(arguments).input(&b"ab\xffcd"[..]);
        let message = format!("'{name}' is not UTF-8: byte {offset} is the first bad one");
        refused(run, 129, "bad-utf8", &message, UTF8_HINT);
    }
    for (bytes, offset) in [(&b"\xc0\x80"[..], 0), (b"a\xed\xa0\x80", 1), (b"abc\xe2\x98", 3), (b"\xf4\x90\x80\x80", 0)]
    {
        let run = |json: &[&str]| place.mnem(json).arguments(["put", "k", "-"]).input(bytes);
        let message = format!("'standard input' is not UTF-8: byte {offset} is the first bad one");
        refused(run, 129, "bad-utf8", &message, UTF8_HINT);
    }
    let bad = OsStr::from_bytes(b"a\xff");
    for (before, behind) in
        [(&["put"][..], &["v"][..]), (&["put", "k"], &[]), (&["get"], &[]), (&["commit", "-m"], &[]), (&["log"], &[])]
    {
        let run = |json: &[&str]| place.mnem(json).arguments(before).arguments([bad]).arguments(behind);
        let message = "the argument 'a\u{fffd}' is not UTF-8: byte 1 is the first bad one";
        refused(run, 129, "bad-utf8", message, UTF8_HINT);
    }
    for name in ["MNEM_NOTE", "MNEM_SESSION", "MNEM_REV", "MNEM_DATE", "MNEM_AUTHOR", "MNEM_LOCK_TIMEOUT"] {
        let run = |json: &[&str]| place.mnem(json).arguments(["put", "k", "v", "-m", "c"]).env(name, bad);
        refused(run, 129, "bad-utf8", &format!("the variable {name} is not UTF-8"), &format!("unset {name}"));
    }
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let place = place();
    let (missing, hint) = ("No such file or directory (os error 2)", "name a file that is there; - is standard input");
    for (arguments, name, reason, hint) in [
        (&["put", "k", "-F", "none"][..], "none", missing, hint),
        (&["put", "k", "-F", "."], ".", "Is a directory (os error 21)", ""),
        (&["put", "--jsonl", "none"], "none", missing, hint),
        (&["commit", "-F", "none"], "none", missing, hint),
        (&["import", "none"], "none", missing, hint),
        (&["check", "none"], "none", missing, hint),
    ] {
        let run = |json: &[&str]| place.mnem(json).arguments(arguments);
        refused(run, 128, "io", &format!("cannot read '{name}': {reason}"), hint);
    }
}

#[test]
fn rows_of_a_file_are_named_by_it_and_a_row_that_commits_is_told_as_that() {
    let place = place();
    place.write("rows", "\n{\"id\":\"k\"}\n");
    place.write("commits", "{\"id\":\"k\",\"content\":1}\n{\"commit\":{\"message\":\"m\"}}\n");
    for arguments in [
        &["put", "--jsonl", "rows"][..],
        &["put", "--jsonl", "rows", "--commits"],
        &["put", "--jsonl", "rows", "--commit-every", "1", "-m", "m"],
        &["import", "rows"],
    ] {
        let run = |json: &[&str]| place.mnem(json).arguments(arguments);
        refused(run, 129, "bad-json", "rows: line 2: the key 'content' is missing", ROW_HINT);
    }
    let what = "line 2: a row with the key 'commit' makes a commit, which only 'put --jsonl --commits' does";
    let hint = "mnem put --jsonl FILE --commits";
    for (arguments, file) in [
        (&["put", "--jsonl", "-"][..], ""),
        (&["put", "--jsonl", "-", "--commit-every", "1", "-m", "m"], ""),
        (&["put", "--jsonl", "commits"], "commits: "),
        (&["import", "commits"], "commits: "),
    ] {
        let input = fs::read(place.path("commits")).expect("a file");
        let run = |json: &[&str]| place.mnem(json).arguments(arguments).input(input.clone());
        refused(run, 129, "usage", &format!("{file}{what}"), hint);
    }
}

#[test]
fn more_than_a_gibibyte_is_refused_while_it_is_read() {
    let place = place();
    let file = fs::File::create(place.path("huge")).expect("a file");
    // Nothing of it is on the disk.
    file.set_len((1 << 30) + (1 << 20) + 1).expect("a length");
    place.mnem(&["put", "k", "-F", "huge"]).ends(
        129,
        "",
        "mnem: error[too-large]: 'huge' has more than 1074790400 bytes\n\
         hint: store where it lies instead, such as its path\n",
    );
    place.mnem(&["get", "k"]).says("staged", "");
}

/// Runs of commands that open the store.
const OPENING: [&[&str]; 8] = [
    &["log"],
    &["log", "--", "user/diet"],
    &["get", "user/diet"],
    &["get", "user/diet", "-r", "HEAD~1"],
    &["put", "k", "v"],
    &["put", "k", "v", "--session", "new"],
    &["put", "k", "v", "-m", "c"],
    &["commit", "-m", "c"],
];

#[test]
fn a_database_that_was_emptied_or_lost_is_damage_and_no_new_store() {
    for (what, damage) in [("has no bytes", 0), ("is missing", 1), ("is not a regular file", 2)] {
        let place = place();
        let database = place.path(".mnemosyne/store.redb");
        fs::remove_file(&database).expect("there");
        match damage {
            0 => fs::write(&database, "").expect("a file"),
            1 => {}
            _ => fs::create_dir(&database).expect("a directory"),
        }
        for arguments in OPENING {
            let message = format!("the memory store is damaged: '[PLACE]/.mnemosyne/store.redb' {what}");
            refused(|json| place.mnem(json).arguments(arguments), 128, "corrupt", &message, DAMAGE_HINT);
        }
    }
}

#[test]
fn a_database_that_was_cut_off_is_damage() {
    let place = place();
    let bytes = fs::read(place.path(".mnemosyne/store.redb")).expect("the database");
    let reads = [&["log"][..], &["get", "user/diet"], &["put", "k", "v"]];
    let whole = reads.map(|arguments| place.mnem(arguments).output());
    let pages = bytes.len() / 4096;
    let lengths = [1, 9, 64, 319, 320, 4095, bytes.len() - 1].into_iter().chain((1..pages).map(|pages| pages * 4096));
    for length in lengths {
        fs::write(place.path(".mnemosyne/store.redb"), &bytes[..length]).expect("a file");
        let refused = |arguments: &[&str], whole: Option<&str>| {
            let before = place.files();
            let answer = place.mnem(arguments).answer();
            // Where only free pages are lost, what is read is whole.
            if whole != Some(&answer.stdout) {
                assert_eq!((answer.status, answer.stdout.as_str()), (128, ""), "{length} bytes, {arguments:?}");
                let damage = "mnem: error[corrupt]: the memory store is damaged: ";
                assert!(answer.stderr.starts_with(damage), "{length} bytes, {arguments:?}: {answer:?}");
            }
            assert!(place.files() == before, "{length} bytes, {arguments:?}");
        };
        reads.iter().zip(&whole).for_each(|(arguments, whole)| refused(arguments, Some(whole)));
        refused(&["put", "k", "w", "-m", "c"], None);
        refused(&["commit", "-m", "c"], None);
    }
}

#[test]
fn what_is_no_database_is_damage() {
    let place = place();
    for bytes in [&b"x"[..], &[0; 4096], b"SQLite format 3\0", &[0xff; 100_000]] {
        fs::write(place.path(".mnemosyne/store.redb"), bytes).expect("a file");
        for arguments in OPENING {
            let before = place.files();
            let answer = place.mnem(arguments).answer();
            assert_eq!((answer.status, answer.stdout.as_str()), (128, ""), "{arguments:?}: {answer:?}");
            assert!(answer.stderr.starts_with("mnem: error[corrupt]: the memory store is damaged: "), "{answer:?}");
            assert!(place.files() == before, "{arguments:?}");
        }
    }
}

/// Writes the row of a setting as the format has it: the value, and CRC-32C over table, key and value.
fn set_setting(place: &Place, key: &str, value: &[u8]) {
    let sum = crc32c::crc32c(&[b"setting\0", key.as_bytes(), value].concat());
    let row = [value, &sum.to_le_bytes()].concat();
    let mut builder = redb::Builder::new();
    builder.set_concurrency_mode(redb::ConcurrencyMode::MultiWriter);
    let database = builder.open(place.path(".mnemosyne/store.redb")).expect("the database");
    let transaction = database.begin_write().expect("a transaction");
    let table = redb::TableDefinition::<&str, &[u8]>::new("setting");
    transaction.open_table(table).expect("the table").insert(key, row.as_slice()).expect("a row");
    transaction.commit().expect("committed");
}

#[test]
fn a_newer_format_is_named_and_left_alone() {
    let place = place();
    set_setting(&place, "format", &2_u64.to_le_bytes());
    for arguments in OPENING {
        refused(
            |json| place.mnem(json).arguments(arguments),
            128,
            "unsupported-format",
            "the memory store has format 2, which this version does not read",
            "read it with a newer mnem",
        );
    }
    set_setting(&place, "format", &1_u64.to_le_bytes());
    place.mnem(&["get", "k"]).says("staged", "");
}

#[test]
fn a_staged_frame_that_was_changed_is_damage_unless_it_is_the_last() {
    let place = place();
    place.mnem(&["put", "l", "staged behind it"]).says("l\n", "");
    let log = place.path(".mnemosyne/staged/default");
    let bytes = fs::read(&log).expect("the log");
    let mut changed = bytes.clone();
    changed[bytes.len() / 3] ^= 1;
    fs::write(&log, &changed).expect("a file");
    for arguments in [&["get", "k"][..], &["put", "k", "v"], &["put", "k", "v", "-m", "c"], &["commit", "-m", "c"]] {
        let before = place.files();
        let answer = place.mnem(arguments).answer();
        assert_eq!((answer.status, answer.stdout.as_str()), (128, ""), "{arguments:?}: {answer:?}");
        let message = "mnem: error[corrupt]: the memory store is damaged: the staged changes: ";
        assert!(
            answer.stderr.starts_with(message) && answer.stderr.ends_with(&format!("\nhint: {DAMAGE_HINT}\n")),
            "{answer:?}"
        );
        assert!(place.files() == before, "{arguments:?}");
    }
    fs::write(&log, &bytes[..bytes.len() - 1]).expect("a file");
    place.mnem(&["get", "l"]).refuses(1, "mnem: error[no-node]: no node 'l'\nhint: see 'mnem ls'\n");
    place.mnem(&["get", "k"]).says("staged", "");
    place.mnem(&["put", "m", "v"]).says("m\n", "");
    place.mnem(&["get", "m"]).says("v", "");
}

#[test]
fn what_an_error_quotes_is_escaped_for_people_and_exact_in_json() {
    let place = place();
    for (arguments, word, status, message, hint) in [
        (&["get", "\u{202e}x"][..], "no-node", 1, "no node '\u{202e}x'", "see 'mnem ls'"),
        (
            &["log", "\u{1b}[31m"],
            "bad-revision",
            128,
            "'\u{1b}[31m' is not a revision: a name holds no white space and no control characters",
            "a revision is HEAD, a branch, a tag or a commit id, with ~N, ^N, @{N} or @{TIME} behind it",
        ),
        (
            &["-C", "a\u{200b}", "log"],
            "usage",
            129,
            "cannot change to 'a\u{200b}': no such directory",
            "mnem -C DIRECTORY COMMAND",
        ),
    ] {
        let [text, row] = error(status, word, message, hint);
        let escaped = text
            .replace('\u{1b}', "^[")
            .replace('\u{7}', "^G")
            .replace('\u{202e}', "\\u{202e}")
            .replace('\u{200b}', "\\u{200b}");
        place.mnem(arguments).refuses(status, &escaped);
        place.mnem(&["--json"]).arguments(arguments).refuses(status, &row);
    }
}

/// A sound frame of a staged log: number 1, one node under an id.
fn frame(id: &str, node: &str) -> Vec<u8> {
    let mut payload = vec![1, u8::try_from(id.len()).expect("a short id")];
    payload.extend(id.as_bytes());
    payload.push(0);
    let length = u8::try_from(node.len()).expect("a short node");
    payload.extend(if length < 0x80 { vec![length] } else { vec![length, 1] });
    payload.extend(node.as_bytes());
    let mut head = b"\xffmf1".to_vec();
    head.extend((payload.len() as u64).to_le_bytes());
    head.extend(1u64.to_le_bytes());
    head.extend(1u64.to_le_bytes());
    let sum = crc32c::crc32c(&[&head[..], &payload].concat());
    [&head[..], &sum.to_le_bytes(), &payload].concat()
}

#[test]
fn a_staged_node_that_no_version_can_read_is_never_committed() {
    let place = Place::with_store();
    let tail = r#""content_kind":"note","provenance":{}}"#;
    for (node, code) in [
        (r#"{"id":"b","content":"2","content_kind":"claim","provenance":{}}"#.to_owned(), "unsupported-kind"),
        (r#"{"id":"b","content":"2","content_kind":"note","provenance":null}"#.to_owned(), "corrupt"),
        (format!(r#"{{"id":"b","content":tru,{tail}"#), "corrupt"),
        (format!(r#"{{"id":"b", "content":"2",{tail}"#), "corrupt"),
        (format!(r#"{{"id":"c","content":"2",{tail}"#), "corrupt"),
    ] {
        place.write(".mnemosyne/staged/default", frame("b", &node));
        let before = place.mnem(&["log", "--json"]).answer().stdout;
        for arguments in [&["commit", "-m", "x"][..], &["commit", "--dry-run"]] {
            let answer = place.mnem(arguments).answer();
            assert_eq!((answer.status, answer.stdout.as_str()), (128, ""), "{node}");
            assert!(answer.stderr.starts_with(&format!("mnem: error[{code}]: ")), "{node}: {}", answer.stderr);
        }
        assert_eq!(place.mnem(&["log", "--json"]).answer().stdout, before);
    }
    place.write(".mnemosyne/staged/default", frame("b", &format!(r#"{{"id":"b","content":"2",{tail}"#)));
    assert_eq!(place.mnem(&["commit", "-m", "x"]).answer().status, 0, "a good one is");
}

#[test]
fn init_calls_only_a_store_that_can_be_used_initialised() {
    let place = Place::empty();
    let init = |code: &str| {
        let answer = place.mnem(&["init"]).answer();
        assert_eq!((answer.status, answer.stdout.as_str()), (128, ""), "{code}");
        assert!(answer.stderr.starts_with(&format!("mnem: error[{code}]: ")), "{}", answer.stderr);
    };
    place.directory(".mnemosyne");
    init("corrupt");
    place.write(".mnemosyne/store.redb", "");
    init("corrupt");
    place.write(".mnemosyne/store.redb", "no database");
    init("corrupt");
    fs::remove_dir_all(place.path(".mnemosyne")).expect("it was there");
    std::os::unix::fs::symlink(place.path("nowhere"), place.path(".mnemosyne")).expect("a link");
    init("unsafe-store");
}
