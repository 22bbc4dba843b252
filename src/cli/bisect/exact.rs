//! The search with a test that says the same each time.

use super::super::error::{CliError, Word};
use super::between::Between;
use super::driver::{Driver, Purpose};
use super::outcome::{End, Why};
use super::round::Stop;
use super::tester::Verdict;
use crate::graph::bisect::{Mark, Search};
use crate::ops::BisectPlan;
use crate::store::Number;
use std::sync::PoisonError;

/// How an answer is made sure of.
#[derive(Clone, Copy)]
pub struct Checks {
    /// Whether the ends are tested, and what was found is.
    pub verifies: bool,
    /// How often what was found is tested again.
    pub confirm: u16,
}

/// The whole search: its ends, what is between, and what was found once more.
///
/// What is to be searched is `planned` but where a good end is still to be found.
pub fn search(
    checks: Checks,
    between: &mut Between,
    planned: Option<BisectPlan>,
    driver: &mut Driver<'_>,
) -> Result<End, CliError> {
    if checks.verifies || planned.is_none() {
        match verify(between, checks.verifies, driver) {
            Ok(()) => {}
            Err(Stop::UsedUp(what)) => {
                let left = planned.map_or_else(Vec::new, |plan| plan.candidates.numbers().to_vec());
                return Ok(End::undecided(left, Why::UsedUp(what)));
            }
            Err(stop) => return Err(stop.failed()),
        }
    }
    let BisectPlan { candidates, bases, skipped, doubts } = match planned {
        Some(planned) => planned,
        None => between.plan(&driver.tester.store, &driver.tester.session)?,
    };
    driver.context.warn_doubts(&doubts);
    let all = candidates.clone();
    let mut search = Search::new(candidates);
    for number in skipped {
        search.mark(number, Mark::Skip).expect("nothing is marked otherwise");
    }
    for base in bases.into_iter().filter(|_| checks.verifies) {
        match driver.test(base, Purpose::Base) {
            Ok(Verdict::Good) => {}
            Ok(Verdict::Skip) => driver.context.warn("a merge base cannot be tested: the culprit may be elsewhere"),
            Ok(Verdict::Bad) => {
                let id = driver.ids(&[base])?.remove(0);
                let message =
                    format!("the merge base {id} is bad: what is looked for was mended on the way to a good end");
                return Err(CliError::new(Word::BisectEndpoints, message).hint("search with that as the bad end"));
            }
            Err(stop) => return stopped(stop, search.remaining()),
        }
    }
    let culprit = match driver.search(&mut search) {
        Ok(Ok(culprit)) => culprit,
        Ok(Err(left)) => return Ok(End::undecided(left, Why::Skipped)),
        Err(stop) => return stopped(stop, search.remaining()),
    };
    let confirm = if checks.verifies { checks.confirm } else { 0 };
    for _ in 0..confirm {
        match driver.confirm(culprit, between.first_parent) {
            Ok(true) => {}
            Ok(false) => {
                let why = if between.is_partial() { Why::Elsewhere } else { Why::Unsteady };
                return Ok(End::undecided(Vec::new(), why));
            }
            Err(stop) => return stopped(stop, vec![culprit]),
        }
    }
    Ok(End::Found { culprit, one_of_several: driver.contradicts(&all)? })
}

/// What is left where a search stops.
fn stopped(stop: Stop, left: Vec<Number>) -> Result<End, CliError> {
    match stop {
        Stop::UsedUp(what) => Ok(End::undecided(left, Why::UsedUp(what))),
        Stop::Contradiction => Ok(End::undecided(Vec::new(), Why::Contradiction)),
        stop @ (Stop::Interrupted | Stop::Failed(_)) => Err(stop.failed()),
    }
}

/// Tests the ends, and finds a good one where that is asked for.
fn verify(between: &mut Between, verifies: bool, driver: &mut Driver<'_>) -> Result<(), Stop> {
    let ends = &mut between.ends;
    let wrong = |id: String, what: &str, verdict: Verdict| {
        let found = match verdict {
            Verdict::Good => "tests good",
            Verdict::Bad => "tests bad",
            Verdict::Skip => "cannot be tested",
        };
        Stop::Failed(super::wrong_end(what, &id, found))
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
