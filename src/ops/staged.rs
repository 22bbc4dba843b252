//! What is to be staged, and what that comes to: shared by the verbs that stage.

use super::OpError;
use super::joining::settling;
use crate::model::{Node, NodeId};
use crate::object::{
    Effect, Kept, ObjectId, Redaction, decode_kept, encode_node, encode_redaction, get, kept_object_id,
};
use crate::store::{Access, LogFile, NodeBytes, SessionView, StagedChange, StagedLog, StoreError, entries};
use std::collections::BTreeMap;

/// One change that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write {
    /// The node is to be this.
    Set(Node),
    /// What is left of a node is to stand in its place.
    Mark(Redaction),
    /// The id is to be absent.
    Remove(NodeId),
}

impl From<Kept> for Write {
    fn from(kept: Kept) -> Self {
        match kept {
            Kept::Node(node) => Self::Set(node),
            Kept::Redacted(redaction) => Self::Mark(redaction),
        }
    }
}

/// What must hold of each id as it stands, staged changes included, or nothing is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Condition {
    /// Nothing.
    #[default]
    Any,
    /// It is there.
    Present,
    /// It is absent.
    Absent,
    /// It is just this object.
    Is(ObjectId),
}

/// How what is staged for a node compares with HEAD.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StagedState {
    /// HEAD does not have the id.
    Added,
    /// HEAD has another node.
    Modified,
    /// HEAD has a node, and it is to go.
    Removed,
    /// Nothing is to change.
    Unchanged,
}

impl StagedState {
    /// Compares the object in HEAD with the one that is to be.
    pub fn between(old: Option<ObjectId>, new: Option<ObjectId>) -> Self {
        match (old, new) {
            (None, Some(_)) => Self::Added,
            (Some(_), None) => Self::Removed,
            (Some(old), Some(new)) if old != new => Self::Modified,
            (None, None) | (Some(_), Some(_)) => Self::Unchanged,
        }
    }
}

impl From<Effect> for StagedState {
    fn from(effect: Effect) -> Self {
        match effect {
            Effect::Added => Self::Added,
            Effect::Modified => Self::Modified,
            Effect::Removed => Self::Removed,
        }
    }
}

/// What is staged for a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StagedReport {
    /// The node's id.
    pub id: NodeId,
    /// The id of what was written, `None` for a removal.
    pub hash: Option<ObjectId>,
    /// What it comes to.
    pub state: StagedState,
}

/// Changes that are staged no longer.
#[derive(Clone, Debug, Default)]
pub struct Forgotten {
    /// How many.
    pub count: usize,
    /// What would stage them again; `None` where that is more than a person would type, or cannot be read.
    pub changes: Option<Vec<Write>>,
}

/// More bytes than this nobody types.
const TYPED_BYTES: usize = 4096;

impl Forgotten {
    /// All of `changes`. One that cannot be read is no reason to keep it.
    pub(super) fn of(changes: &BTreeMap<NodeId, StagedChange<'_>>) -> Self {
        let bytes: usize = changes.iter().map(|(id, change)| change.node.map_or(id.as_str().len(), <[u8]>::len)).sum();
        let write = |(id, change): (&NodeId, &StagedChange<'_>)| match change.node {
            Some(node) => decode_kept(node).ok().map(Write::from),
            None => Some(Write::Remove(id.clone())),
        };
        let writes = if bytes > TYPED_BYTES { None } else { changes.iter().map(write).collect() };
        Self { count: changes.len(), changes: writes }
    }
}

/// Which object each id has, `None` where it is absent.
pub(super) type Objects = BTreeMap<NodeId, Option<ObjectId>>;

/// A change as canonical bytes.
#[derive(Clone, Debug)]
pub(super) struct Version {
    pub id: NodeId,
    pub bytes: Option<NodeBytes>,
    pub object: Option<ObjectId>,
}

impl Version {
    fn of(id: NodeId, bytes: NodeBytes) -> Self {
        Self { object: Some(kept_object_id(&bytes)), bytes: Some(bytes), id }
    }
}

impl From<Write> for Version {
    fn from(write: Write) -> Self {
        match write {
            Write::Set(node) => Self::of(node.id.clone(), encode_node(&node)),
            Write::Mark(redaction) => Self::of(redaction.id.clone(), encode_redaction(&redaction)),
            Write::Remove(id) => Self { id, bytes: None, object: None },
        }
    }
}

/// The last version of each id.
pub(super) fn last_versions(versions: &[Version]) -> BTreeMap<&NodeId, &Version> {
    versions.iter().map(|version| (&version.id, version)).collect()
}

/// Up to so many ids are looked up one by one in what is staged.
pub(super) const FEW: usize = 4;

/// What stands for some ids: in HEAD, and staged.
pub(super) struct Standing<'a> {
    pub heads: Objects,
    staged: BTreeMap<NodeId, StagedChange<'a>>,
}

impl<'a> Standing<'a> {
    /// Looks the ids of `versions` up; what is staged one by one for a few, by a map of all for many.
    pub fn of<A: Access>(view: &SessionView<'a, A>, versions: &[Version]) -> Result<Self, StoreError> {
        let root = view.tables.root(view.head_commit()?)?;
        let mut heads = Objects::new();
        for version in versions {
            if !heads.contains_key(&version.id) {
                let object = get(view.tables, root, &version.id)?.map(|(_, object)| object);
                heads.insert(version.id.clone(), object);
            }
        }
        let mut staged = BTreeMap::new();
        if versions.len() > FEW {
            staged = view.staged.replay()?;
        } else {
            for version in versions {
                if let Some(change) = view.staged.find(&version.id)? {
                    staged.insert(version.id.clone(), change);
                }
            }
        }
        Ok(Self { heads, staged })
    }

    /// Whether something is staged for the id.
    pub fn is_staged(&self, id: &NodeId) -> bool {
        self.staged.contains_key(id)
    }

    /// The object that the id has, staged changes included.
    fn current(&self, id: &NodeId) -> Option<ObjectId> {
        let staged = self.staged.get(id).filter(|change| change.is_change());
        staged.map_or_else(|| self.heads.get(id).copied().flatten(), StagedChange::version)
    }

    /// Refuses where the condition does not hold of one of the ids.
    pub fn check(&self, condition: Condition, versions: &[Version]) -> Result<(), OpError> {
        let mut absent = Vec::new();
        for id in last_versions(versions).into_keys() {
            let found = self.current(id);
            let holds = match condition {
                Condition::Any => true,
                Condition::Present => {
                    if found.is_none() {
                        absent.push(id.clone());
                    }
                    true
                }
                Condition::Absent => found.is_none(),
                Condition::Is(object) => found == Some(object),
            };
            if !holds {
                return Err(OpError::Precondition { id: id.clone(), found });
            }
        }
        if absent.is_empty() { Ok(()) } else { Err(OpError::NoNode(absent)) }
    }

    /// Refuses where something is staged for one of the ids, and HEAD has by now neither what that replaced nor what is
    /// to be: whoever looked at the staged version has not seen the other one.
    pub fn refuse_conflicts(&self, versions: &[Version]) -> Result<(), OpError> {
        let conflicts: Vec<_> = last_versions(versions)
            .into_iter()
            .filter(|(id, version)| {
                let head = self.heads[*id];
                let staged = self.staged.get(*id).filter(|change| change.is_change());
                staged.is_some_and(|staged| ![staged.base, staged.version(), version.object].contains(&head))
            })
            .map(|(id, _)| id.clone())
            .collect();
        if conflicts.is_empty() { Ok(()) } else { Err(OpError::Conflict(conflicts)) }
    }

    /// What each version comes to.
    pub fn reports(&self, versions: &[Version]) -> Vec<StagedReport> {
        let report = |version: &Version| StagedReport {
            id: version.id.clone(),
            hash: version.object,
            state: StagedState::between(self.heads[&version.id], version.object),
        };
        versions.iter().map(report).collect()
    }

    /// Appends what has to be said so that the last version of each id is what stands; nothing where it does already.
    pub fn stage<F: LogFile, A: Access>(
        &self,
        log: &mut StagedLog<F>,
        view: &SessionView<'_, A>,
        versions: &[Version],
    ) -> Result<(), StoreError> {
        let mut changes = Vec::new();
        for (id, version) in last_versions(versions) {
            let new = version.object.zip(version.bytes.as_deref());
            // Also what stands already settles a conflict.
            match view.progress() {
                Some(_) => changes.extend(settling(id, version.bytes.as_deref(), self.heads[id])),
                None => changes.extend(entries(id, new, self.heads[id], self.staged.get(id).copied())),
            }
        }
        if !changes.is_empty() {
            log.append(&view.next_frame(changes)?)?;
        }
        Ok(())
    }
}
