//! Weights against sets, where they are counted in either way.

use super::super::Bounds;
use super::super::weights::weights;
use super::random::{Case, Dice, Shape, cases};
use crate::graph::test_graph::Graph;
use std::collections::BTreeSet;

/// A line of which a side is merged now and then.
fn sides(dice: &mut Dice, merges: usize) -> Graph {
    let mut graph = Graph::linear(20);
    for _ in 0..merges {
        let mut line = graph.len();
        let mut side = line - dice.roll(15);
        for _ in 0..50 {
            line = graph.push(vec![line]);
            side = graph.push(vec![side]);
        }
        graph.push(vec![line, side]);
    }
    graph
}

#[test]
fn weights_are_the_ancestors_that_count() {
    let mut dice = Dice(41);
    let mut graphs: Vec<_> = (1..4).map(|merges| (sides(&mut dice, merges), true)).collect();
    // With many merges, and of more than 64 that count.
    graphs.extend(cases(42, 9, 250).map(|case| (case.graph, false)));
    for (graph, few_merges) in graphs {
        let merges = (1..=graph.len()).filter(|&own| graph.parents_of(own).len() > 1).count();
        let bounds = Bounds { bad: vec![graph.len()], ..Bounds::default() };
        let case = Case::of(Shape::Branchy, graph, bounds);
        let numbers = case.candidates.numbers();
        assert!(!few_merges || merges > 0 && merges * 64 <= numbers.len());
        for _ in 0..6 {
            let good = dice.pick(numbers);
            let nodes: Vec<_> = (0..numbers.len()).filter(|&own| !case.is_ancestor(numbers[own], good)).collect();
            let counted: BTreeSet<_> = nodes.iter().copied().filter(|_| dice.roll(3) > 0).collect();
            let found = weights(&case.candidates, &nodes, |own| counted.contains(&own));
            let of =
                |own: usize| counted.iter().filter(|&&other| case.is_ancestor(numbers[other], numbers[own])).count();
            assert_eq!(found, nodes.iter().map(|&own| of(own)).collect::<Vec<_>>());
        }
    }
}
