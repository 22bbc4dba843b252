//! What `branch` and `tag` have in common: they tell which refs they changed, and how to take that back.

use super::context::Context;
use super::error::CliError;
use super::json::V;
use super::text::escape_line;
use crate::ops::RefsReport;
use serde::Serialize;

#[derive(Serialize)]
struct RefJson<'a> {
    v: u8,
    r#type: &'static str,
    r#ref: &'a str,
    old: Option<String>,
    new: Option<String>,
}

/// Prints the commit that each ref names now, or named before it was deleted; or the rows of JSON.
pub fn show(report: &RefsReport, context: &mut Context) -> Result<(), CliError> {
    for change in &report.changes {
        let (old, new) = (change.old.map(|id| id.to_string()), change.new.map(|id| id.to_string()));
        if context.globals.json {
            context.json_line(&RefJson { v: V, r#type: "ref", r#ref: &change.name, old, new })?;
        } else if let Some(id) = new.or(old) {
            context.line(&id)?;
        }
    }
    Ok(())
}

/// Says what was done, and the line to type that takes it back.
pub fn say_undoable(context: &Context, done: &str, undo: &str) {
    context.say(&escape_line(done));
    let undo = undo.strip_prefix("mnem").map_or(undo.to_owned(), |rest| format!("{}{rest}", context.typed()));
    context.say(&format!("{} {undo}", context.err_paint().hint("to undo:")));
}
