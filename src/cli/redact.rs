//! `mnem redact`

use super::context::Context;
use super::error::CliError;
use super::get::node_id;
use super::json::V;
use super::text::counted;
use crate::ops;
use crate::store::{RedactedCount, RedactedVersions, Redacting};
use serde::Serialize;

/// Take what nodes said out of the store for good
///
/// Every stored version of the nodes is replaced by a marker that says when, by whom and why: in all commits, on all branches,
/// and in what all sessions have staged. The ids of commits and memories stay. Afterwards no file of the store holds what was
/// redacted. What cannot be taken back: copies, exports and bundles that were made before, and what messages say.
#[derive(clap::Args, Debug)]
pub(super) struct RedactArgs {
    /// The nodes
    #[arg(required_unless_present_any = ["source", "finish"], value_name = "ID", add = super::complete::ids())]
    ids: Vec<String>,

    /// Only versions that came from this source, exactly as it was given: of the nodes that are named, or of all
    #[arg(long, value_name = "REF", allow_hyphen_values = true)]
    source: Option<String>,

    /// Why; everybody who meets a marker reads it
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    reason: Option<String>,

    /// Finish what was interrupted
    #[arg(long, conflicts_with_all = ["ids", "source", "reason"])]
    finish: bool,
}

#[derive(Serialize)]
struct RedactedJson<'a> {
    v: u8,
    r#type: &'static str,
    id: &'a str,
    versions: u64,
    staged: u64,
}

pub(super) fn run(args: &RedactArgs, context: &mut Context) -> Result<(), CliError> {
    let store = context.store_to_write()?;
    if args.finish {
        let found = ops::finish_redaction(&store)?;
        if found.is_none() {
            context.say("nothing was interrupted");
        }
        return tell(&found.unwrap_or_default(), context);
    }
    let mut ids = args.ids.iter().map(|id| node_id(id)).collect::<Result<Vec<_>, _>>()?;
    ids.sort();
    ids.dedup();
    let redacting = Redacting {
        ids,
        source: args.source.clone(),
        time: context.now()?,
        by: context.author(None, &store)?,
        reason: args.reason.clone().filter(|reason| !reason.is_empty()),
    };
    let found = ops::redact(&store, &redacting)?;
    if found.is_empty() {
        context.say("unchanged: every version is redacted already");
    }
    tell(&found, context)
}

fn tell(found: &RedactedVersions, context: &mut Context) -> Result<(), CliError> {
    for (id, RedactedCount { versions, staged }) in found {
        if context.globals.json {
            let (versions, staged) = (*versions, *staged);
            context.json_line(&RedactedJson { v: V, r#type: "redacted", id: id.as_str(), versions, staged })?;
        } else {
            context.id_line(id)?;
        }
    }
    if !found.is_empty() {
        let (committed, staged) =
            found.values().fold((0, 0), |(versions, staged), count| (versions + count.versions, staged + count.staged));
        let count = |count: u64, what| counted(usize::try_from(count).unwrap_or(usize::MAX), what);
        let staged = if staged == 0 { String::new() } else { format!(" and {}", count(staged, "staged change")) };
        context.say(&format!("redacted {}{staged} of {}", count(committed, "version"), counted(found.len(), "node")));
        context.say("copies, exports and bundles that were made before still hold it");
    }
    Ok(())
}
