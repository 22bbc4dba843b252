//! Whether what a crash left is right.

use crate::disk::SimulatedDisk;
use crate::image::Image;
use crate::tables::{Dump, dump, verify};
use crate::workload::{Command, SESSIONS, State, execute, observe};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Every how many images are checked as a whole too, before they are recovered and after.
const CHECKED_EVERY: usize = 20;

/// Judges images, and counts them.
#[derive(Debug, Default)]
pub struct Oracle {
    /// How many were judged.
    pub images: usize,
    /// How many of these were checked as a whole.
    pub checked: usize,
    /// How many of these were left by a crash in the recovery of another.
    pub second: usize,
    /// How many of these were left by a crash after a kill and another command.
    pub killed: usize,
    /// Which were wrong, and how.
    pub wrong: Vec<String>,
    /// Whether commits may have been dropped and nodes redacted, of which the tables here know nothing.
    is_kept_up: bool,
    /// Tables that were verified before.
    verified: Vec<Dump>,
}

/// Checks a whole store by the program's own check.
pub fn sound(disk: &SimulatedDisk, when: &str) -> Result<(), String> {
    let report = disk.store().fsck(&mut |_, _, _| ()).map_err(|error| format!("{when}: {error:?}"))?;
    if report.findings.is_empty() { Ok(()) } else { Err(format!("{when}: {:?}", report.findings)) }
}

impl Oracle {
    /// One for stores from which commits were dropped, or nodes redacted.
    pub fn of_what_is_kept_up() -> Self {
        Self { is_kept_up: true, ..Self::default() }
    }

    /// Opens what a crash left with the ordinary code: it must show one of the states, take one more put and
    /// one more commit, and hold sound tables then: the new commit stands on all that was there.
    pub fn judge(&mut self, image: Image, allowed: &[State], what: &dyn Fn() -> String) {
        self.images += 1;
        let judged = catch_unwind(AssertUnwindSafe(|| self.check(image, allowed)));
        if let Err(wrong) = judged.unwrap_or_else(|_| Err("a panic".to_owned())) {
            self.wrong.push(format!("{}: {wrong}", what()));
        }
    }

    fn check(&mut self, image: Image, allowed: &[State]) -> Result<(), String> {
        let disk = SimulatedDisk::new(image);
        let is_checked = self.images.is_multiple_of(CHECKED_EVERY);
        if is_checked {
            self.checked += 1;
            sound(&disk, "as it was left")?;
            if !disk.events().is_empty() {
                return Err("a check wrote".to_owned());
            }
        }
        let found = observe(&disk.store()).map_err(|error| format!("opening: {error:?}"))?;
        if is_checked {
            sound(&disk, "recovered")?;
        }
        let state = allowed.iter().find(|state| **state == found);
        let state = state.ok_or_else(|| format!("shows {found:?}, not one of {allowed:?}"))?;

        let session = SESSIONS[self.images % SESSIONS.len()];
        let put = Command::Put(session, vec![("later", Some("one more".to_owned()))]);
        let mut state = state.clone();
        for command in [put, Command::Commit(session)] {
            execute(&disk.store(), &state, &command).map_err(|error| format!("{command:?}: {error:?}"))?;
            state = state.after(&command);
        }
        let found = observe(&disk.store()).map_err(|error| format!("after one more: {error:?}"))?;
        if found != state {
            return Err(format!("after one more commit shows {found:?}, not {state:?}"));
        }
        self.verify(&disk)
    }

    fn verify(&mut self, disk: &SimulatedDisk) -> Result<(), String> {
        if self.is_kept_up {
            return sound(disk, "after one more");
        }
        let dump = dump(disk.database())?;
        if !self.verified.contains(&dump) {
            verify(&dump)?;
            self.verified.push(dump);
        }
        Ok(())
    }

    /// Panics where an image was wrong.
    #[track_caller]
    pub fn assert_right(&self) {
        let first: Vec<_> = self.wrong.iter().take(3).collect();
        assert!(self.wrong.is_empty(), "{} of {} images are wrong: {first:#?}", self.wrong.len(), self.images);
    }
}
