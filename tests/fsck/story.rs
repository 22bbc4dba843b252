//! The store that is damaged: a line of commits, a branch that is merged, a removal, a tag, two sessions, something staged.

use crate::raw::{COMMIT, OBJECT, Place, Raw};
use mnemosyne::object::{Root, node_object_id};
use mnemosyne::store::{CommitRecord, Number};

/// Makes it.
pub fn story() -> Place {
    let place = Place::new();
    for (id, text) in [("a", "1"), ("b", "2"), ("c", "3"), ("d", "4"), ("e", "5")] {
        place.run(&["put", id, text]);
    }
    place.run(&["commit", "-m", "five"]);
    place.run(&["put", "a", "one", "-m", "one"]);
    place.run(&["switch", "-qc", "side"]);
    place.run(&["put", "b", "two", "-m", "two"]);
    place.run(&["rm", "c", "-m", "no c"]);
    place.run(&["switch", "-q", "main"]);
    place.run(&["put", "d", "four", "-m", "four"]);
    place.run(&["merge", "-q", "side"]);
    place.run(&["rm", "e", "-m", "no e"]);
    place.run(&["tag", "v1"]);
    place.run(&["--session", "other", "switch", "-q", "--detach", "HEAD~1"]);
    place.run(&["put", "a", "staged"]);
    place
}

/// The numbers of its commits, the oldest first.
pub fn commits(raw: &Raw) -> Vec<Number> {
    raw.keys(COMMIT).iter().map(|key| Number::from_le_bytes(key[..].try_into().expect("eight bytes"))).collect()
}

/// The record of a commit.
pub fn commit(raw: &Raw, number: Number) -> CommitRecord {
    CommitRecord::decode(&raw.get(COMMIT, number), number).expect("a commit")
}

/// The number of the node of an id that says this.
pub fn node(raw: &Raw, id: &str, text: &str) -> Number {
    let bytes = node_bytes(id, text);
    let wanted = [&[1], &bytes[..]].concat();
    let numbers = raw.keys(OBJECT);
    let mut numbers = numbers.iter().map(|key| Number::from_le_bytes(key[..].try_into().expect("eight bytes")));
    numbers.find(|&number| raw.get(OBJECT, number) == wanted).expect("it is there")
}

/// The canonical bytes of a node.
pub fn node_bytes(id: &str, text: &str) -> Vec<u8> {
    format!(r#"{{"id":"{id}","content":"{text}","content_kind":"note","provenance":{{}}}}"#).into_bytes()
}

/// The inner nodes among the records that a commit added.
pub fn inners(raw: &Raw, commit: Number) -> Vec<Number> {
    let before = commits(raw).into_iter().rev().find(|&number| number < commit).unwrap_or(0);
    (before + 1..commit).filter(|&number| raw.get(OBJECT, number)[0] == 2).collect()
}

/// A root of one node.
pub fn root_of(number: Number, bytes: &[u8]) -> Root {
    Root::Node { number, object: node_object_id(bytes) }
}
