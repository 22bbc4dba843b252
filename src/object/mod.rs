//! Canonical bytes of nodes, states and commits, and the ids that follow from them.
//!
//! Knows no file and no table: what is stored where is the business of the layers above.

mod bytes;
mod commit;
mod error;
mod id;
mod inner;
mod node;
mod row;
mod trie;

pub use bytes::{Reader, push_bytes, push_varint};
pub use commit::Commit;
pub use error::DecodeError;
pub use id::{CommitId, ObjectId, StateId, sha256};
pub use inner::{Inner, Link};
pub use node::{decode_node, encode_node, node_id_in, node_object_id};
pub use row::{encode_row, provenance_json};
pub use trie::{
    Effect, Leaf, New, Root, Sink, Source, Tree, Update, adopt, diff, get, leaves, leaves_above, links, update, write,
};
