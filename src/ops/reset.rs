//! Letting a branch end at another commit.

use super::joining::refuse_in_progress;
use super::{OpError, Underway};
use crate::graph::{Doubt, Entry, Memory, Revision, Surroundings, changed_in_memory, resolve};
use crate::model::{CommitTime, NodeId, SessionName};
use crate::object::{CommitId, ObjectId, encode_node, get};
use crate::store::{Access, Change, Disk, NewFrame, NodeBytes, Number, Session, SessionView, Store, StoreError};
use std::collections::BTreeMap;

/// What becomes of the memory that the session sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResetMode {
    /// It stays: what the commits changed that are left behind is staged.
    Soft,
    /// It becomes that of the commit: what is staged is dropped.
    Hard,
}

/// What [`reset`] did.
#[derive(Debug)]
pub struct ResetReport {
    /// The commit on which the session stands now.
    pub entry: Entry,
    /// The ref of the branch on which the session stands.
    pub head_branch: Option<String>,
    /// The commit on which it stood.
    pub left: Option<CommitId>,
    /// How many changes are staged now.
    pub staged: usize,
    /// How many staged changes were dropped.
    pub dropped: usize,
    /// What was in progress, which is left.
    pub left_underway: Option<Underway>,
    /// What the name of the revision stands for beside what was taken.
    pub doubt: Option<Doubt>,
    /// What failed after the move was durable.
    pub warning: Option<StoreError>,
}

/// A node that is to be staged: what the commit that is reset to has for its id, and the version over it.
struct Restaged {
    id: NodeId,
    base: Option<ObjectId>,
    version: Option<NodeBytes>,
}

/// Moves the session's branch, or its detached HEAD, to `revision`.
pub fn reset<D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    revision: &Revision,
    mode: ResetMode,
    time: CommitTime,
) -> Result<ResetReport, OpError> {
    let mut log = store.lock_log(session)?;
    let bytes = log.read().map_err(StoreError::from)?;
    let path = log.path().to_owned();
    let snapshot = store.snapshot()?;
    let view = SessionView::new(&snapshot, session, &path, &bytes)?;
    let resolved = resolve(&view, revision)?;
    let (old, staged) = (view.head_commit()?, view.changes()?.len());
    let restaged = match mode {
        ResetMode::Soft => {
            refuse_in_progress(&view)?;
            refuse_conflicts(&view)?;
            restaged(&view, resolved.number)?
        }
        ResetMode::Hard => Vec::new(),
    };
    // What is staged from now on goes behind the mark before the transaction sets it.
    let frame = if restaged.is_empty() { None } else { Some(view.next_frame(restaged.iter().map(Restaged::change))?) };
    let consumed = frame.as_ref().map_or(view.staged.last(), NewFrame::mark);
    if let Some(frame) = &frame {
        log.append(frame).map_err(StoreError::from)?;
    }
    let (report, warning) = store.write(snapshot, |tables| {
        let view = SessionView::new(tables, session, &path, &bytes)?;
        let left_underway = view.progress().map(Underway::from);
        let mut row = Session { consumed, orig_head: old, progress: None, ..view.next_row() };
        if view.head_commit()? != old {
            return Err(OpError::Moved);
        }
        drop(view);
        if old != Some(resolved.number) {
            tables.advance_head(session, &mut row, resolved.number, time, &format!("reset: {revision}"))?;
        }
        tables.set_session(session, &row)?;
        let commit = tables.commit(resolved.number)?;
        let entry = Surroundings::new(tables, &row.head)?.entry(tables, resolved.number, commit, &BTreeMap::new())?;
        let left = old.map(|number| tables.commit_id(number)).transpose()?;
        Ok(ResetReport {
            entry,
            head_branch: row.head.branch().map(str::to_owned),
            left,
            staged: restaged.len(),
            dropped: if mode == ResetMode::Hard { staged } else { 0 },
            left_underway,
            doubt: resolved.doubt.clone(),
            warning: None,
        })
    })?;
    // Not synced: numbers that are consumed never count.
    let truncated = if frame.is_some() { None } else { log.truncate().err().map(StoreError::from) };
    Ok(ResetReport { warning: warning.or(truncated), ..report })
}

/// Refuses where the branch has changed a staged node meanwhile: staged anew, that would not be told any more.
fn refuse_conflicts<A: Access>(view: &SessionView<'_, A>) -> Result<(), OpError> {
    let root = view.tables.root(view.head_commit()?)?;
    let mut conflicts = Vec::new();
    for (id, change) in view.changes()? {
        let head = get(view.tables, root, &id)?.map(|(_, object)| object);
        if change.collides_with(head) {
            conflicts.push(id);
        }
    }
    if conflicts.is_empty() { Ok(()) } else { Err(OpError::Conflict(conflicts)) }
}

/// What has to be staged over the commit `target` so that the memory that the session sees stays as it is.
fn restaged<A: Access>(view: &SessionView<'_, A>, target: Number) -> Result<Vec<Restaged>, OpError> {
    let (tables, target) = (view.tables, view.tables.root(Some(target))?);
    let memory = Memory::at(view, None)?;
    let mut restaged = Vec::new();
    for changed in changed_in_memory(target, &memory, &[])? {
        let id = changed.id().clone();
        let base = get(tables, target, &id)?.map(|(_, object)| object);
        restaged.push(Restaged { id, base, version: changed.new.as_ref().map(encode_node) });
    }
    Ok(restaged)
}

impl Restaged {
    fn change(&self) -> Change<'_> {
        match &self.version {
            Some(node) => Change::Set { id: (&self.id).into(), base: self.base, node },
            None => Change::Remove { id: (&self.id).into(), base: self.base },
        }
    }
}
