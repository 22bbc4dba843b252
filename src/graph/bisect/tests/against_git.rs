//! How many tests git's bisect takes on the same histories. The counts were made once; `tests/data/bisect-git` holds them.

use super::play::play;
use super::random::{Case, cases};
use crate::store::Number;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn histories() -> impl Iterator<Item = Case> {
    cases(31, 2000, 40)
}

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/bisect-git")
}

/// Tells whether the counts were made of these histories.
fn fingerprint() -> String {
    let mut text = String::new();
    for case in histories() {
        for commit in 1..=case.graph.len() {
            write!(text, "{:?}", case.graph.parents_of(commit)).expect("a string");
        }
        writeln!(text, "{:?}", case.bounds.good).expect("a string");
    }
    format!("{:08x}", crc32c::crc32c(text.as_bytes()))
}

#[test]
fn all_culprits_of_all_histories_take_no_more_tests_than_git_takes() {
    let text = std::fs::read_to_string(data()).expect("the counts");
    let (heading, counts) = text.split_once('\n').expect("a heading");
    assert!(heading.ends_with(&fingerprint()), "the histories are not those of the counts: {heading}");
    let counts: Vec<usize> = counts.split_whitespace().map(|count| count.parse().expect("a count")).collect();
    let mut own = 0;
    for case in histories() {
        for &culprit in case.candidates.numbers() {
            own += play(&case, &case.candidates, culprit, &BTreeSet::new(), 1).tests;
        }
    }
    assert_eq!(counts.len(), histories().count());
    let git: usize = counts.iter().sum();
    assert!(own <= git, "{own} tests, git takes {git}: {:.4}", own as f64 / git as f64);
}

fn git(repository: &Path, arguments: &[&str], input: &str) -> String {
    let mut git = Command::new("git");
    git.args(arguments).current_dir(repository).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    let mut child = git.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("git");
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("git reads");
    let output = child.wait_with_output().expect("git ends");
    assert!(output.status.success(), "git {arguments:?}");
    String::from_utf8(output.stdout).expect("text")
}

/// The histories as one repository: for each the ids of its commits.
fn imported(repository: &Path) -> Vec<Vec<String>> {
    git(repository, &["init", "--quiet", "."], "");
    let (mut stream, mut before) = (String::new(), 0);
    for case in histories() {
        for commit in 1..=case.graph.len() {
            let mark = before + commit;
            write!(
                stream,
                "reset refs/heads/x\n\ncommit refs/heads/x\nmark :{mark}\ncommitter A <a> {} +0000\ndata 0\n",
                1_000_000_000 + commit * 60
            )
            .expect("a string");
            for (at, parent) in case.graph.parents_of(commit).iter().enumerate() {
                writeln!(stream, "{} :{}", if at == 0 { "from" } else { "merge" }, before + parent).expect("a string");
            }
            stream.push('\n');
        }
        before += case.graph.len();
    }
    git(repository, &["fast-import", "--quiet", "--force", "--export-marks=marks"], &stream);
    let marks = std::fs::read_to_string(repository.join("marks")).expect("marks");
    let marks = marks.lines().map(|line| line[1..].split_once(' ').expect("a mark and an id"));
    let ids: BTreeMap<Number, &str> = marks.map(|(mark, id)| (mark.parse().expect("a number"), id)).collect();
    let mut ids = ids.into_values().map(str::to_owned);
    histories().map(|case| ids.by_ref().take(usize::try_from(case.graph.len()).expect("small")).collect()).collect()
}

/// How many tests git takes for all culprits between these commits: one for each that is still possible, at each choice.
fn tests(repository: &Path, bad: &str, good: &[String]) -> usize {
    let without = good.iter().map(|good| format!("^{good}"));
    let arguments: Vec<_> = ["rev-list", "--bisect-vars", bad].into_iter().map(str::to_owned).chain(without).collect();
    let told = git(repository, &arguments.iter().map(String::as_str).collect::<Vec<_>>(), "");
    let of = |name: &str| {
        told.lines().find_map(|line| line.strip_prefix(name)).expect("a value").trim_matches('\'').to_owned()
    };
    let all: usize = of("bisect_all=").parse().expect("a count");
    if all < 2 {
        return 0;
    }
    let next = of("bisect_rev=");
    let tested_good: Vec<_> = good.iter().cloned().chain([next.clone()]).collect();
    all + tests(repository, &next, good) + tests(repository, bad, &tested_good)
}

#[test]
#[ignore = "makes the counts anew, which takes minutes"]
fn the_counts_of_git_are_made() {
    let place = tempfile::tempdir().expect("a directory");
    let ids = imported(place.path());
    let version = git(place.path(), &["version"], "");
    let mut text =
        format!("{}, tests for all culprits of each history, of histories {}\n", version.trim(), fingerprint());
    for (case, ids) in histories().zip(ids) {
        let good: Vec<_> =
            case.bounds.good.iter().map(|&good| ids[usize::try_from(good).expect("small") - 1].clone()).collect();
        writeln!(text, "{}", tests(place.path(), ids.last().expect("a commit"), &good)).expect("a string");
    }
    std::fs::write(data(), text).expect("written");
}
