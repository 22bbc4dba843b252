//! Taking back what came from somewhere, and keeping what was made of it since.

use super::join::{Conflict, Join, Outcome, merge_versions};
use crate::graph::{Held, NodeFilter, NodeVersions, STAGED, Unit, lineage};
use crate::model::NodeId;
use crate::object::{Leaf, ObjectId, get};
use crate::store::{Access, Number, StoreError, Tables};
use std::collections::{BTreeMap, BTreeSet};

/// What becomes of the nodes `ids` in the memory of `head` when of the versions from which they came those are taken back
/// that `filter` admits: the change to the node is undone, the newest first. A version that has taken the place of one is
/// kept, with what it has from that taken out of it where the two go together, and else is a conflict, unless no line and no
/// leaf of what stands comes from there any more.
///
/// Only what `commits` wrote where they are named. Of several such versions after each other, what stood before the first
/// comes back. A version that a merge wrote took the place of the one that has its content; where none has, what would stand
/// without it is not known, and it is a conflict.
pub fn undone<A: Access>(
    tables: &Tables<A>,
    head: Number,
    ids: &BTreeSet<NodeId>,
    filter: &NodeFilter,
    commits: Option<&BTreeSet<Number>>,
    note: &str,
) -> Result<Join, StoreError> {
    let root = tables.root(Some(head))?;
    let mut join = Join::default();
    for id in ids {
        let ours = get(tables, root, id)?;
        let mut version = Outcome::Stored(ours);
        let runs = runs(tables, ours, id, filter, commits)?;
        for (nth, run) in runs.iter().enumerate() {
            let (written, before) = (Outcome::Stored(Some(run.written)), Outcome::Stored(run.before));
            let merged = if run.is_merge {
                Outcome::Undecided
            } else {
                merge_versions(tables, &written, &version, &before, note)?
            };
            if merged == Outcome::Undecided {
                let mut is_standing = stands(tables, id, &version, ours, run)?;
                if let Outcome::Made(_) = version {
                    // What a newer one had taken away is back by now.
                    for newer in &runs[..nth] {
                        is_standing = is_standing || stands(tables, id, &Outcome::Stored(newer.before), ours, run)?;
                    }
                }
                if !is_standing {
                    continue;
                }
                join.conflicts.insert(id.clone(), Conflict { base: written, ours, theirs: before });
            }
            version = merged;
            if version == Outcome::Undecided {
                break;
            }
        }
        if version != Outcome::Undecided && version.object() != ours.map(|(_, object)| object) {
            join.changes.insert(id.clone(), version.kept(tables)?);
        }
    }
    Ok(join)
}

/// Versions after each other that are to be taken back.
struct Run {
    /// The last of them.
    written: Leaf,
    /// The numbers of all of them.
    records: Vec<Number>,
    /// What stood before the first of them.
    before: Option<Leaf>,
    /// Whether one of them took the place of several, and has a content of its own: what would stand without it is not
    /// known then.
    is_merge: bool,
}

/// The versions that are to be taken back of those from which the one in `leaf` came, newest first.
fn runs<A: Access>(
    tables: &Tables<A>,
    leaf: Option<Leaf>,
    id: &NodeId,
    filter: &NodeFilter,
    commits: Option<&BTreeSet<Number>>,
) -> Result<Vec<Run>, StoreError> {
    let mut runs: Vec<Run> = Vec::new();
    let mut open: BTreeMap<Number, ObjectId> = leaf.into_iter().collect();
    // A record's number is larger than those of the versions that it took the place of.
    while let Some(leaf) = open.pop_last() {
        let (number, commit) = tables.commit_that_wrote(leaf.0)?;
        let before = commit.parents.iter().map(|&parent| get(tables, tables.root(Some(parent))?, id));
        let all_before = before.collect::<Result<Vec<_>, StoreError>>()?;
        open.extend(all_before.iter().copied().flatten());
        let is_chosen = commits.is_none_or(|commits| commits.contains(&number));
        let node = tables.kept(leaf.0, leaf.1)?;
        if !is_chosen || !filter.admits(tables, Held::Stored(leaf), &node)? {
            continue;
        }
        let mut before = all_before.first().copied().flatten();
        let mut is_merge = all_before.iter().any(|other| *other != before);
        if is_merge {
            for &other in all_before.iter().flatten() {
                if node.content().is_some() && tables.kept(other.0, other.1)?.content() == node.content() {
                    (before, is_merge) = (Some(other), false);
                    break;
                }
            }
        }
        let mut is_first = true;
        // Of several that follow on this one, each on a branch of its own, all go back to what stood before it.
        for run in runs.iter_mut().filter(|run| run.before == Some(leaf)) {
            run.records.push(leaf.0);
            run.before = before;
            run.is_merge |= is_merge;
            is_first = false;
        }
        if is_first {
            runs.push(Run { written: leaf, records: vec![leaf.0], before, is_merge });
        }
    }
    Ok(runs)
}

/// Whether a line or a leaf of a version, which was made of what HEAD has in `ours` where it is none of the store, comes from
/// a run.
fn stands<A: Access>(
    tables: &Tables<A>,
    id: &NodeId,
    version: &Outcome,
    ours: Option<Leaf>,
    run: &Run,
) -> Result<bool, StoreError> {
    // Of what cannot be read nobody knows where its parts come from.
    let Some(kept) = version.kept(tables)? else { return Ok(false) };
    let Some(content) = kept.content() else { return Ok(true) };
    let (versions, start) = match version {
        Outcome::Stored(Some(leaf)) => (NodeVersions::of(tables, id, *leaf), leaf.0),
        Outcome::Stored(None) | Outcome::Made(_) | Outcome::Undecided => {
            (NodeVersions::of_staged(tables, id, &kept, ours), STAGED)
        }
    };
    // A line that is alone may be one of several that stood there before.
    let unit = if content.text().is_some() { Unit::Line } else { Unit::Leaf };
    let parts = lineage(&versions, start, unit, &|_| Ok(false), None)?.parts;
    Ok(parts.iter().any(|part| run.records.contains(&part.version)))
}
