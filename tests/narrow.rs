//! Commits of some of the changes between two commits, in a private copy, held against maps.

use mnemosyne::graph::{Parts, Revision};
use mnemosyne::model::{
    Author, BranchName, CommitTime, Content, ContentKind, Message, Node, NodeId, Pattern, Provenance, SessionName,
};
use mnemosyne::object::{CommitId, Kept};
use mnemosyne::ops::{
    self, BlameReport, BlameRequest, CommitRequest, Condition, LogFilter, LsRequest, NarrowPlan, NarrowTry, OpError,
    ScratchReport, ScratchRequest, Target, Write,
};
use mnemosyne::store::{CommitWords, Extent, Head, Store, clone_at, init};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

const IDS: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];

/// What each id says.
type Memory = BTreeMap<String, String>;

fn session() -> SessionName {
    SessionName::new("agent").expect("a name")
}

fn id(text: &str) -> NodeId {
    NodeId::new(text).expect("an id")
}

fn revision(text: &str) -> Revision {
    Revision::parse(text, &|_| None).expect("a revision")
}

fn words(number: usize) -> CommitWords {
    let number_text = format!("writer {number}");
    CommitWords {
        author: Author::new(&number_text).expect("an author"),
        time: CommitTime::new(i64::try_from(number).expect("it is small") * 1000, 0).expect("a time"),
        message: Message::new(&number_text).expect("a message"),
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % count
    }
}

/// A store with commits, and the memory at each.
struct Place {
    directory: tempfile::TempDir,
    store: Store,
    commits: Vec<(CommitId, Memory)>,
    /// For each id the commits that took it away.
    removers: BTreeMap<String, Vec<CommitId>>,
}

impl Place {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("store");
        init(&path, &BranchName::new("main").expect("a name")).expect("a store");
        let store = Store::new(path, Duration::from_secs(60));
        Self { directory, store, commits: Vec::new(), removers: BTreeMap::new() }
    }

    /// Makes a commit on HEAD, whose memory is `from`.
    fn commit(&mut self, from: &Memory, to: Memory) {
        let set = |(own, text): (&String, &String)| {
            Write::Set(Node {
                id: id(own),
                content: Content::from_text(text),
                content_kind: ContentKind::Note,
                provenance: Provenance::default(),
                event_time: None,
            })
        };
        let changed = to.iter().filter(|&(own, text)| from.get(own) != Some(text)).map(set);
        let removed = from.keys().filter(|own| !to.contains_key(*own)).map(|own| Write::Remove(id(own)));
        ops::put(&self.store, &session(), changed.chain(removed).collect(), Condition::Any).expect("staged");
        let words = words(self.commits.len());
        let request = CommitRequest { words, allow_empty: true, only: Vec::new(), overwrite: false };
        let report = ops::commit(&self.store, &session(), &request).expect("a commit");
        let commit = report.entry.commit.id;
        for own in from.keys().filter(|own| !to.contains_key(*own)) {
            self.removers.entry(own.clone()).or_default().push(commit);
        }
        self.commits.push((commit, to));
    }

    fn detach(&self, at: usize) {
        let target = Target::Detach(self.revision(at));
        let time = CommitTime::new(0, 0).expect("a time");
        ops::switch(&self.store, &session(), &target, time).expect("a switch");
    }

    fn revision(&self, at: usize) -> Revision {
        revision(&self.commits[at].0.to_string())
    }

    /// Eight commits, each on a random one before it, of random changes.
    fn random(random: &mut Random) -> Self {
        let mut place = Self::new();
        for number in 0..8 {
            let mut from = Memory::new();
            if number > 0 {
                let on = number - 1 - random.below(number.min(3));
                place.detach(on);
                from.clone_from(&place.commits[on].1);
            }
            let mut to = from.clone();
            for _ in 0..=random.below(5) {
                let own = IDS[random.below(IDS.len())].to_owned();
                match random.below(3) {
                    0 => drop(to.remove(&own)),
                    text => drop(to.insert(own, text.to_string())),
                }
            }
            place.commit(&from, to);
        }
        place
    }

    fn plan(&self, good: usize, bad: usize) -> NarrowPlan {
        ops::narrow_plan(&self.store, &session(), Some(&self.revision(good)), &self.revision(bad)).expect("a plan")
    }

    fn copy(&self) -> ScratchReport {
        let head = revision("HEAD");
        let (temporary, extent) = (self.directory.path(), Extent::History);
        let request = ScratchRequest { revision: &head, extent, temporary, go_on: &|| true };
        ops::scratch(&self.store, &session(), &request).expect("a copy").expect("nobody stops it")
    }

    fn bytes(&self) -> Vec<u8> {
        std::fs::read(self.store.directory().join("store.redb")).expect("a file")
    }
}

fn opened(copy: &ScratchReport) -> Store {
    Store::new(copy.store(), Duration::from_secs(60))
}

fn cloned(copy: &ScratchReport, name: &str, made: NarrowTry) -> Store {
    let to: PathBuf = copy.scratch.path().join(name);
    clone_at(&copy.store(), &to, &session(), made.number).expect("a clone")
}

fn memory(store: &Store) -> Memory {
    let listed = ops::ls(store, &session(), &LsRequest { nodes: true, ..LsRequest::default() }).expect("a list");
    let nodes = listed.nodes.into_iter().map(|listed| listed.node.expect("it was asked for"));
    let text = |kept: &Kept| kept.content().and_then(Content::text).expect("text").into_owned();
    nodes.map(|kept| (kept.id().to_string(), text(&kept))).collect()
}

/// Who wrote each part of a node, or who took it away and who wrote it before.
fn writers(store: &Store, own: &str, at: Option<Revision>) -> Result<(bool, Vec<CommitId>), OpError> {
    let request = BlameRequest { revision: at, parts: Parts::default(), ignored: Vec::new() };
    let commit = |writer: &mnemosyne::graph::Writer| writer.commit.as_ref().expect("it is committed").id;
    let (report, _) = ops::blame(store, &session(), &id(own), &request)?;
    Ok(match report {
        BlameReport::Stands(blame) => {
            (true, blame.parts.iter().map(|part| commit(&blame.writers[&part.version])).collect())
        }
        BlameReport::Removed(ended) => {
            let removed = ended.removal.commit.as_ref().expect("it is committed").id;
            (false, vec![removed, commit(&ended.removal.last)])
        }
    })
}

/// The commits that changed a node, as `log` tells them at HEAD.
fn changed(store: &Store, own: &str) -> Vec<CommitId> {
    let patterns = vec![Pattern::parse(own, true).expect("a pattern")];
    let filter = LogFilter { patterns, ..LogFilter::default() };
    let report = ops::log(store, &session(), &filter).expect("a log");
    report.entries.into_iter().map(|entry| entry.commit.id).collect()
}

fn expected(plan: &NarrowPlan, chosen: &[usize], good: &Memory, bad: &Memory) -> Memory {
    let mut memory = good.clone();
    for &at in chosen {
        let own = plan.changes[at].to_string();
        match bad.get(&own) {
            Some(text) => drop(memory.insert(own, text.clone())),
            None => drop(memory.remove(&own)),
        }
    }
    memory
}

#[test]
fn a_try_has_the_chosen_changes_and_blame_tells_who_wrote_each_node() {
    let mut random = Random(7);
    let mut compared = [0; 5];
    for _ in 0..5 {
        let place = Place::random(&mut random);
        let before = place.bytes();
        let copy = place.copy();
        for case in 0..10 {
            let (good, bad) = (random.below(8), random.below(8));
            let plan = place.plan(good, bad);
            let (old, new) = (&place.commits[good].1, &place.commits[bad].1);
            let differs = |own: &&&str| old.get(**own) != new.get(**own);
            let names: Vec<_> = IDS.iter().filter(differs).map(|own| id(own)).collect();
            assert_eq!(plan.changes, names);

            let chosen: Vec<_> = (0..names.len()).filter(|_| random.below(2) == 0).collect();
            let made = ops::narrow_try(&opened(&copy), &plan, &chosen).expect("a try");
            let clone = cloned(&copy, &format!("clone-{case}"), made);
            let memory = memory(&clone);
            assert_eq!(memory, expected(&plan, &chosen, old, new));
            for own in IDS {
                let is_chosen = chosen.iter().any(|&at| plan.changes[at] == id(own));
                // What the side says from which the node was taken, if it knows it at all.
                let side = place.revision(if is_chosen { bad } else { good });
                match writers(&place.store, own, Some(side)) {
                    Ok(told) => {
                        let own_told = writers(&clone, own, None).expect("as there");
                        // Where several took it away, on both sides or one after the other, a merge has the newest of them.
                        let removers = place.removers.get(own).map_or(&[][..], Vec::as_slice);
                        if told.0 || removers.len() == 1 {
                            assert_eq!(own_told, told, "{own}");
                        } else {
                            assert!(!own_told.0 && removers.contains(&own_told.1[0]), "{own}");
                        }
                        compared[usize::from(is_chosen) * 2 + usize::from(told.0)] += 1;
                    }
                    Err(OpError::NoNode(_)) => compared[4] += 1,
                    Err(error) => panic!("{error}"),
                }
                let told = changed(&clone, own);
                assert!(told.iter().all(|commit| place.commits.iter().any(|(known, _)| known == commit)), "{own}");
                assert!(!told.is_empty() || !memory.contains_key(own), "{own}");
            }
        }
        assert_eq!(place.bytes(), before, "the store is as it was");
    }
    assert!(compared.iter().all(|&count| count > 4), "{compared:?}");
}

#[test]
fn equal_tries_are_one_commit_and_no_session_moves() {
    let mut place = Place::new();
    let memory_of = |pairs: &[(&str, &str)]| -> Memory {
        pairs.iter().map(|&(own, text)| (own.to_owned(), text.to_owned())).collect()
    };
    let old = memory_of(&[("stays", "1"), ("changes", "1"), ("goes", "1")]);
    place.commit(&Memory::new(), old.clone());
    place.commit(&old, memory_of(&[("stays", "1"), ("changes", "2"), ("comes", "2")]));
    let plan = place.plan(0, 1);
    assert_eq!(plan.changes, [id("changes"), id("comes"), id("goes")]);
    assert_eq!((plan.good.id, plan.bad.id), (place.commits[0].0, place.commits[1].0));
    assert!(plan.doubts.is_empty());

    let (first, second) = (place.copy(), place.copy());
    let (one, other) = (opened(&first), opened(&second));
    let stands = |store: &Store| store.read(&session(), |view| Ok::<_, OpError>(view.head.clone())).expect("a head");
    let head = stands(&one);
    assert!(matches!(head, Head::Detached(number) if number == plan.bad.number));
    let tries = |store: &Store, chosen: &[usize]| ops::narrow_try(store, &plan, chosen).expect("a try");
    let (none, some, all) = (tries(&one, &[]), tries(&one, &[2]), tries(&one, &[0, 1, 2]));
    assert_eq!(tries(&one, &[2]), some, "no second commit");
    assert_eq!(tries(&other, &[2]).id, some.id, "the same elsewhere");
    assert_eq!(tries(&other, &[0, 1, 2]).id, all.id);
    assert_eq!((none.state, all.state), (plan.good.state, plan.bad.state));
    assert_eq!(stands(&one), head);

    one.read(&session(), |view| {
        for (made, message, counts) in [
            (none, "try with 0 of 3 changes", (0, 0, 0)),
            (some, "try with 1 of 3 changes", (0, 0, 1)),
            (all, "try with 3 of 3 changes", (1, 1, 1)),
        ] {
            let commit = view.tables.commit(made.number)?;
            let own = (commit.changes.added, commit.changes.modified, commit.changes.removed);
            assert_eq!((commit.message.as_str(), own), (message, counts));
            assert_eq!((commit.author.as_str(), commit.time), ("mnem", view.tables.commit(plan.bad.number)?.time));
            assert_eq!((commit.id, commit.state()), (made.id, made.state));
            assert_eq!(commit.parents, [plan.good.number, plan.bad.number]);
        }
        Ok::<_, OpError>(())
    })
    .expect("sound");
    assert!(is_absent(&place.store, some.id), "only the copies have it");
}

fn is_absent(store: &Store, commit: CommitId) -> bool {
    ops::pin(store, &session(), &revision(&commit.to_string())).is_err()
}

#[test]
fn between_commits_of_one_memory_nothing_is_to_be_chosen() {
    let mut place = Place::new();
    let memory = Memory::from([("a".to_owned(), "1".to_owned())]);
    place.commit(&Memory::new(), memory.clone());
    place.commit(&memory, memory.clone());
    for (good, bad, parents) in [(0, 1, 2), (1, 1, 1)] {
        let plan = place.plan(good, bad);
        assert!(plan.changes.is_empty() && plan.good.state == plan.bad.state);
        let copy = place.copy();
        let made = ops::narrow_try(&opened(&copy), &plan, &[]).expect("a try");
        let told = opened(&copy).read(&session(), |view| Ok::<_, OpError>(view.tables.commit(made.number)?.parents));
        assert_eq!(told.expect("sound").len(), parents);
    }
}

#[test]
fn a_try_costs_what_its_changes_cost() {
    let mut place = Place::new();
    let large: Memory = (0..2000).map(|number| (format!("n/{number}"), "x".to_owned())).collect();
    place.commit(&Memory::new(), large.clone());
    let mut bad = large.clone();
    for number in 0..20 {
        bad.insert(format!("n/{number}"), "y".to_owned());
    }
    place.commit(&large, bad);
    let (plan, copy) = (place.plan(0, 1), place.copy());
    let store = opened(&copy);
    let number = |made: NarrowTry| made.number;
    let first = number(ops::narrow_try(&store, &plan, &[0]).expect("a try"));
    let second = number(ops::narrow_try(&store, &plan, &[0, 1]).expect("a try"));
    // Numbers are given to records: no node is among them, and inner nodes only on the ways to what was chosen.
    assert!(second - first <= 2 * 12, "{} records", second - first);
    assert!(Path::new(&copy.store()).is_dir());
}
