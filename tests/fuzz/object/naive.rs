//! What the page of the format says of each kind of bytes, and nothing of how the program reads them.

use crate::bytes::Bytes;
use crate::commit::is_message;
use crate::node::{is_author, is_id};

/// What the record of an inner node holds behind its kind.
pub fn is_inner(bytes: &[u8], own: u64) -> bool {
    let mut bytes = Bytes(bytes);
    let mut read = || {
        let mask = bytes.byte()?;
        let slots: Vec<_> = (0..4).filter(|slot| mask >> slot & 1 == 1).collect();
        let is_inner = |slot: &i32| mask >> (4 + slot) & 1 == 1;
        let inner: Vec<_> = (0..4).filter(is_inner).collect();
        let is_state = inner.iter().all(|slot| slots.contains(slot)) && (!inner.is_empty() || slots.len() > 1);
        for slot in &slots {
            let distance = bytes.distance(own, 1)?;
            if !(is_inner(slot) && distance == 1) {
                bytes.take(32)?;
            }
        }
        bytes.end().filter(|()| is_state)
    };
    read().is_some()
}

/// The record of a commit.
pub fn is_commit_record(bytes: &[u8], own: u64) -> bool {
    let mut bytes = Bytes(bytes);
    let mut read = || {
        bytes.byte().filter(|kind| *kind == 1)?;
        bytes.take(32)?;
        for _ in 0..bytes.varint()? {
            bytes.distance(own, 1)?;
        }
        match bytes.byte()? {
            0 => {}
            1 | 2 => {
                bytes.distance(own, 1)?;
                bytes.take(32)?;
            }
            _ => return None,
        }
        for _ in ["count", "added", "modified", "removed"] {
            bytes.varint()?;
        }
        bytes.distance(own, 0)?;
        bytes.varint()?;
        bytes.time()?;
        let author = bytes.text()?;
        let message = str::from_utf8(bytes.0).ok()?;
        (is_author(author) && is_message(message)).then_some(())
    };
    read().is_some()
}

/// A row of `session`.
pub fn is_session(bytes: &[u8]) -> bool {
    let mut bytes = Bytes(bytes);
    let mut read = || {
        let mut tags = Vec::new();
        while !bytes.0.is_empty() {
            let tag = bytes.byte()?;
            let mut field = Bytes(bytes.string()?);
            match tag {
                1 => drop(str::from_utf8(field.take(field.0.len())?).ok()?),
                3 => drop(field.varint().filter(|number| *number != 0)?),
                2 | 4 => drop(field.varint()?),
                5 => is_head(field.take(field.0.len())?).then_some(())?,
                6 => begun(&mut field)?,
                7 => told(&mut field)?,
                _ => return None,
            }
            field.end()?;
            tags.push(tag);
        }
        let heads = tags.iter().filter(|tag| matches!(tag, 1 | 2)).count();
        (tags.is_sorted_by(|a, b| a < b) && heads == 1).then_some(())
    };
    read().is_some()
}

/// A record of a session with one field, which says where it stands.
pub fn is_head(bytes: &[u8]) -> bool {
    let mut read = Bytes(bytes);
    let is_one = matches!(bytes.first(), Some(1 | 2)) && read.byte().and_then(|_| read.string()).is_some();
    is_one && read.0.is_empty() && is_session(bytes)
}

/// What a session has begun and not finished.
fn begun(field: &mut Bytes<'_>) -> Option<()> {
    match field.byte()? {
        1 => {
            field.varint()?;
            field.text()?;
            field.text()?;
        }
        2 => {
            field.varint()?;
            field.varint()?;
            field.numbers()?;
            field.varint()?;
            field.text()?;
        }
        3 => {
            for _ in crate::node::PROVENANCE {
                let counts = field.flag()?;
                let value = field.text()?;
                (counts || value.is_empty()).then_some(())?;
            }
            for _ in 0..field.varint()? {
                field.text().filter(|text| is_id(text))?;
            }
            field.numbers()?;
            field.text()?;
        }
        _ => return None,
    }
    Some(())
}

/// What a search by hand was told.
fn told(field: &mut Bytes<'_>) -> Option<()> {
    let (_, _, has_words) = (field.flag()?, field.flag()?, field.flag()?);
    if has_words {
        field.text()?;
        field.text()?;
    }
    for _ in 0..field.varint()? {
        field.text()?;
    }
    while !field.0.is_empty() {
        field.byte().filter(|kind| matches!(kind, 1..=3))?;
        field.numbers()?;
    }
    Some(())
}

/// A row of `reflog`.
pub fn is_ref_update(bytes: &[u8]) -> bool {
    let mut bytes = Bytes(bytes);
    let mut read = || {
        bytes.varint()?;
        bytes.varint()?;
        bytes.time()?;
        str::from_utf8(bytes.0).ok()
    };
    read().is_some()
}

/// A row of `chain` but for that of the tip.
pub fn are_places(bytes: &[u8]) -> bool {
    let mut bytes = Bytes(bytes);
    let mut read = || {
        while !bytes.0.is_empty() {
            bytes.zigzag()?;
            bytes.varint()?;
        }
        Some(())
    };
    read().is_some()
}
