//! `mnem show`

use super::changes::{ChangeStyle, Form};
use super::commit_text::block;
use super::context::{AtRevision, Context};
use super::error::CliError;
use super::json::CommitJson;
use super::pattern::{note_options, or_pattern, patterns};
use crate::graph::Revision;
use crate::ops;

/// Show a commit and what it changed
///
/// What changed is told against the first parent. To print the content of a node use 'mnem get'.
#[derive(clap::Args, Debug)]
pub(super) struct ShowArgs {
    /// The commit, HEAD if none is named
    #[arg(value_name = "REV", add = super::complete::revisions())]
    revision: Option<String>,

    /// Only changes of nodes with such an id: an id, an id with / behind it for all below, or a glob
    #[arg(last = true, value_name = "PATTERN", add = super::complete::ids())]
    patterns: Vec<String>,

    #[command(flatten)]
    at: AtRevision,

    #[command(flatten)]
    style: ChangeStyle,

    /// Take * ? [ in patterns as they are
    #[arg(long)]
    literal: bool,
}

pub(super) fn run(args: &ShowArgs, context: &mut Context) -> Result<(), CliError> {
    let patterns = patterns(&args.patterns, args.literal)?;
    let store = context.store()?;
    let session = context.session()?;
    let revision = match &args.revision {
        Some(_) if args.at.rev.is_some() => {
            return Err(CliError::usage("REV and --rev both name a revision").hint("mnem show REV"));
        }
        Some(revision) => context.read_revision(revision)?,
        None => context.revision(&args.at, &store)?.unwrap_or(Revision::head()),
    };
    let report = ops::show(&store, &session, &revision, &patterns).map_err(|error| or_pattern(error, "show"))?;
    context.warn_doubts(&report.doubt);
    if report.changed.is_empty() {
        note_options(&args.patterns, context);
    }
    context.page();
    if context.globals.json {
        context.json_line(&CommitJson::new(&report.entry))?;
    } else {
        let paint = context.paint();
        block(context.out(), &report.entry, report.head_branch.as_deref(), paint)?;
        if !report.changed.is_empty() {
            writeln!(context.out())?;
        }
    }
    let form = args.style.form().unwrap_or(Form::Patch);
    let nothing = report.changed.is_empty();
    if nothing { Ok(()) } else { args.style.show(form, Some(&report.entry.commit.id), &report.changed, context) }
}
