//! A commit together with what is around it: its parents' ids and the refs that name it.

use crate::object::CommitId;
use crate::store::{Access, CommitRecord, Head, Number, StoreError, Tables};
use std::collections::BTreeMap;

/// A commit as it is told.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The commit.
    pub commit: CommitRecord,
    /// The ids of its parents, in order.
    pub parents: Vec<CommitId>,
    /// The full names of the refs that name it, the session's own branch first.
    pub refs: Vec<String>,
    /// Whether the session stands on it.
    pub is_head: bool,
}

/// The refs and the HEAD against which commits are told.
pub struct Surroundings {
    refs: BTreeMap<Number, Vec<String>>,
    head: Option<Number>,
}

impl Surroundings {
    /// Looks at all refs once.
    pub fn new<A: Access>(tables: &Tables<A>, head: &Head) -> Result<Self, StoreError> {
        let mut refs: BTreeMap<Number, Vec<String>> = BTreeMap::new();
        for (name, number) in tables.references("refs/")? {
            let own = matches!(head, Head::Branch(branch) if *branch == name);
            let names = refs.entry(number).or_default();
            names.insert(if own { 0 } else { names.len() }, name);
        }
        Ok(Self { refs, head: tables.head_commit(head)? })
    }

    /// Tells a commit; compares its id with what it is made of. `known` saves a read for parents whose id is at hand.
    pub fn entry<A: Access>(
        &self,
        tables: &Tables<A>,
        number: Number,
        commit: CommitRecord,
        known: &BTreeMap<Number, CommitId>,
    ) -> Result<Entry, StoreError> {
        let id = |parent: &Number| known.get(parent).map_or_else(|| tables.commit_id(*parent), |id| Ok(*id));
        let parents = commit.parents.iter().map(id).collect::<Result<Vec<_>, _>>()?;
        if commit.commit(parents.clone()).id() != commit.id {
            return Err(StoreError::corrupt(format!("commit {} has another id than its content", commit.id)));
        }
        let refs = self.refs.get(&number).cloned().unwrap_or_default();
        Ok(Entry { commit, parents, refs, is_head: self.head == Some(number) })
    }
}
