//! Taking back what came from one source, in random histories in which several have written.

use crate::body::Tag;
use crate::history::{At, History};
use crate::origin::{Held, origins};
use crate::place::{self, Place, empty};
use crate::script::Shape;
use mnemosyne::graph::{Conflict, NodeFilter, undone};
use mnemosyne::model::{Content, ContentKind, Node, NodeId, Provenance};
use mnemosyne::object::{Kept, encode_node};
use mnemosyne::store::{Number, Reading, Tables};
use std::collections::{BTreeMap, BTreeSet};

const SOURCES: &[&str] = &["web", "chat", "own"];

#[derive(Debug, Default)]
struct Seen {
    asked: usize,
    changed: usize,
    kept: usize,
    conflicts: usize,
}

struct Undoing<'u> {
    script: &'u History,
    place: &'u Place,
    tables: &'u Tables<Reading>,
    origins: Vec<BTreeMap<NodeId, Held>>,
}

impl Undoing<'_> {
    fn source(&self, id: &NodeId, at: At) -> Option<&str> {
        self.script.commits[at].state[id].node.provenance.source.as_deref()
    }

    /// The tags of a version, those from the source or those from others.
    fn tags(&self, at: At, id: &NodeId, source: &str, own: bool) -> BTreeSet<Tag> {
        let tags = self.origins[at].get(id).into_iter().flat_map(|held| held.tags.iter());
        tags.filter(|(_, from)| (self.source(id, **from) == Some(source)) == own).map(|(tag, _)| *tag).collect()
    }

    fn behind(&self, head: At) -> impl Iterator<Item = At> {
        (0..=head).filter(move |&at| self.script.is_behind(at, head))
    }

    /// Whether something of the source stands: a part, or the whole where it is not taken apart.
    fn stands(&self, head: At, id: &NodeId, source: &str) -> bool {
        let Some(known) = self.script.commits[head].state.get(id) else { return false };
        let content = &known.node.content;
        let is_whole = match content.text() {
            Some(text) => text.lines().count() < 2,
            None => {
                !content.json().starts_with(['[', '{'])
                    || content.json().contains("[]")
                    || content.json().contains("{}")
            }
        };
        let by_source = |at: At| self.source(id, at) == Some(source);
        is_whole && by_source(self.origins[head][id].content_at) || !self.tags(head, id, source, true).is_empty()
    }

    fn hold(&self, head: At, source: &str, seen: &mut Seen) {
        let state = &self.script.commits[head].state;
        let filter = NodeFilter {
            provenance: Provenance { source: Some(source.to_owned()), ..Provenance::default() },
            ..NodeFilter::default()
        };
        let ids: BTreeSet<_> = state.keys().cloned().collect();
        let number = self.place.numbers[head];
        let join = undone(self.tables, number, &ids, &filter, None, "undo").expect("an answer");
        assert!(!join.changes.keys().any(|id| join.conflicts.contains_key(id)));
        for (id, known) in state {
            seen.asked += 1;
            let from_source: BTreeSet<_> = self.behind(head).flat_map(|at| self.tags(at, id, source, true)).collect();
            let from_others = self.tags(head, id, source, false);
            if let Some(Conflict { ours, .. }) = join.conflicts.get(id) {
                seen.conflicts += 1;
                assert_eq!(ours.map(|(_, object)| object), Some(known.object));
                // What the source itself took away of its own comes back when that is undone.
                let comes_back = self.behind(head).any(|at| {
                    let is_written = self.origins[at].get(id).is_some_and(|held| held.writer == at);
                    let first = self.script.commits[at].parents.first();
                    let is_by_source = is_written && self.source(id, at) == Some(source);
                    is_by_source && first.is_some_and(|&first| self.stands(first, id, source))
                });
                assert!(comes_back || self.stands(head, id, source), "'{id}' at {head} has nothing from {source}");
                continue;
            }
            let words = |text: &str| -> BTreeSet<String> {
                text.split(|letter: char| !letter.is_ascii_alphanumeric()).map(str::to_owned).collect()
            };
            let (left, is_changed) = match join.changes.get(id) {
                Some(Some(node)) => (words(&node.content().expect("it is not redacted").readable()), true),
                Some(None) => (BTreeSet::new(), true),
                None => (words(&known.node.content.readable()), false),
            };
            seen.changed += usize::from(is_changed);
            seen.kept += usize::from(is_changed && !from_others.is_empty());
            let has =
                |tag: &Tag| left.contains(&if tag.is_multiple_of(2) { tag.to_string() } else { format!("t{tag}") });
            let told = || format!("'{id}' at {head} without {source}: {left:?} of {from_source:?} and {from_others:?}");
            assert!(!from_source.iter().any(has), "something is left in {}", told());
            assert!(from_others.iter().all(has), "something of others is gone from {}", told());
        }
    }
}

#[test]
fn what_one_source_wrote_is_gone_and_what_others_wrote_stays() {
    let mut seen = Seen::default();
    for seed in 0..30 {
        let nth = usize::try_from(seed).expect("small");
        let shape = Shape {
            commits: 50,
            ids: 6,
            branches: 1 + nth % 4,
            copies: false,
            // An object that was edited behind a new element is not followed, so its leaves would be nobody's.
            records: false,
            settles_freely: nth % 3 == 0,
            sources: &SOURCES[..2 + nth % 2],
        };
        let script = History::of(2_000 + seed, shape);
        let place = Place::by_tables(&script);
        let tables = place.store.snapshot().expect("a snapshot");
        let undoing = Undoing { script: &script, place: &place, tables: &tables, origins: origins(&script) };
        for head in 0..script.commits.len() {
            for source in SOURCES {
                undoing.hold(head, source, &mut seen);
            }
        }
    }
    assert!(seen.changed > 4_000 && seen.kept > 2_000 && seen.conflicts > 4_000, "{seen:?}");
}

/// Commits of one node: their parents, a line a word, and the source.
type Plain<'p> = (&'p [At], &'p str, &'p str);

/// What becomes of the last one when what came from the web is taken back: `Ok(None)` where nothing does.
fn without_web(commits: &[Plain<'_>]) -> Result<Option<String>, String> {
    let id = NodeId::new("n").expect("an id");
    let text = |words: &str| words.split(' ').map(|word| format!("{word}\n")).collect::<String>();
    let (store, _directory) = empty("main");
    let snapshot = store.snapshot().expect("a snapshot");
    let found = store.write(snapshot, |tables| {
        let mut numbers: Vec<Number> = Vec::new();
        for (at, (parents, words, source)) in commits.iter().enumerate() {
            let node = Node {
                id: id.clone(),
                content: Content::from_text(&text(words)),
                content_kind: ContentKind::Note,
                provenance: Provenance { source: Some((*source).to_owned()), ..Provenance::default() },
                event_time: None,
            };
            let parents: Vec<_> = parents.iter().map(|&parent| numbers[parent]).collect();
            let root = tables.root(parents.first().copied())?;
            let update = tables.update_from(root, [(id.clone(), Some(encode_node(&node)))].into())?;
            numbers.push(tables.append_commit(parents, place::words(at), update)?.0);
        }
        let provenance = Provenance { source: Some("web".to_owned()), ..Provenance::default() };
        let filter = NodeFilter { provenance, ..NodeFilter::default() };
        let head = *numbers.last().expect("a commit");
        undone(tables, head, &[id.clone()].into(), &filter, None, "undo")
    });
    let mut join = found.expect("an answer").0;
    let content = |kept: Option<Kept>| {
        kept.map_or(String::new(), |kept| kept.content().expect("a node").readable().replace('\n', " "))
    };
    match join.conflicts.remove(&id) {
        Some(_) => Err("a conflict".to_owned()),
        None => Ok(join.changes.remove(&id).map(|node| content(node).trim().to_owned())),
    }
}

#[test]
fn a_line_that_is_alone_is_no_whole() {
    // The last one is by another, but what it left is not.
    assert!(without_web(&[(&[], "a b", "chat"), (&[0], "x y", "web"), (&[1], "y", "chat")]).is_err());
    assert_eq!(without_web(&[(&[], "a b", "chat"), (&[0], "x y", "web"), (&[1], "z", "chat")]), Ok(None));
}

#[test]
fn what_the_source_had_taken_away_of_its_own_does_not_come_back() {
    let first: [Plain<'_>; 3] = [(&[], "a b", "chat"), (&[0], "x", "web"), (&[1], "c x y", "chat")];
    let back = |last: Plain<'_>| without_web(&[&first[..], &[last]].concat());
    assert!(back((&[2], "c y", "web")).is_err(), "the line of the web would be there again");
    assert_eq!(back((&[2], "c y", "chat")), Ok(None));
}

#[test]
fn a_merge_that_the_source_gave_its_name_brings_nothing_of_its_own() {
    // One side has another source for the same text, the other another text.
    let sides: [Plain<'_>; 3] = [(&[], "a b c", "chat"), (&[0], "a b c", "web"), (&[0], "a b d", "chat")];
    let merged = |last: Plain<'_>| without_web(&[&sides[..], &[last]].concat());
    let head = merged((&[1, 2], "a b d", "web"));
    assert_eq!(head, Ok(Some("a b d".to_owned())), "the text is that of another");
    assert!(merged((&[1, 2], "a x d", "web")).is_err(), "what it was made of is not known");
    let edited = without_web(&[&sides[..], &[(&[1, 2], "a x d", "web"), (&[3], "a x y d", "web")]].concat());
    assert!(edited.is_err(), "nor is it of what was made of that");
    assert_eq!(merged((&[1, 2], "a b d", "chat")), Ok(None));
}

#[test]
fn what_the_source_wrote_twice_over_one_version_of_its_own_goes_with_that() {
    let first: [Plain<'_>; 2] = [(&[], "a b c d e", "chat"), (&[0], "a w b c d e", "web")];
    let branches: [Plain<'_>; 2] = [(&[1], "a b c d e z", "web"), (&[1], "a w b c d x e", "web")];
    let merged = without_web(&[&first[..], &branches[..], &[(&[2, 3], "a b C d x e z", "chat")]].concat());
    assert_eq!(merged, Ok(Some("a b C d e".to_owned())));
}
