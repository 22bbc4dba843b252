//! A `gc` after 1,000 abandoned commits of 10,000: how long it takes and how small the store is then, beside deleting the same rows
//! in place and compacting, and beside a fresh store into which a bundle of all was imported.
//!
//! `cargo bench --features internals --bench upkeep` prints a Markdown table; numbers behind `--` are other counts of commits and
//! of abandoned ones.
#![allow(clippy::print_stdout, reason = "a bench prints its table")]

use mnemosyne::model::{
    Author, BranchName, CommitTime, Content, ContentKind, Message, Node, NodeId, Provenance, SessionName,
};
use mnemosyne::object::encode_node;
use mnemosyne::ops::{BundleRequest, create_bundle, gc, import_bundle};
use mnemosyne::store::{BundleFile, CommitWords, Head, Session, Store, StoreError, init};
use redb::{Builder, ConcurrencyMode, Database, Key, ReadableDatabase, TableDefinition};
use std::fs;
use std::io::Cursor;
use std::path::Path;
use std::time::{Duration, Instant};

const COMMITS: u64 = 10_000;
const ABANDONED: u64 = 1_000;
/// Node ids that there are.
const IDS: u64 = 1_000;

fn time(number: u64) -> CommitTime {
    CommitTime::new(1_764_576_000_000 + 1_000 * i64::try_from(number).expect("small"), 0).expect("a time")
}

/// Makes commits `numbers` on a branch, each of which changes one node but for the first, which adds them all.
fn commit(store: &Store, branch: &str, numbers: std::ops::Range<u64>) {
    let name = SessionName::new(branch).expect("a name");
    let written = store.write(store.snapshot().expect("a snapshot"), |tables| {
        for number in numbers {
            let ids = if number == 0 { 0..IDS } else { number * 7 % IDS..number * 7 % IDS + 1 };
            let node = |entity: u64| {
                let id = NodeId::new(format!("entity/{entity:06}/fact")).expect("an id");
                let content =
                    format!("version {number} of what the agent believes of {entity}, {}", "word ".repeat(20));
                let (content, provenance) = (Content::from_text(&content), Provenance::default());
                let content_kind = ContentKind::Note;
                (id.clone(), Some(encode_node(&Node { id, content, content_kind, provenance, event_time: None })))
            };
            let words = CommitWords {
                author: Author::new("agent-7 <agent7@example.com>").expect("an author"),
                time: time(number),
                message: Message::new(&format!("step {number}: record an observation")).expect("a message"),
            };
            let session = Session::at(Head::Branch(format!("refs/heads/{branch}")));
            let session = tables.session(&name)?.unwrap_or(session);
            tables.commit_on_head(&name, session, ids.map(node).collect(), words, "bench")?;
        }
        Ok::<_, StoreError>(())
    });
    written.expect("written");
}

fn database(directory: &Path) -> Database {
    let mut builder = Builder::new();
    builder.set_concurrency_mode(ConcurrencyMode::MultiWriter);
    builder.open(directory.join("store.redb")).expect("a database")
}

/// Deletes the rows of a table that are not in `kept`.
fn delete<K: Key + 'static>(transaction: &redb::WriteTransaction, kept: &Database, name: &str) {
    let definition = TableDefinition::<K, &[u8]>::new(name);
    let kept = kept.begin_read().expect("a snapshot").open_table(definition).expect("a table");
    let mut table = transaction.open_table(definition).expect("a table");
    table.retain(|key, _| kept.get(key).expect("sound").is_some()).expect("rows");
}

fn copied(from: &Path, to: &Path) {
    fs::create_dir_all(to.join("staged")).expect("a directory");
    fs::copy(from.join("store.redb"), to.join("store.redb")).expect("a copy");
}

fn main() {
    let mut numbers = std::env::args().skip(1).filter_map(|argument| argument.parse().ok());
    let (commits, abandoned) = (numbers.next().unwrap_or(COMMITS), numbers.next().unwrap_or(ABANDONED));
    let place = tempfile::tempdir().expect("a directory");
    let at = |name: &str| place.path().join(name);
    let open = |name: &str| Store::new(at(name), Duration::from_secs(600));
    let bytes = |name: &str| fs::metadata(at(name).join("store.redb")).expect("a file").len();
    let later = time(1_000_000_000);
    init(&at("grown"), &BranchName::new("main").expect("a name")).expect("a store");
    let grown = open("grown");
    commit(&grown, "main", 0..commits - abandoned);
    let tip =
        grown.snapshot().and_then(|tables| tables.reference("refs/heads/main")).expect("sound").expect("a commit");
    let moved = grown
        .write(grown.snapshot().expect("sound"), |tables| tables.set_reference("refs/heads/try", tip, time(0), "t"));
    moved.expect("a branch");
    commit(&grown, "try", commits - abandoned..commits);
    let removed = grown.write(grown.snapshot().expect("sound"), |tables| {
        tables.set_session(
            &SessionName::new("try").expect("a name"),
            &Session::at(Head::Branch("refs/heads/main".into())),
        )?;
        tables.remove_reference("refs/heads/try", time(0), "t")?;
        // What the log of the session says last is that it stands where the branch ends.
        tables.log_stand(&SessionName::new("try").expect("a name"), &Session::at(Head::Detached(tip)), time(0), "t")
    });
    removed.expect("no branch");
    copied(&at("grown"), &at("in place"));

    let began = Instant::now();
    let report = gc(&grown, later, false).expect("a smaller store");
    let rewritten = began.elapsed();
    assert_eq!(report.dropped.commits, abandoned);

    let mut old = database(&at("in place"));
    let kept = database(&at("grown"));
    let began = Instant::now();
    let transaction = old.begin_write().expect("a transaction");
    delete::<u64>(&transaction, &kept, "object");
    delete::<u64>(&transaction, &kept, "commit");
    delete::<&[u8; 32]>(&transaction, &kept, "hash");
    delete::<(u64, u64)>(&transaction, &kept, "chain");
    delete::<&[u8]>(&transaction, &kept, "history");
    delete::<&[u8]>(&transaction, &kept, "reflog");
    transaction.commit().expect("committed");
    let deleted = began.elapsed();
    old.compact().expect("compacted");
    old.close().expect("closed");
    let in_place = began.elapsed();
    drop(kept);

    let mut bundle = Vec::new();
    let session = SessionName::default();
    create_bundle(&grown, &session, &BundleRequest { revisions: Vec::new(), all: true }, &mut bundle)
        .expect("a bundle");
    init(&at("fresh"), &BranchName::new("main").expect("a name")).expect("a store");
    let mut bundle = BundleFile::open("the bundle", Cursor::new(bundle)).expect("a bundle");
    let summary = bundle.summary().expect("sound");
    let began = Instant::now();
    import_bundle(&open("fresh"), &mut bundle, &summary, None, later).expect("imported");
    let imported = began.elapsed();

    let fresh = bytes("fresh");
    println!("| store | ms | bytes | of a fresh import |\n|---|---|---|---|");
    let row = |what: &str, took: Option<Duration>, bytes: u64| {
        let took = took.map_or(String::new(), |took| format!("{:.0}", took.as_secs_f64() * 1_000.0));
        println!("| {what} | {took} | {bytes} | {}.{:02} |", bytes / fresh, bytes * 100 / fresh % 100);
    };
    row("grown", None, report.before);
    row("after gc, written anew", Some(rewritten), bytes("grown"));
    row("rows deleted in place", Some(deleted), report.before);
    row("and compacted", Some(in_place), bytes("in place"));
    row("fresh, a bundle imported", Some(imported), fresh);
}
