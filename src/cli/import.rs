//! `mnem import`

use super::context::Context;
use super::error::CliError;
use super::folder;
use super::input::read_bytes;
use super::json::{CommitJson, StagedJson};
use super::put::MAX_ROWS_BYTES;
use super::rows::{Defaults, read_rows};
use crate::model::{Node, NodeId, SessionName};
use crate::ops::{self, Condition, LsRequest, OpError, StagedState, Write};
use crate::store::Store;
use std::collections::{BTreeMap, BTreeSet};
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
    let writes = match args.format.as_str() {
        "dir" => from_folder(args, context, &store, &session)?,
        _ => from_rows(args, context, &store, &session)?,
    };
    match words {
        None => {
            let reports = ops::put(&store, &session, writes, Condition::Any)?;
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
            let tried = ops::try_put(&store, &session, writes.clone(), Condition::Any)?;
            if tried.iter().all(|report| report.state == StagedState::Unchanged) {
                return Err(OpError::NothingToCommit.into());
            }
            let report = ops::put_and_commit(&store, &session, writes, Condition::Any, &words)?;
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

fn from_rows(
    args: &ImportArgs,
    context: &Context,
    store: &Store,
    session: &SessionName,
) -> Result<Vec<Write>, CliError> {
    let bytes = read_bytes(context, &args.path, MAX_ROWS_BYTES)?;
    let defaults = Defaults { provenance: context.provenance()?, event_time: None };
    let mut writes = read_rows(&bytes, &defaults, context.generated_ids()?)?;
    if args.replace {
        replace(&mut writes, store, session, current(store, session)?)?;
    }
    Ok(writes)
}

fn from_folder(
    args: &ImportArgs,
    context: &Context,
    store: &Store,
    session: &SessionName,
) -> Result<Vec<Write>, CliError> {
    let folder = folder::read(&context.path(&args.path), context)?;
    let provenance = context.provenance()?;
    let current = current(store, session)?;
    let mut writes = Vec::new();
    for (id, found) in folder {
        // What the folder says nothing of stays as it is, as long as the content does.
        let standing = current.get(&id).filter(|standing| standing.content == found.node.content);
        let node = match standing {
            Some(standing) if !found.is_stated => standing.clone(),
            Some(_) | None if found.is_stated => found.node,
            Some(_) | None => Node { provenance: provenance.clone(), event_time: None, ..found.node },
        };
        writes.push(Write::Set(node));
    }
    if args.replace {
        replace(&mut writes, store, session, current)?;
    }
    Ok(writes)
}

/// The memory as it stands.
fn current(store: &Store, session: &SessionName) -> Result<BTreeMap<NodeId, Node>, CliError> {
    let request = LsRequest { nodes: true, ..LsRequest::default() };
    let report = ops::ls(store, session, &request)?;
    Ok(report.nodes.into_iter().filter_map(|row| row.node.map(|node| (row.id, node))).collect())
}

/// Removes what is neither in `writes` nor gone: also what only HEAD has, for its removal may be staged but no part of
/// this commit.
fn replace(
    writes: &mut Vec<Write>,
    store: &Store,
    session: &SessionName,
    current: BTreeMap<NodeId, Node>,
) -> Result<(), CliError> {
    let kept: BTreeSet<_> = writes.iter().map(|write| write.id().clone()).collect();
    let (staged, _) = ops::preview(store, session, &[], true, true)?;
    let removed = staged.into_iter().filter(|report| report.state == StagedState::Removed).map(|report| report.id);
    let gone: BTreeSet<_> = current.into_keys().chain(removed).filter(|id| !kept.contains(id)).collect();
    writes.extend(gone.into_iter().map(Write::Remove));
    Ok(())
}
