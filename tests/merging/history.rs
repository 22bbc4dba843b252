//! What is known of a history by its commits alone: who descends from whom, and what a merge goes from.

use crate::naive::{State, Versions, merged, versions};

/// A commit by its place in the history, from 0. A commit comes behind its parents.
pub type At = usize;

/// The note of what is merged in a base.
const NOTE: &str = "merge of bases";

#[derive(Clone, Debug)]
pub struct Commit {
    pub parents: Vec<At>,
    pub state: State,
}

/// Commits with whole memories.
#[derive(Clone, Debug, Default)]
pub struct History {
    pub commits: Vec<Commit>,
    /// For each commit which of those up to it are its ancestors.
    behind: Vec<Vec<bool>>,
}

impl History {
    pub fn add(&mut self, parents: Vec<At>, state: State) -> At {
        let own = self.commits.len();
        let behind = (0..=own).map(|at| at == own || parents.iter().any(|&parent| self.is_behind(at, parent)));
        let behind = behind.collect();
        self.behind.push(behind);
        self.commits.push(Commit { parents, state });
        own
    }

    pub fn is_behind(&self, one: At, other: At) -> bool {
        self.behind[other].get(one) == Some(&true)
    }

    /// The best common ancestors of a commit and a merge of others, the oldest first.
    fn bases_with(&self, merged: &[At], other: At) -> Vec<At> {
        let mut best: Vec<At> = Vec::new();
        for at in (0..=other).rev() {
            let is_common = self.is_behind(at, other) && merged.iter().any(|&one| self.is_behind(at, one));
            if is_common && !best.iter().any(|&later| self.is_behind(at, later)) {
                best.push(at);
            }
        }
        best.reverse();
        best
    }

    pub fn bases(&self, one: At, other: At) -> Vec<At> {
        self.bases_with(&[one], other)
    }

    /// What a merge of commits with these bases goes from: several are merged themselves, the oldest first.
    pub fn base(&self, bases: &[At]) -> Versions {
        let state = |at: At| versions(&self.commits[at].state);
        let Some((&first, others)) = bases.split_first() else { return Versions::new() };
        let mut made = state(first);
        for (nth, &other) in (1..).zip(others) {
            let below = self.base(&self.bases_with(&bases[..nth], other));
            made = merged(&below, &made, &state(other), NOTE);
        }
        made
    }
}
