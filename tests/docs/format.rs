//! The worked examples of `docs/format.md`, and a store read by a reader that knows nothing but that document.

use super::bless::root;
use super::store_reader::{Reader, hex, sha256};
use super::tables::{quoted, rows};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn document() -> String {
    fs::read_to_string(root().join("docs/format.md")).expect("the document")
}

/// Bytes as the document shows them: `\x{…}` for those that are no text.
fn shown_bytes(text: &str) -> Vec<u8> {
    let mut parts = text.split("\\x{");
    let mut bytes = parts.next().expect("a first part").as_bytes().to_vec();
    for part in parts {
        let (digits, text) = part.split_once('}').expect("an end");
        let digit = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).expect("two digits");
        bytes.extend((0..digits.len()).step_by(2).map(digit));
        bytes.extend_from_slice(text.as_bytes());
    }
    bytes
}

#[test]
fn the_ids_of_the_example_are_the_hashes_of_the_bytes_that_are_shown() {
    let document = document();
    let rows = rows(&document, "## Worked examples");
    assert_eq!(rows.len(), 5, "two nodes, an inner node, a state, a commit");
    for row in rows {
        let [id, bytes] = [&row[1], &row[2]].map(|cell| quoted(cell).next().expect("a quoted cell"));
        assert_eq!(hex(&sha256(&[&shown_bytes(bytes)])), id, "{}", row[0]);
        assert!(document.split("```console").skip(1).any(|block| block.contains(id)) || row[0] == "inner node", "{id}");
    }
}

#[test]
fn what_is_taken_apart_is_what_the_example_holds() {
    let document = document();
    let taken = |heading: &str| {
        let parts = rows(&document, heading).into_iter();
        parts.map(|row| quoted(&row[0]).next().expect("bytes").replace(' ', "")).collect::<String>()
    };
    let row = |table: &str, number: u64| {
        let start = format!("{table} {} ", hex(&number.to_le_bytes()));
        let row = document.lines().find_map(|line| line.strip_prefix(&start)).expect("a row");
        row.split(' ').next().expect("a value").to_owned()
    };
    assert_eq!(taken("### Its first commit record"), row("commit", 4));
    assert_eq!(taken("### Its second inner node"), row("object", 6));
    let (_, log) = document.split_once("staged/default\n").expect("the log");
    let (log, _) = log.split_once("```").expect("an end");
    assert_eq!(taken("### Its staged log"), log.split_whitespace().collect::<String>());
    let (_, bundle) = document.split_once("dinner.bundle\n 6d").expect("the bundle");
    let (bundle, _) = bundle.split_once("```").expect("an end");
    let bundle = format!("6d{}", bundle.split_whitespace().collect::<String>());
    assert_eq!(taken("### A bundle"), bundle);
    let (body, sum) = bundle.split_at(bundle.len() - 64);
    let body: Vec<_> =
        (0..body.len()).step_by(2).map(|at| u8::from_str_radix(&body[at..at + 2], 16).expect("digits")).collect();
    assert_eq!(hex(&sha256(&[&body])), sum);
}

fn mnem(place: &Path, arguments: &[&str]) -> Output {
    let mut mnem = Command::new(env!("CARGO_BIN_EXE_mnem"));
    mnem.args(arguments).current_dir(place).env_clear().env("MNEM_CEILING_DIRECTORIES", place);
    let output = mnem.env("MNEM_DATE", "1999-12-31T23:59:59.999-03:30").output().expect("mnem runs");
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    output
}

fn stage(place: &Path, rows: impl IntoIterator<Item = String>) {
    fs::write(place.join("rows"), rows.into_iter().collect::<Vec<_>>().join("\n")).expect("a file");
    mnem(place, &["put", "--jsonl", "rows"]);
}

fn set(id: u32, content: u32) -> String {
    format!(r#"{{"id":"n/{id}","content":[ {content}, "\u00e9" ],"provenance":{{"note":"é\n"}}}}"#)
}

fn gone(id: u32) -> String {
    format!(r#"{{"id":"n/{id}","deleted":true}}"#)
}

#[test]
fn the_document_suffices_to_read_and_to_check_a_store() {
    let place = tempfile::tempdir().expect("a directory");
    let place = place.path();
    let commit = |message: &str| drop(mnem(place, &["commit", "--allow-empty", "-m", message]));
    mnem(place, &["init"]);
    commit("an empty memory");
    stage(place, [set(1, 1)]);
    commit("one node\n\n\"is\" the root\t\u{1}");
    stage(place, (1..60).map(|id| set(id, id)));
    commit("many");
    stage(place, (10..20).map(|id| set(id, id + 100)).chain((20..30).map(gone)));
    commit("changed and removed");
    stage(place, (10..15).map(|id| set(id, id)).chain([set(25, 25)]));
    commit("as it was");
    fs::write(place.join("rows"), [set(30, 1), set(31, 1), gone(32)].join("\n")).expect("a file");
    mnem(place, &["put", "n/1", "at once", "-m", "at once", "--session", "other"]);
    mnem(place, &["put", "--jsonl", "rows", "--commit-every", "2", "-m", "again, by twos"]);
    stage(place, [set(1, 5), set(2, 5)]);
    mnem(place, &["commit", "--only", "n/1", "-m", "one of two"]);
    stage(place, (1..60).map(gone));
    commit("nothing is left");
    stage(place, [set(1, 7), set(2, 7)]);
    stage(place, [gone(1), set(3, 7)]);

    let store = Reader::open(&place.join(".mnemosyne"));
    store.check();

    let log = String::from_utf8(mnem(place, &["log", "--ids"]).stdout).expect("UTF-8");
    let numbers: Vec<_> = log.lines().map(|id| store.number(id)).collect();
    assert!(numbers.is_sorted_by(|a, b| a > b) && numbers.len() == 10, "{numbers:?}");
    for number in numbers {
        let commit = store.commit(number);
        let ids: Vec<_> = (1..60).map(|id| format!("n/{id}")).collect();
        let id = hex(&commit.id);
        let arguments = ["get", "--json", "-r", &id].into_iter().chain(ids.iter().map(String::as_str));
        let mut mnem = Command::new(env!("CARGO_BIN_EXE_mnem"));
        let output = mnem.args(arguments).current_dir(place).env_clear().output().expect("mnem runs");
        let output = String::from_utf8(output.stdout).expect("UTF-8");
        let hash = |row: &str| Some(row.split_once(r#""hash":""#)?.1[..64].to_owned());
        let found = ids.into_iter().zip(output.lines()).filter_map(|(id, row)| Some((id, hash(row)?)));
        let read = store.state(&commit).into_iter().map(|(id, node)| (id, hex(&node.object)));
        assert_eq!(found.collect::<BTreeMap<_, _>>(), read.collect(), "{}", commit.message);
    }

    let staged: BTreeMap<_, _> = store.staged("default").into_iter().collect();
    let wanted = [("n/2", true), ("n/3", true)].map(|(id, there)| (id.to_owned(), there));
    assert_eq!(staged.into_iter().map(|(id, node)| (id, node.is_some())).collect::<Vec<_>>(), wanted);
}
