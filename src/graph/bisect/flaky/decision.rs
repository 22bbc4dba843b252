//! Whether one thing fails at the one rate or the other.

use super::rate::Rate;

/// Decides by repeated runs of one thing whether it fails at the rate before or at that after: the sequential probability
/// ratio test (Wald 1945).
///
/// Wrong in at most one of `odds` cases at either rate, whenever it is asked. The nearer the rates are to each other the
/// more runs it takes, and between equal ones it never decides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decision {
    /// The rate at which it fails while good. Where it is 0 one failure decides.
    pub before: f64,
    /// The rate at which it fails once bad.
    pub after: f64,
    /// How much likelier the one must make the runs than the other; more than 1.
    pub odds: f64,
}

impl Decision {
    /// Between what runs of something good and of something bad point to, taken as near to each other as the intervals of
    /// 95 % allow, so that a rate which few runs have told is not taken for known; `None` where they overlap. Without
    /// `before` what is good never fails.
    pub fn learnt(before: Option<Rate>, after: Rate, odds: f64) -> Option<Self> {
        let before = before.map_or(0.0, |rate| rate.high);
        (before < after.low).then_some(Self { before, after: after.low, odds })
    }

    /// Whether it is bad, as soon as these runs tell.
    pub fn decided(&self, good: u64, bad: u64) -> Option<bool> {
        /// No other rate is taken to be nearer to 0 or 1, so that no single run counts without limit.
        const EDGE: f64 = 1e-6;
        if self.before == 0.0 && bad > 0 {
            return Some(true);
        }
        let before = self.before.clamp(EDGE, 1.0 - EDGE);
        let after = self.after.clamp(EDGE, 1.0 - EDGE);
        let ratio = |runs: u64, after: f64, before: f64| runs as f64 * (after.ln() - before.ln());
        let told = ratio(bad, after, before) + ratio(good, 1.0 - after, 1.0 - before);
        let enough = self.odds.ln();
        if told >= enough {
            Some(true)
        } else if told <= -enough {
            Some(false)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::random::Dice;
    use super::*;

    /// Runs until it is decided; returns that, and how many runs it took.
    fn decide(decision: Decision, rate: f64, dice: &mut Dice) -> (bool, u64) {
        let (mut good, mut bad) = (0, 0);
        loop {
            if let Some(is_bad) = decision.decided(good, bad) {
                return (is_bad, good + bad);
            }
            *(if (dice.roll(1_000_000) as f64) < rate * 1e6 { &mut bad } else { &mut good }) += 1;
            assert!(good + bad < 5000, "{decision:?}");
        }
    }

    #[test]
    fn it_is_wrong_in_one_of_so_many_cases_at_most() {
        const TIMES: u32 = 4000;
        let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
        for (before, after) in [(0.0, 0.5), (0.0, 1.0), (0.1, 0.9), (0.2, 0.4), (0.9, 1.0), (0.6, 0.3)] {
            for odds in [5.0, 20.0] {
                let decision = Decision { before, after, odds };
                for (rate, expected) in [(before, false), (after, true)] {
                    let wrong = (0..TIMES).filter(|_| decide(decision, rate, &mut dice).0 != expected).count();
                    assert!(wrong as f64 <= f64::from(TIMES) / odds, "{decision:?} at {rate}: {wrong}");
                }
            }
        }
    }

    #[test]
    fn what_few_runs_told_is_not_taken_for_known() {
        let learnt = |before, after| Decision::learnt(before, after, 20.0).map(|learnt| (learnt.before, learnt.after));
        let (never, always) = (Rate::of_runs(0, 10), Rate::of_runs(10, 10));
        assert_eq!(learnt(Some(never), always), Some((never.high, always.low)));
        assert_eq!(learnt(None, always), Some((0.0, always.low)));
        assert!(always.low < 0.75 && never.high > 0.25);
        assert_eq!(learnt(Some(Rate::of_runs(1, 3)), Rate::of_runs(2, 3)), None);
        assert_eq!(learnt(None, Rate::of_runs(0, 10)), None);
        assert_eq!(learnt(Some(always), never), None);
    }

    #[test]
    fn it_decides_no_sooner_than_the_odds_are_reached() {
        let decision = Decision { before: 0.2, after: 0.8, odds: 20.0 };
        // Each run counts four times; 4 · 4 < 20 < 4 · 4 · 4.
        let told =
            [(0, 0), (0, 2), (0, 3), (3, 0), (7, 9), (7, 10), (10, 7)].map(|(good, bad)| decision.decided(good, bad));
        assert_eq!(told, [None, None, Some(true), Some(false), None, Some(true), Some(false)]);
    }

    #[test]
    fn where_good_ones_never_fail_one_failure_decides() {
        let decision = Decision { before: 0.0, after: 0.3, odds: 1e9 };
        assert_eq!(decision.decided(0, 1), Some(true));
        assert_eq!(decision.decided(1_000_000, 1), Some(true));
        assert_eq!(decision.decided(50, 0), None);
        assert_eq!(decision.decided(60, 0), Some(false));
    }

    #[test]
    fn rates_at_the_edge_and_many_runs_are_decided() {
        let decision = Decision { before: 0.5, after: 1.0, odds: 20.0 };
        assert_eq!(
            [decision.decided(1, 0), decision.decided(0, 5), decision.decided(0, 4)],
            [Some(false), Some(true), None]
        );
        let many = Decision { before: 0.3, after: 0.6, odds: 1e12 };
        assert_eq!(many.decided(5_000_000_000, 5_000_000_000), Some(true));
        let same = Decision { before: 0.4, after: 0.4, odds: 20.0 };
        assert_eq!(same.decided(10, 1000), None);
    }
}
