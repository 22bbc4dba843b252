//! A search under way: it asks the search what to test, has it tested, and takes in what comes back.

use super::super::child::Stopper;
use super::super::context::Context;
use super::super::error::CliError;
use super::report::{Event, Report};
use super::tester::{NoVerdict, Run, RunEnd, Tester, Verdict};
use crate::graph::Selection;
use crate::graph::bisect::{Candidates, Contradiction, Mark, Search, Step};
use crate::object::StateId;
use crate::ops::{self, Marking, Subject};
use crate::store::Number;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

/// By how many of several runs a commit is bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadIf {
    /// By one.
    Any,
    /// By more than half.
    Majority,
    /// By all.
    All,
}

/// How often the program is run for one commit.
#[derive(Clone, Copy, Debug)]
pub struct Repeat {
    pub times: usize,
    pub bad_if: BadIf,
}

impl Repeat {
    /// What the runs so far come to, as soon as that is known.
    fn decided(self, good: usize, bad: usize) -> Option<Verdict> {
        let Self { times, bad_if } = self;
        let (to_be_bad, to_be_good) = match bad_if {
            BadIf::Any => (1, times),
            BadIf::Majority => (times / 2 + 1, times.div_ceil(2)),
            BadIf::All => (times, 1),
        };
        if bad >= to_be_bad {
            Some(Verdict::Bad)
        } else if good >= to_be_good {
            Some(Verdict::Good)
        } else {
            None
        }
    }
}

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

/// Why a search ends without a culprit.
#[derive(Debug)]
pub enum Stop {
    /// As many runs were made as there may be.
    UsedUp,
    /// What was tested does not go together.
    Contradiction,
    /// A signal came.
    Interrupted,
    /// It cannot go on.
    Failed(CliError),
}

impl<E: Into<CliError>> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

/// What a search has at hand.
pub struct Driver<'c> {
    pub tester: &'c Tester,
    pub context: &'c Context,
    pub report: &'c mut Report,
    pub repeat: Repeat,
    /// How many runs there may be.
    pub most: usize,
    pub parallel: usize,
    pub uses_cache: bool,
    /// What was said of a memory.
    pub known: BTreeMap<StateId, Verdict>,
    /// How many runs were made.
    pub runs: usize,
    /// How often what was known was taken instead.
    pub spared: usize,
    /// Whether each verdict of the search is a mark of the session's search by hand.
    pub keeps: bool,
    /// What each run of a commit is the next of.
    pub attempts: BTreeMap<Number, usize>,
}

/// Takes in the verdict of a commit, and names commits of which none is needed any more.
type Take<'t> = dyn FnMut(&mut Driver<'_>, Number, Verdict) -> Result<Vec<Number>, Stop> + 't;

/// What came of one commit of several that were tested at once.
type Told = (Number, Result<Option<Verdict>, NoVerdict>);

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

    /// Searches up to the culprit; `None` with the candidates that are left where the tests don't tell.
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
            let id = ops::bisect_subjects(&self.tester.store, &self.tester.session, &[number])?.remove(0).id;
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
        let subject = ops::bisect_subjects(&self.tester.store, &self.tester.session, &[culprit])?.remove(0);
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
        let subjects = ops::bisect_subjects(&self.tester.store, &self.tester.session, candidates.numbers())?;
        let known =
            subjects.iter().filter_map(|subject| Some((subject.number, mark_of(*self.known.get(&subject.state)?))));
        Ok(Search::of(candidates.clone(), known.filter(|_| self.uses_cache)).is_err())
    }

    /// The error that ends the command.
    pub fn failed(&self, stop: Stop) -> CliError {
        match stop {
            Stop::Failed(error) => error,
            Stop::UsedUp | Stop::Contradiction | Stop::Interrupted => CliError::usage("the search was interrupted"),
        }
    }

    /// The full ids of commits.
    pub fn ids(&self, numbers: &[Number]) -> Result<Vec<String>, CliError> {
        let subjects = ops::bisect_subjects(&self.tester.store, &self.tester.session, numbers)?;
        Ok(subjects.into_iter().map(|subject| subject.id.to_string()).collect())
    }

    /// The words of the program.
    pub fn words(&self) -> Vec<String> {
        self.tester.command.iter().map(|word| word.to_string_lossy().into_owned()).collect()
    }

    fn say_left(&self, search: &Search) {
        let (left, steps) = (search.left(), search.steps());
        if left > 1 {
            let steps = if steps == 1 { "1 step".to_owned() } else { format!("{steps} steps") };
            self.context.say(&format!("{left} commits left, about {steps}"));
        }
    }

    /// Tests commits at once. `take` is called with each verdict, as it comes, and names those that nobody needs any more.
    fn test_all(&mut self, numbers: &[Number], purpose: Purpose, take: &mut Take<'_>) -> Result<(), Stop> {
        let subjects = ops::bisect_subjects(&self.tester.store, &self.tester.session, numbers)?;
        let (mut open, mut needless) = (Vec::new(), Vec::new());
        for subject in subjects {
            let known = self.known.get(&subject.state).copied();
            match known.filter(|_| self.uses_cache && purpose.may_be_known()) {
                Some(verdict) => {
                    self.spared += 1;
                    self.report.event(&Event::known(&subject, purpose, verdict))?;
                    self.say(&subject, purpose, verdict, "as an equal memory before");
                    needless.extend(take(self, subject.number, verdict)?);
                }
                None if open
                    .iter()
                    .any(|(other, _): &(Subject, _)| other.state == subject.state && self.uses_cache) => {}
                None => open.push((subject, Arc::<Stopper>::default())),
            }
        }
        open.retain(|(subject, _)| !needless.contains(&subject.number));
        let budget = AtomicUsize::new(self.most.saturating_sub(self.runs));
        if !open.is_empty() && budget.load(Ordering::SeqCst) == 0 {
            return Err(Stop::UsedUp);
        }
        let count = AtomicUsize::new(self.runs);
        let (repeat, tester) = (self.repeat, self.tester);
        let (sender, receiver) = mpsc::channel::<Message>();
        let outcome = std::thread::scope(|scope| {
            for (subject, stopper) in &open {
                let (sender, stopper, count, budget) = (sender.clone(), Arc::clone(stopper), &count, &budget);
                let before = self.attempts.get(&subject.number).copied().unwrap_or(0);
                scope.spawn(move || {
                    let told = attempts(tester, subject, repeat, before, (count, budget), &stopper, &sender);
                    // Who has stopped listening does not want to know.
                    let _unheard = sender.send(Message::Told((subject.number, told)));
                });
            }
            drop(sender);
            let result = self.listen(&open, purpose, &receiver, take);
            if result.is_err() {
                open.iter().for_each(|(_, stopper)| stopper.stop());
            }
            result
        });
        self.runs = count.load(Ordering::SeqCst);
        outcome
    }

    fn listen(
        &mut self,
        open: &[(Subject, Arc<Stopper>)],
        purpose: Purpose,
        receiver: &mpsc::Receiver<Message>,
        take: &mut Take<'_>,
    ) -> Result<(), Stop> {
        let mut stopped = Vec::new();
        let mut missing = false;
        for message in receiver {
            let (number, told) = match message {
                Message::Ran(number, run) => {
                    if let Some((subject, _)) = open.iter().find(|(subject, _)| subject.number == number) {
                        *self.attempts.entry(number).or_default() = run.attempt;
                        self.report.event(&Event::ran(subject, purpose, &run))?;
                        self.say_run(subject, purpose, &run);
                    }
                    continue;
                }
                Message::Told(told) => told,
            };
            match told {
                Ok(Some(verdict)) => {
                    if let Some((subject, _)) = open.iter().find(|(subject, _)| subject.number == number) {
                        self.known.insert(subject.state, verdict);
                    }
                    for needless in take(self, number, verdict)? {
                        if let Some((_, stopper)) = open.iter().find(|(subject, _)| subject.number == needless) {
                            stopped.push(needless);
                            stopper.stop();
                        }
                    }
                }
                Ok(None) => missing = true,
                Err(NoVerdict::Stopped) if self.tester.children.interrupted().is_none() => {}
                Err(NoVerdict::Stopped) => return Err(Stop::Interrupted),
                Err(NoVerdict::Abort(_)) if stopped.contains(&number) => {}
                Err(NoVerdict::Abort(error)) => return Err(Stop::Failed(error)),
            }
        }
        if missing { Err(Stop::UsedUp) } else { Ok(()) }
    }

    fn say_run(&self, subject: &Subject, purpose: Purpose, run: &Run) {
        let how = match run.end {
            RunEnd::Late => "took too long".to_owned(),
            RunEnd::Status(status) => format!("exit {status}"),
        };
        let attempt = if self.repeat.times > 1 { format!(", attempt {}", run.attempt) } else { String::new() };
        self.say(subject, purpose, run.verdict, &format!("run {}{attempt}: {how}", run.number));
    }

    fn say(&self, subject: &Subject, purpose: Purpose, verdict: Verdict, how: &str) {
        let id = self.context.err_paint().commit(&subject.id.to_string()[..10]);
        let purpose = match purpose {
            Purpose::BadEnd => " (the bad end)",
            Purpose::GoodEnd => " (a good end)",
            Purpose::Base => " (a merge base)",
            Purpose::Confirm => " (to confirm)",
            Purpose::Ladder | Purpose::Search => "",
        };
        let subject = super::super::text::escape_line(&subject.subject).into_owned();
        self.context.say(&format!("{id} {}{purpose}, {how}: {subject}", verdict.name()));
    }
}

/// What the threads of a round tell.
enum Message {
    Ran(Number, Run),
    Told(Told),
}

/// What the search is told of a verdict.
pub fn mark_of(verdict: Verdict) -> Mark {
    match verdict {
        Verdict::Good => Mark::Good,
        Verdict::Bad => Mark::Bad,
        Verdict::Skip => Mark::Skip,
    }
}

/// Runs the program for a commit until it is decided; `None` where too few runs are left for that.
fn attempts(
    tester: &Tester,
    subject: &Subject,
    repeat: Repeat,
    before: usize,
    (count, budget): (&AtomicUsize, &AtomicUsize),
    stopper: &Stopper,
    sender: &mpsc::Sender<Message>,
) -> Result<Option<Verdict>, NoVerdict> {
    let (mut good, mut bad) = (0, 0);
    for attempt in before + 1.. {
        if let Some(verdict) = repeat.decided(good, bad) {
            return Ok(Some(verdict));
        }
        let take = budget.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        if take.is_err() {
            return Ok(None);
        }
        let number = count.fetch_add(1, Ordering::SeqCst) + 1;
        let run = tester.run(subject, number, attempt, stopper)?;
        let _unheard = sender.send(Message::Ran(subject.number, run));
        match run.verdict {
            Verdict::Good => good += 1,
            Verdict::Bad => bad += 1,
            Verdict::Skip => return Ok(Some(Verdict::Skip)),
        }
    }
    Ok(None)
}
