//! Why an operation did not do what was asked.

use crate::graph::RevisionError;
use crate::model::NodeId;
use crate::store::{MayBeDamage, StoreError};

/// An error of an operation. The first few are answers to a well-formed question.
#[derive(Debug, thiserror::Error)]
pub enum OpError {
    /// Nothing is staged, or what is staged is what HEAD has.
    #[error("nothing to commit")]
    NothingToCommit,
    /// Both this session and another changed these nodes.
    #[error("{} changed both here and on the branch", count_nodes(.0.len()))]
    Conflict(Vec<NodeId>),
    /// A revision names no commit.
    #[error(transparent)]
    Revision(#[from] RevisionError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn count_nodes(count: usize) -> String {
    if count == 1 { "1 node was".to_owned() } else { format!("{count} nodes were") }
}

impl MayBeDamage for OpError {
    fn is_damage(&self) -> bool {
        match self {
            Self::Store(error) => error.is_damage(),
            Self::Revision(error) => error.is_damage(),
            Self::NothingToCommit | Self::Conflict(_) => false,
        }
    }
}
