//! `mnem commit`

use super::context::{Context, message};
use super::error::{CliError, Word};
use super::get::shortened;
use super::input::{name, read_bytes};
use super::json::{CommitJson, StagedJson, letter};
use super::pattern::patterns;
use super::put::utf8;
use super::text::escape_line;
use super::undo::say_undo;
use crate::model::{MAX_CONTENT_BYTES, Message, Pattern};
use crate::ops::{self, AmendRequest, CommitReport, CommitRequest, OpError};
use crate::store::{ChangeCount, CommitWords, Head, short_branch};
use std::path::PathBuf;

/// Make what is staged a commit
///
/// Commits all that this session has staged, on top of where its branch is by now, and prints the commit's full id. A
/// node that was changed both here and on the branch is a conflict: nothing is committed then, and all stays staged.
#[derive(clap::Args, Debug)]
pub(super) struct CommitArgs {
    /// What it says; several are paragraphs. Every line counts, also one that begins with #
    #[arg(short, long, value_name = "MESSAGE", allow_hyphen_values = true)]
    message: Vec<String>,

    /// Take the message from FILE; - is standard input
    #[arg(short = 'F', long, value_name = "FILE", conflicts_with = "message")]
    file: Option<PathBuf>,

    /// Who commits, such as 'Name <mail@example.org>' [env: MNEM_AUTHOR]
    #[arg(long, value_name = "AUTHOR", allow_hyphen_values = true)]
    author: Option<String>,

    /// When, instead of now, such as 2026-11-30T18:05:00+01:00 or '2 days ago' [env: MNEM_DATE]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    date: Option<String>,

    /// Commit only what is staged for such ids, and leave the rest staged
    #[arg(long, value_name = "PATTERN", num_args = 1.., add = super::complete::ids())]
    only: Vec<String>,

    /// Take * ? [ in patterns as they are
    #[arg(long)]
    literal: bool,

    /// Where the branch has changed a staged node meanwhile, take the staged version
    #[arg(long)]
    overwrite: bool,

    /// Take the place of the last commit: what that one changed and what is staged becomes one commit, with its author
    /// and message unless others are given. Refused unless that commit is where this session itself has brought HEAD
    /// last, by a commit, a reset or a switch: another session's on top is never amended unseen
    #[arg(long, conflicts_with_all = ["allow_empty", "skip_empty", "dry_run"])]
    amend: bool,

    /// Commit even where nothing changes
    #[arg(long, conflicts_with = "skip_empty")]
    allow_empty: bool,

    /// Where nothing changes, print HEAD and be content
    #[arg(long)]
    skip_empty: bool,

    /// Print what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn run(args: &CommitArgs, context: &mut Context) -> Result<(), CliError> {
    let only = patterns(&args.only, args.literal)?;
    if args.dry_run {
        return dry_run(args, &only, context);
    }
    let given = given_message(args, context)?;
    let time = match &args.date {
        Some(date) => context.time(date).map_err(|error| error.about("--date"))?,
        None => context.now()?,
    };
    let store = context.store_to_write()?;
    let session = context.session()?;
    if args.amend {
        let author = args.author.as_deref().map(|author| context.author(Some(author), &store)).transpose()?;
        let request = AmendRequest { author, message: given, time, only, overwrite: args.overwrite };
        let amended = ops::amend(&store, &session, &request).map_err(|error| match error {
            OpError::Conflict(_) => CliError::from(error)
                .hint("all stays staged; take the branch's version with 'mnem restore ID', or yours with 'mnem commit --amend --overwrite'"),
            other => other.into(),
        })?;
        return tell(amended, context);
    }
    let author = context.author(args.author.as_deref(), &store)?;
    let message = match given {
        Some(message) => message,
        None => {
            if let Err(OpError::NothingToCommit) =
                ops::preview(&store, &session, &only, args.allow_empty, args.overwrite)
            {
                return nothing(args, context);
            }
            message_from_editor(context)?
        }
    };
    let request = CommitRequest {
        words: CommitWords { author, time, message },
        allow_empty: args.allow_empty,
        only,
        overwrite: args.overwrite,
    };
    match ops::commit(&store, &session, &request) {
        Ok(report) => tell(report, context),
        Err(OpError::NothingToCommit) => nothing(args, context),
        Err(error) => Err(error.into()),
    }
}

fn given_message(args: &CommitArgs, context: &Context) -> Result<Option<Message>, CliError> {
    if let Some(file) = &args.file {
        let bytes = read_bytes(context, file, MAX_CONTENT_BYTES)?;
        return message(utf8(&bytes, &name(file))?).map(Some);
    }
    if args.message.is_empty() { Ok(None) } else { message(&args.message.join("\n\n")).map(Some) }
}

fn message_from_editor(context: &Context) -> Result<Message, CliError> {
    match super::editor::edit(context)? {
        Some(text) => message(&text),
        None => Err(CliError::usage("no message is given").hint("mnem commit -m MESSAGE")),
    }
}

/// Where patterns chose nothing of what is staged, they are named.
fn nothing_staged(args: &CommitArgs) -> CliError {
    let error = CliError::from(OpError::NothingToCommit);
    if args.only.is_empty() {
        return error;
    }
    let patterns: Vec<_> = args.only.iter().map(|text| shortened(text)).collect();
    let message = format!("{error}: nothing staged matches {}", patterns.join(" or "));
    CliError::new(Word::NothingToCommit, message).hint("see what is staged with 'mnem status'")
}

/// Nothing staged: an answer of its own, unless `--skip-empty` asks for HEAD instead.
fn nothing(args: &CommitArgs, context: &mut Context) -> Result<(), CliError> {
    if !args.skip_empty {
        return Err(nothing_staged(args));
    }
    context.say("nothing to commit");
    let store = context.store()?;
    let session = context.session()?;
    let filter = ops::LogFilter { limit: Some(1), ..ops::LogFilter::default() };
    for entry in ops::log(&store, &session, &filter)?.entries {
        if context.globals.json {
            context.json_line(&CommitJson::new(&entry))?;
        } else {
            context.line(&entry.commit.id.to_string())?;
        }
    }
    Ok(())
}

fn tell(report: CommitReport, context: &mut Context) -> Result<(), CliError> {
    context.warn_error(report.warning);
    let commit = &report.entry.commit;
    let paint = context.err_paint();
    let place = match &report.head {
        Head::Branch(name) => paint.branch(&escape_line(short_branch(name))),
        Head::Detached(_) => "detached HEAD".to_owned(),
    };
    let id = commit.id.to_string();
    context.say(&format!("[{place} {}] {}", paint.commit(&id[..10]), escape_line(commit.message.subject())));
    context.say(&format!(" {}", counted(commit.changes)));
    if let Some(replaced) = report.replaced {
        say_undo(context, &format!("{} reset --soft {replaced}", context.typed()));
    }
    if context.globals.json {
        return context.json_line(&CommitJson::new(&report.entry));
    }
    Ok(context.line(&id)?)
}

/// Counts in words, such as `2 nodes changed: 1 added, 1 modified`.
fn counted(changes: ChangeCount) -> String {
    let parts = [(changes.added, "added"), (changes.modified, "modified"), (changes.removed, "removed")];
    let parts: Vec<_> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
    match changes.total() {
        0 => "no node changed".to_owned(),
        1 => format!("1 node changed: {}", parts.join(", ")),
        total => format!("{total} nodes changed: {}", parts.join(", ")),
    }
}

fn dry_run(args: &CommitArgs, only: &[Pattern], context: &mut Context) -> Result<(), CliError> {
    let store = context.store_to_write()?;
    let session = context.session()?;
    let allow_empty = args.allow_empty || args.skip_empty;
    let (planned, changes) = match ops::preview(&store, &session, only, allow_empty, args.overwrite) {
        Err(OpError::NothingToCommit) => return Err(nothing_staged(args)),
        preview => preview?,
    };
    for change in &planned {
        if context.globals.json {
            context.json_line(&StagedJson::new(change, session.as_str()))?;
            continue;
        }
        let id = change.id.as_str();
        let id = if context.globals.nul { id.into() } else { escape_line(id) };
        context.line(&format!("{} {id}", letter(change.state)))?;
    }
    context.say(&format!("would commit: {}", counted(changes)));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_told_in_words() {
        let count = |added, modified, removed| counted(ChangeCount { added, modified, removed });
        assert_eq!(count(1, 1, 0), "2 nodes changed: 1 added, 1 modified");
        assert_eq!(count(0, 0, 1), "1 node changed: 1 removed");
        assert_eq!(count(0, 0, 0), "no node changed");
    }
}
