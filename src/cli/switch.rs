//! `mnem switch`

use super::branch::branch_name;
use super::commit_text::SHORT;
use super::context::Context;
use super::error::CliError;
use super::json::V;
use super::shell::word;
use super::text::escape_line;
use crate::ops::{self, SwitchReport, Target};
use crate::store::{Head, short_branch};
use serde::Serialize;

/// Let this session stand on another branch
///
/// Only this session moves. What it has staged comes along, unless that would hide what the other branch has for a node:
/// then nothing is done. Prints the full id of the commit on which the session stands now.
#[derive(clap::Args, Debug)]
pub(super) struct SwitchArgs {
    /// The branch, or - for where the session stood before; with -c or --detach the revision, HEAD if none is named
    #[arg(value_name = "NAME|REV", add = super::complete::switch_target())]
    target: Option<String>,

    /// Create this branch at the revision, and stand on it
    #[arg(short, long, value_name = "NAME", conflicts_with = "detach")]
    create: Option<String>,

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
}

pub(super) fn run(args: &SwitchArgs, context: &mut Context) -> Result<(), CliError> {
    let target = target(args, context)?;
    let store = context.store_to_write()?;
    let session = context.session()?;
    let mut report = ops::switch(&store, &session, &target, context.now()?)?;
    context.warn_error(report.warning.take());
    context.warn_doubts(&report.doubt);
    say(&report, args.create.is_some(), context);
    let head = report.commit.as_ref().map(|commit| commit.id.to_string());
    if context.globals.json {
        let branch = report.head.branch().map(short_branch);
        let (session, carried) = (session.as_str(), report.carried);
        return context.json_line(&SwitchedJson { v: V, r#type: "switched", session, branch, head, carried });
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
fn say(report: &SwitchReport, is_new: bool, context: &Context) {
    match &report.head {
        Head::Branch(name) => {
            let name = escape_line(short_branch(name));
            context.say(&match (report.already, is_new) {
                (true, _) => format!("already on '{name}'"),
                (false, true) => format!("switched to a new branch '{name}'"),
                (false, false) => format!("switched to branch '{name}'"),
            });
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
    if let Some(id) = &report.left {
        let id = id.to_string();
        context.warn(&format!("commit {} is on no branch", &id[..SHORT]));
        context.say(&format!("{} mnem branch NAME {}", context.err_paint().hint("to keep it:"), word(&id)));
    }
}
