//! Bringing the changes of another branch into this one.

use super::joining::{
    Worked, commit_step, conflicts, forget_no_changes, head_entry, is_ancestor, refuse_in_progress, refuse_staged,
    settled_changes, work_out,
};
use super::{ConflictReport, OpError, Signature, StagedReport, StagedState};
use crate::graph::{Doubt, Entry, Revision, RevisionError, changed, merge_bases, ref_named, resolve};
use crate::model::{Message, NodeId, SessionName};
use crate::object::{CommitId, Kept, get};
use crate::store::{
    Access, Disk, Head, Number, Progress, SessionView, Store, StoreError, Tables, short_branch, short_tag,
};
use std::collections::BTreeMap;

/// What is done where HEAD is an ancestor of the other commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FastForward {
    /// HEAD moves to it.
    Allowed,
    /// HEAD moves to it, and where it is no ancestor nothing is done.
    Only,
    /// A commit with two parents is made all the same.
    Never,
}

/// What is asked for.
#[derive(Clone, Debug)]
pub struct MergeRequest {
    /// The other commit.
    pub revision: Revision,
    /// Whether HEAD may just move.
    pub fast_forward: FastForward,
    /// Whether histories without a common commit are merged too, as if they had begun with the empty memory.
    pub unrelated: bool,
    /// What the commit is to say; which branches are merged if that is left out.
    pub message: Option<Message>,
    /// Who merges.
    pub signature: Signature,
}

/// How a merge ended.
#[derive(Clone, Debug)]
pub enum MergeOutcome {
    /// HEAD had it all.
    UpToDate,
    /// HEAD moved to the other commit.
    FastForward,
    /// A commit was made.
    Merged,
    /// Nothing is done until these are settled.
    Stopped(Vec<ConflictReport>),
}

/// What [`merge`] did.
#[derive(Debug)]
pub struct MergeReport {
    /// How it ended.
    pub outcome: MergeOutcome,
    /// The commit on which the session stands now; `None` where it stopped before the first commit.
    pub entry: Option<Entry>,
    /// Where the session stands.
    pub head: Head,
    /// The commit on which it stood.
    pub left: Option<CommitId>,
    /// How many changes are staged that the merge is not about.
    pub staged: usize,
    /// What the name of the revision stands for beside what was taken.
    pub doubt: Option<Doubt>,
    /// What failed after the merge was durable.
    pub warning: Option<StoreError>,
}

/// What a merge would come to.
#[derive(Debug)]
pub struct MergeTrial {
    /// How it would end.
    pub outcome: MergeOutcome,
    /// What it would change in HEAD, conflicts apart.
    pub changes: Vec<StagedReport>,
    /// What the name of the revision stands for beside what was taken.
    pub doubt: Option<Doubt>,
}

/// What is to be done, as far as it follows from where both commits are.
struct Plan {
    theirs: Number,
    /// Where HEAD is.
    head: Option<Number>,
    way: Way,
    doubt: Option<Doubt>,
}

enum Way {
    UpToDate,
    FastForward,
    Join(Box<Joining>),
}

struct Joining {
    progress: Progress,
    worked: Worked,
    conflicts: Vec<ConflictReport>,
}

impl Plan {
    fn of<A: Access>(view: &SessionView<'_, A>, request: &MergeRequest) -> Result<Self, OpError> {
        refuse_in_progress(view)?;
        let resolved = resolve(view, &request.revision)?;
        let (theirs, head) = (resolved.number, view.head_commit()?);
        let plan = Self { theirs, head, way: way(view, theirs, head, request)?, doubt: resolved.doubt };
        plan.refuse_staged(view)?;
        Ok(plan)
    }

    /// The same, or another where one of the commits is elsewhere by now.
    fn again<A: Access>(self, view: &SessionView<'_, A>, request: &MergeRequest) -> Result<Self, OpError> {
        refuse_in_progress(view)?;
        let stands = view.head_commit()? == self.head && resolve(view, &request.revision)?.number == self.theirs;
        if !stands {
            return Self::of(view, request);
        }
        self.refuse_staged(view)?;
        Ok(self)
    }

    /// Refuses where a staged change would hide what is to come for its node.
    fn refuse_staged<A: Access>(&self, view: &SessionView<'_, A>) -> Result<(), OpError> {
        match &self.way {
            Way::UpToDate => Ok(()),
            Way::FastForward => refuse_hidden(view, self.theirs),
            Way::Join(joining) => refuse_staged(&view.staged.replay().map_err(StoreError::from)?, &joining.worked.join),
        }
    }
}

/// Which way the merge of `theirs` into `head` goes.
fn way<A: Access>(
    view: &SessionView<'_, A>,
    theirs: Number,
    head: Option<Number>,
    request: &MergeRequest,
) -> Result<Way, OpError> {
    let (tables, revision) = (view.tables, &request.revision);
    let Some(head) = head else { return Ok(Way::FastForward) };
    if is_ancestor(tables, theirs, head)? {
        return Ok(Way::UpToDate);
    }
    let moves = is_ancestor(tables, head, theirs)?;
    match request.fast_forward {
        FastForward::Allowed | FastForward::Only if moves => return Ok(Way::FastForward),
        FastForward::Only => return Err(OpError::NotFastForward(revision.to_string())),
        FastForward::Allowed | FastForward::Never => {}
    }
    if !request.unrelated && merge_bases(tables, head, theirs)?.is_empty() {
        return Err(RevisionError::Unrelated { one: "HEAD".to_owned(), other: revision.to_string() }.into());
    }
    let message = request.message.as_ref().map(|message| message.as_str().to_owned());
    let progress = Progress::Merge { theirs, name: name(view, theirs, revision)?, message };
    let worked = work_out(tables, &view.head, &progress)?;
    let conflicts = conflicts(tables, &view.head, &BTreeMap::new(), &worked)?;
    Ok(Way::Join(Box::new(Joining { progress, worked, conflicts })))
}

/// How the other side is called: by its branch or tag, or by a short id.
fn name<A: Access>(view: &SessionView<'_, A>, number: Number, revision: &Revision) -> Result<String, OpError> {
    let named = ref_named(view, revision)?.filter(|name| name != "HEAD");
    Ok(match named {
        Some(name) => short_tag(&name).unwrap_or(short_branch(&name)).to_owned(),
        None => view.tables.commit_id(number)?.to_string()[..10].to_owned(),
    })
}

/// Refuses where a staged change would hide what the other commit has for its id.
fn refuse_hidden<A: Access>(view: &SessionView<'_, A>, theirs: Number) -> Result<(), OpError> {
    let root = view.tables.root(Some(theirs))?;
    let mut hidden = Vec::new();
    for (id, change) in view.changes()? {
        if change.collides_with(get(view.tables, root, &id)?.map(|(_, object)| object)) {
            hidden.push(id);
        }
    }
    if hidden.is_empty() { Ok(()) } else { Err(OpError::WouldOverwrite(hidden)) }
}

/// Merges a commit into the session's branch, or its detached HEAD.
///
/// Where both have changed a node and the changes don't go together, nothing is changed: the session keeps that it merges,
/// until the conflicts are settled or it is left. What is staged stays staged; nothing may be staged for a node that the
/// merge is about.
pub fn merge<D: Disk>(store: &Store<D>, session: &SessionName, request: &MergeRequest) -> Result<MergeReport, OpError> {
    // Asked of a snapshot first, so that what is refused or done leaves the store as it was.
    let (plan, done) = store.read(session, |view| {
        let plan = Plan::of(view, request)?;
        let left = plan.head.map(|number| view.tables.commit_id(number)).transpose()?;
        let (staged, doubt) = (view.changes()?.len(), plan.doubt.clone());
        let done = match &plan.way {
            Way::UpToDate => Some(report(view.tables, &view.head, MergeOutcome::UpToDate, left, staged, doubt)?),
            Way::FastForward | Way::Join(_) => None,
        };
        Ok::<_, OpError>((plan, done))
    })?;
    if let Some(report) = done {
        return Ok(report);
    }
    let mut log = store.lock_log(session)?;
    let bytes = log.read().map_err(StoreError::from)?;
    let path = log.path().to_owned();
    let snapshot = store.snapshot()?;
    forget_no_changes(&mut log, &SessionView::new(&snapshot, session, &path, &bytes)?)?;
    let (report, warning) = store.write(snapshot, |tables| -> Result<_, OpError> {
        let view = SessionView::new(tables, session, &path, &bytes)?;
        let Plan { theirs, head, way, doubt } = plan.again(&view, request)?;
        let staged = view.changes()?.len();
        let left = head.map(|number| tables.commit_id(number)).transpose()?;
        let name = name(&view, theirs, &request.revision)?;
        let mut row = view.next_row();
        drop(view);
        let old_head = row.orig_head;
        row.orig_head = head.or(old_head);
        let outcome = match way {
            Way::UpToDate => return report(tables, &row.head, MergeOutcome::UpToDate, left, staged, doubt),
            Way::FastForward => {
                let reason = format!("merge {name}: fast-forward");
                tables.advance_head(session, &mut row, theirs, request.signature.time, &reason)?;
                MergeOutcome::FastForward
            }
            Way::Join(joining) if joining.conflicts.is_empty() => {
                let Worked { join, parents, message, .. } = joining.worked;
                let changes = settled_changes(tables, &row.head, &BTreeMap::new(), join)?;
                let words = request.signature.saying(message);
                commit_step(tables, session, &mut row, parents, changes, words, &format!("merge {name}"))?;
                MergeOutcome::Merged
            }
            Way::Join(joining) => {
                row.orig_head = old_head;
                row.progress = Some(joining.progress);
                MergeOutcome::Stopped(joining.conflicts)
            }
        };
        tables.set_session(session, &row)?;
        report(tables, &row.head, outcome, left, staged, doubt)
    })?;
    Ok(MergeReport { warning, ..report })
}

fn report<A: Access>(
    tables: &Tables<A>,
    head: &Head,
    outcome: MergeOutcome,
    left: Option<CommitId>,
    staged: usize,
    doubt: Option<Doubt>,
) -> Result<MergeReport, OpError> {
    let entry = head_entry(tables, head)?;
    Ok(MergeReport { outcome, entry, head: head.clone(), left, staged, doubt, warning: None })
}

/// What [`merge`] would do, without doing it.
pub fn try_merge<D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    request: &MergeRequest,
) -> Result<MergeTrial, OpError> {
    store.read(session, |view| {
        let Plan { theirs, head, way, doubt } = Plan::of(view, request)?;
        let tables = view.tables;
        let root = tables.root(head)?;
        let mut changes = Vec::new();
        let mut change = |id: &NodeId, node: Option<&Kept>, state| {
            let hash = node.map(Kept::object_id);
            changes.push(StagedReport { id: id.clone(), hash, state });
        };
        let outcome = match way {
            Way::UpToDate => MergeOutcome::UpToDate,
            Way::FastForward => {
                for changed in changed(tables, root, tables.root(Some(theirs))?, &[])? {
                    change(changed.id(), changed.new.as_ref(), changed.effect().into());
                }
                MergeOutcome::FastForward
            }
            Way::Join(joining) => {
                let Joining { worked, conflicts, .. } = *joining;
                for (id, node) in &worked.join.changes {
                    let state = match (get(tables, root, id)?, node) {
                        (None, _) => StagedState::Added,
                        (Some(_), None) => StagedState::Removed,
                        (Some(_), Some(_)) => StagedState::Modified,
                    };
                    change(id, node.as_ref(), state);
                }
                if conflicts.is_empty() { MergeOutcome::Merged } else { MergeOutcome::Stopped(conflicts) }
            }
        };
        Ok(MergeTrial { outcome, changes, doubt })
    })
}
