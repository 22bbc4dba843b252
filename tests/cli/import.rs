//! `mnem import`

use super::oracle::{self, Node};
use super::support::{Place, lines, staged_row, state};
use std::os::unix::fs::symlink;

const NOTHING: &str = "mnem: error[nothing-to-commit]: nothing to commit\n\
    hint: stage a change with 'mnem put', or commit as it is with '--allow-empty'\n";

const NO_INDEX: &str = "hint: where it is no index that 'mnem export' wrote, give it another name\n";

/// A store with `a`, `b` and `sub/c` in a commit, and the same as a folder of notes.
fn notes() -> Place {
    let place = Place::with_store();
    for (id, text) in [("a", "one\n"), ("b", "two\n"), ("sub/c", "three\n")] {
        place.write(&format!("notes/{id}"), text);
    }
    place.mnem(&["import", "--format", "dir", "notes", "-qm", "first"]).env("MNEM_SOURCE", "notes").output();
    place
}

fn note(id: &str, text: &str, source: &str) -> Node {
    let content = serde_json::to_string(text).expect("text");
    Node { provenance: vec![("source", source.to_owned())], ..Node::new(id, &content) }
}

/// An exported folder of two nodes with provenance, in a place with another, empty store.
fn exported() -> Place {
    let from = Place::with_store();
    let rows = [
        r#"{"id":"a","content":"text","provenance":{"source":"web"},"event_time":"2024-01-01T00:00:00Z"}"#,
        r#"{"id":"v","content":[1, 2],"provenance":{"note":"n"}}"#,
    ];
    from.mnem(&["put", "--jsonl", "-m", "c"]).input(lines(&rows)).output();
    let place = Place::with_store();
    from.mnem(&["export", "--format", "dir", "-o", &place.argument("folder")]).says("", "");
    place
}

#[test]
fn it_stages_what_differs_and_prints_the_ids() {
    let place = Place::with_store();
    place.mnem(&["put", "same", "v", "-qm", "c"]).output();
    let rows = lines(&[
        r#"{"id":"z","content":1}"#,
        r#"{"id":"same","content":"v"}"#,
        r#"{"id":"a","content":2,"provenance":{"note":"own"}}"#,
    ]);
    place.write("rows.jsonl", &rows);
    let (z, a) = (Node::new("z", "1"), Node { provenance: vec![("note", "own".to_owned())], ..Node::new("a", "2") });
    let staged = staged_row("z", Some(&z.hash()), "added") + &staged_row("a", Some(&a.hash()), "added");
    place.mnem(&["import", "rows.jsonl", "--json"]).says(&staged, "");
    place.mnem(&["import", "--format", "jsonl", "-"]).input(rows.clone()).says("z\na\n", "");
    place.mnem(&["restore", "-q", "**"]).says("a\nz\n", "");
    place.mnem(&["import", "-", "-z"]).input(rows).env("MNEM_NOTE", "variable").says("z\0same\0a\0", "");
    place.mnem(&["get", "--json", "a"]).says(&a.row(), "");
}

#[test]
fn with_a_message_it_is_one_commit_and_nothing_changed_is_nothing_to_commit() {
    let place = Place::with_store();
    let rows = "{\"id\":\"a\",\"content\":1}\n{\"id\":\"b\",\"content\":2}\n";
    let commit = place.mnem(&["import", "-", "-m", "all"]).input(rows).answer();
    assert_eq!(commit.stdout, place.mnem(&["log", "--ids"]).output());
    assert_eq!((commit.status, &*commit.stderr), (0, "2 of 2 nodes changed\n"));
    place.write("rows", rows);
    place.mnem(&["import", "rows", "-m", "again"]).refuses(1, NOTHING);
    place.mnem(&["import", "rows", "--replace", "-m", "again"]).refuses(1, NOTHING);
    let rows = "{\"id\":\"b\",\"content\":3}\n{\"id\":\"none\",\"deleted\":true}\n";
    let said = place.mnem(&["import", "-", "--replace", "--json", "-m", "b", "-m", "alone"]).input(rows).answer();
    assert_eq!((said.status, &*said.stderr), (0, "2 of 3 nodes changed\n"));
    assert_eq!(said.stdout, place.mnem(&["log", "-n1", "--json"]).output());
    place.mnem(&["export"]).says("{\"id\":\"b\",\"content\":3,\"content_kind\":\"note\",\"provenance\":{}}\n", "");
}

#[test]
fn a_folder_of_notes_is_one_commit_of_real_changes() {
    let place = notes();
    let first = [note("a", "one\n", "notes"), note("b", "two\n", "notes"), note("sub/c", "three\n", "notes")];
    assert_eq!(state(&place), oracle::state(&first));
    let again = |variable: &str| {
        place.mnem(&["import", "--format", "dir", "notes", "--replace", "-m", "second"]).env("MNEM_SOURCE", variable)
    };
    again("other").refuses(1, NOTHING);
    std::fs::remove_file(place.path("notes/a")).expect("it was there");
    place.write("notes/b", "two and more\n");
    place.write("notes/new", "");
    let said = again("other").answer();
    assert_eq!((said.status, &*said.stderr), (0, "3 of 4 nodes changed\n"), "{said:?}");
    // What changed has the new provenance, what did not keeps its own.
    let second = [note("b", "two and more\n", "other"), note("new", "", "other"), note("sub/c", "three\n", "notes")];
    assert_eq!(state(&place), oracle::state(&second));
    place
        .mnem(&["log", "-n1", "--name-status", "--oneline"])
        .says(&format!("{} (HEAD -> main) second\nD a\nM b\nA new\n", &said.stdout[..10]), "");
    again("third").refuses(1, NOTHING);
}

#[test]
fn without_replace_what_the_folder_lacks_stays() {
    let place = notes();
    std::fs::remove_file(place.path("notes/a")).expect("it was there");
    place.write("notes/b", "2");
    place.mnem(&["import", "--format=dir", "notes"]).says("b\n", "");
    place.mnem(&["ls"]).says("a\nb\nsub/c\n", "");
    place.mnem(&["import", "--format=dir", "notes", "--replace"]).says("b\na\n", "");
    place.mnem(&["commit", "--dry-run", "-q"]).says("D a\nM b\n", "");
}

#[test]
fn replace_leaves_nothing_that_only_head_has() {
    let place = notes();
    // Staged removals are no part of what the folder says, and HEAD has the nodes.
    place.mnem(&["rm", "a", "b"]).output();
    place.mnem(&["put", "staged", "v"]).output();
    std::fs::remove_file(place.path("notes/a")).expect("it was there");
    let said = place.mnem(&["import", "--format", "dir", "notes", "--replace", "-qm", "second"]).answer();
    assert_eq!((said.status, &*said.stderr), (0, ""));
    place.mnem(&["ls", "-r", "HEAD"]).says("b\nsub/c\n", "");
    place.mnem(&["status"]).says(
        &format!(
            "session default on branch main at {}\n\
             nothing to commit; stage a change with 'mnem put ID CONTENT'\n",
            &said.stdout[..10]
        ),
        "",
    );
}

#[test]
fn an_edited_file_loses_the_provenance_of_the_old_text() {
    let place = exported();
    place.mnem(&["import", "--format", "dir", "folder", "-qm", "first"]).output();
    place.write("folder/a", "edited");
    place.write("folder/v", "[1, 3]");
    place.mnem(&["import", "--format", "dir", "folder"]).env("MNEM_AGENT_STEP", "9").says("a\nv\n", "");
    let step = |node: Node| Node { provenance: vec![("agent_step", "9".to_owned())], ..node };
    let rows = [step(Node::new("a", "\"edited\"")), step(Node::new("v", "[1, 3]"))];
    place.mnem(&["ls", "--json"]).says(&rows.map(|node| node.row()).concat(), "");
    // With the old text the old words count again.
    place.write("folder/a", "text");
    place.write("folder/v", "[1, 2]");
    place.mnem(&["import", "--format", "dir", "folder"]).says("", "");
    place.mnem(&["commit", "-m", "c"]).refuses(1, NOTHING);
}

#[test]
fn links_and_hidden_files_are_passed_over_and_told() {
    let place = notes();
    place.write("secret", "not for a memory");
    place.write("notes/.hidden", "h");
    place.write("notes/.git/config", "g");
    symlink(place.path("secret"), place.path("notes/link")).expect("a link");
    symlink(place.path("notes"), place.path("notes/loop")).expect("a link");
    symlink("nowhere", place.path("notes/dangling")).expect("a link");
    let said = place.mnem(&["import", "--format", "dir", "notes", "--replace", "-m", "c"]).answer();
    let mut told: Vec<_> = said.stderr.lines().collect();
    told.sort_unstable();
    let expected = [
        NOTHING.lines().last().expect("a hint"),
        NOTHING.lines().next().expect("an error"),
        "warning: passed over '.git': a hidden file",
        "warning: passed over '.hidden': a hidden file",
        "warning: passed over 'dangling': not a regular file",
        "warning: passed over 'link': not a regular file",
        "warning: passed over 'loop': not a regular file",
    ];
    assert_eq!(told, expected);
    assert_eq!(said.status, 1);
}

#[test]
fn an_index_leads_to_no_file_outside_the_folder_and_follows_no_link() {
    let place = exported();
    place.write("secret", "not for a memory");
    let row = |file: &str| {
        format!(
            "{{\"file\":{},\"id\":\"k\",\"type\":\"text\",\"hash\":\"{}\",\"provenance\":{{}}}}\n",
            serde_json::to_string(file).expect("text"),
            "0".repeat(64)
        )
    };
    let import = || place.mnem(&["import", "--format", "dir", "folder"]);
    let absolute = place.argument("secret");
    for (file, shown) in [
        ("../secret", "../secret"),
        ("..", ".."),
        (".", "."),
        ("", ""),
        (".hidden", ".hidden"),
        ("sub/../../secret", "sub/../../secret"),
        ("a\0b", "a^@b"),
        (&absolute, "[PLACE]/secret"),
    ] {
        place.write("folder/index.jsonl", row(file));
        let what = format!("'[PLACE]/folder/index.jsonl' line 1: '{shown}' is no name of a file in the folder");
        import().refuses(129, &format!("mnem: error[bad-json]: {what}\n{NO_INDEX}"));
    }
    symlink(place.path("secret"), place.path("folder/link")).expect("a link");
    place.write("folder/index.jsonl", row("link"));
    let loops = "Too many levels of symbolic links (os error 40)";
    let what = format!("'[PLACE]/folder/index.jsonl' line 1: reading '[PLACE]/folder/link' failed: {loops}");
    import().refuses(128, &format!("mnem: error[io]: {what}\n{NO_INDEX}"));
    std::fs::remove_file(place.path("folder/index.jsonl")).expect("it was there");
    symlink(place.path("secret"), place.path("folder/index.jsonl")).expect("a link");
    let what = format!("reading '[PLACE]/folder/index.jsonl' failed: {loops}");
    import().refuses(128, &format!("mnem: error[io]: {what}\n"));
    symlink(place.path("folder"), place.path("folder-link")).expect("a link");
    for name in ["folder-link", "folder-link/", "secret"] {
        let what = format!("'[PLACE]/{}' is not a directory", name.trim_end_matches('/'));
        place.mnem(&["import", "--format", "dir", name]).refuses(
            129,
            &format!(
                "mnem: error[usage]: {what}\n\
                 hint: name the folder itself, or take JSON Lines from a file with '--format jsonl'\n"
            ),
        );
    }
}

#[test]
fn a_file_of_ones_own_that_has_the_name_of_the_index_is_a_note() {
    let place = notes();
    let import = || place.mnem(&["import", "--format", "dir", "notes"]);
    let warning = "warning: 'index.jsonl' is no index of an export, so it is a note as any other file\n";
    for text in ["{\"title\":\"a\"}\n{\"title\":\"b\"}\n", "[1]", "not JSON\n", "{\"id\":\"a\",\"file\":\"b\"}\n"] {
        place.write("notes/index.jsonl", text);
        import().says("index.jsonl\n", warning);
        place.mnem(&["get", "index.jsonl"]).says(text, "");
        place.mnem(&["ls"]).says("a\nb\nindex.jsonl\nsub/c\n", "");
    }
    // An index that is damaged or was edited is told, and no note.
    let place = exported();
    let index = std::fs::read_to_string(place.path("folder/index.jsonl")).expect("an index");
    let import = || place.mnem(&["import", "--format", "dir", "folder"]);
    for (edited, line) in [
        (index[..index.find(",\"provenance\"").expect("a row")].to_owned(), 1),
        (index.clone() + "more\n", 3),
        ("more\n".to_owned() + &index.replace("{\"file\":", "{ \"file\":"), 1),
    ] {
        place.write("folder/index.jsonl", edited);
        let answer = import().answer();
        let told = format!("mnem: error[bad-json]: '[PLACE]/folder/index.jsonl' line {line}: ");
        assert!(answer.status == 129 && answer.stderr.starts_with(&told), "{answer:?}");
        assert!(answer.stderr.ends_with(NO_INDEX) && answer.stdout.is_empty(), "{answer:?}");
    }
    // An empty memory has an empty index.
    place.write("empty/index.jsonl", "");
    place.mnem(&["import", "--format", "dir", "empty"]).says("", "");
}

#[test]
fn a_folder_that_says_two_things_or_nothing_is_refused() {
    let index = |place: &Place| std::fs::read_to_string(place.path("folder/index.jsonl")).expect("an index");
    let import = |place: &Place| place.mnem(&["import", "--format", "dir", "folder", "--replace", "-m", "c"]);
    let edited = |edit: &dyn Fn(&str) -> String| {
        let place = exported();
        place.write("folder/index.jsonl", edit(&index(&place)));
        place
    };
    let at = "'[PLACE]/folder/index.jsonl' line";
    let first = |text: &str| text.lines().next().expect("a row").to_owned() + "\n";
    for (place, said) in [
        (edited(&|text| text.to_owned() + &first(text)), format!("bad-json]: {at} 3: 'a' is named twice")),
        (
            edited(&|text| text.to_owned() + &first(text).replace("\"file\":\"a\"", "\"file\":\"b\"")),
            format!("bad-id]: {at} 3: another file is the node 'a' already\nhint: move one of the two away"),
        ),
        (
            edited(&|text| text.replace("\"type\":\"text\"", "\"type\":\"toml\"")),
            format!("bad-json]: {at} 1: 'toml' is no type of a file"),
        ),
        (
            edited(&|text| text.replace("\"id\":\"v\"", "\"id\":\" \"")),
            format!(
                "bad-id]: {at} 2: ' ': an id may not be blank\n\
                 hint: such as 'user/diet'; 'mnem put --new CONTENT' generates one"
            ),
        ),
        (
            edited(&|text| text.replace("2024-01-01T", "2024-13-01T")),
            format!(
                "bad-time]: {at} 1: the event time '2024-13-01T00:00:00Z': there is no such date, time of day or offset\n\
                 hint: a time looks like 2026-11-30T18:05:00+01:00"
            ),
        ),
        (
            edited(&|text| text.replace("{\"note\":\"n\"}", "{\"who\":\"n\"}")),
            format!(
                "bad-json]: {at} 2: unknown key 'who'; the keys are 'agent_step', 'observation', 'tool_call', 'source', \
                 'note'"
            ),
        ),
    ] {
        place.write("folder/b", "text");
        let hint = if said.contains("\nhint: ") { "" } else { NO_INDEX };
        import(&place).refuses(129, &format!("mnem: error[{said}\n{hint}"));
    }
    let place = exported();
    place.write("folder/v", "[1, 2");
    import(&place).refuses(
        129,
        &format!(
            "mnem: error[bad-json]: {at} 2: '[PLACE]/folder/v': EOF while parsing a list at line 1 column 5\n{NO_INDEX}"
        ),
    );
    let place = exported();
    place.write("folder/loose", b"\xff");
    import(&place).refuses(
        129,
        "mnem: error[bad-utf8]: '[PLACE]/folder/loose' is not UTF-8: byte 0 is the first bad one\n\
         hint: store bytes as text, such as the output of 'base64 -w0 FILE'\n",
    );
    let from = Place::with_store();
    from.mnem(&["put", "sub/c", "v"]).output();
    from.mnem(&["export", "--format", "dir", "-o", "folder"]).says("", "");
    from.write("folder/sub/c", "w");
    import(&from).refuses(
        129,
        "mnem: error[bad-id]: '[PLACE]/folder/sub/c': another file is the node 'sub/c' already\n\
         hint: move one of the two away\n",
    );
}

#[test]
fn what_the_index_names_and_is_gone_is_removed_by_replace_alone() {
    let place = exported();
    place.mnem(&["import", "--format", "dir", "folder", "-qm", "first"]).output();
    std::fs::remove_file(place.path("folder/a")).expect("it was there");
    place.mnem(&["import", "--format", "dir", "folder"]).says("", "");
    place.mnem(&["import", "--format", "dir", "folder", "--replace"]).says("a\n", "");
}

#[test]
fn a_wrong_call_is_refused() {
    let place = Place::with_store();
    place.directory("folder");
    let row = "hint: a row is such as {\"id\":\"user/diet\",\"content\":\"vegan\"}\n";
    for (arguments, status, said) in [
        (
            &["import"][..],
            129,
            "usage]: the following required arguments were not provided: <PATH>\nhint: see 'mnem import --help'\n"
                .to_owned(),
        ),
        (
            &["import", "x", "--format", "json"],
            129,
            "usage]: invalid value 'json' for '--format <FORMAT>' [possible values: jsonl, dir]\n\
             hint: a similar value exists: 'jsonl'\n"
                .to_owned(),
        ),
        (
            &["import", "none"],
            128,
            "io]: cannot read 'none': No such file or directory (os error 2)\n\
             hint: name a file that is there; - is standard input\n"
                .to_owned(),
        ),
        (&["import", "folder"], 128, "io]: cannot read 'folder': Is a directory (os error 21)\n".to_owned()),
        (
            &["import", "none", "--format", "dir"],
            128,
            "io]: reading '[PLACE]/none' failed: No such file or directory (os error 2)\n\
             hint: name a folder that is there\n"
                .to_owned(),
        ),
        (
            &["import", "-", "-m", ""],
            129,
            "usage]: the message may not be blank\nhint: say what changed: -m 'learn preferences'\n".to_owned(),
        ),
        (&["import", "-"], 129, format!("bad-json]: line 1: the key 'content' is missing\n{row}")),
    ] {
        place.mnem(arguments).input("{\"id\":\"k\"}").refuses(status, &format!("mnem: error[{said}"));
    }
    place.mnem(&["import", "-"]).env("MNEM_REV", "HEAD").refuses(
        129,
        "mnem: error[read-only-rev]: MNEM_REV is set to 'HEAD', so nothing is written\n\
         hint: to write, run it without: env -u MNEM_REV mnem …\n",
    );
}

#[test]
fn an_import_that_commits_nothing_keeps_what_is_staged() {
    let place = Place::with_store();
    place.write("e/a", "a");
    assert_eq!(place.mnem(&["import", "--format", "dir", "e", "--replace", "-m", "one"]).answer().status, 0);
    place.mnem(&["put", "draft", "unsaved work"]).says("draft\n", "");
    place.mnem(&["put", "a", "edited"]).says("a\n", "");
    assert_eq!(place.mnem(&["import", "--format", "dir", "e", "--replace", "-m", "two"]).answer().status, 1);
    place.mnem(&["get", "draft"]).says("unsaved work", "");
    place.mnem(&["get", "a"]).says("edited", "");
}
