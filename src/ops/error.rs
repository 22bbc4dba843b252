//! Why an operation did not do what was asked.

use super::Underway;
use crate::graph::RevisionError;
use crate::model::{NameError, NodeId, SessionName};
use crate::object::{CommitId, ObjectId};
use crate::store::{BundleError, BundleFault, MayBeDamage, Redacting, StoreError, short_branch, short_tag};
use std::io;
use std::path::Path;

/// An error of an operation. The first few are answers to a well-formed question.
#[derive(Debug, thiserror::Error)]
pub enum OpError {
    /// The memory has no such nodes.
    #[error("no node {}", quoted(.0))]
    NoNode(Vec<NodeId>),
    /// What was to be redacted before is not yet.
    #[error("a redaction {} was interrupted", about(.0))]
    RedactionLeft(Box<Redacting>),
    /// No version of a node came from there.
    #[error("nothing came from the source '{0}'")]
    NoSource(String),
    /// The contents of nodes have nothing at a JSON pointer.
    #[error("the content of {} has nothing at '{path}'", quoted(.ids))]
    NoPath {
        /// The nodes.
        ids: Vec<NodeId>,
        /// The pointer.
        path: String,
    },
    /// A node's content has fewer lines.
    #[error("the content of '{id}' has {}", if *.lines == 1 { "one line".to_owned() } else { format!("{lines} lines") })]
    NoLine {
        /// The node.
        id: NodeId,
        /// How many it has.
        lines: usize,
    },
    /// A node is not as the caller expects it to be.
    #[error("'{id}' {}", .found.map_or("is absent".to_owned(), |found| format!("has the hash {found}")))]
    Precondition {
        /// The node.
        id: NodeId,
        /// The object that it has.
        found: Option<ObjectId>,
    },
    /// A commit of a batch, counted from 0, changes nothing.
    #[error("commit {} of the rows would change nothing", .0 + 1)]
    EmptyGroup(usize),
    /// Nothing is staged, or what is staged is what HEAD has.
    #[error("nothing to commit")]
    NothingToCommit,
    /// Both this session and another changed these nodes.
    #[error("{} changed both here and on the branch", count_nodes(.0.len()))]
    Conflict(Vec<NodeId>),
    /// Another session has moved the branch while the command was at work.
    #[error("the branch has moved meanwhile")]
    Moved,
    /// The commit that was to be amended is none to which the session itself has brought HEAD.
    #[error("the last commit is none that this session has made or gone to")]
    Foreign {
        /// The short name of its branch; `None` where it stands on none.
        branch: Option<String>,
    },
    /// A ref that was to be created is there.
    #[error("the {} exists already", told(.0))]
    RefExists(String),
    /// There is no such ref.
    #[error("no {}", told(.name))]
    NoRef {
        /// Its full name.
        name: String,
        /// Short names of the same kind that are like it.
        near: Vec<String>,
    },
    /// A revision is no branch.
    #[error("'{0}' is a commit and no branch")]
    NoBranch(String),
    /// A branch was called by another name than its short one.
    #[error("'{given}' is a longer name of the branch '{branch}'")]
    LongName {
        /// What was given.
        given: String,
        /// Its short name.
        branch: String,
    },
    /// Sessions stand on a branch that was to be moved or deleted.
    #[error("{} on the branch '{branch}'", standing(.sessions))]
    BranchInUse {
        /// Its short name.
        branch: String,
        /// The sessions, one at the least.
        sessions: Vec<SessionName>,
    },
    /// The tips of these branches are in no other branch and not in HEAD.
    #[error("{} in no other branch and not in HEAD", count_branches(.0))]
    NotMerged(Vec<String>),
    /// The session stands on no branch that could be meant.
    #[error("HEAD is on no branch")]
    OnNoBranch,
    /// The session has stood nowhere else.
    #[error("this session has not switched yet")]
    NoPrevious,
    /// The session has begun something that is to be finished or left first.
    #[error("a {} is in progress", .0.name())]
    InProgress(Underway),
    /// The session has not begun what was to be finished.
    #[error("no {} is in progress", .0.name())]
    NothingInProgress(Underway),
    /// Conflicts of these nodes are not settled, or HEAD has changed since they were.
    #[error("{} not settled", count_conflicts(.0.len()))]
    Unsettled(Vec<NodeId>),
    /// Of what is in progress this node is no conflict.
    #[error("'{0}' is no conflict")]
    NoConflict(NodeId),
    /// The base of a conflict conflicts itself.
    #[error("'{0}' has no base: where the histories cross it conflicts itself")]
    NoBase(NodeId),
    /// One commit is the good end and the bad end of a search.
    #[error("commit {0} is good and bad")]
    BothEnds(CommitId),
    /// The good end of a search descends from the bad one.
    #[error("the good end {good} descends from the bad end {bad}")]
    SwappedEnds {
        /// What was named as bad.
        bad: CommitId,
        /// What was named as good.
        good: CommitId,
    },
    /// The session searches for no first bad commit.
    #[error("this session is not searching")]
    NoBisect,
    /// Nothing was said yet that could be taken back.
    #[error("nothing is marked yet")]
    NothingMarked,
    /// Between the ends no commit is a candidate.
    #[error("no commit between the ends changed such a node")]
    NothingBetween,
    /// A commit that is to be compared with its first parent is the first one.
    #[error("commit {0} has no parent")]
    NoParent(CommitId),
    /// The revisions choose no commit.
    #[error("no commit is chosen")]
    NothingChosen,
    /// A merge would make a commit although none was wanted.
    #[error("HEAD is no ancestor of '{0}'")]
    NotFastForward(String),
    /// A merge was named no parent to go back to, or another commit was named one.
    #[error("{}", told_mainline(.commit, *.parents, *.named))]
    Mainline {
        /// The commit.
        commit: CommitId,
        /// How many parents it has.
        parents: usize,
        /// Which was named, counted from 1; 0 for none.
        named: usize,
    },
    /// Staged changes of these nodes would hide what stands where the session was to go.
    #[error("{} staged, and otherwise changed there", count_nodes(.0.len()))]
    WouldOverwrite(Vec<NodeId>),
    /// An end of what is to be in a bundle is no branch and no tag.
    #[error("'{0}' is no branch and no tag, so nothing would name its commits in the bundle")]
    NotARef(String),
    /// A file that is to be a bundle is none that can be read.
    #[error("{}", told_fault(.name, .fault))]
    Bundle {
        /// What it is called.
        name: String,
        /// What is wrong with it.
        fault: BundleFault,
    },
    /// A bundle builds on commits that are not here.
    #[error("the bundle '{name}' builds on {} not here: {}", count_commits(.commits.len()), listed(.commits))]
    Lacking {
        /// What it is called.
        name: String,
        /// The commits.
        commits: Vec<CommitId>,
    },
    /// Branches are here too, and would not move forward.
    #[error("the bundle '{name}' has other commits than are here on {}", quoted_names("branch", "branches", .branches))]
    Diverged {
        /// What the bundle is called.
        name: String,
        /// The short names of the branches.
        branches: Vec<String>,
    },
    /// Tags are here too, and name other commits.
    #[error("the bundle '{name}' has another commit than is here for {}", quoted_names("tag", "tags", .tags))]
    TagsElsewhere {
        /// What the bundle is called.
        name: String,
        /// The short names of the tags.
        tags: Vec<String>,
    },
    /// What was to be written could not be.
    #[error(transparent)]
    Output(io::Error),
    /// A name that would come of others is none.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A revision names no commit.
    #[error(transparent)]
    Revision(#[from] RevisionError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn quoted(ids: &[NodeId]) -> String {
    ids.iter().map(|id| format!("'{id}'")).collect::<Vec<_>>().join(", ")
}

/// The kind of a ref and its short name.
fn told(name: &str) -> String {
    match short_tag(name) {
        Some(short) => format!("tag '{short}'"),
        None => format!("branch '{}'", short_branch(name)),
    }
}

fn standing(sessions: &[SessionName]) -> String {
    let names = sessions.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ");
    if sessions.len() == 1 { format!("the session {names} stands") } else { format!("the sessions {names} stand") }
}

fn count_branches(names: &[String]) -> String {
    let told = names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ");
    if names.len() == 1 { format!("the tip of the branch {told} is") } else { format!("the tips of {told} are") }
}

fn count_conflicts(count: usize) -> String {
    if count == 1 { "1 conflict is".to_owned() } else { format!("{count} conflicts are") }
}

fn told_mainline(commit: &CommitId, parents: usize, named: usize) -> String {
    match (parents, named) {
        (0 | 1, _) => format!("commit {commit} is no merge"),
        (_, 0) => format!("commit {commit} is a merge, and no parent is named"),
        (_, named) => format!("commit {commit} has no parent {named}"),
    }
}

fn told_fault(name: &str, fault: &BundleFault) -> String {
    match fault {
        BundleFault::NoBundle => format!("'{name}' is no bundle"),
        BundleFault::Version(version) => {
            format!("the bundle '{name}' is of version {version}, which this version of mnem does not read")
        }
        BundleFault::Damaged(what) => format!("the bundle '{name}' is damaged: {what}"),
        BundleFault::Kind { commit, source } => {
            format!("the bundle '{name}' holds a node that this version does not read: commit {commit}: {source}")
        }
        BundleFault::Read(error) => format!("reading '{name}' failed: {error}"),
    }
}

fn count_commits(count: usize) -> String {
    if count == 1 { "1 commit that is".to_owned() } else { format!("{count} commits that are") }
}

fn listed(ids: &[CommitId]) -> String {
    ids.iter().map(CommitId::to_string).collect::<Vec<_>>().join(", ")
}

fn quoted_names(one: &str, several: &str, names: &[String]) -> String {
    let told = names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ");
    format!("the {} {told}", if names.len() == 1 { one } else { several })
}

impl From<BundleError> for OpError {
    fn from(error: BundleError) -> Self {
        match error {
            BundleError::Bundle { name, fault } => Self::Bundle { name, fault },
            BundleError::Store(error) => Self::Store(error),
        }
    }
}

fn count_nodes(count: usize) -> String {
    if count == 1 { "1 node was".to_owned() } else { format!("{count} nodes were") }
}

impl MayBeDamage for OpError {
    fn is_damage(&self) -> bool {
        match self {
            Self::Store(error) => error.is_damage(),
            Self::Revision(error) => error.is_damage(),
            Self::NoNode(_)
            | Self::NoSource(_)
            | Self::RedactionLeft(_)
            | Self::NoPath { .. }
            | Self::NoLine { .. }
            | Self::Precondition { .. }
            | Self::EmptyGroup(_)
            | Self::NothingToCommit
            | Self::Moved
            | Self::Foreign { .. }
            | Self::LongName { .. }
            | Self::Conflict(_)
            | Self::RefExists(_)
            | Self::NoRef { .. }
            | Self::NoBranch(_)
            | Self::BranchInUse { .. }
            | Self::NotMerged(_)
            | Self::OnNoBranch
            | Self::NoPrevious
            | Self::InProgress(_)
            | Self::NothingInProgress(_)
            | Self::Unsettled(_)
            | Self::NoConflict(_)
            | Self::NoBase(_)
            | Self::NotFastForward(_)
            | Self::BothEnds(_)
            | Self::NoBisect
            | Self::NothingMarked
            | Self::NothingBetween
            | Self::NoParent(_)
            | Self::SwappedEnds { .. }
            | Self::NothingChosen
            | Self::Mainline { .. }
            | Self::NotARef(_)
            | Self::Bundle { .. }
            | Self::Lacking { .. }
            | Self::Diverged { .. }
            | Self::TagsElsewhere { .. }
            | Self::Output(_)
            | Self::Name(_)
            | Self::WouldOverwrite(_) => false,
        }
    }

    fn located(self, path: &Path) -> Self {
        match self {
            Self::Store(error) => Self::Store(error.at(path)),
            Self::Revision(error) => Self::Revision(error.located(path)),
            other => other,
        }
    }
}

/// What a redaction is about.
fn about(redacting: &Redacting) -> String {
    let ids: Vec<_> = redacting.ids.iter().map(|id| format!("'{id}'")).collect();
    match (&ids[..], &redacting.source) {
        ([], Some(source)) => format!("of all that came from '{source}'"),
        (ids, Some(source)) => format!("of what {} had from '{source}'", ids.join(", ")),
        (ids, None) => format!("of {}", ids.join(", ")),
    }
}
