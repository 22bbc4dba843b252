//! What a predicate found, as it is told.

use super::error::CliError;
use super::json::{WriterJson, raw};
use super::paint::Paint;
use super::shell::word;
use super::text::{cut, escape_line};
use super::writer_text;
use crate::graph::{Found, Predicate, Removal, Share};
use crate::model::Content;
use crate::object::Kept;
use serde::Serialize;
use serde_json::value::RawValue;

/// A predicate as it is typed, and what stands where it looked, on one line.
pub fn finding(predicate: &Predicate, found: &Found) -> String {
    let words: Vec<_> = predicate.words().iter().map(|text| word(text)).collect();
    escape_line(&format!("{}: {}", words.join(" "), told(found))).into_owned()
}

/// What stands where a predicate looked, on one line.
pub fn found(found: &Found) -> String {
    escape_line(&told(found)).into_owned()
}

fn told(found: &Found) -> String {
    let short = |content: &Content| cut(content.json()).into_owned();
    match found {
        Found::Absent(id) => format!("there is no node '{id}'"),
        Found::Redacted(id) => format!("'{id}' is redacted"),
        Found::Node(id, content) => format!("'{id}' is {}", short(content)),
        Found::Value(id, path, Some(value)) => format!("'{id}' has {} at '{path}'", short(value)),
        Found::Value(id, path, None) => format!("'{id}' has nothing at '{path}'"),
        Found::Number(1) => "1 node matches".to_owned(),
        Found::Number(count) => format!("{count} nodes match"),
        Found::Nothing => "no node that matches contains it".to_owned(),
    }
}

/// The node that somebody wrote, or which parts of it, who, and from what, on one line.
pub fn blame(Share { writer, lines, paths }: &Share, paint: Paint) -> String {
    let id = paint.id(&escape_line(writer.node.id().as_str()));
    let lines: Vec<_> = lines.iter().map(ToString::to_string).collect();
    let paths: Vec<_> = paths.iter().filter(|path| !path.is_empty()).map(String::as_str).collect();
    let parts = match (&lines[..], &paths[..]) {
        ([], []) => String::new(),
        ([], paths) => format!(" {}", paths.join(", ")),
        ([line], _) => format!(" line {line}"),
        (lines, _) => format!(" lines {}", lines.join(", ")),
    };
    let (parts, provenance) = (cut(&parts), writer_text::provenance(&writer.node, paint));
    let text = format!("{id}{}: {} {provenance}", escape_line(&parts), writer_text::writer(writer, paint));
    text.trim_end().to_owned()
}

/// Who took a node away, and what it said last and who wrote that: a line each.
pub fn removal(removal: &Removal, paint: Paint) -> [String; 2] {
    let id = paint.id(&escape_line(removal.last.node.id().as_str()));
    let place = writer_text::place(removal.commit.as_ref(), None, paint);
    let last = Share::from(removal.last.clone());
    let said = match &removal.last.node {
        Kept::Node(node) => escape_line(&cut(node.content.json())).into_owned(),
        Kept::Redacted(redaction) => writer_text::redaction(redaction),
    };
    let last = format!("{}: {said}", blame(&last, paint));
    [format!("{id}: {place} {}", paint.removed("removed")), last]
}

/// A predicate and what stands where it looked; the fields of a row or a part of one.
#[derive(Serialize)]
pub struct FindingJson<'a> {
    predicate: &'a [String],
    #[serde(flatten)]
    found: FoundJson<'a>,
}

impl<'a> FindingJson<'a> {
    /// The shape of a finding.
    pub fn new(predicate: &'a Predicate, found: &'a Found) -> Result<Self, CliError> {
        Ok(Self { predicate: predicate.words(), found: FoundJson::new(found)? })
    }
}

/// What stands where a predicate looked.
#[derive(Serialize)]
pub struct FoundJson<'a> {
    id: Option<&'a str>,
    present: bool,
    content: Option<Box<RawValue>>,
    count: Option<u64>,
}

impl<'a> FoundJson<'a> {
    /// The shape of what was found.
    pub fn new(found: &'a Found) -> Result<Self, CliError> {
        let (id, present, content, count) = match found {
            Found::Absent(id) => (Some(id), false, None, None),
            Found::Redacted(id) => (Some(id), true, None, None),
            Found::Node(id, content) => (Some(id), true, Some(content), None),
            Found::Value(id, _, value) => (Some(id), value.is_some(), value.as_ref(), None),
            Found::Number(count) => (None, *count > 0, None, Some(*count)),
            Found::Nothing => (None, false, None, None),
        };
        let id = id.map(|id| id.as_str());
        let content = content.map(|content| raw(content.json())).transpose()?;
        Ok(Self { id, present, content, count })
    }
}

/// The node that somebody wrote, or which parts of it, and who.
#[derive(Serialize)]
pub struct OriginJson<'a> {
    id: &'a str,
    #[serde(flatten)]
    writer: WriterJson<'a>,
    lines: Option<&'a [usize]>,
    paths: Option<&'a [String]>,
}

impl<'a> OriginJson<'a> {
    /// The shape of an origin.
    pub fn new(Share { writer, lines, paths }: &'a Share) -> Self {
        Self {
            id: writer.node.id().as_str(),
            writer: WriterJson::of(writer),
            lines: Some(&lines[..]).filter(|lines| !lines.is_empty()),
            paths: Some(&paths[..]).filter(|paths| !paths.is_empty()),
        }
    }
}

/// Who took a node away, and what it said last.
#[derive(Serialize)]
pub struct RemovalJson<'a> {
    commit: Option<String>,
    author: Option<&'a str>,
    time: Option<String>,
    content: Option<Box<RawValue>>,
    last: WriterJson<'a>,
}

impl<'a> RemovalJson<'a> {
    /// The shape of a removal.
    pub fn new(removal: &'a Removal) -> Result<Self, CliError> {
        let commit = removal.commit.as_ref();
        Ok(Self {
            commit: commit.map(|commit| commit.id.to_string()),
            author: commit.map(|commit| commit.author.as_str()),
            time: commit.map(|commit| commit.time.to_string()),
            content: removal.last.node.content().map(|content| raw(content.json())).transpose()?,
            last: WriterJson::of(&removal.last),
        })
    }
}
