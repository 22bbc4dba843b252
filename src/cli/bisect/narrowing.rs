//! How a search goes on from a commit to the nodes: it asks which sets of changes to try, has them tried, and takes in what
//! comes back.

use super::super::child::Children;
use super::super::context::Context;
use super::super::error::{CliError, Word};
use super::super::text::counted;
use super::narrowed::{Counts, End, Narrowed};
use super::program::{Limits, ProgramArgs, Setting};
use super::rates::Rates;
use super::report::{NarrowStartJson, Report, TryEvent};
use super::resume::{Earlier, TriedBefore};
use super::round::{Job, Meter, Rule, Runs, Stop, Told, round};
use super::tester::{Place, Tester, Verdict};
use crate::graph::narrow::{Narrow, NarrowStep, Tried};
use crate::model::SessionName;
use crate::object::StateId;
use crate::ops::{self, NarrowPlan, Subject};
use crate::store::{STORE_DIRECTORY, Store};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// A search for the nodes, with all that it takes.
pub struct Narrowing<'n> {
    pub program: &'n ProgramArgs,
    pub limits: &'n Limits,
    pub meter: &'n Meter,
    pub children: &'n Arc<Children>,
    /// How often the test fails, where it does not say the same each time.
    pub rates: Option<Rates>,
    /// What was said of a memory in a private copy.
    pub known: BTreeMap<StateId, Verdict>,
    /// What was tried before.
    pub earlier: &'n Earlier,
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
        let Some(copy) = super::private_copy(store, &ids[1], self.children, context)? else { return Ok(None) };
        let setting = Setting {
            // Nobody else has the copy: what there is to wait for is a slow disk.
            store: Store::new(copy.path().join(STORE_DIRECTORY), Duration::from_secs(60)),
            place: Place::Clone(copy),
            children: Arc::clone(self.children),
            good: vec![ids[0].to_string()],
            bad: ids[1].to_string(),
        };
        let tester = self.program.tester(setting, self.limits, context)?;
        let before = self.meter.runs();
        let start =
            NarrowStartJson::new(ids[0].to_string(), ids[1].to_string(), self.program.words(), self.program.inverts());
        let (seen, attempts) = seen_before(plan, self.earlier.tries(&start));
        let mut trying = Trying {
            tester: &tester,
            plan,
            narrowing: self,
            report,
            context,
            rule: self.program.repeat().unwrap_or(Rule::ONCE),
            seen,
            attempts,
            tries: 0,
            untested: 0,
        };
        if trying.seen.is_empty() {
            trying.report.line(&start)?;
        }
        let (end, found) = match trying.search() {
            Ok(ended) => ended,
            Err(Stop::Interrupted) => return Ok(None),
            Err(stop) => return Err(stop.failed()),
        };
        if self.children.interrupted().is_some() {
            return Ok(None);
        }
        let runs = self.meter.runs() - before;
        let counts = Counts { changes: plan.changes.len(), tries: trying.tries, untested: trying.untested, runs };
        let nodes: Vec<_> = found.into_iter().map(|change| plan.changes[change].clone()).collect();
        Narrowed::of((store, session), (end, nodes), ids, counts).map(Some)
    }
}

/// What runs said of each set of changes.
type Seen = BTreeMap<Vec<usize>, Runs>;

/// What was said of sets of changes before, and how often each was run.
fn seen_before<'e>(
    plan: &NarrowPlan,
    tries: Option<impl Iterator<Item = &'e TriedBefore>>,
) -> (Seen, BTreeMap<Vec<usize>, usize>) {
    let (mut seen, mut attempts) = (Seen::new(), BTreeMap::<_, usize>::new());
    for TriedBefore { nodes, attempt, verdict } in tries.into_iter().flatten() {
        let at = |id: &String| plan.changes.binary_search_by(|change| change.as_str().cmp(id)).ok();
        if let Some(set) = nodes.iter().map(at).collect::<Option<Vec<_>>>() {
            let made = attempts.entry(set.clone()).or_default();
            *made = (*attempt).max(*made);
            seen.entry(set).or_default().add(*verdict);
        }
    }
    (seen, attempts)
}

/// How often each end is run before rates are taken to be told apart, and then again.
const LEARNT: usize = 8;
/// So often that is done at most.
const LESSONS: usize = 10;

/// Takes in what the try at an index said.
type Take<'t> = dyn FnMut(usize, Tried) -> Vec<usize> + 't;

/// The tries of one search.
struct Trying<'t> {
    tester: &'t Tester,
    plan: &'t NarrowPlan,
    narrowing: &'t Narrowing<'t>,
    report: &'t mut Report,
    context: &'t Context,
    /// When the runs of one set are enough.
    rule: Rule,
    /// What runs said of each set.
    seen: Seen,
    /// How often each was run.
    attempts: BTreeMap<Vec<usize>, usize>,
    /// How many sets were tried.
    tries: usize,
    /// How many sets could not be tested that lack one change of what was found.
    untested: usize,
}

impl Trying<'_> {
    /// How it ended, and the smallest set with which it fails as far as one is known.
    fn search(&mut self) -> Result<(End, Vec<usize>), Stop> {
        let count = self.plan.changes.len();
        let mut narrow = Narrow::new(count);
        let ends = [Vec::new(), Vec::from_iter(0..count)];
        for (end, set) in [&self.plan.good, &self.plan.bad].into_iter().zip(&ends) {
            if let Some(&verdict) = self.narrowing.known.get(&end.state) {
                narrow.tell(set, tried(verdict));
            }
        }
        let rates = self.narrowing.rates.filter(|_| self.narrowing.program.repeat().is_none());
        if let Some(rates) = rates {
            match self.learn(rates, &ends) {
                Ok(true) => {}
                Ok(false) => return Ok((End::TooNear, Vec::new())),
                Err(Stop::UsedUp(what)) => return Ok((End::UsedUp(what), Vec::new())),
                Err(stop) => return Err(stop),
            }
        }
        loop {
            let smallest = |narrow: &Narrow| narrow.smallest().map_or_else(Vec::new, <[usize]>::to_vec);
            let parallel = self.narrowing.program.parallel();
            if let Some(rates) = rates {
                self.judge_by(rates);
            }
            let sets = match narrow.next(parallel) {
                NarrowStep::Try(sets) => sets,
                NarrowStep::FailsWithout => return Ok((End::FailsWithout, Vec::new())),
                NarrowStep::PassesWithAll(Tried::Unresolved) => return Ok((End::Untested, Vec::new())),
                NarrowStep::PassesWithAll(_) => return Ok((End::PassesWithAll, Vec::new())),
                NarrowStep::Found(set) => {
                    self.untested = (0..set.len()).filter(|&without| self.is_untested(&set, without)).count();
                    return match self.confirm(&set) {
                        Ok(true) => Ok((End::Found, set)),
                        Ok(false) => Ok((End::Unsteady, Vec::new())),
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
                if now < left && now > 0 {
                    left = now;
                    context.say(&format!("{} left", counted(now, "change")));
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

    /// Runs both ends until that and what is known of the rates tells them apart; whether it does, or they are too near to
    /// each other.
    fn learn(&mut self, rates: Rates, ends: &[Vec<usize>; 2]) -> Result<bool, Stop> {
        for lesson in 1..=LESSONS {
            loop {
                let due = ends.iter().flat_map(|end| {
                    let made = self.seen.get(end).map_or(0, |runs| runs.count());
                    (made..lesson * LEARNT).map(move |_| end.clone())
                });
                let due: Vec<_> = due.take(self.narrowing.program.parallel()).collect();
                if due.is_empty() {
                    break;
                }
                let jobs = self.jobs(&due, Rule::ONCE, |_| Runs::default())?;
                self.run(&due, &jobs, &mut |_, _| Vec::new())?;
            }
            if self.judge_by(rates) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Takes the rule that follows from rates and from all sets of which it is known whether they fail, where there is one.
    fn judge_by(&mut self, rates: Rates) -> bool {
        let (mut good, mut bad) = (Runs::default(), Runs::default());
        for (set, runs) in &self.seen {
            let is_bad = match self.rule {
                _ if set.is_empty() => Some(Verdict::Good),
                _ if set.len() == self.plan.changes.len() => Some(Verdict::Bad),
                Rule::Rates(_) => self.rule.decided(*runs),
                Rule::Repeat { .. } => None,
            };
            match is_bad {
                Some(Verdict::Good) => good += *runs,
                Some(Verdict::Bad) => bad += *runs,
                Some(Verdict::Skip) | None => {}
            }
        }
        let rule = rates.rule(good, bad);
        self.rule = rule.unwrap_or(self.rule);
        rule.is_some()
    }

    /// Whether a set could not be tested without one of its changes.
    fn is_untested(&self, set: &[usize], without: usize) -> bool {
        let mut less = set.to_vec();
        less.remove(without);
        self.seen.get(&less).is_some_and(|runs| self.rule.decided(*runs) == Some(Verdict::Skip))
    }

    /// Tries what was found once more; whether it fails.
    fn confirm(&mut self, set: &[usize]) -> Result<bool, Stop> {
        let sets = [set.to_vec()];
        let jobs = self.jobs(&sets, self.rule, |_| Runs::default())?;
        let mut fails = false;
        self.run(&sets, &jobs, &mut |_, tried| {
            fails = tried == Tried::Fails;
            Vec::new()
        })?;
        Ok(fails)
    }

    /// Tries sets at once. `take` is called with what each try said, as it comes, and names those that nobody needs any more.
    fn try_all(&mut self, sets: &[Vec<usize>], take: &mut Take<'_>) -> Result<(), Stop> {
        let jobs = self.jobs(sets, self.rule, |seen| seen)?;
        self.tries += jobs.len();
        self.run(sets, &jobs, take)
    }

    /// A job for each set, for which those of its runs count that `counts` lets.
    fn jobs(&self, sets: &[Vec<usize>], rule: Rule, counts: impl Fn(Runs) -> Runs) -> Result<Vec<Job>, Stop> {
        let all = self.plan.changes.len();
        let mut attempts = self.attempts.clone();
        let mut jobs = Vec::with_capacity(sets.len());
        for set in sets {
            let tried = ops::narrow_try(&self.tester.store, self.plan, set)?;
            let subject = Subject {
                number: tried.number,
                id: tried.id,
                state: tried.state,
                parents: Vec::new(),
                subject: format!("{} of {}", set.len(), counted(all, "change")),
            };
            let seen = self.seen.get(set).copied().unwrap_or_default();
            let made = attempts.entry(set.clone()).or_default();
            jobs.push(Job { subject, rule, before: *made, runs: counts(seen) });
            *made += 1;
        }
        Ok(jobs)
    }

    /// Does these jobs of sets, and writes each run down.
    fn run(&mut self, sets: &[Vec<usize>], jobs: &[Job], take: &mut Take<'_>) -> Result<(), Stop> {
        round(self.tester, jobs, self.narrowing.meter, &mut |own, told| match told {
            Told::Ran(run) => {
                self.seen.entry(sets[own].clone()).or_default().add(run.verdict);
                let made = self.attempts.entry(sets[own].clone()).or_default();
                *made = run.attempt.max(*made);
                let nodes = sets[own].iter().map(|&change| self.plan.changes[change].as_str()).collect();
                let subject = &jobs[own].subject;
                self.report.tried(&TryEvent::ran(subject, nodes, &run))?;
                let (changes, verdict) = (&subject.subject, run.verdict.name());
                let attempt = if run.attempt > 1 { format!(", attempt {}", run.attempt) } else { String::new() };
                self.context.say(&format!("{changes} {verdict}, run {}{attempt}: {}", run.number, run.end));
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
