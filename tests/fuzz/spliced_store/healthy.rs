//! A small store, and the right answers to some questions.
//!
//! Its rows are written to a new file at once, so that no page stands there in an older version as well: such a page is
//! sound by itself.

use crate::memory_disk::{AllRows, Files, MemoryDisk, all_rows, builder};
use mnemosyne::graph::Revision;
use mnemosyne::model::{
    Author, BranchName, CommitTime, Content, ContentKind, Message, Node, NodeId, Pattern, Provenance, SessionName,
    TagName,
};
use mnemosyne::object::{CommitId, encode_node};
use mnemosyne::ops::{self, Between, Condition, LogFilter, LsRequest, OpError, Write};
use mnemosyne::store::{CommitWords, Disk, Store, create_tables};
use redb::{Key, TableDefinition, WriteTransaction};
use std::collections::BTreeMap;
use std::fmt::Debug;

/// Nodes of the memory, one of which is larger than a page.
const NODES: usize = 24;
const LARGE: usize = 7;

/// Commits on top of the first.
const COMMITS: usize = 12;

/// A node that is removed in the end.
const GONE: usize = 4;

/// The file of a store, and what it answers.
pub struct Healthy {
    pub files: Files,
    /// With their names, and what is right.
    pub questions: Vec<(&'static str, Question, String)>,
    pub rows: AllRows,
}

pub type Question = Box<dyn Fn(&Store<MemoryDisk>) -> Result<String, OpError> + Send + Sync>;

fn id(number: usize) -> NodeId {
    NodeId::new(format!("{}/{number}", ["fact", "user", "plan"][number % 3])).expect("an id")
}

fn node(number: usize, version: usize) -> Node {
    let words = if number == LARGE { 1500 } else { (number * 7 + version * 13) % 60 };
    Node {
        id: id(number),
        content: Content::from_text(&format!("{number} at {version}: {}", "word ".repeat(words))),
        content_kind: ContentKind::Note,
        provenance: Provenance { agent_step: Some(version.to_string()), ..Provenance::default() },
        event_time: None,
    }
}

fn time(minutes: usize) -> CommitTime {
    CommitTime::new(i64::try_from(minutes).expect("small") * 60_000, 0).expect("a time")
}

fn words(minutes: usize, message: &str) -> CommitWords {
    let author = Author::new("Ada").expect("an author");
    CommitWords { author, time: time(minutes), message: Message::new(message).expect("a message") }
}

fn revision(text: &str) -> Revision {
    Revision::parse(text, &|_| None).expect("a revision")
}

fn session(name: &str) -> SessionName {
    SessionName::new(name).expect("a name")
}

impl Healthy {
    pub fn new() -> Self {
        let disk = MemoryDisk::default();
        let file = disk.open_database(true).expect("a file").file;
        create_tables(file, &BranchName::new("main").expect("a name")).expect("a store");
        let commits = fill(&disk.store());
        let logs = disk.files().logs.clone();
        let files = Files { database: rewritten(&disk), logs };
        let store = MemoryDisk::new(files.clone()).store();
        let answered = |(name, question): (&'static str, Question)| {
            let right = question(&store).expect("healthy");
            (name, question, right)
        };
        let questions = questions(&commits).into_iter().map(answered).collect();
        let rows = all_rows(&MemoryDisk::new(files.clone())).expect("healthy");
        Self { files, questions, rows }
    }
}

/// Makes a history of commits, one of them a merge, branches, a tag, another session, and something staged.
fn fill(store: &Store<MemoryDisk>) -> Vec<CommitId> {
    let own = SessionName::default();
    let mut commits = Vec::new();
    let mut commit = |session: &SessionName, writes: Vec<Write>, minutes| {
        let words = words(minutes, &format!("commit {minutes}"));
        let report = ops::put_and_commit(store, session, writes, Condition::Any, &words).expect("committed");
        commits.push(report.commit.expect("a change"));
    };
    commit(&own, (0..NODES).map(|number| Write::Set(node(number, 0))).collect(), 0);
    for version in 1..=COMMITS {
        let writes = (0..3).map(|step| (version * 5 + step * 3) % NODES).filter(|number| *number != GONE);
        commit(&own, writes.map(|number| Write::Set(node(number, version))).collect(), version);
    }
    commit(&own, vec![Write::Remove(id(GONE))], COMMITS + 1);
    let side = BranchName::new("side").expect("a name");
    ops::create_branch(store, &own, &side, &revision("main~3"), false, time(20)).expect("a branch");
    let tag = TagName::new("v1").expect("a name");
    let said = Message::new("the first").expect("a message");
    ops::create_tag(store, &own, &tag, &revision("main~5"), Some(&said), false, time(21)).expect("a tag");
    store
        .write(store.snapshot().expect("a snapshot"), |tables| {
            tables.set_setting("author", Some("Ada"))?;
            let (main, side) = (tables.reference("refs/heads/main")?, tables.reference("refs/heads/side")?);
            let (main, side) = (main.expect("a branch"), side.expect("a branch"));
            let changes = BTreeMap::from([(id(1), Some(encode_node(&node(1, 50))))]);
            let update = tables.update_from(tables.root(Some(side))?, changes)?;
            let (side, _) = tables.append_commit(vec![side], words(22, "on the side"), update)?;
            let update = tables.update_from(tables.root(Some(main))?, BTreeMap::new())?;
            let (merge, merged) = tables.append_commit(vec![main, side], words(23, "merged"), update)?;
            tables.set_reference("refs/heads/side", side, time(22), "commit")?;
            tables.set_reference("refs/heads/main", merge, time(23), "merge")?;
            Ok::<_, mnemosyne::store::StoreError>(merged)
        })
        .expect("a merge");
    commit(&own, vec![Write::Set(node(NODES, 60))], 24);
    ops::put(store, &own, vec![Write::Set(node(0, 61)), Write::Remove(id(3))], Condition::Any).expect("staged");
    ops::put(store, &session("other"), vec![Write::Set(node(2, 62))], Condition::Any).expect("staged");
    commits
}

/// All rows of a database in a new file.
fn rewritten(disk: &MemoryDisk) -> Vec<u8> {
    let new = MemoryDisk::default();
    let rows = all_rows(disk).expect("a sound store");
    let database = builder().create_with_backend(new.open_database(true).expect("a file").file).expect("a database");
    let transaction = database.begin_write().expect("a transaction");
    write::<u64>(&transaction, "object", &rows);
    write::<u64>(&transaction, "commit", &rows);
    write::<&[u8; 32]>(&transaction, "hash", &rows);
    write::<(u64, u64)>(&transaction, "chain", &rows);
    write::<&[u8]>(&transaction, "history", &rows);
    write::<&str>(&transaction, "ref", &rows);
    write::<&[u8]>(&transaction, "reflog", &rows);
    write::<&str>(&transaction, "session", &rows);
    write::<&str>(&transaction, "setting", &rows);
    transaction.commit().expect("committed");
    database.close().expect("closed");
    new.files().database.clone()
}

fn write<K: Key + 'static>(to: &WriteTransaction, name: &'static str, rows: &AllRows) {
    let mut table = to.open_table(TableDefinition::<K, &[u8]>::new(name)).expect("a table");
    for (key, value) in &rows[name] {
        table.insert(K::from_bytes(key), &value[..]).expect("written");
    }
}

fn told<T: Debug>(answer: Result<T, OpError>) -> Result<String, OpError> {
    answer.map(|answer| format!("{answer:?}"))
}

fn questions(commits: &[CommitId]) -> Vec<(&'static str, Question)> {
    let own = SessionName::default();
    let patterns =
        |texts: &[&str]| texts.iter().map(|text| Pattern::parse(text, false).expect("a pattern")).collect::<Vec<_>>();
    let get = |text: Option<&str>| -> Question {
        let (own, revision) = (own.clone(), text.map(revision));
        let ids: Vec<_> = (0..=NODES).map(id).collect();
        Box::new(move |store| told(ops::get(store, &own, revision.as_ref(), &ids)))
    };
    let log = |texts: &[&str]| -> Question {
        let own = own.clone();
        let filter = LogFilter { patterns: patterns(texts), ..LogFilter::default() };
        Box::new(move |store| told(ops::log(store, &own, &filter)))
    };
    let ask = |question: fn(&Store<MemoryDisk>) -> Result<String, OpError>| -> Question { Box::new(question) };
    let (early, late) = (commits[2].to_string(), commits[9].to_string());
    vec![
        ("get", get(None)),
        ("get -r main~7", get(Some("main~7"))),
        ("get -r ID", get(Some(&early))),
        ("get -r PREFIX", get(Some(&late[..12]))),
        ("get -r main~1^2", get(Some("main~1^2"))),
        ("get -r v1", get(Some("v1"))),
        ("log", log(&[])),
        ("log -- ID", log(&[id(1).as_str(), id(15).as_str()])),
        ("log -- ID that is gone", log(&[id(GONE).as_str()])),
        ("log -- PATTERN", log(&["plan/"])),
        ("blame", ask(|store| told(ops::blame_all(store, &SessionName::default(), &[], None)))),
        ("blame --history", ask(|store| told(ops::versions_of(store, &SessionName::default(), &id(10), None)))),
        (
            "ls -l",
            ask(|store| {
                let request = LsRequest { origins: true, ..LsRequest::default() };
                told(ops::ls(store, &SessionName::default(), &request))
            }),
        ),
        ("branch", ask(|store| told(ops::branches(store, &SessionName::default(), None, &[])))),
        ("tag", ask(|store| told(ops::tags(store, &SessionName::default(), &[])))),
        ("reflog main", ask(|store| told(ops::reflog(store, &SessionName::default(), &revision("main"), None)))),
        ("status", ask(|store| told(ops::status(store, &SessionName::default())))),
        ("status --session other", ask(|store| told(ops::status(store, &session("other"))))),
        (
            "diff main~2 main",
            ask(|store| {
                let between = Between::Revisions(revision("main~2"), revision("main"));
                told(ops::diff(store, &SessionName::default(), &between, &[]))
            }),
        ),
        ("config", ask(|store| told(ops::settings(store, &SessionName::default())))),
        (
            "put of what is there",
            ask(|store| told(ops::put(store, &SessionName::default(), vec![Write::Set(node(0, 61))], Condition::Any))),
        ),
    ]
}
