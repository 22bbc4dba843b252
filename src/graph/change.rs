//! What differs between two memories, node by node.

use super::Memory;
use crate::model::{Content, NodeId, Pattern, Provenance};
use crate::object::{Effect, Kept, Leaf, Link, diff, get};
use crate::store::{Access, StoreError, Tables};
use std::collections::BTreeMap;

/// A node that differs between two memories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The node before.
    pub old: Option<Kept>,
    /// The node after.
    pub new: Option<Kept>,
}

/// A part of a node that can differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// What the agent wrote.
    Content,
    /// How it came to exist.
    Provenance,
    /// When the belief was formed.
    EventTime,
}

impl Changed {
    /// Whose node it is.
    pub fn id(&self) -> &NodeId {
        let node = self.new.as_ref().or(self.old.as_ref());
        node.expect("a change has a node before or after").id()
    }

    /// What became of it.
    pub fn effect(&self) -> Effect {
        match (&self.old, &self.new) {
            (None, _) => Effect::Added,
            (_, None) => Effect::Removed,
            (Some(_), Some(_)) => Effect::Modified,
        }
    }

    /// The contents before and after, where there are any that can be read.
    pub fn contents(&self) -> (Option<&Content>, Option<&Content>) {
        (self.old.as_ref().and_then(Kept::content), self.new.as_ref().and_then(Kept::content))
    }

    /// What differs; of a node that is only on one side, or of which the other can not be read, what it has.
    pub fn fields(&self) -> Vec<Field> {
        let none = Provenance::default();
        let provenance =
            |kept: &Option<Kept>| kept.as_ref().and_then(Kept::provenance).map_or(none.clone(), Provenance::clone);
        let event_time = |kept: &Option<Kept>| kept.as_ref().and_then(Kept::event_time).cloned();
        let (old, new) = self.contents();
        let differs = [
            (Field::Content, old != new),
            (Field::Provenance, provenance(&self.old) != provenance(&self.new)),
            (Field::EventTime, event_time(&self.old) != event_time(&self.new)),
        ];
        differs.into_iter().filter(|(_, differs)| *differs).map(|(field, _)| field).collect()
    }
}

/// What differs between the states below two roots, in the order of the ids; only nodes that `patterns` choose, all
/// where there is none. Reads follow what differs; where every pattern is one id, the depth of the states.
pub fn changed<A: Access>(
    tables: &Tables<A>,
    old: Option<Link>,
    new: Option<Link>,
    patterns: &[Pattern],
) -> Result<Vec<Changed>, StoreError> {
    let node = |leaf: Option<Leaf>| leaf.map(|(number, object)| tables.kept(number, object)).transpose();
    let mut found = BTreeMap::new();
    let exact: Option<Vec<_>> = patterns.iter().map(Pattern::exact).collect();
    match exact {
        Some(ids) if !ids.is_empty() => {
            for id in ids {
                let (old, new) = (get(tables, old, id)?, get(tables, new, id)?);
                if old.map(|(_, object)| object) != new.map(|(_, object)| object) {
                    found.insert(id.clone(), Changed { old: node(old)?, new: node(new)? });
                }
            }
        }
        Some(_) | None => diff(tables, old, new, |old, new| {
            let changed = Changed { old: node(old)?, new: node(new)? };
            if Pattern::choose(patterns, changed.id().as_str()) {
                found.insert(changed.id().clone(), changed);
            }
            Ok::<_, StoreError>(())
        })?,
    }
    Ok(found.into_values().collect())
}

/// What differs between the state below `old` and a memory, as [`changed`] tells it; staged changes count.
pub fn changed_in_memory<A: Access>(
    old: Option<Link>,
    memory: &Memory<'_, '_, A>,
    patterns: &[Pattern],
) -> Result<Vec<Changed>, StoreError> {
    let tables = memory.tables();
    let found = changed(tables, old, memory.root(), patterns)?;
    let staged = memory.staged(patterns)?;
    if staged.is_empty() {
        return Ok(found);
    }
    let mut found: BTreeMap<_, _> = found.into_iter().map(|changed| (changed.id().clone(), changed)).collect();
    for (id, held) in staged {
        let old = get(tables, old, &id)?.map(|(number, object)| tables.kept(number, object)).transpose()?;
        let new = held.map(|held| held.kept(tables)).transpose()?;
        if old.as_ref().map(Kept::object_id) == new.as_ref().map(Kept::object_id) {
            found.remove(&id);
        } else {
            found.insert(id, Changed { old, new });
        }
    }
    Ok(found.into_values().collect())
}
