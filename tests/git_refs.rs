//! Names of branches against `git check-ref-format --branch`, over names made of what its rules are about.

use mnemosyne::model::{BranchName, TagName};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

/// What names are made of. What git's rules name comes with its neighbours.
const PIECES: [&str; 44] = [
    "a",
    "b",
    "é",
    "x.y",
    "/",
    "/",
    "//",
    ".",
    "..",
    "...",
    "@",
    "@{",
    "{",
    "}",
    "-",
    "lock",
    ".lock",
    ".lock/",
    "/.",
    "HEAD",
    "_HEAD",
    "ORIG",
    "refs/heads/",
    "~",
    "^",
    ":",
    "?",
    "*",
    "[",
    "]",
    "\\",
    " ",
    "\t",
    "\n",
    "\u{1}",
    "\u{1f}",
    "\u{7f}",
    "\u{85}",
    "\u{202e}",
    "'",
    "\"",
    "$",
    "%",
    "#",
];

/// Numbers that look random and are always the same.
struct Dice(u64);

impl Dice {
    /// Less than `sides`.
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).expect("31 bits") % sides
    }
}

fn git_accepts(directory: &Path, name: &str) -> bool {
    let mut git = Command::new("git");
    for variable in ["XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS", "GIT_DIR"] {
        git.env_remove(variable);
    }
    git.env("HOME", directory).env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CEILING_DIRECTORIES", directory);
    git.args(["check-ref-format", "--branch", name]).current_dir(directory);
    let status = git.stdout(Stdio::null()).stderr(Stdio::null()).status().expect("git runs");
    assert!(matches!(status.code(), Some(0 | 1 | 128)), "{name:?}: {status}");
    status.success()
}

/// What the README says we refuse beside what git does.
fn is_refused_beyond_git(name: &str) -> bool {
    name.len() > 255
        || name == "@"
        || name.strip_suffix("_HEAD").is_some_and(|start| start.chars().all(|c| c.is_ascii_uppercase() || c == '_'))
        || name.len() == 64 && name.chars().all(|c| c.is_ascii_hexdigit())
        || name.chars().any(|c| ('\u{80}'..='\u{9f}').contains(&c))
}

#[test]
fn no_name_is_taken_that_git_refuses_and_only_the_listed_ones_are_refused_that_git_takes() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut names: BTreeSet<String> = PIECES.iter().map(|&piece| piece.to_owned()).collect();
    names.extend(
        ["", "ORIG_HEAD", "a_HEAD", "HEAD/a", "a/HEAD", "a/@", "@/a", "-a", "a/-b", "a.lock.b"].map(str::to_owned),
    );
    names.extend(["b".repeat(255), "b".repeat(256), "0aF9".repeat(16), "g".repeat(64), "0".repeat(63)]);
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    while names.len() < 1200 {
        let length = 1 + dice.roll(5);
        names.insert((0..length).map(|_| PIECES[dice.roll(PIECES.len())]).collect());
    }
    let (mut taken, mut beyond) = (0, 0);
    for name in &names {
        let (git, own) = (git_accepts(directory.path(), name), BranchName::new(name));
        assert_eq!(own.is_ok(), git && !is_refused_beyond_git(name), "{name:?}: git {git}, {own:?}");
        assert_eq!(TagName::new(name).is_ok(), own.is_ok(), "{name:?}");
        taken += usize::from(own.is_ok());
        beyond += usize::from(own.is_err() && git);
    }
    assert!(taken > 100 && beyond > 10, "{taken} taken, {beyond} refused beyond git");
}
