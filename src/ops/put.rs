//! Staging changes, and committing just them.

use super::wanted::{PutAndCommitReport, Wanted};
use super::{Condition, OpError, StagedReport, Write};
use crate::model::SessionName;
use crate::store::{CommitWords, Disk, Store};

/// Stages changes, all or none, in their order; one fsync when this returns, none where nothing is to change.
pub fn put<D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    writes: Vec<Write>,
    condition: Condition,
) -> Result<Vec<StagedReport>, OpError> {
    Wanted::new(writes, condition).stage(store, session)
}

/// What [`put`] would do, or [`put_and_commit`] where `commits`, without doing it.
pub fn try_put<D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    writes: Vec<Write>,
    condition: Condition,
    commits: bool,
) -> Result<Vec<StagedReport>, OpError> {
    Wanted::new(writes, condition).try_out(store, session, commits)
}

/// Commits just these changes in one transaction, whatever else is staged stays so. No commit where HEAD has it all.
///
/// The condition is asked within the transaction, so that of several who ask at once only one finds it true.
pub fn put_and_commit<D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    writes: Vec<Write>,
    condition: Condition,
    words: &CommitWords,
) -> Result<PutAndCommitReport, OpError> {
    Wanted::new(writes, condition).commit(store, session, words)
}
