//! A log that an input describes: frame by frame, with a wrong step here and there.

use super::naive::Entry;
use crate::bytes::{push_string, push_varint};
use crate::choices::Choices;
use crate::node::{Marker, begins_as_marker, object_of};
use mnemosyne::object::ObjectId;

/// Ids, and bytes that can be none.
pub const IDS: [&[u8]; 8] = [b"a", b"b", b"b/c", "\u{e9}".as_bytes(), b" ", b"\x01", b"\xff", b""];

/// How many of these can be the ids of nodes.
pub const GOOD_IDS: usize = 4;

/// So many nodes of a log may be large, so that logs are folded and yet not many megabytes long.
const MOST_LARGE: usize = 8;
const LARGE_BYTES: usize = 330_000;

/// A log in the making.
pub struct Making<'c, 'a> {
    pub choices: &'c mut Choices<'a>,
    pub log: Vec<u8>,
    consumed: u64,
    next: u64,
    large: usize,
}

impl<'c, 'a> Making<'c, 'a> {
    pub fn new(choices: &'c mut Choices<'a>, consumed: u64) -> Self {
        Self { choices, log: Vec::new(), consumed, next: consumed.saturating_add(1), large: 0 }
    }

    /// Takes one step.
    pub fn step(&mut self) {
        match self.choices.byte() % 13 {
            0..=3 => self.frames(0),
            4 => {
                let more = self.choices.byte() % 4;
                self.frames(more.into());
            }
            5 => {
                // Numbers that need not be the next.
                let ahead = i64::from(self.choices.byte().cast_signed());
                let from = self.next.wrapping_add_signed(ahead);
                let to = from.wrapping_add(u64::from(self.choices.byte() % 4));
                let payload = self.payload();
                self.push(from, to, &payload);
            }
            6 => {
                let (from, to) = (self.choices.number(8), self.choices.number(8));
                let payload = self.payload();
                self.push(from, to, &payload);
            }
            7 => {
                let count = self.choices.byte();
                let bytes = self.choices.take(count.into());
                self.log.extend_from_slice(bytes);
            }
            8 => {
                let count = self.choices.byte();
                let payload = self.choices.take(count.into());
                self.push(self.next, self.next, payload);
                self.next = self.next.saturating_add(1);
            }
            9 => {
                // Dead, if there can be such.
                let number = self.consumed.saturating_sub((self.choices.byte() % 4).into());
                let payload = self.payload();
                self.push(number, number, &payload);
            }
            10 => {
                let (at, change) = (self.choices.below(self.log.len() + 1), self.choices.byte());
                if let Some(byte) = self.log.get_mut(at) {
                    *byte ^= change;
                }
            }
            11 => {
                let count = self.choices.below(self.log.len() + 1);
                self.log.truncate(self.log.len() - count);
            }
            _ => {
                // Bytes that stand there already, once more.
                let (at, count) = (self.choices.below(self.log.len() + 1), self.choices.below(400));
                let end = self.log.len().min(at + count);
                self.log.extend_from_within(at..end);
            }
        }
    }

    fn frames(&mut self, more: u64) {
        let to = self.next.saturating_add(more);
        let payload = self.payload();
        self.push(self.next, to, &payload);
        self.next = to.saturating_add(1);
    }

    fn push(&mut self, from: u64, to: u64, payload: &[u8]) {
        let length = payload.len() as u64;
        let header = [&b"\xffmf1"[..], &length.to_le_bytes(), &from.to_le_bytes(), &to.to_le_bytes()].concat();
        let sum = crc32c::crc32c_append(crc32c::crc32c(&header), payload);
        self.log.extend([&header[..], &sum.to_le_bytes(), payload].concat());
    }

    fn payload(&mut self) -> Vec<u8> {
        let mut payload = Vec::new();
        for _ in 0..self.choices.byte() % 4 {
            match self.choices.byte() % 8 {
                0 => {
                    payload.push(4);
                    let count = self.choices.byte() % 32;
                    push_string(&mut payload, self.choices.take(count.into()));
                }
                1 => {
                    // A tag, an id, a flag of a base: any.
                    payload.push(self.choices.byte());
                    push_string(&mut payload, IDS[usize::from(self.choices.byte()) % IDS.len()]);
                    payload.push(self.choices.byte());
                }
                _ => {
                    let entry = self.entry(IDS.len());
                    push_entry(&mut payload, &entry);
                }
            }
        }
        payload
    }

    /// An entry about one of the first `ids`.
    pub fn entry(&mut self, ids: usize) -> Entry {
        let choice = usize::from(self.choices.byte());
        let id = IDS[choice / 8 % ids].to_vec();
        let base = match self.choices.byte() {
            0 => None,
            version => Some(object_of(&node(&id, version, 0))),
        };
        match choice % 8 {
            0..=3 => {
                let version = self.choices.byte();
                let is_large = version == u8::MAX && self.large < MOST_LARGE;
                self.large += usize::from(is_large);
                Entry::Set(id.clone(), base, node(&id, version, if is_large { LARGE_BYTES } else { 0 }))
            }
            4 | 5 => Entry::Remove(id, base),
            _ => Entry::Unstage(id),
        }
    }
}

/// Of this version only a marker is left, which stands for the version before.
const REDACTED: u8 = u8::MAX - 1;

/// A version of a node; `filling` makes it longer.
fn node(id: &[u8], version: u8, filling: usize) -> Vec<u8> {
    if version == REDACTED {
        let object = ObjectId::from_bytes(object_of(&node(id, version - 1, 0))).to_string();
        let (id, time) = (String::from_utf8_lossy(id).into_owned(), "2024-05-06T07:08:09.010+00:00".to_owned());
        return Marker { object, id, time, by: "Ada".to_owned(), reason: None }.bytes();
    }
    let content = format!("{version}{}", "0".repeat(filling));
    let id = String::from_utf8_lossy(id);
    format!(r#"{{"id":"{id}","content":{content},"content_kind":"note","provenance":{{}}}}"#).into_bytes()
}

fn push_entry(payload: &mut Vec<u8>, entry: &Entry) {
    let (tag, id) = match entry {
        Entry::Set(id, _, node) => (if begins_as_marker(node) { 5 } else { 1 }, id),
        Entry::Remove(id, _) => (2, id),
        Entry::Unstage(id) => (3, id),
    };
    payload.push(tag);
    push_varint(payload, id.len() as u64);
    payload.extend_from_slice(id);
    if let Entry::Set(_, base, _) | Entry::Remove(_, base) = entry {
        payload.push(base.is_some().into());
        payload.extend(base.iter().flatten());
    }
    if let Entry::Set(_, _, node) = entry {
        push_string(payload, node);
    }
}
