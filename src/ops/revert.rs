//! Undoing commits, or what came from somewhere, by new commits: the record of it stays.

use super::joining::{
    Reverts, Signature, commit_step, conflicts, forget_no_changes, head_entry, parent_of, refuse_in_progress,
    refuse_staged, run_reverts, settled_changes, told_provenance, work_out,
};
use super::{OpError, Reverted, Stop};
use crate::graph::{ChangeFilter, Doubt, Ends, NodeFilter, Revision, Selection, Walk, resolve, resolve_all};
use crate::model::{Message, NodeId, Pattern, Provenance, SessionName};
use crate::store::{
    Access, Disk, Head, Number, Progress, SessionView, Store, StoreError, Tables, Undo, staged_changes,
};
use std::collections::{BTreeMap, BTreeSet};

/// What is to be undone.
#[derive(Clone, Debug)]
pub enum Reverting {
    /// These commits, one commit each.
    Commits {
        /// To which parent merges go back, counted from 1; 0 where none is named.
        mainline: u64,
    },
    /// Of the commits, or of all that HEAD has where none is named, the nodes that came from there: one commit.
    From {
        /// The fields that are set must be just these.
        provenance: Provenance,
        /// Only nodes whose ids match one of these; all where there is none.
        patterns: Vec<Pattern>,
    },
}

/// What is asked for.
#[derive(Clone, Debug)]
pub struct RevertRequest {
    /// The commits; those of ranges the newest first.
    pub selections: Vec<Selection>,
    /// What of them.
    pub what: Reverting,
    /// What the commit is to say, where there is one.
    pub message: Option<Message>,
    /// Who reverts.
    pub signature: Signature,
}

/// What [`revert`] did.
#[derive(Debug)]
pub struct RevertReport {
    /// What was made, and where it stopped.
    pub reverted: Reverted,
    /// Where the session stands.
    pub head: Head,
    /// What names stand for beside what was taken.
    pub doubts: Vec<Doubt>,
    /// What failed after it was durable.
    pub warning: Option<StoreError>,
}

/// Undoes changes on the session's branch, or its detached HEAD. What is staged stays staged; nothing may be staged for a
/// node that this is about. What conflicts stops it, and the session keeps what is to come.
pub fn revert<D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    request: &RevertRequest,
) -> Result<RevertReport, OpError> {
    let mut log = store.lock_log(session)?;
    let bytes = log.read().map_err(StoreError::from)?;
    let path = log.path().to_owned();
    let snapshot = store.snapshot()?;
    let (commits, doubts) = {
        let view = SessionView::new(&snapshot, session, &path, &bytes)?;
        refuse_in_progress(&view)?;
        let (commits, doubts) = chosen(&view, &request.selections)?;
        // Asked of the snapshot first, so that what is refused leaves the store as it was.
        refuse_first(&view, &commits, request)?;
        forget_no_changes(&mut log, &view)?;
        (commits, doubts)
    };
    let bytes = log.read().map_err(StoreError::from)?;
    let (report, warning) = store.write(snapshot, |tables| -> Result<_, OpError> {
        let view = SessionView::new(tables, session, &path, &bytes)?;
        refuse_in_progress(&view)?;
        let start = resolve(&view, &Revision::head())?.number;
        let mut row = view.next_row();
        drop(view);
        let staged = staged_changes(&path, &bytes, row.consumed)?;
        let mut reverted = Reverted::default();
        let message = request.message.as_ref().map(|message| message.as_str().to_owned());
        match &request.what {
            Reverting::Commits { mainline } => {
                let reverts = Reverts { start, commits: &commits, mainline: *mainline, message };
                run_reverts(tables, session, &mut row, reverts, &staged, &request.signature, &mut reverted)?;
            }
            Reverting::From { provenance, patterns } => {
                let progress = undo(tables, start, &commits, provenance, patterns, message)?;
                let worked = work_out(tables, &row.head, &progress)?;
                refuse_staged(&staged, &worked.join)?;
                let found = conflicts(tables, &row.head, &staged, &worked)?;
                if !found.is_empty() {
                    reverted.stopped = Some(Stop { commit: None, conflicts: found });
                    row.progress = Some(progress);
                } else if !worked.join.is_empty() {
                    let changes = settled_changes(tables, &row.head, &BTreeMap::new(), worked.join)?;
                    let words = request.signature.saying(worked.message);
                    commit_step(tables, session, &mut row, worked.parents, changes, words, "revert")?;
                    reverted.made.extend(head_entry(tables, &row.head)?);
                }
            }
        }
        if reverted.made.is_empty() && reverted.stopped.is_none() {
            return Err(OpError::NothingToCommit);
        }
        // Where nothing was made yet HEAD is where it was, and it may be left so.
        if !reverted.made.is_empty() {
            row.orig_head = Some(start);
        }
        tables.set_session(session, &row)?;
        Ok(RevertReport { reverted, head: row.head, doubts: Vec::new(), warning: None })
    })?;
    Ok(RevertReport { doubts, warning, ..report })
}

/// Refuses where nothing would come of it, and where something is staged for a node that the first commit with a change is
/// about.
fn refuse_first<A: Access>(
    view: &SessionView<'_, A>,
    commits: &[Number],
    request: &RevertRequest,
) -> Result<(), OpError> {
    let (tables, start) = (view.tables, resolve(view, &Revision::head())?.number);
    if commits.is_empty() && !request.selections.is_empty() {
        return Err(OpError::NothingChosen);
    }
    let staged = view.staged.replay().map_err(StoreError::from)?;
    let steps = match &request.what {
        Reverting::Commits { mainline } => {
            for number in commits {
                parent_of(&tables.commit(*number)?, *mainline)?;
            }
            let revert = |&number: &Number| Progress::Revert {
                start,
                reached: start,
                commits: vec![number],
                mainline: *mainline,
                message: None,
            };
            commits.iter().map(revert).collect()
        }
        Reverting::From { provenance, patterns } => vec![undo(tables, start, commits, provenance, patterns, None)?],
    };
    for step in steps {
        let join = work_out(tables, &view.head, &step)?.join;
        if !join.is_empty() {
            return refuse_staged(&staged, &join);
        }
    }
    Err(OpError::NothingToCommit)
}

/// What is begun by taking back what came from somewhere.
fn undo<A: Access>(
    tables: &Tables<A>,
    head: Number,
    commits: &[Number],
    provenance: &Provenance,
    patterns: &[Pattern],
    message: Option<String>,
) -> Result<Progress, StoreError> {
    let filter = NodeFilter { provenance: provenance.clone(), ..NodeFilter::default() };
    let ids = ids_from(tables, head, commits, &filter, patterns)?.into_iter().collect();
    let message = message.unwrap_or_else(|| default_message(provenance));
    Ok(Progress::Undo(Undo { provenance: provenance.clone(), ids, commits: commits.to_vec(), message }))
}

/// The commits that selections name: in the order in which they are named, and where there is a range or an exclusion, all
/// that these admit, the newest first.
fn chosen<A: Access>(
    view: &SessionView<'_, A>,
    selections: &[Selection],
) -> Result<(Vec<Number>, Vec<Doubt>), OpError> {
    let mut single = Vec::new();
    for selection in selections {
        match selection {
            Selection::Of(revision) => single.push(revision),
            Selection::Without(_) | Selection::Between(..) | Selection::Either(..) => {
                let Ends { starts, without, doubts } = resolve_all(view, selections)?;
                let walk = Walk::new(view.tables, starts, without, false);
                let commits = walk.map(|step| Ok(step?.0)).collect::<Result<_, StoreError>>()?;
                return Ok((commits, doubts));
            }
        }
    }
    let resolved = single.into_iter().map(|revision| resolve(view, revision)).collect::<Result<Vec<_>, _>>()?;
    let doubts = resolved.iter().filter_map(|resolved| resolved.doubt.clone()).collect();
    Ok((resolved.into_iter().map(|resolved| resolved.number).collect(), doubts))
}

/// The nodes of which `commits`, or all ancestors of `head` where none is named, wrote a version that came from there.
fn ids_from<A: Access>(
    tables: &Tables<A>,
    head: Number,
    commits: &[Number],
    filter: &NodeFilter,
    patterns: &[Pattern],
) -> Result<BTreeSet<NodeId>, StoreError> {
    let exact: Option<BTreeSet<NodeId>> = patterns.iter().map(|pattern| pattern.exact().cloned()).collect();
    if let Some(ids) = exact.filter(|ids| !ids.is_empty()) {
        return Ok(ids);
    }
    let changes = ChangeFilter { patterns, nodes: filter, text: None, first_parent: false };
    let mut ids = BTreeSet::new();
    let mut look = |number: Number| {
        let commit = tables.commit(number)?;
        let changed = changes.changed(tables, number, &commit)?;
        ids.extend(changed.iter().map(|changed| changed.id().clone()));
        Ok::<_, StoreError>(())
    };
    if commits.is_empty() {
        for step in Walk::new(tables, [head], [], false) {
            look(step?.0)?;
        }
    } else {
        commits.iter().try_for_each(|number| look(*number))?;
    }
    Ok(ids)
}

fn default_message(provenance: &Provenance) -> String {
    format!("revert what came from {}", told_provenance(provenance))
}
