//! Why an operation did not do what was asked.

use crate::graph::RevisionError;
use crate::model::NodeId;
use crate::object::ObjectId;
use crate::store::{MayBeDamage, StoreError};
use std::path::Path;

/// An error of an operation. The first few are answers to a well-formed question.
#[derive(Debug, thiserror::Error)]
pub enum OpError {
    /// The memory has no such nodes.
    #[error("no node {}", quoted(.0))]
    NoNode(Vec<NodeId>),
    /// The contents of nodes have nothing at a JSON pointer.
    #[error("the content of {} has nothing at '{path}'", quoted(.ids))]
    NoPath {
        /// The nodes.
        ids: Vec<NodeId>,
        /// The pointer.
        path: String,
    },
    /// A node's content has fewer lines.
    #[error("the content of '{id}' has {}", if *.lines == 1 { "one line".to_owned() } else { format!("{lines} lines") })]
    NoLine {
        /// The node.
        id: NodeId,
        /// How many it has.
        lines: usize,
    },
    /// A node is not as the caller expects it to be.
    #[error("'{id}' {}", .found.map_or("is absent".to_owned(), |found| format!("has the hash {found}")))]
    Precondition {
        /// The node.
        id: NodeId,
        /// The object that it has.
        found: Option<ObjectId>,
    },
    /// A commit of a batch, counted from 0, changes nothing.
    #[error("commit {} of the rows would change nothing", .0 + 1)]
    EmptyGroup(usize),
    /// Nothing is staged, or what is staged is what HEAD has.
    #[error("nothing to commit")]
    NothingToCommit,
    /// Both this session and another changed these nodes.
    #[error("{} changed both here and on the branch", count_nodes(.0.len()))]
    Conflict(Vec<NodeId>),
    /// Another session has moved the branch while the command was at work.
    #[error("the branch has moved meanwhile")]
    Moved,
    /// A revision names no commit.
    #[error(transparent)]
    Revision(#[from] RevisionError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn quoted(ids: &[NodeId]) -> String {
    ids.iter().map(|id| format!("'{id}'")).collect::<Vec<_>>().join(", ")
}

fn count_nodes(count: usize) -> String {
    if count == 1 { "1 node was".to_owned() } else { format!("{count} nodes were") }
}

impl MayBeDamage for OpError {
    fn is_damage(&self) -> bool {
        match self {
            Self::Store(error) => error.is_damage(),
            Self::Revision(error) => error.is_damage(),
            Self::NoNode(_)
            | Self::NoPath { .. }
            | Self::NoLine { .. }
            | Self::Precondition { .. }
            | Self::EmptyGroup(_)
            | Self::NothingToCommit
            | Self::Moved
            | Self::Conflict(_) => false,
        }
    }

    fn located(self, path: &Path) -> Self {
        match self {
            Self::Store(error) => Self::Store(error.at(path)),
            Self::Revision(error) => Self::Revision(error.located(path)),
            other => other,
        }
    }
}
