//! `mnem diff`

use super::changes::{ChangeStyle, Form};
use super::context::{AtRevision, Context};
use super::error::CliError;
use super::pattern::{note_options, or_pattern, patterns};
use super::text::escape_line;
use crate::graph::Selection;
use crate::ops::{self, Between};

/// Show what differs between two memories
///
/// Without a revision, from HEAD to what is staged; with one, from it to HEAD with what is staged; with two, from the
/// first to the second. Where --rev or MNEM_REV names the memory to read, that is the newer side in place of HEAD with
/// what is staged. Texts are compared by line, JSON values by leaf, each token as it is spelled.
#[derive(clap::Args, Debug)]
pub(super) struct DiffArgs {
    /// One or two revisions; A..B is A and B, A...B the best common ancestor of both and B
    #[arg(num_args = 0..=2, value_name = "REV|A..B", add = super::complete::revisions_then_ids())]
    revisions: Vec<String>,

    /// Only nodes with such an id: an id, an id with / behind it for all below, or a glob
    #[arg(last = true, value_name = "PATTERN", add = super::complete::ids())]
    patterns: Vec<String>,

    #[command(flatten)]
    at: AtRevision,

    #[command(flatten)]
    style: ChangeStyle,

    /// End with 1 where something differs
    #[arg(long)]
    exit_code: bool,

    /// Take * ? [ in patterns as they are
    #[arg(long)]
    literal: bool,
}

pub(super) fn run(args: &DiffArgs, context: &mut Context) -> Result<(), CliError> {
    let patterns = patterns(&args.patterns, args.literal)?;
    let store = context.store()?;
    let session = context.session()?;
    let between = between(args, context, &store)?;
    let report = ops::diff(&store, &session, &between, &patterns).map_err(|error| or_pattern(error, "diff"))?;
    context.warn_doubts(&report.doubts);
    if report.other_bases > 0 {
        context.warn(&format!("there are {} more best common ancestors; one was taken", report.other_bases));
    }
    if let (Some(branch), []) = (&report.unborn, &report.changed[..]) {
        context.say(&format!("no commit yet on '{}'", escape_line(branch)));
    }
    if report.changed.is_empty() {
        note_options(&args.patterns, context);
    }
    context.page();
    if !report.changed.is_empty() {
        args.style.show(args.style.form().unwrap_or(Form::Patch), None, &report.changed, context)?;
        if args.exit_code {
            context.answer_no();
        }
    }
    Ok(())
}

fn between(args: &DiffArgs, context: &Context, store: &crate::store::Store) -> Result<Between, CliError> {
    let selections = args.revisions.iter().map(|rev| context.read_selection(rev)).collect::<Result<Vec<_>, _>>()?;
    let mut selections = selections.into_iter();
    let sides =
        || CliError::usage("diff compares two memories").hint("mnem diff A B, or mnem diff A for A and what is staged");
    let between = match (selections.next(), selections.next()) {
        (None, _) => Between::Memory { from: None, memory: context.revision(&args.at, store)? },
        (Some(Selection::Of(from)), None) => {
            Between::Memory { from: Some(from), memory: context.revision(&args.at, store)? }
        }
        (Some(Selection::Of(old)), Some(Selection::Of(new))) | (Some(Selection::Between(old, new)), None) => {
            Between::Revisions(old, new)
        }
        (Some(Selection::Either(one, other)), None) => Between::MergeBase(one, other),
        (Some(_), _) => return Err(sides()),
    };
    match (&between, &args.at.rev) {
        (Between::Memory { .. }, _) | (_, None) => Ok(between),
        (Between::Revisions(..) | Between::MergeBase(..), Some(_)) => Err(sides()),
    }
}
