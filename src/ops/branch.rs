//! Branches: their list, and what creates, moves, renames and deletes them.

use super::OpError;
use super::refs::{RefChange, RefsReport, existing, refuse_existing, refuse_in_use, sessions_by_branch, sessions_on};
use crate::graph::{Doubt, Reach, Resolved, Revision, resolve};
use crate::model::{BranchName, CommitTime, Pattern, SessionName};
use crate::object::CommitId;
use crate::store::{Access, Disk, Head, Number, Session, SessionView, Store, StoreError, Tables, short_branch};
use std::collections::BTreeMap;

const BRANCHES: &str = "refs/heads/";

/// A branch as it is listed.
#[derive(Clone, Debug)]
pub struct Branch {
    /// Its short name.
    pub name: String,
    /// Its tip.
    pub commit: CommitId,
    /// When the tip was made.
    pub time: CommitTime,
    /// The first line of what the tip says.
    pub subject: String,
    /// Whether the session stands on it.
    pub is_current: bool,
    /// The other sessions that stand on it, in the order of their names.
    pub sessions: Vec<SessionName>,
}

/// What [`branches`] found.
#[derive(Clone, Debug)]
pub struct BranchesReport {
    /// Where the session stands.
    pub head: Head,
    /// Its commit; `None` on a branch without one.
    pub commit: Option<CommitId>,
    /// The branches, in the order of their names.
    pub branches: Vec<Branch>,
    /// What the name of the revision stands for beside what was taken.
    pub doubt: Option<Doubt>,
}

/// The branches whose names one of `patterns` chooses, all where there is none; only those whose tip has the commit of
/// `contains` among its ancestors.
pub fn branches<D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    contains: Option<&Revision>,
    patterns: &[Pattern],
) -> Result<BranchesReport, OpError> {
    let (report, _) = store.look(|tables| {
        let view = SessionView::standing(tables, session, store.standing(tables, session)?)?;
        let wanted = contains.map(|revision| resolve(&view, revision)).transpose()?;
        let head = view.head;
        let place = wanted.as_ref().map(|wanted| tables.commit(wanted.number)).transpose()?.map(|commit| commit.place);
        let mut others = sessions_by_branch(store, tables, session)?;
        let mut branches = Vec::new();
        for (name, number) in tables.references(BRANCHES)? {
            if !Pattern::choose(patterns, short_branch(&name)) {
                continue;
            }
            let commit = tables.commit(number)?;
            if let Some(place) = place
                && !Reach::of([commit.place]).contains(tables, place)?
            {
                continue;
            }
            branches.push(Branch {
                name: short_branch(&name).to_owned(),
                commit: commit.id,
                time: commit.time,
                subject: commit.message.subject().to_owned(),
                is_current: head.branch() == Some(&name),
                sessions: others.remove(&name).unwrap_or_default(),
            });
        }
        let commit = tables.head_commit(&head)?.map(|number| tables.commit_id(number)).transpose()?;
        Ok::<_, OpError>(BranchesReport { head, commit, branches, doubt: wanted.and_then(|it| it.doubt) })
    })?;
    Ok(report)
}

/// The short name of the branch on which the session stood before it last switched: `@{-1}`.
pub fn previous_branch<D: Disk>(store: &Store<D>, session: &SessionName) -> Result<String, OpError> {
    store.read(session, |view| match view.row.as_ref().and_then(|row| row.previous.as_ref()) {
        Some(Head::Branch(name)) => Ok(short_branch(name).to_owned()),
        Some(Head::Detached(_)) => Err(OpError::NoBranch("@{-1}".to_owned())),
        None => Err(OpError::NoPrevious),
    })
}

/// Creates a branch at a revision. With `force` one that is there is moved, unless a session stands on it.
pub fn create_branch<D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    name: &BranchName,
    revision: &Revision,
    force: bool,
    time: CommitTime,
) -> Result<RefsReport, OpError> {
    let name = name.ref_name();
    let ((change, resolved), snapshot) =
        store.look(|tables| creation(store, tables, session, &name, revision, force).map(|(_, plan)| plan))?;
    if change.old == change.new {
        return Ok(RefsReport { changes: vec![change], doubt: resolved.doubt, warning: None });
    }
    let (change, warning) = store.write(snapshot, |tables| {
        let (number, (change, _)) = creation(store, tables, session, &name, revision, force)?;
        let did = if change.old.is_some() { "moved to" } else { "created from" };
        tables.set_reference(&name, number, time, &format!("branch: {did} {revision}"))?;
        Ok::<_, OpError>(change)
    })?;
    Ok(RefsReport { changes: vec![change], doubt: resolved.doubt, warning })
}

fn creation<D: Disk, A: Access>(
    store: &Store<D>,
    tables: &Tables<A>,
    session: &SessionName,
    name: &str,
    revision: &Revision,
    force: bool,
) -> Result<(Number, (RefChange, Resolved)), OpError> {
    if !force {
        refuse_existing(tables, name)?;
    }
    let resolved = resolve(&SessionView::standing(tables, session, store.standing(tables, session)?)?, revision)?;
    let old = tables.reference(name)?;
    if old != Some(resolved.number) {
        refuse_in_use(store, tables, name, None)?;
    }
    let id = |number| tables.commit_id(number);
    let change = RefChange { name: name.to_owned(), old: old.map(id).transpose()?, new: Some(id(resolved.number)?) };
    Ok((resolved.number, (change, resolved)))
}

/// Deletes branches, all or none. None may have a session on it; unless `force` says so, each tip must be an ancestor of
/// HEAD or of a branch that stays.
pub fn delete_branches<D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    names: &[BranchName],
    force: bool,
    time: CommitTime,
) -> Result<RefsReport, OpError> {
    let mut names: Vec<_> = names.iter().map(BranchName::ref_name).collect();
    names.sort();
    names.dedup();
    let ((), snapshot) = store.look(|tables| deletion(store, tables, session, &names, force).map(drop))?;
    let (changes, warning) = store.write(snapshot, |tables| {
        let changes = deletion(store, tables, session, &names, force)?;
        for name in &names {
            tables.remove_reference(name, time, "branch: deleted")?;
        }
        Ok::<_, OpError>(changes)
    })?;
    Ok(RefsReport { changes, doubt: None, warning })
}

fn deletion<D: Disk, A: Access>(
    store: &Store<D>,
    tables: &Tables<A>,
    session: &SessionName,
    names: &[String],
    force: bool,
) -> Result<Vec<RefChange>, OpError> {
    let mut tips = Vec::new();
    for name in names {
        let number = existing(tables, name)?;
        refuse_in_use(store, tables, name, None)?;
        tips.push(tables.commit(number)?);
    }
    if !force {
        let head = tables.head_commit(&store.standing(tables, session)?.head)?;
        let staying = tables.references(BRANCHES)?.into_iter().filter(|(name, _)| !names.contains(name));
        let staying = staying.map(|(_, number)| number).chain(head).map(|number| Ok(tables.commit(number)?.place));
        let mut reach = Reach::of(staying.collect::<Result<Vec<_>, StoreError>>()?);
        let mut lost = Vec::new();
        for (name, tip) in names.iter().zip(&tips) {
            if !reach.contains(tables, tip.place)? {
                lost.push(short_branch(name).to_owned());
            }
        }
        if !lost.is_empty() {
            return Err(OpError::NotMerged(lost));
        }
    }
    let change = |(name, tip): (&String, _)| RefChange { name: name.clone(), old: Some(tip), new: None };
    Ok(names.iter().zip(tips.into_iter().map(|tip| tip.id)).map(change).collect())
}

/// Renames a branch, that of the session where none is named. The sessions that stand on it follow. With `force` it takes
/// the place of a branch that has the new name, unless a session stands on that. A branch that has no commit yet has no
/// ref, so no change is told of it, and it takes no place.
pub fn rename_branch<D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    old: Option<&BranchName>,
    new: &BranchName,
    force: bool,
    time: CommitTime,
) -> Result<(String, RefsReport), OpError> {
    let old = old.map(BranchName::ref_name);
    let new = new.ref_name();
    let (seen, snapshot) = store.look(|tables| renaming(store, tables, session, old.as_deref(), &new, force))?;
    if seen.old == new {
        let report = RefsReport { changes: Vec::new(), doubt: None, warning: None };
        return Ok((short_branch(&new).to_owned(), report));
    }
    let ((from, changes), warning) = store.write(snapshot, |tables| {
        let renaming = renaming(store, tables, session, old.as_deref(), &new, force)?;
        let Renaming { old, number, replaced, sessions } = renaming;
        let mut changes = Vec::new();
        if let Some(number) = number {
            let reason = format!("branch: renamed {} to {}", short_branch(&old), short_branch(&new));
            tables.set_reference(&new, number, time, &reason)?;
            tables.remove_reference(&old, time, &reason)?;
            let id = Some(tables.commit_id(number)?);
            changes.push(RefChange { name: old.clone(), old: id, new: None });
            let replaced = replaced.map(|number| tables.commit_id(number)).transpose()?;
            changes.push(RefChange { name: new.clone(), old: replaced, new: id });
        }
        for (name, session) in &sessions {
            tables.set_session(name, session)?;
        }
        Ok::<_, OpError>((short_branch(&old).to_owned(), changes))
    })?;
    Ok((from, RefsReport { changes, doubt: None, warning }))
}

struct Renaming {
    old: String,
    number: Option<Number>,
    /// The commit of the branch whose place it takes.
    replaced: Option<Number>,
    /// The rows of those that stand, or stood before, on the branch.
    sessions: BTreeMap<SessionName, Session>,
}

fn renaming<D: Disk, A: Access>(
    store: &Store<D>,
    tables: &Tables<A>,
    session: &SessionName,
    old: Option<&str>,
    new: &str,
    force: bool,
) -> Result<Renaming, OpError> {
    let old = match (old, store.standing(tables, session)?.head) {
        (Some(old), _) => old.to_owned(),
        (None, Head::Branch(own)) => own,
        (None, Head::Detached(_)) => return Err(OpError::OnNoBranch),
    };
    let is_unborn = tables.reference(&old)?.is_none() && !sessions_on(store, tables, &old, None)?.is_empty();
    let number = if is_unborn { None } else { Some(existing(tables, &old)?) };
    if !force || is_unborn {
        refuse_existing(tables, new)?;
    }
    if old != new {
        refuse_in_use(store, tables, new, None)?;
    }
    let replaced = tables.reference(new)?;
    let mut sessions = store.standings(tables)?;
    sessions.retain(|_, row| {
        let mut follows = false;
        for head in [Some(&mut row.head), row.previous.as_mut()].into_iter().flatten() {
            if matches!(head, Head::Branch(name) if *name == old) {
                *head = Head::Branch(new.to_owned());
                follows = true;
            }
        }
        follows
    });
    Ok(Renaming { old, number, replaced, sessions })
}
