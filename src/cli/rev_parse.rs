//! `mnem rev-parse`

use super::context::Context;
use super::error::CliError;
use super::json::V;
use super::text::escape_line;
use crate::graph::Selection;
use crate::ops::{self, Parsed, RevParseRequest};
use serde::Serialize;

/// Print the full ids of revisions
///
/// One a line. A commit that is left out with its ancestors has ^ before it: of A..B come B and ^A, of A...B come B, A and
/// ^ with each of their best common ancestors. With --abbrev-ref or --symbolic-full-name the names of refs instead, and
/// for HEAD that of its branch, also where it has no commit; HEAD where it is on no branch. A revision that is not just a
/// name has none.
#[derive(clap::Args, Debug)]
pub(super) struct RevParseArgs {
    /// Revisions; A..B, A...B and ^A too
    #[arg(value_name = "REV|A..B", required = true, add = super::complete::revisions())]
    revisions: Vec<String>,

    /// Print DIGITS digits of each id, 10 if not given, or as many more as no other commit begins with
    #[arg(
        long,
        value_name = "DIGITS",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "10",
        value_parser = clap::value_parser!(u8).range(4..=64),
        conflicts_with_all = ["symbolic_full_name", "abbrev_ref"]
    )]
    short: Option<u8>,

    /// Refuse all but one revision that is no range
    #[arg(long)]
    verify: bool,

    /// Print the full names of refs, such as refs/heads/main
    #[arg(long, conflicts_with = "abbrev_ref")]
    symbolic_full_name: bool,

    /// Print the names of refs as short as they are found by, such as main
    #[arg(long)]
    abbrev_ref: bool,
}

#[derive(Serialize)]
struct RevisionJson<'a> {
    v: u8,
    r#type: &'static str,
    revision: &'a str,
    id: Option<String>,
    left_out: bool,
    r#ref: Option<&'a str>,
}

pub(super) fn run(args: &RevParseArgs, context: &mut Context) -> Result<(), CliError> {
    let selections = args.revisions.iter().map(|rev| context.read_selection(rev)).collect::<Result<Vec<_>, _>>()?;
    if args.verify && !matches!(selections[..], [Selection::Of(_)]) {
        return Err(CliError::usage("--verify takes one revision that is no range").hint("mnem rev-parse --verify REV"));
    }
    let digits = args.short.map(usize::from);
    let names = args.symbolic_full_name || args.abbrev_ref;
    let request = RevParseRequest { selections, digits, names };
    let (rows, doubts) = ops::rev_parse(&context.store()?, &context.session()?, &request)?;
    context.warn_doubts(&doubts);
    for row in &rows {
        if context.globals.json {
            context.json_line(&RevisionJson::new(row))?;
        } else if let Some(text) = args.text(row) {
            let text = if context.globals.nul { text.into() } else { escape_line(&text) };
            context.line(&format!("{}{text}", if row.left_out { "^" } else { "" }))?;
        }
    }
    Ok(())
}

impl RevParseArgs {
    fn text(&self, row: &Parsed) -> Option<String> {
        if self.symbolic_full_name {
            row.reference.clone()
        } else if self.abbrev_ref {
            row.abbreviated.clone()
        } else {
            row.short.clone().or_else(|| row.commit.map(|id| id.to_string()))
        }
    }
}

impl<'a> RevisionJson<'a> {
    fn new(row: &'a Parsed) -> Self {
        Self {
            v: V,
            r#type: "revision",
            revision: &row.revision,
            id: row.commit.map(|id| id.to_string()),
            left_out: row.left_out,
            r#ref: row.reference.as_deref(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::commit_text::SHORT;
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Only {
        #[command(flatten)]
        args: RevParseArgs,
    }

    #[test]
    fn a_short_id_has_as_many_digits_as_elsewhere() {
        let only = Only::try_parse_from(["", "HEAD", "--short"]).expect("arguments");
        assert_eq!(only.args.short.map(usize::from), Some(SHORT));
    }
}
