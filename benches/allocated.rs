//! Bytes that a single-change commit allocates: the mean of 1,000, with no upkeep ever.
//!
//! `cargo bench --features internals --bench allocated` prints a Markdown table.
#![allow(clippy::print_stdout, reason = "a bench prints its table")]

use mnemosyne::model::{Author, CommitTime, Content, ContentKind, Message, Node, NodeId, Provenance, SessionName};
use mnemosyne::ops::{Condition, Write, put_and_commit};
use mnemosyne::store::{CommitWords, Store, init};
use std::path::Path;
use std::time::Duration;

const SIZES: [usize; 3] = [1_000, 10_000, 100_000];
const COMMITS: usize = 1_000;

fn node(number: usize, version: usize) -> Write {
    let content = format!("version {version} of what the agent believes about entity {number}, {}", "word ".repeat(10));
    Write::Set(Node {
        id: NodeId::new(format!("entity/{number:06}/fact")).expect("an id"),
        content: Content::from_text(&content),
        content_kind: ContentKind::Note,
        provenance: Provenance { agent_step: Some(version.to_string()), ..Provenance::default() },
        event_time: None,
    })
}

fn words(number: usize) -> CommitWords {
    CommitWords {
        author: Author::new("agent-7 <agent7@example.com>").expect("an author"),
        time: CommitTime::new(1_764_576_000_000 + 1_000 * i64::try_from(number).expect("small"), 0).expect("a time"),
        message: Message::new(&format!("step {number}: record an observation")).expect("a message"),
    }
}

/// Bytes of the pages in use, as redb counts them.
fn allocated(database: &Path) -> u64 {
    let database = redb::Builder::new().open(database).expect("a database");
    let stats = database.begin_write().expect("a transaction").stats().expect("statistics");
    stats.allocated_pages() * stats.page_size() as u64
}

fn main() {
    println!("| nodes | bytes a commit |\n|---|---|");
    for size in SIZES {
        let place = tempfile::tempdir().expect("a directory");
        let directory = place.path().join(".mnemosyne");
        init(&directory, &mnemosyne::model::BranchName::new("main").expect("a name")).expect("a store");
        let store = Store::new(directory, Duration::from_secs(10));
        let session = SessionName::default();
        put_and_commit(&store, &session, (0..size).map(|n| node(n, 0)).collect(), Condition::Any, &words(0))
            .expect("a commit");
        let before = allocated(&store.disk().database_path());
        let mut seed = 7u64;
        for commit in 1..=COMMITS {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let number = usize::try_from(seed >> 33).expect("small") % size;
            put_and_commit(&store, &session, vec![node(number, commit)], Condition::Any, &words(commit))
                .expect("a commit");
        }
        let after = allocated(&store.disk().database_path());
        println!("| {size} | {} |", (after - before) / COMMITS as u64);
    }
}
