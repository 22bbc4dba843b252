//! What another session commits after a command looked and before it writes.

use super::place::Place;
use mnemosyne::graph::Revision;
use mnemosyne::model::{Author, CommitTime, Content, ContentKind, Message, Node, NodeId, Provenance, SessionName};
use mnemosyne::object::{encode_node, node_object_id};
use mnemosyne::ops::{
    Condition, ImportRequest, OpError, ResetMode, Write, gc, import, import_and_commit, put, put_and_commit, reset,
};
use mnemosyne::store::{CommitWords, Disk, FileId, Files, LogError, LogView, Opened, StagedLog, Store, StoreError};
use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const LONG: Duration = Duration::from_secs(60);

type Act = Box<dyn FnOnce() + Send>;

/// The files of a store. Something happens the first time that the database is opened for writing: before that, or behind
/// it, when the file is open and nobody has locked it.
#[derive(Clone)]
struct Between {
    files: Files,
    act: Arc<Mutex<Option<Act>>>,
    is_late: bool,
}

impl fmt::Debug for Between {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.files.fmt(f)
    }
}

impl Disk for Between {
    type Database = <Files as Disk>::Database;
    type Log = <Files as Disk>::Log;

    fn directory(&self) -> &Path {
        self.files.directory()
    }

    fn open_database(&self, write: bool) -> Result<Opened<Self::Database>, StoreError> {
        let act = if write { self.act.lock().expect("no panic").take() } else { None };
        let late = if self.is_late { self.files.open_database(write).map(Some) } else { Ok(None) };
        if let Some(act) = act {
            act();
        }
        late?.map_or_else(|| self.files.open_database(write), Ok)
    }

    fn database_id(&self) -> Result<FileId, StoreError> {
        self.files.database_id()
    }

    fn database_bytes(&self) -> Result<u64, StoreError> {
        self.files.database_bytes()
    }

    fn create_successor(&self) -> Result<Self::Database, StoreError> {
        self.files.create_successor()
    }

    fn install_successor(&self) -> Result<(), StoreError> {
        self.files.install_successor()
    }

    fn remove_successor(&self) -> Result<(), StoreError> {
        self.files.remove_successor()
    }

    fn logs(&self) -> Result<Vec<SessionName>, LogError> {
        self.files.logs()
    }

    fn has_log(&self, session: &SessionName) -> bool {
        self.files.has_log(session)
    }

    fn lock_log(&self, session: &SessionName, wait: Duration) -> Result<StagedLog<Self::Log>, LogError> {
        self.files.lock_log(session, wait)
    }

    fn read_log(&self, session: &SessionName, wait: Option<Duration>) -> Result<LogView, LogError> {
        self.files.read_log(session, wait)
    }
}

fn session(name: &str) -> SessionName {
    SessionName::new(name).expect("a name")
}

fn node(id: &str, text: &str) -> Node {
    Node {
        id: NodeId::new(id).expect("an id"),
        content: Content::from_text(text),
        content_kind: ContentKind::Note,
        provenance: Provenance::default(),
        event_time: None,
    }
}

fn words() -> CommitWords {
    CommitWords {
        author: Author::new("A").expect("an author"),
        time: CommitTime::parse("2026-01-02T03:04:05.000+00:00").expect("a time"),
        message: Message::new("m").expect("a message"),
    }
}

fn commit<D: Disk>(store: &Store<D>, name: &str, node: Node, condition: Condition) -> Result<(), OpError> {
    put_and_commit(store, &session(name), vec![Write::Set(node)], condition, &words()).map(drop)
}

/// The store of `place`, in which the session `other` commits `nodes` when somebody else begins to write.
fn beside(place: &Place, nodes: Vec<Node>) -> Store<Between> {
    let files = Files::new(place.store());
    let other = Store::on(files.clone(), LONG);
    let act: Act = Box::new(move || {
        let writes = nodes.into_iter().map(Write::Set).collect();
        put_and_commit(&other, &session("other"), writes, Condition::Any, &words()).expect("a commit");
    });
    Store::on(Between { files, act: Arc::new(Mutex::new(Some(act))), is_late: false }, LONG)
}

#[test]
fn who_has_opened_a_file_that_another_takes_the_place_of_writes_into_that() {
    let place = Place::new();
    place.ok(&["put", "k", "base", "-m", "base"]);
    for (name, count) in [("s", 2), ("t", 3)] {
        let other = Store::on(Files::new(place.store()), LONG);
        let act: Act = Box::new(move || {
            gc(&other, words().time, false).expect("written anew");
        });
        let between = Between { files: Files::new(place.store()), act: Arc::new(Mutex::new(Some(act))), is_late: true };
        commit(&Store::on(between, LONG), name, node(name, "v"), Condition::Any).expect("a commit");
        assert_eq!((place.commits(), place.ok(&["get", name])), (count, "v".to_owned()));
    }
}

/// Where a commit that was seen is dropped before it is named, nothing names it.
#[test]
fn a_commit_that_was_dropped_meanwhile_is_not_named() {
    let place = Place::new();
    place.ok(&["put", "k", "base", "-m", "base"]);
    place.ok(&["branch", "late"]);
    place.ok(&["put", "k", "more", "-m", "more"]);
    let lost = place.ok(&["rev-parse", "HEAD"]);
    place.ok(&["switch", "late"]);
    place.ok(&["branch", "-D", "main"]);
    let other = Store::on(Files::new(place.store()), LONG);
    // Later than all that the log of a ref tells, so that only the last of each counts.
    let late = CommitTime::parse("2030-01-02T03:04:05.000+00:00").expect("a time");
    let act: Act = Box::new(move || {
        assert_eq!(gc(&other, late, false).expect("written anew").dropped.commits, 1);
    });
    let between = Between { files: Files::new(place.store()), act: Arc::new(Mutex::new(Some(act))), is_late: false };
    let revision = Revision::parse(lost.trim(), &|_| None).expect("a revision");
    let store = Store::on(between, LONG);
    let head = place.ok(&["rev-parse", "HEAD"]);
    let refused = reset(&store, &session("default"), &revision, ResetMode::Hard, words().time);
    assert!(matches!(&refused, Err(OpError::Store(StoreError::Gone))), "{refused:?}");
    assert_eq!(place.ok(&["rev-parse", "HEAD"]), head);
}

#[test]
fn a_put_that_commits_is_refused_where_the_staged_node_has_changed_by_then() {
    let place = Place::new();
    place.ok(&["put", "k", "base", "-m", "base"]);
    place.ok(&["put", "k", "staged", "--session", "s"]);
    let store = beside(&place, vec![node("k", "of another")]);
    let refused = commit(&store, "s", node("k", "final"), Condition::Any);
    assert!(matches!(&refused, Err(OpError::Conflict(ids)) if ids[..] == [node("k", "").id]), "{refused:?}");
    assert_eq!(place.ok(&["get", "k", "-r", "HEAD"]), "of another");
    assert_eq!(place.ok(&["get", "k", "--session", "s"]), "staged");
}

#[test]
fn a_condition_is_asked_when_it_is_written() {
    let place = Place::new();
    place.ok(&["put", "k", "base", "-m", "base"]);
    let store = beside(&place, vec![node("k", "of another")]);
    let base = node_object_id(&encode_node(&node("k", "base")));
    let refused = commit(&store, "s", node("k", "final"), Condition::Is(base));
    assert!(matches!(&refused, Err(OpError::Precondition { .. })), "{refused:?}");
    assert_eq!(place.ok(&["get", "k"]), "of another");
}

#[test]
fn an_import_replaces_what_another_has_committed_by_then() {
    let place = Place::new();
    place.ok(&["put", "old", "v", "-m", "base"]);
    place.ok(&["put", "draft", "v", "--session", "s"]);
    let request = || ImportRequest {
        writes: vec![Write::Set(node("k", "v")), Write::Set(node("noted", "v"))],
        contents: BTreeSet::from([node("noted", "").id]),
        replace: true,
    };
    let noted = Provenance { note: Some("own".to_owned()), ..Provenance::default() };
    let others = vec![node("late", "v"), Node { provenance: noted, ..node("noted", "v") }];
    let store = beside(&place, others.clone());
    let report = import_and_commit(&store, &session("s"), request(), &words()).expect("a commit");
    assert_eq!(place.ok(&["ls", "-r", "HEAD"]), "k\nnoted\n");
    assert!(place.ok(&["get", "--json", "noted"]).contains("\"note\":\"own\""));
    let told: Vec<_> = report.reports.iter().map(|report| report.id.as_str()).collect();
    assert_eq!(told, ["k", "noted", "draft", "late", "old"]);
    assert_eq!(place.ok(&["ls", "--session", "s"]), "k\nnoted\n");
    // Another has committed all of it: that is no commit, and what is staged stays.
    place.ok(&["put", "draft", "v", "--session", "s"]);
    place.ok(&["put", "k", "w", "-m", "another"]);
    let store = beside(&place, vec![node("k", "v")]);
    let refused = import_and_commit(&store, &session("s"), request(), &words());
    assert!(matches!(&refused, Err(OpError::NothingToCommit)), "{refused:?}");
    assert_eq!(place.ok(&["get", "draft", "--session", "s"]), "v");
    // What only stages compares under the lock of the session.
    let reports = import(&store, &session("s"), request()).expect("staged");
    assert_eq!(reports.len(), 3);
    assert_eq!(place.ok(&["ls", "--session", "s"]), "k\nnoted\n");
    let staged = vec![Write::Set(node("late", "v")), Write::Remove(node("k", "").id)];
    put(&store, &session("s"), staged, Condition::Any).expect("staged");
    import(&store, &session("s"), request()).expect("staged");
    assert_eq!(place.ok(&["ls", "--session", "s"]), "k\nnoted\n");
}
