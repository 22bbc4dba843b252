//! What is in a private copy, against the store that it was made of.

use super::super::open::builder;
use super::super::record::{Head, ObjectRecord, Session};
use super::super::rows::Definition;
use super::super::{CommitWords, Number, Store, StoreError, Tables, Writing, init};
use super::{Copying, Extent, clone_at, copy};
use crate::model::{
    Author, BranchName, CommitTime, Content, ContentKind, Message, Node, NodeId, Provenance, SessionName,
};
use crate::object::{CommitId, encode_node, get};
use redb::ReadableTable;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

const COMMITS: u64 = 40;

struct Place {
    _directory: tempfile::TempDir,
    store: Store,
    commits: Vec<(Number, CommitId)>,
}

fn bytes(id: &str, text: &str) -> Vec<u8> {
    let (id, content) = (NodeId::new(id).expect("an id"), Content::from_text(text));
    let (content_kind, provenance) = (ContentKind::Note, Provenance::default());
    encode_node(&Node { id, content, content_kind, provenance, event_time: None })
}

fn time(seconds: i64) -> CommitTime {
    CommitTime::new(seconds * 1000, 60).expect("a time")
}

fn agent() -> SessionName {
    SessionName::new("agent").expect("a name")
}

/// Commits of the session `agent`, each with a node of its own and one that all write.
fn place() -> Place {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("store");
    let main = BranchName::new("main").expect("a name");
    init(&path, &main).expect("a store");
    let store = Store::new(path, Duration::from_secs(60));
    let write = |tables: &mut Tables<Writing<'_>>| {
        tables.set_setting("author", Some("Ada"))?;
        let mut commits = Vec::new();
        for number in 0..COMMITS {
            let session = tables.session(&agent())?.unwrap_or(Session::at(Head::Branch(main.ref_name())));
            let node = |id: &str, text: &str| (NodeId::new(id).expect("an id"), Some(bytes(id, text)));
            let changes = [node(&format!("own/{number}"), "x"), node("all", &number.to_string())];
            let words = CommitWords {
                author: Author::new("Ada").expect("an author"),
                time: time(i64::try_from(number).expect("it is small")),
                message: Message::new(&format!("number {number}")).expect("a message"),
            };
            commits.push(tables.commit_on_head(&agent(), session, BTreeMap::from(changes), words, "commit")?);
        }
        let mut session = tables.session(&agent())?.expect("a row");
        session.orig_head = Some(commits[2].0);
        tables.set_session(&agent(), &session)?;
        Ok::<_, StoreError>(commits)
    };
    let (commits, _) = store.write(store.snapshot().expect("a snapshot"), write).expect("commits");
    Place { _directory: directory, store, commits }
}

impl Place {
    fn copy(&self, name: &str, extent: Extent, at: usize, go_on: &dyn Fn() -> bool) -> Result<bool, StoreError> {
        let copying = Copying { at: self.commits[at].0, extent, go_on };
        self.store.read(&agent(), |view| copy(view, &copying, &self.path(name)))
    }

    fn made(&self, name: &str, extent: Extent, at: usize) -> Store {
        assert!(self.copy(name, extent, at, &|| true).expect("a copy"));
        Store::new(self.path(name), Duration::from_secs(60))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.store.directory().with_file_name(name)
    }
}

/// All rows of a store but those of sessions and of the logs of their HEADs.
fn rows(store: &Store) -> Vec<(&'static str, Vec<u8>, Vec<u8>)> {
    let snapshot = store.snapshot().expect("a snapshot");
    let mut found = Vec::new();
    macro_rules! table {
        ($table:ident, $key:ty, $bytes:expr) => {
            for row in snapshot.$table.range::<$key>(..).expect("a table") {
                let (key, row) = row.expect("a row");
                found.push((stringify!($table), $bytes(key.value()), row.bytes().to_vec()));
            }
        };
    }
    let number = |number: Number| number.to_be_bytes().to_vec();
    table!(object, Number, number);
    table!(commit, Number, number);
    table!(hash, &[u8; 32], |id: &[u8; 32]| id.to_vec());
    table!(chain, (Number, u64), |(chain, at)| [number(chain), number(at)].concat());
    table!(history, &[u8], <[u8]>::to_vec);
    table!(reference, &str, |name: &str| name.as_bytes().to_vec());
    table!(reflog, &[u8], <[u8]>::to_vec);
    table!(setting, &str, |key: &str| key.as_bytes().to_vec());
    found.retain(|(_, key, _)| !key.starts_with(b"session/"));
    found
}

fn standing(store: &Store) -> Vec<(String, Head)> {
    let sessions = store.snapshot().and_then(|snapshot| snapshot.sessions()).expect("sessions");
    sessions.into_iter().map(|(name, session)| (name.to_string(), session.head)).collect()
}

fn newest_move(store: &Store, name: &str) -> (Option<Number>, Option<Number>, String) {
    let snapshot = store.snapshot().expect("a snapshot");
    let update = snapshot.updates(&format!("session/{name}")).expect("a log").swap_remove(0);
    (update.old, update.new, update.reason)
}

#[test]
fn a_copy_has_every_row_and_only_its_sessions_stand_elsewhere() {
    let place = place();
    let copy = place.made("copy", Extent::History, 7);
    assert_eq!(rows(&copy), rows(&place.store));
    let at = Head::Detached(place.commits[7].0);
    assert_eq!(standing(&copy), [("agent".to_owned(), at.clone()), ("default".to_owned(), at)]);
    let moved = (Some(place.commits[39].0), Some(place.commits[7].0), "private copy".to_owned());
    assert_eq!((newest_move(&copy, "agent"), newest_move(&copy, "default")), (moved.clone(), moved));
    let row = copy.snapshot().and_then(|snapshot| snapshot.session(&agent())).expect("sound").expect("a row");
    assert_eq!((row.orig_head, row.consumed), (Some(place.commits[2].0), 0));
    assert_eq!(row.previous, Some(Head::Branch("refs/heads/main".to_owned())));
    assert!(copy.sessions().is_ok_and(|names| names.len() == 2), "and no staged logs");
}

#[test]
fn a_copy_of_a_state_has_one_commit_and_the_same_records() {
    let place = place();
    let copy = place.made("copy", Extent::State, 7);
    let (number, id) = place.commits[7];
    let (origin, snapshot) = (place.store.snapshot().expect("sound"), copy.snapshot().expect("sound"));
    let (whole, alone) = (origin.commit(number).expect("it"), snapshot.commit(number).expect("it"));
    assert_eq!((alone.state(), alone.count, alone.parents.len()), (whole.state(), 9, 0));
    assert_eq!((alone.author, alone.time, alone.message), (whole.author, whole.time, whole.message));
    assert_eq!((alone.changes.added, alone.changes.modified, alone.changes.removed), (9, 0, 0));
    assert_ne!(alone.id, id, "it has no parents");
    assert_eq!(snapshot.commit_number(&alone.id).expect("sound"), Some(number));
    assert_eq!(snapshot.commits_with_prefix("", 9).expect("sound").len(), 1);
    assert!(snapshot.references("").expect("sound").is_empty());
    assert_eq!(snapshot.setting("author").expect("sound").as_deref(), Some("Ada"));
    for own in 0..9 {
        let id = NodeId::new(format!("own/{own}")).expect("an id");
        let find = |tables: &Tables<_>| get(tables, tables.root(Some(number))?, &id);
        let (found, there) = (find(&snapshot).expect("sound"), find(&origin).expect("sound"));
        assert_eq!(found, there);
        assert_eq!(snapshot.versions(&id).expect("sound").len(), usize::from(own < 8));
    }
    let (record, _) =
        get(&*snapshot, snapshot.root(Some(number)).expect("a root"), &NodeId::new("all").expect("an id"))
            .expect("sound")
            .expect("a node");
    assert_eq!(snapshot.commit_that_wrote(record).expect("sound").0, number);
    assert_eq!(newest_move(&copy, "agent"), (None, Some(number), "private copy".to_owned()));
    assert!(rows(&copy).len() < rows(&place.store).len() / 2);

    let first = place.made("first", Extent::State, 0);
    let known = first.snapshot().and_then(|snapshot| snapshot.commit_number(&place.commits[0].1)).expect("sound");
    assert_eq!(known, Some(place.commits[0].0), "of the first commit it is the commit itself");
}

#[test]
fn what_is_committed_in_a_copy_goes_on_where_it_stands() {
    let place = place();
    for (name, extent) in [("history", Extent::History), ("state", Extent::State)] {
        let copy = place.made(name, extent, 7);
        let write = |tables: &mut Tables<Writing<'_>>| {
            let session = tables.session(&agent())?.expect("a row");
            let words = CommitWords {
                author: Author::new("Ada").expect("an author"),
                time: time(100),
                message: Message::new("new").expect("a message"),
            };
            let changes = BTreeMap::from([(NodeId::new("all").expect("an id"), Some(bytes("all", "new")))]);
            tables.commit_on_head(&agent(), session, changes, words, "commit")
        };
        let before = std::fs::read(place.store.directory().join("store.redb")).expect("a file");
        let ((number, _), _) = copy.write(copy.snapshot().expect("sound"), write).expect("a commit");
        assert!(number > place.commits[39].0, "no number is used twice");
        let commit = copy.snapshot().and_then(|snapshot| snapshot.commit(number)).expect("sound");
        assert_eq!((commit.parents, commit.count), (vec![place.commits[7].0], 9));
        assert_eq!(std::fs::read(place.store.directory().join("store.redb")).expect("a file"), before);
    }
}

#[test]
fn a_clone_is_the_copy_with_sessions_elsewhere() {
    let place = place();
    let copy = place.made("copy", Extent::History, 39);
    for at in [3, 20] {
        let (number, to) = (place.commits[at].0, place.path(&format!("clone-{at}")));
        let clone = clone_at(copy.directory(), &to, &agent(), number).expect("a clone");
        assert_eq!(rows(&clone), rows(&place.store));
        let head = Head::Detached(number);
        assert_eq!(standing(&clone), [("agent".to_owned(), head.clone()), ("default".to_owned(), head)]);
        assert_eq!(newest_move(&clone, "agent").0, Some(place.commits[39].0));
    }
    assert_eq!(standing(&copy)[0].1, Head::Detached(place.commits[39].0));
}

#[test]
fn a_copy_that_is_told_to_stop_is_none() {
    let place = place();
    for extent in [Extent::History, Extent::State] {
        let whole = Cell::new(0_u64);
        let counting = || {
            whole.set(whole.get() + 1);
            true
        };
        assert!(place.copy(&format!("{extent:?}"), extent, 7, &counting).expect("a copy"));
        // A stop at each table, and just before the end.
        for stop in [0, 1, whole.get() / 2, whole.get() - 1] {
            let left = Cell::new(stop);
            let go_on = || left.replace(left.get().saturating_sub(1)) > 0;
            assert!(!place.copy(&format!("{extent:?}-{stop}"), extent, 7, &go_on).expect("no damage"), "{stop}");
        }
    }
}

/// Changes the last byte of the first row of a table.
fn damage<K: redb::Key + 'static>(store: &Store, table: &'static str) {
    let database = builder().open(store.directory().join("store.redb")).expect("a database");
    let transaction = database.begin_write().expect("a transaction");
    {
        let mut table = transaction.open_table(Definition::<K>::new(table)).expect("a table");
        let (key, mut value) = {
            let (key, value) = table.first().expect("sound").expect("a row");
            (K::as_bytes(&key.value()).as_ref().to_vec(), value.value().to_vec())
        };
        *value.last_mut().expect("a check") ^= 1;
        table.insert(K::from_bytes(&key), &value[..]).expect("a row");
    }
    transaction.commit().expect("committed");
}

#[test]
fn a_damaged_row_of_any_table_is_found() {
    for table in ["object", "commit", "hash", "chain", "history", "ref", "reflog", "setting"] {
        let place = place();
        match table {
            "object" | "commit" => damage::<u64>(&place.store, table),
            "hash" => damage::<&[u8; 32]>(&place.store, table),
            "chain" => damage::<(u64, u64)>(&place.store, table),
            "history" | "reflog" => damage::<&[u8]>(&place.store, table),
            _ => damage::<&str>(&place.store, table),
        }
        let copied = place.copy("copy", Extent::History, 39, &|| true);
        assert!(matches!(copied, Err(StoreError::Corrupt { .. })), "{table}: {copied:?}");
        let needed = ["commit", "hash", "chain", "history", "ref", "reflog"];
        let copied = place.copy("state", Extent::State, 39, &|| true);
        assert_eq!(copied.is_err(), !needed.contains(&table), "{table}: {copied:?}");
    }
}

#[test]
fn a_node_in_the_place_of_another_is_found_where_only_the_state_is_copied() {
    let place = place();
    let number = place.commits[39].0;
    let exchange = |tables: &mut Tables<Writing<'_>>| {
        let link = tables.root(Some(number))?;
        let (record, _) = get(tables, link, &NodeId::new("all").expect("an id"))?.expect("a node");
        tables.object.insert(record, &ObjectRecord::Node(&bytes("all", "other")).encode())
    };
    place.store.write(place.store.snapshot().expect("sound"), exchange).expect("an exchange");
    let copied = place.copy("copy", Extent::State, 39, &|| true);
    assert!(matches!(copied, Err(StoreError::Corrupt { .. })), "{copied:?}");
}

#[test]
fn nobody_else_may_look_into_a_copy() {
    use std::os::unix::fs::PermissionsExt;
    let place = place();
    let copy = place.made("copy", Extent::History, 7);
    clone_at(copy.directory(), &place.path("clone"), &agent(), place.commits[1].0).expect("a clone");
    let mode = |path: &Path| std::fs::metadata(path).expect("metadata").permissions().mode() & 0o777;
    for name in ["copy", "clone"] {
        let path = place.path(name);
        let modes = [mode(&path), mode(&path.join("staged")), mode(&path.join("store.redb"))];
        assert_eq!(modes, [0o700, 0o700, 0o600], "{name}");
    }
}
