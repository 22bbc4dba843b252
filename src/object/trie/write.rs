//! From a state as it will be to records.

use super::update::same_records;
use super::{Inner, Link, ObjectId, Root, SLOTS, Source, Tree, descend, link_id, read, with_id};

/// Where the records of a state are written. What it writes it can read.
pub trait Sink<T>: Source {
    /// Records a node and returns the number that it got, larger than all before.
    fn put_node(&mut self, object: ObjectId, payload: T) -> Result<u64, Self::Error>;

    /// Records an inner node, all of whose children have ids, and returns the number that it got, larger than all before.
    fn put_inner(&mut self, inner: &Inner) -> Result<u64, Self::Error>;
}

/// Applies the record rule for a further parent, whose state lies below `other`, to a state made from the first.
///
/// Parents come in their order. A node without a record takes that of the same node in the parent's state; an inner node
/// without a record takes that of the parent's at its place if their children are the same records. So a node's record
/// is always that of the first parent that has the node, and an inner node never leads to another one. Reads follow the
/// new parts of `tree`.
pub fn adopt<S: Source, T>(source: &S, tree: &mut Option<Tree<T>>, other: Option<Link>) -> Result<(), S::Error> {
    match (tree, other) {
        (Some(tree), Some(other)) => adopt_below(source, tree, other, 0),
        (None, _) | (_, None) => Ok(()),
    }
}

fn adopt_below<S: Source, T>(source: &S, tree: &mut Tree<T>, other: Link, level: usize) -> Result<(), S::Error> {
    match (&mut *tree, other) {
        (Tree::Kept(_), _) => {}
        (Tree::Node { key, object, .. }, _) => {
            let found = descend(source, Some(other), key, level)?;
            if let Some((number, object)) = found.filter(|(_, found)| found == object) {
                *tree = Tree::Kept(Link::Node { number, object });
            }
        }
        (Tree::Inner(children), Link::Node { .. }) => {
            for child in children.iter_mut().flatten() {
                adopt_below(source, child, other, level + 1)?;
            }
        }
        (Tree::Inner(children), Link::Inner { number, .. }) => {
            let inner = read(source, number, level)?;
            for (child, other) in children.iter_mut().zip(inner.children) {
                if let (Some(child), Some(other)) = (child, other) {
                    adopt_below(source, child, other, level + 1)?;
                }
            }
            if same_records(children, &inner) {
                *tree = Tree::Kept(other);
            }
        }
    }
    Ok(())
}

/// Writes what has no record: first the nodes, then the inner nodes, children before parents, both in the order of
/// slots, so that the last inner child of each new inner node lies next to it.
pub fn write<T, K: Sink<T>>(sink: &mut K, tree: Option<Tree<T>>) -> Result<Root, K::Error> {
    let Some(tree) = tree else { return Ok(Root::Empty) };
    let tree = record_nodes(sink, tree)?;
    match record(sink, tree)? {
        Link::Node { number, object } => Ok(Root::Node { number, object }),
        link @ Link::Inner { number, .. } => Ok(Root::Inner { number, id: link_id(sink, link)? }),
    }
}

fn record_nodes<T, K: Sink<T>>(sink: &mut K, tree: Tree<T>) -> Result<Tree<T>, K::Error> {
    match tree {
        Tree::Kept(_) => Ok(tree),
        Tree::Node { .. } => record(sink, tree).map(Tree::Kept),
        Tree::Inner(mut children) => {
            for child in children.iter_mut() {
                if let Some(tree) = child.take() {
                    *child = Some(record_nodes(sink, tree)?);
                }
            }
            Ok(Tree::Inner(children))
        }
    }
}

/// Records all of `tree`; the link has its id.
fn record<T, K: Sink<T>>(sink: &mut K, tree: Tree<T>) -> Result<Link, K::Error> {
    match tree {
        Tree::Kept(link) => with_id(sink, link, 0),
        Tree::Node { object, payload, .. } => Ok(Link::Node { number: sink.put_node(object, payload)?, object }),
        Tree::Inner(children) => {
            let mut inner = Inner { children: [None; SLOTS] };
            for (child, link) in children.into_iter().zip(&mut inner.children) {
                if let Some(tree) = child {
                    *link = Some(record(sink, tree)?);
                }
            }
            Ok(Link::Inner { id: inner.id(), number: sink.put_inner(&inner)? })
        }
    }
}
