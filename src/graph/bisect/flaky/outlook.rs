//! How a run is expected to come out.

use super::belief::{Belief, Model, Runs, Spot};

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

impl Model {
    pub fn outlooks(&self, runs: &Runs, belief: &Belief) -> Outlooks {
        // A run at a spot is at the rate after for those of its ancestors and at that before for all others: it is what
        // a run before all is, and for each ancestor the difference.
        let both =
            |weight: f64, rate: f64| [weight * rate, entropy_term(weight * rate) + entropy_term(weight * (1.0 - rate))];
        let mut all_before = both(belief.unchanged, self.rate_before(runs.all));
        let mut all_differences = [0.0; 2];
        // Those that may be the culprit have the same weight where they have the same runs after them.
        let mut terms = runs.once_in_a_row(|own| {
            let weight = belief.weights[own] * (1.0 - belief.unchanged);
            let before = both(weight, self.rate_before(runs.before(own)));
            let after = both(weight, runs.after[own].expected_rate());
            (before, [after[0] - before[0], after[1] - before[1]])
        });
        let differences = (0..belief.weights.len()).map(|own| {
            if belief.weights[own] == 0.0 {
                return [0.0; 2];
            }
            let (before, difference) = terms(own);
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
