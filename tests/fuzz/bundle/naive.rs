//! A bundle by the page of the format, read and judged the slow way.

use crate::bytes::Bytes;
use crate::commit::{self, Commit, is_message};
use crate::node::{Marker, Node, begins_as_marker, is_id, object_of};
use mnemosyne::model::{BranchName, TagName};
use mnemosyne::object::{ObjectId, sha256};
use std::collections::{BTreeMap, BTreeSet};

/// The bytes of each node of a memory.
pub type Nodes = BTreeMap<String, Vec<u8>>;

/// Ids are texts of 64 digits.
#[derive(Clone, Debug, Default)]
pub struct Bundle {
    pub prerequisites: BTreeSet<String>,
    /// The commit that each names.
    pub refs: BTreeMap<String, String>,
    pub commits: Vec<BundledCommit>,
}

#[derive(Clone, Debug)]
pub struct BundledCommit {
    pub id: String,
    pub commit: Commit,
    /// The new version of each id, `None` for a removal.
    pub changes: Vec<(String, Option<Vec<u8>>)>,
}

fn hex(bytes: &[u8]) -> Option<String> {
    Some(ObjectId::from_bytes(bytes.try_into().ok()?).to_string())
}

/// The id of a commit with these canonical bytes.
pub fn commit_id(bytes: &[u8]) -> String {
    ObjectId::from_bytes(sha256(&[b"commit 1\0", bytes])).to_string()
}

/// Reads what needs no store to be read.
pub fn read(bytes: &[u8]) -> Option<Bundle> {
    let (all, sum) = bytes.split_last_chunk::<32>()?;
    let mut rest = Bytes(all.strip_prefix(b"mnem bundle 1\n")?);
    if sha256(&[all]) != *sum {
        return None;
    }
    let mut header = Bytes(rest.string()?);
    let mut bundle = Bundle::default();
    let mut prerequisites = Vec::new();
    for _ in 0..header.varint()? {
        prerequisites.push(hex(header.take(32)?)?);
    }
    let mut refs = Vec::new();
    for _ in 0..header.varint()? {
        refs.push(reference(&mut header)?);
    }
    header.end()?;
    let are_sorted = prerequisites.is_sorted_by(|a, b| a < b) && refs.is_sorted_by(|a, b| a.0 < b.0);
    if !are_sorted || refs.is_empty() {
        return None;
    }
    bundle.prerequisites.extend(prerequisites);
    bundle.refs.extend(refs);
    loop {
        let canonical = rest.string()?;
        if canonical.is_empty() {
            break;
        }
        let commit =
            BundledCommit { id: commit_id(canonical), commit: Commit::read(canonical)?, changes: changes(&mut rest)? };
        bundle.commits.push(commit);
    }
    (rest.varint()? == bundle.commits.len() as u64).then_some(())?;
    rest.end()?;
    bundle.hangs_together().then_some(bundle)
}

fn reference(header: &mut Bytes<'_>) -> Option<(String, String)> {
    let name = header.text()?;
    let commit = hex(header.take(32)?)?;
    // Which names there can be is asked of the program.
    if let Some(short) = name.strip_prefix("refs/tags/") {
        TagName::new(short).ok()?;
        header.time()?;
        header.text().filter(|text| text.is_empty() || is_message(text))?;
    } else {
        BranchName::new(name.strip_prefix("refs/heads/")?).ok()?;
    }
    Some((name.to_owned(), commit))
}

fn changes(rest: &mut Bytes<'_>) -> Option<Vec<(String, Option<Vec<u8>>)>> {
    let mut changes: Vec<(String, Option<Vec<u8>>)> = Vec::new();
    loop {
        let (id, version) = match rest.byte()? {
            0 => break,
            1 => {
                let bytes = rest.string()?;
                (version_id(bytes)?, Some(bytes.to_vec()))
            }
            2 => (rest.text().filter(|id| is_id(id))?.to_owned(), None),
            _ => return None,
        };
        changes.push((id, version));
    }
    let keys: Vec<_> = changes.iter().map(|(id, _)| sha256(&[id.as_bytes()])).collect();
    keys.is_sorted_by(|a, b| a < b).then_some(changes)
}

/// The id in the canonical bytes of a node or of a marker.
fn version_id(bytes: &[u8]) -> Option<String> {
    if begins_as_marker(bytes) {
        return Some(Marker::read(bytes)?.id);
    }
    Some(Node::read(bytes).filter(|node| node.content_kind == "note")?.id)
}

impl Bundle {
    /// Each parent stands before its child or is a prerequisite; each commit and prerequisite is a parent, or named by a ref.
    fn hangs_together(&self) -> bool {
        let mut there = self.prerequisites.clone();
        let mut used: BTreeSet<_> = self.refs.values().cloned().collect();
        for BundledCommit { id, commit, .. } in &self.commits {
            if !commit.parents.iter().all(|parent| there.contains(parent)) || !there.insert(id.clone()) {
                return false;
            }
            used.extend(commit.parents.iter().cloned());
        }
        used == there
    }

    /// Whether each change is one and each memory the one that the commit names, where these commits are there with their
    /// memories. What a commit says that is there already need not be so, where that is passed over.
    pub fn is_true(&self, known: &BTreeMap<String, Nodes>, passes_over: bool) -> bool {
        let mut memories = known.clone();
        for BundledCommit { id, commit, changes } in &self.commits {
            if passes_over && known.contains_key(id) {
                continue;
            }
            let mut nodes = match commit.parents.first() {
                Some(first) => memories[first].clone(),
                None => Nodes::new(),
            };
            for (id, version) in changes {
                let old = nodes.get(id).map(|bytes| object_of(bytes));
                if old == version.as_deref().map(object_of) {
                    return false;
                }
                match version {
                    Some(version) => drop(nodes.insert(id.clone(), version.clone())),
                    None => drop(nodes.remove(id)),
                }
            }
            if state(&nodes) != commit.state {
                return false;
            }
            memories.insert(id.clone(), nodes);
        }
        true
    }

    /// The ancestors of a commit in the bundle, and itself.
    pub fn ancestors(&self, id: &str) -> BTreeSet<String> {
        let mut found = BTreeSet::from([id.to_owned()]);
        for BundledCommit { id, commit, .. } in self.commits.iter().rev() {
            if found.contains(id) {
                found.extend(commit.parents.iter().cloned());
            }
        }
        found
    }
}

/// The id of the state with these nodes.
pub fn state(nodes: &Nodes) -> String {
    commit::state(&nodes.iter().map(|(id, bytes)| (id.clone(), object_of(bytes))).collect())
}
