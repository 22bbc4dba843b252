//! Bundles, as bytes and as histories that are written to one, also wrongly; tried, and taken into a store that has a commit.
//! All is held against [`naive`].

mod history;
mod naive;

use crate::choices::Choices;
use crate::memory_disk::{AllRows, Files, MemoryDisk, all_rows};
use history::{Base, version};
use mnemosyne::graph::{Revision, Selection};
use mnemosyne::model::{Author, BranchName, CommitTime, Message, SessionName};
use mnemosyne::object::{CommitId, decode_node, sha256};
use mnemosyne::ops::{self, BundleRequest, Condition, Write};
use mnemosyne::store::{
    BundleFile, BundledChange, BundledRef, CommitWords, Decoder, Disk, Encoder, Store, Summary, create_tables,
};
use naive::{Bundle, Nodes};
use std::collections::BTreeMap;
use std::io::Cursor;
use std::sync::LazyLock;

static START: LazyLock<Start> = LazyLock::new(Start::new);

/// A store with one commit on `main`.
struct Start {
    files: Files,
    rows: AllRows,
    base: Base,
    id: String,
}

fn time() -> CommitTime {
    CommitTime::new(0, 0).expect("a time")
}

impl Start {
    fn new() -> Self {
        let disk = MemoryDisk::default();
        let file = disk.open_database(true).expect("a file").file;
        create_tables(file, &BranchName::new("main").expect("a name")).expect("a store");
        let nodes: Nodes = ["a", "x"].into_iter().map(|id| (id.to_owned(), version(id, 1))).collect();
        let writes = nodes.values().map(|bytes| Write::Set(decode_node(bytes).expect("a node"))).collect();
        let (author, message) = (Author::new("Ada").expect("an author"), Message::new("base").expect("a message"));
        let words = CommitWords { author, time: time(), message };
        let session = SessionName::default();
        ops::put_and_commit(&disk.store(), &session, writes, Condition::Any, &words).expect("a commit");
        let commit = crate::commit::Commit {
            parents: Vec::new(),
            state: naive::state(&nodes),
            author: "Ada".to_owned(),
            time: time().to_string(),
            message: "base".to_owned(),
        };
        let id = naive::commit_id(&commit.bytes());
        let rows = all_rows(&disk).expect("healthy");
        let files = disk.files().clone();
        Self { files, rows, base: Base { commit, nodes }, id }
    }
}

/// How an input ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    /// It is no bundle.
    Refused,
    /// It says what is not so.
    False,
    /// It builds on what is not there, or leads elsewhere.
    NotHere,
    /// It was taken in.
    TakenIn,
}

/// Checks one input: an even byte, and a history follows; an odd one, and the bytes of a bundle, but for its sum where the
/// byte has its second bit.
pub fn check(data: &[u8]) {
    outcome(data);
}

fn outcome(data: &[u8]) -> Option<Outcome> {
    let (kind, data) = data.split_first()?;
    let bytes = match kind % 4 {
        1 => data.to_vec(),
        3 => [data, &sha256(&[data])].concat(),
        _ => history::bundle(&mut Choices(data), &START.base),
    };
    let naive = naive::read(&bytes);
    let opened = BundleFile::open("it", Cursor::new(&bytes));
    let read = opened.and_then(|mut bundle| bundle.summary().map(|summary| (bundle, summary)));
    let (mut bundle, summary, naive) = match (read, naive) {
        (Ok((bundle, summary)), Some(naive)) => (bundle, summary, naive),
        (Err(_), None) => return Some(Outcome::Refused),
        (read, naive) => panic!("{:?}, {naive:?}", read.map(|(_, summary)| summary)),
    };
    says(&summary, &naive);
    assert!(rewritten(&bytes) == bytes, "there are two ways to write it");

    let disk = MemoryDisk::new(START.files.clone());
    let known = BTreeMap::from([(START.id.clone(), START.base.nodes.clone())]);
    let is_here = naive.prerequisites.iter().all(|id| known.contains_key(id));
    let temporary = tempfile::tempdir().expect("a directory");
    let verified = ops::verify_bundle(Some(&disk.store()), &mut bundle, &summary, temporary.path());
    assert_eq!(verified.is_ok(), is_here && naive.is_true(&known, false), "{verified:?}");

    let main = naive.refs.get("refs/heads/main");
    let goes_on = main.is_none_or(|commit| naive.ancestors(commit).contains(&START.id));
    let imported = ops::import_bundle(&disk.store(), &mut bundle, &summary, None, time());
    let is_true = is_here && naive.is_true(&known, true);
    assert_eq!(imported.is_ok(), is_true && goes_on, "{imported:?}");
    let Ok(report) = imported else {
        assert!(all_rows(&disk).expect("sound") == START.rows, "something was taken in");
        return Some(if is_true || !is_here { Outcome::NotHere } else { Outcome::False });
    };
    assert!(report.warning.is_none());
    let new = naive.commits.iter().filter(|commit| commit.id != START.id).count();
    assert_eq!((report.new, report.known), (new as u64, (naive.commits.len() - new) as u64));
    let named = report.refs.iter().map(|it| (it.name.clone(), it.new.to_string()));
    assert_eq!(named.collect::<BTreeMap<_, _>>(), naive.refs);
    let checked = disk.store().fsck(&mut |_, _, _| {}).expect("a report");
    assert!(checked.findings.is_empty(), "{:?}", checked.findings);
    if new == naive.commits.len() && new > 0 {
        assert!(created(&disk.store(), &naive) == bytes, "another bundle is created of it");
    }

    // Once more, and nothing changes.
    let files = disk.files().clone();
    let again = ops::import_bundle(&disk.store(), &mut bundle, &summary, None, time()).expect("it is there");
    assert_eq!((again.new, again.known), (0, naive.commits.len() as u64));
    assert!(*disk.files() == files, "something changed");
    Some(Outcome::TakenIn)
}

fn says(summary: &Summary, naive: &Bundle) {
    let prerequisites = summary.header.prerequisites.iter().map(CommitId::to_string);
    assert!(prerequisites.eq(naive.prerequisites.iter().cloned()));
    let refs = summary.header.refs.iter();
    let refs = refs.map(|(name, BundledRef { commit, .. })| (name.clone(), commit.to_string()));
    assert!(refs.eq(naive.refs.clone()));
    let parents = summary.parents.iter();
    let parents = parents.map(|(id, parents)| (id.to_string(), parents.iter().map(CommitId::to_string).collect()));
    let right = naive.commits.iter().map(|commit| (commit.id.clone(), commit.commit.parents.clone()));
    assert_eq!(parents.collect::<BTreeMap<_, Vec<_>>>(), right.collect());
    assert_eq!(summary.changes, naive.commits.iter().map(|commit| commit.changes.len() as u64).sum::<u64>());
}

/// What was read, written again.
fn rewritten(bytes: &[u8]) -> Vec<u8> {
    let mut decoder = Decoder::begin(bytes, bytes.len() as u64).expect("a bundle");
    let mut out = Vec::new();
    let mut encoder = Encoder::begin(&mut out, decoder.header()).expect("written");
    while let Some(bundled) = decoder.next_commit().expect("a commit") {
        encoder.commit(&bundled.commit.encode()).expect("written");
        for change in &bundled.changes {
            match change {
                BundledChange::Set { version, .. } => encoder.set(version),
                BundledChange::Removed(id) => encoder.removed(id),
            }
            .expect("written");
        }
        encoder.end_commit().expect("written");
    }
    encoder.finish().expect("written");
    out
}

/// The bundle of the refs of another, without what that builds on.
fn created(store: &Store<MemoryDisk>, of: &Bundle) -> Vec<u8> {
    let revision = |text: &String| Revision::parse(text, &|_| None).expect("a revision");
    let refs = of.refs.keys().map(|name| Selection::Of(revision(name)));
    let without = of.prerequisites.iter().map(|id| Selection::Without(revision(id)));
    let request = BundleRequest { revisions: refs.chain(without).collect(), all: false };
    let mut out = Vec::new();
    ops::create_bundle(store, &SessionName::default(), &request, &mut out).expect("a bundle");
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus;
    use std::collections::BTreeSet;

    #[test]
    fn the_corpus_comes_upon_every_outcome() {
        let outcomes: BTreeSet<_> = corpus("bundle").iter().filter_map(|(_, input)| outcome(input)).collect();
        assert_eq!(outcomes, [Outcome::Refused, Outcome::False, Outcome::NotHere, Outcome::TakenIn].into());
    }
}
