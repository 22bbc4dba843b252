//! Who wrote the parts of a node.

use super::{Held, Lineage, Memory, NodeVersions, Remark, STAGED, Unit, Writer, leaf_paths, lineage, lines};
use crate::model::{Content, NodeId, pointer};
use crate::object::get;
use crate::store::{Access, Number, StoreError};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Which parts are asked for.
#[derive(Clone, Debug, Default)]
pub struct Parts {
    /// Of what size they are; what suits the content if that is left open.
    pub unit: Option<Unit>,
    /// Only these lines, counted from 0.
    pub lines: Option<Range<usize>>,
    /// Only what is at this JSON pointer or below, or the leaf that it leads into.
    pub path: Option<String>,
    /// The numbers of commits to pass over, as if what they changed had been so before.
    pub ignored: BTreeSet<Number>,
}

/// What is asked for and not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lacking {
    /// The content has nothing at the path.
    Path(String),
    /// The content has only so many lines.
    Lines(usize),
}

/// A part of a node's content, with who wrote it.
#[derive(Clone, Debug)]
pub struct Blamed {
    /// The number of the line, from 1, where the content is taken by line.
    pub line: Option<usize>,
    /// The JSON pointer of the leaf, where the content is taken by leaf.
    pub path: Option<String>,
    /// What stands there, as JSON text; of a line without its line feed. `None` where the node is redacted.
    pub content: Option<Content>,
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
    /// Whether a comparison gave up early, so that some parts may be older than is said.
    pub simplified: bool,
}

/// A writer of a node, and the parts of it that are theirs.
#[derive(Clone, Debug)]
pub struct Share {
    /// Who it is.
    pub writer: Writer,
    /// The numbers of the lines, from 1, where it is told by line.
    pub lines: Vec<usize>,
    /// The JSON pointers, where it is told by pointer.
    pub paths: Vec<String>,
}

impl From<Writer> for Share {
    fn from(writer: Writer) -> Self {
        Self { writer, lines: Vec::new(), paths: Vec::new() }
    }
}

impl Blame {
    /// That of a node of which nobody knows the parts.
    fn of_redacted(version: Number, writer: Writer) -> Self {
        Self {
            unit: Unit::Node,
            parts: vec![Blamed { line: None, path: None, content: None, version }],
            writers: BTreeMap::from([(version, writer)]),
            rewritten: None,
            coarse: None,
            simplified: false,
        }
    }

    /// Those who wrote the parts, each once, the latest first; and who wrote provenance or event time anew since.
    pub fn into_shares(self) -> Vec<Share> {
        let mut shares: BTreeMap<_, _> =
            self.writers.into_iter().map(|(version, writer)| (version, Share::from(writer))).collect();
        for part in self.parts {
            if let Some(share) = shares.get_mut(&part.version) {
                share.lines.extend(part.line);
                share.paths.extend(part.path);
            }
        }
        self.rewritten.into_iter().map(Share::from).chain(shares.into_values().rev()).collect()
    }
}

impl<A: Access> Memory<'_, '_, A> {
    /// Who wrote the parts of the node that is held as `held`.
    pub fn blame(&self, id: &NodeId, held: Held<'_>, parts: &Parts) -> Result<Result<Blame, Lacking>, StoreError> {
        let tables = self.tables();
        let node = held.kept(tables)?;
        let (versions, start) = match held {
            Held::Stored(leaf) => (NodeVersions::of(tables, id, leaf), leaf.0),
            Held::Staged(_) => (NodeVersions::of_staged(tables, id, &node, get(tables, self.root(), id)?), STAGED),
        };
        let writer = |version: Number| {
            let origin = versions.origin(version)?;
            Ok::<_, StoreError>(origin.map_or_else(|| Writer { commit: None, node: node.clone() }, Writer::from))
        };
        let Some(content) = node.content() else { return Ok(Ok(Blame::of_redacted(start, writer(start)?))) };
        let unit = parts.unit.unwrap_or_else(|| suited(content));
        let wanted = match wanted(content, unit, parts) {
            Ok(wanted) => wanted,
            Err(lacking) => return Ok(Err(lacking)),
        };
        let pass_over = |version: Number| match versions.origin(version)? {
            Some(origin) => Ok(parts.ignored.contains(&origin.number)),
            None => Ok::<_, StoreError>(false),
        };
        let mut found = lineage(&versions, start, unit, &pass_over, wanted.clone())?;
        // Between two parts at one path, of a key that is there twice, others may stand.
        if let (Unit::Leaf, Some(path)) = (unit, &parts.path) {
            found.parts.retain(|part| part.path.as_deref().is_some_and(|leaf| is_at(content, path, leaf)));
        }
        let mut writers = BTreeMap::new();
        for part in &found.parts {
            if let Entry::Vacant(entry) = writers.entry(part.version) {
                entry.insert(writer(part.version)?);
            }
        }
        let is_older = unit == Unit::Node && found.parts.iter().any(|part| part.version != start);
        let rewritten = if is_older && !pass_over(start)? { Some(writer(start)?) } else { None };
        let first = wanted.map_or(0, |wanted| wanted.start);
        let Lineage { parts: found, coarse, simplified } = found;
        let blamed = found.into_iter().enumerate().map(|(at, part)| Blamed {
            line: (unit == Unit::Line).then_some(first + at + 1),
            content: Some(content_of(&part.text, unit)),
            path: part.path,
            version: part.version,
        });
        Ok(Ok(Blame { unit, parts: blamed.collect(), writers, rewritten, coarse, simplified }))
    }
}

/// A part as a content of its own: the text of a line without its line feed, else a value.
fn content_of(part: &str, unit: Unit) -> Content {
    match unit {
        Unit::Line => Content::from_text(part.strip_suffix('\n').unwrap_or(part)),
        Unit::Node | Unit::Leaf => Content::from_json(part).expect("what is no line is a value"),
    }
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
fn wanted(content: &Content, unit: Unit, parts: &Parts) -> Result<Option<Range<usize>>, Lacking> {
    if let (Unit::Line, Some(wanted)) = (unit, &parts.lines) {
        let count = lines(&content.readable()).len();
        let there = wanted.start < count;
        return if there { Ok(Some(wanted.start..wanted.end.min(count))) } else { Err(Lacking::Lines(count)) };
    }
    let (Unit::Leaf, Some(path)) = (unit, &parts.path) else { return Ok(None) };
    let paths = leaf_paths(content);
    let is_wanted = |leaf: &String| is_at(content, path, leaf);
    let range = paths.iter().position(is_wanted).zip(paths.iter().rposition(is_wanted));
    range.map(|(first, last)| Some(first..last + 1)).ok_or_else(|| Lacking::Path(path.clone()))
}

/// Whether a leaf is what stands at `path`, a part of that, or the one into which it leads.
fn is_at(content: &Content, path: &str, leaf: &str) -> bool {
    let leads =
        |from: &str, to: &str| to.strip_prefix(from).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    leads(path, leaf) || leads(leaf, path) && pointer(content.json(), path).is_ok_and(|value| value.is_some())
}
