//! The targets of `fuzz/` over their corpora: what was once worth keeping is tried whenever tests run.

mod bundle;
mod bytes;
mod choices;
mod commit;
mod json;
mod memory_disk;
mod node;
mod object;
mod predicate;
mod put_jsonl;
mod revision;
mod spliced_store;
mod staged;
mod time;

use std::collections::BTreeSet;
use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

/// What a target does with one input: it panics where a claim does not hold.
type Check = fn(&[u8]);

const TARGETS: [(&str, Check); 7] = [
    ("bundle", bundle::check),
    ("object", object::check),
    ("predicate", predicate::check),
    ("put_jsonl", put_jsonl::check),
    ("revision", revision::check),
    ("spliced_store", spliced_store::check),
    ("staged", staged::check),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz")
}

fn files(directory: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("an entry").path())
}

/// The inputs that are kept for a target.
fn corpus(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    files(&root().join("corpus").join(target)).map(|path| (path.clone(), fs::read(path).expect("an input"))).collect()
}

#[test]
fn every_target_holds_over_its_corpus() {
    let mut failed = Vec::new();
    for (target, check) in TARGETS {
        let inputs = corpus(target);
        assert!(!inputs.is_empty(), "{target}");
        failed.extend(inputs.into_iter().filter(|(_, input)| catch_unwind(|| check(input)).is_err()));
    }
    let names: Vec<_> = failed.iter().map(|(path, _)| path).collect();
    assert!(failed.is_empty(), "{names:#?}");
}

#[test]
fn every_target_has_a_program_a_corpus_and_a_section() {
    let targets: BTreeSet<_> = TARGETS.iter().map(|(target, _)| (*target).to_owned()).collect();
    let names = |directory: &str| -> BTreeSet<_> {
        let stem = |path: PathBuf| path.file_stem().expect("a name").to_str().expect("UTF-8").to_owned();
        files(&root().join(directory)).map(stem).collect()
    };
    assert_eq!(names("targets"), targets);
    assert_eq!(names("corpus"), targets);
    let page = fs::read_to_string(root().join("../docs/fuzzing.md")).expect("the page");
    let sections = page.lines().filter_map(|line| line.strip_prefix("### `")?.strip_suffix('`'));
    assert_eq!(sections.map(str::to_owned).collect::<BTreeSet<_>>(), targets);
}
