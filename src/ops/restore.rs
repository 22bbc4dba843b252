//! Taking staged changes back, or staging what a revision has.

use super::joining::{settling, work_out};
use super::{Forgotten, OpError, StagedReport, StagedState};
use crate::graph::{Doubt, Revision, resolve, select};
use crate::model::{NodeId, Pattern, SessionName};
use crate::object::{ObjectId, encode_kept};
use crate::store::{Change, Disk, NodeBytes, SessionView, Store, StoreError, entries};
use std::collections::BTreeMap;

/// What [`restore`] did.
#[derive(Debug)]
pub struct RestoreReport {
    /// What became of each node that was chosen and had to change.
    pub reports: Vec<StagedReport>,
    /// The changes that were staged for them before.
    pub forgotten: Forgotten,
    /// Patterns that chose nothing; where there are any, nothing was done.
    pub unmatched: Vec<usize>,
    /// What the name of the revision stands for beside what was taken.
    pub doubt: Option<Doubt>,
}

/// Forgets what is staged for the nodes that `patterns` choose; with a revision, stages its version of them instead.
///
/// All or none, one fsync; none where nothing has to change. A conflict of what is in progress is settled by it,
/// where its id is named or a revision is.
pub fn restore<D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    patterns: &[Pattern],
    revision: Option<&Revision>,
) -> Result<RestoreReport, OpError> {
    let mut log = store.lock_log(session)?;
    let bytes = log.read().map_err(StoreError::from)?;
    let snapshot = store.snapshot()?;
    let view = SessionView::new(&snapshot, session, log.path(), &bytes)?;
    let head_root = view.tables.root(view.head_commit()?)?;
    let resolved = revision.map(|revision| resolve(&view, revision)).transpose()?;
    let source_root = match &resolved {
        Some(resolved) => view.tables.root(Some(resolved.number))?,
        None => head_root,
    };
    let staged = view.staged.replay().map_err(StoreError::from)?;
    let conflicts = match view.progress() {
        Some(progress) => work_out(view.tables, &view.head, progress)?.join.conflicts,
        None => BTreeMap::new(),
    };
    let heads = select(view.tables, head_root, patterns)?;
    let sources = if resolved.is_some() { select(view.tables, source_root, patterns)? } else { heads.clone() };

    let matches = |id: &NodeId, pattern: &Pattern| pattern.matches(id.as_str());
    let ids = || staged.keys().chain(heads.keys()).chain(sources.keys()).chain(conflicts.keys());
    let unmatched: Vec<_> = (0..patterns.len()).filter(|&at| !ids().any(|id| matches(id, &patterns[at]))).collect();
    let doubt = resolved.and_then(|resolved| resolved.doubt);
    if !unmatched.is_empty() {
        return Ok(RestoreReport { reports: Vec::new(), forgotten: Forgotten::default(), unmatched, doubt });
    }

    let mut wanted: BTreeMap<NodeId, Option<(ObjectId, NodeBytes)>> = BTreeMap::new();
    for id in ids().filter(|id| patterns.iter().any(|pattern| matches(id, pattern))) {
        let source =
            sources.get(id).map(|&(number, object)| Ok((object, encode_kept(&view.tables.kept(number, object)?))));
        wanted.insert(id.clone(), source.transpose().map_err(|error: StoreError| error)?);
    }
    let (mut changes, mut reports): (Vec<Change<'_>>, _) = (Vec::new(), Vec::new());
    let mut before = BTreeMap::new();
    for (id, source) in &wanted {
        let head = heads.get(id).map(|(_, object)| *object);
        let version = source.as_ref().map(|(object, bytes)| (*object, bytes.as_slice()));
        // Who names it settles it; a pattern only takes back what is staged.
        let is_named = revision.is_some() || patterns.iter().any(|pattern| pattern.exact() == Some(id));
        let entries = if is_named && conflicts.contains_key(id) {
            settling(id, version.map(|(_, bytes)| bytes), head).to_vec()
        } else {
            entries(id, version, head, staged.get(id).copied())
        };
        if !entries.is_empty() {
            let hash = version.map(|(object, _)| object);
            before.extend(staged.get(id).filter(|change| change.is_change()).map(|change| (id.clone(), *change)));
            reports.push(StagedReport { id: id.clone(), hash, state: StagedState::between(head, hash) });
        }
        changes.extend(entries);
    }
    if !changes.is_empty() {
        let frame = view.next_frame(changes)?;
        log.append(&frame).map_err(StoreError::from)?;
    }
    Ok(RestoreReport { reports, forgotten: Forgotten::of(&before), unmatched, doubt })
}
