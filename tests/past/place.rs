//! Scripts played into a store in a directory of its own.

use crate::script::{At, Commit};
use mnemosyne::graph::Revision;
use mnemosyne::model::{Author, BranchName, CommitTime, Message, Node, NodeId, SessionName};
use mnemosyne::object::{CommitId, New, encode_node, node_object_id, update};
use mnemosyne::ops::{self, CommitRequest, Condition, Group, Write};
use mnemosyne::store::{CommitWords, Store, StoreError, init};
use std::collections::BTreeMap;
use std::time::Duration;

/// A store with the commits of a script.
pub struct Place {
    pub store: Store,
    /// The commits by their place in the script.
    pub ids: Vec<CommitId>,
    _directory: tempfile::TempDir,
}

fn words(own: At) -> CommitWords {
    // Clocks that go back now and then.
    let seconds = i64::try_from(own * 7 % 50).expect("small");
    CommitWords {
        author: Author::new("Ada").expect("an author"),
        time: CommitTime::new(seconds * 1000, 60).expect("a time"),
        message: Message::new(&format!("commit {own}")).expect("a message"),
    }
}

/// What a commit makes of its first parent's nodes.
fn changes(commits: &[Commit], own: At) -> BTreeMap<&NodeId, Option<&Node>> {
    let Commit { parents, state } = &commits[own];
    let old = parents.first().map(|&first| &commits[first].state);
    let removed = old.into_iter().flat_map(BTreeMap::keys).filter(|id| !state.contains_key(id)).map(|id| (id, None));
    let before = |id: &NodeId| old.and_then(|old| old.get(id)).map(|known| &known.node);
    let written = state.iter().filter(|(id, known)| before(id) != Some(&known.node));
    removed.chain(written.map(|(id, known)| (id, Some(&known.node)))).collect()
}

impl Place {
    fn empty() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join(".mnemosyne");
        init(&path, &BranchName::new("main").expect("a name")).expect("a store");
        Self { store: Store::new(path, Duration::from_secs(10)), ids: Vec::new(), _directory: directory }
    }

    /// Plays a script whose commits continue each other: most at once, then one by one, staged first or not.
    pub fn by_verbs(commits: &[Commit]) -> Self {
        let mut place = Self::empty();
        let session = SessionName::default();
        let write = |(id, node): (&NodeId, Option<&Node>)| match node {
            Some(node) => Write::Set(node.clone()),
            None => Write::Remove(id.clone()),
        };
        let writes = |own: At| changes(commits, own).into_iter().map(write).collect::<Vec<_>>();
        let at_once = commits.len() - commits.len() / 10;
        let group = |own: At| Group { writes: writes(own), words: words(own), skip_empty: false };
        let report = ops::batch(&place.store, &session, (0..at_once).map(group).collect(), vec![]).expect("commits");
        place.ids.extend(report.commits.iter().map(|entry| entry.commit.id));
        for own in at_once..commits.len() {
            let (writes, words) = (writes(own), words(own));
            let id = if own % 2 == 0 {
                let report = ops::put_and_commit(&place.store, &session, writes, Condition::Any, &words);
                report.expect("a commit").commit.expect("something changes")
            } else {
                ops::put(&place.store, &session, writes, Condition::Any).expect("it is staged");
                let request = CommitRequest { words, allow_empty: false, only: vec![], overwrite: false };
                ops::commit(&place.store, &session, &request).expect("a commit").entry.commit.id
            };
            place.ids.push(id);
        }
        place
    }

    /// Plays any script, below the verbs.
    pub fn by_tables(commits: &[Commit]) -> Self {
        let mut place = Self::empty();
        let snapshot = place.store.snapshot().expect("a snapshot");
        let written = place.store.write(snapshot, |tables| {
            let (mut numbers, mut ids) = (Vec::new(), Vec::new());
            for (own, commit) in commits.iter().enumerate() {
                let new = |node: &Node| {
                    let payload = encode_node(node);
                    New { object: node_object_id(&payload), payload }
                };
                let changes = changes(commits, own).into_iter().map(|(id, node)| (id.clone(), node.map(new))).collect();
                let parents: Vec<_> = commit.parents.iter().map(|&parent| numbers[parent]).collect();
                let update = update(tables, tables.root(parents.first().copied())?, changes)?;
                let words = words(own);
                let time = words.time;
                let (number, id) = tables.append_commit(parents, words, update)?;
                tables.set_reference("refs/heads/main", number, time, "test")?;
                numbers.push(number);
                ids.push(id);
            }
            Ok::<_, StoreError>(ids)
        });
        place.ids = written.expect("a history").0;
        place
    }

    pub fn revision(&self, at: At) -> Revision {
        Revision::parse(&self.ids[at].to_string(), &|_| None).expect("an id")
    }
}
