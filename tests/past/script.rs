//! Histories made of seeds, with all that is to be told of them.

use crate::body::Body;
use mnemosyne::model::{ContentKind, Node, NodeId, Provenance, Timestamp};
use std::collections::{BTreeMap, BTreeSet};

/// A commit by its place in the history, from 0.
pub type At = usize;

const IDS: usize = 30;

/// Numbers that follow from a seed.
pub struct Dice(u64);

impl Dice {
    /// A number below `sides`.
    pub fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        let mixed = mixed ^ mixed >> 31;
        usize::try_from(mixed % sides as u64).expect("below an usize")
    }
}

/// Where new lines and tokens come from. No two are the same, unless they are to repeat.
pub struct Fresh {
    /// The commit that is made.
    pub at: At,
    repeats: bool,
    count: usize,
}

impl Fresh {
    fn next(&mut self) -> usize {
        self.count += 1;
        if self.repeats { self.count * 7 % 5 } else { self.count }
    }

    /// A line without its end.
    pub fn line(&mut self) -> String {
        format!("line {}", self.next())
    }

    /// The token of a number.
    pub fn number(&mut self) -> String {
        format!("{}.50", self.next())
    }

    /// A scalar of any kind.
    pub fn token(&mut self) -> String {
        let next = self.next();
        match next % 3 {
            0 => format!("\"\\u0061 {next}\""),
            1 => format!("\"text, {next}\""),
            _ => format!("{next}e0"),
        }
    }
}

/// A node of a state, and who brought it and its parts.
#[derive(Clone, Debug)]
pub struct Known {
    pub node: Node,
    pub body: Body,
    /// Who wrote its content.
    pub content_at: At,
    /// Who wrote it as it is.
    pub writer: At,
}

/// A commit of a script.
#[derive(Clone, Debug)]
pub struct Commit {
    pub parents: Vec<At>,
    pub state: BTreeMap<NodeId, Known>,
}

/// Of what kind a script is.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Whether not every commit continues the last one.
    pub merges: bool,
    /// Whether lines and tokens occur more than once. Then nothing is known of where parts come from.
    pub repeats: bool,
}

/// A commit a seed.
pub fn script(seeds: &[u64], shape: Shape) -> Vec<Commit> {
    let ids: Vec<_> = (0..IDS).map(|nth| NodeId::new(format!("{}/{nth}", nth % 4)).expect("an id")).collect();
    let mut commits = Vec::new();
    let mut fresh = Fresh { at: 0, repeats: shape.repeats, count: 0 };
    for (own, &seed) in seeds.iter().enumerate() {
        fresh.at = own;
        let commit = Maker { own, shape, commits: &commits, dice: Dice(seed), fresh: &mut fresh, ids: &ids }.commit();
        commits.push(commit);
    }
    commits
}

/// What an edit makes of a node.
struct Draft {
    body: Body,
    /// Whether the origins of the parts are those of the edit, made on the only parent.
    replayed: bool,
    provenance: Provenance,
    event_time: Option<Timestamp>,
}

/// Makes the next commit.
struct Maker<'m> {
    own: At,
    shape: Shape,
    commits: &'m [Commit],
    dice: Dice,
    fresh: &'m mut Fresh,
    ids: &'m [NodeId],
}

impl Maker<'_> {
    fn commit(mut self) -> Commit {
        let parents = self.parents();
        let base = parents.first().map_or(BTreeMap::new(), |&first| self.commits[first].state.clone());
        let mut state = base.clone();
        let mut edited: BTreeSet<usize> = (0..=self.dice.roll(4)).map(|_| self.dice.roll(IDS)).collect();
        if let [_, others @ ..] = parents.as_slice() {
            for (&other, at) in others.iter().flat_map(|other| (0..IDS).map(move |at| (other, at))) {
                let theirs = self.commits[other].state.get(&self.ids[at]).map(|known| &known.node);
                if theirs != base.get(&self.ids[at]).map(|known| &known.node) && self.dice.roll(2) == 0 {
                    edited.insert(at);
                }
            }
        }
        for at in edited {
            let id = &self.ids[at];
            let changed = match parents.as_slice() {
                [_, others @ ..] if !others.is_empty() && self.dice.roll(4) > 0 => {
                    let other = others[self.dice.roll(others.len())];
                    self.merged(id, base.get(id), other)
                }
                _ => self.edited(id, base.get(id)),
            };
            match changed {
                Some(draft) => {
                    if let Some(known) = self.known(id, draft, &parents) {
                        state.insert(id.clone(), known);
                    }
                }
                None => drop(state.remove(id)),
            }
        }
        let nodes =
            |state: &BTreeMap<NodeId, Known>| state.values().map(|known| known.node.clone()).collect::<Vec<_>>();
        if parents.len() < 2 && nodes(&base) == nodes(&state) {
            let id = self.ids[self.dice.roll(IDS)].clone();
            let draft = self.fresh_draft();
            let known = self.known(&id, draft, &parents).expect("nothing of it was there before");
            state.insert(id, known);
        }
        Commit { parents, state }
    }

    fn parents(&mut self) -> Vec<At> {
        let Some(last) = self.own.checked_sub(1) else { return Vec::new() };
        let mut parents = vec![last];
        if self.shape.merges {
            match self.dice.roll(20) {
                0 => return Vec::new(),
                1..=3 => parents = vec![self.near()],
                4..=7 => parents.push(self.near()),
                8 => parents = vec![self.near(), self.near(), last],
                9 => parents = vec![self.near(), last],
                _ => {}
            }
        }
        let mut seen = BTreeSet::new();
        parents.retain(|parent| seen.insert(*parent));
        parents
    }

    /// One of the last commits, or any.
    fn near(&mut self) -> At {
        let reach = if self.dice.roll(4) == 0 { self.own } else { self.own.min(12) };
        self.own - 1 - self.dice.roll(reach)
    }

    /// What an edit makes of the node that the first parent has.
    fn edited(&mut self, id: &NodeId, old: Option<&Known>) -> Option<Draft> {
        let Some(old) = old else {
            let older = if self.dice.roll(2) == 0 { self.older(id) } else { None };
            return Some(older.unwrap_or_else(|| self.fresh_draft()));
        };
        let Known { node, body, .. } = old;
        let (provenance, event_time) = (node.provenance.clone(), node.event_time.clone());
        let mut draft = Draft { body: body.clone(), replayed: true, provenance, event_time };
        match self.dice.roll(20) {
            0..=10 => {
                draft.body.edit(&mut self.dice, self.fresh);
                if self.dice.roll(2) == 0 {
                    draft.provenance = self.provenance();
                }
            }
            11 | 12 => return None,
            13 | 14 => {
                let own = draft.provenance.clone();
                draft = self.older(id).unwrap_or(draft);
                if self.dice.roll(2) == 0 {
                    draft.provenance = own;
                }
            }
            15 | 16 => draft.provenance = self.provenance(),
            17 => draft.event_time = self.event_time(),
            18 => (draft.provenance, draft.event_time) = (self.provenance(), self.event_time()),
            _ => draft = self.fresh_draft(),
        }
        Some(draft)
    }

    /// What a merge makes of the node.
    fn merged(&mut self, id: &NodeId, old: Option<&Known>, other: At) -> Option<Draft> {
        let theirs = self.commits[other].state.get(id)?;
        let Node { provenance, event_time, .. } = theirs.node.clone();
        let combined = match old {
            Some(old) if self.dice.roll(2) == 0 => old.body.combined(&theirs.body, &mut self.dice),
            Some(_) | None => None,
        };
        let provenance = if combined.is_some() || self.dice.roll(6) == 0 { self.provenance() } else { provenance };
        Some(Draft { body: combined.unwrap_or_else(|| theirs.body.clone()), replayed: false, provenance, event_time })
    }

    /// What some older commit had.
    fn older(&mut self, id: &NodeId) -> Option<Draft> {
        let having: Vec<_> = self.commits.iter().filter_map(|commit| commit.state.get(id)).collect();
        if having.is_empty() {
            return None;
        }
        let Known { node, body, .. } = having[self.dice.roll(having.len())];
        let (provenance, event_time) = (node.provenance.clone(), node.event_time.clone());
        Some(Draft { body: body.clone(), replayed: false, provenance, event_time })
    }

    fn fresh_draft(&mut self) -> Draft {
        let body = Body::fresh(&mut self.dice, self.fresh);
        Draft { body, replayed: true, provenance: self.provenance(), event_time: self.event_time() }
    }

    fn provenance(&mut self) -> Provenance {
        let mut field = |name: &str| (self.dice.roll(2) == 0).then(|| format!("{name}/{}", self.dice.roll(3)));
        let (source, observation, agent_step) = (field("web"), field("chat"), field("step"));
        Provenance { source, observation, agent_step, ..Provenance::default() }
    }

    fn event_time(&mut self) -> Option<Timestamp> {
        let day = self.dice.roll(27);
        (day < 9).then(|| Timestamp::parse(&format!("2025-01-0{}T00:00:00Z", day + 1)).expect("a time"))
    }

    /// The node with who brought it; `None` where that can be read in several ways.
    fn known(&self, id: &NodeId, draft: Draft, parents: &[At]) -> Option<Known> {
        let Draft { mut body, replayed, provenance, event_time } = draft;
        let content = body.content();
        let node = Node { id: id.clone(), content, content_kind: ContentKind::Note, provenance, event_time };
        let theirs: Vec<_> = parents.iter().filter_map(|&parent| self.commits[parent].state.get(id)).collect();
        if let Some(same) = theirs.iter().find(|known| known.node == node) {
            return Some((*same).clone());
        }
        if let Some(same) = theirs.iter().find(|known| known.node.content == node.content) {
            return Some(Known { node, body: same.body.clone(), content_at: same.content_at, writer: self.own });
        }
        let is_followed = replayed && parents.len() < 2 || self.shape.repeats;
        let bodies: Vec<_> = theirs.iter().map(|known| &known.body).collect();
        if !is_followed && !body.adopt(&bodies, self.own) {
            return None;
        }
        Some(Known { node, body, content_at: self.own, writer: self.own })
    }
}
