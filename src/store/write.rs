//! What a write transaction does to the tables.

use super::StoreError;
use super::record::{
    ChangeCount, CommitRecord, Head, Number, ObjectRecord, Place, RefUpdate, Session, encode_places, session_log_name,
};
use super::rows::Writing;
use super::tables::{TIP, Tables, history_key, log_key, read_split_key};
use crate::model::{Author, CommitTime, Message, NodeId, SessionName};
use crate::object::{
    CommitId, Effect, Inner, Link, New, ObjectId, Sink, Source, Tree, Update, adopt, get, kept_id_in, kept_object_id,
    update, write,
};
use std::collections::BTreeMap;

/// What a commit says of itself.
#[derive(Clone, Debug)]
pub struct CommitWords {
    /// Who makes it.
    pub author: Author,
    /// When.
    pub time: CommitTime,
    /// What it says.
    pub message: Message,
}

/// Canonical bytes of a new version of a node.
pub type NodeBytes = Vec<u8>;

/// Records that wait for the end of a commit: written only if the commit is new.
struct Pending<'a, 't> {
    tables: &'a Tables<Writing<'t>>,
    next: Number,
    records: Vec<Vec<u8>>,
    written: Vec<NodeId>,
}

impl Pending<'_, '_> {
    fn push(&mut self, record: Vec<u8>) -> Number {
        self.records.push(record);
        self.next += 1;
        self.next - 1
    }
}

/// Only what was there before is ever read: the ids of what is new are known when it is written.
impl Source for Pending<'_, '_> {
    type Error = StoreError;

    fn inner(&self, number: Number) -> Result<Inner, StoreError> {
        self.tables.inner(number)
    }

    fn node_id(&self, number: Number, object: ObjectId) -> Result<NodeId, StoreError> {
        self.tables.node_id(number, object)
    }

    fn misplaced(&self, number: Number) -> StoreError {
        self.tables.misplaced(number)
    }
}

impl Sink<NodeBytes> for Pending<'_, '_> {
    fn put_node(&mut self, object: ObjectId, bytes: NodeBytes) -> Result<Number, StoreError> {
        let id = kept_id_in(&bytes).map_err(|error| StoreError::decode(format!("node {object}"), error))?;
        self.written.push(id);
        Ok(self.push(ObjectRecord::of_kept(&bytes).encode()))
    }

    fn put_inner(&mut self, inner: &Inner) -> Result<Number, StoreError> {
        let payload = inner.encode(self.next);
        Ok(self.push(ObjectRecord::Inner(&payload).encode()))
    }
}

impl Tables<Writing<'_>> {
    /// Writes a commit, its objects and what is derived from them, and returns its number and id.
    ///
    /// `update` is the state of the first parent with the changes made. A commit that exists already is returned as it
    /// is, and nothing is written.
    pub fn append_commit(
        &mut self,
        parents: Vec<Number>,
        words: CommitWords,
        update: Update<NodeBytes>,
    ) -> Result<(Number, CommitId), StoreError> {
        let parent_numbers = parents;
        let parents = parent_numbers.iter().map(|&number| self.commit(number)).collect::<Result<Vec<_>, _>>()?;
        let (first, others) = match parents.split_first() {
            Some((first, others)) => (Some(first), others),
            None => (None, &[][..]),
        };
        let changes = ChangeCount::of(&update.effects);
        let count = first.map_or(0, |parent| parent.count) + changes.added - changes.removed;
        let (tree, lacking) = settle(self, update, others)?;

        let first_number = self.next_number()?;
        let mut pending = Pending { tables: self, next: first_number, records: Vec::new(), written: Vec::new() };
        let root = write(&mut pending, tree)?;
        let Pending { next: own, records, written, .. } = pending;
        let mut record = CommitRecord {
            id: CommitId::from_bytes([0; 32]),
            parents: parent_numbers,
            root,
            count,
            changes,
            place: Place { chain: own, position: 0 },
            author: words.author,
            time: words.time,
            message: words.message,
        };
        record.id = record.commit(parents.iter().map(|parent| parent.id).collect()).id();
        if let Some(existing) = self.commit_number(&record.id)? {
            return Ok((existing, record.id));
        }

        record.place = self.extend_chain(own, &parents)?;
        for (number, bytes) in (first_number..).zip(&records) {
            self.object.insert(number, bytes)?;
        }
        self.commit.insert(own, &record.encode(own))?;
        self.hash.insert(record.id.as_bytes(), &own.to_le_bytes())?;
        for id in written.iter().chain(&lacking) {
            self.append_history(id, own)?;
        }
        self.set_next_number(own + 1)?;
        Ok((own, record.id))
    }

    /// Commits `changes` on top of where the session stands, changes or not, and keeps its row.
    pub fn commit_on_head(
        &mut self,
        name: &SessionName,
        mut session: Session,
        changes: BTreeMap<NodeId, Option<NodeBytes>>,
        words: CommitWords,
        reason: &str,
    ) -> Result<(Number, CommitId), StoreError> {
        let update = self.update_head(&session, changes)?;
        let committed = self.commit_update(name, &mut session, update, words, reason)?;
        self.set_session(name, &session)?;
        Ok(committed)
    }

    /// The same for one of several commits, whose row is kept at their end; `None` where nothing changes.
    pub fn commit_changes(
        &mut self,
        name: &SessionName,
        session: &mut Session,
        changes: BTreeMap<NodeId, Option<NodeBytes>>,
        words: CommitWords,
        reason: &str,
    ) -> Result<Option<(Number, CommitId)>, StoreError> {
        let update = self.update_head(session, changes)?;
        if update.effects.is_empty() {
            return Ok(None);
        }
        self.commit_update(name, session, update, words, reason).map(Some)
    }

    /// The state of HEAD with the new bytes of each id, or without it.
    fn update_head(
        &self,
        session: &Session,
        changes: BTreeMap<NodeId, Option<NodeBytes>>,
    ) -> Result<Update<NodeBytes>, StoreError> {
        self.update_from(self.root(self.head_commit(&session.head)?)?, changes)
    }

    /// The state below `root` with the new bytes of each id, or without it.
    pub fn update_from(
        &self,
        root: Option<Link>,
        changes: BTreeMap<NodeId, Option<NodeBytes>>,
    ) -> Result<Update<NodeBytes>, StoreError> {
        let new = |bytes: NodeBytes| New { object: kept_object_id(&bytes), payload: bytes };
        update(self, root, changes.into_iter().map(|(id, node)| (id, node.map(new))).collect())
    }

    /// Commits a state made from HEAD's, and moves the session's branch to it.
    fn commit_update(
        &mut self,
        name: &SessionName,
        session: &mut Session,
        update: Update<NodeBytes>,
        words: CommitWords,
        reason: &str,
    ) -> Result<(Number, CommitId), StoreError> {
        let parent = self.head_commit(&session.head)?;
        let time = words.time;
        let committed = self.append_commit(parent.into_iter().collect(), words, update)?;
        self.advance_head(name, session, committed.0, time, reason)?;
        Ok(committed)
    }

    /// Continues the chain of the first parent, if that is its tip, or begins one.
    pub(super) fn extend_chain(&mut self, own: Number, parents: &[CommitRecord]) -> Result<Place, StoreError> {
        let mut place = Place { chain: own, position: 0 };
        let mut outside: Vec<Place> = parents.iter().map(|parent| parent.place).collect();
        if let Some(first) = parents.first()
            && self.chain_tip(first.place.chain)? == first.place.position
        {
            place = Place { chain: first.place.chain, position: first.place.position + 1 };
            outside.remove(0);
        }
        if place.position == 0 || !outside.is_empty() {
            self.chain.insert((place.chain, place.position), &encode_places(&outside, place.chain))?;
        }
        self.chain.insert((place.chain, TIP), &place.position.to_le_bytes())?;
        Ok(place)
    }

    pub(super) fn append_history(&mut self, id: &NodeId, own: Number) -> Result<(), StoreError> {
        let key = history_key(id.as_str(), own);
        let first = history_key(id.as_str(), 0);
        let previous = match self.history.range(&first[..]..&key[..])?.next_back() {
            Some(row) => read_split_key(row?.0.value())?.1,
            None => 0,
        };
        self.history.insert(&key[..], &previous.to_le_bytes())
    }

    /// Refuses what names a commit that is not there: since the command looked, it may have been dropped.
    fn require(&self, commit: Number) -> Result<(), StoreError> {
        if self.commit.get(commit)?.is_some() { Ok(()) } else { Err(StoreError::Gone) }
    }

    /// Moves a ref from where it is to `new`, and logs it.
    pub fn set_reference(&mut self, name: &str, new: Number, time: CommitTime, reason: &str) -> Result<(), StoreError> {
        self.require(new)?;
        let old = self.reference(name)?;
        self.reference.insert(name, &new.to_le_bytes())?;
        self.log_update(name, &RefUpdate { old, new: Some(new), time, reason: reason.to_owned() })
    }

    pub(super) fn log_update(&mut self, name: &str, update: &RefUpdate) -> Result<(), StoreError> {
        let index = self.last_update(name)?.map_or(0, |(index, _)| index + 1);
        self.reflog.insert(&log_key(name, index)[..], &update.encode())
    }

    /// Takes a ref away, and logs it.
    pub fn remove_reference(&mut self, name: &str, time: CommitTime, reason: &str) -> Result<(), StoreError> {
        let old = self.reference(name)?;
        self.reference.remove(name)?;
        self.log_update(name, &RefUpdate { old, new: None, time, reason: reason.to_owned() })
    }

    /// Lets a session stand elsewhere, keeps where it stood, and logs it.
    pub fn switch_head(
        &mut self,
        name: &SessionName,
        session: &mut Session,
        head: Head,
        time: CommitTime,
        reason: &str,
    ) -> Result<(), StoreError> {
        let (old, new) = (self.head_commit(&session.head)?, self.head_commit(&head)?);
        session.previous = Some(std::mem::replace(&mut session.head, head));
        self.log_update(&session_log_name(name), &RefUpdate { old, new, time, reason: reason.to_owned() })?;
        self.set_session(name, session)
    }

    /// Logs that a session stands where it does, for one that has not moved there by itself.
    pub fn log_stand(
        &mut self,
        name: &SessionName,
        session: &Session,
        time: CommitTime,
        reason: &str,
    ) -> Result<(), StoreError> {
        let commit = self.head_commit(&session.head)?;
        let update = RefUpdate { old: commit, new: commit, time, reason: reason.to_owned() };
        self.log_update(&session_log_name(name), &update)
    }

    /// Keeps where a session stands.
    pub fn set_session(&mut self, name: &SessionName, session: &Session) -> Result<(), StoreError> {
        session.commits().into_iter().try_for_each(|commit| self.require(commit))?;
        self.session.insert(name.as_str(), &session.encode())
    }

    /// Moves the branch on which `session` stands, or its detached HEAD, to `new`, and logs both.
    pub fn advance_head(
        &mut self,
        name: &SessionName,
        session: &mut Session,
        new: Number,
        time: CommitTime,
        reason: &str,
    ) -> Result<(), StoreError> {
        let old = self.head_commit(&session.head)?;
        match &mut session.head {
            Head::Branch(branch) => self.set_reference(branch, new, time, reason)?,
            Head::Detached(number) => *number = new,
        }
        let update = RefUpdate { old, new: Some(new), time, reason: reason.to_owned() };
        self.log_update(&session_log_name(name), &update)
    }
}

/// A state as it is to be written, and the ids that all parents have and it lacks.
type Settled<T> = (Option<Tree<T>>, Vec<NodeId>);

/// Lets nodes and inner nodes keep the records of further parents, and names the ids that all parents have and the new state
/// lacks.
pub(super) fn settle<S: Source, T>(
    source: &S,
    update: Update<T>,
    others: &[CommitRecord],
) -> Result<Settled<T>, S::Error> {
    let Update { mut tree, effects } = update;
    let removed = effects.into_iter().filter(|(_, effect)| *effect == Effect::Removed);
    let mut lacking: Vec<_> = removed.map(|(id, _)| id).collect();
    for other in others {
        adopt(source, &mut tree, other.root.link())?;
        let mut still = Vec::with_capacity(lacking.len());
        for id in lacking {
            if get(source, other.root.link(), &id)?.is_some() {
                still.push(id);
            }
        }
        lacking = still;
    }
    Ok((tree, lacking))
}
