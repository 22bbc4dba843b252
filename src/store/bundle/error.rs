//! Why a file is not taken in.

use super::super::StoreError;
use crate::model::KindError;
use crate::object::{CommitId, DecodeError};
use std::io;

/// What is wrong with a bundle.
#[derive(Debug, thiserror::Error)]
pub enum BundleFault {
    /// A file of another kind.
    #[error("it does not begin as one does")]
    NoBundle,
    /// A bundle of another version.
    #[error("version {0} is not read")]
    Version(String),
    /// Bytes that the format does not allow, or that say what is not so.
    #[error("{0}")]
    Damaged(String),
    /// A content kind that this version does not read.
    #[error("commit {commit}: {source}")]
    Kind {
        /// The commit that sets such a node.
        commit: CommitId,
        /// Which kind.
        source: KindError,
    },
    /// The system refused.
    #[error("{0}")]
    Read(#[from] io::Error),
}

/// Why a bundle could not be read, tried or taken in.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// It is the bundle's fault.
    #[error("the bundle '{name}': {fault}")]
    Bundle {
        /// What the file is called.
        name: String,
        /// What is wrong.
        fault: BundleFault,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl BundleFault {
    pub(super) fn damaged(what: impl Into<String>) -> Self {
        Self::Damaged(what.into())
    }

    /// Bytes of a commit, or of a node that it sets, that are refused.
    pub(super) fn of_commit(commit: CommitId, error: DecodeError) -> Self {
        match error {
            DecodeError::Kind(source) => Self::Kind { commit, source },
            DecodeError::NotCanonical(_) | DecodeError::UnknownRecord(_) => {
                Self::Damaged(format!("commit {commit}: {error}"))
            }
        }
    }
}

impl From<DecodeError> for BundleFault {
    fn from(error: DecodeError) -> Self {
        Self::Damaged(error.to_string())
    }
}
