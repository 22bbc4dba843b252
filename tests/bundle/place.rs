//! Stores in directories of their own, and all that is told of one.

use mnemosyne::graph::{Revision, Selection};
use mnemosyne::model::{
    Author, BranchName, CommitTime, Content, ContentKind, Message, Node, NodeId, Pattern, Provenance, SessionName,
};
use mnemosyne::object::{CommitId, ObjectId, StateId, encode_node};
use mnemosyne::ops::{
    self, BlameReport, BlameRequest, BundleImportReport, BundleReport, BundleRequest, LogFilter, LsRequest, OpError,
};
use mnemosyne::store::{BundleFile, ChangeCount, CommitWords, Number, Store, StoreError, Summary, init};
use redb::{Builder, ConcurrencyMode, Key, ReadableDatabase, ReadableTable, TableDefinition};
use std::collections::BTreeMap;
use std::io::Cursor;
use std::time::Duration;
use tempfile::TempDir;

/// A store in a directory of its own.
pub struct Place {
    pub store: Store,
    directory: TempDir,
}

/// A bundle in memory.
pub type Bundle = BundleFile<Cursor<Vec<u8>>>;

/// All rows of all tables.
pub type Dump = BTreeMap<&'static str, Vec<(Vec<u8>, Vec<u8>)>>;

pub fn time(seconds: i64) -> CommitTime {
    CommitTime::new(seconds * 1000, 60).expect("a time")
}

pub fn words(message: &str, seconds: i64) -> CommitWords {
    let message = Message::new(message).expect("a message");
    CommitWords { author: Author::new("Ada <ada@example.org>").expect("an author"), time: time(seconds), message }
}

pub fn id(text: &str) -> NodeId {
    NodeId::new(text).expect("an id")
}

pub fn node(id: &NodeId, text: &str) -> Node {
    let (content, content_kind) = (Content::from_text(text), ContentKind::Note);
    Node { id: id.clone(), content, content_kind, provenance: Provenance::default(), event_time: None }
}

pub fn session() -> SessionName {
    SessionName::default()
}

fn revision(text: &str) -> Revision {
    Revision::parse(text, &|_| None).expect("a revision")
}

/// Opens a bundle and reads all of it.
pub fn opened(bytes: &[u8]) -> Result<(Bundle, Summary), OpError> {
    let mut bundle = BundleFile::open("it", Cursor::new(bytes.to_vec()))?;
    let summary = bundle.summary()?;
    Ok((bundle, summary))
}

impl Place {
    pub fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join(".mnemosyne");
        init(&path, &BranchName::new("main").expect("a name")).expect("a store");
        Self { store: Store::new(path, Duration::from_secs(10)), directory }
    }

    /// Makes a commit of such parents with such changes of the first one's nodes, and lets refs name it.
    pub fn commit(
        &self,
        parents: &[CommitId],
        changes: &[(&str, Option<&str>)],
        words: CommitWords,
        refs: &[&str],
    ) -> CommitId {
        let changes = changes.iter().map(|(name, text)| {
            let id = id(name);
            let bytes = text.map(|text| encode_node(&node(&id, text)));
            (id, bytes)
        });
        self.commit_bytes(parents, changes.collect(), words, refs)
    }

    /// The same of canonical bytes.
    pub fn commit_bytes(
        &self,
        parents: &[CommitId],
        changes: BTreeMap<NodeId, Option<Vec<u8>>>,
        words: CommitWords,
        refs: &[&str],
    ) -> CommitId {
        let written = self.store.write(self.store.snapshot().expect("a snapshot"), |tables| {
            let number = |id: &CommitId| tables.commit_number(id).map(|number| number.expect("a commit"));
            let parents = parents.iter().map(number).collect::<Result<Vec<Number>, _>>()?;
            let update = tables.update_from(tables.root(parents.first().copied())?, changes)?;
            let time = words.time;
            let (number, made) = tables.append_commit(parents, words, update)?;
            for name in refs {
                tables.set_reference(name, number, time, "test")?;
            }
            Ok::<_, StoreError>(made)
        });
        written.expect("a commit").0
    }

    /// Sets a ref as a tag is set that says something.
    pub fn set(&self, name: &str, commit: &CommitId, reason: &str) {
        let written = self.store.write(self.store.snapshot().expect("a snapshot"), |tables| {
            let number = tables.commit_number(commit)?.expect("a commit");
            tables.set_reference(name, number, time(77), reason)
        });
        written.expect("a ref");
    }

    /// Makes a bundle of revisions, all refs where there is none.
    pub fn create(&self, revisions: &[&str]) -> Result<(Vec<u8>, BundleReport), OpError> {
        let revisions = revisions.iter().map(|text| Selection::parse(text, &|_| None).expect("a selection"));
        let request = BundleRequest { revisions: revisions.collect(), all: false };
        let mut bytes = Vec::new();
        let report = ops::create_bundle(&self.store, &session(), &request, &mut bytes)?;
        assert_eq!(report.bytes, bytes.len() as u64);
        Ok((bytes, report))
    }

    pub fn bundle(&self, revisions: &[&str]) -> Vec<u8> {
        self.create(revisions).expect("a bundle").0
    }

    pub fn import(&self, bytes: &[u8], prefix: Option<&str>) -> Result<BundleImportReport, OpError> {
        let (mut bundle, summary) = opened(bytes)?;
        ops::import_bundle(&self.store, &mut bundle, &summary, prefix, time(88))
    }

    pub fn verify(&self, bytes: &[u8]) -> Result<(), OpError> {
        let (mut bundle, summary) = opened(bytes)?;
        ops::verify_bundle(Some(&self.store), &mut bundle, &summary, self.directory.path())
    }

    /// The refs and the commits that they name.
    pub fn refs(&self) -> BTreeMap<String, CommitId> {
        let snapshot = self.store.snapshot().expect("a snapshot");
        let refs = snapshot.references("refs/").expect("refs").into_iter();
        refs.map(|(name, number)| (name, snapshot.commit_id(number).expect("a commit"))).collect()
    }

    /// Each row of the database.
    pub fn dump(&self) -> Dump {
        let path = self.store.directory().join("store.redb");
        let mut builder = Builder::new();
        builder.set_concurrency_mode(ConcurrencyMode::MultiWriter);
        let database = builder.open_read_only(path).expect("a database");
        let transaction = database.begin_read().expect("a snapshot");
        fn rows<K: Key + 'static>(from: &redb::ReadTransaction, name: &'static str) -> Vec<(Vec<u8>, Vec<u8>)> {
            let table = from.open_table(TableDefinition::<K, &[u8]>::new(name)).expect("a table");
            let rows = table.iter().expect("rows").map(|row| row.expect("a row"));
            rows.map(|(key, value)| (K::as_bytes(&key.value()).as_ref().to_vec(), value.value().to_vec())).collect()
        }
        BTreeMap::from([
            ("object", rows::<u64>(&transaction, "object")),
            ("commit", rows::<u64>(&transaction, "commit")),
            ("hash", rows::<&[u8; 32]>(&transaction, "hash")),
            ("chain", rows::<(u64, u64)>(&transaction, "chain")),
            ("history", rows::<&[u8]>(&transaction, "history")),
            ("ref", rows::<&str>(&transaction, "ref")),
            ("reflog", rows::<&[u8]>(&transaction, "reflog")),
            ("session", rows::<&str>(&transaction, "session")),
            ("setting", rows::<&str>(&transaction, "setting")),
        ])
    }

    /// All that is told of the commits behind the refs.
    pub fn told(&self) -> Told {
        let all = LogFilter { all: true, ..LogFilter::default() };
        let logged = |filter| ops::log(&self.store, &session(), &filter).expect("commits").entries;
        let entries = logged(all.clone());
        let order: Vec<_> = entries.iter().map(|entry| entry.commit.id).collect();
        let snapshot = self.store.snapshot().expect("a snapshot");
        let mut ids = Vec::new();
        snapshot.ids_below("", |id| ids.push(id)).expect("ids");
        let (mut log, mut history) = (BTreeMap::new(), BTreeMap::new());
        for id in &ids {
            let patterns = vec![Pattern::parse(id.as_str(), true).expect("a pattern")];
            let found = logged(LogFilter { patterns, ..all.clone() });
            log.insert(id.clone(), found.into_iter().map(|entry| entry.commit.id).collect());
            let rows = snapshot.versions(id).expect("rows").into_iter();
            let rows: Vec<_> = rows.map(|number| snapshot.commit_id(number).expect("a commit")).collect();
            // What no ref leads to is in no bundle.
            let rows: Vec<_> = rows.into_iter().filter(|commit| order.contains(commit)).collect();
            if !rows.is_empty() {
                history.insert(id.clone(), rows);
            }
        }
        let mut commits = BTreeMap::new();
        for entry in &entries {
            let at = Some(revision(&entry.commit.id.to_string()));
            let request = LsRequest { revision: at.clone(), nodes: true, origins: true, ..LsRequest::default() };
            let listed = ops::ls(&self.store, &session(), &request).expect("nodes").nodes;
            let mut blamed = BTreeMap::new();
            for row in &listed {
                let request = BlameRequest { revision: at.clone(), ..BlameRequest::default() };
                let (report, _) = ops::blame(&self.store, &session(), &row.id, &request).expect("it is there");
                let BlameReport::Stands(blame) = report else { panic!("it is there") };
                // The writer of each part, in their order.
                let writers = blame
                    .parts
                    .iter()
                    .map(|part| blame.writers[&part.version].commit.as_ref().expect("nothing is staged").id);
                let writers = writers.collect();
                let origin = row.origin.expect("it was asked for").commit;
                let object = row.node.as_ref().expect("it was asked for").object_id();
                blamed.insert(row.id.clone(), (object, origin, writers));
            }
            let commit = ToldCommit {
                parents: entry.parents.clone(),
                state: entry.commit.state(),
                changes: entry.commit.changes,
                nodes: blamed,
            };
            commits.insert(entry.commit.id, commit);
        }
        log.retain(|_, commits: &mut Vec<CommitId>| !commits.is_empty());
        Told { order, commits, log, history }
    }
}

/// What is told of a commit.
#[derive(Debug, PartialEq)]
pub struct ToldCommit {
    pub parents: Vec<CommitId>,
    pub state: StateId,
    pub changes: ChangeCount,
    /// Each node: its hash, who wrote it, who wrote its parts.
    pub nodes: BTreeMap<NodeId, (ObjectId, CommitId, Vec<CommitId>)>,
}

/// What is told of a history.
#[derive(Debug, PartialEq)]
pub struct Told {
    pub order: Vec<CommitId>,
    pub commits: BTreeMap<CommitId, ToldCommit>,
    /// The commits that changed an id.
    pub log: BTreeMap<NodeId, Vec<CommitId>>,
    /// The same as the index has them.
    pub history: BTreeMap<NodeId, Vec<CommitId>>,
}

impl Told {
    /// Without the order in which this copy learned of commits.
    pub fn sorted(mut self) -> Self {
        self.order.sort();
        for commits in self.log.values_mut().chain(self.history.values_mut()) {
            commits.sort();
        }
        self
    }
}
