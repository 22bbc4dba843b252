//! What a search is asked for, and what it says.

use super::rate::Rate;
use crate::store::Number;

/// How sure a search has to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standard {
    /// How probable the answer has to be; at least 0.5 and less than 1.
    pub confidence: f64,
    /// Whether what is good never fails.
    pub one_sided: bool,
}

/// What is to be done next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FlakyStep {
    /// Run these commits; at least one, the same possibly several times. The results may come in any order.
    Test(Vec<Number>),
    /// This is the culprit, as sure as is asked for: more runs fail from it on than before it.
    Found(Number),
    /// From this commit on fewer runs fail than before it, as sure as is asked for: most likely the ends are swapped.
    Reversed(Number),
    /// All runs fail at one rate, as sure as is asked for. With a rate before of 0 that is: it never fails.
    NothingChanged,
    /// What is good never fails, and still these failed, which have no candidate as an ancestor in common: the good ends
    /// among them, or where there are none all that failed. Ascending.
    Impossible {
        /// The commits that failed.
        failed: Vec<Number>,
    },
    /// The culprit is one of these, and no run tells which: all of them are skipped, but for one at most that comes right
    /// behind them. Ancestors come before descendants. None only where there was no candidate.
    Unsure {
        /// The commits that are left.
        candidates: Vec<Number>,
    },
}

/// What is known of one commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The commit: a candidate or an end.
    pub commit: Number,
    /// How many runs were good.
    pub good: u64,
    /// How many were bad.
    pub bad: u64,
    /// Whether it is not to be run again: more of its runs said that it cannot be tested than said something else.
    pub is_skipped: bool,
}

/// What is believed.
#[derive(Clone, Debug, PartialEq)]
pub struct Posterior {
    /// The candidates that may be the culprit, with how probable each is provided that there is one: the likeliest first,
    /// of equals the newest. Empty where none may be.
    pub likeliest: Vec<(Number, f64)>,
    /// Its entropy in bits.
    pub entropy: f64,
    /// How probable it is that there is a culprit and not one rate for all runs. 0 where no candidate may be.
    pub changed: f64,
    /// How often runs failed that the likeliest is no ancestor of. Where there is none these are all runs.
    pub before: Rate,
    /// How often runs failed at the likeliest and at what descends from it.
    pub after: Rate,
}
