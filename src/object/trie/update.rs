//! Changes to a state: what it will be, before anything is written.

use super::{Inner, Key, Link, NodeId, ObjectId, SLOTS, Source, read};
use std::collections::BTreeMap;

/// A part of a state as it will be. `T` stands for the bytes of a new node: them, or where they are.
#[derive(Debug)]
pub enum Tree<T> {
    /// What has a record.
    Kept(Link),
    /// A node without a record.
    Node {
        /// Its place.
        key: Key,
        /// Its id as an object.
        object: ObjectId,
        /// Its bytes.
        payload: T,
    },
    /// An inner node without a record.
    Inner(Box<Children<T>>),
}

/// What stands in the slots of an inner node.
pub(super) type Children<T> = [Option<Tree<T>>; SLOTS];

impl<T> Tree<T> {
    /// How many records [`write`](super::write()) makes of it.
    pub fn fresh(&self) -> u64 {
        match self {
            Self::Kept(_) => 0,
            Self::Node { .. } => 1,
            Self::Inner(children) => 1 + children.iter().flatten().map(Self::fresh).sum::<u64>(),
        }
    }

    fn is_leaf(&self) -> bool {
        match self {
            Self::Kept(Link::Node { .. }) | Self::Node { .. } => true,
            Self::Kept(Link::Inner { .. }) | Self::Inner(_) => false,
        }
    }
}

/// A node to be set.
#[derive(Clone, Debug)]
pub struct New<T> {
    /// Its id as an object.
    pub object: ObjectId,
    /// Its bytes, handed on to the sink.
    pub payload: T,
}

/// What became of an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It was absent.
    Added,
    /// It had another node.
    Modified,
    /// It is absent now.
    Removed,
}

/// A state as it will be, and how it differs from the one that it was made from.
#[derive(Debug)]
pub struct Update<T> {
    /// The new state; `None` when it is empty.
    pub tree: Option<Tree<T>>,
    /// The ids that changed, in their order.
    pub effects: Vec<(NodeId, Effect)>,
}

struct Change<T> {
    key: Key,
    id: NodeId,
    new: Option<New<T>>,
    effect: Option<Effect>,
}

/// Sets and removes (`None`) nodes in the state below `root`.
///
/// What a node has already, and the removal of what is absent, is no change. A subtree without a change is kept.
pub fn update<S: Source, T>(
    source: &S,
    root: Option<Link>,
    changes: BTreeMap<NodeId, Option<New<T>>>,
) -> Result<Update<T>, S::Error> {
    let mut changes: Vec<_> = changes
        .into_iter()
        .map(|(id, new)| Change { key: Key::of(&id), id, effect: new.as_ref().map(|_| Effect::Added), new })
        .collect();
    changes.sort_unstable_by_key(|change| change.key);
    let tree = apply(source, root, &mut changes, 0)?;
    let mut effects: Vec<_> = changes.into_iter().filter_map(|change| Some((change.id, change.effect?))).collect();
    effects.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    Ok(Update { tree, effects })
}

/// Applies `changes`, which are in the order of their keys, to what stands at `level`.
fn apply<S: Source, T>(
    source: &S,
    link: Option<Link>,
    changes: &mut [Change<T>],
    level: usize,
) -> Result<Option<Tree<T>>, S::Error> {
    let Some(first) = changes.first() else { return Ok(link.map(Tree::Kept)) };
    match link {
        None => Ok(grow(None, changes, level)),
        Some(Link::Node { number, object }) => {
            let key = Key::of(&source.node_id(number, object)?);
            if !key.meets(&first.key, level) {
                return Err(source.misplaced(number));
            }
            let stays = stays(&key, object, changes);
            Ok(grow(stays.then_some((key, Link::Node { number, object })), changes, level))
        }
        Some(Link::Inner { number, id }) => {
            let inner = read(source, number, level)?;
            let mut children = Children::default();
            for (slot, here) in by_slot(changes, level) {
                children[slot] = apply(source, inner.children[slot], here, level + 1)?;
            }
            let kept = same_records(&children, &inner);
            Ok(if kept { Some(Tree::Kept(Link::Inner { number, id })) } else { join(children) })
        }
    }
}

/// Whether the leaf at `key` stays beside the changes; notes what becomes of it.
fn stays<T>(key: &Key, object: ObjectId, changes: &mut [Change<T>]) -> bool {
    let Ok(at) = changes.binary_search_by_key(key, |change| change.key) else { return true };
    let change = &mut changes[at];
    match &change.new {
        Some(new) if new.object == object => {
            (change.new, change.effect) = (None, None);
            true
        }
        Some(_) => {
            change.effect = Some(Effect::Modified);
            false
        }
        None => {
            change.effect = Some(Effect::Removed);
            false
        }
    }
}

/// Makes the subtree at `level` of the nodes to be set and of a leaf that stays.
fn grow<T>(leaf: Option<(Key, Link)>, changes: &mut [Change<T>], level: usize) -> Option<Tree<T>> {
    let mut set = changes.iter_mut().filter(|change| change.new.is_some());
    match (leaf, set.next(), set.next()) {
        (None, None, _) => None,
        (Some((_, link)), None, _) => Some(Tree::Kept(link)),
        (None, Some(Change { key, new, .. }), None) => {
            new.take().map(|New { object, payload }| Tree::Node { key: *key, object, payload })
        }
        (Some(_), Some(_), _) | (None, Some(_), Some(_)) => {
            let mut children = Children::default();
            for (slot, here) in by_slot(changes, level) {
                let leaf = leaf.filter(|(key, _)| key.slot(level) == slot);
                children[slot] = grow(leaf, here, level + 1);
            }
            Some(Tree::Inner(Box::new(children)))
        }
    }
}

/// The changes for each slot of an inner node at `level`.
fn by_slot<T>(changes: &mut [Change<T>], level: usize) -> impl Iterator<Item = (usize, &mut [Change<T>])> {
    let mut rest = changes;
    (0..SLOTS).map(move |slot| {
        let end = rest.partition_point(|change| change.key.slot(level) <= slot);
        let (here, after) = std::mem::take(&mut rest).split_at_mut(end);
        rest = after;
        (slot, here)
    })
}

/// The subtree of these children, in the one shape that it may have.
fn join<T>(mut children: Children<T>) -> Option<Tree<T>> {
    let mut occupied = children.iter_mut().filter(|child| child.is_some());
    match (occupied.next(), occupied.next()) {
        (None, _) => None,
        (Some(only), None) if only.as_ref().is_some_and(Tree::is_leaf) => only.take(),
        (Some(_), _) => Some(Tree::Inner(Box::new(children))),
    }
}

/// Whether the children are, record for record, those of `inner`.
pub(super) fn same_records<T>(children: &Children<T>, inner: &Inner) -> bool {
    children.iter().zip(&inner.children).all(|pair| match pair {
        (None, None) => true,
        (Some(Tree::Kept(kept)), Some(link)) => kept.number() == link.number(),
        (None, Some(_)) | (Some(_), None) | (Some(Tree::Node { .. } | Tree::Inner(_)), Some(_)) => false,
    })
}
