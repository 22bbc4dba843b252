//! Where a session stands, and what others have under way.

use super::joining::{conflicts, told_provenance, work_out};
use super::{ConflictReport, OpError, StagedReport, StagedState, Underway};
use crate::model::{NodeId, SessionName};
use crate::object::{CommitId, get};
use crate::store::{Access, Disk, Head, Progress, SessionView, Store, StoreError};

/// Another session.
#[derive(Clone, Debug)]
pub struct OtherSession {
    /// Its name.
    pub name: SessionName,
    /// Where it stands.
    pub head: Head,
    /// Its commit; `None` on a branch without one.
    pub commit: Option<CommitId>,
    /// How many changes it has staged.
    pub staged: usize,
    /// What it has begun and not finished.
    pub underway: Option<Underway>,
}

/// What is begun and not finished.
#[derive(Debug)]
pub struct ProgressReport {
    /// What it is.
    pub underway: Underway,
    /// What the commit that is merged was called, or from where that came which is undone.
    pub name: Option<String>,
    /// The commit that is merged or undone; `None` where what came from somewhere is undone.
    pub commit: Option<CommitId>,
    /// How many commits are to be undone behind this one.
    pub to_come: usize,
    /// What conflicts, settled or not.
    pub conflicts: Vec<ConflictReport>,
}

/// What [`status`] found.
#[derive(Debug)]
pub struct StatusReport {
    /// Where the session stands.
    pub head: Head,
    /// Its commit; `None` on a branch without one.
    pub commit: Option<CommitId>,
    /// What it has staged, in the order of the ids, against HEAD as it is now.
    pub staged: Vec<StagedReport>,
    /// Staged nodes that the branch has changed meanwhile.
    pub conflicts: Vec<NodeId>,
    /// What is begun and not finished.
    pub progress: Option<ProgressReport>,
    /// The others, in the order of their names.
    pub others: Vec<OtherSession>,
    /// Others whose staged changes are damaged, and how.
    pub damaged: Vec<(SessionName, StoreError)>,
}

/// Looks at the session and at all others. Damage in the log of another session is its own affair.
pub fn status<D: Disk>(store: &Store<D>, session: &SessionName) -> Result<StatusReport, OpError> {
    let mut report = store.read(session, |view| {
        let commit = view.head_commit()?;
        let root = view.tables.root(commit)?;
        let (mut staged, mut conflicts) = (Vec::new(), Vec::new());
        for (id, change) in view.changes()? {
            let old = get(view.tables, root, &id)?.map(|(_, object)| object);
            let hash = change.version();
            if change.collides_with(old) {
                conflicts.push(id.clone());
            }
            let state = StagedState::between(old, hash);
            if state != StagedState::Unchanged {
                staged.push(StagedReport { id, hash, state });
            }
        }
        let commit = commit.map(|number| view.tables.commit_id(number)).transpose()?;
        let progress = view.progress().map(|progress| progress_report(view, progress)).transpose()?;
        let (head, others, damaged) = (view.head.clone(), Vec::new(), Vec::new());
        Ok::<_, OpError>(StatusReport { head, commit, staged, conflicts, progress, others, damaged })
    })?;
    for name in store.sessions()? {
        if name == *session {
            continue;
        }
        let other = store.read(&name, |view| {
            let commit = view.head_commit()?;
            let root = view.tables.root(commit)?;
            let mut staged = 0;
            for (id, change) in view.changes()? {
                let old = get(view.tables, root, &id)?.map(|(_, object)| object);
                staged += usize::from(old != change.version());
            }
            let commit = commit.map(|number| view.tables.commit_id(number)).transpose()?;
            let underway = view.progress().map(Underway::from);
            Ok::<_, OpError>(OtherSession { name: name.clone(), head: view.head.clone(), commit, staged, underway })
        });
        match other {
            Ok(other) => report.others.push(other),
            Err(OpError::Store(error)) if error.is_damage_of_a_log() => report.damaged.push((name, error)),
            Err(error) => return Err(error),
        }
    }
    Ok(report)
}

fn progress_report<A: Access>(view: &SessionView<'_, A>, progress: &Progress) -> Result<ProgressReport, OpError> {
    let tables = view.tables;
    let worked = work_out(tables, &view.head, progress)?;
    let conflicts = conflicts(tables, &view.head, &view.staged.replay().map_err(StoreError::from)?, &worked)?;
    let (name, commit, to_come) = match progress {
        Progress::Merge { theirs, name, .. } => (Some(name.clone()), Some(*theirs), 0),
        Progress::Revert { commits, .. } => (None, commits.first().copied(), commits.len().saturating_sub(1)),
        Progress::Undo(undo) => (Some(told_provenance(&undo.provenance)), None, 0),
    };
    let commit = commit.map(|number| tables.commit_id(number)).transpose()?;
    Ok(ProgressReport { underway: progress.into(), name, commit, to_come, conflicts })
}
