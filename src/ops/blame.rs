//! Who wrote what stands in a memory, and from what it was drawn.

use super::OpError;
use crate::graph::{
    Doubt, Held, Lineage, Memory, NodeVersions, Remark, Removal, Revision, STAGED, Step, Unit, Writer, history,
    last_version, leaves, lineage, lines, resolve, written,
};
use crate::model::{Content, Node, NodeId, Pattern, SessionName};
use crate::object::{Leaf, get};
use crate::store::{Access, Disk, Number, SessionView, Store, StoreError};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Of what the origin is asked.
#[derive(Clone, Debug, Default)]
pub struct BlameRequest {
    /// Where to look; HEAD with what is staged if none is named.
    pub revision: Option<Revision>,
    /// Of what size a part is; what suits the content if that is left open.
    pub unit: Option<Unit>,
    /// Only these lines, counted from 0.
    pub lines: Option<Range<usize>>,
    /// Only what is at this JSON pointer or below.
    pub path: Option<String>,
    /// Commits to pass over, as if what they changed had been so before.
    pub ignored: Vec<Revision>,
}

/// A part of a node's content, with who wrote it.
#[derive(Clone, Debug)]
pub struct Blamed {
    /// The number of the line, from 1, where the content is taken by line.
    pub line: Option<usize>,
    /// The JSON pointer of the leaf, where the content is taken by leaf.
    pub path: Option<String>,
    /// What stands there, as JSON text; of a line without its line feed.
    pub content: Content,
    /// Who wrote it.
    pub version: Number,
}

/// Who wrote the parts of a node.
#[derive(Debug)]
pub struct Blame {
    /// Of what size they are.
    pub unit: Unit,
    /// The parts, in their order.
    pub parts: Vec<Blamed>,
    /// The writers by version.
    pub writers: BTreeMap<Number, Writer>,
    /// Who wrote provenance or event time anew since, where the content is one part.
    pub rewritten: Option<Writer>,
    /// Why a part of the value could not be followed leaf by leaf.
    pub coarse: Option<Remark>,
}

/// What [`blame`] found.
#[derive(Debug)]
pub enum BlameReport {
    /// The node stands.
    Stands(Blame),
    /// It was taken away.
    Removed(Removal),
}

/// Who wrote each part of the node `id`, and what the names of revisions stand for beside what was taken.
pub fn blame<D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    id: &NodeId,
    request: &BlameRequest,
) -> Result<(BlameReport, Vec<Doubt>), OpError> {
    store.read(session, |view| {
        let memory = Memory::at(view, request.revision.as_ref())?;
        let mut doubts: Vec<_> = memory.doubt.clone().into_iter().collect();
        let mut ignored = BTreeSet::new();
        for revision in &request.ignored {
            let resolved = resolve(view, revision)?;
            doubts.extend(resolved.doubt);
            ignored.insert(resolved.number);
        }
        let report = match memory.find(id)? {
            Some(held) => stands(view, id, held, request, &ignored)?,
            None => BlameReport::Removed(memory.removal(id)?.ok_or_else(|| OpError::NoNode(vec![id.clone()]))?),
        };
        Ok((report, doubts))
    })
}

fn stands<A: Access>(
    view: &SessionView<'_, A>,
    id: &NodeId,
    held: Held<'_>,
    request: &BlameRequest,
    ignored: &BTreeSet<Number>,
) -> Result<BlameReport, OpError> {
    let node = held.node(view.tables)?;
    let (versions, start) = match held {
        Held::Stored(leaf) => (NodeVersions::of(view.tables, id, leaf), leaf.0),
        Held::Staged(_) => (NodeVersions::of_staged(view.tables, id, &node, head_leaf(view, id)?), STAGED),
    };
    let unit = request.unit.unwrap_or_else(|| suited(&node.content));
    let wanted = wanted(&node, unit, request)?;
    let pass_over = |version: Number| match versions.origin(version)? {
        Some(origin) => Ok(ignored.contains(&origin.number)),
        None => Ok::<_, StoreError>(false),
    };
    let lineage = lineage(&versions, start, unit, &pass_over, wanted.clone())?;
    let mut writers = BTreeMap::new();
    let writer = |version: Number| {
        let origin = versions.origin(version)?;
        Ok::<_, StoreError>(origin.map_or_else(|| Writer { commit: None, node: node.clone() }, Writer::from))
    };
    for part in &lineage.parts {
        if let Entry::Vacant(entry) = writers.entry(part.version) {
            entry.insert(writer(part.version)?);
        }
    }
    let whole = unit == Unit::Node && lineage.parts.iter().any(|part| part.version != start);
    let rewritten = if whole { Some(writer(start)?) } else { None };
    let first = wanted.map_or(0, |wanted| wanted.start);
    let Lineage { parts, coarse, .. } = lineage;
    let is_text = unit == Unit::Line && node.content.text().is_some();
    let parts = parts.into_iter().enumerate().map(|(at, part)| Blamed {
        line: (unit == Unit::Line).then_some(first + at + 1),
        content: content_of(&part.text, is_text),
        path: part.path,
        version: part.version,
    });
    Ok(BlameReport::Stands(Blame { unit, parts: parts.collect(), writers, rewritten, coarse }))
}

/// A part as a content of its own: the text of a line without its line feed, else a value.
fn content_of(part: &str, is_text: bool) -> Content {
    if is_text {
        Content::from_text(part.strip_suffix('\n').unwrap_or(part))
    } else {
        Content::from_json(part).expect("what is no line is a value")
    }
}

fn head_leaf<A: Access>(view: &SessionView<'_, A>, id: &NodeId) -> Result<Option<Leaf>, StoreError> {
    get(view.tables, view.tables.root(view.head_commit()?)?, id)
}

/// A text of several lines goes by line, an object or array by leaf, all else as a whole.
fn suited(content: &Content) -> Unit {
    match content.text() {
        Some(text) if lines(&text).len() > 1 => Unit::Line,
        None if content.json().starts_with(['[', '{']) => Unit::Leaf,
        Some(_) | None => Unit::Node,
    }
}

/// The parts that are asked for, counted from 0; all where there is no limit.
fn wanted(node: &Node, unit: Unit, request: &BlameRequest) -> Result<Option<Range<usize>>, OpError> {
    if let (Unit::Line, Some(wanted)) = (unit, &request.lines) {
        let count = node.content.text().map_or(1, |text| lines(&text).len());
        return if wanted.start < count {
            Ok(Some(wanted.start..wanted.end.min(count)))
        } else {
            Err(OpError::NoLine { id: node.id.clone(), lines: count })
        };
    }
    let (Unit::Leaf, Some(path)) = (unit, &request.path) else { return Ok(None) };
    let leaves = leaves(node.content.json()).unwrap_or_default();
    let below =
        |leaf: &str| leaf.strip_prefix(path.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let first = leaves.iter().position(|leaf| below(&leaf.path));
    let last = leaves.iter().rposition(|leaf| below(&leaf.path));
    let absent = || OpError::NoPath { id: node.id.clone(), path: path.clone() };
    first.zip(last).map(|(first, last)| Some(first..last + 1)).ok_or_else(absent)
}

/// A node of a memory, with who wrote what it says.
#[derive(Debug)]
pub struct Row {
    /// The node as it stands.
    pub node: Node,
    /// Who wrote its content.
    pub writer: Writer,
    /// Who wrote its provenance or event time anew since.
    pub rewritten: Option<Writer>,
}

/// Who wrote each node that `patterns` choose, all where there is none, in the order of the ids; and what the name of
/// the revision stands for beside what was taken.
pub fn blame_all<D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    patterns: &[Pattern],
    revision: Option<&Revision>,
) -> Result<(Vec<Row>, Option<Doubt>), OpError> {
    store.read(session, |view| {
        let memory = Memory::at(view, revision)?;
        let mut rows = Vec::new();
        for (id, held) in memory.select(patterns)? {
            let request = BlameRequest { unit: Some(Unit::Node), ..BlameRequest::default() };
            if let BlameReport::Stands(mut blame) = stands(view, &id, held, &request, &BTreeSet::new())?
                && let Some((_, writer)) = blame.writers.pop_first()
            {
                let node = blame.rewritten.as_ref().unwrap_or(&writer).node.clone();
                rows.push(Row { node, writer, rewritten: blame.rewritten });
            }
        }
        Ok((rows, memory.doubt.clone()))
    })
}

/// A version that a node had, or the end of one.
#[derive(Debug)]
pub enum Version {
    /// It was written so.
    Written(Box<Writer>),
    /// It was taken away.
    Removed(Box<Removal>),
}

/// Every version of the node `id`, the newest first, as far as it was in the history of a revision, HEAD with what is
/// staged if none is named; and what its name stands for beside what was taken.
pub fn versions_of<D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    id: &NodeId,
    revision: Option<&Revision>,
) -> Result<(Vec<Version>, Option<Doubt>), OpError> {
    store.read(session, |view| {
        let (start, doubt) = match revision {
            Some(revision) => {
                let resolved = resolve(view, revision)?;
                (Some(resolved.number), resolved.doubt)
            }
            None => (view.head_commit()?, None),
        };
        let mut found = Vec::new();
        let staged = if revision.is_none() { view.find(id)? } else { None };
        if let Some(change) = staged {
            match (change.node, head_leaf(view, id)?) {
                (Some(bytes), _) => {
                    let node = Held::Staged(bytes).node(view.tables)?;
                    found.push(Version::Written(Box::new(Writer { commit: None, node })));
                }
                (None, Some(leaf)) => {
                    found.push(Version::Removed(Box::new(Removal {
                        commit: None,
                        last: written(view.tables, leaf)?.into(),
                    })));
                }
                (None, None) => {}
            }
        }
        if let Some(start) = start {
            for step in history(view.tables, id, start)? {
                let Step { commit, leaf } = step?;
                found.push(match leaf {
                    Some(leaf) => Version::Written(Box::new(written(view.tables, leaf)?.into())),
                    None => {
                        let commit = view.tables.commit(commit)?;
                        let last = last_version(view.tables, id, &commit)?;
                        Version::Removed(Box::new(Removal { commit: Some(commit), last }))
                    }
                });
            }
        }
        if found.is_empty() { Err(OpError::NoNode(vec![id.clone()])) } else { Ok((found, doubt)) }
    })
}
