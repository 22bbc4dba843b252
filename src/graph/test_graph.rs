//! A commit graph in memory, for tests and benches.

use super::ancestry::Chains;
use super::walk::Commits;
use crate::store::{Number, Place};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::ops::RangeInclusive;

/// Commits numbered from 1, in chains laid as the store lays them.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    parents: Vec<Vec<Number>>,
    places: Vec<Place>,
    rows: BTreeMap<(Number, u64), Vec<Place>>,
    tips: BTreeMap<Number, u64>,
    /// How many commits and ranges of chains were read.
    pub reads: Cell<usize>,
}

fn at(number: Number) -> usize {
    usize::try_from(number).expect("small") - 1
}

impl Graph {
    /// A graph of commits with these parents.
    pub fn of(parents: impl IntoIterator<Item = Vec<Number>>) -> Self {
        let mut graph = Self::default();
        for parents in parents {
            graph.push(parents);
        }
        graph
    }

    /// One commit after the other.
    pub fn linear(count: Number) -> Self {
        Self::of((0..count).map(|before| if before == 0 { vec![] } else { vec![before] }))
    }

    /// Adds a commit with these parents and returns its number.
    pub fn push(&mut self, parents: Vec<Number>) -> Number {
        let own = self.len() + 1;
        let mut outside: Vec<_> = parents.iter().map(|&parent| self.places[at(parent)]).collect();
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
        own
    }

    /// How many commits there are, which is the number of the last.
    pub fn len(&self) -> Number {
        self.parents.len() as Number
    }

    /// The parents of a commit.
    pub fn parents_of(&self, number: Number) -> &[Number] {
        &self.parents[at(number)]
    }

    /// The ancestors of a commit, itself among them.
    pub fn ancestors(&self, of: Number) -> BTreeSet<Number> {
        let (mut found, mut open) = (BTreeSet::new(), vec![of]);
        while let Some(commit) = open.pop() {
            if found.insert(commit) {
                open.extend(self.parents_of(commit));
            }
        }
        found
    }
}

impl Commits for Graph {
    type Commit = Vec<Number>;
    type Error = Infallible;

    fn commit(&self, number: Number) -> Result<Vec<Number>, Infallible> {
        self.reads.set(self.reads.get() + 1);
        Ok(self.parents_of(number).to_vec())
    }

    fn parents(commit: &Vec<Number>) -> &[Number] {
        commit
    }
}

impl Chains for Graph {
    type Error = Infallible;

    fn place(&self, number: Number) -> Result<Place, Infallible> {
        self.reads.set(self.reads.get() + 1);
        Ok(self.places[at(number)])
    }

    fn chain_parents(&self, chain: Number, positions: RangeInclusive<u64>) -> Result<Vec<Place>, Infallible> {
        self.reads.set(self.reads.get() + 1);
        let range = self.rows.range((chain, *positions.start())..=(chain, *positions.end()));
        Ok(range.flat_map(|(_, places)| places.clone()).collect())
    }
}
