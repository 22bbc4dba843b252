//! Who wrote a version of a node, as a person reads it.

use super::commit_text::SHORT;
use super::paint::Paint;
use super::text::escape_line;
use crate::graph::Writer;
use crate::model::{Node, Timestamp};
use crate::store::CommitRecord;

/// Such as `3f9c2a81b0 ~2025-12-01T08:00:00.000+00:00 Ada <ada@example.org>`: the commit, the event time or else the
/// commit's time marked `~`, and the author.
pub fn writer(writer: &Writer, paint: Paint) -> String {
    place(writer.commit.as_ref(), writer.node.event_time.as_ref(), paint)
}

/// The same of a commit that wrote no node; `None` for what is staged.
pub fn place(commit: Option<&CommitRecord>, event_time: Option<&Timestamp>, paint: Paint) -> String {
    let time = match (event_time, commit) {
        (Some(time), _) => escape_line(time.as_str()).into_owned(),
        (None, Some(commit)) => paint.dim(&format!("~{}", commit.time)),
        (None, None) => paint.dim("-"),
    };
    match commit {
        Some(commit) => {
            let id = paint.commit(&commit.id.to_string()[..SHORT]);
            format!("{id} {time} {}", escape_line(commit.author.as_str()))
        }
        None => format!("{} {time}", paint.commit("staged")),
    }
}

/// Such as `(source: https://forum.example/t/88, agent_step: 4)`; empty where nothing is set.
pub fn provenance(node: &Node, paint: Paint) -> String {
    let set = node.provenance.fields().into_iter().filter_map(|(name, value)| Some((name, value?)));
    let set: Vec<_> = set.map(|(name, value)| format!("{name}: {}", escape_line(value))).collect();
    if set.is_empty() { String::new() } else { paint.dim(&format!("({})", set.join(", "))) }
}
