//! Questions to the tables of a snapshot or a write transaction.

use super::StoreError;
use super::record::{CommitRecord, Head, Number, ObjectRecord, Place, RefUpdate, Session, decode_places};
use super::rows::{Access, Row};
use super::tables::{TIP, Tables, history_key, log_key, read_split_key};
use crate::model::{NodeId, SessionName};
use crate::object::{CommitId, Inner, Kept, Link, ObjectId, Root, Source, decode_kept, kept_id_in, kept_object_id};
use std::ops::RangeInclusive;

/// The branch on which the first commit of a new store is made, unless another is named.
pub const FIRST_BRANCH: &str = "main";

impl<A: Access> Tables<A> {
    pub(super) fn object_row(&self, number: Number) -> Result<Row<'_>, StoreError> {
        let missing = || StoreError::corrupt(format!("object {number} is referred to and missing"));
        self.object.get(number)?.ok_or_else(missing)
    }

    /// Calls `read` with the canonical bytes of a version of a node, whose hash is compared; a marker says its own.
    pub(super) fn with_kept<R>(
        &self,
        number: Number,
        object: ObjectId,
        read: impl FnOnce(&[u8]) -> R,
    ) -> Result<R, StoreError> {
        let row = self.object_row(number)?;
        let what = || format!("node {object}");
        match ObjectRecord::decode(row.bytes()).map_err(|error| StoreError::decode(what(), error))? {
            ObjectRecord::Node(bytes) | ObjectRecord::Redacted(bytes) if kept_object_id(bytes) == object => {
                Ok(read(bytes))
            }
            ObjectRecord::Node(_) | ObjectRecord::Redacted(_) => {
                Err(StoreError::corrupt(format!("{} has other bytes", what())))
            }
            ObjectRecord::Inner(_) => Err(StoreError::corrupt(format!("{} is an inner node", what()))),
        }
    }

    /// The version of a node in a record.
    pub fn kept(&self, number: Number, object: ObjectId) -> Result<Kept, StoreError> {
        self.with_kept(number, object, decode_kept)?
            .map_err(|error| StoreError::decode(format!("node {object}"), error))
    }

    /// The commit with this number.
    pub fn commit(&self, number: Number) -> Result<CommitRecord, StoreError> {
        let what = || format!("commit {number}");
        let missing = || StoreError::corrupt(format!("{} is referred to and missing", what()));
        let row = self.commit.get(number)?.ok_or_else(missing)?;
        CommitRecord::decode(row.bytes(), number).map_err(|error| StoreError::decode(what(), error))
    }

    /// The commit that wrote the record with this number, and its own: the next one that is a commit's.
    pub fn commit_that_wrote(&self, record: Number) -> Result<(Number, CommitRecord), StoreError> {
        let missing = || StoreError::corrupt(format!("the commit of object {record} is missing"));
        let (key, row) = self.commit.range(record..)?.next().ok_or_else(missing)??;
        let number = key.value();
        let commit = CommitRecord::decode(row.bytes(), number);
        Ok((number, commit.map_err(|error| StoreError::decode(format!("commit {number}"), error))?))
    }

    /// The number of the last commit that came into the store before this one, 0 where it is the first: the records
    /// between the two are its own.
    pub fn commit_before(&self, number: Number) -> Result<Number, StoreError> {
        self.commit.range(..number)?.next_back().map_or(Ok(0), |row| Ok(row?.0.value()))
    }

    /// The id of the commit with this number.
    pub fn commit_id(&self, number: Number) -> Result<CommitId, StoreError> {
        self.commit(number).map(|commit| commit.id)
    }

    /// The number of the commit with this id.
    pub fn commit_number(&self, id: &CommitId) -> Result<Option<Number>, StoreError> {
        self.hash.get(id.as_bytes())?.map(|row| read_number(row.bytes())).transpose()
    }

    /// Up to `most` commits whose id begins with these hexadecimal digits, in the order of the ids.
    pub fn commits_with_prefix(&self, digits: &str, most: usize) -> Result<Vec<(CommitId, Number)>, StoreError> {
        let bound = |fill: &str| {
            let text: String = digits.chars().chain(fill.chars().cycle()).take(64).collect();
            CommitId::parse(&text)
        };
        let (Some(first), Some(last)) = (bound("0"), bound("f")) else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for row in self.hash.range::<&[u8; 32]>(first.as_bytes()..=last.as_bytes())?.take(most) {
            let (key, row) = row?;
            found.push((CommitId::from_bytes(*key.value()), read_number(row.bytes())?));
        }
        Ok(found)
    }

    /// Looks through all commits for one whose id begins with these hexadecimal digits, where the index has none: so that
    /// a commit whose row in the index is lost is not told to be none.
    pub fn check_no_commit_begins_with(&self, digits: &str) -> Result<(), StoreError> {
        let digits = digits.to_ascii_lowercase();
        for row in self.commit.range(0..)? {
            let number = row?.0.value();
            if self.commit_id(number)?.to_string().starts_with(&digits) {
                return Err(StoreError::corrupt(format!("commit {number} is missing in the index of ids")));
            }
        }
        Ok(())
    }

    /// The commit that a ref names; `None` where there is no such ref.
    pub fn reference(&self, name: &str) -> Result<Option<Number>, StoreError> {
        let target = self.reference.get(name)?.map(|row| read_number(row.bytes())).transpose()?;
        let logged = self.last_update(name)?.and_then(|(_, update)| update.new);
        if target == logged {
            Ok(target)
        } else {
            Err(StoreError::corrupt(format!("the ref '{name}' is not where its log says")))
        }
    }

    /// All refs whose name begins with `prefix`, with the commits that they name, in the order of the names.
    pub fn references(&self, prefix: &str) -> Result<Vec<(String, Number)>, StoreError> {
        let mut found = Vec::new();
        for row in self.reference.range(prefix..)? {
            let (key, row) = row?;
            if !key.value().starts_with(prefix) {
                break;
            }
            found.push((key.value().to_owned(), read_number(row.bytes())?));
        }
        Ok(found)
    }

    /// The newest update of a ref or of a session's HEAD, with its index.
    pub fn last_update(&self, name: &str) -> Result<Option<(u64, RefUpdate)>, StoreError> {
        let (first, last) = (log_key(name, 0), log_key(name, u64::MAX));
        let Some(row) = self.reflog.range(&first[..]..=&last[..])?.next_back() else { return Ok(None) };
        let (key, row) = row?;
        let (_, index) = read_split_key(key.value())?;
        let update = RefUpdate::decode(row.bytes())
            .map_err(|error| StoreError::decode(format!("the log of the ref '{name}'"), error))?;
        Ok(Some((index, update)))
    }

    /// All updates of a ref, or of a session's HEAD under the name of its log, the newest first.
    pub fn updates(&self, name: &str) -> Result<Vec<RefUpdate>, StoreError> {
        let (first, last) = (log_key(name, 0), log_key(name, u64::MAX));
        let mut found = Vec::new();
        for row in self.reflog.range(&first[..]..=&last[..])?.rev() {
            let (_, row) = row?;
            let update = RefUpdate::decode(row.bytes());
            found.push(update.map_err(|error| StoreError::decode(format!("the log of the ref '{name}'"), error))?);
        }
        Ok(found)
    }

    /// All sessions that have written something, in the order of their names.
    pub fn sessions(&self) -> Result<Vec<(SessionName, Session)>, StoreError> {
        let mut found = Vec::new();
        for row in self.session.range::<&str>(..)? {
            let (key, row) = row?;
            let name =
                SessionName::new(key.value()).map_err(|_| StoreError::corrupt("the name of a session is no name"))?;
            let session = Session::decode(row.bytes())
                .map_err(|error| StoreError::decode(format!("the session '{name}'"), error))?;
            found.push((name, session));
        }
        Ok(found)
    }

    /// What is known of a session that has written something; `None` for a new one.
    pub fn session(&self, name: &SessionName) -> Result<Option<Session>, StoreError> {
        let row = self.session.get(name.as_str())?;
        let decoded = row.map(|row| Session::decode(row.bytes())).transpose();
        decoded.map_err(|error| StoreError::decode(format!("the session '{name}'"), error))
    }

    /// Where the session of those who name none stands: where every new session begins.
    pub fn default_head(&self) -> Result<Head, StoreError> {
        let session = self.session(&SessionName::default())?;
        session.map(|session| session.head).ok_or_else(|| StoreError::corrupt("the default session is missing"))
    }

    /// The commit on which a head stands; `None` on a branch without commits.
    pub fn head_commit(&self, head: &Head) -> Result<Option<Number>, StoreError> {
        match head {
            Head::Branch(name) => self.reference(name),
            Head::Detached(number) => Ok(Some(*number)),
        }
    }

    /// The root of a commit's state; `None` also for no commit.
    ///
    /// Compares its id with its record, where the record holds all that the id is made of.
    pub fn root(&self, commit: Option<Number>) -> Result<Option<Link>, StoreError> {
        let Some(commit) = commit.map(|number| self.commit(number)).transpose()? else { return Ok(None) };
        if let Root::Inner { number, id } = commit.root
            && self.inner(number)?.id().is_some_and(|found| found != id)
        {
            return Err(StoreError::corrupt(format!("the root of commit {} has another id", commit.id)));
        }
        Ok(commit.root.link())
    }

    /// The commits that wrote a new record for this id or lack it where every parent has it, newest first.
    pub fn versions(&self, id: &NodeId) -> Result<Vec<Number>, StoreError> {
        let (first, last) = (history_key(id.as_str(), 0), history_key(id.as_str(), u64::MAX));
        let mut found = Vec::new();
        let mut expected = None;
        self.history.check_around(&first, &last)?;
        for row in self.history.range(&first[..]..=&last[..])?.rev() {
            let (key, row) = row?;
            let (_, number) = read_split_key(key.value())?;
            check_follows(id.as_str(), expected, number)?;
            expected = Some(read_number(row.bytes())?);
            found.push(number);
        }
        check_follows(id.as_str(), expected, 0)?;
        Ok(found)
    }

    /// Calls `visit` with each id that begins with `prefix` and ever was, in their order. Reads one row an id.
    pub fn ids_below(&self, prefix: &str, mut visit: impl FnMut(NodeId)) -> Result<(), StoreError> {
        let mut from = prefix.as_bytes().to_vec();
        loop {
            let Some(row) = self.history.range(&from[..]..)?.next() else { return Ok(()) };
            let (key, _) = row?;
            let (id, _) = read_split_key(key.value())?;
            if !id.starts_with(prefix) {
                return Ok(());
            }
            from = history_key(id, u64::MAX);
            from.push(0);
            visit(NodeId::new(id).map_err(|_| StoreError::corrupt("an id in the history is no id"))?);
        }
    }

    /// The parents outside their own chain of the commits of `chain` at these positions: the fork at 0, merges behind it.
    pub fn chain_parents(&self, chain: Number, positions: RangeInclusive<u64>) -> Result<Vec<Place>, StoreError> {
        let mut found = Vec::new();
        for row in self.chain.range((chain, *positions.start())..=(chain, (*positions.end()).min(TIP - 1)))? {
            let places = decode_places(row?.1.bytes(), chain);
            found.extend(places.map_err(|error| StoreError::decode(format!("the chain of commit {chain}"), error))?);
        }
        Ok(found)
    }

    /// The position of a chain's last commit.
    pub(super) fn chain_tip(&self, chain: Number) -> Result<u64, StoreError> {
        let row = self.chain.get((chain, TIP))?;
        let row =
            row.ok_or_else(|| StoreError::corrupt(format!("the tip of the chain of commit {chain} is missing")))?;
        read_number(row.bytes())
    }
}

impl<A: Access> Source for Tables<A> {
    type Error = StoreError;

    fn inner(&self, number: Number) -> Result<Inner, StoreError> {
        let row = self.object_row(number)?;
        let what = || format!("inner node {number}");
        match ObjectRecord::decode(row.bytes()).map_err(|error| StoreError::decode(what(), error))? {
            ObjectRecord::Inner(payload) => {
                Inner::decode(payload, number).map_err(|error| StoreError::decode(what(), error))
            }
            ObjectRecord::Node(_) | ObjectRecord::Redacted(_) => {
                Err(StoreError::corrupt(format!("{} is a node", what())))
            }
        }
    }

    fn node_id(&self, number: Number, object: ObjectId) -> Result<NodeId, StoreError> {
        self.with_kept(number, object, kept_id_in)?.map_err(|error| StoreError::decode(format!("node {object}"), error))
    }

    fn misplaced(&self, number: Number) -> StoreError {
        StoreError::corrupt(format!("object {number} stands where no state has it"))
    }
}

/// A row that names `previous` as the one before must find it there.
fn check_follows(id: &str, previous: Option<Number>, found: Number) -> Result<(), StoreError> {
    match previous {
        Some(previous) if previous != found => {
            Err(StoreError::corrupt(format!("a row of the history of '{id}' is missing")))
        }
        _ => Ok(()),
    }
}

pub(super) fn read_number(value: &[u8]) -> Result<Number, StoreError> {
    let bytes = value.try_into().map_err(|_| StoreError::corrupt("a number is not of eight bytes"))?;
    Ok(Number::from_le_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::super::{Store, init};
    use super::*;
    use crate::model::{BranchName, Content, ContentKind, Node, Provenance};
    use crate::object::{encode_node, node_object_id};
    use std::time::Duration;

    fn bytes(id: &str) -> Vec<u8> {
        let (id, content) = (NodeId::new(id).expect("an id"), Content::from_text("v"));
        let (content_kind, provenance) = (ContentKind::Note, Provenance::default());
        encode_node(&Node { id, content, content_kind, provenance, event_time: None })
    }

    #[test]
    fn a_sound_row_with_the_bytes_of_another_node_is_damage() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("store");
        init(&path, &BranchName::new(FIRST_BRANCH).expect("a name")).expect("a store");
        let store = Store::new(path, Duration::from_secs(60));
        let (object, other) = (node_object_id(&bytes("a")), bytes("b"));
        let snapshot = store.snapshot().expect("a snapshot");
        let row = ObjectRecord::Node(&other).encode();
        store.write(snapshot, |tables| tables.object.insert(1, &row)).expect("a row");
        let snapshot = store.snapshot().expect("a snapshot");
        assert_eq!(snapshot.kept(1, node_object_id(&other)).expect("its own id").id().as_str(), "b");
        for refused in [snapshot.kept(1, object).map(|kept| kept.id().clone()), snapshot.node_id(1, object)] {
            let Err(StoreError::Corrupt { what, .. }) = refused else { panic!("{refused:?}") };
            assert_eq!(what, format!("node {object} has other bytes"));
        }
    }
}
