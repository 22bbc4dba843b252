//! What a check can find, by names that stay.

use super::super::record::{Number, Place};
use crate::model::NodeId;
use crate::object::CommitId;

macro_rules! faults {
    ($($(#[$doc:meta])+ $fault:ident = $name:literal, $group:ident;)*) => {
        /// A kind of damage.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Fault {
            $($(#[$doc])+ $fault,)*
        }

        impl Fault {
            /// All of them.
            #[cfg(feature = "internals")]
            pub const ALL: &'static [Self] = &[$(Self::$fault),*];

            /// The name, a promise to scripts.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$fault => $name,)*
                }
            }

            /// What it is about.
            pub fn group(self) -> Group {
                match self {
                    $(Self::$fault => Group::$group,)*
                }
            }
        }
    };
}

/// What kind of thing is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// The database file, an object or a commit: what all else follows from.
    Ground,
    /// What follows from commits and objects, or from the log of a ref.
    Derived,
    /// What stands for itself: logs of refs, sessions, settings, staged changes.
    Own,
    /// Nothing: a newer version wrote it.
    Newer,
}

faults! {
    /// redb's own check of its pages refuses the file.
    Structure = "structure", Ground;
    /// The file's header is none that redb leaves behind.
    Header = "header", Ground;
    /// A table is missing, unknown, or not to be read to its end.
    Table = "table", Ground;
    /// The row of an object fails its check or cannot be read.
    ObjectRow = "object-row", Ground;
    /// An object that is referred to is not there.
    ObjectMissing = "object-missing", Ground;
    /// An object is not in canonical form.
    ObjectForm = "object-form", Ground;
    /// An object is another one than what refers to it says.
    ObjectHash = "object-hash", Ground;
    /// The record of an object belongs to no commit.
    ObjectStray = "object-stray", Ground;
    /// The row of a commit fails its check or cannot be read.
    CommitRow = "commit-row", Ground;
    /// A commit is not in canonical form.
    CommitForm = "commit-form", Ground;
    /// A parent of a commit is not there.
    CommitParent = "commit-parent", Ground;
    /// The id of a commit is not that of what it says.
    CommitHash = "commit-hash", Ground;
    /// The counts of nodes or of changes in a commit are wrong.
    CommitCount = "commit-count", Ground;
    /// The place of a commit among the chains is impossible.
    CommitChain = "commit-chain", Ground;
    /// A state is a trie of another shape than its nodes have.
    TrieShape = "trie-shape", Ground;
    /// A state refers to other records than the record rule says, or has them in another order.
    RecordRule = "record-rule", Ground;
    /// The index of commit ids lacks a row, or has one that is wrong.
    HashRow = "hash-row", Derived;
    /// The index of ancestry lacks a row, or has one that is wrong.
    ChainRow = "chain-row", Derived;
    /// The history of an id lacks a row, or has one that is wrong.
    HistoryRow = "history-row", Derived;
    /// A ref is not where its log says.
    RefRow = "ref-row", Derived;
    /// There is no log of a ref.
    RefLog = "ref-log", Own;
    /// A row of a log of refs is lost, or cannot be read.
    ReflogRow = "reflog-row", Own;
    /// A ref or a log of one names no commit.
    RefTarget = "ref-target", Own;
    /// The row of a session is lost, or cannot be read.
    SessionRow = "session-row", Own;
    /// A session names no commit.
    SessionTarget = "session-target", Own;
    /// A setting is lost, unknown or impossible.
    Setting = "setting", Own;
    /// The frames of a staged log are none that a crash leaves behind.
    StagedLog = "staged-log", Own;
    /// A staged node is not in canonical form, or not the one that it stands for.
    StagedNode = "staged-node", Own;
    /// A node of a content kind that this version does not know.
    UnsupportedKind = "unsupported-kind", Newer;
    /// A record or a format of a kind that this version does not know.
    UnsupportedFormat = "unsupported-format", Newer;
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What.
    pub fault: Fault,
    /// With what, such as `object 17` or `the ref 'refs/heads/main'`.
    pub about: String,
    /// In which way.
    pub what: String,
    /// The commits whose state or history it reaches, in the order in which they came into the store.
    pub commits: Vec<CommitId>,
    /// The node ids whose lookup runs into it, in their order.
    pub ids: Vec<NodeId>,
    /// What would put it right.
    pub(super) fixes: Vec<Fix>,
    /// The record or the commit that is damaged.
    pub(super) seat: Seat,
}

/// Where damage sits that other records refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seat {
    /// Nothing refers to it.
    Nowhere,
    /// In the record of an object.
    Object(Number),
    /// In a commit.
    Commit(Number),
}

/// A row that has to be written, or to go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fix {
    /// The row of `hash`.
    Hash { id: [u8; 32], number: Option<Number> },
    /// The row of `chain`.
    Chain { place: Place, row: Option<Vec<u8>> },
    /// The row of `history` with this key; what it links to follows from the rows that are there then.
    History { key: Vec<u8>, is_there: bool },
    /// The row of `ref`.
    Reference { name: String, number: Option<Number> },
}

impl Finding {
    pub(super) fn new(fault: Fault, about: impl Into<String>, what: impl Into<String>) -> Self {
        let (about, what) = (about.into(), what.into());
        Self { fault, about, what, commits: Vec::new(), ids: Vec::new(), fixes: Vec::new(), seat: Seat::Nowhere }
    }

    pub(super) fn at(self, seat: Seat) -> Self {
        Self { seat, ..self }
    }

    pub(super) fn fixed_by(mut self, fix: Fix) -> Self {
        self.fixes.push(fix);
        self
    }

    /// Whether it can be put right from what is sound.
    pub fn is_repairable(&self) -> bool {
        !self.fixes.is_empty()
    }
}

/// What a check came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// What is wrong, in the order in which it was looked for.
    pub findings: Vec<Finding>,
    /// What is no damage and yet worth saying.
    pub notes: Vec<Note>,
    /// How many commits were looked at.
    pub commits: u64,
    /// How many records of objects.
    pub objects: u64,
    /// How many bytes these records have.
    pub bytes: u64,
}

/// What is no damage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// A redaction was interrupted, and what it is about is still there.
    RedactionLeft,
    /// The last writer was killed, or ended while the file was locked; the next one recovers it.
    Unrecovered,
    /// A log ends with the rest of a write that was never acknowledged.
    TornTail {
        /// Whose log.
        session: crate::model::SessionName,
        /// How many bytes.
        bytes: u64,
    },
}
