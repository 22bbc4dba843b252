//! Records as the recomputation of a commit sees them: those of the commit itself, which were just looked at, and the older
//! ones, which were looked at with the commits that wrote them.

use super::super::record::{Number, ObjectRecord};
use super::super::rows::Access;
use super::super::tables::Tables;
use super::super::{StoreError, open::guarded};
use crate::model::NodeId;
use crate::object::{Inner, ObjectId, Sink, Source, kept_id_in};
use std::collections::{BTreeMap, BTreeSet};

/// The sound records that a commit has added.
#[derive(Debug, Default)]
pub struct Own {
    /// The number of the commit before; all from there on are its own.
    pub before: Number,
    /// The nodes, with the object that each is and its id.
    pub nodes: BTreeMap<Number, (ObjectId, NodeId)>,
    /// The inner nodes.
    pub inners: BTreeMap<Number, Inner>,
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
    OtherInner { number: Number, expected: Inner },
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
        if number > self.own.before {
            return Err(Stop::Missing(number));
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
        if let Some(inner) = self.own.inners.get(&number) {
            return Ok(*inner);
        }
        if self.own.nodes.contains_key(&number) {
            return Err(Stop::OtherKind(number));
        }
        self.older(number, |bytes| match ObjectRecord::decode(bytes) {
            Ok(ObjectRecord::Inner(payload)) => Inner::decode(payload, number).map_err(|_| Stop::Bad),
            Ok(ObjectRecord::Node(_) | ObjectRecord::Redacted(_)) => Err(Stop::OtherKind(number)),
            Err(_) => Err(Stop::Bad),
        })
    }

    fn node_id(&self, number: Number, object: ObjectId) -> Result<NodeId, Stop> {
        if let Some((found, id)) = self.own.nodes.get(&number) {
            return if *found == object { Ok(id.clone()) } else { Err(Stop::OtherNode(number)) };
        }
        if self.own.inners.contains_key(&number) {
            return Err(Stop::OtherKind(number));
        }
        // Its hash was compared when its commit was looked at.
        self.older(number, |bytes| match ObjectRecord::decode(bytes) {
            Ok(ObjectRecord::Node(bytes) | ObjectRecord::Redacted(bytes)) => kept_id_in(bytes).map_err(|_| Stop::Bad),
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
        match self.own.nodes.get(&number) {
            Some((found, _)) if *found == object => {}
            Some(_) => return Err(Stop::NotAdded(number)),
            None if self.bad.contains(&number) => return Err(Stop::Bad),
            None if self.own.inners.contains_key(&number) => return Err(Stop::NotAdded(number)),
            None => return Err(Stop::Missing(number)),
        }
        self.next += 1;
        self.written.push(number);
        Ok(number)
    }

    fn put_inner(&mut self, inner: &Inner) -> Result<Number, Stop> {
        let number = self.next;
        match self.own.inners.get(&number) {
            Some(found) if is_record_of(found, inner) => {}
            Some(_) => return Err(Stop::OtherInner { number, expected: *inner }),
            None if self.bad.contains(&number) => return Err(Stop::Bad),
            None if self.own.nodes.contains_key(&number) => {
                return Err(Stop::OtherInner { number, expected: *inner });
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
