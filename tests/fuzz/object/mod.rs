//! Bytes of everything that is stored: what decodes is what the page of the format describes, and nothing else; and it
//! encodes to the same bytes again.
//!
//! The first byte says what it is, see [`KINDS`]. Before a record whose distances count back from its own number stands
//! that number, in eight bytes.

mod naive;

use crate::commit;
use crate::node::{self, is_id};
use mnemosyne::object::{
    Commit, DecodeError, Inner, ObjectId, decode_node, decode_redaction, encode_node, encode_redaction, kept_id_in,
    kept_object_id,
};
use mnemosyne::store::{CommitRecord, Head, Number, ObjectRecord, RefUpdate, Session, decode_places, encode_places};

/// How each kind is checked; each tells whether it was taken.
const KINDS: [fn(&[u8]) -> bool; 9] =
    [node, canonical_commit, inner, commit_record, object_record, session, head, ref_update, places];

/// Checks one input.
pub fn check(data: &[u8]) {
    if let Some((kind, bytes)) = data.split_first() {
        KINDS[index(*kind)](bytes);
    }
}

fn index(kind: u8) -> usize {
    usize::from(kind.wrapping_sub(b'0')) % KINDS.len()
}

fn numbered(bytes: &[u8]) -> Option<(Number, &[u8])> {
    let (number, rest) = bytes.split_first_chunk()?;
    Some((Number::from_le_bytes(*number), rest))
}

/// What decodes is `right` by the naive reading, and encodes to what it was; it holds no more than that.
fn agrees<T>(
    bytes: &[u8],
    decoded: Result<T, DecodeError>,
    right: bool,
    encode: impl FnOnce(&T) -> Vec<u8>,
) -> Option<T> {
    let value = match decoded {
        Ok(value) => value,
        Err(error) => {
            assert!(!right, "refused: {error:?}");
            return None;
        }
    };
    assert_eq!(encode(&value), bytes);
    assert!(right, "taken");
    Some(value)
}

/// A list that was read does not take more room than the bytes that it was read from might fill.
fn is_bounded<T>(list: &Vec<T>, bytes: &[u8]) -> bool {
    assert!(list.capacity() <= 2 * bytes.len().max(4));
    true
}

fn node(bytes: &[u8]) -> bool {
    let decoded = decode_node(bytes);
    let naive = node::Node::read(bytes);
    if let (Some(naive), Err(error)) = (&naive, &decoded) {
        assert_eq!(naive.content_kind != "note", matches!(error, DecodeError::Kind(_)), "{error:?}");
    }
    let naive = naive.filter(|naive| naive.content_kind == "note");
    let node = agrees(bytes, decoded, naive.is_some(), encode_node);
    let is_taken = node.is_some();
    let id = kept_id_in(bytes);
    if let (Some(node), Some(naive)) = (node, naive) {
        let provenance = node.provenance.fields().map(|(_, value)| value.map(str::to_owned));
        let event_time = node.event_time.map(|time| time.as_str().to_owned());
        let content_kind = node.content_kind.name().to_owned();
        let content = node.content.json().to_owned();
        assert_eq!(id.as_ref(), Ok(&node.id));
        let id = node.id.as_str().to_owned();
        assert_eq!(node::Node { id, content, content_kind, provenance, event_time }, naive);
    }
    if let Ok(id) = id {
        assert!(is_id(id.as_str()));
    }
    is_taken
}

fn canonical_commit(bytes: &[u8]) -> bool {
    let commit = agrees(bytes, Commit::decode(bytes), commit::Commit::read(bytes).is_some(), Commit::encode);
    commit.is_some_and(|commit| is_bounded(&commit.parents, bytes))
}

fn inner(bytes: &[u8]) -> bool {
    let Some((number, bytes)) = numbered(bytes) else { return false };
    inner_of(bytes, number)
}

fn inner_of(bytes: &[u8], number: Number) -> bool {
    let decoded = Inner::decode(bytes, number);
    agrees(bytes, decoded, naive::is_inner(bytes, number), |inner| inner.encode(number)).is_some()
}

fn commit_record(bytes: &[u8]) -> bool {
    let Some((number, bytes)) = numbered(bytes) else { return false };
    let decoded = CommitRecord::decode(bytes, number);
    if bytes.first().is_some_and(|kind| *kind != 1) {
        assert_eq!(decoded, Err(DecodeError::UnknownRecord(bytes[0])));
    }
    let right = naive::is_commit_record(bytes, number);
    let record = agrees(bytes, decoded, right, |record| record.encode(number));
    record.is_some_and(|record| is_bounded(&record.parents, bytes))
}

/// A record, and what is in it.
fn object_record(bytes: &[u8]) -> bool {
    let Some((number, bytes)) = numbered(bytes) else { return false };
    let decoded = ObjectRecord::decode(bytes);
    if let Some(kind) = bytes.first().filter(|kind| !matches!(kind, 1..=3)) {
        assert_eq!(decoded, Err(DecodeError::UnknownRecord(*kind)));
    }
    let is_marked = bytes.get(1..).is_some_and(node::begins_as_marker);
    let right = matches!((bytes.first(), is_marked), (Some(1), false) | (Some(2), _) | (Some(3), true));
    match agrees(bytes, decoded, right, |record| record.encode()) {
        Some(ObjectRecord::Node(bytes)) => node(bytes),
        Some(ObjectRecord::Redacted(bytes)) => marker(bytes),
        Some(ObjectRecord::Inner(bytes)) => inner_of(bytes, number),
        None => false,
    }
}

/// What is left of a node: it stands for the object that it names, and for no node that could be read.
fn marker(bytes: &[u8]) -> bool {
    let naive = node::Marker::read(bytes);
    let Some(marker) = agrees(bytes, decode_redaction(bytes), naive.is_some(), encode_redaction) else { return false };
    let object = ObjectId::from_bytes(node::object_of(bytes));
    assert_eq!((kept_object_id(bytes), marker.object), (object, object));
    assert_eq!(kept_id_in(bytes).as_ref(), Ok(&marker.id));
    assert!(node::Node::read(bytes).is_none(), "no node is a marker");
    let (object, id) = (object.to_string(), marker.id.as_str().to_owned());
    let (time, by) = (marker.time.to_string(), marker.by.as_str().to_owned());
    assert_eq!(naive, Some(node::Marker { object, id, time, by, reason: marker.reason }));
    true
}

fn session(bytes: &[u8]) -> bool {
    agrees(bytes, Session::decode(bytes), naive::is_session(bytes), Session::encode).is_some()
}

fn head(bytes: &[u8]) -> bool {
    agrees(bytes, Head::decode(bytes), naive::is_head(bytes), Head::encode).is_some()
}

fn ref_update(bytes: &[u8]) -> bool {
    agrees(bytes, RefUpdate::decode(bytes), naive::is_ref_update(bytes), RefUpdate::encode).is_some()
}

fn places(bytes: &[u8]) -> bool {
    let Some((chain, bytes)) = numbered(bytes) else { return false };
    let decoded = decode_places(bytes, chain);
    let places = agrees(bytes, decoded, naive::are_places(bytes), |places| encode_places(places, chain));
    places.is_some_and(|places| is_bounded(&places, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus;
    use std::collections::BTreeSet;

    #[test]
    fn of_each_kind_the_corpus_has_what_is_taken_and_what_is_refused() {
        let outcomes: BTreeSet<_> = corpus("object")
            .into_iter()
            .filter_map(|(_, input)| {
                input.split_first().map(|(kind, bytes)| (index(*kind), KINDS[index(*kind)](bytes)))
            })
            .collect();
        let expected = (0..KINDS.len()).flat_map(|kind| [(kind, false), (kind, true)]);
        assert_eq!(outcomes, expected.collect());
    }
}
