//! The commits behind revisions.

use super::OpError;
use crate::graph::{
    ChangeFilter, Changed, Doubt, Ends, Entry, NodeFilter, Revision, Selection, Surroundings, TextChange, Walk,
    changed_by_record, changed_on_first_parent, resolve, resolve_all,
};
use crate::model::{Pattern, SessionName};
use crate::object::CommitId;
use crate::store::{Access, CommitRecord, Disk, Head, Number, SessionView, Store, StoreError, Tables, short_branch};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};

/// Which commits are wanted.
#[derive(Clone, Debug, Default)]
pub struct LogFilter {
    /// Where to begin; HEAD if none is named.
    pub revisions: Vec<Selection>,
    /// Only commits that changed a node with such an id.
    pub patterns: Vec<Pattern>,
    /// Only commits that wrote such a node, whose id matches too.
    pub nodes: NodeFilter,
    /// Only commits that made such a change of such a node against their first parent.
    pub text: Option<TextChange>,
    /// Begin at every ref and at HEAD too.
    pub all: bool,
    /// Only commits made at this time or later, in milliseconds since the epoch. Every commit is looked at, so that one
    /// with an odd clock hides nothing.
    pub since: Option<i64>,
    /// Only commits made at this time or earlier.
    pub until: Option<i64>,
    /// Only commits whose author matches.
    pub author: Option<Regex>,
    /// Only commits whose message matches.
    pub message: Option<Regex>,
    /// Whether the nodes are wanted that a commit changed against its first parent.
    pub changed: bool,
    /// Follow first parents only.
    pub first_parent: bool,
    /// Whether it is wanted how the commits found hang together.
    pub edges: bool,
    /// How many to pass over first.
    pub skip: usize,
    /// How many at the most.
    pub limit: Option<usize>,
    /// The oldest first; what is passed over is so still.
    pub reverse: bool,
}

impl LogFilter {
    /// Which changes are wanted.
    fn changes(&self) -> ChangeFilter<'_> {
        ChangeFilter {
            patterns: &self.patterns,
            nodes: &self.nodes,
            text: self.text.as_ref(),
            first_parent: self.first_parent,
        }
    }

    /// Whether time, author and message are as wanted.
    fn admits(&self, commit: &CommitRecord) -> bool {
        let time = commit.time.unix_ms();
        self.since.is_none_or(|since| time >= since)
            && self.until.is_none_or(|until| time <= until)
            && self.author.as_ref().is_none_or(|author| author.is_match(commit.author.as_str()))
            && self.message.as_ref().is_none_or(|message| message.is_match(commit.message.as_str()))
    }
}

/// What [`log`] found.
#[derive(Debug, Default)]
pub struct LogReport {
    /// The commits, children before parents unless reversed.
    pub entries: Vec<Entry>,
    /// For each of them what it changed, in the order of the ids, if that was asked for.
    pub changed: Vec<Vec<Changed>>,
    /// For each of them its number and those of its parents, if that was asked for. In the place of a parent that was not
    /// found stand the nearest ancestors that were, or itself where it is older than all that was found.
    pub edges: Vec<(Number, Vec<Number>)>,
    /// The ref of the branch on which the session stands.
    pub head_branch: Option<String>,
    /// The branch that has no commit yet, where HEAD was asked for.
    pub unborn: Option<String>,
    /// What the names of the revisions stand for beside what was taken.
    pub doubts: Vec<Doubt>,
}

/// Returns the ancestors of the revisions, children before parents; among unrelated commits the one that this store
/// learned of last comes first.
pub fn log<D: Disk>(store: &Store<D>, session: &SessionName, filter: &LogFilter) -> Result<LogReport, OpError> {
    store.read(session, |view| {
        let mut report = LogReport { head_branch: view.head.branch().map(str::to_owned), ..LogReport::default() };
        let ends = ends(view, filter, &mut report)?;
        let found = if filter.patterns.is_empty() {
            take(view.tables, Walk::new(view.tables, ends.starts, ends.without, filter.first_parent), filter)?
        } else if filter.first_parent || filter.text.is_some() {
            let changed = changed_on_first_parent(view.tables, ends, filter.first_parent, &filter.patterns)?;
            take(view.tables, changed, filter)?
        } else {
            take(view.tables, changed_by_record(view.tables, &ends, &filter.patterns)?, filter)?
        };
        if filter.changed {
            let changes = filter.changes();
            let changed = found.iter().map(|(number, commit)| changes.changed(view.tables, *number, commit));
            report.changed = changed.collect::<Result<_, StoreError>>()?;
        }
        if filter.edges {
            report.edges = edges(view.tables, &found, filter.first_parent)?;
        }
        report.entries = entries(view, found)?;
        if filter.reverse {
            report.entries.reverse();
            report.changed.reverse();
        }
        Ok(report)
    })
}

fn ends<A: Access>(view: &SessionView<'_, A>, filter: &LogFilter, report: &mut LogReport) -> Result<Ends, OpError> {
    if filter.revisions.is_empty() && !filter.all {
        let head = view.head_commit()?;
        if let (None, Head::Branch(name)) = (head, &view.head) {
            report.unborn = Some(short_branch(name).to_owned());
        }
        return Ok(Ends { starts: head.into_iter().collect(), ..Ends::default() });
    }
    let mut ends = resolve_all(view, &filter.revisions)?;
    report.doubts.append(&mut ends.doubts);
    if filter.all {
        ends.starts.extend(view.tables.references("refs/")?.into_iter().map(|(_, number)| number));
        ends.starts.extend(view.head_commit()?);
    } else if ends.starts.is_empty() {
        ends.starts.push(resolve(view, &Revision::head())?.number);
    }
    Ok(ends)
}

/// Leaves out what the filter does not admit, then passes over some and takes some; reads no further.
fn take<A: Access>(
    tables: &Tables<A>,
    found: impl Iterator<Item = Result<(Number, CommitRecord), StoreError>>,
    filter: &LogFilter,
) -> Result<Vec<(Number, CommitRecord)>, StoreError> {
    let changes = filter.changes();
    let changed = |(number, commit): &(Number, CommitRecord)| {
        Ok(!changes.looks_into_nodes() || changes.admits_commit(tables, *number, commit)?)
    };
    let admitted =
        found.filter(|step| step.as_ref().map_or(true, |(_, commit)| filter.admits(commit))).filter_map(|step| {
            match step.as_ref().map_or(Ok(true), &changed) {
                Ok(true) => Some(step),
                Ok(false) => None,
                Err(error) => Some(Err(error)),
            }
        });
    let end = filter.limit.map_or(usize::MAX, |limit| filter.skip.saturating_add(limit));
    let numbered = admitted.take(end).enumerate();
    numbered.filter(|(at, step)| *at >= filter.skip || step.is_err()).map(|(_, step)| step).collect()
}

/// How commits hang together, each with those that were found among its nearest ancestors.
fn edges<A: Access>(
    tables: &Tables<A>,
    found: &[(Number, CommitRecord)],
    first_parent: bool,
) -> Result<Vec<(Number, Vec<Number>)>, StoreError> {
    let numbers: BTreeSet<_> = found.iter().map(|(number, _)| *number).collect();
    let oldest = numbers.first().copied().unwrap_or_default();
    let followed =
        |parents: &[Number]| parents[..if first_parent { parents.len().min(1) } else { parents.len() }].to_vec();
    // What stands for a commit that was not found; a parent has a smaller number, so ascending order knows it already.
    let mut stands_for: BTreeMap<Number, Vec<Number>> = BTreeMap::new();
    let nearest = |parents: Vec<Number>, stands_for: &BTreeMap<Number, Vec<Number>>| {
        let mut nearest = Vec::new();
        for parent in parents {
            let standing = stands_for.get(&parent).cloned().unwrap_or_else(|| vec![parent]);
            nearest.extend(standing);
        }
        let mut seen = BTreeSet::new();
        nearest.retain(|number| seen.insert(*number));
        nearest
    };
    let mut between = BTreeMap::new();
    let mut open: BTreeSet<Number> = found.iter().flat_map(|(_, commit)| followed(&commit.parents)).collect();
    while let Some(number) = open.pop_last() {
        if number > oldest && !numbers.contains(&number) && !between.contains_key(&number) {
            let parents = followed(&tables.commit(number)?.parents);
            open.extend(&parents);
            between.insert(number, parents);
        }
    }
    for (number, parents) in between {
        let nearest = nearest(parents, &stands_for);
        stands_for.insert(number, nearest);
    }
    Ok(found.iter().map(|(number, commit)| (*number, nearest(followed(&commit.parents), &stands_for))).collect())
}

fn entries<A: Access>(view: &SessionView<'_, A>, found: Vec<(Number, CommitRecord)>) -> Result<Vec<Entry>, StoreError> {
    let known: BTreeMap<Number, CommitId> = found.iter().map(|(number, commit)| (*number, commit.id)).collect();
    let surroundings = Surroundings::new(view.tables, &view.head)?;
    found.into_iter().map(|(number, commit)| surroundings.entry(view.tables, number, commit, &known)).collect()
}
