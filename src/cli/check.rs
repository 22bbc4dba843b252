//! `mnem check`

use super::assertions::read_assertions;
use super::context::{AtRevision, Context};
use super::error::CliError;
use super::finding::{FindingJson, OriginJson, RemovalJson, blame, finding, removal};
use super::input::read_bytes;
use super::json::V;
use super::junit::{Case, junit};
use super::output::write_file;
use super::paint::Paint;
use super::put::MAX_ROWS_BYTES;
use super::rows::Lines;
use super::text::{counted, escape_line};
use crate::ops::{self, Assertion, Failure};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Hold a file of assertions against a memory
///
/// Reads HEAD with this session's staged changes, or the memory at a revision. Prints each predicate that does not hold
/// behind the name of its assertion, what stands there, and who made it so: who took away what is missed, who brought in
/// what should not stand, or where it never held who wrote what stands there. Ends with 0 where all assertions hold, and
/// with 1 where one does not.
///
/// FILE is JSON Lines: {"name":"she is vegan","predicates":["--contains","user/diet","vegan"]}, with the words of 'mnem
/// test'. An assertion holds where all of its predicates do. Each name stands once.
#[derive(clap::Args, Debug)]
pub(super) struct CheckArgs {
    /// The assertions; - is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    #[command(flatten)]
    at: AtRevision,

    /// Write the answer as JUnit XML too, a test case for each assertion
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
}

#[derive(Serialize)]
struct CheckJson<'a> {
    v: u8,
    r#type: &'static str,
    name: &'a str,
    holds: bool,
    failures: Vec<FailureJson<'a>>,
}

#[derive(Serialize)]
struct FailureJson<'a> {
    #[serde(flatten)]
    finding: FindingJson<'a>,
    blame: Vec<OriginJson<'a>>,
    removal: Option<RemovalJson<'a>>,
}

impl<'a> CheckJson<'a> {
    fn new(assertion: &'a Assertion, failures: &'a [Failure<'_>]) -> Result<Self, CliError> {
        let failure = |failure: &'a Failure<'_>| {
            let blame = failure.shares.iter().map(OriginJson::new).collect();
            let removal = failure.removal.as_ref().map(RemovalJson::new).transpose()?;
            Ok(FailureJson { finding: FindingJson::new(failure.predicate, &failure.found)?, blame, removal })
        };
        let told = failures.iter().map(failure).collect::<Result<Vec<_>, CliError>>()?;
        Ok(Self { v: V, r#type: "check", name: &assertion.name, holds: failures.is_empty(), failures: told })
    }
}

pub(super) fn run(args: &CheckArgs, context: &mut Context) -> Result<(), CliError> {
    let name = args.file.display().to_string();
    let report = args.junit.as_ref().map(|path| context.path(path));
    if args.junit.as_deref() == Some(Path::new("-")) {
        return Err(CliError::usage("--junit needs a file").hint("mnem check FILE --junit report.xml"));
    }
    let bytes = read_bytes(context, &args.file, MAX_ROWS_BYTES)?;
    let assertions = read_assertions(Lines { bytes: &bytes, path: &args.file })?;
    let store = context.store()?;
    let session = context.session()?;
    let revision = context.revision(&args.at, &store)?;
    let (checked, doubt) = ops::check(&store, &session, revision.as_ref(), &assertions)?;
    context.warn_doubts(&doubt);
    if let Some(path) = report {
        let case = |(assertion, failures): (&'_ Assertion, &Vec<Failure<'_>>)| {
            let failures = failures.iter().map(|failure| lines(failure, Paint::default())).collect();
            Case { name: assertion.name.clone(), failures, is_skipped: false }
        };
        let document = junit(&name, &assertions.iter().zip(&checked).map(case).collect::<Vec<_>>());
        write_file(&path, false, |out| out.write_all(document.as_bytes()))?;
    }
    for (assertion, failures) in assertions.iter().zip(&checked) {
        if !failures.is_empty() {
            context.answer_no();
        }
        if context.globals.json {
            context.json_line(&CheckJson::new(assertion, failures)?)?;
        } else {
            failures.iter().try_for_each(|failure| show(assertion, failure, context))?;
        }
    }
    context.say(&sum(&checked));
    Ok(())
}

fn show(assertion: &Assertion, failure: &Failure<'_>, context: &mut Context) -> Result<(), CliError> {
    let (finding, blame) = lines(failure, context.paint());
    let name = context.paint().removed(&escape_line(&assertion.name));
    context.line(&format!("{name}: {finding}"))?;
    Ok(blame.iter().try_for_each(|line| context.line(&format!("    {line}")))?)
}

/// What was found, and who wrote it.
fn lines(failure: &Failure<'_>, paint: Paint) -> (String, Vec<String>) {
    let shares = failure.shares.iter().map(|share| blame(share, paint));
    let blame = failure.removal.iter().flat_map(|end| removal(end, paint)).chain(shares);
    (finding(failure.predicate, &failure.found), blame.collect())
}

fn sum(checked: &[Vec<Failure<'_>>]) -> String {
    match (checked.iter().filter(|failures| !failures.is_empty()).count(), checked.len()) {
        (0, 0) => "no assertions".to_owned(),
        (0, 1) => "1 assertion holds".to_owned(),
        (0, all) => format!("{} hold", counted(all, "assertion")),
        (failed, all) => format!("{failed} of {} failed", counted(all, "assertion")),
    }
}
