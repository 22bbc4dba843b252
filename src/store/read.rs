//! Questions to the tables of a snapshot or a write transaction.

use super::StoreError;
use super::record::{CommitRecord, Head, Number, ObjectRecord, Place, RefUpdate, SESSION_LOGS, Session, decode_places};
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

    /// All refs whose name begins with `prefix`, with the commits that they name, in the order of the names. Each is held
    /// against its log.
    pub fn references(&self, prefix: &str) -> Result<Vec<(String, Number)>, StoreError> {
        let mut found = Vec::new();
        for row in self.reference.range(prefix..)? {
            let (key, row) = row?;
            if !key.value().starts_with(prefix) {
                break;
            }
            found.push((key.value().to_owned(), read_number(row.bytes())?));
        }
        let mut logged = Vec::new();
        self.logs(prefix, |name| {
            let update = self.last_update(name)?;
            logged.extend(update.and_then(|(_, update)| Some((name.to_owned(), update.new?))));
            Ok(())
        })?;
        if found == logged {
            Ok(found)
        } else {
            Err(StoreError::corrupt(format!("the refs below '{prefix}' are not where their logs say")))
        }
    }

    /// Calls `visit` with the name of each ref that begins with `prefix` and has a log, in their order.
    fn logs(&self, prefix: &str, mut visit: impl FnMut(&str) -> Result<(), StoreError>) -> Result<(), StoreError> {
        let mut from = prefix.as_bytes().to_vec();
        loop {
            let Some(row) = self.reflog.range(&from[..]..)?.next() else { return Ok(()) };
            let (key, _) = row?;
            let (name, _) = read_split_key(key.value())?;
            if !name.starts_with(prefix) {
                return Ok(());
            }
            if !name.starts_with(SESSION_LOGS) {
                visit(name)?;
            }
            from = log_key(name, u64::MAX);
            from.push(0);
        }
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
        let (mut found, mut behind) = (Vec::new(), None);
        for row in self.reflog.range(&first[..]..=&last[..])?.rev() {
            let (key, row) = row?;
            let (_, index) = read_split_key(key.value())?;
            if behind.is_some_and(|behind| index + 1 != behind) {
                return Err(StoreError::corrupt(format!("a row of the log of '{name}' is missing")));
            }
            behind = Some(index);
            let update = RefUpdate::decode(row.bytes());
            found.push(update.map_err(|error| StoreError::decode(format!("the log of the ref '{name}'"), error))?);
        }
        if !name.starts_with(SESSION_LOGS) {
            // Whether the last row is there.
            self.reference(name)?;
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

    /// Calls `visit` with each id that begins with `prefix` and ever was, in their order. Reads a few rows an id.
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
    ///
    /// A chain has a row at 0 and one of its tip, so that rows of it stand around all others.
    pub fn chain_parents(&self, chain: Number, positions: RangeInclusive<u64>) -> Result<Vec<Place>, StoreError> {
        let (first, last) = (*positions.start(), (*positions.end()).min(TIP - 1));
        let mut found = Vec::new();
        if first > last {
            return Ok(found);
        }
        let lost = || StoreError::corrupt(format!("a row of the chain of commit {chain} is missing"));
        let mut begins = first > 0;
        for row in self.chain.range((chain, first)..=(chain, last))? {
            let (key, row) = row?;
            begins = begins || key.value() == (chain, 0);
            let places = decode_places(row.bytes(), chain);
            found.extend(places.map_err(|error| StoreError::decode(format!("the chain of commit {chain}"), error))?);
        }
        if first > 0 {
            let (key, _) = self.chain.range(..(chain, first))?.next_back().ok_or_else(lost)??;
            begins = key.value().0 == chain;
        }
        let (key, _) = self.chain.range((chain, last + 1)..)?.next().ok_or_else(lost)??;
        let goes_on = key.value().0 == chain;
        if begins && goes_on { Ok(found) } else { Err(lost()) }
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
    use super::super::record::encode_places;
    use super::super::{Store, Writing, init};
    use super::*;
    use crate::model::{BranchName, CommitTime, Content, ContentKind, Node, Provenance};
    use crate::object::{encode_node, node_object_id};
    use std::time::Duration;
    use tempfile::TempDir;

    fn bytes(id: &str) -> Vec<u8> {
        let (id, content) = (NodeId::new(id).expect("an id"), Content::from_text("v"));
        let (content_kind, provenance) = (ContentKind::Note, Provenance::default());
        encode_node(&Node { id, content, content_kind, provenance, event_time: None })
    }

    fn store(directory: &TempDir) -> Store {
        let path = directory.path().join("store");
        init(&path, &BranchName::new(FIRST_BRANCH).expect("a name")).expect("a store");
        Store::new(path, Duration::from_secs(60))
    }

    #[test]
    fn a_chain_whose_first_or_last_row_is_lost_is_damage_and_a_chain_around_it_is_none() {
        let directory = tempfile::tempdir().expect("a directory");
        let store = store(&directory);
        let merged = Place { chain: 3, position: 1 };
        // Of three chains, 6 has a merge in the middle.
        let rows = [
            (3, 0, None),
            (3, TIP, None),
            (6, 0, Some(merged)),
            (6, 4, Some(merged)),
            (6, TIP, None),
            (9, 0, None),
            (9, TIP, None),
        ];
        let written = store.write(store.snapshot().expect("a snapshot"), |tables| {
            rows.iter().try_for_each(|(chain, position, parent)| {
                let row = parent.map_or_else(|| 7u64.to_le_bytes().to_vec(), |parent| encode_places(&[parent], *chain));
                tables.chain.insert((*chain, *position), if *position == 0 && parent.is_none() { &[] } else { &row })
            })
        });
        written.expect("rows");
        let parents = |lost: Option<(Number, u64)>, positions: RangeInclusive<u64>| {
            let lose = |tables: &mut Tables<Writing<'_>>| lost.map_or(Ok(()), |key| tables.chain.remove(key));
            without(&store, lose, |tables| Ok(tables.chain_parents(6, positions)?.len()))
        };
        #[expect(clippy::reversed_empty_ranges, reason = "where there is nothing to look at")]
        let cases = [(0..=0, 1), (0..=3, 1), (0..=4, 2), (1..=3, 0), (1..=9, 1), (5..=9, 0), (4..=TIP, 1), (5..=4, 0)];
        for (positions, count) in cases {
            assert_eq!(parents(None, positions.clone()), Ok(count), "{positions:?}");
            for lost in [(6, 0), (6, TIP)] {
                let other = match lost {
                    // The merge stands between.
                    (_, 0) => *positions.start() > 4,
                    (_, _) => *positions.end() < 4,
                };
                let damage = "the memory store is damaged: a row of the chain of commit 6 is missing".to_owned();
                let right = if other || positions.is_empty() { Ok(count) } else { Err(damage) };
                assert_eq!(parents(Some(lost), positions.clone()), right, "{positions:?} without {lost:?}");
            }
        }
    }

    /// What is answered after some rows were taken away, which then are there again.
    fn without<R>(
        store: &Store,
        lose: impl FnOnce(&mut Tables<Writing<'_>>) -> Result<(), StoreError>,
        ask: impl FnOnce(&Tables<Writing<'_>>) -> Result<R, StoreError>,
    ) -> Result<R, String> {
        let mut answer = Err(StoreError::corrupt("not asked"));
        let undone = store.write(store.snapshot().expect("a snapshot"), |tables| {
            lose(tables)?;
            answer = ask(tables);
            Err::<(), _>(StoreError::corrupt("undone"))
        });
        assert!(undone.is_err());
        answer.map_err(|error| error.to_string())
    }

    #[test]
    fn refs_and_their_logs_are_held_against_each_other_where_all_are_listed() {
        let directory = tempfile::tempdir().expect("a directory");
        let store = store(&directory);
        let time = CommitTime::new(0, 0).expect("a time");
        let written = store.write(store.snapshot().expect("a snapshot"), |tables| {
            // What refs name is there, whatever it is.
            (1..=3).try_for_each(|number| tables.commit.insert(number, b""))?;
            for (name, number) in [("refs/heads/a", 1), ("refs/heads/a", 2), ("refs/heads/gone", 3), ("refs/tags/b", 1)]
            {
                tables.set_reference(name, number, time, "set")?;
            }
            tables.set_reference("refs/heads/a", 3, time, "set")?;
            tables.remove_reference("refs/heads/gone", time, "delete")?;
            let update = RefUpdate { old: None, new: Some(1), time, reason: String::new() };
            tables.log_update("session/default", &update)
        });
        written.expect("refs");
        let all = |prefix: &'static str| move |tables: &Tables<Writing<'_>>| tables.references(prefix);
        let named = |refs: &[(&str, Number)]| {
            Ok::<_, String>(refs.iter().map(|(name, number)| ((*name).to_owned(), *number)).collect::<Vec<_>>())
        };
        let (heads, tags) = (("refs/heads/a", 3), ("refs/tags/b", 1));
        assert_eq!(without(&store, |_| Ok(()), all("")), named(&[heads, tags]));
        assert_eq!(without(&store, |_| Ok(()), all("refs/heads/")), named(&[heads]));
        for name in ["refs/heads/a", "refs/tags/b"] {
            let damage = |below: &str| {
                Err(format!("the memory store is damaged: the refs below '{below}' are not where their logs say"))
            };
            let lost = without(&store, |tables| tables.reference.remove(name), all("refs/"));
            assert_eq!(lost, damage("refs/"), "{name}");
            let lost = without(&store, |tables| tables.reference.remove(name), all("refs/tags/"));
            assert_eq!(lost, if name == "refs/tags/b" { damage("refs/tags/") } else { named(&[tags]) });
        }
        let updates = |tables: &Tables<Writing<'_>>| Ok(tables.updates("refs/heads/a")?.len());
        assert_eq!(without(&store, |_| Ok(()), updates), Ok(3));
        for (index, said) in [
            // Old ones may have been dropped.
            (0, None),
            (1, Some("a row of the log of 'refs/heads/a' is missing")),
            (2, Some("the ref 'refs/heads/a' is not where its log says")),
        ] {
            let right = said.map_or(Ok(2), |said| Err(format!("the memory store is damaged: {said}")));
            let key = log_key("refs/heads/a", index);
            assert_eq!(without(&store, |tables| tables.reflog.remove(&key[..]), updates), right, "{index}");
        }
    }

    #[test]
    fn a_sound_row_with_the_bytes_of_another_node_is_damage() {
        let directory = tempfile::tempdir().expect("a directory");
        let store = store(&directory);
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
