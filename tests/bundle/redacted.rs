//! Nodes that were redacted: a bundle has what the store has, and ids stay.

use crate::place::{Place, id, node, opened, session, time, words};
use mnemosyne::model::Author;
use mnemosyne::object::{
    CommitId, Kept, Redaction, encode_kept, encode_node, encode_redaction, node_object_id, sha256,
};
use mnemosyne::ops::{self, LsRequest, OpError};
use mnemosyne::store::BundleFault;
use std::collections::BTreeMap;

const MAIN: &str = "refs/heads/main";

pub fn redaction(name: &str, text: &str) -> Redaction {
    Redaction {
        object: node_object_id(&encode_node(&node(&id(name), text))),
        id: id(name),
        time: time(5),
        by: Author::new("Ada").expect("an author"),
        reason: Some("a key was in it".to_owned()),
    }
}

/// Two commits, of which the first sets a node that can or can't be read.
pub fn place(marker: Option<&Redaction>) -> (Place, CommitId) {
    let place = Place::new();
    let secret = marker.map_or_else(|| encode_node(&node(&id("a"), "secret")), encode_redaction);
    let b = encode_node(&node(&id("b"), "1"));
    let changes = BTreeMap::from([(id("a"), Some(secret)), (id("b"), Some(b))]);
    let first = place.commit_bytes(&[], changes, words("first", 1), &[]);
    let second = place.commit(&[first], &[("b", Some("2"))], words("second", 2), &[MAIN]);
    (place, second)
}

fn versions(place: &Place) -> Vec<Kept> {
    let request = LsRequest { nodes: true, ..LsRequest::default() };
    let listed = ops::ls(&place.store, &session(), &request).expect("nodes").nodes;
    listed.into_iter().map(|row| row.node.expect("it was asked for")).collect()
}

#[test]
fn a_marker_goes_where_the_node_would_and_every_id_stays() {
    let redaction = redaction("a", "secret");
    let ((plain, id), (redacted, same)) = (place(None), place(Some(&redaction)));
    assert_eq!(id, same);
    let bytes = redacted.bundle(&[]);
    assert!(bytes.windows(10).all(|part| !part.starts_with(b"secret")), "nothing of it is in the bundle");
    let copy = Place::new();
    assert!(copy.verify(&bytes).is_ok());
    copy.import(&bytes, None).expect("a bundle");
    assert_eq!(copy.told(), redacted.told());
    assert_eq!(versions(&copy)[0], Kept::Redacted(redaction.clone()));
    assert_eq!(copy.refs(), plain.refs());
    // What is here stays as it is, on either side.
    for (here, comes, first) in [(&redacted, &plain, true), (&plain, &redacted, false)] {
        let before = here.dump();
        here.import(&comes.bundle(&[]), None).expect("a bundle");
        assert_eq!(here.dump(), before);
        assert_eq!(versions(here)[0].redaction().is_some(), first);
    }
    // A version that is new here comes as the bundle has it, whatever was redacted before.
    let more = plain.commit(&[id], &[("a", None)], words("third", 3), &[]);
    let more = plain.commit(&[more], &[("a", Some("secret"))], words("fourth", 4), &[MAIN]);
    redacted.import(&plain.bundle(&["main"]), None).expect("a bundle");
    assert_eq!(redacted.refs()[MAIN], more);
    assert!(versions(&redacted)[0].redaction().is_none());
}

#[test]
fn a_marker_that_stands_for_something_else_makes_another_memory() {
    let good = redaction("a", "secret");
    let (redacted, _) = place(Some(&good));
    let bytes = redacted.bundle(&[]);
    let marker = encode_redaction(&good);
    let swapped = |other: &[u8]| {
        let at = bytes.windows(marker.len()).position(|part| part == marker).expect("the marker");
        assert_eq!(other.len(), marker.len());
        let mut bytes = bytes.clone();
        bytes[at..at + marker.len()].copy_from_slice(other);
        crate::tampered::summed(&bytes)
    };
    let spelled =
        |from: &str, to: &str| String::from_utf8(marker.clone()).expect("UTF-8").replace(from, to).into_bytes();
    // An id of the same length whose key stands behind that of `b` too.
    let key = |name: &str| sha256(&[name.as_bytes()]);
    let other = ["c", "d", "e", "f", "g", "h"].into_iter().find(|name| key(name) > key("b")).expect("an id");
    for (other, said) in [
        (encode_kept(&Kept::Redacted(redaction("a", "Secret"))), "names another memory"),
        (encode_redaction(&Redaction { id: id(other), ..good.clone() }), "names another memory"),
        (spelled("redacted\":\"", "redacted\":\"é").into_iter().take(marker.len()).collect(), "not in canonical form"),
        (spelled("\"by\"", "\"By\""), "not in canonical form"),
    ] {
        let bytes = swapped(&other);
        for copy in [Place::new(), place(None).0] {
            let before = copy.dump();
            let refused = match copy.verify(&bytes).expect_err(said) {
                OpError::Bundle { fault: BundleFault::Damaged(what), .. } => what,
                refused => panic!("{refused:?}"),
            };
            assert!(refused.contains(said), "{refused}");
            // Where the commits are here, only what can't be read is looked at.
            let known = opened(&bytes).is_ok() && !copy.refs().is_empty();
            assert_eq!(copy.import(&bytes, None).is_ok(), known);
            assert_eq!(copy.dump(), before);
        }
    }
}
