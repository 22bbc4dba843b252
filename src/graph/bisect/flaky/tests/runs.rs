//! What is run, and what is made of it.

use super::super::super::random::{Case, Shape, cases};
use super::super::super::{Bounds, Candidates, Mark};
use super::super::simulation;
use super::super::{Evidence, FlakySearch, FlakyStep, Standard};
use super::random::Dice;
use super::{ONE_SIDED, TWO_SIDED};
use crate::graph::test_graph::Graph;
use crate::store::Number;
use std::collections::{BTreeMap, BTreeSet};

fn line(candidates: Number) -> Case {
    simulation::case(&mut Dice(1), Shape::Linear, candidates)
}

fn tested(step: FlakyStep) -> Vec<Number> {
    match step {
        FlakyStep::Test(commits) => commits,
        end => panic!("{end:?}"),
    }
}

fn observe(search: &mut FlakySearch, commit: Number, mark: Mark, times: usize) {
    (0..times).for_each(|_| search.observe(commit, mark));
}

#[test]
fn each_end_is_run_three_times_first() {
    // The bad ends 8 and 9 are children of 7, so they are none of the candidates 3 to 7.
    let mut parents: Vec<_> = (1..8).map(|own| Graph::linear(7).parents_of(own).to_vec()).collect();
    parents.extend([vec![7], vec![7]]);
    let bounds = Bounds { bad: vec![8, 9, 8], good: vec![2], first_parent: false };
    let case = Case::of(Shape::Branchy, Graph::of(parents), bounds);
    assert_eq!(case.candidates.numbers(), [3, 4, 5, 6, 7]);
    let mut search = FlakySearch::new(case.candidates.clone(), &[2], TWO_SIDED);
    assert_eq!(tested(search.next(9)), [2, 8, 9, 2, 8, 9, 2, 8, 9]);
    assert_eq!(tested(search.next(2)), [2, 8]);
    search.observe(8, Mark::Bad);
    assert_eq!(tested(search.next(4)), [2, 9, 2, 8]);
    search.leave_out(9);
    let more = tested(search.next(7));
    assert_eq!(more[..5], [2, 2, 8, 2, 8], "what is skipped is not run");
    assert!((3..=7).contains(&more[5]) && (3..=7).contains(&more[6]), "those that are left are chosen: {more:?}");
}

#[test]
fn of_several_ends_that_with_the_fewest_runs_is_run() {
    let graph = Graph::of([vec![], vec![], vec![1, 2], vec![3]]);
    let case = Case::of(Shape::Branchy, graph, Bounds { bad: vec![4], good: vec![1, 2], first_parent: false });
    let mut search = FlakySearch::new(case.candidates.clone(), &[2, 1, 2], TWO_SIDED);
    let mut count = BTreeMap::new();
    while let FlakyStep::Test(commits) = search.next(3) {
        for commit in commits {
            *count.entry(commit).or_insert(0) += 1;
            search.observe(commit, Mark::Bad);
        }
    }
    assert!(count[&1] > 5 && i32::abs(count[&1] - count[&2]) <= 1, "{count:?}");
}

#[test]
fn the_order_of_runs_makes_no_difference() {
    let mut dice = Dice(61);
    for (at, case) in cases(62, 300, 30).enumerate() {
        let standard = if at % 2 == 0 { TWO_SIDED } else { ONE_SIDED };
        let known: Vec<_> = (1..=case.graph.len()).collect();
        let mut observed: Vec<_> = (0..dice.roll(25))
            .map(|_| (dice.pick(&known), dice.pick(&[Mark::Good, Mark::Good, Mark::Bad, Mark::Bad, Mark::Skip])))
            .collect();
        let told = |observed: &[(Number, Mark)]| {
            let mut search = FlakySearch::new(case.candidates.clone(), &case.bounds.good, standard);
            observed.iter().for_each(|&(commit, mark)| search.observe(commit, mark));
            (search.next(1), search.next(5), search.posterior(), search.evidence())
        };
        let expected = told(&observed);
        for _ in 0..3 {
            dice.shuffle(&mut observed);
            assert_eq!(told(&observed), expected, "{observed:?}");
        }
    }
}

#[test]
fn what_is_skipped_is_neither_run_nor_the_culprit_and_its_runs_count() {
    let mut dice = Dice(63);
    for (at, case) in cases(64, 300, 30).enumerate() {
        let standard = if at % 2 == 0 { TWO_SIDED } else { ONE_SIDED };
        let mut search = FlakySearch::new(case.candidates.clone(), &case.bounds.good, standard);
        let culprit = dice.pick(case.candidates.numbers());
        let mut skipped = BTreeSet::new();
        let (mut runs, mut skips) = (BTreeMap::new(), BTreeMap::new());
        for _ in 0..20 {
            let count = dice.pick(&[1, 2, 4]);
            let FlakyStep::Test(commits) = search.next(count) else { break };
            assert!((1..=count).contains(&commits.len()));
            for commit in commits {
                assert!(!skipped.contains(&commit));
                *runs.entry(commit).or_insert(0) += 1;
                search.observe(commit, if case.is_ancestor(culprit, commit) { Mark::Bad } else { Mark::Good });
            }
            let skip = dice.pick(case.candidates.numbers());
            if dice.roll(3) == 0 {
                *skips.entry(skip).or_insert(0) += 1;
                search.observe(skip, Mark::Skip);
            }
            let of =
                |commit: &Number| (skips.get(commit).copied().unwrap_or(0), runs.get(commit).copied().unwrap_or(0));
            let is_over = |commit: &Number| of(commit).0 > of(commit).1.max(2);
            skipped = case.candidates.numbers().iter().copied().filter(is_over).collect();
            let evidence = search.evidence();
            let closed: BTreeSet<_> = evidence.iter().filter(|seen| seen.is_skipped).map(|seen| seen.commit).collect();
            assert!(skipped.is_subset(&closed));
            assert!(closed.iter().all(|commit| of(commit).0 > of(commit).1));
            assert!(search.posterior().likeliest.iter().all(|(commit, _)| !closed.contains(commit)));
        }
    }
    let mut search = FlakySearch::new(line(3).candidates, &[1], TWO_SIDED);
    observe(&mut search, 1, Mark::Good, 8);
    observe(&mut search, 3, Mark::Bad, 8);
    let before = search.posterior();
    (0..8).for_each(|_| search.observe(3, Mark::Skip));
    assert_eq!(search.posterior(), before, "half of its runs said something");
    search.observe(3, Mark::Skip);
    let after = search.posterior();
    assert_eq!(after.likeliest.len(), 2);
    assert!(after.likeliest[0].0 == 2 && before.likeliest.len() == 3 && after.likeliest[0].1 > 0.7, "{after:?}");
}

#[test]
fn where_good_ones_never_fail_what_failed_has_the_culprit_behind_it() {
    for standard in [TWO_SIDED, ONE_SIDED] {
        let mut search = FlakySearch::new(line(9).candidates, &[1], standard);
        search.observe(6, Mark::Bad);
        let posterior = search.posterior();
        let mut left: Vec<_> = posterior.likeliest.iter().map(|&(commit, _)| commit).collect();
        left.sort_unstable();
        assert_eq!(left, if standard.one_sided { 2..=6 } else { 2..=10 }.collect::<Vec<_>>());
        assert_eq!(posterior.before.estimate == 0.0, standard.one_sided);
    }
}

#[test]
fn evidence_is_of_every_candidate_and_end() {
    let bounds = Bounds { bad: vec![9], good: vec![2], first_parent: false };
    let Ok(candidates) = Candidates::among(&Graph::linear(9), &bounds, BTreeSet::from([4, 6]));
    let mut search = FlakySearch::new(candidates, &[2], TWO_SIDED);
    for (commit, mark) in [(9, Mark::Bad), (2, Mark::Good), (9, Mark::Good), (4, Mark::Skip), (5, Mark::Bad)] {
        search.observe(commit, mark);
    }
    let row = |(commit, good, bad, is_skipped)| Evidence { commit, good, bad, is_skipped };
    let rows = [(2, 1, 0, false), (4, 0, 0, true), (6, 0, 0, false), (9, 1, 1, false)];
    assert_eq!(search.evidence(), rows.map(row));
    assert_eq!(search.posterior().after.runs, 2);
}

#[test]
fn several_runs_at_a_time_are_chosen_to_go_together() {
    let mut search = FlakySearch::new(line(128).candidates, &[1], TWO_SIDED);
    observe(&mut search, 1, Mark::Good, 30);
    observe(&mut search, 129, Mark::Bad, 30);
    assert_eq!(tested(search.next(0)).len(), 1, "at least one");
    let [one] = tested(search.next(1))[..] else { panic!("one") };
    assert!(one.abs_diff(65) <= 2, "{one}");
    let mut three = tested(search.next(3));
    assert_eq!(three[0], one, "the first as for one");
    three.sort_unstable();
    let far: Vec<_> = three.iter().zip([33, 65, 97]).map(|(own, even)| own.abs_diff(even)).collect();
    assert!(far.iter().all(|&far| far <= 12), "{three:?}");
    assert_eq!(tested(search.next(40)).len(), 40);
}

#[test]
fn of_equals_the_newest_comes_first() {
    let search = FlakySearch::new(line(5).candidates, &[1], TWO_SIDED);
    let likeliest = search.posterior().likeliest;
    assert_eq!(likeliest.iter().map(|&(commit, _)| commit).collect::<Vec<_>>(), [6, 5, 4, 3, 2]);
    assert!(likeliest.iter().all(|&(_, probability)| (probability - 0.2).abs() < 1e-12));
    // 2 and 3 are alike: sides of the good 1, merged into 4.
    let graph = Graph::of([vec![], vec![1], vec![1], vec![2, 3]]);
    let case = Case::of(Shape::Branchy, graph, Bounds { bad: vec![4], good: vec![1], first_parent: false });
    let mut search = FlakySearch::new(case.candidates, &[1], TWO_SIDED);
    observe(&mut search, 1, Mark::Good, 20);
    observe(&mut search, 4, Mark::Bad, 20);
    assert_eq!(tested(search.next(1)), [3]);
}

#[test]
fn ten_thousand_runs_are_counted_without_loss() {
    for standard in [TWO_SIDED, ONE_SIDED] {
        for (bad_end, rest) in [(Mark::Bad, 0), (Mark::Bad, 4000), (Mark::Good, 0)] {
            let mut search = FlakySearch::new(line(20).candidates, &[1], standard);
            observe(&mut search, 21, bad_end, 5000);
            observe(&mut search, 21, Mark::Good, rest);
            observe(&mut search, 1, Mark::Good, 5000);
            observe(&mut search, 11, Mark::Good, 20);
            let posterior = search.posterior();
            let sum: f64 = posterior.likeliest.iter().map(|&(_, probability)| probability).sum();
            assert!((sum - 1.0).abs() < 1e-9, "{sum}");
            assert!(posterior.entropy.is_finite() && (0.0..=1.0).contains(&posterior.changed), "{posterior:?}");
            for rate in [posterior.before, posterior.after] {
                assert!(0.0 <= rate.low && rate.low <= rate.estimate + 1e-12, "{rate:?}");
                assert!(rate.estimate <= rate.high && rate.high <= 1.0, "{rate:?}");
            }
            let expected = if bad_end == Mark::Good { Some(FlakyStep::NothingChanged) } else { None };
            let step = search.next(4);
            assert!(expected.is_none_or(|expected| expected == step), "{step:?}");
        }
    }
}

#[test]
fn ten_thousand_candidates_are_searched() {
    let case = line(10_000);
    let mut search = FlakySearch::new(case.candidates, &[1], Standard { confidence: 0.99, one_sided: false });
    for _ in 0..40 {
        match search.next(1) {
            FlakyStep::Test(commits) => {
                search.observe(commits[0], if commits[0] >= 3456 { Mark::Bad } else { Mark::Good });
            }
            end => return assert_eq!(end, FlakyStep::Found(3456)),
        }
    }
    panic!("it goes on");
}
