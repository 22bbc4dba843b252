//! The ids of objects, computed anew from the written format.

use super::support::json;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

pub type Id = [u8; 32];

fn sha256(parts: &[&[u8]]) -> Id {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part);
    }
    hash.finalize().into()
}

fn hex(id: Id) -> String {
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A node: its JSON texts as they are spelled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    pub id: String,
    pub content: String,
    /// What is set of provenance, in the order of the format.
    pub provenance: Vec<(&'static str, String)>,
    pub event_time: Option<String>,
}

impl Node {
    pub fn new(id: &str, content: &str) -> Self {
        Self { id: id.to_owned(), content: content.to_owned(), provenance: Vec::new(), event_time: None }
    }

    pub fn digest(&self) -> Id {
        let provenance: Vec<_> =
            self.provenance.iter().map(|(key, text)| format!("\"{key}\":{}", json(text))).collect();
        let time = self.event_time.as_ref().map_or(String::new(), |time| format!(",\"event_time\":{}", json(time)));
        let bytes = format!(
            "{{\"id\":{},\"content\":{},\"content_kind\":\"note\",\"provenance\":{{{}}}{time}}}",
            json(&self.id),
            self.content,
            provenance.join(",")
        );
        sha256(&[b"node 1\0", bytes.as_bytes()])
    }

    pub fn hash(&self) -> String {
        hex(self.digest())
    }

    /// The row of `get --json`.
    pub fn row(&self) -> String {
        let field = |key| {
            let text = self.provenance.iter().find(|(set, _)| *set == key);
            format!("\"{key}\":{}", text.map_or("null".to_owned(), |(_, text)| json(text)))
        };
        let fields = ["agent_step", "observation", "tool_call", "source", "note"].map(field);
        format!(
            "{{\"v\":1,\"type\":\"node\",\"id\":{},\"hash\":\"{}\",\"content\":{},\"content_kind\":\"note\",\
             \"provenance\":{{{}}},\"event_time\":{}}}\n",
            json(&self.id),
            self.hash(),
            minified(&self.content),
            fields.join(","),
            self.event_time.as_ref().map_or("null".to_owned(), |time| json(time)),
        )
    }
}

/// JSON without white space outside strings.
pub fn minified(json: &str) -> String {
    let (mut in_string, mut escaped) = (false, false);
    let keep = |c: &char| {
        let kept = in_string || !matches!(c, ' ' | '\t' | '\r' | '\n');
        if *c == '"' && !escaped {
            in_string = !in_string;
        }
        escaped = *c == '\\' && !escaped;
        kept
    };
    json.chars().filter(keep).collect()
}

/// The state that these nodes make.
pub fn state<'a>(nodes: impl IntoIterator<Item = &'a Node>) -> String {
    state_of(nodes.into_iter().map(|node| (node.id.as_str(), node.digest())))
}

/// The state that nodes with these ids and digests make.
pub fn state_of<'a>(nodes: impl IntoIterator<Item = (&'a str, Id)>) -> String {
    let entries: BTreeMap<Id, Id> = nodes.into_iter().map(|(id, digest)| (sha256(&[id.as_bytes()]), digest)).collect();
    let count = (entries.len() as u64).to_le_bytes();
    let entries: Vec<_> = entries.into_iter().collect();
    let (kind, root) = subtree(&entries, 0).unwrap_or((0, [0; 32]));
    hex(sha256(&[b"state 1\0", &count, &[kind], &root]))
}

/// Kind (1 a node, 2 an inner node) and id of what stands for these entries, which are sorted.
fn subtree(entries: &[(Id, Id)], level: usize) -> Option<(u8, Id)> {
    let slot = |key: &Id| (key[level / 4] >> (6 - 2 * (level % 4))) & 3;
    match entries {
        [] => None,
        [(_, node)] => Some((1, *node)),
        _ => {
            let (mut mask, mut children) = (0_u8, Vec::new());
            for (at, group) in entries.chunk_by(|a, b| slot(&a.0) == slot(&b.0)).map(|group| (slot(&group[0].0), group))
            {
                let (kind, id) = subtree(group, level + 1)?;
                mask |= 1 << at | u8::from(kind == 2) << (at + 4);
                children.extend(id);
            }
            Some((2, sha256(&[b"inner 1\0", &[mask], &children])))
        }
    }
}

/// The commit with these fields.
pub fn commit(parents: &[&str], state: &str, author: &str, time: &str, message: &str) -> String {
    let parents: Vec<_> = parents.iter().map(|id| json(id)).collect();
    let bytes = format!(
        "{{\"parents\":[{}],\"state\":\"{state}\",\"author\":{},\"time\":\"{time}\",\"message\":{}}}",
        parents.join(","),
        json(author),
        json(message)
    );
    hex(sha256(&[b"commit 1\0", bytes.as_bytes()]))
}

/// The ids of the format's own example: they may never change.
#[test]
fn the_ids_of_the_written_format_stand() {
    let diet = Node::new("user/diet", "\"vegan\"");
    let state = state([&diet, &Node::new("n", "1.10")]);
    assert_eq!(diet.hash(), "3ebf98af27a40a7ce556431ff69260ba0cfaefc2f93bfe8e74eb386115328e40");
    assert_eq!(state, "1941af83e114c220d894f25f194e08df0fed64c6c813f47461b96f2a6949d80f");
    assert_eq!(
        commit(&[], &state, "Ada", "2025-12-01T08:00:00.000+00:00", "first"),
        "bd2bda912aca9a5247cd4c8274e944e134964a0ffd586adacb2dafff8d3b4fb8"
    );
}
