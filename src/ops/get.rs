//! Nodes as they stand, or as they were.

use super::OpError;
use crate::graph::{Memory, Revision};
use crate::model::{Node, NodeId, SessionName};
use crate::store::Disk;
use crate::store::Store;

/// The nodes of these ids, `None` where one is absent: at `revision`, or in HEAD with the session's staged changes.
///
/// Says which branch name is the prefix of a commit id too.
pub fn get<D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    revision: Option<&Revision>,
    ids: &[NodeId],
) -> Result<(Vec<Option<Node>>, Option<String>), OpError> {
    store.read(session, |view| {
        let memory = Memory::at(view, revision)?;
        let node = |id| Ok(memory.node(id)?);
        let found = ids.iter().map(node).collect::<Result<_, OpError>>()?;
        Ok((found, memory.also_prefix.clone()))
    })
}
