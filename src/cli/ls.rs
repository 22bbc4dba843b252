//! `mnem ls`

use super::context::{AtRevision, Context};
use super::error::CliError;
use super::json::{ListedJson, NodeJson, V};
use super::node_filter::NodeFilterArgs;
use super::pattern::patterns;
use super::text::escape_line;
use crate::model::Content;
use crate::object::Kept;
use crate::ops::{self, Listed, LsRequest, Order};
use serde::Serialize;

/// List the nodes of a memory
///
/// Prints ids in the order of their bytes, one a line; with -z they are exact and end with NUL. Reads HEAD with this
/// session's staged changes, or the memory at a revision. Of --source, --event-since and their like all must hold; what is
/// staged without an event time is later than all.
#[derive(clap::Args, Debug)]
pub(super) struct LsArgs {
    /// Only such ids: an id, an id with / behind it for all below, or a glob
    #[arg(value_name = "PATTERN", add = super::complete::ids())]
    patterns: Vec<String>,

    #[command(flatten)]
    at: AtRevision,

    #[command(flatten)]
    filter: NodeFilterArgs,

    /// Show with each id the commit that wrote it, its event time (the commit's time marked ~), and the bytes of its JSON text
    #[arg(short, long)]
    long: bool,

    /// Print only how many there are
    #[arg(long, conflicts_with = "long")]
    count: bool,

    /// The order: the id's bytes, the newest commit first, or the newest event time first
    #[arg(long, value_name = "KEY", default_value = "id", value_parser = ["id", "time", "event-time"])]
    sort: String,

    /// Take * ? [ in patterns as they are
    #[arg(long)]
    literal: bool,
}

#[derive(Serialize)]
struct CountJson {
    v: u8,
    r#type: &'static str,
    count: usize,
}

pub(super) fn run(args: &LsArgs, context: &mut Context) -> Result<(), CliError> {
    let patterns = patterns(&args.patterns, args.literal)?;
    let store = context.store()?;
    let session = context.session()?;
    let revision = context.revision(&args.at, &store)?;
    let order = match args.sort.as_str() {
        "time" => Order::Time,
        "event-time" => Order::EventTime,
        _ => Order::Id,
    };
    let nodes = !args.count && (args.long || context.globals.json);
    let filter = args.filter.read(context)?;
    let request = LsRequest { patterns, filter, revision, order, nodes, origins: args.long };
    let report = ops::ls(&store, &session, &request)?;
    context.warn_doubts(&report.doubt);
    if args.count {
        return count(report.nodes.len(), context);
    }
    if let (Some(branch), []) = (&report.unborn, &report.nodes[..]) {
        context.say(&format!("no commit yet on '{}'", escape_line(branch)));
    }
    for row in &report.nodes {
        match &row.node {
            Some(node) if context.globals.json && args.long => {
                context.json_line(&ListedJson::new(node, row.origin.as_ref())?)?;
            }
            Some(node) if context.globals.json => context.json_line(&NodeJson::new(node)?)?,
            Some(_) if args.long => long(row, context)?,
            Some(_) | None => context.id_line(&row.id)?,
        }
    }
    Ok(())
}

fn count(count: usize, context: &mut Context) -> Result<(), CliError> {
    if context.globals.json {
        context.json_line(&CountJson { v: V, r#type: "count", count })
    } else {
        Ok(context.line(&count.to_string())?)
    }
}

/// Commit, time, bytes of JSON text, id.
fn long(row: &Listed, context: &mut Context) -> Result<(), CliError> {
    const STAGED: &str = "staged    ";
    let commit = row.origin.map_or(STAGED.to_owned(), |origin| origin.commit.to_string()[..STAGED.len()].to_owned());
    let commit = context.paint().commit(&commit);
    let event = row.node.as_ref().and_then(Kept::event_time);
    let time = match (event, row.origin) {
        (Some(time), _) => time.as_str().to_owned(),
        (None, Some(origin)) => format!("~{}", origin.time),
        (None, None) => "-".to_owned(),
    };
    let size = |content: &Content| content.json().len().to_string();
    let size = row.node.as_ref().map(|kept| kept.content().map_or("redacted".to_owned(), size)).unwrap_or_default();
    let paint = context.paint();
    let id = if context.globals.nul { row.id.as_str().into() } else { escape_line(row.id.as_str()) };
    let time = format!("{:30}", escape_line(&time));
    let time = if event.is_none() { paint.dim(&time) } else { time };
    Ok(context.line(&format!("{commit} {time} {size:>9} {}", paint.id(&id)))?)
}
