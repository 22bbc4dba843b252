//! `mnem import`

use super::context::Context;
use super::error::CliError;
use super::folder;
use super::input::read_bytes;
use super::json::{CommitJson, StagedJson};
use super::put::MAX_ROWS_BYTES;
use super::rows::{Defaults, Lines, read_rows};
use crate::model::{MAX_CONTENT_BYTES, Node};
use crate::object::Kept;
use crate::ops::{self, ImportRequest, OpError, StagedState, Write};
use std::path::PathBuf;

/// Read a memory in: from JSON Lines, or from a folder of files
///
/// Stages what differs from the memory as it stands, or commits it with -m. A folder need not come from 'mnem export':
/// every regular file is a note, its path the id. Provenance of what has none of its own is taken from the variables, as
/// by put. Links are never followed.
#[derive(clap::Args, Debug)]
pub(super) struct ImportArgs {
    /// The file, - for standard input, or the folder
    #[arg(value_name = "PATH")]
    path: PathBuf,

    /// As what: JSON Lines, or a folder with a file a node
    #[arg(long, value_name = "FORMAT", default_value = "jsonl", value_parser = ["jsonl", "dir"])]
    format: String,

    /// The memory is to be just this: whatever is not in it goes
    #[arg(long)]
    replace: bool,

    /// Commit it, in the same transaction; several are paragraphs. Prints the commit's id
    #[arg(short, long, value_name = "MESSAGE", allow_hyphen_values = true)]
    message: Vec<String>,
}

pub(super) fn run(args: &ImportArgs, context: &mut Context) -> Result<(), CliError> {
    let store = context.store_to_write()?;
    let words = context.commit_words(&args.message, &store)?;
    let session = context.session()?;
    let request = match args.format.as_str() {
        "dir" => from_folder(args, context)?,
        _ => from_rows(args, context)?,
    };
    match words {
        None => {
            let reports = ops::import(&store, &session, request)?;
            for report in reports.iter().filter(|report| report.state != StagedState::Unchanged) {
                if context.globals.json {
                    context.json_line(&StagedJson::new(report, session.as_str()))?;
                } else {
                    context.id_line(&report.id)?;
                }
            }
            Ok(())
        }
        Some(words) => {
            let report = ops::import_and_commit(&store, &session, request, &words)?;
            context.warn_error(report.warning);
            let commit = report.commit.ok_or(OpError::NothingToCommit)?.to_string();
            let changed = report.reports.iter().filter(|report| report.state != StagedState::Unchanged).count();
            context.say(&format!("{changed} of {} nodes changed", report.reports.len()));
            if !context.globals.json {
                return Ok(context.line(&commit)?);
            }
            let revisions = vec![context.read_selection(&commit)?];
            let filter = ops::LogFilter { revisions, limit: Some(1), ..ops::LogFilter::default() };
            for entry in ops::log(&store, &session, &filter)?.entries {
                context.json_line(&CommitJson::new(&entry))?;
            }
            Ok(())
        }
    }
}

fn from_rows(args: &ImportArgs, context: &Context) -> Result<ImportRequest, CliError> {
    let bytes = read_bytes(context, &args.path, MAX_ROWS_BYTES)?;
    let defaults = Defaults { provenance: context.provenance()?, event_time: None, limit: MAX_CONTENT_BYTES };
    let writes = read_rows(Lines { bytes: &bytes, path: &args.path }, &defaults, context.generated_ids()?)?;
    Ok(ImportRequest { writes, replace: args.replace, ..ImportRequest::default() })
}

fn from_folder(args: &ImportArgs, context: &Context) -> Result<ImportRequest, CliError> {
    let provenance = context.provenance()?;
    let mut request = ImportRequest { replace: args.replace, ..ImportRequest::default() };
    for (id, found) in folder::read(&context.path(&args.path), context)? {
        request.writes.push(match found.node {
            Kept::Node(node) if !found.is_stated => {
                // What the folder says nothing of stays as it is, as long as the content does.
                request.contents.insert(id);
                Write::Set(Node { provenance: provenance.clone(), event_time: None, ..node })
            }
            stated => stated.into(),
        });
    }
    Ok(request)
}
