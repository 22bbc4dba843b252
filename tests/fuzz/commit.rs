//! Canonical bytes of commits by the page of the format, and ids of states, read and computed the slow way.

use crate::json::{self, Spelled, Value};
use crate::node::{is_author, is_hash};
use crate::time::is_commit_time;
use mnemosyne::object::{ObjectId, sha256};
use std::collections::BTreeMap;

/// A commit in the texts that canonical bytes have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Commit {
    pub parents: Vec<String>,
    pub state: String,
    pub author: String,
    pub time: String,
    pub message: String,
}

impl Commit {
    pub fn bytes(&self) -> Vec<u8> {
        let parents: Vec<_> = self.parents.iter().map(|id| json::canonical(id)).collect();
        let bytes = format!(
            "{{\"parents\":[{}],\"state\":{},\"author\":{},\"time\":{},\"message\":{}}}",
            parents.join(","),
            json::canonical(&self.state),
            json::canonical(&self.author),
            json::canonical(&self.time),
            json::canonical(&self.message)
        );
        bytes.into_bytes()
    }

    pub fn read(bytes: &[u8]) -> Option<Self> {
        let text = str::from_utf8(bytes).ok()?;
        let mut commit = Self::default();
        for (key, value) in json::read(text)?.members()? {
            match key.as_str() {
                "parents" => {
                    let Value::Array(parents) = &value.value else { return None };
                    commit.parents = parents.iter().map(Spelled::string).collect::<Option<_>>()?;
                }
                "state" => commit.state = value.string()?,
                "author" => commit.author = value.string()?,
                "time" => commit.time = value.string()?,
                "message" => commit.message = value.string()?,
                _ => return None,
            }
        }
        let sound = commit.parents.iter().chain([&commit.state]).all(|id| is_hash(id))
            && is_author(&commit.author)
            && is_commit_time(&commit.time)
            && is_message(&commit.message);
        (sound && commit.bytes() == bytes).then_some(commit)
    }
}

/// Whether a text can be a message as canonical bytes have it.
pub fn is_message(text: &str) -> bool {
    !text.trim().is_empty() && !text.ends_with(['\n', '\r'])
}

/// The id of the state in which each id has this object.
pub fn state(objects: &BTreeMap<String, [u8; 32]>) -> String {
    let mut entries: Vec<_> = objects.iter().map(|(id, object)| (sha256(&[id.as_bytes()]), *object)).collect();
    entries.sort_unstable();
    let (kind, root) = match part(&entries, 0) {
        None => (0, [0; 32]),
        Some((is_inner, id)) => (if is_inner { 2 } else { 1 }, id),
    };
    let count = entries.len() as u64;
    ObjectId::from_bytes(sha256(&[b"state 1\0", &count.to_le_bytes(), &[kind], &root])).to_string()
}

/// The id of a part of a state, and whether it is an inner node.
fn part(entries: &[([u8; 32], [u8; 32])], level: usize) -> Option<(bool, [u8; 32])> {
    match entries {
        [] => None,
        [(_, object)] => Some((false, *object)),
        _ => {
            let slot = |key: &[u8; 32]| key[level / 4] >> (6 - level % 4 * 2) & 3;
            let (mut mask, mut ids) = (0u8, Vec::new());
            for at in 0..4 {
                let there: Vec<_> = entries.iter().filter(|(key, _)| slot(key) == at).copied().collect();
                if let Some((is_inner, id)) = part(&there, level + 1) {
                    mask |= if is_inner { 0x11 } else { 1 } << at;
                    ids.extend_from_slice(&id);
                }
            }
            Some((true, sha256(&[b"inner 1\0", &[mask], &ids])))
        }
    }
}
