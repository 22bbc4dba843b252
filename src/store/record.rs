//! The binary records of the tables. Numbers are LEB128, distances count back from a record's own number.

use super::marks::Marks;
use super::progress::Progress;
use crate::model::{Author, CommitTime, Message, NodeId, SessionName};
use crate::object::{
    Commit, CommitId, DecodeError, Effect, ObjectId, Reader, Root, StateId, is_marker, push_bytes, push_varint,
};

/// The number of a record or commit: rising, never reused, never hashed.
pub type Number = u64;

const NODE: u8 = 1;
const INNER: u8 = 2;
const REDACTED: u8 = 3;
const COMMIT: u8 = 1;

/// What a row of the table `object` holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectRecord<'a> {
    /// Canonical bytes of a node.
    Node(&'a [u8]),
    /// The marker in the place of a node.
    Redacted(&'a [u8]),
    /// The payload of an inner node.
    Inner(&'a [u8]),
}

impl<'a> ObjectRecord<'a> {
    /// Reads the kind, which is the first byte.
    pub fn decode(record: &'a [u8]) -> Result<Self, DecodeError> {
        match record.split_first() {
            Some((&NODE, rest)) if !is_marker(rest) => Ok(Self::Node(rest)),
            Some((&INNER, rest)) => Ok(Self::Inner(rest)),
            Some((&REDACTED, rest)) if is_marker(rest) => Ok(Self::Redacted(rest)),
            Some((&(NODE | REDACTED), _)) => Err(DecodeError::NotCanonical("a node and a marker are exchanged")),
            Some((&kind, _)) => Err(DecodeError::UnknownRecord(kind)),
            None => Err(DecodeError::NotCanonical("an object record is empty")),
        }
    }

    /// The record of a version of a node.
    pub fn of_kept(bytes: &'a [u8]) -> Self {
        if is_marker(bytes) { Self::Redacted(bytes) } else { Self::Node(bytes) }
    }

    /// Writes the kind and what it holds.
    pub fn encode(self) -> Vec<u8> {
        let (kind, bytes) = match self {
            Self::Node(bytes) => (NODE, bytes),
            Self::Inner(bytes) => (INNER, bytes),
            Self::Redacted(bytes) => (REDACTED, bytes),
        };
        let mut out = Vec::with_capacity(bytes.len() + 1);
        out.push(kind);
        out.extend_from_slice(bytes);
        out
    }
}

/// How many nodes a commit changed against its first parent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChangeCount {
    /// Ids that the parent does not have.
    pub added: u64,
    /// Ids that both have, with another node.
    pub modified: u64,
    /// Ids that only the parent has.
    pub removed: u64,
}

impl ChangeCount {
    /// Counts what became of ids.
    pub fn of(effects: &[(NodeId, Effect)]) -> Self {
        let mut count = Self::default();
        for (_, effect) in effects {
            match effect {
                Effect::Added => count.added += 1,
                Effect::Modified => count.modified += 1,
                Effect::Removed => count.removed += 1,
            }
        }
        count
    }

    /// All of them.
    pub fn total(self) -> u64 {
        self.added + self.modified + self.removed
    }
}

/// Where a commit stands among the chains: a run of commits, each the first parent of the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The number of the chain's first commit.
    pub chain: Number,
    /// How many commits stand before it in the chain.
    pub position: u64,
}

/// A commit as the table `commit` holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitRecord {
    /// Its id.
    pub id: CommitId,
    /// The numbers of its parents, in order.
    pub parents: Vec<Number>,
    /// Where its state begins.
    pub root: Root,
    /// How many nodes the memory has.
    pub count: u64,
    /// What it changed.
    pub changes: ChangeCount,
    /// Where it stands.
    pub place: Place,
    /// Who made it.
    pub author: Author,
    /// When.
    pub time: CommitTime,
    /// What it says.
    pub message: Message,
}

impl CommitRecord {
    /// Writes the record of the commit with this number.
    pub fn encode(&self, own: Number) -> Vec<u8> {
        let mut out = Vec::with_capacity(128 + self.message.as_str().len());
        out.push(COMMIT);
        out.extend_from_slice(self.id.as_bytes());
        push_varint(&mut out, self.parents.len() as u64);
        for parent in &self.parents {
            push_varint(&mut out, own - parent);
        }
        let (kind, link) = match self.root {
            Root::Empty => (0, None),
            Root::Node { number, object } => (1, Some((number, object))),
            Root::Inner { number, id } => (2, Some((number, id))),
        };
        out.push(kind);
        if let Some((number, id)) = link {
            push_varint(&mut out, own - number);
            out.extend_from_slice(id.as_bytes());
        }
        for count in [self.count, self.changes.added, self.changes.modified, self.changes.removed] {
            push_varint(&mut out, count);
        }
        push_varint(&mut out, own - self.place.chain);
        push_varint(&mut out, self.place.position);
        push_time(&mut out, self.time);
        push_bytes(&mut out, self.author.as_str().as_bytes());
        out.extend_from_slice(self.message.as_str().as_bytes());
        out
    }

    /// Reads the record of the commit with this number.
    pub fn decode(record: &[u8], own: Number) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(record);
        let kind = reader.byte()?;
        if kind != COMMIT {
            return Err(DecodeError::UnknownRecord(kind));
        }
        let id = CommitId::from_bytes(reader.array()?);
        let mut parents = Vec::new();
        for _ in 0..reader.varint()? {
            parents.push(back(&mut reader, own, 1)?);
        }
        let root = match reader.byte()? {
            0 => Root::Empty,
            1 => Root::Node { number: back(&mut reader, own, 1)?, object: ObjectId::from_bytes(reader.array()?) },
            2 => Root::Inner { number: back(&mut reader, own, 1)?, id: ObjectId::from_bytes(reader.array()?) },
            _ => return Err(DecodeError::NotCanonical("a commit's root is of no kind")),
        };
        let count = reader.varint()?;
        let changes = ChangeCount { added: reader.varint()?, modified: reader.varint()?, removed: reader.varint()? };
        let place = Place { chain: back(&mut reader, own, 0)?, position: reader.varint()? };
        let time = read_time(&mut reader)?;
        let text = reader.text()?;
        let author = Author::new(text)
            .ok()
            .filter(|author| author.as_str() == text)
            .ok_or(DecodeError::NotCanonical("a commit's author is blank or not trimmed"))?;
        let message = std::str::from_utf8(reader.rest())
            .ok()
            .and_then(|text| Message::new(text).ok().filter(|message| message.as_str() == text))
            .ok_or(DecodeError::NotCanonical("a commit's message is no text, blank or not trimmed"))?;
        Ok(Self { id, parents, root, count, changes, place, author, time, message })
    }

    /// The id of the memory.
    pub fn state(&self) -> StateId {
        self.root.state_id(self.count)
    }

    /// The object that is hashed, given the ids of the parents.
    pub fn commit(&self, parents: Vec<CommitId>) -> Commit {
        Commit {
            parents,
            state: self.state(),
            author: self.author.clone(),
            time: self.time,
            message: self.message.clone(),
        }
    }
}

/// A number that stands before `own` by at least `least`, and is not 0.
fn back(reader: &mut Reader<'_>, own: Number, least: u64) -> Result<Number, DecodeError> {
    let distance = reader.varint()?;
    if distance < least || distance >= own {
        return Err(DecodeError::NotCanonical("a distance leads nowhere"));
    }
    Ok(own - distance)
}

/// Signed numbers as unsigned ones: 0, -1, 1, -2, 2 become 0, 1, 2, 3, 4.
fn zigzag(number: i64) -> u64 {
    (number << 1 ^ number >> 63).cast_unsigned()
}

fn unzigzag(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
}

pub(super) fn push_time(out: &mut Vec<u8>, time: CommitTime) {
    push_varint(out, zigzag(time.unix_ms()));
    push_varint(out, zigzag(time.offset_minutes().into()));
}

pub(super) fn read_time(reader: &mut Reader<'_>) -> Result<CommitTime, DecodeError> {
    let unix_ms = unzigzag(reader.varint()?);
    i16::try_from(unzigzag(reader.varint()?))
        .ok()
        .and_then(|offset| CommitTime::new(unix_ms, offset).ok())
        .ok_or(DecodeError::NotCanonical("a time is outside the years 0000 to 9999"))
}

/// Writes a row of `chain`: the parents that do not stand right before the commit in its chain.
pub fn encode_places(places: &[Place], own_chain: Number) -> Vec<u8> {
    let mut out = Vec::new();
    for place in places {
        push_varint(&mut out, zigzag(own_chain.cast_signed().wrapping_sub(place.chain.cast_signed())));
        push_varint(&mut out, place.position);
    }
    out
}

/// Reads a row of `chain`.
pub fn decode_places(row: &[u8], own_chain: Number) -> Result<Vec<Place>, DecodeError> {
    let mut reader = Reader::new(row);
    let mut places = Vec::new();
    while !reader.is_empty() {
        let chain = own_chain.cast_signed().wrapping_sub(unzigzag(reader.varint()?)).cast_unsigned();
        places.push(Place { chain, position: reader.varint()? });
    }
    Ok(places)
}

/// One update of a ref.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefUpdate {
    /// The commit before; `None` where there was none.
    pub old: Option<Number>,
    /// The commit after; `None` for a deletion.
    pub new: Option<Number>,
    /// When.
    pub time: CommitTime,
    /// Which command did it.
    pub reason: String,
}

impl RefUpdate {
    /// Writes a row of `reflog`.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(24 + self.reason.len());
        push_varint(&mut out, self.old.unwrap_or(0));
        push_varint(&mut out, self.new.unwrap_or(0));
        push_time(&mut out, self.time);
        out.extend_from_slice(self.reason.as_bytes());
        out
    }

    /// Reads a row of `reflog`.
    pub fn decode(row: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(row);
        let mut number = || reader.varint().map(|number| (number != 0).then_some(number));
        let (old, new) = (number()?, number()?);
        let time = read_time(&mut reader)?;
        let reason = std::str::from_utf8(reader.rest())
            .map_err(|_| DecodeError::NotCanonical("a reason is not UTF-8"))?
            .to_owned();
        Ok(Self { old, new, time, reason })
    }
}

/// Where a session stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Head {
    /// On a branch, named by its ref such as `refs/heads/main`; it may have no commit yet.
    Branch(String),
    /// On a commit.
    Detached(Number),
}

/// What the store knows of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// Where it stands.
    pub head: Head,
    /// The last number of its staged log that a commit has consumed.
    pub consumed: u64,
    /// Where its HEAD was before the last command that moved it other than by a commit on top: `ORIG_HEAD`.
    pub orig_head: Option<Number>,
    /// Where it stood before it last switched: `@{-1}`.
    pub previous: Option<Head>,
    /// What it has begun and not finished.
    pub progress: Option<Progress>,
    /// The search for a first bad commit that goes on.
    pub marks: Option<Marks>,
}

const HEAD_BRANCH: u8 = 1;
const HEAD_DETACHED: u8 = 2;
const CONSUMED: u8 = 3;
const ORIG_HEAD: u8 = 4;
const PREVIOUS: u8 = 5;
const PROGRESS: u8 = 6;
const MARKS: u8 = 7;

/// The name of a branch without `refs/heads/`.
pub fn short_branch(name: &str) -> &str {
    name.strip_prefix("refs/heads/").unwrap_or(name)
}

/// The name of a tag without `refs/tags/`; `None` for a ref that is no tag.
pub fn short_tag(name: &str) -> Option<&str> {
    name.strip_prefix("refs/tags/")
}

impl Head {
    /// The ref of the branch, if it is on one.
    pub fn branch(&self) -> Option<&str> {
        match self {
            Self::Branch(name) => Some(name),
            Self::Detached(_) => None,
        }
    }

    /// Writes a head where it stands alone: one field of a session's row.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            Self::Branch(name) => push_field(&mut out, HEAD_BRANCH, name.as_bytes()),
            Self::Detached(number) => push_number_field(&mut out, HEAD_DETACHED, *number),
        }
        out
    }

    /// Reads what [`Head::encode`] wrote.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes);
        let tag = reader.byte()?;
        let field = Reader::new(reader.bytes()?);
        reader.finish()?;
        match tag {
            HEAD_BRANCH => Self::branch_in(field),
            HEAD_DETACHED => Self::detached_in(field),
            CONSUMED..=MARKS => Err(DecodeError::NotCanonical("a head is no other field")),
            unknown => Err(DecodeError::UnknownRecord(unknown)),
        }
    }

    fn branch_in(mut field: Reader<'_>) -> Result<Self, DecodeError> {
        let name = std::str::from_utf8(field.rest());
        Ok(Self::Branch(name.map_err(|_| DecodeError::NotCanonical("a branch name is not UTF-8"))?.to_owned()))
    }

    fn detached_in(mut field: Reader<'_>) -> Result<Self, DecodeError> {
        let number = field.varint()?;
        field.finish()?;
        Ok(Self::Detached(number))
    }
}

impl Session {
    /// A session that has done nothing yet.
    pub const fn at(head: Head) -> Self {
        Self { head, consumed: 0, orig_head: None, previous: None, progress: None, marks: None }
    }

    /// Writes a row of `session`: fields of a tag, a length and a value, tags rising; a number that is 0 is left out.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = self.head.encode();
        if self.consumed != 0 {
            push_number_field(&mut out, CONSUMED, self.consumed);
        }
        if let Some(number) = self.orig_head {
            push_number_field(&mut out, ORIG_HEAD, number);
        }
        if let Some(head) = &self.previous {
            push_field(&mut out, PREVIOUS, &head.encode());
        }
        if let Some(progress) = &self.progress {
            push_field(&mut out, PROGRESS, &progress.encode());
        }
        if let Some(marks) = &self.marks {
            push_field(&mut out, MARKS, &marks.encode());
        }
        out
    }

    /// Reads a row of `session`.
    pub fn decode(row: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(row);
        let (mut head, mut consumed, mut orig_head, mut previous) = (None, 0, None, None);
        let (mut progress, mut marks) = (None, None);
        while !reader.is_empty() {
            let tag = reader.byte()?;
            let mut field = Reader::new(reader.bytes()?);
            match tag {
                HEAD_BRANCH => head = Some(Head::branch_in(Reader::new(field.rest()))?),
                HEAD_DETACHED => head = Some(Head::detached_in(Reader::new(field.rest()))?),
                CONSUMED => consumed = field.varint()?,
                ORIG_HEAD => orig_head = Some(field.varint()?),
                PREVIOUS => previous = Some(Head::decode(field.rest())?),
                PROGRESS => progress = Some(Progress::decode(field.rest())?),
                MARKS => marks = Some(Marks::decode(field.rest())?),
                unknown => return Err(DecodeError::UnknownRecord(unknown)),
            }
            field.finish()?;
        }
        let head = head.ok_or(DecodeError::NotCanonical("a session stands nowhere"))?;
        let session = Self { head, consumed, orig_head, previous, progress, marks };
        if session.encode() == row {
            Ok(session)
        } else {
            Err(DecodeError::NotCanonical("a session is spelled otherwise"))
        }
    }
}

fn push_field(out: &mut Vec<u8>, tag: u8, value: &[u8]) {
    out.push(tag);
    push_bytes(out, value);
}

fn push_number_field(out: &mut Vec<u8>, tag: u8, number: u64) {
    let mut value = Vec::new();
    push_varint(&mut value, number);
    push_field(out, tag, &value);
}

/// What the names of sessions' logs begin with, and no name of a ref.
pub const SESSION_LOGS: &str = "session/";

/// The name under which a session's own movements are logged.
pub fn session_log_name(session: &SessionName) -> String {
    format!("{SESSION_LOGS}{session}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn record(parents: Vec<Number>, root: Root) -> CommitRecord {
        CommitRecord {
            id: CommitId::from_bytes([7; 32]),
            parents,
            root,
            count: 3,
            changes: ChangeCount { added: 1, modified: 2, removed: 300 },
            place: Place { chain: 5, position: 9 },
            author: Author::new("Ada").expect("author"),
            time: CommitTime::parse("1969-12-31T23:59:59.999-03:30").expect("time"),
            message: Message::new("a\n\nb").expect("message"),
        }
    }

    #[test]
    fn a_commit_record_comes_back() {
        let id = ObjectId::from_bytes([9; 32]);
        for root in [Root::Empty, Root::Node { number: 99, object: id }, Root::Inner { number: 98, id }] {
            for parents in [vec![], vec![99], vec![3, 50]] {
                let record = record(parents, root);
                let bytes = record.encode(100);
                assert_eq!(CommitRecord::decode(&bytes, 100), Ok(record));
                for end in 0..bytes.len() {
                    if let Ok(cut) = CommitRecord::decode(&bytes[..end], 100) {
                        assert_eq!(cut.encode(100), bytes[..end], "only the message may be shorter");
                    }
                }
            }
        }
    }

    #[test]
    fn distances_that_lead_nowhere_are_refused() {
        let bytes = record(vec![40], Root::Empty).encode(41);
        assert!(CommitRecord::decode(&bytes, 41).is_ok());
        assert!(CommitRecord::decode(&bytes, 1).is_err());
    }

    #[test]
    fn unknown_kinds_are_told_from_damage() {
        assert_eq!(ObjectRecord::decode(&[9, 1]), Err(DecodeError::UnknownRecord(9)));
        let exchanged = Err(DecodeError::NotCanonical("a node and a marker are exchanged"));
        let marker = br#"{"redacted":"ab"}"#;
        for (kind, bytes, decoded) in [
            (NODE, &b"{}"[..], Ok(ObjectRecord::Node(b"{}"))),
            (REDACTED, marker, Ok(ObjectRecord::Redacted(marker))),
            (NODE, marker, exchanged.clone()),
            (REDACTED, b"{}", exchanged),
        ] {
            assert_eq!(ObjectRecord::decode(&[&[kind], bytes].concat()), decoded);
            assert_eq!(ObjectRecord::of_kept(bytes).encode()[0] == kind, decoded.is_ok());
        }
        assert_eq!(ObjectRecord::decode(&[]), Err(DecodeError::NotCanonical("an object record is empty")));
        let mut bytes = record(vec![], Root::Empty).encode(100);
        bytes[0] = 2;
        assert_eq!(CommitRecord::decode(&bytes, 100), Err(DecodeError::UnknownRecord(2)));
        assert_eq!(Session::decode(&[77, 0]), Err(DecodeError::UnknownRecord(77)));
    }

    #[test]
    fn a_session_comes_back_and_stands_somewhere() {
        for head in [Head::Branch("refs/heads/main".into()), Head::Detached(300)] {
            assert_eq!(Head::decode(&head.encode()), Ok(head.clone()));
            for consumed in [0, 1, u64::MAX] {
                for (orig_head, previous, progress) in [
                    (None, None, None),
                    (Some(7), Some(Head::Detached(9)), None),
                    (None, Some(head.clone()), Some(Progress::Merge { theirs: 4, name: "x".into(), message: None })),
                ] {
                    let marks = progress.as_ref().map(|_| Marks { first_parent: true, ..Marks::default() });
                    let session = Session { head: head.clone(), consumed, orig_head, previous, progress, marks };
                    assert_eq!(Session::decode(&session.encode()), Ok(session));
                }
            }
        }
        assert!(Session::decode(&[]).is_err());
        assert!(Session::decode(&[CONSUMED, 1, 1, HEAD_BRANCH, 0]).is_err(), "tags rise");
    }

    #[test]
    fn a_head_is_one_field_and_nothing_is_within_it() {
        let main = Head::Branch("refs/heads/main".into());
        let session = Session { consumed: 1, ..Session::at(main.clone()) };
        for refused in
            [session.encode(), [main.encode(), vec![0]].concat(), vec![HEAD_DETACHED, 2, 1, 0], vec![CONSUMED, 1, 1]]
        {
            assert!(matches!(Head::decode(&refused), Err(DecodeError::NotCanonical(_))), "{refused:?}");
        }
        assert_eq!(Head::decode(&[77, 0]), Err(DecodeError::UnknownRecord(77)));
        let mut nested = main.encode();
        for _ in 0..10_000 {
            let mut around = main.encode();
            push_field(&mut around, PREVIOUS, &nested);
            nested = around;
        }
        assert!(Session::decode(&nested).is_err());
    }

    proptest! {
        #[test]
        fn a_ref_update_comes_back(old in 0u64.., new in 0u64.., ms in -60_000_000_000_000i64..200_000_000_000_000, offset in -1439i16..1440, reason: String) {
            let some = |number| (number != 0).then_some(number);
            let time = CommitTime::new(ms, offset).expect("a year of four digits");
            let update = RefUpdate { old: some(old), new: some(new), time, reason };
            prop_assert_eq!(RefUpdate::decode(&update.encode()), Ok(update));
        }

        #[test]
        fn places_come_back(own in 1u64.., places in proptest::collection::vec((1u64.., 0u64..), 0..4)) {
            let places: Vec<_> = places.into_iter().map(|(chain, position)| Place { chain, position }).collect();
            prop_assert_eq!(decode_places(&encode_places(&places, own), own), Ok(places));
        }
    }
}
