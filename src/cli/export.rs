//! `mnem export`

use super::context::{AtRevision, Context};
use super::error::CliError;
use super::folder;
use super::output::write_file;
use super::pattern::patterns;
use crate::object::{Kept, encode_row};
use crate::ops::{self, LsRequest};
use std::io::{self, Write};
use std::path::PathBuf;

/// Write a memory out: as JSON Lines, as one JSON array, or as a folder of files
///
/// Reads HEAD with this session's staged changes, or the memory at a revision. What is written as JSON Lines or as a
/// folder comes back by 'mnem import' as the same memory.
#[derive(clap::Args, Debug)]
pub(super) struct ExportArgs {
    /// Only such ids: an id, an id with / behind it for all below, or a glob
    #[arg(value_name = "PATTERN", add = super::complete::ids())]
    patterns: Vec<String>,

    #[command(flatten)]
    at: AtRevision,

    /// As what: JSON Lines, a JSON array, or a folder with a file a node
    #[arg(long, value_name = "FORMAT", default_value = "jsonl", value_parser = ["jsonl", "json", "dir"])]
    format: String,

    /// Where to: a file, or the folder; standard output if none is named, and for -
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,

    /// Take * ? [ in patterns as they are
    #[arg(long)]
    literal: bool,
}

pub(super) fn run(args: &ExportArgs, context: &mut Context) -> Result<(), CliError> {
    let patterns = patterns(&args.patterns, args.literal)?;
    let store = context.store()?;
    let session = context.session()?;
    let revision = context.revision(&args.at, &store)?;
    let request = LsRequest { patterns, revision, nodes: true, ..LsRequest::default() };
    let report = ops::ls(&store, &session, &request)?;
    context.warn_doubts(&report.doubt);
    let nodes: Vec<Kept> = report.nodes.into_iter().filter_map(|row| row.node).collect();
    let output = args.output.as_ref().filter(|path| path.as_os_str() != "-").map(|path| context.path(path));
    match (args.format.as_str(), output) {
        ("dir", None) => Err(CliError::usage("a folder needs a name").hint("mnem export --format dir -o FOLDER")),
        ("dir", Some(path)) => folder::write(&path, &nodes),
        (format, None) => Ok(rows(context.out(), &nodes, format)?),
        (format, Some(path)) => write_file(&path, true, |out| rows(out, &nodes, format)),
    }
}

/// One row a line; as an array where the format is `json`.
pub fn rows(out: &mut dyn Write, nodes: &[Kept], format: &str) -> io::Result<()> {
    let array = format == "json";
    if array {
        writeln!(out, "[")?;
    }
    for (at, node) in nodes.iter().enumerate() {
        let comma = if array && at + 1 < nodes.len() { "," } else { "" };
        writeln!(out, "{}{comma}", encode_row(node))?;
    }
    if array { writeln!(out, "]") } else { Ok(()) }
}
