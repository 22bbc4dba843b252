//! What is written down of a search while it runs: a file of JSON Lines, an event a line.

use super::super::error::{CliError, Word};
use super::super::json::V;
use super::super::junit::Case;
use super::super::text::counted;
use super::driver::Purpose;
use super::resume::Earlier;
use super::tester::{Run, RunEnd, Verdict};
use crate::ops::Subject;
use serde::Serialize;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Where events go, and what there was so far.
#[derive(Default)]
pub struct Report {
    file: Option<(File, PathBuf)>,
    /// All runs of commits, each with the id of its commit.
    pub runs: Vec<(String, Purpose, Run)>,
    /// What each run is called, and what it said.
    cases: Vec<(String, Verdict)>,
}

/// The ends of a search, as they were given, and what tests it.
#[derive(Serialize)]
pub struct StartJson {
    v: u8,
    r#type: &'static str,
    pub bad: String,
    pub good: Vec<String>,
    pub command: Vec<String>,
    pub invert: bool,
}

impl StartJson {
    /// The shape of a beginning.
    pub fn new(bad: String, good: Vec<String>, command: Vec<String>, invert: bool) -> Self {
        Self { v: V, r#type: "bisect_start", bad, good, command, invert }
    }
}

/// Between which commits nodes are searched, and what tests them.
#[derive(Serialize)]
pub struct NarrowStartJson {
    v: u8,
    r#type: &'static str,
    pub good: String,
    pub bad: String,
    pub command: Vec<String>,
    pub invert: bool,
}

impl NarrowStartJson {
    /// The shape of a beginning.
    pub fn new(good: String, bad: String, command: Vec<String>, invert: bool) -> Self {
        Self { v: V, r#type: "narrow_start", good, bad, command, invert }
    }
}

/// A run of the program, or a verdict that was known.
#[derive(Serialize)]
pub struct Event {
    v: u8,
    r#type: &'static str,
    run: Option<usize>,
    commit: String,
    state: String,
    purpose: &'static str,
    attempt: Option<usize>,
    verdict: &'static str,
    exit: Option<u8>,
    timed_out: bool,
    milliseconds: Option<u64>,
    #[serde(skip)]
    ran: Option<(Purpose, Run)>,
}

impl Event {
    /// The shape of a run.
    pub fn ran(subject: &Subject, purpose: Purpose, run: &Run) -> Self {
        Self {
            run: Some(run.number),
            attempt: Some(run.attempt),
            exit: exit_of(run),
            timed_out: run.end == RunEnd::Late,
            milliseconds: Some(milliseconds(run)),
            ran: Some((purpose, *run)),
            ..Self::known(subject, purpose, run.verdict)
        }
    }

    /// The shape of a verdict that was taken from an equal memory.
    pub fn known(subject: &Subject, purpose: Purpose, verdict: Verdict) -> Self {
        Self {
            v: V,
            r#type: "run",
            run: None,
            commit: subject.id.to_string(),
            state: subject.state.to_string(),
            purpose: purpose.name(),
            attempt: None,
            verdict: verdict.name(),
            exit: None,
            timed_out: false,
            milliseconds: None,
            ran: None,
        }
    }
}

/// A run of the program with some of the changes between two commits.
#[derive(Serialize)]
pub struct TryEvent<'a> {
    v: u8,
    r#type: &'static str,
    pub run: usize,
    nodes: Vec<&'a str>,
    state: String,
    attempt: usize,
    verdict: &'static str,
    exit: Option<u8>,
    timed_out: bool,
    milliseconds: u64,
    #[serde(skip)]
    said: Verdict,
}

impl<'a> TryEvent<'a> {
    /// The shape of a run with the changes of these nodes.
    pub fn ran(subject: &Subject, nodes: Vec<&'a str>, run: &Run) -> Self {
        Self {
            v: V,
            r#type: "try",
            run: run.number,
            nodes,
            state: subject.state.to_string(),
            attempt: run.attempt,
            verdict: run.verdict.name(),
            exit: exit_of(run),
            timed_out: run.end == RunEnd::Late,
            milliseconds: milliseconds(run),
            said: run.verdict,
        }
    }
}

fn exit_of(run: &Run) -> Option<u8> {
    match run.end {
        RunEnd::Status(status) => Some(status),
        RunEnd::Late => None,
    }
}

fn milliseconds(run: &Run) -> u64 {
    u64::try_from(run.took.as_millis()).unwrap_or(u64::MAX)
}

impl Report {
    /// Begins a file with what a search starts from, in place of one that is there; behind the lines of an `earlier` one,
    /// and where it is that very file only what is not whole is cut off.
    pub fn begin(path: &Path, start: &StartJson, earlier: &Earlier) -> Result<Self, CliError> {
        let mut report = Self::open(path, earlier)?;
        for (&run, seen) in &earlier.observed {
            report.cases.push((run_name(run, &seen.commit, &seen.purpose), seen.verdict));
        }
        for (&run, tried) in &earlier.tried {
            report.cases.push((try_name(run, tried.nodes.len()), tried.verdict));
        }
        if earlier.lines.is_empty() {
            report.line(start)?;
        }
        Ok(report)
    }

    /// Opens a file for the lines of an `earlier` report and more. Nobody else may be writing to it.
    pub fn open(path: &Path, earlier: &Earlier) -> Result<Self, CliError> {
        let failed = |error: io::Error| CliError::from(error).about(&format!("'{}'", path.display()));
        let is_same = match (path.canonicalize(), earlier.path().canonicalize()) {
            (Ok(own), Ok(other)) => own == other,
            _ => false,
        };
        let mut file = OpenOptions::new().append(true).create(true).open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_file() {
            let is_busy = match file.try_lock() {
                Ok(()) => is_same && metadata.len() != earlier.length,
                Err(TryLockError::WouldBlock) => true,
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            };
            if is_busy {
                let message = format!("another search writes to '{}'", path.display());
                return Err(CliError::new(Word::Busy, message).hint("wait for it, or write to another file"));
            }
            let kept = if is_same { earlier.lines.len() as u64 } else { 0 };
            file.set_len(kept).map_err(failed)?;
        }
        if !is_same {
            file.write_all(&earlier.lines).map_err(failed)?;
        }
        Ok(Self { file: Some((file, path.to_owned())), ..Self::default() })
    }

    /// A test case a run: one that says bad has failed.
    pub fn cases(&self) -> Vec<Case> {
        let case = |(name, verdict): &(String, Verdict)| {
            let failures = if *verdict == Verdict::Bad { vec![("bad".to_owned(), Vec::new())] } else { Vec::new() };
            Case { name: name.clone(), failures, is_skipped: *verdict == Verdict::Skip }
        };
        self.cases.iter().map(case).collect()
    }

    /// Writes an event down.
    pub fn event(&mut self, event: &Event) -> Result<(), CliError> {
        if let Some((purpose, run)) = event.ran {
            self.cases.push((run_name(run.number, &event.commit, purpose.name()), run.verdict));
            self.runs.push((event.commit.clone(), purpose, run));
        }
        self.line(event)
    }

    /// Writes a try down.
    pub fn tried(&mut self, event: &TryEvent<'_>) -> Result<(), CliError> {
        self.cases.push((try_name(event.run, event.nodes.len()), event.said));
        self.line(event)
    }

    /// Writes a line, whole, so that what there is can be read whenever the search ends.
    pub fn line(&mut self, row: &impl Serialize) -> Result<(), CliError> {
        let Some((file, path)) = &mut self.file else { return Ok(()) };
        let mut line = serde_json::to_vec(row).map_err(io::Error::from)?;
        line.push(b'\n');
        file.write_all(&line).map_err(|error| CliError::from(error).about(&format!("'{}'", path.display())))
    }
}

fn run_name(run: usize, commit: &str, purpose: &str) -> String {
    format!("run {run}: {commit} ({purpose})")
}

fn try_name(run: usize, changes: usize) -> String {
    format!("run {run}: {} (narrow)", counted(changes, "change"))
}
