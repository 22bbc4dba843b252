//! Sessions that commit, merge and revert, as one would do it with whole memories in hand.

use crate::history::{At, History};
use crate::naive::{Known, State, Version, Versions, merged, version, versions};
use crate::script::branch_name;
use mnemosyne::model::NodeId;
use mnemosyne::object::CommitId;
use mnemosyne::ops::{Choice, Settled, Underway};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

type Held = Option<Rc<Known>>;

/// A staged change: what it replaced, and what is to be.
#[derive(Clone, Debug, PartialEq)]
pub struct Staged {
    pub base: Held,
    pub new: Held,
}

impl Staged {
    pub fn is_change(&self) -> bool {
        self.base != self.new
    }

    pub fn collides_with(&self, found: &Held) -> bool {
        *found != self.base && *found != self.new
    }
}

#[derive(Clone, Debug)]
pub enum Progress {
    Merge { theirs: At, name: usize },
    Revert { start: At, reached: At, commits: Vec<At> },
}

impl Progress {
    pub fn underway(&self) -> Underway {
        match self {
            Self::Merge { .. } => Underway::Merge,
            Self::Revert { .. } => Underway::Revert,
        }
    }
}

#[derive(Clone, Debug)]
pub struct Session {
    /// On which branch it stands.
    pub branch: usize,
    pub staged: BTreeMap<NodeId, Staged>,
    pub progress: Option<Progress>,
}

/// Why nothing is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    Conflict(Vec<NodeId>),
    NothingToCommit,
    InProgress(Underway),
    NothingInProgress(Underway),
    WouldOverwrite(Vec<NodeId>),
    Unsettled(Vec<NodeId>),
    NoConflict,
    NoBase,
}

/// What was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Done {
    /// No commit was made, and none is waited for.
    Nothing,
    UpToDate,
    FastForward,
    /// So many commits were made.
    Made(usize),
    /// So many were made, and these conflict.
    Stopped(usize, Vec<NodeId>),
}

type Answer = Result<Done, Refusal>;

/// What comes of a step on a head.
pub struct Worked {
    pub base: Versions,
    pub theirs: Versions,
    pub made: BTreeMap<NodeId, Held>,
    pub conflicts: BTreeSet<NodeId>,
}

impl Worked {
    pub fn concerns(&self, id: &NodeId) -> bool {
        self.made.contains_key(id) || self.conflicts.contains(id)
    }
}

#[derive(Clone)]
pub struct Model {
    pub script: History,
    /// The commits that the store has made.
    pub ids: Vec<CommitId>,
    pub branches: Vec<At>,
    pub sessions: Vec<Session>,
}

fn with(state: &State, changes: &BTreeMap<NodeId, Held>) -> State {
    let mut state = state.clone();
    for (id, new) in changes {
        match new {
            Some(known) => drop(state.insert(id.clone(), Rc::clone(known))),
            None => drop(state.remove(id)),
        }
    }
    state
}

impl Model {
    pub fn head(&self, session: usize) -> At {
        self.branches[self.sessions[session].branch]
    }

    pub fn state(&self, session: usize) -> &State {
        &self.script.commits[self.head(session)].state
    }

    pub fn held(&self, session: usize, id: &NodeId) -> Held {
        self.state(session).get(id).cloned()
    }

    /// What the session sees.
    pub fn seen(&self, session: usize) -> State {
        let staged = self.sessions[session].staged.iter().filter(|(_, staged)| staged.is_change());
        with(self.state(session), &staged.map(|(id, staged)| (id.clone(), staged.new.clone())).collect())
    }

    fn commit_on(&mut self, session: usize, others: &[At], changes: &BTreeMap<NodeId, Held>) {
        let (head, branch) = (self.head(session), self.sessions[session].branch);
        let state = with(&self.script.commits[head].state, changes);
        self.branches[branch] = self.script.add([&[head], others].concat(), state);
    }

    /// What comes of merging `theirs` into a head, both made of `base`.
    fn join(&self, head: At, base: Versions, theirs: Versions, note: &str) -> Worked {
        let ours = versions(&self.script.commits[head].state);
        let (mut made, mut conflicts) = (BTreeMap::new(), BTreeSet::new());
        for (id, found) in merged(&base, &ours, &theirs, note) {
            match found {
                Version::Undecided => drop(conflicts.insert(id)),
                Version::Is(known) if Version::Is(known.clone()) == version(&ours, &id) => {}
                Version::Is(known) => drop(made.insert(id, known)),
            }
        }
        Worked { base, theirs, made, conflicts }
    }

    fn work_out(&self, session: usize, progress: &Progress) -> Worked {
        let (head, here) = (self.head(session), branch_name(self.sessions[session].branch));
        let state = |at: At| versions(&self.script.commits[at].state);
        match progress {
            Progress::Merge { theirs, name } => {
                let base = self.script.base(&self.script.bases(head, *theirs));
                let mut names = [here, branch_name(*name)];
                names.sort();
                self.join(head, base, state(*theirs), &format!("merge of {} and {}", names[0], names[1]))
            }
            Progress::Revert { commits, .. } => {
                let parent = self.script.commits[commits[0]].parents.first();
                let back = parent.map_or(Versions::new(), |&parent| state(parent));
                let note = format!("revert of {} in {here}", &self.ids[commits[0]].to_string()[..10]);
                self.join(head, state(commits[0]), back, &note)
            }
        }
    }

    /// What the session has in progress, worked out on HEAD as it is.
    pub fn worked(&self, session: usize) -> Option<Worked> {
        self.sessions[session].progress.as_ref().map(|progress| self.work_out(session, progress))
    }

    /// How a conflict is settled.
    pub fn settled(&self, session: usize, worked: &Worked, id: &NodeId) -> Option<Settled> {
        let ours = self.held(session, id);
        let staged = self.sessions[session].staged.get(id).filter(|staged| !staged.collides_with(&ours))?;
        let is = |version: Version| Version::Is(staged.new.clone()) == version;
        Some(match &staged.new {
            new if *new == ours => Settled::Ours,
            _ if is(version(&worked.theirs, id)) => Settled::Theirs,
            _ if is(version(&worked.base, id)) => Settled::Base,
            None => Settled::Delete,
            Some(_) => Settled::Other,
        })
    }

    fn refuse_in_progress(&self, session: usize) -> Result<(), Refusal> {
        let progress = self.sessions[session].progress.as_ref();
        progress.map_or(Ok(()), |progress| Err(Refusal::InProgress(progress.underway())))
    }

    fn underway(&self, session: usize, wanted: Underway) -> Result<Progress, Refusal> {
        match &self.sessions[session].progress {
            None => Err(Refusal::NothingInProgress(wanted)),
            Some(progress) if progress.underway() == wanted => Ok(progress.clone()),
            Some(progress) => Err(Refusal::InProgress(progress.underway())),
        }
    }

    /// The staged changes for which `stands` holds of what is found.
    fn hidden(&self, session: usize, hides: impl Fn(&NodeId, &Staged) -> bool) -> Result<(), Refusal> {
        let staged = self.sessions[session].staged.iter();
        let hidden = staged.filter(|(id, staged)| staged.is_change() && hides(id, staged));
        let hidden: Vec<_> = hidden.map(|(id, _)| id.clone()).collect();
        if hidden.is_empty() { Ok(()) } else { Err(Refusal::WouldOverwrite(hidden)) }
    }

    pub fn put(&mut self, session: usize, id: &NodeId, new: Held) -> Answer {
        let head = self.held(session, id);
        let Session { staged, progress, .. } = &mut self.sessions[session];
        let over_head = Staged { base: head.clone(), new: new.clone() };
        match (progress, staged.get(id).cloned()) {
            // What stands already is an answer too.
            (Some(_), _) => drop(staged.insert(id.clone(), over_head)),
            (None, _) if new == head => drop(staged.remove(id)),
            (None, Some(before)) if before.is_change() && before.new == new => {}
            (None, Some(before)) if before.is_change() && before.base != new && before.new != head => {
                staged.insert(id.clone(), Staged { base: before.base, new });
            }
            (None, _) => drop(staged.insert(id.clone(), over_head)),
        }
        Ok(Done::Nothing)
    }

    pub fn commit(&mut self, session: usize) -> Answer {
        self.refuse_in_progress(session)?;
        let (mut changes, mut conflicts) = (BTreeMap::new(), Vec::new());
        for (id, staged) in self.sessions[session].staged.iter().filter(|(_, staged)| staged.is_change()) {
            let head = self.held(session, id);
            if staged.collides_with(&head) {
                conflicts.push(id.clone());
            } else if staged.new != head {
                changes.insert(id.clone(), staged.new.clone());
            }
        }
        if !conflicts.is_empty() {
            return Err(Refusal::Conflict(conflicts));
        }
        if changes.is_empty() {
            return Err(Refusal::NothingToCommit);
        }
        self.commit_on(session, &[], &changes);
        self.sessions[session].staged.clear();
        Ok(Done::Made(1))
    }

    /// Onto a branch that is there.
    pub fn switch(&mut self, session: usize, branch: usize) -> Answer {
        self.refuse_in_progress(session)?;
        let target = self.branches[branch];
        if target != self.head(session) {
            let there = &self.script.commits[target].state;
            self.hidden(session, |id, staged| staged.collides_with(&there.get(id).cloned()))?;
        }
        self.sessions[session].branch = branch;
        Ok(Done::Nothing)
    }

    /// Onto a new branch.
    pub fn create(&mut self, session: usize) -> Answer {
        self.refuse_in_progress(session)?;
        self.branches.push(self.head(session));
        self.sessions[session].branch = self.branches.len() - 1;
        Ok(Done::Nothing)
    }

    pub fn merge(&mut self, session: usize, branch: usize) -> Answer {
        self.refuse_in_progress(session)?;
        let (head, theirs) = (self.head(session), self.branches[branch]);
        if self.script.is_behind(theirs, head) {
            return Ok(Done::UpToDate);
        }
        if self.script.is_behind(head, theirs) {
            let there = &self.script.commits[theirs].state;
            self.hidden(session, |id, staged| staged.collides_with(&there.get(id).cloned()))?;
            let own = self.sessions[session].branch;
            self.branches[own] = theirs;
            return Ok(Done::FastForward);
        }
        let progress = Progress::Merge { theirs, name: branch };
        let worked = self.work_out(session, &progress);
        self.hidden(session, |id, _| worked.concerns(id))?;
        if worked.conflicts.is_empty() {
            self.commit_on(session, &[theirs], &worked.made);
            return Ok(Done::Made(1));
        }
        self.sessions[session].progress = Some(progress);
        Ok(Done::Stopped(0, worked.conflicts.into_iter().collect()))
    }

    pub fn revert(&mut self, session: usize, commits: Vec<At>) -> Answer {
        self.refuse_in_progress(session)?;
        let before = self.clone();
        let start = self.head(session);
        let answer = self.reverts(session, start, commits, 0);
        match answer {
            Ok(Done::Made(0)) => Err(Refusal::NothingToCommit),
            Err(_) => {
                *self = before;
                answer
            }
            Ok(_) => answer,
        }
    }

    fn reverts(&mut self, session: usize, start: At, mut commits: Vec<At>, mut made: usize) -> Answer {
        while !commits.is_empty() {
            let progress = Progress::Revert { start, reached: self.head(session), commits: commits.clone() };
            let worked = self.work_out(session, &progress);
            self.hidden(session, |id, _| worked.concerns(id))?;
            if !worked.conflicts.is_empty() {
                self.sessions[session].progress = Some(progress);
                return Ok(Done::Stopped(made, worked.conflicts.into_iter().collect()));
            }
            if !worked.made.is_empty() {
                self.commit_on(session, &[], &worked.made);
                made += 1;
            }
            commits.remove(0);
        }
        Ok(Done::Made(made))
    }

    pub fn settle(&mut self, session: usize, wanted: Underway, id: &NodeId, choice: Choice) -> Answer {
        let progress = self.underway(session, wanted)?;
        let worked = self.work_out(session, &progress);
        if !worked.conflicts.contains(id) {
            return Err(Refusal::NoConflict);
        }
        let ours = self.held(session, id);
        let new = match choice {
            Choice::Ours => Version::Is(ours.clone()),
            Choice::Theirs => version(&worked.theirs, id),
            Choice::Base => version(&worked.base, id),
            Choice::Delete => Version::Is(None),
        };
        let Version::Is(new) = new else { return Err(Refusal::NoBase) };
        self.sessions[session].staged.insert(id.clone(), Staged { base: ours, new });
        Ok(Done::Nothing)
    }

    fn drop_staged(&mut self, session: usize, worked: &Worked) {
        self.sessions[session].staged.retain(|id, staged| staged.is_change() && !worked.concerns(id));
        self.sessions[session].progress = None;
    }

    pub fn conclude(&mut self, session: usize, wanted: Underway) -> Answer {
        let progress = self.underway(session, wanted)?;
        let worked = self.work_out(session, &progress);
        let (mut open, mut changes) = (worked.conflicts.clone(), worked.made.clone());
        for (id, staged) in self.sessions[session].staged.iter().filter(|(id, _)| worked.concerns(id)) {
            let head = self.held(session, id);
            if staged.collides_with(&head) {
                open.insert(id.clone());
                continue;
            }
            open.remove(id);
            changes.remove(id);
            if staged.new != head {
                changes.insert(id.clone(), staged.new.clone());
            }
        }
        if !open.is_empty() {
            return Err(Refusal::Unsettled(open.into_iter().collect()));
        }
        let before = self.clone();
        self.drop_staged(session, &worked);
        let head = self.head(session);
        match progress {
            Progress::Merge { theirs, .. } if self.script.is_behind(theirs, head) => Ok(Done::Made(0)),
            Progress::Merge { theirs, .. } => {
                self.commit_on(session, &[theirs], &changes);
                Ok(Done::Made(1))
            }
            Progress::Revert { start, commits, .. } => {
                let made = usize::from(!changes.is_empty());
                if made > 0 {
                    self.commit_on(session, &[], &changes);
                }
                let answer = self.reverts(session, start, commits[1..].to_vec(), made);
                if answer.is_err() {
                    *self = before;
                }
                answer
            }
        }
    }

    pub fn abort(&mut self, session: usize, wanted: Underway) -> Answer {
        let progress = self.underway(session, wanted)?;
        let worked = self.work_out(session, &progress);
        self.drop_staged(session, &worked);
        match progress {
            Progress::Revert { start, reached, .. } if reached == self.head(session) => {
                let branch = self.sessions[session].branch;
                self.branches[branch] = start;
            }
            Progress::Merge { .. } | Progress::Revert { .. } => {}
        }
        Ok(Done::Nothing)
    }
}
