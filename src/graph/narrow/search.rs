//! The search as it stands after some tries.

use super::ahead::ahead;
use super::reduction::Reduction;
use std::collections::BTreeMap;

/// What a try said of a set of changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tried {
    /// With these changes the test fails.
    Fails,
    /// It passes.
    Passes,
    /// Neither can be said. Counts as not failing.
    Unresolved,
}

/// What is to be done next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NarrowStep {
    /// Try these sets of changes; at least one, and none that was tried. Each ascends. The results may come in any order.
    Try(Vec<Vec<usize>>),
    /// With these the test fails, and without any one of them it does not: each such set was tried. Ascending.
    Found(Vec<usize>),
    /// It fails without any change.
    FailsWithout,
    /// It does not fail with all of them; what it does instead.
    PassesWithAll(Tried),
}

/// A search for a minimal set of changes with which a test fails. Depends on what was told and not on the order, nor on how
/// many sets are tried at a time.
#[derive(Clone, Debug)]
pub struct Narrow {
    count: usize,
    known: BTreeMap<Vec<usize>, Tried>,
    /// Begun when both ends are as they should be, and as far as what is known leads.
    reduction: Option<Reduction>,
}

impl Narrow {
    /// A search among so many changes, which are spoken of by their numbers from 0, in which nothing was tried.
    pub fn new(count: usize) -> Self {
        Self { count, known: BTreeMap::new(), reduction: None }
    }

    /// What is to be done next, with up to `count` tries at a time, at least one.
    ///
    /// First are no change at all and all of them, with nothing beside; after that come sets that the search waits for or
    /// is likely to wait for. Until something new is told the answer is the same.
    pub fn next(&self, count: usize) -> NarrowStep {
        let ends = [Vec::new(), self.all()];
        match ends.each_ref().map(|end| self.known.get(end)) {
            [Some(Tried::Fails), _] => return NarrowStep::FailsWithout,
            [_, Some(&tried @ (Tried::Passes | Tried::Unresolved))] => return NarrowStep::PassesWithAll(tried),
            [Some(Tried::Passes | Tried::Unresolved) | None, Some(Tried::Fails) | None] => {}
        }
        match &self.reduction {
            Some(reduction) if reduction.wanted().is_none() => NarrowStep::Found(reduction.set()),
            Some(reduction) => NarrowStep::Try(ahead(reduction, &self.known, count)),
            None => {
                let mut open: Vec<_> = ends.into_iter().filter(|end| !self.known.contains_key(end)).collect();
                open.dedup();
                open.truncate(count.max(1));
                NarrowStep::Try(open)
            }
        }
    }

    /// Takes in what a try of a set said, which ascends; asked for or not, and at any time. What was said first of a set
    /// stands.
    pub fn tell(&mut self, set: &[usize], tried: Tried) {
        self.known.entry(set.to_vec()).or_insert(tried);
        if self.reduction.is_none() && !self.is_without() && self.known.get(&self.all()) == Some(&Tried::Fails) {
            self.reduction = Some(Reduction::of(&self.all()));
        }
        let Some(reduction) = &mut self.reduction else { return };
        while let Some(&tried) = reduction.wanted().and_then(|set| self.known.get(set)) {
            reduction.take(tried);
        }
    }

    /// The smallest set so far with which the test fails, if there is one; of several the first.
    pub fn smallest(&self) -> Option<&[usize]> {
        let failing = self.known.iter().filter(|(_, tried)| **tried == Tried::Fails);
        failing.map(|(set, _)| set.as_slice()).min_by_key(|set| set.len())
    }

    fn all(&self) -> Vec<usize> {
        (0..self.count).collect()
    }

    /// Whether it is open or so that the test fails without any change.
    fn is_without(&self) -> bool {
        !matches!(self.known.get(&[][..]), Some(Tried::Passes | Tried::Unresolved))
    }
}
