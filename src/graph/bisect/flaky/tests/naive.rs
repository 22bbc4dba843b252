//! What is believed and what is run next, against the same by the definition: run after run and candidate after candidate.

use super::super::super::{Candidates, Mark};
use super::super::change::support_of_difference;
use super::super::descent::Descent;
use super::super::likelihood::Tally;
use super::super::{FlakySearch, FlakyStep, Standard};
use super::random::{Case, Dice, cases};
use crate::store::Number;
use std::collections::BTreeSet;

/// A search that keeps every run.
struct Naive<'c> {
    case: &'c Case,
    candidates: Vec<Number>,
    one_sided: bool,
    is_doubted: bool,
}

/// What is believed: the candidates that may be the culprit with their probabilities, and that nothing changed.
struct Believed {
    weights: Vec<(Number, f64)>,
    unchanged: f64,
}

/// How likely each next run is bad, given those before it.
fn chance(tally: Tally, is_good_rate: bool, one_sided: bool) -> f64 {
    if is_good_rate && one_sided { 0.0 } else { (tally.bad as f64 + 0.5) / ((tally.good + tally.bad) as f64 + 1.0) }
}

impl Naive<'_> {
    /// The runs before and after a culprit, and how likely they are; without a culprit all are before.
    fn of(&self, runs: &[(Number, bool)], culprit: Option<Number>) -> ([Tally; 2], f64) {
        let (mut tallies, mut likelihood) = ([Tally::default(); 2], 1.0);
        for &(commit, is_bad) in runs {
            let is_after = culprit.is_some_and(|culprit| self.case.is_ancestor(culprit, commit));
            let tally = &mut tallies[usize::from(is_after)];
            let chance = chance(*tally, !is_after, self.one_sided);
            likelihood *= if is_bad { chance } else { 1.0 - chance };
            if is_bad { tally.bad += 1 } else { tally.good += 1 }
        }
        (tallies, likelihood)
    }

    fn believed(&self, runs: &[(Number, bool)]) -> Option<Believed> {
        let of = |&own: &Number| {
            let ([before, after], likelihood) = self.of(runs, Some(own));
            (own, likelihood * if self.one_sided { 1.0 } else { support_of_difference(before, after) })
        };
        let mut weights: Vec<_> = self.candidates.iter().map(of).collect();
        let sum: f64 = weights.iter().map(|&(_, weight)| weight).sum();
        let changed = sum / weights.len() as f64;
        let same = if self.is_doubted { self.of(runs, None).1 } else { 0.0 };
        weights.retain(|&(_, weight)| weight > 0.0);
        weights.iter_mut().for_each(|(_, weight)| *weight /= sum);
        weights.sort_by(|one, other| other.1.total_cmp(&one.1));
        (!weights.is_empty()).then(|| Believed { weights, unchanged: same / (changed + same) })
    }

    /// How likely each of all explanations makes it that a run is bad, with how probable the explanation is.
    fn explanations(&self, runs: &[(Number, bool)], commit: Number) -> Vec<(f64, f64)> {
        let Some(believed) = self.believed(runs) else { return Vec::new() };
        let changed = believed.weights.iter().map(|&(own, weight)| (Some(own), weight * (1.0 - believed.unchanged)));
        let all = changed.chain([(None, believed.unchanged)]);
        let explanation = |(culprit, probability): (Option<Number>, f64)| {
            let is_after = culprit.is_some_and(|culprit| self.case.is_ancestor(culprit, commit));
            let tally = self.of(runs, culprit).0[usize::from(is_after)];
            (probability, chance(tally, !is_after, self.one_sided))
        };
        all.map(explanation).collect()
    }

    /// The entropy that is expected after runs at `chosen` and then one at `commit`.
    fn expected(&self, runs: &[(Number, bool)], chosen: &[Number], commit: Number) -> f64 {
        let next = chosen.first().copied().unwrap_or(commit);
        let explanations = self.explanations(runs, next);
        let mut expected = 0.0;
        for is_bad in [false, true] {
            let of = |&(probability, chance): &(f64, f64)| probability * if is_bad { chance } else { 1.0 - chance };
            let outcome: f64 = explanations.iter().map(of).sum();
            if outcome > 0.0 {
                expected += outcome
                    * if let Some((_, chosen)) = chosen.split_first() {
                        self.expected(&[runs, &[(next, is_bad)]].concat(), chosen, commit)
                    } else {
                        let shares = explanations.iter().map(|explanation| of(explanation) / outcome);
                        shares.filter(|&share| share > 0.0).map(|share| -share * share.log2()).sum()
                    };
            }
        }
        expected
    }
}

/// Runs at random commits, and every end three times.
fn some_runs(dice: &mut Dice, case: &Case, one_sided: bool) -> Vec<(Number, bool)> {
    let culprit = dice.pick(case.candidates.numbers());
    let ends = case.bounds.good.iter().chain(&case.bounds.bad).copied();
    let mut commits: Vec<_> = ends.flat_map(|end| [end; 3]).collect();
    commits.extend((0..dice.roll(12)).map(|_| dice.pick(case.candidates.numbers())));
    let (before, after) = (if one_sided { 0 } else { dice.roll(6) }, dice.roll(6) + 4);
    let run = |commit| {
        let rate = if case.is_ancestor(culprit, commit) { after } else { before };
        (commit, dice.roll(10) < rate)
    };
    commits.into_iter().map(run).collect()
}

/// Searches on random histories, half of them among some commits only, with some runs and skips.
fn searches(seed: u64, count: usize, most: Number, mut look: impl FnMut(FlakySearch, Naive, &[(Number, bool)])) {
    let mut dice = Dice(seed);
    for (at, mut case) in cases(seed + 1, count, most).enumerate() {
        let standard = Standard { confidence: 0.999, one_sided: at % 2 == 0 };
        if at % 4 > 1 {
            let numbers = case.candidates.numbers().iter().copied();
            let chosen: BTreeSet<_> = numbers.filter(|_| dice.roll(2) == 0).collect();
            let Ok(among) = Candidates::among(&case.graph, &case.bounds, chosen);
            case.candidates = among;
        }
        if case.candidates.numbers().is_empty() {
            continue;
        }
        let runs = some_runs(&mut dice, &case, standard.one_sided);
        let mut search = FlakySearch::new(case.candidates.clone(), &case.bounds.good, standard);
        for &(commit, is_bad) in &runs {
            search.observe(commit, if is_bad { Mark::Bad } else { Mark::Good });
        }
        let mut candidates = case.candidates.numbers().to_vec();
        candidates.retain(|_| dice.roll(6) > 0);
        for &commit in case.candidates.numbers().iter().filter(|commit| !candidates.contains(commit)) {
            search.leave_out(commit);
        }
        let is_doubted = !case.bounds.good.is_empty();
        look(search, Naive { case: &case, candidates, one_sided: standard.one_sided, is_doubted }, &runs);
    }
}

#[test]
fn what_is_believed_is_what_the_definition_says() {
    let mut several = 0;
    searches(51, 900, 40, |search, naive, runs| {
        let posterior = search.posterior();
        let Some(believed) = naive.believed(runs) else { return assert!(posterior.likeliest.is_empty()) };
        several += usize::from(believed.weights.len() > 3);
        assert_eq!(posterior.likeliest.len(), believed.weights.len());
        for (&(commit, probability), &(_, ranked)) in posterior.likeliest.iter().zip(&believed.weights) {
            let (_, expected) = believed.weights.iter().find(|&&(own, _)| own == commit).expect("it is possible");
            assert!((probability - expected).abs() < 1e-9, "{commit}: {probability} {expected}");
            assert!((probability - ranked).abs() < 1e-9, "the likeliest first");
        }
        assert!((posterior.changed - (1.0 - believed.unchanged)).abs() < 1e-9, "{}", posterior.changed);
        let entropy: f64 = believed.weights.iter().map(|&(_, weight)| -weight * weight.log2()).sum();
        assert!((posterior.entropy - entropy).abs() < 1e-9);
        let [before, after] = naive.of(runs, Some(posterior.likeliest[0].0)).0;
        let told = [posterior.before, posterior.after].map(|rate| (rate.failed as usize, rate.runs as usize));
        assert_eq!(told, [before, after].map(|tally| (tally.bad, tally.runs())));
    });
    assert!(several > 300, "{several}");
}

#[test]
fn what_is_run_next_leaves_the_least_entropy_to_expect() {
    let [mut searched, mut ends] = [0; 2];
    searches(53, 240, 14, |search, naive, runs| {
        let FlakyStep::Test(commits) = search.next(3) else { return };
        assert_eq!(commits.len(), 3);
        let case = naive.case;
        let bad = case.bounds.bad[0];
        let is_open = |own: &Number| naive.candidates.contains(own) || !case.candidates.numbers().contains(own);
        let all = naive.candidates.iter().chain(&case.bounds.good).copied().chain([bad].into_iter().filter(is_open));
        for at in 0..3 {
            let of = |commit| naive.expected(runs, &commits[..at], commit);
            let least = all.clone().map(of).fold(f64::INFINITY, f64::min);
            assert!(of(commits[at]) < least + 1e-9, "{commits:?}, {at}: {} {least}", of(commits[at]));
        }
        searched += 1;
        ends += usize::from(commits.iter().any(|commit| !naive.candidates.contains(commit)));
    });
    assert!(searched > 60 && ends > 5, "{searched} {ends}");
}

#[test]
fn sums_are_over_all_ancestors() {
    let mut dice = Dice(55);
    for case in cases(56, 300, 60) {
        let numbers = case.candidates.numbers();
        let terms: Vec<_> = numbers.iter().map(|_| [dice.roll(100) as f64, 1.0]).collect();
        let sums = Descent::of(&case.candidates).sums(&terms);
        for (own, sum) in sums.iter().enumerate() {
            let is_ancestor = |&other: &usize| case.is_ancestor(numbers[other], numbers[own]);
            let expected = (0..numbers.len())
                .filter(is_ancestor)
                .fold([0.0; 2], |[sum, count], other| [sum + terms[other][0], count + terms[other][1]]);
            assert_eq!(*sum, expected, "{own} of {:?}", case.graph);
        }
    }
}
