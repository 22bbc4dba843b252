//! The ids of states and commits, made from the description of the format alone.

use crate::naive::State;
use crate::rows::text;
use sha2::{Digest, Sha256};

type Id = [u8; 32];

fn hash(parts: &[&[u8]]) -> Id {
    let mut hasher = Sha256::new();
    parts.iter().for_each(|part| hasher.update(part));
    hasher.finalize().into()
}

fn hex(id: Id) -> String {
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The id of a memory.
pub fn state(state: &State) -> String {
    let entries: Vec<_> =
        state.iter().map(|(id, known)| (hash(&[id.as_str().as_bytes()]), *known.object.as_bytes())).collect();
    let (kind, root) = tree(&entries, 0).unwrap_or((0, [0; 32]));
    let count = (entries.len() as u64).to_le_bytes();
    hex(hash(&[b"state 1\0", &count, &[kind], &root]))
}

/// What stands for these entries, `depth` times two bits of whose keys are the same: 1 and the one node, or 2 and the inner
/// node.
fn tree(entries: &[(Id, Id)], depth: usize) -> Option<(u8, Id)> {
    if let [] | [_] = entries {
        return entries.first().map(|(_, node)| (1, *node));
    }
    let (mut mask, mut children) = (0, Vec::new());
    for slot in 0..4_u8 {
        let of_slot = |(key, _): &&(Id, Id)| key[depth / 4] >> (6 - 2 * (depth % 4)) & 3 == slot;
        let below: Vec<_> = entries.iter().filter(of_slot).copied().collect();
        if let Some((kind, child)) = tree(&below, depth + 1) {
            mask |= 1 << slot;
            mask |= if kind == 2 { 1 << (slot + 4) } else { 0 };
            children.extend(child);
        }
    }
    Some((2, hash(&[b"inner 1\0", &[mask], &children])))
}

/// The id of a commit.
pub fn commit(parents: &[String], state: &str, author: &str, time: &str, message: &str) -> String {
    let parents: Vec<_> = parents.iter().map(|parent| text(parent)).collect();
    let canonical = format!(
        "{{\"parents\":[{}],\"state\":{},\"author\":{},\"time\":{},\"message\":{}}}",
        parents.join(","),
        text(state),
        text(author),
        text(time),
        text(message)
    );
    hex(hash(&[b"commit 1\0", canonical.as_bytes()]))
}
