//! Ancestry without a walk.
//!
//! An ancestor of a commit is the commit itself or an ancestor of one of its parents. Within a chain ancestry compares
//! positions; between chains it follows forks and merges, never single commits.

use crate::store::{Access, Number, Place, StoreError, Tables};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// The chains of a commit graph.
pub trait Chains {
    /// Why a chain could not be read.
    type Error;

    /// Where the commit with this number stands.
    fn place(&self, number: Number) -> Result<Place, Self::Error>;

    /// The parents outside their own chain of the commits of `chain` at these positions.
    fn chain_parents(&self, chain: Number, positions: RangeInclusive<u64>) -> Result<Vec<Place>, Self::Error>;
}

impl<A: Access> Chains for Tables<A> {
    type Error = StoreError;

    fn place(&self, number: Number) -> Result<Place, StoreError> {
        self.commit(number).map(|commit| commit.place)
    }

    fn chain_parents(&self, chain: Number, positions: RangeInclusive<u64>) -> Result<Vec<Place>, StoreError> {
        Tables::chain_parents(self, chain, positions)
    }
}

/// The ancestors of some commits, found as far as was asked.
#[derive(Debug, Default)]
pub struct Reach {
    /// Chain → the last position that is an ancestor.
    last: BTreeMap<Number, u64>,
    /// Chain → how many positions from the start have had their parents looked at.
    looked: BTreeMap<Number, u64>,
    /// Chains that may reach further.
    open: Vec<Number>,
}

impl Reach {
    /// The ancestors of the commits at `starts`.
    pub fn of(starts: impl IntoIterator<Item = Place>) -> Self {
        let mut reach = Self::default();
        for start in starts {
            reach.add(start);
        }
        reach
    }

    /// The ancestors of the commits with these numbers.
    pub fn of_commits<C: Chains>(chains: &C, starts: &[Number]) -> Result<Self, C::Error> {
        starts.iter().map(|&start| chains.place(start)).collect::<Result<Vec<_>, _>>().map(Self::of)
    }

    /// The last position of a chain that is known to be an ancestor, without a read.
    pub fn known(&self, chain: Number) -> Option<u64> {
        self.last.get(&chain).copied()
    }

    fn add(&mut self, place: Place) {
        let last = self.last.entry(place.chain).or_insert(place.position);
        *last = place.position.max(*last);
        if self.looked.get(&place.chain).is_none_or(|&looked| looked <= place.position) {
            self.open.push(place.chain);
        }
    }

    /// Whether the commit at `place` is an ancestor of one of the starts.
    pub fn contains<C: Chains>(&mut self, chains: &C, place: Place) -> Result<bool, C::Error> {
        loop {
            if self.last.get(&place.chain).is_some_and(|&last| last >= place.position) {
                return Ok(true);
            }
            let Some(chain) = self.open.pop() else { return Ok(false) };
            let (from, to) = (self.looked.get(&chain).copied().unwrap_or(0), self.last[&chain]);
            if from <= to {
                self.looked.insert(chain, to + 1);
                for parent in chains.chain_parents(chain, from..=to)? {
                    self.add(parent);
                }
            }
        }
    }
}

/// Whether no ancestor of the commit at `end` is a merge; where the one at `start` is one of them, its own ancestors do not
/// count.
pub fn is_line<C: Chains>(chains: &C, start: Option<Place>, end: Place) -> Result<bool, C::Error> {
    let mut place = end;
    loop {
        let start = start.filter(|start| start.chain == place.chain && start.position <= place.position);
        let first = start.map_or(1, |start| start.position + 1);
        if first <= place.position && !chains.chain_parents(place.chain, first..=place.position)?.is_empty() {
            return Ok(false);
        }
        if start.is_some() {
            return Ok(true);
        }
        match chains.chain_parents(place.chain, 0..=0)?[..] {
            [] => return Ok(true),
            [fork] => place = fork,
            _ => return Ok(false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_graph::Graph;
    use super::*;
    use proptest::prelude::*;

    /// A graph of a commit a seed: two numbers that pick parents, and a kind, which is 0 for one without parents, up to `forks`
    /// for one on any other, one more for a merge, and beyond that one on the last.
    fn grown(seeds: Vec<(u32, u32, u8)>, forks: u8) -> Graph {
        let mut graph = Graph::default();
        for (a, b, kind) in seeds {
            let size = graph.len();
            let pick = |seed: u32| Number::from(seed) % size + 1;
            graph.push(match kind {
                _ if size == 0 => vec![],
                0 => vec![],
                _ if kind <= forks => vec![pick(a)],
                _ if kind == forks + 1 && pick(a) != pick(b) => vec![pick(a), pick(b)],
                _ => vec![size],
            });
        }
        graph
    }

    proptest! {
        #[test]
        fn reach_agrees_with_a_walk(seeds in proptest::collection::vec((any::<u32>(), any::<u32>(), 0u8..6), 1..60)) {
            let graph = grown(seeds, 2);
            for of in 1..=graph.len() {
                let expected = graph.ancestors(of);
                let Ok(mut reach) = Reach::of_commits(&graph, &[of]);
                for other in 1..=graph.len() {
                    let Ok(place) = graph.place(other);
                    let Ok(found) = reach.contains(&graph, place);
                    prop_assert_eq!(found, expected.contains(&other), "{} of {}", other, of);
                }
            }
        }
    }

    proptest! {
        #[test]
        fn a_line_has_no_merge(seeds in proptest::collection::vec((any::<u32>(), any::<u32>(), 0u8..12), 1..30)) {
            let graph = grown(seeds, 4);
            for end in 1..=graph.len() {
                let ancestors = graph.ancestors(end);
                for start in [None].into_iter().chain((1..=graph.len()).map(Some)) {
                    let before = start.filter(|start| ancestors.contains(start)).map(|start| graph.ancestors(start));
                    let between = |at: &Number| before.as_ref().is_none_or(|before| !before.contains(at));
                    let expected = ancestors.iter().filter(|at| between(at)).all(|&at| graph.parents_of(at).len() < 2);
                    let place = |number: Number| graph.place(number).unwrap_or_else(|never| match never {});
                    let Ok(found) = is_line(&graph, start.map(place), place(end));
                    prop_assert_eq!(found, expected, "{:?}..{}", start, end);
                }
            }
        }
    }

    #[test]
    fn within_a_chain_nothing_is_read() {
        let graph = Graph::linear(1001);
        let Ok(mut reach) = Reach::of_commits(&graph, &[1001]);
        let Ok(first) = graph.place(1);
        graph.reads.set(0);
        assert_eq!(reach.contains(&graph, first), Ok(true));
        assert_eq!(graph.reads.get(), 0);
    }
}
