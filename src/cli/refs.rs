//! What `branch` and `tag` have in common: they tell which refs they changed.

use super::context::Context;
use super::error::CliError;
use super::json::V;
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
