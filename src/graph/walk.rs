//! The ancestors of commits, children before parents.

use crate::store::{Access, CommitRecord, Number, StoreError, Tables};
use std::collections::BinaryHeap;

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

/// Yields the ancestors of some commits, each once, the highest number first: children come before parents whatever the
/// clocks said, and among unrelated commits the one that the store learned of last.
pub struct Walk<'c, C> {
    commits: &'c C,
    open: BinaryHeap<Number>,
    first_parent: bool,
}

impl<'c, C: Commits> Walk<'c, C> {
    /// Begins at `starts`; follows first parents only where `first_parent` says so.
    pub fn new(commits: &'c C, starts: impl IntoIterator<Item = Number>, first_parent: bool) -> Self {
        Self { commits, open: starts.into_iter().collect(), first_parent }
    }
}

impl<C: Commits> Iterator for Walk<'_, C> {
    type Item = Result<(Number, C::Commit), C::Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let number = self.open.pop()?;
        while self.open.peek() == Some(&number) {
            self.open.pop();
        }
        let commit = match self.commits.commit(number) {
            Ok(commit) => commit,
            Err(error) => return Some(Err(error)),
        };
        let parents = C::parents(&commit);
        self.open.extend(&parents[..if self.first_parent { parents.len().min(1) } else { parents.len() }]);
        Some(Ok((number, commit)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
        Walk::new(&Diamond, starts.iter().copied(), first_parent)
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
}
