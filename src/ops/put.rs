//! Staging changes, and committing just them.

use super::{OpError, StagedReport, StagedState};
use crate::model::{Node, NodeId, SessionName};
use crate::object::{CommitId, ObjectId, encode_node, get, node_object_id};
use crate::store::{Access, Change, CommitWords, Disk, NodeBytes, SessionView, StagedChange, Store, StoreError};
use std::collections::BTreeMap;

/// One change that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write {
    /// The node is to be this.
    Set(Node),
    /// The id is to be absent.
    Remove(NodeId),
}

/// A change as canonical bytes.
struct Version {
    id: NodeId,
    bytes: Option<NodeBytes>,
    object: Option<ObjectId>,
}

fn versions(writes: Vec<Write>) -> Vec<Version> {
    let version = |write| match write {
        Write::Set(node) => {
            let bytes = encode_node(&node);
            Version { object: Some(node_object_id(&bytes)), bytes: Some(bytes), id: node.id }
        }
        Write::Remove(id) => Version { id, bytes: None, object: None },
    };
    writes.into_iter().map(version).collect()
}

/// What HEAD has for each of these ids.
fn in_head<A: Access>(
    view: &SessionView<'_, A>,
    versions: &[Version],
) -> Result<BTreeMap<NodeId, Option<ObjectId>>, StoreError> {
    let root = view.tables.root(view.head_commit()?)?;
    let object = |id: &NodeId| get(view.tables, root, id).map(|found| found.map(|(_, object)| object));
    versions.iter().map(|version| Ok((version.id.clone(), object(&version.id)?))).collect()
}

fn reports(versions: &[Version], heads: &BTreeMap<NodeId, Option<ObjectId>>) -> Vec<StagedReport> {
    let report = |version: &Version| StagedReport {
        id: version.id.clone(),
        hash: version.object,
        state: StagedState::between(heads[&version.id], version.object),
    };
    versions.iter().map(report).collect()
}

/// Stages changes, all or none, in their order; one fsync when this returns, none where nothing is to change.
pub fn put<D: Disk>(store: &Store<D>, session: &SessionName, writes: Vec<Write>) -> Result<Vec<StagedReport>, OpError> {
    let versions = versions(writes);
    let mut log = store.lock_log(session)?;
    let bytes = log.read().map_err(StoreError::from)?;
    let snapshot = store.snapshot()?;
    let view = SessionView::new(&snapshot, session, log.path(), &bytes)?;
    let heads = in_head(&view, &versions)?;
    let staged = staged_of(&view, &versions)?;
    let mut changes = Vec::new();
    for (id, version) in last_versions(&versions) {
        changes.extend(entries(id, version, heads[id], staged.get(id).copied().flatten()));
    }
    if !changes.is_empty() {
        let head = (view.row.is_none() && view.staged.is_empty()).then(|| view.head.encode());
        let frame = view.staged.next_frame(head.as_deref(), changes).map_err(StoreError::from)?;
        log.append(&frame).map_err(StoreError::from)?;
    }
    Ok(reports(&versions, &heads))
}

/// What is staged for each id: looked up one by one for a few, by a map for many.
fn staged_of<'a, A: Access>(
    view: &SessionView<'a, A>,
    versions: &[Version],
) -> Result<BTreeMap<NodeId, Option<StagedChange<'a>>>, StoreError> {
    const FEW: usize = 4;
    if versions.len() > FEW {
        return Ok(view.staged.replay()?.into_iter().map(|(id, change)| (id, Some(change))).collect());
    }
    versions.iter().map(|version| Ok((version.id.clone(), view.staged.find(&version.id)?))).collect()
}

fn last_versions(versions: &[Version]) -> BTreeMap<&NodeId, &Version> {
    versions.iter().map(|version| (&version.id, version)).collect()
}

/// What a frame must say so that `version` is what stands.
fn entries<'c>(
    id: &'c NodeId,
    version: &'c Version,
    head: Option<ObjectId>,
    staged: Option<StagedChange<'_>>,
) -> Vec<Change<'c>> {
    let forget = staged.map(|_| Change::Unstage { id: id.into() });
    if version.object == head {
        return forget.into_iter().collect();
    }
    let set = |base| match &version.bytes {
        Some(node) => Change::Set { id: id.into(), base, node },
        None => Change::Remove { id: id.into(), base },
    };
    match staged {
        Some(staged) if staged.version() == version.object && staged.is_change() => Vec::new(),
        // What the first change replaced comes back, although HEAD has something else by now: a change of its own.
        Some(staged) if staged.base == version.object => forget.into_iter().chain([set(head)]).collect(),
        Some(staged) => vec![set(staged.base)],
        None => vec![set(head)],
    }
}

/// What [`put_and_commit`] did.
#[derive(Debug)]
pub struct PutAndCommitReport {
    /// What became of each change.
    pub reports: Vec<StagedReport>,
    /// The commit; `None` where HEAD had it all.
    pub commit: Option<CommitId>,
    /// What failed after the commit was durable.
    pub warning: Option<StoreError>,
}

/// Commits just these changes in one transaction, whatever else is staged stays so. No commit where HEAD has it all.
pub fn put_and_commit<D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    writes: Vec<Write>,
    words: &CommitWords,
) -> Result<PutAndCommitReport, OpError> {
    let versions = versions(writes);
    let mut log = store.lock_log(session)?;
    let bytes = log.read().map_err(StoreError::from)?;
    let path = log.path().to_owned();

    // What stays staged goes behind the mark, before the transaction sets it.
    let snapshot = store.snapshot()?;
    let view = SessionView::new(&snapshot, session, &path, &bytes)?;
    let heads = in_head(&view, &versions)?;
    let ours = last_versions(&versions);
    let mut staying = view.staged.replay().map_err(StoreError::from)?;
    let before = staying.len();
    staying.retain(|id, _| !ours.contains_key(id));
    let consumed = (staying.len() < before).then(|| view.staged.last());
    let is_change = ours.iter().any(|(id, version)| heads[*id] != version.object);
    if !is_change && consumed.is_none() {
        return Ok(PutAndCommitReport { reports: reports(&versions, &heads), commit: None, warning: None });
    }
    if consumed.is_some() && !staying.is_empty() {
        let changes: Vec<_> = staying.iter().map(|(id, change)| change.of(id.into())).collect();
        let head = view.row.is_none().then(|| view.head.encode());
        let frame = view.staged.next_frame(head.as_deref(), changes).map_err(StoreError::from)?;
        log.append(&frame).map_err(StoreError::from)?;
    }
    let nothing_stays = staying.is_empty();
    drop(snapshot);

    let ((reports, commit), warning) = store.write(
        |_| Ok(()),
        |tables| -> Result<_, OpError> {
            let view = SessionView::new(tables, session, &path, &bytes)?;
            let heads = in_head(&view, &versions)?;
            let mut row = view.next_row();
            if let Some(consumed) = consumed {
                row.consumed = consumed;
            }
            let changes: BTreeMap<_, _> = last_versions(&versions)
                .into_iter()
                .filter(|(id, version)| heads[*id] != version.object)
                .map(|(id, version)| (id.clone(), version.bytes.clone()))
                .collect();
            drop(view);
            if changes.is_empty() {
                tables.set_session(session, &row)?;
                return Ok((reports(&versions, &heads), None));
            }
            let (_, commit) = tables.commit_on_head(session, row, changes, words.clone(), "put")?;
            Ok((reports(&versions, &heads), Some(commit)))
        },
    )?;
    let truncated = if consumed.is_some() && nothing_stays { log.truncate().err() } else { None };
    Ok(PutAndCommitReport { reports, commit, warning: warning.or(truncated.map(StoreError::from)) })
}
