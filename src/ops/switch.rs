//! Letting a session stand elsewhere.

use super::OpError;
use super::joining::refuse_in_progress;
use super::refs::{place_name, refuse_existing, refuse_in_use};
use crate::graph::{Doubt, Reach, Revision, ref_named, resolve};
use crate::model::{BranchName, CommitTime, NodeId, SessionName};
use crate::object::{CommitId, get};
use crate::store::{Access, CommitRecord, Disk, Head, Number, Session, SessionView, Store, StoreError, Tables};
use std::collections::BTreeSet;

/// Where to.
#[derive(Clone, Debug)]
pub enum Target {
    /// A branch that is there; the revision is its name, to tell what it is if it is no branch.
    Branch(BranchName, Revision),
    /// A new branch at a revision; on HEAD where none is named, also before the first commit.
    Create(BranchName, Option<Revision>),
    /// The same, and a branch that is there is moved, unless another session stands on it.
    ForceCreate(BranchName, Option<Revision>),
    /// A commit and no branch.
    Detach(Revision),
    /// Where the session stood before.
    Previous,
}

/// What [`switch`] did.
#[derive(Debug)]
pub struct SwitchReport {
    /// Where the session stood.
    pub from: Head,
    /// Where the session stands.
    pub head: Head,
    /// Its commit; `None` on a branch without one.
    pub commit: Option<CommitRecord>,
    /// Whether it stood there already.
    pub already: bool,
    /// Whether the branch is a new one.
    pub created: bool,
    /// Where a branch was that was moved.
    pub moved: Option<CommitId>,
    /// How many staged changes it takes along that are changes there too.
    pub carried: usize,
    /// How many staged changes are what stands there, and so are staged no longer.
    pub settled: usize,
    /// The commit that it left, where that is in no branch and no tag.
    pub left: Option<CommitId>,
    /// What the name of the revision stands for beside what was taken.
    pub doubt: Option<Doubt>,
    /// What failed after the switch was durable.
    pub warning: Option<StoreError>,
}

struct Plan {
    head: Head,
    commit: Option<Number>,
    /// Whether the branch is to be a new one.
    created: bool,
    /// Whether the ref of the branch is to be made or moved.
    sets: bool,
    /// Where the branch is that is to be moved.
    moved: Option<Number>,
    staged: Staged,
    doubt: Option<Doubt>,
}

/// What is staged, seen from where the session goes.
#[derive(Default)]
struct Staged {
    /// How many changes are changes there too.
    carried: usize,
    /// Those that are what stands there.
    settled: BTreeSet<NodeId>,
}

/// Lets the session stand at `target`, with what it has staged. Where a staged change would hide what stands there, nothing
/// is done. A staged change that is what stands there is none any more, and would hide what others make of it later: it
/// is staged no longer.
pub fn switch<D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    target: &Target,
    time: CommitTime,
) -> Result<SwitchReport, OpError> {
    // Asked of a snapshot first, so that what is refused leaves the store as it was.
    let standing = store.read(session, |view| {
        let plan = plan(store, session, view, target)?;
        if is_known_there(view, &plan)? {
            report(view.tables, &view.head, plan, true, None).map(Some)
        } else {
            Ok(None)
        }
    })?;
    if let Some(report) = standing {
        return Ok(report);
    }
    let mut log = store.lock_log(session)?;
    let bytes = log.read().map_err(StoreError::from)?;
    let path = log.path().to_owned();
    let snapshot = store.snapshot()?;
    let view = SessionView::new(&snapshot, session, &path, &bytes)?;
    let settled = plan(store, session, &view, target)?.staged.settled;
    // What stays staged goes behind the mark before the transaction sets it.
    let staying = if settled.is_empty() { None } else { view.staying(|id| settled.contains(id))? };
    let consumed = match &staying {
        Some(frame) => frame.mark(),
        None if settled.is_empty() => view.next_row().consumed,
        None => view.staged.last(),
    };
    if let Some(frame) = &staying {
        log.append(frame).map_err(StoreError::from)?;
    }
    let (report, warning) = store.write(snapshot, |tables| -> Result<_, OpError> {
        let view = SessionView::new(tables, session, &path, &bytes)?;
        let plan = plan(store, session, &view, target)?;
        if plan.staged.settled != settled {
            return Err(OpError::Moved);
        }
        let mut row = Session { consumed, ..view.next_row() };
        let (from, old) = (row.head.clone(), view.head_commit()?);
        drop(view);
        let already = from == plan.head && old == plan.commit;
        let reason = format!("switch: from {} to {}", place_name(tables, &from)?, place_name(tables, &plan.head)?);
        match (&plan.head, plan.commit) {
            (head, Some(number)) if *head == from && !already => {
                row.orig_head = old;
                tables.advance_head(session, &mut row, number, time, &reason)?;
                tables.set_session(session, &row)?;
            }
            (head, commit) if *head == from => {
                if commit.is_some() {
                    tables.log_stand(session, &row, time, &reason)?;
                }
                tables.set_session(session, &row)?;
            }
            (head, commit) => {
                if let (Head::Branch(name), Some(number), true) = (head, commit, plan.sets) {
                    let did = if plan.moved.is_some() { "moved to" } else { "created from" };
                    tables.set_reference(name, number, time, &format!("branch: {did} {}", target.origin()))?;
                }
                tables.switch_head(session, &mut row, head.clone(), time, &reason)?;
            }
        }
        let left = left(tables, &from, plan.commit)?;
        report(tables, &from, plan, already, left)
    })?;
    // Not synced: numbers that are consumed never count.
    let is_empty = !settled.is_empty() && staying.is_none();
    let truncated = if is_empty { log.truncate().err().map(StoreError::from) } else { None };
    Ok(SwitchReport { warning: warning.or(truncated), ..report })
}

impl Target {
    /// What the log of a branch says of where it was put.
    fn origin(&self) -> String {
        match self {
            Self::Create(_, Some(revision)) | Self::ForceCreate(_, Some(revision)) => revision.to_string(),
            Self::Create(..) | Self::ForceCreate(..) | Self::Branch(..) | Self::Detach(_) | Self::Previous => {
                "HEAD".to_owned()
            }
        }
    }
}

/// Whether the session stands there by a row of its own, and its log says that it has seen the commit.
fn is_known_there<A: Access>(view: &SessionView<'_, A>, plan: &Plan) -> Result<bool, StoreError> {
    if view.row.is_none() || plan.head != view.head || plan.commit != view.head_commit()? {
        return Ok(false);
    }
    let last = view.tables.last_update(&view.log_name())?.and_then(|(_, update)| update.new);
    Ok(plan.commit.is_none() || last == plan.commit)
}

fn report<A: Access>(
    tables: &Tables<A>,
    from: &Head,
    plan: Plan,
    already: bool,
    left: Option<CommitId>,
) -> Result<SwitchReport, OpError> {
    let Plan { head, commit, created, moved, staged, doubt, .. } = plan;
    let commit = commit.map(|number| tables.commit(number)).transpose()?;
    let moved = moved.map(|number| tables.commit_id(number)).transpose()?;
    let (from, carried, settled) = (from.clone(), staged.carried, staged.settled.len());
    Ok(SwitchReport { from, head, commit, already, created, moved, carried, settled, left, doubt, warning: None })
}

fn plan<D: Disk, A: Access>(
    store: &Store<D>,
    session: &SessionName,
    view: &SessionView<'_, A>,
    target: &Target,
) -> Result<Plan, OpError> {
    refuse_in_progress(view)?;
    let tables = view.tables;
    let head = view.head.clone();
    let mut plan =
        Plan { head, commit: None, created: false, sets: false, moved: None, staged: Staged::default(), doubt: None };
    let mut resolved = |revision: &Revision| -> Result<Number, OpError> {
        let resolved = resolve(view, revision)?;
        plan.doubt = resolved.doubt;
        Ok(resolved.number)
    };
    match target {
        Target::Branch(name, revision) => {
            plan.head = Head::Branch(name.ref_name());
            plan.commit = tables.reference(&name.ref_name())?;
            if plan.commit.is_none() && plan.head != view.head {
                return Err(no_branch(view, name, revision)?);
            }
        }
        Target::Create(name, revision) | Target::ForceCreate(name, revision) => {
            let number = match revision {
                Some(revision) => Some(resolved(revision)?),
                None => view.head_commit()?,
            };
            let name = name.ref_name();
            let old = tables.reference(&name)?;
            if number.is_none() || matches!(target, Target::Create(..)) {
                refuse_existing(tables, &name)?;
            }
            plan.created = old.is_none();
            plan.sets = number.is_some() && number != old;
            if plan.sets {
                refuse_in_use(store, tables, &name, Some(session))?;
                plan.moved = old;
            }
            plan.head = Head::Branch(name);
            plan.commit = number;
        }
        Target::Detach(revision) => {
            let number = resolved(revision)?;
            plan.head = Head::Detached(number);
            plan.commit = Some(number);
        }
        Target::Previous => {
            plan.head = view.row.as_ref().and_then(|row| row.previous.clone()).ok_or(OpError::NoPrevious)?;
            plan.commit = tables.head_commit(&plan.head)?;
            if let (Head::Branch(name), None) = (&plan.head, plan.commit) {
                super::refs::existing(tables, name)?;
            }
        }
    }
    if plan.head != view.head || plan.commit != view.head_commit()? {
        plan.staged = staged_there(view, plan.commit)?;
    }
    Ok(plan)
}

/// What a name that is no branch is else, or that there is nothing of this name.
fn no_branch<A: Access>(view: &SessionView<'_, A>, name: &BranchName, revision: &Revision) -> Result<OpError, OpError> {
    resolve(view, revision)?;
    let full = ref_named(view, revision)?;
    Ok(match full.as_deref().and_then(|full| full.strip_prefix("refs/heads/")) {
        Some(branch) => OpError::LongName { given: name.to_string(), branch: branch.to_owned() },
        None => OpError::NoBranch(name.to_string()),
    })
}

/// What is staged, seen from `target`. A change collides where that has for its id neither what the change replaced nor
/// what it sets.
fn staged_there<A: Access>(view: &SessionView<'_, A>, target: Option<Number>) -> Result<Staged, OpError> {
    let root = view.tables.root(target)?;
    let stays = target == view.head_commit()?;
    let (mut staged, mut collisions) = (Staged::default(), Vec::new());
    for (id, change) in view.changes()? {
        let there = get(view.tables, root, &id)?.map(|(_, object)| object);
        if there == change.version() {
            staged.settled.insert(id);
            continue;
        }
        staged.carried += 1;
        // What stands for a conflict where the session is does so still.
        if change.collides_with(there) && !stays {
            collisions.push(id);
        }
    }
    if collisions.is_empty() { Ok(staged) } else { Err(OpError::WouldOverwrite(collisions)) }
}

/// The commit of a detached HEAD that no ref and not the new HEAD has among its ancestors.
fn left<A: Access>(tables: &Tables<A>, from: &Head, to: Option<Number>) -> Result<Option<CommitId>, StoreError> {
    let Head::Detached(number) = from else { return Ok(None) };
    let commit = tables.commit(*number)?;
    let kept = tables.references("refs/")?.into_iter().map(|(_, number)| number).chain(to);
    let places = kept.map(|number| Ok(tables.commit(number)?.place)).collect::<Result<Vec<_>, StoreError>>()?;
    Ok(if Reach::of(places).contains(tables, commit.place)? { None } else { Some(commit.id) })
}
