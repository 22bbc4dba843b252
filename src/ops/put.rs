//! Staging changes, and committing just them.

use super::staged::{FEW, Standing, Version, last_versions};
use super::{Condition, OpError, StagedReport, Write};
use crate::model::SessionName;
use crate::object::CommitId;
use crate::store::{CommitWords, Disk, NewFrame, NodeBytes, SessionView, Store, StoreError};
use std::collections::BTreeMap;

/// Stages changes, all or none, in their order; one fsync when this returns, none where nothing is to change.
pub fn put<D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    writes: Vec<Write>,
    condition: Condition,
) -> Result<Vec<StagedReport>, OpError> {
    let versions: Vec<_> = writes.into_iter().map(Version::from).collect();
    let mut log = store.lock_log(session)?;
    let bytes = log.read().map_err(StoreError::from)?;
    let snapshot = store.snapshot()?;
    let view = if versions.len() > FEW {
        SessionView::new(&snapshot, session, log.path(), &bytes)?
    } else {
        let ids: Vec<_> = versions.iter().map(|version| &version.id).collect();
        SessionView::skimmed(&snapshot, session, log.path(), &bytes, &ids)?
    };
    let standing = Standing::of(&view, &versions)?;
    standing.check(condition, &versions)?;
    standing.stage(&mut log, &view, &versions)?;
    Ok(standing.reports(&versions))
}

/// What [`put`] would do, without doing it.
pub fn try_put<D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    writes: Vec<Write>,
    condition: Condition,
) -> Result<Vec<StagedReport>, OpError> {
    let versions: Vec<_> = writes.into_iter().map(Version::from).collect();
    store.read(session, |view| {
        let standing = Standing::of(view, &versions)?;
        standing.check(condition, &versions)?;
        Ok(standing.reports(&versions))
    })
}

/// What [`put_and_commit`] did.
#[derive(Debug)]
pub struct PutAndCommitReport {
    /// What became of each change.
    pub reports: Vec<StagedReport>,
    /// The commit; `None` where HEAD had it all.
    pub commit: Option<CommitId>,
    /// What failed after the commit was durable.
    pub warning: Option<StoreError>,
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
    let versions: Vec<_> = writes.into_iter().map(Version::from).collect();
    let ours = last_versions(&versions);
    let mut log = store.lock_log(session)?;
    let bytes = log.read().map_err(StoreError::from)?;
    let path = log.path().to_owned();

    // Asked of a snapshot first, so that nothing is committed where HEAD has it all.
    let snapshot = store.snapshot()?;
    let view = SessionView::new(&snapshot, session, &path, &bytes)?;
    let standing = Standing::of(&view, &versions)?;
    standing.refuse_conflicts(&versions)?;
    standing.check(condition, &versions)?;
    if ours.iter().all(|(id, version)| standing.heads[*id] == version.object) {
        standing.stage(&mut log, &view, &versions)?;
        return Ok(PutAndCommitReport { reports: standing.reports(&versions), commit: None, warning: None });
    }
    let takes_over = ours.keys().any(|id| standing.is_staged(id));
    let staying = if takes_over { view.staying(|id| ours.contains_key(id))? } else { None };
    let consumed = takes_over.then(|| staying.as_ref().map_or(view.staged.last(), NewFrame::mark));
    if let Some(frame) = &staying {
        log.append(frame).map_err(StoreError::from)?;
    }

    let ((reports, commit), warning) = store.write(snapshot, |tables| -> Result<_, OpError> {
        let view = SessionView::new(tables, session, &path, &bytes)?;
        let standing = Standing::of(&view, &versions)?;
        standing.refuse_conflicts(&versions)?;
        standing.check(condition, &versions)?;
        let mut row = view.next_row();
        row.consumed = consumed.unwrap_or(row.consumed);
        let changes = ours.iter().filter(|(id, version)| standing.heads[**id] != version.object);
        let changes: BTreeMap<_, Option<NodeBytes>> =
            changes.map(|(id, version)| ((*id).clone(), version.bytes.clone())).collect();
        let reports = standing.reports(&versions);
        if changes.is_empty() {
            // Another session has just committed the same.
            tables.set_session(session, &row)?;
            return Ok((reports, None));
        }
        let (_, commit) = tables.commit_on_head(session, row, changes, words.clone(), "put")?;
        Ok((reports, Some(commit)))
    })?;
    let truncated = if takes_over && staying.is_none() { log.truncate().err() } else { None };
    Ok(PutAndCommitReport { reports, commit, warning: warning.or(truncated.map(StoreError::from)) })
}
