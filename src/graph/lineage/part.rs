//! A content taken apart, and which parts of two contents are one.

use super::{Part, Sought, Unit};
use crate::graph::compare::{
    ARRAY_LIMIT, Edit, Edits, Pointer, Remark, each_leaf, edits, equal_runs, line_edits, lines, pair_members, texts,
};
use crate::model::{Content, Tree, minify};
use crate::store::Number;
use std::borrow::Cow;
use std::ops::Range;

/// The text that is taken apart; `None` where the whole is one part.
pub(super) fn source(content: &Content, unit: Unit) -> Option<Cow<'_, str>> {
    match unit {
        Unit::Node => None,
        Unit::Line => Some(content.readable()),
        Unit::Leaf => Some(minify(content.json())),
    }
}

/// A content taken apart.
pub(super) enum View<'a> {
    Whole,
    Lines(Vec<&'a str>),
    Leaves(Tree<'a>),
}

impl<'a> View<'a> {
    pub(super) fn of(source: Option<&'a str>, unit: Unit) -> Self {
        match (source, unit) {
            (None, _) | (Some(_), Unit::Node) => Self::Whole,
            (Some(text), Unit::Line) => Self::Lines(lines(text)),
            (Some(json), Unit::Leaf) => Self::Leaves(Tree::of(json, ARRAY_LIMIT)),
        }
    }
}

/// All parts of `content` as if they came from `version`, and why some are not taken apart further.
pub(super) fn parts(content: &Content, unit: Unit, version: Number) -> (Vec<Part>, Option<Remark>) {
    let source = source(content, unit);
    let mut coarse = None;
    let parts = match View::of(source.as_deref(), unit) {
        View::Whole => vec![Part { version, path: None, text: content.json().to_owned(), origin_line: None }],
        View::Lines(lines) => {
            let part = |(at, line): (usize, &str)| {
                let origin_line = Some(at + 1);
                Part { version, path: None, text: line.to_owned(), origin_line }
            };
            lines.into_iter().enumerate().map(part).collect()
        }
        View::Leaves(tree) => {
            let mut parts = Vec::with_capacity(tree.leaves());
            each_leaf(&tree, &mut Pointer::default(), &mut |path, leaf| {
                coarse = coarse.or(closed(leaf));
                let (path, text) = (Some(path.to_owned()), leaf.text().to_owned());
                parts.push(Part { version, path, text, origin_line: None });
            });
            parts
        }
    };
    (parts, coarse)
}

/// Why a value was not looked into.
fn closed(tree: &Tree<'_>) -> Option<Remark> {
    match tree {
        Tree::Closed { limit, .. } => Some(Remark::from(*limit)),
        Tree::Scalar(_) | Tree::Array { .. } | Tree::Object { .. } => None,
    }
}

/// A run of parts of the newer content that stand, one by one, for those of the older from `old` on.
pub(super) struct Link {
    pub(super) new: Range<usize>,
    pub(super) old: usize,
}

/// What leads from parts of a content to those of an older one, each in the order of the newer.
#[derive(Default)]
pub(super) struct Links {
    /// To what is the same there.
    pub(super) same: Vec<Link>,
    /// To what stood there instead.
    pub(super) replaced: Vec<Link>,
    /// Why there are not more.
    pub(super) coarse: Option<Remark>,
    /// Whether a comparison gave up early, so that there could be more.
    pub(super) simplified: bool,
}

impl Links {
    /// The links from `new`, of which only what is sought counts, to `old`. The contents are not the same.
    pub(super) fn between(old: &View<'_>, new: &View<'_>, sought: &[Sought]) -> Self {
        let mut links = Self::default();
        match (old, new) {
            (View::Whole, View::Whole) => links.replaced.push(Link { new: 0..1, old: 0 }),
            (View::Lines(old), View::Lines(new)) => links.lines(old, new),
            (View::Leaves(old), View::Leaves(new)) => {
                links.leaves(Place { tree: old, first: 0 }, Place { tree: new, first: 0 }, sought);
                links.same.sort_unstable_by_key(|link| link.new.start);
                links.replaced.sort_unstable_by_key(|link| link.new.start);
            }
            // A text and something else have no part in common.
            (View::Whole | View::Lines(_) | View::Leaves(_), _) => {}
        }
        links
    }

    fn lines(&mut self, old: &[&str], new: &[&str]) {
        let Edits { edits, simplified } = line_edits(old, new, None);
        self.simplified |= simplified;
        self.same.extend(equal_runs(&edits, new.len()).map(|(old, new)| Link { new, old }));
        for Edit { old, new } in edits.into_iter().filter(|edit| !edit.old.is_empty()) {
            let link = |at| Link { new: at..at + 1, old: (old.start + (at - new.start)).min(old.end - 1) };
            self.replaced.extend(new.clone().map(link));
        }
    }

    fn leaves(&mut self, old: Place<'_, '_>, new: Place<'_, '_>, sought: &[Sought]) {
        let leaves = new.first..new.end();
        let next = sought.partition_point(|sought| sought.place < leaves.start);
        if sought.get(next).is_none_or(|sought| sought.place >= leaves.end) {
            return;
        }
        if old.tree.text() == new.tree.text() {
            self.same.push(Link { new: leaves, old: old.first });
            return;
        }
        match (old.tree, new.tree) {
            (Tree::Object { members: old_members, .. }, Tree::Object { members: new_members, .. }) => {
                let (old, new) = (old.inside(), new.inside());
                for (old, at) in old.into_iter().zip(pair_members(old_members, new_members)) {
                    if let Some(at) = at {
                        self.leaves(old, new[at], sought);
                    }
                }
            }
            (Tree::Array { elements: old_elements, .. }, Tree::Array { elements: new_elements, .. }) => {
                let (old, new) = (old.inside(), new.inside());
                let Edits { edits, simplified } = edits(&texts(old_elements), &texts(new_elements), None);
                self.simplified |= simplified;
                for (old_at, run) in equal_runs(&edits, new.len()) {
                    let run = new[run.start].first..new[run.end - 1].end();
                    self.same.push(Link { new: run, old: old[old_at].first });
                }
                for (old_at, new_at) in edits.iter().flat_map(Edit::pairs) {
                    if let (Some(old_at), Some(new_at)) = (old_at, new_at) {
                        self.leaves(old[old_at], new[new_at], sought);
                    }
                }
            }
            (old_tree, new_tree) => {
                if old_tree.text().as_bytes().first() == new_tree.text().as_bytes().first() {
                    self.coarse = self.coarse.or(closed(old_tree)).or(closed(new_tree));
                }
                if old_tree.is_leaf() && new_tree.is_leaf() {
                    self.replaced.push(Link { new: leaves, old: old.first });
                }
            }
        }
    }
}

/// A value in a content, and which leaf of the content is its first.
#[derive(Clone, Copy)]
struct Place<'t, 'a> {
    tree: &'t Tree<'a>,
    first: usize,
}

impl<'t, 'a> Place<'t, 'a> {
    /// Behind its last leaf.
    fn end(self) -> usize {
        self.first + self.tree.leaves()
    }

    /// The values in it.
    fn inside(self) -> Vec<Self> {
        let inside: Vec<&'t Tree<'a>> = match self.tree {
            Tree::Array { elements, .. } => elements.iter().collect(),
            Tree::Object { members, .. } => members.iter().map(|(_, value)| value).collect(),
            Tree::Scalar(_) | Tree::Closed { .. } => vec![],
        };
        let mut first = self.first;
        let place = |tree: &'t Tree<'a>| {
            let place = Self { tree, first };
            first = place.end();
            place
        };
        inside.into_iter().map(place).collect()
    }
}
