//! A transaction that takes what is staged: shared by the verbs that commit it.

use super::OpError;
use crate::model::{NodeId, SessionName};
use crate::store::{
    Access, Disk, NewFrame, Reading, Session, SessionView, StagedChange, Store, StoreError, Tables, Writing,
    staged_changes,
};
use std::collections::BTreeMap;
use std::path::Path;

/// The staged log while a command takes from it.
pub(super) struct Taking<'l> {
    path: &'l Path,
    bytes: &'l [u8],
    /// What the session will have consumed.
    consumed: u64,
}

impl<'l> Taking<'l> {
    pub fn view<'t, A: Access>(
        &self,
        tables: &'t Tables<A>,
        session: &SessionName,
    ) -> Result<SessionView<'t, A>, StoreError>
    where
        'l: 't,
    {
        SessionView::new(tables, session, self.path, self.bytes)
    }

    /// What was staged when a session had consumed so much.
    pub fn staged(&self, consumed: u64) -> Result<BTreeMap<NodeId, StagedChange<'l>>, StoreError> {
        staged_changes(self.path, self.bytes, consumed)
    }

    /// The row that the session gets.
    pub fn row<A: Access>(&self, view: &SessionView<'_, A>) -> Session {
        Session { consumed: self.consumed, ..view.next_row() }
    }
}

/// Lets `write` commit what is staged for the ids that are `chosen`, once `plan` has found nothing against it, and returns
/// what failed after that was durable, too.
pub(super) fn take_staged<D: Disk, P, R>(
    store: &Store<D>,
    session: &SessionName,
    plan: impl FnOnce(&SessionView<'_, Reading>) -> Result<P, OpError>,
    chosen: impl Fn(&P, &NodeId) -> bool,
    write: impl FnOnce(&mut Tables<Writing<'_>>, &Taking<'_>, P) -> Result<R, OpError>,
) -> Result<(R, Option<StoreError>), OpError> {
    let mut log = store.lock_log(session)?;
    let bytes = log.read().map_err(StoreError::from)?;
    let path = log.path().to_owned();

    let snapshot = store.snapshot()?;
    let view = SessionView::new(&snapshot, session, &path, &bytes)?;
    let plan = plan(&view)?;
    // What stays staged goes behind the mark before the transaction sets it.
    let staying = view.staying(|id| chosen(&plan, id))?;
    let consumed = staying.as_ref().map_or(view.staged.last(), NewFrame::mark);
    if let Some(frame) = &staying {
        log.append(frame).map_err(StoreError::from)?;
    }
    let taking = Taking { path: &path, bytes: &bytes, consumed };
    let (result, warning) = store.write(snapshot, |tables| write(tables, &taking, plan))?;
    // Not synced: numbers that are consumed never count.
    let truncated = if staying.is_some() { None } else { log.truncate().err().map(StoreError::from) };
    Ok((result, warning.or(truncated)))
}
