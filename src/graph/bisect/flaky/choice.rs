//! What is run next.

use super::belief::{Belief, Model, Runs, Spot};
use super::outlook::Outlooks;

/// As many ways as the runs that are chosen together are followed to come out; the likeliest. From the eighth run on fewer,
/// so that many at a time take no longer for each of them.
const BRANCHES: usize = 32;
const MANY: usize = 8;

/// Entropies nearer to one another than this are the same: what is less is an error of the sums.
const SAME: f64 = 1e-12;

/// One way that the runs chosen so far come out.
struct Branch {
    probability: f64,
    runs: Runs,
    outlooks: Outlooks,
}

impl Branch {
    fn of(model: &Model, probability: f64, runs: Runs, belief: &Belief) -> Self {
        Self { probability, outlooks: model.outlooks(&runs, belief), runs }
    }

    /// Both ways that a run at `spot` comes out.
    fn split(&self, model: &Model, spot: Spot) -> impl Iterator<Item = Self> {
        let bad = self.outlooks.at(spot).bad;
        [(true, bad), (false, 1.0 - bad)].into_iter().filter_map(move |(is_bad, probability)| {
            let mut runs = self.runs.clone();
            runs.add(&model.candidates, spot, is_bad);
            let belief = model.belief(&runs).filter(|_| probability > 0.0)?;
            Some(Self::of(model, self.probability * probability, runs, &belief))
        })
    }
}

/// So many of `spots`, one possibly several times: first those of `first`, and then each time that which leaves the least
/// entropy to expect after it and all before it. Of equals the last of `spots`. None only where there are none.
pub fn choose(model: &Model, runs: &Runs, belief: &Belief, first: &[Spot], spots: &[Spot], count: usize) -> Vec<Spot> {
    let mut chosen: Vec<_> = first.iter().copied().take(count).collect();
    if chosen.len() == count {
        return chosen;
    }
    let mut branches = vec![Branch::of(model, 1.0, runs.clone(), belief)];
    for (before, &spot) in chosen.iter().enumerate() {
        branches = split(model, &branches, spot, before);
    }
    while let Some(spot) = best(&branches, spots) {
        chosen.push(spot);
        if chosen.len() == count {
            break;
        }
        branches = split(model, &branches, spot, chosen.len());
    }
    chosen
}

fn split(model: &Model, branches: &[Branch], spot: Spot, before: usize) -> Vec<Branch> {
    let mut split: Vec<_> = branches.iter().flat_map(|branch| branch.split(model, spot)).collect();
    split.sort_by(|one, other| other.probability.total_cmp(&one.probability));
    split.truncate((BRANCHES * MANY / before.max(MANY)).max(1));
    split
}

fn best(branches: &[Branch], spots: &[Spot]) -> Option<Spot> {
    let entropy = |spot| branches.iter().map(|branch| branch.probability * branch.outlooks.at(spot).entropy).sum();
    let mut best: Option<(Spot, f64)> = None;
    for &spot in spots {
        let entropy: f64 = entropy(spot);
        if best.is_none_or(|(_, least)| entropy < least + SAME) {
            best = Some((spot, entropy.min(best.map_or(f64::INFINITY, |(_, least)| least))));
        }
    }
    best.map(|(spot, _)| spot)
}
