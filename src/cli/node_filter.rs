//! Options that choose nodes by where they come from and when: the same wherever nodes are looked for.

use super::context::Context;
use super::error::CliError;
use crate::graph::NodeFilter;
use crate::model::Provenance;
use chrono::{DateTime, FixedOffset};

/// What must hold of a node, all of it of the same one.
#[derive(clap::Args, Debug)]
pub(super) struct NodeFilterArgs {
    /// Only what came from this source, exactly as it was given
    #[arg(long, value_name = "REF", allow_hyphen_values = true)]
    source: Option<String>,

    /// Only what this tool call produced
    #[arg(long, value_name = "REF", allow_hyphen_values = true)]
    tool_call: Option<String>,

    /// Only what this step of a run produced
    #[arg(long, value_name = "STEP", allow_hyphen_values = true)]
    agent_step: Option<String>,

    /// Only what was drawn from this observation
    #[arg(long, value_name = "REF", allow_hyphen_values = true)]
    observation: Option<String>,

    /// Only what was believed at TIME or later, by the node's event time, else by the time of the commit that wrote it
    #[arg(long, value_name = "TIME")]
    event_since: Option<String>,

    /// Only what was believed at TIME or earlier
    #[arg(long, value_name = "TIME")]
    event_until: Option<String>,
}

impl NodeFilterArgs {
    /// Reads the options.
    pub(super) fn read(&self, context: &Context) -> Result<NodeFilter, CliError> {
        Ok(NodeFilter {
            provenance: Provenance {
                agent_step: self.agent_step.clone(),
                observation: self.observation.clone(),
                tool_call: self.tool_call.clone(),
                source: self.source.clone(),
                note: None,
            },
            event_since: instant("--event-since", self.event_since.as_deref(), context)?,
            event_until: instant("--event-until", self.event_until.as_deref(), context)?,
        })
    }
}

fn instant(option: &str, text: Option<&str>, context: &Context) -> Result<Option<DateTime<FixedOffset>>, CliError> {
    text.map(|text| context.instant(text)).transpose().map_err(|error| error.about(option))
}
