//! A node that conflicts, as it is told: what each side has and who wrote it, and how it is settled.

use super::commit_text::SHORT;
use super::context::Context;
use super::error::CliError;
use super::json::{NodeJson, V, raw};
use super::paint::Paint;
use super::text::{cut, escape_line};
use super::writer_text;
use crate::model::{Content, minify};
use crate::object::Kept;
use crate::ops::{ConflictReport, Settled, Told};
use crate::store::CommitRecord;
use serde::Serialize;
use serde_json::value::RawValue;
use std::io::{self, Write};

/// A conflict; a row, and a part of what is in progress.
#[derive(Serialize)]
pub struct ConflictJson<'a> {
    v: u8,
    r#type: &'static str,
    id: &'a str,
    base: SideJson<'a>,
    ours: SideJson<'a>,
    theirs: SideJson<'a>,
    settled: Option<&'static str>,
}

/// What a side of a conflict has, and the commit that wrote it or took it away.
#[derive(Serialize)]
struct SideJson<'a> {
    state: &'static str,
    node: Option<NodeJson<'a>>,
    commit: Option<String>,
    author: Option<&'a str>,
    time: Option<String>,
    last: Option<Box<RawValue>>,
}

impl<'a> ConflictJson<'a> {
    /// The shape of a conflict.
    pub fn new(conflict: &'a ConflictReport) -> Result<Self, CliError> {
        Ok(Self {
            v: V,
            r#type: "conflict",
            id: conflict.id.as_str(),
            base: SideJson::new(&conflict.base)?,
            ours: SideJson::new(&conflict.ours)?,
            theirs: SideJson::new(&conflict.theirs)?,
            settled: conflict.settled.map(settled_name),
        })
    }
}

impl<'a> SideJson<'a> {
    fn new(told: &'a Told) -> Result<Self, CliError> {
        let side = |state, node: Option<NodeJson<'a>>, commit: Option<&'a CommitRecord>| {
            Ok::<_, CliError>(Self {
                state,
                node,
                commit: commit.map(|commit| commit.id.to_string()),
                author: commit.map(|commit| commit.author.as_str()),
                time: commit.map(|commit| commit.time.to_string()),
                last: None,
            })
        };
        match told {
            Told::Node(writer) => side("node", Some(NodeJson::new(&writer.node)?), writer.commit.as_ref()),
            Told::Made(node) => side("merged", Some(NodeJson::of_node(node)?), None),
            Told::Absent => side("absent", None, None),
            Told::Undecided => side("undecided", None, None),
            Told::Removed(removal) => {
                let last = removal.last.node.content().map(|content| raw(content.json())).transpose()?;
                Ok(Self { last, ..side("removed", None, removal.commit.as_ref())? })
            }
        }
    }
}

/// How a way to settle is called.
fn settled_name(settled: Settled) -> &'static str {
    match settled {
        Settled::Ours => "ours",
        Settled::Theirs => "theirs",
        Settled::Base => "base",
        Settled::Delete => "delete",
        Settled::Other => "other",
    }
}

/// Prints conflicts: rows of JSON, or a paragraph each.
pub fn show(conflicts: &[ConflictReport], context: &mut Context) -> Result<(), CliError> {
    if context.globals.json {
        return conflicts.iter().try_for_each(|conflict| context.json_line(&ConflictJson::new(conflict)?));
    }
    let paint = context.paint();
    conflicts.iter().try_for_each(|conflict| render(context.out(), conflict, "", paint))?;
    Ok(())
}

/// The id, then each side on lines of its own.
pub fn render(out: &mut dyn Write, conflict: &ConflictReport, indent: &str, paint: Paint) -> io::Result<()> {
    let id = paint.id(&escape_line(conflict.id.as_str()));
    let settled = match conflict.settled {
        Some(Settled::Other) => paint.added("settled"),
        Some(Settled::Delete) => paint.added("settled: it goes"),
        Some(settled) => paint.added(&format!("settled: {}", settled_name(settled))),
        None => paint.removed("conflict"),
    };
    writeln!(out, "{indent}{id}: {settled}")?;
    for (name, told) in [("base", &conflict.base), ("ours", &conflict.ours), ("theirs", &conflict.theirs)] {
        let (said, place) = side(told, paint);
        writeln!(out, "{}", format!("{indent}  {name:6} {said}").trim_end())?;
        if !place.is_empty() {
            writeln!(out, "{indent}         {place}")?;
        }
    }
    Ok(())
}

/// What a side has, and who wrote it; nothing where nobody did.
fn side(told: &Told, paint: Paint) -> (String, String) {
    let said = |content: &Content| escape_line(&cut(&minify(content.json()))).into_owned();
    match told {
        Told::Node(writer) => {
            let place =
                format!("{} {}", writer_text::writer(writer, paint), writer_text::provenance(&writer.node, paint));
            let said = match &writer.node {
                Kept::Node(node) => said(&node.content),
                Kept::Redacted(redaction) => writer_text::redaction(redaction),
            };
            (said, place.trim_end().to_owned())
        }
        Told::Made(node) => (said(&node.content), writer_text::set(&node.provenance, paint)),
        Told::Removed(removal) => (paint.removed("removed"), writer_text::place(removal.commit.as_ref(), None, paint)),
        Told::Absent => (paint.dim("absent"), String::new()),
        Told::Undecided => (paint.dim("conflicts itself, where the histories cross"), String::new()),
    }
}

/// A commit by its short id.
pub fn short(id: &crate::object::CommitId) -> String {
    id.to_string()[..SHORT].to_owned()
}
