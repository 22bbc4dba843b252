//! The ancestors of commits, children before parents.

use crate::store::{Access, CommitRecord, Number, StoreError, Tables};
use std::collections::BTreeMap;

/// Commits by number. A commit's number is larger than its parents'.
pub trait Commits {
    /// What is known of a commit.
    type Commit;
    /// Why one could not be read.
    type Error;

    /// The commit with this number.
    fn commit(&self, number: Number) -> Result<Self::Commit, Self::Error>;

    /// The numbers of its parents, in order.
    fn parents(commit: &Self::Commit) -> &[Number];
}

impl<A: Access> Commits for Tables<A> {
    type Commit = CommitRecord;
    type Error = StoreError;

    fn commit(&self, number: Number) -> Result<CommitRecord, StoreError> {
        Tables::commit(self, number)
    }

    fn parents(commit: &CommitRecord) -> &[Number] {
        &commit.parents
    }
}

/// Yields the ancestors of some commits that are not ancestors of others, each once, the highest number first: children
/// come before parents whatever the clocks said, and among unrelated commits the one that the store learned of last.
pub struct Walk<'c, C> {
    commits: &'c C,
    /// Commits to come, and whether they are left out. A commit is taken when all its children have been.
    open: BTreeMap<Number, bool>,
    /// How many of them are not left out.
    wanted: usize,
    first_parent: bool,
}

impl<'c, C: Commits> Walk<'c, C> {
    /// Begins at `starts` and leaves out the ancestors of `without`; follows first parents only where `first_parent` says
    /// so, but what is left out is so with all its ancestors.
    pub fn new(
        commits: &'c C,
        starts: impl IntoIterator<Item = Number>,
        without: impl IntoIterator<Item = Number>,
        first_parent: bool,
    ) -> Self {
        let mut walk = Self { commits, open: BTreeMap::new(), wanted: 0, first_parent };
        starts.into_iter().for_each(|start| walk.add(start, false));
        without.into_iter().for_each(|start| walk.add(start, true));
        walk
    }

    fn add(&mut self, number: Number, left_out: bool) {
        match self.open.insert(number, left_out) {
            None => self.wanted += usize::from(!left_out),
            Some(true) => drop(self.open.insert(number, true)),
            Some(false) => self.wanted -= usize::from(left_out),
        }
    }
}

impl<C: Commits> Iterator for Walk<'_, C> {
    type Item = Result<(Number, C::Commit), C::Error>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.wanted > 0 {
            let (number, left_out) = self.open.pop_last()?;
            self.wanted -= usize::from(!left_out);
            let commit = match self.commits.commit(number) {
                Ok(commit) => commit,
                Err(error) => return Some(Err(error)),
            };
            let parents = C::parents(&commit);
            let followed = if self.first_parent && !left_out { parents.len().min(1) } else { parents.len() };
            for &parent in &parents[..followed] {
                self.add(parent, left_out);
            }
            if !left_out {
                return Some(Ok((number, commit)));
            }
        }
        None
    }
}

/// The best common ancestors of two commits: those that are ancestors of both and of no other such. The highest number
/// first; several where histories cross.
pub fn merge_bases<C: Commits>(commits: &C, one: Number, other: Number) -> Result<Vec<Number>, C::Error> {
    merge_bases_with(commits, &[one], other)
}

/// The same of one commit and a merge of several, which need not be there.
pub fn merge_bases_with<C: Commits>(commits: &C, merged: &[Number], other: Number) -> Result<Vec<Number>, C::Error> {
    const ONE: u8 = 1;
    const OTHER: u8 = 2;
    const BOTH: u8 = ONE | OTHER;
    /// An ancestor of a base that was found.
    const BEHIND: u8 = 4;
    let mut open: BTreeMap<Number, u8> = BTreeMap::new();
    for &one in merged {
        *open.entry(one).or_default() |= ONE;
    }
    *open.entry(other).or_default() |= OTHER;
    let mut bases = Vec::new();
    // A commit is taken when all its descendants have been, so what is known of it by then is all.
    while open.values().any(|sides| sides & BEHIND == 0)
        && let Some((number, mut sides)) = open.pop_last()
    {
        if sides == BOTH {
            bases.push(number);
            sides |= BEHIND;
        }
        for &parent in C::parents(&commits.commit(number)?) {
            *open.entry(parent).or_default() |= sides;
        }
    }
    Ok(bases)
}

#[cfg(test)]
mod tests {
    use super::super::test_graph::Graph;
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use std::convert::Infallible;

    /// 1 - 2 - 4 - 6, and 1 - 3 - 5 merged into 6.
    struct Diamond;

    impl Commits for Diamond {
        type Commit = &'static [Number];
        type Error = Infallible;

        fn commit(&self, number: Number) -> Result<&'static [Number], Infallible> {
            Ok(match number {
                2 | 3 => &[1],
                4 => &[2],
                5 => &[3],
                6 => &[4, 5],
                _ => &[],
            })
        }

        fn parents(commit: &&'static [Number]) -> &'static [Number] {
            commit
        }
    }

    fn walked(starts: &[Number], first_parent: bool) -> Vec<Number> {
        without(starts, &[], first_parent)
    }

    fn without(starts: &[Number], left_out: &[Number], first_parent: bool) -> Vec<Number> {
        Walk::new(&Diamond, starts.iter().copied(), left_out.iter().copied(), first_parent)
            .map(|step| step.map_or(0, |(number, _)| number))
            .collect()
    }

    #[test]
    fn each_ancestor_comes_once_and_children_first() {
        assert_eq!(walked(&[6], false), [6, 5, 4, 3, 2, 1]);
        assert_eq!(walked(&[4, 5, 4], false), [5, 4, 3, 2, 1]);
    }

    #[test]
    fn first_parents_only() {
        assert_eq!(walked(&[6], true), [6, 4, 2, 1]);
    }

    #[test]
    fn what_is_left_out_is_so_with_its_ancestors() {
        assert_eq!(without(&[6], &[4], false), [6, 5, 3]);
        assert_eq!(without(&[6], &[5], true), [6, 4, 2]);
        assert!(without(&[4], &[6], false).is_empty());
        assert!(without(&[4], &[4], false).is_empty());
        assert_eq!(without(&[4], &[], false), [4, 2, 1]);
    }

    proptest! {
        #[test]
        fn walks_and_bases_agree_with_sets(
            seeds in vec((any::<u32>(), any::<u32>(), 0u8..4), 1..25),
            ends in (any::<u32>(), any::<u32>()),
        ) {
            let mut graph = Graph::default();
            for (one, other, kind) in seeds {
                let size = graph.len();
                let pick = |seed: u32| Number::from(seed) % size + 1;
                graph.push(match kind {
                    _ if size == 0 => vec![],
                    0 => vec![pick(one)],
                    1 if pick(one) != pick(other) => vec![pick(one), pick(other)],
                    _ => vec![size],
                });
            }
            let pick = |seed: u32| Number::from(seed) % graph.len() + 1;
            let (one, other) = (pick(ends.0), pick(ends.1));
            let (a, b) = (graph.ancestors(one), graph.ancestors(other));

            let walked: Vec<_> = Walk::new(&graph, [one], [other], false).map(|step| step.map_or(0, |(number, _)| number)).collect();
            prop_assert_eq!(walked, a.iter().rev().filter(|&number| !b.contains(number)).copied().collect::<Vec<_>>());

            let common: BTreeSet<_> = a.intersection(&b).copied().collect();
            let best = common.iter().rev().filter(|&&base| !common.iter().any(|&c| c != base && graph.ancestors(c).contains(&base)));
            let Ok(bases) = merge_bases(&graph, one, other);
            prop_assert_eq!(bases, best.copied().collect::<Vec<_>>());
        }
    }
}
