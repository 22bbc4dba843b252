//! `mnem log`

use super::changes::{ChangeStyle, Form};
use super::commit_text::{block, one_line};
use super::context::{AtRevision, Context};
use super::error::CliError;
use super::json::CommitJson;
use super::lanes::{Drawing, Lanes};
use super::node_filter::NodeFilterArgs;
use super::pattern::{note_options, or_pattern, patterns, regex};
use super::text::escape_line;
use crate::graph::{Selection, TextChange};
use crate::model::CommitTime;
use crate::ops::{self, LogFilter, LogReport};
use std::io::{self, Write};

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

    /// Only commits that change how often TEXT occurs in a node, against the first parent
    #[arg(short = 'S', value_name = "TEXT", allow_hyphen_values = true)]
    occurrences: Option<String>,

    /// Only commits that add or remove a line that matches, in the text or else the JSON text of a node
    #[arg(short = 'G', value_name = "REGEX", allow_hyphen_values = true, conflicts_with = "occurrences")]
    line: Option<String>,

    #[command(flatten)]
    nodes: NodeFilterArgs,

    /// Begin at every branch and tag, and at HEAD, beside what is named
    #[arg(long, conflicts_with = "rev")]
    all: bool,

    /// With each commit what it changed against its first parent
    #[arg(short, long, conflicts_with_all = ["ids", "stat", "name_status", "name_only"])]
    patch: bool,

    #[command(flatten)]
    style: ChangeStyle,

    /// Draw beside the commits how they hang together
    #[arg(long, conflicts_with_all = ["reverse", "ids"])]
    graph: bool,

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
    #[arg(long, conflicts_with_all = [
        "oneline", "stat", "name_status", "name_only", "unified", "word_diff", "by", "provenance",
    ])]
    ids: bool,

    /// Take * ? [ in patterns as they are
    #[arg(long)]
    literal: bool,
}

pub(super) fn run(args: &LogArgs, context: &mut Context) -> Result<(), CliError> {
    let patterns = patterns(&args.patterns, args.literal)?;
    if args.graph && (context.globals.json || context.globals.nul) {
        return Err(CliError::usage("--graph is for people").hint("--json names the parents of each commit"));
    }
    let store = context.store()?;
    let session = context.session()?;
    let mut revisions = args.revisions.iter().map(|rev| context.read_selection(rev)).collect::<Result<Vec<_>, _>>()?;
    if revisions.is_empty() && !args.all {
        revisions.extend(context.revision(&args.at, &store)?.map(Selection::Of));
    } else if args.at.rev.is_some() {
        return Err(CliError::usage("REV and --rev both name a revision").hint("mnem log REV"));
    }
    let filter = LogFilter {
        revisions,
        patterns,
        nodes: args.nodes.read(context)?,
        text: text_change(args)?,
        all: args.all,
        since: args.since.as_deref().map(|text| time("--since", text, context)).transpose()?,
        until: args.until.as_deref().map(|text| time("--until", text, context)).transpose()?,
        author: args.author.as_deref().map(|text| regex("--author", text, false)).transpose()?,
        message: args.grep.as_deref().map(|text| regex("--grep", text, false)).transpose()?,
        changed: args.form().is_some(),
        first_parent: args.first_parent,
        edges: args.graph,
        skip: args.skip,
        limit: args.limit,
        reverse: args.reverse,
    };
    let report = ops::log(&store, &session, &filter).map_err(|error| or_pattern(error, "log"))?;
    context.warn_doubts(&report.doubts);
    if let Some(branch) = &report.unborn {
        context.say(&format!("no commit yet on '{}'", escape_line(branch)));
    }
    if report.entries.is_empty() {
        note_options(&args.patterns, context);
    }
    if !args.ids {
        context.page();
    }
    render(&report, args, context)
}

fn time(option: &str, text: &str, context: &Context) -> Result<i64, CliError> {
    context.time(text).map(CommitTime::unix_ms).map_err(|error| error.about(option))
}

fn text_change(args: &LogArgs) -> Result<Option<TextChange>, CliError> {
    match (&args.occurrences, &args.line) {
        (Some(text), _) if text.is_empty() => {
            Err(CliError::usage("-S: an empty text occurs everywhere").hint("such as -S steak"))
        }
        (Some(text), _) => Ok(Some(TextChange::Occurrences(text.clone()))),
        (None, Some(text)) => Ok(Some(TextChange::Line(regex("-G", text, false)?))),
        (None, None) => Ok(None),
    }
}

impl LogArgs {
    /// How each commit's changes are shown, if they are.
    fn form(&self) -> Option<Form> {
        self.style.form().or(self.patch.then_some(Form::Patch))
    }
}

fn render(report: &LogReport, args: &LogArgs, context: &mut Context) -> Result<(), CliError> {
    let mut lanes = Lanes::default();
    for at in 0..report.entries.len() {
        if let Some((number, parents)) = report.edges.get(at) {
            let text = context.captured(|context| commit(report, at, args, context))?;
            let gap = at > 0 && !args.oneline;
            let before = lanes.beside();
            beside(context.out(), &before, &lanes.draw(*number, parents), gap, &String::from_utf8_lossy(&text))?;
            continue;
        }
        if at > 0 && !args.oneline && !args.ids && !context.globals.json {
            writeln!(context.out())?;
        }
        commit(report, at, args, context)?;
    }
    Ok(())
}

/// Writes a commit's lines with the lanes beside them.
fn beside(out: &mut dyn Write, before: &str, drawing: &Drawing, gap: bool, text: &str) -> io::Result<()> {
    if gap {
        writeln!(out, "{before}")?;
    }
    let mut edges = drawing.edges.iter();
    let width = drawing.edges.iter().chain([&drawing.commit, &drawing.lanes]).map(String::len).max().unwrap_or(0);
    for (at, line) in text.lines().enumerate() {
        let lanes = if at == 0 { &drawing.commit } else { edges.next().unwrap_or(&drawing.lanes) };
        writeln!(out, "{}", format!("{lanes:width$} {line}").trim_end())?;
    }
    edges.try_for_each(|edge| writeln!(out, "{edge}"))
}

/// A commit, and what it changed where that is asked for.
fn commit(report: &LogReport, at: usize, args: &LogArgs, context: &mut Context) -> Result<(), CliError> {
    let (entry, paint) = (&report.entries[at], context.paint());
    let changed = args.form().zip(report.changed.get(at)).filter(|(_, changed)| !changed.is_empty());
    if context.globals.json {
        context.json_line(&CommitJson::new(entry))?;
    } else if args.ids {
        context.line(&entry.commit.id.to_string())?;
    } else if args.oneline {
        context.line(&one_line(entry, report.head_branch.as_deref(), paint))?;
    } else {
        block(context.out(), entry, report.head_branch.as_deref(), paint)?;
        if changed.is_some() {
            writeln!(context.out())?;
        }
    }
    match changed {
        Some((form, changed)) => args.style.show(form, Some(&entry.commit.id), changed, context),
        None => Ok(()),
    }
}
