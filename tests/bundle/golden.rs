//! Bundles that were written once are read by every later version, and written in the same way.

use crate::place::{Place, session};
use crate::redacted;
use mnemosyne::object::CommitId;
use mnemosyne::ops;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const FIRST: &str = "d2dffe3fad47a8a7c3f11a1405dec1a392451112100113414eb118fe6fada320";
const SIDE: &str = "66710773a6703ace4b1681c803a106e3f4c5df7e5266b369a102c7f7a814f3a0";
const MERGE: &str = "5d74a2ddf11a82979f7a588affc38a31d3f8989bae67085123731c81905c4fe1";

fn stored(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/bundle-v1").join(name);
    fs::read(path).expect("a bundle")
}

fn named(refs: &[(&str, &str)]) -> BTreeMap<String, CommitId> {
    refs.iter().map(|(name, id)| ((*name).to_owned(), CommitId::parse(id).expect("an id"))).collect()
}

#[test]
fn a_whole_history_and_what_came_later_are_read_and_written_as_they_were() {
    let place = Place::new();
    let whole = stored("whole");
    assert_eq!(place.import(&whole, None).expect("a bundle").new, 2);
    let mut refs = vec![("refs/heads/main", FIRST), ("refs/tags/plain", FIRST), ("refs/tags/v1", FIRST)];
    assert_eq!(place.refs(), named(&refs));
    let tags = ops::tags(&place.store, &session(), &[]).expect("tags");
    assert_eq!(tags[1].message.as_deref(), Some("before the guests\n\ncame"));
    assert_eq!(tags[1].time.to_string(), "2025-12-01T08:00:00.000+00:00");
    assert_eq!(place.bundle(&[]), whole);

    let more = stored("more");
    assert!(place.verify(&more).is_ok());
    assert_eq!(place.import(&more, None).expect("a bundle").new, 4);
    refs[0].1 = MERGE;
    refs.extend([("refs/heads/side", SIDE), ("refs/tags/v2", MERGE)]);
    assert_eq!(place.refs(), named(&refs));
    assert_eq!(place.told().commits.len(), 6);
    assert_eq!(place.bundle(&["^v1"]), more);
}

#[test]
fn a_marker_is_read_and_written_as_it_was() {
    let bytes = stored("redacted");
    let (place, _) = redacted::place(Some(&redacted::redaction("a", "secret")));
    assert_eq!(place.bundle(&[]), bytes);
    let copy = Place::new();
    copy.import(&bytes, None).expect("a bundle");
    assert_eq!(copy.told(), place.told());
}
