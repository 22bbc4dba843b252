//! How a node came to exist.

/// Where a record came from. Every field may be absent; an empty string is present.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Provenance {
    /// Which step of the run produced it.
    pub agent_step: Option<String>,
    /// The observation or input it was drawn from.
    pub observation: Option<String>,
    /// The tool call that produced it.
    pub tool_call: Option<String>,
    /// An external source.
    pub source: Option<String>,
    /// Free text for anything the other fields do not fit.
    pub note: Option<String>,
}

impl Provenance {
    /// The fields in their canonical order, with their names.
    pub fn fields(&self) -> [(&'static str, Option<&str>); 5] {
        [
            ("agent_step", self.agent_step.as_deref()),
            ("observation", self.observation.as_deref()),
            ("tool_call", self.tool_call.as_deref()),
            ("source", self.source.as_deref()),
            ("note", self.note.as_deref()),
        ]
    }
}
