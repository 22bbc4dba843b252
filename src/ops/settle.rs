//! Going on with a merge or a revert that stopped: settling its conflicts, finishing it, leaving it.

use super::joining::{
    Left, Reverts, Worked, commit_step, conflicts, head_entry, run_reverts, settled_changes, settling, underway,
    work_out,
};
use super::taking::take_staged;
use super::{ConflictReport, Forgotten, OpError, Reverted, Signature, Underway};
use crate::graph::{Entry, Outcome};
use crate::model::{Message, NodeId, SessionName};
use crate::object::{CommitId, encode_kept};
use crate::store::{Access, Disk, Head, NodeBytes, Number, Progress, SessionView, Store, StoreError};
use std::collections::{BTreeMap, BTreeSet};

/// On what a conflict is to be settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// What HEAD has.
    Ours,
    /// What the other side has.
    Theirs,
    /// What both were made of.
    Base,
    /// The node goes.
    Delete,
}

/// Settles conflicts of what is in progress, all or none; one fsync. Returns all conflicts as they are then.
pub fn settle<D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    wanted: Underway,
    choices: &[(NodeId, Choice)],
) -> Result<Vec<ConflictReport>, OpError> {
    {
        let mut log = store.lock_log(session)?;
        let bytes = log.read().map_err(StoreError::from)?;
        let snapshot = store.snapshot()?;
        let view = SessionView::new(&snapshot, session, log.path(), &bytes)?;
        let worked = work_out(&snapshot, &view.head, underway(&view, wanted)?)?;
        let mut settled: Vec<(&NodeId, Option<NodeBytes>, Option<_>)> = Vec::new();
        for (id, choice) in choices {
            let conflict = worked.join.conflicts.get(id).ok_or_else(|| OpError::NoConflict(id.clone()))?;
            let version = match choice {
                Choice::Ours => Outcome::Stored(conflict.ours),
                Choice::Theirs => conflict.theirs.clone(),
                Choice::Base if conflict.base == Outcome::Undecided => return Err(OpError::NoBase(id.clone())),
                Choice::Base => conflict.base.clone(),
                Choice::Delete => Outcome::Stored(None),
            };
            let node = version.kept(&snapshot)?.as_ref().map(encode_kept);
            settled.push((id, node, conflict.ours.map(|(_, object)| object)));
        }
        let changes = settled.iter().flat_map(|(id, node, head)| settling(id, node.as_deref(), *head));
        let frame = view.next_frame(changes)?;
        log.append(&frame).map_err(StoreError::from)?;
    }
    store.read(session, |view| {
        let worked = work_out(view.tables, &view.head, underway(view, wanted)?)?;
        Ok(conflicts(view.tables, &view.head, &view.staged.replay().map_err(StoreError::from)?, &worked)?)
    })
}

/// What [`conclude`] did.
#[derive(Debug)]
pub struct ConcludeReport {
    /// What was made, and where it stopped again.
    pub reverted: Reverted,
    /// The commit on which the session stands; `None` before the first one.
    pub entry: Option<Entry>,
    /// Where the session stands.
    pub head: Head,
    /// What failed after it was durable.
    pub warning: Option<StoreError>,
}

/// What [`abort`] did.
#[derive(Debug)]
pub struct AbortReport {
    /// The commit on which the session stands; `None` before the first one.
    pub entry: Option<Entry>,
    /// The commit on which it stood.
    pub stood: Option<CommitId>,
    /// What is left.
    pub left: Left,
    /// The staged changes that were dropped, also those that settle a conflict on what stands.
    pub dropped: Forgotten,
    /// What failed after it was durable.
    pub warning: Option<StoreError>,
}

/// What is decided of a snapshot, before the transaction.
struct Plan {
    head: Option<Number>,
    progress: Progress,
    /// The nodes that it is about: what is staged for them is taken.
    concerned: BTreeSet<NodeId>,
    dropped: Forgotten,
}

impl Plan {
    fn of<A: Access>(view: &SessionView<'_, A>, wanted: Underway) -> Result<(Self, Worked), OpError> {
        let progress = underway(view, wanted)?.clone();
        let worked = work_out(view.tables, &view.head, &progress)?;
        let join = &worked.join;
        let concerned: BTreeSet<_> = join.changes.keys().chain(join.conflicts.keys()).cloned().collect();
        let mut staged = view.staged.replay().map_err(StoreError::from)?;
        staged.retain(|id, _| concerned.contains(id));
        let dropped = Forgotten::of(&staged);
        Ok((Self { head: view.head_commit()?, progress, concerned, dropped }, worked))
    }

    fn takes(&self, id: &NodeId) -> bool {
        self.concerned.contains(id)
    }

    /// Refuses where HEAD is another by now.
    fn holds<A: Access>(&self, view: &SessionView<'_, A>) -> Result<(), OpError> {
        let holds = view.head_commit()? == self.head && view.progress() == Some(&self.progress);
        if holds { Ok(()) } else { Err(OpError::Moved) }
    }
}

/// The commit that a step leads to, with its conflicts settled.
struct Step {
    changes: BTreeMap<NodeId, Option<NodeBytes>>,
    parents: Vec<Number>,
    message: Message,
    /// Whether HEAD has it all.
    is_done: bool,
}

/// Makes the commit of what is in progress, once all conflicts are settled, and goes on with what is to come.
pub fn conclude<D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    wanted: Underway,
    message: Option<&Message>,
    signature: &Signature,
) -> Result<ConcludeReport, OpError> {
    let check = |view: &SessionView<'_, _>| {
        let (plan, Worked { join, parents, message, is_done, .. }) = Plan::of(view, wanted)?;
        let staged = view.staged.replay().map_err(StoreError::from)?;
        let changes = settled_changes(view.tables, &view.head, &staged, join)?;
        if let (Progress::Undo(_), true) = (&plan.progress, changes.is_empty()) {
            return Err(OpError::NothingToCommit);
        }
        Ok((plan, Step { changes, parents, message, is_done }))
    };
    let takes = |(plan, _): &(Plan, Step), id: &NodeId| plan.takes(id);
    let (report, warning) = take_staged(store, session, check, takes, |tables, taking, (plan, step)| {
        // All that was worked out hangs on HEAD, on what is in progress, and on the log, which is locked.
        let Step { changes, parents, message: default, is_done } = step;
        let view = taking.view(tables, session)?;
        plan.holds(&view)?;
        let mut row = taking.row(&view);
        let mut staged = taking.staged(view.next_row().consumed)?;
        drop(view);
        staged.retain(|id, change| change.is_change() && !plan.takes(id));
        let words = signature.saying(message.cloned().unwrap_or(default));
        let mut reverted = Reverted::default();
        let mut reason = "revert".to_owned();
        let makes = match &plan.progress {
            Progress::Merge { name, .. } => {
                reason = format!("merge {name}");
                !is_done
            }
            Progress::Revert { .. } => !changes.is_empty(),
            Progress::Undo(_) => true,
        };
        row.progress = None;
        if makes {
            row.orig_head = plan.head.or(row.orig_head);
            commit_step(tables, session, &mut row, parents, changes, words, &reason)?;
            reverted.made.extend(head_entry(tables, &row.head)?);
        }
        if let Progress::Revert { start, commits, mainline, .. } = &plan.progress {
            let (first, rest) = commits.split_first().expect("what was worked out has a commit");
            if !makes {
                reverted.unchanged.push(tables.commit_id(*first)?);
            }
            let reverts = Reverts { start: *start, commits: rest, mainline: *mainline, message: None };
            run_reverts(tables, session, &mut row, reverts, &staged, signature, &mut reverted)?;
        }
        tables.set_session(session, &row)?;
        let entry = head_entry(tables, &row.head)?;
        Ok(ConcludeReport { reverted, entry, head: row.head, warning: None })
    })?;
    Ok(ConcludeReport { warning, ..report })
}

/// Leaves what is in progress. What is staged for the nodes that it is about is dropped; of a row of reverts those that are
/// made are left behind, unless somebody has committed on top.
pub fn abort<D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    wanted: Underway,
    signature: &Signature,
) -> Result<AbortReport, OpError> {
    let check = |view: &SessionView<'_, _>| Ok(Plan::of(view, wanted)?.0);
    let (report, warning) = take_staged(store, session, check, Plan::takes, |tables, taking, plan| {
        let view = taking.view(tables, session)?;
        plan.holds(&view)?;
        let mut row = taking.row(&view);
        drop(view);
        let stood = plan.head.map(|number| tables.commit_id(number)).transpose()?;
        row.progress = None;
        let left = Left::of(tables, &plan.progress)?;
        let back = match plan.progress {
            Progress::Revert { start, reached, .. } if plan.head == Some(reached) && start != reached => Some(start),
            Progress::Merge { .. } | Progress::Revert { .. } | Progress::Undo(_) => None,
        };
        if let Some(start) = back {
            tables.advance_head(session, &mut row, start, signature.time, "revert: aborted")?;
        }
        tables.set_session(session, &row)?;
        let entry = head_entry(tables, &row.head)?;
        Ok(AbortReport { entry, stood, left, dropped: plan.dropped, warning: None })
    })?;
    Ok(AbortReport { warning, ..report })
}
