//! Letting a session stand elsewhere.

use super::OpError;
use super::joining::refuse_in_progress;
use super::refs::{place_name, refuse_existing, refuse_in_use};
use crate::graph::{Doubt, Reach, Revision, resolve};
use crate::model::{BranchName, CommitTime, SessionName};
use crate::object::{CommitId, get};
use crate::store::{Access, CommitRecord, Disk, Head, Number, SessionView, Store, StoreError, Tables};

/// Where to.
#[derive(Clone, Debug)]
pub enum Target {
    /// A branch that is there; the revision is its name, to tell what it is if it is no branch.
    Branch(BranchName, Revision),
    /// A new branch at a revision; on HEAD where none is named, also before the first commit.
    Create(BranchName, Option<Revision>),
    /// A commit and no branch.
    Detach(Revision),
    /// Where the session stood before.
    Previous,
}

/// What [`switch`] did.
#[derive(Debug)]
pub struct SwitchReport {
    /// Where the session stands.
    pub head: Head,
    /// Its commit; `None` on a branch without one.
    pub commit: Option<CommitRecord>,
    /// Whether it stood there already.
    pub already: bool,
    /// How many staged changes it takes along that are changes there too.
    pub carried: usize,
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
    /// Whether the ref of the branch is to be made.
    creates: bool,
    carried: usize,
    doubt: Option<Doubt>,
}

/// Lets the session stand at `target`, with what it has staged. Where a staged change would hide what stands there, nothing
/// is done.
pub fn switch<D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    target: &Target,
    time: CommitTime,
) -> Result<SwitchReport, OpError> {
    // Asked of a snapshot first, so that what is refused leaves the store as it was.
    let standing = store.read(session, |view| {
        let plan = plan(store, session, view, target)?;
        let stands = view.row.is_some() && plan.head == view.head;
        if stands { report(view.tables, plan, true, None).map(Some) } else { Ok(None) }
    })?;
    if let Some(report) = standing {
        return Ok(report);
    }
    let mut log = store.lock_log(session)?;
    let bytes = log.read().map_err(StoreError::from)?;
    let path = log.path().to_owned();
    let snapshot = store.snapshot()?;
    let (report, warning) = store.write(snapshot, |tables| -> Result<_, OpError> {
        let view = SessionView::new(tables, session, &path, &bytes)?;
        let plan = plan(store, session, &view, target)?;
        let mut row = view.next_row();
        drop(view);
        if let (Head::Branch(name), Some(number), true) = (&plan.head, plan.commit, plan.creates) {
            let from =
                if let Target::Create(_, Some(revision)) = target { revision.to_string() } else { "HEAD".into() };
            tables.set_reference(name, number, time, &format!("branch: created from {from}"))?;
        }
        let from = row.head.clone();
        let already = from == plan.head;
        if already {
            tables.set_session(session, &row)?;
        } else {
            let reason = format!("switch: from {} to {}", place_name(tables, &from)?, place_name(tables, &plan.head)?);
            tables.switch_head(session, &mut row, plan.head.clone(), time, &reason)?;
        }
        let left = left(tables, &from, plan.commit)?;
        report(tables, plan, already, left)
    })?;
    Ok(SwitchReport { warning, ..report })
}

fn report<A: Access>(
    tables: &Tables<A>,
    plan: Plan,
    already: bool,
    left: Option<CommitId>,
) -> Result<SwitchReport, OpError> {
    let Plan { head, commit, carried, doubt, .. } = plan;
    let commit = commit.map(|number| tables.commit(number)).transpose()?;
    Ok(SwitchReport { head, commit, already, carried, left, doubt, warning: None })
}

fn plan<D: Disk, A: Access>(
    store: &Store<D>,
    session: &SessionName,
    view: &SessionView<'_, A>,
    target: &Target,
) -> Result<Plan, OpError> {
    refuse_in_progress(view)?;
    let tables = view.tables;
    let mut plan = Plan { head: view.head.clone(), commit: None, creates: false, carried: 0, doubt: None };
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
                // What it is else, or that there is nothing of this name.
                resolve(view, revision)?;
                return Err(OpError::NoBranch(name.to_string()));
            }
        }
        Target::Create(name, revision) => {
            let number = match revision {
                Some(revision) => Some(resolved(revision)?),
                None => view.head_commit()?,
            };
            plan.head = Head::Branch(name.ref_name());
            plan.commit = number;
            plan.creates = number.is_some();
            refuse_existing(tables, &name.ref_name())?;
            if plan.creates {
                refuse_in_use(store, tables, &name.ref_name(), Some(session))?;
            }
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
    plan.carried = carried(view, plan.commit)?;
    Ok(plan)
}

/// How many staged changes are changes of `target` too. One collides where that has for its id neither what the change
/// replaced nor what it sets.
fn carried<A: Access>(view: &SessionView<'_, A>, target: Option<Number>) -> Result<usize, OpError> {
    let root = view.tables.root(target)?;
    let stays = target == view.head_commit()?;
    let (mut carried, mut collisions) = (0, Vec::new());
    for (id, change) in view.changes()? {
        let there = get(view.tables, root, &id)?.map(|(_, object)| object);
        if there == change.version() {
            continue;
        }
        carried += 1;
        // What stands for a conflict where the session is does so still.
        if change.collides_with(there) && !stays {
            collisions.push(id);
        }
    }
    if collisions.is_empty() { Ok(carried) } else { Err(OpError::WouldOverwrite(collisions)) }
}

/// The commit of a detached HEAD that no ref and not the new HEAD has among its ancestors.
fn left<A: Access>(tables: &Tables<A>, from: &Head, to: Option<Number>) -> Result<Option<CommitId>, StoreError> {
    let Head::Detached(number) = from else { return Ok(None) };
    let commit = tables.commit(*number)?;
    let kept = tables.references("refs/")?.into_iter().map(|(_, number)| number).chain(to);
    let places = kept.map(|number| Ok(tables.commit(number)?.place)).collect::<Result<Vec<_>, StoreError>>()?;
    Ok(if Reach::of(places).contains(tables, commit.place)? { None } else { Some(commit.id) })
}
