//! Scripts played into a store in a directory of its own.

use crate::history::{At, History};
use crate::naive::{Known, State};
use crate::script::{Step, branch_name, commit_name};
use mnemosyne::graph::Revision;
use mnemosyne::model::{Author, BranchName, CommitTime, Message, NodeId, SessionName, TagName};
use mnemosyne::object::{CommitId, Kept, encode_node};
use mnemosyne::ops::{
    self, Choice, Condition, FastForward, LsRequest, MergeOutcome, MergeRequest, Signature, Target, Underway, Write,
};
use mnemosyne::store::{CommitWords, Number, Store, StoreError, init};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::time::Duration;
use tempfile::TempDir;

/// A store with the commits of a script.
pub struct Place {
    pub store: Store,
    pub numbers: Vec<Number>,
    pub ids: Vec<CommitId>,
    _directory: TempDir,
}

pub fn time(at: At) -> CommitTime {
    CommitTime::new(i64::try_from(at).expect("small") * 1000, 0).expect("a time")
}

pub fn words(at: At) -> CommitWords {
    let message = Message::new(&format!("commit {at}")).expect("a message");
    CommitWords { author: Author::new("Ada").expect("an author"), time: time(at), message }
}

/// A new store whose first branch is this.
pub fn empty(branch: &str) -> (Store, TempDir) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join(".mnemosyne");
    init(&path, &BranchName::new(branch).expect("a name")).expect("a store");
    (Store::new(path, Duration::from_secs(10)), directory)
}

/// Whatever verbs make is what the format says.
pub fn sound(store: &Store) {
    let report = store.fsck(&mut |_, _, _| ()).expect("no refusal");
    assert_eq!((report.findings, report.notes), (vec![], vec![]));
}

impl Place {
    /// Plays a script, all in one transaction below the verbs.
    pub fn by_tables(script: &History) -> Self {
        let (store, directory) = empty("main");
        let written = store.write(store.snapshot().expect("a snapshot"), |tables| {
            let (mut numbers, mut ids) = (Vec::new(), Vec::new());
            for (at, commit) in script.commits.iter().enumerate() {
                let bytes = |(id, known): (&NodeId, Option<&Rc<Known>>)| {
                    (id.clone(), known.map(|known| encode_node(&known.node)))
                };
                let parents: Vec<_> = commit.parents.iter().map(|&parent| numbers[parent]).collect();
                let root = tables.root(parents.first().copied())?;
                let update = tables.update_from(root, script.changes(at).into_iter().map(bytes).collect())?;
                let (number, id) = tables.append_commit(parents, words(at), update)?;
                tables.set_reference("refs/heads/main", number, time(at), "test")?;
                numbers.push(number);
                ids.push(id);
            }
            Ok::<_, StoreError>((numbers, ids))
        });
        let ((numbers, ids), _) = written.expect("a history");
        sound(&store);
        Self { store, numbers, ids, _directory: directory }
    }

    /// Plays a script as a session would that switches between the branches.
    pub fn by_verbs(script: &History, steps: &[Step]) -> Self {
        let (store, directory) = empty(&branch_name(0));
        let mut played = Played { store: &store, script, ids: Vec::new() };
        for step in steps {
            played.step(step);
        }
        let ids = played.ids;
        sound(&store);
        Self { store, numbers: Vec::new(), ids, _directory: directory }
    }

    pub fn revision(&self, at: At) -> Revision {
        revision(&self.ids[at].to_string())
    }
}

pub fn revision(text: &str) -> Revision {
    Revision::parse(text, &|_| None).expect("a revision")
}

pub fn write((id, known): (&NodeId, Option<&Rc<Known>>)) -> Write {
    match known {
        Some(known) => Write::Set(known.node.clone()),
        None => Write::Remove(id.clone()),
    }
}

pub fn signature(at: At) -> Signature {
    Signature { author: words(at).author, time: time(at) }
}

/// A script that is being played.
pub struct Played<'p> {
    store: &'p Store,
    script: &'p History,
    /// The commits so far.
    ids: Vec<CommitId>,
}

impl Played<'_> {
    pub fn session() -> SessionName {
        SessionName::default()
    }

    fn stand(&self, target: &Target) {
        ops::switch(self.store, &Self::session(), target, time(0)).expect("a branch");
    }

    fn stand_on(&self, branch: usize) {
        let name = branch_name(branch);
        self.stand(&Target::Branch(BranchName::new(&name).expect("a name"), revision(&name)));
    }

    fn step(&mut self, step: &Step) {
        let own = self.ids.len();
        match step {
            Step::Branch(branch, at) => {
                let name = BranchName::new(&branch_name(*branch)).expect("a name");
                self.stand(&Target::Create(name, Some(revision(&commit_name(*at)))));
            }
            Step::Commit(branch) => {
                self.stand_on(*branch);
                let writes = self.script.changes(own).into_iter().map(write).collect();
                let report = ops::put_and_commit(self.store, &Self::session(), writes, Condition::Any, &words(own));
                self.made(report.expect("a commit").commit.expect("something changes"));
            }
            Step::Forward(branch, at) => {
                self.stand_on(*branch);
                let report = self.merge(*at);
                assert!(matches!(report.outcome, MergeOutcome::FastForward));
                assert_eq!(report.entry.expect("a commit").commit.id, self.ids[*at]);
                let again = self.merge(*at);
                assert!(matches!(again.outcome, MergeOutcome::UpToDate));
            }
            Step::Merge(branch, theirs, conflicts) => {
                self.stand_on(*branch);
                let report = self.merge(*theirs);
                let entry = match report.outcome {
                    MergeOutcome::Merged => {
                        assert_eq!(*conflicts, BTreeSet::new());
                        report.entry
                    }
                    MergeOutcome::Stopped(found) => {
                        assert_eq!(found.into_iter().map(|conflict| conflict.id).collect::<BTreeSet<_>>(), *conflicts);
                        self.settle(*theirs, conflicts);
                        let message = words(own).message;
                        let signature = signature(own);
                        let report =
                            ops::conclude(self.store, &Self::session(), Underway::Merge, Some(&message), &signature);
                        report.expect("all is settled").entry
                    }
                    outcome => panic!("{outcome:?}"),
                };
                let commit = entry.expect("a commit").commit;
                let parents = &self.script.commits[own].parents;
                assert_eq!(commit.parents.len(), 2);
                self.made(commit.id);
                for (nth, &parent) in (1..).zip(parents) {
                    let of = revision(&format!("{}^{nth}", commit_name(own)));
                    let (found, _) = ops::merge_base(self.store, &Self::session(), &of, &of).expect("an ancestor");
                    assert_eq!(found, [self.ids[parent]]);
                }
            }
        }
    }

    fn merge(&self, theirs: At) -> ops::MergeReport {
        let request = MergeRequest {
            revision: revision(&commit_name(theirs)),
            fast_forward: FastForward::Allowed,
            unrelated: false,
            message: Some(words(self.ids.len()).message),
            signature: signature(self.ids.len()),
        };
        ops::merge(self.store, &Self::session(), &request).expect("a merge")
    }

    /// Settles on a side where that has what is to come, and else puts it.
    fn settle(&self, theirs: At, conflicts: &BTreeSet<NodeId>) {
        let own = &self.script.commits[self.ids.len()];
        let sides = [(own.parents[0], Choice::Ours), (theirs, Choice::Theirs)];
        let (mut choices, mut writes) = (Vec::new(), Vec::new());
        for id in conflicts {
            let wanted = own.state.get(id);
            let side = sides.iter().find(|(at, _)| self.script.commits[*at].state.get(id) == wanted);
            match side {
                Some((_, choice)) => choices.push((id.clone(), *choice)),
                None => writes.push(write((id, wanted))),
            }
        }
        ops::put(self.store, &Self::session(), writes, Condition::Any).expect("staged");
        ops::settle(self.store, &Self::session(), Underway::Merge, &choices).expect("settled");
    }

    /// Gives the commit its tag, and holds the memory against that of the script.
    fn made(&mut self, id: CommitId) {
        let own = self.ids.len();
        self.ids.push(id);
        let tag = TagName::new(&commit_name(own)).expect("a name");
        ops::create_tag(self.store, &Self::session(), &tag, &revision("HEAD"), None, false, time(own)).expect("a tag");
        let request = LsRequest { nodes: true, ..LsRequest::default() };
        let found = ops::ls(self.store, &Self::session(), &request).expect("nodes").nodes;
        let found: BTreeMap<_, _> =
            found.into_iter().map(|row| (row.id, row.node.expect("it was asked for"))).collect();
        let nodes = |state: &State| -> BTreeMap<NodeId, Kept> {
            state.iter().map(|(id, known)| (id.clone(), known.node.clone().into())).collect()
        };
        assert_eq!(found, nodes(&self.script.commits[own].state), "commit {own}");
    }
}
