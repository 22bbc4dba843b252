//! The commits that changed nodes, from the history index.

use super::{Ends, Reach, Walk, versions};
use crate::model::Pattern;
use crate::object::{Source, diff};
use crate::store::{Access, CommitRecord, Number, StoreError, Tables};
use std::collections::BTreeSet;

/// Yields the commits that wrote a new record for a node that one of `patterns` chooses, or lack it where every parent has
/// it, the highest number first. Reads the rows of these nodes, and of commits only those that have one.
pub fn changed_by_record<'a, A: Access>(
    tables: &'a Tables<A>,
    ends: &Ends,
    patterns: &[Pattern],
) -> Result<impl Iterator<Item = Result<(Number, CommitRecord), StoreError>> + use<'a, A>, StoreError> {
    let mut wanted = Reach::of_commits(tables, &ends.starts)?;
    let mut left_out = Reach::of_commits(tables, &ends.without)?;
    let changed = changed_commits(tables, &ends.starts, patterns)?;
    Ok(changed.into_iter().rev().filter_map(move |number| {
        let checked = tables.commit(number).and_then(|commit| {
            let place = commit.place;
            Ok((wanted.contains(tables, place)? && !left_out.contains(tables, place)?, commit))
        });
        match checked {
            Ok((true, commit)) => Some(Ok((number, commit))),
            Ok((false, _)) => None,
            Err(error) => Some(Err(error)),
        }
    }))
}

/// Yields the commits whose state differs from that of their first parent in a node that one of `patterns` chooses, the
/// highest number first. Reads every commit of the walk.
pub fn changed_on_first_parent<'a, A: Access>(
    tables: &'a Tables<A>,
    ends: Ends,
    first_parent: bool,
    patterns: &'a [Pattern],
) -> Result<impl Iterator<Item = Result<(Number, CommitRecord), StoreError>> + 'a, StoreError> {
    let changed = changed_commits(tables, &ends.starts, patterns)?;
    Ok(Walk::new(tables, ends.starts, ends.without, first_parent).filter_map(move |step| {
        let keep = step.as_ref().map_or(Ok(true), |(number, commit)| {
            differs_from_first_parent(tables, *number, commit, &changed, patterns)
        });
        keep.map_or_else(|error| Some(Err(error)), |keep| if keep { Some(step) } else { None })
    }))
}

/// The commits with a row of such a node in the history index, whether they are ancestors of `starts` or not.
pub fn changed_commits<A: Access>(
    tables: &Tables<A>,
    starts: &[Number],
    patterns: &[Pattern],
) -> Result<BTreeSet<Number>, StoreError> {
    let mut changed = BTreeSet::new();
    for pattern in patterns {
        match pattern.exact() {
            Some(id) => changed.extend(versions(tables, id, starts)?),
            None => {
                let mut ids = Vec::new();
                tables.ids_below(pattern.literal_prefix(), |id| {
                    if pattern.matches(id.as_str()) {
                        ids.push(id);
                    }
                })?;
                for id in ids {
                    changed.extend(versions(tables, &id, starts)?);
                }
            }
        }
    }
    Ok(changed)
}

/// Whether a commit changed such a node against its first parent. A merge that took another side's node wrote no record
/// of its own, so for a merge the states are compared.
pub fn differs_from_first_parent<A: Access>(
    tables: &Tables<A>,
    number: Number,
    commit: &CommitRecord,
    changed: &BTreeSet<Number>,
    patterns: &[Pattern],
) -> Result<bool, StoreError> {
    if commit.parents.len() < 2 {
        return Ok(changed.contains(&number));
    }
    let mut found = false;
    let old = tables.root(commit.parents.first().copied())?;
    diff(tables, old, commit.root.link(), |old, new| {
        if let Some((number, object)) = new.or(old) {
            let id = tables.node_id(number, object)?;
            found = found || patterns.iter().any(|pattern| pattern.matches(id.as_str()));
        }
        Ok::<_, StoreError>(())
    })?;
    Ok(found)
}
