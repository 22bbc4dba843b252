//! `mnem merge`

use super::commit_text::one_line;
use super::conflict;
use super::context::{Context, message};
use super::error::{CliError, Word};
use super::json::{StagedJson, letter};
use super::settle::{OPTIONS, SettleArgs, print, signature, stopped};
use super::text::escape_line;
use crate::ops::{self, FastForward, MergeOutcome, MergeReport, MergeRequest, MergeTrial, Stop, Underway};

/// Bring the changes of another branch into this one
///
/// Node by node, from where the two parted: what one side changed is taken, texts that both changed are merged by line
/// and JSON values by leaf. Where changes don't go together nothing is changed; each conflict is printed with what both
/// were made of, what each side has and who wrote it, and waits to be settled. Prints the full id of the commit on which
/// the session stands then.
#[derive(clap::Args, Debug)]
pub(super) struct MergeArgs {
    /// The branch or the commit to merge
    #[arg(value_name = "REV", conflicts_with_all = OPTIONS, add = super::complete::revisions())]
    revision: Option<String>,

    /// What the commit says, instead of which branches were merged; also with --continue
    #[arg(short, long, value_name = "MESSAGE", allow_hyphen_values = true, conflicts_with_all = ["resolve", "abort"])]
    message: Vec<String>,

    /// Only move the branch on; where that is not all that is to be done, do nothing
    #[arg(long, conflicts_with = "no_ff", conflicts_with_all = OPTIONS)]
    ff_only: bool,

    /// Make a commit also where the branch could just move on
    #[arg(long, conflicts_with_all = OPTIONS)]
    no_ff: bool,

    /// Merge also what has no common commit
    #[arg(long, conflicts_with_all = OPTIONS)]
    allow_unrelated_histories: bool,

    /// Print what would change and what conflicts, and change nothing
    #[arg(long, conflicts_with_all = OPTIONS)]
    dry_run: bool,

    #[command(flatten)]
    settle: SettleArgs,
}

pub(super) fn run(args: &MergeArgs, context: &mut Context) -> Result<(), CliError> {
    let said = (!args.message.is_empty()).then(|| args.message.join("\n\n"));
    if args.settle.is_asked() {
        return args.settle.run(Underway::Merge, said.as_deref(), context);
    }
    let Some(revision) = &args.revision else {
        return Err(CliError::usage("no branch is named").hint("mnem merge NAME"));
    };
    let revision = context.read_revision(revision)?;
    let said = said.as_deref().map(message).transpose()?;
    let store = if args.dry_run { context.store()? } else { context.store_to_write()? };
    let session = context.session()?;
    let request = MergeRequest {
        revision,
        fast_forward: match (args.ff_only, args.no_ff) {
            (true, _) => FastForward::Only,
            (false, true) => FastForward::Never,
            (false, false) => FastForward::Allowed,
        },
        unrelated: args.allow_unrelated_histories,
        message: said,
        signature: signature(context, &store)?,
    };
    if args.dry_run {
        let trial = ops::try_merge(&store, &session, &request)?;
        return tried(&trial, session.as_str(), context);
    }
    merged(ops::merge(&store, &session, &request)?, context)
}

fn merged(report: MergeReport, context: &mut Context) -> Result<(), CliError> {
    let MergeReport { outcome, entry, head, left, staged, doubt, warning } = report;
    context.warn_error(warning);
    context.warn_doubts(&doubt);
    if let MergeOutcome::Stopped(conflicts) = outcome {
        return stopped(Some(&Stop { commit: None, conflicts }), Underway::Merge, context);
    }
    let Some(entry) = entry else { return Ok(()) };
    let told = one_line(&entry, head.branch(), context.err_paint());
    match outcome {
        MergeOutcome::UpToDate => context.say("already up to date"),
        MergeOutcome::FastForward => context.say(&format!("moved on to {told}")),
        MergeOutcome::Merged | MergeOutcome::Stopped(_) => context.say(&told),
    }
    let left = left.filter(|left| *left != entry.commit.id);
    if let (Some(left), 0) = (left, staged) {
        context.say(&format!("{} {} reset --hard {left}", context.err_paint().hint("to undo:"), context.typed()));
    }
    print(&[entry], context)
}

/// Prints the changes, then the conflicts: with these a merge would not be finished.
fn tried(trial: &MergeTrial, session: &str, context: &mut Context) -> Result<(), CliError> {
    context.warn_doubts(&trial.doubt);
    for change in &trial.changes {
        if context.globals.json {
            context.json_line(&StagedJson::new(change, session))?;
        } else if context.globals.nul {
            context.line(&format!("{} {}", letter(change.state), change.id))?;
        } else {
            let id = context.paint().id(&escape_line(change.id.as_str()));
            let letter = context.paint().state(change.state, &letter(change.state).to_string());
            context.line(&format!("{letter} {id}"))?;
        }
    }
    match &trial.outcome {
        MergeOutcome::UpToDate => context.say("already up to date"),
        MergeOutcome::FastForward => context.say("the branch would move on"),
        MergeOutcome::Merged => context.say("a commit would be made"),
        MergeOutcome::Stopped(conflicts) => {
            conflict::show(conflicts, context)?;
            let nodes = if conflicts.len() == 1 { "node" } else { "nodes" };
            let message = format!("{} {nodes} would conflict", conflicts.len());
            return Err(CliError::new(Word::Conflict, message).hint("nothing was changed; go ahead without --dry-run"));
        }
    }
    Ok(())
}
