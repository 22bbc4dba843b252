//! `mnem bundle import`

use super::super::context::Context;
use super::super::error::CliError;
use super::super::json::V;
use super::super::text::{counted, escape_line};
use super::{file, ref_line};
use crate::model::BranchName;
use crate::ops;
use crate::store::{short_branch, short_tag};
use serde::Serialize;
use std::path::PathBuf;

/// Take a bundle in, whole or not at all
///
/// Its commits keep their ids. A branch that is here moves only forward, as if another session had committed on it, and a
/// tag that is here stays. Prints for each ref the commit that it names now, and its name.
#[derive(clap::Args, Debug)]
pub(super) struct ImportArgs {
    /// The file, - for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Put the refs below a name: the branch 'main' becomes 'NAME/main'
    #[arg(long, value_name = "NAME")]
    prefix: Option<String>,

    /// Check all, tell what would be done, and write nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(Serialize)]
struct ImportedJson<'a> {
    v: u8,
    r#type: &'static str,
    new: u64,
    known: u64,
    refs: Vec<ImportedRefJson<'a>>,
}

#[derive(Serialize)]
struct ImportedRefJson<'a> {
    r#ref: &'a str,
    bundled: String,
    old: Option<String>,
    new: String,
}

pub(super) fn run(args: &ImportArgs, context: &mut Context) -> Result<(), CliError> {
    let prefix = args.prefix.as_deref().map(|prefix| prefix.strip_suffix('/').unwrap_or(prefix));
    if let Some(prefix) = prefix {
        BranchName::new(prefix).map_err(|error| CliError::from(error).about(&format!("'{prefix}'")))?;
    }
    let store = if args.dry_run { context.store()? } else { context.store_to_write()? };
    let now = context.now()?;
    let (mut bundle, summary) = file::open(&args.file, context)?;
    let mut report = if args.dry_run {
        let report = ops::plan_bundle(&store, bundle.name(), &summary, prefix)?;
        ops::verify_bundle(Some(&store), &mut bundle, &summary, &context.temporary_directory())?;
        report
    } else {
        ops::import_bundle(&store, &mut bundle, &summary, prefix, now)?
    };
    context.warn_error(report.warning.take());
    for imported in &report.refs {
        let name = match short_tag(&imported.name) {
            Some(name) => format!("tag '{name}'"),
            None => format!("branch '{}'", short_branch(&imported.name)),
        };
        let told = match &imported.old {
            None => format!("new {name}"),
            Some(old) if *old != imported.new => format!("moved {name} forward"),
            Some(old) if *old != imported.bundled => format!("kept {name}, which has more"),
            Some(_) => continue,
        };
        context.say(&escape_line(&told));
    }
    let count = |count: u64, what| counted(usize::try_from(count).unwrap_or(usize::MAX), what);
    let known = if report.known == 0 { String::new() } else { format!(", {} known", report.known) };
    let written = if args.dry_run { "; nothing is written" } else { "" };
    context.say(&format!("{}{known}{written}", count(report.new, "new commit")));
    if !context.globals.json {
        return report.refs.iter().try_for_each(|imported| ref_line(context, &imported.new, &imported.name));
    }
    let refs = report.refs.iter().map(|imported| ImportedRefJson {
        r#ref: &imported.name,
        bundled: imported.bundled.to_string(),
        old: imported.old.map(|id| id.to_string()),
        new: imported.new.to_string(),
    });
    let (new, known) = (report.new, report.known);
    context.json_line(&ImportedJson { v: V, r#type: "imported", new, known, refs: refs.collect() })
}
