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

    /// The parents outside their own chain of the commits of `chain` at these positions.
    fn chain_parents(&self, chain: Number, positions: RangeInclusive<u64>) -> Result<Vec<Place>, Self::Error>;
}

impl<A: Access> Chains for Tables<A> {
    type Error = StoreError;

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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cell::Cell;
    use std::collections::BTreeSet;
    use std::convert::Infallible;

    /// A graph in memory that lays its chains as the store does.
    #[derive(Debug, Default)]
    struct Graph {
        parents: Vec<Vec<usize>>,
        places: Vec<Place>,
        rows: BTreeMap<(Number, u64), Vec<Place>>,
        tips: BTreeMap<Number, u64>,
        reads: Cell<usize>,
    }

    impl Graph {
        fn push(&mut self, parents: Vec<usize>) {
            let own = self.parents.len() as u64 + 1;
            let mut outside: Vec<_> = parents.iter().map(|&parent| self.places[parent]).collect();
            let mut place = Place { chain: own, position: 0 };
            if let Some(&first) = outside.first()
                && self.tips[&first.chain] == first.position
            {
                place = Place { chain: first.chain, position: first.position + 1 };
                outside.remove(0);
            }
            if !outside.is_empty() {
                self.rows.insert((place.chain, place.position), outside);
            }
            self.tips.insert(place.chain, place.position);
            self.places.push(place);
            self.parents.push(parents);
        }

        fn ancestors(&self, of: usize) -> BTreeSet<usize> {
            let (mut found, mut open) = (BTreeSet::new(), vec![of]);
            while let Some(commit) = open.pop() {
                if found.insert(commit) {
                    open.extend(&self.parents[commit]);
                }
            }
            found
        }
    }

    impl Chains for Graph {
        type Error = Infallible;

        fn chain_parents(&self, chain: Number, positions: RangeInclusive<u64>) -> Result<Vec<Place>, Infallible> {
            self.reads.set(self.reads.get() + 1);
            let range = self.rows.range((chain, *positions.start())..=(chain, *positions.end()));
            Ok(range.flat_map(|(_, places)| places.clone()).collect())
        }
    }

    proptest! {
        #[test]
        fn reach_agrees_with_a_walk(seeds in proptest::collection::vec((any::<u32>(), any::<u32>(), 0u8..6), 1..60)) {
            let mut graph = Graph::default();
            for (a, b, kind) in seeds {
                let size = graph.parents.len();
                let pick = |seed: u32| seed as usize % size;
                graph.push(match kind {
                    _ if size == 0 => vec![],
                    0 => vec![],
                    1 | 2 => vec![pick(a)],
                    3 if pick(a) != pick(b) => vec![pick(a), pick(b)],
                    _ => vec![size - 1],
                });
            }
            for of in 0..graph.parents.len() {
                let expected = graph.ancestors(of);
                let mut reach = Reach::of([graph.places[of]]);
                for other in 0..graph.parents.len() {
                    let Ok(found) = reach.contains(&graph, graph.places[other]);
                    prop_assert_eq!(found, expected.contains(&other), "{} of {}", other, of);
                }
            }
        }
    }

    #[test]
    fn within_a_chain_nothing_is_read() {
        let mut graph = Graph::default();
        graph.push(vec![]);
        for parent in 0..1000 {
            graph.push(vec![parent]);
        }
        let mut reach = Reach::of([graph.places[1000]]);
        assert_eq!(reach.contains(&graph, graph.places[0]), Ok(true));
        assert_eq!(graph.reads.get(), 0);
    }
}
