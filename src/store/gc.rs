//! Which commits of a store stay when it is written anew, and the rows that these need.
//!
//! A commit stays when something names it or a descendant of it: a ref, an update of one that is young enough, or where a
//! session stands, stood, or is at. It stays with its number and its rows, so all that can be asked of it comes out as
//! before. A commit's own objects are the records between the commit before it and itself, and only it and its descendants
//! refer to them: they go with it.

use super::StoreError;
use super::progress::Progress;
use super::record::{Head, Number, RefUpdate, Session};
use super::rows::{Access, Writing};
use super::tables::{TIP, Tables, history_key, read_split_key};
use crate::model::CommitTime;
use std::collections::{BTreeMap, BTreeSet};

/// What stays, and how much goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keeping {
    /// The numbers of the commits that stay.
    commits: BTreeSet<Number>,
    /// The keys of the updates of refs that stay.
    updates: BTreeSet<Vec<u8>>,
    /// How much goes.
    pub dropped: Dropped,
}

/// How much of a store is left out when it is written anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Commits that nothing names.
    pub commits: u64,
    /// Records of nodes and inner nodes, which only these refer to.
    pub objects: u64,
    /// Updates of refs that are too old.
    pub updates: u64,
}

impl Session {
    /// The numbers of the commits that it names.
    pub(super) fn commits(&self) -> Vec<Number> {
        let mut named: Vec<_> = self.orig_head.into_iter().collect();
        for head in [Some(&self.head), self.previous.as_ref()].into_iter().flatten() {
            match head {
                Head::Branch(_) => {}
                Head::Detached(number) => named.push(*number),
            }
        }
        match &self.progress {
            None => {}
            Some(Progress::Merge { theirs, name: _, message: _ }) => named.push(*theirs),
            Some(Progress::Revert { start, reached, commits, mainline: _, message: _ }) => {
                named.extend([start, reached].into_iter().chain(commits));
            }
            Some(Progress::Undo(undo)) => named.extend(&undo.commits),
        }
        named.extend(self.marks.iter().flat_map(|marks| marks.said.iter().flat_map(|(_, commits)| commits)));
        named
    }
}

impl Keeping {
    /// What stays of a store of which updates of refs before `oldest` may be forgotten, but for the last one of each name.
    ///
    /// `sessions` are those that stand somewhere without a row.
    pub fn of<A: Access>(
        tables: &Tables<A>,
        sessions: impl IntoIterator<Item = Session>,
        oldest: CommitTime,
    ) -> Result<Self, StoreError> {
        let mut keeping = Self::default();
        let mut open: BTreeSet<Number> = tables.references("")?.into_iter().map(|(_, number)| number).collect();
        let rows = tables.sessions()?.into_iter().map(|(_, session)| session);
        open.extend(rows.chain(sessions).flat_map(|session| session.commits()));
        open.extend(keeping.updates(tables, oldest)?);
        while let Some(number) = open.pop_last() {
            open.extend(tables.commit(number)?.parents);
            keeping.commits.insert(number);
        }
        for row in tables.commit.range(0..)? {
            keeping.dropped.commits += u64::from(!keeping.commits.contains(&row?.0.value()));
        }
        let mut owners = Owners::new(&keeping.commits);
        for row in tables.object.range(0..)? {
            keeping.dropped.objects += u64::from(!owners.keep(tables, row?.0.value())?);
        }
        Ok(keeping)
    }

    /// Chooses the updates that stay and returns the commits that they name. The last one of a name names only where it
    /// led to, if it is old.
    fn updates<A: Access>(&mut self, tables: &Tables<A>, oldest: CommitTime) -> Result<Vec<Number>, StoreError> {
        let mut named = Vec::new();
        let mut last: Option<(Vec<u8>, RefUpdate)> = None;
        let mut pass = |keeping: &mut Self, key: Vec<u8>, update: RefUpdate, is_last: bool| {
            let is_young = update.time.unix_ms() >= oldest.unix_ms();
            if is_young || is_last {
                named.extend(update.new.into_iter().chain(update.old.filter(|_| is_young)));
                keeping.updates.insert(key);
            } else {
                keeping.dropped.updates += 1;
            }
        };
        for row in tables.reflog.range::<&[u8]>(..)? {
            let (key, row) = row?;
            let (name, _) = read_split_key(key.value())?;
            let update = RefUpdate::decode(row.bytes())
                .map_err(|error| StoreError::decode(format!("the log of the ref '{name}'"), error))?;
            if let Some((before, update)) = last.take() {
                let is_last = read_split_key(&before)?.0 != name;
                pass(self, before, update, is_last);
            }
            last = Some((key.value().to_vec(), update));
        }
        if let Some((key, update)) = last {
            pass(self, key, update, true);
        }
        Ok(named)
    }

    /// Writes the rows that stay into the tables of an empty store.
    pub fn fill<A: Access>(&self, to: &mut Tables<Writing<'_>>, from: &Tables<A>) -> Result<(), StoreError> {
        let mut owners = Owners::new(&self.commits);
        for row in from.object.range(0..)? {
            let (key, row) = row?;
            if owners.keep(from, key.value())? {
                to.object.insert(key.value(), row.bytes())?;
            }
        }
        let mut tips: BTreeMap<Number, u64> = BTreeMap::new();
        for &number in &self.commits {
            let commit = from.commit(number)?;
            let tip = tips.entry(commit.place.chain).or_default();
            *tip = commit.place.position.max(*tip);
            to.commit.insert(number, &commit.encode(number))?;
            to.hash.insert(commit.id.as_bytes(), &number.to_le_bytes())?;
        }
        for row in from.chain.range((0, 0)..)? {
            let (key, row) = row?;
            let (chain, position) = key.value();
            match tips.get(&chain) {
                Some(tip) if position == TIP => to.chain.insert((chain, TIP), &tip.to_le_bytes())?,
                Some(tip) if position <= *tip => to.chain.insert((chain, position), row.bytes())?,
                Some(_) | None => {}
            }
        }
        self.fill_history(to, from)?;
        to.fill_loose(from, |key, mut update| {
            update.old = update.old.filter(|old| self.commits.contains(old));
            self.updates.contains(key).then_some(update)
        })
    }

    /// The rows of an id are linked, each to the one before.
    fn fill_history<A: Access>(&self, to: &mut Tables<Writing<'_>>, from: &Tables<A>) -> Result<(), StoreError> {
        let (mut id, mut previous) = (String::new(), Number::MIN);
        for row in from.history.range::<&[u8]>(..)? {
            let (key, _) = row?;
            let (own, number) = read_split_key(key.value())?;
            if own != id {
                (id, previous) = (own.to_owned(), 0);
            }
            if self.commits.contains(&number) {
                to.history.insert(&history_key(&id, number)[..], &previous.to_le_bytes())?;
                previous = number;
            }
        }
        Ok(())
    }
}

/// To whom records belong, asked in the order of their numbers.
struct Owners<'k> {
    commits: &'k BTreeSet<Number>,
    /// The first commit behind the record that was asked for last; `None` before any and behind all.
    owner: Option<Number>,
}

impl<'k> Owners<'k> {
    fn new(commits: &'k BTreeSet<Number>) -> Self {
        Self { commits, owner: None }
    }

    /// Whether the commit stays to which a record belongs. One that belongs to none does not.
    fn keep<A: Access>(&mut self, tables: &Tables<A>, record: Number) -> Result<bool, StoreError> {
        if self.owner.is_none_or(|owner| owner < record) {
            self.owner = tables.commit.range(record..)?.next().transpose()?.map(|(key, _)| key.value());
        }
        Ok(self.owner.is_some_and(|owner| self.commits.contains(&owner)))
    }
}
