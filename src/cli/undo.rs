//! The lines that take back what a command did.

use super::context::Context;
use super::shell::word;
use super::text::escape_line;
use crate::object::{Kept, encode_row};
use crate::ops::{Forgotten, Write};

/// Says what was done, and the line to type that takes it back.
pub fn say_undoable(context: &Context, done: &str, undo: &str) {
    context.say(&escape_line(done));
    say_undo(context, undo);
}

/// Says the line to type that takes back what was done.
pub fn say_undo(context: &Context, undo: &str) {
    context.say(&format!("{} {undo}", context.err_paint().hint("to undo:")));
}

/// Says how many changes are staged no longer, if any are; returns the line that stages them again, where there is one.
pub fn say_forgotten(context: &Context, forgotten: &Forgotten) -> Option<String> {
    let changes = match forgotten.count {
        0 => return None,
        1 => "1 change is".to_owned(),
        count => format!("{count} changes are"),
    };
    let undo = forgotten.changes.as_deref().map(|writes| staging(context, writes));
    let lost = if undo.is_some() { "" } else { ", which cannot be undone" };
    context.say(&format!("{changes} no longer staged{lost}"));
    undo
}

/// The rows of JSON that stage the changes, piped into `put`.
fn staging(context: &Context, writes: &[Write]) -> String {
    let row = |write: &Write| match write {
        Write::Set(node) => encode_row(&Kept::Node(node.clone())),
        Write::Mark(redaction) => encode_row(&Kept::Redacted(redaction.clone())),
        Write::Remove(id) => format!("{{\"id\":{},\"deleted\":true}}", serde_json::Value::from(id.as_str())),
    };
    let rows: Vec<_> = writes.iter().map(|write| word(&row(write))).collect();
    format!("printf '%s\\n' {} | {} put -q --jsonl -", rows.join(" "), context.typed())
}
