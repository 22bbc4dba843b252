//! `mnem rm`

use super::context::Context;
use super::error::{CliError, Word};
use super::get::node_id;
use super::staging::Staging;
use crate::ops::{self, Condition, Write};

/// Stage the removal of nodes
///
/// Prints the ids. What is removed stays reachable through history.
#[derive(clap::Args, Debug)]
pub(super) struct RmArgs {
    /// The nodes' ids
    #[arg(value_name = "ID", required_unless_present = "glob", add = super::complete::ids())]
    ids: Vec<String>,

    /// Remove all whose ids match: an id with / behind it for all below, or a glob
    #[arg(long, value_name = "PATTERN", conflicts_with = "ids", add = super::complete::ids())]
    glob: Option<String>,

    /// Take * ? [ in the pattern as they are
    #[arg(long, requires = "glob", conflicts_with = "ids")]
    literal: bool,

    /// Pass over ids that are absent
    #[arg(long)]
    if_exists: bool,

    /// Commit just this, in the same transaction; several are paragraphs
    #[arg(short, long, value_name = "MESSAGE", allow_hyphen_values = true)]
    message: Vec<String>,
}

pub(super) fn run(args: &RmArgs, context: &mut Context) -> Result<(), CliError> {
    let mut ids = args.ids.iter().map(|id| node_id(id)).collect::<Result<Vec<_>, _>>()?;
    let glob = args.glob.as_deref().map(|text| super::pattern::pattern(text, args.literal)).transpose()?;
    let store = context.store_to_write()?;
    let words = context.commit_words(&args.message, &store)?;
    let session = context.session()?;
    if let (Some(pattern), Some(text)) = (&glob, &args.glob) {
        ids = ops::matching(&store, &session, pattern)?;
        if ids.is_empty() && !args.if_exists {
            return Err(CliError::new(Word::NoNode, format!("no node matches '{text}'")).hint("see 'mnem ls'"));
        }
    } else if args.if_exists {
        ids = ops::present(&store, &session, &ids)?;
    }
    ids.sort();
    ids.dedup();
    if ids.is_empty() {
        context.say("nothing to remove");
        return Ok(());
    }
    let condition = if args.if_exists { Condition::Any } else { Condition::Present };
    let writes = ids.into_iter().map(Write::Remove).collect();
    Staging::new(context, &store, &session, writes, condition, words.as_ref())?.show(context, &session)
}
