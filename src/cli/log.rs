//! `mnem log`

use super::context::{AtRevision, Context};
use super::error::{CliError, Word};
use super::json::{ChangedJson, CommitJson, letter};
use super::node_filter::NodeFilterArgs;
use super::paint::Paint;
use super::pattern::pattern;
use super::text::{escape_block, escape_line};
use crate::graph::{Changed, Entry, Selection};
use crate::model::{CommitTime, Node};
use crate::ops::{self, LogFilter, LogReport};
use crate::store::short_branch;
use regex::{Regex, RegexBuilder};
use std::borrow::Cow;
use std::io::{self, Write};

/// Digits of an id where a short one will do.
const SHORT: usize = 10;

/// Show the commits behind a revision
///
/// Children come before their parents, whatever the clocks said. With patterns, only commits that changed such a node.
/// With --source, --event-since and their like, only commits that wrote a node of which all of them hold: a merge writes
/// what is in none of its parents, or with --first-parent what is not in the first; a removal writes nothing.
#[derive(clap::Args, Debug)]
pub(super) struct LogArgs {
    /// Where to begin, HEAD if none is named; A..B without the ancestors of A, A...B without those of both, ^A without
    /// those of A
    #[arg(value_name = "REV|A..B", add = super::complete::revisions_then_ids())]
    revisions: Vec<String>,

    /// Only commits that changed a node with such an id: an id, an id with / behind it for all below, or a glob
    #[arg(last = true, value_name = "PATTERN", add = super::complete::ids())]
    patterns: Vec<String>,

    #[command(flatten)]
    at: AtRevision,

    /// Show at most COUNT commits
    #[arg(short = 'n', long = "max-count", value_name = "COUNT", allow_negative_numbers = true)]
    limit: Option<usize>,

    /// Pass over the first COUNT commits
    #[arg(long, value_name = "COUNT", default_value_t = 0, hide_default_value = true, allow_negative_numbers = true)]
    skip: usize,

    /// Only commits made at TIME or later, such as '2 days ago' or 2026-11-30
    #[arg(long, value_name = "TIME")]
    since: Option<String>,

    /// Only commits made at TIME or earlier
    #[arg(long, value_name = "TIME")]
    until: Option<String>,

    /// Only commits whose author matches
    #[arg(long, value_name = "REGEX", allow_hyphen_values = true)]
    author: Option<String>,

    /// Only commits whose message matches
    #[arg(long, value_name = "REGEX", allow_hyphen_values = true)]
    grep: Option<String>,

    #[command(flatten)]
    nodes: NodeFilterArgs,

    /// Begin at every branch and tag
    #[arg(long, conflicts_with_all = ["revisions", "rev"])]
    all: bool,

    /// With each commit the nodes that it changed, and how many lines of each
    #[arg(long, conflicts_with_all = ["ids", "name_status"])]
    stat: bool,

    /// With each commit the nodes that it changed, behind A, M or D
    #[arg(long, conflicts_with = "ids")]
    name_status: bool,

    /// One line a commit
    #[arg(long)]
    oneline: bool,

    /// The oldest first
    #[arg(long)]
    reverse: bool,

    /// Follow only the first parent of each merge
    #[arg(long)]
    first_parent: bool,

    /// Only full commit ids, one a line
    #[arg(long, conflicts_with = "oneline")]
    ids: bool,

    /// Take * ? [ in patterns as they are
    #[arg(long)]
    literal: bool,
}

pub(super) fn run(args: &LogArgs, context: &mut Context) -> Result<(), CliError> {
    let patterns = args.patterns.iter().map(|text| pattern(text, args.literal)).collect::<Result<_, _>>()?;
    let store = context.store()?;
    let session = context.session()?;
    let mut revisions = args.revisions.iter().map(|rev| context.read_selection(rev)).collect::<Result<Vec<_>, _>>()?;
    if revisions.is_empty() {
        revisions.extend(context.revision(&args.at, &store)?.map(Selection::Of));
    } else if args.at.rev.is_some() {
        return Err(CliError::usage("REV and --rev both name a revision").hint("mnem log REV"));
    }
    let filter = LogFilter {
        revisions,
        patterns,
        nodes: args.nodes.read(context)?,
        all: args.all,
        since: args.since.as_deref().map(|text| time("--since", text, context)).transpose()?,
        until: args.until.as_deref().map(|text| time("--until", text, context)).transpose()?,
        author: args.author.as_deref().map(|text| regex("--author", text)).transpose()?,
        message: args.grep.as_deref().map(|text| regex("--grep", text)).transpose()?,
        changed: args.stat || args.name_status,
        first_parent: args.first_parent,
        skip: args.skip,
        limit: args.limit,
        reverse: args.reverse,
    };
    let report = ops::log(&store, &session, &filter)?;
    for name in &report.also_prefixes {
        context.warn_prefix(Some(name));
    }
    if let Some(branch) = &report.unborn {
        context.say(&format!("no commit yet on '{}'", escape_line(branch)));
    }
    if !args.ids {
        context.page();
    }
    render(&report, args, context)
}

fn time(option: &str, text: &str, context: &Context) -> Result<i64, CliError> {
    context.time(text).map(CommitTime::unix_ms).map_err(|error| error.about(option))
}

fn regex(option: &str, text: &str) -> Result<Regex, CliError> {
    RegexBuilder::new(text).multi_line(true).build().map_err(|error| {
        let message = error.to_string();
        let last = message.lines().last().unwrap_or("no regular expression").trim_start_matches("error: ").to_owned();
        CliError::new(Word::BadPattern, format!("{option} '{text}': {last}"))
    })
}

fn render(report: &LogReport, args: &LogArgs, context: &mut Context) -> Result<(), CliError> {
    let paint = context.paint();
    for (at, entry) in report.entries.iter().enumerate() {
        if args.ids && !context.globals.json {
            context.line(&entry.commit.id.to_string())?;
        } else if context.globals.json {
            context.json_line(&CommitJson::new(entry))?;
            for changed in report.changed.get(at).into_iter().flatten() {
                context.json_line(&ChangedJson::new(entry, changed, args.stat.then(|| lines(changed))))?;
            }
        } else if args.oneline {
            let line = one_line(entry, report.head_branch.as_deref(), paint);
            context.line(&line)?;
        } else {
            let out = context.out();
            if at > 0 {
                writeln!(out)?;
            }
            block(out, entry, report.head_branch.as_deref(), paint)?;
            if !report.changed.is_empty() {
                writeln!(out)?;
            }
        }
        if let (Some(changed), false) = (report.changed.get(at), context.globals.json) {
            changes(context, changed, args.stat)?;
        }
    }
    Ok(())
}

/// The nodes that a commit changed.
fn changes(context: &mut Context, changed: &[Changed], stat: bool) -> io::Result<()> {
    let (exact, paint) = (context.globals.nul, context.paint());
    let shown = |id| if exact { Cow::Borrowed(id) } else { escape_line(id) };
    let ids: Vec<_> = changed.iter().map(|changed| shown(changed.id().as_str())).collect();
    let width = ids.iter().map(|id| console::measure_text_width(id)).max().unwrap_or(0);
    let (mut added, mut removed) = (0, 0);
    for (changed, id) in changed.iter().zip(&ids) {
        if !stat {
            let letter = paint.state(changed.effect().into(), &letter(changed.effect().into()).to_string());
            context.line(&format!("{letter} {}", paint.id(id)))?;
            continue;
        }
        let (more, less) = lines(changed);
        (added, removed) = (added + more, removed + less);
        let pad = " ".repeat(width - console::measure_text_width(id));
        let letter = paint.state(changed.effect().into(), &letter(changed.effect().into()).to_string());
        let (id, more, less) = (paint.id(id), paint.added(&format!("+{more}")), paint.removed(&format!("-{less}")));
        context.line(&format!(" {id}{pad} | {letter} {more} {less}"))?;
    }
    let nodes = if changed.len() == 1 { "node" } else { "nodes" };
    let sum = format!(" {} {nodes} changed, +{added} -{removed} lines", changed.len());
    if stat { context.line(&sum) } else { Ok(()) }
}

/// How many lines of its text a change adds and takes away; a value that is no text counts by the lines of its JSON.
fn lines(changed: &Changed) -> (usize, usize) {
    let text = |node: &Option<Node>| {
        let content = node.as_ref().map(|node| &node.content);
        content.map(|content| content.text().map_or_else(|| content.json().to_owned(), |text| text.into_owned()))
    };
    let (old, new) = (text(&changed.old).unwrap_or_default(), text(&changed.new).unwrap_or_default());
    let diff = similar::TextDiff::from_lines(&old, &new);
    let count = |tag| diff.iter_all_changes().filter(|change| change.tag() == tag).count();
    (count(similar::ChangeTag::Insert), count(similar::ChangeTag::Delete))
}

/// Such as ` (HEAD -> main, other)`; nothing where no ref names the commit.
fn decoration(entry: &Entry, head_branch: Option<&str>, paint: Paint) -> String {
    let mut names = Vec::new();
    for name in &entry.refs {
        let short = escape_line(short_branch(name)).into_owned();
        let painted = paint.branch(&short);
        let own = entry.is_head && head_branch == Some(name);
        names.push(if own { format!("{} {painted}", paint.head("HEAD ->")) } else { painted });
    }
    if entry.is_head && head_branch.is_none() {
        names.insert(0, paint.head("HEAD"));
    }
    if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) }
}

fn one_line(entry: &Entry, head_branch: Option<&str>, paint: Paint) -> String {
    let id = entry.commit.id.to_string();
    let decoration = decoration(entry, head_branch, paint);
    format!("{}{decoration} {}", paint.commit(&id[..SHORT]), escape_line(entry.commit.message.subject()))
}

fn block(out: &mut dyn Write, entry: &Entry, head_branch: Option<&str>, paint: Paint) -> io::Result<()> {
    let commit = &entry.commit;
    let header = paint.commit(&format!("commit {}", commit.id));
    writeln!(out, "{header}{}", decoration(entry, head_branch, paint))?;
    if entry.parents.len() > 1 {
        let parents: Vec<_> = entry.parents.iter().map(|id| id.to_string()[..SHORT].to_owned()).collect();
        writeln!(out, "Merge:  {}", parents.join(" "))?;
    }
    writeln!(out, "Author: {}", escape_line(commit.author.as_str()))?;
    writeln!(out, "Date:   {}", commit.time)?;
    writeln!(out)?;
    for line in escape_block(commit.message.as_str()).lines() {
        writeln!(out, "{}", format!("    {line}").trim_end())?;
    }
    Ok(())
}
