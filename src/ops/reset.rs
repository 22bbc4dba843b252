//! Letting a branch end at another commit.

use super::joining::refuse_in_progress;
use super::staged::Forgotten;
use super::{Left, OpError};
use crate::graph::{Doubt, Entry, Memory, Reach, Revision, Surroundings, Walk, changed_in_memory, resolve};
use crate::model::{CommitTime, NodeId, SessionName};
use crate::object::{CommitId, ObjectId, encode_kept, get, kept_object_id};
use crate::store::{
    Access, Change, CommitRecord, Disk, NodeBytes, Number, Session, SessionView, Store, StoreError, Tables,
};
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
    /// The commits that the branch has no longer.
    pub behind: Behind,
    /// How many changes are staged now.
    pub staged: usize,
    /// The staged changes that were dropped.
    pub dropped: Forgotten,
    /// What was in progress, which is left.
    pub left_behind: Option<Left>,
    /// What the name of the revision stands for beside what was taken.
    pub doubt: Option<Doubt>,
    /// What failed after the move was durable.
    pub warning: Option<StoreError>,
}

/// The ancestors of the commit that was left that are none of the one that was gone to.
#[derive(Debug, Default)]
pub struct Behind {
    /// How many.
    pub count: usize,
    /// The last few of them, children before parents.
    pub last: Vec<CommitRecord>,
}

/// How many commits that are left behind are told one by one.
const TOLD: usize = 3;

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
    let old = view.head_commit()?;
    let behind = behind(view.tables, old, resolved.number)?;
    let dropped = match mode {
        ResetMode::Soft => Forgotten::default(),
        // What settles a conflict on what stands is no change, and dropped too.
        ResetMode::Hard if view.progress().is_some() => Forgotten::of(&view.staged.replay().map_err(StoreError::from)?),
        ResetMode::Hard => Forgotten::of(&view.changes()?),
    };
    let restaged = match mode {
        ResetMode::Soft => {
            refuse_in_progress(&view)?;
            refuse_conflicts(&view)?;
            restaged(&view, resolved.number)?
        }
        ResetMode::Hard => Vec::new(),
    };
    // What is staged from now on goes behind the mark before the transaction sets it. Before the mark stands that it is no
    // change, so that it is none as long as HEAD is where it was.
    let consumed = if restaged.is_empty() {
        view.staged.last()
    } else {
        log.append(&view.next_frame(restaged.iter().map(Restaged::no_change))?).map_err(StoreError::from)?;
        let bytes = log.read().map_err(StoreError::from)?;
        let view = SessionView::new(&snapshot, session, &path, &bytes)?;
        let frame = view.next_frame(restaged.iter().map(Restaged::change))?;
        log.append(&frame).map_err(StoreError::from)?;
        frame.mark()
    };
    let (report, warning) = store.write(snapshot, |tables| {
        let view = SessionView::new(tables, session, &path, &bytes)?;
        let left_behind = view.progress().map(|progress| Left::of(tables, progress)).transpose()?;
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
            behind,
            staged: restaged.len(),
            dropped,
            left_behind,
            doubt: resolved.doubt.clone(),
            warning: None,
        })
    })?;
    // Not synced: numbers that are consumed never count.
    let truncated = if report.staged > 0 { None } else { log.truncate().err().map(StoreError::from) };
    Ok(ResetReport { warning: warning.or(truncated), ..report })
}

/// What is left behind where HEAD goes from one commit to another.
fn behind<A: Access>(tables: &Tables<A>, from: Option<Number>, to: Number) -> Result<Behind, StoreError> {
    let mut behind = Behind::default();
    let Some(from) = from else { return Ok(behind) };
    // A walk would read all the way back from where it goes.
    if Reach::of([tables.commit(to)?.place]).contains(tables, tables.commit(from)?.place)? {
        return Ok(behind);
    }
    for found in Walk::new(tables, [from], [to], false) {
        let (_, commit) = found?;
        behind.count += 1;
        if behind.last.len() < TOLD {
            behind.last.push(commit);
        }
    }
    Ok(behind)
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
        restaged.push(Restaged { id, base, version: changed.new.as_ref().map(encode_kept) });
    }
    Ok(restaged)
}

impl Restaged {
    /// The version in place of itself; where something is staged for the id, that stays as it is.
    fn no_change(&self) -> Change<'_> {
        self.over(self.version.as_deref().map(kept_object_id))
    }

    fn change(&self) -> Change<'_> {
        self.over(self.base)
    }

    fn over(&self, base: Option<ObjectId>) -> Change<'_> {
        match &self.version {
            Some(node) => Change::Set { id: (&self.id).into(), base, node },
            None => Change::Remove { id: (&self.id).into(), base },
        }
    }
}
