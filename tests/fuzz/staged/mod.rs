//! Staged logs: frames as the input says, which may be cut, changed, repeated and out of order; then one more frame as
//! the program writes it. All is held against [`naive`].

mod log;
mod naive;

use crate::choices::Choices;
use crate::memory_disk::MemoryDisk;
use log::{GOOD_IDS, IDS, Making};
use mnemosyne::model::{NodeId, SessionName};
use mnemosyne::object::ObjectId;
use mnemosyne::store::{Change, Disk, LogError, Staged, StagedChange};
use naive::{Entry, Says};
use std::path::Path;
use std::time::Duration;

/// What a frame of the program says of where the session stands.
const HEAD: &[u8] = b"\x01\x0frefs/heads/main";

/// The most steps that make a log.
const STEPS: usize = 40;

/// How a log ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    /// It is damaged.
    Damaged,
    /// No number is left for another frame.
    Full,
    /// A frame was appended.
    Appended,
    /// All was written anew with that frame.
    Folded,
}

/// Checks one log.
pub fn check(data: &[u8]) {
    outcome(data);
}

/// Checks one log. The first byte is the last consumed number, or says that it follows; the second chooses what is
/// asked for and what is appended; then two say where a write is cut off.
fn outcome(data: &[u8]) -> Outcome {
    let mut choices = Choices(data);
    let consumed = match choices.byte() {
        u8::MAX => choices.number(8),
        small => u64::from(small % 8),
    };
    let (wanted, tear) = (choices.byte(), choices.number(2));
    let mut making = Making::new(&mut choices, consumed);
    let added: Vec<_> = (0..wanted % 3).map(|_| making.entry(GOOD_IDS)).collect();
    for _ in 0..STEPS {
        if making.choices.is_over() {
            break;
        }
        making.step();
    }
    let log = making.log;
    match agreed(&log, consumed, wanted / 16) {
        Some(log) => append(&log, consumed, &added, wanted, usize::try_from(tear).expect("two bytes")),
        None => Outcome::Damaged,
    }
}

/// What both say of a log that all can be read of.
struct Agreed<'l> {
    log: &'l [u8],
    naive: naive::Log,
    says: Says,
}

fn id(bytes: &[u8]) -> NodeId {
    NodeId::new(str::from_utf8(bytes).expect("UTF-8")).expect("an id")
}

fn change(staged: StagedChange<'_>) -> naive::Change {
    (staged.base.map(|base| *base.as_bytes()), staged.node.map(<[u8]>::to_vec))
}

fn is_damage<T>(answer: &Result<T, LogError>) -> bool {
    matches!(answer, Err(LogError::Damaged { .. }))
}

/// Both ways of reading a log come to what it says; `None` where it is damaged.
fn agreed(log: &[u8], consumed: u64, asked: u8) -> Option<Agreed<'_>> {
    let path = Path::new("staged/default");
    let ids: Vec<_> = (0..GOOD_IDS).filter(|at| asked >> at & 1 == 1).map(|at| id(IDS[at])).collect();
    let scanned = Staged::scan(path, log, consumed);
    let skimmed = Staged::skim(path, log, consumed, &ids.iter().collect::<Vec<_>>());
    let naive = naive::read(log, consumed);
    let (scanned, naive) = match (scanned, naive) {
        (Ok(scanned), Some(naive)) => (scanned, naive),
        (scanned, naive) => {
            assert!(is_damage(&scanned) && naive.is_none(), "{scanned:?}, {naive:?}");
            // Whoever looked at a part does not replay what is damaged.
            assert!(is_damage(&skimmed.and_then(|skimmed| skimmed.replay().map(drop))));
            return None;
        }
    };
    let skimmed = skimmed.expect("a part of what is sound");
    for staged in [&scanned, &skimmed] {
        assert_eq!(staged.is_empty(), naive.is_empty);
        assert_eq!(staged.last(), naive.last);
    }
    let Some(says) = naive.says.clone() else {
        for staged in [&scanned, &skimmed] {
            assert!(is_damage(&staged.replay()));
        }
        return None;
    };
    for staged in [&scanned, &skimmed] {
        assert_eq!(staged.head().expect("sound").map(<[u8]>::to_vec), says.head);
        for id in &ids {
            let found = staged.find(id).expect("sound").map(change);
            assert_eq!(found.as_ref(), says.changes.get(id.as_str().as_bytes()));
        }
        if !says.has_ids() {
            assert!(is_damage(&staged.replay()));
            continue;
        }
        let replayed = staged.replay().expect("sound").into_iter();
        let replayed = replayed.map(|(id, staged)| (id.as_str().as_bytes().to_vec(), change(staged)));
        assert_eq!(replayed.collect::<std::collections::BTreeMap<_, _>>(), says.changes);
    }
    Some(Agreed { log, naive, says })
}

/// One more frame: then the log says that too; and where the frame was torn or a byte of it is another, what it said.
fn append(before: &Agreed<'_>, consumed: u64, added: &[Entry], wanted: u8, tear: usize) -> Outcome {
    let session = SessionName::default();
    let disk = MemoryDisk::default();
    disk.files().logs.insert(session.to_string(), before.log.to_vec());
    let mut log = disk.lock_log(&session, Duration::ZERO).expect("free");
    let bytes = log.read().expect("readable");

    let ids: Vec<_> = (0..GOOD_IDS).map(|at| id(IDS[at])).collect();
    let at = |bytes: &[u8]| &ids[IDS.iter().position(|id| *id == bytes).expect("one of them")];
    let changes = added.iter().map(|entry| match entry {
        Entry::Set(id, base, node) => Change::Set { id: at(id).into(), base: base.map(ObjectId::from_bytes), node },
        Entry::Remove(id, base) => Change::Remove { id: at(id).into(), base: base.map(ObjectId::from_bytes) },
        Entry::Unstage(id) => Change::Unstage { id: at(id).into() },
    });
    let is_skimmed = wanted & 8 != 0;
    let staged = match is_skimmed {
        true => Staged::skim(log.path(), &bytes, consumed, &[]),
        false => Staged::scan(log.path(), &bytes, consumed),
    };
    let head = before.naive.is_empty.then_some(HEAD);
    let frame = match staged.expect("sound").next_frame(head, changes) {
        Ok(frame) => frame,
        Err(error) => {
            assert!(matches!(error, LogError::Damaged { .. }), "{error:?}");
            assert_eq!(before.naive.last, u64::MAX - 1, "there are numbers left");
            return Outcome::Full;
        }
    };
    let number = log.append(&frame).expect("a disk that takes all");
    assert_eq!(frame.mark(), number - 1);

    let mut says = before.says.clone();
    says.head = says.head.or(head.map(<[u8]>::to_vec));
    added.iter().for_each(|entry| says.take(entry.clone()));
    let bytes = disk.files().logs[session.as_str()].clone();
    assert!(!disk.files().logs.keys().any(|name| name.starts_with('.')), "a successor took its place");
    let after = agreed(&bytes, consumed, wanted / 16).expect("sound");
    assert_eq!((after.naive.last, after.naive.end, after.says), (number, bytes.len(), says));

    let start = if before.naive.is_empty { 0 } else { before.naive.end };
    let is_folded = !bytes.starts_with(&before.log[..start]);
    assert!(is_folded || number == before.naive.last + 1);
    if is_folded {
        assert!(before.log.len() > 1 << 20, "folded too early");
        return Outcome::Folded;
    }
    let place = start + tear % (bytes.len() - start);
    let mut changed = bytes.clone();
    changed[place] ^= 1 << (tear % 8);
    for torn in [&bytes[..place], &changed] {
        let found = agreed(torn, consumed, wanted / 16).expect("a torn tail");
        assert_eq!((found.naive.last, found.says), (before.naive.last, before.says.clone()));
    }
    Outcome::Appended
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus;
    use std::collections::BTreeSet;

    #[test]
    fn the_corpus_comes_upon_every_outcome() {
        let outcomes: BTreeSet<_> = corpus("staged").iter().map(|(_, input)| outcome(input)).collect();
        let all = [Outcome::Damaged, Outcome::Full, Outcome::Appended, Outcome::Folded];
        assert_eq!(outcomes, all.into());
    }
}
