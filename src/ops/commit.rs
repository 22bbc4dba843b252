//! Making what is staged a commit.

use super::joining::refuse_in_progress;
use super::taking::take_staged;
use super::{OpError, StagedReport, StagedState};
use crate::graph::{Entry, RevisionError, Surroundings};
use crate::model::{Author, CommitTime, Message, NodeId, Pattern, SessionName};
use crate::object::{CommitId, Source, decode_kept, diff, encode_kept, get, kept_object_id};
use crate::store::{
    Access, ChangeCount, CommitRecord, CommitWords, Disk, Head, NodeBytes, Number, Reading, SessionView, Store,
    StoreError, Tables, Writing, short_branch,
};
use std::collections::BTreeMap;

/// What is asked for.
#[derive(Clone, Debug)]
pub struct CommitRequest {
    /// Author, time and message.
    pub words: CommitWords,
    /// Whether a commit without changes is wanted too.
    pub allow_empty: bool,
    /// Take only what is staged for such ids, and leave the rest staged; all where there is no pattern.
    pub only: Vec<Pattern>,
    /// Take the staged version of a node that the branch has changed meanwhile.
    pub overwrite: bool,
}

/// The commit that was made.
#[derive(Debug)]
pub struct CommitReport {
    /// The commit.
    pub entry: Entry,
    /// Where the session stands.
    pub head: Head,
    /// The commit whose place it took.
    pub replaced: Option<CommitId>,
    /// What failed after the commit was durable.
    pub warning: Option<StoreError>,
}

/// The changes that a commit would make: node by node on top of HEAD. What another session changed to the same version
/// is no change any more; what it changed otherwise is a conflict, and then nothing is committed.
fn plan<A: Access>(
    view: &SessionView<'_, A>,
    only: &[Pattern],
    overwrite: bool,
) -> Result<BTreeMap<NodeId, Option<NodeBytes>>, OpError> {
    let root = view.tables.root(view.head_commit()?)?;
    let (mut changes, mut conflicts) = (BTreeMap::new(), Vec::new());
    for (id, change) in view.changes()? {
        if !Pattern::choose(only, id.as_str()) {
            continue;
        }
        let old = get(view.tables, root, &id)?.map(|(_, object)| object);
        if old == change.version() {
            continue;
        }
        if change.collides_with(old) && !overwrite {
            conflicts.push(id);
            continue;
        }
        let node = change.node.map(|bytes| checked(&id, bytes)).transpose()?;
        changes.insert(id, node);
    }
    if conflicts.is_empty() { Ok(changes) } else { Err(OpError::Conflict(conflicts)) }
}

/// The bytes of a staged node, if they are that node: what a commit takes in, every later version must be able to read.
fn checked(id: &NodeId, bytes: &[u8]) -> Result<NodeBytes, StoreError> {
    let what = || format!("the staged node '{id}'");
    let kept = decode_kept(bytes).map_err(|error| StoreError::decode(what(), error))?;
    if kept.id() == id { Ok(bytes.to_vec()) } else { Err(StoreError::corrupt(format!("{} is another node", what()))) }
}

fn refuse_nothing(changes: &BTreeMap<NodeId, Option<NodeBytes>>, allow_empty: bool) -> Result<(), OpError> {
    if changes.is_empty() && !allow_empty { Err(OpError::NothingToCommit) } else { Ok(()) }
}

/// Commits what the session has staged, on top of where its branch is by now.
pub fn commit<D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    request: &CommitRequest,
) -> Result<CommitReport, OpError> {
    let CommitRequest { words, allow_empty, only, overwrite } = request;
    let check = |view: &SessionView<'_, Reading>| {
        refuse_in_progress(view)?;
        refuse_nothing(&plan(view, only, *overwrite)?, *allow_empty)
    };
    let chosen = |(): &(), id: &NodeId| Pattern::choose(only, id.as_str());
    let (report, warning) = take_staged(store, session, check, chosen, |tables, taking, ()| {
        let view = taking.view(tables, session)?;
        let changes = plan(&view, only, *overwrite)?;
        refuse_nothing(&changes, *allow_empty)?;
        let row = taking.row(&view);
        let head = row.head.clone();
        drop(view);
        let (number, _) = tables.commit_on_head(session, row, changes, words.clone(), "commit")?;
        report(tables, number, head, None)
    })?;
    Ok(CommitReport { warning, ..report })
}

/// What is asked for of a commit that takes the place of the last one.
#[derive(Clone, Debug)]
pub struct AmendRequest {
    /// Who makes it; who made the last one if that is left out.
    pub author: Option<Author>,
    /// What it says; what the last one says if that is left out.
    pub message: Option<Message>,
    /// When it is made.
    pub time: CommitTime,
    /// As in [`CommitRequest`].
    pub only: Vec<Pattern>,
    /// As in [`CommitRequest`].
    pub overwrite: bool,
}

/// Makes a commit of what the last one changed and what is staged, with the parents of the last one, and moves the branch
/// to it.
pub fn amend<D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    request: &AmendRequest,
) -> Result<CommitReport, OpError> {
    let check = |view: &SessionView<'_, Reading>| {
        refuse_in_progress(view)?;
        refuse_foreign(view)?;
        plan(view, &request.only, request.overwrite).map(drop)
    };
    let chosen = |(): &(), id: &NodeId| Pattern::choose(&request.only, id.as_str());
    let (report, warning) = take_staged(store, session, check, chosen, |tables, taking, ()| {
        let view = taking.view(tables, session)?;
        refuse_foreign(&view)?;
        let staged = plan(&view, &request.only, request.overwrite)?;
        let mut row = taking.row(&view);
        drop(view);
        let (number, last) = last_commit(tables, &row.head)?;
        let parent = tables.root(last.parents.first().copied())?;
        let mut changes = BTreeMap::new();
        diff(tables, parent, last.root.link(), |old, new| {
            let kept = |(number, object)| tables.kept(number, object);
            match (old, new.map(kept).transpose()?) {
                (_, Some(new)) => changes.insert(new.id().clone(), Some(encode_kept(&new))),
                (Some((number, object)), None) => changes.insert(tables.node_id(number, object)?, None),
                (None, None) => None,
            };
            Ok::<_, StoreError>(())
        })?;
        changes.extend(staged);
        let words = CommitWords {
            author: request.author.clone().unwrap_or(last.author),
            time: request.time,
            message: request.message.clone().unwrap_or(last.message),
        };
        let update = tables.update_from(parent, changes)?;
        let (amended, _) = tables.append_commit(last.parents, words, update)?;
        row.orig_head = Some(number);
        tables.advance_head(session, &mut row, amended, request.time, "commit (amend)")?;
        tables.set_session(session, &row)?;
        report(tables, amended, row.head, Some(last.id))
    })?;
    Ok(CommitReport { warning, ..report })
}

/// Refuses unless HEAD is where the session itself has brought it last, by a commit, a reset or a switch: what others have
/// committed on top it has not seen, and of a session that has not moved yet nobody knows what it has seen.
fn refuse_foreign<A: Access>(view: &SessionView<'_, A>) -> Result<(), OpError> {
    let (number, _) = last_commit(view.tables, &view.head)?;
    let own = view.tables.last_update(&view.log_name())?;
    if own.and_then(|(_, update)| update.new) == Some(number) {
        Ok(())
    } else {
        Err(OpError::Foreign { branch: view.head.branch().map(|name| short_branch(name).to_owned()) })
    }
}

/// The commit on which a head stands.
fn last_commit<A: Access>(tables: &Tables<A>, head: &Head) -> Result<(Number, CommitRecord), OpError> {
    let unborn = || RevisionError::Unborn { branch: head.branch().map_or("", short_branch).to_owned() };
    let number = tables.head_commit(head)?.ok_or_else(unborn)?;
    Ok((number, tables.commit(number)?))
}

fn report(
    tables: &Tables<Writing<'_>>,
    number: Number,
    head: Head,
    replaced: Option<CommitId>,
) -> Result<CommitReport, OpError> {
    let commit = tables.commit(number)?;
    let entry = Surroundings::new(tables, &head)?.entry(tables, number, commit, &BTreeMap::new())?;
    Ok(CommitReport { entry, head, replaced, warning: None })
}

/// What a commit would change now, without making it.
pub fn preview<D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    only: &[Pattern],
    allow_empty: bool,
    overwrite: bool,
) -> Result<(Vec<StagedReport>, ChangeCount), OpError> {
    store.read(session, |view| {
        let changes = plan(view, only, overwrite)?;
        refuse_nothing(&changes, allow_empty)?;
        let root = view.tables.root(view.head_commit()?)?;
        let (mut reports, mut count) = (Vec::new(), ChangeCount::default());
        for (id, node) in changes {
            let old = get(view.tables, root, &id)?.map(|(_, object)| object);
            let hash = node.as_deref().map(kept_object_id);
            let state = StagedState::between(old, hash);
            match state {
                StagedState::Added => count.added += 1,
                StagedState::Modified => count.modified += 1,
                StagedState::Removed => count.removed += 1,
                StagedState::Unchanged => {}
            }
            reports.push(StagedReport { id, hash, state });
        }
        Ok((reports, count))
    })
}
