//! Merges of whole memories, of commits of random histories.

use crate::dice::Dice;
use crate::history::{At, History};
use crate::naive::{State, Version, merged, version, versions};
use crate::place::Place;
use crate::script::Shape;
use mnemosyne::graph::{self, Join, join, merge_bases, merged_base};
use mnemosyne::model::{Node, NodeId};
use mnemosyne::object::Kept;
use mnemosyne::store::{Reading, Tables};
use std::collections::{BTreeMap, BTreeSet};

const NOTE: &str = "merge of two";

const HISTORIES: u64 = 50;
const PAIRS: usize = 420;

fn shape(seed: u64) -> Shape {
    let nth = usize::try_from(seed).expect("small");
    Shape {
        commits: 60 + nth * 37 % 141,
        ids: 6 + nth % 7,
        branches: 2 + nth % 4,
        copies: nth % 3 > 0,
        records: nth % 2 == 0,
        settles_freely: true,
        sources: &[],
    }
}

/// What the merges of all pairs were, so that a test that looks at none shows.
#[derive(Debug, Default)]
struct Seen {
    merges: usize,
    clean: usize,
    crossed: usize,
    /// Of which the base itself conflicts.
    undecided: usize,
    conflicts: usize,
    /// Nodes made of both sides.
    made: usize,
    alike: usize,
}

struct Pair<'p> {
    script: &'p History,
    tables: &'p Tables<Reading>,
    place: &'p Place,
    ours: At,
    theirs: At,
}

impl Pair<'_> {
    fn state(&self, at: At) -> &State {
        &self.script.commits[at].state
    }

    fn base(&self, bases: &[At]) -> graph::Base {
        let [ours, theirs] = [self.ours, self.theirs].map(|at| self.place.numbers[at]);
        let found = merge_bases(self.tables, ours, theirs).expect("bases");
        assert_eq!(found, bases.iter().rev().map(|&at| self.place.numbers[at]).collect::<Vec<_>>());
        merged_base(self.tables, &found).expect("a base")
    }

    fn joined(&self, base: &graph::Base, ours: At, theirs: At) -> Join {
        let root = |at: At| self.tables.root(Some(self.place.numbers[at])).expect("a root");
        join(self.tables, base, root(ours), root(theirs), NOTE).expect("a merge")
    }

    /// Holds a version against what is known of it.
    fn is(found: &graph::Outcome, wanted: &Version) {
        assert_eq!(*found == graph::Outcome::Undecided, *wanted == Version::Undecided);
        assert_eq!(found.object(), wanted.object(), "{found:?} for {wanted:?}");
    }

    fn hold(&self, seen: &mut Seen) {
        let bases = self.script.bases(self.ours, self.theirs);
        let base = self.script.base(&bases);
        let [ours, theirs] = [self.ours, self.theirs].map(|at| versions(self.state(at)));
        let wanted = merged(&base, &ours, &theirs, NOTE);
        let found_base = self.base(&bases);
        let found = self.joined(&found_base, self.ours, self.theirs);
        for id in wanted.keys() {
            Self::is(&found_base.version(self.tables, id).expect("a version"), &version(&base, id));
        }
        let is_change = |(id, version): (&NodeId, &Version)| match version {
            Version::Is(_) if ours.get(id).unwrap_or(&Version::Is(None)) == version => None,
            Version::Is(_) => Some((id.clone(), version.node().cloned().map(Kept::Node))),
            Version::Undecided => None,
        };
        assert_eq!(found.changes, wanted.iter().filter_map(is_change).collect());
        let undecided = wanted.iter().filter(|(_, version)| **version == Version::Undecided).map(|(id, _)| id);
        assert_eq!(found.conflicts.keys().collect::<Vec<_>>(), undecided.collect::<Vec<_>>());
        for (id, conflict) in &found.conflicts {
            Self::is(&conflict.base, &version(&base, id));
            Self::is(&graph::Outcome::Stored(conflict.ours), &version(&ours, id));
            Self::is(&conflict.theirs, &version(&theirs, id));
        }
        self.is_symmetric(&found, &self.joined(&found_base, self.theirs, self.ours));
        self.keeps_what_both_have(&found, &base);
        self.count(seen, &found, &base, bases.len());
    }

    /// What stands after the merge, conflicts apart.
    fn memory(&self, ours: At, join: &Join) -> BTreeMap<NodeId, Node> {
        let nodes = self.state(ours).iter().map(|(id, known)| (id.clone(), known.node.clone()));
        let mut memory: BTreeMap<_, _> = nodes.filter(|(id, _)| !join.conflicts.contains_key(id)).collect();
        for (id, node) in &join.changes {
            match node {
                Some(node) => drop(memory.insert(id.clone(), node.node().expect("it is not redacted").clone())),
                None => assert!(memory.remove(id).is_some(), "'{id}' is taken away twice"),
            }
        }
        memory
    }

    fn is_symmetric(&self, found: &Join, mirrored: &Join) {
        assert_eq!(self.memory(self.ours, found), self.memory(self.theirs, mirrored));
        assert!(found.conflicts.keys().eq(mirrored.conflicts.keys()));
        for (conflict, mirrored) in found.conflicts.values().zip(mirrored.conflicts.values()) {
            assert_eq!(conflict.base, mirrored.base);
            assert_eq!(graph::Outcome::Stored(conflict.ours).object(), mirrored.theirs.object());
            assert_eq!(conflict.theirs.object(), mirrored.ours.map(|(_, object)| object));
        }
    }

    /// The claims that need no merge of one's own to be seen.
    fn keeps_what_both_have(&self, found: &Join, base: &BTreeMap<NodeId, Version>) {
        let memory = self.memory(self.ours, found);
        let (ours, theirs) = (self.state(self.ours), self.state(self.theirs));
        let ids: BTreeSet<_> = ours.keys().chain(theirs.keys()).chain(base.keys()).collect();
        assert!(memory.keys().all(|id| ids.contains(id)), "an id comes from nowhere");
        for id in ids {
            let (our_node, their_node) = (ours.get(id), theirs.get(id));
            let Version::Is(base_node) = version(base, id) else {
                // What conflicts in the base was changed on both sides.
                assert_eq!(found.conflicts.contains_key(id), our_node != their_node);
                continue;
            };
            let base_node = base_node.as_ref();
            if found.conflicts.contains_key(id) {
                assert!(our_node != their_node && our_node != base_node && their_node != base_node);
                continue;
            }
            let node = memory.get(id);
            if our_node == their_node || their_node == base_node {
                assert_eq!(node, our_node.map(|known| &known.node));
                continue;
            }
            if our_node == base_node {
                assert_eq!(node, their_node.map(|known| &known.node));
                continue;
            }
            // Both changed it, and so that it goes together: no side took the node away or brought it.
            let (Some(node), Some(base), Some(ours), Some(theirs)) = (node, base_node, our_node, their_node) else {
                panic!("'{id}' is decided although both sides changed it as a whole");
            };
            let text = node.content.readable();
            let words: BTreeSet<&str> = text.split(|letter: char| !letter.is_ascii_alphanumeric()).collect();
            let tags = [base, ours, theirs].map(|known| known.body.tags());
            for tag in tags.iter().flatten() {
                let has = [0, 1, 2].map(|side| tags[side].contains(tag));
                let stays = if has[0] { has[1] && has[2] } else { true };
                let word = if tag.is_multiple_of(2) { tag.to_string() } else { format!("t{tag}") };
                assert_eq!(words.contains(&word[..]), stays, "tag {tag} of '{id}' in {text}");
            }
            let from = |[base, ours, theirs]: [bool; 3]| ours && theirs || (ours || theirs) && !base;
            let sides = [base, ours, theirs];
            assert!(from(sides.map(|known| known.node.event_time == node.event_time)));
            let is_noted = node.provenance.note.as_deref() == Some(NOTE);
            let is_taken = sides[1..].iter().any(|known| known.node.provenance == node.provenance);
            assert!(is_noted || is_taken);
        }
    }

    fn count(&self, seen: &mut Seen, found: &Join, base: &BTreeMap<NodeId, Version>, bases: usize) {
        seen.merges += 1;
        seen.clean += usize::from(found.conflicts.is_empty());
        seen.crossed += usize::from(bases > 1);
        seen.undecided += usize::from(base.values().any(|version| *version == Version::Undecided));
        seen.conflicts += found.conflicts.len();
        let is_made = |kept: &&Kept| kept.provenance().expect("it is not redacted").note.as_deref() == Some(NOTE);
        seen.made += found.changes.values().flatten().filter(is_made).count();
        let (ours, theirs) = (self.state(self.ours), self.state(self.theirs));
        let is_alike =
            |id: &&NodeId| ours.get(id) == theirs.get(id) && Version::Is(ours.get(id).cloned()) != version(base, id);
        seen.alike += base.keys().filter(is_alike).count();
    }
}

fn hold_all(seeds: std::ops::Range<u64>) -> Seen {
    let mut seen = Seen::default();
    for seed in seeds {
        let script = History::of(seed, shape(seed));
        let place = Place::by_tables(&script);
        let tables = place.store.snapshot().expect("a snapshot");
        let mut dice = Dice::of(seed);
        for _ in 0..PAIRS {
            let (mut ours, mut theirs) = (0, 0);
            // Mostly two of which neither has the other.
            for _ in 0..12 {
                let others = if dice.once_in(5) { script.commits.len() } else { 8 };
                ours = dice.roll(script.commits.len());
                theirs = (ours + 1 + dice.roll(others)) % script.commits.len();
                if !script.is_behind(ours, theirs) && !script.is_behind(theirs, ours) {
                    break;
                }
            }
            Pair { script: &script, tables: &tables, place: &place, ours, theirs }.hold(&mut seen);
        }
    }
    seen
}

/// Two halves, so that they run at the same time.
fn hold_half(half: u64) {
    let seen = hold_all(HISTORIES / 2 * half..HISTORIES / 2 * (half + 1));
    let Seen { merges, clean, crossed, undecided, conflicts, made, alike } = seen;
    assert!(
        merges >= 10_000 && [clean, crossed, undecided, conflicts, made, alike].into_iter().min() > Some(600),
        "{seen:?}"
    );
}

#[test]
fn a_merge_of_memories_is_what_a_naive_one_comes_to() {
    hold_half(0);
}

#[test]
fn a_merge_of_other_memories_is_what_a_naive_one_comes_to() {
    hold_half(1);
}
