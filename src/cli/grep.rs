//! `mnem grep`

use super::context::{AtRevision, Context};
use super::error::CliError;
use super::json::V;
use super::paint::Paint;
use super::pattern::{patterns, regex};
use super::text::{escape_block, escape_line};
use crate::model::NodeId;
use crate::ops::{self, GrepRequest, Matched, MatchedLine};
use regex::Regex;
use serde::Serialize;
use std::borrow::Cow;
use std::ops::Range;

/// So many bytes of a long line are shown.
const SHOWN: usize = 1000;
/// So many of them stand before the first match.
const BEFORE: usize = 200;

/// Search the content of nodes
///
/// Prints each line that matches behind the id of its node; the status is 1 where there is none. The text of a string is
/// searched line by line, and so is the JSON text of any other value, as it
/// is stored. Reads HEAD with this session's staged changes, or
/// the memory at a revision. Of a line of more than 1000 bytes only what is around the first match is shown, unless lines
/// end with NUL or the answer is JSON.
#[derive(clap::Args, Debug)]
pub(super) struct GrepArgs {
    /// What a line has to match: a regular expression
    #[arg(value_name = "REGEX", allow_hyphen_values = true)]
    regex: String,

    /// Only in nodes with such an id: an id, an id with / behind it for all below, or a glob
    #[arg(value_name = "PATTERN", add = super::complete::ids())]
    patterns: Vec<String>,

    #[command(flatten)]
    at: AtRevision,

    /// Take upper and lower case for the same
    #[arg(short, long)]
    ignore_case: bool,

    /// Take REGEX for a plain text
    #[arg(short = 'F', long)]
    fixed_strings: bool,

    /// Print only the ids of nodes with a line that matches
    #[arg(short = 'l', long, conflicts_with_all = ["count", "line_number"])]
    ids: bool,

    /// Print only how many lines match, behind the id of each node that has one
    #[arg(short, long, conflicts_with = "line_number")]
    count: bool,

    /// Print the number of each line before it
    #[arg(short = 'n', long)]
    line_number: bool,

    /// Take * ? [ in patterns as they are
    #[arg(long)]
    literal: bool,
}

/// A line that matches; spans in bytes.
#[derive(Serialize)]
struct MatchJson<'a> {
    v: u8,
    r#type: &'static str,
    id: &'a str,
    line: usize,
    text: &'a str,
    spans: Vec<SpanJson>,
}

#[derive(Serialize)]
struct SpanJson {
    start: usize,
    end: usize,
}

/// A node with lines that match.
#[derive(Serialize)]
struct MatchesJson<'a> {
    v: u8,
    r#type: &'static str,
    id: &'a str,
    count: usize,
}

impl<'a> MatchJson<'a> {
    fn new(id: &'a NodeId, line: &'a MatchedLine, spans: impl Iterator<Item = Range<usize>>) -> Self {
        let spans = spans.map(|span| SpanJson { start: span.start, end: span.end }).collect();
        Self { v: V, r#type: "match", id: id.as_str(), line: line.number, text: &line.text, spans }
    }
}

pub(super) fn run(args: &GrepArgs, context: &mut Context) -> Result<(), CliError> {
    refuse_options(&args.regex, context)?;
    let text = if args.fixed_strings { Cow::Owned(regex::escape(&args.regex)) } else { Cow::Borrowed(&*args.regex) };
    let regex = regex("REGEX", &text, args.ignore_case)?;
    let patterns = patterns(&args.patterns, args.literal)?;
    let store = context.store()?;
    let session = context.session()?;
    let revision = context.revision(&args.at, &store)?;
    let lines = !args.ids && !args.count;
    let request = GrepRequest { regex, patterns, revision, lines };
    let report = ops::grep(&store, &session, &request)?;
    context.warn_doubts(&report.doubt);
    for node in &report.nodes {
        if !lines && context.globals.json {
            context.json_line(&MatchesJson { v: V, r#type: "matches", id: node.id.as_str(), count: node.count })?;
        } else if args.ids {
            context.id_line(&node.id)?;
        } else if args.count {
            let line = format!("{}:{}", shown_id(node, context), node.count);
            context.line(&line)?;
        } else {
            show(node, &request.regex, args.line_number, context)?;
        }
    }
    if report.nodes.is_empty() {
        context.answer_no();
    }
    Ok(())
}

/// Refuses what looks like an option in the place of the regular expression. There also a dash and one or two letters
/// look like options: taken for what is looked for, they would make an id of it.
fn refuse_options(word: &str, context: &Context) -> Result<(), CliError> {
    const BEHIND: &str = "mnem grep -- REGEX";
    let letters = word.strip_prefix('-').is_some_and(|letters| {
        (1..=2).contains(&letters.len()) && letters.bytes().all(|letter| letter.is_ascii_alphabetic())
    });
    if letters && !context.is_behind_dashes(word) {
        return Err(CliError::usage(format!("unknown option '{word}'")).hint(BEHIND));
    }
    context.refuse_option(word, "Cr", BEHIND)
}

fn shown_id(node: &Matched, context: &Context) -> String {
    let id = node.id.as_str();
    if context.globals.nul { id.to_owned() } else { context.paint().id(&escape_line(id)) }
}

fn show(node: &Matched, regex: &Regex, numbered: bool, context: &mut Context) -> Result<(), CliError> {
    for line in &node.lines {
        let spans = regex.find_iter(&line.text).map(|found| found.range()).filter(|span| !span.is_empty());
        if context.globals.json {
            context.json_line(&MatchJson::new(&node.id, line, spans))?;
            continue;
        }
        let number = if numbered { format!("{}:", line.number) } else { String::new() };
        let text = if context.globals.nul {
            Cow::Borrowed(&*line.text)
        } else {
            let first = regex.find(&line.text).map_or(0, |found| found.start());
            Cow::Owned(excerpt(&line.text, first, spans, context.paint()))
        };
        let line = format!("{}:{number}{text}", shown_id(node, context));
        context.line(&line)?;
    }
    Ok(())
}

/// A line for people: of a long one what is around the first match, and how much is left out.
fn excerpt(line: &str, first: usize, spans: impl Iterator<Item = Range<usize>>, paint: Paint) -> String {
    let mut shown = 0..line.len();
    if line.len() > SHOWN {
        let is_boundary = |at: &usize| line.is_char_boundary(*at);
        shown.start = (0..=first.saturating_sub(BEFORE)).rev().find(is_boundary).unwrap_or(0);
        let most = (shown.start + SHOWN).min(line.len());
        shown.end = (0..=most).rev().find(is_boundary).unwrap_or(line.len());
    }
    let spans = spans.take_while(|span| span.start < shown.end).map(|span| span.start..span.end.min(shown.end));
    let left_out = |count| if count == 0 { String::new() } else { format!("[... {count} bytes ...]") };
    let text =
        emphasised(&line[shown.clone()], spans.map(|span| span.start - shown.start..span.end - shown.start), paint);
    format!("{}{text}{}", left_out(shown.start), left_out(line.len() - shown.end))
}

/// Escapes a text and lets the spans stand out; none of them where one parts what is only right together, such as a
/// joiner and its letters.
fn emphasised(text: &str, spans: impl Iterator<Item = Range<usize>>, paint: Paint) -> String {
    let whole = escape_block(text);
    if !paint.colored {
        return whole.into_owned();
    }
    let (mut plain, mut marked, mut at) = (String::new(), String::new(), 0);
    for span in spans {
        let (before, inside) = (escape_block(&text[at..span.start]), escape_block(&text[span.clone()]));
        plain.extend([&*before, &*inside]);
        marked.extend([&*before, &*paint.emphasis(&inside)]);
        at = span.end;
    }
    let behind = escape_block(&text[at..]);
    plain.push_str(&behind);
    marked.push_str(&behind);
    if plain == whole { marked } else { whole.into_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(line: &str, regex: &str, colored: bool) -> String {
        let regex = Regex::new(regex).expect("a regex");
        let first = regex.find(line).map_or(0, |found| found.start());
        excerpt(line, first, regex.find_iter(line).map(|found| found.range()), Paint { colored })
    }

    #[test]
    fn of_a_long_line_what_is_around_the_first_match_is_shown() {
        let (short, long) = ("x".repeat(1000), "x".repeat(1001));
        assert_eq!(shown(&short, "x", false), short);
        assert_eq!(shown(&long, "x", false), format!("{short}[... 1 bytes ...]"));
        let line = format!("{}y{}", "x".repeat(300), "z".repeat(5000));
        let middle = format!("{}y{}", "x".repeat(200), "z".repeat(799));
        assert_eq!(shown(&line, "y", false), format!("[... 100 bytes ...]{middle}[... 4201 bytes ...]"));
        let line = format!("{}y", "é".repeat(600));
        assert_eq!(shown(&line, "y", false), format!("[... 1000 bytes ...]{}y", "é".repeat(100)));
        let line = format!("y{}", "é".repeat(600));
        assert_eq!(shown(&line, "y", false), format!("y{}[... 202 bytes ...]", "é".repeat(499)));
    }

    #[test]
    fn each_match_stands_out() {
        assert_eq!(
            shown("a b\u{1b} a", "a|b\u{1b}", true),
            "\u{1b}[7ma\u{1b}[0m \u{1b}[7mb^[\u{1b}[0m \u{1b}[7ma\u{1b}[0m"
        );
        // A match that ends within what is shown together.
        assert_eq!(shown("می\u{200c}خواهم", "می", true), "می\u{200c}خواهم");
        let line = format!("y{}", "z".repeat(2000));
        let marked = format!("\u{1b}[7my{}\u{1b}[0m[... 1001 bytes ...]", "z".repeat(999));
        assert_eq!(shown(&line, "yz*", true), marked);
    }

    proptest! {
        #[test]
        fn colours_change_nothing_else(line in "[aé\u{1b}\u{200d}😀]{0,700}", at in 0..4usize) {
            let regex = ["a", "é+", "[^a]", "$"][at];
            let plain = shown(&line, regex, true).replace("\u{1b}[7m", "").replace("\u{1b}[0m", "");
            prop_assert_eq!(plain, shown(&line, regex, false));
        }
    }
}
