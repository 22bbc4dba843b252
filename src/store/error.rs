//! What can go wrong with a store.

use super::staged::LogError;
use crate::object::DecodeError;
use std::io;
use std::path::PathBuf;

/// An error of the store; `Display` says what failed, `source()` why.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// No store at or above `start`, or not at the place that was named.
    #[error("no memory store in '{}' or any parent directory", start.display())]
    NoStore {
        /// Where the search began.
        start: PathBuf,
    },
    /// `path`, which `named_by` named, is no store.
    #[error("no memory store at '{}', which {named_by} names", path.display())]
    NoStoreAt {
        /// What was named.
        path: PathBuf,
        /// The option or variable that named it.
        named_by: &'static str,
    },
    /// Something that is no directory stands in the place of a store.
    #[error("'{}' is not a directory", path.display())]
    NotADirectory {
        /// What stands there.
        path: PathBuf,
    },
    /// A store that someone else may have planted.
    #[error("the memory store '{}' is not trusted: {why}", path.display())]
    Unsafe {
        /// The store.
        path: PathBuf,
        /// What makes it suspicious.
        why: String,
    },
    /// Another process kept the store or the session's log for longer than the time-out.
    #[error("'{}' is in use by another process", path.display())]
    Busy {
        /// What could not be had.
        path: PathBuf,
    },
    /// Bytes that the format does not allow, or that fail their check.
    #[error("the memory store is damaged: {what}")]
    Corrupt {
        /// Which object, in the format's terms.
        what: String,
        /// What the layer below said.
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    /// A commit that was there when the command looked and is not any more.
    #[error("a commit was dropped by 'mnem gc' meanwhile")]
    Gone,
    /// A store, or a record in it, of another version of the format.
    #[error("the memory store has {found}, which this version does not read")]
    UnsupportedFormat {
        /// What was found.
        found: String,
    },
    /// A content kind that this version does not read.
    #[error("the memory store holds a node that this version does not read")]
    UnsupportedKind(#[source] crate::model::KindError),
    /// The system refused.
    #[error("{action} '{}' failed", path.display())]
    Io {
        /// What was tried, such as `reading`.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// redb refused for a reason of its own.
    #[error("the database refused")]
    Database(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl StoreError {
    /// Damage that no layer below explains.
    pub fn corrupt(what: impl Into<String>) -> Self {
        Self::Corrupt { what: what.into(), source: None }
    }

    /// Damage in what is called `what`.
    pub fn decode(what: impl Into<String>, error: DecodeError) -> Self {
        match error {
            DecodeError::Kind(kind) => Self::UnsupportedKind(kind),
            DecodeError::UnknownRecord(kind) => {
                Self::UnsupportedFormat { found: format!("a record of kind {kind} ({})", what.into()) }
            }
            DecodeError::NotCanonical(_) => Self::Corrupt { what: what.into(), source: Some(Box::new(error)) },
        }
    }
}

impl From<LogError> for StoreError {
    fn from(error: LogError) -> Self {
        match error {
            LogError::Io { action, path, source } => Self::Io { action, path, source },
            LogError::Busy { path } => Self::Busy { path },
            LogError::Damaged { .. } | LogError::NotAFile { .. } => {
                Self::Corrupt { what: "the staged changes".to_owned(), source: Some(Box::new(error)) }
            }
        }
    }
}

/// Sorts what redb says into damage, refusals of the system, and the rest. `Io` gets its path by [`StoreError::at`].
fn from_redb(error: redb::Error) -> StoreError {
    let damage =
        |what: &str, error: redb::Error| StoreError::Corrupt { what: what.to_owned(), source: Some(error.into()) };
    match error {
        redb::Error::Io(source) => match source.kind() {
            io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData => damage("the database file", source.into()),
            _ => StoreError::Io { action: "accessing", path: PathBuf::new(), source },
        },
        redb::Error::Corrupted(_)
        | redb::Error::TableTypeMismatch { .. }
        | redb::Error::TableIsMultimap(_)
        | redb::Error::TableIsNotMultimap(_)
        | redb::Error::TypeDefinitionChanged { .. }
        | redb::Error::TableDoesNotExist(_)
        | redb::Error::UpgradeRequired(_) => damage("the database file", error),
        other => StoreError::Database(other.into()),
    }
}

impl StoreError {
    /// Whether only the log of one session is damaged, which no other session reads.
    pub fn is_damage_of_a_log(&self) -> bool {
        matches!(self, Self::Corrupt { source: Some(source), .. } if source.is::<LogError>())
    }

    /// Names the file on which the system refused, where the layer below could not.
    pub fn at(self, file: &std::path::Path) -> Self {
        match self {
            Self::Io { action, path, source } if path.as_os_str().is_empty() => {
                Self::Io { action, path: file.to_owned(), source }
            }
            other => other,
        }
    }
}

macro_rules! from_redb_errors {
    ($($error:ident)*) => {
        $(impl From<redb::$error> for StoreError {
            fn from(error: redb::$error) -> Self {
                from_redb(error.into())
            }
        })*
    };
}

from_redb_errors!(StorageError TableError TransactionError CommitError DatabaseError CompactionError);
