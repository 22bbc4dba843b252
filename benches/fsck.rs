//! How fast `fsck` is, and how much memory it takes: over a store of 1,024 MB of content in nodes of 1,000 bytes, 100 a commit.
//!
//! `cargo bench --features internals --bench fsck` prints a Markdown table; two numbers behind `--` are other MB of content and
//! bytes a node.
#![allow(clippy::print_stdout, reason = "a bench prints its table")]

use mnemosyne::model::{
    Author, BranchName, CommitTime, Content, ContentKind, Message, Node, NodeId, Provenance, SessionName,
};
use mnemosyne::object::encode_node;
use mnemosyne::store::{CommitWords, Head, Session, Store, StoreError, init};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const MEGABYTES: usize = 1024;
const NODE_BYTES: usize = 1000;
/// Nodes that a commit sets.
const A_COMMIT: usize = 100;
/// Commits that a transaction makes.
const A_TRANSACTION: usize = 100;
/// Node ids that there are.
const IDS: u64 = 20_000;

fn node(seed: u64, bytes: usize) -> (NodeId, Vec<u8>) {
    let id = NodeId::new(format!("entity/{:06}/fact", (seed >> 24) % IDS)).expect("an id");
    let mut text = format!("what the agent believes, seen {seed:x}: ");
    let mut word = seed;
    while text.len() < bytes {
        word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        text.push_str(&format!("{:x} ", word >> 40));
    }
    let provenance = Provenance { agent_step: Some(seed.to_string()), ..Provenance::default() };
    let content = Content::from_text(&text);
    let node = Node { id: id.clone(), content, content_kind: ContentKind::Note, provenance, event_time: None };
    (id, encode_node(&node))
}

fn words(number: usize) -> CommitWords {
    CommitWords {
        author: Author::new("agent-7 <agent7@example.com>").expect("an author"),
        time: CommitTime::new(1_764_576_000_000 + 1_000 * i64::try_from(number).expect("small"), 0).expect("a time"),
        message: Message::new(&format!("step {number}: record observations")).expect("a message"),
    }
}

fn fill(store: &Store, megabytes: usize, bytes: usize) {
    let name = SessionName::default();
    let commits = (megabytes << 20) / bytes / A_COMMIT;
    let mut seed = 7u64;
    for first in (0..commits).step_by(A_TRANSACTION) {
        let snapshot = store.snapshot().expect("a snapshot");
        let written = store.write(snapshot, |tables| {
            for number in first..commits.min(first + A_TRANSACTION) {
                let changes = (0..A_COMMIT).map(|_| {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    let (id, bytes) = node(seed, bytes);
                    (id, Some(bytes))
                });
                let changes = changes.collect();
                let mut session = tables.session(&name)?.unwrap_or(Session::at(Head::Branch("refs/heads/main".into())));
                tables.commit_changes(&name, &mut session, changes, words(number), "bench")?;
            }
            Ok::<_, StoreError>(())
        });
        written.expect("written");
    }
}

/// The most memory that this process has had, in bytes.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().split(' ').next()?.parse::<u64>().ok()).unwrap_or(0) << 10
}

/// The time that this process has been at work, in seconds.
fn at_work() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
    fields.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

fn main() {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    if let [command, directory] = &arguments[..]
        && command == CHECK
    {
        return check(Path::new(directory));
    }
    let mut numbers = arguments.iter().filter_map(|argument| argument.parse().ok());
    let (megabytes, bytes) = (numbers.next().unwrap_or(MEGABYTES), numbers.next().unwrap_or(NODE_BYTES));
    let place = tempfile::tempdir().expect("a directory");
    let directory = place.path().join(".mnemosyne");
    init(&directory, &BranchName::new("main").expect("a name")).expect("a store");
    fill(&Store::new(directory.clone(), Duration::from_secs(10)), megabytes, bytes);
    // In a process of its own, whose memory is that of the check alone.
    let status = Command::new(std::env::current_exe().expect("this program")).arg(CHECK).arg(directory).status();
    assert!(status.is_ok_and(|status| status.success()));
}

/// What the process that checks is told.
const CHECK: &str = "check";

fn check(directory: &Path) {
    let store = Store::new(directory.to_owned(), Duration::from_secs(10));
    let began = Instant::now();
    let mut stages: Vec<(String, Instant)> = Vec::new();
    let report = store.fsck(&mut |stage, _, _| {
        let stage = format!("{stage:?}");
        if stages.last().is_none_or(|(last, _)| *last != stage) {
            stages.push((stage, Instant::now()));
        }
    });
    let (took, report) = (began.elapsed(), report.expect("no refusal"));
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    let file = fs::metadata(store.disk().database_path()).expect("a file").len();
    let speed = |time: f64| report.bytes as f64 / 1e6 / time;
    println!("| commits | objects | MB of them | MB of the file | s | MB/s | s at work | MB/s | peak MB of memory |");
    println!("|---|---|---|---|---|---|---|---|---|");
    println!(
        "| {} | {} | {:.0} | {:.0} | {:.1} | {:.0} | {:.1} | {:.0} | {:.0} |",
        report.commits,
        report.objects,
        report.bytes as f64 / 1e6,
        file as f64 / 1e6,
        took.as_secs_f64(),
        speed(took.as_secs_f64()),
        at_work(),
        speed(at_work()),
        peak() as f64 / 1e6
    );
    let ends = stages.iter().skip(1).map(|(_, at)| *at).chain([began + took]);
    for ((stage, at), end) in stages.iter().zip(ends) {
        println!("\n{stage}: {:.2} s", (end - *at).as_secs_f64());
    }
}
