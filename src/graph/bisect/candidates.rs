//! The commits of which one is the culprit.

use super::super::ancestry::Chains;
use super::super::walk::Commits;
use super::super::{Ends, Reach, Walk, changed_by_record, changed_on_first_parent};
use crate::model::Pattern;
use crate::store::{Access, CommitRecord, Number, Place, StoreError, Tables};
use std::collections::{BTreeMap, BTreeSet};

/// Between which commits a search takes place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// Commits known to be bad: the culprit is an ancestor of each of them. Without one there are no candidates.
    pub bad: Vec<Number>,
    /// Commits known to be good: the culprit is an ancestor of none of them. They need not be ancestors of the bad ones;
    /// [`super::bases_to_verify`] tells what is then to be tested first. Without one all ancestors of the bad are
    /// candidates, roots included.
    pub good: Vec<Number>,
    /// Whether only commits are candidates to which first parents lead from the bad ones. What a good one rules out, it
    /// rules out with all its ancestors.
    pub first_parent: bool,
}

impl Bounds {
    fn ends(&self, bad: Number) -> Ends {
        Ends { starts: vec![bad], without: self.good.clone(), ..Ends::default() }
    }

    /// The commits that `found` has of each of the bad ones.
    fn common<E>(&self, mut found: impl FnMut(Number) -> Result<BTreeSet<Number>, E>) -> Result<BTreeSet<Number>, E> {
        let Some((&first, others)) = self.bad.split_first() else { return Ok(BTreeSet::new()) };
        let mut common = found(first)?;
        for &bad in others {
            let found = found(bad)?;
            common.retain(|number| found.contains(number));
        }
        Ok(common)
    }
}

/// The commits of which one is the culprit, and which of them are ancestors of which. There may be none, and then there is
/// nothing to search; of one alone it is known without a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidates {
    /// Ascending, so ancestors come before descendants. A candidate is spoken of by its index here.
    numbers: Vec<Number>,
    /// For each some of its ancestors among the candidates, through which all others are reached.
    parents: Vec<Vec<usize>>,
    /// The bad commits that bound them, whether they are candidates or not.
    bad: Vec<Number>,
}

impl Candidates {
    /// The commits within `bounds`; where there are patterns only those that changed a node that one of them chooses, as
    /// `log` takes them.
    ///
    /// With patterns reads follow the versions of these nodes, and the forks and merges between them, but with
    /// `first_parent` every commit on the line of first parents.
    pub fn of<A: Access>(tables: &Tables<A>, bounds: &Bounds, patterns: &[Pattern]) -> Result<Self, StoreError> {
        if patterns.is_empty() {
            return Self::within(tables, bounds);
        }
        let number = |step: Result<(Number, CommitRecord), StoreError>| step.map(|(number, _)| number);
        let changed = bounds.common(|bad| {
            let ends = bounds.ends(bad);
            if bounds.first_parent {
                changed_on_first_parent(tables, ends, true, patterns)?.map(number).collect()
            } else {
                changed_by_record(tables, &ends, patterns)?.map(number).collect::<Result<_, StoreError>>()
            }
        })?;
        Self::among(tables, bounds, changed)
    }

    /// All commits within `bounds`; reads each of them.
    pub fn within<C: Commits>(commits: &C, bounds: &Bounds) -> Result<Self, C::Error> {
        let mut all_parents = BTreeMap::new();
        let common = bounds.common(|bad| {
            let mut found = BTreeSet::new();
            for step in Walk::new(commits, [bad], bounds.good.iter().copied(), bounds.first_parent) {
                let (number, commit) = step?;
                all_parents.insert(number, C::parents(&commit).to_vec());
                found.insert(number);
            }
            Ok(found)
        })?;
        let mut candidates = Self::unrelated(bounds, common);
        for own in 0..candidates.len() {
            let parents = all_parents.remove(&candidates.numbers[own]).unwrap_or_default();
            candidates.parents[own] = parents.into_iter().filter_map(|parent| candidates.index(parent)).collect();
        }
        Ok(candidates)
    }

    /// Those commits within `bounds` that are in `chosen`, which holds no others. Reads where they stand, and the forks and
    /// merges between them.
    pub fn among<C: Chains>(chains: &C, bounds: &Bounds, chosen: BTreeSet<Number>) -> Result<Self, C::Error> {
        let mut candidates = Self::unrelated(bounds, chosen);
        if bounds.first_parent {
            for own in 1..candidates.len() {
                candidates.parents[own] = vec![own - 1];
            }
            return Ok(candidates);
        }
        let good = Reach::of_commits(chains, &bounds.good)?;
        let mut lines: BTreeMap<Number, Vec<(u64, usize)>> = BTreeMap::new();
        for own in 0..candidates.len() {
            let place = chains.place(candidates.numbers[own])?;
            candidates.parents[own] = nearest(chains, &lines, &good, place)?.into_iter().collect();
            lines.entry(place.chain).or_default().push((place.position, own));
        }
        Ok(candidates)
    }

    fn unrelated(bounds: &Bounds, numbers: BTreeSet<Number>) -> Self {
        Self {
            parents: vec![Vec::new(); numbers.len()],
            numbers: numbers.into_iter().collect(),
            bad: bounds.bad.clone(),
        }
    }

    /// The commits, ancestors before descendants.
    pub fn numbers(&self) -> &[Number] {
        &self.numbers
    }

    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    pub(super) fn bad(&self) -> &[Number] {
        &self.bad
    }

    pub(super) fn index(&self, number: Number) -> Option<usize> {
        self.numbers.binary_search(&number).ok()
    }

    pub(super) fn parents(&self, of: usize) -> &[usize] {
        &self.parents[of]
    }

    /// The ancestors of a candidate, itself among them, in no order, without those that `stop` holds for and what is
    /// reached through them alone.
    pub(super) fn ancestors(&self, of: usize, stop: impl Fn(usize) -> bool) -> Vec<usize> {
        let mut seen = vec![false; of + 1];
        let (mut found, mut open) = (Vec::new(), vec![of]);
        while let Some(candidate) = open.pop() {
            if !seen[candidate] && !stop(candidate) {
                seen[candidate] = true;
                found.push(candidate);
                open.extend(&self.parents[candidate]);
            }
        }
        found
    }
}

/// The candidates that one meets first on the ways back from the commit at `own`: in `lines` they stand by chain with
/// position and index, only older ones. What is known to be good is not entered, for it leads to none.
fn nearest<C: Chains>(
    chains: &C,
    lines: &BTreeMap<Number, Vec<(u64, usize)>>,
    good: &Reach,
    own: Place,
) -> Result<BTreeSet<usize>, C::Error> {
    let mut found = BTreeSet::new();
    // The first position of a stretch without candidates, by chain → up to where it has been looked at.
    let mut looked: BTreeMap<(Number, u64), u64> = BTreeMap::new();
    let mut open = vec![own];
    while let Some(Place { chain, position }) = open.pop() {
        let line = lines.get(&chain).map_or(&[][..], Vec::as_slice);
        let last = line[..line.partition_point(|&(at, _)| at <= position)].last();
        found.extend(last.map(|&(_, index)| index));
        let behind = |position: Option<u64>| position.map_or(0, |position| position + 1);
        let floor = behind(last.map(|&(at, _)| at)).max(behind(good.known(chain)));
        let next = looked.entry((chain, floor)).or_insert(floor);
        if *next <= position {
            let from = std::mem::replace(next, position + 1);
            open.extend(chains.chain_parents(chain, from..=position)?);
        }
    }
    Ok(found)
}
