//! Graphs that look random and are always the same.

use super::super::{Bounds, Candidates};
use crate::graph::test_graph::Graph;
use crate::store::Number;
use std::collections::BTreeSet;

/// Numbers that look random and are always the same.
pub struct Dice(pub u64);

impl Dice {
    /// Less than `sides`.
    pub fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) % sides
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[usize::try_from(self.roll(from.len() as u64)).expect("small")]
    }

    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for at in (1..list.len()).rev() {
            list.swap(at, usize::try_from(self.roll(at as u64 + 1)).expect("small"));
        }
    }
}

/// How a history looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One commit after the other.
    Linear,
    /// Lines that begin, fork and are merged; now and then one with a root of its own.
    Branchy,
    /// Two lines that are merged into each other again and again.
    Crossing,
}

/// A history whose last commit is bad, and all that is to know of it.
pub struct Case {
    pub shape: Shape,
    pub graph: Graph,
    pub bounds: Bounds,
    pub candidates: Candidates,
    /// The ancestors of each commit, unless they are those with lower numbers.
    ancestors: Vec<BTreeSet<Number>>,
}

impl Case {
    pub fn of(shape: Shape, graph: Graph, bounds: Bounds) -> Self {
        let ancestors = match shape {
            Shape::Linear => Vec::new(),
            Shape::Branchy | Shape::Crossing => (1..=graph.len()).map(|of| graph.ancestors(of)).collect(),
        };
        let Ok(candidates) = Candidates::within(&graph, &bounds);
        Self { shape, graph, bounds, candidates, ancestors }
    }

    pub fn linear(count: Number) -> Self {
        Self::of(Shape::Linear, Graph::linear(count), Bounds { bad: vec![count], ..Bounds::default() })
    }

    pub fn is_ancestor(&self, ancestor: Number, of: Number) -> bool {
        match self.shape {
            Shape::Linear => ancestor <= of,
            Shape::Branchy | Shape::Crossing => {
                self.ancestors[usize::try_from(of).expect("small") - 1].contains(&ancestor)
            }
        }
    }
}

fn branchy(dice: &mut Dice, size: Number) -> Graph {
    let mut graph = Graph::linear(1);
    let mut tips = vec![1];
    while graph.len() < size || tips.len() > 1 {
        let tip = dice.pick(&tips);
        let parents = match dice.roll(8) {
            _ if graph.len() >= size => tips[..tips.len().min(3)].to_vec(),
            0 if tips.len() < 5 => vec![],
            0..=2 if tips.len() < 5 => vec![dice.roll(graph.len()) + 1],
            3 | 4 if tips.len() > 1 => {
                dice.shuffle(&mut tips);
                tips[..2].to_vec()
            }
            _ => vec![tip],
        };
        tips.retain(|tip| !parents.contains(tip));
        tips.push(graph.push(parents));
    }
    graph
}

fn crossing(dice: &mut Dice, size: Number) -> Graph {
    let mut graph = Graph::linear(1);
    let mut tips = [graph.push(vec![1]), graph.push(vec![1])];
    while graph.len() < size {
        if dice.roll(3) == 0 {
            tips = [graph.push(tips.to_vec()), graph.push(vec![tips[1], tips[0]])];
        } else {
            let line = usize::from(dice.roll(2) == 0);
            tips[line] = graph.push(vec![tips[line]]);
        }
    }
    graph.push(tips.to_vec());
    graph
}

/// So many cases of up to about `most` commits, a third of each shape, half of them with a good commit somewhere.
pub fn cases(seed: u64, count: usize, most: Number) -> impl Iterator<Item = Case> {
    let mut dice = Dice(seed);
    (0..count).map(move |at| {
        let size = dice.roll(most) + 1;
        let (shape, graph) = match at % 3 {
            0 => (Shape::Linear, Graph::linear(size)),
            1 => (Shape::Branchy, branchy(&mut dice, size)),
            _ => (Shape::Crossing, crossing(&mut dice, size)),
        };
        let bad = graph.len();
        let good = (bad > 1 && dice.roll(2) == 0).then(|| dice.roll(bad - 1) + 1);
        Case::of(shape, graph, Bounds { bad: vec![bad], good: good.into_iter().collect(), first_parent: false })
    })
}
