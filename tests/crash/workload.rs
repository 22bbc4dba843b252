//! Commands as a user gives them, what they must come to, and what a store shows.

use crate::disk::{Event, SimulatedDisk};
use crate::image::Image;
use mnemosyne::model::{
    Author, BranchName, CommitTime, Content, ContentKind, Message, Node, NodeId, Pattern, Provenance, SessionName,
};
use mnemosyne::object::{ObjectId, Source, encode_node, leaves, node_object_id};
use mnemosyne::ops::{self, CommitRequest, Condition, Group, LogFilter, OpError, Write};
use mnemosyne::store::{CommitWords, Store, create_tables};
use std::collections::BTreeMap;

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
}

/// What stands: which object each id has.
pub type Memory = BTreeMap<String, ObjectId>;

/// What a store comes to, for whoever looks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// The memory at HEAD.
    pub head: Memory,
    /// What is staged in each session, `None` for a removal.
    pub staged: BTreeMap<&'static str, BTreeMap<String, Option<ObjectId>>>,
    /// The messages of the commits, the first one first.
    pub commits: Vec<String>,
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

/// Author, time and message of the commit that a state gets next.
pub fn words(state: &State) -> CommitWords {
    let count = state.commits.len();
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
        Self { staged, ..Self::default() }
    }

    fn staged(&mut self, session: &'static str) -> &mut BTreeMap<String, Option<ObjectId>> {
        self.staged.get_mut(session).expect("a session of the workload")
    }

    fn add_commit(&mut self, changes: BTreeMap<String, Option<ObjectId>>) {
        self.commits.push(words(self).message.as_str().to_owned());
        for (id, object) in changes {
            match object {
                Some(object) => drop(self.head.insert(id, object)),
                None => drop(self.head.remove(&id)),
            }
        }
    }

    /// The state after a command. No two sessions stage the same id.
    pub fn after(&self, command: &Command) -> Self {
        let mut state = self.clone();
        match command {
            Command::Put(session, rows) => {
                for (id, text) in rows {
                    let object = text.as_ref().map(|text| object_of(id, text));
                    if state.head.get(*id) == object.as_ref() {
                        state.staged(session).remove(*id);
                    } else {
                        state.staged(session).insert((*id).to_owned(), object);
                    }
                }
            }
            Command::Commit(session) => {
                let changes = std::mem::take(state.staged(session));
                state.add_commit(changes);
            }
            Command::CommitOnly(session, id) => {
                let chosen = state.staged(session).remove_entry(*id);
                state.add_commit(chosen.into_iter().collect());
            }
            Command::Restore(session, id) => drop(state.staged(session).remove(*id)),
            Command::PutCommit(session, id, text) => {
                state.staged(session).remove(*id);
                state.add_commit([((*id).to_owned(), Some(object_of(id, text)))].into());
            }
            Command::Batch(session, rows) => {
                for (id, text) in rows {
                    state = state.after(&Command::PutCommit(session, id, text.clone()));
                }
            }
        }
        state
    }
}

/// Executes a command on the store whose state is `state`, as the binary does.
pub fn execute(store: &Store<SimulatedDisk>, state: &State, command: &Command) -> Result<(), OpError> {
    let pattern = |id: &str| vec![Pattern::parse(id, true).expect("a pattern")];
    let commit = |name: &str, only| {
        let request = CommitRequest { words: words(state), allow_empty: false, only, overwrite: false };
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
            ops::put_and_commit(store, &session(name), write, Condition::Any, &words(state)).map(drop)
        }
        Command::Batch(name, rows) => {
            let mut state = state.clone();
            let mut groups = Vec::new();
            for (id, text) in rows {
                groups.push(Group {
                    writes: vec![Write::Set(node(id, text))],
                    words: words(&state),
                    skip_empty: false,
                });
                state = state.after(&Command::PutCommit(name, id, text.clone()));
            }
            ops::batch(store, &session(name), groups, Vec::new()).map(drop)
        }
    }
}

/// What the store shows to each of its sessions.
pub fn observe(store: &Store<SimulatedDisk>) -> Result<State, OpError> {
    let mut state = State::default();
    for name in SESSIONS {
        let (head, staged) = store.read(&session(name), |view| {
            let mut head = Memory::new();
            let root = view.tables.root(view.head_commit()?)?;
            leaves(view.tables, root, |(number, object)| {
                head.insert(view.tables.node_id(number, object)?.to_string(), object);
                Ok(())
            })?;
            let changes = view.changes()?.into_iter();
            Ok::<_, OpError>((head, changes.map(|(id, change)| (id.to_string(), change.version())).collect()))
        })?;
        state.head = head;
        state.staged.insert(name, staged);
    }
    let log = ops::log(store, &SessionName::default(), &LogFilter { reverse: true, ..LogFilter::default() })?;
    state.commits = log.entries.iter().map(|entry| entry.commit.message.as_str().to_owned()).collect();
    Ok(state)
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
        Command::PutCommit(second, "s/a", text(13, 10)),
        put(first, "a", text(14, 10)),
        put(first, "a", text(10, 80)),
        put(first, "c", text(15, 100)),
        Command::CommitOnly(first, "c"),
        Command::Batch(first, vec![("g", text(16, 50)), ("a", text(17, 50)), ("h", text(18, 50))]),
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
