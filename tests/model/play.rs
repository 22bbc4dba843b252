//! Steps that are played in a store and in the model, and held against each other.

use crate::command::{Command, FOLDER, Step, Typed};
use crate::crash::Recorded;
use crate::model::{Model, SESSIONS};
use crate::reports::{Holding, Wrong, compare};
use crate::shell::Shell;
use crate::undo::Undoing;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// After so many steps the whole store is checked.
const SOUNDLY: usize = 8;

/// After so many steps more is asked.
const LARGELY: usize = 40;

/// How often each command came to what.
pub type Seen = BTreeMap<String, usize>;

/// A store beside its model.
pub struct Play {
    pub model: Model,
    shell: Shell,
    done: usize,
    /// What was typed.
    pub lines: Vec<String>,
    directory: TempDir,
}

impl Play {
    /// An empty store.
    pub fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let shell = Shell::at(directory.path());
        let typed = Command::Init.typed(&Model::new(), "default");
        let said = shell.run("default", "", &typed);
        assert_eq!((said.status, said.err.as_str()), (0, ""));
        Self { model: Model::new(), shell, done: 0, lines: Vec::new(), directory }
    }

    /// Plays a step.
    pub fn step(&mut self, step: &Step, seen: &mut Seen) -> Result<(), Wrong> {
        self.done += 1;
        let typed = step.command.typed(&self.model, step.session);
        let crash = if step.crash.is_some() { "crash in " } else { "" };
        self.lines.push(format!("{crash}{} {}: {:?} <<< {:?}", step.time, step.session, typed.words, typed.input));
        if let Some(seed) = step.crash {
            return self.crash(step, seed, seen);
        }
        if let Command::Undo { source, message } = &step.command {
            let undoing = Undoing { step, source, message: message.as_deref() };
            let word = undoing.play(&mut self.model, &self.shell)?;
            *seen.entry(format!("Undo {word}")).or_default() += 1;
            return self.look(step.session);
        }
        let (before, time) = (self.model.clone(), crate::command::told(step.time));
        let outcome = self.model.run(step);
        if let Some(typed) = step.command.preparation(&before, step.session) {
            self.clear_folder();
            let said = self.shell.run(step.session, &time, &typed);
            compare(&said, &[], None).map_err(|wrong| format!("{:?}: {wrong}", typed.words))?;
        }
        let files = (outcome.is_err() && !step.command.is_several()).then(|| self.files());
        let said = self.shell.run(step.session, &time, &typed);
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
        self.look(step.session)
    }

    fn look(&self, session: &str) -> Result<(), Wrong> {
        let holding = Holding { model: &self.model, shell: &self.shell };
        holding.briefly(session)?;
        if self.done.is_multiple_of(SOUNDLY) {
            holding.is_sound()?;
        }
        if self.done.is_multiple_of(LARGELY) { holding.session(session) } else { Ok(()) }
    }

    /// Asks what is asked after some steps only.
    pub fn look_closely(&self, session: &str) -> Result<(), Wrong> {
        let holding = Holding { model: &self.model, shell: &self.shell };
        holding.is_sound().and_then(|()| holding.session(session))
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
            let holding = Holding { model: &model, shell: &self.shell };
            let found = holding.all_that_moves(&after);
            match if step.command.changes_history() { found.and_then(|()| holding.commits()) } else { found } {
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

    /// Asks for all that there is.
    pub fn end(&self) -> Result<(), Wrong> {
        Holding { model: &self.model, shell: &self.shell }.wholly()
    }
}
