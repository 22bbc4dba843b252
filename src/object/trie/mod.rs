//! The state: a Merkle trie whose shape, and so whose id, follows from the map of ids to nodes alone.
//!
//! The key of an entry is the SHA-256 of its id, and each level takes two bits of it. A subtree of no entries is empty,
//! of one entry is that node, of more an inner node. Knows no table: records are read through [`Source`] and written
//! through [`Sink`]. Only numbers of records tell subtrees apart; ids are computed where they are written.

mod update;
mod walk;
mod write;

#[cfg(test)]
mod tests;

pub use update::{Effect, New, Tree, Update, update};
pub use walk::{diff, leaves, leaves_above, links};
pub use write::{Sink, adopt, write};

use super::inner::SLOTS;
use super::{Inner, Link, ObjectId, StateId, sha256};
use crate::model::NodeId;

/// A node of a state: the number of its record, and its id as an object.
pub type Leaf = (u64, ObjectId);

/// Where the records of a state are read.
pub trait Source {
    /// Why a record cannot be had.
    type Error;

    /// The inner node in the record `number`.
    fn inner(&self, number: u64) -> Result<Inner, Self::Error>;

    /// The logical key of the node in the record `number`, whose id as an object is `object`.
    fn node_id(&self, number: u64, object: ObjectId) -> Result<NodeId, Self::Error>;

    /// The error for a record that stands where no state has it.
    fn misplaced(&self, number: u64) -> Self::Error;
}

/// What a state begins with, as a commit's record holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// No node at all.
    Empty,
    /// One node.
    Node {
        /// The node's record.
        number: u64,
        /// The node's id as an object.
        object: ObjectId,
    },
    /// More than one node.
    Inner {
        /// The inner node's record.
        number: u64,
        /// The inner node's id.
        id: ObjectId,
    },
}

impl Root {
    /// The way into the state.
    pub const fn link(self) -> Option<Link> {
        match self {
            Self::Empty => None,
            Self::Node { number, object } => Some(Link::Node { number, object }),
            Self::Inner { number, id } => Some(Link::Inner { number, id: Some(id) }),
        }
    }

    /// The id of the state of `count` nodes that begins here.
    pub fn state_id(self, count: u64) -> StateId {
        let (kind, id) = match self {
            Self::Empty => (0, [0; 32]),
            Self::Node { object, .. } => (1, *object.as_bytes()),
            Self::Inner { id, .. } => (2, *id.as_bytes()),
        };
        StateId::from_bytes(sha256(&[b"state 1\0", &count.to_le_bytes(), &[kind], &id]))
    }
}

/// The place of an id in a state: the SHA-256 of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key([u8; 32]);

impl Key {
    /// How many inner nodes lie above an entry at most.
    pub const LEVELS: usize = 128;

    /// The key of `id`.
    pub fn of(id: &NodeId) -> Self {
        Self(sha256(&[id.as_str().as_bytes()]))
    }

    /// The slot at a level below [`Key::LEVELS`]: two bits, the highest of the first byte at level 0.
    pub fn slot(&self, level: usize) -> usize {
        usize::from(self.0[level / 4] >> (6 - level % 4 * 2) & 3)
    }

    /// Whether both take the same slots above `level`.
    fn meets(&self, other: &Self, level: usize) -> bool {
        (0..level).all(|level| self.slot(level) == other.slot(level))
    }
}

/// The node of `id` in the state below `root`.
pub fn get<S: Source>(source: &S, root: Option<Link>, id: &NodeId) -> Result<Option<Leaf>, S::Error> {
    match descend(source, root, &Key::of(id), 0)? {
        Some((number, object)) if source.node_id(number, object)? == *id => Ok(Some((number, object))),
        Some(_) | None => Ok(None),
    }
}

/// The id of what `link` leads to; where it was left out, it is computed from the records below.
pub fn link_id<S: Source>(source: &S, link: Link) -> Result<ObjectId, S::Error> {
    id_below(source, link, 0)
}

fn id_below<S: Source>(source: &S, link: Link, level: usize) -> Result<ObjectId, S::Error> {
    if let Some(id) = link.id() {
        return Ok(id);
    }
    let mut inner = read(source, link.number(), level)?;
    for child in inner.children.iter_mut().flatten() {
        *child = with_id(source, *child, level + 1)?;
    }
    Ok(inner.id().expect("each child was given its id"))
}

fn with_id<S: Source>(source: &S, link: Link, level: usize) -> Result<Link, S::Error> {
    match link {
        Link::Inner { number, id: None } => Ok(Link::Inner { number, id: Some(id_below(source, link, level)?) }),
        Link::Node { .. } | Link::Inner { id: Some(_), .. } => Ok(link),
    }
}

/// The one leaf below `link`, which lies at `level`, that can be the entry of `key`.
fn descend<S: Source>(source: &S, link: Option<Link>, key: &Key, level: usize) -> Result<Option<Leaf>, S::Error> {
    let (mut link, mut level) = (link, level);
    loop {
        match link {
            None => return Ok(None),
            Some(Link::Node { number, object }) => return Ok(Some((number, object))),
            Some(Link::Inner { number, .. }) => link = read(source, number, level)?.children[key.slot(level)],
        }
        level += 1;
    }
}

/// Reads an inner node at `level`; refuses one below which no key has a slot, so that every walk ends.
fn read<S: Source>(source: &S, number: u64, level: usize) -> Result<Inner, S::Error> {
    if level < Key::LEVELS { source.inner(number) } else { Err(source.misplaced(number)) }
}
