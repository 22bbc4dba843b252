//! The one place where an error becomes what the user sees: a word, a message, a hint to type, an exit status.

use super::shell::word;
use super::text::escape_line;
use super::when::WhenError;
use crate::graph::{PredicateError, RevisionError};
use crate::model::{IdError, JsonError, KindError, NameError, NodeId, PatternError, PointerError, TimeError};
use crate::ops::OpError;
use crate::store::{BundleFault, StoreError, short_branch, short_tag};
use serde::Serialize;
use std::error::Error;
use std::io::{self, Write};

macro_rules! words {
    ($($(#[$doc:meta])* $word:ident = $text:literal, $exit:literal;)*) => {
        /// What kind of error it is: the word in the message and the exit status with it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Word {
            $($(#[$doc])* $word,)*
        }

        impl Word {
            #[cfg(test)]
            const ALL: &'static [Self] = &[$(Self::$word),*];

            /// The word, a promise to scripts.
            pub fn text(self) -> &'static str {
                match self {
                    $(Self::$word => $text,)*
                }
            }

            /// 1 for a negative answer, 3 for a stop half-way, 128 for what is fatal, 129 for a wrong call.
            pub fn exit(self) -> u8 {
                match self {
                    $(Self::$word => $exit,)*
                }
            }
        }
    };
}

words! {
    NoNode = "no-node", 1;
    PreconditionFailed = "precondition-failed", 1;
    /// What is asked for was taken out of the store.
    Redacted = "redacted", 1;
    NothingToCommit = "nothing-to-commit", 1;
    NotMerged = "not-merged", 1;
    BranchInUse = "branch-in-use", 1;
    WouldOverwrite = "would-overwrite", 1;
    NotFastForward = "not-fast-forward", 1;
    /// There is nothing to find between two ends.
    BisectEndpoints = "bisect-endpoints", 1;
    BisectInconclusive = "bisect-inconclusive", 2;
    Conflict = "conflict", 3;
    InProgress = "in-progress", 3;
    NoStore = "no-store", 128;
    UnsafeStore = "unsafe-store", 128;
    BadRevision = "bad-revision", 128;
    AmbiguousRevision = "ambiguous-revision", 128;
    RefExists = "ref-exists", 128;
    /// A program cannot be started.
    CommandNotFound = "command-not-found", 128;
    BisectNoSession = "bisect-no-session", 128;
    Busy = "busy", 128;
    Corrupt = "corrupt", 128;
    UnsupportedFormat = "unsupported-format", 128;
    /// Met in a store.
    StoredKind = "unsupported-kind", 128;
    Io = "io", 128;
    Usage = "usage", 129;
    BadJson = "bad-json", 129;
    BadUtf8 = "bad-utf8", 129;
    BadId = "bad-id", 129;
    BadTime = "bad-time", 129;
    BadSession = "bad-session", 129;
    BadRef = "bad-ref", 129;
    BadKey = "bad-key", 129;
    BadPattern = "bad-pattern", 129;
    BadPredicate = "bad-predicate", 129;
    /// Given to `put`.
    GivenKind = "unsupported-kind", 129;
    ReadOnlyRev = "read-only-rev", 129;
    TooLarge = "too-large", 129;
}

/// What the user is told.
#[derive(Debug)]
pub struct CliError {
    word: Word,
    message: String,
    hint: Option<String>,
    closed_pipe: bool,
}

#[derive(Serialize)]
struct ErrorJson<'a> {
    v: u8,
    r#type: &'static str,
    code: &'static str,
    message: &'a str,
    hint: Option<&'a str>,
    exit: u8,
}

impl CliError {
    /// An error of this kind.
    pub fn new(word: Word, message: impl Into<String>) -> Self {
        Self { word, message: message.into(), hint: None, closed_pipe: false }
    }

    /// A wrong call.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Word::Usage, message)
    }

    /// An error with its causes behind it.
    fn of(word: Word, error: &dyn Error) -> Self {
        Self::new(word, Self::told(error))
    }

    /// What an error says, with its causes behind it.
    pub fn told(error: &dyn Error) -> String {
        let mut message = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            let said = error.to_string();
            if !message.contains(&said) {
                message = format!("{message}: {said}");
            }
            cause = error.source();
        }
        message
    }

    /// Names a thing to type, in place of a hint that is there.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Names a thing to type where there is none yet.
    pub fn or_hint(mut self, hint: &str) -> Self {
        self.hint.get_or_insert_with(|| hint.to_owned());
        self
    }

    /// Names the argument, line or file that was being worked on.
    pub fn about(mut self, subject: &str) -> Self {
        self.message = format!("{subject}: {}", self.message);
        self
    }

    /// Whether all that happened is that nobody reads the answer any more.
    pub fn is_closed_pipe(&self) -> bool {
        self.closed_pipe
    }

    /// The exit status.
    pub fn exit(&self) -> u8 {
        self.word.exit()
    }

    /// Tells the error to a person, or as one JSON object.
    pub fn write(&self, out: &mut dyn Write, json: bool, paint: super::paint::Paint) -> io::Result<()> {
        if json {
            let error = ErrorJson {
                v: 1,
                r#type: "error",
                code: self.word.text(),
                message: &self.message,
                hint: self.hint.as_deref(),
                exit: self.exit(),
            };
            serde_json::to_writer(&mut *out, &error)?;
            return writeln!(out);
        }
        let label = paint.error(&format!("error[{}]:", self.word.text()));
        writeln!(out, "mnem: {label} {}", escape_line(&self.message))?;
        match &self.hint {
            Some(hint) => {
                for line in hint.lines() {
                    writeln!(out, "{} {}", paint.hint("hint:"), escape_line(line))?;
                }
                Ok(())
            }
            None => Ok(()),
        }
    }
}

impl From<StoreError> for CliError {
    fn from(error: StoreError) -> Self {
        let told = |word| Self::of(word, &error);
        match &error {
            StoreError::NoStore { .. } => told(Word::NoStore).hint("create one with 'mnem init'"),
            StoreError::NoStoreAt { path, named_by } => told(Word::NoStore)
                .hint(format!("create it with 'mnem init', or unset {named_by} ('{}')", path.display())),
            StoreError::NotADirectory { .. } => {
                told(Word::NoStore).hint("move it away, then create one with 'mnem init'")
            }
            StoreError::Unsafe { path, .. } => told(Word::UnsafeStore).hint(trust_hint(path)),
            StoreError::Busy { .. } => {
                told(Word::Busy).hint("wait for it, or give it longer with '--lock-timeout 60s'")
            }
            StoreError::Corrupt { .. } => {
                told(Word::Corrupt).hint("nothing was changed; keep a copy of the store before anything else")
            }
            StoreError::Gone => told(Word::BadRevision).hint("see 'mnem log --all' for what is there"),
            StoreError::UnsupportedFormat { .. } => told(Word::UnsupportedFormat).hint("read it with a newer mnem"),
            StoreError::UnsupportedKind(_) => told(Word::StoredKind).hint("read it with a newer mnem"),
            StoreError::Io { .. } | StoreError::Database(_) => told(Word::Io),
        }
    }
}

impl From<RevisionError> for CliError {
    fn from(error: RevisionError) -> Self {
        if let RevisionError::Store(error) = error {
            return error.into();
        }
        let told = |word| Self::of(word, &error);
        match &error {
            RevisionError::Ambiguous { candidates, more, .. } => {
                let mut lines: Vec<_> = candidates.iter().map(|(id, subject)| format!("{id} {subject}")).collect();
                if *more {
                    lines.push("and more".to_owned());
                }
                told(Word::AmbiguousRevision).hint(lines.join("\n"))
            }
            RevisionError::Unknown { near, .. } if !near.is_empty() => {
                told(Word::BadRevision).hint(format!("did you mean '{}'?", near.join("', '")))
            }
            RevisionError::Unborn { .. } => {
                told(Word::BadRevision).hint("make one with 'mnem put ID CONTENT' and 'mnem commit -m MESSAGE'")
            }
            RevisionError::Deleted { name, .. } | RevisionError::OutOfLog { name, .. } if name != "HEAD" => {
                told(Word::BadRevision).hint(format!("mnem reflog {}", shell_word(name)))
            }
            RevisionError::Deleted { .. }
            | RevisionError::OutOfLog { .. }
            | RevisionError::NoOrigHead
            | RevisionError::NoPrevious
            | RevisionError::NoLog { .. }
            | RevisionError::NoCommitThen { .. } => told(Word::BadRevision).hint("see 'mnem reflog'"),
            RevisionError::Unknown { .. }
            | RevisionError::NoneThatOld { .. }
            | RevisionError::NoAncestor { .. }
            | RevisionError::Unrelated { .. }
            | RevisionError::NoParent { .. } => told(Word::BadRevision).hint("see 'mnem log --oneline'"),
            RevisionError::Syntax { .. } | RevisionError::Store(_) => told(Word::BadRevision)
                .hint("a revision is HEAD, a branch, a tag or a commit id, with ~N, ^N, @{N} or @{TIME} behind it"),
        }
    }
}

impl From<OpError> for CliError {
    fn from(error: OpError) -> Self {
        match error {
            OpError::Store(error) => error.into(),
            OpError::Revision(error) => error.into(),
            OpError::RedactionLeft(_) => Self::of(Word::InProgress, &error).hint("mnem redact --finish"),
            OpError::NoSource(_) => Self::of(Word::NoNode, &error).hint("see the sources in 'mnem ls --json'"),
            OpError::NoNode(_) => Self::of(Word::NoNode, &error).hint("see 'mnem ls'"),
            OpError::NoPath { .. } => Self::of(Word::NoNode, &error).hint("see all of it with 'mnem get -t json ID'"),
            OpError::NoLine { .. } => Self::of(Word::Usage, &error).hint("see them all with 'mnem blame --by line ID'"),
            OpError::Precondition { .. } => {
                Self::of(Word::PreconditionFailed, &error).hint("look at what it is now with 'mnem get --json ID'")
            }
            OpError::EmptyGroup(_) => Self::of(Word::NothingToCommit, &error).hint("leave that commit out"),
            OpError::Moved => {
                Self::of(Word::Conflict, &error).hint("nothing was changed; look at it with 'mnem log', then again")
            }
            OpError::Foreign { ref branch } => {
                let switch = match branch {
                    Some(name) => format!("mnem switch {}", word(name)),
                    None => "mnem switch --detach".to_owned(),
                };
                Self::of(Word::Conflict, &error).hint(format!(
                    "look at it with 'mnem show', and commit on top with 'mnem commit -m MESSAGE'\nto amend it all the same, go there first: {switch}"
                ))
            }
            OpError::NothingToCommit => Self::of(Word::NothingToCommit, &error)
                .hint("stage a change with 'mnem put', or commit as it is with '--allow-empty'"),
            OpError::RefExists(ref name) => Self::of(Word::RefExists, &error).hint(match short_tag(name) {
                Some(name) => format!("move it with 'mnem tag --force {} REV'", word(name)),
                None => {
                    let name = word(short_branch(name));
                    format!("go there with 'mnem switch {name}', or move it with 'mnem branch --force {name} REV'")
                }
            }),
            OpError::NoRef { ref name, ref near } => {
                let list = if short_tag(name).is_some() { "see 'mnem tag'" } else { "see 'mnem branch'" };
                let near = (!near.is_empty()).then(|| format!("did you mean '{}'?", near.join("', '")));
                Self::of(Word::BadRevision, &error).hint(near.unwrap_or_else(|| list.to_owned()))
            }
            OpError::NoBranch(ref name) => {
                Self::of(Word::BadRevision, &error).hint(format!("mnem switch --detach {}", word(name)))
            }
            OpError::LongName { ref branch, .. } => {
                Self::of(Word::BadRevision, &error).hint(format!("mnem switch {}", word(branch)))
            }
            OpError::BranchInUse { ref sessions, .. } => {
                let detach = |name| format!("let it go first: mnem switch --detach --session {name}");
                Self::of(Word::BranchInUse, &error).hint(sessions.iter().map(detach).collect::<Vec<_>>().join("\n"))
            }
            OpError::NotMerged(ref names) => {
                let names: Vec<_> = names.iter().map(|name| word(name)).collect();
                Self::of(Word::NotMerged, &error).hint(format!("to delete it anyway: mnem branch -D {}", names.join(" ")))
            }
            OpError::OnNoBranch => Self::of(Word::Usage, &error).hint("mnem branch -m OLD NEW"),
            OpError::NoPrevious => Self::of(Word::BadRevision, &error).hint("see 'mnem branch'"),
            OpError::InProgress(underway) => {
                let name = underway.name();
                Self::of(Word::InProgress, &error).hint(format!(
                    "see 'mnem status'; finish it with 'mnem {name} --continue', or leave it with 'mnem {name} --abort'"
                ))
            }
            OpError::BothEnds(_) => {
                Self::of(Word::BisectEndpoints, &error).hint("name a good end and a bad one: --range GOOD..BAD")
            }
            OpError::SwappedEnds { bad, good } => Self::of(Word::BisectEndpoints, &error)
                .hint(format!("are the two swapped? mnem bisect start {good} {bad}")),
            OpError::NoBisect => {
                Self::of(Word::BisectNoSession, &error).hint("mnem bisect start BAD GOOD, or mnem bisect run --range GOOD..BAD CMD")
            }
            OpError::NothingMarked => Self::of(Word::Usage, &error).hint("see 'mnem bisect status'"),
            OpError::NothingBetween => {
                Self::of(Word::BisectEndpoints, &error).hint("see 'mnem log GOOD..BAD -- PATTERN'")
            }
            OpError::NoParent(_) => {
                Self::of(Word::BisectEndpoints, &error).hint("name the two commits: --range GOOD..BAD")
            }
            OpError::NothingChosen => {
                Self::of(Word::NothingToCommit, &error).hint("see what a range chooses with 'mnem log --oneline A..B'")
            }
            OpError::NotARef(ref name) => {
                Self::of(Word::BadRevision, &error).hint(format!("name it first: mnem branch NAME {}", word(name)))
            }
            OpError::Bundle { ref fault, .. } => {
                let told = |word| Self::of(word, &error);
                match fault {
                    BundleFault::NoBundle => told(Word::Corrupt).hint("name a file that 'mnem bundle create' has made"),
                    BundleFault::Version(_) => told(Word::UnsupportedFormat).hint("read it with a newer mnem"),
                    BundleFault::Damaged(_) => {
                        told(Word::Corrupt).hint("nothing was changed; get the file once more from where it comes")
                    }
                    BundleFault::Kind { .. } => told(Word::StoredKind).hint("read it with a newer mnem"),
                    BundleFault::Read(_) => told(Word::Io),
                }
            }
            OpError::Lacking { .. } => {
                Self::of(Word::PreconditionFailed, &error).hint("take in first the bundle that has them")
            }
            OpError::Diverged { .. } => {
                Self::of(Word::NotFastForward, &error).hint("take its refs in beside those here with '--prefix NAME'")
            }
            OpError::TagsElsewhere { .. } => {
                Self::of(Word::RefExists, &error).hint("take its refs in beside those here with '--prefix NAME'")
            }
            OpError::Output(error) => error.into(),
            OpError::Name(error) => error.into(),
            OpError::NothingInProgress(_) => Self::of(Word::Usage, &error).hint("see 'mnem status'"),
            OpError::Unsettled(ref ids) => {
                Self::of(Word::Conflict, &error).about(&quoted(ids)).hint("see 'mnem status'")
            }
            OpError::NoConflict(_) => Self::of(Word::NoNode, &error).hint("see 'mnem status'"),
            OpError::NoBase(_) => Self::of(Word::Usage, &error).hint("take ours, theirs or delete"),
            OpError::NotFastForward(ref name) => {
                Self::of(Word::NotFastForward, &error).hint(format!("mnem merge {}", word(name)))
            }
            OpError::Mainline { parents, .. } => Self::of(Word::Usage, &error).hint(match parents {
                0 | 1 => "leave -m out".to_owned(),
                parents => format!("name one of 1 to {parents} with -m; see 'mnem log --graph'"),
            }),
            OpError::WouldOverwrite(ref ids) => Self::of(Word::WouldOverwrite, &error).about(&quoted(ids)).hint(
                "nothing was done; commit them with 'mnem commit -m MESSAGE', or take them back with 'mnem restore ID'",
            ),
            OpError::Conflict(ref ids) => {
                Self::of(Word::Conflict, &error).about(&quoted(ids)).hint(
                    "all stays staged; take the branch's version with 'mnem restore ID', or yours with 'mnem commit --overwrite -m MESSAGE'",
                )
            }
        }
    }
}

fn quoted(ids: &[NodeId]) -> String {
    ids.iter().map(|id| format!("'{id}'")).collect::<Vec<_>>().join(", ")
}

impl From<IdError> for CliError {
    fn from(error: IdError) -> Self {
        Self::of(Word::BadId, &error).hint("such as 'user/diet'; 'mnem put --new CONTENT' generates one")
    }
}

impl From<JsonError> for CliError {
    fn from(error: JsonError) -> Self {
        Self::of(Word::BadJson, &error)
    }
}

impl From<KindError> for CliError {
    fn from(error: KindError) -> Self {
        Self::of(Word::GivenKind, &error).hint("the one kind is 'note'")
    }
}

impl From<NameError> for CliError {
    fn from(error: NameError) -> Self {
        match error {
            NameError::Session => Self::of(Word::BadSession, &error).hint("such as --session agent-7"),
            NameError::Tag(_) => Self::of(Word::BadRef, &error).hint("such as 'v1' or 'before/import'"),
            NameError::Branch(_) => Self::of(Word::BadRef, &error).hint("such as 'main' or 'agents/seven'"),
        }
    }
}

impl From<PatternError> for CliError {
    fn from(error: PatternError) -> Self {
        if let PatternError::Id(error) = error {
            return error.into();
        }
        Self::of(Word::BadPattern, &error).hint("such as 'user/' or 'user/*'; '--literal' takes * ? [ as they are")
    }
}

impl From<PointerError> for CliError {
    fn from(error: PointerError) -> Self {
        Self::of(Word::Usage, &error).hint("such as --path /a/0")
    }
}

impl From<PredicateError> for CliError {
    fn from(error: PredicateError) -> Self {
        let hint = match &error {
            PredicateError::Unknown { near: Some(near), .. } => format!("did you mean '--{}'?", near.name()),
            PredicateError::Unknown { near: None, .. }
            | PredicateError::Missing(_)
            | PredicateError::NotAlone
            | PredicateError::Id { .. }
            | PredicateError::Pattern { .. }
            | PredicateError::Json { .. }
            | PredicateError::Pointer { .. }
            | PredicateError::Regex { .. }
            | PredicateError::Comparison(_)
            | PredicateError::Number(_) => "see 'mnem test --help'".to_owned(),
        };
        Self::of(Word::BadPredicate, &error).hint(hint)
    }
}

impl From<TimeError> for CliError {
    fn from(error: TimeError) -> Self {
        Self::of(Word::BadTime, &error).hint("a time looks like 2026-11-30T18:05:00+01:00")
    }
}

impl From<WhenError> for CliError {
    fn from(error: WhenError) -> Self {
        Self::of(Word::BadTime, &error)
            .hint("a time looks like 2026-11-30T18:05:00+01:00, '2026-11-30 18:05', '2 days ago' or @1764522300")
    }
}

impl From<io::Error> for CliError {
    fn from(error: io::Error) -> Self {
        let closed_pipe = error.kind() == io::ErrorKind::BrokenPipe;
        Self { closed_pipe, ..Self::of(Word::Io, &error) }
    }
}

impl std::fmt::Display for CliError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

/// The line to type that trusts a store. A list is separated by colons, so a path with one cannot be named in it.
fn trust_hint(path: &std::path::Path) -> String {
    match path.to_str() {
        Some(path) if !path.contains(':') => format!("to trust it: export MNEM_SAFE_DIRECTORY={}", shell_word(path)),
        Some(_) | None => "to trust every store: export MNEM_SAFE_DIRECTORY='*'".to_owned(),
    }
}

/// A text as one word of a shell's line, whatever it holds.
pub fn shell_word(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    #[test]
    fn the_readme_lists_every_word_with_its_status() {
        let readme = include_str!("../../README.md");
        let (_, section) = readme.split_once("\n## Exit status\n").expect("a section of its own");
        let section = section.split("\n## ").next().expect("up to the next one");
        let mut told = BTreeSet::new();
        for row in section.lines().filter_map(|line| line.strip_prefix("| ")) {
            let exit = row.split(' ').next().expect("a first cell");
            told.extend(row.split('`').skip(1).step_by(2).map(|word| (exit.to_owned(), word.to_owned())));
        }
        let words = Word::ALL.iter().map(|word| (word.exit().to_string(), word.text().to_owned()));
        assert_eq!(told, words.collect());
    }

    #[test]
    fn a_hint_is_safe_to_type_whatever_the_path() {
        let quoted = r"to trust it: export MNEM_SAFE_DIRECTORY='/x'\''; touch y; '\''/.mnemosyne'";
        assert_eq!(trust_hint(Path::new("/x'; touch y; '/.mnemosyne")), quoted);
        assert_eq!(trust_hint(Path::new("/a:b")), "to trust every store: export MNEM_SAFE_DIRECTORY='*'");
    }
}
