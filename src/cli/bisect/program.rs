//! The program that tests a memory, and how it is run: what the searches with one have in common.

use super::super::child::Children;
use super::super::context::Context;
use super::super::error::CliError;
use super::super::when;
use super::round::{BadIf, Meter, Rule};
use super::tester::{Export, OnTimeout, Place, Tester};
use crate::store::{Scratch, Store};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

#[derive(clap::Args, Debug)]
pub(super) struct ProgramArgs {
    /// Take 0 for bad and 1 to 124 for good
    #[arg(long)]
    invert: bool,

    /// End a run that takes longer, such as 90s or 5m
    #[arg(long, value_name = "DURATION")]
    timeout: Option<String>,

    /// What a run that took too long says
    #[arg(long, value_name = "VERDICT", requires = "timeout", value_parser = ["skip", "bad", "abort"], default_value = "skip")]
    on_timeout: String,

    /// Run CMD so many times at once
    #[arg(short, long, value_name = "COUNT", default_value = "1", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: u16,

    /// Run CMD so often for each memory; once if not said
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..))]
    repeat: Option<u16>,

    /// Of several runs, how many have to be bad for the memory to be
    #[arg(long, value_name = "HOW", requires = "repeat", value_parser = ["any", "majority", "all"], default_value = "any")]
    bad_if: String,

    /// Give up after so many runs; those of a report that is gone on from are not counted
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    max_runs: Option<u32>,

    /// Give up after so long, such as 30m; a run that is not over by then is ended
    #[arg(long, value_name = "DURATION")]
    max_time: Option<String>,

    /// Write the memory to a file, or a folder, whose name CMD finds in MNEM_EXPORT
    #[arg(long, value_name = "FORMAT", value_parser = ["jsonl", "json", "dir"])]
    export: Option<String>,

    /// Keep what CMD prints in a file of this folder for each run, instead of showing it on standard error
    #[arg(long, value_name = "FOLDER")]
    log_dir: Option<PathBuf>,

    /// The program, and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "CMD", value_hint = clap::ValueHint::CommandWithArguments)]
    command: Vec<OsString>,
}

/// What a program is run on.
pub struct Setting {
    pub store: Store,
    pub place: Place,
    pub children: Arc<Children>,
    /// The ids of the good ends.
    pub good: Vec<String>,
    /// The id of the bad end.
    pub bad: String,
}

/// What there may be of runs.
pub struct Limits {
    /// How long one may take.
    timeout: Option<Duration>,
    /// How many there may be.
    most: usize,
    /// When the last one has to be over.
    until: Option<Instant>,
}

impl Limits {
    /// Counts the runs behind so many that were made before.
    pub fn meter(&self, made: usize) -> Meter {
        Meter::new(made, self.most, self.until)
    }
}

impl ProgramArgs {
    /// How often a memory is to be run, where that is said.
    pub fn repeat(&self) -> Option<Rule> {
        let bad_if = match self.bad_if.as_str() {
            "majority" => BadIf::Majority,
            "all" => BadIf::All,
            _ => BadIf::Any,
        };
        self.repeat.map(|times| Rule::Repeat { times: times.into(), bad_if })
    }

    /// Whether 0 is bad.
    pub fn inverts(&self) -> bool {
        self.invert
    }

    /// How many runs are made at once.
    pub fn parallel(&self) -> usize {
        self.jobs.into()
    }

    /// The words of the program, as a report has them.
    pub fn words(&self) -> Vec<String> {
        self.command.iter().map(|word| word.to_string_lossy().into_owned()).collect()
    }

    /// What there may be of runs, from now on.
    pub fn limits(&self) -> Result<Limits, CliError> {
        Ok(Limits {
            timeout: duration("--timeout", self.timeout.as_deref())?,
            most: self.max_runs.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX)),
            // A time that is too far off for the clock is no limit.
            until: duration("--max-time", self.max_time.as_deref())?
                .and_then(|duration| Instant::now().checked_add(duration)),
        })
    }

    /// All that is the same in each run.
    pub fn tester(&self, setting: Setting, limits: &Limits, context: &Context) -> Result<Tester, CliError> {
        let Setting { store, place, children, good, bad } = setting;
        let temporary = context.temporary_directory();
        let export = match &self.export {
            None => None,
            Some(format) => {
                let directory = Scratch::create(&temporary)?;
                Some(Export { format: format.clone(), directory, written: Mutex::default() })
            }
        };
        let logs = self.log_dir.as_ref().map(|path| context.path(path));
        if let Some(logs) = &logs {
            std::fs::create_dir_all(logs)
                .map_err(|error| CliError::from(error).about(&format!("'{}'", logs.display())))?;
        }
        Ok(Tester {
            command: self.command.clone(),
            directory: std::path::absolute(store.directory())?,
            store,
            session: context.session()?,
            temporary,
            place,
            export,
            invert: self.invert,
            timeout: limits.timeout,
            on_timeout: match self.on_timeout.as_str() {
                "bad" => OnTimeout::Bad,
                "abort" => OnTimeout::Abort,
                _ => OnTimeout::Skip,
            },
            logs,
            good: Mutex::new(good.join(" ")),
            bad,
            children,
            home: context.directory().to_owned(),
            names_store: context.named_store().is_some(),
        })
    }
}

/// How long an option says.
fn duration(option: &str, text: Option<&str>) -> Result<Option<Duration>, CliError> {
    let read = text.map(when::parse_duration).transpose();
    read.map_err(|error| CliError::usage(error.to_string()).about(option).hint("such as 90s or 5m"))
}
