//! `mnem bisect run`

use super::super::child::Children;
use super::super::context::Context;
use super::super::error::{CliError, Word};
use super::super::json::{CommitJson, V};
use super::super::junit::junit;
use super::super::output;
use super::super::pattern::patterns;
use super::super::when;
use super::culprit;
use super::driver::{BadIf, Driver, Purpose, Repeat, Stop};
use super::report::{Report, StartJson};
use super::tester::{Export, OnTimeout, Place, Tester, Verdict, joined};
use crate::graph::bisect::{Bounds, Mark, Search};
use crate::graph::{Revision, Selection};
use crate::model::{Pattern, SessionName};
use crate::object::CommitId;
use crate::ops::{self, BisectEnds, BisectPlan, GoodEnds, OpError, ScratchRequest};
use crate::store::{Extent, Marked, Number, Scratch, Store};
use serde::Serialize;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// Let a program find the first bad commit
///
/// CMD is run for one commit after the other, without a shell: 0 says good, 1 to 124 bad, 125 that the commit cannot be
/// tested; any other status, and a signal, end the search. The first word that is no option is its name, and all behind it
/// belongs to it. What mnem commands in it read is the memory at the commit, and nothing else moves: HEAD, branches and
/// what is staged stay. Both ends are tested first, and what was found is tested again. Prints the full id of the first bad
/// commit; where the tests do not tell, all that are left, and ends with 2.
#[derive(clap::Args, Debug)]
pub(super) struct RunArgs {
    /// The good and the bad end
    #[arg(long, value_name = "A..B", conflicts_with_all = ["good", "bad"], add = super::super::complete::revisions())]
    range: Option<String>,

    /// A good end; with auto the first of HEAD~1, ~2, ~4 and so on that tests good
    #[arg(long, value_name = "REV|auto", requires = "bad", add = super::super::complete::revisions())]
    good: Vec<String>,

    /// The bad end
    #[arg(long, value_name = "REV", requires = "good", add = super::super::complete::revisions())]
    bad: Option<String>,

    /// Follow first parents only
    #[arg(long)]
    first_parent: bool,

    /// Only commits that changed a node with such an id: an id, an id with / behind it for all below, or a glob
    #[arg(long, value_name = "PATTERN", add = super::super::complete::ids())]
    changed: Vec<String>,

    /// Take * ? [ in patterns as they are
    #[arg(long)]
    literal: bool,

    /// Commits that are not to be tested
    #[arg(long, value_name = "REV", add = super::super::complete::revisions())]
    skip: Vec<String>,

    /// Take 0 for bad and 1 to 124 for good
    #[arg(long)]
    invert: bool,

    /// End a run that takes longer, such as 90s or 5m
    #[arg(long, value_name = "DURATION")]
    timeout: Option<String>,

    /// What a run that took too long says
    #[arg(long, value_name = "VERDICT", requires = "timeout", value_parser = ["skip", "bad", "abort"], default_value = "skip")]
    on_timeout: String,

    /// Test so many commits at a time
    #[arg(short, long, value_name = "COUNT", default_value = "1", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: u16,

    /// Run CMD so often for each commit
    #[arg(long, value_name = "COUNT", default_value = "1", value_parser = clap::value_parser!(u16).range(1..))]
    repeat: u16,

    /// Of several runs, how many have to be bad for the commit to be
    #[arg(long, value_name = "HOW", value_parser = ["any", "majority", "all"], default_value = "any")]
    bad_if: String,

    /// Give up after so many runs
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    max_runs: Option<u32>,

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

    /// Write the memory of the commit to a file, or a folder, whose name CMD finds in MNEM_EXPORT
    #[arg(long, value_name = "FORMAT", value_parser = ["jsonl", "json", "dir"])]
    export: Option<String>,

    /// Keep what CMD prints in a file of this folder for each run, instead of showing it on standard error
    #[arg(long, value_name = "FOLDER")]
    log_dir: Option<PathBuf>,

    /// Write each run down as a line of JSON
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    /// Write the runs as JUnit XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    /// The program, and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "CMD", value_hint = clap::ValueHint::CommandWithArguments)]
    command: Vec<OsString>,
}

/// How a search ended.
enum Outcome {
    Found { culprit: Number, one_of_several: bool },
    Undecided { left: Vec<Number>, why: Why },
}

/// How a search ended, as it is told.
#[derive(Serialize)]
struct ResultJson<'a> {
    v: u8,
    r#type: &'static str,
    outcome: &'static str,
    commit: Option<CommitJson<'a>>,
    candidates: Vec<String>,
    bad: String,
    good: Vec<String>,
    runs: usize,
    spared: usize,
    one_of_several: bool,
}

pub(super) fn run(args: &RunArgs, context: &mut Context) -> Result<(), CliError> {
    let patterns = patterns(&args.changed, args.literal)?;
    let skip = args.skip.iter().map(|text| context.read_selection(text)).collect::<Result<Vec<_>, _>>()?;
    let named = ends(args, context)?;
    let store = if named.is_some() { context.store()? } else { context.store_to_write()? };
    let session = context.session()?;
    let (mut ends, bounds) = match &named {
        Some((bad, good)) => {
            let ends = ops::bisect_ends(&store, &session, bad, good)?;
            (ends, Among { patterns, first_parent: args.first_parent, skipped: Vec::new(), skip })
        }
        None => of_marks(&store, &session, (patterns, args.first_parent, skip))?,
    };
    context.warn_doubts(&ends.doubts);
    let mut report = Report::create(args.report.as_ref().map(|path| context.path(path)).as_deref())?;
    // What cannot be written is told before hours of tests, not behind them.
    write_junit(args, &report, context)?;
    let children = Children::new()?;
    let Some(place) = place(args, &ends, &store, &children, context)? else {
        context.end_with(children.interrupted().unwrap_or(INTERRUPTED));
        return Ok(());
    };
    let tester = tester(args, &ends, (store, place, children), context)?;
    let mut driver = Driver {
        tester: &tester,
        context,
        report: &mut report,
        repeat: Repeat { times: args.repeat.into(), bad_if: bad_if(&args.bad_if) },
        most: args.max_runs.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX)),
        parallel: args.jobs.into(),
        uses_cache: !args.no_cache && args.repeat == 1,
        known: BTreeMap::new(),
        runs: 0,
        spared: 0,
        keeps: named.is_none(),
        attempts: BTreeMap::new(),
    };
    let outcome = search(args, &mut ends, &bounds, &mut driver);
    let (runs, spared) = (driver.runs, driver.spared);
    let told = tell(outcome, &ends, (runs, spared), &tester, &mut report, context);
    write_junit(args, &report, context)?;
    told
}

/// Which of the commits between the ends are candidates, and which of them are not to be tested.
struct Among {
    patterns: Vec<Pattern>,
    first_parent: bool,
    skipped: Vec<Number>,
    skip: Vec<Selection>,
}

/// The ends that the session's search by hand has, and what it is among.
fn of_marks(
    store: &Store,
    session: &SessionName,
    (mut chosen, first_parent, skip): (Vec<Pattern>, bool, Vec<Selection>),
) -> Result<(BisectEnds, Among), CliError> {
    let marks = ops::marks(store, session)?.ok_or(OpError::NoBisect)?.marks;
    let missing = |end: &str| {
        let error = CliError::usage(format!("no {end} commit is marked"));
        Err(error.hint(format!("mnem bisect {end} REV")))
    };
    let (mut also_bad, good) = (marks.of(Marked::Bad), marks.of(Marked::Good));
    let Some(bad) = also_bad.pop() else { return missing("bad") };
    if good.is_empty() {
        return missing("good");
    }
    chosen.extend(patterns(&marks.patterns, marks.literal)?);
    let among = Among {
        patterns: chosen,
        first_parent: first_parent || marks.first_parent,
        skipped: marks.of(Marked::Skip),
        skip,
    };
    Ok((BisectEnds { bad, also_bad, good, ..BisectEnds::default() }, among))
}

/// The ends that are named; `None` where none is.
fn ends(args: &RunArgs, context: &Context) -> Result<Option<(Revision, GoodEnds)>, CliError> {
    if let Some(range) = &args.range {
        return match context.read_selection(range)? {
            Selection::Between(good, bad) => Ok(Some((bad, GoodEnds::Named(vec![good])))),
            Selection::Of(_) | Selection::Without(_) | Selection::Either(..) => {
                Err(CliError::usage(format!("'{range}' has no two ends")).hint("such as --range GOOD..BAD"))
            }
        };
    }
    let Some(bad) = &args.bad else { return Ok(None) };
    let bad = context.read_revision(bad)?;
    if args.good.iter().any(|good| good == "auto") {
        return match &args.good[..] {
            [_] => Ok(Some((bad, GoodEnds::Auto))),
            _ => Err(CliError::usage("--good auto stands alone").hint("mnem bisect run --good auto --bad HEAD CMD")),
        };
    }
    let good = args.good.iter().map(|text| context.read_revision(text)).collect::<Result<_, _>>()?;
    Ok(Some((bad, GoodEnds::Named(good))))
}

fn bad_if(text: &str) -> BadIf {
    match text {
        "majority" => BadIf::Majority,
        "all" => BadIf::All,
        _ => BadIf::Any,
    }
}

/// The status of who was interrupted and can't say by what.
const INTERRUPTED: u8 = 130;

/// Where a commit reaches the program; `None` where a signal came.
fn place(
    args: &RunArgs,
    ends: &BisectEnds,
    store: &Store,
    children: &Children,
    context: &Context,
) -> Result<Option<Place>, CliError> {
    match args.scratch.as_deref() {
        None => Ok(Some(Place::Store)),
        Some("state") => Ok(Some(Place::State)),
        Some(_) => {
            let session = context.session()?;
            let bad = ops::bisect_subjects(store, &session, &[ends.bad])?.remove(0);
            let revision = super::revision(&bad.id);
            let temporary = context.temporary_directory();
            let go_on = || children.interrupted().is_none();
            let request =
                ScratchRequest { revision: &revision, extent: Extent::History, temporary: &temporary, go_on: &go_on };
            Ok(ops::scratch(store, &session, &request)?.map(|report| Place::Clone(report.scratch)))
        }
    }
}

/// All that is the same in each run.
fn tester(
    args: &RunArgs,
    ends: &BisectEnds,
    (store, place, children): (Store, Place, Children),
    context: &Context,
) -> Result<Tester, CliError> {
    let session = context.session()?;
    let temporary = context.temporary_directory();
    let numbers: Vec<_> = ends.good.iter().copied().chain([ends.bad]).collect();
    let mut ids: Vec<CommitId> =
        ops::bisect_subjects(&store, &session, &numbers)?.into_iter().map(|subject| subject.id).collect();
    let bad = ids.pop().expect("the bad end is the last one");
    let export = match &args.export {
        None => None,
        Some(format) => {
            let directory = Scratch::create(&temporary)?;
            Some(Export { format: format.clone(), directory, written: Mutex::default() })
        }
    };
    let logs = args.log_dir.as_ref().map(|path| context.path(path));
    if let Some(logs) = &logs {
        std::fs::create_dir_all(logs).map_err(|error| CliError::from(error).about(&format!("'{}'", logs.display())))?;
    }
    let timeout = args.timeout.as_deref().map(when::parse_duration).transpose();
    let timeout =
        timeout.map_err(|error| CliError::usage(error.to_string()).about("--timeout").hint("such as 90s or 5m"))?;
    Ok(Tester {
        command: args.command.clone(),
        directory: std::path::absolute(store.directory())?,
        store,
        session,
        temporary,
        place,
        export,
        invert: args.invert,
        timeout,
        on_timeout: match args.on_timeout.as_str() {
            "bad" => OnTimeout::Bad,
            "abort" => OnTimeout::Abort,
            _ => OnTimeout::Skip,
        },
        logs,
        good: Mutex::new(joined(&ids)),
        bad: bad.to_string(),
        children,
        home: context.directory().to_owned(),
        names_store: context.named_store().is_some(),
    })
}

/// The whole search: its ends, what is between, and what was found once more.
fn search(args: &RunArgs, ends: &mut BisectEnds, among: &Among, driver: &mut Driver<'_>) -> Result<Outcome, CliError> {
    let verifies = !args.no_verify;
    let plan = |ends: &BisectEnds, driver: &Driver<'_>| {
        let bad = ends.also_bad.iter().copied().chain([ends.bad]).collect();
        let bounds = Bounds { bad, good: ends.good.clone(), first_parent: among.first_parent };
        ops::bisect_plan(&driver.tester.store, &driver.tester.session, &bounds, &among.patterns, &among.skip).map_err(
            |error| match error {
                OpError::SwappedEnds { bad, good } => CliError::from(error)
                    .hint(format!("are the two swapped? mnem bisect run --range {bad}..{good} CMD")),
                other => other.into(),
            },
        )
    };
    // Ends that were mistaken are told before anything is run.
    let mut planned = if ends.good.is_empty() { None } else { Some(plan(ends, driver)?) };
    let begun = StartJson::new(driver.tester.bad.clone(), driver.ids(&ends.good)?, driver.words());
    driver.report.line(&begun)?;
    let undecided = |left: Vec<Number>, why: Why| Ok(Outcome::Undecided { left, why });
    if verifies || planned.is_none() {
        match verify(ends, verifies, driver) {
            Ok(()) => {}
            Err(Stop::UsedUp) => {
                let left = planned.map_or_else(Vec::new, |plan| plan.candidates.numbers().to_vec());
                return undecided(left, USED_UP);
            }
            Err(stop) => return Err(driver.failed(stop)),
        }
    }
    let BisectPlan { candidates, bases, skipped, doubts } = match planned.take() {
        Some(planned) => planned,
        None => plan(ends, driver)?,
    };
    driver.context.warn_doubts(&doubts);
    if candidates.numbers().is_empty() {
        let message = "no commit between the ends changed such a node";
        return Err(CliError::new(Word::BisectEndpoints, message).hint("search without --changed"));
    }
    let all = candidates.clone();
    let mut search = Search::new(candidates);
    for number in skipped.into_iter().chain(among.skipped.iter().copied()) {
        search.mark(number, Mark::Skip).expect("nothing is marked otherwise");
    }
    if verifies {
        for base in bases {
            match driver.test(base, Purpose::Base) {
                Ok(Verdict::Good) => {}
                Ok(Verdict::Skip) => driver.context.warn("a merge base cannot be tested: the culprit may be elsewhere"),
                Ok(Verdict::Bad) => {
                    let id = driver.ids(&[base])?.remove(0);
                    let message =
                        format!("the merge base {id} is bad: what is looked for was mended on the way to a good end");
                    return Err(CliError::new(Word::BisectEndpoints, message).hint("search with that as the bad end"));
                }
                Err(Stop::UsedUp) => return undecided(search.remaining(), USED_UP),
                Err(stop) => return Err(driver.failed(stop)),
            }
        }
    }
    let culprit = match driver.search(&mut search) {
        Ok(Ok(culprit)) => culprit,
        Ok(Err(left)) => return undecided(left, SKIPPED),
        Err(Stop::UsedUp) => return undecided(search.remaining(), USED_UP),
        Err(Stop::Contradiction) => return undecided(Vec::new(), CONTRADICTION),
        Err(stop) => return Err(driver.failed(stop)),
    };
    if verifies {
        for _ in 0..args.confirm {
            match driver.confirm(culprit, among.first_parent) {
                Ok(true) => {}
                Ok(false) if among.patterns.is_empty() => return undecided(Vec::new(), UNSTEADY),
                Ok(false) => return undecided(Vec::new(), ELSEWHERE),
                Err(Stop::UsedUp) => return undecided(vec![culprit], USED_UP),
                Err(stop) => return Err(driver.failed(stop)),
            }
        }
    }
    let one_of_several = driver.contradicts(&all)?;
    Ok(Outcome::Found { culprit, one_of_several })
}

/// Why a search came to no answer, and what to do about it.
#[derive(Clone, Copy)]
struct Why {
    what: &'static str,
    hint: &'static str,
}

const USED_UP: Why = Why {
    what: "as many runs were made as --max-runs allows",
    hint: "allow more, or look at fewer commits with --changed",
};
const SKIPPED: Why = Why {
    what: "only commits are left that cannot be tested",
    hint: "look at them by hand: mnem bisect start BAD GOOD",
};
const CONTRADICTION: Why = Why {
    what: "what was tested does not go together: a commit is good though it descends from a bad one",
    hint: "where it changed more than once, see 'mnem bisect find --all'; a test that is not steady needs --repeat",
};
const UNSTEADY: Why =
    Why { what: "tested again, what was found says something else", hint: "a test that is not steady needs --repeat" };
const ELSEWHERE: Why = Why {
    what: "what was found, or what stood before it, says something else",
    hint: "another commit may have done it: search without --changed",
};

/// Writes the runs so far, where that is asked for.
fn write_junit(args: &RunArgs, report: &Report, context: &Context) -> Result<(), CliError> {
    let Some(path) = &args.junit else { return Ok(()) };
    output::write_file(&context.path(path), true, |out| write!(out, "{}", junit("bisect", &report.cases())))
}

/// Tests the ends, and finds a good one where that is asked for.
fn verify(ends: &mut BisectEnds, verifies: bool, driver: &mut Driver<'_>) -> Result<(), Stop> {
    let wrong = |id: String, what: &str, verdict: Verdict| {
        let found = match verdict {
            Verdict::Good => "tests good",
            Verdict::Bad => "tests bad",
            Verdict::Skip => "cannot be tested",
        };
        let error = CliError::new(Word::BisectEndpoints, format!("{what} end {id} {found}"));
        Stop::Failed(error.hint("look at what the program says there: mnem exec -r REV CMD"))
    };
    if verifies {
        match driver.test(ends.bad, Purpose::BadEnd)? {
            Verdict::Bad => {}
            verdict => return Err(wrong(driver.ids(&[ends.bad])?.remove(0), "the bad", verdict)),
        }
        for good in ends.good.clone() {
            match driver.test(good, Purpose::GoodEnd)? {
                Verdict::Good => {}
                verdict => return Err(wrong(driver.ids(&[good])?.remove(0), "the good", verdict)),
            }
        }
    }
    for number in std::mem::take(&mut ends.ladder) {
        if driver.test(number, Purpose::Ladder)? == Verdict::Good {
            ends.good.push(number);
            *driver.tester.good.lock().unwrap_or_else(PoisonError::into_inner) = driver.ids(&[number])?.remove(0);
            return Ok(());
        }
    }
    if ends.good.is_empty() {
        let error = CliError::new(Word::BisectEndpoints, "no commit before the bad end tests good");
        return Err(Stop::Failed(error.hint("name one that is good: --good REV")));
    }
    Ok(())
}

/// Tells how a search ended: the answer on standard output, and what a person asks next.
fn tell(
    outcome: Result<Outcome, CliError>,
    ends: &BisectEnds,
    (runs, spared): (usize, usize),
    tester: &Tester,
    report: &mut Report,
    context: &mut Context,
) -> Result<(), CliError> {
    if let Some(status) = tester.children.interrupted() {
        context.say(&format!("interrupted after {}", counted(runs)));
        context.end_with(status);
        return Ok(());
    }
    let outcome = outcome?;
    let ids = |numbers: &[Number]| -> Result<Vec<String>, CliError> {
        let subjects = ops::bisect_subjects(&tester.store, &tester.session, numbers)?;
        Ok(subjects.into_iter().map(|subject| subject.id.to_string()).collect())
    };
    let (bad, good) = (ids(&[ends.bad])?.remove(0), ids(&ends.good)?);
    match outcome {
        Outcome::Found { culprit, one_of_several } => {
            let id = ids(&[culprit])?.remove(0);
            let revision = context.read_revision(&id)?;
            let shown = ops::show(&tester.store, &tester.session, &revision, &[])?;
            let commit = Some(CommitJson::new(&shown.entry));
            let result = ResultJson {
                v: V,
                r#type: "bisect",
                outcome: "found",
                commit,
                candidates: vec![id.clone()],
                bad,
                good,
                runs,
                spared,
                one_of_several,
            };
            report.line(&result)?;
            if context.globals.json {
                context.json_line(&result)?;
            } else {
                context.line(&id)?;
            }
            context.bring_out()?;
            culprit::tell(&shown, &id, &counted(runs), one_of_several, context);
            Ok(())
        }
        Outcome::Undecided { left, why } => {
            let candidates = ids(&left)?;
            if !context.globals.json {
                candidates.iter().try_for_each(|id| context.line(id))?;
            }
            let message = match left.len() {
                0 => why.what.to_owned(),
                1 => format!("{}; 1 commit is left", why.what),
                count => format!("{}; {count} commits are left", why.what),
            };
            let result = ResultJson {
                v: V,
                r#type: "bisect",
                outcome: "undecided",
                commit: None,
                candidates,
                bad,
                good,
                runs,
                spared,
                one_of_several: false,
            };
            report.line(&result)?;
            if context.globals.json {
                context.json_line(&result)?;
            }
            context.bring_out()?;
            Err(CliError::new(Word::BisectInconclusive, message).hint(why.hint))
        }
    }
}

fn counted(runs: usize) -> String {
    if runs == 1 { "1 run".to_owned() } else { format!("{runs} runs") }
}
