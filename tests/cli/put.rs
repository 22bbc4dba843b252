//! `mnem put`

use super::oracle::{self, Node};
use super::support::{AUTHOR, Place, json, lines, staged_row};

/// Puts a node with these arguments behind `put`, and returns its row.
#[track_caller]
fn row(place: &Place, id: &str) -> String {
    place.mnem(&["get", "--json", id]).output()
}

#[test]
fn it_prints_the_id_and_as_json_what_is_staged() {
    let place = Place::with_story();
    place.mnem(&["put", "k", "v"]).says("k\n", "");
    place.mnem(&["put", "-z", "k", "v"]).says("k\0", "");
    let staged = |id: &str, hash: &str, change: &str| {
        format!(
            "{{\"v\":1,\"type\":\"staged\",\"id\":\"{id}\",\"hash\":\"{hash}\",\"change\":\"{change}\",\"session\":\"default\"}}\n"
        )
    };
    let hash = "23a7b7dab2d5a948473fac0c59e7b654b541b3ad1327cebfd90846fc7976940c";
    place.mnem(&["put", "k", "v", "--json"]).says(&staged("k", hash, "added"), "");
    let modified = Node::new("user/diet", "\"v\"").hash();
    place.mnem(&["put", "user/diet", "v", "--json"]).says(&staged("user/diet", &modified, "modified"), "");
}

#[test]
fn what_head_has_is_not_staged() {
    let place = Place::with_store();
    place.mnem(&["put", "k", "v", "-m", "c"]).says("k\n", "");
    let before = place.files();
    place.mnem(&["put", "k", "v"]).says("k\n", "unchanged: 'k'\n");
    place.mnem(&["put", "k", "v", "-q"]).says("k\n", "");
    place.mnem(&["put", "k", "v", "-m", "c"]).says("k\n", "unchanged: 'k'\n");
    let hash = Node::new("k", "\"v\"").hash();
    let row = format!(
        "{{\"v\":1,\"type\":\"staged\",\"id\":\"k\",\"hash\":\"{hash}\",\"change\":\"unchanged\",\"session\":\"default\"}}\n"
    );
    place.mnem(&["put", "k", "v", "--json"]).says(&row, "unchanged: 'k'\n");
    let row = row.replace("\"default\"}", "\"default\",\"commit\":null}");
    place.mnem(&["put", "k", "v", "--json", "-m", "c"]).says(&row, "unchanged: 'k'\n");
    let rows = "{\"id\":\"k\",\"content\":\"v\"}\n{\"id\":\"none\",\"deleted\":true}\n";
    place.mnem(&["put", "--jsonl", "-"]).input(rows).says("k\nnone\n", "unchanged: 2 of 2\n");
    assert!(place.files() == before);
}

#[test]
fn what_is_put_back_as_it_was_is_staged_no_more() {
    let place = Place::with_store();
    place.mnem(&["put", "k", "v", "-m", "c"]).says("k\n", "");
    place.mnem(&["put", "k", "w"]).says("k\n", "");
    place.mnem(&["put", "k", "v"]).says("k\n", "unchanged: 'k'\n");
    place.mnem(&["commit", "--dry-run"]).ends(
        1,
        "",
        "mnem: error[nothing-to-commit]: nothing to commit\n\
         hint: stage a change with 'mnem put', or commit as it is with '--allow-empty'\n",
    );
}

#[test]
fn content_comes_as_an_argument_from_standard_input_or_from_a_file() {
    let place = Place::with_store();
    place.write("notes/a.txt", "from a file\r\n");
    for (arguments, input, content) in [
        (&["put", "k", "an argument\n"][..], "", "an argument\n"),
        (&["put", "k", ""], "", ""),
        (&["put", "k", "-"], "from a pipe\n", "from a pipe\n"),
        (&["put", "k", "-"], "", ""),
        (&["put", "k", "-F", "-"], "\u{feff}a\0b\r\n", "\u{feff}a\0b\r\n"),
        (&["put", "k", "-F", "notes/a.txt"], "", "from a file\r\n"),
        (&["put", "--file", "a.txt", "-C", "notes", "k"], "", "from a file\r\n"),
        (&["put", "k", "00712"], "", "00712"),
        (&["put", "k", "\"quoted\""], "", "\"quoted\""),
        (&["put", "k", "null", "-t", "text"], "", "null"),
    ] {
        place.mnem(arguments).input(input).says("k\n", "");
        place.mnem(&["get", "k"]).says(content, "");
        assert_eq!(row(&place, "k"), Node::new("k", &json(content)).row(), "{arguments:?}");
    }
}

#[test]
fn a_json_value_is_kept_as_it_is_spelled_but_for_white_space_around_it() {
    let place = Place::with_store();
    place.write("a.json", "[1.10,\n1e2]\n");
    for (arguments, input, content) in [
        (&["put", "k", "-t", "json", " {\"b\": 1, \"a\":-0}\n"][..], "", "{\"b\": 1, \"a\":-0}"),
        (&["put", "k", "-", "--type", "json"], "\t\"\\u0071\" ", "\"\\u0071\""),
        (&["put", "k", "-t", "json", "-F", "a.json"], "", "[1.10,\n1e2]"),
        (&["put", "k", "-5", "--type=json"], "", "-5"),
    ] {
        place.mnem(arguments).input(input).says("k\n", "");
        place.mnem(&["get", "-t", "json", "k"]).says(content, "");
        assert_eq!(row(&place, "k"), Node::new("k", content).row(), "{arguments:?}");
    }
}

#[test]
fn text_and_the_same_text_as_json_are_one_content_and_another_spelling_is_another() {
    let place = Place::with_store();
    place.mnem(&["put", "k", "q", "-m", "c"]).says("k\n", "");
    place.mnem(&["put", "k", "-t", "json", "\"q\""]).says("k\n", "unchanged: 'k'\n");
    place.mnem(&["put", "k", "-t", "json", "\"\\u0071\""]).says("k\n", "");
}

#[test]
fn a_generated_id_takes_its_time_from_the_environment() {
    let place = Place::with_store();
    let id = place.mnem(&["put", "--new", "v"]).output();
    let id = id.trim_end();
    // The first 48 bits of a version 7 UUID are milliseconds: 1764576000000.
    assert!(id.starts_with("019ad8ec-f800-7") && id.len() == 36, "{id}");
    place.mnem(&["get", id]).says("v", "");
    let other = place.mnem(&["put", "--new", "-"]).input("w").output();
    assert_ne!(other.trim_end(), id);
    place.mnem(&["get", other.trim_end()]).says("w", "");
    place.write("f", "x");
    let third = place.mnem(&["put", "--new", "-F", "f"]).output();
    place.mnem(&["get", third.trim_end()]).says("x", "");
    let rows = "{\"content\":1}\n{\"content\":2}\n{\"content\":3}\n";
    let ids = place.mnem(&["put", "--jsonl", "-"]).input(rows).output();
    let ids: Vec<_> = ids.lines().collect();
    assert!(ids.len() == 3 && ids.is_sorted_by(|a, b| a < b), "{ids:?}");
}

#[test]
fn each_option_sets_its_field() {
    let place = Place::with_store();
    let node = |provenance: &[(&'static str, &str)], event_time: Option<&str>| Node {
        provenance: provenance.iter().map(|&(key, text)| (key, text.to_owned())).collect(),
        event_time: event_time.map(str::to_owned),
        ..Node::new("k", "\"v\"")
    };
    for (option, value, node) in [
        ("--agent-step", "7", node(&[("agent_step", "7")], None)),
        ("--observation", "chat/1", node(&[("observation", "chat/1")], None)),
        ("--tool-call", "search/7", node(&[("tool_call", "search/7")], None)),
        ("--source", "-", node(&[("source", "-")], None)),
        ("--note", "--not an option", node(&[("note", "--not an option")], None)),
        ("--note", "--nope", node(&[("note", "--nope")], None)),
        ("--note", "", node(&[], None)),
        ("--provenance", r#"{"source":"","note":"n"}"#, node(&[("source", ""), ("note", "n")], None)),
        ("--kind", "note", node(&[], None)),
        ("--event-time", "2024-02-29t23:59:59.120z", node(&[], Some("2024-02-29t23:59:59.120z"))),
        ("--event-time", "2016-12-31T23:59:60Z", node(&[], Some("2016-12-31T23:59:60Z"))),
        ("--event-time", "0000-01-01 00:00:00-00:00", node(&[], Some("0000-01-01 00:00:00-00:00"))),
        ("--event-time", "9999-12-31T23:59:59.123456789+23:59", node(&[], Some("9999-12-31T23:59:59.123456789+23:59"))),
    ] {
        place.mnem(&["put", "k", "v", option, value]).says("k\n", "");
        assert_eq!(row(&place, "k"), node.row(), "{option} {value}");
    }
}

#[test]
fn an_option_beats_the_json_which_beats_the_variable() {
    let place = Place::with_store();
    let provenance = |node: &[(&'static str, &str)]| Node {
        provenance: node.iter().map(|&(key, text)| (key, text.to_owned())).collect(),
        ..Node::new("k", "\"v\"")
    };
    let put = |arguments: &[&str]| {
        let names = ["MNEM_AGENT_STEP", "MNEM_OBSERVATION", "MNEM_TOOL_CALL", "MNEM_SOURCE", "MNEM_NOTE"];
        let put = place.mnem(&["put", "k", "v"]).arguments(arguments);
        names.into_iter().zip(["s", "o", "t", "u", "n"]).fold(put, |put, (name, value)| put.env(name, value))
    };
    let from_variables =
        [("agent_step", "s"), ("observation", "o"), ("tool_call", "t"), ("source", "u"), ("note", "n")];
    put(&[]).says("k\n", "");
    assert_eq!(row(&place, "k"), provenance(&from_variables).row());
    put(&[
        "--note",
        "option",
        "--source",
        "",
        "--provenance",
        r#"{"note":"json","agent_step":"json","observation":null}"#,
    ])
    .says("k\n", "");
    let mixed = provenance(&[("agent_step", "json"), ("tool_call", "t"), ("note", "option")]);
    assert_eq!(row(&place, "k"), mixed.row());
    put(&[]).env("MNEM_SOURCE", "").env("MNEM_NOTE", "").says("k\n", "");
    assert_eq!(row(&place, "k"), provenance(&from_variables[..3]).row(), "an empty variable is an unset one");
}

#[test]
fn a_message_commits_just_this() {
    let place = Place::with_store();
    place.mnem(&["put", "other", "staged"]).says("other\n", "");
    place.mnem(&["put", "k", "staged before"]).says("k\n", "");
    let node = Node::new("k", "\"v\"");
    let commit = "2abb372524d6b4e7764f9683a7c73f67f55fad0443dfc17be1d5baa49480af22";
    let row = format!(
        "{{\"v\":1,\"type\":\"staged\",\"id\":\"k\",\"hash\":\"{}\",\"change\":\"added\",\"session\":\"default\",\
         \"commit\":\"{commit}\"}}\n",
        node.hash(),
    );
    place.mnem(&["put", "k", "v", "--json", "-m", "subject", "--message", "- body"]).says(&row, "");
    let row = format!(
        "{{\"v\":1,\"type\":\"commit\",\"id\":\"{commit}\",\"parents\":[],\"state\":\"{}\",\
         \"author\":\"Ada <ada@example.org>\",\"time\":\"2025-12-01T08:00:00.000+00:00\",\
         \"message\":\"subject\\n\\n- body\",\"refs\":[\"refs/heads/main\"],\
         \"changes\":{{\"added\":1,\"modified\":0,\"removed\":0}}}}\n",
        oracle::state([&node]),
    );
    place.mnem(&["log", "--json"]).says(&row, "");
    place.mnem(&["commit", "--dry-run"]).says("A other\n", "would commit: 1 node changed: 1 added\n");
    place.mnem(&["get", "k"]).says("v", "");
}

#[test]
fn rows_are_staged_in_their_order_all_or_none() {
    let place = Place::with_story();
    let rows = concat!(
        "{\"id\":\"b\",\"content\":\"text\",\"content_kind\":\"note\"}\r\n",
        "\n",
        "  {\"event_time\":null,\"provenance\":{\"note\":\"own\"},\"content\":{\"z\": 1,\"a\":[ ]},\"id\":\"a\"}\t\n",
        "{\"id\":\"spelled\",\"content_json\":\"[1,\\n2]\",\"event_time\":\"2025-12-01T00:00:00Z\"}\n",
        "{\"id\":\"b\",\"content\":\"text again\",\"deleted\":false}\n",
        "{\"id\":\"user/diet\",\"deleted\":true}\n",
        "{\"id\":\"null\",\"content\":null}",
    );
    place.write("rows.jsonl", rows);
    let defaults = ["--source", "import", "--event-time", "2025-11-30T00:00:00Z"];
    let ids = "b\na\nspelled\nb\nuser/diet\nnull\n";
    place.mnem(&["put", "--jsonl", "rows.jsonl"]).arguments(defaults).says(ids, "");
    let node = |id: &str, content: &str, provenance: (&'static str, &str), time: &str| Node {
        provenance: vec![(provenance.0, provenance.1.to_owned())],
        event_time: Some(time.to_owned()),
        ..Node::new(id, content)
    };
    let nodes = [
        node("b", "\"text again\"", ("source", "import"), "2025-11-30T00:00:00Z"),
        node("a", "{\"z\": 1,\"a\":[ ]}", ("note", "own"), "2025-11-30T00:00:00Z"),
        node("spelled", "[1,\n2]", ("source", "import"), "2025-12-01T00:00:00Z"),
        node("null", "null", ("source", "import"), "2025-11-30T00:00:00Z"),
    ];
    let rows: String = nodes.iter().map(Node::row).collect();
    place.mnem(&["get", "--json", "b", "a", "spelled", "null"]).says(&rows, "");
    place
        .mnem(&["commit", "--dry-run"])
        .says("A a\nA b\nA null\nA spelled\nD user/diet\n", "would commit: 5 nodes changed: 4 added, 1 removed\n");
}

#[test]
fn rows_come_from_standard_input_unless_a_file_is_named() {
    let place = Place::with_store();
    let staged = |id: &str, hash: &str, change: &str| {
        format!(
            "{{\"v\":1,\"type\":\"staged\",\"id\":\"{id}\",\"hash\":{hash},\"change\":\"{change}\",\"session\":\"default\"}}\n"
        )
    };
    for arguments in
        [&["put", "--json", "--jsonl"][..], &["put", "--json", "--jsonl", "-"], &["put", "--json", "--jsonl=-"]]
    {
        let rows = "{\"id\":\"k\",\"content\":1}\n{\"id\":\"none\",\"deleted\":true}\n";
        let hash = json(&Node::new("k", "1").hash());
        let said = staged("k", &hash, "added") + &staged("none", "null", "unchanged");
        place.mnem(arguments).input(rows).says(&said, "unchanged: 1 of 2\n");
        place.mnem(arguments).input("").says("", "");
        place.mnem(arguments).input("\n \r\n").says("", "");
    }
}

#[test]
fn a_large_content_is_remarked_upon() {
    let place = Place::with_store();
    let text = "x".repeat((8 << 20) - 2);
    place.mnem(&["put", "k", "-"]).input(text.clone()).says("k\n", "note: the content of 'k' is large (8 MiB)\n");
    place.mnem(&["put", "k", "-", "-q"]).input(text.clone()).says("k\n", "");
    place.mnem(&["put", "k", "-"]).input(&text[1..]).says("k\n", "");
    assert_eq!(place.mnem(&["get", "k"]).output(), text[1..]);
    let note = "note: the content of 'k\\u{202e}' is large (8 MiB)\n";
    place.mnem(&["put", "k\u{202e}", "-", "--dry-run"]).input(text).says("k\\u{202e}\n", note);
}

#[test]
fn what_verbose_tells_is_escaped() {
    let place = Place::empty();
    let store = place.argument("a\u{202e}b");
    place.mnem(&["init", "--store", &store, "-q"]).output();
    let told = |change: &str| format!("store '[PLACE]/a\\u{{202e}}b', session 'default'\n{change}: 'k\\u{{202e}}'\n");
    let put = |arguments: &[&str]| place.mnem(&["--store", &store, "-v", "put", "k\u{202e}", "v"]).arguments(arguments);
    put(&[]).says("k\\u{202e}\n", &told("added"));
    put(&["-m", "c"]).says("k\\u{202e}\n", &told("added"));
    put(&[]).says("k\\u{202e}\n", &told("unchanged"));
    // Without it what HEAD has is told all the same.
    let put = place.mnem(&["--store", &store, "put", "k\u{202e}", "v"]);
    put.says("k\\u{202e}\n", "unchanged: 'k\\u{202e}'\n");
}

#[test]
fn a_word_that_begins_with_a_dash_is_content_unless_it_has_the_form_of_an_option() {
    let place = Place::with_store();
    for (arguments, id, content) in [
        (&["put", "temperature", "-5"][..], "temperature", "-5"),
        (&["put", "k", "-x"], "k", "-x"),
        (&["put", "k", "- item"], "k", "- item"),
        (&["put", "k", "--no pe"], "k", "--no pe"),
        (&["put", "k", "--x=a b"], "k", "--x=a b"),
        (&["put", "k", "--No"], "k", "--No"),
        (&["put", "k", "---"], "k", "---"),
        (&["put", "-item", "text"], "-item", "text"),
        (&["put", "--", "-todo", "text"], "-todo", "text"),
        (&["put", "--", "k", "--nope"], "k", "--nope"),
        (&["put", "k", "--", "--json"], "k", "--json"),
        (&["put", "--", "--json", "-q"], "--json", "-q"),
        (&["put", "--new", "--", "--x=1"], "", "--x=1"),
    ] {
        let said = place.mnem(arguments).output();
        let said = said.trim_end_matches('\n');
        assert!(id.is_empty() || said == id, "{arguments:?}");
        place.mnem(&["get", "--", said]).says(content, "");
    }
    for (arguments, message, hint) in [
        (&["put", "k", "--nope"][..], "unknown option '--nope'", ""),
        (&["put", "k", "--nope=1"], "unknown option '--nope=1'", ""),
        (&["put", "--nope", "k"], "unknown option '--nope'", ""),
        (&["put", "--new", "--nope"], "unknown option '--nope'", ""),
        (&["put", "k", "-Fnotes.txt"], "'-Fnotes.txt' is text, or the option -F", "-F notes.txt, or "),
        (&["put", "-tjson", "k"], "'-tjson' is text, or the option -t", "-t json, or "),
        (&["put", "k", "-mlearn"], "'-mlearn' is text, or the option -m", "-m learn, or "),
        (&["put", "-Cdir", "k"], "'-Cdir' is text, or the option -C", "-C dir, or "),
    ] {
        let said = format!("mnem: error[usage]: {message}\nhint: {hint}mnem put -- ID CONTENT\n");
        place.mnem(arguments).refuses(129, &said);
    }
}

#[test]
fn if_absent_and_if_match_write_only_where_the_node_is_as_expected() {
    let place = Place::with_store();
    let (one, two) = (Node::new("k", "\"1\"").hash(), Node::new("k", "\"2\"").hash());
    let hint = "hint: look at what it is now with 'mnem get --json ID'\n";
    let found = |hash: &str| format!("mnem: error[precondition-failed]: 'k' has the hash {hash}\n{hint}");
    let absent = format!("mnem: error[precondition-failed]: 'k' is absent\n{hint}");
    place.mnem(&["put", "k", "1", "--if-match", &one]).refuses(1, &absent);
    place.mnem(&["put", "k", "1", "--if-absent"]).says("k\n", "");
    // What is staged counts, and so does what is committed.
    for message in [&[][..], &["-m", "c"]] {
        place.mnem(&["put", "k", "2", "--if-absent"]).arguments(message).refuses(1, &found(&one));
        place.mnem(&["put", "k", "2", "--if-match", "none"]).arguments(message).refuses(1, &found(&one));
        place.mnem(&["put", "k", "2", "--if-match", &two]).arguments(message).refuses(1, &found(&one));
        place.mnem(&["put", "k", "2", "--dry-run", "--if-match", &two]).refuses(1, &found(&one));
        place.mnem(&["commit", "--skip-empty", "-qm", "c"]).output();
    }
    place.mnem(&["put", "k", "2", "--if-match", &one, "-m", "c"]).says("k\n", "");
    place.mnem(&["put", "k", "2", "--if-match", &two]).says("k\n", "unchanged: 'k'\n");
    place.mnem(&["rm", "k"]).output();
    place.mnem(&["put", "k", "3", "--if-match", &two]).refuses(1, &absent);
    place.mnem(&["put", "k", "3", "--if-match=none"]).says("k\n", "");
    place.mnem(&["get", "k"]).says("3", "");
}

#[test]
fn a_dry_run_tells_what_would_be_staged_and_changes_nothing() {
    let place = Place::with_story();
    let before = place.files();
    place.mnem(&["put", "--dry-run", "user/diet", "vegan"]).says("user/diet\n", "");
    let hash = Node::new("user/diet", "\"vegan\"").hash();
    let row = staged_row("user/diet", Some(&hash), "modified");
    place.mnem(&["put", "--dry-run", "--json", "user/diet", "vegan"]).says(&row, "");
    place
        .mnem(&["put", "--dry-run", "-v", "user/diet", "vegan"])
        .says("user/diet\n", "store '[PLACE]/.mnemosyne', session 'default'\nmodified: 'user/diet'\n");
    let rows = "{\"id\":\"plan/dinner\",\"deleted\":true}\n{\"id\":\"new\",\"content\":1}\n";
    let said =
        staged_row("plan/dinner", None, "removed") + &staged_row("new", Some(&Node::new("new", "1").hash()), "added");
    place.mnem(&["put", "--dry-run", "--json", "--jsonl"]).input(rows).says(&said, "");
    assert!(place.files() == before);
    // The session may be a new one.
    place.mnem(&["put", "--dry-run", "k", "v", "--session", "new"]).says("k\n", "");
    assert!(place.files() == before);
}

#[test]
fn a_dry_run_with_a_message_tells_what_would_be_committed_and_refuses_what_would_be() {
    let place = Place::with_story();
    let before = place.files();
    let put = |arguments: &[&str]| place.mnem(&["put", "--dry-run"]).arguments(arguments);
    put(&["user/diet", "vegan", "-m", "c"]).says("user/diet\n", "");
    put(&["user/diet", "loves steak", "-m", "c", "--source", "https://forum.example/t/88"])
        .says("user/diet\n", "unchanged: 'user/diet'\n");
    let row = staged_row("k", Some(&Node::new("k", "\"v\"").hash()), "added");
    put(&["--json", "k", "v", "-m", "c", "-m", "d"]).says(&row, "");
    put(&["--json", "--jsonl", "-m", "c"]).input("{\"id\":\"k\",\"content\":\"v\"}\n").says(&row, "");
    put(&["k", "v", "-m", " "]).ends(
        129,
        "",
        "mnem: error[usage]: the message may not be blank\nhint: say what changed: -m 'learn preferences'\n",
    );
    assert!(place.files() == before);
    place.mnem(&["put", "user/diet", "staged", "--session", "s"]).output();
    place.mnem(&["put", "user/diet", "committed", "-m", "c"]).output();
    put(&["user/diet", "final", "--session", "s"]).says("user/diet\n", "");
    put(&["user/diet", "final", "--session", "s", "-m", "c"]).refuses(
        3,
        "mnem: error[conflict]: 'user/diet': 1 node was changed both here and on the branch\n\
         hint: all stays staged; take the branch's version with 'mnem restore ID', or yours with 'mnem commit \
         --overwrite -m MESSAGE'\n",
    );
}

#[test]
fn commit_rows_commit_what_came_before_them() {
    let place = Place::with_store();
    place.mnem(&["put", "other", "staged"]).output();
    let rows = concat!(
        "{\"id\":\"a\",\"content\":1}\n",
        "{\"id\":\"b\",\"content\":1}\n",
        "{\"commit\":{\"message\":\"one\\n\\nbody\\n\"}}\n",
        "{\"id\":\"a\",\"deleted\":true}\n",
        "{\"commit\":{\"message\":\"two\",\"author\":\" Bo \",\"time\":\"2024-05-06T07:08:09.1239+05:30\"}}\n",
        "{\"id\":\"c\",\"content\":1}\n",
    );
    let [a, b] = ["a", "b"].map(|id| Node { provenance: vec![("note", "n".to_owned())], ..Node::new(id, "1") });
    let time = "2025-12-01T08:00:00.000+00:00";
    let one = oracle::commit(&[], &oracle::state([&a, &b]), AUTHOR, time, "one\n\nbody");
    let two = oracle::commit(&[&one], &oracle::state([&b]), "Bo", "2024-05-06T07:08:09.123+05:30", "two");
    let put = place.mnem(&["put", "--jsonl", "-", "--commits", "--note", "n"]).input(rows);
    put.says(&lines(&[&one, &two]), "staged behind the last commit: 1\n");
    place.mnem(&["log", "--ids"]).says(&lines(&[&two, &one]), "");
    place.mnem(&["commit", "--dry-run", "-q"]).says("A c\nA other\n", "");
    let rows = "{\"id\":\"d\",\"content\":1}\n{\"commit\":{\"message\":\"three\"}}\n";
    let said = place.mnem(&["put", "--jsonl", "-", "--commits", "--json", "-q"]).input(rows).output();
    assert_eq!(said, place.mnem(&["log", "-n1", "--json"]).output());
    place.mnem(&["put", "--jsonl", "--commits"]).input("").says("", "");
}

#[test]
fn the_rows_of_a_history_take_what_they_do_not_say_from_the_options() {
    let rows = concat!(
        "{\"id\":\"bare\",\"content\":1}\n",
        "{\"id\":\"own\",\"content\":1,\"provenance\":{\"note\":\"row\"},\"event_time\":\"2025-12-01T00:00:00Z\"}\n",
    );
    let node = |id: &str, provenance: &[(&'static str, &str)], time: &str| Node {
        provenance: provenance.iter().map(|&(key, text)| (key, text.to_owned())).collect(),
        event_time: Some(time.to_owned()),
        ..Node::new(id, "1")
    };
    let json = r#"{"observation":"json","tool_call":"json"}"#;
    let options = ["--agent-step", "7", "--tool-call", "t", "--source", "s", "--note", "", "--provenance", json];
    let given = [("agent_step", "7"), ("observation", "json"), ("tool_call", "t"), ("source", "s")];
    let time = "2025-11-30T00:00:00+01:00";
    let expected = [node("bare", &given, time), node("own", &[("note", "row")], "2025-12-01T00:00:00Z")];
    let expected = expected.map(|node| node.row()).concat();
    for (ending, behind) in [
        ("{\"commit\":{\"message\":\"c\"}}\n", &["--commits"][..]),
        // What comes behind the last commit is staged, with the same.
        ("{\"commit\":{\"message\":\"c\"}}\n{\"id\":\"rest\",\"content\":1}\n", &["--commits"]),
        ("", &["--commit-every", "1", "-m", "c"]),
    ] {
        let place = Place::with_store();
        let put = place.mnem(&["put", "-q", "--jsonl", "-", "--event-time", time]).arguments(behind);
        put.arguments(options).env("MNEM_NOTE", "variable").input(format!("{rows}{ending}")).output();
        place.mnem(&["get", "--json", "-r", "HEAD", "bare", "own"]).says(&expected, "");
        if ending.contains("rest") {
            assert_eq!(row(&place, "rest"), node("rest", &given, time).row());
        }
    }
    let place = Place::with_store();
    for behind in [&["--commits"][..], &["--commit-every", "1", "-m", "c"]] {
        place.mnem(&["put", "--jsonl", "-", "--event-time", "noon"]).arguments(behind).input(rows).refuses(
            129,
            "mnem: error[bad-time]: the event time 'noon': a time is written in RFC 3339, such as \
             2024-05-06T07:08:09Z: premature end of input\nhint: a time looks like 2026-11-30T18:05:00+01:00\n",
        );
    }
}

#[test]
fn a_row_that_is_refused_or_a_commit_of_nothing_refuses_all_commits() {
    let place = Place::with_story();
    place.mnem(&["put", "k", "staged"]).output();
    let good = "{\"id\":\"a\",\"content\":1}\n{\"commit\":{\"message\":\"good\"}}\n";
    let hint = "hint: a row is such as {\"id\":\"user/diet\",\"content\":\"vegan\"}\n";
    for (row, status, said) in [
        ("{\"commit\":{}}", 129, format!("bad-json]: line 3: the key 'commit': the key 'message' is missing\n{hint}")),
        (
            "{\"commit\":{\"message\":\" \"}}",
            129,
            format!("bad-json]: line 3: the key 'commit': the key 'message' may not be blank\n{hint}"),
        ),
        (
            "{\"commit\":{\"message\":\"m\"},\"id\":\"k\"}",
            129,
            format!("bad-json]: line 3: unknown key 'id'; the keys are 'commit'\n{hint}"),
        ),
        (
            "{\"commit\":{\"message\":\"m\",\"time\":\"noon\"}}",
            129,
            "bad-time]: line 3: the key 'commit': the key 'time': 'noon': a time is written in RFC 3339, \
             such as 2024-05-06T07:08:09Z: premature end of input\n\
             hint: a time looks like 2026-11-30T18:05:00+01:00\n"
                .to_owned(),
        ),
        (
            "{\"commit\":{\"message\":\"nothing\"}}",
            1,
            "nothing-to-commit]: commit 2 of the rows would change nothing\nhint: leave that commit out\n".to_owned(),
        ),
        (
            "{\"id\":\"a\",\"content\":1}\n{\"commit\":{\"message\":\"the same\"}}",
            1,
            "nothing-to-commit]: commit 2 of the rows would change nothing\nhint: leave that commit out\n".to_owned(),
        ),
    ] {
        let put = place.mnem(&["put", "--jsonl", "-", "--commits"]).input(format!("{good}{row}\n"));
        put.refuses(status, &format!("mnem: error[{said}"));
    }
}

#[test]
fn commit_every_makes_the_commits_that_single_calls_make() {
    let row = |number: usize| match number % 10 {
        // Such a row changes nothing, and no call makes a commit of it.
        4 => format!("{{\"id\":\"{}\",\"content\":{}}}", (number - 1) % 7, number - 1),
        6 => format!("{{\"id\":\"{}\",\"deleted\":true}}", (number - 1) % 7),
        _ => format!("{{\"id\":\"{}\",\"content\":{number}}}", number % 7),
    };
    let rows: Vec<_> = (0..100).map(row).collect();
    let (single, batch) = (Place::with_store(), Place::with_store());
    for row in &rows {
        let put = single.mnem(&["put", "--jsonl", "-", "-m", "step", "-q"]).input(row.clone());
        put.env("MNEM_SOURCE", "wrapper").output();
    }
    let expected = single.mnem(&["log", "--ids", "--reverse"]).output();
    let put = batch.mnem(&["put", "--jsonl", "-", "--commit-every", "1", "-m", "step"]).input(lines(&rows));
    put.env("MNEM_SOURCE", "wrapper").says(&expected, "unchanged: 10 of 100\n");
    assert_eq!(expected.lines().count(), 90);
    assert_eq!(batch.mnem(&["log", "--json"]).output(), single.mnem(&["log", "--json"]).output());
}

#[test]
fn commit_every_counts_rows_and_the_last_commit_takes_what_is_left() {
    let place = Place::with_store();
    let rows: String = (0..7).map(|id| format!("{{\"id\":\"{id}\",\"content\":1}}\n")).collect();
    let put =
        || place.mnem(&["put", "--jsonl", "-", "--commit-every=3", "-m", "some", "-m", "more"]).input(rows.clone());
    assert_eq!(put().output().lines().count(), 3);
    let log = place.mnem(&["log", "--name-status", "--oneline", "--reverse"]).output();
    let changes: Vec<_> = log.lines().filter(|line| line.starts_with("A ")).collect();
    assert_eq!(changes, ["A 0", "A 1", "A 2", "A 3", "A 4", "A 5", "A 6"]);
    let before = place.files().remove(".mnemosyne/staged/default");
    put().says("", "unchanged: 3 of 3\n");
    assert_eq!(place.files().remove(".mnemosyne/staged/default"), before);
    let row = put().arguments(["--json", "--kind", "claim"]).answer();
    assert_eq!(row.status, 129, "{row:?}");
}

#[test]
fn options_that_exclude_each_other_are_refused() {
    let place = Place::with_story();
    let cannot = |one: &str, other: &str| format!("the argument '{one}' cannot be used with '{other}'");
    let missing = |what: &str| format!("the following required arguments were not provided: {what}");
    for (arguments, said) in [
        (&["k", "v", "--if-absent", "--if-match", "none"][..], cannot("--if-absent", "--if-match <HASH|none>")),
        (&["--jsonl", "-", "--if-absent"], cannot("--jsonl [<FILE>]", "--if-absent")),
        (&["--jsonl", "-", "--if-match", "none"], cannot("--jsonl [<FILE>]", "--if-match <HASH|none>")),
        (&["k", "v", "--commits"], missing("--jsonl [<FILE>]")),
        (&["--jsonl", "-", "--commits", "-m", "m"], cannot("--commits", "--message <MESSAGE>")),
        (&["--jsonl", "-", "--commit-every", "2"], missing("--message <MESSAGE>")),
        (&["--jsonl", "-", "--commits", "--dry-run"], cannot("--commits", "--dry-run")),
        (
            &["--jsonl", "-", "--commit-every", "2", "-m", "m", "--dry-run"],
            cannot("--commit-every <COUNT>", "--dry-run"),
        ),
        (
            &["--jsonl", "-", "--commit-every", "0", "-m", "m"],
            "invalid value '0' for '--commit-every <COUNT>': 0 is not in 1..18446744073709551615".to_owned(),
        ),
    ] {
        let put = place.mnem(&["put"]).arguments(arguments);
        put.refuses(129, &format!("mnem: error[usage]: {said}\nhint: see 'mnem put --help'\n"));
    }
    place.mnem(&["put", "k", "v", "--if-match", "abc"]).refuses(
        129,
        "mnem: error[usage]: 'abc' is not a hash of 64 hexadecimal digits\n\
         hint: 'mnem get --json ID' tells a node's hash\n",
    );
    place.mnem(&["put", "--jsonl", "-", "--commits", "--kind", "claim"]).refuses(
        129,
        "mnem: error[unsupported-kind]: content kind 'claim' is reserved for a later version\n\
         hint: the one kind is 'note'\n",
    );
}
