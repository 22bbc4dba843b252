//! Canonical bytes of nodes, states and commits, and the ids that follow from them.
//!
//! Knows no file and no table: what is stored where is the business of the layers above.

mod bytes;
mod commit;
mod error;
mod id;
mod inner;
mod kept;
mod node;
mod redaction;
mod row;
mod trie;

pub use bytes::{Reader, push_bytes, push_varint};
pub use commit::Commit;
pub use error::DecodeError;
pub use id::{CommitId, ObjectId, StateId, hex, sha256};
pub use inner::{Inner, Link};
pub use kept::{Kept, decode_kept, encode_kept, kept_id_in, kept_object_id};
pub use node::{decode_node, encode_node, node_object_id};
pub use redaction::{Redaction, decode_redaction, encode_redaction, is_marker};
pub use row::{encode_row, provenance_json};
pub use trie::{
    Effect, Key, Leaf, New, Root, Sink, Source, Tree, Update, adopt, diff, get, leaves, leaves_above, links, update,
    write,
};
