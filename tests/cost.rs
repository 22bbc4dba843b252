//! What commands cost, in counts that do not depend on the machine: syncs, writes, object reads. `docs/cost.md` tells how
//! they are made and what they come to.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

fn mnem(place: &Path, program: &mut Command, arguments: &[&str]) -> String {
    let output = program
        .args(arguments)
        .current_dir(place)
        .env_clear()
        .env("PATH", std::env!("PATH"))
        .env("MNEM_DATE", "@1764576000")
        .stdin(Stdio::null())
        .output()
        .expect("it runs");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}: {told}");
    String::from_utf8(output.stdout).expect("text")
}

fn run(place: &Path, arguments: &[&str]) -> String {
    mnem(place, &mut Command::new(env!("CARGO_BIN_EXE_mnem")), arguments)
}

/// How often a command makes these system calls on files of the store; `None` where there is no strace.
fn counted(place: &Path, arguments: &[&str]) -> Option<BTreeMap<String, usize>> {
    let trace = place.join("trace");
    let calls = "trace=fsync,fdatasync,write,pwrite64,pwritev,ftruncate,rename,renameat,renameat2,unlink,unlinkat";
    let mut strace = Command::new("strace");
    strace.args(["-f", "-y", "-o"]).arg(&trace).args(["-e", calls]).arg(env!("CARGO_BIN_EXE_mnem"));
    if Command::new("strace").arg("-V").stdout(Stdio::null()).status().is_err() {
        let note = "note: no strace here, so system calls were not counted\n";
        std::io::stderr().write_all(note.as_bytes()).expect("standard error");
        return None;
    }
    mnem(place, &mut strace, arguments);
    let mut counts = BTreeMap::new();
    for line in std::fs::read_to_string(&trace).expect("a trace").lines().filter(|line| line.contains(".mnemosyne")) {
        let call = line.split_whitespace().nth(1).and_then(|call| call.split('(').next()).unwrap_or_default();
        let kind = if call.contains("sync") { "sync" } else { "write" };
        *counts.entry(kind.to_owned()).or_default() += 1;
    }
    Some(counts)
}

fn syncs(counts: &BTreeMap<String, usize>) -> usize {
    counts.get("sync").copied().unwrap_or(0)
}

#[test]
fn a_put_is_one_sync_and_one_write_and_the_first_syncs_the_directory_too() {
    let place = tempfile::tempdir().expect("a directory");
    run(place.path(), &["init"]);
    let Some(first) = counted(place.path(), &["put", "a", "1"]) else { return };
    assert_eq!(syncs(&first), 2, "{first:?}");
    for content in ["2", "3"] {
        let later = counted(place.path(), &["put", "a", content]).expect("strace");
        assert_eq!((syncs(&later), later.get("write").copied()), (1, Some(1)), "{later:?}");
    }
    let same = counted(place.path(), &["put", "a", "3"]).expect("strace");
    assert_eq!(same, BTreeMap::new(), "what stands already is not written");
}

#[test]
fn a_commit_is_seven_syncs_and_one_more_when_the_file_grows() {
    let place = tempfile::tempdir().expect("a directory");
    run(place.path(), &["init"]);
    let mut most = 0;
    for number in 0..12 {
        run(place.path(), &["put", "a", &number.to_string()]);
        let Some(counts) = counted(place.path(), &["commit", "-m", "x"]) else { return };
        most = most.max(syncs(&counts));
        assert!((7..=8).contains(&syncs(&counts)), "{counts:?}");
        let put = counted(place.path(), &["put", "b", &number.to_string(), "-m", "x"]).expect("strace");
        assert!((7..=8).contains(&syncs(&put)), "{put:?}");
    }
    assert!(most <= 8);
}

#[test]
fn what_reads_syncs_and_writes_nothing() {
    let place = tempfile::tempdir().expect("a directory");
    run(place.path(), &["init"]);
    run(place.path(), &["put", "a", "1", "-m", "x"]);
    run(place.path(), &["put", "b", "2"]);
    let reads: [&[&str]; 8] = [
        &["get", "a"],
        &["get", "b"],
        &["get", "a", "-r", "HEAD"],
        &["log"],
        &["log", "--", "a"],
        &["ls"],
        &["status"],
        &["export"],
    ];
    for arguments in reads {
        let Some(counts) = counted(place.path(), arguments) else { return };
        assert_eq!(counts, BTreeMap::new(), "{arguments:?}");
    }
}

#[test]
fn a_refused_commit_writes_nothing() {
    let place = tempfile::tempdir().expect("a directory");
    run(place.path(), &["init"]);
    run(place.path(), &["put", "a", "1", "-m", "x"]);
    run(place.path(), &["put", "b", "1"]);
    run(place.path(), &["restore", "b"]);
    let Some(counts) = counted(place.path(), &["commit", "--skip-empty", "-m", "x"]) else { return };
    assert_eq!(counts, BTreeMap::new());
}

/// Pages in use after so many commits of one change each, in a store of so many nodes.
#[cfg(feature = "internals")]
mod allocated {
    use mnemosyne::model::{
        Author, BranchName, CommitTime, Content, ContentKind, Message, Node, NodeId, Provenance, SessionName,
    };
    use mnemosyne::ops::{Group, Write, batch};
    use mnemosyne::store::{CommitWords, Store, init};
    use std::time::Duration;

    fn node(number: usize, version: usize) -> Write {
        let content = format!("version {version} of what is believed about {number}, {}", "word ".repeat(18));
        Write::Set(Node {
            id: NodeId::new(format!("entity/{number:06}/fact")).expect("an id"),
            content: Content::from_text(&content),
            content_kind: ContentKind::Note,
            provenance: Provenance { agent_step: Some(version.to_string()), ..Provenance::default() },
            event_time: None,
        })
    }

    fn group(writes: Vec<Write>, number: i64) -> Group {
        let words = CommitWords {
            author: Author::new("agent-7 <agent7@example.com>").expect("an author"),
            time: CommitTime::new(1_764_576_000_000 + number, 0).expect("a time"),
            message: Message::new(&format!("step {number}: record an observation")).expect("a message"),
        };
        Group { writes, words, skip_empty: false }
    }

    #[test]
    fn a_single_change_commit_allocates_at_most_1500_bytes_at_1000_nodes() {
        let place = tempfile::tempdir().expect("a directory");
        let directory = place.path().join(".mnemosyne");
        init(&directory, &BranchName::new("main").expect("a name")).expect("a store");
        let store = Store::new(directory.clone(), Duration::from_secs(10));
        let session = SessionName::default();
        let allocated = || {
            let database = redb::Builder::new().open(directory.join("store.redb")).expect("a database");
            let stats = database.begin_write().expect("a transaction").stats().expect("statistics");
            stats.allocated_pages() * stats.page_size() as u64
        };
        let all = (0..1000).map(|number| node(number, 0)).collect();
        batch(&store, &session, vec![group(all, 0)], Vec::new()).expect("a commit");
        let before = allocated();
        let commits = (1..=1000i64).map(|number| {
            let version = usize::try_from(number).expect("small");
            group(vec![node(version * 7919 % 1000, version)], number)
        });
        batch(&store, &session, commits.collect(), Vec::new()).expect("commits");
        let bytes = (allocated() - before) / 1000;
        assert!((400..=1500).contains(&bytes), "{bytes} bytes a commit");
    }
}
