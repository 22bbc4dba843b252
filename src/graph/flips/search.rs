//! Finds flips in a store: by the history index where it tells all that counts, else by a walk.

use super::tally::Tally;
use super::{At, Flip, Point, Points};
use crate::graph::ancestry::is_line;
use crate::graph::{Predicate, Reach, Seen, Subject, Walk, select, versions};
use crate::model::NodeId;
use crate::object::{Leaf, Link, Source, diff, get};
use crate::store::{Access, CommitRecord, Number, StoreError, Tables};
use std::cell::RefCell;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// What is searched, and for what.
#[derive(Clone, Copy, Debug)]
pub struct FlipSearch<'p> {
    /// What has to hold, all of it.
    pub predicates: &'p [Predicate],
    /// Only commits that are not its ancestors; `None` for all back to the empty memory.
    pub start: Option<Number>,
    /// Only its ancestors.
    pub end: Number,
    /// Only first parents, and each commit is held against its first parent alone.
    pub first_parent: bool,
}

/// What a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flips {
    /// Whether it holds at the start.
    pub at_start: bool,
    /// Whether it holds at the end.
    pub at_end: bool,
    /// All flips, the highest number first.
    pub flips: Vec<Flip>,
    /// Where it is otherwise at the start, those since which it is as it is at the end: several where parallel branches
    /// came to it, none where it was so before all that was searched.
    pub origins: Vec<Flip>,
}

impl FlipSearch<'_> {
    /// Looks at the commits that wrote or removed a node at which a predicate looks, as the history index has them. Where
    /// there are merges, all commits are walked, and of the others only the parents are read: if more than one node counts,
    /// or first parents alone, or if a node went to and fro. Where a pattern begins with a wildcard, each is looked at.
    pub fn run<A: Access>(&self, tables: &Tables<A>) -> Result<Flips, StoreError> {
        let history = History::new(*self, tables)?;
        let holds = |commit| Ok::<_, StoreError>(history.tally(commit)?.holds(self.predicates));
        let at_start = holds(self.start)?;
        let (points, last) = match &history.steps {
            Some(steps) if history.is_line => history.line(steps)?,
            Some(steps) if history.is_of_one_node() && !self.first_parent => {
                let (flips, at_end) = (history.of_one_node(steps)?.flips(), holds(Some(self.end))?);
                let mut same = flips.iter().filter(|flip| flip.holds == at_end);
                let origins = match (same.next(), same.next()) {
                    (None, _) => Vec::new(),
                    _ if at_start == at_end => Vec::new(),
                    // From the empty memory on, some flip made it what it is.
                    (Some(only), None) if self.start.is_none() => vec![*only],
                    (Some(_), _) => history.walk()?.origins(self.end),
                };
                return Ok(Flips { at_start, at_end, flips, origins });
            }
            Some(_) | None => (history.walk()?, self.end),
        };
        let at_end = points.0.get(&last).map_or_else(|| holds(Some(self.end)), |point| Ok(point.holds))?;
        let origins = if at_start == at_end { Vec::new() } else { points.origins(last) };
        Ok(Flips { at_start, at_end, flips: points.flips(), origins })
    }
}

/// The nodes that count and that a commit wrote or removed, by the commit.
type Steps = BTreeMap<Number, Vec<NodeId>>;

/// A node in the state of a commit's first parent and in its own.
type Pair = (Option<Leaf>, Option<Leaf>);

/// The commits that are searched.
struct History<'t, 'p, A: Access> {
    search: FlipSearch<'p>,
    tables: &'t Tables<A>,
    /// `None` where the index does not tell.
    steps: Option<Steps>,
    /// Whether there are no merges.
    is_line: bool,
    /// What records of nodes come to that were looked at, by number: most are looked at again when they are replaced.
    weighed: RefCell<BTreeMap<Number, Tally>>,
}

impl<'t, 'p, A: Access> History<'t, 'p, A> {
    fn new(search: FlipSearch<'p>, tables: &'t Tables<A>) -> Result<Self, StoreError> {
        let place = |number: Number| Ok::<_, StoreError>(tables.commit(number)?.place);
        let is_line = is_line(tables, search.start.map(place).transpose()?, place(search.end)?)?;
        let steps = steps(tables, search.predicates, search.end)?;
        Ok(Self { search, tables, steps, is_line, weighed: RefCell::default() })
    }

    /// Whether all predicates look at the same node.
    fn is_of_one_node(&self) -> bool {
        let ids = self.search.predicates.iter().map(|predicate| match predicate.subject() {
            Subject::Node(id) => Some(id),
            Subject::Nodes(pattern) => pattern.exact(),
        });
        let ids: Option<Vec<_>> = ids.collect();
        ids.is_some_and(|ids| ids.windows(2).all(|pair| pair[0] == pair[1]))
    }

    /// The steps that are searched, the oldest first.
    fn searched(&self, steps: &Steps) -> Result<Vec<(Number, CommitRecord)>, StoreError> {
        let place = |number: Number| Ok::<_, StoreError>(self.tables.commit(number)?.place);
        let mut wanted = Reach::of([place(self.search.end)?]);
        let mut left_out = Reach::of(self.search.start.map(place).transpose()?);
        let mut searched = Vec::new();
        for &number in steps.keys().filter(|&&number| number <= self.search.end) {
            let commit = self.tables.commit(number)?;
            if wanted.contains(self.tables, commit.place)? && !left_out.contains(self.tables, commit.place)? {
                searched.push((number, commit));
            }
        }
        Ok(searched)
    }

    /// The steps of a history without merges: between two of them all is as it was at the first. Tells the last, too.
    fn line(&self, steps: &Steps) -> Result<(Points, Number), StoreError> {
        let predicates = self.search.predicates;
        let (mut points, mut last) = (Points::default(), None);
        // The nodes that were come upon, as they are.
        let mut standing: BTreeMap<&NodeId, Option<Leaf>> = BTreeMap::new();
        for (number, commit) in self.searched(steps)? {
            let parent = commit.parents.first().copied();
            let (before, mut tally) = match last {
                Some((before, tally)) => (Some(before), tally),
                None => (parent, self.tally(parent)?),
            };
            let before = vec![At { number: before, holds: tally.holds(predicates) }];
            for id in &steps[&number] {
                let old = match standing.entry(id) {
                    Entry::Occupied(known) => *known.get(),
                    Entry::Vacant(_) if self.search.start.is_none() => None,
                    Entry::Vacant(_) => get(self.tables, self.tables.root(parent)?, id)?,
                };
                let new = get(self.tables, commit.root.link(), id)?;
                tally = self.with(tally, id, (old, new))?;
                standing.insert(id, new);
            }
            points.0.insert(number, Point { holds: tally.holds(predicates), before });
            last = Some((number, tally));
        }
        Ok((points, last.map_or(self.search.end, |(number, _)| number)))
    }

    /// The steps of one node: what a merge takes from a parent is no step, and as in that parent.
    fn of_one_node(&self, steps: &Steps) -> Result<Points, StoreError> {
        let at = |number: Option<Number>| {
            Ok::<_, StoreError>(At { number, holds: self.tally(number)?.holds(self.search.predicates) })
        };
        let mut points = Points::default();
        for (number, CommitRecord { parents, .. }) in self.searched(steps)? {
            let before = or_nothing(&parents).into_iter().map(at).collect::<Result<_, _>>()?;
            points.0.insert(number, Point { holds: at(Some(number))?.holds, before });
        }
        Ok(points)
    }

    /// Every commit that is searched.
    fn walk(&self) -> Result<Points, StoreError> {
        let FlipSearch { predicates, start, end, first_parent } = self.search;
        let walk = Walk::new(self.tables, [end], start, first_parent);
        let walked = walk.map(|step| step.map(|(number, commit)| (number, commit.root.link(), commit.parents)));
        let walked: Vec<_> = walked.collect::<Result<_, StoreError>>()?;
        let (mut points, mut states) = (Points::default(), BTreeMap::new());
        for (number, root, parents) in walked.into_iter().rev() {
            let followed = if first_parent { parents.len().min(1) } else { parents.len() };
            let before = or_nothing(&parents[..followed]);
            for &parent in &before {
                if let Entry::Vacant(unknown) = states.entry(parent) {
                    unknown.insert((self.tally(parent)?, self.tables.root(parent)?));
                }
            }
            let (first, old) = states[&before[0]].clone();
            let tally = self.moved(first, number, parents.len() > 1, (old, root))?;
            let at = |number: Option<Number>| At { number, holds: states[&number].0.holds(predicates) };
            let point = Point { holds: tally.holds(predicates), before: before.into_iter().map(at).collect() };
            points.0.insert(number, point);
            states.insert(Some(number), (tally, root));
        }
        Ok(points)
    }

    /// The tally of a commit, counted anew.
    fn tally(&self, commit: Option<Number>) -> Result<Tally, StoreError> {
        let (predicates, root) = (self.search.predicates, self.tables.root(commit)?);
        let patterns = predicates.iter().filter_map(|predicate| match predicate.subject() {
            Subject::Nodes(pattern) => Some(pattern.clone()),
            Subject::Node(_) => None,
        });
        let patterns: Vec<_> = patterns.collect();
        // No pattern is every node.
        let is_empty = patterns.is_empty() || root.is_none();
        let mut leaves = if is_empty { BTreeMap::new() } else { select(self.tables, root, &patterns)? };
        for id in named(predicates) {
            leaves.extend(get(self.tables, root, id)?.map(|leaf| (id.clone(), leaf)));
        }
        leaves
            .into_iter()
            .try_fold(Tally::of_nothing(predicates), |tally, (id, leaf)| self.with(tally, &id, (None, Some(leaf))))
    }

    /// The tally of a commit after that of its first parent, by the states of both.
    fn moved(
        &self,
        tally: Tally,
        number: Number,
        is_merge: bool,
        (old, new): (Option<Link>, Option<Link>),
    ) -> Result<Tally, StoreError> {
        let predicates = self.search.predicates;
        let ids: Vec<_> = match &self.steps {
            Some(steps) if !is_merge => steps.get(&number).into_iter().flatten().collect(),
            // A merge changes what it takes from other parents, too, and that is no step.
            Some(_) if predicates.iter().all(|predicate| matches!(predicate.subject(), Subject::Node(_))) => {
                named(predicates).into_iter().collect()
            }
            Some(_) | None => {
                let changed = self.changed(old, new)?;
                return changed.into_iter().try_fold(tally, |tally, (id, pair)| self.with(tally, &id, pair));
            }
        };
        ids.into_iter()
            .try_fold(tally, |tally, id| self.with(tally, id, (get(self.tables, old, id)?, get(self.tables, new, id)?)))
    }

    /// The nodes that count and that differ between two states.
    fn changed(&self, old: Option<Link>, new: Option<Link>) -> Result<Vec<(NodeId, Pair)>, StoreError> {
        let mut changed = Vec::new();
        diff(self.tables, old, new, |old, new| {
            if let Some((record, object)) = new.or(old) {
                let id = self.tables.node_id(record, object)?;
                if self.search.predicates.iter().any(|predicate| predicate.looks_at(&id)) {
                    changed.push((id, (old, new)));
                }
            }
            Ok::<_, StoreError>(())
        })?;
        Ok(changed)
    }

    /// The tally of the memory in which one node is otherwise.
    fn with(&self, tally: Tally, id: &NodeId, (old, new): Pair) -> Result<Tally, StoreError> {
        let missing = || StoreError::corrupt(format!("a row of the history of '{id}' is missing"));
        tally.with(&self.weighed(id, old)?, &self.weighed(id, new)?).ok_or_else(missing)
    }

    /// What a node comes to, or its absence.
    fn weighed(&self, id: &NodeId, leaf: Option<Leaf>) -> Result<Tally, StoreError> {
        let predicates = self.search.predicates;
        let Some((record, object)) = leaf else { return Ok(Tally::of_node(predicates, id, &Seen::Absent)) };
        if let Some(known) = self.weighed.borrow().get(&record) {
            return Ok(known.clone());
        }
        let weighed = Tally::of_node(predicates, id, &Some(self.tables.kept(record, object)?).into());
        self.weighed.borrow_mut().insert(record, weighed.clone());
        Ok(weighed)
    }
}

/// The commits, or the empty memory where there is none.
fn or_nothing(commits: &[Number]) -> Vec<Option<Number>> {
    if commits.is_empty() { vec![None] } else { commits.iter().copied().map(Some).collect() }
}

/// The nodes that predicates name.
fn named(predicates: &[Predicate]) -> BTreeSet<&NodeId> {
    let named = predicates.iter().filter_map(|predicate| match predicate.subject() {
        Subject::Node(id) => Some(id),
        Subject::Nodes(_) => None,
    });
    named.collect()
}

/// The steps behind `end` of all nodes that count; `None` where a pattern begins with a wildcard.
fn steps<A: Access>(tables: &Tables<A>, predicates: &[Predicate], end: Number) -> Result<Option<Steps>, StoreError> {
    let mut ids = BTreeSet::new();
    for predicate in predicates {
        match predicate.subject() {
            Subject::Node(id) => drop(ids.insert(id.clone())),
            Subject::Nodes(pattern) => match pattern.exact() {
                Some(id) => drop(ids.insert(id.clone())),
                None if pattern.literal_prefix().is_empty() => return Ok(None),
                None => tables.ids_below(pattern.literal_prefix(), |id| {
                    if pattern.matches(id.as_str()) {
                        ids.insert(id);
                    }
                })?,
            },
        }
    }
    let mut steps = Steps::new();
    for id in ids {
        for number in versions(tables, &id, &[end])? {
            steps.entry(number).or_default().push(id.clone());
        }
    }
    Ok(Some(steps))
}
