//! Candidates within bounds, and what the bounds say themselves.

use super::super::{Bounds, Candidates, Contradiction, bases_to_verify, swapped};
use super::random::{Case, Dice, cases};
use crate::graph::test_graph::Graph;
use crate::store::Number;
use std::collections::BTreeSet;

fn some(dice: &mut Dice, case: &Case, most: u64) -> Vec<Number> {
    (0..dice.roll(most + 1)).map(|_| dice.roll(case.graph.len()) + 1).collect()
}

#[test]
fn candidates_are_ancestors_of_all_bad_and_of_no_good_commits() {
    let mut dice = Dice(21);
    for case in cases(22, 500, 25) {
        let bounds = Bounds { bad: some(&mut dice, &case, 3), good: some(&mut dice, &case, 2), first_parent: false };
        let within = |&own: &Number| {
            bounds.bad.iter().all(|&bad| case.is_ancestor(own, bad))
                && !bounds.good.iter().any(|&good| case.is_ancestor(own, good))
        };
        let expected: Vec<_> = (1..=case.graph.len()).filter(within).filter(|_| !bounds.bad.is_empty()).collect();
        let Ok(candidates) = Candidates::within(&case.graph, &bounds);
        assert_eq!(candidates.numbers(), expected, "{bounds:?} on {:?}", case.graph);

        let chosen: BTreeSet<_> = expected.into_iter().filter(|_| dice.roll(2) == 0).collect();
        let Ok(among) = Candidates::among(&case.graph, &bounds, chosen);
        for candidates in [candidates, among] {
            let numbers = candidates.numbers();
            for own in 0..numbers.len() {
                let mut found = candidates.ancestors(own, |_| false);
                found.sort_unstable();
                let expected = (0..numbers.len()).filter(|&other| case.is_ancestor(numbers[other], numbers[own]));
                assert_eq!(found, expected.collect::<Vec<_>>(), "{bounds:?} on {:?}", case.graph);
            }
        }
    }
}

/// Adds a line of so many commits, and so many sides of one commit each, merged one after the other.
fn grow(graph: &mut Graph, line: Number, sides: Number) {
    for _ in 0..line {
        let tip = graph.len();
        graph.push(if tip == 0 { vec![] } else { vec![tip] });
    }
    for _ in 0..sides {
        let tip = graph.len();
        let before = graph.parents_of(tip)[0];
        let side = graph.push(vec![before]);
        graph.push(vec![tip, side]);
    }
}

#[test]
fn of_chosen_commits_none_between_them_is_read() {
    let counted = |sides_before: Number, line: Number, sides_behind: Number| {
        let mut graph = Graph::default();
        grow(&mut graph, 9, sides_before);
        let good = graph.len();
        grow(&mut graph, line, sides_behind);
        let bounds = Bounds { bad: vec![graph.len()], good: vec![good], first_parent: false };
        let chosen = (1..8).map(|at| good + at * (line / 10)).chain([graph.len()]).collect();
        graph.reads.set(0);
        let Ok(candidates) = Candidates::among(&graph, &bounds, chosen);
        assert_eq!(candidates.numbers().len(), 8);
        graph.reads.get()
    };
    // Where each stands and the stretch of the chain before it, and where the good one stands.
    assert_eq!([counted(0, 100, 0), counted(0, 10_000, 0), counted(50, 10_000, 0)], [17; 3]);
    assert_eq!(counted(0, 100, 50), 17 + 50, "each side once");
}

#[test]
fn a_bad_end_that_is_an_ancestor_of_a_good_one_is_told() {
    let mut dice = Dice(23);
    for case in cases(24, 500, 25) {
        let bounds = Bounds { bad: some(&mut dice, &case, 2), good: some(&mut dice, &case, 2), first_parent: false };
        let pairs = || bounds.good.iter().flat_map(|&good| bounds.bad.iter().map(move |&bad| (bad, good)));
        let expected = pairs().find(|&(bad, good)| case.is_ancestor(bad, good));
        let expected = expected.map(|(bad, good)| match bad == good {
            true => Contradiction::Both(bad),
            false => Contradiction::Mended { bad, good },
        });
        assert_eq!(swapped(&case.graph, &bounds), Ok(expected), "{bounds:?} on {:?}", case.graph);
    }
}

#[test]
fn where_a_good_end_is_no_ancestor_the_best_common_ones_are_to_be_verified() {
    let mut dice = Dice(25);
    let mut several = 0;
    for case in cases(26, 1500, 25) {
        let bad = case.graph.len().saturating_sub(dice.roll(4)).max(1);
        let bounds = Bounds { bad: vec![bad], good: some(&mut dice, &case, 3), first_parent: false };
        let Ok(bases) = bases_to_verify(&case.graph, &bounds);
        let Ok(swapped) = swapped(&case.graph, &bounds);
        if swapped.is_some() {
            continue;
        }
        let is_good = |own: Number| bounds.good.iter().any(|&good| case.is_ancestor(own, good));
        let common: Vec<_> = (1..=bad).filter(|&own| is_good(own) && case.is_ancestor(own, bad)).collect();
        let is_best = |own: &&Number| !common.iter().any(|&other| other != **own && case.is_ancestor(**own, other));
        let expected: Vec<_> =
            common.iter().rev().filter(is_best).copied().filter(|own| !bounds.good.contains(own)).collect();
        assert_eq!(bases, expected, "{bounds:?} on {:?}", case.graph);
        several += usize::from(bases.len() > 1);
    }
    assert!(several > 10, "{several}");
}

#[test]
fn of_two_bad_ends_the_bases_of_both_are_to_be_verified() {
    // Three sides that begin at 1, 2 and 3.
    let graph = Graph::of([vec![], vec![1], vec![2], vec![1], vec![2], vec![3]]);
    let bounds = Bounds { bad: vec![4, 6], good: vec![5], first_parent: false };
    assert_eq!(bases_to_verify(&graph, &bounds), Ok(vec![2, 1]));
}

#[test]
fn where_good_ends_are_ancestors_no_commit_is_walked() {
    let graph = Graph::linear(1000);
    let bounds = Bounds { bad: vec![1000], good: vec![7, 500], first_parent: false };
    assert_eq!(bases_to_verify(&graph, &bounds), Ok(vec![]));
    assert_eq!(swapped(&graph, &bounds), Ok(None));
    assert!(graph.reads.get() < 20, "{}", graph.reads.get());
}
