//! Searches by tests that are not steady, played many times, for tests and benches.

use super::super::random::{Case, Dice, Shape, history};
use super::super::{Bounds, Mark, Search, Step};
use super::{FlakySearch, FlakyStep, Standard};
use crate::store::Number;

/// How often a test fails at commits that do not descend from the culprit, and at those that do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// At the former.
    pub before: f64,
    /// At the latter.
    pub after: f64,
}

/// How it is searched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Policy {
    /// Each commit is tested once, by one run.
    Once,
    /// Each commit is tested once, by so many runs; bad where more than half of them are.
    Majority(u64),
    /// Each commit is tested once, by up to so many runs; bad as soon as one is.
    Any(u64),
    /// By a flaky search, so many runs at a time.
    Flaky(Standard, usize),
}

/// What searches came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// How many there were.
    pub searches: u64,
    /// How many found the culprit.
    pub right: u64,
    /// How many found another commit.
    pub wrong: u64,
    /// How many found that nothing changed.
    pub unchanged: u64,
    /// How many found that fewer runs fail from a commit on.
    pub reversed: u64,
    /// How many took more than [`MOST_RUNS`], or ended in another way.
    pub undecided: u64,
    /// How many runs all of them took.
    pub runs: u64,
    /// How often one or more of these were begun at a time.
    pub rounds: u64,
}

/// After how many runs a search is given up.
pub const MOST_RUNS: u64 = 1000;

impl Summary {
    /// The share of searches that found the culprit.
    pub fn accuracy(&self) -> f64 {
        self.right as f64 / self.searches as f64
    }

    /// The share of searches that found the culprit among those that found a commit.
    pub fn precision(&self) -> f64 {
        self.right as f64 / (self.right + self.wrong) as f64
    }

    /// How many runs a search took on average.
    pub fn mean_runs(&self) -> f64 {
        self.runs as f64 / self.searches as f64
    }

    /// How many rounds a search took on average.
    pub fn mean_rounds(&self) -> f64 {
        self.rounds as f64 / self.searches as f64
    }

    /// Both together.
    pub fn and(self, other: Self) -> Self {
        Self {
            searches: self.searches + other.searches,
            right: self.right + other.right,
            wrong: self.wrong + other.wrong,
            unchanged: self.unchanged + other.unchanged,
            reversed: self.reversed + other.reversed,
            undecided: self.undecided + other.undecided,
            runs: self.runs + other.runs,
            rounds: self.rounds + other.rounds,
        }
    }

    fn count(&mut self, found: Option<Number>, culprit: Number) {
        *(match found {
            Some(commit) if commit == culprit => &mut self.right,
            Some(_) => &mut self.wrong,
            None => &mut self.undecided,
        }) += 1;
    }
}

/// A history whose first commit is the good end and whose last is the bad one, and about so many candidates.
pub fn case(dice: &mut Dice, shape: Shape, candidates: Number) -> Case {
    let graph = history(dice, shape, candidates + 1);
    let bounds = Bounds { bad: vec![graph.len()], good: vec![1], first_parent: false };
    Case::of(shape, graph, bounds)
}

/// Plays so many searches in turn on these histories, each for a culprit that `dice` chooses.
pub fn simulate(cases: &[Case], policy: Policy, rates: Rates, searches: u64, dice: &mut Dice) -> Summary {
    let mut summary = Summary::default();
    for case in cases.iter().cycle().zip(0..searches).map(|(case, _)| case) {
        let culprit = dice.pick(case.candidates.numbers());
        summary.searches += 1;
        let mut fails = |commit| {
            let is_after = case.is_ancestor(culprit, commit);
            let rate = if is_after { rates.after } else { rates.before };
            (dice.roll(1_000_000) as f64) < rate * 1e6
        };
        match policy {
            Policy::Once => play_steady(&mut summary, case, culprit, |commit| (fails(commit), 1)),
            Policy::Majority(runs) => play_steady(&mut summary, case, culprit, |commit| {
                let bad = (0..runs).filter(|_| fails(commit)).count() as u64;
                (2 * bad > runs, runs)
            }),
            Policy::Any(runs) => play_steady(&mut summary, case, culprit, |commit| {
                let first = (1..=runs).find(|_| fails(commit));
                (first.is_some(), first.unwrap_or(runs))
            }),
            Policy::Flaky(standard, count) => play(&mut summary, case, culprit, standard, count, fails),
        }
    }
    summary
}

fn play_steady(summary: &mut Summary, case: &Case, culprit: Number, mut test: impl FnMut(Number) -> (bool, u64)) {
    let mut search = Search::new(case.candidates.clone());
    loop {
        let commits = match search.next(1) {
            Step::Test(commits) => commits,
            Step::Found(commit) => return summary.count(Some(commit), culprit),
            Step::Unsure { .. } => return summary.count(None, culprit),
        };
        for commit in commits {
            let (is_bad, runs) = test(commit);
            summary.runs += runs;
            summary.rounds += runs;
            if search.mark(commit, if is_bad { Mark::Bad } else { Mark::Good }).is_err() {
                return summary.count(None, culprit);
            }
        }
    }
}

fn play(
    summary: &mut Summary,
    case: &Case,
    culprit: Number,
    standard: Standard,
    count: usize,
    mut fails: impl FnMut(Number) -> bool,
) {
    let mut search = FlakySearch::new(case.candidates.clone(), &case.bounds.good, standard);
    let mut runs = 0;
    loop {
        let commits = match search.next(count) {
            FlakyStep::Test(commits) => commits,
            FlakyStep::Found(commit) => return summary.count(Some(commit), culprit),
            FlakyStep::NothingChanged => return summary.unchanged += 1,
            FlakyStep::Reversed(_) => return summary.reversed += 1,
            FlakyStep::Impossible { .. } | FlakyStep::Unsure { .. } => return summary.count(None, culprit),
        };
        if runs >= MOST_RUNS {
            return summary.count(None, culprit);
        }
        runs += commits.len() as u64;
        summary.runs += commits.len() as u64;
        summary.rounds += 1;
        for commit in commits {
            let is_bad = fails(commit);
            search.observe(commit, if is_bad { Mark::Bad } else { Mark::Good });
        }
    }
}
