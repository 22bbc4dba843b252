//! Which nodes a removal is about.

use super::OpError;
use crate::graph::Memory;
use crate::model::{NodeId, Pattern, SessionName};
use crate::store::{Disk, Store};

/// The ids that match, in HEAD with what is staged.
pub fn matching<D: Disk>(store: &Store<D>, session: &SessionName, pattern: &Pattern) -> Result<Vec<NodeId>, OpError> {
    store.read(session, |view| {
        let found = Memory::at(view, None)?.select(std::slice::from_ref(pattern))?;
        Ok(found.into_keys().collect())
    })
}

/// Those of `ids` that are there, in HEAD with what is staged.
pub fn present<D: Disk>(store: &Store<D>, session: &SessionName, ids: &[NodeId]) -> Result<Vec<NodeId>, OpError> {
    store.read(session, |view| {
        let memory = Memory::at(view, None)?;
        let mut found = Vec::new();
        for id in ids {
            if memory.find(id)?.is_some() {
                found.push(id.clone());
            }
        }
        Ok(found)
    })
}
