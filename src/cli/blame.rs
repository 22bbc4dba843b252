//! `mnem blame`

use super::commit_text::SHORT;
use super::context::{AtRevision, Context};
use super::error::{CliError, Word, shell_word};
use super::json::BlameJson;
use super::paint::Paint;
use super::patch::remark_text;
use super::pattern::patterns;
use super::text::{abridge, escape_block, escape_line};
use super::writer_text;
use crate::graph::{Blame, Parts, Removal, Unit, Writer};
use crate::model::{Content, NodeId, Pattern, pointer};
use crate::object::Kept;
use crate::ops::{self, BlameReport, BlameRequest, Ended, OpError, Version};
use std::borrow::Cow;
use std::io::{self, Write};
use std::ops::Range;

/// Show who wrote what stands in a memory, and from what
///
/// Of one node each part with the commit that wrote it, its author, its event time (the commit's time marked ~ where the
/// node has none) and all provenance that is set: the content as a whole, each line of a longer text, or each leaf of a
/// JSON value. Of several nodes, or of all, one row a node. Reads HEAD with this session's staged changes, or the memory
/// at a revision. Of a node that was removed it tells the commit that did and what the node said last, and ends with 1;
/// so too of what a node had at --path. With -L, --path or --by it is told who wrote each part of that.
#[derive(clap::Args, Debug)]
pub(super) struct BlameArgs {
    /// The node's id; with several, an id with / behind it for all below, a glob, or none, a row a node
    #[arg(value_name = "ID|PATTERN", add = super::complete::ids())]
    patterns: Vec<String>,

    #[command(flatten)]
    at: AtRevision,

    /// The size of the parts: a line of a text, a leaf of a JSON value, the whole of what is one line or one value (auto);
    /// or always the node, the line or the leaf
    #[arg(long, value_name = "UNIT", default_value = "auto", value_parser = ["auto", "node", "line", "path"])]
    by: String,

    /// Only these lines, such as 2,5 or 2,+3; without LAST up to the end
    #[arg(short = 'L', value_name = "FIRST,LAST", conflicts_with_all = ["path", "history"])]
    lines: Option<String>,

    /// Only what is at this JSON pointer (RFC 6901) or below, such as /a/0
    #[arg(long, value_name = "POINTER", allow_hyphen_values = true, conflicts_with = "history")]
    path: Option<String>,

    /// Every version that the node had, the newest first
    #[arg(long, conflicts_with_all = ["by", "ignore_rev"])]
    history: bool,

    /// Pass over this commit, as if what it changed had been so before
    #[arg(long, value_name = "REV", add = super::complete::revisions())]
    ignore_rev: Vec<String>,

    /// Take * ? [ in patterns as they are
    #[arg(long)]
    literal: bool,
}

pub(super) fn run(args: &BlameArgs, context: &mut Context) -> Result<(), CliError> {
    let patterns = patterns(&args.patterns, args.literal)?;
    let id = match patterns.as_slice() {
        [one] => one.exact().cloned(),
        _ => None,
    };
    match id {
        Some(id) if args.history => every_version(&id, args, context),
        Some(id) => one(&id, args, context),
        None if args.names_parts() => {
            Err(CliError::usage("the parts of one node are asked for").hint("name that one node: mnem blame ID"))
        }
        None => all(&patterns, args, context),
    }
}

impl BlameArgs {
    /// Whether something is asked for that only one node has.
    fn names_parts(&self) -> bool {
        self.history || self.lines.is_some() || self.path.is_some() || self.by != "auto" || !self.ignore_rev.is_empty()
    }

    /// The size of the parts, where it is named.
    fn unit(&self) -> Result<Option<Unit>, CliError> {
        let unit = match self.by.as_str() {
            "node" => Some(Unit::Node),
            "line" => Some(Unit::Line),
            "path" => Some(Unit::Leaf),
            _ => None,
        };
        match (unit, &self.lines, &self.path) {
            (None | Some(Unit::Line), Some(_), _) => Ok(Some(Unit::Line)),
            (None | Some(Unit::Leaf), _, Some(_)) => Ok(Some(Unit::Leaf)),
            (Some(_), Some(_), _) => {
                Err(CliError::usage("-L takes lines").hint("leave '--by' out, or say '--by line'"))
            }
            (Some(_), _, Some(_)) => {
                Err(CliError::usage("--path takes leaves").hint("leave '--by' out, or say '--by path'"))
            }
            (unit, None, None) => Ok(unit),
        }
    }
}

/// The lines of `-L`, counted from 0.
fn line_range(text: &str) -> Result<Range<usize>, CliError> {
    let bad = || CliError::usage(format!("-L '{text}' is no range of lines")).hint("such as -L 2,5 or -L 2,+3");
    let number = |text: &str| {
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|&number: &usize| digits && number > 0).ok_or_else(bad)
    };
    let (first, last) = text.split_once(',').unwrap_or((text, ""));
    if text.is_empty() || text == "," {
        return Err(bad());
    }
    let start = if first.is_empty() { 1 } else { number(first)? };
    let end = match (last, last.strip_prefix('+')) {
        ("", _) => usize::MAX,
        (_, Some(count)) => (start - 1).saturating_add(number(count)?),
        (last, None) => number(last)?,
    };
    if start <= end { Ok(start - 1..end) } else { Err(bad()) }
}

fn one(id: &NodeId, args: &BlameArgs, context: &mut Context) -> Result<(), CliError> {
    let unit = args.unit()?;
    let store = context.store()?;
    let session = context.session()?;
    if let Some(path) = &args.path {
        pointer("null", path)?;
    }
    let request = BlameRequest {
        revision: context.revision(&args.at, &store)?,
        parts: Parts {
            unit,
            lines: args.lines.as_deref().map(line_range).transpose()?,
            path: args.path.clone(),
            ..Parts::default()
        },
        ignored: args.ignore_rev.iter().map(|rev| context.read_revision(rev)).collect::<Result<_, _>>()?,
    };
    let (report, doubts) = ops::blame(&store, &session, id, &request)?;
    context.warn_doubts(&doubts);
    match report {
        BlameReport::Stands(blame) => {
            context.page();
            stands(id, &blame, context)
        }
        BlameReport::Removed(end) => {
            removed(id, &end, context)?;
            let by = match &end.removal.commit {
                Some(commit) => format!("commit {} removed it", &commit.id.to_string()[..SHORT]),
                None => "its removal is staged".to_owned(),
            };
            let missed = match end.part.clone() {
                Some((path, _)) if !end.is_absent => OpError::NoPath { ids: vec![id.clone()], path },
                Some(_) | None => OpError::NoNode(vec![id.clone()]),
            };
            Err(CliError::new(Word::NoNode, format!("{missed}: {by}"))
                .hint(format!("mnem blame --history -- {}", shell_word(id.as_str()))))
        }
    }
}

fn stands(id: &NodeId, blame: &Blame, context: &mut Context) -> Result<(), CliError> {
    if let Some(remark) = blame.coarse {
        context.say(&format!("note: '{}' is {}", escape_line(id.as_str()), remark_text(remark)));
    }
    if blame.simplified {
        let id = escape_line(id.as_str());
        context.say(&format!(
            "note: the comparison of versions of '{id}' is simplified: parts may be older than is shown"
        ));
    }
    if context.globals.json {
        for part in &blame.parts {
            let writer = &blame.writers[&part.version];
            context.json_line(&BlameJson::part(id, blame.unit, part, writer, blame.rewritten.as_ref())?)?;
        }
        return Ok(());
    }
    let paint = context.paint();
    let width = blame.parts.last().and_then(|part| part.line).map_or(0, |line| line.to_string().len());
    let out = context.out();
    let mut shown = None;
    for part in &blame.parts {
        if shown != Some(part.version) {
            header(out, &blame.writers[&part.version], paint)?;
            shown = Some(part.version);
        }
        match (part.line, &part.path, &part.content) {
            (None, None, Some(content)) => block(out, content)?,
            (None, _, None) | (Some(_), _, None) => said(out, &blame.writers[&part.version].node)?,
            (Some(line), _, Some(content)) => writeln!(out, "    {line:>width$}  {}", text(content))?,
            (None, Some(path), Some(content)) if path.is_empty() => block(out, content)?,
            (None, Some(path), Some(content)) => {
                writeln!(out, "    {}: {}", escape_line(path), one_line(content.json()))?;
            }
        }
    }
    if let Some(writer) = &blame.rewritten {
        writeln!(out, "provenance or event time written anew:")?;
        header(out, writer, paint)?;
    }
    Ok(())
}

fn header(out: &mut dyn Write, writer: &Writer, paint: Paint) -> io::Result<()> {
    let line = format!("{} {}", writer_text::writer(writer, paint), writer_text::provenance(&writer.node, paint));
    writeln!(out, "{}", line.trim_end())
}

/// What a node says, or who redacted it.
fn said(out: &mut dyn Write, kept: &Kept) -> io::Result<()> {
    match kept {
        Kept::Node(node) => block(out, &node.content),
        Kept::Redacted(redaction) => writeln!(out, "    [{}]", writer_text::redaction(redaction)),
    }
}

/// A content as a whole, indented.
fn block(out: &mut dyn Write, content: &Content) -> io::Result<()> {
    let text = content.readable();
    text.split_terminator('\n').try_for_each(|line| writeln!(out, "    {}", one_line(line)))
}

/// A line of a text, as its own content has it.
fn text(line: &Content) -> String {
    one_line(&line.readable())
}

/// A text on one line; of a long one the inside is left out.
fn one_line(text: &str) -> String {
    const LONG: usize = 4096;
    let text = if text.len() > LONG { abridge(text, LONG / 4) } else { Cow::Borrowed(text) };
    escape_block(&text).into_owned()
}

fn removed(id: &NodeId, end: &Ended, context: &mut Context) -> Result<(), CliError> {
    if let Some(blame) = &end.blame {
        stands(id, blame, context)?;
    }
    let Ended { removal, part, version, .. } = end;
    if context.globals.json {
        let row = BlameJson::removed(id, removal, version.as_ref())?;
        return context.json_line(&part.iter().try_fold(row, |row, (path, content)| row.at(path, content))?);
    }
    let paint = context.paint();
    let out = context.out();
    let path = part.as_ref().map_or("", |(path, _)| path.as_str());
    ended(out, removal, path, version.as_ref(), paint)?;
    if end.blame.is_none() {
        header(out, &removal.last, paint)?;
        said(out, &removal.last.node)?;
    }
    Ok(())
}

/// That a node was taken away, or by which version what it had at `path`; and who did it.
fn ended(out: &mut dyn Write, removal: &Removal, path: &str, version: Option<&Kept>, paint: Paint) -> io::Result<()> {
    let event_time = version.and_then(Kept::event_time);
    let place = writer_text::place(removal.commit.as_ref(), event_time, paint);
    let provenance = version.map_or(String::new(), |node| writer_text::provenance(node, paint));
    let mut parts = vec![place, paint.removed("removed"), escape_line(path).into_owned(), provenance];
    parts.retain(|part| !part.is_empty());
    writeln!(out, "{}", parts.join(" "))
}

fn every_version(id: &NodeId, args: &BlameArgs, context: &mut Context) -> Result<(), CliError> {
    let store = context.store()?;
    let session = context.session()?;
    let revision = context.revision(&args.at, &store)?;
    let (versions, doubt) = ops::versions_of(&store, &session, id, revision.as_ref())?;
    context.warn_doubts(&doubt);
    context.page();
    let paint = context.paint();
    for version in &versions {
        match version {
            Version::Written(writer) if context.globals.json => context.json_line(&BlameJson::version(id, writer)?)?,
            Version::Written(writer) => {
                header(context.out(), writer, paint)?;
                said(context.out(), &writer.node)?;
            }
            Version::Removed(removal) if context.globals.json => {
                context.json_line(&BlameJson::removed(id, removal, None)?)?;
            }
            Version::Removed(removal) => ended(context.out(), removal, "", None, paint)?,
        }
    }
    Ok(())
}

/// One line a node.
fn all(patterns: &[Pattern], args: &BlameArgs, context: &mut Context) -> Result<(), CliError> {
    let store = context.store()?;
    let session = context.session()?;
    let revision = context.revision(&args.at, &store)?;
    let found = ops::blame_all(&store, &session, patterns, revision.as_ref())?;
    context.warn_doubts(&found.doubt);
    match (&found.unborn, &found.rows[..]) {
        (Some(branch), []) => context.say(&format!("no commit yet on '{}'", escape_line(branch))),
        (None, []) if patterns.is_empty() => context.say("note: the memory has no nodes"),
        (Some(_) | None, _) => {
            for &at in &found.unmatched {
                context.say(&format!("note: no node matches '{}'", escape_line(&args.patterns[at])));
            }
        }
    }
    if found.removed.is_empty() && found.absent.is_empty() {
        context.page();
    }
    for row in &found.rows {
        if context.globals.json {
            context.json_line(&BlameJson::row(row)?)?;
        } else {
            let line = writer_text::row(row, context.paint());
            context.line(&line)?;
        }
    }
    for (id, removal) in &found.removed {
        if context.globals.json {
            context.json_line(&BlameJson::removed(id, removal, None)?)?;
        } else {
            let line = writer_text::removed(id, removal, context.paint());
            context.line(&line)?;
        }
    }
    let missing: Vec<_> = found.removed.into_iter().map(|(id, _)| id).chain(found.absent).collect();
    if missing.is_empty() { Ok(()) } else { Err(OpError::NoNode(missing).into()) }
}
