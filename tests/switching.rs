//! What a switch does with staged changes, in random memories, held against a naive reading of the rule.

use mnemosyne::graph::Revision;
use mnemosyne::model::{
    Author, BranchName, CommitTime, Content, ContentKind, Message, Node, NodeId, Provenance, SessionName,
};
use mnemosyne::ops::{self, CommitRequest, Condition, LsRequest, OpError, Target, Write};
use mnemosyne::store::{CommitWords, Store, init};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::time::Duration;

const IDS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

/// What each id says, if it is there.
type Memory = Vec<Option<u8>>;

fn memory() -> impl Strategy<Value = Memory> {
    vec(option::of(0u8..3), IDS.len())
}

fn time() -> CommitTime {
    CommitTime::new(0, 0).expect("a time")
}

fn words(message: &str) -> CommitWords {
    let author = Author::new("Ada").expect("an author");
    CommitWords { author, time: time(), message: Message::new(message).expect("a message") }
}

fn revision(text: &str) -> Revision {
    Revision::parse(text, &|_| None).expect("a revision")
}

fn branch(text: &str) -> Target {
    Target::Branch(BranchName::new(text).expect("a name"), revision(text))
}

/// What has to be written so that `from` becomes `to`.
fn writes(from: &Memory, to: &Memory) -> Vec<Write> {
    let change = |(at, (old, new)): (usize, (&Option<u8>, &Option<u8>))| {
        let id = NodeId::new(IDS[at]).expect("an id");
        match new {
            _ if old == new => None,
            None => Some(Write::Remove(id)),
            Some(text) => Some(Write::Set(Node {
                id,
                content: Content::from_text(&text.to_string()),
                content_kind: ContentKind::Note,
                provenance: Provenance::default(),
                event_time: None,
            })),
        }
    };
    from.iter().zip(to).enumerate().filter_map(change).collect()
}

/// A store where `main` holds one memory, `side` another, and `staged` is what the session sees on `main`.
fn store(main: &Memory, side: &Memory, staged: &Memory) -> (tempfile::TempDir, Store) {
    let place = tempfile::tempdir().expect("a directory");
    let directory = place.path().join(".mnemosyne");
    init(&directory, &BranchName::new("main").expect("a name")).expect("a store");
    let store = Store::new(directory, Duration::from_secs(10));
    let session = SessionName::default();
    let empty = vec![None; IDS.len()];
    let commit = |from: &Memory, to: &Memory| {
        ops::put(&store, &session, writes(from, to), Condition::Any).expect("staged");
        let request = CommitRequest { words: words("c"), allow_empty: true, only: Vec::new(), overwrite: false };
        ops::commit(&store, &session, &request).expect("a commit");
    };
    commit(&empty, main);
    let create = Target::Create(BranchName::new("side").expect("a name"), None);
    ops::switch(&store, &session, &create, time()).expect("a branch");
    commit(main, side);
    ops::switch(&store, &session, &branch("main"), time()).expect("a branch");
    ops::put(&store, &session, writes(main, staged), Condition::Any).expect("staged");
    (place, store)
}

/// What the session sees, or what HEAD has.
fn seen(store: &Store, at: Option<&str>) -> Memory {
    let request = LsRequest { revision: at.map(revision), nodes: true, ..LsRequest::default() };
    let report = ops::ls(store, &SessionName::default(), &request).expect("nodes");
    let nodes = report.nodes.into_iter().map(|row| {
        let node = row.node.expect("it was asked for");
        (node.id().as_str().to_owned(), node.content().expect("a node").readable().parse().expect("a number"))
    });
    let nodes: BTreeMap<String, u8> = nodes.collect();
    IDS.iter().map(|id| nodes.get(*id).copied()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn staged_changes_come_along_unless_they_would_hide_something(
        main in memory(), side in memory(), staged in memory(), later in memory()
    ) {
        let (_place, store) = store(&main, &side, &staged);
        let session = SessionName::default();
        let changed: Vec<_> = (0..IDS.len()).filter(|&at| staged[at] != main[at]).collect();
        let hides = |&at: &usize| side[at] != main[at] && side[at] != staged[at];
        let collisions: Vec<_> = changed.iter().copied().filter(hides).map(|at| IDS[at].to_owned()).collect();
        match ops::switch(&store, &session, &branch("side"), time()) {
            Err(OpError::WouldOverwrite(ids)) => {
                let ids: Vec<_> = ids.iter().map(|id| id.as_str().to_owned()).collect();
                prop_assert_eq!(ids, collisions);
                prop_assert_eq!(seen(&store, None), staged);
                prop_assert_eq!(seen(&store, Some("HEAD")), main);
            }
            Err(error) => prop_assert!(false, "{error}"),
            Ok(report) => {
                prop_assert_eq!(collisions, Vec::<String>::new());
                prop_assert_eq!(report.carried, changed.iter().filter(|&&at| staged[at] != side[at]).count());
                prop_assert_eq!(report.settled, changed.iter().filter(|&&at| staged[at] == side[at]).count());
                let mut there = side.clone();
                changed.iter().for_each(|&at| there[at] = staged[at]);
                prop_assert_eq!(seen(&store, None), there.clone());
                prop_assert_eq!(seen(&store, Some("HEAD")), side);
                // On the other branch they are staged like any, to be changed again and committed without a conflict.
                ops::put(&store, &session, writes(&there, &later), Condition::Any).expect("staged");
                let request =
                    CommitRequest { words: words("there"), allow_empty: true, only: Vec::new(), overwrite: false };
                ops::commit(&store, &session, &request).expect("no conflict");
                prop_assert_eq!(seen(&store, Some("side")), later);
                prop_assert_eq!(seen(&store, Some("main")), main);
            }
        }
    }

    #[test]
    fn there_and_back_is_as_if_nothing_was_but_for_what_was_there_already(
        main in memory(), side in memory(), staged in memory()
    ) {
        let (_place, store) = store(&main, &side, &staged);
        let session = SessionName::default();
        let mut expected = staged.clone();
        if ops::switch(&store, &session, &branch("side"), time()).is_ok() {
            ops::switch(&store, &session, &Target::Previous, time()).expect("it comes from there");
            (0..IDS.len()).filter(|&at| staged[at] == side[at]).for_each(|at| expected[at] = main[at]);
        }
        prop_assert_eq!(seen(&store, None), expected);
        prop_assert_eq!(seen(&store, Some("HEAD")), main);
    }

    #[test]
    fn what_is_there_already_hides_nothing_that_comes_later(
        main in memory(), side in memory(), staged in memory(), later in memory()
    ) {
        let (_place, store) = store(&main, &side, &staged);
        let (session, other) = (SessionName::default(), SessionName::new("other").expect("a name"));
        if ops::switch(&store, &session, &branch("side"), time()).is_ok() {
            ops::switch(&store, &other, &branch("side"), time()).expect("a branch");
            ops::put(&store, &other, writes(&side, &later), Condition::Any).expect("staged");
            let request = CommitRequest { words: words("c"), allow_empty: true, only: Vec::new(), overwrite: false };
            ops::commit(&store, &other, &request).expect("a commit");
            let mut expected = later.clone();
            let carried = |&at: &usize| staged[at] != main[at] && staged[at] != side[at];
            (0..IDS.len()).filter(carried).for_each(|at| expected[at] = staged[at]);
            prop_assert_eq!(seen(&store, None), expected);
        }
    }
}
