//! Rows of `put --jsonl`, without commits among them and with: what is staged and committed is what the rows say, byte
//! for byte, on top of a memory with something staged; or nothing is. The first byte chooses, the rows follow.

mod naive;
mod start;

use crate::memory_disk::MemoryDisk;
use crate::node::object_of;
use mnemosyne::cli::rows::{Asked, Defaults, Lines, read_history, read_rows};
use mnemosyne::graph::{Memory, Revision};
use mnemosyne::model::{NodeId, SessionName};
use mnemosyne::object::{ObjectId, encode_kept, encode_node, encode_redaction};
use mnemosyne::ops::{self, Condition, Group, OpError, StagedReport, StagedState, Write};
use mnemosyne::store::{Access, CommitWords, SessionView};
use naive::{Row, Version};
use start::{START, defaults, words};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The canonical bytes of each node.
type Nodes = BTreeMap<String, Vec<u8>>;

/// How an input ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    /// The rows are refused.
    Rows,
    /// A commit would change nothing.
    Empty,
    /// Some were staged, none committed.
    Staged,
    /// Some were committed.
    Committed,
}

/// Checks one input.
pub fn check(data: &[u8]) {
    outcome(data);
}

fn outcome(data: &[u8]) -> Option<Outcome> {
    let (mode, bytes) = data.split_first()?;
    let has_commits = mode % 2 == 1;
    let lines = Lines { bytes, path: Path::new("-") };
    let mut count = 0;
    let new_id = || {
        count += 1;
        NodeId::new(naive::new_id(count)).expect("an id")
    };
    let defaults: Defaults = defaults();
    let asked = match has_commits {
        true => read_history(lines, &defaults, new_id),
        false => read_rows(lines, &defaults, new_id).map(|writes| writes.into_iter().map(Asked::Write).collect()),
    };
    let asked = match (asked, naive::rows(bytes, has_commits)) {
        (Ok(asked), Ok(rows)) => {
            let read: Vec<_> = asked.iter().map(naive_row).collect();
            assert_eq!(read, rows);
            asked
        }
        (Err(error), Err(line)) => {
            let line = line.map_or(String::new(), |line| format!("line {line}: "));
            assert!(error.to_string().starts_with(&line), "{error}, not {line}");
            assert_eq!(error.exit(), 129);
            return Some(Outcome::Rows);
        }
        (asked, rows) => panic!("{asked:?}, {rows:?}"),
    };
    Some(match has_commits {
        true => history(asked),
        false => put(asked),
    })
}

/// What a row that was read says.
fn naive_row(asked: &Asked) -> Row {
    match asked {
        Asked::Write(Write::Set(node)) => Row::Version(node.id.to_string(), Some(encode_node(node))),
        Asked::Write(Write::Mark(marker)) => Row::Version(marker.id.to_string(), Some(encode_redaction(marker))),
        Asked::Write(Write::Remove(id)) => Row::Version(id.to_string(), None),
        Asked::Commit(row) => Row::Commit {
            message: row.message.as_str().to_owned(),
            author: row.author.as_ref().map(|author| author.as_str().to_owned()),
            time: row.time.map(|time| (time.unix_ms(), time.offset_minutes())),
        },
    }
}

fn object_id(bytes: &[u8]) -> ObjectId {
    ObjectId::from_bytes(object_of(bytes))
}

fn versions(writes: &[Write]) -> Vec<Version> {
    let row = |write: &Write| match naive_row(&Asked::Write(write.clone())) {
        Row::Version(id, bytes) => (id, bytes),
        Row::Commit { .. } => unreachable!("a write"),
    };
    writes.iter().map(row).collect()
}

/// A memory after changes of which the last of an id counts. A version that stands for the same object as one that is
/// there changes nothing; where there are several memories, the first that has such a one tells which bytes stay.
fn after(memories: &[&Nodes], versions: &[Version]) -> Nodes {
    let mut nodes = memories[memories.len() - 1].clone();
    let last: BTreeMap<_, _> = versions.iter().map(|(id, bytes)| (id, bytes)).collect();
    for (id, bytes) in last {
        let Some(bytes) = bytes else {
            nodes.remove(id);
            continue;
        };
        let held = memories.iter().filter_map(|nodes| nodes.get(id));
        let same = held.into_iter().find(|held| object_of(held) == object_of(bytes));
        nodes.insert(id.clone(), same.unwrap_or(bytes).clone());
    }
    nodes
}

fn put(asked: Vec<Asked>) -> Outcome {
    let writes: Vec<_> = asked
        .into_iter()
        .filter_map(|asked| if let Asked::Write(write) = asked { Some(write) } else { None })
        .collect();
    let versions = versions(&writes);
    let disk = MemoryDisk::new(START.files.clone());
    let reports = ops::put(&disk.store(), &SessionName::default(), writes, Condition::Any).expect("sound rows");
    tells(&reports, &versions, &START.head);
    assert!(disk.files().database == START.files.database);
    stands(&disk, &[], &START.head, &after(&[&START.head, &START.staged], &versions));
    Outcome::Staged
}

/// A report a change: what it comes to against HEAD.
fn tells(reports: &[StagedReport], versions: &[Version], head: &Nodes) {
    let told: Vec<_> = reports.iter().map(|report| (report.id.to_string(), report.hash, report.state)).collect();
    let right = versions.iter().map(|(id, bytes)| {
        let state = match (head.get(id), bytes) {
            (None, Some(_)) => StagedState::Added,
            (Some(_), None) => StagedState::Removed,
            (Some(old), Some(new)) if object_of(old) != object_of(new) => StagedState::Modified,
            (Some(_), Some(_)) | (None, None) => StagedState::Unchanged,
        };
        (id.clone(), bytes.as_deref().map(object_id), state)
    });
    assert_eq!(told, right.collect::<Vec<_>>());
}

fn memory<A: Access>(view: &SessionView<'_, A>, revision: Option<&Revision>) -> Result<Nodes, OpError> {
    let held = Memory::at(view, revision)?.select(&[])?;
    held.into_iter().map(|(id, held)| Ok((id.to_string(), encode_kept(&held.kept(view.tables)?)))).collect()
}

/// The commits of these ids hold these nodes, HEAD holds `head`, and with what is staged it is `staged`.
fn stands(disk: &MemoryDisk, commits: &[(String, Nodes)], head: &Nodes, staged: &Nodes) {
    let revision = |text: &str| Revision::parse(text, &|_| None).expect("a revision");
    let read = disk.store().read(&SessionName::default(), |view| -> Result<_, OpError> {
        for (id, nodes) in commits {
            assert_eq!(memory(view, Some(&revision(id)))?, *nodes);
        }
        assert_eq!(memory(view, Some(&Revision::head()))?, *head);
        assert_eq!(memory(view, None)?, *staged);
        for (id, change) in view.changes()? {
            let id = id.as_str();
            assert_eq!(change.base, head.get(id).map(|bytes| object_id(bytes)));
            assert_eq!(change.node, staged.get(id).map(Vec::as_slice));
        }
        Ok(())
    });
    read.expect("a sound store");
}

fn history(asked: Vec<Asked>) -> Outcome {
    let (mut groups, mut rest) = (Vec::new(), Vec::new());
    for asked in asked {
        match asked {
            Asked::Write(write) => rest.push(write),
            Asked::Commit(row) => {
                let own = words();
                let words = CommitWords {
                    author: row.author.unwrap_or(own.author),
                    time: row.time.unwrap_or(own.time),
                    message: row.message,
                };
                groups.push(Group { writes: std::mem::take(&mut rest), words, skip_empty: false });
            }
        }
    }
    // The memory at each commit; the first that has what was there before is refused.
    let mut states = vec![START.head.clone()];
    let mut ours = BTreeSet::new();
    for group in &groups {
        let versions = versions(&group.writes);
        states.push(after(&[&states[states.len() - 1]], &versions));
        ours.extend(versions.into_iter().map(|(id, _)| id));
    }
    let empty = states.windows(2).position(|pair| pair[0] == pair[1]);
    let head = states[states.len() - 1].clone();

    let disk = MemoryDisk::new(START.files.clone());
    let (words, last): (Vec<_>, _) = (groups.iter().map(|group| group.words.clone()).collect(), versions(&rest));
    let report = match (ops::batch(&disk.store(), &SessionName::default(), groups, rest), empty) {
        (Ok(report), None) => report,
        (Err(OpError::EmptyGroup(at)), Some(empty)) => {
            assert_eq!(at, empty);
            assert!(*disk.files() == START.files, "something was done");
            return Outcome::Empty;
        }
        (report, empty) => panic!("{report:?}, {empty:?}"),
    };
    assert!(report.warning.is_none());
    tells(&report.staged, &last, &head);
    assert_eq!(report.commits.len(), words.len());
    for ((entry, words), pair) in report.commits.iter().zip(&words).zip(states.windows(2)) {
        let (commit, changes) = (&entry.commit, entry.commit.changes);
        assert_eq!((&commit.author, commit.time, &commit.message), (&words.author, words.time, &words.message));
        let missing = |one: &Nodes, other: &Nodes| one.keys().filter(|id| !other.contains_key(*id)).count() as u64;
        let other = pair[1].iter().filter(|(id, bytes)| pair[0].get(*id).is_some_and(|old| old != *bytes)).count();
        let counts = (missing(&pair[1], &pair[0]), other as u64, missing(&pair[0], &pair[1]));
        assert_eq!((changes.added, changes.modified, changes.removed), counts);
        assert_eq!(commit.count, pair[1].len() as u64);
    }
    let ids = report.commits.iter().map(|entry| entry.commit.id.to_string());
    let commits: Vec<_> = ids.zip(states.into_iter().skip(1)).collect();

    // What was staged before stays so, unless a commit took it.
    let mut staged = head.clone();
    for id in START.staged.keys().chain(START.head.keys()).filter(|id| !ours.contains(*id)) {
        staged = after(&[&staged], &[(id.clone(), START.staged.get(id).cloned())]);
    }
    stands(&disk, &commits, &head, &after(&[&head, &staged], &last));
    if commits.is_empty() { Outcome::Staged } else { Outcome::Committed }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus;

    #[test]
    fn the_corpus_comes_upon_every_outcome() {
        let outcomes: BTreeSet<_> = corpus("put_jsonl").iter().filter_map(|(_, input)| outcome(input)).collect();
        assert_eq!(outcomes, [Outcome::Rows, Outcome::Empty, Outcome::Staged, Outcome::Committed].into());
    }
}
