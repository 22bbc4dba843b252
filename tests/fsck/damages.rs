//! Each kind of damage, done to a sound store, and what is found of it.

use crate::raw::{CHAIN, COMMIT, HASH, HISTORY, OBJECT, Place, REF, REFLOG, Raw, SESSION, SETTING, split_key};
use crate::story::{commit, commits, inners, node, node_bytes, root_of, story};
use mnemosyne::model::{Author, CommitTime, Message};
use mnemosyne::object::{CommitId, Inner, Link, Root, node_object_id};
use mnemosyne::store::{ChangeCount, CommitRecord, Fault, Finding, Note, Number, Place as Stand, RefUpdate, Report};
use std::collections::BTreeSet;
use std::fs;

const TIP: u64 = u64::MAX;
const MAIN: &str = "refs/heads/main";
const TAG: &str = "refs/tags/v1";

pub fn check(place: &Place) -> Report {
    place.store().fsck(&mut |_, _, _| ()).expect("the system does not refuse")
}

/// What is found, a line each: name and what it is about.
pub fn lines(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(|finding| format!("{}: {}", finding.fault.name(), finding.about)).collect()
}

/// Adds a commit that is consistent in itself, whatever its state is; returns its number.
fn craft(
    raw: &Raw,
    parents: &[Number],
    records: &[Vec<u8>],
    (root, count, changes): (Root, u64, ChangeCount),
    history: &[(&str, Number)],
) -> Number {
    let next = Number::from_le_bytes(raw.get(SETTING, "next").try_into().expect("eight bytes"));
    for (number, record) in (next..).zip(records) {
        raw.put(OBJECT, number, record);
    }
    let own = next + records.len() as u64;
    let known: Vec<_> = parents.iter().map(|&parent| commit(raw, parent)).collect();
    let place = known.first().map_or(Stand { chain: own, position: 0 }, |first| Stand {
        chain: first.place.chain,
        position: first.place.position + 1,
    });
    let time = CommitTime::parse("2024-05-06T07:08:09.000+00:00").expect("a time");
    let mut record = CommitRecord {
        id: CommitId::from_bytes([0; 32]),
        parents: parents.to_vec(),
        root,
        count,
        changes,
        place,
        author: Author::new("Ada").expect("an author"),
        time,
        message: Message::new("crafted").expect("a message"),
    };
    record.id = record.commit(known.iter().map(|parent| parent.id).collect()).id();
    raw.put(COMMIT, own, &record.encode(own));
    raw.put(HASH, record.id.as_bytes(), &own.to_le_bytes());
    if parents.is_empty() {
        raw.put(CHAIN, (own, 0), &[]);
    }
    raw.put(CHAIN, (place.chain, TIP), &place.position.to_le_bytes());
    for (id, before) in history {
        raw.put(HISTORY, &split_key(id, own)[..], &before.to_le_bytes());
    }
    raw.put(REF, MAIN, &own.to_le_bytes());
    let update = RefUpdate { old: parents.first().copied(), new: Some(own), time, reason: "crafted".to_owned() };
    raw.put(REFLOG, &split_key(MAIN, u64::from(!parents.is_empty()))[..], &update.encode());
    raw.put(SETTING, "next", &(own + 1).to_le_bytes());
    own
}

fn added(added: u64) -> ChangeCount {
    ChangeCount { added, ..ChangeCount::default() }
}

/// Damages a story, and holds what is found against `expected`.
fn damaged(damage: impl FnOnce(&Raw) -> Vec<String>) -> (Place, Report) {
    let place = story();
    let raw = Raw::open(&place.database());
    let expected = damage(&raw);
    raw.close();
    let report = check(&place);
    assert_eq!(lines(&report.findings), expected, "{:#?}", report.findings);
    (place, report)
}

/// Damages rows that follow from the rest, and lets them be put right.
fn mended(damage: impl FnOnce(&Raw) -> Vec<String>) {
    let (place, report) = damaged(damage);
    assert!(report.findings.iter().all(Finding::is_repairable), "{:?}", report.findings);
    let repaired = place.store().repair(&mut |_, _, _| ()).expect("repaired");
    assert_eq!(lines(&repaired.findings), lines(&report.findings));
    assert_eq!(check(&place).findings, []);
    assert_eq!(check(&story()).findings, []);
    let rows = |place: &Place| {
        let raw = Raw::open(&place.database());
        let rows = (raw.keys(HASH), raw.keys(CHAIN), raw.keys(HISTORY), raw.keys(REF));
        raw.close();
        rows
    };
    assert_eq!(rows(&place), rows(&story()), "as it was before");
}

fn line(fault: Fault, about: impl AsRef<str>) -> String {
    format!("{}: {}", fault.name(), about.as_ref())
}

fn object(fault: Fault, number: Number) -> Vec<String> {
    vec![line(fault, format!("object {number}"))]
}

#[test]
fn what_commands_make_is_clean() {
    for place in [Place::new(), story()] {
        let before = fs::read(place.database()).expect("a file");
        let report = check(&place);
        assert_eq!((report.findings, report.notes), (vec![], vec![]));
        assert_eq!(fs::read(place.database()).expect("a file"), before, "nothing is written");
    }
}

#[test]
fn what_is_written_anew_is_clean() {
    let place = story();
    place.run(&["redact", "b", "--reason", "secret"]);
    assert_eq!(check(&place).findings, []);
    place.run(&["redact", "a"]);
    assert_eq!(check(&place).findings, [], "a marker in a staged log too");
    // Commits that nothing names any more: their numbers are gaps then, and the tip of their chain goes back.
    place.run(&["put", "x", "1", "-m", "x"]);
    place.run(&["reset", "-q", "--hard", "HEAD~2"]);
    place.run(&["put", "y", "1", "-m", "y"]);
    // It is where the session was before it was reset, until it is reset again.
    place.run(&["reset", "-q", "--soft", "HEAD"]);
    place.run(&["config", "reflog-days", "0"]);
    place.run(&["tag", "-d", "v1"]);
    place.run_at("2024-05-07T07:08:09+00:00", &["gc"]);
    let report = check(&place);
    assert_eq!(report.findings, []);
    let raw = Raw::open(&place.database());
    let all = commits(&raw);
    raw.close();
    assert!(all.len() < 9 && report.commits == all.len() as u64, "{all:?}");
}

/// Of a log only its front is ever forgotten, whatever the clock said: what is missing in it further on was lost.
#[test]
fn logs_are_forgotten_from_the_front_on() {
    let place = Place::new();
    for (day, text) in [(3, "1"), (6, "2"), (3, "3"), (6, "4")] {
        place.run_at(&format!("2024-05-0{day}T07:08:09+00:00"), &["put", "a", text, "-m", text]);
    }
    place.run(&["config", "reflog-days", "3"]);
    place.run_at("2024-05-07T07:08:09+00:00", &["gc"]);
    assert_eq!(check(&place).findings, []);
    assert_eq!(place.run(&["reflog", "main"]).lines().count(), 3);
}

#[test]
fn objects_are_found_and_named_with_what_they_reach() {
    let names = |report: &Report| {
        let finding = &report.findings[0];
        (finding.commits.len(), finding.ids.iter().map(ToString::to_string).collect::<Vec<_>>())
    };
    // 'b' said '2' in the first commit, and up to the merge on one side: five commits of seven.
    let (place, report) = damaged(|raw| {
        let number = node(raw, "b", "2");
        raw.spoil(OBJECT, number, &raw.get(OBJECT, number));
        object(Fault::ObjectRow, number)
    });
    assert_eq!(names(&report), (3, vec!["b".to_owned()]));
    let log = place.run(&["log", "--ids", "--all", "--reverse"]);
    let with_it: Vec<_> =
        log.lines().filter(|id| report.findings[0].commits.iter().any(|it| it.to_string() == **id)).collect();
    assert_eq!(with_it.len(), 3);
    let (_, report) = damaged(|raw| {
        let number = node(raw, "b", "2");
        raw.remove(OBJECT, number);
        object(Fault::ObjectMissing, number)
    });
    assert_eq!(names(&report), (3, vec!["b".to_owned()]));
    let (_, report) = damaged(|raw| {
        let number = node(raw, "b", "2");
        raw.put(OBJECT, number, br#"{"id":"b", "content":"2","content_kind":"note","provenance":{}}"#);
        object(Fault::UnsupportedFormat, number)
    });
    assert_eq!(names(&report), (3, vec!["b".to_owned()]), "'{{' is no kind of record that is known");
    let (_, report) = damaged(|raw| {
        let number = node(raw, "b", "2");
        raw.put(OBJECT, number, b"\x01{\"id\":\"b\", \"content\":\"2\",\"content_kind\":\"note\",\"provenance\":{}}");
        object(Fault::ObjectForm, number)
    });
    assert_eq!(names(&report), (3, vec!["b".to_owned()]));
    let (_, report) = damaged(|raw| {
        let number = node(raw, "b", "2");
        raw.put(OBJECT, number, &[&[1], &node_bytes("b", "3")[..]].concat());
        object(Fault::ObjectHash, number)
    });
    assert_eq!(names(&report), (3, vec!["b".to_owned()]));
    // The root of the last commit.
    let (_, report) = damaged(|raw| {
        let last = *commits(raw).last().expect("some");
        let root = *inners(raw, last).last().expect("some");
        raw.spoil(OBJECT, root, &raw.get(OBJECT, root));
        object(Fault::ObjectRow, root)
    });
    assert_eq!(names(&report), (1, ["a", "b", "c", "d", "e"].map(str::to_owned).to_vec()));
    // An inner node that names another id for one of its children.
    let (_, report) = damaged(|raw| {
        let first = commits(raw)[0];
        let inner = inners(raw, first)[0];
        let mut record = raw.get(OBJECT, inner);
        let end = record.len() - 1;
        record[end] ^= 1;
        raw.put(OBJECT, inner, &record);
        object(Fault::ObjectHash, inner)
    });
    assert!(report.findings[0].commits.len() >= 2, "{report:?}");
    damaged(|raw| {
        let first = commits(raw)[0];
        let inner = inners(raw, first)[0];
        let record = raw.get(OBJECT, inner);
        raw.put(OBJECT, inner, &[&record[..], &[0]].concat());
        object(Fault::ObjectForm, inner)
    });
}

#[test]
fn a_record_of_no_commit_is_found() {
    damaged(|raw| {
        let next = Number::from_le_bytes(raw.get(SETTING, "next").try_into().expect("eight bytes"));
        raw.put(OBJECT, next, &[&[1], &node_bytes("x", "y")[..]].concat());
        raw.put(SETTING, "next", &(next + 1).to_le_bytes());
        object(Fault::ObjectStray, next)
    });
}

#[test]
fn commits_are_found_with_those_that_follow() {
    let about = |fault, number| vec![line(fault, format!("commit {number}"))];
    let followers = |report: &Report| report.findings[0].commits.len();
    let (_, report) = damaged(|raw| {
        let number = commits(raw)[1];
        raw.spoil(COMMIT, number, &raw.get(COMMIT, number));
        about(Fault::CommitRow, number)
    });
    assert_eq!(followers(&report), 6, "itself, by the index of ids, and five");
    let (_, report) = damaged(|raw| {
        let number = commits(raw)[1];
        raw.remove(COMMIT, number);
        about(Fault::CommitRow, number)
    });
    assert_eq!(followers(&report), 6);
    let (_, report) = damaged(|raw| {
        let number = commits(raw)[1];
        raw.put(COMMIT, number, &[&raw.get(COMMIT, number)[..], b"\n"].concat());
        about(Fault::CommitForm, number)
    });
    assert_eq!(followers(&report), 6);
    let (_, report) = damaged(|raw| {
        let number = commits(raw)[1];
        let mut record = raw.get(COMMIT, number);
        record[0] = 9;
        raw.put(COMMIT, number, &record);
        about(Fault::UnsupportedFormat, number)
    });
    assert_eq!(followers(&report), 6);
    let (_, report) = damaged(|raw| {
        let number = commits(raw)[1];
        raw.put(COMMIT, number, &[&raw.get(COMMIT, number)[..], b"!"].concat());
        about(Fault::CommitHash, number)
    });
    assert_eq!(followers(&report), 6);
    damaged(|raw| {
        let number = commits(raw)[1];
        let mut record = commit(raw, number);
        record.changes.added += 1;
        raw.put(COMMIT, number, &record.encode(number));
        about(Fault::CommitCount, number)
    });
    damaged(|raw| {
        let number = *commits(raw).last().expect("some");
        let mut record = commit(raw, number);
        record.place.position += 1;
        raw.put(COMMIT, number, &record.encode(number));
        about(Fault::CommitChain, number)
    });
}

#[test]
fn a_parent_of_which_nothing_is_left_is_found() {
    let (_, report) = damaged(|raw| {
        let all = commits(raw);
        let id = commit(raw, all[1]).id;
        raw.remove(COMMIT, all[1]);
        raw.remove(HASH, id.as_bytes());
        let number = all[1];
        vec![
            // Both that follow it.
            line(Fault::CommitParent, format!("commit {}", all[2])),
            line(Fault::CommitParent, format!("commit {}", all[4])),
            line(Fault::HistoryRow, format!("history of 'a', commit {number}")),
            line(Fault::RefTarget, format!("log of '{MAIN}', row 1")),
            line(Fault::RefTarget, "log of 'refs/heads/side', row 0"),
            line(Fault::RefTarget, "log of 'session/default', row 1"),
            line(Fault::RefTarget, "log of 'session/default', row 2"),
            line(Fault::RefTarget, "log of 'session/default', row 5"),
        ]
    });
    assert_eq!(report.findings[0].commits.len(), 4, "two on the side, the merge and what follows");
}

#[test]
fn states_of_another_shape_or_with_other_records_are_found() {
    let (first, second) = (node_bytes("a", "1"), node_bytes("b", "2"));
    let record = |bytes: &[u8]| [&[1], bytes].concat();
    // Leaves in slots that are not theirs; each id in it is right.
    let place = Place::new();
    let raw = Raw::open(&place.database());
    let leaf = |number, bytes: &[u8]| Some(Link::Node { number, object: node_object_id(bytes) });
    let slots = |a: usize, b: usize| {
        let mut children = [None; 4];
        (children[a], children[b]) = (leaf(1, &first), leaf(2, &second));
        Inner { children }
    };
    // "a" hashes to ca…, "b" to 3e…: slots 3 and 0.
    for (inner, is_right) in [(slots(3, 0), true), (slots(1, 2), false)] {
        let place = Place::new();
        let raw = Raw::open(&place.database());
        let inner_record = [&[2][..], &inner.encode(3)].concat();
        let root = Root::Inner { number: 3, id: inner.id().expect("all ids are known") };
        let records = [record(&first), record(&second), inner_record];
        craft(&raw, &[], &records, (root, 2, added(2)), &[("a", 0), ("b", 0)]);
        raw.close();
        let found = lines(&check(&place).findings);
        let in_order = |found: &[String]| {
            found.iter().all(|line| line == "trie-shape: commit 4" || line == "record-rule: commit 4")
        };
        // In the order of their keys "b" comes first.
        assert!(!found.is_empty() && in_order(&found), "{is_right}: {found:?}");
    }
    // The nodes in the order of their keys, the slots right: sound. Slots wrong: another shape.
    let in_order = |b: usize, a: usize| {
        let mut children = [None; 4];
        (children[b], children[a]) = (leaf(1, &second), leaf(2, &first));
        Inner { children }
    };
    for (inner, expected) in [(in_order(0, 3), vec![]), (in_order(1, 2), vec!["trie-shape: commit 4"])] {
        let place = Place::new();
        let raw = Raw::open(&place.database());
        let root = Root::Inner { number: 3, id: inner.id().expect("all ids are known") };
        let records = [record(&second), record(&first), [&[2][..], &inner.encode(3)].concat()];
        craft(&raw, &[], &records, (root, 2, added(2)), &[("a", 0), ("b", 0)]);
        raw.close();
        assert_eq!(lines(&check(&place).findings), expected);
    }
    // A second commit that writes the node of the first anew.
    let parent = craft(&raw, &[], &[record(&first)], (root_of(1, &first), 1, added(1)), &[("a", 0)]);
    craft(&raw, &[parent], &[record(&first)], (root_of(3, &first), 1, added(0)), &[]);
    raw.close();
    assert_eq!(lines(&check(&place).findings), ["record-rule: commit 4", "object-stray: object 3"]);
}

#[test]
fn what_is_of_a_newer_version_is_told_from_damage() {
    let claim = br#"{"id":"a","content":1,"content_kind":"claim","provenance":{}}"#;
    let place = Place::new();
    let raw = Raw::open(&place.database());
    craft(&raw, &[], &[[&[1], &claim[..]].concat()], (root_of(1, claim), 1, added(1)), &[("a", 0)]);
    raw.close();
    let report = check(&place);
    assert_eq!(lines(&report.findings), ["unsupported-kind: object 1"]);
    assert_eq!((report.findings[0].commits.len(), report.findings[0].ids[0].as_str()), (1, "a"));
    damaged(|raw| {
        raw.put(SESSION, "other", &[&raw.get(SESSION, "other")[..], &[77, 0]].concat());
        vec![line(Fault::UnsupportedFormat, "session 'other'")]
    });
    damaged(|raw| {
        raw.put(SETTING, "format", &2u64.to_le_bytes());
        vec![line(Fault::UnsupportedFormat, "setting 'format'")]
    });
}

#[test]
fn the_index_of_ids_is_put_right() {
    let about = |id: CommitId| vec![line(Fault::HashRow, format!("index of ids, {id}"))];
    mended(|raw| {
        let id = commit(raw, commits(raw)[2]).id;
        raw.remove(HASH, id.as_bytes());
        about(id)
    });
    mended(|raw| {
        let all = commits(raw);
        let id = commit(raw, all[2]).id;
        raw.put(HASH, id.as_bytes(), &all[3].to_le_bytes());
        about(id)
    });
    mended(|raw| {
        let id = commit(raw, commits(raw)[2]).id;
        raw.spoil(HASH, id.as_bytes(), &raw.get(HASH, id.as_bytes()));
        about(id)
    });
    mended(|raw| {
        let id = CommitId::from_bytes([7; 32]);
        raw.put(HASH, id.as_bytes(), &commits(raw)[2].to_le_bytes());
        about(id)
    });
}

#[test]
fn the_index_of_ancestry_is_put_right() {
    let about = |chain: Number, place: &str| vec![line(Fault::ChainRow, format!("chain of commit {chain}, {place}"))];
    mended(|raw| {
        let first = commits(raw)[0];
        raw.remove(CHAIN, (first, 0));
        about(first, "position 0")
    });
    mended(|raw| {
        let first = commits(raw)[0];
        raw.put(CHAIN, (first, TIP), &1u64.to_le_bytes());
        about(first, "its tip")
    });
    mended(|raw| {
        let first = commits(raw)[0];
        raw.spoil(CHAIN, (first, TIP), &raw.get(CHAIN, (first, TIP)));
        about(first, "its tip")
    });
    mended(|raw| {
        let first = commits(raw)[0];
        raw.put(CHAIN, (first, 1), &[]);
        about(first, "position 1")
    });
    mended(|raw| {
        // Another parent than the merge has.
        let merge = commits(raw)[5];
        let stand = commit(raw, merge).place;
        let row = raw.get(CHAIN, (stand.chain, stand.position));
        raw.put(CHAIN, (stand.chain, stand.position), &[&row[..row.len() - 1], &[row[row.len() - 1] ^ 1]].concat());
        about(stand.chain, &format!("position {}", stand.position))
    });
}

#[test]
fn the_history_is_put_right() {
    let about = |id: &str, number: Number| vec![line(Fault::HistoryRow, format!("history of '{id}', commit {number}"))];
    mended(|raw| {
        let first = commits(raw)[0];
        raw.remove(HISTORY, &split_key("a", first)[..]);
        about("a", first)
    });
    mended(|raw| {
        // What was removed has a row too.
        let last = *commits(raw).last().expect("some");
        raw.remove(HISTORY, &split_key("e", last)[..]);
        about("e", last)
    });
    mended(|raw| {
        let second = commits(raw)[1];
        raw.put(HISTORY, &split_key("a", second)[..], &0u64.to_le_bytes());
        about("a", second)
    });
    mended(|raw| {
        let second = commits(raw)[1];
        raw.spoil(HISTORY, &split_key("a", second)[..], &raw.get(HISTORY, &split_key("a", second)));
        about("a", second)
    });
    mended(|raw| {
        // Between two rows of 'e', whose second one leads to the first.
        let all = commits(raw);
        raw.put(HISTORY, &split_key("e", all[1])[..], &all[0].to_le_bytes());
        about("e", all[1])
    });
    mended(|raw| {
        let all = commits(raw);
        raw.put(HISTORY, &split_key("never", all[1])[..], &0u64.to_le_bytes());
        about("never", all[1])
    });
}

#[test]
fn a_ref_that_is_lost_is_put_right_by_its_log() {
    let about = || vec![line(Fault::RefRow, format!("ref '{MAIN}'"))];
    mended(|raw| {
        raw.remove(REF, MAIN);
        about()
    });
    mended(|raw| {
        raw.spoil(REF, MAIN, &raw.get(REF, MAIN));
        about()
    });
    // Where both can be read nobody knows which of them lost something.
    let (place, report) = damaged(|raw| {
        raw.put(REF, MAIN, &commits(raw)[1].to_le_bytes());
        about()
    });
    assert!(!report.findings[0].is_repairable());
    assert_eq!(lines(&place.store().repair(&mut |_, _, _| ()).expect("done").findings), Vec::<String>::new());
    damaged(|raw| {
        raw.put(REF, "refs/heads/..", &commits(raw)[1].to_le_bytes());
        vec![line(Fault::RefRow, "ref 'refs/heads/..'")]
    });
}

#[test]
fn logs_of_refs_are_found() {
    damaged(|raw| {
        raw.remove(REFLOG, &split_key(TAG, 0)[..]);
        vec![line(Fault::RefLog, format!("ref '{TAG}'"))]
    });
    damaged(|raw| {
        raw.remove(REFLOG, &split_key(MAIN, 1)[..]);
        vec![line(Fault::ReflogRow, format!("log of '{MAIN}', row 2"))]
    });
    damaged(|raw| {
        raw.spoil(REFLOG, &split_key(MAIN, 1)[..], &raw.get(REFLOG, &split_key(MAIN, 1)));
        vec![line(Fault::ReflogRow, format!("log of '{MAIN}', row 1"))]
    });
    damaged(|raw| {
        let key = split_key(MAIN, 1);
        let mut update = RefUpdate::decode(&raw.get(REFLOG, &key)).expect("an update");
        update.old = None;
        raw.put(REFLOG, &key[..], &update.encode());
        vec![line(Fault::ReflogRow, format!("log of '{MAIN}', row 1"))]
    });
    damaged(|raw| {
        let key = split_key(TAG, 0);
        let mut update = RefUpdate::decode(&raw.get(REFLOG, &key)).expect("an update");
        update.new = Some(1);
        raw.put(REFLOG, &key[..], &update.encode());
        raw.put(REF, TAG, &1u64.to_le_bytes());
        vec![line(Fault::RefTarget, format!("log of '{TAG}', row 0"))]
    });
}

#[test]
fn sessions_and_settings_are_found() {
    damaged(|raw| {
        raw.remove(SESSION, "default");
        vec![line(Fault::SessionRow, "session 'default'")]
    });
    damaged(|raw| {
        raw.spoil(SESSION, "other", &raw.get(SESSION, "other"));
        vec![line(Fault::SessionRow, "session 'other'")]
    });
    damaged(|raw| {
        raw.put(SESSION, "third", &[2, 1, 1]);
        vec![line(Fault::SessionTarget, "session 'third'")]
    });
    damaged(|raw| {
        raw.put(SESSION, "third", b"\x01\x03xyz");
        vec![line(Fault::SessionRow, "session 'third'")]
    });
    damaged(|raw| {
        raw.put(SETTING, "next", &commits(raw).last().expect("some").to_le_bytes());
        vec![line(Fault::Setting, "setting 'next'")]
    });
    damaged(|raw| {
        raw.remove(SETTING, "next");
        vec![line(Fault::Setting, "setting 'next'")]
    });
    damaged(|raw| {
        raw.put(SETTING, "config/author", &[0xff]);
        vec![line(Fault::Setting, "setting 'config/author'")]
    });
    damaged(|raw| {
        raw.put(SETTING, "other", &[1]);
        vec![line(Fault::Setting, "setting 'other'")]
    });
}

#[test]
fn a_lost_table_is_found_and_its_rows_are_not_told_one_by_one() {
    damaged(|raw| {
        raw.drop_table(HISTORY);
        vec![line(Fault::Table, "table 'history'")]
    });
    damaged(|raw| {
        raw.drop_table(OBJECT);
        vec![line(Fault::Table, "table 'object'")]
    });
}

#[test]
fn the_file_itself_is_checked() {
    let place = story();
    let sound = fs::read(place.database()).expect("a file");
    let with = |edit: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = sound.clone();
        edit(&mut bytes);
        fs::write(place.database(), bytes).expect("written");
        lines(&check(&place).findings)
    };
    let header = line(Fault::Header, "store.redb");
    assert_eq!(with(&|bytes| bytes[9] |= 8), std::slice::from_ref(&header), "readers get the transaction before");
    assert!(with(&|bytes| bytes[9] ^= 1).contains(&header), "everybody gets the transaction before");
    assert_eq!(with(&|bytes| bytes[9] ^= 4), std::slice::from_ref(&header));
    assert_eq!(with(&|bytes| bytes[9] |= 2), Vec::<String>::new(), "a writer that was killed is no damage");
    assert_eq!(check(&place).notes, [Note::Unrecovered]);
    let structure = line(Fault::Structure, "store.redb");
    assert_eq!(with(&|bytes| bytes.truncate(100)), std::slice::from_ref(&structure));
    assert_eq!(with(&|bytes| bytes.clear()), std::slice::from_ref(&structure));
    assert_eq!(with(&|bytes| bytes[0] ^= 1), [structure]);
    // A word in a message: redb's own check, and that of the row. Pages that are free hold it too.
    let places = (0..sound.len() - 4).filter(|&at| &sound[at..at + 4] == b"five");
    let found: Vec<_> = places.map(|at| with(&|bytes| bytes[at] ^= 1)).filter(|found| !found.is_empty()).collect();
    assert_eq!(found, [[line(Fault::Structure, "store.redb"), line(Fault::CommitRow, "commit 10")]]);
}

#[test]
fn staged_logs_are_checked() {
    let place = story();
    place.run(&["put", "b", "staged too"]);
    let path = place.log("default");
    let sound = fs::read(&path).expect("a log");
    let with = |bytes: &[u8]| {
        fs::write(&path, bytes).expect("written");
        let report = check(&place);
        (lines(&report.findings), report.notes.len())
    };
    assert_eq!(with(&sound), (vec![], 0));
    assert_eq!(with(&[&sound[..], &[0; 9]].concat()), (vec![], 1), "the rest of a write that nobody was told of");
    let mut damaged = sound.clone();
    damaged[40] ^= 1;
    assert_eq!(with(&damaged), (vec![line(Fault::StagedLog, "staged log of 'default'")], 0));
    // A node that is spelled otherwise, under a sum that is right.
    let length = u64::from_le_bytes(sound[4..12].try_into().expect("eight bytes"));
    let mut first = sound[..32 + usize::try_from(length).expect("small")].to_vec();
    let at = first.windows(7).position(|window| window == br#"{"id":""#).expect("a node");
    let sealed = |frame: &mut Vec<u8>| {
        let sum = crc32c::crc32c_append(crc32c::crc32c(&frame[..28]), &frame[32..]).to_le_bytes();
        frame[28..32].copy_from_slice(&sum);
    };
    first[at + 7] = b'x';
    sealed(&mut first);
    assert_eq!(with(&first), (vec![line(Fault::StagedNode, "staged log of 'default', 'a'")], 0));
    first[at] = b'[';
    sealed(&mut first);
    assert_eq!(with(&first), (vec![line(Fault::StagedNode, "staged log of 'default', 'a'")], 0));
    first[32] = 99;
    sealed(&mut first);
    assert_eq!(with(&first), (vec![line(Fault::UnsupportedFormat, "staged log of 'default'")], 0));
}

/// Every name is in the table of the documentation, and each has a test here.
#[test]
fn every_name_is_described() {
    let names: BTreeSet<_> = Fault::ALL.iter().map(|fault| fault.name()).collect();
    assert_eq!(names.len(), Fault::ALL.len(), "each has its own");
    let page = include_str!("../../docs/fsck.md");
    for name in names {
        assert!(page.contains(&format!("| `{name}` |")), "{name}");
    }
}

/// Nothing is rewritten where what it follows from is damaged.
#[test]
fn a_repair_leaves_all_as_it_is_where_an_object_is_damaged() {
    let (place, _) = damaged(|raw| {
        let number = node(raw, "b", "2");
        raw.spoil(OBJECT, number, &raw.get(OBJECT, number));
        raw.remove(HISTORY, &split_key("e", *commits(raw).last().expect("some"))[..]);
        let last = *commits(raw).last().expect("some");
        vec![
            line(Fault::ObjectRow, format!("object {number}")),
            line(Fault::HistoryRow, format!("history of 'e', commit {last}")),
        ]
    });
    assert_eq!(place.store().repair(&mut |_, _, _| ()).expect("done").findings, []);
    assert_eq!(check(&place).findings.len(), 2);
}
