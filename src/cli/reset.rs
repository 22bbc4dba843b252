//! `mnem reset`

use super::commit_text::one_line;
use super::context::Context;
use super::error::CliError;
use super::json::CommitJson;
use crate::graph::Revision;
use crate::ops::{self, ResetMode};

/// Let the branch end at another commit
///
/// Moves the branch on which this session stands, or its detached HEAD. The memory that the session sees stays as it is:
/// what is left behind is staged. With --hard it becomes that of the commit, and what is staged is dropped. Prints the id
/// of the commit, and how to undo it.
#[derive(clap::Args, Debug)]
pub(super) struct ResetArgs {
    /// The commit, HEAD if none is named
    #[arg(value_name = "REV", add = super::complete::revisions())]
    revision: Option<String>,

    /// Stage what is left behind; this is what happens where --hard is not given
    #[arg(long)]
    soft: bool,

    /// Drop what is staged
    #[arg(long, conflicts_with = "soft")]
    hard: bool,
}

pub(super) fn run(args: &ResetArgs, context: &mut Context) -> Result<(), CliError> {
    let mode = if args.hard { ResetMode::Hard } else { ResetMode::Soft };
    let revision = match &args.revision {
        Some(revision) => context.read_revision(revision)?,
        None if args.hard || args.soft => Revision::head(),
        None => {
            return Err(CliError::usage("neither a commit nor a way is named").hint(
                "mnem reset REV, or 'mnem restore ID' to take a staged change back, or 'mnem reset --hard' for all",
            ));
        }
    };
    let time = context.now()?;
    let store = context.store_to_write()?;
    let session = context.session()?;
    let report = ops::reset(&store, &session, &revision, mode, time)?;
    context.warn_error(report.warning);
    context.warn_doubts(&report.doubt);
    let paint = context.err_paint();
    context.say(&format!("HEAD is now at {}", one_line(&report.entry, report.head_branch.as_deref(), paint)));
    let changes = |count: usize| if count == 1 { "1 change is".to_owned() } else { format!("{count} changes are") };
    if report.staged > 0 {
        context.say(&format!("{} staged", changes(report.staged)));
    }
    if report.dropped > 0 {
        context.say(&format!("{} no longer staged, which cannot be undone", changes(report.dropped)));
    }
    if let Some(underway) = report.left_underway {
        context.say(&format!("the {} that was in progress is left", underway.name()));
    }
    let way = if args.hard { "--hard" } else { "--soft" };
    match report.left {
        Some(left) if left != report.entry.commit.id => {
            context.say(&format!("{} {} reset {way} {left}", context.err_paint().hint("to undo:"), context.typed()));
        }
        Some(_) | None => {}
    }
    if context.globals.json {
        return context.json_line(&CommitJson::new(&report.entry));
    }
    Ok(context.line(&report.entry.commit.id.to_string())?)
}
