//! `mnem switch`

use super::branch::branch_name;
use super::commit_text::SHORT;
use super::context::Context;
use super::error::CliError;
use super::json::V;
use super::shell::word;
use super::text::escape_line;
use super::undo::say_undoable;
use crate::ops::{self, SwitchReport, Target};
use crate::store::{Head, short_branch};
use serde::Serialize;

/// Let this session stand on another branch
///
/// Only this session moves. What it has staged comes along, unless that would hide what the other branch has for a node:
/// then nothing is done. What the other branch has just so is staged no longer. Prints the full id of the commit on which
/// the session stands now.
#[derive(clap::Args, Debug)]
pub(super) struct SwitchArgs {
    /// The branch, or - for where the session stood before; with -c, --force-create or --detach the revision, HEAD if none
    /// is named
    #[arg(value_name = "NAME|REV", add = super::complete::switch_target())]
    target: Option<String>,

    /// Create this branch at the revision, and stand on it
    #[arg(short, long, value_name = "NAME", conflicts_with = "detach")]
    create: Option<String>,

    /// The same, and move the branch to the revision where it is there already, unless another session stands on it; git's
    /// -C, which stands for a directory here
    #[arg(long, value_name = "NAME", conflicts_with_all = ["create", "detach"])]
    force_create: Option<String>,

    /// Stand on the commit and on no branch
    #[arg(short, long)]
    detach: bool,
}

#[derive(Serialize)]
struct SwitchedJson<'a> {
    v: u8,
    r#type: &'static str,
    session: &'a str,
    branch: Option<&'a str>,
    head: Option<String>,
    carried: usize,
    settled: usize,
}

pub(super) fn run(args: &SwitchArgs, context: &mut Context) -> Result<(), CliError> {
    let target = target(args, context)?;
    let store = context.store_to_write()?;
    let session = context.session()?;
    let mut report = ops::switch(&store, &session, &target, context.now()?)?;
    context.warn_error(report.warning.take());
    context.warn_doubts(&report.doubt);
    say(&report, context);
    let head = report.commit.as_ref().map(|commit| commit.id.to_string());
    if context.globals.json {
        let branch = report.head.branch().map(short_branch);
        let (session, carried, settled) = (session.as_str(), report.carried, report.settled);
        return context.json_line(&SwitchedJson { v: V, r#type: "switched", session, branch, head, carried, settled });
    }
    match head {
        Some(id) => Ok(context.line(&id)?),
        None => Ok(()),
    }
}

fn target(args: &SwitchArgs, context: &Context) -> Result<Target, CliError> {
    let revision = || args.target.as_deref().map(|text| context.read_revision(text)).transpose();
    if let Some(name) = &args.create {
        return Ok(Target::Create(branch_name(name)?, revision()?));
    }
    if let Some(name) = &args.force_create {
        return Ok(Target::ForceCreate(branch_name(name)?, revision()?));
    }
    if args.detach {
        return Ok(Target::Detach(revision()?.unwrap_or(crate::graph::Revision::head())));
    }
    match args.target.as_deref() {
        None => Err(CliError::usage("no branch is named").hint("mnem switch NAME")),
        Some("-" | "@{-1}") => Ok(Target::Previous),
        Some(name) => {
            let branch =
                branch_name(name).map_err(|error| error.hint("to stand on a commit: mnem switch --detach REV"))?;
            Ok(Target::Branch(branch, context.read_revision(name)?))
        }
    }
}

/// Says where the session stands now, what it took along, and what would get lost.
fn say(report: &SwitchReport, context: &Context) {
    match &report.head {
        Head::Branch(name) => {
            let name = short_branch(name);
            let told = escape_line(name);
            context.say(&match (report.already, report.created) {
                (true, _) => format!("already on '{told}'"),
                (false, true) => format!("switched to a new branch '{told}'"),
                (false, false) => format!("switched to branch '{told}'"),
            });
            if let Some(old) = report.moved {
                let (mnem, typed) = (context.typed(), word(name));
                let undo = if report.from == report.head {
                    format!("{mnem} switch --force-create {typed} {old}")
                } else {
                    format!("{mnem} switch - && {mnem} branch --force {typed} {old}")
                };
                let done = format!("moved branch '{name}' (was {})", &old.to_string()[..SHORT]);
                say_undoable(context, &done, &undo);
            }
        }
        Head::Detached(_) => {
            if let Some(commit) = &report.commit {
                let subject = escape_line(commit.message.subject());
                context.say(&format!("HEAD is detached at {} {subject}", &commit.id.to_string()[..SHORT]));
                context.say("to keep commits that you make here: mnem switch -c NAME");
            }
        }
    }
    match report.carried {
        _ if report.already => {}
        0 => {}
        1 => context.say("1 staged change came along"),
        carried => context.say(&format!("{carried} staged changes came along")),
    }
    match report.settled {
        0 => {}
        1 => context.say("1 staged change is there already, and no longer staged"),
        settled => context.say(&format!("{settled} staged changes are there already, and no longer staged")),
    }
    if let Some(id) = &report.left {
        let id = id.to_string();
        context.warn(&format!("commit {} is on no branch", &id[..SHORT]));
        context.say(&format!("{} mnem branch NAME {}", context.err_paint().hint("to keep it:"), word(&id)));
    }
}
