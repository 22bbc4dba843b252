//! `mnem init`

use super::context::Context;
use super::error::CliError;
use super::json::V;
use super::text::escape_line;
use crate::model::BranchName;
use crate::store::{Created, FIRST_BRANCH, STORE_DIRECTORY, Trust, discover, init};
use serde::Serialize;
use std::path::PathBuf;

/// Create a memory store
///
/// Creates PATH/.mnemosyne with an unborn branch, and prints its absolute path. Where a store is already, nothing
/// happens.
#[derive(clap::Args, Debug)]
pub(super) struct InitArgs {
    /// The directory that is to hold the store; created if need be
    path: Option<PathBuf>,

    /// The name of the first branch
    #[arg(short, long, value_name = "NAME", default_value = FIRST_BRANCH)]
    branch: String,
}

#[derive(Serialize)]
struct InitJson<'a> {
    v: u8,
    r#type: &'static str,
    path: &'a str,
    created: bool,
}

pub(super) fn run(args: &InitArgs, context: &mut Context) -> Result<(), CliError> {
    let branch =
        BranchName::new(&args.branch).map_err(|error| CliError::from(error).about(&format!("'{}'", args.branch)))?;
    let store = match (&args.path, context.named_store()) {
        (Some(_), Some((_, "--store"))) => {
            return Err(CliError::usage("PATH and --store both name a place").hint("mnem init PATH"));
        }
        (None, Some((store, _))) => store,
        (Some(path), _) => context.path(path).join(STORE_DIRECTORY),
        (None, None) => context.directory().join(STORE_DIRECTORY),
    };
    context.refuse_read_only(&store)?;
    let around = store
        .parent()
        .and_then(existing)
        .and_then(|parent| discover(&parent, &[], &Trust { all: true, ..Trust::default() }).ok());
    let created = init(&store, &branch)?;
    if created == Created::Existing {
        // Whoever is told that a store is there must be able to use it.
        context.open_named(&store)?.snapshot()?;
    }
    let store = match (store.parent().map(|parent| parent.canonicalize()), store.file_name()) {
        (Some(Ok(parent)), Some(name)) => parent.join(name),
        _ => store,
    };
    match (created, around) {
        (Created::Existing, _) => context.say("already initialised"),
        (Created::New, Some(outer)) if outer != store => {
            let outer = outer.display().to_string();
            context.say(&format!("a new store inside another one: '{}'", escape_line(&outer)));
        }
        (Created::New, _) => {}
    }
    let path = store.display().to_string();
    if context.globals.json {
        let created = created == Created::New;
        return context.json_line(&InitJson { v: V, r#type: "init", path: &path, created });
    }
    Ok(context.line(&path)?)
}

/// The nearest directory above that is there.
fn existing(path: &std::path::Path) -> Option<PathBuf> {
    path.ancestors().find_map(|path| path.canonicalize().ok())
}
