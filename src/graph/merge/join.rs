//! Two memories that were made of one, node by node.

use super::{Base, Merged, Side, merge_nodes};
use crate::model::{Node, NodeId};
use crate::object::{Kept, Leaf, Link, ObjectId, Source, diff, encode_node, get, node_object_id};
use crate::store::{Access, StoreError, Tables};
use std::collections::{BTreeMap, BTreeSet};

/// What an id has on a side of a merge, or is to have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A record, or nothing.
    Stored(Option<Leaf>),
    /// A node that was made of two.
    Made(Box<Node>),
    /// Sides that don't go together.
    Undecided,
}

impl Outcome {
    /// The object; `None` where there is none.
    pub fn object(&self) -> Option<ObjectId> {
        match self {
            Self::Stored(leaf) => leaf.map(|(_, object)| object),
            Self::Made(node) => Some(node_object_id(&encode_node(node))),
            Self::Undecided => None,
        }
    }

    /// The node, or what is left of it; `None` where there is none.
    pub fn kept<A: Access>(&self, tables: &Tables<A>) -> Result<Option<Kept>, StoreError> {
        match self {
            Self::Stored(leaf) => leaf.map(|(record, object)| tables.kept(record, object)).transpose(),
            Self::Made(node) => Ok(Some(Kept::Node(node.as_ref().clone()))),
            Self::Undecided => Ok(None),
        }
    }

    fn is(&self, other: &Self) -> bool {
        !matches!((self, other), (Self::Undecided, _) | (_, Self::Undecided)) && self.object() == other.object()
    }
}

/// A node that both sides changed, and not alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// What both were made of; undecided where that is a merge in which the node conflicts.
    pub base: Outcome,
    /// What the memory has that is merged into.
    pub ours: Option<Leaf>,
    /// What the other has.
    pub theirs: Outcome,
}

/// What comes of a merge, against the memory that is merged into.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Join {
    /// What becomes of ids, `None` for a removal. Each is a change.
    pub changes: BTreeMap<NodeId, Option<Kept>>,
    /// Nodes of which that is not known.
    pub conflicts: BTreeMap<NodeId, Conflict>,
}

impl Join {
    /// Whether the merge is about this node.
    pub fn concerns(&self, id: &NodeId) -> bool {
        self.changes.contains_key(id) || self.conflicts.contains_key(id)
    }

    /// Whether nothing comes of it.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.conflicts.is_empty()
    }
}

/// Merges the state below `theirs` into that below `ours`; both were made of `base`. A content that is made of both has
/// `note` for its provenance.
///
/// Reads follow what differs between `base` and `theirs`.
pub fn join<A: Access>(
    tables: &Tables<A>,
    base: &Base,
    ours: Option<Link>,
    theirs: Option<Link>,
    note: &str,
) -> Result<Join, StoreError> {
    let mut join = Join::default();
    for (id, version) in joined(tables, base, &ours.into(), theirs, note)? {
        if version == Outcome::Undecided {
            let (ours, theirs) = (get(tables, ours, &id)?, Outcome::Stored(get(tables, theirs, &id)?));
            let base = base.version(tables, &id)?;
            join.conflicts.insert(id, Conflict { base, ours, theirs });
        } else {
            join.changes.insert(id, version.kept(tables)?);
        }
    }
    Ok(join)
}

/// The ids for which something else comes of a merge than `ours` has, and what.
pub(super) fn joined<A: Access>(
    tables: &Tables<A>,
    base: &Base,
    ours: &Base,
    theirs: Option<Link>,
    note: &str,
) -> Result<BTreeMap<NodeId, Outcome>, StoreError> {
    let mut ids: BTreeSet<NodeId> = base.over.keys().cloned().collect();
    diff(tables, base.root, theirs, |old, new| {
        if let Some((record, object)) = new.or(old) {
            ids.insert(tables.node_id(record, object)?);
        }
        Ok::<_, StoreError>(())
    })?;
    let mut found = BTreeMap::new();
    for id in ids {
        let (base, our_version) = (base.version(tables, &id)?, ours.version(tables, &id)?);
        let their_version = Outcome::Stored(get(tables, theirs, &id)?);
        let version = merge_versions(tables, &base, &our_version, &their_version, note)?;
        if version != our_version {
            found.insert(id, version);
        }
    }
    Ok(found)
}

/// Merges two versions of one node.
pub(super) fn merge_versions<A: Access>(
    tables: &Tables<A>,
    base: &Outcome,
    ours: &Outcome,
    theirs: &Outcome,
    note: &str,
) -> Result<Outcome, StoreError> {
    if ours.is(theirs) || theirs.is(base) {
        return Ok(ours.clone());
    }
    if ours.is(base) {
        return Ok(theirs.clone());
    }
    if [base, ours, theirs].contains(&&Outcome::Undecided) {
        return Ok(Outcome::Undecided);
    }
    let kept = [base.kept(tables)?, ours.kept(tables)?, theirs.kept(tables)?];
    if kept.iter().flatten().any(|kept| kept.redaction().is_some()) {
        // What cannot be read cannot be taken apart.
        return Ok(Outcome::Undecided);
    }
    let [base, our_node, their_node] = kept.each_ref().map(|kept| kept.as_ref().and_then(Kept::node));
    Ok(match merge_nodes(base, our_node, their_node, note) {
        Merged::Take(Side::Ours) | Merged::Same => ours.clone(),
        Merged::Take(Side::Theirs) => theirs.clone(),
        Merged::New(node) => Outcome::Made(Box::new(node)),
        Merged::Conflict => Outcome::Undecided,
    })
}
