//! How likely runs are whose rate is unknown.

/// How many runs were good and bad.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub good: usize,
    pub bad: usize,
}

impl Tally {
    pub fn runs(self) -> usize {
        self.good + self.bad
    }

    pub fn add(&mut self, is_bad: bool) {
        *(if is_bad { &mut self.bad } else { &mut self.good }) += 1;
    }

    /// The runs without those of `other`, which are among them.
    pub fn without(self, other: Self) -> Self {
        Self { good: self.good - other.good, bad: self.bad - other.bad }
    }

    /// How likely the next run is bad: the mean of the rate, whose prior is Beta(½, ½).
    pub fn expected_rate(self) -> f64 {
        (self.bad as f64 + 0.5) / (self.runs() as f64 + 1.0)
    }

    /// The variance of the rate.
    pub fn variance(self) -> f64 {
        self.expected_rate() * (1.0 - self.expected_rate()) / (self.runs() as f64 + 2.0)
    }
}

/// Running sums of logarithms, up to so many runs.
#[derive(Clone, Debug)]
pub struct Likelihood {
    /// Of ½, 1½, 2½ …
    halves: Vec<f64>,
    /// Of 1, 2, 3 …
    wholes: Vec<f64>,
}

impl Likelihood {
    pub fn new() -> Self {
        Self { halves: vec![0.0], wholes: vec![0.0] }
    }

    /// Makes it quick for so many runs and somewhat more.
    pub fn extend(&mut self, runs: usize) {
        if runs >= self.halves.len() {
            for count in self.halves.len() - 1..2 * runs {
                self.halves.push(self.halves[count] + (count as f64 + 0.5).ln());
                self.wholes.push(self.wholes[count] + (count as f64 + 1.0).ln());
            }
        }
    }

    /// The natural logarithm of the likelihood of these runs, in the order they came, at a rate with a prior of
    /// Beta(½, ½): of B(bad + ½, good + ½) / B(½, ½).
    pub fn of(&self, tally: Tally) -> f64 {
        sum(&self.halves, tally.bad, 0.5) + sum(&self.halves, tally.good, 0.5) - sum(&self.wholes, tally.runs(), 1.0)
    }
}

/// The sum of the logarithms of so many numbers from `first` on.
fn sum(sums: &[f64], count: usize, first: f64) -> f64 {
    let known = count.min(sums.len() - 1);
    sums[known] + (known..count).map(|at| (at as f64 + first).ln()).sum::<f64>()
}
