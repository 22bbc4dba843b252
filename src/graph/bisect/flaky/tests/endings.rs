//! How searches end.

use super::super::super::random::{Case, Shape};
use super::super::super::{Bounds, Mark};
use super::super::simulation;
use super::super::{FlakySearch, FlakyStep, Standard};
use super::random::Dice;
use super::{ONE_SIDED, TWO_SIDED};
use crate::graph::test_graph::Graph;
use crate::store::Number;

/// So many commits after a good one, which is the first.
fn line(candidates: Number) -> Case {
    simulation::case(&mut Dice(1), Shape::Linear, candidates)
}

fn search(case: &Case, standard: Standard) -> FlakySearch {
    FlakySearch::new(case.candidates.clone(), &case.bounds.good, standard)
}

/// Plays on; returns how it ends and after how many runs.
fn play(mut search: FlakySearch, mut fails: impl FnMut(Number) -> bool) -> (FlakyStep, usize) {
    for runs in 0..3000 {
        match search.next(1) {
            FlakyStep::Test(commits) => {
                search.observe(commits[0], if fails(commits[0]) { Mark::Bad } else { Mark::Good });
            }
            end => return (end, runs),
        }
    }
    panic!("it goes on");
}

#[test]
fn a_change_is_found() {
    for standard in [TWO_SIDED, ONE_SIDED] {
        let (end, runs) = play(search(&line(128), standard), |commit| commit >= 78);
        assert_eq!(end, FlakyStep::Found(78));
        assert!(runs <= 17, "{runs}");
    }
}

#[test]
fn where_all_runs_fail_or_none_nothing_changed() {
    for (standard, fails, most) in [(TWO_SIDED, true, 45), (TWO_SIDED, false, 45), (ONE_SIDED, false, 120)] {
        let (end, runs) = play(search(&line(128), standard), |_| fails);
        assert_eq!(end, FlakyStep::NothingChanged);
        assert!((20..most).contains(&runs), "{runs}");
        let lenient = Standard { confidence: 0.6, ..standard };
        assert_eq!(play(search(&line(128), lenient), |_| fails), (end, runs), "however little is asked for");
    }
}

#[test]
fn where_every_third_run_fails_nothing_changed() {
    let mut dice = Dice(77);
    let (end, runs) = play(search(&line(128), TWO_SIDED), |_| dice.roll(3) == 0);
    assert_eq!(end, FlakyStep::NothingChanged, "{runs}");
}

#[test]
fn where_fewer_runs_fail_afterwards_it_is_reversed() {
    let (end, _) = play(search(&line(128), TWO_SIDED), |commit| commit < 78);
    assert_eq!(end, FlakyStep::Reversed(78));
}

#[test]
fn what_never_fails_while_good_cannot_fail_at_a_good_end() {
    let mut search = search(&line(9), ONE_SIDED);
    search.observe(7, Mark::Bad);
    search.observe(1, Mark::Bad);
    assert_eq!(search.next(1), FlakyStep::Impossible { failed: vec![1] });
    let posterior = search.posterior();
    assert_eq!((posterior.likeliest, posterior.entropy, posterior.changed), (vec![], 0.0, 0.0));
    assert_eq!((posterior.before.failed, posterior.after.runs), (2, 0));
}

#[test]
fn failures_without_a_candidate_in_common_are_impossible_only_where_good_ones_never_fail() {
    // 1 - 2 and 1 - 3 merged into 4.
    let graph = Graph::of([vec![], vec![1], vec![1], vec![2, 3]]);
    let bounds = Bounds { bad: vec![4], good: vec![1], first_parent: false };
    let case = Case::of(Shape::Branchy, graph, bounds);
    for standard in [TWO_SIDED, ONE_SIDED] {
        let mut search = search(&case, standard);
        search.observe(2, Mark::Bad);
        search.observe(3, Mark::Bad);
        let is_impossible = search.next(1) == FlakyStep::Impossible { failed: vec![2, 3] };
        assert_eq!(is_impossible, standard.one_sided);
    }
}

#[test]
fn with_every_candidate_skipped_it_is_unsure() {
    for standard in [TWO_SIDED, ONE_SIDED] {
        let mut search = search(&line(5), standard);
        (2..=6).for_each(|commit| search.leave_out(commit));
        assert_eq!(search.next(1), FlakyStep::Unsure { candidates: (2..=6).collect() });
        search.observe(3, Mark::Bad);
        let left = if standard.one_sided { 2..=3 } else { 2..=6 };
        assert_eq!(search.next(1), FlakyStep::Unsure { candidates: left.collect() });
    }
}

#[test]
fn where_only_skipped_ones_explain_the_runs_it_is_unsure_which() {
    let mut search = search(&line(5), ONE_SIDED);
    search.observe(3, Mark::Bad);
    search.leave_out(2);
    assert!(matches!(search.next(1), FlakyStep::Test(_)));
    search.leave_out(3);
    assert_eq!(search.next(1), FlakyStep::Unsure { candidates: vec![2, 3] });
}

#[test]
fn among_none_nothing_is_searched() {
    let bounds = Bounds { bad: vec![2], good: vec![2], first_parent: false };
    let case = Case::of(Shape::Linear, Graph::linear(2), bounds);
    assert_eq!(search(&case, TWO_SIDED).next(1), FlakyStep::Unsure { candidates: vec![] });
}

#[test]
fn one_candidate_is_found_no_sooner_than_the_ends_show_a_change() {
    let (end, runs) = play(search(&line(1), TWO_SIDED), |commit| commit == 2);
    assert_eq!((end, runs), (FlakyStep::Found(2), 6));
    let (end, _) = play(search(&line(1), TWO_SIDED), |_| true);
    assert_eq!(end, FlakyStep::NothingChanged);
    let mut dice = Dice(99);
    let (end, runs) = play(search(&line(1), TWO_SIDED), |commit| dice.roll(10) < if commit == 2 { 6 } else { 2 });
    assert_eq!(end, FlakyStep::Found(2));
    assert!(runs > 10, "{runs}");
}

#[test]
fn a_candidate_is_not_found_while_it_is_doubtful_that_anything_changed() {
    for (failed, is_found) in [(3, true), (2, false), (1, false)] {
        let mut search = search(&line(1), TWO_SIDED);
        for at in 0..3 {
            search.observe(1, Mark::Good);
            search.observe(2, if at < failed { Mark::Bad } else { Mark::Good });
        }
        let posterior = search.posterior();
        assert_eq!(posterior.likeliest, [(2, 1.0)]);
        assert_eq!(posterior.changed >= 0.95, is_found, "{posterior:?}");
        assert_eq!(search.next(1) == FlakyStep::Found(2), is_found);
    }
}

#[test]
fn without_a_good_end_that_can_be_run_it_is_not_doubted_that_there_is_a_culprit() {
    let case = Case::linear(9);
    let search = FlakySearch::new(case.candidates, &[], TWO_SIDED);
    assert_eq!(search.posterior().changed, 1.0);
    let (end, _) = play(search, |_| true);
    assert_eq!(end, FlakyStep::Found(1), "what stands before all is good, or there would be a good end");
    let mut skipped = self::search(&line(9), TWO_SIDED);
    assert!(skipped.posterior().changed < 1.0);
    skipped.leave_out(1);
    assert_eq!(skipped.posterior().changed, 1.0);
    assert_eq!(play(skipped, |_| true).0, FlakyStep::Found(2));
}

#[test]
fn what_fails_seldom_after_hardly_any_runs_before_is_not_reversed() {
    let observed = |standard, before: &[Mark]| {
        let mut search = search(&line(1), standard);
        before.iter().for_each(|&mark| search.observe(1, mark));
        search.observe(2, Mark::Bad);
        (0..20).for_each(|_| search.observe(2, Mark::Good));
        search.next(1)
    };
    assert_eq!(observed(TWO_SIDED, &[Mark::Skip; 3]), FlakyStep::Found(2), "nothing is known of the rate before");
    assert_eq!(observed(ONE_SIDED, &[Mark::Good; 3]), FlakyStep::Found(2), "the rate before is 0");
}

#[test]
fn what_is_told_from_all_but_skipped_ones_is_not_found() {
    for standard in [TWO_SIDED, ONE_SIDED] {
        for (skipped, expected) in [
            (5..=7, FlakyStep::Unsure { candidates: (5..=8).collect() }),
            (7..=7, FlakyStep::Unsure { candidates: vec![7, 8] }),
            (4..=6, FlakyStep::Found(8)),
            (9..=12, FlakyStep::Found(8)),
            (2..=7, FlakyStep::Unsure { candidates: (2..=8).collect() }),
        ] {
            let mut search = search(&line(20), standard);
            skipped.for_each(|commit| search.leave_out(commit));
            assert_eq!(play(search, |commit| commit >= 8).0, expected);
        }
    }
    // What runs could not test is run three times, and then it is unsure.
    let mut again = search(&line(20), TWO_SIDED);
    let mut skips = 0;
    let end = loop {
        match again.next(2) {
            FlakyStep::Test(commits) => {
                for commit in commits {
                    skips += usize::from(commit == 7);
                    let said = if commit >= 8 { Mark::Bad } else { Mark::Good };
                    again.observe(commit, if commit == 7 { Mark::Skip } else { said });
                }
            }
            end => break end,
        }
    };
    assert_eq!((end, skips), (FlakyStep::Unsure { candidates: vec![7, 8] }, 3));
    // An end likewise, before all else.
    let mut end = search(&line(20), TWO_SIDED);
    for skips in 0..3 {
        assert!(end.evidence().iter().all(|seen| !seen.is_skipped), "{skips}");
        end.observe(1, Mark::Skip);
    }
    assert!(end.evidence().iter().any(|seen| seen.commit == 1 && seen.is_skipped));
    // What was run as often as not is no skipped one.
    let mut run = search(&line(20), TWO_SIDED);
    run.observe(7, Mark::Skip);
    run.observe(7, Mark::Good);
    assert_eq!(play(run, |commit| commit >= 8).0, FlakyStep::Found(8));
    let mut side = Graph::linear(3);
    let (left, right) = (side.push(vec![3]), side.push(vec![3]));
    let merge = side.push(vec![left, right]);
    let bounds = Bounds { bad: vec![merge], good: vec![3], first_parent: false };
    let case = Case::of(Shape::Branchy, side, bounds);
    let mut merged = search(&case, TWO_SIDED);
    merged.leave_out(right);
    assert_eq!(play(merged, |commit| commit == merge).0, FlakyStep::Unsure { candidates: vec![right, merge] });
}
