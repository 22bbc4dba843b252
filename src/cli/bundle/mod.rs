//! `mnem bundle`

mod create;
mod file;
mod import;
mod verify;

use super::context::Context;
use super::error::CliError;
use super::json::V;
use super::text::{counted, escape_line};
use crate::model::Message;
use crate::object::CommitId;
use crate::store::Header;
use serde::Serialize;

/// Write commits and refs into one file, and take them in elsewhere
///
/// A bundle holds a whole history, or what a range adds to one, under the ids that it has: what is taken in is the same as
/// where it was made. Each bundle is taken in whole or not at all.
#[derive(clap::Args, Debug)]
#[command(subcommand_required = true, arg_required_else_help = true, disable_help_subcommand = true)]
pub(super) struct BundleArgs {
    #[command(subcommand)]
    verb: BundleVerb,
}

#[derive(clap::Subcommand, Debug)]
enum BundleVerb {
    Create(create::CreateArgs),
    Verify(verify::VerifyArgs),
    Import(import::ImportArgs),
}

pub(super) fn run(args: &BundleArgs, context: &mut Context) -> Result<(), CliError> {
    match &args.verb {
        BundleVerb::Create(args) => create::run(args, context),
        BundleVerb::Verify(args) => verify::run(args, context),
        BundleVerb::Import(args) => import::run(args, context),
    }
}

#[derive(Serialize)]
struct BundleJson<'a> {
    v: u8,
    r#type: &'static str,
    commits: u64,
    changes: u64,
    prerequisites: Vec<String>,
    refs: Vec<BundledRefJson<'a>>,
}

#[derive(Serialize)]
struct BundledRefJson<'a> {
    r#ref: &'a str,
    commit: String,
    time: Option<String>,
    message: Option<&'a str>,
}

/// What is in a bundle.
struct Shown<'a> {
    header: &'a Header,
    commits: u64,
    changes: u64,
}

impl Shown<'_> {
    /// Tells its refs, or the shape in JSON.
    fn answer(&self, context: &mut Context) -> Result<(), CliError> {
        if !context.globals.json {
            for (name, bundled) in &self.header.refs {
                ref_line(context, &bundled.commit, name)?;
            }
            return Ok(());
        }
        let refs = self.header.refs.iter().map(|(name, bundled)| BundledRefJson {
            r#ref: name,
            commit: bundled.commit.to_string(),
            time: bundled.tag.as_ref().map(|tag| tag.time.to_string()),
            message: bundled.tag.as_ref().and_then(|tag| tag.message.as_ref()).map(Message::as_str),
        });
        context.json_line(&BundleJson {
            v: V,
            r#type: "bundle",
            commits: self.commits,
            changes: self.changes,
            prerequisites: self.header.prerequisites.iter().map(CommitId::to_string).collect(),
            refs: refs.collect(),
        })
    }

    /// Says how much is in it, and on what it builds.
    fn say(&self, more: &str, context: &Context) {
        let [commits, changes] = [(self.commits, "commit"), (self.changes, "change")]
            .map(|(count, what)| counted(usize::try_from(count).unwrap_or(usize::MAX), what));
        context.say(&format!("{commits} with {changes} of nodes{more}"));
        for id in &self.header.prerequisites {
            context.say(&format!("builds on {id}"));
        }
    }
}

/// A line of a commit and the ref that names it.
fn ref_line(context: &mut Context, commit: &CommitId, name: &str) -> Result<(), CliError> {
    let id = context.paint().commit(&commit.to_string());
    let name = if context.globals.nul { name.into() } else { escape_line(name) };
    Ok(context.line(&format!("{id} {name}"))?)
}
