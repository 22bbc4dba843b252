//! The memories of a bundle's commits, built to see whether they are those that the commits name.

use super::super::init::build;
use super::super::record::ObjectRecord;
use super::super::rows::{Access, Writing};
use super::super::tables::Tables;
use super::super::{ChangeCount, Number, StoreError};
use super::file::Refusal;
use super::import::{ANOTHER_STATE, changed};
use super::{BundleError, BundleFile, BundledCommit};
use crate::model::NodeId;
use crate::object::{CommitId, Inner, ObjectId, Root, Sink, Source, write};
use std::collections::BTreeMap;
use std::io::{Read, Seek};
use std::path::Path;

/// Builds the memory of each commit of a bundle and compares its id, from scratch but for what `below` has: the commits on
/// which the bundle builds, which must be there. Records lie in a database in `directory`, where none may be.
pub fn rebuild<A: Access, R: Read + Seek>(
    bundle: &mut BundleFile<R>,
    below: Option<&Tables<A>>,
    directory: &Path,
) -> Result<(), BundleError> {
    let mut outcome = Ok(());
    build(directory, |above| {
        let floor = below.map_or(Ok(1), Tables::next_number)?;
        let mut rebuilding = Rebuilding { below, above, floor, next: floor, roots: BTreeMap::new() };
        outcome = bundle.each(|bundled| rebuilding.commit(bundled)).map(|_| ());
        Ok(false)
    })?;
    outcome
}

/// Records of a store, and above them new ones.
struct Rebuilding<'a, 't, A: Access> {
    below: Option<&'a Tables<A>>,
    above: &'a mut Tables<Writing<'t>>,
    /// The number of the first new record.
    floor: Number,
    next: Number,
    /// The memories of the commits so far, and how many nodes they have.
    roots: BTreeMap<CommitId, (Root, u64)>,
}

impl<A: Access> Rebuilding<'_, '_, A> {
    fn commit(&mut self, bundled: BundledCommit) -> Result<(), Refusal> {
        let BundledCommit { id, commit, changes } = bundled;
        let (root, count) = match commit.parents.first() {
            Some(first) => self.root(first)?,
            None => (Root::Empty, 0),
        };
        let update = changed(self, root.link(), id, changes)?;
        let changes = ChangeCount::of(&update.effects);
        let root = write(self, update.tree)?;
        let count = count + changes.added - changes.removed;
        self.roots.insert(id, (root, count));
        if root.state_id(count) == commit.state { Ok(()) } else { Err(Refusal::of(id, ANOTHER_STATE)) }
    }

    fn root(&self, id: &CommitId) -> Result<(Root, u64), Refusal> {
        if let Some(known) = self.roots.get(id) {
            return Ok(*known);
        }
        let missing = || Refusal::of(*id, "is not here, and commits of the bundle build on it");
        let below = self.below.ok_or_else(missing)?;
        let record = below.commit(below.commit_number(id)?.ok_or_else(missing)?)?;
        Ok((record.root, record.count))
    }

    fn push(&mut self, record: ObjectRecord<'_>) -> Result<Number, StoreError> {
        let own = self.next;
        self.above.object.insert(own, &record.encode())?;
        self.next += 1;
        Ok(own)
    }
}

impl<A: Access> Source for Rebuilding<'_, '_, A> {
    type Error = StoreError;

    fn inner(&self, number: Number) -> Result<Inner, StoreError> {
        match self.below {
            Some(below) if number < self.floor => below.inner(number),
            Some(_) | None => self.above.inner(number),
        }
    }

    fn node_id(&self, number: Number, object: ObjectId) -> Result<NodeId, StoreError> {
        match self.below {
            Some(below) if number < self.floor => below.node_id(number, object),
            Some(_) | None => self.above.node_id(number, object),
        }
    }

    fn misplaced(&self, number: Number) -> StoreError {
        self.above.misplaced(number)
    }
}

impl<A: Access> Sink<Vec<u8>> for Rebuilding<'_, '_, A> {
    fn put_node(&mut self, _: ObjectId, bytes: Vec<u8>) -> Result<Number, StoreError> {
        self.push(ObjectRecord::of_kept(&bytes))
    }

    fn put_inner(&mut self, inner: &Inner) -> Result<Number, StoreError> {
        let payload = inner.encode(self.next);
        self.push(ObjectRecord::Inner(&payload))
    }
}
