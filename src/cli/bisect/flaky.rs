//! The search with a test that does not say the same each time.

use super::super::commit_text::SHORT;
use super::super::error::{CliError, Word};
use super::super::text::counted;
use super::belief::{Belief, percent};
use super::between::Between;
use super::driver::{Driver, Purpose, mark_of};
use super::outcome::{End, Why};
use super::resume::{Earlier, Observed};
use super::round::Stop;
use super::tester::Verdict;
use crate::graph::bisect::{Candidates, FlakySearch, FlakyStep, Standard};
use crate::ops::BisectPlan;
use crate::store::Number;
use std::collections::BTreeMap;

/// The whole search, behind what was observed before.
pub fn search(
    standard: Standard,
    between: &Between,
    plan: BisectPlan,
    earlier: &Earlier,
    driver: &mut Driver<'_>,
) -> Result<(End, Option<Belief>), CliError> {
    driver.context.warn_doubts(&plan.doubts);
    let purposes = purposes(between, &plan);
    let good: Vec<_> = between.ends.good.iter().chain(&plan.bases).copied().collect();
    let BisectPlan { candidates, skipped, .. } = plan;
    let mut search = FlakySearch::new(candidates.clone(), &good, standard);
    for number in skipped {
        search.leave_out(number);
    }
    if !earlier.observed.is_empty() {
        let taken = observe_again(&mut search, earlier, (&candidates, &purposes), driver)?;
        driver.context.say(&format!("{taken} of {} taken from the report", counted(earlier.observed.len(), "run")));
    }
    let end = run(&mut search, &purposes, driver);
    let mut observed = earlier.observed.clone();
    for (commit, purpose, run) in &driver.report.runs {
        let (commit, purpose) = (commit.clone(), purpose.name().to_owned());
        observed.insert(run.number, Observed { commit, purpose, attempt: run.attempt, verdict: run.verdict });
    }
    let belief = Belief::of(&search, standard, observed, driver)?;
    let end = match end {
        Ok(Ended::Found(culprit)) => End::Found { culprit, one_of_several: false },
        Ok(Ended::Skipped(left)) => End::undecided(left, Why::Skipped),
        Ok(Ended::Not(error)) => {
            belief.say(driver.context);
            return Err(error);
        }
        Err(Stop::UsedUp(what)) => End::undecided(belief.likely(), Why::UsedUp(what)),
        Err(stop) => return Err(stop.failed()),
    };
    Ok((end, Some(belief)))
}

/// What commits are that are no candidates, or ends as well.
fn purposes(between: &Between, plan: &BisectPlan) -> BTreeMap<Number, Purpose> {
    let ends = &between.ends;
    let bases = plan.bases.iter().map(|&base| (base, Purpose::Base));
    let good = ends.good.iter().map(|&good| (good, Purpose::GoodEnd));
    let bad = ends.also_bad.iter().chain([&ends.bad]).map(|&bad| (bad, Purpose::BadEnd));
    bases.chain(good).chain(bad).collect()
}

/// Takes in the runs of a report that are about commits of this search; how many these are. That an end could not be tested
/// then says nothing now.
fn observe_again(
    search: &mut FlakySearch,
    earlier: &Earlier,
    (candidates, ends): (&Candidates, &BTreeMap<Number, Purpose>),
    driver: &mut Driver<'_>,
) -> Result<usize, CliError> {
    let known: Vec<_> = candidates.numbers().iter().chain(ends.keys()).copied().collect();
    let subjects = driver.subjects(&known)?.into_iter();
    let numbers: BTreeMap<_, _> = subjects.map(|subject| (subject.id.to_string(), subject.number)).collect();
    let mut taken = 0;
    for seen in earlier.observed.values() {
        if let Some(&number) = numbers.get(&seen.commit) {
            let made = driver.attempts.entry(number).or_default();
            *made = seen.attempt.max(*made);
            taken += 1;
            if seen.verdict != Verdict::Skip || !ends.contains_key(&number) {
                search.observe(number, mark_of(seen.verdict));
            }
        }
    }
    Ok(taken)
}

/// How a search ends that is not stopped.
enum Ended {
    Found(Number),
    /// No commit may be run that tells these apart.
    Skipped(Vec<Number>),
    /// There is nothing to be found.
    Not(CliError),
}

fn run(search: &mut FlakySearch, purposes: &BTreeMap<Number, Purpose>, driver: &mut Driver<'_>) -> Result<Ended, Stop> {
    loop {
        let numbers = match search.next(driver.parallel) {
            FlakyStep::Test(numbers) => numbers,
            FlakyStep::Found(culprit) => return Ok(Ended::Found(culprit)),
            FlakyStep::Unsure { candidates } => return Ok(Ended::Skipped(candidates)),
            FlakyStep::Reversed(number) => {
                let id = driver.ids(&[number])?.remove(0);
                let message = format!("it fails less often from {id} on than before");
                return nothing(message, "are the ends swapped? or say --invert");
            }
            FlakyStep::NothingChanged => {
                let unchanged = percent(1.0 - search.posterior().changed);
                let message =
                    format!("it fails as often at the good end as at the bad one, with a probability of {unchanged}");
                return nothing(message, "look for an older good end, or a newer bad one");
            }
            FlakyStep::Impossible { failed } => {
                let ids = driver.ids(&failed)?.join(" ");
                let message = format!("what is good never fails, says --one-sided, and these failed: {ids}");
                return nothing(message, "search without --one-sided");
            }
        };
        let jobs = driver.jobs(driver.subjects(&numbers)?);
        let purpose = |number| purposes.get(&number).copied().unwrap_or(Purpose::Search);
        driver.run_all(&jobs, &purpose, &mut |driver, own, verdict| {
            search.observe(jobs[own].subject.number, mark_of(verdict));
            say_belief(search, driver)?;
            Ok(Vec::new())
        })?;
        let skipped = search.evidence().into_iter().filter(|seen| seen.is_skipped).map(|seen| seen.commit);
        let end = |commit: Number| match purpose(commit) {
            Purpose::BadEnd => Some((commit, "the bad")),
            Purpose::GoodEnd => Some((commit, "the good")),
            Purpose::Ladder | Purpose::Base | Purpose::Search | Purpose::Confirm => None,
        };
        if let Some((end, what)) = skipped.filter_map(end).next() {
            let id = driver.ids(&[end])?.remove(0);
            return Ok(Ended::Not(super::wrong_end(what, &id, "cannot be tested")));
        }
    }
}

/// Says how the search stands: how many bits of it are open, and which commit is likeliest.
fn say_belief(search: &FlakySearch, driver: &Driver<'_>) -> Result<(), CliError> {
    let posterior = search.posterior();
    let Some(&(number, probability)) = posterior.likeliest.first() else { return Ok(()) };
    let subject = driver.subjects(&[number])?.remove(0);
    let id = driver.context.err_paint().commit(&subject.id.to_string()[..SHORT]);
    let runs = counted(driver.meter.runs(), "run");
    driver.context.say(&format!("{runs}, {:.2} bits left, likeliest {id} {}", posterior.entropy, percent(probability)));
    Ok(())
}

/// There is nothing to be found.
fn nothing(message: String, hint: &str) -> Result<Ended, Stop> {
    Ok(Ended::Not(CliError::new(Word::BisectEndpoints, message).hint(hint)))
}
