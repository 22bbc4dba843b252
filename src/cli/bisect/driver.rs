//! A search under way: it asks the search what to test, has it tested, and takes in what comes back.

use super::super::commit_text::SHORT;
use super::super::context::Context;
use super::super::error::CliError;
use super::super::text::escape_line;
use super::report::{Event, Report};
use super::round::{Job, Meter, Rule, Runs, Stop, Told, round};
use super::tester::{Tester, Verdict};
use crate::graph::Selection;
use crate::graph::bisect::{Candidates, Contradiction, Mark, Search, Step};
use crate::object::StateId;
use crate::ops::{self, Marking, Subject};
use crate::store::Number;
use std::collections::BTreeMap;

/// Why a commit is tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// It is to be the bad end.
    BadEnd,
    /// It is to be a good end.
    GoodEnd,
    /// It may be a good end.
    Ladder,
    /// It has to be good for the candidates to hold the culprit.
    Base,
    /// The search asks for it.
    Search,
    /// What was found is to be confirmed.
    Confirm,
}

impl Purpose {
    /// In a word or two.
    pub fn name(self) -> &'static str {
        match self {
            Self::BadEnd => "bad-end",
            Self::GoodEnd => "good-end",
            Self::Ladder => "auto",
            Self::Base => "merge-base",
            Self::Search => "search",
            Self::Confirm => "confirm",
        }
    }

    /// Whether the search itself decides by it, and so may take what it knows of an equal memory.
    fn may_be_known(self) -> bool {
        self != Self::Confirm
    }
}

/// What a search has at hand.
pub struct Driver<'c> {
    pub tester: &'c Tester,
    pub context: &'c Context,
    pub report: &'c mut Report,
    pub meter: &'c Meter,
    /// When the runs of one commit are enough.
    pub rule: Rule,
    pub parallel: usize,
    pub uses_cache: bool,
    /// What was said of a memory.
    pub known: BTreeMap<StateId, Verdict>,
    /// How often what was known was taken instead of a run.
    pub spared: usize,
    /// Whether each verdict of the search is a mark of the session's search by hand.
    pub keeps: bool,
    /// How often each commit was run.
    pub attempts: BTreeMap<Number, usize>,
}

/// Takes in the verdict of a commit, and names commits of which none is needed any more.
type Take<'t> = dyn FnMut(&mut Driver<'_>, Number, Verdict) -> Result<Vec<Number>, Stop> + 't;

/// Takes in the verdict of the job at an index, and names jobs of which none is needed any more.
type TakeJob<'t> = dyn FnMut(&mut Driver<'_>, usize, Verdict) -> Result<Vec<usize>, Stop> + 't;

impl Driver<'_> {
    /// Tests one commit.
    pub fn test(&mut self, number: Number, purpose: Purpose) -> Result<Verdict, Stop> {
        let mut verdict = None;
        self.test_all(&[number], purpose, &mut |_, _, told| {
            verdict = Some(told);
            Ok(Vec::new())
        })?;
        verdict.ok_or(Stop::Interrupted)
    }

    /// Searches up to the culprit; `Err` with the candidates that are left where the tests don't tell.
    pub fn search(&mut self, search: &mut Search) -> Result<Result<Number, Vec<Number>>, Stop> {
        loop {
            match search.next(self.parallel) {
                Step::Found(culprit) => return Ok(Ok(culprit)),
                Step::Unsure { candidates } => return Ok(Err(candidates)),
                Step::Test(picks) => {
                    let all = picks.clone();
                    self.test_all(&picks, Purpose::Search, &mut |driver, number, verdict| {
                        search.mark(number, mark_of(verdict)).map_err(|_: Contradiction| Stop::Contradiction)?;
                        driver.keep(number, verdict)?;
                        driver.say_left(search);
                        Ok(all.iter().copied().filter(|&other| !search.is_needed(other)).collect())
                    })?;
                }
            }
        }
    }

    fn keep(&self, number: Number, verdict: Verdict) -> Result<(), Stop> {
        if self.keeps {
            let id = ops::commit_ids(&self.tester.store, &self.tester.session, &[number])?.remove(0);
            let said = Marking::Say(super::marked(verdict), vec![Selection::Of(super::revision(&id))]);
            ops::set_marks(&self.tester.store, &self.tester.session, &said)?;
        }
        Ok(())
    }

    /// Tests what was found once more, and its parents, of which only the first where only that is followed, and which must
    /// be good; whether it says the same.
    pub fn confirm(&mut self, culprit: Number, first_parent: bool) -> Result<bool, Stop> {
        if self.test(culprit, Purpose::Confirm)? != Verdict::Bad {
            return Ok(false);
        }
        let subject = self.subjects(&[culprit])?.remove(0);
        let followed = if first_parent { 1 } else { usize::MAX };
        for parent in subject.parents.into_iter().take(followed) {
            if self.test(parent, Purpose::Confirm)? == Verdict::Bad {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether what is known of equal memories does not go together: then what was found is one of several.
    pub fn contradicts(&self, candidates: &Candidates) -> Result<bool, CliError> {
        let subjects = self.subjects(candidates.numbers())?;
        let known =
            subjects.iter().filter_map(|subject| Some((subject.number, mark_of(*self.known.get(&subject.state)?))));
        Ok(Search::of(candidates.clone(), known.filter(|_| self.uses_cache)).is_err())
    }

    /// What is to be known of commits, in their order.
    pub fn subjects(&self, numbers: &[Number]) -> Result<Vec<Subject>, CliError> {
        Ok(ops::bisect_subjects(&self.tester.store, &self.tester.session, numbers)?)
    }

    /// The full ids of commits.
    pub fn ids(&self, numbers: &[Number]) -> Result<Vec<String>, CliError> {
        super::ids(&self.tester.store, &self.tester.session, numbers)
    }

    fn say_left(&self, search: &Search) {
        let (left, steps) = (search.left(), search.steps());
        if left > 1 {
            self.context.say(&super::far(left, steps));
        }
    }

    /// Tests commits at once. `take` is called with each verdict, as it comes, and names those that nobody needs any more.
    fn test_all(&mut self, numbers: &[Number], purpose: Purpose, take: &mut Take<'_>) -> Result<(), Stop> {
        let (mut open, mut needless) = (Vec::<Subject>::new(), Vec::new());
        for subject in self.subjects(numbers)? {
            let known = self.known.get(&subject.state).copied();
            match known.filter(|_| self.uses_cache && purpose.may_be_known()) {
                Some(verdict) => {
                    self.spared += 1;
                    self.report.event(&Event::known(&subject, purpose, verdict))?;
                    self.say(&subject, purpose, verdict, "as an equal memory before");
                    needless.extend(take(self, subject.number, verdict)?);
                }
                None if open.iter().any(|other| other.state == subject.state && self.uses_cache) => {}
                None => open.push(subject),
            }
        }
        open.retain(|subject| !needless.contains(&subject.number));
        let at = |number: Number, jobs: &[Job]| jobs.iter().position(|job| job.subject.number == number);
        let jobs = self.jobs(open);
        self.run_all(&jobs, &|_| purpose, &mut |driver, own, verdict| {
            let subject = &jobs[own].subject;
            driver.known.insert(subject.state, verdict);
            let needless = take(driver, subject.number, verdict)?;
            Ok(needless.into_iter().filter_map(|number| at(number, &jobs)).collect())
        })
    }

    /// A job for each of these, as often as it stands there.
    pub fn jobs(&self, subjects: Vec<Subject>) -> Vec<Job> {
        let mut attempts = self.attempts.clone();
        let job = |subject: Subject| {
            let made = attempts.entry(subject.number).or_default();
            let before = *made;
            *made += 1;
            Job { subject, rule: self.rule, before, runs: Runs::default() }
        };
        subjects.into_iter().map(job).collect()
    }

    /// Does jobs at once, and writes each run down. `take` is called with each verdict of the job at an index, as it comes,
    /// and names those that nobody needs any more.
    pub fn run_all(
        &mut self,
        jobs: &[Job],
        purpose: &dyn Fn(Number) -> Purpose,
        take: &mut TakeJob<'_>,
    ) -> Result<(), Stop> {
        round(self.tester, jobs, self.meter, &mut |own, told| {
            let subject = &jobs[own].subject;
            match told {
                Told::Ran(run) => {
                    let made = self.attempts.entry(subject.number).or_default();
                    *made = run.attempt.max(*made);
                    let purpose = purpose(subject.number);
                    self.report.event(&Event::ran(subject, purpose, &run))?;
                    let attempt =
                        if self.rule.repeats() { format!(", attempt {}", run.attempt) } else { String::new() };
                    let how = format!("run {}{attempt}: {}", run.number, run.end);
                    self.say(subject, purpose, run.verdict, &how);
                    Ok(Vec::new())
                }
                Told::Decided(verdict) => take(self, own, verdict),
            }
        })
    }

    fn say(&self, subject: &Subject, purpose: Purpose, verdict: Verdict, how: &str) {
        let id = self.context.err_paint().commit(&subject.id.to_string()[..SHORT]);
        let purpose = match purpose {
            Purpose::BadEnd => " (the bad end)",
            Purpose::GoodEnd => " (a good end)",
            Purpose::Base => " (a merge base)",
            Purpose::Confirm => " (to confirm)",
            Purpose::Ladder | Purpose::Search => "",
        };
        let subject = escape_line(&subject.subject);
        self.context.say(&format!("{id} {}{purpose}, {how}: {subject}", verdict.name()));
    }
}

/// What the search is told of a verdict.
pub fn mark_of(verdict: Verdict) -> Mark {
    match verdict {
        Verdict::Good => Mark::Good,
        Verdict::Bad => Mark::Bad,
        Verdict::Skip => Mark::Skip,
    }
}
