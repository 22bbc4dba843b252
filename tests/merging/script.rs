//! Random histories of branches that are merged, with all that is to come of them.

use crate::body::{Edit, Fresh};
use crate::dice::Dice;
use crate::history::{At, Commit, History};
use crate::naive::{Known, State, Version, Versions, merged, version, versions};
use mnemosyne::model::{NodeId, Provenance, Timestamp};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Of what kind a history is.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub commits: usize,
    pub ids: usize,
    pub branches: usize,
    /// Whether edits of one branch are made on another too, and versions taken from elsewhere.
    pub copies: bool,
    /// Whether elements of arrays may be objects.
    pub records: bool,
    /// Whether conflicts are settled on anything but a side.
    pub settles_freely: bool,
    /// Where the nodes of a commit come from, one of these; any provenance where there is none.
    pub sources: &'static [&'static str],
}

/// What is done, in order.
#[derive(Clone, Debug)]
pub enum Step {
    /// A branch begins at a commit.
    Branch(usize, At),
    /// The next commit, on a branch.
    Commit(usize),
    /// A branch moves ahead to a commit.
    Forward(usize, At),
    /// The next commit merges another into a branch; these conflict.
    Merge(usize, At, BTreeSet<NodeId>),
}

pub fn note(branch: usize, theirs: At) -> String {
    let mut names = [branch_name(branch), commit_name(theirs)];
    names.sort();
    format!("merge of {} and {}", names[0], names[1])
}

pub fn branch_name(branch: usize) -> String {
    format!("branch-{branch}")
}

/// Each commit has a tag.
pub fn commit_name(at: At) -> String {
    format!("commit-{at}")
}

pub fn event_time(day: usize) -> Option<Timestamp> {
    (day > 0).then(|| Timestamp::parse(&format!("2025-01-0{day}T00:00:00Z")).expect("a time"))
}

impl History {
    /// A random history.
    pub fn of(seed: u64, shape: Shape) -> Self {
        Self::played(seed, shape).0
    }

    /// A random history, and by what it came about.
    pub fn played(seed: u64, shape: Shape) -> (Self, Vec<Step>) {
        let ids = (0..shape.ids).map(|nth| NodeId::new(format!("{}/{nth}", nth % 3)).expect("an id")).collect();
        let fresh = Fresh { tag: 0, records: shape.records };
        let (tips, edits, dice) = (Vec::new(), Vec::new(), Dice::of(seed));
        let (script, steps) = (Self::default(), Vec::new());
        let mut maker = Maker { script, steps, shape, ids, tips, edits, dice, fresh, named: 0 };
        while maker.script.commits.len() < shape.commits {
            maker.step();
        }
        (maker.script, maker.steps)
    }

    /// What comes of merging a commit into another.
    pub fn merged(&self, ours: At, theirs: At, note: &str) -> Versions {
        let state = |at: At| versions(&self.commits[at].state);
        merged(&self.base(&self.bases(ours, theirs)), &state(ours), &state(theirs), note)
    }

    /// What a commit makes of its first parent's nodes.
    pub fn changes(&self, at: At) -> BTreeMap<&NodeId, Option<&Rc<Known>>> {
        let Commit { parents, state } = &self.commits[at];
        let old = parents.first().map(|&first| &self.commits[first].state);
        let gone = old.into_iter().flat_map(BTreeMap::keys).filter(|id| !state.contains_key(id));
        let written = state.iter().filter(|(id, known)| old.and_then(|old| old.get(id)) != Some(known));
        gone.map(|id| (id, None)).chain(written.map(|(id, known)| (id, Some(known)))).collect()
    }
}

struct Maker {
    script: History,
    steps: Vec<Step>,
    shape: Shape,
    ids: Vec<NodeId>,
    /// Where each branch ends.
    tips: Vec<At>,
    /// The last edits.
    edits: Vec<(NodeId, Edit)>,
    dice: Dice,
    fresh: Fresh,
    /// How many notes and sources were made.
    named: usize,
}

impl Maker {
    fn step(&mut self) {
        if self.tips.is_empty() {
            self.tips.push(0);
            self.commit(0, vec![]);
            return;
        }
        let branch = self.dice.roll(self.tips.len());
        match self.dice.roll(10) {
            0 | 1 if self.tips.len() < self.shape.branches => {
                let at = self.near(self.tips[branch], 6);
                self.steps.push(Step::Branch(self.tips.len(), at));
                self.tips.push(at);
            }
            0..=3 => {
                let other = self.dice.roll(self.tips.len());
                let theirs = self.near(self.tips[other], 3);
                self.merge(branch, theirs);
            }
            _ => self.commit(branch, vec![self.tips[branch]]),
        }
    }

    /// A commit or one that is up to so many before it.
    fn near(&mut self, mut at: At, most: usize) -> At {
        for _ in 0..self.dice.roll(most + 1) {
            at = self.script.commits[at].parents.first().copied().unwrap_or(at);
        }
        at
    }

    fn add(&mut self, branch: usize, parents: Vec<At>, state: State) {
        self.tips[branch] = self.script.add(parents, state);
    }

    fn commit(&mut self, branch: usize, parents: Vec<At>) {
        let before = parents.first().map_or(State::new(), |&parent| self.script.commits[parent].state.clone());
        let source = self.source();
        let mut state = before.clone();
        while state == before {
            let count = if parents.is_empty() { self.ids.len() } else { 1 + self.dice.roll(4) };
            for _ in 0..count {
                let id = self.dice.pick(&self.ids).clone();
                match self.edited(&id, state.get(&id), source) {
                    Some(known) => drop(state.insert(id, known)),
                    None => drop(state.remove(&id)),
                }
            }
        }
        self.steps.push(Step::Commit(branch));
        self.add(branch, parents, state);
    }

    fn source(&mut self) -> Option<&'static str> {
        (!self.shape.sources.is_empty()).then(|| *self.dice.pick(self.shape.sources))
    }

    fn provenance(&mut self, source: Option<&str>) -> Provenance {
        self.named += 1;
        let source = source.map_or_else(|| format!("source {}", self.named), str::to_owned);
        Provenance { source: Some(source), ..Provenance::default() }
    }

    fn edited(&mut self, id: &NodeId, old: Option<&Rc<Known>>, source: Option<&str>) -> Option<Rc<Known>> {
        let kind = self.dice.roll(24);
        if self.shape.copies && kind < 3 && !self.script.commits.is_empty() {
            let tip = *self.dice.pick(&self.tips);
            let at = self.near(tip, 2);
            return self.script.commits[at].state.get(id).cloned();
        }
        let Some(old) = old else {
            let body = self.fresh.body(&mut self.dice);
            let provenance = self.provenance(source);
            return Some(Known::new(id, body, provenance, None));
        };
        let (mut body, mut provenance) = (old.body.clone(), old.node.provenance.clone());
        let mut event = old.node.event_time.clone();
        match kind {
            3 => return None,
            4 => provenance = self.provenance(source),
            5 => event = event_time(self.dice.roll(4)),
            6 => body = self.fresh.body(&mut self.dice),
            _ => {
                let copied: Vec<_> =
                    self.edits.iter().filter(|(other, _)| other == id).map(|(_, edit)| edit.clone()).collect();
                for _ in 0..1 + self.dice.roll(3) {
                    if self.shape.copies && !copied.is_empty() && self.dice.once_in(3) {
                        self.dice.pick(&copied).apply(&mut body);
                    } else {
                        let edit = Edit::of(&body, &mut self.dice, &mut self.fresh);
                        assert!(edit.apply(&mut body), "{edit:?} of {body:?}");
                        self.edits.push((id.clone(), edit));
                    }
                }
                let excess = self.edits.len().saturating_sub(60);
                self.edits.drain(..excess);
                if self.dice.once_in(3) {
                    provenance = self.provenance(source);
                }
            }
        }
        if source.is_some() {
            provenance = self.provenance(source);
        }
        Some(Known::new(id, body, provenance, event))
    }

    fn merge(&mut self, branch: usize, theirs: At) {
        let ours = self.tips[branch];
        if self.script.is_behind(theirs, ours) {
            return;
        }
        if self.script.is_behind(ours, theirs) {
            self.steps.push(Step::Forward(branch, theirs));
            self.tips[branch] = theirs;
            return;
        }
        let base = self.script.base(&self.script.bases(ours, theirs));
        let found = self.script.merged(ours, theirs, &note(branch, theirs));
        let (mut state, mut conflicts) = (State::new(), BTreeSet::new());
        let source = self.source();
        for (id, found) in found {
            let settled = match found {
                Version::Is(known) => known,
                Version::Undecided => {
                    conflicts.insert(id.clone());
                    let sides = [ours, theirs].map(|at| self.script.commits[at].state.get(&id).cloned());
                    let on_side = sides[self.dice.roll(2)].clone();
                    match (self.dice.roll(6), version(&base, &id)) {
                        (0, Version::Is(known)) if self.shape.settles_freely && source.is_none() => known,
                        (1, _) if self.shape.settles_freely => self.edited(&id, on_side.as_ref(), source),
                        _ => on_side,
                    }
                }
            };
            if let Some(known) = settled {
                state.insert(id, known);
            }
        }
        self.steps.push(Step::Merge(branch, theirs, conflicts));
        self.add(branch, vec![ours, theirs], state);
    }
}
