//! Staged changes: one append-only file a session, `staged/<session>`, of what was put and removed since its last commit.
//!
//! A command appends one frame and syncs once. The session's row in the database says which frames a commit has
//! consumed; the number comes in as an argument, for this module knows no database.

mod disk;
mod error;
mod frame;
mod log;
mod replay;

pub use disk::{DiskFile, LogView, create_private};
pub use error::LogError;
pub use frame::Change;
pub use log::{LogFile, StagedLog};
pub use replay::{NewFrame, Staged, StagedChange};
