//! Names of commits: `HEAD`, `@`, a branch, a tag, `refs/…`, `ORIG_HEAD`, `@{-1}`, an id or a prefix of one; `@{N}` right
//! behind such a name; then `~N`, `^N` and `@{TIME}`; and names of ranges of them: `A..B`, `A...B`, `^A`.

mod parse;
mod resolve;

pub use resolve::{Doubt, Ends, Meaning, Resolved, abbreviated, ref_log, ref_named, resolve, resolve_all, shortest};

use crate::model::CommitTime;
use crate::object::CommitId;
use crate::store::{MayBeDamage, StoreError};

/// A parsed revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision {
    text: String,
    base: Base,
    /// `@{N}`: not the present value of the base but the N-th newest, from 0, that its log has.
    nth: Option<u64>,
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Base {
    Head,
    /// What stands before `@{N}` where nothing does: the session's branch, or HEAD where it is on none.
    HeadBranch,
    /// Where HEAD was before a command moved it elsewhere.
    OrigHead,
    /// `@{-1}`: where the session stood before it last switched.
    Previous,
    Name(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// `~N`: so many first parents back.
    Back(u64),
    /// `^N`: the N-th parent; `^0` is the commit itself.
    Parent(u64),
    /// `@{TIME}`: the newest first-parent ancestor made at this time or earlier.
    At(CommitTime),
}

/// Commits to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// The commit and its ancestors.
    Of(Revision),
    /// Not the commit and its ancestors.
    Without(Revision),
    /// The ancestors of the second that are none of the first: `A..B`.
    Between(Revision, Revision),
    /// The ancestors of either that are not ancestors of both: `A...B`.
    Either(Revision, Revision),
}

/// Why a revision names no commit.
#[derive(Debug, thiserror::Error)]
pub enum RevisionError {
    /// Not in the grammar.
    #[error("'{text}' is not a revision: {why}")]
    Syntax {
        /// What was given.
        text: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// HEAD's branch has no commit.
    #[error("no commit yet on '{branch}'")]
    Unborn {
        /// The branch, in short.
        branch: String,
    },
    /// No ref and no commit of this name.
    #[error("unknown revision '{text}'")]
    Unknown {
        /// What was given.
        text: String,
        /// Branches and tags whose names are like it.
        near: Vec<String>,
    },
    /// The ref that is meant was deleted.
    #[error("'{text}' names '{name}', which was deleted")]
    Deleted {
        /// What was given.
        text: String,
        /// The full name of the ref.
        name: String,
    },
    /// The session has no `ORIG_HEAD`.
    #[error("no command of this session has moved HEAD away, so there is no ORIG_HEAD")]
    NoOrigHead,
    /// The session has not switched yet.
    #[error("this session has not switched yet, so there is no '@{{-1}}'")]
    NoPrevious,
    /// Only HEAD and refs have a log.
    #[error("'{text}' has no log: only HEAD and refs have one")]
    NoLog {
        /// What was given.
        text: String,
    },
    /// A log has fewer entries.
    #[error("'{text}' is not in the log of '{name}': it has {}", entries(*.count))]
    OutOfLog {
        /// What was given.
        text: String,
        /// HEAD, or the full name of the ref.
        name: String,
        /// How many entries there are.
        count: usize,
    },
    /// The log says that there was no commit.
    #[error("'{text}' is no commit: there was none at that time")]
    NoCommitThen {
        /// What was given.
        text: String,
    },
    /// No commit is that old.
    #[error("no commit of '{text}' is that old")]
    NoneThatOld {
        /// What was given.
        text: String,
    },
    /// A step leads behind the first commit.
    #[error("'{text}' leads behind the first commit")]
    NoAncestor {
        /// What was given.
        text: String,
    },
    /// A commit has fewer parents.
    #[error("'{text}' asks for a parent that the commit does not have")]
    NoParent {
        /// What was given.
        text: String,
    },
    /// Two commits have no common ancestor.
    #[error("'{one}' and '{other}' have no common ancestor")]
    Unrelated {
        /// One of them.
        one: String,
        /// The other.
        other: String,
    },
    /// Several commits have ids with this prefix.
    #[error("the prefix '{text}' is ambiguous")]
    Ambiguous {
        /// What was given.
        text: String,
        /// Some of the commits: id and subject.
        candidates: Vec<(CommitId, String)>,
        /// Whether there are more.
        more: bool,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl MayBeDamage for RevisionError {
    fn is_damage(&self) -> bool {
        matches!(self, Self::Store(error) if error.is_damage())
    }

    fn located(self, path: &std::path::Path) -> Self {
        match self {
            Self::Store(error) => Self::Store(error.at(path)),
            other => other,
        }
    }
}

fn entries(count: usize) -> String {
    match count {
        0 => "no entries".to_owned(),
        1 => "one entry".to_owned(),
        count => format!("{count} entries"),
    }
}

impl Revision {
    /// HEAD itself.
    pub fn head() -> Self {
        Self { text: "HEAD".to_owned(), base: Base::Head, nth: None, steps: Vec::new() }
    }

    /// What it names without `@{N}` and steps; `None` where it has such.
    fn alone(&self) -> Option<&Base> {
        (self.nth.is_none() && self.steps.is_empty()).then_some(&self.base)
    }
}

impl std::fmt::Display for Revision {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl Selection {
    /// The revisions in it, the end of a range before its start, each with whether it is one to leave out.
    pub fn ends(&self) -> Vec<(&Revision, bool)> {
        match self {
            Self::Of(revision) => vec![(revision, false)],
            Self::Without(revision) => vec![(revision, true)],
            Self::Between(one, other) => vec![(other, false), (one, true)],
            Self::Either(one, other) => vec![(other, false), (one, false)],
        }
    }
}
