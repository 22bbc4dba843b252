//! What can go wrong with a staged log.

use std::io;
use std::path::{Path, PathBuf};

/// An error of a staged log; `Display` says what failed, `source()` why.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
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
    /// Frames that no crash leaves behind.
    #[error("the staged changes in '{}' are damaged at byte {offset}: {what}", path.display())]
    Damaged {
        /// The log.
        path: PathBuf,
        /// What is wrong.
        what: &'static str,
        /// Where the frame begins in which it shows.
        offset: u64,
    },
    /// Another process kept the log locked for longer than the time-out.
    #[error("'{}' is locked by another process", path.display())]
    Busy {
        /// The log.
        path: PathBuf,
    },
    /// A link, a pipe, a directory or the like stands in the place of the log.
    #[error("'{}' is not a regular file", path.display())]
    NotAFile {
        /// The log.
        path: PathBuf,
    },
}

impl LogError {
    /// Says on what the system refused; for `map_err`.
    pub(super) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { action, path: path.to_owned(), source }
    }
}
