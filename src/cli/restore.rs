//! `mnem restore`

use super::context::Context;
use super::error::{CliError, Word};
use super::json::StagedJson;
use super::pattern::patterns;
use super::undo::{say_forgotten, say_undo};
use crate::ops;

/// Take staged changes back, or stage what a revision has
///
/// Forgets what this session has staged for the ids, so that they stand as in HEAD. With a revision, stages that
/// revision's version of them instead. Prints the ids that it changed, and how to stage again what was staged.
#[derive(clap::Args, Debug)]
pub(super) struct RestoreArgs {
    /// Which nodes: an id, an id with / behind it for all below, or a glob
    #[arg(required = true, value_name = "PATTERN", add = super::complete::ids())]
    patterns: Vec<String>,

    /// Stage the version of this revision
    #[arg(short, long, value_name = "REV", add = super::complete::revisions())]
    source: Option<String>,

    /// Take * ? [ in patterns as they are
    #[arg(long)]
    literal: bool,
}

pub(super) fn run(args: &RestoreArgs, context: &mut Context) -> Result<(), CliError> {
    let patterns = patterns(&args.patterns, args.literal)?;
    let revision = args.source.as_deref().map(|rev| context.read_revision(rev)).transpose()?;
    let store = context.store_to_write()?;
    let session = context.session()?;
    let report = ops::restore(&store, &session, &patterns, revision.as_ref())?;
    context.warn_doubts(&report.doubt);
    let unmatched: Vec<_> = report.unmatched.iter().map(|&at| format!("'{}'", args.patterns[at])).collect();
    if !unmatched.is_empty() {
        let message = format!("no node matches {}", unmatched.join(", "));
        return Err(CliError::new(Word::NoNode, message).hint("see 'mnem status' and 'mnem ls'"));
    }
    if let Some(undo) = say_forgotten(context, &report.forgotten) {
        say_undo(context, &undo);
    }
    for report in &report.reports {
        if context.globals.json {
            context.json_line(&StagedJson::new(report, session.as_str()))?;
        } else {
            context.id_line(&report.id)?;
        }
    }
    Ok(())
}
