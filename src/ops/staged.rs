//! What staged changes come to, as commands tell it.

use crate::model::NodeId;
use crate::object::ObjectId;

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
    pub(super) fn between(old: Option<ObjectId>, new: Option<ObjectId>) -> Self {
        match (old, new) {
            (None, Some(_)) => Self::Added,
            (Some(_), None) => Self::Removed,
            (Some(old), Some(new)) if old != new => Self::Modified,
            (None, None) | (Some(_), Some(_)) => Self::Unchanged,
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
