//! Random sequences of all commands that write, by several sessions, played in a store and in a model of whole memories:
//! each command line answers as the model says, and so do all reports.

#[path = "../merging/body.rs"]
mod body;
mod command;
mod crash;
#[path = "../merging/dice.rs"]
mod dice;
#[path = "../crash/disk.rs"]
#[expect(dead_code, reason = "no call fails here")]
mod disk;
mod generate;
#[path = "../merging/history.rs"]
mod history;
mod ids;
#[path = "../crash/image.rs"]
#[expect(dead_code, reason = "crashes are drawn")]
mod image;
mod joining;
mod model;
#[path = "../merging/naive.rs"]
#[expect(dead_code, reason = "what is conflicting is looked at elsewhere")]
mod naive;
#[path = "../merging/origin.rs"]
mod origin;
mod packing;
mod places;
mod play;
mod reports;
mod revision;
mod rows;
mod searching;
mod sequence;
mod shell;
mod staging;
mod undo;
mod upkeep;

use play::Seen;
use std::io::Write;

/// How many steps are played, unless `MNEM_MODEL_STEPS` says otherwise. `MNEM_MODEL_SEED` says with which seed it begins.
const STEPS: usize = 600;

/// How many of them in one store.
const LENGTH: usize = 150;

/// How many sequences are played at a time.
const WORKERS: usize = 2;

/// A number from the environment.
#[expect(clippy::disallowed_methods, reason = "how long a test may take is for whoever runs it to say")]
fn wanted(variable: &str, default: usize) -> usize {
    std::env::var(variable).map_or(default, |number| number.parse().expect("a number"))
}

/// Tells a count, so that it can be quoted; not captured as the output of a passing test is.
fn tell(line: &str) {
    writeln!(std::io::stderr(), "{line}").expect("a standard error");
}

#[test]
fn every_command_does_as_a_model_says() {
    let sequences = wanted("MNEM_MODEL_STEPS", STEPS).div_ceil(LENGTH);
    let first = wanted("MNEM_MODEL_SEED", 0);
    let half = |nth: usize| {
        let mut seen = Seen::new();
        for seed in (first + nth..first + sequences).step_by(WORKERS) {
            sequence::play(seed as u64, LENGTH, &mut seen);
        }
        seen
    };
    let mut seen = Seen::new();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS).map(|nth| scope.spawn(move || half(nth))).collect();
        for worker in workers {
            for (what, count) in worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)) {
                *seen.entry(what).or_default() += count;
            }
        }
    });
    tell(&format!("{} steps: {seen:?}", sequences * LENGTH));
    // Of a few steps, as of a seed that is looked at, not so much comes about.
    if sequences * LENGTH >= STEPS {
        let done = seen.keys().filter(|what| what.ends_with(" done")).count();
        assert!(done > 28 && seen.len() > 75, "{done} of {}", seen.len());
        for crash in ["crash before", "crash after"] {
            assert!(seen[crash] > 10, "{crash}");
        }
    }
}
