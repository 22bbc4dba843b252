//! Marks of any commits in any order, against what they leave.

use super::super::{Bounds, Candidates, Contradiction, Mark, Search, Step};
use super::random::{Case, Dice, Shape, cases};
use crate::graph::test_graph::Graph;
use crate::store::Number;
use std::collections::BTreeSet;

/// Those left: what is unsure when nothing may be tested.
fn left(search: &Search, case: &Case) -> Vec<Number> {
    let mut search = search.clone();
    for &commit in case.candidates.numbers() {
        search.mark(commit, Mark::Skip).expect("a skip says nothing");
    }
    match search.next(1) {
        Step::Found(only) => vec![only],
        Step::Unsure { candidates } => candidates,
        Step::Test(commits) => panic!("{commits:?} are skipped"),
    }
}

/// Whether the marks allow a culprit.
fn allowed(case: &Case, marks: &[(Number, Mark)], culprit: Number) -> bool {
    marks.iter().all(|&(commit, mark)| match mark {
        Mark::Good => !case.is_ancestor(culprit, commit),
        Mark::Bad => case.is_ancestor(culprit, commit),
        Mark::Skip => true,
    })
}

#[test]
fn marks_leave_the_culprits_that_they_allow_and_tell_when_there_is_none() {
    let mut dice = Dice(11);
    let [mut both, mut mended, mut unexplained, mut sound] = [0; 4];
    for case in cases(12, 3000, 25) {
        let numbers = case.candidates.numbers();
        let bad = (case.bounds.bad[0], Mark::Bad);
        let mut marks: Vec<_> = (0..dice.roll(5))
            .map(|_| (dice.pick(numbers), [Mark::Good, Mark::Bad, Mark::Skip][dice.pick(&[0, 1, 1, 2])]))
            .collect();
        let expected: Vec<_> = numbers.iter().copied().filter(|&own| allowed(&case, &marks, own)).collect();
        let was_marked =
            |marks: &[(Number, Mark)], commit, mark| marks.contains(&(commit, mark)) || (commit, mark) == bad;
        for _ in 0..3 {
            dice.shuffle(&mut marks);
            let told = match Search::of(case.candidates.clone(), marks.iter().copied()) {
                Ok(search) => {
                    sound += 1;
                    assert_eq!(left(&search, &case), expected, "{marks:?} on {:?}", case.graph);
                    assert_eq!(search.left(), expected.len());
                    continue;
                }
                Err(told) => told,
            };
            assert!(expected.is_empty(), "{told:?} by {marks:?} on {:?}", case.graph);
            let (bads, good) = match told {
                Contradiction::Both(commit) => {
                    both += 1;
                    (vec![commit], Some(commit))
                }
                Contradiction::Mended { bad, good } => {
                    mended += 1;
                    assert!(bad != good && case.is_ancestor(bad, good), "{bad} {good}");
                    (vec![bad], Some(good))
                }
                Contradiction::Unexplained { bad } => {
                    unexplained += 1;
                    let others = |own: Number| bad.iter().filter(move |&&other| other != own);
                    assert!(bad.iter().all(|&own| others(own).all(|&other| !case.is_ancestor(other, own))), "{bad:?}");
                    (bad, None)
                }
            };
            assert!(bads.iter().all(|&commit| was_marked(&marks, commit, Mark::Bad)), "{bads:?} of {marks:?}");
            assert!(good.is_none_or(|commit| was_marked(&marks, commit, Mark::Good)), "{good:?} of {marks:?}");
        }
    }
    for count in [both, mended, unexplained] {
        assert!(count > 50, "{both} {mended} {unexplained} {sound}");
    }
}

#[test]
fn a_test_is_needed_when_both_answers_rule_something_out() {
    let mut dice = Dice(13);
    for case in cases(14, 400, 25) {
        let numbers = case.candidates.numbers();
        let culprit = dice.pick(numbers);
        let mut search = Search::new(case.candidates.clone());
        for _ in 0..dice.roll(4) {
            let commit = dice.pick(numbers);
            let mark = if case.is_ancestor(culprit, commit) { Mark::Bad } else { Mark::Good };
            search.mark(commit, mark).expect("there is one culprit");
        }
        for &commit in numbers {
            let after = |mark| {
                let mut search = search.clone();
                search.mark(commit, mark).map(|()| search.left())
            };
            let answers = [after(Mark::Good), after(Mark::Bad)];
            let is_needed = answers.iter().all(|left| left.as_ref().is_ok_and(|&left| left < search.left()));
            assert_eq!(search.is_needed(commit), is_needed, "{commit}: {answers:?}");
        }
    }
    assert!(!Search::new(Case::linear(3).candidates).is_needed(77), "no candidate");
}

#[test]
fn each_contradiction_is_told_by_its_name() {
    use Mark::{Bad, Good};
    // 1 - 2 - 4 and 1 - 3 - 5 merged into 6.
    let graph = Graph::of([vec![], vec![1], vec![1], vec![2], vec![3], vec![4, 5]]);
    let case = Case::of(Shape::Branchy, graph, Bounds { bad: vec![6], ..Bounds::default() });
    let table: &[(&[(Number, Mark)], Contradiction)] = &[
        (&[(2, Good), (2, Bad)], Contradiction::Both(2)),
        (&[(2, Bad), (2, Good)], Contradiction::Both(2)),
        (&[(6, Good)], Contradiction::Both(6)),
        (&[(2, Bad), (4, Good)], Contradiction::Mended { bad: 2, good: 4 }),
        (&[(4, Good), (2, Bad)], Contradiction::Mended { bad: 2, good: 4 }),
        (&[(5, Good), (4, Good), (2, Bad)], Contradiction::Mended { bad: 2, good: 4 }),
        (&[(1, Good), (2, Bad), (3, Bad)], Contradiction::Unexplained { bad: vec![2, 3] }),
        (&[(4, Bad), (2, Bad), (5, Bad), (1, Good)], Contradiction::Unexplained { bad: vec![2, 5] }),
    ];
    for (marks, expected) in table {
        let told = Search::of(case.candidates.clone(), marks.iter().copied()).map(|search| search.left());
        assert_eq!(told.as_ref(), Err(expected), "{marks:?}");
    }
}

#[test]
fn where_all_chosen_commits_are_good_the_bad_end_is_unexplained() {
    let graph = Graph::linear(9);
    let bounds = Bounds { bad: vec![9], ..Bounds::default() };
    let Ok(candidates) = Candidates::among(&graph, &bounds, BTreeSet::from([3, 6]));
    let told = Search::of(candidates, [(6, Mark::Good)]).map(|search| search.left());
    assert_eq!(told, Err(Contradiction::Unexplained { bad: vec![9] }));
}

#[test]
fn what_contradicts_is_not_taken_in() {
    let case = Case::linear(9);
    let mut search = Search::of(case.candidates.clone(), [(3, Mark::Good), (6, Mark::Bad)]).expect("sound");
    let told = [search.mark(2, Mark::Bad), search.mark(7, Mark::Good)];
    assert_eq!(told, [Err(Contradiction::Mended { bad: 2, good: 3 }), Err(Contradiction::Mended { bad: 6, good: 7 }),]);
    assert_eq!(left(&search, &case), [4, 5, 6]);
}

#[test]
fn marks_of_what_is_no_candidate_say_nothing() {
    let bounds = Bounds { bad: vec![8], good: vec![2], first_parent: false };
    let case = Case::of(Shape::Linear, Graph::linear(9), bounds);
    let marks = [(1, Mark::Bad), (9, Mark::Good), (77, Mark::Skip)];
    let search = Search::of(case.candidates.clone(), marks).expect("sound");
    assert_eq!(left(&search, &case), [3, 4, 5, 6, 7, 8]);
}
