//! Whole searches, each with every culprit.

use super::super::{Bounds, Candidates, Contradiction, Mark, Search, Step};
use super::random::{Case, Dice, Shape, cases};
use crate::graph::test_graph::Graph;
use crate::store::Number;
use std::collections::BTreeSet;

/// What a search with one culprit came to.
pub struct Played {
    pub end: Step,
    pub tests: usize,
    pub rounds: usize,
}

/// Searches for `culprit`, `count` tests at a time; results come in an order that `dice` decides, and a test that a result
/// makes needless is ended.
pub fn play(case: &Case, candidates: &Candidates, culprit: Number, skipped: &BTreeSet<Number>, count: usize) -> Played {
    let mut search = Search::new(candidates.clone());
    let (mut tests, mut rounds) = (0, 0);
    let mut dice = Dice(culprit + 1);
    loop {
        let left = search.left();
        let mut running = match search.next(count) {
            Step::Test(commits) => commits,
            end @ (Step::Found(_) | Step::Unsure { .. }) => return Played { end, tests, rounds },
        };
        rounds += 1;
        assert!(!running.is_empty() && running.len() <= count);
        assert!(running.iter().all(|&commit| search.is_needed(commit)), "{running:?}");
        assert_eq!(running.iter().collect::<BTreeSet<_>>().len(), running.len(), "{running:?}");
        dice.shuffle(&mut running);
        while let Some(commit) = running.pop() {
            let mark = match case.is_ancestor(culprit, commit) {
                _ if skipped.contains(&commit) => Mark::Skip,
                true => Mark::Bad,
                false => Mark::Good,
            };
            tests += 1;
            search.mark(commit, mark).expect("there is one culprit");
            let (needed, needless) = running.iter().partition(|&&commit| search.is_needed(commit));
            running = needed;
            for commit in Vec::<Number>::into_iter(needless) {
                let mut told = search.clone();
                let mark = if case.is_ancestor(culprit, commit) { Mark::Bad } else { Mark::Good };
                told.mark(commit, mark).expect("there is one culprit");
                assert_eq!(told.left(), search.left());
            }
        }
        assert!(search.left() < left || !skipped.is_empty());
    }
}

/// The least `log` with `base` to the power of it at least `of`.
fn log(base: usize, of: usize) -> usize {
    (0..).find(|&log| base.pow(log) >= of).and_then(|log| usize::try_from(log).ok()).expect("small")
}

#[test]
fn every_culprit_is_found_in_every_history() {
    for case in cases(1, 2000, 40) {
        for &culprit in case.candidates.numbers() {
            let played = play(&case, &case.candidates, culprit, &BTreeSet::new(), 1);
            assert_eq!(played.end, Step::Found(culprit), "{:?}", case.graph);
            assert_eq!(played.tests, played.rounds);
            let most = if case.shape == Shape::Linear {
                log(2, case.candidates.numbers().len())
            } else {
                case.candidates.numbers().len() - 1
            };
            assert!(played.tests <= most, "{} tests: {:?}", played.tests, case.graph);
        }
    }
}

#[test]
fn a_linear_history_takes_the_logarithm() {
    for count in (1..=60).chain([243, 244, 511, 512, 513]) {
        let case = Case::linear(count);
        let size = usize::try_from(count).expect("small");
        for culprit in (1..=count).step_by(if count > 60 { 17 } else { 1 }) {
            for tests in [1, 2, 4, 9] {
                let played = play(&case, &case.candidates, culprit, &BTreeSet::new(), tests);
                assert_eq!(played.end, Step::Found(culprit));
                assert!(played.rounds <= log(tests + 1, size), "{culprit} of {count}, {tests}: {}", played.rounds);
            }
        }
    }
}

#[test]
fn four_tests_at_a_time_find_every_culprit_in_fewer_rounds() {
    let (mut rounds, mut tests) = (0, 0);
    for case in cases(2, 600, 40) {
        for &culprit in case.candidates.numbers() {
            let played = play(&case, &case.candidates, culprit, &BTreeSet::new(), 4);
            assert_eq!(played.end, Step::Found(culprit), "{:?}", case.graph);
            if case.shape != Shape::Linear {
                rounds += played.rounds;
                tests += play(&case, &case.candidates, culprit, &BTreeSet::new(), 1).tests;
            }
        }
    }
    // On a line five pieces take 1 / log2(5) = 0.43 of the rounds that two take.
    assert!(rounds * 2 < tests, "{rounds} rounds, {tests} tests one after the other");
}

#[test]
fn with_skips_all_that_cannot_be_told_apart_is_left_and_nothing_else() {
    let mut dice = Dice(3);
    let (mut found, mut unsure) = (0, 0);
    for case in cases(4, 1500, 30) {
        let numbers = case.candidates.numbers();
        let share = dice.roll(5);
        let skipped: BTreeSet<_> = numbers.iter().copied().filter(|_| dice.roll(5) < share).collect();
        let count = usize::try_from(dice.roll(4)).expect("small") + 1;
        for &culprit in numbers {
            let says_as = |other: Number| {
                let mut testable = numbers.iter().filter(|commit| !skipped.contains(commit));
                testable.all(|&of| case.is_ancestor(other, of) == case.is_ancestor(culprit, of))
            };
            let like: Vec<_> = numbers.iter().copied().filter(|&other| says_as(other)).collect();
            let expected = match like[..] {
                [only] => Step::Found(only),
                _ => Step::Unsure { candidates: like },
            };
            match &expected {
                Step::Found(_) => found += 1,
                Step::Test(_) | Step::Unsure { .. } => unsure += 1,
            }
            let played = play(&case, &case.candidates, culprit, &skipped, count);
            assert_eq!(played.end, expected, "{culprit} without {skipped:?}: {:?}", case.graph);
        }
    }
    assert!(found > 5000 && unsure > 5000, "{found} {unsure}");
}

#[test]
fn with_first_parents_only_they_are_the_candidates() {
    for case in cases(5, 300, 40) {
        let bounds = Bounds { first_parent: true, ..case.bounds.clone() };
        let Ok(candidates) = Candidates::within(&case.graph, &bounds);
        let bad = case.bounds.bad[0];
        let line = std::iter::successors(Some(bad), |&own| case.graph.parents_of(own).first().copied());
        let mut line: Vec<_> =
            line.filter(|&own| !case.bounds.good.iter().any(|&good| case.is_ancestor(own, good))).collect();
        line.reverse();
        assert_eq!(candidates.numbers(), line);
        for &culprit in &line {
            let played = play(&case, &candidates, culprit, &BTreeSet::new(), 1);
            assert_eq!(played.end, Step::Found(culprit));
            assert!(played.tests <= log(2, line.len()));
        }
    }
}

#[test]
fn of_chosen_commits_the_right_one_is_found() {
    let mut dice = Dice(6);
    for case in cases(7, 600, 40) {
        let chosen: BTreeSet<_> = case.candidates.numbers().iter().copied().filter(|_| dice.roll(3) == 0).collect();
        let Ok(candidates) = Candidates::among(&case.graph, &case.bounds, chosen.clone());
        for &culprit in &chosen {
            let played = play(&case, &candidates, culprit, &BTreeSet::new(), 1);
            assert_eq!(played.end, Step::Found(culprit), "{chosen:?} of {:?}", case.graph);
        }
    }
}

#[test]
fn eight_of_many_take_three_tests() {
    let case = Case::linear(1000);
    let chosen: BTreeSet<_> = (0..8).map(|at| at * 120 + 7).collect();
    let Ok(candidates) = Candidates::among(&case.graph, &case.bounds, chosen.clone());
    for culprit in chosen {
        assert_eq!(play(&case, &candidates, culprit, &BTreeSet::new(), 1).tests, 3);
    }
}

#[test]
fn nothing_is_searched_among_none_and_one_is_known_untested() {
    let search = Search::new(Case::linear(1).candidates);
    assert_eq!((search.next(1), search.left(), search.steps()), (Step::Found(1), 1, 0));
    let bounds = Bounds { bad: vec![2], good: vec![2], first_parent: false };
    let none = Search::new(Case::of(Shape::Linear, Graph::linear(2), bounds).candidates);
    assert_eq!((none.next(1), none.left(), none.steps()), (Step::Unsure { candidates: vec![] }, 0, 0));
}

#[test]
fn of_equals_the_newest_is_tested() {
    // 1 - 2 - 3 and 1 - 4 - 5 merged into 6: 3 and 5 have three ancestors of six.
    let graph = Graph::of([vec![], vec![1], vec![2], vec![1], vec![4], vec![3, 5]]);
    let case = Case::of(Shape::Branchy, graph, Bounds { bad: vec![6], ..Bounds::default() });
    let search = Search::new(case.candidates);
    assert_eq!(search.next(1), Step::Test(vec![5]));
    assert_eq!(search.next(0), Step::Test(vec![5]), "at least one");
    assert_eq!(search.next(2), Step::Test(vec![4, 3]));
    assert_eq!(search.next(99), Step::Test(vec![1, 4, 5, 2, 3]));
    assert_eq!(Search::new(Case::linear(11).candidates).next(1), Step::Test(vec![6]));
}

#[test]
fn a_skipped_commit_is_left_far_behind() {
    let case = Case::linear(1000);
    let mut search = Search::new(case.candidates);
    let mut picks = Vec::new();
    for _ in 0..6 {
        let Step::Test(commits) = search.next(1) else { panic!("it goes on") };
        search.mark(commits[0], Mark::Skip).expect("no contradiction");
        picks.push(commits[0]);
    }
    // git 2.47 takes 604, 881, 591, 138 and 420; of two that halve as well it prefers by their ids.
    let far: Vec<_> = picks.iter().map(|pick| pick.abs_diff(500)).collect();
    assert_eq!(far, [0, 104, 381, 91, 362, 80], "{picks:?}");
}

#[test]
fn the_estimate_is_that_of_git_and_the_next_test() {
    let told =
        [(1, 0), (2, 1), (3, 2), (4, 2), (5, 2), (6, 3), (7, 3), (8, 3), (10, 3), (11, 4), (1000, 10), (1024, 10)];
    for (count, steps) in told {
        let search = Search::new(Case::linear(count).candidates);
        assert_eq!((search.left() as Number, search.steps()), (count, steps));
    }
}

#[test]
fn what_was_said_of_a_commit_counts_though_it_is_skipped() {
    for marks in [[(5, Mark::Skip), (5, Mark::Bad)], [(5, Mark::Bad), (5, Mark::Skip)]] {
        let search = Search::of(Case::linear(9).candidates, marks).expect("no contradiction");
        assert_eq!(search.left(), 5);
    }
}

#[test]
fn a_commit_beside_those_left_is_tested_where_none_of_them_can_be() {
    // 1 - 2 - 3 - 5 and a side 2 - 4, merged into 6: of 1, 2 and 3 the side tells 3 from the others.
    let graph = Graph::of([vec![], vec![1], vec![2], vec![2], vec![3], vec![5, 4]]);
    let case = Case::of(Shape::Branchy, graph, Bounds { bad: vec![6], ..Bounds::default() });
    let marks = [(3, Mark::Bad), (1, Mark::Skip), (2, Mark::Skip)];
    let mut search = Search::of(case.candidates, marks).expect("no contradiction");
    assert_eq!(search.next(1), Step::Test(vec![4]));
    search.mark(4, Mark::Bad).expect("no contradiction");
    assert_eq!(search.next(1), Step::Unsure { candidates: vec![1, 2] });
    assert_eq!(search.mark(4, Mark::Good), Err(Contradiction::Both(4)));
}

#[test]
fn of_those_beside_the_one_that_halves_best_is_tested() {
    // A line of 9 with two sides at some, all merged into 20. The middle has none.
    let line = Graph::linear(9);
    let mut parents: Vec<_> = (1..=9).map(|own| line.parents_of(own).to_vec()).collect();
    parents.extend([1, 2, 3, 7, 8, 1, 2, 3, 7, 8].map(|fork| vec![fork]));
    parents.push((9..=19).collect());
    let case = Case::of(Shape::Branchy, Graph::of(parents), Bounds { bad: vec![20], ..Bounds::default() });
    let marks = (1..=8).map(|own| (own, Mark::Skip)).chain([(9, Mark::Bad)]);
    let search = Search::of(case.candidates, marks).expect("no contradiction");
    assert_eq!(search.next(1), Step::Test(vec![17]), "3 of 9 are its ancestors");
}
