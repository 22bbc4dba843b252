//! Predicates over a memory: what `test` and `check` ask, and what a search through history goes by.
//!
//! A predicate is read once from words, such as `--not --contains user/diet steak`, and evaluated over any [`State`].
//! TEXT is compared with the text of a string; with the JSON text as it is stored for any other value, and for a string
//! with a lone surrogate, which has no text. Of a node that is absent
//! or redacted, whatever is claimed of its content is false, and of a redacted one also that it is there and that it is not.

mod evaluate;
mod json_value;
mod parse;

pub use evaluate::{Evaluation, Found, Seen, State};
pub use parse::{PredicateError, parse};

use crate::model::{Content, NodeId, Pattern};
use regex::Regex;

/// What a predicate claims, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The node is there.
    Present,
    /// The node is not there.
    Absent,
    /// The content is just this text.
    Equals,
    /// The content is this JSON value, however it is spelled.
    EqualsJson,
    /// The text is somewhere in the content.
    Contains,
    /// The regex matches somewhere in the content.
    Matches,
    /// The content has a value at the pointer.
    PathExists,
    /// The content has this JSON value at the pointer.
    PathEquals,
    /// So many nodes match.
    Count,
    /// The text is somewhere in a node that matches.
    Any,
}

impl Kind {
    /// Each of them once.
    pub const ALL: [Self; 10] = [
        Self::Present,
        Self::Absent,
        Self::Equals,
        Self::EqualsJson,
        Self::Contains,
        Self::Matches,
        Self::PathExists,
        Self::PathEquals,
        Self::Count,
        Self::Any,
    ];

    /// Its name, without the dashes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Present => "present",
            Self::Absent => "absent",
            Self::Equals => "equals",
            Self::EqualsJson => "equals-json",
            Self::Contains => "contains",
            Self::Matches => "matches",
            Self::PathExists => "path-exists",
            Self::PathEquals => "path-equals",
            Self::Count => "count",
            Self::Any => "any",
        }
    }

    /// What the words behind it are.
    pub fn words(self) -> &'static [&'static str] {
        match self {
            Self::Present | Self::Absent => &["ID"],
            Self::Equals | Self::Contains => &["ID", "TEXT"],
            Self::EqualsJson => &["ID", "JSON"],
            Self::Matches => &["ID", "REGEX"],
            Self::PathExists => &["ID", "POINTER"],
            Self::PathEquals => &["ID", "POINTER", "JSON"],
            Self::Count => &["PATTERN", "lt|le|eq|ne|ge|gt", "NUMBER"],
            Self::Any => &["PATTERN", "TEXT"],
        }
    }
}

/// How two numbers of nodes are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Less,
    AtMost,
    Equal,
    NotEqual,
    AtLeast,
    More,
}

/// A JSON pointer by RFC 6901, checked.
#[derive(Clone, Debug)]
struct Pointer(String);

#[derive(Clone, Debug)]
enum Claim {
    Present(NodeId),
    Absent(NodeId),
    Equals(NodeId, String),
    EqualsJson(NodeId, Content),
    Contains(NodeId, String),
    Matches(NodeId, Regex),
    PathExists(NodeId, Pointer),
    PathEquals(NodeId, Pointer, Content),
    Count(Pattern, Comparison, u64),
    Any(Pattern, String),
}

/// A claim about a memory, or its opposite.
#[derive(Clone, Debug)]
pub struct Predicate {
    words: Vec<String>,
    is_negated: bool,
    claim: Claim,
}

/// What a predicate looks at.
#[derive(Clone, Copy, Debug)]
pub enum Subject<'a> {
    /// One node.
    Node(&'a NodeId),
    /// All nodes that match.
    Nodes(&'a Pattern),
}

impl Predicate {
    /// The words that it was read from, `--not` included.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// What it looks at: nothing else of a memory can change whether it holds.
    pub fn subject(&self) -> Subject<'_> {
        match &self.claim {
            Claim::Present(id)
            | Claim::Absent(id)
            | Claim::Equals(id, _)
            | Claim::EqualsJson(id, _)
            | Claim::Contains(id, _)
            | Claim::Matches(id, _)
            | Claim::PathExists(id, _)
            | Claim::PathEquals(id, _, _) => Subject::Node(id),
            Claim::Count(pattern, _, _) | Claim::Any(pattern, _) => Subject::Nodes(pattern),
        }
    }
}
