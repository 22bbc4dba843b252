//! Sequences of commands, played in a store and in the model, and made short where the two differ.

use crate::command::{Command, FOLDER, Step, Typed};
use crate::crash::Recorded;
use crate::generate::Maker;
use crate::model::{Model, SESSIONS};
use crate::reports::{Holding, Wrong, compare};
use crate::shell::Shell;
use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use tempfile::TempDir;

/// After so many steps more is asked.
const LARGELY: usize = 40;

/// How often a sequence that fails is played again to make it shorter.
const TRIES: usize = 400;

/// By so many letters it is told whether two failures are of a kind.
const KIND: usize = 12;

/// How often each command came to what.
pub type Seen = BTreeMap<String, usize>;

/// A store beside its model.
struct Play {
    model: Model,
    shell: Shell,
    done: usize,
    directory: TempDir,
}

impl Play {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let shell = Shell::at(directory.path());
        let typed = Command::Init.typed(&Model::new(), "default");
        let said = shell.run("default", "", &typed);
        assert_eq!((said.status, said.err.as_str()), (0, ""));
        Self { model: Model::new(), shell, done: 0, directory }
    }

    fn step(&mut self, step: &Step, seen: &mut Seen) -> Result<(), Wrong> {
        self.done += 1;
        if let Some(seed) = step.crash {
            return self.crash(step, seed, seen);
        }
        let (before, time) = (self.model.clone(), crate::command::told(step.time));
        let outcome = self.model.run(step);
        if let Some(typed) = step.command.preparation(&before, step.session) {
            self.clear_folder();
            let said = self.shell.run(step.session, &time, &typed);
            compare(&said, &[], None).map_err(|wrong| format!("{:?}: {wrong}", typed.words))?;
        }
        let files = (outcome.is_err() && !step.command.is_several()).then(|| self.files());
        let said = self.shell.run(step.session, &time, &step.command.typed(&before, step.session));
        if files.is_some_and(|files| files != self.files()) {
            return Err(format!("what is refused changes a file: {outcome:?}"));
        }
        let (rows, refusal) = match &outcome {
            Ok(answer) => (&answer.rows[..], answer.stop.as_ref()),
            Err(refusal) => (&[][..], Some(refusal)),
        };
        let word = refusal.map_or("done", |refusal| refusal.word);
        *seen.entry(format!("{} {word}", step.command.kind())).or_default() += 1;
        compare(&said, rows, refusal)?;
        let holding = Holding { model: &self.model, shell: &self.shell };
        holding.briefly(step.session)?;
        if self.done.is_multiple_of(LARGELY) { holding.session(step.session) } else { Ok(()) }
    }

    /// Crashes while a command is at work, and goes on from what is left.
    fn crash(&mut self, step: &Step, seed: u64, seen: &mut Seen) -> Result<(), Wrong> {
        let directory = self.directory.path();
        let recorded = Recorded::of(directory, &self.model, step.session, step.time, &step.command);
        let mut after = self.model.clone();
        let outcome = after.run(step);
        if recorded.is_refused != outcome.is_err() {
            return Err(format!("it is refused: {}, and the model says {outcome:?}", recorded.is_refused));
        }
        let (image, is_acknowledged) = recorded.crash(seed);
        crate::crash::write(directory, &image);
        if matches!(step.command, Command::Redact { .. }) {
            let typed = Typed { words: vec!["redact".to_owned(), "--finish".to_owned()], input: String::new() };
            let said = self.shell.run(step.session, &crate::command::told(step.time), &typed);
            if said.status != 0 {
                return Err(format!("it is not finished: {}", said.err));
            }
        }
        let mut left = vec![("after", after.clone())];
        if !is_acknowledged {
            left.extend(outcome.ok().into_iter().flat_map(|answer| answer.between).map(|model| ("between", model)));
            left.push(("before", self.model.clone()));
        }
        let mut wrong = Vec::new();
        for (when, mut model) in left {
            for session in SESSIONS {
                model.session(session).has_log |= crate::crash::has_log(&image, session);
            }
            match (Holding { model: &model, shell: &self.shell }).all_that_moves(&after) {
                Ok(()) => {
                    *seen.entry(format!("crash {when}")).or_default() += 1;
                    self.model = model;
                    return Ok(());
                }
                Err(found) => wrong.push(format!("not as {when}: {found}")),
            }
        }
        Err(wrong.join("\n"))
    }

    /// The names and bytes of all files of the store.
    fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let store = self.directory.path().join(".mnemosyne");
        let mut files = Vec::new();
        for directory in [store.clone(), store.join("staged")] {
            let paths = fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("an entry").path());
            files.extend(
                paths.filter(|path| path.is_file()).map(|path| (path.clone(), fs::read(&path).expect("a file"))),
            );
        }
        files.sort();
        files
    }

    fn clear_folder(&self) {
        let folder = self.directory.path().join(FOLDER);
        if folder.exists() {
            fs::remove_dir_all(folder).expect("it goes");
        }
    }

    fn end(&self) -> Result<(), Wrong> {
        Holding { model: &self.model, shell: &self.shell }.wholly()
    }
}

/// What goes wrong, a panic too.
fn caught(run: impl FnOnce() -> Result<(), Wrong>) -> Result<(), Wrong> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().cloned();
        Err(said.or(panic.downcast_ref::<&str>().map(|said| (*said).to_owned())).unwrap_or_default())
    })
}

/// Plays a sequence from the beginning.
fn replay(steps: &[Step]) -> Result<(), Wrong> {
    let (mut play, mut seen) = (Play::new(), Seen::new());
    caught(|| {
        steps.iter().try_for_each(|step| play.step(step, &mut seen))?;
        play.end()
    })
}

/// Leaves out of a sequence that fails what it fails without.
fn shortened(mut steps: Vec<Step>, first: &Wrong) -> (Vec<Step>, Wrong) {
    // What is found in a shorter one may be another thing.
    let alike = |one: &Wrong, other: &Wrong| one.chars().take(KIND).eq(other.chars().take(KIND));
    let (mut size, mut tries, mut wrong) = (steps.len() / 2, 0, String::new());
    while size > 0 && tries < TRIES {
        let (mut at, before) = (0, steps.len());
        while at < steps.len() && tries < TRIES {
            let end = (at + size).min(steps.len());
            let fewer = [&steps[..at], &steps[end..]].concat();
            tries += 1;
            match replay(&fewer) {
                Err(found) if alike(&found, first) => (steps, wrong) = (fewer, found),
                Err(_) | Ok(()) => at = end,
            }
        }
        size = if size == 1 && steps.len() < before { 1 } else { size / 2 };
    }
    if wrong.is_empty() {
        wrong = replay(&steps).err().unwrap_or_default();
    }
    (steps, wrong)
}

/// How a sequence is told.
fn told(steps: &[Step]) -> String {
    let (mut model, mut lines) = (Model::new(), Vec::new());
    for step in steps {
        let typed = step.command.typed(&model, step.session);
        let crash = if step.crash.is_some() { "crash in " } else { "" };
        lines.push(format!("{crash}{} {}: {:?} <<< {:?}", step.time, step.session, typed.words, typed.input));
        if catch_unwind(AssertUnwindSafe(|| drop(model.run(step)))).is_err() {
            break;
        }
    }
    lines.join("\n")
}

/// Plays a random sequence of so many steps.
pub fn play(seed: u64, count: usize, seen: &mut Seen) {
    let (mut play, mut maker, mut steps) = (Play::new(), Maker::new(seed), Vec::new());
    let outcome = caught(|| {
        for _ in 0..count {
            let step = maker.step(&play.model);
            steps.push(step.clone());
            play.step(&step, seen)?;
        }
        play.end()
    });
    if let Err(wrong) = outcome {
        let at = steps.len();
        let (steps, shorter) = shortened(steps, &wrong);
        panic!("seed {seed}, step {at}: {wrong}\n\nby these {}:\n{}\n\n{shorter}", steps.len(), told(&steps));
    }
}
