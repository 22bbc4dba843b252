//! `mnem reflog`

use super::commit_text::SHORT;
use super::context::Context;
use super::error::CliError;
use super::json::V;
use super::paint::Paint;
use super::text::escape_line;
use crate::graph::Revision;
use crate::ops::{self, Moved};
use serde::Serialize;

/// Show where HEAD or a ref has been
///
/// The newest movement comes first, and REF@{N} names the commit to which the one with the number N led. HEAD is that of
/// this session: what others put on its branch is in the log of the branch. The log of a ref that was deleted remains.
#[derive(clap::Args, Debug)]
pub(super) struct ReflogArgs {
    /// HEAD or a ref, also one that was deleted
    #[arg(value_name = "REF", default_value = "HEAD", add = super::complete::revisions())]
    of: String,

    /// Show at most COUNT movements
    #[arg(short = 'n', long = "max-count", value_name = "COUNT", allow_negative_numbers = true)]
    limit: Option<usize>,
}

#[derive(Serialize)]
struct MovedJson<'a> {
    v: u8,
    r#type: &'static str,
    r#ref: &'a str,
    index: usize,
    old: Option<String>,
    new: Option<String>,
    time: String,
    reason: &'a str,
}

pub(super) fn run(args: &ReflogArgs, context: &mut Context) -> Result<(), CliError> {
    let of = if args.of == "@" { Revision::head() } else { context.read_revision(&args.of)? };
    let report = ops::reflog(&context.store()?, &context.session()?, &of, args.limit)?;
    context.warn_doubts(&report.doubt);
    for (index, moved) in report.moved.iter().enumerate() {
        if context.globals.json {
            context.json_line(&MovedJson::new(&report.name, index, moved))?;
        } else {
            let text = line(&of, &report.name, index, moved, context.paint());
            context.line(&text)?;
        }
    }
    Ok(())
}

/// The commit, its name in the log, when, and which command it was.
fn line(of: &Revision, name: &str, index: usize, moved: &Moved, paint: Paint) -> String {
    let commit = match moved.new {
        Some(id) => paint.commit(&id.to_string()[..SHORT]),
        None => format!("{:SHORT$}", if name == "HEAD" { "unborn" } else { "deleted" }),
    };
    let entry = format!("{of}@{{{index}}}");
    format!("{commit} {} {} {}", escape_line(&entry), moved.time, escape_line(&moved.reason))
}

impl<'a> MovedJson<'a> {
    fn new(name: &'a str, index: usize, moved: &'a Moved) -> Self {
        Self {
            v: V,
            r#type: "reflog",
            r#ref: name,
            index,
            old: moved.old.map(|id| id.to_string()),
            new: moved.new.map(|id| id.to_string()),
            time: moved.time.to_string(),
            reason: &moved.reason,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::CommitTime;

    #[test]
    fn a_movement_to_no_commit_says_why() {
        let time = CommitTime::new(0, 0).expect("a time");
        let moved = Moved { old: None, new: None, time, reason: "a \u{7}\nb".to_owned() };
        let told = |of: &str, name| {
            let of = Revision::parse(of, &|_| None).expect("a revision");
            line(&of, name, 2, &moved, Paint { colored: false })
        };
        let time = "1970-01-01T00:00:00.000+00:00";
        assert_eq!(told("x\u{202e}", "refs/heads/x\u{202e}"), format!("deleted    x\\u{{202e}}@{{2}} {time} a ^G^Jb"));
        assert_eq!(told("HEAD", "HEAD"), format!("unborn     HEAD@{{2}} {time} a ^G^Jb"));
    }
}
