//! `mnem get`

use super::oracle::Node;
use super::support::{FIRST, Place, json};

/// A store with one node in a commit, put as rows.
fn holding(rows: &str) -> Place {
    let place = Place::with_store();
    place.mnem(&["put", "--jsonl", "-", "-m", "c"]).input(rows).output();
    place
}

#[test]
fn a_string_prints_as_its_text_and_any_other_value_as_its_json() {
    let place = holding(concat!(
        "{\"id\":\"text\",\"content\":\"a\\tb\\u00e9\\n\"}\n",
        "{\"id\":\"value\",\"content\":{ \"b\":1.10, \"a\":\"\\u00e9\" }}\n",
        "{\"id\":\"lone\",\"content\":\"\\ud83d\"}\n",
        "{\"id\":\"empty\",\"content\":\"\"}\n",
    ));
    place.mnem(&["get", "text"]).says("a\tbé\n", "");
    place.mnem(&["get", "text", "-t", "text"]).says("a\tbé\n", "");
    place.mnem(&["get", "text", "-t", "json"]).says("\"a\\tb\\u00e9\\n\"", "");
    place.mnem(&["get", "text", "--type=json"]).says("\"a\\tb\\u00e9\\n\"", "");
    for kind in ["text", "json"] {
        place.mnem(&["get", "value", "-t", kind]).says("{ \"b\":1.10, \"a\":\"\\u00e9\" }", "");
    }
    let note = "note: the string has a lone surrogate and so no text; this is its JSON text\n";
    place.mnem(&["get", "lone"]).says("\"\\ud83d\"", note);
    place.mnem(&["get", "lone", "-q"]).says("\"\\ud83d\"", "");
    place.mnem(&["get", "lone", "-t", "json"]).says("\"\\ud83d\"", "");
    place.mnem(&["get", "empty"]).says("", "");
}

#[test]
fn as_json_a_node_is_one_row() {
    let place = Place::with_story();
    place.mnem(&["get", "--json", "plan/dinner"]).says(
        "{\"v\":1,\"type\":\"node\",\"id\":\"plan/dinner\",\
         \"hash\":\"740e3b8295bd7d19bd527f0f259dc846bb6c7adf88873158a07ae4db4aba1fcd\",\
         \"content\":{\"at\":\"20:00\"},\"content_kind\":\"note\",\"provenance\":{\"agent_step\":null,\
         \"observation\":null,\"tool_call\":null,\"source\":null,\"note\":null},\
         \"event_time\":\"2025-12-01T09:30:00.50+01:00\"}\n",
        "",
    );
}

#[test]
fn several_ids_are_rows_in_the_order_of_the_ids_and_absent_ones_say_so() {
    let place = Place::with_story();
    let dinner = place.mnem(&["get", "--json", "plan/dinner"]).output();
    let diet = place.mnem(&["get", "--json", "user/diet"]).output();
    let ids = ["user/diet", "plan/dinner", "user/diet"];
    place.mnem(&["get", "--json"]).arguments(ids).says(&format!("{diet}{dinner}{diet}"), "");
    let absent = "{\"v\":1,\"type\":\"node\",\"id\":\"a\\\"b\",\"hash\":null,\"content\":null,\"content_kind\":null,\
         \"provenance\":null,\"event_time\":null,\"absent\":true}\n";
    place.mnem(&["get", "--json", "a\"b", "user/diet", "user/allergies"]).ends(
        1,
        &format!("{absent}{diet}{}", absent.replace("a\\\"b", "user/allergies")),
        "{\"v\":1,\"type\":\"error\",\"code\":\"no-node\",\"message\":\"no node 'a\\\"b', 'user/allergies'\",\
         \"hint\":\"see 'mnem ls'\",\"exit\":1}\n",
    );
}

#[test]
fn ids_come_from_standard_input_too() {
    let place = Place::with_story();
    let ids = ["plan/dinner", "user/diet", "plan/dinner"];
    let rows = place.mnem(&["get", "--json"]).arguments(ids).output();
    let get = |arguments: &[&str]| place.mnem(&["get", "--json", "--stdin"]).arguments(arguments);
    get(&[]).input(ids.join("\n")).says(&rows, "");
    get(&[]).input(ids.join("\n") + "\n").says(&rows, "");
    get(&["-z"]).input(ids.join("\0") + "\0").says(&rows, "");
    let first = place.mnem(&["get", "--json", "user/diet", "-r", "HEAD~2"]).output();
    get(&["-r", "HEAD~2"]).input("user/diet\n").says(&first, "");
    get(&[]).input("").says("", "");
    let blank = place.mnem(&["get", "--json", "--stdin"]).input("user/diet\n\n").answer();
    assert!(blank.status == 129 && blank.stderr.contains("\"code\":\"bad-id\""), "{blank:?}");
}

#[test]
fn a_revision_shows_the_memory_as_it_was() {
    let place = Place::with_story();
    place.mnem(&["put", "user/diet", "staged"]).says("user/diet\n", "");
    for (arguments, content) in [
        (&["get", "user/diet"][..], "staged"),
        (&["get", "user/diet", "-r", "HEAD"], "loves steak"),
        (&["get", "user/diet", "--rev", "@~1"], "loves steak"),
        (&["get", "user/diet", "-r", FIRST], "vegan since 2019"),
        (&["get", "user/allergies", "-r", "main~1"], "[\"peanuts\", 1.0]"),
    ] {
        place.mnem(arguments).says(content, "");
    }
    for arguments in [&["get", "user/allergies"][..], &["get", "user/allergies", "-r", "HEAD"]] {
        place.mnem(arguments).refuses(1, "mnem: error[no-node]: no node 'user/allergies'\nhint: see 'mnem ls'\n");
    }
}

#[test]
fn without_a_revision_staged_changes_lie_over_head() {
    let place = Place::with_story();
    let rows = "{\"id\":\"user/diet\",\"deleted\":true}\n{\"id\":\"new\",\"content\":1}\n";
    place.mnem(&["put", "--jsonl", "-"]).input(rows).output();
    place.mnem(&["get", "new"]).says("1", "");
    place.mnem(&["get", "plan/dinner"]).says("{\"at\": \"20:00\"}", "");
    place.mnem(&["get", "user/diet"]).refuses(1, "mnem: error[no-node]: no node 'user/diet'\nhint: see 'mnem ls'\n");
    place.mnem(&["get", "new", "-r", "HEAD"]).refuses(1, "mnem: error[no-node]: no node 'new'\nhint: see 'mnem ls'\n");
}

#[test]
fn before_the_first_commit_the_memory_is_what_is_staged() {
    let place = Place::with_store();
    place.mnem(&["get", "k"]).refuses(1, "mnem: error[no-node]: no node 'k'\nhint: see 'mnem ls'\n");
    place.mnem(&["put", "k", "v"]).says("k\n", "");
    place.mnem(&["get", "k"]).says("v", "");
    for revision in ["HEAD", "@", "main", "HEAD~1"] {
        place.mnem(&["get", "k", "-r", revision]).refuses(
            128,
            "mnem: error[bad-revision]: no commit yet on 'main'\n\
             hint: make one with 'mnem put ID CONTENT' and 'mnem commit -m MESSAGE'\n",
        );
    }
}

#[test]
fn a_path_prints_a_part_of_the_content() {
    let place = holding(r#"{"id":"k","content":{"a": {"b/c": [1.10, "x\ty", {"d" : 2} ]}, "a~": null}}"#);
    for (path, text, row) in [
        ("/a/b~1c/0", "1.10", "1.10"),
        ("/a/b~1c/1", "x\ty", "\"x\\ty\""),
        ("/a/b~1c/2", "{\"d\" : 2}", "{\"d\":2}"),
        ("/a~0", "null", "null"),
    ] {
        place.mnem(&["get", "k", "--path", path]).says(text, "");
        let row = format!("{{\"v\":1,\"type\":\"value\",\"id\":\"k\",\"path\":{},\"content\":{row}}}\n", json(path));
        place.mnem(&["get", "k", "--path", path, "--json"]).says(&row, "");
    }
    place.mnem(&["get", "k", "--path", "/a/b~1c/1", "-t", "json"]).says("\"x\\ty\"", "");
    let whole = r#"{"a": {"b/c": [1.10, "x\ty", {"d" : 2} ]}, "a~": null}"#;
    place.mnem(&["get", "k", "--path", ""]).says(whole, "");
    let nothing = "mnem: error[no-node]: the content of 'k' has nothing at '/a/x'\n\
        hint: see all of it with 'mnem get -t json ID'\n";
    place.mnem(&["get", "k", "--path", "/a/x"]).refuses(1, nothing);
    place
        .mnem(&["get", "none", "--path", "/a"])
        .refuses(1, "mnem: error[no-node]: no node 'none'\nhint: see 'mnem ls'\n");
}

#[test]
fn of_several_each_that_has_nothing_at_a_path_says_so() {
    let place = holding(
        "{\"id\":\"a\",\"content\":{\"x\":null}}\n{\"id\":\"b\",\"content\":1}\n{\"id\":\"c\",\"content\":2}\n",
    );
    let value = |id: &str, more: &str| {
        format!("{{\"v\":1,\"type\":\"value\",\"id\":\"{id}\",\"path\":\"/x\",\"content\":null{more}}}\n")
    };
    let missing = "{\"v\":1,\"type\":\"node\",\"id\":\"none\",\"hash\":null,\"content\":null,\"content_kind\":null,\
         \"provenance\":null,\"event_time\":null,\"absent\":true}\n";
    let error = |message: &str, hint: &str| {
        format!(
            "{{\"v\":1,\"type\":\"error\",\"code\":\"no-node\",\"message\":\"{message}\",\"hint\":\"{hint}\",\"exit\":1}}\n"
        )
    };
    let absent = ",\"absent\":true";
    let get = |ids: &[&str]| place.mnem(&["get", "--json", "--path", "/x"]).arguments(ids);
    get(&["a", "a"]).says(&value("a", "").repeat(2), "");
    get(&["b", "a", "c"]).ends(
        1,
        &(value("b", absent) + &value("a", "") + &value("c", absent)),
        &error("the content of 'b', 'c' has nothing at '/x'", "see all of it with 'mnem get -t json ID'"),
    );
    get(&["none", "a"]).ends(1, &(missing.to_owned() + &value("a", "")), &error("no node 'none'", "see 'mnem ls'"));
    get(&["b", "none"]).ends(
        1,
        &(value("b", absent) + missing),
        &error("no node 'none'; the content of 'b' has nothing at '/x'", "see 'mnem ls'"),
    );
    get(&["b"]).ends(
        1,
        "",
        &error("the content of 'b' has nothing at '/x'", "see all of it with 'mnem get -t json ID'"),
    );
}

#[test]
fn ids_are_compared_by_their_bytes() {
    let place = Place::with_store();
    let ids =
        ["caf\u{e9}", "cafe\u{301}", "Goal", "goal", "../escape", "notes/2024/todo.md", " a ", "--x", "'\"$(id)`"];
    for (at, id) in ids.iter().enumerate() {
        place.mnem(&["put", "--", id, &at.to_string()]).says(&format!("{id}\n"), "");
    }
    place.mnem(&["commit", "-qm", "c"]).output();
    for (at, id) in ids.iter().enumerate() {
        place.mnem(&["get", "--", id]).says(&at.to_string(), "");
        assert_eq!(place.mnem(&["get", "--json", "--", id]).output(), Node::new(id, &json(&at.to_string())).row());
    }
    let names: Vec<_> = place.files().into_keys().collect();
    assert_eq!(
        names,
        [
            ".mnemosyne",
            ".mnemosyne/.gitignore",
            ".mnemosyne/staged",
            ".mnemosyne/staged/default",
            ".mnemosyne/store.redb"
        ]
    );
}

#[test]
fn ids_come_from_standard_input_where_that_is_asked_for() {
    let place = Place::with_story();
    let [diet, dinner] = ["user/diet", "plan/dinner"].map(|id| place.mnem(&["get", "--json", id]).output());
    let get =
        |arguments: &[&str], input: &str| place.mnem(&["get", "--stdin", "--json"]).arguments(arguments).input(input);
    get(&[], "user/diet\nplan/dinner\nuser/diet\n").says(&format!("{diet}{dinner}{diet}"), "");
    get(&[], "user/diet").says(&diet, "");
    get(&["-z"], "user/diet\0plan/dinner\0").says(&format!("{diet}{dinner}"), "");
    get(&[], "").says("", "");
    let first = place.mnem(&["get", "--json", "user/diet", "-r", FIRST]).output();
    get(&["-r", FIRST], "user/diet\n").says(&first, "");
    let absent = "{\"v\":1,\"type\":\"node\",\"id\":\"none\",\"hash\":null,\"content\":null,\"content_kind\":null,\
         \"provenance\":null,\"event_time\":null,\"absent\":true}\n";
    get(&[], "none\nuser/diet\n").ends(
        1,
        &format!("{absent}{diet}"),
        "{\"v\":1,\"type\":\"error\",\"code\":\"no-node\",\"message\":\"no node 'none'\",\"hint\":\"see 'mnem ls'\",\
         \"exit\":1}\n",
    );
    // What ls lists get reads.
    let ids = place.mnem(&["ls", "-z"]).output();
    get(&["-z"], &ids).says(&place.mnem(&["ls", "--json"]).output(), "");
    let id = "such as 'user/diet'; 'mnem put --new CONTENT' generates one";
    get(&[], "user/diet\n\n").refuses(
        129,
        &format!(
            "{{\"v\":1,\"type\":\"error\",\"code\":\"bad-id\",\"message\":\"'': an id may not be blank\",\
             \"hint\":\"{id}\",\"exit\":129}}\n"
        ),
    );
    place
        .mnem(&["get", "--stdin"])
        .input("user/diet\n")
        .refuses(129, "mnem: error[usage]: several ids are only printed with --json\nhint: mnem get --json ID ID …\n");
    place.mnem(&["get", "--stdin", "k"]).refuses(
        129,
        "mnem: error[usage]: the argument '--stdin' cannot be used with '[ID]...'\nhint: see 'mnem get --help'\n",
    );
}
