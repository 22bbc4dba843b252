//! Random sequences, and how they are made short where store and model differ.

use crate::command::Step;
use crate::generate::Maker;
use crate::play::{Play, Seen};
use crate::reports::Wrong;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// How often a sequence that fails is played again to make it shorter.
const TRIES: usize = 120;

/// By so many letters it is told whether two failures are of a kind.
const KIND: usize = 12;

/// What goes wrong, a panic too.
fn caught(run: impl FnOnce() -> Result<(), Wrong>) -> Result<(), Wrong> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().cloned();
        Err(said.or(panic.downcast_ref::<&str>().map(|said| (*said).to_owned())).unwrap_or_default())
    })
}

/// A sequence that fails.
struct Failing {
    steps: Vec<Step>,
    /// Whether all goes well up to the end, where all is asked.
    is_at_end: bool,
    wrong: Wrong,
    /// What was typed.
    lines: Vec<String>,
}

impl Failing {
    /// Plays fewer steps; whether these fail too, and in the same way.
    fn fails_by(&mut self, steps: &[Step]) -> bool {
        let (mut play, mut seen) = (Play::new(), Seen::new());
        let outcome = caught(|| {
            steps.iter().try_for_each(|step| play.step(step, &mut seen))?;
            match steps.last() {
                _ if self.is_at_end => play.end(),
                Some(last) => play.look_closely(last.session),
                None => Ok(()),
            }
        });
        let Err(wrong) = outcome else { return false };
        // What is found in a shorter one may be another thing.
        let is_alike = wrong.chars().take(KIND).eq(self.wrong.chars().take(KIND));
        if is_alike {
            (self.steps, self.wrong, self.lines) = (steps.to_vec(), wrong, play.lines);
        }
        is_alike
    }

    /// Leaves out what it fails without.
    fn shorten(&mut self) {
        let (mut size, mut tries) = (self.steps.len() / 2, 0);
        while size > 0 && tries < TRIES {
            let (mut at, before) = (0, self.steps.len());
            while at < self.steps.len() && tries < TRIES {
                let end = (at + size).min(self.steps.len());
                let fewer = [&self.steps[..at], &self.steps[end..]].concat();
                tries += 1;
                if !self.fails_by(&fewer) {
                    at = end;
                }
            }
            size = if size == 1 && self.steps.len() < before { 1 } else { size / 2 };
        }
    }
}

/// Plays a random sequence of so many steps.
pub fn play(seed: u64, count: usize, seen: &mut Seen) {
    let (mut play, mut maker, mut steps) = (Play::new(), Maker::new(seed), Vec::new());
    let mut is_at_end = false;
    let outcome = caught(|| {
        for _ in 0..count {
            let step = maker.step(&play.model);
            steps.push(step.clone());
            play.step(&step, seen)?;
        }
        is_at_end = true;
        play.end()
    });
    if let Err(wrong) = outcome {
        let at = steps.len();
        let mut failing = Failing { steps, is_at_end, wrong: wrong.clone(), lines: play.lines };
        failing.shorten();
        let Failing { wrong: shorter, lines, .. } = failing;
        panic!("seed {seed}, step {at}: {wrong}\n\nby these {}:\n{}\n\n{shorter}", lines.len(), lines.join("\n"));
    }
}
