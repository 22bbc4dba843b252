//! `mnem put`

use super::context::Context;
use super::error::CliError;
use super::get::node_id;
use super::input::{not_utf8, read_bytes, read_text, refuse_too_large};
use super::json::{CommitJson, change_name};
use super::rows::{Asked, Defaults, Lines, read_history, read_rows};
use super::staging::Staging;
use super::text::escape_line;
use crate::model::{Content, ContentKind, MAX_CONTENT_BYTES, Node, Provenance, Timestamp, json_string_length};
use crate::object::ObjectId;
use crate::ops::{self, Condition, Group, StagedReport, StagedState, Write};
use crate::store::CommitWords;
use std::path::{Path, PathBuf};

/// From this size on a content is remarked upon: 8 MiB.
const LARGE: usize = 8 << 20;

/// The most bytes of JSON Lines that are read at once: 16 GiB.
pub(super) const MAX_ROWS_BYTES: u64 = 16 << 30;

/// Stage a node, or many
///
/// Records what the node is to be in this session's next commit, and prints its id. Content is kept byte for byte. What
/// HEAD has already is not staged again. One argument holds at most 128 KiB on Linux: give more on standard input or as
/// a file.
#[derive(clap::Args, Debug)]
#[command(
    override_usage = "mnem put [OPTIONS] ID CONTENT\n       mnem put [OPTIONS] ID -\n       mnem put [OPTIONS] ID -F FILE\n       mnem put [OPTIONS] --new CONTENT\n       mnem put [OPTIONS] --jsonl [FILE|-]"
)]
pub(super) struct PutArgs {
    /// The node's id: 1 to 1024 bytes, no control characters
    #[arg(value_name = "ID", allow_hyphen_values = true, add = super::complete::ids())]
    id: Option<String>,

    /// The content; - reads standard input
    #[arg(value_name = "CONTENT", allow_hyphen_values = true)]
    content: Option<String>,

    /// Take the content from FILE; - is standard input
    #[arg(short = 'F', long, value_name = "FILE")]
    file: Option<PathBuf>,

    /// Generate an id (UUIDv7); only the content is given
    #[arg(long)]
    new: bool,

    /// Read many nodes, a JSON object a line: {"id","content"|"content_json","provenance","event_time"}, or
    /// {"id","deleted":true}; all or none. Without FILE standard input
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    jsonl: Option<PathBuf>,

    /// What the content is: text, or JSON kept as it is spelled
    #[arg(short = 't', long = "type", value_name = "TYPE", default_value = "text", value_parser = ["text", "json"])]
    kind: String,

    /// The content kind; note is the only one
    #[arg(long = "kind", value_name = "KIND", default_value = "note")]
    content_kind: String,

    /// When the belief was formed, RFC 3339 with an offset
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    event_time: Option<String>,

    /// Which step of the run produced it [env: MNEM_AGENT_STEP]
    #[arg(long, value_name = "STEP", allow_hyphen_values = true)]
    agent_step: Option<String>,

    /// The observation it was drawn from [env: MNEM_OBSERVATION]
    #[arg(long, value_name = "REF", allow_hyphen_values = true)]
    observation: Option<String>,

    /// The tool call that produced it [env: MNEM_TOOL_CALL]
    #[arg(long, value_name = "REF", allow_hyphen_values = true)]
    tool_call: Option<String>,

    /// An external source [env: MNEM_SOURCE]
    #[arg(long, value_name = "REF", allow_hyphen_values = true)]
    source: Option<String>,

    /// Anything else about where it came from [env: MNEM_NOTE]
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    note: Option<String>,

    /// Provenance as a JSON object; the options above beat it, and it beats the variables
    #[arg(long, value_name = "JSON", allow_hyphen_values = true)]
    provenance: Option<String>,

    /// Only if the id is absent; otherwise the status is 1
    #[arg(long, conflicts_with_all = ["if_match", "jsonl"])]
    if_absent: bool,

    /// Only if the node has this hash, or is absent for none; otherwise the status is 1
    #[arg(long, value_name = "HASH|none", conflicts_with = "jsonl")]
    if_match: Option<String>,

    /// With --jsonl: rows {"commit":{"message","author","time"}} commit what came before them, all in one transaction;
    /// what comes behind the last is staged once that is durable. Prints the commit ids
    #[arg(long, requires = "jsonl", conflicts_with_all = ["message", "commit_every"])]
    commits: bool,

    /// With --jsonl and -m: a commit after every COUNT rows, unless they change nothing; prints the commit ids
    #[arg(long, value_name = "COUNT", requires_all = ["jsonl", "message"], value_parser = clap::value_parser!(u64).range(1..))]
    commit_every: Option<u64>,

    /// Print what would be staged, or with -m committed, and change nothing
    #[arg(long, conflicts_with_all = ["commits", "commit_every"])]
    dry_run: bool,

    /// Commit just this, in the same transaction; several are paragraphs
    #[arg(short, long, value_name = "MESSAGE", allow_hyphen_values = true)]
    message: Vec<String>,
}

pub(super) fn run(args: &PutArgs, context: &mut Context) -> Result<(), CliError> {
    if args.commits || args.commit_every.is_some() {
        return history(args, context);
    }
    let writes = writes(args, context)?;
    let large = writes.iter().filter_map(large).collect::<Vec<_>>();
    let condition = condition(args)?;
    let store = context.store_to_write()?;
    let words = context.commit_words(&args.message, &store)?;
    let session = context.session()?;
    let staging = if args.dry_run {
        Staging::staged(ops::try_put(&store, &session, writes, condition, words.is_some())?)
    } else {
        Staging::new(context, &store, &session, writes, condition, words.as_ref())?
    };
    for remark in large {
        context.say(&remark);
    }
    tell(&staging.reports, args, context);
    staging.show(context, &session)
}

fn condition(args: &PutArgs) -> Result<Condition, CliError> {
    match args.if_match.as_deref() {
        None if args.if_absent => Ok(Condition::Absent),
        None => Ok(Condition::Any),
        Some("none") => Ok(Condition::Absent),
        Some(hash) => ObjectId::parse(hash).map(Condition::Is).ok_or_else(|| {
            CliError::usage(format!("'{hash}' is not a hash of 64 hexadecimal digits"))
                .hint("'mnem get --json ID' tells a node's hash")
        }),
    }
}

/// Rows with commits among them: all rows are read first, all commits are one transaction. What comes behind the last
/// one is staged once that is durable.
fn history(args: &PutArgs, context: &mut Context) -> Result<(), CliError> {
    let Some(rows) = &args.jsonl else { return Err(CliError::usage("commits are made of rows: --jsonl is missing")) };
    if args.id.is_some() || args.file.is_some() || args.new || args.kind == "json" {
        return Err(rows_only());
    }
    ContentKind::parse(&args.content_kind)?;
    let defaults = Defaults {
        provenance: provenance(args, context)?,
        event_time: args.event_time.as_deref().map(event_time).transpose()?,
        limit: MAX_CONTENT_BYTES,
    };
    let bytes = read_bytes(context, rows, MAX_ROWS_BYTES)?;
    let lines = Lines { bytes: &bytes, path: rows };
    let store = context.store_to_write()?;
    let (author, time) = (context.author(None, &store)?, context.now()?);
    let own = context.commit_words(&args.message, &store)?;
    let (mut groups, mut rest) = (Vec::new(), Vec::new());
    match (args.commit_every, own) {
        (Some(every), Some(words)) => {
            for write in read_rows(lines, &defaults, context.generated_ids()?)? {
                rest.push(write);
                if rest.len() as u64 == every {
                    groups.push(Group { writes: std::mem::take(&mut rest), words: words.clone(), skip_empty: true });
                }
            }
            if !rest.is_empty() {
                groups.push(Group { writes: std::mem::take(&mut rest), words, skip_empty: true });
            }
        }
        (None, _) | (_, None) => {
            for asked in read_history(lines, &defaults, context.generated_ids()?)? {
                match asked {
                    Asked::Write(write) => rest.push(write),
                    Asked::Commit(row) => groups.push(Group {
                        writes: std::mem::take(&mut rest),
                        words: CommitWords {
                            author: row.author.unwrap_or_else(|| author.clone()),
                            time: row.time.unwrap_or(time),
                            message: row.message,
                        },
                        skip_empty: false,
                    }),
                }
            }
        }
    }
    let session = context.session()?;
    let asked = groups.len();
    let report = ops::batch(&store, &session, groups, rest)?;
    context.warn_error(report.warning);
    if report.commits.len() < asked {
        context.say(&format!("unchanged: {} of {asked}", asked - report.commits.len()));
    }
    for commit in &report.commits {
        if context.globals.json {
            context.json_line(&CommitJson::new(commit))?;
        } else {
            context.line(&commit.commit.id.to_string())?;
        }
    }
    if !report.staged.is_empty() {
        context.say(&format!("staged behind the last commit: {}", report.staged.len()));
    }
    Ok(())
}

fn rows_only() -> CliError {
    CliError::usage("with --jsonl ids and contents come from the rows").hint("mnem put --jsonl FILE")
}

/// Says what was not staged, for HEAD has it.
fn tell(reports: &[StagedReport], args: &PutArgs, context: &mut Context) {
    let unchanged: Vec<_> = reports.iter().filter(|report| report.state == StagedState::Unchanged).collect();
    if context.globals.verbose {
        for report in reports {
            context.say(&format!("{}: '{}'", change_name(report.state), escape_line(report.id.as_str())));
        }
        return;
    }
    match unchanged[..] {
        [] => {}
        [one] if args.jsonl.is_none() => context.say(&format!("unchanged: '{}'", escape_line(one.id.as_str()))),
        _ => context.say(&format!("unchanged: {} of {}", unchanged.len(), reports.len())),
    }
}

fn large(write: &Write) -> Option<String> {
    match write {
        Write::Set(node) if node.content.json().len() >= LARGE => Some(format!(
            "note: the content of '{}' is large ({} MiB)",
            escape_line(node.id.as_str()),
            node.content.json().len() >> 20
        )),
        Write::Set(_) | Write::Mark(_) | Write::Remove(_) => None,
    }
}

fn writes(args: &PutArgs, context: &Context) -> Result<Vec<Write>, CliError> {
    let content_kind = ContentKind::parse(&args.content_kind)?;
    let provenance = provenance(args, context)?;
    let event_time = args.event_time.as_deref().map(event_time).transpose()?;
    for word in [&args.id, &args.content].into_iter().flatten() {
        context.refuse_option(word, "CFmt", "mnem put -- ID CONTENT")?;
    }
    if let Some(rows) = &args.jsonl {
        if args.id.is_some() || args.file.is_some() || args.new || args.kind == "json" {
            return Err(rows_only());
        }
        let defaults = Defaults { provenance, event_time, limit: MAX_CONTENT_BYTES };
        let bytes = read_bytes(context, rows, MAX_ROWS_BYTES)?;
        let lines = Lines { bytes: &bytes, path: rows };
        return read_rows(lines, &defaults, context.generated_ids()?);
    }
    let (id, given) = match (args.new, &args.id, &args.content) {
        (true, content, None) => (context.generated_ids()?(), content.as_deref()),
        (true, _, Some(_)) => {
            return Err(CliError::usage("with --new only the content is given").hint("mnem put --new CONTENT"));
        }
        (false, None, _) => {
            return Err(CliError::usage("no id is given").hint("mnem put ID CONTENT, or mnem put --new CONTENT"));
        }
        (false, Some(id), content) => (node_id(id)?, content.as_deref()),
    };
    let content = content(&content_text(args, given, context)?, args.kind == "json", MAX_CONTENT_BYTES)?;
    Ok(vec![Write::Set(Node { id, content, content_kind, provenance, event_time })])
}

/// The content of a text, or of a JSON text; its JSON text has at most `limit` bytes.
fn content(text: &str, is_json: bool, limit: u64) -> Result<Content, CliError> {
    refuse_too_large(if is_json { text.trim().len() as u64 } else { json_string_length(text) }, limit, "the content")?;
    if !is_json {
        return Ok(Content::from_text(text));
    }
    Content::from_json(text).map_err(|error| {
        CliError::from(error).about("the content").hint("text that is no JSON is put without '-t json'")
    })
}

fn content_text(args: &PutArgs, given: Option<&str>, context: &Context) -> Result<String, CliError> {
    match (given, &args.file) {
        (Some(_), Some(_)) => {
            Err(CliError::usage("CONTENT and -F both give the content")
                .hint("mnem put ID CONTENT, or mnem put ID -F FILE"))
        }
        (None, None) => {
            Err(CliError::usage("no content is given")
                .hint("mnem put ID CONTENT; '-' in its place reads standard input"))
        }
        (Some("-"), None) => read_text(context, Path::new("-")),
        (Some(text), None) => Ok(text.to_owned()),
        (None, Some(file)) => read_text(context, file),
    }
}

/// Reads an event time as the caller spelled it.
pub(super) fn event_time(text: &str) -> Result<Timestamp, CliError> {
    Timestamp::parse(text).map_err(|error| CliError::from(error).about(&format!("the event time '{text}'")))
}

/// Options beat `--provenance`, which beats the variables; an empty option clears.
fn provenance(args: &PutArgs, context: &Context) -> Result<Provenance, CliError> {
    let mut provenance = context.provenance()?;
    if let Some(json) = &args.provenance {
        super::rows::overlay_provenance(json, &mut provenance)
            .map_err(|error| error.about("--provenance").hint(r#"such as --provenance '{"source":"web"}'"#))?;
    }
    let options = [
        (&args.agent_step, &mut provenance.agent_step),
        (&args.observation, &mut provenance.observation),
        (&args.tool_call, &mut provenance.tool_call),
        (&args.source, &mut provenance.source),
        (&args.note, &mut provenance.note),
    ];
    for (given, field) in options {
        if let Some(given) = given {
            *field = (!given.is_empty()).then(|| given.clone());
        }
    }
    Ok(provenance)
}

/// Text of JSON Lines; what is not UTF-8 is refused with the offset.
pub(super) fn utf8<'a>(bytes: &'a [u8], name: &str) -> Result<&'a str, CliError> {
    std::str::from_utf8(bytes).map_err(|error| not_utf8(name, error.valid_up_to()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_may_have_just_so_many_bytes_as_json() {
        for (text, is_json, length) in
            [("ab", false, 4), ("\"", false, 4), ("\0", false, 8), (" [1] \n", true, 3), ("\"\\u0071\"", true, 8)]
        {
            assert_eq!(content(text, is_json, length).expect(text).json().len() as u64, length);
            let refused = content(text, is_json, length - 1).expect_err(text);
            let said = format!("the content has more than {} bytes as JSON text", length - 1);
            assert_eq!((refused.exit(), refused.to_string()), (129, said));
        }
    }
}
