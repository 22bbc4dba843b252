//! `mnem bisect narrow`, and how a search goes on from the commit that it found to the nodes.

use super::super::child::Children;
use super::super::context::Context;
use super::super::error::{CliError, Word};
use super::between::range_ends;
use super::narrowed::{End, Narrowed};
use super::program::{Limits, ProgramArgs, Setting};
use super::report::{Report, TryEvent};
use super::resume::Earlier;
use super::round::{Job, Meter, Rule, Stop, Told, round};
use super::tester::{Place, Tester, Verdict};
use crate::graph::Revision;
use crate::graph::bisect::Decision;
use crate::graph::narrow::{Narrow, NarrowStep, Tried};
use crate::model::SessionName;
use crate::object::StateId;
use crate::ops::{self, NarrowPlan, Next, OpError, ScratchRequest, Subject};
use crate::store::{Extent, STORE_DIRECTORY, Store};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Find the nodes that make something bad
///
/// Of the nodes that differ between a good and a bad commit a minimal set is searched for that still makes CMD fail: with
/// all of them it does, and without any one of them it does not (delta debugging). CMD is run as by 'mnem bisect run', in
/// private copies of the store, whose HEAD is the good commit with some of the changes; the store itself is not written.
/// Without a range the bad commit is the one that a report names, or that the search by hand has found, and the good one
/// its first parent. Prints the ids, and on standard error who wrote each.
#[derive(clap::Args, Debug)]
pub(super) struct NarrowArgs {
    /// The good and the bad commit
    #[arg(long, value_name = "A..B", conflicts_with = "report", add = super::super::complete::revisions())]
    range: Option<String>,

    /// The report of a search: the commit that it found, and how often the test fails where it was --flaky
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    #[command(flatten)]
    program: ProgramArgs,
}

/// How much likelier runs must be at the one rate than at the other before they are taken for it: many sets are tried, and
/// one that is mistaken leads astray.
const ODDS: f64 = 1000.0;

/// When the runs of one set are enough, by how often the test fails where it is good and where it is bad.
pub fn rule((before, after): (f64, f64)) -> Rule {
    Rule::Rates(Decision { before, after, odds: ODDS })
}

pub(super) fn run(args: &NarrowArgs, context: &mut Context) -> Result<(), CliError> {
    let limits = args.program.limits()?;
    let store = context.store()?;
    let session = context.session()?;
    let (good, bad, rates) = args.ends(&store, &session, context)?;
    let plan = ops::narrow_plan(&store, &session, good.as_ref(), &bad)?;
    context.warn_doubts(&plan.doubts);
    let children = Arc::new(Children::new()?);
    let narrowing = Narrowing {
        program: &args.program,
        limits: &limits,
        meter: &limits.meter(0),
        children: &children,
        rule: args.program.repeat().or(rates.map(rule)).unwrap_or(Rule::ONCE),
        known: BTreeMap::new(),
    };
    let narrowed = narrowing.narrow((&store, &session), &plan, &mut Report::default(), context)?;
    match (children.interrupted(), narrowed) {
        (None, Some(narrowed)) => {
            narrowed.print(context)?;
            context.bring_out()?;
            narrowed.say(context);
            narrowed.refused()
        }
        (status, _) => {
            context.say(&format!("interrupted after {}", super::counted(narrowing.meter.runs())));
            context.end_with(status.unwrap_or(super::INTERRUPTED));
            Ok(())
        }
    }
}

/// A good commit where one is named, a bad one, and how often the test fails where it is good and where it is bad as far as
/// that is known.
type Ends = (Option<Revision>, Revision, Option<(f64, f64)>);

impl NarrowArgs {
    fn ends(&self, store: &Store, session: &SessionName, context: &Context) -> Result<Ends, CliError> {
        if let Some(range) = &self.range {
            let (good, bad) = range_ends(range, context)?;
            return Ok((Some(good), bad, None));
        }
        if let Some(path) = &self.report {
            let path = context.path(path);
            let (culprit, rates) = Earlier::read(&path)?.found.ok_or_else(|| {
                CliError::usage(format!("'{}' names no first bad commit", path.display()))
                    .hint("name the two commits: --range GOOD..BAD")
            })?;
            return Ok((None, context.read_revision(&culprit)?, rates));
        }
        match ops::marks(store, session)?.ok_or(OpError::NoBisect)?.next {
            Next::Found(culprit) => Ok((None, super::revision(&culprit), None)),
            Next::NeedsBad | Next::NeedsGood | Next::Test { .. } | Next::Unsure(_) => {
                Err(CliError::usage("the search by hand has found no commit yet")
                    .hint("name the two commits: --range GOOD..BAD"))
            }
        }
    }
}

/// A search for the nodes, with all that it takes.
pub struct Narrowing<'n> {
    pub program: &'n ProgramArgs,
    pub limits: &'n Limits,
    pub meter: &'n Meter,
    pub children: &'n Arc<Children>,
    /// When the runs of one set are enough.
    pub rule: Rule,
    /// What was said of a memory in a private copy.
    pub known: BTreeMap<StateId, Verdict>,
}

impl Narrowing<'_> {
    /// Narrows down what changed from the good to the bad commit; `None` where a signal came.
    pub fn narrow(
        &self,
        (store, session): (&Store, &SessionName),
        plan: &NarrowPlan,
        report: &mut Report,
        context: &Context,
    ) -> Result<Option<Narrowed>, CliError> {
        let ids = [plan.good.id, plan.bad.id];
        if plan.changes.is_empty() {
            let message = format!("no node differs between {} and {}", ids[0], ids[1]);
            return Err(CliError::new(Word::BisectEndpoints, message).hint("mnem bisect narrow --range GOOD..BAD CMD"));
        }
        let go_on = || self.children.interrupted().is_none();
        let temporary = context.temporary_directory();
        let at_bad = super::revision(&ids[1]);
        let request =
            ScratchRequest { revision: &at_bad, extent: Extent::History, temporary: &temporary, go_on: &go_on };
        let Some(copied) = ops::scratch(store, session, &request)? else { return Ok(None) };
        let setting = Setting {
            // Nobody else has the copy: what there is to wait for is a slow disk.
            store: Store::new(copied.scratch.path().join(STORE_DIRECTORY), Duration::from_secs(60)),
            place: Place::Clone(copied.scratch),
            children: Arc::clone(self.children),
            good: vec![ids[0].to_string()],
            bad: ids[1].to_string(),
        };
        let tester = self.program.tester(setting, self.limits, context)?;
        let before = self.meter.runs();
        let mut trying = Trying { tester: &tester, plan, narrowing: self, report, context, tries: 0 };
        let (end, found) = match trying.search() {
            Ok((end, found)) => (end, found),
            Err(Stop::Interrupted) => return Ok(None),
            Err(stop) => return Err(stop.failed()),
        };
        if self.children.interrupted().is_some() {
            return Ok(None);
        }
        let tries = trying.tries;
        let nodes: Vec<_> = found.into_iter().map(|change| plan.changes[change].clone()).collect();
        let runs = self.meter.runs() - before;
        Narrowed::of((store, session), (end, nodes), ids, (plan.changes.len(), tries, runs)).map(Some)
    }
}

/// Takes in what the try at an index said.
type Take<'t> = dyn FnMut(usize, Tried) -> Vec<usize> + 't;

/// The tries of one search.
struct Trying<'t> {
    tester: &'t Tester,
    plan: &'t NarrowPlan,
    narrowing: &'t Narrowing<'t>,
    report: &'t mut Report,
    context: &'t Context,
    /// How many sets were tried.
    tries: usize,
}

impl Trying<'_> {
    /// How it ended, and the smallest set with which it fails as far as one is known.
    fn search(&mut self) -> Result<(End, Vec<usize>), Stop> {
        let count = self.plan.changes.len();
        let mut narrow = Narrow::new(count);
        for (end, set) in [(&self.plan.good, 0..0), (&self.plan.bad, 0..count)] {
            if let Some(&verdict) = self.narrowing.known.get(&end.state) {
                narrow.tell(&Vec::from_iter(set), tried(verdict));
            }
        }
        loop {
            let smallest = |narrow: &Narrow| narrow.smallest().map_or_else(Vec::new, <[usize]>::to_vec);
            let parallel = self.narrowing.program.parallel();
            let sets = match narrow.next(parallel) {
                NarrowStep::Try(sets) => sets,
                NarrowStep::FailsWithout => return Ok((End::FailsWithout, Vec::new())),
                NarrowStep::PassesWithAll(_) => return Ok((End::PassesWithAll, Vec::new())),
                NarrowStep::Found(set) => {
                    let mut again = None;
                    let tried = self.try_all(std::slice::from_ref(&set), &mut |_, tried| {
                        again = Some(tried);
                        Vec::new()
                    });
                    return match tried {
                        Ok(()) if again == Some(Tried::Fails) => Ok((End::Found, set)),
                        Ok(()) => Ok((End::Unsteady, Vec::new())),
                        Err(Stop::UsedUp(what)) => Ok((End::UsedUp(what), set)),
                        Err(stop) => Err(stop),
                    };
                }
            };
            let mut left = narrow.smallest().map_or(usize::MAX, <[usize]>::len);
            let context = self.context;
            let tried = self.try_all(&sets, &mut |own, tried| {
                narrow.tell(&sets[own], tried);
                let now = narrow.smallest().map_or(usize::MAX, <[usize]>::len);
                if now < left {
                    left = now;
                    context.say(&format!("{} left", super::changes(now)));
                }
                let wanted = match narrow.next(parallel) {
                    NarrowStep::Try(sets) => sets,
                    NarrowStep::Found(_) | NarrowStep::FailsWithout | NarrowStep::PassesWithAll(_) => Vec::new(),
                };
                (0..sets.len()).filter(|&other| !wanted.contains(&sets[other])).collect()
            });
            match tried {
                Ok(()) => {}
                Err(Stop::UsedUp(what)) => return Ok((End::UsedUp(what), smallest(&narrow))),
                Err(stop) => return Err(stop),
            }
        }
    }

    /// Tries sets at once. `take` is called with what each try said, as it comes, and names those that nobody needs any more.
    fn try_all(&mut self, sets: &[Vec<usize>], take: &mut Take<'_>) -> Result<(), Stop> {
        let all = self.plan.changes.len();
        let mut jobs = Vec::new();
        for set in sets {
            let tried = ops::narrow_try(&self.tester.store, self.plan, set)?;
            let subject = Subject {
                number: tried.number,
                id: tried.id,
                state: tried.state,
                parents: Vec::new(),
                subject: format!("{} of {}", set.len(), super::changes(all)),
            };
            jobs.push(Job { subject, rule: self.narrowing.rule, before: 0 });
        }
        self.tries += jobs.len();
        round(self.tester, &jobs, self.narrowing.meter, &mut |own, told| match told {
            Told::Ran(run) => {
                let nodes = sets[own].iter().map(|&change| self.plan.changes[change].as_str()).collect();
                self.report.line(&TryEvent::ran(&jobs[own].subject, nodes, &run))?;
                let attempt =
                    if jobs[own].rule.repeats() { format!(", attempt {}", run.attempt) } else { String::new() };
                let subject = &jobs[own].subject.subject;
                self.context.say(&format!(
                    "{subject} {}, run {}{attempt}: {}",
                    run.verdict.name(),
                    run.number,
                    run.end
                ));
                Ok(Vec::new())
            }
            Told::Decided(verdict) => Ok(take(own, tried(verdict))),
        })
    }
}

fn tried(verdict: Verdict) -> Tried {
    match verdict {
        Verdict::Good => Tried::Passes,
        Verdict::Bad => Tried::Fails,
        Verdict::Skip => Tried::Unresolved,
    }
}
