//! How often something failed, and what rate that points to.

use super::likelihood::Tally;

/// A rate of failure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// How many of the runs failed.
    pub failed: u64,
    /// How many runs there were.
    pub runs: u64,
    /// The rate to expect.
    pub estimate: f64,
    /// Where the interval of 95 % begins: the score interval of Wilson (1927).
    pub low: f64,
    /// Where it ends.
    pub high: f64,
}

impl Rate {
    /// Of so many runs that failed among all; no more failed than there were.
    pub fn of_runs(failed: u64, runs: u64) -> Self {
        let count = |count: u64| usize::try_from(count).expect("runs are counted in memory");
        Self::of(Tally { good: count(runs - failed), bad: count(failed) })
    }

    pub(super) fn of(tally: Tally) -> Self {
        /// What a normal variate is from its mean in 95 % of cases at most, in standard deviations.
        const Z: f64 = 1.959_963_984_540_054;
        let rate = Self {
            failed: tally.bad as u64,
            runs: tally.runs() as u64,
            estimate: tally.expected_rate(),
            low: 0.0,
            high: 1.0,
        };
        if tally.runs() == 0 {
            return rate;
        }
        let (bad, good, runs) = (tally.bad as f64, tally.good as f64, tally.runs() as f64);
        let middle = (bad + Z * Z / 2.0) / (runs + Z * Z);
        let half = Z / (runs + Z * Z) * (bad * good / runs + Z * Z / 4.0).sqrt();
        // At the very edge it is exact; sums may miss it.
        let low = if tally.bad == 0 { 0.0 } else { middle - half };
        let high = if tally.good == 0 { 1.0 } else { middle + half };
        Self { low, high, ..rate }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_that_of_wilson() {
        let rows = [(0, 10, 0.0, 0.2775), (1, 10, 0.0179, 0.4042), (5, 10, 0.2366, 0.7634), (10, 10, 0.7225, 1.0)];
        for (bad, runs, low, high) in rows {
            let rate = Rate::of(Tally { good: runs - bad, bad });
            assert_eq!((rate.failed, rate.runs), (bad as u64, runs as u64));
            assert!((rate.low - low).abs() < 1e-4 && (rate.high - high).abs() < 1e-4, "{rate:?}");
            assert!((rate.estimate - (bad as f64 + 0.5) / (runs as f64 + 1.0)).abs() < 1e-12);
        }
        let none = Rate { failed: 0, runs: 0, estimate: 0.5, low: 0.0, high: 1.0 };
        assert_eq!(Rate::of(Tally::default()), none);
    }
}
