//! The search as it stands after some runs.

use super::super::{Candidates, Mark};
use super::belief::{Belief, Model, Runs, Spot, entropy_term};
use super::choice::choose;
use super::descent::Descent;
use super::likelihood::{Likelihood, Tally};
use super::rate::Rate;
use crate::store::Number;
use std::collections::BTreeMap;

/// How often each end is run before anything else.
const RUNS_OF_ENDS: usize = 3;

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
    /// The culprit is one of these, and none may be run. Ancestors come before descendants. None only where there was no
    /// candidate.
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
    /// Whether it is not to be run again.
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
    /// How probable it is that there is a culprit and not one rate for all runs.
    pub changed: f64,
    /// How often runs failed that the likeliest is no ancestor of. Where there is none these are all runs.
    pub before: Rate,
    /// How often runs failed at the likeliest and at what descends from it.
    pub after: Rate,
}

/// A search for the culprit among candidates by a test that is not steady. Depends on what was observed and not on the
/// order.
///
/// * A run at an end counts as any other: it is at the rate before or after. Each end is run three times first, and later
///   whenever that tells most.
/// * A candidate that is skipped is taken not to be the culprit. What was observed at it still counts.
/// * It is found when it holds the confidence among the candidates and that anything changed does as well. The latter is
///   not asked where no good end may be run: nothing then stands before the first candidate, and whoever names no good
///   end says that there was one.
/// * Only one candidate, or one that all runs point to, is found no sooner than the ends show that anything changed.
#[derive(Clone, Debug)]
pub struct FlakySearch {
    model: Model,
    runs: Runs,
    /// Of every candidate and every end.
    seen: BTreeMap<Number, Seen>,
    good: Vec<Number>,
    standard: Standard,
}

#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    tally: Tally,
    is_skipped: bool,
}

impl FlakySearch {
    /// A search in which nothing was run.
    ///
    /// The commits in `good`, good ends and merge bases that have to be good, stand before every candidate. The bad ends
    /// are those of the candidates and stand behind every one, whether they are candidates or not.
    pub fn new(candidates: Candidates, good: &[Number], standard: Standard) -> Self {
        let mut good = good.to_vec();
        good.sort_unstable();
        good.dedup();
        let known = candidates.numbers().iter().chain(&good).chain(candidates.bad());
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
            good,
            standard,
        }
    }

    /// Takes in one run. A skip says that a commit is not to be run again and is not the culprit; one at an end only the
    /// former. What is neither a candidate nor an end says nothing.
    pub fn observe(&mut self, commit: Number, mark: Mark) {
        let Some(seen) = self.seen.get_mut(&commit) else { return };
        let own = self.model.candidates.index(commit);
        let is_bad = match mark {
            Mark::Good => false,
            Mark::Bad => true,
            Mark::Skip => {
                seen.is_skipped = true;
                own.into_iter().for_each(|own| self.model.is_open[own] = false);
                self.model.is_doubted = self.good.iter().any(|&good| self.is_testable(good));
                return;
            }
        };
        seen.tally.add(is_bad);
        let spot = self.spot(commit);
        self.runs.add(&self.model.candidates, spot, is_bad);
        self.model.likelihood.extend(self.runs.all.runs());
    }

    fn is_testable(&self, commit: Number) -> bool {
        self.seen.get(&commit).is_some_and(|seen| !seen.is_skipped)
    }

    /// What is to be done next, with up to `count` runs at a time, at least one. Those chosen together are so for how all of
    /// them may come out.
    pub fn next(&self, count: usize) -> FlakyStep {
        let Some(belief) = self.model.belief(&self.runs) else { return self.without_culprit() };
        let due = self.due();
        if due.is_empty()
            && let Some(end) = self.end(&belief)
        {
            return end;
        }
        let first: Vec<_> = due.iter().map(|&end| self.spot(end)).collect();
        let model = &self.model;
        let spots = choose(model, &self.runs, &belief, &first, &self.spots(), count.max(1));
        FlakyStep::Test(self.commits(&due, &spots))
    }

    fn ends(&self) -> impl Iterator<Item = Number> {
        let ends = self.good.iter().chain(self.model.candidates.bad());
        ends.copied().filter(|&end| self.is_testable(end))
    }

    fn spot(&self, commit: Number) -> Spot {
        let is_good_end = self.good.binary_search(&commit).is_ok();
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

    fn end(&self, belief: &Belief) -> Option<FlakyStep> {
        let confidence = self.standard.confidence;
        if belief.unchanged >= confidence {
            return Some(FlakyStep::NothingChanged);
        }
        let (own, weight) = likeliest(belief)?;
        if weight < confidence || 1.0 - belief.unchanged < confidence {
            return None;
        }
        let commit = self.model.candidates.numbers()[own];
        let after = self.runs.after[own];
        let is_reversed = self.runs.all.without(after).expected_rate() > after.expected_rate();
        Some(if is_reversed && !self.standard.one_sided {
            FlakyStep::Reversed(commit)
        } else {
            FlakyStep::Found(commit)
        })
    }

    fn without_culprit(&self) -> FlakyStep {
        let numbers = self.model.candidates.numbers();
        let allowed = |&own: &usize| self.model.of_culprit(&self.runs, own) > f64::NEG_INFINITY;
        let candidates: Vec<_> = (0..numbers.len()).filter(allowed).map(|own| numbers[own]).collect();
        if !candidates.is_empty() || numbers.is_empty() {
            return FlakyStep::Unsure { candidates };
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
            entropy: weights.iter().copied().map(entropy_term).sum(),
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
            is_skipped: seen.is_skipped,
        };
        self.seen.iter().map(evidence).collect()
    }
}

/// The candidate of the greatest weight, of equals the newest.
fn likeliest(belief: &Belief) -> Option<(usize, f64)> {
    belief.weights.iter().copied().enumerate().max_by(|one, other| one.1.total_cmp(&other.1))
}
