//! `mnem bundle verify`

use super::super::context::Context;
use super::super::error::CliError;
use super::{Shown, file};
use crate::ops;
use std::path::PathBuf;

/// Check a bundle, and change nothing
///
/// Reads all of it, builds the memory of each commit and compares the ids, and looks whether this store has the commits on
/// which it builds. One that builds on nothing needs no store. Prints the commit and the name of each ref.
#[derive(clap::Args, Debug)]
pub(super) struct VerifyArgs {
    /// The file, - for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

pub(super) fn run(args: &VerifyArgs, context: &mut Context) -> Result<(), CliError> {
    let (mut bundle, summary) = file::open(&args.file, context)?;
    let store = if summary.header.prerequisites.is_empty() { None } else { Some(context.store()?) };
    ops::verify_bundle(store.as_ref(), &mut bundle, &summary, &context.temporary_directory())?;
    let shown = Shown { header: &summary.header, commits: summary.parents.len() as u64, changes: summary.changes };
    shown.answer(context)?;
    shown.say("; all is as it says", context);
    Ok(())
}
