//! Nodes as they stand, or as they were.

use super::OpError;
use crate::graph::{Doubt, Memory, Revision};
use crate::model::{NodeId, SessionName};
use crate::object::Kept;
use crate::store::Disk;
use crate::store::Store;

/// The nodes of these ids or what is left of them, `None` where one is absent: at `revision`, or in HEAD with the session's staged changes.
///
/// Tells what the name of the revision stands for beside what was taken.
pub fn get<D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    revision: Option<&Revision>,
    ids: &[NodeId],
) -> Result<(Vec<Option<Kept>>, Option<Doubt>), OpError> {
    store.read(session, |view| {
        let memory = Memory::at(view, revision)?;
        let node = |id| Ok(memory.kept(id)?);
        let found = ids.iter().map(node).collect::<Result<_, OpError>>()?;
        Ok((found, memory.doubt.clone()))
    })
}
