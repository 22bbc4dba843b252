//! Whether one thing fails at the one rate or the other.

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
