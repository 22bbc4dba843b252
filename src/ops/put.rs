//! Staging changes, and committing just them.

use super::{OpError, StagedReport, StagedState};
use crate::model::{Node, NodeId, SessionName};
use crate::object::{CommitId, ObjectId, encode_node, get, node_object_id};
use crate::store::{
    Access, CommitWords, Disk, LogFile, NodeBytes, SessionView, StagedChange, StagedLog, Store, StoreError, entries,
};
use std::collections::BTreeMap;

/// One change that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write {
    /// The node is to be this.
    Set(Node),
    /// The id is to be absent.
    Remove(NodeId),
}

/// Which object each id has, `None` where it is absent.
type Objects = BTreeMap<NodeId, Option<ObjectId>>;

/// A change as canonical bytes.
struct Version {
    id: NodeId,
    bytes: Option<NodeBytes>,
    object: Option<ObjectId>,
}

impl Version {
    fn version(&self) -> Option<(ObjectId, &[u8])> {
        self.object.zip(self.bytes.as_deref())
    }
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
fn in_head<A: Access>(view: &SessionView<'_, A>, versions: &[Version]) -> Result<Objects, StoreError> {
    let root = view.tables.root(view.head_commit()?)?;
    let object = |id: &NodeId| get(view.tables, root, id).map(|found| found.map(|(_, object)| object));
    versions.iter().map(|version| Ok((version.id.clone(), object(&version.id)?))).collect()
}

fn reports(versions: &[Version], heads: &Objects) -> Vec<StagedReport> {
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
    stage(&mut log, &view, &versions, &heads, &staged)?;
    Ok(reports(&versions, &heads))
}

/// Appends what has to be said so that the last version of each id is what stands.
fn stage<F: LogFile, A: Access>(
    log: &mut StagedLog<F>,
    view: &SessionView<'_, A>,
    versions: &[Version],
    heads: &Objects,
    staged: &BTreeMap<NodeId, Option<StagedChange<'_>>>,
) -> Result<(), StoreError> {
    let mut changes = Vec::new();
    for (id, version) in last_versions(versions) {
        changes.extend(entries(id, version.version(), heads[id], staged.get(id).copied().flatten()));
    }
    if !changes.is_empty() {
        log.append(&view.next_frame(changes)?)?;
    }
    Ok(())
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
    let ours = last_versions(&versions);

    // Asked of a snapshot first, so that nothing is committed where HEAD has it all.
    let snapshot = store.snapshot()?;
    let view = SessionView::new(&snapshot, session, &path, &bytes)?;
    let heads = in_head(&view, &versions)?;
    let staged = staged_of(&view, &versions)?;
    if ours.iter().all(|(id, version)| heads[*id] == version.object) {
        stage(&mut log, &view, &versions, &heads, &staged)?;
        return Ok(PutAndCommitReport { reports: reports(&versions, &heads), commit: None, warning: None });
    }
    let takes_over = ours.keys().any(|id| staged.get(*id).copied().flatten().is_some());
    let consumed = takes_over.then(|| view.staged.last());
    let staying = if takes_over { view.staying(|id| ours.contains_key(id))? } else { None };
    if let Some(frame) = &staying {
        log.append(frame).map_err(StoreError::from)?;
    }

    let ((reports, commit), warning) = store.write(snapshot, |tables| -> Result<_, OpError> {
        let view = SessionView::new(tables, session, &path, &bytes)?;
        let heads = in_head(&view, &versions)?;
        let mut row = view.next_row();
        row.consumed = consumed.unwrap_or(row.consumed);
        let changes = ours.iter().filter(|(id, version)| heads[*id] != version.object);
        let changes = changes.map(|(id, version)| ((*id).clone(), version.bytes.clone())).collect();
        let (_, commit) = tables.commit_on_head(session, row, changes, words.clone(), "put")?;
        Ok((reports(&versions, &heads), commit))
    })?;
    let truncated = if takes_over && staying.is_none() { log.truncate().err() } else { None };
    Ok(PutAndCommitReport { reports, commit: Some(commit), warning: warning.or(truncated.map(StoreError::from)) })
}
