//! `mnem exec`

use super::child::{Children, status_of};
use super::context::{AtRevision, Context};
use super::error::{CliError, Word};
use super::shell::word;
use crate::graph::Revision;
use crate::ops::{self, ScratchReport, ScratchRequest};
use crate::store::{Extent, Store};
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::Path;
use std::process::Command;

/// Run a program against the memory as it was
///
/// CMD is run without a shell; the first word that is no option is its name, and all behind it belongs to it. What mnem
/// commands in it read is the memory at the revision, HEAD if none is named, and they write nothing. With --scratch they
/// read and write a private copy of the store, where HEAD is the revision. Ends with the exit status of CMD, or 128 and the
/// number of the signal that killed it.
#[derive(clap::Args, Debug)]
pub(super) struct ExecArgs {
    #[command(flatten)]
    at: AtRevision,

    /// Let CMD write, in a private copy of the store that is removed afterwards; with `=state` in a copy of the memory
    /// alone, whose one commit has no parents
    #[arg(
        long,
        value_name = "EXTENT",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "history",
        value_parser = ["history", "state"]
    )]
    scratch: Option<String>,

    /// Leave the copy where it is, and print how to look into it
    #[arg(long, requires = "scratch")]
    keep: bool,

    /// The program, and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "CMD", value_hint = clap::ValueHint::CommandWithArguments)]
    command: Vec<OsString>,
}

pub(super) fn run(args: &ExecArgs, context: &mut Context) -> Result<(), CliError> {
    let store = context.store()?;
    let revision = context.revision(&args.at, &store)?.unwrap_or(Revision::head());
    let extent = match args.scratch.as_deref() {
        None => return run_at(&revision, &args.command, &store, context),
        Some("state") => Extent::State,
        Some(_) => Extent::History,
    };
    let children = Children::new()?;
    let session = context.session()?;
    let temporary = context.temporary_directory();
    let go_on = || children.interrupted().is_none();
    let request = ScratchRequest { revision: &revision, extent, temporary: &temporary, go_on: &go_on };
    let status = match ops::scratch(&store, &session, &request)? {
        Some(report) => run_in(report, args, &children, context)?,
        None => None,
    };
    end(status, &children, context);
    Ok(())
}

/// Runs a program with a revision of the store to read.
fn run_at(revision: &Revision, words: &[OsString], store: &Store, context: &mut Context) -> Result<(), CliError> {
    let (id, doubt) = ops::pin(store, &context.session()?, revision)?;
    context.warn_doubts(&doubt);
    let directory = std::path::absolute(store.directory())?;
    let mut command = program(words, context)?;
    command.env("MNEM_REV", id.to_string()).env("MNEM_REV_DIR", &directory);
    if context.named_store().is_some() {
        command.env("MNEM_DIR", &directory);
    }
    let children = Children::new()?;
    let status = start(&mut command, &children)?;
    end(status, &children, context);
    Ok(())
}

/// Runs a program in a private copy.
fn run_in(
    report: ScratchReport,
    args: &ExecArgs,
    children: &Children,
    context: &Context,
) -> Result<Option<u8>, CliError> {
    context.warn_doubts(&report.doubt);
    let report = if args.keep { ScratchReport { scratch: report.scratch.keep()?, ..report } } else { report };
    let mut command = program(&args.command, context)?;
    command.env("MNEM_DIR", report.store()).env_remove("MNEM_REV").env_remove("MNEM_REV_DIR");
    let status = start(&mut command, children);
    if args.keep {
        tell_of(&report.store(), context)?;
    }
    context.warn_error(report.scratch.remove().err());
    status
}

/// A program with the environment that it has in either case.
fn program(words: &[OsString], context: &Context) -> Result<Command, CliError> {
    let (name, arguments) = words.split_first().expect("clap asks for one");
    let mut command = Command::new(name);
    command.args(arguments).current_dir(context.directory()).env("MNEM_SESSION", context.session()?.as_str());
    Ok(command)
}

/// Its exit status; `None` where a signal came before it was started.
fn start(command: &mut Command, children: &Children) -> Result<Option<u8>, CliError> {
    let ended = children.run(command).map_err(|error| not_started(command.get_program(), &error))?;
    Ok(ended.map(status_of))
}

pub fn not_started(program: &OsStr, error: &io::Error) -> CliError {
    let program = program.display();
    match error.kind() {
        io::ErrorKind::NotFound => {
            CliError::new(Word::CommandNotFound, format!("there is no program '{program}'")).hint(WORDS)
        }
        io::ErrorKind::PermissionDenied => {
            CliError::new(Word::CommandNotFound, format!("'{program}' is no program that may be run")).hint(WORDS)
        }
        _ => CliError::new(Word::Io, format!("starting '{program}' failed: {error}")),
    }
}

const WORDS: &str = "no shell reads the words: mnem exec -- sh -c 'COMMAND LINE'";

/// Says where the copy is, also where all else is left out: nothing else tells.
fn tell_of(store: &Path, context: &Context) -> Result<(), CliError> {
    let (store, session) = (word(&store.display().to_string()), context.session()?);
    let session =
        if session == crate::model::SessionName::default() { String::new() } else { format!(" --session {session}") };
    let label = context.err_paint().hint("to look into the copy:");
    let _unheard = writeln!(context.err(), "{label} mnem --store {store}{session} log");
    Ok(())
}

fn end(status: Option<u8>, children: &Children, context: &mut Context) {
    if let Some(status) = status.or(children.interrupted()) {
        context.end_with(status);
    }
}
