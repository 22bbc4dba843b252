//! Frames: what one command staged, in bytes that count whole or not at all.
//!
//! A frame is, integers little-endian: the magic (4 bytes), the length of the payload (u64), the first and the last
//! sequence number that it stands for (u64 each), CRC-32C over all else of the frame (u32), the payload. The payload is
//! an optional head entry, then changes. An entry is a tag and its fields; byte strings stand behind their length:
//!
//! | tag | fields |
//! |---|---|
//! | 1 set | id, base, canonical bytes of the node |
//! | 2 remove | id, base |
//! | 3 unstage | id |
//! | 4 head | where a session without a row begins |
//! | 5 set, redacted | id, base, marker in the place of the node |
//!
//! A base is a zero byte where the id was absent, else a one and the 32-byte object id. The id of a set stands there
//! although the node holds it too, so that looking an id up parses no JSON. The magic begins with a byte that no UTF-8
//! text holds: ids, nodes and names never look like the beginning of a frame.

use crate::model::NodeId;
use crate::object::{DecodeError, ObjectId, Reader, is_marker, push_bytes};
use std::array;
use std::ops::RangeInclusive;

/// What every frame begins with.
pub const MAGIC: [u8; 4] = *b"\xffmf1";
const SUM_AT: usize = 28;
const HEADER_BYTES: usize = 32;

const SET: u8 = 1;
const REMOVE: u8 = 2;
const UNSTAGE: u8 = 3;
const HEAD: u8 = 4;
const SET_REDACTED: u8 = 5;

/// A node id as it stands in a frame: its bytes, not yet looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StoredId<'a>(&'a [u8]);

impl<'a> From<&'a NodeId> for StoredId<'a> {
    fn from(id: &'a NodeId) -> Self {
        Self(id.as_str().as_bytes())
    }
}

impl StoredId<'_> {
    /// The bytes that every frame about the node holds, and others hardly ever: the length counts as one of them.
    pub fn mark(&self) -> Vec<u8> {
        let mut mark = Vec::with_capacity(self.0.len() + 2);
        push_bytes(&mut mark, self.0);
        mark
    }

    /// Bytes that need be no id.
    #[cfg(test)]
    pub fn any(bytes: &'static [u8]) -> Self {
        Self(bytes)
    }

    /// Whether these are the bytes of `id`.
    pub fn is(&self, id: &NodeId) -> bool {
        self.0 == id.as_str().as_bytes()
    }

    /// The id, where the bytes are one.
    pub fn read(&self) -> Result<NodeId, DecodeError> {
        let fault = DecodeError::NotCanonical("an id is no id");
        let text = std::str::from_utf8(self.0).map_err(|_| fault.clone())?;
        NodeId::new(text).map_err(|_| fault)
    }
}

/// One change of one node. `base` is the version that it replaces, `None` where the id was absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change<'a> {
    /// The node is to be this version.
    Set {
        /// Whose.
        id: StoredId<'a>,
        /// What it replaces.
        base: Option<ObjectId>,
        /// The canonical bytes of the node, or of the marker in its place.
        node: &'a [u8],
    },
    /// The node is to be absent.
    Remove {
        /// Whose.
        id: StoredId<'a>,
        /// What it replaces.
        base: Option<ObjectId>,
    },
    /// Nothing is staged for the node any more.
    Unstage {
        /// Whose.
        id: StoredId<'a>,
    },
}

impl<'a> Change<'a> {
    /// The node that it is about.
    pub fn id(&self) -> StoredId<'a> {
        match self {
            Self::Set { id, .. } | Self::Remove { id, .. } | Self::Unstage { id } => *id,
        }
    }
}

/// A frame within the bytes of a log.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// The first sequence number that it stands for.
    pub from: u64,
    /// The last one.
    pub to: u64,
    bytes: &'a [u8],
}

impl<'a> Frame<'a> {
    /// Finds the frame that `bytes` begins with, by its header alone; `None` when it is cut off or none.
    #[inline]
    pub fn at(bytes: &'a [u8]) -> Option<Self> {
        let header: &[u8; HEADER_BYTES] = bytes.first_chunk()?;
        if !header.starts_with(&MAGIC) {
            return None;
        }
        let number = |at: usize| u64::from_le_bytes(array::from_fn(|byte| header[at + byte]));
        let (payload, from, to) = (number(4), number(12), number(20));
        let bytes = bytes.get(..HEADER_BYTES.checked_add(usize::try_from(payload).ok()?)?)?;
        (1 <= from && from <= to && to < u64::MAX).then_some(Self { from, to, bytes })
    }

    /// The length of the frame that `bytes` begins with, by its header alone and without a look at its numbers.
    #[inline]
    pub fn length_at(bytes: &[u8]) -> Option<usize> {
        let header: &[u8; 12] = bytes.first_chunk()?;
        let payload = u64::from_le_bytes(array::from_fn(|byte| header[4 + byte]));
        let length = usize::try_from(payload).ok()?.checked_add(HEADER_BYTES)?;
        (header.starts_with(&MAGIC) && length <= bytes.len()).then_some(length)
    }

    /// Whether its sum is right.
    pub fn is_sound(&self) -> bool {
        self.bytes[SUM_AT..HEADER_BYTES] == sum(self.bytes)
    }

    /// Its length in bytes.
    pub fn length(&self) -> usize {
        self.bytes.len()
    }

    /// Where a session without a row begins, if it says so.
    pub fn head(&self) -> Result<Option<&'a [u8]>, DecodeError> {
        self.parts().0
    }

    /// Its changes, in order, up to the first that can't be read.
    pub fn changes(&self) -> Changes<'a> {
        let (head, rest) = self.parts();
        Changes { rest, fault: head.err() }
    }

    fn parts(&self) -> (Result<Option<&'a [u8]>, DecodeError>, Reader<'a>) {
        let payload = &self.bytes[HEADER_BYTES..];
        match payload.split_first() {
            Some((&HEAD, behind)) => {
                let mut rest = Reader::new(behind);
                (rest.bytes().map(Some), rest)
            }
            _ => (Ok(None), Reader::new(payload)),
        }
    }
}

/// The changes of a frame.
#[derive(Clone, Debug)]
pub struct Changes<'a> {
    rest: Reader<'a>,
    fault: Option<DecodeError>,
}

impl<'a> Iterator for Changes<'a> {
    type Item = Result<Change<'a>, DecodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        let change = match self.fault.take() {
            Some(fault) => Err(fault),
            None if self.rest.is_empty() => return None,
            None => read_change(&mut self.rest),
        };
        if change.is_err() {
            self.rest = Reader::new(&[]);
        }
        Some(change)
    }
}

/// Writes the frame that stands for `numbers`.
pub fn encode<'a>(
    numbers: RangeInclusive<u64>,
    head: Option<&[u8]>,
    changes: impl IntoIterator<Item = Change<'a>>,
) -> Vec<u8> {
    let mut frame = begin(numbers);
    if let Some(head) = head {
        frame.push(HEAD);
        push_bytes(&mut frame, head);
    }
    for change in changes {
        push_change(&mut frame, &change);
    }
    finish(frame)
}

/// A header whose length and sum [`finish`] fills in.
fn begin(numbers: RangeInclusive<u64>) -> Vec<u8> {
    let mut frame = Vec::with_capacity(256);
    frame.extend_from_slice(&MAGIC);
    frame.extend_from_slice(&[0; 8]);
    frame.extend_from_slice(&numbers.start().to_le_bytes());
    frame.extend_from_slice(&numbers.end().to_le_bytes());
    frame.extend_from_slice(&[0; 4]);
    frame
}

fn finish(mut frame: Vec<u8>) -> Vec<u8> {
    let payload = (frame.len() - HEADER_BYTES) as u64;
    frame[MAGIC.len()..][..8].copy_from_slice(&payload.to_le_bytes());
    let sum = sum(&frame);
    frame[SUM_AT..HEADER_BYTES].copy_from_slice(&sum);
    frame
}

/// A sound frame around any payload.
#[cfg(test)]
pub fn encode_payload(number: u64, payload: &[u8]) -> Vec<u8> {
    let mut frame = begin(number..=number);
    frame.extend_from_slice(payload);
    finish(frame)
}

fn sum(frame: &[u8]) -> [u8; 4] {
    crc32c::crc32c_append(crc32c::crc32c(&frame[..SUM_AT]), &frame[HEADER_BYTES..]).to_le_bytes()
}

fn push_change(out: &mut Vec<u8>, change: &Change<'_>) {
    match change {
        Change::Set { id, base, node } => {
            push_tag(out, if is_marker(node) { SET_REDACTED } else { SET }, *id);
            push_base(out, base.as_ref());
            push_bytes(out, node);
        }
        Change::Remove { id, base } => {
            push_tag(out, REMOVE, *id);
            push_base(out, base.as_ref());
        }
        Change::Unstage { id } => push_tag(out, UNSTAGE, *id),
    }
}

fn push_tag(out: &mut Vec<u8>, tag: u8, id: StoredId<'_>) {
    out.push(tag);
    push_bytes(out, id.0);
}

fn push_base(out: &mut Vec<u8>, base: Option<&ObjectId>) {
    out.push(u8::from(base.is_some()));
    if let Some(base) = base {
        out.extend_from_slice(base.as_bytes());
    }
}

fn read_change<'a>(entry: &mut Reader<'a>) -> Result<Change<'a>, DecodeError> {
    match entry.byte()? {
        tag @ (SET | SET_REDACTED) => {
            let (id, base, node) = (StoredId(entry.bytes()?), read_base(entry)?, entry.bytes()?);
            if is_marker(node) == (tag == SET_REDACTED) {
                Ok(Change::Set { id, base, node })
            } else {
                Err(DecodeError::NotCanonical("a node and a marker are exchanged"))
            }
        }
        REMOVE => Ok(Change::Remove { id: StoredId(entry.bytes()?), base: read_base(entry)? }),
        UNSTAGE => Ok(Change::Unstage { id: StoredId(entry.bytes()?) }),
        tag => Err(DecodeError::UnknownRecord(tag)),
    }
}

fn read_base(entry: &mut Reader<'_>) -> Result<Option<ObjectId>, DecodeError> {
    match entry.byte()? {
        0 => Ok(None),
        1 => entry.array().map(ObjectId::from_bytes).map(Some),
        _ => Err(DecodeError::NotCanonical("a base is neither absent nor an id")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::option;
    use proptest::prelude::*;

    type Owned = (u8, String, Option<[u8; 32]>, Vec<u8>);

    fn borrowed((tag, id, base, node): &Owned) -> Change<'_> {
        let id = StoredId(id.as_bytes());
        let base = base.map(ObjectId::from_bytes);
        match tag {
            0 => Change::Set { id, base, node },
            1 => Change::Remove { id, base },
            _ => Change::Unstage { id },
        }
    }

    fn example() -> Vec<u8> {
        let (id, base) = (StoredId(b"user/diet"), Some(ObjectId::from_bytes([7; 32])));
        let set = Change::Set { id, base, node: br#"{"id":"user/diet","content":1}"# };
        encode(5..=6, Some(b"refs/heads/main"), [set, Change::Remove { id, base: None }, Change::Unstage { id }])
    }

    fn sound(bytes: &[u8]) -> Option<Frame<'_>> {
        Frame::at(bytes).filter(Frame::is_sound)
    }

    #[test]
    fn the_bytes_of_a_frame_are_fixed() {
        let (id, base) = (StoredId(b"k"), Some(ObjectId::from_bytes([9; 32])));
        let frame =
            encode(258..=259, Some(b"h"), [Change::Set { id, base: None, node: b"{}" }, Change::Remove { id, base }]);
        let mut wanted = b"\xffmf1".to_vec();
        wanted.extend(46u64.to_le_bytes());
        wanted.extend(258u64.to_le_bytes());
        wanted.extend(259u64.to_le_bytes());
        let payload = [&b"\x04\x01h\x01\x01k\x00\x02{}\x02\x01k\x01"[..], &[9; 32]].concat();
        let sum = crc32c::crc32c(&[&wanted[..], &payload].concat());
        wanted.extend(sum.to_le_bytes());
        wanted.extend(payload);
        assert_eq!(frame, wanted);
    }

    #[test]
    fn a_frame_with_any_one_bit_flipped_is_bad() {
        let good = example();
        assert!(sound(&good).is_some());
        for bit in 0..good.len() * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            bad.extend_from_slice(&[0; 64]);
            assert!(sound(&bad).is_none(), "bit {bit}");
        }
    }

    #[test]
    fn a_frame_that_is_cut_off_is_none() {
        let good = example();
        for length in 0..good.len() {
            assert!(Frame::at(&good[..length]).is_none(), "{length}");
        }
    }

    #[test]
    fn numbers_rise_from_one_and_leave_room_for_a_next() {
        for (from, to, good) in
            [(1, 1, true), (3, 9, true), (1, u64::MAX - 1, true), (0, 1, false), (2, 1, false), (1, u64::MAX, false)]
        {
            assert_eq!(sound(&encode(from..=to, None, [])).is_some(), good, "{from}..={to}");
        }
    }

    #[test]
    fn a_length_beyond_all_memory_is_no_frame() {
        let mut frame = example();
        frame[4..12].copy_from_slice(&u64::MAX.to_le_bytes());
        assert!(Frame::at(&frame).is_none());
    }

    #[test]
    fn a_payload_that_no_writer_makes_is_refused_and_ends() {
        let exchanged = DecodeError::NotCanonical("a node and a marker are exchanged");
        let cases: [(&[u8], DecodeError); 8] = [
            (b"\x05\x01k\x00\x02{}", exchanged.clone()),
            (b"\x01\x01k\x00\x11{\"redacted\":\"ab\"}", exchanged),
            (&[9, 1, b'k'], DecodeError::UnknownRecord(9)),
            (&[0], DecodeError::UnknownRecord(0)),
            (&[UNSTAGE, 1, b'k', HEAD, 0], DecodeError::UnknownRecord(HEAD)),
            (&[HEAD, 0, HEAD, 0], DecodeError::UnknownRecord(HEAD)),
            (&[REMOVE, 1, b'k', 2], DecodeError::NotCanonical("a base is neither absent nor an id")),
            (&[HEAD, 9], DecodeError::NotCanonical("a record is cut off")),
        ];
        for (payload, error) in cases {
            let frame = encode_payload(1, payload);
            let frame = sound(&frame).expect("a sound frame");
            let mut faults = frame.changes().skip_while(Result::is_ok);
            assert_eq!(faults.next(), Some(Err(error)), "{payload:?}");
            assert_eq!(faults.next(), None, "{payload:?}");
        }
        for cut in
            [&[SET][..], &[SET, 1], &[SET, 1, b'k'], &[SET, 1, b'k', 0], &[SET, 1, b'k', 1, 0], &[SET, 1, b'k', 0, 1]]
        {
            assert!(
                sound(&encode_payload(1, cut)).expect("a sound frame").changes().any(|change| change.is_err()),
                "{cut:?}"
            );
        }
        assert!(sound(&encode_payload(1, &[HEAD, 9])).expect("a sound frame").head().is_err());
    }

    #[test]
    fn stored_bytes_that_are_no_id_are_refused() {
        let id = NodeId::new("k").expect("id");
        assert!(StoredId::from(&id).is(&id));
        assert!(!StoredId(b"kk").is(&id));
        assert_eq!(StoredId(b"k").read(), Ok(id));
        for bad in [&b""[..], b"\xff", b"a\n"] {
            assert!(StoredId(bad).read().is_err(), "{bad:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            from in 1..u64::MAX / 2,
            more in 0..9u64,
            head in option::of(vec(any::<u8>(), 0..40)),
            changes in vec((0..3u8, ".{0,200}", option::of(any::<[u8; 32]>()), vec(any::<u8>(), 0..300)), 0..6),
            behind in vec(any::<u8>(), 0..40),
        ) {
            let frame = encode(from..=from + more, head.as_deref(), changes.iter().map(borrowed));
            let log = [&frame[..], &behind].concat();
            let read = sound(&log).expect("a sound frame");
            prop_assert_eq!((read.from, read.to, read.length()), (from, from + more, frame.len()));
            prop_assert_eq!(read.head(), Ok(head.as_deref()));
            prop_assert_eq!(
                read.changes().collect::<Result<Vec<_>, _>>(),
                Ok(changes.iter().map(borrowed).collect::<Vec<_>>())
            );
        }

        #[test]
        fn no_payload_makes_the_reader_panic(payload in vec(any::<u8>(), 0..60)) {
            let frame = encode_payload(1, &payload);
            let frame = sound(&frame).expect("a sound frame");
            let read: Result<Vec<_>, _> = frame.changes().collect();
            if let (Ok(changes), Ok(head)) = (read, frame.head()) {
                prop_assert_eq!(encode(1..=1, head, changes), encode_payload(1, &payload));
            }
        }
    }
}
