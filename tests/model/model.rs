//! A store as one would keep it with whole memories in hand: maps that are copied, no index, no number of a record.

use crate::command::{Command, Held, Step, told};
use crate::history::{At, History};
use crate::naive::{Known, State, Versions};
use crate::packing::Pack;
use crate::rows;
use crate::searching::Search;
use mnemosyne::model::NodeId;
use mnemosyne::ops::Underway;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The sessions that write.
pub const SESSIONS: [&str; 3] = ["default", "second", "third"];

/// Who commits where nobody is named.
pub const USER: &str = "ada";

/// What a commit is beside its parents and its memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Made {
    pub id: String,
    pub state: String,
    pub author: String,
    pub time: String,
    pub message: String,
}

/// What a commit says.
#[derive(Clone, Debug)]
pub struct Words {
    pub author: String,
    pub time: String,
    pub message: String,
}

impl From<Made> for Words {
    fn from(made: Made) -> Self {
        Self { author: made.author, time: made.time, message: made.message }
    }
}

/// A movement of a ref or of a HEAD.
#[derive(Clone, Debug, PartialEq)]
pub struct Update {
    pub old: Option<At>,
    pub new: Option<At>,
    pub time: String,
    pub reason: String,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Head {
    /// By its full name.
    Branch(String),
    Detached(At),
}

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

#[derive(Clone, Debug, PartialEq)]
pub enum Progress {
    Merge { theirs: At, name: String, message: Option<String> },
    Revert { start: At, reached: At, commits: Vec<At>, mainline: u64, message: Option<String> },
}

impl Progress {
    pub fn underway(&self) -> Underway {
        match self {
            Self::Merge { .. } => Underway::Merge,
            Self::Revert { .. } => Underway::Revert,
        }
    }
}

/// What is kept of a session that has written to the database.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub head: Head,
    pub orig_head: Option<At>,
    pub previous: Option<Head>,
    pub progress: Option<Progress>,
    pub search: Option<Search>,
}

impl Row {
    fn at(head: Head) -> Self {
        Self { head, orig_head: None, previous: None, progress: None, search: None }
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Session {
    pub row: Option<Row>,
    /// Whether a crash has left a log of it in which nothing may be.
    pub has_log: bool,
    /// Where it stands by what it has staged first, without a row.
    pub begun: Option<Head>,
    pub staged: BTreeMap<NodeId, Staged>,
}

impl Session {
    /// Where it stands; `None` where it has no place of its own: then it is none of the sessions yet.
    pub fn head(&self) -> Option<&Head> {
        self.row.as_ref().map(|row| &row.head).or(self.begun.as_ref())
    }
}

/// Why nothing is done, or what is left to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub word: &'static str,
    /// What the message names.
    pub about: Vec<String>,
}

pub fn refused(word: &'static str) -> Refusal {
    Refusal { word, about: Vec::new() }
}

/// A refusal that names nodes.
pub fn refused_for<'i>(word: &'static str, ids: impl IntoIterator<Item = &'i NodeId>) -> Refusal {
    Refusal { word, about: ids.into_iter().map(|id| format!("'{id}'")).collect() }
}

impl Refusal {
    pub fn exit(&self) -> u8 {
        match self.word {
            "no-node"
            | "precondition-failed"
            | "nothing-to-commit"
            | "not-merged"
            | "branch-in-use"
            | "would-overwrite"
            | "not-fast-forward"
            | "bisect-endpoints" => 1,
            "bisect-inconclusive" => 2,
            "conflict" | "in-progress" => 3,
            "usage" => 129,
            _ => 128,
        }
    }
}

/// What a command answers.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// The rows of JSON.
    pub rows: Vec<String>,
    /// What it says in the end, where it is the caller's turn.
    pub stop: Option<Refusal>,
    /// What a crash may leave beside the memory before and that after.
    pub between: Vec<Model>,
}

impl From<Vec<String>> for Answer {
    fn from(rows: Vec<String>) -> Self {
        Self { rows, ..Self::default() }
    }
}

/// Nothing is changed by what is refused.
pub type Outcome = Result<Answer, Refusal>;

/// What comes of a step of a merge or a revert on a head.
pub struct Worked {
    pub base: Versions,
    /// How many commits the base is made of.
    pub bases: Vec<At>,
    pub theirs: Versions,
    /// The commit that has what the other side has.
    pub their_commit: Option<At>,
    pub made: BTreeMap<NodeId, Held>,
    pub conflicts: BTreeSet<NodeId>,
}

impl Worked {
    pub fn concerns(&self, id: &NodeId) -> bool {
        self.made.contains_key(id) || self.conflicts.contains(id)
    }
}

/// The store.
#[derive(Clone, Debug)]
pub struct Model {
    /// All commits in the order in which the store has learned of them.
    pub history: History,
    pub made: Vec<Made>,
    /// Those of them that are gone.
    pub gone: BTreeSet<At>,
    pub refs: BTreeMap<String, At>,
    /// By the full name of the ref, or `session/` and the session's name; the oldest first.
    pub logs: BTreeMap<String, Vec<Update>>,
    pub sessions: BTreeMap<&'static str, Session>,
    pub settings: BTreeMap<&'static str, String>,
    /// The last bundle that was written.
    pub pack: Option<Pack>,
    /// The time of the step.
    pub now: String,
}

/// A memory with changes made.
pub fn with(state: &State, changes: &BTreeMap<NodeId, Held>) -> State {
    let mut state = state.clone();
    for (id, new) in changes {
        match new {
            Some(known) => drop(state.insert(id.clone(), Rc::clone(known))),
            None => drop(state.remove(id)),
        }
    }
    state
}

pub fn branch_ref(name: &str) -> String {
    format!("refs/heads/{name}")
}

pub fn tag_ref(name: &str) -> String {
    format!("refs/tags/{name}")
}

pub fn short(reference: &str) -> &str {
    reference.strip_prefix("refs/heads/").or(reference.strip_prefix("refs/tags/")).unwrap_or(reference)
}

impl Model {
    /// A new store.
    pub fn new() -> Self {
        let head = Head::Branch(branch_ref("main"));
        let row = Row::at(head);
        let mut sessions: BTreeMap<_, _> = SESSIONS.map(|name| (name, Session::default())).into();
        sessions.insert(SESSIONS[0], Session { row: Some(row), ..Session::default() });
        Self {
            history: History::default(),
            made: Vec::new(),
            gone: BTreeSet::new(),
            refs: BTreeMap::new(),
            logs: BTreeMap::new(),
            sessions,
            settings: BTreeMap::new(),
            pack: None,
            now: String::new(),
        }
    }

    /// Where a session stands.
    pub fn head(&self, session: &str) -> Head {
        let own = self.sessions[session].head().or(self.sessions[SESSIONS[0]].head());
        own.expect("the default session stands somewhere").clone()
    }

    pub fn commit_of(&self, head: &Head) -> Option<At> {
        match head {
            Head::Branch(name) => self.refs.get(name).copied(),
            Head::Detached(at) => Some(*at),
        }
    }

    /// The commit on which a session stands.
    pub fn at(&self, session: &str) -> Option<At> {
        self.commit_of(&self.head(session))
    }

    pub fn state_at(&self, at: Option<At>) -> State {
        at.map_or(State::new(), |at| self.history.commits[at].state.clone())
    }

    pub fn state(&self, session: &str) -> State {
        self.state_at(self.at(session))
    }

    /// What HEAD has for an id.
    pub fn held(&self, session: &str, id: &NodeId) -> Held {
        self.state(session).get(id).cloned()
    }

    /// The staged changes that are changes.
    pub fn changes(&self, session: &str) -> BTreeMap<NodeId, Staged> {
        let staged = self.sessions[session].staged.iter().filter(|(_, staged)| staged.is_change());
        staged.map(|(id, staged)| (id.clone(), staged.clone())).collect()
    }

    /// What the session sees.
    pub fn seen(&self, session: &str) -> State {
        let changes = self.changes(session).into_iter().map(|(id, staged)| (id, staged.new));
        with(&self.state(session), &changes.collect())
    }

    pub fn log(&self, name: &str) -> &[Update] {
        self.logs.get(name).map_or(&[], Vec::as_slice)
    }

    pub fn progress(&self, session: &str) -> Option<&Progress> {
        self.sessions[session].row.as_ref()?.progress.as_ref()
    }

    pub fn session(&mut self, session: &str) -> &mut Session {
        self.sessions.get_mut(session).expect("one of the sessions")
    }

    /// What the next transaction of a session writes, if nothing else changes in it.
    pub fn row(&mut self, session: &str) -> &mut Row {
        let head = self.head(session);
        let row = &mut self.session(session).row;
        row.get_or_insert(Row::at(head))
    }

    /// Something is appended to the session's log.
    pub fn append(&mut self, session: &str) {
        let head = self.head(session);
        let own = self.session(session);
        if own.row.is_none() {
            own.begun.get_or_insert(head);
        }
    }

    pub fn words(&self, message: &str) -> Words {
        let author = self.settings.get("author").map_or(USER, String::as_str).to_owned();
        Words { author, time: self.now.clone(), message: message.to_owned() }
    }

    fn log_update(&mut self, name: String, old: Option<At>, new: Option<At>, time: &str, reason: &str) {
        let update = Update { old, new, time: time.to_owned(), reason: reason.to_owned() };
        self.logs.entry(name).or_default().push(update);
    }

    pub fn set_ref(&mut self, name: &str, new: At, time: &str, reason: &str) {
        let old = self.refs.insert(name.to_owned(), new);
        self.log_update(name.to_owned(), old, Some(new), time, reason);
    }

    pub fn remove_ref(&mut self, name: &str, reason: &str) {
        let (old, now) = (self.refs.remove(name), self.now.clone());
        self.log_update(name.to_owned(), old, None, &now, reason);
    }

    pub fn log_head(&mut self, session: &str, old: Option<At>, new: Option<At>, time: &str, reason: &str) {
        self.log_update(format!("session/{session}"), old, new, time, reason);
    }

    /// Moves the branch on which a session stands, or its detached HEAD.
    pub fn advance(&mut self, session: &str, new: At, time: &str, reason: &str) {
        let old = self.at(session);
        match self.row(session).head.clone() {
            Head::Detached(_) => self.row(session).head = Head::Detached(new),
            Head::Branch(name) => self.set_ref(&name, new, time, reason),
        }
        self.log_head(session, old, Some(new), time, reason);
    }

    /// A commit, which may be there already.
    pub fn learn(&mut self, parents: Vec<At>, state: State, words: Words) -> At {
        let Words { author, time, message } = words;
        let state_id = crate::ids::state(&state);
        // What a parent has it has from there, be it redacted there or not.
        let kept = |(id, known): (NodeId, Rc<Known>)| {
            let of_parents = parents.iter().filter_map(|&parent| self.history.commits[parent].state.get(&id));
            let kept = of_parents.into_iter().find(|kept| **kept == known).map_or(known, Rc::clone);
            (id, kept)
        };
        let state: State = state.into_iter().map(kept).collect();
        let names: Vec<_> = parents.iter().map(|&parent| self.made[parent].id.clone()).collect();
        let id = crate::ids::commit(&names, &state_id, &author, &time, &message);
        if let Some(at) = self.there().into_iter().find(|&at| self.made[at].id == id) {
            return at;
        }
        self.made.push(Made { id, state: state_id, author, time, message });
        self.history.add(parents, state)
    }

    /// A commit on top of where a session stands, and of others, to which the session moves.
    pub fn commit_on(
        &mut self,
        session: &str,
        others: &[At],
        changes: &BTreeMap<NodeId, Held>,
        words: Words,
        reason: &str,
    ) -> At {
        let (head, state, time) = (self.at(session), with(&self.state(session), changes), words.time.clone());
        let made = self.learn(head.into_iter().chain(others.iter().copied()).collect(), state, words);
        self.advance(session, made, &time, reason);
        made
    }

    pub fn refuse_in_progress(&self, session: &str) -> Result<(), Refusal> {
        if self.progress(session).is_some() { Err(refused("in-progress")) } else { Ok(()) }
    }

    /// The sessions that stand on a branch by a place of their own.
    pub fn sessions_on(&self, reference: &str) -> Vec<&'static str> {
        let head = Head::Branch(reference.to_owned());
        self.sessions.iter().filter(|(_, session)| session.head() == Some(&head)).map(|(name, _)| *name).collect()
    }

    /// As the log of refs calls a place.
    pub fn place_name(&self, head: &Head) -> String {
        match head {
            Head::Branch(name) => short(name).to_owned(),
            Head::Detached(at) => self.made[*at].id.clone(),
        }
    }

    /// Does what is asked; nothing where that is refused.
    pub fn run(&mut self, step: &Step) -> Outcome {
        let mut after = self.clone();
        after.now = told(step.time);
        let outcome = after.execute(step.session, &step.command);
        if outcome.is_ok() {
            *self = after;
        }
        outcome
    }

    fn execute(&mut self, session: &'static str, command: &Command) -> Outcome {
        match command {
            Command::Init => Ok(vec![rows::init()].into()),
            Command::Put { writes, when, message, dry_run, .. } => {
                let condition = self.condition(session, &writes[0].0, *when);
                match (dry_run, message) {
                    (true, message) => self.try_put(session, writes, &condition, message.is_some()),
                    (false, None) => self.put(session, writes, &condition),
                    (false, Some(message)) => self.put_and_commit(session, writes, &condition, message, false),
                }
            }
            Command::History { groups, rest } => self.put_history(session, groups, rest),
            Command::Every { writes, count, message } => self.put_every(session, writes, *count, message),
            Command::Rm { ids, if_exists, message } => self.rm(session, ids, *if_exists, message.as_deref()),
            Command::RmAll { pattern, if_exists, message } => {
                self.rm_all(session, pattern, *if_exists, message.as_deref())
            }
            Command::Restore { patterns, source } => self.restore(session, patterns, source.as_ref()),
            Command::Commit { message, only, empty, overwrite, author, dry_run } => {
                let mut words = self.words(message);
                words.author = author.clone().unwrap_or(words.author);
                if *dry_run {
                    self.try_commit(session, only, *empty, *overwrite)
                } else {
                    self.commit(session, words, only, *empty, *overwrite)
                }
            }
            Command::Amend { message, only, overwrite, author } => {
                self.amend(session, message.as_deref(), author.as_deref(), only, *overwrite)
            }
            Command::Branch { name, at, force } => self.branch(session, name, at.as_ref(), *force),
            Command::Delete { names, force } => self.delete(session, names, *force),
            Command::Rename { old, new, force } => self.rename(session, old.as_deref(), new, *force),
            Command::Switch(name) => self.switch(session, name),
            Command::Create { name, at, force } => self.create(session, name, at.as_ref(), *force),
            Command::Detach(to) => self.detach(session, to),
            Command::Back => self.back(session),
            Command::Tag { name, at, message, force } => {
                self.tag(session, name, at.as_ref(), message.as_deref(), *force)
            }
            Command::Untag(names) => self.untag(names),
            Command::Merge { other, forward, unrelated, message, dry_run } => {
                self.merge(session, other, *forward, *unrelated, message.as_deref(), *dry_run)
            }
            Command::Revert { commits, mainline, message } => {
                self.revert(session, commits, mainline.unwrap_or(0), message.as_deref())
            }
            Command::Undo { .. } => panic!("what comes of it is not foreseen"),
            Command::Settle { underway, choices } => self.settle(session, *underway, choices),
            Command::Continue { underway, message } => self.conclude(session, *underway, message.as_deref()),
            Command::Abort(underway) => self.abort(session, *underway),
            Command::Reset { to, hard } => self.reset(session, to.as_ref(), *hard),
            Command::Import { of, replace, message, .. } => self.import(session, of, *replace, message.as_deref()),
            Command::StartSearch { bad, good, only } => self.start_search(session, bad.as_ref(), good, only.as_ref()),
            Command::Mark(marked, revs) => self.mark(session, *marked, revs),
            Command::Unmark => self.unmark(session),
            Command::EndSearch => self.end_search(session),
            Command::Pack => self.pack(),
            Command::Unpack { prefix, dry_run } => self.unpack(*prefix, *dry_run),
            Command::Redact { ids, source, reason } => self.redact(ids, source.as_deref(), reason.as_deref()),
            Command::Gc { days, dry_run } => self.gc(self.days(*days), *dry_run),
            Command::Config { key, value } => {
                match value {
                    Some(value) => drop(self.settings.insert(key, value.clone())),
                    None => drop(self.settings.remove(key)),
                }
                Ok(Answer::default())
            }
        }
    }
}
