//! What was looked at lately: the next commit changes little of it.

use super::super::record::Number;
use crate::model::NodeId;
use crate::object::Inner;

/// How many records of a kind are remembered at most.
const PLACES: usize = 1 << 15;

/// An id that is longer is not remembered, so that all of them together stay small.
const ID_BYTES: usize = 256;

/// A place for each record; one that comes later takes it.
#[derive(Debug)]
struct Places<T>(Vec<Option<(Number, T)>>);

impl<T> Default for Places<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Places<T> {
    fn place(number: Number) -> usize {
        usize::try_from(number % PLACES as u64).expect("a small number")
    }

    fn get(&self, number: Number) -> Option<&T> {
        match self.0.get(Self::place(number)) {
            Some(Some((found, value))) if *found == number => Some(value),
            Some(_) | None => None,
        }
    }

    fn keep(&mut self, number: Number, value: T) {
        if self.0.is_empty() {
            self.0.resize_with(PLACES, || None);
        }
        self.0[Self::place(number)] = Some((number, value));
    }
}

/// Sound records of older commits.
#[derive(Debug, Default)]
pub struct Recent {
    inners: Places<Inner>,
    ids: Places<NodeId>,
}

impl Recent {
    /// The inner node in a record, if it is remembered.
    pub fn inner(&self, number: Number) -> Option<Inner> {
        self.inners.get(number).copied()
    }

    /// The id of the node in a record, if it is remembered.
    pub fn id(&self, number: Number) -> Option<NodeId> {
        self.ids.get(number).cloned()
    }

    /// Remembers an inner node.
    pub fn keep_inner(&mut self, number: Number, inner: Inner) {
        self.inners.keep(number, inner);
    }

    /// Remembers the id of a node.
    pub fn keep_id(&mut self, number: Number, id: NodeId) {
        if id.as_str().len() <= ID_BYTES {
            self.ids.keep(number, id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_has_the_last_record_that_came_to_it() {
        let mut places = Places::default();
        assert_eq!(places.get(1), None);
        let next = 1 + PLACES as u64;
        places.keep(1, 'a');
        places.keep(2, 'b');
        assert_eq!((places.get(1), places.get(2), places.get(next)), (Some(&'a'), Some(&'b'), None));
        places.keep(next, 'c');
        assert_eq!((places.get(1), places.get(2), places.get(next)), (None, Some(&'b'), Some(&'c')));
    }
}
