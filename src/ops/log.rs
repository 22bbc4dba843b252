//! The commits behind revisions.

use super::OpError;
use crate::graph::{Entry, Reach, Revision, Surroundings, Walk, resolve};
use crate::model::{Pattern, SessionName};
use crate::object::{CommitId, diff};
use crate::store::{Access, CommitRecord, Disk, Head, Number, SessionView, Store, StoreError, Tables, short_branch};
use std::collections::{BTreeMap, BTreeSet};

/// Which commits are wanted.
#[derive(Clone, Debug, Default)]
pub struct LogFilter {
    /// Where to begin; HEAD if none is named.
    pub revisions: Vec<Revision>,
    /// Only commits that changed a node with such an id.
    pub patterns: Vec<Pattern>,
    /// Follow first parents only.
    pub first_parent: bool,
    /// How many to pass over first.
    pub skip: usize,
    /// How many at the most.
    pub limit: Option<usize>,
    /// The oldest first; what is passed over is so still.
    pub reverse: bool,
}

/// What [`log`] found.
#[derive(Debug, Default)]
pub struct LogReport {
    /// The commits, children before parents unless reversed.
    pub entries: Vec<Entry>,
    /// The ref of the branch on which the session stands.
    pub head_branch: Option<String>,
    /// The branch that has no commit yet, where HEAD was asked for.
    pub unborn: Option<String>,
    /// Branch names that are prefixes of commit ids too.
    pub also_prefixes: Vec<String>,
}

/// Returns the ancestors of the revisions, children before parents; among unrelated commits the one that this store
/// learned of last comes first.
pub fn log<D: Disk>(store: &Store<D>, session: &SessionName, filter: &LogFilter) -> Result<LogReport, OpError> {
    store.read(session, |view| {
        let mut report = LogReport { head_branch: view.head.branch().map(str::to_owned), ..LogReport::default() };
        let starts = starts(view, filter, &mut report)?;
        let wanted = filter.skip..filter.limit.map_or(usize::MAX, |limit| filter.skip.saturating_add(limit));
        let found = if filter.patterns.is_empty() {
            take(Walk::new(view.tables, starts, filter.first_parent), &wanted)?
        } else if filter.first_parent {
            let changed = changed_commits(view.tables, &filter.patterns)?;
            let walk = Walk::new(view.tables, starts, true).filter_map(|step| {
                let keep = step.as_ref().map_or(Ok(true), |(number, commit)| {
                    changed_on_first_parent(view.tables, *number, commit, &changed, &filter.patterns)
                });
                keep.map_or_else(|error| Some(Err(error)), |keep| if keep { Some(step) } else { None })
            });
            take(walk, &wanted)?
        } else {
            let changed = changed_commits(view.tables, &filter.patterns)?;
            take(ancestors_among(view.tables, &starts, &changed)?, &wanted)?
        };
        report.entries = entries(view, found)?;
        if filter.reverse {
            report.entries.reverse();
        }
        Ok(report)
    })
}

fn starts<A: Access>(
    view: &SessionView<'_, A>,
    filter: &LogFilter,
    report: &mut LogReport,
) -> Result<Vec<Number>, OpError> {
    if filter.revisions.is_empty() {
        let head = view.head_commit()?;
        if let (None, Head::Branch(name)) = (head, &view.head) {
            report.unborn = Some(short_branch(name).to_owned());
        }
        return Ok(head.into_iter().collect());
    }
    let mut starts = Vec::new();
    for revision in &filter.revisions {
        let resolved = resolve(view.tables, &view.head, revision)?;
        report.also_prefixes.extend(resolved.also_prefix);
        starts.push(resolved.number);
    }
    Ok(starts)
}

/// Passes over `wanted.start` and takes up to `wanted.end`; reads no further.
fn take<T, E>(found: impl Iterator<Item = Result<T, E>>, wanted: &std::ops::Range<usize>) -> Result<Vec<T>, E> {
    found
        .take(wanted.end)
        .enumerate()
        .filter(|(at, step)| *at >= wanted.start || step.is_err())
        .map(|(_, step)| step)
        .collect()
}

/// The commits that changed a node with such an id, from the history index.
fn changed_commits<A: Access>(tables: &Tables<A>, patterns: &[Pattern]) -> Result<BTreeSet<Number>, StoreError> {
    let mut changed = BTreeSet::new();
    for pattern in patterns {
        match pattern.exact() {
            Some(id) => changed.extend(tables.versions(id)?),
            None => tables.versions_below(pattern.literal_prefix(), |id, numbers| {
                if pattern.matches(id) {
                    changed.extend(numbers);
                }
            })?,
        }
    }
    Ok(changed)
}

/// Those of `candidates` that are ancestors of `starts`, the highest number first.
fn ancestors_among<'a, A: Access>(
    tables: &'a Tables<A>,
    starts: &[Number],
    candidates: &'a BTreeSet<Number>,
) -> Result<impl Iterator<Item = Result<(Number, CommitRecord), StoreError>> + 'a, StoreError> {
    let places = starts.iter().map(|&start| Ok(tables.commit(start)?.place)).collect::<Result<Vec<_>, StoreError>>()?;
    let mut reach = Reach::of(places);
    Ok(candidates.iter().rev().filter_map(move |&number| {
        let checked = tables.commit(number).and_then(|commit| Ok((reach.contains(tables, commit.place)?, commit)));
        match checked {
            Ok((true, commit)) => Some(Ok((number, commit))),
            Ok((false, _)) => None,
            Err(error) => Some(Err(error)),
        }
    }))
}

/// Whether a commit changed such a node against its first parent. A merge that took another side's node wrote no record
/// of its own, so for a merge the states are compared.
fn changed_on_first_parent<A: Access>(
    tables: &Tables<A>,
    number: Number,
    commit: &CommitRecord,
    changed: &BTreeSet<Number>,
    patterns: &[Pattern],
) -> Result<bool, StoreError> {
    if commit.parents.len() < 2 {
        return Ok(changed.contains(&number));
    }
    let mut found = false;
    let old = tables.root(commit.parents.first().copied())?;
    diff(tables, old, commit.root.link(), |old, new| {
        if let Some((number, object)) = new.or(old) {
            let node = tables.node(number, object)?;
            found = found || patterns.iter().any(|pattern| pattern.matches(node.id.as_str()));
        }
        Ok::<_, StoreError>(())
    })?;
    Ok(found)
}

fn entries<A: Access>(view: &SessionView<'_, A>, found: Vec<(Number, CommitRecord)>) -> Result<Vec<Entry>, StoreError> {
    let known: BTreeMap<Number, CommitId> = found.iter().map(|(number, commit)| (*number, commit.id)).collect();
    let surroundings = Surroundings::new(view.tables, &view.head)?;
    found.into_iter().map(|(number, commit)| surroundings.entry(view.tables, number, commit, &known)).collect()
}
