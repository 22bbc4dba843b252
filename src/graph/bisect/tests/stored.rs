//! Candidates of a store: those that changed a node.

use super::super::{Bounds, Candidates};
use crate::model::{Author, BranchName, CommitTime, Content, ContentKind, Message, Node, NodeId, Pattern, Provenance};
use crate::object::{New, encode_node, node_object_id, update};
use crate::store::{CommitWords, Number, Store, StoreError, Tables, Writing, init};
use std::collections::BTreeMap;
use std::time::Duration;

/// What a commit makes of the state of a parent.
enum Change {
    /// That of the first, in which these nodes have another content or are gone.
    Nodes(&'static [(&'static str, Option<&'static str>)]),
    /// That of the second, as it is.
    Second,
}

fn commit(tables: &mut Tables<Writing<'_>>, parents: Vec<Number>, change: &Change) -> Result<Number, StoreError> {
    let words = CommitWords {
        author: Author::new("Ada").expect("an author"),
        time: CommitTime::new(0, 0).expect("a time"),
        message: Message::new("step").expect("a message"),
    };
    let (base, nodes) = match change {
        Change::Nodes(nodes) => (parents.first(), *nodes),
        Change::Second => (parents.get(1), &[][..]),
    };
    let changes: BTreeMap<_, _> = nodes
        .iter()
        .map(|&(id, content)| {
            let id = NodeId::new(id).expect("an id");
            let node = content.map(|content| Node {
                id: id.clone(),
                content: Content::from_text(content),
                content_kind: ContentKind::Note,
                provenance: Provenance::default(),
                event_time: None,
            });
            let payload = node.as_ref().map(encode_node);
            (id, payload.map(|payload| New { object: node_object_id(&payload), payload }))
        })
        .collect();
    let made = update(tables, tables.root(base.copied())?, changes)?;
    tables.append_commit(parents, words, made).map(|(number, _)| number)
}

#[test]
fn with_patterns_the_commits_are_candidates_that_log_tells() {
    let place = tempfile::tempdir().expect("a directory");
    let directory = place.path().join(".mnemosyne");
    init(&directory, &BranchName::new("main").expect("a name")).expect("a store");
    let store = Store::new(directory, Duration::from_secs(10));
    // Each with its parents, by their places in the list. The merge at 5 has `a/x` as its second parent wrote it, that at
    // 8 writes it anew.
    let history: &[(&[usize], Change)] = &[
        (&[], Change::Nodes(&[("a/x", Some("0")), ("b", Some("0"))])),
        (&[0], Change::Nodes(&[("b", Some("1"))])),
        (&[1], Change::Nodes(&[("a/y", Some("2"))])),
        (&[1], Change::Nodes(&[("a/x", Some("3"))])),
        (&[3], Change::Nodes(&[("b", Some("4"))])),
        (&[1, 4], Change::Second),
        (&[5], Change::Nodes(&[("a/x", None)])),
        (&[5], Change::Nodes(&[("a/x", Some("7"))])),
        (&[6, 7], Change::Nodes(&[("a/x", Some("8"))])),
        (&[8], Change::Nodes(&[("b", Some("9"))])),
    ];
    let mut numbers = Vec::new();
    let written = store.write(store.snapshot().expect("a snapshot"), |tables| {
        for (parents, change) in history {
            let parents = parents.iter().map(|&parent: &usize| numbers[parent]).collect();
            numbers.push(commit(tables, parents, change)?);
        }
        Ok::<_, StoreError>(())
    });
    written.expect("a history");
    let snapshot = store.snapshot().expect("a snapshot");
    let found = |patterns: &[&str], bad: &[usize], good: &[usize], first_parent: bool| -> Vec<usize> {
        let of = |places: &[usize]| places.iter().map(|&place| numbers[place]).collect();
        let bounds = Bounds { bad: of(bad), good: of(good), first_parent };
        let patterns: Vec<_> = patterns.iter().map(|text| Pattern::parse(text, false).expect("a pattern")).collect();
        let found = Candidates::of(&snapshot, &bounds, &patterns).expect("candidates");
        let place = |number: &Number| numbers.iter().position(|other| other == number).expect("a commit");
        found.numbers().iter().map(place).collect()
    };
    assert_eq!(found(&[], &[9], &[], false), [0, 1, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!(found(&[], &[9], &[4], true), [5, 6, 8, 9]);
    assert_eq!(found(&["a/x"], &[9], &[], false), [0, 3, 6, 7, 8]);
    assert_eq!(found(&["a/x"], &[9], &[3], false), [6, 7, 8]);
    assert_eq!(found(&["a/x"], &[9], &[6], false), [7, 8]);
    assert_eq!(found(&["a/x"], &[6, 7], &[], false), [0, 3]);
    assert_eq!(found(&["a/x"], &[9], &[], true), [0, 5, 6, 8]);
    assert_eq!(found(&["a/x"], &[9, 5], &[1], true), [5]);
    assert_eq!(found(&["a/"], &[9, 2], &[], false), [0]);
    assert_eq!(found(&["*/y"], &[2], &[], false), [2]);
    assert_eq!(found(&["a/y", "b"], &[9], &[], false), [0, 1, 4, 9]);
    assert!(found(&["a/y"], &[9], &[], false).is_empty());
    assert!(found(&["a/x"], &[], &[], false).is_empty());
}
