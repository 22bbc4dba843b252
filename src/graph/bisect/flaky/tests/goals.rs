//! Many searches, against how often and how soon they are to find the culprit.

use super::super::super::random::{Case, Shape};
use super::super::Standard;
use super::super::simulation::{Policy, Rates, Summary, case, simulate};
use super::random::Dice;
use super::{ONE_SIDED, TWO_SIDED};
use crate::store::Number;

fn cases(shape: Shape, count: usize, candidates: Number) -> Vec<Case> {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    (0..count).map(|_| case(&mut dice, shape, candidates)).collect()
}

fn played(cases: &[Case], policy: Policy, [before, after]: [f64; 2], searches: u64) -> Summary {
    simulate(cases, policy, Rates { before, after }, searches, &mut Dice(0x2545_f491_4f6c_dd1d))
}

#[test]
fn the_culprit_is_found_as_often_as_is_stated_and_soon() {
    let cases = cases(Shape::Linear, 1, 128);
    // What a good search takes on average (simulated elsewhere).
    let rows = [
        ([0.0, 1.0], TWO_SIDED, 15.0),
        ([0.0, 0.5], TWO_SIDED, 62.0),
        ([0.0, 0.5], ONE_SIDED, 35.0),
        ([0.1, 0.9], TWO_SIDED, 30.0),
        ([0.2, 0.8], TWO_SIDED, 60.0),
    ];
    for (rates, standard, runs) in rows {
        let summary = played(&cases, Policy::Flaky(standard, 1), rates, 120);
        assert!(summary.accuracy() >= standard.confidence - 0.03, "{rates:?}: {summary:?}");
        assert!(summary.mean_runs() <= 1.15 * runs, "{rates:?}: {}", summary.mean_runs());
    }
}

#[test]
fn four_runs_at_a_time_take_few_more_runs_in_far_fewer_rounds() {
    let cases = cases(Shape::Linear, 1, 128);
    let [one, four] = [1, 4].map(|count| played(&cases, Policy::Flaky(TWO_SIDED, count), [0.1, 0.9], 60));
    assert!(four.accuracy() >= 0.92, "{four:?}");
    assert!(four.mean_runs() < 1.4 * one.mean_runs() && four.mean_rounds() < 0.4 * one.mean_rounds());
}

#[test]
fn in_other_histories_the_culprit_is_found_as_often() {
    for shape in [Shape::Branchy, Shape::Crossing] {
        let summary = played(&cases(shape, 3, 300), Policy::Flaky(TWO_SIDED, 1), [0.1, 0.9], 60);
        assert!(summary.accuracy() >= 0.92 && summary.mean_runs() < 60.0, "{shape:?}: {summary:?}");
    }
}

#[test]
fn what_is_found_is_right_as_often_as_is_stated() {
    let cases = cases(Shape::Linear, 1, 32);
    let rows = [([0.0, 0.5], false), ([0.0, 0.5], true), ([0.1, 0.9], false), ([0.2, 0.8], false)];
    for (confidence, least) in [(0.95, 0.93), (0.8, 0.77)] {
        let of = |(rates, one_sided)| played(&cases, Policy::Flaky(Standard { confidence, one_sided }, 1), rates, 500);
        let all = rows.map(of).into_iter().fold(Summary::default(), Summary::and);
        assert!(all.precision() >= least, "{confidence}: {all:?}");
        assert!(all.right as f64 / all.searches as f64 >= least, "with those that name none: {all:?}");
    }
}

#[test]
fn where_nothing_changed_hardly_ever_a_commit_is_named() {
    let cases = cases(Shape::Linear, 1, 32);
    let of = |rate| played(&cases, Policy::Flaky(TWO_SIDED, 1), [rate, rate], 40);
    let all = [0.1, 0.3, 0.5, 1.0].map(of).into_iter().fold(Summary::default(), Summary::and);
    assert!(all.right + all.wrong + all.reversed <= 8 && all.unchanged > 130, "{all:?}");
}

#[test]
fn ways_that_know_no_chance_name_the_wrong_commit() {
    let cases = cases(Shape::Linear, 1, 128);
    let of = |policy, rates| played(&cases, policy, rates, 300);
    assert_eq!((of(Policy::Once, [0.0, 1.0]).accuracy(), of(Policy::Once, [0.0, 1.0]).mean_runs()), (1.0, 7.0));
    assert!(of(Policy::Once, [0.1, 0.9]).accuracy() < 0.7);
    assert!(of(Policy::Majority(5), [0.2, 0.8]).accuracy() < 0.85);
    assert!(of(Policy::Any(10), [0.0, 0.5]).accuracy() > 0.95);
    assert!(of(Policy::Any(10), [0.1, 0.9]).accuracy() < 0.2);
}
