//! What is written down of a search while it runs: a file of JSON Lines, an event a line.

use super::super::error::CliError;
use super::super::json::V;
use super::super::junit::Case;
use super::driver::Purpose;
use super::resume::Earlier;
use super::tester::{Run, RunEnd, Verdict};
use crate::ops::Subject;
use serde::Serialize;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Where events go, and what there was so far.
#[derive(Default)]
pub struct Report {
    file: Option<(File, PathBuf)>,
    /// All runs, each with the id of its commit.
    pub runs: Vec<(String, Purpose, Run)>,
}

/// The ends of a search, as they were given, and what tests it.
#[derive(Serialize)]
pub struct StartJson {
    v: u8,
    r#type: &'static str,
    pub bad: String,
    pub good: Vec<String>,
    pub command: Vec<String>,
}

impl StartJson {
    /// The shape of a beginning.
    pub fn new(bad: String, good: Vec<String>, command: Vec<String>) -> Self {
        Self { v: V, r#type: "bisect_start", bad, good, command }
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
    run: usize,
    nodes: Vec<&'a str>,
    state: String,
    attempt: usize,
    verdict: &'static str,
    exit: Option<u8>,
    timed_out: bool,
    milliseconds: u64,
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
        let failed = |error: std::io::Error| CliError::from(error).about(&format!("'{}'", path.display()));
        let is_same = match (path.canonicalize(), earlier.path().canonicalize()) {
            (Ok(own), Ok(other)) => own == other,
            _ => false,
        };
        let file = if is_same {
            let file = OpenOptions::new().append(true).open(path).map_err(failed)?;
            file.set_len(earlier.lines.len() as u64).map_err(failed)?;
            file
        } else {
            let mut file = File::create(path).map_err(failed)?;
            file.write_all(&earlier.lines).map_err(failed)?;
            file
        };
        let mut report = Self { file: Some((file, path.to_owned())), runs: Vec::new() };
        if earlier.lines.is_empty() {
            report.line(start)?;
        }
        Ok(report)
    }

    /// A test case a run: one that says bad has failed.
    pub fn cases(&self) -> Vec<Case> {
        let case = |(id, purpose, run): &(String, Purpose, Run)| {
            let name = format!("run {}: {id} ({})", run.number, purpose.name());
            let failures = if run.verdict == Verdict::Bad { vec![("bad".to_owned(), Vec::new())] } else { Vec::new() };
            Case { name, failures, is_skipped: run.verdict == Verdict::Skip }
        };
        self.runs.iter().map(case).collect()
    }

    /// Writes an event down.
    pub fn event(&mut self, event: &Event) -> Result<(), CliError> {
        if let Some((purpose, run)) = event.ran {
            self.runs.push((event.commit.clone(), purpose, run));
        }
        self.line(event)
    }

    /// Writes a line, whole, so that what there is can be read whenever the search ends.
    pub fn line(&mut self, row: &impl Serialize) -> Result<(), CliError> {
        let Some((file, path)) = &mut self.file else { return Ok(()) };
        let mut line = serde_json::to_vec(row).map_err(std::io::Error::from)?;
        line.push(b'\n');
        file.write_all(&line).map_err(|error| CliError::from(error).about(&format!("'{}'", path.display())))
    }
}
