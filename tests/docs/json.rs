//! The contract of `--json`: every line that a command prints has the fields of a table in `docs/json.md`, in its order
//! and of its types, and the tables hold nothing that is never printed.

use super::bless::root;
use super::tables::{quoted, rows};
use regex::Regex;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;
use std::process::{Command, Output};

/// The exit status, and the arguments.
type Call = (i32, &'static [&'static str]);

const MNEM: &str = env!("CARGO_BIN_EXE_mnem");

/// Each command of the document's first table, and calls that together print all that the tables allow.
const CALLS: &[(&str, &[Call])] = &[
    ("init", &[(0, &["init"]), (0, &["init"])]),
    ("branch --show-current", &[(0, &["branch", "--show-current"])]),
    ("switch", &[(0, &["switch", "-c", "first"]), (128, &["switch", "nothing"])]),
    ("branch -m", &[(0, &["branch", "-m", "main"])]),
    ("status", &[(0, &["status"]), (0, &["status", "--session", "other"])]),
    ("rev-parse", &[(0, &["rev-parse", "--abbrev-ref", "HEAD"]), (128, &["rev-parse", "HEAD"])]),
    (
        "put",
        &[
            (0, &["put", "a", "old"]),
            (0, &["put", "gone", "1"]),
            (0, &["put", "json", "-t", "json", "{ \"n\": null, \"l\": [ 1.10 ] }"]),
            (0, &["put", "null", "-t", "json", "null"]),
            (129, &["put", "a"]),
            (129, &["put", "a", "x", "--event-time", "noon"]),
        ],
    ),
    ("commit", &[(0, &["commit", "-m", "one"]), (1, &["commit", "-m", "none"])]),
    (
        "put",
        &[
            (0, &["put", "a", "new", "--event-time", "2026-11-30T18:05:00+01:00"]),
            (0, &["put", "b", "2"]),
            (0, &["put", "json", "-t", "json", "{ \"n\": null, \"l\": [ 1.10 ] }"]),
            (0, &["put", "--jsonl", "gone.jsonl"]),
        ],
    ),
    ("commit --dry-run", &[(0, &["commit", "--dry-run"])]),
    (
        "commit --skip-empty",
        &[(0, &["commit", "--skip-empty", "-m", "two"]), (0, &["commit", "--skip-empty", "-m", "-"])],
    ),
    (
        "put -m",
        &[
            (0, &["put", "c", "3", "-m", "c"]),
            (0, &["put", "c", "3", "-m", "c"]),
            (0, &["put", "c", "4", "-m", "c", "--provenance", ALL_PROVENANCE]),
            (0, &["put", "--jsonl", "c.jsonl", "-m", "c"]),
        ],
    ),
    (
        "put --dry-run",
        &[(0, &["put", "--dry-run", "d", "1"]), (1, &["put", "--dry-run", "a", "new", "--if-match", "none"])],
    ),
    ("put --commits", &[(0, &["put", "--jsonl", "history.jsonl", "--commits"])]),
    ("restore", &[(1, &["restore", "nothing"]), (0, &["restore", "a", "-s", "HEAD~2"]), (0, &["restore", "a"])]),
    (
        "get",
        &[
            (0, &["get", "a"]),
            (0, &["get", "null"]),
            (0, &["get", "c", "-r", "HEAD~2"]),
            (1, &["get", "a", "nothing"]),
            (1, &["get", "nothing"]),
            (129, &["get", ""]),
        ],
    ),
    (
        "get --path",
        &[
            (0, &["get", "json", "--path", "/l"]),
            (0, &["get", "json", "--path", "/n"]),
            (1, &["get", "json", "nothing", "--path", "/l"]),
            (1, &["get", "json", "a", "--path", "/l"]),
        ],
    ),
    ("log", &[(0, &["log"]), (0, &["log", "--ids", "-n", "1"]), (128, &["log", "nothing"])]),
    ("log --stat", &[(0, &["log", "--stat"]), (0, &["log", "--name-status"]), (129, &["log", "--grep", "("])]),
    ("log -p", &[(0, &["log", "-p"])]),
    ("rev-parse", &[(0, &["rev-parse", "HEAD~1..HEAD"]), (0, &["rev-parse", "--short", "HEAD"])]),
    ("merge-base", &[(0, &["merge-base", "HEAD~1", "HEAD"]), (128, &["merge-base", "HEAD", "nothing"])]),
    (
        "merge-base --is-ancestor",
        &[
            (0, &["merge-base", "--is-ancestor", "HEAD~1", "HEAD"]),
            (1, &["merge-base", "--is-ancestor", "HEAD", "HEAD~1"]),
        ],
    ),
    ("reflog", &[(0, &["reflog"]), (0, &["reflog", "main"]), (128, &["reflog", "nothing"])]),
    ("show", &[(0, &["show"]), (0, &["show", "HEAD~1"]), (128, &["show", "nothing"])]),
    ("show --stat", &[(0, &["show", "--stat"]), (0, &["show", "--name-only"])]),
    ("put", &[(0, &["put", "--jsonl", "compared.jsonl"]), (0, &["put", "large", "-t", "json", "-F", "large.json"])]),
    ("commit", &[(0, &["commit", "-m", "compared"])]),
    ("put", &[(0, &["put", "--jsonl", "changed.jsonl"]), (0, &["put", "large", "-t", "json", "-F", "larger.json"])]),
    ("diff", &[(1, &["diff", "--exit-code"]), (0, &["diff", "HEAD~1", "HEAD"]), (0, &["diff", "HEAD", "HEAD"])]),
    ("diff --stat", &[(0, &["diff", "--stat"]), (0, &["diff", "--name-status"])]),
    (
        "blame",
        &[
            (0, &["blame"]),
            (0, &["blame", "text"]),
            (0, &["blame", "value"]),
            (1, &["blame", "null"]),
            (0, &["blame", "given", "-r", "HEAD"]),
            (1, &["blame", "gone"]),
            (1, &["blame", "gone", "--by", "path"]),
            (1, &["blame", "value", "--path", "/b/0"]),
            (1, &["blame", "nothing"]),
            (129, &["blame", "--history"]),
        ],
    ),
    ("blame --history", &[(0, &["blame", "--history", "gone"]), (0, &["blame", "--history", "text"])]),
    ("ls", &[(0, &["ls"])]),
    ("ls -l", &[(0, &["ls", "-l"]), (0, &["ls", "-l", "-r", "HEAD"])]),
    ("ls --count", &[(0, &["ls", "--count"])]),
    ("grep", &[(0, &["grep", "n"]), (129, &["grep", "("])]),
    ("grep -c", &[(0, &["grep", "-c", "n"]), (0, &["grep", "-l", "n"]), (1, &["grep", "-c", "no such text"])]),
    (
        "test",
        &[
            (0, &["test", "--present", "a", "--path-equals", "json", "/n", "null", "--count", "*", "ge", "1"]),
            (1, &["test", "--any", "none/", "x"]),
            (129, &["test", "--present", ""]),
        ],
    ),
    ("check", &[(1, &["check", "check.jsonl"]), (129, &["check", "history.jsonl"])]),
    ("restore", &[(0, &["restore", "*", "**/*"])]),
    ("rm", &[(0, &["rm", "b"]), (1, &["rm", "nothing"])]),
    ("status", &[(0, &["status"]), (0, &["status", "--session", "other"])]),
    (
        "branch NAME",
        &[
            (0, &["branch", "side"]),
            (0, &["branch", "-f", "side", "HEAD~1"]),
            (128, &["branch", "side"]),
            (129, &["branch", "a b"]),
        ],
    ),
    ("switch", &[(0, &["switch", "--detach"]), (0, &["switch", "side", "--session", "other"])]),
    ("branch --show-current", &[(0, &["branch", "--show-current"])]),
    ("status", &[(0, &["status"]), (0, &["status", "--session", "third"])]),
    ("switch", &[(0, &["switch", "-"])]),
    ("branch", &[(0, &["branch"]), (0, &["branch", "--contains", "HEAD"]), (0, &["branch", "-l", "s*"])]),
    ("branch -m", &[(0, &["branch", "-m", "side", "aside"]), (0, &["branch", "-M", "aside", "aside"])]),
    ("switch", &[(0, &["switch", "main", "--session", "other"])]),
    ("branch -d", &[(0, &["branch", "-d", "aside"]), (1, &["branch", "-d", "main"])]),
    ("tag NAME", &[(0, &["tag", "v1"]), (0, &["tag", "v2", "-m", "two"]), (0, &["tag", "-f", "v1", "HEAD~1"])]),
    ("tag", &[(0, &["tag"]), (0, &["tag", "-n"]), (0, &["tag", "-l", "v1"])]),
    ("tag -d", &[(0, &["tag", "-d", "v1", "v2"])]),
    ("rm -m", &[(0, &["rm", "e", "-m", "without e"]), (1, &["rm", "e", "-m", "again"])]),
    (
        "bisect find",
        &[
            (0, &["bisect", "find", "--path-exists", "value", "/b"]),
            (1, &["bisect", "find", "--present", "nothing"]),
            (129, &["bisect", "find"]),
        ],
    ),
    (
        "bisect find --all",
        &[
            (0, &["bisect", "find", "--all", "--present", "gone"]),
            (0, &["bisect", "find", "--all", "--count", "*", "ge", "1"]),
            (0, &["bisect", "find", "--all", "--any", "go*", "1"]),
            (1, &["bisect", "find", "--all", "--present", "nothing"]),
        ],
    ),
    ("exec", &[(0, &["exec", "true"])]),
    ("export", &[(0, &["export"])]),
    ("import", &[(0, &["import", "import.jsonl"])]),
    ("import -m", &[(0, &["import", "import.jsonl", "-m", "import"]), (1, &["import", "import.jsonl", "-m", "again"])]),
    ("tag NAME", &[(0, &["tag", "told", "-m", "what it is"]), (0, &["tag", "plain", "HEAD~1"])]),
    (
        "bundle create",
        &[
            (0, &["bundle", "create", "all.bundle"]),
            (0, &["bundle", "create", "more.bundle", "HEAD~1..HEAD", "--all"]),
            (128, &["bundle", "create", "none.bundle", "HEAD~1"]),
        ],
    ),
    (
        "bundle verify",
        &[
            (0, &["bundle", "verify", "all.bundle"]),
            (0, &["bundle", "verify", "more.bundle"]),
            (128, &["bundle", "verify", "c.jsonl"]),
        ],
    ),
    (
        "bundle import",
        &[
            (0, &["bundle", "import", "all.bundle"]),
            (0, &["bundle", "import", "--dry-run", "--prefix", "x", "more.bundle"]),
            (129, &["bundle", "import", "--prefix", "a b", "all.bundle"]),
        ],
    ),
    ("tag -d", &[(0, &["tag", "-d", "told", "plain"])]),
    (
        "config",
        &[
            (0, &["config", "author", "Ada"]),
            (0, &["config"]),
            (0, &["config", "author"]),
            (129, &["config", "auhtor"]),
        ],
    ),
    ("put -m", &[(0, &["put", "--jsonl", "base.jsonl", "-m", "base"])]),
    ("switch", &[(0, &["switch", "-c", "y"]), (0, &["switch", "-c", "x"])]),
    ("put -m", &[(0, &["put", "--jsonl", "x.jsonl", "-m", "x"])]),
    ("switch", &[(0, &["switch", "y"])]),
    ("put -m", &[(0, &["put", "--jsonl", "y.jsonl", "-m", "y"])]),
    ("merge --dry-run", &[(3, &["merge", "--dry-run", "x"]), (0, &["merge", "--dry-run", "main"])]),
    ("merge", &[(3, &["merge", "x"]), (3, &["merge", "x"])]),
    ("status", &[(0, &["status"]), (0, &["status", "--session", "other"])]),
    ("merge --continue", &[(3, &["merge", "--continue"])]),
    (
        "merge --resolve",
        &[
            (0, &["merge", "--resolve", "k=ours", "d=theirs"]),
            (0, &["merge", "--resolve", "k=delete"]),
            (0, &["merge", "--resolve", "n=delete", "k=ours"]),
            (1, &["merge", "--resolve", "nothing=ours"]),
        ],
    ),
    ("merge --continue", &[(0, &["merge", "--continue"]), (129, &["merge", "--continue"])]),
    ("put -m", &[(0, &["put", "t", "1\n2\ny\n4\nY", "-m", "y too"])]),
    ("switch", &[(0, &["switch", "x"])]),
    ("merge", &[(3, &["merge", "y~2"])]),
    ("merge --resolve", &[(0, &["merge", "--resolve", "k=base"])]),
    ("merge --abort", &[(0, &["merge", "--abort"])]),
    ("merge", &[(3, &["merge", "y~2"])]),
    ("put", &[(0, &["put", "k", "other"]), (0, &["put", "n", "x"])]),
    ("merge --resolve", &[(0, &["merge", "--resolve", "d=ours"])]),
    ("merge --continue", &[(0, &["merge", "--continue"])]),
    ("put -m", &[(0, &["put", "t", "X\n2\nx\n4\nY", "-m", "x too"])]),
    ("merge", &[(3, &["merge", "y"])]),
    ("merge --abort", &[(0, &["merge", "--abort"])]),
    ("merge", &[(0, &["merge", "main"]), (1, &["merge", "--ff-only", "y"])]),
    (
        "put -m",
        &[(0, &["put", "q", "1", "-m", "q"]), (0, &["put", "q", "2", "-m", "q"]), (0, &["put", "q", "3", "-m", "q"])],
    ),
    ("revert", &[(3, &["revert", "HEAD~1", "HEAD"])]),
    ("status", &[(0, &["status"]), (0, &["status", "--session", "other"])]),
    ("revert --resolve", &[(0, &["revert", "--resolve", "q=theirs"])]),
    ("revert", &[(3, &["revert", "--continue"])]),
    ("revert --abort", &[(0, &["revert", "--abort"]), (129, &["revert", "--abort"])]),
    ("revert", &[(0, &["revert", "HEAD"]), (129, &["revert"])]),
    ("put -m", &[(0, &["put", "w", "1\n2", "--source", "s", "-m", "w"]), (0, &["put", "w", "1\n3", "-m", "w"])]),
    ("revert", &[(3, &["revert", "--source", "s"])]),
    ("status", &[(0, &["status"])]),
    ("revert --abort", &[(0, &["revert", "--abort"])]),
    (
        "bisect run",
        &[
            (0, &["bisect", "run", "--range", "HEAD~2..HEAD", "--", MNEM, "test", "--absent", "w"]),
            (2, &["bisect", "run", "--range", "HEAD~2..HEAD", "--no-verify", "--", "sh", "-c", "exit 125"]),
            (1, &["bisect", "run", "--range", "HEAD~2..HEAD", "true"]),
            (0, &["bisect", "run", "--range", "HEAD~2..HEAD", "--flaky", "--", MNEM, "test", "--absent", "w"]),
            (
                2,
                &[
                    "bisect",
                    "run",
                    "--range",
                    "HEAD~3..HEAD",
                    "--flaky",
                    "--one-sided",
                    "--max-runs",
                    "7",
                    "--",
                    "sh",
                    "-c",
                    concat!("[ $MNEM_BISECT_RUN != 7 ] || exit 125; ", env!("CARGO_BIN_EXE_mnem"), " test --absent w"),
                ],
            ),
            (129, &["bisect", "run"]),
        ],
    ),
    (
        "bisect run --narrow",
        &[(0, &["bisect", "run", "--narrow", "--range", "HEAD~2..HEAD", "--", MNEM, "test", "--absent", "w"])],
    ),
    (
        "bisect narrow",
        &[
            (0, &["bisect", "narrow", "--range", "HEAD~2..HEAD", "--", MNEM, "test", "--absent", "w"]),
            (2, &["bisect", "narrow", "--range", "HEAD~2..HEAD", "--max-runs", "1", "true"]),
            (1, &["bisect", "narrow", "--range", "HEAD~2..HEAD", "true"]),
            (129, &["bisect", "narrow"]),
        ],
    ),
    ("bisect reset", &[(0, &["bisect", "reset"])]),
    (
        "bisect start",
        &[
            (0, &["bisect", "start"]),
            (0, &["bisect", "bad", "HEAD"]),
            (0, &["bisect", "good", "HEAD~4"]),
            (2, &["bisect", "skip", "HEAD~4..HEAD~1"]),
            (0, &["bisect", "undo"]),
            (0, &["bisect", "good", "HEAD~1"]),
            (128, &["bisect", "status", "--session", "other"]),
        ],
    ),
    ("bisect log", &[(0, &["bisect", "log"])]),
    ("bisect reset", &[(0, &["bisect", "reset"])]),
    ("reset", &[(0, &["reset", "HEAD"]), (129, &["reset"])]),
    ("commit --amend", &[(0, &["commit", "--amend"]), (129, &["commit", "--amend", "--dry-run"])]),
    ("completions", &[(0, &["completions", "zsh"])]),
    ("version", &[(0, &["version"])]),
    ("demo", &[(0, &["demo"])]),
    ("fsck", &[(0, &["fsck"])]),
    ("fsck --repair", &[(0, &["fsck", "--repair"])]),
    ("gc --dry-run", &[(0, &["gc", "--dry-run"])]),
    ("gc", &[(0, &["gc"])]),
    ("switch", &[(0, &["switch", "-c", "redacted"])]),
    ("put -m", &[(0, &["put", "r", "secret", "-m", "r"]), (0, &["put", "s", "secret", "-m", "s"])]),
    ("switch", &[(0, &["switch", "-c", "other-side"])]),
    ("put -m", &[(0, &["put", "r", "theirs", "-m", "theirs"])]),
    ("switch", &[(0, &["switch", "redacted"])]),
    ("put -m", &[(0, &["put", "r", "ours", "-m", "ours"])]),
    ("rm -m", &[(0, &["rm", "s", "-m", "gone"])]),
    ("put", &[(0, &["put", "r", "staged"])]),
    ("redact", &[(0, &["redact", "r", "--reason", "it is secret"]), (0, &["redact", "s"]), (1, &["redact", "never"])]),
    ("get", &[(1, &["get", "r"])]),
    ("get --path", &[(1, &["get", "r", "--path", "/a"])]),
    ("ls", &[(0, &["ls", "r"])]),
    ("ls -l", &[(0, &["ls", "-l", "r"]), (0, &["ls", "-l", "r", "-r", "HEAD"])]),
    ("diff", &[(0, &["diff"])]),
    ("blame", &[(0, &["blame", "r"]), (0, &["blame", "r", "-r", "HEAD"]), (1, &["blame", "s"])]),
    ("blame --history", &[(0, &["blame", "--history", "r"])]),
    ("restore", &[(0, &["restore", "r"])]),
    ("merge", &[(3, &["merge", "other-side"])]),
    ("merge --abort", &[(0, &["merge", "--abort"])]),
];

/// Commands that are questions: with 1 they have answered no, and there is no error.
const ANSWER_NO: [&str; 6] = ["diff", "grep -c", "test", "check", "merge-base --is-ancestor", "bisect find --all"];

/// Files for `--jsonl` and `-F`.
const ROWS: &[(&str, &str)] = &[
    (
        "compared.jsonl",
        r#"{"id":"text","content":"one\ntwo\nthree"}
        {"id":"value","content":{"a":1,"b":[1]}}
        {"id":"order","content":{"a":1,"b":2}}
        {"id":"spelled","content":"a"}
        {"id":"kept","content":"k"}
        {"id":"deep","content":DEEP1}
        {"id":"given","content":"same","event_time":"2026-11-30T18:05:00+01:00"}"#,
    ),
    (
        "changed.jsonl",
        r#"{"id":"text","content":"one\nTWO\nthree"}
        {"id":"value","content":{"a":2,"b":[],"c":null}}
        {"id":"order","content":{"b":2,"a":1}}
        {"id":"deep","content":DEEP2}
        {"id":"given","content":"same","event_time":"2026-11-30T18:05:00Z","provenance":{"source":"s"}}
        {"id":"spelled","content":"\u0061"}
        {"id":"kept","content":"k","provenance":{"note":"n"}}
        {"id":"null","deleted":true}"#,
    ),
    (
        "base.jsonl",
        r#"{"id":"k","content":"0"}
        {"id":"t","content":"1\n2\n3\n4\n5"}
        {"id":"d","content":"0"}"#,
    ),
    (
        "x.jsonl",
        r#"{"id":"k","content":"x"}
        {"id":"t","content":"X\n2\n3\n4\n5"}
        {"id":"d","deleted":true}
        {"id":"n","content":"x"}"#,
    ),
    (
        "y.jsonl",
        r#"{"id":"k","content":"y"}
        {"id":"t","content":"1\n2\n3\n4\nY"}
        {"id":"d","content":"y"}
        {"id":"n","content":"y"}"#,
    ),
    ("large.json", "[LARGE0]"),
    ("larger.json", "[LARGE1]"),
    ("gone.jsonl", r#"{"id":"gone","deleted":true}"#),
    ("c.jsonl", r#"{"id":"c","deleted":true}"#),
    ("import.jsonl", r#"{"id":"g","content":1}"#),
    (
        "check.jsonl",
        "{\"name\":\"all\",\"predicates\":[\"--not\",\"--present\",\"a\",\"--count\",\"*\",\"eq\",\"0\",\"--present\",\"x\",\"--present\",\"gone\",\"--present\",\"null\",\"--not\",\"--contains\",\"text\",\"TWO\",\"--path-exists\",\"value\",\"/b/0\"]}\n\
         {\"name\":\"none\",\"predicates\":[\"--present\",\"a\"]}",
    ),
    ("history.jsonl", "{\"id\":\"e\",\"content\":1}\n{\"commit\":{\"message\":\"e\"}}\n{\"id\":\"f\",\"content\":1}"),
];

const ALL_PROVENANCE: &str = r#"{"agent_step":"1","observation":"o","tool_call":"t","source":"s","note":"n"}"#;

/// Standard output of each command before the first commit.
const UNBORN: &[(&str, &[&str])] = &[
    ("log", &["log"]),
    ("commit --skip-empty", &["commit", "--skip-empty", "-m", "-"]),
    ("branch", &["branch"]),
    ("branch -m", &["branch", "-m", "trunk"]),
    ("tag", &["tag"]),
];

#[test]
fn every_line_has_one_of_the_shapes_of_its_command() {
    let contract = Contract::read();
    let place = tempfile::tempdir().expect("a directory");
    for (name, rows) in ROWS {
        let nested = |value| format!("{}{value}{}", "[".repeat(129), "]".repeat(129));
        let rows =
            rows.replace("DEEP1", &nested(1)).replace("DEEP2", &nested(2)).replace("LARGE", &"0,".repeat(10_000));
        std::fs::write(place.path().join(name), rows).expect("a file");
    }
    let mut seen = Seen::default();
    for (name, calls) in CALLS {
        for (status, arguments) in *calls {
            let output = mnem(place.path(), arguments);
            assert_eq!(output.status.code(), Some(*status), "{arguments:?}: {output:?}");
            // A command without a shape prints the caller's own data.
            for line in lines(&output.stdout).filter(|_| !contract.commands[*name].is_empty()) {
                contract.check(name, line, &mut seen);
            }
            let is_answer = *status == 1 && ANSWER_NO.contains(name);
            assert!(!is_answer || !String::from_utf8_lossy(&output.stderr).contains("\"error\""), "{output:?}");
            if *status != 0 && !is_answer {
                let error = lines(&output.stderr).next_back().expect("an error");
                contract.check_shape("error", error, &mut seen).unwrap_or_else(|why| panic!("{error}: {why}"));
            }
        }
    }
    std::fs::create_dir(place.path().join(".mnemosyne/staged/damaged")).expect("a directory");
    for line in lines(&mnem(place.path(), &["status"]).stdout) {
        contract.check("status", line, &mut seen);
    }
    for (name, damage, status) in [("fsck --repair", lose as fn(&Path), 128), ("fsck", spoil, 128)] {
        damage(&place.path().join(".mnemosyne/store.redb"));
        let output = mnem(place.path(), &name.split(' ').collect::<Vec<_>>());
        assert_eq!(output.status.code(), Some(status), "{output:?}");
        lines(&output.stdout).for_each(|line| contract.check(name, line, &mut seen));
    }
    let never: Vec<_> = contract.all().difference(&seen.0).cloned().collect();
    assert!(never.is_empty(), "promised and never printed: {never:?}");
    let more: Vec<_> = seen.0.difference(&contract.all()).cloned().collect();
    assert!(more.is_empty(), "printed and not promised: {more:?}");
}

fn change(path: &Path, change: impl FnOnce(&redb::WriteTransaction)) {
    let mut builder = redb::Builder::new();
    builder.set_concurrency_mode(redb::ConcurrencyMode::MultiWriter);
    let database = builder.open(path).expect("a database");
    let transaction = database.begin_write().expect("a transaction");
    change(&transaction);
    transaction.commit().expect("committed");
}

/// Takes the first row of the history away.
fn lose(path: &Path) {
    change(path, |transaction| {
        let table = redb::TableDefinition::<&[u8], &[u8]>::new("history");
        transaction.open_table(table).expect("a table").pop_first().expect("readable");
    });
}

/// Spoils the first node.
fn spoil(path: &Path) {
    change(path, |transaction| {
        let mut table = transaction.open_table(redb::TableDefinition::<u64, &[u8]>::new("object")).expect("a table");
        let (number, mut value) = {
            let (number, value) = table.pop_first().expect("readable").expect("a row");
            (number.value(), value.value().to_vec())
        };
        value[1] ^= 1;
        table.insert(number, &value[..]).expect("written");
    });
}

#[test]
fn before_the_first_commit_a_list_is_no_line() {
    let place = tempfile::tempdir().expect("a directory");
    mnem(place.path(), &["init"]);
    let contract = Contract::read();
    for (name, arguments) in UNBORN {
        assert!(contract.commands.contains_key(*name));
        let output = mnem(place.path(), arguments);
        assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
    }
}

#[test]
fn every_command_is_in_the_table() {
    let contract = Contract::read();
    let listed: BTreeSet<_> = contract.commands.keys().map(|name| name.split(' ').next().expect("a word")).collect();
    let definition = mnemosyne::command();
    assert_eq!(listed, definition.get_subcommands().map(clap::Command::get_name).collect());
}

fn mnem(place: &Path, arguments: &[&str]) -> Output {
    let mut mnem = Command::new(env!("CARGO_BIN_EXE_mnem"));
    mnem.arg("--json").args(arguments).current_dir(place).env_clear();
    mnem.env("MNEM_DATE", "@1764576000").env("MNEM_CEILING_DIRECTORIES", place);
    mnem.output().expect("mnem runs")
}

fn lines(bytes: &[u8]) -> impl DoubleEndedIterator<Item = &str> {
    std::str::from_utf8(bytes).expect("UTF-8").lines()
}

/// The document, read.
struct Contract {
    /// Command → shapes.
    commands: BTreeMap<String, Vec<String>>,
    /// Shape → its fields.
    shapes: BTreeMap<String, Vec<Field>>,
    time: Regex,
    hash: Regex,
}

struct Field {
    name: String,
    kind: Kind,
    may_be_null: bool,
}

enum Kind {
    /// A type, or one of these shapes.
    Named(Vec<String>),
    /// An array of it.
    List(String),
    /// One of these, as JSON spells them.
    Literals(Vec<String>),
}

/// What was printed: shape, field, and `null` or the literal or nothing.
#[derive(Default)]
struct Seen(BTreeSet<(String, String, String)>);

impl Seen {
    fn add(&mut self, shape: &str, field: &str, what: &str) {
        self.0.insert((shape.to_owned(), field.to_owned(), what.to_owned()));
    }
}

impl Contract {
    fn read() -> Self {
        let text = std::fs::read_to_string(root().join("docs/json.md")).expect("the document");
        let names = |cell: &str| quoted(cell).map(str::to_owned).collect::<Vec<_>>();
        let commands = rows(&text, "## Commands").into_iter();
        let commands = commands.map(|row| (names(&row[0]).remove(0), names(&row[2]))).collect();
        let shapes = text.lines().filter(|line| line.starts_with("### `"));
        let shapes = shapes.map(|heading| {
            let fields = rows(&text, heading).into_iter().map(|row| Field {
                name: names(&row[0]).remove(0),
                kind: match &names(&row[1])[..] {
                    [] => Kind::Literals(row[1].split(' ').map(str::to_owned).collect()),
                    [name] if row[1].starts_with("list of ") => Kind::List(name.clone()),
                    names => Kind::Named(names.to_vec()),
                },
                may_be_null: match row[2].as_str() {
                    "yes" => true,
                    "no" => false,
                    other => panic!("{heading}: null is '{other}'"),
                },
            });
            (names(heading).remove(0), fields.collect())
        });
        let time = Regex::new(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d$").expect("a pattern");
        let hash = Regex::new("^[0-9a-f]{64}$").expect("a pattern");
        Self { commands, shapes: shapes.collect(), time, hash }
    }

    /// All that must be seen once: each field, with each literal and null where it may be.
    fn all(&self) -> BTreeSet<(String, String, String)> {
        let mut all = Seen::default();
        for (shape, fields) in &self.shapes {
            for field in fields {
                match &field.kind {
                    Kind::Named(names) => {
                        names.iter().filter(|name| *name != "null").for_each(|name| all.add(shape, &field.name, name));
                    }
                    Kind::List(_) => all.add(shape, &field.name, ""),
                    Kind::Literals(literals) => {
                        literals.iter().for_each(|literal| all.add(shape, &field.name, literal));
                    }
                }
                if field.may_be_null {
                    all.add(shape, &field.name, "null");
                }
            }
        }
        all.0
    }

    /// A line of a command has exactly one of its shapes.
    fn check(&self, command: &str, line: &str, seen: &mut Seen) {
        let shapes = &self.commands[command];
        let fits = |shape: &&String| self.check_shape(shape, line, &mut Seen::default()).is_ok();
        match shapes.iter().filter(fits).collect::<Vec<_>>()[..] {
            [shape] => self.check_shape(shape, line, seen).expect("checked"),
            _ => {
                let why = shapes.iter().map(|shape| self.check_shape(shape, line, seen));
                panic!("{command}: {line}\n{:?}", why.collect::<Vec<_>>());
            }
        }
    }

    fn check_shape(&self, shape: &str, object: &str, seen: &mut Seen) -> Result<(), String> {
        let fields = self.shapes.get(shape).ok_or_else(|| format!("no shape '{shape}'"))?;
        let members = serde_json::from_str::<Members>(object).map_err(|error| error.to_string())?.0;
        let found: Vec<_> = members.iter().map(|(name, _)| name.as_str()).collect();
        let wanted: Vec<_> = fields.iter().map(|field| field.name.as_str()).collect();
        if found != wanted {
            return Err(format!("{shape}: fields {found:?} instead of {wanted:?}"));
        }
        for (field, (name, value)) in fields.iter().zip(&members) {
            self.check_field(shape, field, value.get(), seen).map_err(|why| format!("{shape}, {name}: {why}"))?;
        }
        Ok(())
    }

    fn check_field(&self, shape: &str, field: &Field, value: &str, seen: &mut Seen) -> Result<(), String> {
        if value == "null" {
            seen.add(shape, &field.name, "null");
            return if field.may_be_null { Ok(()) } else { Err("null".to_owned()) };
        }
        match &field.kind {
            Kind::Literals(_) => seen.add(shape, &field.name, value),
            Kind::List(_) => seen.add(shape, &field.name, ""),
            Kind::Named(_) => {}
        }
        match &field.kind {
            Kind::Named(names) => {
                let fits = |name: &&String| self.check_value(name, value, &mut Seen::default()).is_ok();
                let name = names.iter().find(fits).or(names.first()).expect("one at least");
                seen.add(shape, &field.name, name);
                self.check_value(name, value, seen)
            }
            Kind::List(name) => {
                let values: Vec<&RawValue> = serde_json::from_str(value).map_err(|error| error.to_string())?;
                values.into_iter().try_for_each(|value| self.check_value(name, value.get(), seen))
            }
            Kind::Literals(literals) if literals.iter().any(|literal| literal == value) => Ok(()),
            Kind::Literals(_) => Err(value.to_owned()),
        }
    }

    fn check_value(&self, kind: &str, value: &str, seen: &mut Seen) -> Result<(), String> {
        let text = serde_json::from_str::<String>(value).ok();
        let good = match kind {
            "text" => text.is_some(),
            "hash" => text.is_some_and(|text| self.hash.is_match(&text)),
            "time" => text.is_some_and(|text| self.time.is_match(&text)),
            "number" => serde_json::from_str::<u64>(value).is_ok(),
            "decimal" => serde_json::from_str::<f64>(value).is_ok_and(|number| number.is_finite() && number >= 0.0),
            "flag" => serde_json::from_str::<bool>(value).is_ok(),
            "any" => true,
            "null" => false,
            shape => return self.check_shape(shape, value, seen),
        };
        if good { Ok(()) } else { Err(format!("{value} is no {kind}")) }
    }
}

/// The members of an object in their order, values as they are spelled.
struct Members(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}
