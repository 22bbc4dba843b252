//! What a search with a test that is not steady believes, as it is told.

use super::super::commit_text::SHORT;
use super::super::context::Context;
use super::super::error::CliError;
use super::super::text::{counted, escape_line};
use super::driver::Driver;
use super::rates::Rates;
use super::resume::Observed;
use crate::graph::bisect::{Evidence, FlakySearch, Posterior, Rate, Standard};
use crate::ops::Subject;
use crate::store::Number;
use serde::Serialize;
use std::collections::BTreeMap;

/// How many of the likeliest commits are named.
const NAMED: usize = 5;

/// What is believed behind all runs.
pub struct Belief {
    standard: Standard,
    posterior: Posterior,
    evidence: Vec<Evidence>,
    subjects: BTreeMap<Number, Subject>,
    observed: BTreeMap<usize, Observed>,
}

/// The same as it is printed.
#[derive(Serialize)]
pub struct BeliefJson<'a> {
    confidence: f64,
    one_sided: bool,
    changed: f64,
    entropy: f64,
    before: RateJson,
    after: RateJson,
    likeliest: Vec<LikelyJson>,
    evidence: Vec<EvidenceJson>,
    observations: Vec<ObservationJson<'a>>,
}

#[derive(Serialize)]
struct RateJson {
    bad: u64,
    runs: u64,
    estimate: f64,
    low: f64,
    high: f64,
}

#[derive(Serialize)]
struct LikelyJson {
    commit: String,
    probability: f64,
}

#[derive(Serialize)]
struct EvidenceJson {
    commit: String,
    good: u64,
    bad: u64,
    skipped: bool,
    probability: f64,
}

#[derive(Serialize)]
struct ObservationJson<'a> {
    run: usize,
    commit: &'a str,
    verdict: &'static str,
}

impl Belief {
    /// What a search believes, with all that was observed, by the numbers of the runs.
    pub fn of(
        search: &FlakySearch,
        standard: Standard,
        observed: BTreeMap<usize, Observed>,
        driver: &Driver<'_>,
    ) -> Result<Self, CliError> {
        let posterior = search.posterior();
        let evidence: Vec<_> =
            search.evidence().into_iter().filter(|seen| seen.good + seen.bad > 0 || seen.is_skipped).collect();
        let likeliest = posterior.likeliest.iter().take(NAMED).map(|&(number, _)| number);
        let mut numbers: Vec<_> = evidence.iter().map(|seen| seen.commit).chain(likeliest).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let subjects = driver.subjects(&numbers)?.into_iter().map(|subject| (subject.number, subject)).collect();
        Ok(Self { standard, posterior, evidence, subjects, observed })
    }

    /// How probable the likeliest commit is.
    pub fn probability(&self) -> f64 {
        self.posterior.likeliest.first().map_or(0.0, |&(_, probability)| probability)
    }

    /// How often it failed before the likeliest commit and from it on.
    pub fn rates(&self) -> Rates {
        let Posterior { before, after, .. } = &self.posterior;
        Rates {
            one_sided: self.standard.one_sided,
            before: (before.failed, before.runs),
            after: (after.failed, after.runs),
        }
    }

    /// The fewest commits that together hold the confidence, ancestors before descendants.
    pub fn likely(&self) -> Vec<Number> {
        let mut held = 0.0;
        let mut likely = Vec::new();
        for &(number, probability) in &self.posterior.likeliest {
            likely.push(number);
            held += probability;
            if held >= self.standard.confidence {
                break;
            }
        }
        likely.sort_unstable();
        likely
    }

    fn probability_of(&self, number: Number) -> f64 {
        let found = self.posterior.likeliest.iter().find(|&&(other, _)| other == number);
        found.map_or(0.0, |&(_, probability)| probability)
    }

    /// Says it: the runs of each commit, the rates, and the likeliest commits.
    pub fn say(&self, context: &Context) {
        let commit = |number: Number| {
            let subject = &self.subjects[&number];
            let id = context.err_paint().commit(&subject.id.to_string()[..SHORT]);
            (id, escape_line(&subject.subject).into_owned())
        };
        context.say("runs by commit:");
        for seen in &self.evidence {
            let (id, subject) = commit(seen.commit);
            let skipped = if seen.is_skipped { ", skipped" } else { "" };
            context.say(&format!("  {id} {} good, {} bad{skipped}: {subject}", seen.good, seen.bad));
        }
        let before = self.posterior.before;
        if self.standard.one_sided {
            context.say(&format!("fails before: {} of {}, taken never to", before.failed, runs(before.runs)));
        } else {
            context.say(&format!("fails before: {}", rate(before)));
        }
        context.say(&format!("fails from it on: {}", rate(self.posterior.after)));
        context.say("likeliest:");
        for &(number, probability) in self.posterior.likeliest.iter().take(NAMED) {
            let (id, subject) = commit(number);
            context.say(&format!("  {:>6} {id} {subject}", percent(probability)));
        }
    }

    /// The shape that is printed.
    pub fn json(&self) -> BeliefJson<'_> {
        let id = |number: Number| self.subjects[&number].id.to_string();
        let rate = |rate: Rate| RateJson {
            bad: rate.failed,
            runs: rate.runs,
            estimate: rate.estimate,
            low: rate.low,
            high: rate.high,
        };
        BeliefJson {
            confidence: self.standard.confidence,
            one_sided: self.standard.one_sided,
            changed: self.posterior.changed,
            entropy: self.posterior.entropy,
            before: rate(self.posterior.before),
            after: rate(self.posterior.after),
            likeliest: self
                .posterior
                .likeliest
                .iter()
                .take(NAMED)
                .map(|&(number, probability)| LikelyJson { commit: id(number), probability })
                .collect(),
            evidence: self
                .evidence
                .iter()
                .map(|seen| EvidenceJson {
                    commit: id(seen.commit),
                    good: seen.good,
                    bad: seen.bad,
                    skipped: seen.is_skipped,
                    probability: self.probability_of(seen.commit),
                })
                .collect(),
            observations: self
                .observed
                .iter()
                .map(|(&run, seen)| ObservationJson { run, commit: &seen.commit, verdict: seen.verdict.name() })
                .collect(),
        }
    }
}

/// Such as `14 of 25 runs, 0.56 (0.37 to 0.73)`: what to expect, and the interval of 95 %.
fn rate(rate: Rate) -> String {
    let Rate { failed, runs: all, estimate, low, high } = rate;
    format!("{failed} of {}, rate {estimate:.2} ({low:.2} to {high:.2})", runs(all))
}

fn runs(count: u64) -> String {
    counted(usize::try_from(count).unwrap_or(usize::MAX), "run")
}

/// Such as `96.2 %`. What is not certain is never told as 100 %.
pub fn percent(probability: f64) -> String {
    let tenths = (probability * 1000.0).round().min(if probability < 1.0 { 999.0 } else { 1000.0 });
    format!("{:.1} %", tenths / 10.0)
}
