//! The search as it stands after some tests.

use super::{Candidates, pick};
use crate::store::Number;
use std::collections::BTreeSet;

/// What a test said of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// The culprit is none of its ancestors.
    Good,
    /// The culprit is one of its ancestors.
    Bad,
    /// It cannot be tested. Says nothing of a commit that is marked otherwise too, before or after.
    Skip,
}

/// What is to be done next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Test these commits; at least one. The results may come in any order.
    Test(Vec<Number>),
    /// This is the culprit.
    Found(Number),
    /// The culprit is one of these, and no commit that may be tested tells which. Ancestors come before descendants. None
    /// only where there was no candidate.
    Unsure {
        /// The commits that are left.
        candidates: Vec<Number>,
    },
}

/// Why no commit can be the culprit: what was said of commits doesn't go together. A test that isn't steady, or more than
/// one change from good to bad or back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contradiction {
    /// A commit that is good and bad.
    Both(Number),
    /// A good commit that descends from a bad one.
    Mended {
        /// The ancestor.
        bad: Number,
        /// The descendant.
        good: Number,
    },
    /// No candidate is left that is an ancestor of all of these bad commits and of no good one.
    Unexplained {
        /// Ascending; of those that descend from one another only the oldest.
        bad: Vec<Number>,
    },
}

impl Contradiction {
    /// Of a bad commit that is an ancestor of a good one.
    pub fn between(bad: Number, good: Number) -> Self {
        if bad == good { Self::Both(bad) } else { Self::Mended { bad, good } }
    }
}

/// A search for the culprit among candidates. Depends on what was marked and not on the order.
#[derive(Clone, Debug)]
pub struct Search {
    candidates: Candidates,
    good: BTreeSet<usize>,
    bad: BTreeSet<usize>,
    skipped: BTreeSet<usize>,
    /// For each candidate whether it is an ancestor of a good one.
    is_good: Vec<bool>,
    /// Those that may be the culprit: ancestors of all bad ones and of no good one, ascending.
    left: Vec<usize>,
}

impl Search {
    /// A search in which nothing was tested.
    pub fn new(candidates: Candidates) -> Self {
        Self {
            good: BTreeSet::new(),
            bad: candidates.bad().iter().filter_map(|&bad| candidates.index(bad)).collect(),
            skipped: BTreeSet::new(),
            is_good: vec![false; candidates.len()],
            left: (0..candidates.len()).collect(),
            candidates,
        }
    }

    /// A search in which these marks were made.
    pub fn of(candidates: Candidates, marks: impl IntoIterator<Item = (Number, Mark)>) -> Result<Self, Contradiction> {
        let mut search = Self::new(candidates);
        for (commit, mark) in marks {
            search.mark(commit, mark)?;
        }
        Ok(search)
    }

    /// Takes in what a test said of any candidate, at any time. What doesn't go together with the marks before is not
    /// taken in. Of a commit that is no candidate nothing is; what is known of one belongs in the bounds of the search.
    pub fn mark(&mut self, commit: Number, mark: Mark) -> Result<(), Contradiction> {
        let Some(own) = self.candidates.index(commit) else { return Ok(()) };
        match mark {
            Mark::Good => self.mark_good(own),
            Mark::Bad => self.mark_bad(own),
            Mark::Skip => {
                self.skipped.insert(own);
                Ok(())
            }
        }
    }

    fn mark_good(&mut self, own: usize) -> Result<(), Contradiction> {
        let found = self.candidates.ancestors(own, |candidate| self.is_good[candidate]);
        if let Some(&bad) = found.iter().filter(|candidate| self.bad.contains(candidate)).max() {
            return Err(self.between(bad, own));
        }
        let mut is_good = self.is_good.clone();
        for candidate in found {
            is_good[candidate] = true;
        }
        let left: Vec<_> = self.left.iter().copied().filter(|&candidate| !is_good[candidate]).collect();
        if left.is_empty() {
            return Err(self.unexplained(None));
        }
        (self.left, self.is_good) = (left, is_good);
        self.good.insert(own);
        Ok(())
    }

    fn mark_bad(&mut self, own: usize) -> Result<(), Contradiction> {
        if self.is_good[own] {
            let descends = |good: &usize| self.candidates.ancestors(*good, |_| false).contains(&own);
            let good = self.good.iter().copied().find(descends);
            return Err(self.between(own, good.expect("a good commit has what is an ancestor of a good one")));
        }
        let mut is_ancestor = vec![false; self.candidates.len()];
        for candidate in self.candidates.ancestors(own, |candidate| self.is_good[candidate]) {
            is_ancestor[candidate] = true;
        }
        let left: Vec<_> = self.left.iter().copied().filter(|&candidate| is_ancestor[candidate]).collect();
        if left.is_empty() {
            return Err(self.unexplained(Some(own)));
        }
        self.left = left;
        self.bad.insert(own);
        Ok(())
    }

    fn between(&self, bad: usize, good: usize) -> Contradiction {
        let numbers = self.candidates.numbers();
        Contradiction::between(numbers[bad], numbers[good])
    }

    fn unexplained(&self, new: Option<usize>) -> Contradiction {
        let bad: BTreeSet<_> = self.bad.iter().copied().chain(new).collect();
        let is_oldest = |own: &&usize| {
            self.candidates.ancestors(**own, |_| false).iter().all(|other| other == *own || !bad.contains(other))
        };
        let bad: Vec<_> = bad.iter().filter(is_oldest).map(|&own| self.candidates.numbers()[own]).collect();
        Contradiction::Unexplained { bad: if bad.is_empty() { self.candidates.bad().to_vec() } else { bad } }
    }

    /// What is to be done next, with up to `count` tests at a time, at least one.
    ///
    /// One candidate that is left is the culprit, tested or not, for all others are ruled out.
    pub fn next(&self, count: usize) -> Step {
        let numbers = self.candidates.numbers();
        if let [only] = self.left[..] {
            return Step::Found(numbers[only]);
        }
        let mut picks = pick::spread(&self.candidates, &self.left, &self.skipped, count.max(1));
        if picks.is_empty() {
            let open: Vec<_> = (0..self.candidates.len()).filter(|&candidate| !self.is_good[candidate]).collect();
            picks.extend(pick::beside(&self.candidates, &self.left, &open, &self.skipped));
        }
        if picks.is_empty() {
            return Step::Unsure { candidates: self.left.iter().map(|&candidate| numbers[candidate]).collect() };
        }
        Step::Test(picks.into_iter().map(|candidate| numbers[candidate]).collect())
    }

    /// Whether the test of a commit would still rule out a candidate, whatever it says. One that is being run and is not
    /// needed any more may be ended.
    pub fn is_needed(&self, commit: Number) -> bool {
        let Some(own) = self.candidates.index(commit) else { return false };
        let found = self.candidates.ancestors(own, |candidate| self.is_good[candidate]);
        let ancestors = found.iter().filter(|candidate| self.left.binary_search(candidate).is_ok()).count();
        ancestors > 0 && ancestors < self.left.len()
    }

    /// The commits that may be the culprit, ancestors before descendants.
    pub fn remaining(&self) -> Vec<Number> {
        self.left.iter().map(|&candidate| self.candidates.numbers()[candidate]).collect()
    }

    /// How many commits may be the culprit.
    pub fn left(&self) -> usize {
        self.left.len()
    }

    /// About how many tests are to be made one after the other, the next included, skips aside. git's estimate of those
    /// after the next, and one.
    pub fn steps(&self) -> u32 {
        let left = self.left.len();
        let Some(log) = left.checked_ilog2().filter(|&log| log > 0) else { return 0 };
        let whole = 1 << log;
        // Nearer to the power of two below than to that above it most searches end a step earlier.
        if whole >= 3 * (left - whole) { log } else { log + 1 }
    }
}
