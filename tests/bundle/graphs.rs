//! Round trips of random histories with merges, reverts, amends and other roots.

use crate::place::{Place, time, words};
use mnemosyne::object::CommitId;
use mnemosyne::ops::OpError;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// How many histories are played, unless `MNEM_BUNDLE_CASES` says otherwise.
const CASES: u32 = 8;
const IDS: [&str; 6] = ["a", "b", "b/c", "d", "é", "\"q\\"];
const TEXTS: [&str; 4] = ["", "one\ntwo\n", "one\nthree\n", "\u{1f9e0}"];

#[expect(clippy::disallowed_methods, reason = "tests ask for themselves")]
fn config() -> ProptestConfig {
    let cases = std::env::var("MNEM_BUNDLE_CASES").map_or(CASES, |text| text.parse().expect("a count"));
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// What a commit does to an id of its first parent's memory.
#[derive(Clone, Debug)]
enum Edit {
    Set(usize),
    Remove,
    /// As the last parent has it: what a merge takes.
    Take,
}

#[derive(Clone, Debug)]
struct Step {
    kind: u8,
    picks: Vec<prop::sample::Index>,
    edits: BTreeMap<usize, Edit>,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let edit = prop_oneof![4 => (0..TEXTS.len()).prop_map(Edit::Set), 1 => Just(Edit::Remove), 3 => Just(Edit::Take)];
    let edits = btree_map(0..IDS.len(), edit, 0..5);
    let step = (0..16u8, vec(any::<prop::sample::Index>(), 3), edits);
    vec(step.prop_map(|(kind, picks, edits)| Step { kind, picks, edits }), 3..18)
}

type State = BTreeMap<&'static str, &'static str>;

/// A store with a history, and its commits in order.
struct History {
    place: Place,
    commits: Vec<(CommitId, Vec<CommitId>)>,
}

impl History {
    fn of(steps: &[Step]) -> Self {
        let place = Place::new();
        let mut commits: Vec<(CommitId, Vec<CommitId>)> = Vec::new();
        let mut states: BTreeMap<CommitId, State> = BTreeMap::new();
        for (at, step) in steps.iter().enumerate() {
            let mut parents: Vec<CommitId> = Vec::new();
            let mut add = |id: CommitId| {
                if !parents.contains(&id) {
                    parents.push(id);
                }
            };
            let pick = |nth: usize| commits[step.picks[nth].index(commits.len())].0;
            match (step.kind, commits.last()) {
                (0, _) | (_, None) => {}
                // An amended commit: another one of the same parents.
                (1 | 2, Some((_, others))) => others.clone().into_iter().for_each(add),
                (3..=5, Some(_)) => add(pick(0)),
                (6..=9, Some((last, _))) => [*last, pick(1)].into_iter().for_each(add),
                (10, Some(_)) => (0..3).map(pick).for_each(add),
                (_, Some((last, _))) => add(*last),
            }
            let mut state = parents.first().map_or(State::new(), |first| states[first].clone());
            let mut changes = Vec::new();
            for (&nth, edit) in &step.edits {
                let new = match edit {
                    Edit::Set(text) => Some(TEXTS[*text]),
                    Edit::Remove => None,
                    Edit::Take => parents.last().and_then(|last| states[last].get(IDS[nth]).copied()),
                };
                match new {
                    Some(text) => drop(state.insert(IDS[nth], text)),
                    None => drop(state.remove(IDS[nth])),
                }
                changes.push((IDS[nth], new));
            }
            // Clocks go back now and then.
            let seconds = i64::try_from(at * 7 % 20).expect("small");
            let id = place.commit(&parents, &changes, words(&format!("commit {at}"), seconds), &[]);
            states.insert(id, state);
            commits.push((id, parents));
        }
        Self { place, commits }
    }

    /// Gives a branch to each commit that has no child, but for those that `left` says.
    fn name_tips(&self, left: impl Fn(usize) -> bool) {
        let parents: BTreeSet<_> = self.commits.iter().flat_map(|(_, parents)| parents.clone()).collect();
        for (at, (id, _)) in self.commits.iter().enumerate() {
            let is_left = left(at) && at + 1 < self.commits.len();
            if !parents.contains(id) && !is_left {
                self.place.set(&format!("refs/heads/tip-{at}"), id, "test");
            }
        }
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn what_is_taken_in_is_told_as_where_it_was_made(steps in steps(), left in any::<u32>()) {
        let history = History::of(&steps);
        // Some commits are reached by no ref, as those that were amended.
        history.name_tips(|at| left >> at & 1 == 1);
        history.place.set("refs/tags/first", &history.commits[0].0, "tag: the first\n\none");
        let bytes = history.place.bundle(&[]);
        let copy = Place::new();
        let report = copy.import(&bytes, None).expect("a bundle");
        let told = history.place.told();
        prop_assert_eq!((report.new, report.known), (told.order.len() as u64, 0));
        prop_assert_eq!(copy.told(), told);
        prop_assert_eq!(copy.refs(), history.place.refs());
        prop_assert_eq!(copy.bundle(&[]), bytes.clone(), "a bundle of the copy is the same bundle");
        prop_assert!(copy.verify(&bytes).is_ok());
        let before = copy.dump();
        let again = copy.import(&bytes, None).expect("a bundle");
        prop_assert_eq!((again.new, again.known), (0, report.new));
        prop_assert_eq!(copy.dump(), before, "nothing is written for nothing");
    }

    #[test]
    fn what_a_range_adds_goes_on_top_of_what_it_builds_on(steps in steps(), cut in any::<prop::sample::Index>()) {
        let history = History::of(&steps);
        let cut = cut.index(history.commits.len());
        history.place.set("refs/heads/base", &history.commits[cut].0, "test");
        let base = history.place.bundle(&["base"]);
        history.name_tips(|_| false);
        let copy = Place::new();
        copy.import(&base, None).expect("a bundle");
        match history.place.create(&["^base"]) {
            Ok((more, report)) => {
                prop_assert_eq!(report.commits as usize + copy.told().order.len(), history.place.told().order.len());
                prop_assert!(copy.verify(&more).is_ok());
                if !report.header.prerequisites.is_empty() {
                    let lacking = Place::new();
                    let before = lacking.dump();
                    for refused in [lacking.import(&more, None).map(drop), lacking.verify(&more)] {
                        let Err(OpError::Lacking { commits, .. }) = refused else { panic!("{refused:?}") };
                        prop_assert_eq!(commits, report.header.prerequisites.iter().copied().collect::<Vec<_>>());
                    }
                    prop_assert_eq!(lacking.dump(), before);
                }
                copy.import(&more, None).expect("a bundle");
            }
            Err(OpError::NothingChosen) => prop_assert_eq!(cut + 1, history.commits.len()),
            Err(error) => panic!("{error:?}"),
        }
        let all = history.place.told();
        if copy.refs() == history.place.refs() {
            prop_assert_eq!(copy.told().sorted(), all.sorted());
        }
    }

    #[test]
    fn the_order_in_which_bundles_come_in_does_not_matter(steps in steps()) {
        let history = History::of(&steps);
        history.name_tips(|_| false);
        history.place.set("refs/heads/root", &history.commits[0].0, "test");
        let names: Vec<_> = history.place.refs().into_keys().filter(|name| !name.ends_with("root")).collect();
        let mut bundles: Vec<_> = names
            .iter()
            .filter_map(|name| match history.place.create(&[&name[..], "^root"]) {
                Ok((bytes, _)) => Some(bytes),
                Err(OpError::NothingChosen) => None,
                Err(error) => panic!("{error:?}"),
            })
            .collect();
        let root = history.place.bundle(&["root"]);
        let copies = [false, true].map(|backwards| {
            let copy = Place::new();
            copy.import(&root, None).expect("a bundle");
            if backwards {
                bundles.reverse();
            }
            for bytes in &bundles {
                copy.import(bytes, None).expect("a bundle");
            }
            copy
        });
        let told = copies.each_ref().map(|copy| copy.told().sorted());
        prop_assert_eq!(&told[0], &told[1]);
        let all = history.place.told().sorted();
        if copies[0].refs() == history.place.refs() {
            prop_assert_eq!(&told[0], &all);
        }
    }
}

#[test]
fn a_store_with_other_commits_keeps_them() {
    let place = Place::new();
    let first = place.commit(&[], &[("a", Some("1"))], words("first", 1), &["refs/heads/main"]);
    let bytes = place.bundle(&["main"]);
    let other = Place::new();
    let own = other.commit(&[], &[("b", Some("2"))], words("own", 2), &["refs/heads/own"]);
    let report = other.import(&bytes, None).expect("a bundle");
    assert_eq!((report.new, report.known), (1, 0));
    assert_eq!(other.refs(), BTreeMap::from([("refs/heads/main".into(), first), ("refs/heads/own".into(), own)]));
    let snapshot = other.store.snapshot().expect("a snapshot");
    let (_, update) = snapshot.last_update("refs/heads/main").expect("a log").expect("an update");
    assert_eq!((update.old, update.time, &update.reason[..]), (None, time(88), "bundle import"));
}
