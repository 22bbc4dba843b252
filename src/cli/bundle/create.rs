//! `mnem bundle create`

use super::super::context::Context;
use super::super::error::CliError;
use super::super::output::{WriteError, write_file};
use super::Shown;
use crate::ops::{self, BundleRequest, OpError};
use std::path::{Path, PathBuf};

/// Write a bundle
///
/// What is named are branches and tags: each goes in with its ancestors, but for what ^A or A.. leaves out, on which the
/// bundle then builds. Without them all branches and tags go in. Prints the commit and the name of each ref.
#[derive(clap::Args, Debug)]
pub(super) struct CreateArgs {
    /// The file, which is replaced when the new one is complete; - for standard output
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// A branch or tag, A..B or ^A
    #[arg(value_name = "REV", add = super::super::complete::revisions())]
    revisions: Vec<String>,

    /// All branches and tags, beside those that are named
    #[arg(long)]
    all: bool,
}

pub(super) fn run(args: &CreateArgs, context: &mut Context) -> Result<(), CliError> {
    let revisions = args.revisions.iter().map(|text| context.read_selection(text)).collect::<Result<_, _>>()?;
    let request = BundleRequest { revisions, all: args.all };
    let (store, session) = (context.store()?, context.session()?);
    let to_stdout = args.file == Path::new("-");
    let report = if to_stdout {
        ops::create_bundle(&store, &session, &request, context.out())?
    } else {
        write_file(&context.path(&args.file), true, |out| {
            ops::create_bundle(&store, &session, &request, out).map_err(|error| match error {
                OpError::Output(error) => WriteError::Output(error),
                other => WriteError::Other(other.into()),
            })
        })?
    };
    context.warn_doubts(&report.doubts);
    let shown = Shown { header: &report.header, commits: report.commits, changes: report.changes };
    if !to_stdout {
        shown.answer(context)?;
    }
    shown.say(&format!(" in {} bytes", report.bytes), context);
    Ok(())
}
