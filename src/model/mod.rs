//! Plain values of the field: node, content, provenance, times, names.
//!
//! Knows no hashing, no storage and no terminal. Every value is checked when it is made, so the layers above never see
//! a bad one.

mod author;
mod content;
mod json;
mod name;
mod node;
mod node_id;
mod pattern;
mod provenance;
mod time;
mod tree;

pub use author::{Author, Message};
pub use content::{Content, JsonError, MAX_CONTENT_BYTES, json_string_length, push_json_string};
pub use json::{Part, PointerError, minify, parts, pieces, pointer};
#[cfg(test)]
pub use json::{elements, members};
pub use name::{BranchName, NameError, SessionName, TagName};
pub use node::{ContentKind, KindError, Node};
pub use node_id::{IdError, NodeId};
pub use pattern::{Pattern, PatternError};
pub use provenance::Provenance;
pub use time::{CommitTime, TimeError, Timestamp};
#[cfg(any(test, feature = "internals"))]
pub use tree::MAX_DEPTH;
pub use tree::{ArrayLimit, Limit, Tree};
