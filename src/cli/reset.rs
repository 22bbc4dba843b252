//! `mnem reset`

use super::commit_text::{SHORT, one_line};
use super::context::Context;
use super::error::CliError;
use super::json::CommitJson;
use super::settle::again;
use super::text::escape_line;
use super::undo::{say_forgotten, say_undo};
use crate::graph::Revision;
use crate::ops::{self, Behind, ResetMode};

/// Let the branch end at another commit
///
/// Moves the branch on which this session stands, or its detached HEAD. The memory that the session sees stays as it is:
/// what is left behind is staged. With --hard it becomes that of the commit, and what is staged is dropped. Prints the id
/// of the commit, and says which commits the branch has no longer, whose they are, and how to undo it.
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
    say_behind(&report.behind, context);
    let beginning = report.left_behind.as_ref().map(|left| {
        context.say("what was in progress is left");
        again(left, context)
    });
    if report.staged > 0 {
        let changes =
            if report.staged == 1 { "1 change is".to_owned() } else { format!("{} changes are", report.staged) };
        context.say(&format!("{changes} staged"));
    }
    let staging = say_forgotten(context, &report.dropped);
    let way = if args.hard { "--hard" } else { "--soft" };
    let moving = match report.left {
        Some(left) if left == report.entry.commit.id => None,
        Some(left) => Some(format!("{} reset {way} {left}", context.typed())),
        None => {
            context.say("there was no commit here before, so there is none to go back to");
            None
        }
    };
    // Beginning it again stops, with a status that is not 0.
    let (between, back): (_, Vec<_>) = match &beginning {
        Some(_) => (" || ", moving.iter().map(|moving| format!("{moving} && ")).collect()),
        None => (" && ", Vec::new()),
    };
    let steps = if beginning.is_some() { beginning } else { moving };
    let undo: Vec<_> = steps.into_iter().chain(staging).collect();
    if !undo.is_empty() {
        say_undo(context, &format!("{}{}", back.concat(), undo.join(between)));
    }
    if context.globals.json {
        return context.json_line(&CommitJson::new(&report.entry));
    }
    Ok(context.line(&report.entry.commit.id.to_string())?)
}

/// Names the commits that the branch has no longer, with who made them: they may be another's.
fn say_behind(behind: &Behind, context: &Context) {
    let commits = match behind.count {
        0 => return,
        1 => "1 commit is".to_owned(),
        count => format!("{count} commits are"),
    };
    context.say(&format!("{commits} left behind:"));
    for commit in &behind.last {
        let (id, subject) = (commit.id.to_string(), escape_line(commit.message.subject()));
        let id = context.err_paint().commit(&id[..SHORT]);
        context.say(&format!("  {id} {subject} ({})", escape_line(commit.author.as_str())));
    }
    match behind.count - behind.last.len() {
        0 => {}
        more => context.say(&format!("  and {more} more")),
    }
}
