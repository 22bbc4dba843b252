//! Runs of the program, several at a time, within what there may be of them.

use super::super::child::Stopper;
use super::super::error::CliError;
use super::tester::{NoVerdict, Run, Tester, Verdict};
use crate::graph::bisect::Decision;
use crate::ops::Subject;
use std::ops::AddAssign;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Instant;

/// By how many of several runs a memory is bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadIf {
    /// By one.
    Any,
    /// By more than half.
    Majority,
    /// By all.
    All,
}

/// What the runs of one memory said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Runs {
    pub good: usize,
    pub bad: usize,
    /// So many could not test it.
    pub skipped: usize,
}

impl Runs {
    /// One more.
    pub fn add(&mut self, verdict: Verdict) {
        *match verdict {
            Verdict::Good => &mut self.good,
            Verdict::Bad => &mut self.bad,
            Verdict::Skip => &mut self.skipped,
        } += 1;
    }

    /// All of them.
    pub fn count(self) -> usize {
        self.good + self.bad + self.skipped
    }
}

impl AddAssign for Runs {
    fn add_assign(&mut self, other: Self) {
        self.good += other.good;
        self.bad += other.bad;
        self.skipped += other.skipped;
    }
}

/// When the runs of one memory are enough.
#[derive(Clone, Copy, Debug)]
pub enum Rule {
    /// As soon as so many runs can come to one end only.
    Repeat { times: usize, bad_if: BadIf },
    /// As soon as they tell one of two rates from the other.
    Rates(Decision),
}

/// So often a memory is run at least before it counts as what cannot be tested, where runs differ.
const PATIENCE: usize = 3;

impl Rule {
    /// Each run is a verdict.
    pub const ONCE: Self = Self::Repeat { times: 1, bad_if: BadIf::Any };

    /// Whether a memory may be run more than once.
    pub fn repeats(self) -> bool {
        match self {
            Self::Repeat { times, .. } => times > 1,
            Self::Rates(_) => true,
        }
    }

    /// What the runs so far come to, as soon as that is known.
    ///
    /// Where each run is a verdict, one that cannot be made says it of the memory; where rates are told apart it says nothing,
    /// unless three runs are such and more than all others.
    pub fn decided(self, runs: Runs) -> Option<Verdict> {
        let Runs { good, bad, skipped } = runs;
        let (to_be_bad, to_be_good) = match self {
            Self::Rates(_) if skipped >= PATIENCE && skipped > good + bad => return Some(Verdict::Skip),
            Self::Rates(decision) => {
                let is_bad = decision.decided(good as u64, bad as u64)?;
                return Some(if is_bad { Verdict::Bad } else { Verdict::Good });
            }
            Self::Repeat { .. } if skipped > 0 => return Some(Verdict::Skip),
            Self::Repeat { times, bad_if: BadIf::Any } => (1, times),
            Self::Repeat { times, bad_if: BadIf::Majority } => (times / 2 + 1, times.div_ceil(2)),
            Self::Repeat { times, bad_if: BadIf::All } => (times, 1),
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

/// What is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsedUp {
    /// As many runs were made as there may be.
    Runs,
    /// The time is over.
    Time,
}

impl UsedUp {
    /// As a person reads it.
    pub fn message(self) -> &'static str {
        match self {
            Self::Runs => "as many runs were made as --max-runs allows",
            Self::Time => "the time that --max-time allows is over",
        }
    }
}

/// How many runs were made, and what there may be of them still.
#[derive(Debug)]
pub struct Meter {
    /// The number of the last one.
    last: AtomicUsize,
    left: AtomicUsize,
    until: Option<Instant>,
}

impl Meter {
    /// Behind run number `last` so many more, and none that goes on beyond a point in time.
    pub fn new(last: usize, most: usize, until: Option<Instant>) -> Self {
        Self { last: AtomicUsize::new(last), left: AtomicUsize::new(most), until }
    }

    /// The number of the last run.
    pub fn runs(&self) -> usize {
        self.last.load(Ordering::SeqCst)
    }

    /// The number of a run that is to be made now.
    fn take(&self) -> Result<usize, UsedUp> {
        if self.until.is_some_and(|until| Instant::now() >= until) {
            return Err(UsedUp::Time);
        }
        let left = self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        left.map_err(|_| UsedUp::Runs)?;
        Ok(self.last.fetch_add(1, Ordering::SeqCst) + 1)
    }
}

/// Why a search ends without an answer.
#[derive(Debug)]
pub enum Stop {
    /// There may be no more runs.
    UsedUp(UsedUp),
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

impl Stop {
    /// The error that ends the command.
    pub fn failed(self) -> CliError {
        match self {
            Self::Failed(error) => error,
            Self::UsedUp(_) | Self::Contradiction | Self::Interrupted => CliError::usage("the search was interrupted"),
        }
    }
}

/// A memory to be tested.
pub struct Job {
    pub subject: Subject,
    pub rule: Rule,
    /// How many runs of it there were before.
    pub before: usize,
    /// Those of them that count.
    pub runs: Runs,
}

/// What comes of a job.
pub enum Told {
    /// One run.
    Ran(Run),
    /// What its runs come to.
    Decided(Verdict),
}

/// Takes in what comes of the job at an index, as it comes, and names jobs of which none is needed any more.
type Hear<'h> = dyn FnMut(usize, Told) -> Result<Vec<usize>, Stop> + 'h;

/// Does all these jobs at once. Those that are not needed any more, or that nobody waits for, are ended.
pub fn round(tester: &Tester, jobs: &[Job], meter: &Meter, hear: &mut Hear<'_>) -> Result<(), Stop> {
    let stoppers: Vec<_> = jobs.iter().map(|_| Stopper::default()).collect();
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for (own, (job, stopper)) in jobs.iter().zip(&stoppers).enumerate() {
            let sender = sender.clone();
            scope.spawn(move || {
                // Who has stopped listening does not want to know.
                let tell = |told| drop(sender.send((own, told)));
                tell(work(tester, job, meter, stopper, &|run| tell(Ok(Told::Ran(run)))).map(Told::Decided));
            });
        }
        drop(sender);
        let result = listen(tester, &stoppers, &receiver, hear);
        if result.is_err() {
            stoppers.iter().for_each(Stopper::stop);
        }
        result
    })
}

/// Runs the program until it is decided what that comes to, which may be so already.
fn work(tester: &Tester, job: &Job, meter: &Meter, stopper: &Stopper, ran: &dyn Fn(Run)) -> Result<Verdict, NoVerdict> {
    let mut runs = job.runs;
    for attempt in job.before + 1.. {
        if let Some(verdict) = job.rule.decided(runs) {
            return Ok(verdict);
        }
        let number = meter.take().map_err(NoVerdict::UsedUp)?;
        let run = tester.run(&job.subject, (number, attempt), meter.until, stopper)?;
        ran(run);
        runs.add(run.verdict);
    }
    Err(NoVerdict::Stopped)
}

type Message = (usize, Result<Told, NoVerdict>);

fn listen(
    tester: &Tester,
    stoppers: &[Stopper],
    receiver: &mpsc::Receiver<Message>,
    hear: &mut Hear<'_>,
) -> Result<(), Stop> {
    let mut needless = vec![false; stoppers.len()];
    let mut used_up = None;
    for (own, told) in receiver {
        match told {
            Ok(told) => {
                for own in hear(own, told)? {
                    needless[own] = true;
                    stoppers[own].stop();
                }
            }
            Err(NoVerdict::UsedUp(what)) => used_up = used_up.or(Some(what)),
            Err(NoVerdict::Stopped) if tester.children.interrupted().is_none() => {}
            Err(NoVerdict::Stopped) => return Err(Stop::Interrupted),
            Err(NoVerdict::Abort(_)) if needless[own] => {}
            Err(NoVerdict::Abort(error)) => return Err(Stop::Failed(error)),
        }
    }
    used_up.map_or(Ok(()), |what| Err(Stop::UsedUp(what)))
}
