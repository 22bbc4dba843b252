//! The shapes of `--json`, as `docs/json.md` describes them. Within version 1 fields are only ever added.

use super::error::CliError;
use crate::graph::{Blamed, Changed, ContentEdits, Entry, Field, Hunk, Op, PathChange, Remark, Removal, Unit, Writer};
use crate::model::{Content, Node, NodeId, Provenance, Timestamp, minify};
use crate::object::{CommitId, Kept, Redaction, encode_node, node_object_id};
use crate::ops::{Origin, Row, StagedReport, StagedState};
use crate::store::{ChangeCount, CommitRecord};
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
    content: Option<Box<RawValue>>,
    content_kind: Option<&'static str>,
    provenance: Option<ProvenanceJson<'a>>,
    event_time: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    redacted: Option<RedactedJson<'a>>,
}

/// When, by whom and why a node was redacted.
#[derive(Serialize)]
pub struct RedactedJson<'a> {
    time: String,
    by: &'a str,
    reason: Option<&'a str>,
}

impl<'a> From<&'a Redaction> for RedactedJson<'a> {
    fn from(redaction: &'a Redaction) -> Self {
        Self { time: redaction.time.to_string(), by: redaction.by.as_str(), reason: redaction.reason.as_deref() }
    }
}

#[derive(Default, Serialize)]
struct ProvenanceJson<'a> {
    agent_step: Option<&'a str>,
    observation: Option<&'a str>,
    tool_call: Option<&'a str>,
    source: Option<&'a str>,
    note: Option<&'a str>,
}

impl<'a> From<&'a Provenance> for ProvenanceJson<'a> {
    fn from(provenance: &'a Provenance) -> Self {
        Self {
            agent_step: provenance.agent_step.as_deref(),
            observation: provenance.observation.as_deref(),
            tool_call: provenance.tool_call.as_deref(),
            source: provenance.source.as_deref(),
            note: provenance.note.as_deref(),
        }
    }
}

impl<'a> NodeJson<'a> {
    /// The shape of a node, or of what is left of it.
    pub fn new(kept: &'a Kept) -> Result<Self, CliError> {
        match kept {
            Kept::Node(node) => Self::of_node(node),
            Kept::Redacted(redaction) => Ok(Self {
                v: V,
                r#type: "node",
                id: redaction.id.as_str(),
                hash: redaction.object.to_string(),
                content: None,
                content_kind: None,
                provenance: None,
                event_time: None,
                redacted: Some(redaction.into()),
            }),
        }
    }

    /// The shape of a node, its content as stored but for white space outside strings.
    pub fn of_node(node: &'a Node) -> Result<Self, CliError> {
        Ok(Self {
            v: V,
            r#type: "node",
            id: node.id.as_str(),
            hash: node_object_id(&encode_node(node)).to_string(),
            content: Some(raw(node.content.json())?),
            content_kind: Some(node.content_kind.name()),
            provenance: Some((&node.provenance).into()),
            event_time: node.event_time.as_ref().map(Timestamp::as_str),
            redacted: None,
        })
    }
}

/// A node with the commit that wrote it.
#[derive(Serialize)]
pub struct ListedJson<'a> {
    #[serde(flatten)]
    node: NodeJson<'a>,
    commit: Option<String>,
    time: Option<String>,
}

impl<'a> ListedJson<'a> {
    /// The shape of a node that `origin` wrote, `None` where it is staged.
    pub fn new(node: &'a Kept, origin: Option<&Origin>) -> Result<Self, CliError> {
        let commit = origin.map(|origin| origin.commit.to_string());
        Ok(Self { node: NodeJson::new(node)?, commit, time: origin.map(|origin| origin.time.to_string()) })
    }
}

/// A JSON text as a part of a row: without the white space outside strings.
pub fn raw(json: &str) -> Result<Box<RawValue>, CliError> {
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

/// Of a node among several that were asked for, that it is redacted and nobody knows what it has at the path.
#[derive(Serialize)]
pub struct RedactedValueJson<'a> {
    v: u8,
    r#type: &'static str,
    id: &'a str,
    path: &'a str,
    content: (),
    redacted: RedactedJson<'a>,
}

impl<'a> RedactedValueJson<'a> {
    /// The shape of what was at `path`, a JSON pointer.
    pub fn new(redaction: &'a Redaction, path: &'a str) -> Self {
        let id = redaction.id.as_str();
        Self { v: V, r#type: "value", id, path, content: (), redacted: redaction.into() }
    }
}

/// Of a node among several that were asked for, that its content has nothing at the path.
#[derive(Serialize)]
pub struct AbsentValueJson<'a> {
    v: u8,
    r#type: &'static str,
    id: &'a str,
    path: &'a str,
    content: (),
    absent: bool,
}

impl<'a> AbsentValueJson<'a> {
    /// The shape of nothing at `path`, a JSON pointer.
    pub fn new(id: &'a str, path: &'a str) -> Self {
        Self { v: V, r#type: "value", id, path, content: (), absent: true }
    }
}

/// A changed node and how many lines and leaves of it; behind a commit's row where it is one of that commit.
#[derive(Serialize)]
pub struct ChangedJson<'a> {
    v: u8,
    r#type: &'static str,
    commit: Option<String>,
    id: &'a str,
    change: &'static str,
    lines_added: Option<usize>,
    lines_removed: Option<usize>,
    leaves_added: Option<usize>,
    leaves_removed: Option<usize>,
}

impl<'a> ChangedJson<'a> {
    /// The shape of a changed node; `lines` and `leaves` say how many were added and removed, if they were counted.
    pub fn new(
        commit: Option<&CommitId>,
        changed: &'a Changed,
        lines: Option<(usize, usize)>,
        leaves: Option<(usize, usize)>,
    ) -> Self {
        Self {
            v: V,
            r#type: "changed",
            commit: commit.map(ToString::to_string),
            id: changed.id().as_str(),
            change: change_name(changed.effect().into()),
            lines_added: lines.map(|(added, _)| added),
            lines_removed: lines.map(|(_, removed)| removed),
            leaves_added: leaves.map(|(added, _)| added),
            leaves_removed: leaves.map(|(_, removed)| removed),
        }
    }
}

/// A changed node with what it was and is.
#[derive(Serialize)]
pub struct ChangeJson<'a> {
    v: u8,
    r#type: &'static str,
    id: &'a str,
    change: &'static str,
    old: Option<NodeJson<'a>>,
    new: Option<NodeJson<'a>>,
    fields: Vec<&'static str>,
    paths: Option<Vec<PathJson<'a>>>,
    hunks: Option<Vec<HunkJson<'a>>>,
    remark: Option<&'static str>,
    simplified: bool,
}

/// A change by leaf.
#[derive(Serialize)]
struct PathJson<'a> {
    op: &'static str,
    path: &'a str,
    old: Option<Box<RawValue>>,
    new: Option<Box<RawValue>>,
}

/// A run of lines with a change in it. Lines count from 1; a range of none names the line before it.
#[derive(Serialize)]
struct HunkJson<'a> {
    old_start: usize,
    old_lines: usize,
    new_start: usize,
    new_lines: usize,
    lines: Vec<LineJson<'a>>,
}

#[derive(Serialize)]
struct LineJson<'a> {
    op: &'static str,
    text: &'a str,
}

impl<'a> ChangeJson<'a> {
    /// The shape of a changed node whose contents differ by `edits`, with `context` lines around each.
    pub fn new(changed: &'a Changed, edits: &'a ContentEdits<'a>, context: usize) -> Result<Self, CliError> {
        let field = |field| match field {
            Field::Content => "content",
            Field::Provenance => "provenance",
            Field::EventTime => "event_time",
        };
        let (mut paths, mut hunks) = (None, None);
        match edits {
            ContentEdits::Same => {}
            ContentEdits::Lines { old, new, .. } => {
                let found = edits.hunks(context);
                hunks = Some(found.iter().map(|hunk| HunkJson::new(hunk, old, new)).collect());
            }
            ContentEdits::Paths { changes, .. } => {
                paths = Some(changes.iter().map(PathJson::new).collect::<Result<_, _>>()?);
            }
        }
        let node = |node: &'a Option<Kept>| node.as_ref().map(NodeJson::new).transpose();
        Ok(Self {
            v: V,
            r#type: "change",
            id: changed.id().as_str(),
            change: change_name(changed.effect().into()),
            old: node(&changed.old)?,
            new: node(&changed.new)?,
            fields: changed.fields().into_iter().map(field).collect(),
            paths,
            hunks,
            remark: edits.remark().map(|remark| match remark {
                Remark::Respelled => "respelled",
                Remark::Reordered => "reordered",
                Remark::TooDeep => "too-deep",
                Remark::TooLarge => "too-large",
            }),
            simplified: edits.simplified(),
        })
    }
}

impl<'a> PathJson<'a> {
    fn new(change: &'a PathChange) -> Result<Self, CliError> {
        let value = |json: &Option<String>| json.as_deref().map(raw).transpose();
        let op = match change.op {
            Op::Add => "add",
            Op::Remove => "remove",
            Op::Replace => "replace",
        };
        Ok(Self { op, path: &change.path, old: value(&change.old)?, new: value(&change.new)? })
    }
}

impl<'a> HunkJson<'a> {
    fn new(hunk: &Hunk, old: &[&'a str], new: &[&'a str]) -> Self {
        let mut lines = Vec::new();
        let mut push = |op, texts: &[&'a str]| lines.extend(texts.iter().map(|&text| LineJson { op, text }));
        let mut at = hunk.old.start;
        for edit in &hunk.edits {
            push("keep", &old[at..edit.old.start]);
            push("remove", &old[edit.old.clone()]);
            push("add", &new[edit.new.clone()]);
            at = edit.old.end;
        }
        push("keep", &old[at..hunk.old.end]);
        let start = |lines: &std::ops::Range<usize>| lines.start + usize::from(!lines.is_empty());
        Self {
            old_start: start(&hunk.old),
            old_lines: hunk.old.len(),
            new_start: start(&hunk.new),
            new_lines: hunk.new.len(),
            lines,
        }
    }
}

/// A part of a node, or the end of one, with who wrote it.
#[derive(Serialize)]
pub struct BlameJson<'a> {
    v: u8,
    r#type: &'static str,
    id: &'a str,
    by: &'static str,
    line: Option<usize>,
    path: Option<&'a str>,
    #[serde(flatten)]
    writer: WriterJson<'a>,
    change: &'static str,
    content: Option<Box<RawValue>>,
    rewritten: Option<WriterJson<'a>>,
    last: Option<WriterJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    redacted: Option<RedactedJson<'a>>,
}

/// Who wrote a version: a commit, and what the node tells of itself. All but `provenance` is null where it is staged.
#[derive(Serialize)]
pub struct WriterJson<'a> {
    commit: Option<String>,
    author: Option<&'a str>,
    time: Option<String>,
    event_time: Option<&'a str>,
    effective_time: Option<String>,
    provenance: ProvenanceJson<'a>,
}

impl<'a> WriterJson<'a> {
    fn new(commit: Option<&'a CommitRecord>, node: Option<&'a Kept>) -> Self {
        let event_time = node.and_then(Kept::event_time).map(Timestamp::as_str);
        let time = commit.map(|commit| commit.time.to_string());
        Self {
            commit: commit.map(|commit| commit.id.to_string()),
            author: commit.map(|commit| commit.author.as_str()),
            event_time,
            effective_time: event_time.map(str::to_owned).or_else(|| time.clone()),
            time,
            provenance: node.and_then(Kept::provenance).map_or(ProvenanceJson::default(), ProvenanceJson::from),
        }
    }

    /// The shape of a writer.
    pub fn of(writer: &'a Writer) -> Self {
        Self::new(writer.commit.as_ref(), Some(&writer.node))
    }
}

impl<'a> BlameJson<'a> {
    fn whole(id: &'a NodeId, writer: WriterJson<'a>, node: &'a Kept) -> Result<Self, CliError> {
        Ok(Self {
            v: V,
            r#type: "blame",
            id: id.as_str(),
            by: "node",
            line: None,
            path: None,
            writer,
            change: "set",
            content: node.content().map(|content| raw(content.json())).transpose()?,
            rewritten: None,
            last: None,
            redacted: node.redaction().map(RedactedJson::from),
        })
    }

    /// The shape of a part of a node.
    pub fn part(
        id: &'a NodeId,
        unit: Unit,
        part: &'a Blamed,
        writer: &'a Writer,
        rewritten: Option<&'a Writer>,
    ) -> Result<Self, CliError> {
        let by = match unit {
            Unit::Node => "node",
            Unit::Line => "line",
            Unit::Leaf => "path",
        };
        let whole = Self::whole(id, WriterJson::of(writer), &writer.node)?;
        let content = part.content.as_ref().map(|content| raw(content.json())).transpose()?;
        let rewritten = rewritten.map(WriterJson::of);
        Ok(Self { by, line: part.line, path: part.path.as_deref(), content, rewritten, ..whole })
    }

    /// The shape of a node among several.
    pub fn row(row: &'a Row) -> Result<Self, CliError> {
        let whole = Self::whole(row.node.id(), WriterJson::of(&row.writer), &row.node)?;
        Ok(Self { rewritten: row.rewritten.as_ref().map(WriterJson::of), ..whole })
    }

    /// The shape of a version that a node had.
    pub fn version(id: &'a NodeId, writer: &'a Writer) -> Result<Self, CliError> {
        Self::whole(id, WriterJson::of(writer), &writer.node)
    }

    /// The shape of a node's end, or by which version of a part of it: who took it away, and what it said last.
    pub fn removed(id: &'a NodeId, removal: &'a Removal, version: Option<&'a Kept>) -> Result<Self, CliError> {
        let writer = WriterJson::new(removal.commit.as_ref(), version);
        let whole = Self::whole(id, writer, &removal.last.node)?;
        Ok(Self { change: "removed", last: Some(WriterJson::of(&removal.last)), ..whole })
    }

    /// The same row of what the node has or had at a JSON pointer.
    pub fn at(self, path: &'a str, content: &Content) -> Result<Self, CliError> {
        Ok(Self { by: "path", path: Some(path), content: Some(raw(content.json())?), ..self })
    }
}
