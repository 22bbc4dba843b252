//! A memory taken in from elsewhere.

use super::wanted::{PutAndCommitReport, Wanted};
use super::{Condition, OpError, StagedReport, Write};
use crate::model::{NodeId, SessionName};
use crate::store::{CommitWords, Disk, Store};
use std::collections::BTreeSet;

/// What is to be taken in.
#[derive(Clone, Debug, Default)]
pub struct ImportRequest {
    /// The changes, the last of an id counts.
    pub writes: Vec<Write>,
    /// Ids of which only the content is told: where it stands already, provenance and event time stay.
    pub contents: BTreeSet<NodeId>,
    /// Whether the memory is to be just this.
    pub replace: bool,
}

impl From<ImportRequest> for Wanted {
    fn from(request: ImportRequest) -> Self {
        let ImportRequest { writes, contents, replace } = request;
        Self { contents, replaces: replace, needs_change: true, ..Self::new(writes, Condition::Any) }
    }
}

/// Stages it on top of the memory as it stands; what it replaces is told behind what it names.
pub fn import<D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    request: ImportRequest,
) -> Result<Vec<StagedReport>, OpError> {
    Wanted::from(request).stage(store, session)
}

/// Commits just it in one transaction, in which the memory is compared. Where nothing changes, that is an error, and what
/// is staged stays.
pub fn import_and_commit<D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    request: ImportRequest,
    words: &CommitWords,
) -> Result<PutAndCommitReport, OpError> {
    Wanted::from(request).commit(store, session, words)
}
