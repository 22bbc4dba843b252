//! One verb a file: an open store and typed input in, a typed report out. Knows no options and no terminal.

mod batch;
mod blame;
mod commit;
mod complete;
mod diff;
mod error;
mod get;
mod grep;
mod log;
mod ls;
mod put;
mod restore;
mod rm;
mod settings;
mod show;
mod staged;
mod status;

pub use batch::{Group, batch};
pub use blame::{
    Blame, BlameReport, BlameRequest, Blamed, Removal, Row, Version, Writer, blame, blame_all, versions_of,
};
pub use commit::{CommitReport, CommitRequest, commit, preview};
pub use complete::{complete_ids, complete_revisions, complete_sessions};
pub use diff::{Between, diff};
pub use error::OpError;
pub use get::get;
pub use grep::{GrepRequest, Matched, MatchedLine, grep};
pub use log::{LogFilter, LogReport, log};
pub use ls::{Listed, LsRequest, Order, ls};
pub use put::{put, put_and_commit, try_put};
pub use restore::restore;
pub use rm::{matching, present};
pub use settings::{set, setting, settings};
pub use show::show;
pub use staged::{Condition, StagedReport, StagedState, Write};
pub use status::{StatusReport, status};
