//! How often a test fails, as far as runs have told.

use super::round::{Rule, Runs};
use crate::graph::bisect::{Decision, Rate};

/// How often a test failed where it is good and where it is bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rates {
    /// Whether it is taken never to fail where it is good.
    pub one_sided: bool,
    /// Runs that failed where it is good, and all of them there.
    pub before: (u64, u64),
    /// The same where it is bad.
    pub after: (u64, u64),
}

/// How much likelier runs must be at the one rate than at the other before they are taken for it: many sets are tried, and
/// one that is mistaken leads astray.
const ODDS: f64 = 500.0;

impl Rates {
    /// When the runs of one memory are enough, where these and more runs at the two ends tell two rates apart.
    pub fn rule(self, good: Runs, bad: Runs) -> Option<Rule> {
        let rate = |(failed, all): (u64, u64), more: Runs| {
            Rate::of_runs(failed + more.bad as u64, all + (more.good + more.bad) as u64)
        };
        let before = (!self.one_sided).then(|| rate(self.before, good));
        Decision::learnt(before, rate(self.after, bad), ODDS).map(Rule::Rates)
    }
}
