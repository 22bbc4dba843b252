//! The versions of a node, by the history index, held against the states.

use crate::model::NodeId;
use crate::object::get;
use crate::store::{Access, Number, StoreError, Tables};

/// The commits that wrote a new record for `id` or lack it where every parent has it, newest first.
///
/// The index tells itself that a row is missing between two others. Whether the newest is there is told by the states at
/// `starts`: one that has the node has it by a commit of the index. One that lacks it came after a commit that lacks it,
/// which is only looked at where no merge is between, for a merge may have left the node out.
pub fn versions<A: Access>(tables: &Tables<A>, id: &NodeId, starts: &[Number]) -> Result<Vec<Number>, StoreError> {
    let versions = tables.versions(id)?;
    let missing = || StoreError::corrupt(format!("the newest row of the history of '{id}' is missing"));
    for &start in starts {
        let there = match get(tables, tables.root(Some(start))?, id)? {
            Some((number, _)) => versions.contains(&tables.commit_that_wrote(number)?.0),
            None => is_gone(tables, id, start, &versions)?,
        };
        if !there {
            return Err(missing());
        }
    }
    Ok(versions)
}

/// Whether the newest of `versions` in the chain of `start` lacks the node, as `start` does; true where merges are between.
fn is_gone<A: Access>(tables: &Tables<A>, id: &NodeId, start: Number, versions: &[Number]) -> Result<bool, StoreError> {
    let end = tables.commit(start)?.place;
    for &number in versions.iter().filter(|&&number| number <= start) {
        let place = tables.commit(number)?.place;
        if place.chain != end.chain {
            continue;
        }
        let alone = place.position == end.position
            || tables.chain_parents(place.chain, place.position + 1..=end.position)?.is_empty();
        return Ok(!alone || get(tables, tables.root(Some(number))?, id)?.is_none());
    }
    Ok(true)
}
