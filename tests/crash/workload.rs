//! Commands as a user gives them, what they must come to, and what a store shows.

use crate::disk::{Event, SimulatedDisk};
use crate::image::Image;
use mnemosyne::graph::Revision;
use mnemosyne::model::{
    Author, BranchName, CommitTime, Content, ContentKind, Message, Node, NodeId, Pattern, Provenance, SessionName,
    TagName,
};
use mnemosyne::object::{ObjectId, Source, encode_node, leaves, node_object_id};
use mnemosyne::ops::{self, AmendRequest, CommitRequest, Condition, Group, OpError, ResetMode, Target, Write};
use mnemosyne::store::{Access, CommitWords, Number, Redacting, Store, StoreError, Tables, create_tables};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::RangeInclusive;

/// The sessions that write.
pub const SESSIONS: [&str; 2] = ["default", "second"];

/// One command of one session, which is named first.
#[derive(Clone, Debug)]
pub enum Command {
    /// Stages contents, or removals, in one batch.
    Put(&'static str, Vec<(&'static str, Option<String>)>),
    /// Commits all that is staged.
    Commit(&'static str),
    /// Commits what is staged for one id.
    CommitOnly(&'static str, &'static str),
    /// Takes back what is staged for one id.
    Restore(&'static str, &'static str),
    /// Puts and commits at once.
    PutCommit(&'static str, &'static str, String),
    /// Puts several and makes a commit of each, all at once.
    Batch(&'static str, Vec<(&'static str, String)>),
    /// Takes the place of the last commit, with all that is staged.
    Amend(&'static str),
    /// Goes so many commits back, and stages what is left behind or drops all.
    Reset(&'static str, usize, ResetMode),
    /// Stands on a new branch, or moves one that is there, so many commits back.
    SwitchTo(&'static str, &'static str, usize),
    /// Stands on a branch that is there.
    Switch(&'static str, &'static str),
    /// Renames a branch.
    Rename(&'static str, &'static str),
    /// Deletes a branch.
    Delete(&'static str),
    /// Sets a tag to where the first session stands, or moves it there.
    Tag(&'static str),
    /// Deletes a tag.
    DeleteTag(&'static str),
    /// Writes the store anew without what nothing names, movements of refs least of all.
    Gc,
    /// Redacts an id, in all sessions.
    Redact(&'static str),
}

/// What stands: which object each id has.
pub type Memory = BTreeMap<String, ObjectId>;

/// A commit: what it says, and the memory with it.
pub type Made = (String, Memory);

/// What a store comes to, for whoever looks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// The commits behind each branch and tag, the first one first.
    pub refs: BTreeMap<String, Vec<Made>>,
    /// The branch on which each session stands.
    pub heads: BTreeMap<&'static str, String>,
    /// What is staged in each session, `None` for a removal.
    pub staged: BTreeMap<&'static str, BTreeMap<String, Option<ObjectId>>>,
}

pub fn session(name: &str) -> SessionName {
    SessionName::new(name).expect("a name")
}

pub fn id(name: &str) -> NodeId {
    NodeId::new(name).expect("an id")
}

pub fn node(name: &str, text: &str) -> Node {
    Node {
        id: id(name),
        content: Content::from_text(text),
        content_kind: ContentKind::Note,
        provenance: Provenance::default(),
        event_time: None,
    }
}

pub fn object_of(name: &str, text: &str) -> ObjectId {
    node_object_id(&encode_node(&node(name, text)))
}

/// Author, time and message of the commit that a session makes next.
pub fn words(state: &State, session: &str) -> CommitWords {
    let count = state.line(session).len();
    CommitWords {
        author: Author::new("a").expect("an author"),
        time: CommitTime::new(1_700_000_000_000 + i64::try_from(count).expect("few"), 0).expect("a time"),
        message: Message::new(&format!("commit {count}")).expect("a message"),
    }
}

impl State {
    /// The state of a new store.
    pub fn new() -> Self {
        let staged = SESSIONS.iter().map(|session| (*session, BTreeMap::new())).collect();
        let heads = SESSIONS.iter().map(|session| (*session, branch_ref("main"))).collect();
        Self { refs: BTreeMap::new(), heads, staged }
    }

    /// The commits behind the branch of a session, the first one first.
    fn line(&self, session: &str) -> &[Made] {
        self.refs.get(&self.heads[session]).map_or(&[], Vec::as_slice)
    }

    /// The memory at the HEAD of a session.
    fn head(&self, session: &str) -> Memory {
        self.line(session).last().map(|(_, memory)| memory.clone()).unwrap_or_default()
    }

    /// The memory that a session sees.
    fn seen(&self, session: &str) -> Memory {
        changed(self.head(session), self.staged[session].clone())
    }

    /// Lets the branch of a session have just these commits.
    fn set_line(&mut self, session: &str, line: Vec<Made>) {
        let head = self.heads[session].clone();
        self.refs.insert(head, line);
    }

    /// Stages what differs between what `session` sees by `memory` and its HEAD.
    fn stage(&mut self, session: &'static str, memory: &Memory) {
        let head = self.head(session);
        let ids = head.keys().chain(memory.keys());
        let staged = ids.filter(|id| head.get(*id) != memory.get(*id)).map(|id| (id.clone(), memory.get(id).copied()));
        let staged = staged.collect();
        *self.staged(session) = staged;
    }

    fn staged(&mut self, session: &'static str) -> &mut BTreeMap<String, Option<ObjectId>> {
        self.staged.get_mut(session).expect("a session of the workload")
    }

    fn add_commit(&mut self, session: &str, changes: BTreeMap<String, Option<ObjectId>>) {
        let made = (words(self, session).message.as_str().to_owned(), changed(self.head(session), changes));
        let line = [self.line(session), &[made]].concat();
        self.set_line(session, line);
    }

    /// The state after a command. No two sessions stage the same id.
    pub fn after(&self, command: &Command) -> Self {
        let mut state = self.clone();
        match command {
            Command::Put(session, rows) => {
                for (id, text) in rows {
                    let object = text.as_ref().map(|text| object_of(id, text));
                    if state.head(session).get(*id) == object.as_ref() {
                        state.staged(session).remove(*id);
                    } else {
                        state.staged(session).insert((*id).to_owned(), object);
                    }
                }
            }
            Command::Commit(session) => {
                let changes = std::mem::take(state.staged(session));
                state.add_commit(session, changes);
            }
            Command::CommitOnly(session, id) => {
                let chosen = state.staged(session).remove_entry(*id);
                state.add_commit(session, chosen.into_iter().collect());
            }
            Command::Restore(session, id) => drop(state.staged(session).remove(*id)),
            Command::PutCommit(session, id, text) => {
                state.staged(session).remove(*id);
                state.add_commit(session, [((*id).to_owned(), Some(object_of(id, text)))].into());
            }
            Command::Batch(session, rows) => {
                for (id, text) in rows {
                    state = state.after(&Command::PutCommit(session, id, text.clone()));
                }
            }
            Command::Amend(session) => {
                let made = (words(self, session).message.as_str().to_owned(), self.seen(session));
                state.staged(session).clear();
                let line = self.line(session);
                state.set_line(session, [&line[..line.len() - 1], &[made]].concat());
            }
            Command::Reset(session, count, mode) => {
                let line = self.line(session);
                state.set_line(session, line[..line.len() - count].to_vec());
                match mode {
                    ResetMode::Soft => state.stage(session, &self.seen(session)),
                    ResetMode::Hard => state.staged(session).clear(),
                }
            }
            Command::SwitchTo(session, name, count) => {
                let line = self.line(session);
                let line = line[..line.len() - count].to_vec();
                state.heads.insert(session, branch_ref(name));
                state.set_line(session, line);
                state.settle(session);
            }
            Command::Switch(session, name) => {
                state.heads.insert(session, branch_ref(name));
                state.settle(session);
            }
            Command::Rename(old, new) => {
                let line = state.refs.remove(&branch_ref(old)).expect("a branch of the workload");
                state.refs.insert(branch_ref(new), line);
                for head in state.heads.values_mut().filter(|head| **head == branch_ref(old)) {
                    *head = branch_ref(new);
                }
            }
            Command::Delete(name) => drop(state.refs.remove(&branch_ref(name))),
            Command::Tag(name) => drop(state.refs.insert(tag_ref(name), self.line(SESSIONS[0]).to_vec())),
            Command::DeleteTag(name) => drop(state.refs.remove(&tag_ref(name))),
            // Which object each id has is as before.
            Command::Gc | Command::Redact(_) => {}
        }
        state
    }

    /// What is staged and stands in HEAD is staged no longer.
    fn settle(&mut self, session: &'static str) {
        let head = self.head(session);
        self.staged(session).retain(|id, object| head.get(id) != object.as_ref());
    }
}

fn branch_ref(name: &str) -> String {
    format!("refs/heads/{name}")
}

fn tag_ref(name: &str) -> String {
    format!("refs/tags/{name}")
}

fn changed(mut memory: Memory, changes: BTreeMap<String, Option<ObjectId>>) -> Memory {
    for (id, object) in changes {
        match object {
            Some(object) => drop(memory.insert(id, object)),
            None => drop(memory.remove(&id)),
        }
    }
    memory
}

/// Executes a command on the store whose state is `state`, as the binary does.
pub fn execute(store: &Store<SimulatedDisk>, state: &State, command: &Command) -> Result<(), OpError> {
    let pattern = |id: &str| vec![Pattern::parse(id, true).expect("a pattern")];
    let time = CommitTime::new(1_700_000_000_000, 0).expect("a time");
    let first = session(SESSIONS[0]);
    let revision = |text: &str| Revision::parse(text, &|_| None).expect("a revision");
    let branch = |name: &str| BranchName::new(name).expect("a name");
    let commit = |name: &str, only| {
        let request = CommitRequest { words: words(state, name), allow_empty: false, only, overwrite: false };
        ops::commit(store, &session(name), &request).map(drop)
    };
    match command {
        Command::Put(name, rows) => {
            let write = |(name, text): &(&str, Option<String>)| match text {
                Some(text) => Write::Set(node(name, text)),
                None => Write::Remove(id(name)),
            };
            ops::put(store, &session(name), rows.iter().map(write).collect(), Condition::Any).map(drop)
        }
        Command::Commit(name) => commit(name, Vec::new()),
        Command::CommitOnly(name, id) => commit(name, pattern(id)),
        Command::Restore(name, id) => ops::restore(store, &session(name), &pattern(id), None).map(drop),
        Command::PutCommit(name, id, text) => {
            let write = vec![Write::Set(node(id, text))];
            ops::put_and_commit(store, &session(name), write, Condition::Any, &words(state, name)).map(drop)
        }
        Command::Batch(name, rows) => {
            let mut state = state.clone();
            let mut groups = Vec::new();
            for (id, text) in rows {
                groups.push(Group {
                    writes: vec![Write::Set(node(id, text))],
                    words: words(&state, name),
                    skip_empty: false,
                });
                state = state.after(&Command::PutCommit(name, id, text.clone()));
            }
            ops::batch(store, &session(name), groups, Vec::new()).map(drop)
        }
        Command::Amend(name) => {
            let CommitWords { author, time, message } = words(state, name);
            let (author, message) = (Some(author), Some(message));
            let request = AmendRequest { author, message, time, only: Vec::new(), overwrite: false };
            ops::amend(store, &session(name), &request).map(drop)
        }
        Command::Reset(name, count, mode) => {
            ops::reset(store, &session(name), &revision(&format!("HEAD~{count}")), *mode, time).map(drop)
        }
        Command::SwitchTo(name, to, count) => {
            let target = Target::ForceCreate(branch(to), Some(revision(&format!("HEAD~{count}"))));
            ops::switch(store, &session(name), &target, time).map(drop)
        }
        Command::Switch(name, to) => {
            ops::switch(store, &session(name), &Target::Branch(branch(to), revision(to)), time).map(drop)
        }
        Command::Rename(old, new) => {
            ops::rename_branch(store, &first, Some(&branch(old)), &branch(new), false, time).map(drop)
        }
        Command::Delete(name) => ops::delete_branches(store, &first, &[branch(name)], true, time).map(drop),
        Command::Tag(name) => {
            let name = TagName::new(name).expect("a name");
            let message = Message::new("a word").expect("a message");
            ops::create_tag(store, &first, &name, &Revision::head(), Some(&message), true, time).map(drop)
        }
        Command::DeleteTag(name) => ops::delete_tags(store, &[TagName::new(name).expect("a name")], time).map(drop),
        Command::Gc => {
            let later = CommitTime::new(1_800_000_000_000, 0).expect("a time");
            ops::gc(store, later, false).map(drop)
        }
        Command::Redact(name) => {
            let (ids, by) = (vec![id(name)], Author::new("a").expect("an author"));
            ops::redact(store, &Redacting { ids, source: None, time, by, reason: None }).map(drop)
        }
    }
}

/// What the store shows to each of its sessions.
pub fn observe(store: &Store<SimulatedDisk>) -> Result<State, OpError> {
    let mut state = State::default();
    for name in SESSIONS {
        let (head, staged) = store.read(&session(name), |view| {
            let head = view.head.branch().expect("no session of the workload stands elsewhere").to_owned();
            let changes = view.changes()?.into_iter();
            Ok::<_, OpError>((head, changes.map(|(id, change)| (id.to_string(), change.version())).collect()))
        })?;
        state.heads.insert(name, head);
        state.staged.insert(name, staged);
    }
    state.refs = store.read(&SessionName::default(), |view| {
        let mut memories = BTreeMap::new();
        let mut refs = BTreeMap::new();
        for (name, tip) in view.tables.references("refs/")? {
            let mut line = Vec::new();
            let mut at = Some(tip);
            while let Some(number) = at {
                let commit = view.tables.commit(number)?;
                if let Entry::Vacant(place) = memories.entry(number) {
                    place.insert(memory(view.tables, number)?);
                }
                line.insert(0, (commit.message.as_str().to_owned(), memories[&number].clone()));
                at = commit.parents.first().copied();
            }
            // What a tag says is in the log of its ref.
            if name.starts_with("refs/tags/") {
                let update = view.tables.last_update(&name)?.map(|(_, update)| update.reason);
                assert_eq!(update.as_deref(), Some("tag: a word"));
            }
            refs.insert(name, line);
        }
        Ok::<_, OpError>(refs)
    })?;
    Ok(state)
}

fn memory<A: Access>(tables: &Tables<A>, commit: Number) -> Result<Memory, StoreError> {
    let mut memory = Memory::new();
    leaves(tables, tables.root(Some(commit))?, |(number, object)| {
        memory.insert(tables.node_id(number, object)?.to_string(), object);
        Ok(())
    })?;
    Ok(memory)
}

/// A new store, closed and durable.
pub fn new_store() -> Image {
    let disk = SimulatedDisk::new(Image::empty());
    create_tables(disk.database(), &BranchName::new("main").expect("a name")).expect("a new store");
    disk.image()
}

/// What happened on a disk while commands were executed one after the other.
#[derive(Clone, Debug)]
pub struct History {
    /// The disk before.
    pub start: Image,
    /// All that was done to it.
    pub events: Vec<Event>,
    /// The states before, between and after the commands.
    pub states: Vec<State>,
    /// How many events there were when a command was acknowledged, for each.
    pub acknowledged: Vec<usize>,
}

/// How a command is executed, on a store with a known state.
pub type Execute = fn(&Store<SimulatedDisk>, &State, &Command) -> Result<(), OpError>;

impl History {
    /// Executes the commands on a new store.
    pub fn record(commands: &[Command], execute: Execute) -> Self {
        let start = new_store();
        let disk = SimulatedDisk::new(start.clone());
        let (mut states, mut acknowledged) = (vec![State::new()], Vec::new());
        for command in commands {
            let state = states.last().expect("the first");
            execute(&disk.store(), state, command).unwrap_or_else(|error| panic!("{command:?}: {error:?}"));
            states.push(state.after(command));
            acknowledged.push(disk.events().len());
        }
        Self { start, events: disk.events(), states, acknowledged }
    }

    /// The same on a disk that says that it did some of the events, and has not.
    pub fn without(&self, mut lost: impl FnMut(usize, &Event) -> bool) -> Self {
        let keep: Vec<bool> = self.events.iter().enumerate().map(|(at, event)| !lost(at, event)).collect();
        let events = self.events.iter().zip(&keep).filter(|(_, keep)| **keep).map(|(event, _)| event.clone()).collect();
        let left = |end: &usize| keep[..*end].iter().filter(|keep| **keep).count();
        let acknowledged = self.acknowledged.iter().map(left).collect();
        Self { events, acknowledged, ..self.clone() }
    }

    /// How many events there may be while one of these commands is under way.
    pub fn moments(&self, commands: RangeInclusive<usize>) -> RangeInclusive<usize> {
        let before = commands.start().checked_sub(1).map_or(0, |last| self.acknowledged[last]);
        before..=self.acknowledged[*commands.end()]
    }

    /// All that it has.
    pub fn all_moments(&self) -> RangeInclusive<usize> {
        0..=self.events.len()
    }

    /// The states that a crash may leave after so many events: that after the last acknowledged command, and that after
    /// the command in flight, if there is one.
    pub fn allowed(&self, events: usize) -> &[State] {
        let done = self.acknowledged.iter().filter(|end| **end <= events).count();
        let in_flight =
            done < self.acknowledged.len() && done.checked_sub(1).map_or(0, |last| self.acknowledged[last]) < events;
        &self.states[done..=done + usize::from(in_flight)]
    }
}

fn text(seed: usize, length: usize) -> String {
    let letters = "abcdefghijklmnopqrstuvwxyz \n".chars().cycle().skip(seed % 28);
    letters.take(length).collect()
}

fn put(session: &'static str, id: &'static str, text: String) -> Command {
    Command::Put(session, vec![(id, Some(text))])
}

/// Every kind of command, in two sessions.
pub fn small() -> Vec<Command> {
    let [first, second] = SESSIONS;
    vec![
        put(first, "a", text(1, 40)),
        Command::Put(first, vec![("b", Some(text(2, 900))), ("c", Some(text(3, 30))), ("b", Some(text(4, 700)))]),
        Command::Commit(first),
        put(second, "s/a", text(5, 60)),
        put(first, "a", text(6, 50)),
        Command::Put(first, vec![("b", None), ("d", Some(text(7, 1300))), ("e", Some(text(8, 20)))]),
        Command::CommitOnly(first, "d"),
        Command::Restore(first, "e"),
        put(second, "s/b", text(9, 2000)),
        Command::PutCommit(first, "a", text(10, 80)),
        Command::PutCommit(first, "f", text(11, 5000)),
        Command::Commit(second),
        put(second, "s/a", text(12, 10)),
        Command::Commit(first),
        put(first, "a", text(14, 10)),
        put(first, "a", text(10, 80)),
        Command::Batch(first, vec![("g", text(16, 50)), ("a", text(17, 50)), ("h", text(18, 50))]),
    ]
}

/// Which of [`moves`] is a switch to where a staged change stands already; an amendment follows.
pub const SETTLES: usize = 7;

/// Which of [`moves`] stages what it leaves behind.
pub const SOFT_RESET: usize = 11;

/// Every kind of command that moves branches and tags.
pub fn moves() -> Vec<Command> {
    let [first, second] = SESSIONS;
    vec![
        Command::Batch(first, vec![("a", text(1, 50)), ("b", text(2, 900)), ("a", text(3, 50))]),
        Command::SwitchTo(second, "side", 1),
        Command::Tag("t"),
        put(second, "s/a", text(4, 60)),
        Command::Commit(second),
        // What is staged is what the other branch has for one id, and a change there for the other.
        Command::Put(first, vec![("s/a", Some(text(4, 60))), ("c", Some(text(5, 700)))]),
        Command::SwitchTo(first, "main", 1),
        Command::Switch(first, "side"),
        Command::Amend(first),
        Command::Tag("t"),
        put(first, "d", text(6, 40)),
        Command::Reset(first, 1, ResetMode::Soft),
        Command::SwitchTo(first, "main", 0),
        Command::Rename("side", "aside"),
        Command::Commit(first),
        put(first, "b", text(7, 300)),
        Command::Reset(first, 1, ResetMode::Hard),
        Command::Switch(second, "main"),
        Command::Delete("aside"),
        Command::DeleteTag("t"),
    ]
}

/// What no file holds once it is redacted.
pub const SECRET: &str = "what nobody is to know";

/// Which of [`rewritten`] redacts; nothing secret is written after it.
pub const REDACTS: usize = 7;

/// A store that is written anew, with commits that are dropped and a node that is redacted.
pub fn rewritten() -> Vec<Command> {
    let [first, second] = SESSIONS;
    vec![
        Command::Batch(first, vec![("a", format!("{SECRET} 1")), ("b", text(2, 900)), ("a", text(3, 50))]),
        put(second, "s/a", text(4, 60)),
        Command::PutCommit(first, "c", text(5, 5000)),
        Command::Reset(first, 1, ResetMode::Hard),
        put(first, "a", format!("{SECRET} 2")),
        Command::Gc,
        Command::PutCommit(first, "d", text(6, 300)),
        Command::Redact("a"),
        Command::Commit(first),
        Command::Commit(second),
        Command::Gc,
    ]
}

/// A log that is folded, and a value for which the database file grows.
pub fn large() -> Vec<Command> {
    let [first, second] = SESSIONS;
    vec![
        put(second, "s/a", text(1, 10)),
        put(first, "b", text(2, 20)),
        put(first, "a", text(3, 1_010_000)),
        put(first, "a", text(4, 1_010_000)),
        put(first, "a", text(5, 10)),
        put(first, "c", text(6, 40_000)),
        put(first, "d", text(7, 30)),
        put(first, "e", text(8, 40)),
        Command::Commit(first),
        put(first, "a", text(9, 20)),
        Command::PutCommit(second, "s/b", text(10, 500_000)),
        Command::Commit(second),
        Command::Commit(first),
    ]
}

/// A log of much that is consumed and one live frame of two ids, which is folded when `last` takes one of the two.
fn folded_by(last: Command) -> Vec<Command> {
    let [first, _] = SESSIONS;
    let big = |seed| ("a", Some(text(seed, 1_000_000)));
    vec![
        Command::Put(first, vec![big(1), ("b", Some(text(2, 10))), ("c", Some(text(3, 8_000)))]),
        Command::CommitOnly(first, "a"),
        Command::Put(first, vec![big(4)]),
        Command::CommitOnly(first, "a"),
        last,
        put(first, "d", text(5, 10)),
        Command::Commit(first),
    ]
}

/// A log that is folded when a part of what is staged is committed.
pub fn folded_by_a_commit() -> Vec<Command> {
    folded_by(Command::CommitOnly(SESSIONS[0], "b"))
}

/// A log that is folded when a node is put and committed, and another stays staged.
pub fn folded_by_a_put_and_commit() -> Vec<Command> {
    folded_by(Command::PutCommit(SESSIONS[0], "b", text(6, 10)))
}

/// A log that is folded when a history is put, and another node stays staged.
pub fn folded_by_a_batch() -> Vec<Command> {
    folded_by(Command::Batch(SESSIONS[0], vec![("b", text(6, 10)), ("e", text(7, 10))]))
}
