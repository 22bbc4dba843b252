//! Who wrote a version of a node, as a person reads it.

use super::commit_text::SHORT;
use super::paint::Paint;
use super::text::escape_line;
use crate::graph::{Removal, Writer};
use crate::model::{NodeId, Provenance, Timestamp};
use crate::object::{Kept, Redaction};
use crate::ops::Row;
use crate::store::CommitRecord;

/// Such as `3f9c2a81b0 ~2025-12-01T08:00:00.000+00:00 Ada <ada@example.org>`: the commit, the event time or else the
/// commit's time marked `~`, and the author.
pub fn writer(writer: &Writer, paint: Paint) -> String {
    place(writer.commit.as_ref(), writer.node.event_time(), paint)
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

/// Such as `(source: https://forum.example/t/88, agent_step: 4)`; empty where nothing is set or known.
pub fn provenance(kept: &Kept, paint: Paint) -> String {
    kept.provenance().map_or(String::new(), |provenance| set(provenance, paint))
}

/// The same of a provenance.
pub fn set(provenance: &Provenance, paint: Paint) -> String {
    let set = provenance.fields().into_iter().filter_map(|(name, value)| Some((name, value?)));
    let set: Vec<_> = set.map(|(name, value)| format!("{name}: {}", escape_line(value))).collect();
    if set.is_empty() { String::new() } else { paint.dim(&format!("({})", set.join(", "))) }
}

/// Such as `redacted 2026-05-06T07:08:09.010+00:00 by Ada: holds a phone number`.
pub fn redaction(redaction: &Redaction) -> String {
    let Redaction { object: _, id: _, time, by, reason } = redaction;
    let reason = reason.as_ref().map_or(String::new(), |reason| format!(": {}", escape_line(reason)));
    format!("redacted {time} by {}{reason}", escape_line(by.as_str()))
}

/// Who wrote the content, the id, the provenance, how the text begins, and who wrote the provenance anew since.
pub fn row(row: &Row, paint: Paint) -> String {
    let id = paint.id(&escape_line(row.node.id().as_str()));
    let (by, from) = (writer(&row.writer, paint), provenance(&row.writer.node, paint));
    let mut parts = vec![by, id, from, begin(&row.node, paint)];
    if let Some(rewritten) = &row.rewritten {
        parts.push(format!("[anew: {}", writer(rewritten, paint)));
        parts.push(provenance(&rewritten.node, paint));
        let last = parts.iter_mut().rev().find(|part| !part.is_empty());
        last.expect("one was pushed").push(']');
    }
    parts.retain(|part| !part.is_empty());
    parts.join(" ")
}

/// Who took a node away, its id, how what it said last begins, and who wrote that.
pub fn removed(id: &NodeId, removal: &Removal, paint: Paint) -> String {
    let by = place(removal.commit.as_ref(), None, paint);
    let (id, said) = (paint.id(&escape_line(id.as_str())), begin(&removal.last.node, paint));
    let last = format!("{} {}", writer(&removal.last, paint), provenance(&removal.last.node, paint));
    format!("{by} {id} {} {said} [last: {}]", paint.removed("removed"), last.trim_end())
}

/// How a content begins, on one line; of one that is redacted, who did that.
fn begin(kept: &Kept, paint: Paint) -> String {
    const SHOWN: usize = 60;
    let content = match kept {
        Kept::Node(node) => node.content.readable(),
        Kept::Redacted(marker) => return paint.dim(&format!("[{}]", redaction(marker))),
    };
    let begin: String = content.chars().take_while(|&c| c != '\n').take(SHOWN).collect();
    let rest = if begin.len() < content.trim_end().len() { "…" } else { "" };
    format!("{}{rest}", escape_line(&begin))
}
