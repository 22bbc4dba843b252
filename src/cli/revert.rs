//! `mnem revert`

use super::context::{Context, message};
use super::error::CliError;
use super::pattern::patterns;
use super::settle::{OPTIONS, SettleArgs, made, signature, stopped};
use crate::model::Provenance;
use crate::ops::{self, OpError, RevertReport, RevertRequest, Reverting, Underway};

/// Undo commits by new ones
///
/// The record of what is undone stays. What was changed since stays too: it is merged, as 'mnem merge' does it, and where
/// changes don't go together, it is a conflict that waits to be settled. With --source and the like, what came from there
/// is undone, node by node, in all commits or in those that are named. Prints the full id of each commit that it makes.
#[derive(clap::Args, Debug)]
pub(super) struct RevertArgs {
    /// The commits; of a range such as A..B all, the newest first
    #[arg(value_name = "REV", conflicts_with_all = OPTIONS, add = super::complete::revisions())]
    revisions: Vec<String>,

    /// Of merges, go back to this parent, counted from 1
    #[arg(short, long, value_name = "PARENT", conflicts_with_all = OPTIONS, conflicts_with_all = FROM,
        value_parser = clap::value_parser!(u64).range(1..))]
    mainline: Option<u64>,

    /// Undo only what came from this source, exactly as it was given
    #[arg(long, value_name = "REF", allow_hyphen_values = true, conflicts_with_all = OPTIONS)]
    source: Option<String>,

    /// Undo only what this tool call produced
    #[arg(long, value_name = "REF", allow_hyphen_values = true, conflicts_with_all = OPTIONS)]
    tool_call: Option<String>,

    /// Undo only what this step of a run produced
    #[arg(long, value_name = "STEP", allow_hyphen_values = true, conflicts_with_all = OPTIONS)]
    agent_step: Option<String>,

    /// Undo only what was drawn from this observation
    #[arg(long, value_name = "REF", allow_hyphen_values = true, conflicts_with_all = OPTIONS)]
    observation: Option<String>,

    /// With --source and the like, only nodes with such an id: an id, an id with / behind it for all below, or a glob
    #[arg(last = true, value_name = "PATTERN", conflicts_with_all = OPTIONS, add = super::complete::ids())]
    patterns: Vec<String>,

    /// Take * ? [ in patterns as they are
    #[arg(long)]
    literal: bool,

    /// What the commit says, instead of what it undoes; also with --continue
    #[arg(long, value_name = "MESSAGE", allow_hyphen_values = true, conflicts_with_all = ["resolve", "abort"])]
    message: Vec<String>,

    #[command(flatten)]
    settle: SettleArgs,
}

/// The options that name where something came from.
const FROM: [&str; 4] = ["source", "tool_call", "agent_step", "observation"];

pub(super) fn run(args: &RevertArgs, context: &mut Context) -> Result<(), CliError> {
    let said = (!args.message.is_empty()).then(|| args.message.join("\n\n"));
    if args.settle.is_asked() {
        return args.settle.run(Underway::Revert, said.as_deref(), context);
    }
    let provenance = Provenance {
        agent_step: args.agent_step.clone(),
        observation: args.observation.clone(),
        tool_call: args.tool_call.clone(),
        source: args.source.clone(),
        note: None,
    };
    let patterns = patterns(&args.patterns, args.literal)?;
    let is_from = provenance != Provenance::default();
    if !is_from && !patterns.is_empty() {
        let hint = "to bring back single nodes as they were: mnem restore -s REV ID";
        return Err(CliError::usage("a commit is undone as a whole; patterns go with --source and the like").hint(hint));
    }
    if !is_from && args.revisions.is_empty() {
        return Err(CliError::usage("no commit is named").hint("mnem revert REV, or mnem revert --source REF"));
    }
    if said.is_some() && !is_from && (args.revisions.len() > 1 || args.revisions.iter().any(|text| text.contains("..")))
    {
        return Err(
            CliError::usage("one message can't be that of several commits").hint("mnem revert --message TEXT REV")
        );
    }
    let selections = args.revisions.iter().map(|text| context.read_selection(text)).collect::<Result<Vec<_>, _>>()?;
    let message = said.as_deref().map(message).transpose()?;
    let store = context.store_to_write()?;
    let session = context.session()?;
    let what = if is_from {
        Reverting::From { provenance, patterns }
    } else {
        Reverting::Commits { mainline: args.mainline.unwrap_or(0) }
    };
    let request = RevertRequest { selections, what, message, signature: signature(context, &store)? };
    let report = ops::revert(&store, &session, &request).map_err(|error| match error {
        OpError::NothingToCommit if is_from => {
            CliError::from(error).about("nothing in HEAD came from there").hint("see 'mnem log --source REF'")
        }
        OpError::NothingToCommit => {
            CliError::from(error).about("HEAD has nothing of it any more").hint("see 'mnem log --oneline'")
        }
        other => other.into(),
    })?;
    reverted(report, context)
}

fn reverted(report: RevertReport, context: &mut Context) -> Result<(), CliError> {
    context.warn_error(report.warning);
    context.warn_doubts(&report.doubts);
    made(&report.reverted, &report.head, context)?;
    stopped(report.reverted.stopped.as_ref(), Underway::Revert, context)
}
