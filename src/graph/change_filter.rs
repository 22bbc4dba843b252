//! Which changes of commits are wanted.

use super::{Changed, Held, NodeFilter, TextChange, changed};
use crate::model::Pattern;
use crate::object::{Leaf, Source, diff, get, leaves_above};
use crate::store::{Access, CommitRecord, Number, StoreError, Tables};

/// A node in the state of a commit's first parent and in its own.
type Pair = (Option<Leaf>, Option<Leaf>);

/// What must hold of a node that a commit changed against its first parent, all of it of the same one.
#[derive(Clone, Copy, Debug)]
pub struct ChangeFilter<'f> {
    /// Whose id matches one of these; any where there is none.
    pub patterns: &'f [Pattern],
    /// As what the commit wrote it. A commit writes a node for which no parent has the same under its id; who removes one
    /// writes nothing.
    pub nodes: &'f NodeFilter,
    /// What became of its text; of a merge, too, against the first parent.
    pub text: Option<&'f TextChange>,
    /// Whether a merge writes also what it has from another parent than the first.
    pub first_parent: bool,
}

impl ChangeFilter<'_> {
    /// Whether more is asked for than an id.
    pub fn looks_into_nodes(&self) -> bool {
        !self.nodes.is_open() || self.text.is_some()
    }

    /// The nodes that a commit changed as it is wanted, in the order of the ids.
    pub fn changed<A: Access>(
        &self,
        tables: &Tables<A>,
        number: Number,
        commit: &CommitRecord,
    ) -> Result<Vec<Changed>, StoreError> {
        let parent = tables.root(commit.parents.first().copied())?;
        let found = changed(tables, parent, commit.root.link(), self.patterns)?;
        if !self.looks_into_nodes() {
            return Ok(found);
        }
        let floor = self.floor(tables, number, commit)?;
        let mut wanted = Vec::new();
        for changed in found {
            let leaf = get(tables, commit.root.link(), changed.id())?;
            if self.admits(tables, floor, leaf, &changed)? {
                wanted.push(changed);
            }
        }
        Ok(wanted)
    }

    /// Whether a commit changed a node as it is wanted.
    pub fn admits_commit<A: Access>(
        &self,
        tables: &Tables<A>,
        number: Number,
        commit: &CommitRecord,
    ) -> Result<bool, StoreError> {
        let floor = self.floor(tables, number, commit)?;
        let node = |leaf: Option<Leaf>| leaf.map(|(record, object)| tables.kept(record, object)).transpose();
        for (old, new) in self.candidates(tables, floor, commit)? {
            if self.admits(tables, floor, new, &Changed { old: node(old)?, new: node(new)? })? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a commit that wrote the records above `floor` changed this node, now in `leaf`, as it is wanted.
    fn admits<A: Access>(
        &self,
        tables: &Tables<A>,
        floor: Number,
        leaf: Option<Leaf>,
        changed: &Changed,
    ) -> Result<bool, StoreError> {
        let is_wanted = match (leaf, &changed.new) {
            _ if self.nodes.is_open() => true,
            (Some(leaf), Some(node)) if leaf.0 > floor => self.nodes.admits(tables, Held::Stored(leaf), node)?,
            (Some(_) | None, Some(_) | None) => false,
        };
        let (old, new) = changed.contents();
        Ok(is_wanted && self.text.is_none_or(|text| text.is_between(old, new)))
    }

    /// The number above which the records are that a commit wrote.
    fn floor<A: Access>(
        &self,
        tables: &Tables<A>,
        number: Number,
        commit: &CommitRecord,
    ) -> Result<Number, StoreError> {
        if self.writes_all(commit) { Ok(0) } else { tables.commit_before(number) }
    }

    fn writes_all(&self, commit: &CommitRecord) -> bool {
        self.first_parent && commit.parents.len() > 1
    }

    /// What a commit changed that may be wanted: in the state of its first parent, where that is of interest, and in its
    /// own.
    fn candidates<A: Access>(
        &self,
        tables: &Tables<A>,
        floor: Number,
        commit: &CommitRecord,
    ) -> Result<Vec<Pair>, StoreError> {
        let (parent, own) = (commit.parents.first().copied(), commit.root.link());
        let mut found = Vec::new();
        let exact: Option<Vec<_>> = self.patterns.iter().map(Pattern::exact).collect();
        if let Some(ids) = exact.filter(|ids| !ids.is_empty()) {
            let parent = tables.root(parent)?;
            for id in ids {
                let (old, new) = (get(tables, parent, id)?, get(tables, own, id)?);
                if old.map(|(_, object)| object) != new.map(|(_, object)| object) {
                    found.push((old, new));
                }
            }
            return Ok(found);
        }
        let mut push = |old: Option<Leaf>, new: Option<Leaf>| {
            if let (false, Some((record, object))) = (self.patterns.is_empty(), new.or(old))
                && !Pattern::choose(self.patterns, tables.node_id(record, object)?.as_str())
            {
                return Ok(());
            }
            found.push((old, new));
            Ok::<_, StoreError>(())
        };
        if self.writes_all(commit) || self.text.is_some() {
            diff(tables, tables.root(parent)?, own, push)?;
        } else {
            leaves_above(tables, own, floor, |leaf| push(None, Some(leaf)))?;
        }
        Ok(found)
    }
}
