//! The nodes of a memory that patterns choose.

use super::{
    Doubt, Removal, Resolved, Revision, RevisionError, Seen, State, Writer, last_version, removal, resolve, written,
};
use crate::model::{Content, NodeId, Pattern};
use crate::object::{Kept, Leaf, Link, Source, decode_kept, get, leaves};
use crate::store::{Access, Number, SessionView, StoreError, Tables};
use std::collections::{BTreeMap, BTreeSet};

/// The nodes below `root` whose ids match one of `patterns`, in the order of the ids; all where there is no pattern.
///
/// A pattern with a literal prefix reads only what the history index has below it.
pub fn select<A: Access>(
    tables: &Tables<A>,
    root: Option<Link>,
    patterns: &[Pattern],
) -> Result<BTreeMap<NodeId, Leaf>, StoreError> {
    let mut found = BTreeMap::new();
    if patterns.is_empty() || patterns.iter().any(|pattern| pattern.literal_prefix().is_empty()) {
        leaves(tables, root, |(number, object)| {
            let id = tables.node_id(number, object)?;
            if Pattern::choose(patterns, id.as_str()) {
                found.insert(id, (number, object));
            }
            Ok::<_, StoreError>(())
        })?;
        return Ok(found);
    }
    for pattern in patterns {
        let mut ids = Vec::new();
        match pattern.exact() {
            Some(id) => ids.push(id.clone()),
            None => tables.ids_below(pattern.literal_prefix(), |id| {
                if pattern.matches(id.as_str()) {
                    ids.push(id);
                }
            })?,
        }
        for id in ids {
            if let Some(leaf) = get(tables, root, &id)? {
                found.insert(id, leaf);
            }
        }
    }
    Ok(found)
}

/// A node as it stands in a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held<'a> {
    /// It is part of a commit.
    Stored(Leaf),
    /// It is staged: canonical bytes.
    Staged(&'a [u8]),
}

impl Held<'_> {
    /// The node itself, or what is left of it.
    pub fn kept<A: Access>(self, tables: &Tables<A>) -> Result<Kept, StoreError> {
        match self {
            Self::Stored((number, object)) => tables.kept(number, object),
            Self::Staged(bytes) => decode_kept(bytes).map_err(|error| StoreError::decode("a staged node", error)),
        }
    }
}

/// A memory as a session sees it: HEAD with what is staged, or a revision.
pub struct Memory<'v, 'a, A: Access> {
    view: &'v SessionView<'a, A>,
    commit: Option<Number>,
    root: Option<Link>,
    staged: bool,
    /// What the name of the revision stands for beside what was taken.
    pub doubt: Option<Doubt>,
}

impl<'v, 'a, A: Access> Memory<'v, 'a, A> {
    /// The memory at `revision`, or HEAD with the staged changes where none is named.
    pub fn at(view: &'v SessionView<'a, A>, revision: Option<&Revision>) -> Result<Self, RevisionError> {
        let Some(revision) = revision else {
            let commit = view.head_commit()?;
            return Ok(Self { view, commit, root: view.tables.root(commit)?, staged: true, doubt: None });
        };
        let Resolved { number, doubt } = resolve(view, revision)?;
        let root = view.tables.root(Some(number))?;
        Ok(Self { view, commit: Some(number), root, staged: false, doubt })
    }

    /// The memory of a commit, or the empty one before the first.
    pub fn of(view: &'v SessionView<'a, A>, commit: Option<Number>) -> Result<Self, StoreError> {
        Ok(Self { view, commit, root: view.tables.root(commit)?, staged: false, doubt: None })
    }

    /// The node of one id.
    pub fn find(&self, id: &NodeId) -> Result<Option<Held<'a>>, StoreError> {
        match self.staged_change(id)? {
            Some(held) => Ok(held),
            None => Ok(get(self.view.tables, self.root, id)?.map(Held::Stored)),
        }
    }

    /// What is staged of one id, `Some(None)` for a removal; nothing at a revision.
    pub fn staged_change(&self, id: &NodeId) -> Result<Option<Option<Held<'a>>>, StoreError> {
        let staged = if self.staged { self.view.find(id)? } else { None };
        Ok(staged.map(|change| change.node.map(Held::Staged)))
    }

    /// The node of one id, read.
    pub fn kept(&self, id: &NodeId) -> Result<Option<Kept>, StoreError> {
        self.find(id)?.map(|held| held.kept(self.view.tables)).transpose()
    }

    /// Who wrote the node of one id; `None` where there is no such node.
    pub fn writer(&self, id: &NodeId) -> Result<Option<Writer>, StoreError> {
        Ok(match self.find(id)? {
            Some(Held::Stored(leaf)) => Some(written(self.view.tables, leaf)?.into()),
            Some(held @ Held::Staged(_)) => Some(Writer { commit: None, node: held.kept(self.view.tables)? }),
            None => None,
        })
    }

    /// Who took the node of one id away, and what it said last; `None` where it stands, and where it never was.
    pub fn removal(&self, id: &NodeId) -> Result<Option<Removal>, StoreError> {
        if self.find(id)?.is_some() {
            return Ok(None);
        }
        if let Some(leaf) = get(self.view.tables, self.root, id)? {
            return Ok(Some(Removal { commit: None, last: written(self.view.tables, leaf)?.into() }));
        }
        let Some(start) = self.commit else { return Ok(None) };
        let Some(number) = removal(self.view.tables, id, start)? else { return Ok(None) };
        let commit = self.view.tables.commit(number)?;
        let last = last_version(self.view.tables, id, &commit)?;
        Ok(Some(Removal { commit: Some(commit), last }))
    }

    /// The nodes whose ids begin with `prefix`, in the order of the ids; found in the index of ids.
    pub fn beginning_with(&self, prefix: &str) -> Result<BTreeMap<NodeId, Held<'a>>, StoreError> {
        let mut ids = Vec::new();
        self.view.tables.ids_below(prefix, |id| ids.push(id))?;
        if self.staged {
            ids.extend(self.view.changes()?.into_keys().filter(|id| id.as_str().starts_with(prefix)));
        }
        let mut found = BTreeMap::new();
        for id in ids {
            if let Some(held) = self.find(&id)? {
                found.insert(id, held);
            }
        }
        Ok(found)
    }

    /// The nodes whose ids match one of `patterns`, all where there is none, in the order of the ids.
    pub fn select(&self, patterns: &[Pattern]) -> Result<BTreeMap<NodeId, Held<'a>>, StoreError> {
        let stored = select(self.view.tables, self.root, patterns)?;
        let mut found: BTreeMap<_, _> = stored.into_iter().map(|(id, leaf)| (id, Held::Stored(leaf))).collect();
        for (id, held) in self.staged(patterns)? {
            match held {
                Some(held) => found.insert(id, held),
                None => found.remove(&id),
            };
        }
        Ok(found)
    }

    /// What is staged of the nodes that `patterns` choose, `None` for a removal; nothing at a revision.
    pub fn staged(&self, patterns: &[Pattern]) -> Result<BTreeMap<NodeId, Option<Held<'a>>>, StoreError> {
        let changes = if self.staged { self.view.changes()? } else { BTreeMap::new() };
        let chosen = changes.into_iter().filter(|(id, _)| Pattern::choose(patterns, id.as_str()));
        Ok(chosen.map(|(id, change)| (id, change.node.map(Held::Staged))).collect())
    }

    /// The ids that match `pattern` and that the memory has or that any commit had, in their order.
    pub fn ids_ever(&self, pattern: &Pattern) -> Result<BTreeSet<NodeId>, StoreError> {
        let mut ids: BTreeSet<_> = self.staged(std::slice::from_ref(pattern))?.into_keys().collect();
        match pattern.exact() {
            Some(id) => drop(ids.insert(id.clone())),
            None => self.view.tables.ids_below(pattern.literal_prefix(), |id| {
                if pattern.matches(id.as_str()) {
                    ids.insert(id);
                }
            })?,
        }
        Ok(ids)
    }

    /// The commit whose memory it is, or on which what is staged rests; `None` before the first.
    pub fn commit(&self) -> Option<Number> {
        self.commit
    }

    /// The state that is part of a commit.
    pub fn root(&self) -> Option<Link> {
        self.root
    }

    /// The tables of the moment.
    pub fn tables(&self) -> &'a Tables<A> {
        self.view.tables
    }
}

impl<A: Access> State for Memory<'_, '_, A> {
    type Error = StoreError;

    fn seen(&self, id: &NodeId) -> Result<Seen, StoreError> {
        self.kept(id).map(Seen::from)
    }

    fn count(&self, pattern: &Pattern) -> Result<u64, StoreError> {
        let found = self.select(std::slice::from_ref(pattern))?;
        Ok(u64::try_from(found.len()).expect("what is in memory can be counted"))
    }

    fn first(
        &self,
        pattern: &Pattern,
        mut wanted: impl FnMut(&Content) -> bool,
    ) -> Result<Option<(NodeId, Content)>, StoreError> {
        for (id, held) in self.select(std::slice::from_ref(pattern))? {
            if let Kept::Node(node) = held.kept(self.view.tables)?
                && wanted(&node.content)
            {
                return Ok(Some((id, node.content)));
            }
        }
        Ok(None)
    }
}
