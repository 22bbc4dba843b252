//! The versions of a node as records of a store, each with those that it took the place of.

use super::{Origin, Versions, written};
use crate::model::{Content, NodeId};
use crate::object::{Kept, Leaf, get};
use crate::store::{Access, Number, StoreError, Tables};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// The number of a version that is staged and so has no record yet.
pub const STAGED: Number = Number::MAX;

/// The versions of one node from which the one that stands came.
pub struct NodeVersions<'t, A: Access> {
    tables: &'t Tables<A>,
    id: &'t NodeId,
    staged: Option<(&'t Kept, Option<Leaf>)>,
    /// The records that were come upon, by number.
    leaves: RefCell<BTreeMap<Number, Leaf>>,
}

impl<'t, A: Access> NodeVersions<'t, A> {
    /// Begins at the record that stands.
    pub fn of(tables: &'t Tables<A>, id: &'t NodeId, leaf: Leaf) -> Self {
        Self { tables, id, staged: None, leaves: RefCell::new(BTreeMap::from([(leaf.0, leaf)])) }
    }

    /// Begins at a staged node, which takes the place of the record that HEAD has.
    pub fn of_staged(tables: &'t Tables<A>, id: &'t NodeId, node: &'t Kept, head: Option<Leaf>) -> Self {
        let leaves = head.map(|leaf| (leaf.0, leaf)).into_iter().collect();
        Self { tables, id, staged: Some((node, head)), leaves: RefCell::new(leaves) }
    }

    /// Who wrote a version; `None` for the staged one.
    pub fn origin(&self, version: Number) -> Result<Option<Origin>, StoreError> {
        if version == STAGED {
            return Ok(None);
        }
        written(self.tables, self.leaf(version)).map(Some)
    }

    fn leaf(&self, version: Number) -> Leaf {
        *self.leaves.borrow().get(&version).expect("a version is come upon before it is asked for")
    }
}

impl<A: Access> Versions for NodeVersions<'_, A> {
    type Error = StoreError;

    fn content(&self, version: Number) -> Result<Option<Content>, StoreError> {
        if let (STAGED, Some((node, _))) = (version, self.staged) {
            return Ok(node.content().cloned());
        }
        let (number, object) = self.leaf(version);
        Ok(self.tables.kept(number, object)?.content().cloned())
    }

    fn parents(&self, version: Number) -> Result<Vec<Option<Number>>, StoreError> {
        if let (STAGED, Some((_, head))) = (version, self.staged) {
            return Ok(vec![head.map(|(number, _)| number)]);
        }
        let (_, commit) = self.tables.commit_that_wrote(version)?;
        let mut found = Vec::with_capacity(commit.parents.len());
        for parent in commit.parents {
            let leaf = get(self.tables, self.tables.root(Some(parent))?, self.id)?;
            self.leaves.borrow_mut().extend(leaf.map(|leaf| (leaf.0, leaf)));
            found.push(leaf.map(|(number, _)| number));
        }
        Ok(found)
    }
}
