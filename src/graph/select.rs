//! The nodes of a state that patterns choose.

use crate::model::{NodeId, Pattern};
use crate::object::{Leaf, Link, Source, get, leaves};
use crate::store::{Access, StoreError, Tables};
use std::collections::BTreeMap;

/// The nodes below `root` whose ids match one of `patterns`, in the order of the ids; all where there is no pattern.
///
/// A pattern with a literal prefix reads only what the history index has below it.
pub fn select<A: Access>(
    tables: &Tables<A>,
    root: Option<Link>,
    patterns: &[Pattern],
) -> Result<BTreeMap<NodeId, Leaf>, StoreError> {
    let mut found = BTreeMap::new();
    if patterns.is_empty() || patterns.iter().any(|pattern| pattern.literal_prefix().is_empty()) {
        leaves(tables, root, |(number, object)| {
            let id = tables.node_id(number, object)?;
            if patterns.is_empty() || patterns.iter().any(|pattern| pattern.matches(id.as_str())) {
                found.insert(id, (number, object));
            }
            Ok::<_, StoreError>(())
        })?;
        return Ok(found);
    }
    for pattern in patterns {
        let mut ids = Vec::new();
        match pattern.exact() {
            Some(id) => ids.push(id.clone()),
            None => tables.ids_below(pattern.literal_prefix(), |id| {
                if pattern.matches(id.as_str()) {
                    ids.push(id);
                }
            })?,
        }
        for id in ids {
            if let Some(leaf) = get(tables, root, &id)? {
                found.insert(id, leaf);
            }
        }
    }
    Ok(found)
}
