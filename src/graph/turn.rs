//! Since when something is so with a node: the newest commit after which it is and before which it was not.

use super::{Memory, Reach, Removal, STAGED, Seen, Writer, removal, written};
use crate::model::NodeId;
use crate::object::{Kept, Leaf, get};
use crate::store::{Access, CommitRecord, Number, Place, StoreError, Tables};
use std::collections::BTreeMap;

/// A change of a node that made something so.
#[derive(Clone, Debug)]
pub struct Turn {
    /// The number of the commit; [`STAGED`] where the change is staged.
    pub number: Number,
    /// What the change did.
    pub made: Made,
    /// The version in which it was not so; `None` where that was the absence of the node.
    pub before: Option<Leaf>,
}

/// What a change did to a node.
#[derive(Clone, Debug)]
pub enum Made {
    /// It wrote it so.
    Written(Box<Writer>),
    /// It took it away.
    Removed(Box<Removal>),
}

/// A commit that wrote a node or took it away, and the record that it left.
#[derive(Clone, Copy)]
struct Step {
    number: Number,
    leaf: Option<Leaf>,
}

/// How a node is at a commit.
enum At {
    /// Since this step, or longer.
    So(Step),
    /// It is not so with this record, or with the absence of one.
    NotSo(Option<Leaf>),
    /// It is so since the node never was.
    Ever,
}

/// A step before which it was not so: in these parents, of which the first that has the node has this record.
struct Found {
    step: Step,
    parents: Vec<Number>,
    before: Option<Leaf>,
}

/// The past of a node, asked for one thing.
struct Past<'p, A: Access> {
    tables: &'p Tables<A>,
    id: &'p NodeId,
    is_so: &'p dyn Fn(&Seen) -> bool,
}

impl<A: Access> Memory<'_, '_, A> {
    /// The change that made so with the node `id` what `is_so` tells of it, or of its absence, and what is so in this
    /// memory; `None` where it was so ever since, and where no change behind the commit `after` made it so.
    ///
    /// Through a merge that keeps what a parent has it is sought in that parent. Where a merge wrote the node itself and it
    /// was so in some parents only, the change is sought in those, unless it was undone in another: then it is the merge.
    /// Of several changes the newest. Reads the versions from the newest down to the change.
    pub fn turn(
        &self,
        id: &NodeId,
        is_so: &dyn Fn(&Seen) -> bool,
        after: Option<Number>,
    ) -> Result<Option<Turn>, StoreError> {
        let past = Past { tables: self.tables(), id, is_so };
        match (self.staged_change(id)?, past.at(self.commit())?) {
            (_, At::So(step)) => past.turn(step, after)?.map(|found| past.told(found)).transpose(),
            (Some(held), At::NotSo(before)) => {
                let node = held.map(|held| held.kept(self.tables())).transpose()?;
                past.staged(node, before).map(Some)
            }
            (None, At::NotSo(_)) | (_, At::Ever) => Ok(None),
        }
    }
}

impl<A: Access> Past<'_, A> {
    fn at(&self, commit: Option<Number>) -> Result<At, StoreError> {
        let leaf = get(self.tables, self.tables.root(commit)?, self.id)?;
        if let Some((record, object)) = leaf {
            let is_so = (self.is_so)(&Some(self.tables.kept(record, object)?).into());
            let number = || Ok::<_, StoreError>(self.tables.commit_that_wrote(record)?.0);
            return Ok(if is_so { At::So(Step { number: number()?, leaf }) } else { At::NotSo(leaf) });
        }
        if !(self.is_so)(&Seen::Absent) {
            return Ok(At::NotSo(None));
        }
        let removed = commit.map(|commit| removal(self.tables, self.id, commit)).transpose()?.flatten();
        Ok(removed.map_or(At::Ever, |number| At::So(Step { number, leaf: None })))
    }

    /// Takes the steps by descending number, so that all that lead to one were taken before it.
    fn turn(&self, start: Step, after: Option<Number>) -> Result<Option<Found>, StoreError> {
        let mut open = BTreeMap::from([(start.number, start.leaf)]);
        let mut merges: Vec<Found> = Vec::new();
        while let Some((number, leaf)) = open.pop_last() {
            if merges.is_empty() && after.is_some_and(|after| number <= after) {
                return Ok(None);
            }
            let commit = self.tables.commit(number)?;
            let mut found = Found { step: Step { number, leaf }, parents: Vec::new(), before: None };
            let (mut is_turn, mut is_older) = (false, false);
            let root = commit.parents.is_empty().then_some(None);
            for parent in commit.parents.into_iter().map(Some).chain(root) {
                match self.at(parent)? {
                    At::So(Step { number, leaf }) => {
                        open.insert(number, leaf);
                        is_older = true;
                    }
                    At::NotSo(leaf) => {
                        found.before = found.before.or(leaf);
                        found.parents.extend(parent);
                        is_turn = true;
                    }
                    At::Ever => {}
                }
            }
            match (is_turn, is_older) {
                (true, true) => merges.push(found),
                (true, false) => return self.unless_undone(found, commit.place, merges).map(Some),
                (false, _) => {}
            }
        }
        Ok(merges.into_iter().next())
    }

    /// The newest merge before which a parent had come back from `found`, the commit at `place`; else `found`.
    fn unless_undone(&self, found: Found, place: Place, merges: Vec<Found>) -> Result<Found, StoreError> {
        for merge in merges {
            let parents = merge.parents.iter().map(|&parent| Ok(self.tables.commit(parent)?.place));
            let mut reach = Reach::of(parents.collect::<Result<Vec<_>, StoreError>>()?);
            if reach.contains(self.tables, place)? {
                return Ok(merge);
            }
        }
        Ok(found)
    }

    fn told(&self, Found { step: Step { number, leaf }, before, .. }: Found) -> Result<Turn, StoreError> {
        let made = match leaf {
            Some(leaf) => Made::Written(Box::new(written(self.tables, leaf)?.into())),
            None => self.removed(Some(self.tables.commit(number)?), before)?,
        };
        Ok(Turn { number, made, before })
    }

    fn staged(&self, node: Option<Kept>, before: Option<Leaf>) -> Result<Turn, StoreError> {
        let made = match node {
            Some(node) => Made::Written(Box::new(Writer { commit: None, node })),
            None => self.removed(None, before)?,
        };
        Ok(Turn { number: STAGED, made, before })
    }

    fn removed(&self, commit: Option<CommitRecord>, before: Option<Leaf>) -> Result<Made, StoreError> {
        let before = before.ok_or_else(|| StoreError::corrupt(format!("no version of '{}' was removed", self.id)))?;
        Ok(Made::Removed(Box::new(Removal { commit, last: written(self.tables, before)?.into() })))
    }
}
