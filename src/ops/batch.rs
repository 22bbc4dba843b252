//! A whole history in one process: many commits in one transaction.

use super::joining::refuse_in_progress;
use super::staged::{Objects, Standing, Version, last_versions};
use super::{OpError, StagedReport, Write};
use crate::graph::{Entry, Surroundings};
use crate::model::SessionName;
use crate::object::get;
use crate::store::{Access, CommitWords, Disk, NewFrame, Number, SessionView, Store, StoreError};
use std::collections::BTreeSet;

/// Changes and the commit that takes them.
#[derive(Clone, Debug)]
pub struct Group {
    /// The changes, the last of an id counts.
    pub writes: Vec<Write>,
    /// What the commit says.
    pub words: CommitWords,
    /// Whether it is to be no commit where it changes nothing; else that refuses them all.
    pub skip_empty: bool,
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
/// stays so. The error of a group that may not be empty says which one it is.
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
    refuse_in_progress(&view)?;
    // Asked of the snapshot first, so that what is refused, or changes nothing, leaves the database as it was.
    let (groups, without_commit) = planned(&view, groups)?;
    if groups.is_empty() {
        let versions: Vec<_> = without_commit.into_iter().chain(rest.iter().cloned()).collect();
        let standing = Standing::of(&view, &versions)?;
        standing.stage(&mut log, &view, &versions)?;
        return Ok(BatchReport {
            commits: Vec::new(),
            staged: standing.reports(&versions[versions.len() - rest.len()..]),
            warning: None,
        });
    }

    let versions = groups.iter().flat_map(|group| &group.versions).chain(&without_commit);
    let versions: Vec<_> = versions.cloned().collect();
    Standing::of(&view, &versions)?.refuse_conflicts(&versions)?;
    let ours: BTreeSet<_> = versions.into_iter().map(|version| version.id).collect();
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
        for group in groups {
            let changes = group.versions.into_iter().map(|version| (version.id, version.bytes)).collect();
            match tables.commit_changes(session, &mut row, changes, group.words, "put")? {
                Some(commit) => made.push(commit),
                // Another session has just committed the same.
                None if group.skip_empty => {}
                None => return Err(OpError::EmptyGroup(group.at)),
            }
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
        standing.stage(&mut log, &view, &rest)?;
        reports = standing.reports(&rest);
    }
    Ok(BatchReport { commits, staged: reports, warning: warning.or(truncated) })
}

/// A group with the ids of its objects.
struct Planned {
    /// Its place, counted from 0.
    at: usize,
    versions: Vec<Version>,
    words: CommitWords,
    skip_empty: bool,
}

/// The groups that change something; and the changes of those that do not and are to be no commit then.
fn planned<A: Access>(view: &SessionView<'_, A>, groups: Vec<Group>) -> Result<(Vec<Planned>, Vec<Version>), OpError> {
    let root = view.tables.root(view.head_commit()?)?;
    let mut objects = Objects::new();
    let (mut planned, mut without_commit) = (Vec::with_capacity(groups.len()), Vec::new());
    for (at, Group { writes, words, skip_empty }) in groups.into_iter().enumerate() {
        let versions: Vec<_> = writes.into_iter().map(Version::from).collect();
        let mut is_empty = true;
        for (id, version) in last_versions(&versions) {
            let old = match objects.get(id) {
                Some(object) => *object,
                None => get(view.tables, root, id)?.map(|(_, object)| object),
            };
            is_empty = is_empty && old == version.object;
            objects.insert(id.clone(), version.object);
        }
        match (is_empty, skip_empty) {
            (false, _) => planned.push(Planned { at, versions, words, skip_empty }),
            (true, true) => without_commit.extend(versions),
            (true, false) => return Err(OpError::EmptyGroup(at)),
        }
    }
    Ok((planned, without_commit))
}
