//! Two sessions that commit, merge and revert in one store, in random order, held against a model of them.

use crate::body::{Edit, Fresh};
use crate::dice::Dice;
use crate::history::{At, History};
use crate::model::{Done, Model, Progress, Refusal, Session};
use crate::naive::{Known, State};
use crate::place::{empty, revision, signature, time, words, write};
use crate::script::branch_name;
use mnemosyne::graph::Selection;
use mnemosyne::model::{BranchName, Node, NodeId, Provenance, SessionName};
use mnemosyne::object::{CommitId, Kept, ObjectId};
use mnemosyne::ops::{
    self, Choice, CommitRequest, Condition, FastForward, LsRequest, MergeOutcome, MergeRequest, Moved, OpError,
    RevertRequest, Reverting, Stop, Target, Underway,
};
use mnemosyne::store::{self, Number, Store, StoreError};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

const SEQUENCES: u64 = 12;
const STEPS: usize = 140;

#[derive(Clone, Debug)]
enum Verb {
    Put(NodeId, Option<Rc<Known>>),
    Commit,
    Switch(usize),
    Create,
    Merge(usize),
    Revert(Vec<At>),
    Settle(Underway, NodeId, Choice),
    Conclude(Underway),
    Abort(Underway),
}

/// All that a store shows of a session and its branches.
#[derive(Debug, PartialEq)]
struct Shown {
    refs: BTreeMap<String, Option<String>>,
    logs: Vec<Vec<Moved>>,
    row: Option<store::Session>,
    staged: Vec<ops::StagedReport>,
    seen: BTreeMap<NodeId, Node>,
}

/// How often what came about.
#[derive(Debug, Default)]
struct Seen {
    merged: usize,
    forward: usize,
    stopped: usize,
    concluded: usize,
    /// With changes that stayed staged.
    carried: usize,
    aborted: usize,
    reverted: usize,
    refused: usize,
}

struct Play {
    store: Store,
    model: Model,
    dice: Dice,
    fresh: Fresh,
    ids: Vec<NodeId>,
    /// What was there before the session began what it has in progress, where only that was gone on with since.
    before: [Option<Shown>; 2],
    step: usize,
    seen: Seen,
}

fn name(session: usize) -> SessionName {
    SessionName::new(["default", "other"][session]).expect("a name")
}

fn branch(nth: usize) -> BranchName {
    BranchName::new(&branch_name(nth)).expect("a name")
}

fn nodes(state: &State) -> BTreeMap<NodeId, Node> {
    state.iter().map(|(id, known)| (id.clone(), known.node.clone())).collect()
}

fn refusal(error: OpError) -> Refusal {
    match error {
        OpError::Conflict(ids) => Refusal::Conflict(ids),
        OpError::NothingToCommit => Refusal::NothingToCommit,
        OpError::InProgress(what) => Refusal::InProgress(what),
        OpError::NothingInProgress(what) => Refusal::NothingInProgress(what),
        OpError::WouldOverwrite(ids) => Refusal::WouldOverwrite(ids),
        OpError::Unsettled(ids) => Refusal::Unsettled(ids),
        OpError::NoConflict(_) => Refusal::NoConflict,
        OpError::NoBase(_) => Refusal::NoBase,
        error => panic!("{error}"),
    }
}

fn reverted(made: usize, stopped: Option<Stop>) -> Done {
    match stopped {
        Some(stop) => Done::Stopped(made, stop.conflicts.into_iter().map(|conflict| conflict.id).collect()),
        None => Done::Made(made),
    }
}

impl Play {
    fn new(store: Store, seed: u64) -> Self {
        let ids = (0..9).map(|nth| NodeId::new(format!("n/{nth}")).expect("an id")).collect();
        let session = Session { branch: 0, staged: BTreeMap::new(), progress: None };
        let (mut script, first) = (History::default(), State::new());
        script.add(vec![], first);
        let sessions = vec![session.clone(), session];
        let request = CommitRequest { words: words(0), allow_empty: true, only: vec![], overwrite: false };
        let first = ops::commit(&store, &name(0), &request).expect("a commit").entry.commit.id;
        let model = Model { script, ids: vec![first], branches: vec![0], sessions };
        let (dice, fresh) = (Dice::of(seed), Fresh { tag: 0, records: true });
        let (before, seen) = ([None, None], Seen::default());
        let mut play = Self { store, model, dice, fresh, ids, before, step: 0, seen };
        play.play(1, &Verb::Create);
        play
    }

    /// A verb that makes sense, or hardly any.
    fn verb(&mut self, session: usize) -> Verb {
        let id = self.dice.pick(&self.ids).clone();
        let other = self.dice.roll(self.model.branches.len());
        let progress = self.model.sessions[session].progress.clone();
        if let Some((progress, worked)) = progress.zip(self.model.worked(session)) {
            let is_settled = |id: &NodeId| self.model.settled(session, &worked, id).is_some();
            let open: Vec<_> = worked.conflicts.iter().filter(|id| !is_settled(id)).cloned().collect();
            let id = if open.is_empty() || self.dice.once_in(8) { id } else { self.dice.pick(&open).clone() };
            let what = match self.dice.roll(20) {
                0 => Underway::Merge,
                1 => Underway::Revert,
                _ => progress.underway(),
            };
            return match self.dice.roll(16) {
                0..=8 if open.is_empty() => Verb::Conclude(what),
                0..=7 => {
                    let choices = [Choice::Ours, Choice::Theirs, Choice::Base, Choice::Delete];
                    Verb::Settle(what, id, *self.dice.pick(&choices))
                }
                8 | 9 => {
                    // Also what the merge would change may be put, as it stands or otherwise.
                    let made: Vec<_> = worked.made.into_keys().collect();
                    let id = if made.is_empty() || self.dice.once_in(2) { id } else { self.dice.pick(&made).clone() };
                    let stands = self.model.held(session, &id);
                    let new =
                        if self.dice.once_in(2) && stands.is_some() { stands } else { self.version(session, &id) };
                    Verb::Put(id, new)
                }
                10 => Verb::Conclude(what),
                11 => Verb::Merge(other),
                12..=14 => Verb::Abort(what),
                _ => self.dice.pick(&[Verb::Commit, Verb::Switch(other), Verb::Create]).clone(),
            };
        }
        let staged = self.model.sessions[session].staged.len();
        match self.dice.roll(24) {
            0..=11 if staged == 0 || self.dice.once_in(3 * staged) => {
                let new = self.version(session, &id);
                Verb::Put(id, new)
            }
            0..=12 => Verb::Commit,
            13 => Verb::Switch(other),
            14 => Verb::Merge(other),
            15 | 16 if self.model.branches.len() < 3 => Verb::Create,
            17 => {
                let head = self.model.head(session);
                let behind: Vec<_> = (0..=head).filter(|&at| self.model.script.is_behind(at, head)).collect();
                let at = behind[behind.len() - 1 - self.dice.roll(behind.len().min(5))];
                let parents = &self.model.script.commits[at].parents;
                let is_plain = |at: &At| self.model.script.commits[*at].parents.len() < 2;
                let before = parents.first().copied().filter(|before| is_plain(&at) && is_plain(before));
                Verb::Revert([Some(at), before].into_iter().flatten().collect())
            }
            18 if self.dice.once_in(3) => Verb::Abort(Underway::Merge),
            18 if self.dice.once_in(2) => Verb::Conclude(Underway::Revert),
            _ => {
                let own = self.model.sessions[session].branch;
                Verb::Merge(if other == own { (own + 1) % self.model.branches.len() } else { other })
            }
        }
    }

    /// Something for a node to be: made of what it is, of what it was somewhere, or nothing.
    fn version(&mut self, session: usize, id: &NodeId) -> Option<Rc<Known>> {
        let somewhere = self.dice.roll(self.model.script.commits.len());
        let older = self.model.script.commits[somewhere].state.get(id).cloned();
        match (self.dice.roll(8), self.model.seen(session).get(id)) {
            (0, _) => None,
            (1, _) => older,
            (2, _) | (_, None) => Some(Known::new(id, self.fresh.body(&mut self.dice), Provenance::default(), None)),
            (_, Some(old)) => {
                let mut body = old.body.clone();
                Edit::of(&body, &mut self.dice, &mut self.fresh).apply(&mut body);
                Some(Known::new(id, body, old.node.provenance.clone(), None))
            }
        }
    }

    fn run(&self, session: usize, verb: &Verb) -> Result<Done, OpError> {
        // Nothing is kept between two commands but what is on the disk.
        let store = Store::new(self.store.directory().to_owned(), Duration::from_secs(10));
        let (name, at) = (name(session), self.step);
        match verb {
            Verb::Put(id, new) => {
                ops::put(&store, &name, vec![write((id, new.as_ref()))], Condition::Any)?;
                Ok(Done::Nothing)
            }
            Verb::Commit => {
                let request = CommitRequest { words: words(at), allow_empty: false, only: vec![], overwrite: false };
                ops::commit(&store, &name, &request)?;
                Ok(Done::Made(1))
            }
            Verb::Switch(nth) => {
                let target = Target::Branch(branch(*nth), revision(&branch_name(*nth)));
                ops::switch(&store, &name, &target, time(at))?;
                Ok(Done::Nothing)
            }
            Verb::Create => {
                let target = Target::Create(branch(self.model.branches.len()), None);
                ops::switch(&store, &name, &target, time(at))?;
                Ok(Done::Nothing)
            }
            Verb::Merge(nth) => {
                let request = MergeRequest {
                    revision: revision(&branch_name(*nth)),
                    fast_forward: FastForward::Allowed,
                    unrelated: false,
                    message: None,
                    signature: signature(at),
                };
                let trial = ops::try_merge(&store, &name, &request);
                let report = ops::merge(&store, &name, &request);
                match (&trial, &report) {
                    (Ok(trial), Ok(report)) => {
                        let kinds = [&trial.outcome, &report.outcome].map(std::mem::discriminant);
                        assert_eq!(kinds[0], kinds[1], "a trial tells what comes");
                    }
                    (Err(trial), Err(error)) => assert_eq!(trial.to_string(), error.to_string()),
                    _ => panic!("{trial:?} before {report:?}"),
                }
                Ok(match report?.outcome {
                    MergeOutcome::UpToDate => Done::UpToDate,
                    MergeOutcome::FastForward => Done::FastForward,
                    MergeOutcome::Merged => Done::Made(1),
                    MergeOutcome::Stopped(found) => {
                        Done::Stopped(0, found.into_iter().map(|conflict| conflict.id).collect())
                    }
                })
            }
            Verb::Revert(commits) => {
                let is_merge = self.model.script.commits[commits[0]].parents.len() > 1;
                let select = |at: &At| Selection::Of(revision(&self.model.ids[*at].to_string()));
                let request = RevertRequest {
                    selections: commits.iter().map(select).collect(),
                    what: Reverting::Commits { mainline: u64::from(is_merge) },
                    message: None,
                    signature: signature(at),
                };
                let found = ops::revert(&store, &name, &request)?.reverted;
                Ok(reverted(found.made.len(), found.stopped))
            }
            Verb::Settle(what, id, choice) => {
                ops::settle(&store, &name, *what, &[(id.clone(), *choice)])?;
                Ok(Done::Nothing)
            }
            Verb::Conclude(what) => {
                let found = ops::conclude(&store, &name, *what, None, &signature(at))?.reverted;
                Ok(reverted(found.made.len(), found.stopped))
            }
            Verb::Abort(what) => {
                let report = ops::abort(&store, &name, *what, &signature(at))?;
                let worked = self.model.worked(session).expect("it is in progress");
                let staged = self.model.sessions[session].staged.iter();
                let dropped = staged.filter(|(id, _)| worked.concerns(id)).count();
                assert_eq!(report.dropped.count, dropped);
                Ok(Done::Nothing)
            }
        }
    }

    fn expect(&mut self, session: usize, verb: &Verb) -> Result<Done, Refusal> {
        match verb {
            Verb::Put(id, new) => self.model.put(session, id, new.clone()),
            Verb::Commit => self.model.commit(session),
            Verb::Switch(nth) => self.model.switch(session, *nth),
            Verb::Create => self.model.create(session),
            Verb::Merge(nth) => self.model.merge(session, *nth),
            Verb::Revert(commits) => self.model.revert(session, commits.clone()),
            Verb::Settle(what, id, choice) => self.model.settle(session, *what, id, *choice),
            Verb::Conclude(what) => self.model.conclude(session, *what),
            Verb::Abort(what) => self.model.abort(session, *what),
        }
    }

    fn play(&mut self, session: usize, verb: &Verb) {
        self.step += 1;
        let before = self.shown(session);
        let goes_on = match (verb, self.model.worked(session)) {
            (Verb::Put(id, _), Some(worked)) => worked.conflicts.contains(id),
            (Verb::Settle(..) | Verb::Abort(_), Some(_)) => true,
            _ => false,
        };
        let progress = self.model.sessions[session].progress.clone();
        let found = self.run(session, verb).map_err(refusal);
        let wanted = self.expect(session, verb);
        let told = format!("step {} of session {session}: {verb:?}", self.step);
        assert_eq!(found, wanted, "{told}");
        self.learn(session, &told);
        for session in 0..2 {
            self.hold(session, &told);
        }
        let after = self.shown(session);
        if found.is_err() {
            assert_eq!(after, before, "{told}: what is refused changes nothing");
            self.seen.refused += 1;
            return;
        }
        if let Ok(Done::Stopped(0, _)) = &found
            && progress.is_none()
        {
            let (old, new) = (&before.row.as_ref().expect("a row"), &after.row.as_ref().expect("a row"));
            assert_eq!(&store::Session { progress: new.progress.clone(), ..(**old).clone() }, *new, "{told}");
            assert_eq!((&after.refs, &after.logs, &after.staged), (&before.refs, &before.logs, &before.staged));
            self.before = [None, None];
            self.before[session] = Some(before);
        } else if let (Verb::Abort(_), Some(shown)) = (verb, self.before[session].take_if(|_| goes_on)) {
            let as_before = |shown: Shown| {
                let row = shown.row.map(|row| store::Session { consumed: 0, ..row });
                Shown { row, ..shown }
            };
            assert_eq!(as_before(after), as_before(shown), "{told}");
            self.seen.aborted += 1;
        } else if !goes_on {
            self.before = [None, None];
        }
        self.count(session, verb, progress.as_ref(), &found);
    }

    fn count(&mut self, session: usize, verb: &Verb, progress: Option<&Progress>, found: &Result<Done, Refusal>) {
        match (verb, found) {
            (Verb::Merge(_), Ok(Done::Made(_))) => self.seen.merged += 1,
            (Verb::Merge(_), Ok(Done::FastForward)) => self.seen.forward += 1,
            (Verb::Merge(_) | Verb::Revert(_), Ok(Done::Stopped(..))) => self.seen.stopped += 1,
            (Verb::Conclude(_), Ok(_)) if progress.is_some() => {
                self.seen.concluded += 1;
                self.seen.carried += usize::from(!self.model.sessions[session].staged.is_empty());
            }
            (Verb::Revert(_), Ok(_)) => self.seen.reverted += 1,
            _ => {}
        }
    }

    /// Takes in the ids of the commits that were made.
    fn learn(&mut self, session: usize, told: &str) {
        let new = self.model.ids.len()..self.model.script.commits.len();
        let session_name = name(session);
        let ids = self.store.read(&session_name, |view| {
            let mut ids = Vec::new();
            let mut number = view.head_commit()?;
            while let (Some(at), true) = (number, ids.len() < new.len()) {
                let commit = view.tables.commit(at)?;
                ids.push((commit.id, commit.parents.clone()));
                number = commit.parents.first().copied();
            }
            let id = |&number: &Number| view.tables.commit_id(number);
            let with_parents = |(own, parents): (CommitId, Vec<Number>)| {
                Ok((own, parents.iter().map(id).collect::<Result<Vec<_>, StoreError>>()?))
            };
            ids.into_iter().map(with_parents).collect::<Result<Vec<_>, StoreError>>()
        });
        let mut ids = ids.expect("commits");
        while let Some((id, parents)) = ids.pop() {
            let own = self.model.ids.len();
            self.model.ids.push(id);
            let wanted = self.model.script.commits[own].parents.iter().map(|&parent| self.model.ids[parent]);
            assert_eq!(parents, wanted.collect::<Vec<_>>(), "{told}");
        }
        assert_eq!(self.model.ids.len(), new.end, "{told}");
    }

    fn listed(&self, session: usize, at: Option<&str>) -> BTreeMap<NodeId, Node> {
        let request = LsRequest { nodes: true, revision: at.map(revision), ..LsRequest::default() };
        let rows = ops::ls(&self.store, &name(session), &request).expect("nodes").nodes;
        let node = |kept: Option<Kept>| kept.as_ref().and_then(Kept::node).expect("it was asked for").clone();
        rows.into_iter().map(|row| (row.id, node(row.node))).collect()
    }

    fn shown(&self, session: usize) -> Shown {
        let refs = self.store.snapshot().expect("a snapshot");
        let refs =
            refs.references("refs/").expect("refs").into_iter().map(|(name, number)| (name, Some(number.to_string())));
        let logs = ["HEAD".to_owned(), branch_name(0), branch_name(1)];
        let logs = logs.iter().filter_map(|of| ops::reflog(&self.store, &name(session), &revision(of), None).ok());
        Shown {
            refs: refs.collect(),
            logs: logs.map(|report| report.moved).collect(),
            row: self.store.read(&name(session), |view| Ok::<_, StoreError>(view.row.clone())).expect("a row"),
            staged: ops::status(&self.store, &name(session)).expect("a status").staged,
            seen: self.listed(session, None),
        }
    }

    /// Holds what the store shows of a session against the model.
    fn hold(&self, session: usize, told: &str) {
        let own = &self.model.sessions[session];
        let report = ops::status(&self.store, &name(session)).expect("a status");
        assert_eq!(report.head.branch(), Some(&branch(own.branch).ref_name()[..]), "{told}");
        assert_eq!(report.commit, Some(self.model.ids[self.model.head(session)]), "{told}");
        let object = |known: &Option<Rc<Known>>| known.as_ref().map(|known| known.object);
        let is_told = |(id, staged): (&NodeId, &crate::model::Staged)| {
            let is_change = staged.is_change() && staged.new != self.model.held(session, id);
            is_change.then(|| (id.clone(), object(&staged.new)))
        };
        let staged: Vec<(NodeId, Option<ObjectId>)> =
            report.staged.into_iter().map(|staged| (staged.id, staged.hash)).collect();
        assert_eq!(staged, own.staged.iter().filter_map(is_told).collect::<Vec<_>>(), "{told}");
        let progress = report.progress.map(|progress| {
            let settled = progress.conflicts.into_iter().map(|conflict| (conflict.id, conflict.settled));
            (progress.underway, settled.collect::<Vec<_>>())
        });
        let wanted = own.progress.as_ref().map(|progress| {
            let worked = self.model.worked(session).expect("it is in progress");
            let settled = |id: &NodeId| (id.clone(), self.model.settled(session, &worked, id));
            (progress.underway(), worked.conflicts.iter().map(settled).collect::<Vec<_>>())
        });
        assert_eq!(progress, wanted, "{told}");
        assert_eq!(self.listed(session, None), nodes(&self.model.seen(session)), "{told}");
        assert_eq!(self.listed(session, Some("HEAD")), nodes(self.model.state(session)), "{told}");
        let tables = self.store.snapshot().expect("a snapshot");
        for (nth, &at) in self.model.branches.iter().enumerate() {
            let number = tables.reference(&branch(nth).ref_name()).expect("a ref").expect("a branch");
            assert_eq!(tables.commit_id(number).expect("a commit"), self.model.ids[at], "{told}");
        }
    }
}

/// Plays some; what came about.
fn play(seeds: std::ops::Range<u64>) {
    let mut total = Seen::default();
    for seed in seeds {
        let (store, _directory) = empty(&branch_name(0));
        let mut play = Play { seen: total, ..Play::new(store, 3_000 + seed) };
        for _ in 0..STEPS {
            let waiting = (0..2).find(|&session| play.before[session].is_some());
            let session = waiting.filter(|_| !play.dice.once_in(4)).unwrap_or(play.dice.roll(2));
            let verb = play.verb(session);
            play.play(session, &verb);
        }
        total = play.seen;
    }
    let Seen { merged, forward, stopped, concluded, carried, aborted, reverted, refused } = total;
    let least = [merged, forward, stopped, concluded, carried, aborted, reverted, refused].into_iter().min();
    assert!(least > Some(2), "{total:?}");
}

#[test]
fn sessions_that_merge_and_revert_do_as_a_model_says() {
    play(0..SEQUENCES / 2);
}

#[test]
fn other_sessions_that_merge_and_revert_do_as_a_model_says() {
    play(SEQUENCES / 2..SEQUENCES);
}
