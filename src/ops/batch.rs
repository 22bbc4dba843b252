//! A whole history in one process: many commits in one transaction.

use super::staged::{Standing, Version};
use super::{Condition, OpError, StagedReport, Write};
use crate::graph::{Entry, Surroundings};
use crate::model::{NodeId, SessionName};
use crate::store::{CommitWords, Disk, NewFrame, NodeBytes, Number, SessionView, Store, StoreError};
use std::collections::{BTreeMap, BTreeSet};

/// Changes and the commit that takes them.
#[derive(Clone, Debug)]
pub struct Group {
    /// The changes, the last of an id counts.
    pub writes: Vec<Write>,
    /// What the commit says.
    pub words: CommitWords,
}

/// What [`batch`] did.
#[derive(Debug)]
pub struct BatchReport {
    /// The commits, in order.
    pub commits: Vec<Entry>,
    /// What became of the changes behind the last commit, which are staged.
    pub staged: Vec<StagedReport>,
    /// What failed after the commits were durable.
    pub warning: Option<StoreError>,
}

/// Makes a commit of each group, all in one transaction, then stages what comes behind the last. Whatever else is staged
/// stays so. A group that changes nothing refuses them all; the error says which one it is.
pub fn batch<D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    groups: Vec<Group>,
    rest: Vec<Write>,
) -> Result<BatchReport, OpError> {
    let rest: Vec<_> = rest.into_iter().map(Version::from).collect();
    let mut log = store.lock_log(session)?;
    let bytes = log.read().map_err(StoreError::from)?;
    let path = log.path().to_owned();
    let snapshot = store.snapshot()?;
    let view = SessionView::new(&snapshot, session, &path, &bytes)?;
    let groups: Vec<(BTreeMap<NodeId, Option<NodeBytes>>, CommitWords)> = groups
        .into_iter()
        .map(|group| {
            let versions = group.writes.into_iter().map(Version::from);
            (versions.map(|version| (version.id, version.bytes)).collect(), group.words)
        })
        .collect();

    let ours: BTreeSet<_> = groups.iter().flat_map(|(changes, _)| changes.keys().cloned()).collect();
    let staged = view.staged.replay().map_err(StoreError::from)?;
    let takes_over = staged.keys().any(|id| ours.contains(id));
    let staying = if takes_over { view.staying(|id| ours.contains(id))? } else { None };
    let consumed = takes_over.then(|| staying.as_ref().map_or(view.staged.last(), NewFrame::mark));
    if let Some(frame) = &staying {
        log.append(frame).map_err(StoreError::from)?;
    }

    let (commits, warning) = store.write(snapshot, |tables| -> Result<_, OpError> {
        let mut row = SessionView::new(tables, session, &path, &bytes)?.next_row();
        row.consumed = consumed.unwrap_or(row.consumed);
        let mut made = Vec::with_capacity(groups.len());
        for (at, (changes, words)) in groups.into_iter().enumerate() {
            let commit = tables.commit_changes(session, &mut row, changes, words, "put")?;
            made.push(commit.ok_or(OpError::EmptyGroup(at))?);
        }
        tables.set_session(session, &row)?;
        let surroundings = Surroundings::new(tables, &row.head)?;
        let known = made.iter().copied().collect();
        let entry = |(number, _): (Number, _)| surroundings.entry(tables, number, tables.commit(number)?, &known);
        made.iter().copied().map(entry).collect::<Result<Vec<_>, StoreError>>().map_err(OpError::from)
    })?;
    let truncated = if takes_over && staying.is_none() { log.truncate().err().map(StoreError::from) } else { None };

    let mut reports = Vec::new();
    if !rest.is_empty() {
        let bytes = log.read().map_err(StoreError::from)?;
        let snapshot = store.snapshot()?;
        let view = SessionView::new(&snapshot, session, &path, &bytes)?;
        let standing = Standing::of(&view, &rest)?;
        standing.check(Condition::Any, &rest)?;
        standing.stage(&mut log, &view, &rest)?;
        reports = standing.reports(&rest);
    }
    Ok(BatchReport { commits, staged: reports, warning: warning.or(truncated) })
}
