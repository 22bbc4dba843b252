//! Running the program that tests a commit.

use super::super::child::{Children, Ended, Stopper, status_of};
use super::super::error::CliError;
use super::super::exec::not_started;
use super::super::{export, folder, output};
use super::round::UsedUp;
use crate::model::SessionName;
use crate::object::StateId;
use crate::ops::{self, LsRequest, ScratchRequest, Subject};
use crate::store::{Extent, Scratch, Store, clone_at};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What a test says of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is as it should be.
    Good,
    /// It is not.
    Bad,
    /// It cannot be tested.
    Skip,
}

impl Verdict {
    /// In one word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Bad => "bad",
            Self::Skip => "skip",
        }
    }
}

/// What follows when a run takes too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnTimeout {
    /// The commit cannot be tested.
    Skip,
    /// It is bad.
    Bad,
    /// The search ends.
    Abort,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// With this exit status, 128 and the number of the signal that killed it.
    Status(u8),
    /// It took too long.
    Late,
}

impl fmt::Display for RunEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(status) => write!(f, "exit {status}"),
            Self::Late => f.write_str("took too long"),
        }
    }
}

/// One run of the program.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// Which one it is, from 1.
    pub number: usize,
    /// Which one of this commit, from 1.
    pub attempt: usize,
    /// What it says.
    pub verdict: Verdict,
    /// How it ended.
    pub end: RunEnd,
    /// How long it took.
    pub took: Duration,
}

/// Why there is no verdict.
#[derive(Debug)]
pub enum NoVerdict {
    /// Nobody wants to know any more, or a signal came.
    Stopped,
    /// There may be no more runs.
    UsedUp(UsedUp),
    /// The search cannot go on.
    Abort(CliError),
}

impl<E: Into<CliError>> From<E> for NoVerdict {
    fn from(error: E) -> Self {
        Self::Abort(error.into())
    }
}

/// Where a commit reaches the program.
pub enum Place {
    /// The store itself, read at the commit.
    Store,
    /// A clone of a private copy with the history.
    Clone(Scratch),
    /// A private copy of the memory alone.
    State,
}

/// How the memory is handed over as a file.
pub struct Export {
    /// As what: `jsonl`, `json` or `dir`.
    pub format: String,
    /// Where the files are.
    pub directory: Scratch,
    /// Which are written.
    pub written: Mutex<BTreeSet<StateId>>,
}

/// The program, and all that is the same in each run.
pub struct Tester {
    pub command: Vec<OsString>,
    pub store: Store,
    pub directory: PathBuf,
    pub session: SessionName,
    pub temporary: PathBuf,
    pub place: Place,
    pub export: Option<Export>,
    pub invert: bool,
    pub timeout: Option<Duration>,
    pub on_timeout: OnTimeout,
    pub logs: Option<PathBuf>,
    /// `MNEM_BISECT_GOOD`, empty until a good end is known.
    pub good: Mutex<String>,
    /// `MNEM_BISECT_BAD`.
    pub bad: String,
    pub children: Arc<Children>,
    /// Where programs start.
    pub home: PathBuf,
    /// Whether the store is named to them.
    pub names_store: bool,
}

impl Tester {
    /// Tests a commit once, with the number of the run and which one of this commit it is; up to a point in time, and what
    /// goes on then is ended and says nothing.
    pub fn run(
        &self,
        subject: &Subject,
        (number, attempt): (usize, usize),
        until: Option<Instant>,
        stopper: &Stopper,
    ) -> Result<Run, NoVerdict> {
        let scratch = self.scratch(subject, number)?;
        let mut command = self.command(subject, number, attempt)?;
        match &scratch {
            Some(copy) => {
                command.env("MNEM_DIR", copy.path()).env_remove("MNEM_REV").env_remove("MNEM_REV_DIR");
            }
            None => {
                command.env("MNEM_REV", subject.id.to_string()).env("MNEM_REV_DIR", &self.directory);
                if self.names_store {
                    command.env("MNEM_DIR", &self.directory);
                }
            }
        }
        let started = Instant::now();
        let left = until.map(|until| until.saturating_duration_since(started));
        let limit = self.timeout.into_iter().chain(left).min();
        let ended = self.children.run_apart(&mut command, limit, stopper);
        let took = started.elapsed();
        drop(scratch);
        let ended = ended.map_err(|error| not_started(command.get_program(), &error))?;
        let (verdict, end) = match ended {
            Ended::Stopped => return Err(NoVerdict::Stopped),
            Ended::Late if self.timeout.is_none_or(|timeout| left.is_some_and(|left| left < timeout)) => {
                return Err(NoVerdict::UsedUp(UsedUp::Time));
            }
            Ended::Late => (self.late(subject)?, RunEnd::Late),
            Ended::Alone(status) => (self.verdict(subject, status)?, RunEnd::Status(status_of(status))),
        };
        Ok(Run { number, attempt, verdict, end, took })
    }

    fn late(&self, subject: &Subject) -> Result<Verdict, CliError> {
        match self.on_timeout {
            OnTimeout::Skip => Ok(Verdict::Skip),
            OnTimeout::Bad => Ok(Verdict::Bad),
            OnTimeout::Abort => Err(super::aborted(&subject.id, "took longer than --timeout allows")
                .hint("allow more, or let it say nothing of the commit: --on-timeout skip")),
        }
    }

    /// What an exit status says. A program that is missing or was killed never says that a commit is bad.
    fn verdict(&self, subject: &Subject, status: ExitStatus) -> Result<Verdict, CliError> {
        match (status.code(), self.invert) {
            (Some(0), false) | (Some(1..=124), true) => Ok(Verdict::Good),
            (Some(0), true) | (Some(1..=124), false) => Ok(Verdict::Bad),
            (Some(125), _) => Ok(Verdict::Skip),
            (Some(code), _) => Err(super::aborted(&subject.id, &format!("ended with {code}"))),
            (None, _) => {
                let signal = i32::from(status_of(status)) - 128;
                Err(super::aborted(&subject.id, &format!("was killed by signal {signal}")))
            }
        }
    }

    fn command(&self, subject: &Subject, number: usize, attempt: usize) -> Result<Command, CliError> {
        let (name, arguments) = self.command.split_first().expect("clap asks for one");
        let mut command = Command::new(name);
        let good = self.good.lock().unwrap_or_else(PoisonError::into_inner).clone();
        command
            .args(arguments)
            .current_dir(&self.home)
            .stdin(Stdio::null())
            .env("MNEM_SESSION", self.session.as_str())
            .env("MNEM_BISECT", "1")
            .env("MNEM_BISECT_REV", subject.id.to_string())
            .env("MNEM_BISECT_GOOD", good)
            .env("MNEM_BISECT_BAD", &self.bad)
            .env("MNEM_BISECT_RUN", number.to_string())
            .env("MNEM_BISECT_ATTEMPT", attempt.to_string());
        if let Some(export) = &self.export {
            command.env("MNEM_EXPORT", self.exported(export, subject)?);
        }
        let (out, err) = match &self.logs {
            None => {
                let own = || std::io::stderr().as_fd().try_clone_to_owned().map(Stdio::from);
                (own()?, own()?)
            }
            Some(logs) => {
                let path = logs.join(format!("{number:04}-{}.log", &subject.id.to_string()[..10]));
                let file = File::create(&path)
                    .map_err(|error| CliError::from(error).about(&format!("'{}'", path.display())))?;
                (file.try_clone()?.into(), file.into())
            }
        };
        command.stdout(out).stderr(err);
        Ok(command)
    }

    /// A copy of the store in which the program may write.
    fn scratch(&self, subject: &Subject, number: usize) -> Result<Option<Copy>, CliError> {
        match &self.place {
            Place::Store => Ok(None),
            Place::Clone(origin) => {
                let path = origin.path().join(format!("run-{number}"));
                let from = origin.path().join(crate::store::STORE_DIRECTORY);
                let store = clone_at(&from, &path, &self.session, subject.number)?;
                drop(store);
                Ok(Some(Copy::Clone(path)))
            }
            Place::State => {
                let revision = super::revision(&subject.id);
                let go_on = || self.children.interrupted().is_none();
                let request = ScratchRequest {
                    revision: &revision,
                    extent: Extent::State,
                    temporary: &self.temporary,
                    go_on: &go_on,
                };
                Ok(ops::scratch(&self.store, &self.session, &request)?.map(|report| {
                    let path = report.store();
                    Copy::State { path, _scratch: report.scratch }
                }))
            }
        }
    }

    /// The memory of a commit as a file, written once for each that is different.
    fn exported(&self, export: &Export, subject: &Subject) -> Result<PathBuf, CliError> {
        let name = match export.format.as_str() {
            "dir" => subject.state.to_string(),
            format => format!("{}.{format}", subject.state),
        };
        let path = export.directory.path().join(name);
        let mut written = export.written.lock().unwrap_or_else(PoisonError::into_inner);
        if written.contains(&subject.state) {
            return Ok(path);
        }
        let request = LsRequest { revision: Some(super::revision(&subject.id)), nodes: true, ..LsRequest::default() };
        let report = ops::ls(&self.store, &self.session, &request)?;
        let nodes: Vec<_> = report.nodes.into_iter().filter_map(|row| row.node).collect();
        match export.format.as_str() {
            "dir" => folder::write(&path, &nodes)?,
            format => output::write_file(&path, true, |out| export::rows(out, &nodes, format))?,
        }
        written.insert(subject.state);
        Ok(path)
    }
}

/// A copy of the store that goes with this.
enum Copy {
    Clone(PathBuf),
    State { path: PathBuf, _scratch: Scratch },
}

impl Copy {
    fn path(&self) -> &Path {
        match self {
            Self::Clone(path) | Self::State { path, .. } => path,
        }
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        if let Self::Clone(path) = self {
            // What stays in spite of it goes with the copy from which it was made.
            let _removed = std::fs::remove_dir_all(path);
        }
    }
}
