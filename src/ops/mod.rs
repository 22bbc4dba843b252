//! One verb a file: an open store and typed input in, a typed report out. Knows no options and no terminal.

mod commit;
mod error;
mod get;
mod log;
mod put;
mod restore;
mod staged;

pub use commit::{CommitReport, CommitRequest, commit, preview};
pub use error::OpError;
pub use get::get;
pub use log::{LogFilter, LogReport, log};
pub use put::{Write, put, put_and_commit};
pub use restore::restore;
pub use staged::{StagedReport, StagedState};
