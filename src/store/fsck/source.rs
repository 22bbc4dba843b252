//! Records as the recomputation of a commit sees them: those of the commit itself, which were just looked at, and the older
//! ones, which were looked at with the commits that wrote them.

use super::super::record::{Number, ObjectRecord};
use super::super::rows::Access;
use super::super::tables::Tables;
use super::super::{StoreError, open::guarded};
use super::recent::Recent;
use crate::model::NodeId;
use crate::object::{Inner, ObjectId, Sink, Source, kept_id_in};
use std::cell::RefCell;
use std::collections::BTreeSet;

/// Records by their numbers, which rise and are mostly without gaps.
#[derive(Debug)]
pub struct Run<T>(Vec<(Number, T)>);

impl<T> Default for Run<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Run<T> {
    /// Adds a record whose number is larger than all before.
    pub fn push(&mut self, number: Number, value: T) {
        self.0.push((number, value));
    }

    /// The record with this number.
    pub fn get(&self, number: Number) -> Option<&T> {
        let ahead = usize::try_from(number.checked_sub(self.0.first()?.0)?).ok()?;
        let at = match self.0.get(ahead) {
            Some((found, _)) if *found == number => ahead,
            Some(_) | None => self.0.binary_search_by_key(&number, |(found, _)| *found).ok()?,
        };
        Some(&self.0[at].1)
    }

    /// All numbers.
    pub fn numbers(&self) -> impl Iterator<Item = Number> {
        self.0.iter().map(|(number, _)| *number)
    }
}

impl<T> IntoIterator for Run<T> {
    type Item = (Number, T);
    type IntoIter = std::vec::IntoIter<(Number, T)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// The sound records that a commit has added.
#[derive(Debug, Default)]
pub struct Own {
    /// The number of the commit before; all from there on are its own.
    pub before: Number,
    /// The nodes, with the object that each is and its id.
    pub nodes: Run<(ObjectId, NodeId)>,
    /// The inner nodes.
    pub inners: Run<Inner>,
}

impl Own {
    /// The numbers of all its records.
    pub fn numbers(&self) -> impl Iterator<Item = Number> {
        self.nodes.numbers().chain(self.inners.numbers())
    }
}

/// Why a state cannot be recomputed, or is not what comes of it.
#[derive(Debug)]
pub enum Stop {
    /// A record is known to be damaged.
    Bad,
    /// There is no such record.
    Missing(Number),
    /// This record is not of the kind that what refers to it says.
    OtherKind(Number),
    /// This node is another one than what refers to it says.
    OtherNode(Number),
    /// This record stands where no state has it.
    Misplaced(Number),
    /// The commit should have added an inner node, and its record is another one.
    OtherInner { number: Number, expected: Box<Inner> },
    /// The commit should have added a node, and its record is another one.
    NotAdded(Number),
    /// The commit has added fewer records than it should.
    TooFew,
    /// The store cannot be read.
    Store(StoreError),
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// What is read, and held against what is written anew.
pub struct Held<'a, A: Access> {
    pub tables: &'a Tables<A>,
    pub own: &'a Own,
    /// Records that were found to be damaged.
    pub bad: &'a BTreeSet<Number>,
    /// Older records that are remembered.
    pub recent: &'a RefCell<Recent>,
    /// The number that the next record of the commit should have.
    pub next: Number,
    /// The nodes that the commit should have added, in their order.
    pub written: Vec<Number>,
}

impl<A: Access> Held<'_, A> {
    /// Calls `read` with an older record.
    fn older<R>(&self, number: Number, read: impl FnOnce(&[u8]) -> Result<R, Stop>) -> Result<R, Stop> {
        if self.bad.contains(&number) {
            return Err(Stop::Bad);
        }
        let tables = self.tables;
        let row = guarded(|| tables.object.get(number)).and_then(|row| row);
        match row {
            Ok(Some(row)) => read(row.bytes()),
            Ok(None) => Err(Stop::Missing(number)),
            Err(error @ StoreError::Io { .. }) => Err(Stop::Store(error)),
            Err(_) => Err(Stop::Bad),
        }
    }
}

impl<A: Access> Source for Held<'_, A> {
    type Error = Stop;

    fn inner(&self, number: Number) -> Result<Inner, Stop> {
        if number > self.own.before {
            return match (self.own.inners.get(number), self.own.nodes.get(number)) {
                (Some(inner), _) => Ok(*inner),
                (None, Some(_)) => Err(Stop::OtherKind(number)),
                (None, None) if self.bad.contains(&number) => Err(Stop::Bad),
                (None, None) => Err(Stop::Missing(number)),
            };
        }
        if let Some(inner) = self.recent.borrow().inner(number).filter(|_| !self.bad.contains(&number)) {
            return Ok(inner);
        }
        self.older(number, |bytes| match ObjectRecord::decode(bytes) {
            Ok(ObjectRecord::Inner(payload)) => {
                let inner = Inner::decode(payload, number).map_err(|_| Stop::Bad)?;
                self.recent.borrow_mut().keep_inner(number, inner);
                Ok(inner)
            }
            Ok(ObjectRecord::Node(_) | ObjectRecord::Redacted(_)) => Err(Stop::OtherKind(number)),
            Err(_) => Err(Stop::Bad),
        })
    }

    fn node_id(&self, number: Number, object: ObjectId) -> Result<NodeId, Stop> {
        if number > self.own.before {
            return match (self.own.nodes.get(number), self.own.inners.get(number)) {
                (Some((found, id)), _) if *found == object => Ok(id.clone()),
                (Some(_), _) => Err(Stop::OtherNode(number)),
                (None, Some(_)) => Err(Stop::OtherKind(number)),
                (None, None) if self.bad.contains(&number) => Err(Stop::Bad),
                (None, None) => Err(Stop::Missing(number)),
            };
        }
        // Its hash was compared when its commit was looked at.
        if let Some(id) = self.recent.borrow().id(number).filter(|_| !self.bad.contains(&number)) {
            return Ok(id);
        }
        self.older(number, |bytes| match ObjectRecord::decode(bytes) {
            Ok(ObjectRecord::Node(bytes) | ObjectRecord::Redacted(bytes)) => {
                let id = kept_id_in(bytes).map_err(|_| Stop::Bad)?;
                self.recent.borrow_mut().keep_id(number, id.clone());
                Ok(id)
            }
            Ok(ObjectRecord::Inner(_)) => Err(Stop::OtherKind(number)),
            Err(_) => Err(Stop::Bad),
        })
    }

    fn misplaced(&self, number: Number) -> Stop {
        Stop::Misplaced(number)
    }
}

impl<A: Access> Sink<()> for Held<'_, A> {
    fn put_node(&mut self, object: ObjectId, (): ()) -> Result<Number, Stop> {
        let number = self.next;
        match self.own.nodes.get(number) {
            Some((found, _)) if *found == object => {}
            Some(_) => return Err(Stop::NotAdded(number)),
            None if self.bad.contains(&number) => return Err(Stop::Bad),
            None if self.own.inners.get(number).is_some() => return Err(Stop::NotAdded(number)),
            None => return Err(Stop::Missing(number)),
        }
        self.next += 1;
        self.written.push(number);
        Ok(number)
    }

    fn put_inner(&mut self, inner: &Inner) -> Result<Number, Stop> {
        let number = self.next;
        match self.own.inners.get(number) {
            Some(found) if is_record_of(found, inner) => {}
            Some(_) => return Err(Stop::OtherInner { number, expected: Box::new(*inner) }),
            None if self.bad.contains(&number) => return Err(Stop::Bad),
            None if self.own.nodes.get(number).is_some() => {
                return Err(Stop::OtherInner { number, expected: Box::new(*inner) });
            }
            None => return Err(Stop::Missing(number)),
        }
        self.next += 1;
        Ok(number)
    }
}

/// Whether a record that was read is that of `inner`, which has the ids of all its children.
fn is_record_of(read: &Inner, inner: &Inner) -> bool {
    read.mask() == inner.mask()
        && read
            .children
            .iter()
            .flatten()
            .zip(inner.children.iter().flatten())
            .all(|(read, link)| read.number() == link.number() && (read.id().is_none() || read.id() == link.id()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_read_by_its_numbers_whatever_gaps_it_has() {
        let mut run = Run::default();
        assert_eq!(run.get(1), None);
        let numbers = [5, 6, 7, 20, 21, 1000];
        numbers.iter().for_each(|&number| run.push(number, number * 2));
        for number in 0..1100 {
            assert_eq!(run.get(number).copied(), numbers.contains(&number).then_some(number * 2), "{number}");
        }
        assert!(run.numbers().eq(numbers));
    }
}
