//! First parents, many at once: within a chain each commit is the first parent of the next, so no commit between is read.

use crate::store::{Access, CommitRecord, Number, Place, StoreError, Tables};

/// The commit from which `count` first parents lead to `number`; `None` where there are fewer.
pub fn back<A: Access>(tables: &Tables<A>, number: Number, count: u64) -> Result<Option<Number>, StoreError> {
    let (mut number, mut count) = (number, count);
    loop {
        let Place { chain, position } = tables.commit(number)?.place;
        if let Some(target) = position.checked_sub(count) {
            return within(tables, chain, (number, position), target).map(Some);
        }
        count -= position + 1;
        match tables.commit(chain)?.parents.first() {
            Some(&parent) => number = parent,
            None => return Ok(None),
        }
    }
}

/// The commit at the position `target` of a chain, at or before the commit `last` of it. Numbers rise with positions, with
/// those of other chains between.
fn within<A: Access>(
    tables: &Tables<A>,
    chain: Number,
    last: (Number, u64),
    target: u64,
) -> Result<Number, StoreError> {
    // The number of a commit before the target or at it, and one that is behind it.
    let (mut low, mut high) = ((chain, 0), last.0);
    if last.1 == target {
        return Ok(last.0);
    }
    while low.1 != target {
        let from = (low.0 + 1).max(low.0 + (high - low.0) / 2);
        match next_of_chain(tables, chain, from, high)? {
            Some(found) if found.1 <= target => low = found,
            Some(_) | None if from > low.0 + 1 => high = from,
            Some(_) | None => return Err(StoreError::corrupt(format!("the chain of commit {chain} has a gap"))),
        }
    }
    Ok(low.0)
}

/// The first commit of a chain with a number of `from` or more and less than `end`, and its position.
fn next_of_chain<A: Access>(
    tables: &Tables<A>,
    chain: Number,
    mut from: Number,
    end: Number,
) -> Result<Option<(Number, u64)>, StoreError> {
    while from < end {
        let (number, commit): (Number, CommitRecord) = tables.commit_that_wrote(from)?;
        if number < end && commit.place.chain == chain {
            return Ok(Some((number, commit.place.position)));
        }
        from = number + 1;
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Author, BranchName, CommitTime, Message};
    use crate::object::update;
    use crate::store::{CommitWords, Store, init};
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use std::time::Duration;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

        /// Against one step after the other, where chains fork, end and lie between one another.
        #[test]
        fn many_steps_lead_where_single_ones_do(picks in prop::collection::vec((0_usize..8, 0_usize..30), 1..60)) {
            let place = tempfile::tempdir().expect("a directory");
            let directory = place.path().join(".mnemosyne");
            init(&directory, &BranchName::new("main").expect("a name")).expect("a store");
            let store = Store::new(directory, Duration::from_secs(10));
            let mut first_parents: BTreeMap<Number, Option<Number>> = BTreeMap::new();
            let mut tips: Vec<Number> = Vec::new();
            let written = store.write(store.snapshot().expect("a snapshot"), |tables| {
                for (at, &(tip, older)) in picks.iter().enumerate() {
                    // Mostly one of a few lines goes on; now and then an older commit is forked.
                    let parent = match older {
                        0 => first_parents.keys().nth(at / 2).copied(),
                        1 => None,
                        _ => tips.get(tip % tips.len().max(1)).copied(),
                    };
                    let words = CommitWords {
                        author: Author::new("Ada").expect("an author"),
                        time: CommitTime::new(0, 0).expect("a time"),
                        message: Message::new(&format!("commit {at}")).expect("a message"),
                    };
                    let made = update(tables, tables.root(parent)?, BTreeMap::new())?;
                    let (number, _) = tables.append_commit(parent.into_iter().collect(), words, made)?;
                    first_parents.insert(number, parent);
                    match tips.iter().position(|&tip| Some(tip) == parent) {
                        Some(at) => tips[at] = number,
                        None => tips.push(number),
                    }
                }
                Ok::<_, StoreError>(())
            });
            written.expect("a history");
            let snapshot = store.snapshot().expect("a snapshot");
            for &start in &tips {
                let (mut expected, mut count) = (Some(start), 0);
                loop {
                    prop_assert_eq!(back(&snapshot, start, count).expect("sound"), expected, "{} back from {}", count, start);
                    let Some(number) = expected else { break };
                    (expected, count) = (first_parents[&number], count + 1);
                }
                prop_assert_eq!(back(&snapshot, start, u64::MAX).expect("sound"), None);
            }
        }
    }
}
