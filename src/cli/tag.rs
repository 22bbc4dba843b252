//! `mnem tag`

use super::commit_text::SHORT;
use super::context::{Context, message};
use super::error::CliError;
use super::json::V;
use super::pattern::patterns;
use super::refs::show;
use super::shell::word;
use super::text::escape_line;
use super::undo::say_undoable;
use crate::graph::Revision;
use crate::model::{Pattern, TagName};
use crate::ops::{self, Tag, TagBefore};
use crate::store::short_tag;
use serde::Serialize;

/// List, set or delete tags
///
/// Without arguments lists their names; with --list those that match a pattern, where * stops at /. NAME sets a tag at REV,
/// or on HEAD: a name for a commit that no commit moves. What is changed prints the full id of the commit that a tag names
/// now, or named before.
#[derive(clap::Args, Debug)]
pub(super) struct TagArgs {
    /// The tag
    #[arg(value_name = "NAME", add = super::complete::tags())]
    name: Option<String>,

    /// What it names, HEAD if nothing is; more names for -d, more patterns for -l
    #[arg(value_name = "REV|NAME", add = super::complete::tags_or_revisions())]
    rest: Vec<String>,

    /// What it says; several are paragraphs
    #[arg(short, long, value_name = "MESSAGE", allow_hyphen_values = true, requires = "name")]
    message: Vec<String>,

    /// Move a tag that is there already
    #[arg(short, long, requires = "name")]
    force: bool,

    /// Delete tags
    #[arg(short, long, requires = "name", conflicts_with_all = ["force", "message"])]
    delete: bool,

    /// List the tags, or only those whose names match: a name, a name with / behind it for all below, or a glob
    #[arg(short, long, conflicts_with_all = ["force", "message", "delete"])]
    list: bool,

    /// List them, and show with each tag its commit, when it was set, and what it says or else what the commit says
    #[arg(short = 'n', long, conflicts_with_all = ["force", "message", "delete"])]
    long: bool,
}

#[derive(Serialize)]
struct TagJson<'a> {
    v: u8,
    r#type: &'static str,
    name: &'a str,
    commit: String,
    time: String,
    message: Option<&'a str>,
    subject: &'a str,
}

pub(super) fn run(args: &TagArgs, context: &mut Context) -> Result<(), CliError> {
    let Some(first) = &args.name else { return list(&[], args.long, context) };
    if args.list || args.long {
        let names: Vec<_> = [first].into_iter().chain(&args.rest).cloned().collect();
        return list(&patterns(&names, false)?, args.long, context);
    }
    if args.delete {
        let names = [first].into_iter().chain(&args.rest).map(|name| tag_name(name)).collect::<Result<Vec<_>, _>>()?;
        return delete(&names, context);
    }
    if let [_, more, ..] = &args.rest[..] {
        return Err(CliError::usage(format!("unexpected argument '{more}'")).hint("mnem tag NAME REV"));
    }
    let revision = args.rest.first().map_or_else(|| Ok(Revision::head()), |text| context.read_revision(text))?;
    create(&tag_name(first)?, &revision, args, context)
}

fn tag_name(text: &str) -> Result<TagName, CliError> {
    TagName::new(text).map_err(|error| CliError::from(error).about(&format!("'{text}'")))
}

/// The line that sets a tag again, with the time at which it was set.
fn setting(context: &Context, options: &str, name: &str, id: &str, before: &TagBefore) -> String {
    let said = before.message.as_deref().map_or_else(String::new, |said| format!(" -m {}", word(said)));
    format!("MNEM_DATE={} {} tag {options}{} {id}{said}", before.time, context.typed(), word(name))
}

fn create(name: &TagName, revision: &Revision, args: &TagArgs, context: &mut Context) -> Result<(), CliError> {
    let message = if args.message.is_empty() { None } else { Some(message(&args.message.join("\n\n"))?) };
    let store = context.store_to_write()?;
    let session = context.session()?;
    let now = context.now()?;
    let mut report = ops::create_tag(&store, &session, name, revision, message.as_ref(), args.force, now)?;
    context.warn_error(report.refs.warning.take());
    context.warn_doubts(&report.refs.doubt);
    for (change, before) in report.refs.changes.iter().zip(&report.before) {
        let (Some(old), Some(before)) = (change.old.map(|id| id.to_string()), before) else {
            context.say(&escape_line(&format!("set tag '{name}'")));
            continue;
        };
        let undo = setting(context, "--force ", name.as_str(), &old, before);
        say_undoable(context, &format!("moved tag '{name}' (was {})", &old[..SHORT]), &undo);
    }
    show(&report.refs, context)
}

fn delete(names: &[TagName], context: &mut Context) -> Result<(), CliError> {
    let store = context.store_to_write()?;
    let mut report = ops::delete_tags(&store, names, context.now()?)?;
    context.warn_error(report.refs.warning.take());
    for (change, before) in report.refs.changes.iter().zip(&report.before) {
        if let (Some(id), Some(name), Some(before)) = (change.old, short_tag(&change.name), before) {
            let id = id.to_string();
            let undo = setting(context, "", name, &id, before);
            say_undoable(context, &format!("deleted tag '{name}' (was {})", &id[..SHORT]), &undo);
        }
    }
    show(&report.refs, context)
}

fn list(patterns: &[Pattern], long: bool, context: &mut Context) -> Result<(), CliError> {
    let store = context.store()?;
    let tags = ops::tags(&store, &context.session()?, patterns)?;
    let paint = context.paint();
    for tag in &tags {
        if context.globals.json {
            context.json_line(&json(tag))?;
        } else if long {
            let id = paint.commit(&tag.commit.to_string()[..SHORT]);
            let said = tag.message.as_deref().and_then(|message| message.lines().next()).unwrap_or(&tag.subject);
            let (name, said) = (escape_line(&tag.name), escape_line(said));
            context.line(&format!("{} {id} {} {said}", paint.tag(&name), tag.time))?;
        } else if context.globals.nul {
            context.line(&tag.name)?;
        } else {
            context.line(&paint.tag(&escape_line(&tag.name)))?;
        }
    }
    Ok(())
}

fn json(tag: &Tag) -> TagJson<'_> {
    TagJson {
        v: V,
        r#type: "tag",
        name: &tag.name,
        commit: tag.commit.to_string(),
        time: tag.time.to_string(),
        message: tag.message.as_deref(),
        subject: &tag.subject,
    }
}
