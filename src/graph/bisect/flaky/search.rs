//! The search as it stands after some runs.

use super::super::{Candidates, Mark};
use super::answer::{Evidence, FlakyStep, Posterior, Standard};
use super::belief::{Belief, Model, Runs, Spot};
use super::choice::choose;
use super::descent::Descent;
use super::likelihood::{Likelihood, Tally};
use super::outlook::entropy_term;
use super::rate::Rate;
use crate::store::Number;
use std::collections::{BTreeMap, BTreeSet};

/// How often each end is run before anything else.
const RUNS_OF_ENDS: usize = 3;

/// How probable it has to be at least that nothing changed before that is said: whoever wants less confidence in a commit
/// still wants one.
const SURE: f64 = 0.95;

/// A search for the culprit among candidates by a test that is not steady. Depends on what was observed and not on the
/// order.
///
/// * A run at an end counts as any other: it is at the rate before or after. Each end is run three times first, and later
///   whenever that tells most.
/// * A candidate is skipped when more runs said that it cannot be tested than said something else: it is not run again, and
///   has no prior while others can be. What was observed at it still counts. An end is skipped when three runs and more did.
/// * It is found when it holds the confidence among the candidates and that anything changed does as well. The latter is
///   not asked where no good end may be run: nothing then stands before the first candidate, and whoever names no good
///   end says that there was one.
/// * What lies right behind skipped ones is not found by being told from all others but them: these are run again, and when
///   three runs and more said that they cannot be tested it is unsure which of them it is.
/// * A candidate that is the only one is found no sooner than the ends show that anything changed.
/// * That nothing changed, or that the rates are the other way round, is said as soon as it holds the confidence.
#[derive(Clone, Debug)]
pub struct FlakySearch {
    model: Model,
    runs: Runs,
    /// Of every candidate and every end.
    seen: BTreeMap<Number, Seen>,
    good: BTreeSet<Number>,
    bad: BTreeSet<Number>,
    standard: Standard,
}

#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    tally: Tally,
    /// How many runs said that it cannot be tested.
    skips: usize,
    /// Whether it is not to be run, whatever runs say.
    is_left_out: bool,
}

impl Seen {
    /// More often than not it could not be tested, and so at least this often.
    fn is_skipped(self, least: usize) -> bool {
        self.is_left_out || self.skips >= least && self.skips > self.tally.runs()
    }
}

/// So often something is run at least before it counts as what cannot be tested, where a great deal hangs on it.
const PATIENCE: usize = 3;

impl FlakySearch {
    /// A search in which nothing was run.
    ///
    /// The commits in `good`, good ends and merge bases that have to be good, stand before every candidate. The bad ends
    /// are those of the candidates and stand behind every one, whether they are candidates or not.
    pub fn new(candidates: Candidates, good: &[Number], standard: Standard) -> Self {
        let known = candidates.numbers().iter().chain(good).chain(candidates.bad());
        let bad = candidates.bad().iter().copied().collect();
        Self {
            seen: known.map(|&commit| (commit, Seen::default())).collect(),
            runs: Runs { all: Tally::default(), after: vec![Tally::default(); candidates.len()] },
            model: Model {
                descent: Descent::of(&candidates),
                is_open: vec![true; candidates.len()],
                one_sided: standard.one_sided,
                is_doubted: !good.is_empty(),
                likelihood: Likelihood::new(),
                candidates,
            },
            good: good.iter().copied().collect(),
            bad,
            standard,
        }
    }

    /// Takes in one run. What is neither a candidate nor an end says nothing.
    pub fn observe(&mut self, commit: Number, mark: Mark) {
        let spot = self.spot(commit);
        let Some(seen) = self.seen.get_mut(&commit) else { return };
        let is_bad = match mark {
            Mark::Good => Some(false),
            Mark::Bad => Some(true),
            Mark::Skip => None,
        };
        match is_bad {
            Some(is_bad) => {
                seen.tally.add(is_bad);
                self.runs.add(&self.model.candidates, spot, is_bad);
                self.model.likelihood.extend(self.runs.all.runs());
            }
            None => seen.skips += 1,
        }
        self.open(commit);
    }

    /// Lets a commit be one that is not to be run.
    pub fn leave_out(&mut self, commit: Number) {
        let Some(seen) = self.seen.get_mut(&commit) else { return };
        seen.is_left_out = true;
        self.open(commit);
    }

    /// Opens or closes a commit by what is known of it.
    fn open(&mut self, commit: Number) {
        if let Some(own) = self.model.candidates.index(commit) {
            self.model.is_open[own] = self.is_testable(commit);
        }
        self.model.is_doubted = self.good.iter().any(|&good| self.is_testable(good));
    }

    fn is_testable(&self, commit: Number) -> bool {
        let is_end = self.good.contains(&commit) || self.bad.contains(&commit);
        self.seen.get(&commit).is_some_and(|seen| !seen.is_skipped(if is_end { PATIENCE } else { 1 }))
    }

    /// What is to be done next, with up to `count` runs at a time, at least one. Those chosen together are so for how all of
    /// them may come out.
    pub fn next(&self, count: usize) -> FlakyStep {
        let Some(belief) = self.model.belief(&self.runs) else { return self.without_culprit(count.max(1)) };
        let due = self.due();
        if due.is_empty()
            && let Some(end) = self.end(&belief, count.max(1))
        {
            return end;
        }
        let first: Vec<_> = due.iter().map(|&end| self.spot(end)).collect();
        let model = &self.model;
        let spots = choose(model, &self.runs, &belief, &first, &self.spots(), count.max(1));
        FlakyStep::Test(self.commits(&due, &spots))
    }

    fn ends(&self) -> impl Iterator<Item = Number> {
        self.good.iter().chain(&self.bad).copied().filter(|&end| self.is_testable(end))
    }

    fn spot(&self, commit: Number) -> Spot {
        let is_good_end = self.good.contains(&commit);
        let own = self.model.candidates.index(commit);
        own.map_or(if is_good_end { Spot::BeforeAll } else { Spot::BehindAll }, Spot::At)
    }

    /// The ends that are still to be run before anything else, as often as they are, in turn.
    fn due(&self) -> Vec<Number> {
        let runs = |end: Number| self.seen.get(&end).map_or(0, |seen| seen.tally.runs());
        let turn = |turn| self.ends().filter(move |&end| runs(end) <= turn);
        (0..RUNS_OF_ENDS).flat_map(turn).collect()
    }

    /// Where a run may take place.
    fn spots(&self) -> Vec<Spot> {
        let numbers = self.model.candidates.numbers();
        let candidates = (0..numbers.len()).filter(|&own| self.model.is_open[own]).map(Spot::At);
        let mut spots: Vec<_> = candidates.collect();
        for end in self.ends().map(|end| self.spot(end)) {
            if !spots.contains(&end) {
                spots.push(end);
            }
        }
        spots
    }

    /// The commits to run for these spots, of which the first are those that are due. Of several ends at one spot that
    /// with the fewest runs.
    fn commits(&self, due: &[Number], spots: &[Spot]) -> Vec<Number> {
        let mut commits: Vec<Number> = Vec::new();
        for (place, &spot) in spots.iter().enumerate() {
            let runs = |end: &Number| {
                let chosen = commits.iter().filter(|&commit| commit == end).count();
                self.seen.get(end).map_or(0, |seen| seen.tally.runs()) + chosen
            };
            let commit = match (due.get(place), spot) {
                (Some(&end), _) => Some(end),
                (None, Spot::At(own)) => Some(self.model.candidates.numbers()[own]),
                (None, Spot::BeforeAll | Spot::BehindAll) => {
                    self.ends().filter(|&end| self.spot(end) == spot).min_by_key(runs)
                }
            };
            commits.extend(commit);
        }
        commits
    }

    fn end(&self, belief: &Belief, count: usize) -> Option<FlakyStep> {
        let confidence = self.standard.confidence;
        if belief.unchanged >= confidence.max(SURE) {
            return Some(FlakyStep::NothingChanged);
        }
        let (own, weight) = likeliest(belief)?;
        if weight < confidence || 1.0 - belief.unchanged < confidence {
            return None;
        }
        if let Some(candidates) = self.as_likely(own, weight) {
            return Some(self.again(candidates, Some(self.model.candidates.numbers()[own]), count));
        }
        let commit = self.model.candidates.numbers()[own];
        let (before, after) = (self.runs.before(own), self.runs.after[own]);
        let is_reversed = before.runs() > 0 && self.model.rate_before(before) > after.expected_rate();
        Some(if is_reversed { FlakyStep::Reversed(commit) } else { FlakyStep::Found(commit) })
    }

    /// Runs those of these once more of which that may be tried, but for one, and is unsure where there is none.
    fn again(&self, candidates: Vec<Number>, but: Option<Number>, count: usize) -> FlakyStep {
        let may_be_run = |commit: &Number| self.seen.get(commit).is_some_and(|seen| !seen.is_skipped(PATIENCE));
        let others = candidates.iter().rev().copied().filter(|&commit| Some(commit) != but);
        let again: Vec<_> = others.filter(may_be_run).take(count).collect();
        if again.is_empty() { FlakyStep::Unsure { candidates } } else { FlakyStep::Test(again) }
    }

    /// With a candidate the skipped ones that lead to it without another between, where it does not hold the confidence
    /// beside them: no run tells it from these.
    fn as_likely(&self, own: usize, weight: f64) -> Option<Vec<Number>> {
        let Model { candidates, is_open, .. } = &self.model;
        let mut near = candidates.ancestors(own, |other| other != own && is_open[other]);
        let likelihood = self.model.of_culprit(&self.runs, own);
        let share = |&other: &usize| weight * (self.model.of_culprit(&self.runs, other) - likelihood).exp();
        let skipped: f64 = near.iter().filter(|&&other| other != own).map(share).sum();
        near.retain(|other| share(other) > 0.0);
        near.sort_unstable();
        let is_less = weight / (1.0 + skipped) < self.standard.confidence;
        is_less.then(|| near.into_iter().map(|other| candidates.numbers()[other]).collect())
    }

    fn without_culprit(&self, count: usize) -> FlakyStep {
        let numbers = self.model.candidates.numbers();
        let allowed = |&own: &usize| self.model.of_culprit(&self.runs, own) > f64::NEG_INFINITY;
        let candidates: Vec<_> = (0..numbers.len()).filter(allowed).map(|own| numbers[own]).collect();
        if !candidates.is_empty() || numbers.is_empty() {
            return self.again(candidates, None, count);
        }
        let failed = |commit: &Number| self.seen.get(commit).is_some_and(|seen| seen.tally.bad > 0);
        let mut all: Vec<_> = self.good.iter().copied().filter(failed).collect();
        if all.is_empty() {
            all = self.seen.keys().copied().filter(failed).collect();
        }
        FlakyStep::Impossible { failed: all }
    }

    /// What is believed, whether or not the search is at its end.
    pub fn posterior(&self) -> Posterior {
        let belief = self.model.belief(&self.runs);
        let numbers = self.model.candidates.numbers();
        let weights = belief.as_ref().map_or(&[][..], |belief| &belief.weights);
        let possible = weights.iter().copied().enumerate().filter(|&(_, weight)| weight > 0.0);
        let mut likeliest: Vec<_> = possible.collect();
        likeliest.sort_by(|one, other| other.1.total_cmp(&one.1).then(other.0.cmp(&one.0)));
        let after = likeliest.first().map_or(Tally::default(), |&(own, _)| self.runs.after[own]);
        let mut before = Rate::of(self.runs.all.without(after));
        if self.standard.one_sided {
            before.estimate = 0.0;
        }
        Posterior {
            likeliest: likeliest.into_iter().map(|(own, weight)| (numbers[own], weight)).collect(),
            // Sums of nothing but zeros may have a sign.
            entropy: weights.iter().copied().map(entropy_term).sum::<f64>().abs(),
            changed: belief.map_or(0.0, |belief| 1.0 - belief.unchanged),
            before,
            after: Rate::of(after),
        }
    }

    /// What is known of every candidate and every end, ascending.
    pub fn evidence(&self) -> Vec<Evidence> {
        let evidence = |(&commit, seen): (&Number, &Seen)| Evidence {
            commit,
            good: seen.tally.good as u64,
            bad: seen.tally.bad as u64,
            is_skipped: !self.is_testable(commit),
        };
        self.seen.iter().map(evidence).collect()
    }
}

/// The candidate of the greatest weight, of equals the newest.
fn likeliest(belief: &Belief) -> Option<(usize, f64)> {
    belief.weights.iter().copied().enumerate().max_by(|one, other| one.1.total_cmp(&other.1))
}
