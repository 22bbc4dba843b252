//! Making what is staged a commit.

use super::{OpError, StagedReport, StagedState};
use crate::graph::{Entry, Surroundings};
use crate::model::{NodeId, Pattern, SessionName};
use crate::object::{decode_node, get, node_object_id};
use crate::store::{Access, ChangeCount, CommitWords, Disk, Head, NewFrame, NodeBytes, SessionView, Store, StoreError};
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
        if !is_chosen(&id, only) {
            continue;
        }
        let old = get(view.tables, root, &id)?.map(|(_, object)| object);
        if old == change.version() {
            continue;
        }
        if old != change.base && !overwrite {
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
    let node = decode_node(bytes).map_err(|error| StoreError::decode(what(), error))?;
    if node.id == *id { Ok(bytes.to_vec()) } else { Err(StoreError::corrupt(format!("{} is another node", what()))) }
}

fn is_chosen(id: &NodeId, only: &[Pattern]) -> bool {
    only.is_empty() || only.iter().any(|pattern| pattern.matches(id.as_str()))
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
    let mut log = store.lock_log(session)?;
    let bytes = log.read().map_err(StoreError::from)?;
    let path = log.path().to_owned();

    let snapshot = store.snapshot()?;
    let view = SessionView::new(&snapshot, session, &path, &bytes)?;
    refuse_nothing(&plan(&view, &request.only, request.overwrite)?, request.allow_empty)?;
    // What stays staged goes behind the mark before the transaction sets it.
    let staying = view.staying(|id| is_chosen(id, &request.only))?;
    let consumed = staying.as_ref().map_or(view.staged.last(), NewFrame::mark);
    if let Some(frame) = &staying {
        log.append(frame).map_err(StoreError::from)?;
    }

    let (report, warning) = store.write(snapshot, |tables| {
        let view = SessionView::new(tables, session, &path, &bytes)?;
        let changes = plan(&view, &request.only, request.overwrite)?;
        refuse_nothing(&changes, request.allow_empty)?;
        let mut row = view.next_row();
        row.consumed = consumed;
        let head = row.head.clone();
        drop(view);
        let (number, _) = tables.commit_on_head(session, row, changes, request.words.clone(), "commit")?;
        let commit = tables.commit(number)?;
        let entry = Surroundings::new(tables, &head)?.entry(tables, number, commit, &BTreeMap::new())?;
        Ok::<_, OpError>(CommitReport { entry, head, warning: None })
    })?;
    // Not synced: numbers that are consumed never count.
    let truncated = if staying.is_some() { None } else { log.truncate().err().map(StoreError::from) };
    Ok(CommitReport { warning: warning.or(truncated), ..report })
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
            let hash = node.as_deref().map(node_object_id);
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
