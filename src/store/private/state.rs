//! A copy of the memory at one commit, without the history behind it.

use super::super::record::{ChangeCount, CommitRecord};
use super::super::rows::{Access, Writing};
use super::super::tables::Tables;
use super::super::{Number, StoreError};
use crate::object::{Link, Source, links};

/// Writes the records of a commit's memory under their own numbers, and the commit under its own, as the first one of the
/// store; `false` where it was told to stop.
///
/// What is held in memory is a number a record.
pub fn fill_with_state<A: Access>(
    to: &mut Tables<Writing<'_>>,
    from: &Tables<A>,
    at: Number,
    go_on: &dyn Fn() -> bool,
) -> Result<bool, StoreError> {
    let mut numbers = Vec::new();
    links(from, from.root(Some(at))?, |link| {
        numbers.push(link.number());
        match link {
            Link::Node { number, object } => to.append_history(&from.node_id(number, object)?, at),
            Link::Inner { .. } => Ok(()),
        }
    })?;
    // In the order of the numbers the rows fill their pages.
    numbers.sort_unstable();
    for number in numbers {
        if !go_on() {
            return Ok(false);
        }
        to.object.insert(number, from.object_row(number)?.bytes())?;
    }
    let commit = from.commit(at)?;
    let changes = ChangeCount { added: commit.count, modified: 0, removed: 0 };
    let mut record = CommitRecord { parents: Vec::new(), changes, place: to.extend_chain(at, &[])?, ..commit };
    record.id = record.commit(Vec::new()).id();
    to.commit.insert(at, &record.encode(at))?;
    to.hash.insert(record.id.as_bytes(), &at.to_le_bytes())?;
    to.setting.fill(&from.setting, go_on)
}
