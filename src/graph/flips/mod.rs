//! Flips: commits since which something holds that did not before, or no longer holds.
//!
//! A commit is a flip where whether it holds differs from how it was in every parent; of a commit without parents, from
//! how it is in the empty memory. A merge that hands on what one of its parents had is none.

mod search;
mod tally;

pub use search::{FlipSearch, Flips};

use crate::store::Number;
use std::collections::{BTreeMap, BTreeSet};

/// A commit since which something holds that did not in any parent, or the other way round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flip {
    /// The number of the commit.
    pub number: Number,
    /// Whether it holds from then on.
    pub holds: bool,
}

/// How something is at a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct At {
    /// `None` for the empty memory before the first commit.
    number: Option<Number>,
    holds: bool,
}

/// Whether something holds at a commit, and at those before it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Point {
    holds: bool,
    /// At its parents, or where all between is the same, at older commits in their place. One at the least.
    before: Vec<At>,
}

impl Point {
    fn is_flip(&self) -> bool {
        self.before.iter().all(|before| before.holds != self.holds)
    }
}

/// The points of a history by the numbers of their commits, which are larger than those of the commits before them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Points(BTreeMap<Number, Point>);

impl Points {
    /// All flips, the highest number first.
    fn flips(&self) -> Vec<Flip> {
        let flips = self.0.iter().rev().filter(|(_, point)| point.is_flip());
        flips.map(|(&number, point)| Flip { number, holds: point.holds }).collect()
    }

    /// The flips from which how it is at `end` was handed on, from parent to child, without being otherwise in between;
    /// the highest number first. None where it was handed on from commits that are no points.
    fn origins(&self, end: Number) -> Vec<Flip> {
        let (mut found, mut open) = (Vec::new(), BTreeSet::from([end]));
        // Descending numbers: each is taken when all behind which it may stand have been.
        while let Some(number) = open.pop_last() {
            let Some(point) = self.0.get(&number) else { continue };
            if point.is_flip() {
                found.push(Flip { number, holds: point.holds });
            } else {
                let same = point.before.iter().filter(|before| before.holds == point.holds);
                open.extend(same.filter_map(|before| before.number));
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::Index;

    /// Commits counted from 1, each with its parents and whether it holds there. In the empty memory it does not.
    fn points(commits: &[(&[Number], bool)]) -> Points {
        let holds = |number: Number| commits[usize::try_from(number).expect("small") - 1].1;
        let point = |(parents, holds_here): &(&[Number], bool)| {
            let before = parents.iter().map(|&parent| At { number: Some(parent), holds: holds(parent) });
            let root = parents.is_empty().then_some(At { number: None, holds: false });
            Point { holds: *holds_here, before: before.chain(root).collect() }
        };
        Points((1..).zip(commits.iter().map(point)).collect())
    }

    fn numbers(flips: &[Flip]) -> Vec<Number> {
        flips.iter().map(|flip| flip.number).collect()
    }

    #[test]
    fn on_a_line_each_change_is_a_flip_and_the_last_one_counts() {
        let points = points(&[(&[], true), (&[1], true), (&[2], false), (&[3], true), (&[4], true)]);
        assert_eq!(
            points.flips(),
            [Flip { number: 4, holds: true }, Flip { number: 3, holds: false }, Flip { number: 1, holds: true }]
        );
        assert_eq!(numbers(&points.origins(5)), [4]);
        assert_eq!(numbers(&points.origins(3)), [3]);
    }

    #[test]
    fn a_root_at_which_it_is_as_in_the_empty_memory_is_no_flip() {
        let points = points(&[(&[], false), (&[1], false)]);
        assert_eq!((points.flips(), points.origins(2)), (Vec::new(), Vec::new()));
    }

    #[test]
    fn a_merge_that_hands_on_what_a_parent_had_is_no_flip() {
        let points = points(&[(&[], false), (&[1], true), (&[1], false), (&[3, 2], true)]);
        assert_eq!(numbers(&points.flips()), [2]);
        assert_eq!(numbers(&points.origins(4)), [2]);
    }

    #[test]
    fn a_merge_at_which_it_is_as_in_no_parent_is_one() {
        let points = points(&[(&[], false), (&[1], false), (&[1], false), (&[3, 2], true)]);
        assert_eq!(numbers(&points.flips()), [4]);
        assert_eq!(numbers(&points.origins(4)), [4]);
    }

    #[test]
    fn parallel_branches_may_each_have_an_origin_the_newest_first() {
        let points = points(&[(&[], false), (&[1], true), (&[1], true), (&[2, 3], true)]);
        assert_eq!(numbers(&points.origins(4)), [3, 2]);
    }

    #[test]
    fn a_newer_flip_whose_branch_had_flipped_back_is_no_origin() {
        let points = points(&[(&[], false), (&[1], true), (&[1], true), (&[3], false), (&[2, 4], true)]);
        assert_eq!(numbers(&points.flips()), [4, 3, 2]);
        assert_eq!(numbers(&points.origins(5)), [2]);
    }

    #[test]
    fn what_comes_from_before_the_first_point_has_no_origin() {
        let mut points = points(&[(&[], true), (&[1], true)]);
        points.0.remove(&1);
        assert_eq!((points.flips(), points.origins(2)), (Vec::new(), Vec::new()));
    }

    prop_compose! {
        /// The parents of each commit, and whether it holds there.
        fn histories()(seeds in vec((any::<Index>(), any::<Index>(), 0..4u8, any::<bool>()), 1..14))
            -> Vec<(Vec<Number>, bool)>
        {
            let mut commits: Vec<(Vec<Number>, bool)> = Vec::new();
            for (one, other, kind, holds) in seeds {
                let size = commits.len();
                let pick = |index: &Index| Number::try_from(index.index(size)).expect("small") + 1;
                let parents = match kind {
                    _ if size == 0 => vec![],
                    0 => vec![],
                    1 => vec![pick(&one)],
                    2 if pick(&one) != pick(&other) => vec![pick(&one), pick(&other)],
                    _ => vec![Number::try_from(size).expect("small")],
                };
                commits.push((parents, holds));
            }
            commits
        }
    }

    proptest! {
        /// An origin is a flip from which a path of commits, all as the end is, leads to the end.
        #[test]
        fn origins_are_the_flips_with_such_a_path(commits in histories()) {
            let borrowed: Vec<_> = commits.iter().map(|(parents, holds)| (&parents[..], *holds)).collect();
            let points = points(&borrowed);
            let end = Number::try_from(commits.len()).expect("small");
            let wanted = points.0[&end].holds;
            // Found from the end by one step a round.
            let mut same = BTreeSet::from([end]);
            for _ in 0..commits.len() {
                let parents = same.iter().flat_map(|number| &commits[usize::try_from(*number).expect("small") - 1].0);
                let next: Vec<_> = parents.copied().filter(|number| points.0[number].holds == wanted).collect();
                same.extend(next);
            }
            let expected: Vec<_> = points.flips().into_iter().filter(|flip| same.contains(&flip.number)).collect();
            prop_assert_eq!(points.origins(end), expected);
        }
    }
}
