//! What the verbs tell of each commit, held against the script.

use crate::body::Body;
use crate::place::Place;
use crate::script::{At, Commit, Known};
use mnemosyne::graph::{self, Blame, By, Changed, Comparison, ContentEdits, Removal, Selection, Unit, Writer};
use mnemosyne::model::{Node, NodeId, Pattern, SessionName};
use mnemosyne::object::Kept;
use mnemosyne::ops::{
    Between, BlameReport, BlameRequest, LogFilter, LsRequest, OpError, Version, blame, blame_all, diff, get, log, ls,
    versions_of,
};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// What is known of where the parts of a content come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parts {
    /// The commit of each.
    Known,
    /// Only that it has such a part.
    Somewhere,
}

type Claim = Result<(), TestCaseError>;

/// Asks at every commit, of what it changed and of some more.
pub fn hold(place: &Place, commits: &[Commit], parts: Parts) -> Claim {
    let mut behind: Vec<BTreeSet<At>> = Vec::new();
    for (at, commit) in commits.iter().enumerate() {
        behind.push(commit.parents.iter().flat_map(|&parent| behind[parent].clone()).chain([at]).collect());
    }
    let claims = Claims { place, commits, behind, parts, session: SessionName::default() };
    let ids: BTreeSet<_> = commits.iter().flat_map(|commit| commit.state.keys()).collect();
    let ids: Vec<_> = ids.into_iter().collect();
    for at in 0..commits.len() {
        claims.memory(at)?;
        let mut asked = BTreeSet::from([ids[at * 7 % ids.len()]]);
        for &parent in &commits[at].parents {
            let changed = claims.diff(parent, at)?;
            asked.extend(ids.iter().filter(|id| changed.contains(id)));
        }
        claims.diff(at * 17 % commits.len(), at)?;
        if at + 1 == commits.len() {
            asked.extend(&ids);
        }
        for id in asked {
            claims.node(at, id)?;
        }
    }
    Ok(())
}

struct Claims<'c> {
    place: &'c Place,
    commits: &'c [Commit],
    /// For each commit those from which it came, and itself.
    behind: Vec<BTreeSet<At>>,
    parts: Parts,
    session: SessionName,
}

/// Whether a pointer leads to what `above` leads to, or into it.
fn is_below(pointer: &str, above: &str) -> bool {
    pointer.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Ids of commits, whether `None` stands for a removal.
type Versions = Vec<(At, Option<Node>)>;

impl Claims<'_> {
    fn state(&self, at: At) -> &BTreeMap<NodeId, Known> {
        &self.commits[at].state
    }

    /// The commits behind `at` that wrote the node or took it from every parent, with what they left; the newest first.
    fn versions(&self, at: At, id: &NodeId) -> Versions {
        let step = |at: At| {
            let parents = &self.commits[at].parents;
            match self.state(at).get(id) {
                Some(known) if known.writer == at => Some((at, Some(known.node.clone()))),
                None if !parents.is_empty() && parents.iter().all(|&parent| self.state(parent).contains_key(id)) => {
                    Some((at, None))
                }
                Some(_) | None => None,
            }
        };
        self.behind[at].iter().rev().filter_map(|&at| step(at)).collect()
    }

    /// Who is to be named for having taken the node away: the newest after which nobody wrote it.
    fn removal(&self, versions: &Versions) -> Option<At> {
        let mut removals = versions.iter().filter(|(_, node)| node.is_none()).map(|(at, _)| *at);
        let writers: Vec<_> = versions.iter().filter(|(_, node)| node.is_some()).map(|(at, _)| *at).collect();
        let is_last = |removal: At| !writers.iter().any(|&writer| self.behind[writer].contains(&removal));
        removals.clone().find(|&removal| is_last(removal)).or_else(|| removals.next())
    }

    fn is_by(&self, writer: &Writer, at: At, node: &Node) -> Claim {
        prop_assert_eq!(writer.commit.as_ref().map(|commit| commit.id), Some(self.place.ids[at]));
        prop_assert_eq!(writer.node.node(), Some(node));
        Ok(())
    }

    /// What a removal says is what the first parent that has the node says.
    fn is_end(&self, removal: &Removal, at: At, id: &NodeId) -> Claim {
        prop_assert_eq!(removal.commit.as_ref().map(|commit| commit.id), Some(self.place.ids[at]));
        let mut had = self.commits[at].parents.iter().filter_map(|&parent| self.state(parent).get(id));
        let last = had.next().expect("it was there");
        self.is_by(&removal.last, last.writer, &last.node)
    }

    /// `ls`, `get` and `blame` of the whole memory.
    fn memory(&self, at: At) -> Claim {
        let revision = self.place.revision(at);
        let request =
            LsRequest { revision: Some(revision.clone()), nodes: true, origins: true, ..LsRequest::default() };
        let listed = ls(&self.place.store, &self.session, &request).expect("a list").nodes;
        let found: Vec<_> = listed
            .iter()
            .map(|row| (&row.id, row.node.as_ref().and_then(Kept::node), row.origin.map(|origin| origin.commit)))
            .collect();
        let state = self.state(at);
        let wanted = state.iter().map(|(id, known)| (id, Some(&known.node), Some(self.place.ids[known.writer])));
        prop_assert_eq!(found, wanted.collect::<Vec<_>>());
        let ids: Vec<_> = state.keys().cloned().collect();
        let (found, _) = get(&self.place.store, &self.session, Some(&revision), &ids).expect("nodes");
        prop_assert_eq!(found, state.values().map(|known| Some(known.node.clone().into())).collect::<Vec<_>>());
        if at % 20 != 19 {
            return Ok(());
        }
        let rows = blame_all(&self.place.store, &self.session, &[], Some(&revision)).expect("rows").rows;
        prop_assert_eq!(rows.len(), state.len());
        for (row, known) in rows.iter().zip(state.values()) {
            prop_assert_eq!(row.node.node(), Some(&known.node));
            self.is_whole(at, &row.writer, row.rewritten.as_ref(), known)?;
        }
        Ok(())
    }

    /// Who wrote a content, and who wrote the rest anew.
    fn is_whole(&self, at: At, writer: &Writer, rewritten: Option<&Writer>, known: &Known) -> Claim {
        let id = &known.node.id;
        let content = &self.state(known.content_at)[id].node;
        prop_assert_eq!(&content.content, &known.node.content);
        self.is_by(writer, known.content_at, content)?;
        prop_assert_eq!(rewritten.is_some(), known.content_at != known.writer, "{} at {}", id, at);
        rewritten.map_or(Ok(()), |rewritten| self.is_by(rewritten, known.writer, &known.node))
    }

    /// What differs, by node, and of contents by line and leaf. Returns whose nodes.
    fn diff(&self, old: At, new: At) -> Result<BTreeSet<NodeId>, TestCaseError> {
        let between = Between::Revisions(self.place.revision(old), self.place.revision(new));
        let found = diff(&self.place.store, &self.session, &between, &[]).expect("a difference").changed;
        let node = |at: At, id: &NodeId| self.state(at).get(id).map(|known| Kept::Node(known.node.clone()));
        let ids: BTreeSet<_> = self.state(old).keys().chain(self.state(new).keys()).collect();
        let wanted = ids.into_iter().map(|id| Changed { old: node(old, id), new: node(new, id) });
        let wanted: Vec<_> = wanted.filter(|changed| changed.old != changed.new).collect();
        prop_assert_eq!(&found, &wanted);
        for changed in found.iter().filter(|_| self.parts == Parts::Known) {
            let body = |at: At| self.state(at).get(changed.id()).map(|known| &known.body);
            if let (Some(old), Some(new)) = (body(old), body(new)) {
                self.edits(changed, old, new)?;
            }
        }
        Ok(found.iter().map(|changed| changed.id().clone()).collect())
    }

    /// Lines and leaves go and come that only one side has; a leaf has to stand in its place.
    fn edits(&self, changed: &Changed, old: &Body, new: &Body) -> Claim {
        let (old_content, new_content) = changed.contents();
        let comparison = Comparison::of(old_content, new_content, By::Auto);
        let (old_parts, mut anew) = (old.parts(), new.clone());
        let texts = |parts: &[(String, At)]| parts.iter().map(|(text, _)| text.clone()).collect::<BTreeSet<_>>();
        let (before, after) = (texts(&old_parts), texts(&new.parts()));
        match comparison.edits(None) {
            ContentEdits::Same => prop_assert_eq!(old_content, new_content),
            ContentEdits::Lines { old, new, edits } => {
                let side = |lines: &[&str], places: Vec<std::ops::Range<usize>>| {
                    places.into_iter().flatten().map(|at| lines[at].to_owned()).collect::<BTreeSet<_>>()
                };
                let gone = side(&old, edits.edits.iter().map(|edit| edit.old.clone()).collect());
                let come = side(&new, edits.edits.iter().map(|edit| edit.new.clone()).collect());
                prop_assert_eq!(gone, before.difference(&after).cloned().collect());
                prop_assert_eq!(come, after.difference(&before).cloned().collect());
            }
            ContentEdits::Paths { changes, .. } => {
                let own = self.commits.len();
                if !anew.adopt(&[old], own) {
                    return Ok(());
                }
                // What becomes empty is told by what it loses.
                let is_told = |leaf: &str| {
                    let (path, token) = leaf.split_once(": ").expect("a pointer and a token");
                    let is_empty = matches!(token, "[]" | "{}");
                    changes.iter().any(|change| match change.new {
                        Some(_) => is_below(path, &change.path),
                        None => is_empty && is_below(&change.path, path),
                    })
                };
                if let (Body::Value { .. }, Body::Value { .. }) = (old, new) {
                    for (leaf, at) in anew.parts() {
                        prop_assert_eq!(is_told(&leaf), at == own, "{} of {:?}", leaf, changed);
                    }
                }
            }
        }
        Ok(())
    }

    /// `blame`, `blame --history` and `log` of one node.
    fn node(&self, at: At, id: &NodeId) -> Claim {
        let versions = self.versions(at, id);
        self.history(at, id, &versions)?;
        let Some(known) = self.state(at).get(id) else { return self.gone(at, id, &versions) };
        // The lines of a value are those of its JSON text, of which the script knows nothing.
        let in_turn = match (at % 3, &known.body) {
            (0, _) | (1, Body::Value { .. }) => Unit::Node,
            (1, Body::Text { .. }) => Unit::Line,
            _ => Unit::Leaf,
        };
        for unit in [None, Some(in_turn)] {
            let parts = graph::Parts { unit, ..graph::Parts::default() };
            let request = BlameRequest { revision: Some(self.place.revision(at)), parts, ..BlameRequest::default() };
            let (report, _) = blame(&self.place.store, &self.session, id, &request).expect("it stands");
            let BlameReport::Stands(blame) = report else {
                return Err(TestCaseError::fail(format!("'{id}' stands at {at}")));
            };
            prop_assert!(unit.is_none_or(|unit| unit == blame.unit));
            if unit.is_none() {
                let suited = match &known.body {
                    Body::Text { .. } if known.body.parts().len() > 1 => Unit::Line,
                    Body::Value { .. } if known.node.content.json().starts_with(['[', '{']) => Unit::Leaf,
                    Body::Text { .. } | Body::Value { .. } => Unit::Node,
                };
                prop_assert_eq!(blame.unit, suited);
            }
            self.parts(at, &blame, known)?;
        }
        Ok(())
    }

    fn gone(&self, at: At, id: &NodeId, versions: &Versions) -> Claim {
        let request = BlameRequest { revision: Some(self.place.revision(at)), ..BlameRequest::default() };
        match (blame(&self.place.store, &self.session, id, &request), self.removal(versions)) {
            (Ok((BlameReport::Removed(found), _)), Some(removal)) => self.is_end(&found.removal, removal, id),
            (Err(OpError::NoNode(ids)), None) => {
                prop_assert_eq!(ids, std::slice::from_ref(id));
                Ok(())
            }
            (found, wanted) => Err(TestCaseError::fail(format!("'{id}' at {at}: {found:?} for {wanted:?}"))),
        }
    }

    fn history(&self, at: At, id: &NodeId, versions: &Versions) -> Claim {
        let revision = self.place.revision(at);
        match versions_of(&self.place.store, &self.session, id, Some(&revision)) {
            Err(OpError::NoNode(_)) => prop_assert!(versions.is_empty()),
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
            Ok((found, _)) => {
                prop_assert_eq!(found.len(), versions.len());
                for (found, (commit, node)) in found.iter().zip(versions) {
                    match (found, node) {
                        (Version::Written(writer), Some(node)) => self.is_by(writer, *commit, node)?,
                        (Version::Removed(removal), None) => self.is_end(removal, *commit, id)?,
                        (found, _) => return Err(TestCaseError::fail(format!("{found:?} for {commit}"))),
                    }
                }
            }
        }
        let pattern = Pattern::parse(id.as_str(), true).expect("an id");
        let revisions = vec![Selection::Of(revision)];
        let filter = LogFilter { revisions, patterns: vec![pattern], ..LogFilter::default() };
        let report = log(&self.place.store, &self.session, &filter).expect("a log");
        let found: Vec<_> = report.entries.iter().map(|entry| entry.commit.id).collect();
        prop_assert_eq!(found, versions.iter().map(|(at, _)| self.place.ids[*at]).collect::<Vec<_>>());
        Ok(())
    }

    /// The parts that stand, each with who brought it.
    fn parts(&self, at: At, blame: &Blame, known: &Known) -> Claim {
        let id = &known.node.id;
        let whole = || vec![(known.node.content.json().to_owned(), known.content_at)];
        let parts = match (blame.unit, &known.body) {
            (Unit::Line, Body::Text { .. }) | (Unit::Leaf, Body::Value { .. }) => known.body.parts(),
            (Unit::Leaf, Body::Text { .. }) => {
                whole().into_iter().map(|(json, at)| (format!(": {json}"), at)).collect()
            }
            (Unit::Node, _) | (Unit::Line, Body::Value { .. }) => whole(),
        };
        prop_assert_eq!(blame.parts.len(), parts.len());
        let mut blamed = BTreeSet::new();
        for (nth, (found, (text, origin))) in blame.parts.iter().zip(&parts).enumerate() {
            let content = found.content.as_ref().expect("it is not redacted");
            let shown = match (blame.unit, &known.body) {
                (Unit::Line, Body::Text { .. }) => {
                    prop_assert_eq!(found.line, Some(nth + 1));
                    content.text().expect("a line is a text").into_owned()
                }
                (Unit::Leaf, _) => {
                    format!("{}: {}", found.path.as_deref().expect("a leaf has one"), content.json())
                }
                (Unit::Node | Unit::Line, _) => content.json().to_owned(),
            };
            let line = (blame.unit == Unit::Line && matches!(known.body, Body::Text { .. })).then_some('\n');
            prop_assert_eq!(&shown, text.strip_suffix(|end| Some(end) == line).unwrap_or(text));
            let writer = &blame.writers[&found.version];
            blamed.insert(found.version);
            match self.parts {
                Parts::Known => {
                    let wrote = self.state(*origin).get(id).expect("it brought a part");
                    prop_assert_eq!(wrote.writer, *origin);
                    self.is_by(writer, *origin, &wrote.node)
                        .map_err(|error| TestCaseError::fail(format!("{text:?} of '{id}' at {at}: {error}")))?;
                }
                Parts::Somewhere => self.has(at, writer, text, blame.unit, known)?,
            }
        }
        prop_assert_eq!(blamed, blame.writers.keys().copied().collect());
        match (blame.unit, blame.parts.first()) {
            (Unit::Node, Some(part)) => {
                self.is_whole(at, &blame.writers[&part.version], blame.rewritten.as_ref(), known)?;
            }
            (Unit::Node | Unit::Line | Unit::Leaf, _) => prop_assert!(blame.rewritten.is_none()),
        }
        Ok(())
    }

    /// Whether who is blamed for a part wrote the node, has such a part, and came before.
    fn has(&self, at: At, writer: &Writer, text: &str, unit: Unit, known: &Known) -> Claim {
        let id = &known.node.id;
        let commit = writer.commit.as_ref().map(|commit| commit.id);
        let origin = self.place.ids.iter().position(|id| Some(*id) == commit).expect("one of the commits");
        let wrote = self.state(origin).get(id).expect("it brought a part");
        prop_assert_eq!((wrote.writer, Some(&wrote.node)), (origin, writer.node.node()));
        prop_assert!(self.behind[at].contains(&origin));
        // An item of an array may stand at another place.
        let token = |leaf: &str| leaf.rsplit(": ").next().expect("there is one").to_owned();
        let is_there = match (unit, &known.body) {
            (Unit::Line, Body::Text { .. }) => wrote.body.parts().iter().any(|(line, _)| line == text),
            (Unit::Leaf, Body::Value { .. }) => wrote.body.parts().iter().any(|(leaf, _)| token(leaf) == token(text)),
            (Unit::Node | Unit::Line | Unit::Leaf, _) => wrote.node.content == known.node.content,
        };
        prop_assert!(is_there, "{:?} of '{}' at {} by {}", text, id, at, origin);
        Ok(())
    }
}
