//! Instructions of whole commands, by callgrind, and the time of a large import.
//!
//! `cargo bench --bench counts` prints Markdown tables; without valgrind only the second one.
#![allow(clippy::print_stdout, reason = "a bench prints its table")]

use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

const SIZES: [usize; 2] = [1_000, 100_000];
const STAGED: usize = 10_000;
const NODES: usize = 10_000;
const COMMITS: [usize; 2] = [1_000, 100_000];

fn mnem(place: &Path, arguments: &[&str]) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mnem"));
    let status = command.args(arguments).current_dir(place).stdout(Stdio::null()).stderr(Stdio::null()).status();
    assert!(status.expect("it runs").success(), "{arguments:?}");
}

/// Instructions of a command; `None` where there is no valgrind.
fn instructions(place: &Path, arguments: &[&str]) -> Option<u64> {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null", env!("CARGO_BIN_EXE_mnem")]);
    let output = valgrind.args(arguments).current_dir(place).output().ok()?;
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}: {told}");
    let (_, count) = told.split_once("Collected : ")?;
    count.split_whitespace().next()?.parse().ok()
}

fn rows(count: usize) -> String {
    let mut rows = String::new();
    for number in 0..count {
        let word = "word ".repeat(20);
        writeln!(rows, r#"{{"id":"entity/{number:06}/fact","content":"what is believed about {number}, {word}"}}"#)
            .expect("a text grows");
    }
    rows
}

/// So many commits of one node each, of which ten change the node that is asked for.
fn history(commits: usize) -> String {
    let mut rows = rows(NODES) + "{\"commit\":{\"message\":\"import\"}}\n";
    for number in 0..commits {
        let node = if number % (commits / 10) == 0 { 400 } else { 401 + number * 7919 % (NODES - 401) };
        writeln!(rows, r#"{{"id":"entity/{node:06}/fact","content":"what is believed since {number}"}}"#)
            .expect("a text grows");
        writeln!(rows, r#"{{"commit":{{"message":"step {number}"}}}}"#).expect("a text grows");
    }
    rows
}

fn main() {
    let base = tempfile::tempdir().expect("a directory");
    let mut lines = Vec::new();
    println!("| nodes | put --jsonl, s | commit, s |\n|---|---|---|");
    for size in SIZES {
        let place = base.path().join(size.to_string());
        std::fs::create_dir(&place).expect("a directory");
        std::fs::write(place.join("rows"), rows(size)).expect("a file");
        mnem(&place, &["init"]);
        let start = Instant::now();
        mnem(&place, &["put", "--jsonl", "rows"]);
        let put = start.elapsed().as_secs_f64();
        mnem(&place, &["commit", "-m", "import"]);
        println!("| {size} | {put:.2} | {:.2} |", start.elapsed().as_secs_f64() - put);
        let commands: [(&str, &[&str]); 5] = [
            ("put", &["put", "entity/000500/fact", "changed"]),
            ("commit", &["commit", "-m", "step"]),
            ("get", &["get", "entity/000400/fact"]),
            ("log of one id", &["log", "--", "entity/000500/fact"]),
            ("ls of a prefix", &["ls", "entity/000500/"]),
        ];
        for (name, arguments) in commands {
            lines.push((name.to_owned(), size, instructions(&place, arguments)));
        }
        if size == SIZES[0] {
            let none = instructions(&place, &["put", "entity/000501/fact", "changed"]);
            lines.push((format!("put after 1 staged put of {STAGED}"), 1, none));
            for number in 0..STAGED {
                mnem(&place, &["put", &format!("staged/{number:06}/fact"), "what is believed about it"]);
            }
            let many = instructions(&place, &["put", "entity/000502/fact", "changed"]);
            lines.push((format!("put after {STAGED} staged puts"), STAGED, many));
        }
    }
    for commits in COMMITS {
        let place = base.path().join(format!("history-{commits}"));
        std::fs::create_dir(&place).expect("a directory");
        std::fs::write(place.join("rows"), history(commits)).expect("a file");
        mnem(&place, &["init"]);
        mnem(&place, &["put", "--jsonl", "rows", "--commits"]);
        let commands: [(&str, &[&str]); 5] = [
            ("blame", &["blame", "entity/000400/fact"]),
            ("log of one id", &["log", "--", "entity/000400/fact"]),
            ("diff of neighbours", &["diff", "HEAD~1", "HEAD"]),
            ("show", &["show"]),
            ("bisect find", &["bisect", "find", "--contains", "entity/000400/fact", "since"]),
        ];
        for (name, arguments) in commands {
            lines.push((format!("{name}, {NODES} nodes"), commits, instructions(&place, arguments)));
        }
    }
    lines.push(("version".to_owned(), 0, instructions(base.path(), &["version"])));
    println!("\n| command | nodes, puts or commits | instructions |\n|---|---|---|");
    for (name, size, count) in lines {
        println!("| {name} | {size} | {} |", count.map_or("no valgrind".to_owned(), |count| count.to_string()));
    }
}
