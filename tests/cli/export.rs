//! `mnem export`, and what `mnem import` makes of it.

use super::oracle::Node;
use super::support::{FIRST, Place, lines, state};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::os::unix::fs::symlink;

const DIET: &str = r#"{"id":"user/diet","content":"loves steak","content_kind":"note","provenance":{"source":"https://forum.example/t/88"}}"#;
const DINNER: &str = r#"{"id":"plan/dinner","content":{"at": "20:00"},"content_kind":"note","provenance":{},"event_time":"2025-12-01T09:30:00.50+01:00"}"#;
const ALLERGIES: &str = r#"{"id":"user/allergies","content":["peanuts", 1.0],"content_kind":"note","provenance":{}}"#;

/// Ids that mean something to a file system, and contents that a text file cannot tell apart.
fn awkward() -> BTreeMap<String, String> {
    let ids = [
        "../x",
        "a/b",
        "CON",
        ".hidden",
        "..",
        ".",
        "Goal",
        "goal",
        "GOAL",
        "index.jsonl",
        "INDEX.JSONL",
        "50%",
        "50%25",
        "a~b",
        "%2E.%2Fx",
        "caf\u{e9}",
        "cafe\u{301}",
        " a ",
        "/etc/passwd",
        "-o",
        "a\\b",
        "\u{202e}x",
        "x.",
        "nul.txt",
    ];
    let contents = [
        "\"\\ud83d\"",
        "\"a\\ud83d b\"",
        "[1,\n\n2]",
        "{\r\n\t\"b\": 1, \"b\": 1.10}",
        "\"\\u0071\"",
        "\"q\"",
        "\"left\\u0000right\"",
        "\"a\\r\\nb\\r\\n\"",
        "\"\"",
        "\"\\n\"",
        "\" \"",
        "\"\u{feff}bom\"",
        "null",
        "\"null\"",
        "-0",
        "1e400",
        "\"\u{e9}\\/\"",
        "\"{\\\"file\\\":\\\"../../x\\\"}\"",
        "\"\u{2028}\"",
    ];
    let long = ["k".repeat(1024), "K".repeat(1024), "é".repeat(512), "k".repeat(200), "k".repeat(201)];
    let ids = ids.map(str::to_owned).into_iter().chain(long);
    ids.zip(contents.iter().cycle()).map(|(id, content)| (id, (*content).to_owned())).collect()
}

/// Rows of JSON Lines; each second has provenance and an event time.
fn rows(nodes: &BTreeMap<String, String>) -> String {
    let row = |(at, (id, content)): (usize, (&String, &String))| {
        let origin = match at % 3 {
            0 => "",
            1 => r#","provenance":{"note":"a\u0000\n","source":"","agent_step":"7"}"#,
            _ => r#","event_time":"2024-02-29t23:59:59.120z""#,
        };
        let id = serde_json::to_string(id).expect("an id");
        format!("{{\"id\":{id},\"content_json\":{}{origin}}}\n", serde_json::to_string(content).expect("text"))
    };
    nodes.iter().enumerate().map(row).collect()
}

fn holding(nodes: &BTreeMap<String, String>) -> Place {
    let place = Place::with_store();
    place.mnem(&["put", "--jsonl", "-q", "-m", "all"]).input(rows(nodes)).output();
    place
}

/// Takes all of `from` to another store by this format, and returns that.
fn taken(from: &Place, format: &str) -> Place {
    let to = Place::with_store();
    // What a folder or a row says of provenance beats the variables, also where it says that there is none.
    if format == "dir" {
        from.mnem(&["export", "--format", "dir", "-o", &to.argument("folder")]).says("", "");
        to.mnem(&["import", "--format", "dir", "folder", "-qm", "all"]).env("MNEM_SOURCE", "variable").output();
    } else {
        let rows = from.mnem(&["export"]).output();
        to.mnem(&["import", "-", "-qm", "all"]).input(rows).env("MNEM_SOURCE", "variable").output();
    }
    to
}

#[test]
fn it_writes_the_rows_that_put_reads() {
    let place = Place::with_story();
    place.mnem(&["put", "lines", "-t", "json", "[1,\n 2]"]).output();
    let row = r#"{"id":"lines","content_json":"[1,\n 2]","content_kind":"note","provenance":{}}"#;
    for arguments in
        [&["export"][..], &["export", "--format", "jsonl"], &["export", "-o", "-"], &["export", "--json", "-z"]]
    {
        place.mnem(arguments).says(&lines(&[row, DINNER, DIET]), "");
    }
    place.mnem(&["export", "user/"]).says(&lines(&[DIET]), "");
    place.mnem(&["export", "--literal", "user/*", "lines"]).says(&lines(&[row]), "");
    let first = DIET.replace("loves steak", "vegan since 2019");
    let first = first.replace(r#""source":"https://forum.example/t/88""#, r#""agent_step":"1","observation":"chat/1""#);
    place.mnem(&["export", "-r", FIRST]).says(&lines(&[ALLERGIES, &first]), "");
    place.mnem(&["export", "user/diet"]).env("MNEM_REV", FIRST).says(&lines(&[&first]), "");
    place.mnem(&["export", "none"]).says("", "");
}

#[test]
fn as_json_it_is_one_array() {
    let place = Place::with_story();
    place.mnem(&["export", "--format", "json"]).says(&format!("[\n{DINNER},\n{DIET}\n]\n"), "");
    place.mnem(&["export", "--format", "json", "none"]).says("[\n]\n", "");
}

#[test]
fn an_output_file_has_what_standard_output_would() {
    let place = Place::with_story();
    place.write(
        "old/rows.jsonl",
        "a longer text that was there before and goes away, however long it may have been".repeat(9),
    );
    place.mnem(&["export", "-o", "rows.jsonl", "-C", "old"]).says("", "");
    place.mnem(&["export", "--format", "json", "--output", "rows.json"]).says("", "");
    let read = |name| std::fs::read_to_string(place.path(name)).expect("a file");
    assert_eq!(read("old/rows.jsonl"), lines(&[DINNER, DIET]));
    assert_eq!(read("rows.json"), format!("[\n{DINNER},\n{DIET}\n]\n"));
}

#[test]
fn a_folder_has_a_file_a_node_and_an_index() {
    let place = Place::with_story();
    place.mnem(&["put", "spelled", "-t", "json", "\"\\u0071\""]).output();
    place.mnem(&["export", "--format", "dir", "-o", "new/folder"]).refuses(
        128,
        "mnem: error[io]: creating '[PLACE]/new/folder' failed: No such file or directory (os error 2)\n",
    );
    place.directory("folder");
    place.mnem(&["export", "--format=dir", "-o", "folder"]).says("", "");
    let files: BTreeMap<_, _> = place
        .files()
        .into_iter()
        .filter_map(|(name, (_, bytes))| {
            let name = name.strip_prefix("folder/")?.to_owned();
            Some((name, String::from_utf8(bytes?).expect("text")))
        })
        .collect();
    let hash = |id: &str| {
        let row = place.mnem(&["get", "--json", id]).output();
        serde_json::from_str::<serde_json::Value>(&row).expect("JSON")["hash"].as_str().expect("a hash").to_owned()
    };
    let index = [
        format!(
            r#"{{"file":"plan%2Fdinner","id":"plan/dinner","type":"json","hash":"{}","provenance":{{}},"event_time":"2025-12-01T09:30:00.50+01:00"}}"#,
            hash("plan/dinner")
        ),
        format!(
            r#"{{"file":"spelled","id":"spelled","type":"text","hash":"{}","content_json":"\"\\u0071\"","provenance":{{}}}}"#,
            Node::new("spelled", "\"\\u0071\"").hash()
        ),
        format!(
            r#"{{"file":"user%2Fdiet","id":"user/diet","type":"text","hash":"{}","provenance":{{"source":"https://forum.example/t/88"}}}}"#,
            hash("user/diet")
        ),
    ];
    let expected = [
        ("index.jsonl", lines(&index)),
        ("plan%2Fdinner", "{\"at\": \"20:00\"}".to_owned()),
        ("spelled", "q".to_owned()),
        ("user%2Fdiet", "loves steak".to_owned()),
    ];
    assert_eq!(files, expected.map(|(name, text)| (name.to_owned(), text)).into());
}

#[test]
fn awkward_ids_and_contents_come_back_the_same_and_stay_in_the_folder() {
    let place = holding(&awkward());
    let state_before = state(&place);
    for format in ["jsonl", "dir"] {
        let to = taken(&place, format);
        assert_eq!(state(&to), state_before, "{format}");
        let names: Vec<_> = to.files().into_keys().collect();
        let outside = names.iter().filter(|name| !name.starts_with(".mnemosyne") && !name.starts_with("folder"));
        assert_eq!(outside.count(), 0, "{names:?}");
        if format == "dir" {
            // Flat, no name is hidden, and none differs from another in case only.
            let files: Vec<_> = names.iter().filter_map(|name| name.strip_prefix("folder/")).collect();
            assert_eq!(files.len(), awkward().len() + 1);
            assert!(files.iter().all(|name| !name.contains('/') && !name.starts_with('.') && name.len() <= 200));
            let lower: std::collections::BTreeSet<_> = files.iter().map(|name| name.to_ascii_lowercase()).collect();
            assert_eq!(lower.len(), files.len(), "{files:?}");
        }
    }
}

#[test]
fn a_folder_that_is_no_new_or_empty_one_is_left_alone() {
    let place = Place::with_story();
    place.write("full/a", "kept");
    place.write("file", "kept");
    place.directory("empty");
    symlink(place.path("empty"), place.path("link")).expect("a link");
    symlink(place.path("nowhere"), place.path("dangling")).expect("a link");
    for name in ["full", "file", "link", "link/", "dangling"] {
        let shown = name.trim_end_matches('/');
        place.mnem(&["export", "--format", "dir", "-o", name]).refuses(
            129,
            &format!(
                "mnem: error[usage]: '[PLACE]/{shown}' is there already and is no empty directory\n\
                 hint: name a directory that is not there yet\n"
            ),
        );
    }
    for arguments in [&["export", "--format", "dir"][..], &["export", "--format", "dir", "-o", "-"]] {
        let said = "mnem: error[usage]: a folder needs a name\nhint: mnem export --format dir -o FOLDER\n";
        place.mnem(arguments).refuses(129, said);
    }
    place.mnem(&["export", "--format", "xml"]).refuses(
        129,
        "mnem: error[usage]: invalid value 'xml' for '--format <FORMAT>' [possible values: jsonl, json, dir]\n\
         hint: see 'mnem export --help'\n",
    );
}

fn id() -> impl Strategy<Value = String> {
    prop_oneof!["[a-cA-C./%~é ]{1,6}", "[kK]{198,203}", "\\PC{1,12}"]
        .prop_filter("an id", |id| !id.trim().is_empty() && !id.chars().any(char::is_control))
}

fn content() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>().prop_map(|text| serde_json::to_string(&text).expect("text")),
        Just("\"\\udc00x\"".to_owned()),
        "\"(a|\\\\u00e9|\\\\/|\\\\n){0,4}\"",
        "\\[[ \t\r\n]{0,3}1\\.?0[ \r\n]{0,2}\\]"
            .prop_filter("JSON", |text| { serde_json::from_str::<serde_json::Value>(text).is_ok() }),
        "-?[1-9][0-9]{0,30}(e[0-9]{1,4})?",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, max_shrink_iters: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_memory_comes_back_with_the_same_state_id(nodes in prop::collection::btree_map(id(), content(), 1..120)) {
        let place = holding(&nodes);
        for format in ["jsonl", "dir"] {
            prop_assert_eq!(state(&taken(&place, format)), state(&place), "{}", format);
        }
    }
}
