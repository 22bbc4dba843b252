//! Two contents side by side, as they are compared: by line or by leaf.

use super::{Edit, Edits, Hunk, Op, PathChange, Remark, hunks, leaves, line_edits, lines, value_edits};
use crate::model::{Content, minify};
use std::borrow::Cow;
use std::time::Instant;

/// By what contents are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// Texts by line; by leaf where one side is no text.
    #[default]
    Auto,
    /// By line; a value that is no text by the lines of its JSON text.
    Line,
    /// By leaf; a text is one leaf.
    Path,
}

/// The two sides of a comparison. A side that is absent is an empty text or no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Comparison<'a> {
    /// They are compared by line.
    Texts(Cow<'a, str>, Cow<'a, str>),
    /// They are compared by leaf.
    Values(Option<&'a Content>, Option<&'a Content>),
}

impl<'a> Comparison<'a> {
    /// Puts two contents side by side. Strings that spell the same text otherwise are compared as values.
    pub fn of(old: Option<&'a Content>, new: Option<&'a Content>, by: By) -> Self {
        let values = Self::Values(old, new);
        let text = |content: Option<&'a Content>| match content {
            None => Some(Cow::Borrowed("")),
            Some(content) if by == By::Line => Some(content.readable()),
            Some(content) => content.text(),
        };
        match (by, text(old), text(new)) {
            (By::Auto | By::Line, Some(old_text), Some(new_text)) => {
                let respelled = old.zip(new).is_some_and(|(old, new)| old.respells(new));
                if respelled { values } else { Self::Texts(old_text, new_text) }
            }
            (By::Auto | By::Line | By::Path, _, _) => values,
        }
    }

    /// Finds what differs. After `until` the search gives up and the answer is coarser.
    pub fn edits(&self, until: Option<Instant>) -> ContentEdits<'_> {
        match self {
            Self::Texts(old, new) if old == new => ContentEdits::Same,
            Self::Values(old, new) if old == new => ContentEdits::Same,
            Self::Texts(old, new) => {
                let (old, new) = (lines(old), lines(new));
                let edits = line_edits(&old, &new, until);
                ContentEdits::Lines { old, new, edits }
            }
            Self::Values(old, new) => match (*old, *new) {
                (Some(old), Some(new)) => {
                    let found = value_edits(old.json(), new.json(), until);
                    let remark = found.remark.or_else(|| old.respells(new).then_some(Remark::Respelled));
                    ContentEdits::Paths { changes: found.changes, remark, simplified: found.simplified }
                }
                (old, new) => {
                    let op = if old.is_none() { Op::Add } else { Op::Remove };
                    let json = |content: Option<&Content>| content.map(|content| minify(content.json()).into_owned());
                    let change = PathChange { op, path: String::new(), old: json(old), new: json(new) };
                    ContentEdits::Paths { changes: vec![change], remark: None, simplified: false }
                }
            },
        }
    }
}

/// What differs between two contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContentEdits<'a> {
    /// Nothing.
    Same,
    /// By line.
    Lines {
        /// The lines of the older text, each with its end.
        old: Vec<&'a str>,
        /// Those of the newer.
        new: Vec<&'a str>,
        /// What differs.
        edits: Edits,
    },
    /// By leaf.
    Paths {
        /// What differs, in the order of the newer value.
        changes: Vec<PathChange>,
        /// What has to be told beside.
        remark: Option<Remark>,
        /// Whether the search gave up early.
        simplified: bool,
    },
}

impl ContentEdits<'_> {
    /// Whether the search gave up early, so that the answer is coarser than it could be.
    pub fn simplified(&self) -> bool {
        match self {
            Self::Same => false,
            Self::Lines { edits, .. } => edits.simplified,
            Self::Paths { simplified, .. } => *simplified,
        }
    }

    /// What has to be told beside.
    pub fn remark(&self) -> Option<Remark> {
        match self {
            Self::Same | Self::Lines { .. } => None,
            Self::Paths { remark, .. } => *remark,
        }
    }

    /// The differing lines with `context` lines around them; none where values were compared.
    pub fn hunks(&self, context: usize) -> Vec<Hunk> {
        match self {
            Self::Lines { old, new, edits } => hunks(&edits.edits, old.len(), new.len(), context),
            Self::Same | Self::Paths { .. } => Vec::new(),
        }
    }

    /// How many lines, or where values were compared leaves, come in and go. What is replaced does both and is one leaf.
    pub fn count(&self) -> (usize, usize) {
        match self {
            Self::Same => (0, 0),
            Self::Lines { edits, .. } => {
                let count = |side: fn(&Edit) -> usize| edits.edits.iter().map(side).sum();
                (count(|edit| edit.new.len()), count(|edit| edit.old.len()))
            }
            Self::Paths { changes, .. } => {
                let size = |json: &str| leaves(json).map_or(1, |leaves| leaves.len());
                changes.iter().fold((0, 0), |(come, gone), change| match (change.op, &change.new, &change.old) {
                    (Op::Add, Some(json), _) => (come + size(json), gone),
                    (Op::Remove, _, Some(json)) => (come, gone + size(json)),
                    (Op::Replace | Op::Add | Op::Remove, ..) => (come + 1, gone + 1),
                })
            }
        }
    }
}
