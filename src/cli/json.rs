//! The shapes of `--json`, as `docs/json.md` describes them. Within version 1 fields are only ever added.

use super::error::CliError;
use crate::graph::{Changed, Entry};
use crate::model::{Node, minify};
use crate::object::{encode_node, node_object_id};
use crate::ops::{StagedReport, StagedState};
use crate::store::ChangeCount;
use serde::Serialize;
use serde_json::value::RawValue;

/// The version of all shapes.
pub const V: u8 = 1;

/// A commit.
#[derive(Serialize)]
pub struct CommitJson<'a> {
    v: u8,
    r#type: &'static str,
    id: String,
    parents: Vec<String>,
    state: String,
    author: &'a str,
    time: String,
    message: &'a str,
    refs: &'a [String],
    changes: ChangesJson,
}

/// How many nodes a commit changed.
#[derive(Serialize)]
pub struct ChangesJson {
    added: u64,
    modified: u64,
    removed: u64,
}

impl From<ChangeCount> for ChangesJson {
    fn from(count: ChangeCount) -> Self {
        Self { added: count.added, modified: count.modified, removed: count.removed }
    }
}

impl<'a> CommitJson<'a> {
    /// The shape of a commit with the refs that name it.
    pub fn new(entry: &'a Entry) -> Self {
        let commit = &entry.commit;
        Self {
            v: V,
            r#type: "commit",
            id: commit.id.to_string(),
            parents: entry.parents.iter().map(ToString::to_string).collect(),
            state: commit.state().to_string(),
            author: commit.author.as_str(),
            time: commit.time.to_string(),
            message: commit.message.as_str(),
            refs: &entry.refs,
            changes: commit.changes.into(),
        }
    }
}

/// A node.
#[derive(Serialize)]
pub struct NodeJson<'a> {
    v: u8,
    r#type: &'static str,
    id: &'a str,
    hash: String,
    content: Box<RawValue>,
    content_kind: &'static str,
    provenance: ProvenanceJson<'a>,
    event_time: Option<&'a str>,
}

#[derive(Serialize)]
struct ProvenanceJson<'a> {
    agent_step: Option<&'a str>,
    observation: Option<&'a str>,
    tool_call: Option<&'a str>,
    source: Option<&'a str>,
    note: Option<&'a str>,
}

impl<'a> NodeJson<'a> {
    /// The shape of a node, its content as stored but for white space outside strings.
    pub fn new(node: &'a Node) -> Result<Self, CliError> {
        let provenance = &node.provenance;
        Ok(Self {
            v: V,
            r#type: "node",
            id: node.id.as_str(),
            hash: node_object_id(&encode_node(node)).to_string(),
            content: raw(node.content.json())?,
            content_kind: node.content_kind.name(),
            provenance: ProvenanceJson {
                agent_step: provenance.agent_step.as_deref(),
                observation: provenance.observation.as_deref(),
                tool_call: provenance.tool_call.as_deref(),
                source: provenance.source.as_deref(),
                note: provenance.note.as_deref(),
            },
            event_time: node.event_time.as_ref().map(crate::model::Timestamp::as_str),
        })
    }
}

fn raw(json: &str) -> Result<Box<RawValue>, CliError> {
    Ok(RawValue::from_string(minify(json).into_owned()).map_err(crate::model::JsonError::from)?)
}

/// An id that the memory does not have, among several that were asked for.
#[derive(Serialize)]
pub struct AbsentJson<'a> {
    v: u8,
    r#type: &'static str,
    id: &'a str,
    hash: (),
    content: (),
    content_kind: (),
    provenance: (),
    event_time: (),
    absent: bool,
}

impl<'a> AbsentJson<'a> {
    /// The shape of an absent id.
    pub fn new(id: &'a str) -> Self {
        Self {
            v: V,
            r#type: "node",
            id,
            hash: (),
            content: (),
            content_kind: (),
            provenance: (),
            event_time: (),
            absent: true,
        }
    }
}

/// A staged change.
#[derive(Serialize)]
pub struct StagedJson<'a> {
    v: u8,
    r#type: &'static str,
    id: &'a str,
    hash: Option<String>,
    change: &'static str,
    session: &'a str,
}

/// A change that was staged and committed at once.
#[derive(Serialize)]
pub struct CommittedJson<'a> {
    v: u8,
    r#type: &'static str,
    id: &'a str,
    hash: Option<String>,
    change: &'static str,
    session: &'a str,
    commit: Option<&'a str>,
}

/// The name of a state.
pub fn change_name(state: StagedState) -> &'static str {
    match state {
        StagedState::Added => "added",
        StagedState::Modified => "modified",
        StagedState::Removed => "removed",
        StagedState::Unchanged => "unchanged",
    }
}

/// The letter of a state, as git has it.
pub fn letter(state: StagedState) -> char {
    match state {
        StagedState::Added => 'A',
        StagedState::Modified => 'M',
        StagedState::Removed => 'D',
        StagedState::Unchanged => ' ',
    }
}

impl<'a> StagedJson<'a> {
    /// The shape of what `put` and a commit that is only tried report.
    pub fn new(report: &'a StagedReport, session: &'a str) -> Self {
        Self {
            v: V,
            r#type: "staged",
            id: report.id.as_str(),
            hash: report.hash.map(|hash| hash.to_string()),
            change: change_name(report.state),
            session,
        }
    }

    /// The same with the commit, `None` where HEAD had the node already.
    pub fn committed(self, commit: Option<&'a str>) -> CommittedJson<'a> {
        let Self { v, r#type, id, hash, change, session } = self;
        CommittedJson { v, r#type, id, hash, change, session, commit }
    }
}

/// A part of a node's content.
#[derive(Serialize)]
pub struct ValueJson<'a> {
    v: u8,
    r#type: &'static str,
    id: &'a str,
    path: &'a str,
    content: Box<RawValue>,
}

impl<'a> ValueJson<'a> {
    /// The shape of the value at `path`, a JSON pointer.
    pub fn new(id: &'a str, path: &'a str, json: &str) -> Result<Self, CliError> {
        Ok(Self { v: V, r#type: "value", id, path, content: raw(json)? })
    }
}

/// A node that a commit changed; a row behind the commit's.
#[derive(Serialize)]
pub struct ChangedJson<'a> {
    v: u8,
    r#type: &'static str,
    commit: String,
    id: &'a str,
    change: &'static str,
    lines_added: Option<usize>,
    lines_removed: Option<usize>,
}

impl<'a> ChangedJson<'a> {
    /// The shape of a changed node; `lines` says how many were added and removed, if they were counted.
    pub fn new(entry: &Entry, changed: &'a Changed, lines: Option<(usize, usize)>) -> Self {
        Self {
            v: V,
            r#type: "changed",
            commit: entry.commit.id.to_string(),
            id: changed.id().as_str(),
            change: change_name(changed.effect().into()),
            lines_added: lines.map(|(added, _)| added),
            lines_removed: lines.map(|(_, removed)| removed),
        }
    }
}
