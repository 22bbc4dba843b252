//! What is believed after some runs.

use super::super::Candidates;
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

/// How a run at a spot is expected to come out.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outlook {
    /// How likely it is bad.
    pub bad: f64,
    /// The entropy of what is believed after it, in bits.
    pub entropy: f64,
}

/// The outlook for every spot.
pub struct Outlooks {
    before_all: Outlook,
    candidates: Vec<Outlook>,
    behind_all: Outlook,
}

impl Outlooks {
    pub fn at(&self, spot: Spot) -> Outlook {
        match spot {
            Spot::BeforeAll => self.before_all,
            Spot::At(own) => self.candidates[own],
            Spot::BehindAll => self.behind_all,
        }
    }
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

    fn rate_before(&self, tally: Tally) -> f64 {
        if self.one_sided { 0.0 } else { tally.expected_rate() }
    }

    /// The logarithm of the likelihood of the runs provided that this candidate is the culprit.
    pub fn of_culprit(&self, runs: &Runs, own: usize) -> f64 {
        let after = runs.after[own];
        self.before(runs.all.without(after)) + self.likelihood.of(after)
    }

    /// `None` where no candidate that may be the culprit allows the runs.
    pub fn belief(&self, runs: &Runs) -> Option<Belief> {
        let of = |own: usize| if self.is_open[own] { self.of_culprit(runs, own) } else { f64::NEG_INFINITY };
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
            // With one rate for all runs, that before a culprit.
            true => 1.0 / (1.0 + (changed - self.before(runs.all)).exp()),
            false => 0.0,
        };
        Some(Belief { weights, unchanged })
    }

    pub fn outlooks(&self, runs: &Runs, belief: &Belief) -> Outlooks {
        // A run at a spot is at the rate after for those of its ancestors and at that before for all others: it is what
        // a run before all is, and for each ancestor the difference.
        let both =
            |weight: f64, rate: f64| [weight * rate, entropy_term(weight * rate) + entropy_term(weight * (1.0 - rate))];
        let mut all_before = both(belief.unchanged, self.rate_before(runs.all));
        let mut all_differences = [0.0; 2];
        let differences = belief.weights.iter().zip(&runs.after).map(|(&weight, &tally)| {
            let weight = weight * (1.0 - belief.unchanged);
            if weight == 0.0 {
                return [0.0; 2];
            }
            let before = both(weight, self.rate_before(runs.all.without(tally)));
            let after = both(weight, tally.expected_rate());
            let difference = [after[0] - before[0], after[1] - before[1]];
            for at in 0..2 {
                all_before[at] += before[at];
                all_differences[at] += difference[at];
            }
            difference
        });
        let sums = self.descent.sums(&differences.collect::<Vec<_>>());
        let outlook = |[bad, inner]: [f64; 2]| {
            let bad = (all_before[0] + bad).clamp(0.0, 1.0);
            Outlook { bad, entropy: all_before[1] + inner - entropy_term(bad) - entropy_term(1.0 - bad) }
        };
        Outlooks {
            before_all: outlook([0.0; 2]),
            behind_all: outlook(all_differences),
            candidates: sums.into_iter().map(outlook).collect(),
        }
    }
}

/// What a probability adds to the entropy in bits, which is the sum of all.
pub fn entropy_term(probability: f64) -> f64 {
    if probability > 0.0 { -probability * probability.log2() } else { 0.0 }
}
