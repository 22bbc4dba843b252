//! Graphs that look random and are always the same.

use super::{Bounds, Candidates};
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

    /// One of these.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[usize::try_from(self.roll(from.len() as u64)).expect("small")]
    }

    /// Puts them into another order.
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
    /// How it looks.
    pub shape: Shape,
    /// All its commits.
    pub graph: Graph,
    /// Its last commit is the bad end.
    pub bounds: Bounds,
    /// The commits within them.
    pub candidates: Candidates,
    /// The ancestors of each commit, unless they are those with lower numbers.
    ancestors: Vec<BTreeSet<Number>>,
}

impl Case {
    /// A search on this history.
    pub fn of(shape: Shape, graph: Graph, bounds: Bounds) -> Self {
        let ancestors = match shape {
            Shape::Linear => Vec::new(),
            Shape::Branchy | Shape::Crossing => (1..=graph.len()).map(|of| graph.ancestors(of)).collect(),
        };
        let Ok(candidates) = Candidates::within(&graph, &bounds);
        Self { shape, graph, bounds, candidates, ancestors }
    }

    /// So many commits, all of them candidates.
    pub fn linear(count: Number) -> Self {
        Self::of(Shape::Linear, Graph::linear(count), Bounds { bad: vec![count], ..Bounds::default() })
    }

    /// Whether the one is an ancestor of the other.
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

/// A history of about so many commits.
pub fn history(dice: &mut Dice, shape: Shape, size: Number) -> Graph {
    match shape {
        Shape::Linear => Graph::linear(size),
        Shape::Branchy => branchy(dice, size),
        Shape::Crossing => crossing(dice, size),
    }
}

/// So many cases of up to about `most` commits, a third of each shape, half of them with a good commit somewhere.
pub fn cases(seed: u64, count: usize, most: Number) -> impl Iterator<Item = Case> {
    let mut dice = Dice(seed);
    (0..count).map(move |at| {
        let size = dice.roll(most) + 1;
        let shape = [Shape::Linear, Shape::Branchy, Shape::Crossing][at % 3];
        let graph = history(&mut dice, shape, size);
        let bad = graph.len();
        let good = (bad > 1 && dice.roll(2) == 0).then(|| dice.roll(bad - 1) + 1);
        Case::of(shape, graph, Bounds { bad: vec![bad], good: good.into_iter().collect(), first_parent: false })
    })
}
