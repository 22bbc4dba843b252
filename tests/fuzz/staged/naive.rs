//! A staged log by the page of the format, read the slow way.

use crate::bytes::Bytes;
use crate::node::{begins_as_marker, is_id};
use std::collections::BTreeMap;

/// What is staged for an id: the version that it replaces, and the bytes of the new one; `None` is absent.
pub type Change = (Option<[u8; 32]>, Option<Vec<u8>>);

/// One entry of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    Set(Vec<u8>, Option<[u8; 32]>, Vec<u8>),
    Remove(Vec<u8>, Option<[u8; 32]>),
    Unstage(Vec<u8>),
}

/// What a sound log comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    /// Where the last sound frame ends.
    pub end: usize,
    /// The last sequence number of a live frame, or the last consumed one.
    pub last: u64,
    /// Whether there is a live frame.
    pub is_empty: bool,
    /// What the live frames say; `None` where one has an entry that is none.
    pub says: Option<Says>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Says {
    /// What the first live frame says of where the session stands.
    pub head: Option<Vec<u8>>,
    /// What is staged.
    pub changes: BTreeMap<Vec<u8>, Change>,
}

impl Says {
    pub fn take(&mut self, entry: Entry) {
        let base = |id: &[u8], base| self.changes.get(id).map_or(base, |(first, _)| *first);
        match entry {
            Entry::Set(id, replaced, node) => drop(self.changes.insert(id.clone(), (base(&id, replaced), Some(node)))),
            Entry::Remove(id, replaced) => drop(self.changes.insert(id.clone(), (base(&id, replaced), None))),
            Entry::Unstage(id) => drop(self.changes.remove(&id)),
        }
    }

    /// Whether everything for which something is staged can be the id of a node.
    pub fn has_ids(&self) -> bool {
        self.changes.keys().all(|id| str::from_utf8(id).is_ok_and(is_id))
    }
}

/// A frame, whether its sum is right or not.
struct Frame<'a> {
    length: usize,
    from: u64,
    to: u64,
    is_sound: bool,
    payload: &'a [u8],
}

fn frame(bytes: &[u8]) -> Option<Frame<'_>> {
    let number = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().expect("eight bytes")));
    let (length, from, to) = (number(4)?, number(12)?, number(20)?);
    let sum = bytes.get(28..32)?;
    let payload = bytes[32..].get(..usize::try_from(length).ok()?)?;
    let is_frame = bytes.starts_with(b"\xffmf1") && from >= 1 && to >= from && to != u64::MAX;
    let right = crc32c::crc32c(&[&bytes[..28], payload].concat()).to_le_bytes();
    is_frame.then_some(Frame { length: 32 + payload.len(), from, to, is_sound: sum == right, payload })
}

/// Reads a log of which a commit has consumed the numbers up to `consumed`; `None` where it is damaged.
pub fn read(log: &[u8], consumed: u64) -> Option<Log> {
    let mut found = Log { end: 0, last: consumed.min(u64::MAX - 1), is_empty: true, says: Some(Says::default()) };
    while let Some(frame) = frame(&log[found.end..]).filter(|frame| frame.is_sound) {
        found.end += frame.length;
        if frame.to <= consumed {
            continue;
        }
        if frame.from != found.last + 1 {
            return None;
        }
        found.says = found.says.and_then(|says| replay(says, frame.payload, found.is_empty));
        (found.last, found.is_empty) = (frame.to, false);
    }
    // What may begin in the rest, whose sums would take too long to look at where there is much of it.
    let rest = &log[found.end..];
    let begins = (0..rest.len()).filter(|at| rest[*at..].starts_with(b"\xffmf1"));
    let live: Vec<_> = begins.filter_map(|at| frame(&rest[at..])).filter(|frame| frame.to > consumed).collect();
    let length: usize = live.iter().map(|frame| frame.length).sum();
    let is_torn = live.iter().all(|frame| !frame.is_sound) && length <= 4 * rest.len();
    is_torn.then_some(found)
}

fn replay(mut says: Says, payload: &[u8], is_first: bool) -> Option<Says> {
    let mut payload = Bytes(payload);
    if payload.0.first() == Some(&4) {
        payload.byte();
        let head = payload.string()?;
        if is_first {
            says.head = Some(head.to_vec());
        }
    }
    while !payload.0.is_empty() {
        says.take(entry(&mut payload)?);
    }
    Some(says)
}

fn entry(payload: &mut Bytes<'_>) -> Option<Entry> {
    let tag = payload.byte().filter(|tag| matches!(tag, 1..=3 | 5))?;
    let id = payload.string()?.to_vec();
    if tag == 3 {
        return Some(Entry::Unstage(id));
    }
    let base = if payload.flag()? { Some(payload.take(32)?.try_into().expect("32 bytes")) } else { None };
    if tag == 2 {
        return Some(Entry::Remove(id, base));
    }
    let node = payload.string()?.to_vec();
    (begins_as_marker(&node) == (tag == 5)).then_some(Entry::Set(id, base, node))
}
