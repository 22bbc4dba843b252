//! `mnem merge-base`

use super::context::Context;
use super::error::CliError;
use super::json::V;
use crate::ops;
use serde::Serialize;

/// Print the best common ancestor of two commits
///
/// An ancestor of a commit is the commit itself or an ancestor of one of its parents; the best common ones are those that
/// are ancestors of no other. Ends with 1 and prints nothing where there is none.
#[derive(clap::Args, Debug)]
pub(super) struct MergeBaseArgs {
    /// One commit
    #[arg(value_name = "A", add = super::complete::revisions())]
    one: String,

    /// The other
    #[arg(value_name = "B", add = super::complete::revisions())]
    other: String,

    /// Print all where there are several, the last one that the store learned of first
    #[arg(long)]
    all: bool,

    /// Print nothing, and end with 0 if A is an ancestor of B, else with 1
    #[arg(long, conflicts_with = "all")]
    is_ancestor: bool,
}

#[derive(Serialize)]
struct BaseJson {
    v: u8,
    r#type: &'static str,
    id: String,
}

#[derive(Serialize)]
struct AncestorJson {
    v: u8,
    r#type: &'static str,
    ancestor: bool,
}

pub(super) fn run(args: &MergeBaseArgs, context: &mut Context) -> Result<(), CliError> {
    let (one, other) = (context.read_revision(&args.one)?, context.read_revision(&args.other)?);
    let (store, session) = (context.store()?, context.session()?);
    if args.is_ancestor {
        let (ancestor, doubts) = ops::is_ancestor(&store, &session, &one, &other)?;
        context.warn_doubts(&doubts);
        if !ancestor {
            context.answer_no();
        }
        let row = AncestorJson { v: V, r#type: "ancestor", ancestor };
        return if context.globals.json { context.json_line(&row) } else { Ok(()) };
    }
    let (bases, doubts) = ops::merge_base(&store, &session, &one, &other)?;
    context.warn_doubts(&doubts);
    if bases.is_empty() {
        context.answer_no();
    }
    for base in bases.iter().take(if args.all { bases.len() } else { 1 }) {
        if context.globals.json {
            context.json_line(&BaseJson { v: V, r#type: "base", id: base.to_string() })?;
        } else {
            context.line(&base.to_string())?;
        }
    }
    Ok(())
}
