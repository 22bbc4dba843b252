//! `mnem bisect run`

use super::super::child::Children;
use super::super::context::Context;
use super::super::error::CliError;
use super::super::junit::junit;
use super::super::output;
use super::belief::Belief;
use super::between::{Asked, Between, BetweenArgs};
use super::driver::Driver;
use super::exact::{self, Checks};
use super::flaky;
use super::narrowing::Narrowing;
use super::outcome::{Answer, End};
use super::program::{Limits, ProgramArgs, Setting};
use super::report::{Report, StartJson};
use super::resume::Earlier;
use super::round::{Meter, Rule};
use super::tester::{Place, Tester, Verdict};
use crate::graph::bisect::Standard;
use crate::object::{CommitId, StateId};
use crate::ops;
use crate::store::Store;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// Let a program find the first bad commit
///
/// CMD is run for one commit after the other, without a shell: 0 says good, 1 to 124 bad, 125 that the commit cannot be
/// tested; any other status, and a signal, end the search. The first word that is no option is its name, and all behind it
/// belongs to it. What mnem commands in it read is the memory at the commit, and nothing else moves: HEAD, branches and
/// what is staged stay. Both ends are tested first, and what was found is tested again. Prints the full id of the first bad
/// commit; where the tests do not tell, all that are left, and ends with 2.
///
/// With --flaky the test need not say the same each time: it is run again and again where that tells most, until one
/// commit is as probable as is asked for. With --narrow the search goes on to the nodes of the commit, as 'mnem bisect
/// narrow' does, and prints their ids behind it.
#[derive(clap::Args, Debug)]
pub(super) struct RunArgs {
    #[command(flatten)]
    between: BetweenArgs,

    /// The test does not say the same each time: search for the commit from which on it fails at another rate
    #[arg(long, conflicts_with_all = ["confirm", "no_verify", "no_cache"])]
    flaky: bool,

    /// How probable the commit that is found has to be; at least 0.5 and at most 0.9999
    #[arg(long, value_name = "PROBABILITY", requires = "flaky", default_value = "0.95", value_parser = confidence)]
    confidence: f64,

    /// The test never fails where it is good, which takes fewer runs
    #[arg(long, requires = "flaky")]
    one_sided: bool,

    /// Go on from the runs that a report holds, and write on in it unless --report names another file
    #[arg(long, value_name = "FILE", requires = "flaky")]
    resume: Option<PathBuf>,

    /// Go on to the nodes that make it fail
    #[arg(long)]
    narrow: bool,

    /// Test what was found, and its parents, so often again
    #[arg(long, value_name = "COUNT", default_value = "1")]
    confirm: u16,

    /// Take the ends as they are said to be, and what was found without another test
    #[arg(long, conflicts_with = "confirm")]
    no_verify: bool,

    /// Test each commit, also where an equal memory was tested before
    #[arg(long)]
    no_cache: bool,

    /// Run CMD in a private copy of the store, whose HEAD is the commit, and where it may write; with `=state` in a copy
    /// without history
    #[arg(long, value_name = "EXTENT", num_args = 0..=1, require_equals = true, default_missing_value = "history",
        value_parser = ["history", "state"])]
    scratch: Option<String>,

    /// Write each run down as a line of JSON
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    /// Write the runs as JUnit XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    #[command(flatten)]
    program: ProgramArgs,
}

fn confidence(text: &str) -> Result<f64, String> {
    let confidence = text.parse().ok().filter(|confidence| (0.5..=0.9999).contains(confidence));
    confidence.ok_or_else(|| "at least 0.5 and at most 0.9999".to_owned())
}

impl RunArgs {
    /// How sure the search has to be, where the test is not steady.
    fn standard(&self, asked: &Asked) -> Result<Option<Standard>, CliError> {
        if !self.flaky {
            return Ok(None);
        }
        if asked.is_auto() {
            let error = CliError::usage("with --flaky one run tells of no commit that it is good, so not --good auto");
            return Err(error.hint("name a good end: --good REV"));
        }
        if self.program.repeat().is_some() && !self.narrow {
            let error = CliError::usage("--flaky runs each commit as often as it tells something, so not --repeat");
            return Err(error.hint("with --narrow it says how often each set of changes is run"));
        }
        Ok(Some(Standard { confidence: self.confidence, one_sided: self.one_sided }))
    }

    /// What was observed before.
    fn earlier(&self, start: &StartJson, context: &Context) -> Result<Earlier, CliError> {
        let Some(path) = &self.resume else { return Ok(Earlier::default()) };
        let earlier = Earlier::read(&context.path(path))?;
        if earlier.check(start)? {
            context.warn("the report is of runs of another program");
        }
        Ok(earlier)
    }

    fn begin_report(&self, start: &StartJson, earlier: &Earlier, context: &Context) -> Result<Report, CliError> {
        match self.report.as_ref().or(self.resume.as_ref()) {
            Some(path) => Report::begin(&context.path(path), start, earlier),
            None => Ok(Report::default()),
        }
    }

    /// The line that goes on with the search, where what it did is written down.
    fn go_on(&self, context: &Context) -> Option<String> {
        match (&self.resume, &self.report) {
            (Some(_), _) => Some(context.shown_words(&[])),
            (None, Some(report)) if self.flaky => {
                Some(context.shown_words(&["--resume", &report.display().to_string()]))
            }
            (None, Some(_) | None) => None,
        }
    }
}

pub(super) fn run(args: &RunArgs, context: &mut Context) -> Result<(), CliError> {
    let asked = args.between.asked(context)?;
    let standard = args.standard(&asked)?;
    let limits = args.program.limits()?;
    let keeps = asked.is_marked() && standard.is_none();
    let store = if keeps { context.store_to_write()? } else { context.store()? };
    let session = context.session()?;
    let mut between = asked.find(&store, &session)?;
    context.warn_doubts(&between.ends.doubts);
    // Ends that were mistaken, and what cannot be read or written, are told before hours of tests, not behind them.
    let planned = if between.ends.good.is_empty() { None } else { Some(between.plan(&store, &session)?) };
    let good = super::ids(&store, &session, &between.ends.good)?;
    let bad_id = ops::commit_ids(&store, &session, &[between.ends.bad])?.remove(0);
    let bad = bad_id.to_string();
    let start = StartJson::new(bad.clone(), good.clone(), args.program.words(), args.program.inverts());
    let earlier = args.earlier(&start, context)?;
    let mut report = args.begin_report(&start, &earlier, context)?;
    write_junit(args, &report, context)?;
    let children = Arc::new(Children::new()?);
    let Some(place) = place(args, &bad_id, &store, &children, context)? else {
        context.end_with(children.interrupted().unwrap_or(super::INTERRUPTED));
        return Ok(());
    };
    let tester = args.program.tester(Setting { store, place, children, good, bad }, &limits, context)?;
    let meter = limits.meter(earlier.last());
    let mut driver = Driver {
        tester: &tester,
        context,
        report: &mut report,
        meter: &meter,
        rule: args.program.repeat().filter(|_| standard.is_none()).unwrap_or(Rule::ONCE),
        parallel: args.program.parallel(),
        uses_cache: !args.no_cache && !args.program.repeat().is_some_and(Rule::repeats),
        known: BTreeMap::new(),
        spared: 0,
        keeps,
        attempts: BTreeMap::new(),
    };
    let ended = match (standard, planned) {
        (Some(standard), Some(plan)) => flaky::search(standard, &between, plan, &earlier, &mut driver),
        (_, planned) => {
            let checks = Checks { verifies: !args.no_verify, confirm: args.confirm };
            exact::search(checks, &mut between, planned, &mut driver).map(|end| (end, None))
        }
    };
    let spared = driver.spared;
    let known = match tester.place {
        Place::Clone(_) if driver.uses_cache => driver.known,
        Place::Clone(_) | Place::Store | Place::State => BTreeMap::new(),
    };
    let conclusion =
        Conclusion { args, limits: &limits, tester: &tester, meter: &meter, spared, known, earlier: &earlier };
    let told = conclusion.tell(ended, &between, &mut report, context);
    write_junit(args, &report, context)?;
    told
}

/// Where a commit reaches the program; `None` where a signal came.
fn place(
    args: &RunArgs,
    bad: &CommitId,
    store: &Store,
    children: &Children,
    context: &Context,
) -> Result<Option<Place>, CliError> {
    match args.scratch.as_deref() {
        None => Ok(Some(Place::Store)),
        Some("state") => Ok(Some(Place::State)),
        Some(_) => Ok(super::private_copy(store, bad, children, context)?.map(Place::Clone)),
    }
}

/// What a search was made with, once it has ended.
struct Conclusion<'s> {
    args: &'s RunArgs,
    limits: &'s Limits,
    tester: &'s Tester,
    meter: &'s Meter,
    spared: usize,
    /// What was said of a memory where the program was run as it is to find the nodes.
    known: BTreeMap<StateId, Verdict>,
    earlier: &'s Earlier,
}

impl Conclusion<'_> {
    /// Goes on to the nodes where that is asked for, and tells all of it.
    fn tell(
        &self,
        ended: Result<(End, Option<Belief>), CliError>,
        between: &Between,
        report: &mut Report,
        context: &mut Context,
    ) -> Result<(), CliError> {
        let Self { tester, meter, args, .. } = self;
        if tester.children.interrupted().is_some() {
            self.end_interrupted(context);
            return Ok(());
        }
        let answer = Answer::of(ended?, &between.ends, (meter.runs(), self.spared), tester)?;
        report.line(&answer.json())?;
        let narrowed = match answer.culprit() {
            Some((culprit, rates)) if args.narrow => {
                let narrowing = Narrowing {
                    program: &args.program,
                    limits: self.limits,
                    meter,
                    children: &tester.children,
                    rates,
                    known: self.known.clone(),
                    earlier: self.earlier,
                };
                let (store, session) = (&tester.store, &tester.session);
                let plan = ops::narrow_plan(store, session, None, &super::revision(&culprit))?;
                let narrowed = narrowing.narrow((store, session), &plan, report, context)?;
                let Some(narrowed) = narrowed else {
                    self.end_interrupted(context);
                    return Ok(());
                };
                Some(narrowed)
            }
            Some(_) | None => None,
        };
        answer.tell(narrowed.as_ref(), args.go_on(context).as_deref(), context)
    }

    fn end_interrupted(&self, context: &mut Context) {
        let runs = self.meter.runs() - self.earlier.last();
        super::end_interrupted(&self.tester.children, runs, self.args.go_on(context).as_deref(), context);
    }
}

/// Writes the runs so far, where that is asked for.
fn write_junit(args: &RunArgs, report: &Report, context: &Context) -> Result<(), CliError> {
    let Some(path) = &args.junit else { return Ok(()) };
    output::write_file(&context.path(path), true, |out| write!(out, "{}", junit("bisect", &report.cases())))
}
