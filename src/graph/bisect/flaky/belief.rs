//! What is believed after some runs.

use super::super::Candidates;
use super::change::support_of_difference;
use super::descent::Descent;
use super::likelihood::{Likelihood, Tally};

/// Where a run takes place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spot {
    /// At an end that descends from no candidate.
    BeforeAll,
    /// At this candidate.
    At(usize),
    /// At an end that descends from every candidate and is none.
    BehindAll,
}

/// All runs, and for each candidate those that come after it: at itself and at what descends from it.
#[derive(Clone, Debug)]
pub struct Runs {
    pub all: Tally,
    pub after: Vec<Tally>,
}

impl Runs {
    /// The runs that come not after a candidate.
    pub fn before(&self, own: usize) -> Tally {
        self.all.without(self.after[own])
    }

    /// Works out what is the same for candidates with the same runs after them once for those in a row: on a line these
    /// are all between two that were run.
    pub fn once_in_a_row<T: Copy>(&self, of: impl Fn(usize) -> T) -> impl FnMut(usize) -> T {
        let mut last: Option<(Tally, T)> = None;
        move |own| match last {
            Some((tally, value)) if tally == self.after[own] => value,
            Some(_) | None => last.insert((self.after[own], of(own))).1,
        }
    }

    pub fn add(&mut self, candidates: &Candidates, spot: Spot, is_bad: bool) {
        self.all.add(is_bad);
        match spot {
            Spot::BeforeAll => {}
            Spot::At(own) => candidates.ancestors(own, |_| false).iter().for_each(|&at| self.after[at].add(is_bad)),
            Spot::BehindAll => self.after.iter_mut().for_each(|after| after.add(is_bad)),
        }
    }
}

/// What is believed.
#[derive(Clone, Debug)]
pub struct Belief {
    /// How probable each candidate is, provided that there is a culprit.
    pub weights: Vec<f64>,
    /// How probable it is that nothing changed.
    pub unchanged: f64,
}

/// What beliefs follow from runs.
#[derive(Clone, Debug)]
pub struct Model {
    pub candidates: Candidates,
    pub descent: Descent,
    /// Whether each candidate may be the culprit as far as its prior goes.
    pub is_open: Vec<bool>,
    /// Whether the rate before the culprit is 0.
    pub one_sided: bool,
    /// Whether it may be that nothing changed.
    pub is_doubted: bool,
    pub likelihood: Likelihood,
}

impl Model {
    /// The logarithm of the likelihood of the runs at the rate before the culprit.
    fn before(&self, tally: Tally) -> f64 {
        match self.one_sided {
            true if tally.bad > 0 => f64::NEG_INFINITY,
            true => 0.0,
            false => self.likelihood.of(tally),
        }
    }

    pub fn rate_before(&self, tally: Tally) -> f64 {
        if self.one_sided { 0.0 } else { tally.expected_rate() }
    }

    /// The logarithm of the likelihood of the runs provided that this candidate is the culprit.
    pub fn of_culprit(&self, runs: &Runs, own: usize) -> f64 {
        let (before, after) = (runs.before(own), runs.after[own]);
        // Whatever fails at all is far enough from never.
        let support = if self.one_sided { 1.0 } else { support_of_difference(before, after) };
        self.before(before) + self.likelihood.of(after) + support.ln()
    }

    /// `None` where no candidate that may be the culprit allows the runs.
    pub fn belief(&self, runs: &Runs) -> Option<Belief> {
        let mut of_culprit = runs.once_in_a_row(|own| self.of_culprit(runs, own));
        let of = |own: usize| if self.is_open[own] { of_culprit(own) } else { f64::NEG_INFINITY };
        let mut weights: Vec<_> = (0..self.candidates.len()).map(of).collect();
        let most = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if most == f64::NEG_INFINITY {
            return None;
        }
        weights.iter_mut().for_each(|weight| *weight = (*weight - most).exp());
        let sum: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= sum);
        let open = self.is_open.iter().filter(|&&is_open| is_open).count() as f64;
        let changed = most + (sum / open).ln();
        let unchanged = match self.is_doubted {
            // One rate for all runs, and that is the rate before a culprit.
            true => 1.0 / (1.0 + (changed - self.before(runs.all)).exp()),
            false => 0.0,
        };
        Some(Belief { weights, unchanged })
    }
}
