//! `mnem branch`

use super::commit_text::SHORT;
use super::context::Context;
use super::error::CliError;
use super::json::V;
use super::pattern::patterns;
use super::refs::show;
use super::shell::word;
use super::text::escape_line;
use super::undo::say_undoable;
use crate::graph::Revision;
use crate::model::{BranchName, Pattern, SessionName};
use crate::ops::{self, Branch, BranchesReport};
use crate::store::{Head, Store, short_branch};
use serde::Serialize;

/// List, create, rename or delete branches
///
/// Without arguments lists them; * marks the one on which this session stands, and other sessions are named. With --list
/// those that match a pattern, where * stops at /. NAME creates a branch at REV, or on HEAD. What is changed prints the
/// full id of the commit that a branch names now, or named before. '@{-1}' is the branch on which this session stood
/// before. No branch on which a session stands is moved or deleted.
#[derive(clap::Args, Debug)]
pub(super) struct BranchArgs {
    /// The branch
    #[arg(value_name = "NAME", add = super::complete::branches())]
    name: Option<String>,

    /// Where it begins, HEAD if none is named; more names for -d and -D, the new name for -m and -M, more patterns for -l
    #[arg(value_name = "REV|NAME", add = super::complete::branches_or_revisions())]
    rest: Vec<String>,

    /// Move a branch that is there already; -d -f is -D, and -m -f is -M
    #[arg(short, long)]
    force: bool,

    /// Delete branches, of which each tip must be in HEAD or in a branch that stays
    #[arg(short, long, requires = "name", conflicts_with_all = ["delete_anyway", "rename", "rename_over"])]
    delete: bool,

    /// Delete branches, also where commits are in no other branch
    #[arg(short = 'D', requires = "name", conflicts_with_all = ["rename", "rename_over"])]
    delete_anyway: bool,

    /// Rename a branch, that of this session if only the new name is given; the sessions that stand on it follow
    #[arg(short = 'm', long = "move", requires = "name", conflicts_with = "rename_over")]
    rename: bool,

    /// Rename a branch, also in the place of one that has the new name
    #[arg(short = 'M', requires = "name")]
    rename_over: bool,

    /// List the branches, or only those whose names match: a name, a name with / behind it for all below, or a glob
    #[arg(short, long, conflicts_with_all = ["force", "delete", "delete_anyway", "rename", "rename_over"])]
    list: bool,

    /// List only branches that have this commit
    #[arg(long, value_name = "REV", conflicts_with_all = ["force", "delete", "delete_anyway", "rename", "rename_over"],
        add = super::complete::revisions())]
    contains: Option<String>,

    /// Print the name of the branch on which this session stands, or nothing
    #[arg(long, conflicts_with_all = ["name", "force", "contains", "list"])]
    show_current: bool,
}

#[derive(Serialize)]
struct BranchJson<'a> {
    v: u8,
    r#type: &'static str,
    name: &'a str,
    commit: String,
    time: String,
    subject: &'a str,
    current: bool,
    sessions: Vec<&'a str>,
}

#[derive(Serialize)]
struct HeadJson<'a> {
    v: u8,
    r#type: &'static str,
    session: &'a str,
    branch: Option<&'a str>,
    head: Option<String>,
}

pub(super) fn run(args: &BranchArgs, context: &mut Context) -> Result<(), CliError> {
    let Some(first) = &args.name else {
        if args.force {
            return Err(CliError::usage("no branch is named").hint("mnem branch --force NAME REV"));
        }
        return list(&[], args, context);
    };
    let names: Vec<_> = [first].into_iter().chain(&args.rest).cloned().collect();
    if args.list || args.contains.is_some() {
        return list(&patterns(&names, false)?, args, context);
    }
    if args.delete || args.delete_anyway {
        let names = names.iter().map(|name| known_branch(name, context)).collect::<Result<Vec<_>, _>>()?;
        return delete(&names, args.delete_anyway || args.force, context);
    }
    let renames = args.rename || args.rename_over;
    if let [_, more, ..] = &args.rest[..] {
        let usage = if renames { "mnem branch -m OLD NEW" } else { "mnem branch NAME REV" };
        return Err(CliError::usage(format!("unexpected argument '{more}'")).hint(usage));
    }
    let force = args.rename_over || args.force;
    match args.rest.first() {
        Some(new) if renames => rename(Some(&known_branch(first, context)?), &branch_name(new)?, force, context),
        None if renames => rename(None, &branch_name(first)?, force, context),
        revision => {
            let revision = revision.map_or_else(|| Ok(Revision::head()), |text| context.read_revision(text))?;
            let name = if force { known_branch(first, context)? } else { branch_name(first)? };
            create(&name, &revision, force, context)
        }
    }
}

/// The name of a branch that is there, also as `@{-1}`.
fn known_branch(text: &str, context: &Context) -> Result<BranchName, CliError> {
    if text != "@{-1}" {
        return branch_name(text);
    }
    let previous = ops::previous_branch(&context.store()?, &context.session()?);
    branch_name(&previous.map_err(|error| CliError::from(error).hint("see 'mnem branch'"))?)
}

/// The name of a branch, as it was given.
pub(super) fn branch_name(text: &str) -> Result<BranchName, CliError> {
    BranchName::new(text).map_err(|error| CliError::from(error).about(&format!("'{text}'")))
}

fn store_to_write(context: &Context) -> Result<(Store, SessionName), CliError> {
    Ok((context.store_to_write()?, context.session()?))
}

fn create(name: &BranchName, revision: &Revision, force: bool, context: &mut Context) -> Result<(), CliError> {
    let (store, session) = store_to_write(context)?;
    let mut report = ops::create_branch(&store, &session, name, revision, force, context.now()?)?;
    context.warn_error(report.warning.take());
    context.warn_doubts(&report.doubt);
    let typed = word(name.as_str());
    for change in &report.changes {
        match change.old {
            None => context.say(&escape_line(&format!("created branch '{name}'"))),
            Some(old) if change.new == Some(old) => {
                context.say(&escape_line(&format!("branch '{name}' stands there already")));
            }
            Some(old) => {
                let done = format!("moved branch '{name}' (was {})", &old.to_string()[..SHORT]);
                say_undoable(context, &done, &format!("{} branch --force {typed} {old}", context.typed()));
            }
        }
    }
    show(&report, context)
}

fn delete(names: &[BranchName], force: bool, context: &mut Context) -> Result<(), CliError> {
    let (store, session) = store_to_write(context)?;
    let mut report = ops::delete_branches(&store, &session, names, force, context.now()?)?;
    context.warn_error(report.warning.take());
    for change in &report.changes {
        if let Some(id) = change.old {
            let name = short_branch(&change.name);
            let done = format!("deleted branch '{name}' (was {})", &id.to_string()[..SHORT]);
            say_undoable(context, &done, &format!("{} branch {} {id}", context.typed(), word(name)));
        }
    }
    show(&report, context)
}

fn rename(old: Option<&BranchName>, new: &BranchName, force: bool, context: &mut Context) -> Result<(), CliError> {
    let (store, session) = store_to_write(context)?;
    let (old, mut report) = ops::rename_branch(&store, &session, old, new, force, context.now()?)?;
    context.warn_error(report.warning.take());
    if old == new.as_str() {
        context.say(&escape_line(&format!("branch '{new}' is called so already")));
        return Ok(());
    }
    let (mnem, typed) = (context.typed(), word(new.as_str()));
    let mut undo = format!("{mnem} branch -m {typed} {}", word(&old));
    let mut done = format!("renamed branch '{old}' to '{new}'");
    if let Some(replaced) = report.changes.iter().find_map(|change| change.old.filter(|_| change.new.is_some())) {
        undo = format!("{undo} && {mnem} branch {typed} {replaced}");
        done = format!("{done} (was {})", &replaced.to_string()[..SHORT]);
    }
    say_undoable(context, &done, &undo);
    if context.globals.json {
        return show(&report, context);
    }
    for id in report.changes.iter().filter_map(|change| change.new) {
        context.line(&id.to_string())?;
    }
    Ok(())
}

fn list(patterns: &[Pattern], args: &BranchArgs, context: &mut Context) -> Result<(), CliError> {
    let contains = args.contains.as_deref().map(|text| context.read_revision(text)).transpose()?;
    let store = context.store()?;
    let session = context.session()?;
    let report = ops::branches(&store, &session, contains.as_ref(), patterns)?;
    context.warn_doubts(&report.doubt);
    if args.show_current {
        return show_current(&report, &session, context);
    }
    if let (Head::Branch(name), None) = (&report.head, &report.commit) {
        context.say(&format!("no commit yet on '{}'", escape_line(short_branch(name))));
    }
    if context.globals.json {
        return report.branches.iter().try_for_each(|branch| context.json_line(&json(branch)));
    }
    let names: Vec<_> = report.branches.iter().map(|branch| escape_line(&branch.name)).collect();
    let width = names.iter().map(|name| console::measure_text_width(name)).max().unwrap_or(0);
    let paint = context.paint();
    if let (Head::Detached(_), Some(id), []) = (&report.head, &report.commit, patterns) {
        context.line(&format!("* {}", paint.head(&format!("(HEAD detached at {})", &id.to_string()[..SHORT]))))?;
    }
    for (branch, name) in report.branches.iter().zip(names) {
        let mark = if branch.is_current { '*' } else { ' ' };
        let gap = " ".repeat(width - console::measure_text_width(&name));
        let id = paint.commit(&branch.commit.to_string()[..SHORT]);
        let sessions: Vec<_> = branch.sessions.iter().map(SessionName::as_str).collect();
        let sessions = match &sessions[..] {
            [] => String::new(),
            [one] => format!(" (session {one})"),
            several => format!(" (sessions {})", several.join(", ")),
        };
        let subject = escape_line(&branch.subject);
        context.line(&format!("{mark} {}{gap} {id} {} {subject}{sessions}", paint.branch(&name), branch.time))?;
    }
    Ok(())
}

fn json(branch: &Branch) -> BranchJson<'_> {
    BranchJson {
        v: V,
        r#type: "branch",
        name: &branch.name,
        commit: branch.commit.to_string(),
        time: branch.time.to_string(),
        subject: &branch.subject,
        current: branch.is_current,
        sessions: branch.sessions.iter().map(SessionName::as_str).collect(),
    }
}

fn show_current(report: &BranchesReport, session: &SessionName, context: &mut Context) -> Result<(), CliError> {
    let branch = report.head.branch().map(short_branch);
    if context.globals.json {
        let head = report.commit.map(|id| id.to_string());
        return context.json_line(&HeadJson { v: V, r#type: "head", session: session.as_str(), branch, head });
    }
    match branch {
        Some(branch) if context.globals.nul => Ok(context.line(branch)?),
        Some(branch) => Ok(context.line(&escape_line(branch))?),
        None => Ok(()),
    }
}
