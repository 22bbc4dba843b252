//! Going on with a merge or a revert that stopped: the options that both have for it.

use super::commit_text::one_line;
use super::conflict::{self, short};
use super::context::{Context, message};
use super::error::{CliError, Word};
use super::json::CommitJson;
use super::shell::word;
use super::text::escape_line;
use super::undo::{say_forgotten, say_undo};
use crate::model::NodeId;
use crate::ops::{
    self, AbortReport, Choice, ConcludeReport, ConflictReport, Left, Reverted, Signature, Stop, Underway,
};
use crate::store::{Head, Store};

/// What to do with what has stopped
#[derive(clap::Args, Debug)]
pub(super) struct SettleArgs {
    /// Settle a conflict: with ours HEAD's version stays, with theirs the other side's is taken, with base that of both
    /// before, with delete the node goes. 'mnem put', 'mnem rm' and 'mnem restore' settle it too
    #[arg(long, value_name = "ID=ours|theirs|base|delete", num_args = 1..,
        conflicts_with_all = ["continue", "abort"], add = super::complete::ids())]
    resolve: Vec<String>,

    /// Make the commit, now that all conflicts are settled
    #[arg(long, conflicts_with = "abort")]
    r#continue: bool,

    /// Leave it: all is as before, and what was settled is dropped
    #[arg(long)]
    abort: bool,
}

/// The names of the options.
pub(super) const OPTIONS: [&str; 3] = ["resolve", "continue", "abort"];

/// The author and the time of what is made now.
pub(super) fn signature(context: &Context, store: &Store) -> Result<Signature, CliError> {
    Ok(Signature { author: context.author(None, store)?, time: context.now()? })
}

impl SettleArgs {
    /// Whether one of the options is there.
    pub(super) fn is_asked(&self) -> bool {
        !self.resolve.is_empty() || self.r#continue || self.abort
    }

    /// Does it.
    pub(super) fn run(&self, underway: Underway, said: Option<&str>, context: &mut Context) -> Result<(), CliError> {
        let choices = self.resolve.iter().map(|text| choice(text)).collect::<Result<Vec<_>, _>>()?;
        let said = said.map(message).transpose()?;
        let store = context.store_to_write()?;
        let session = context.session()?;
        if !choices.is_empty() {
            let conflicts = ops::settle(&store, &session, underway, &choices)?;
            return settled(&conflicts, underway, context);
        }
        let signature = signature(context, &store)?;
        if self.abort {
            let report = ops::abort(&store, &session, underway, &signature)?;
            return aborted(report, context);
        }
        let report = ops::conclude(&store, &session, underway, said.as_ref(), &signature)
            .map_err(|error| unsettled(error, underway))?;
        concluded(report, underway, context)
    }
}

fn unsettled(error: ops::OpError, underway: Underway) -> CliError {
    let name = underway.name();
    match error {
        ops::OpError::Unsettled(_) => CliError::from(error).hint(format!(
            "mnem {name} --resolve ID=ours|theirs|base|delete, or 'mnem put ID CONTENT'; see 'mnem status'"
        )),
        ops::OpError::NothingToCommit => {
            CliError::from(error).hint(format!("as it is settled nothing changes; leave it with 'mnem {name} --abort'"))
        }
        other => other.into(),
    }
}

fn choice(text: &str) -> Result<(NodeId, Choice), CliError> {
    let (id, choice) = text.rsplit_once('=').unwrap_or((text, ""));
    let choice = match choice {
        "ours" => Choice::Ours,
        "theirs" => Choice::Theirs,
        "base" => Choice::Base,
        "delete" => Choice::Delete,
        _ => {
            let message = format!("--resolve: '{text}' does not say on what a conflict is settled");
            return Err(CliError::usage(message).hint("such as --resolve user/diet=theirs"));
        }
    };
    Ok((NodeId::new(id)?, choice))
}

/// Prints the conflicts as they are now, and says what is left to do.
fn settled(conflicts: &[ConflictReport], underway: Underway, context: &mut Context) -> Result<(), CliError> {
    conflict::show(conflicts, context)?;
    let (open, name) = (conflicts.iter().filter(|conflict| conflict.settled.is_none()).count(), underway.name());
    context.say(&match open {
        0 => format!("all conflicts are settled; go on with 'mnem {name} --continue'"),
        1 => "1 conflict is left".to_owned(),
        open => format!("{open} conflicts are left"),
    });
    Ok(())
}

fn aborted(report: AbortReport, context: &mut Context) -> Result<(), CliError> {
    context.warn_error(report.warning);
    context.say(&match &report.left {
        Left::Merge { name, .. } => escape_line(&format!("left the merge of {name}")).into_owned(),
        Left::Revert { .. } | Left::Undo { .. } => "left the revert".to_owned(),
    });
    let staging = say_forgotten(context, &report.dropped);
    let Some(entry) = report.entry else { return Ok(()) };
    let moved = report.stood.filter(|stood| *stood != entry.commit.id);
    let back = moved.map_or(String::new(), |stood| format!("{} merge -q --ff-only {stood} && ", context.typed()));
    // Beginning it again stops, with a status that is not 0.
    let settling = staging.map_or(String::new(), |staging| format!(" || {staging}"));
    say_undo(context, &format!("{back}{}{settling}", again(&report.left, context)));
    if context.globals.json {
        return context.json_line(&CommitJson::new(&entry));
    }
    Ok(context.line(&entry.commit.id.to_string())?)
}

/// The line that begins it again.
pub(super) fn again(left: &Left, context: &Context) -> String {
    let mut words = vec![context.typed()];
    let (verb, message) = match left {
        Left::Merge { message, .. } => ("merge", message.as_deref()),
        Left::Revert { message, .. } => ("revert", message.as_deref()),
        Left::Undo { message, .. } => ("revert", Some(message.as_str())),
    };
    words.push(verb.to_owned());
    words.extend(message.map(|message| format!("--message {}", word(message))));
    match left {
        Left::Merge { name, .. } => words.push(word(name)),
        Left::Revert { commits, mainline, .. } => {
            words.extend((*mainline > 0).then(|| format!("-m {mainline}")));
            words.extend(commits.iter().map(ToString::to_string));
        }
        Left::Undo { provenance, ids, commits, .. } => {
            for (field, value) in provenance.fields() {
                words.extend(value.map(|value| format!("--{} {}", field.replace('_', "-"), word(value))));
            }
            words.extend(commits.iter().map(ToString::to_string));
            words.push("--literal --".to_owned());
            words.extend(ids.iter().map(|id| word(id.as_str())));
        }
    }
    words.join(" ")
}

fn concluded(report: ConcludeReport, underway: Underway, context: &mut Context) -> Result<(), CliError> {
    context.warn_error(report.warning);
    if underway == Underway::Merge && report.reverted.made.is_empty() {
        context.say("already up to date");
        let Some(entry) = report.entry else { return Ok(()) };
        return print(&[entry], context);
    }
    made(&report.reverted, &report.head, context)?;
    stopped(report.reverted.stopped.as_ref(), underway, context)
}

/// Prints commits: the rows of JSON, or a full id each.
pub(super) fn print(made: &[crate::graph::Entry], context: &mut Context) -> Result<(), CliError> {
    for entry in made {
        if context.globals.json {
            context.json_line(&CommitJson::new(entry))?;
        } else {
            context.line(&entry.commit.id.to_string())?;
        }
    }
    Ok(())
}

/// Prints the commits that were made, and says them; and those of which nothing was left to undo.
pub(super) fn made(reverted: &Reverted, head: &Head, context: &mut Context) -> Result<(), CliError> {
    let paint = context.err_paint();
    for entry in &reverted.made {
        context.say(&one_line(entry, head.branch(), paint));
    }
    for id in &reverted.unchanged {
        context.say(&format!("undoing {} changes nothing", short(id)));
    }
    print(&reverted.made, context)
}

/// Prints what conflicts, where something does: then it is the caller's turn.
pub(super) fn stopped(stop: Option<&Stop>, underway: Underway, context: &mut Context) -> Result<(), CliError> {
    let Some(Stop { commit, conflicts }) = stop else { return Ok(()) };
    conflict::show(conflicts, context)?;
    let (count, name) = (conflicts.len(), underway.name());
    let nodes = if count == 1 { "1 node conflicts" } else { &format!("{count} nodes conflict") };
    let subject = match (underway, commit) {
        (Underway::Merge, _) | (Underway::Revert, None) => format!("{nodes}; nothing is changed yet"),
        (Underway::Revert, Some(id)) => format!("{}: {nodes}; it is not undone yet", short(id)),
    };
    Err(CliError::new(Word::Conflict, subject).hint(format!(
        "settle each with 'mnem {name} --resolve ID=ours|theirs|base|delete' or 'mnem put ID CONTENT', then 'mnem {name} \
         --continue'; or leave it with 'mnem {name} --abort'"
    )))
}
