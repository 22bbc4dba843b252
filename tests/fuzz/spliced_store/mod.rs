//! The file of a small store with damage that the input describes: bytes changed, pages copied and exchanged, ranges wiped
//! and moved, the end cut off. Whatever is asked of it then, the answer is the right one or that it is damaged.

mod healthy;

use crate::choices::Choices;
use crate::memory_disk::{AllRows, Files, MemoryDisk, all_rows};
use healthy::{Healthy, Question};
use mnemosyne::ops::OpError;
use mnemosyne::store::{MayBeDamage, Store, StoreError};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::LazyLock;

static HEALTHY: LazyLock<Healthy> = LazyLock::new(|| {
    hush();
    Healthy::new()
});

const PAGE: usize = 4096;

/// The most steps that damage a file.
const STEPS: usize = 8;

thread_local! {
    /// Whether something else than the database has panicked.
    static IS_OURS: Cell<bool> = const { Cell::new(false) };
}

/// The database may panic on damaged pages, and what is built on it makes damage of that. It must not end the run before.
fn hush() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let is_ours = |file: &str| !file.contains("redb-") && !file.starts_with("/rustc/");
        if panic.location().is_none_or(|location| is_ours(location.file())) {
            IS_OURS.set(true);
            before(panic);
        }
    }));
}

/// Asks; a panic of the database that comes through to here is damage, as it is for the program.
fn ask(question: &Question, store: &Store<MemoryDisk>) -> Result<String, OpError> {
    IS_OURS.set(false);
    catch_unwind(AssertUnwindSafe(|| question(store))).unwrap_or_else(|panic| {
        if IS_OURS.get() {
            resume_unwind(panic);
        }
        Err(StoreError::corrupt("a panic of the database").into())
    })
}

/// How a question was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    Right,
    Corrupt,
}

/// Checks one damaged file.
pub fn check(data: &[u8]) {
    verdicts(data);
}

fn verdicts(data: &[u8]) -> BTreeSet<Verdict> {
    let healthy = &*HEALTHY;
    let mut choices = Choices(data);
    let mut database = healthy.files.database.clone();
    for _ in 0..STEPS {
        if choices.is_over() {
            break;
        }
        damage(&mut database, &mut choices);
    }
    let files = Files { database, logs: healthy.files.logs.clone() };
    is_checked(&files, &healthy.rows);
    let disk = MemoryDisk::new(files);
    let store = disk.store();
    let verdict = |(name, question, right): &(&str, Question, String)| match ask(question, &store) {
        Ok(answer) => {
            assert_eq!(answer, *right, "{name}");
            Verdict::Right
        }
        Err(error) => {
            assert!(error.is_damage(), "{name}: {error:?}");
            Verdict::Corrupt
        }
    };
    let verdicts = healthy.questions.iter().map(verdict).collect();
    assert!(disk.files().logs == healthy.files.logs, "something was staged");
    verdicts
}

/// A look at the whole store finds something, unless every row is there; it changes nothing.
fn is_checked(files: &Files, right: &AllRows) {
    let disk = MemoryDisk::new(files.clone());
    let report = disk.store().fsck(&mut |_, _, _| {}).expect("what is wrong is in the report");
    assert!(*disk.files() == *files, "the check has written");
    if report.findings.is_empty() {
        // A writer may have been killed, by what the header says.
        drop(disk.store().snapshot().expect("no damage"));
        let rows = catch_unwind(AssertUnwindSafe(|| all_rows(&disk))).expect("no damage").expect("no damage");
        assert!(rows == *right, "nothing is wrong with other rows");
    }
}

/// Does one damage.
fn damage(database: &mut Vec<u8>, choices: &mut Choices<'_>) {
    let pages = database.len() / PAGE;
    if pages == 0 {
        return;
    }
    let page = |choices: &mut Choices<'_>| usize::from(choices.byte()) % pages * PAGE;
    match choices.byte() % 8 {
        0 => {
            let at = page(choices) + choices.below(PAGE);
            database[at] ^= choices.byte();
        }
        1 => {
            let (at, count) = (page(choices) + choices.below(PAGE), usize::from(choices.byte() % 16));
            let bytes = choices.take(count);
            let end = database.len().min(at + bytes.len());
            database[at..end].copy_from_slice(&bytes[..end - at]);
        }
        2 => {
            let (from, to) = (page(choices), page(choices));
            database.copy_within(from..from + PAGE, to);
        }
        3 => {
            let (one, other) = (page(choices), page(choices));
            for at in 0..PAGE {
                database.swap(one + at, other + at);
            }
        }
        4 => {
            let (at, count) = (page(choices) + choices.below(PAGE), choices.below(2 * PAGE));
            let end = database.len().min(at + count);
            database[at..end].fill(0);
        }
        5 => {
            let length = page(choices) + choices.below(PAGE);
            database.truncate(length);
        }
        6 => {
            let (from, to) = (page(choices) + choices.below(PAGE), page(choices) + choices.below(PAGE));
            let count = choices.below(PAGE).min(database.len() - from.max(to));
            database.copy_within(from..from + count, to);
        }
        _ => {
            let (at, count) = (page(choices), choices.below(16) * PAGE);
            let end = database.len().min(at + count);
            database.extend_from_within(at..end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus;

    #[test]
    fn both_answers_are_met() {
        for (name, verdict) in [("healthy", Verdict::Right), ("header-wiped", Verdict::Corrupt)] {
            let (_, input) = corpus("spliced_store").into_iter().find(|(path, _)| path.ends_with(name)).expect(name);
            assert_eq!(verdicts(&input), [verdict].into(), "{name}");
        }
    }
}
