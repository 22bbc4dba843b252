//! Nodes as they stand, or as they were.

use super::OpError;
use crate::graph::{Revision, resolve};
use crate::model::{Node, NodeId, SessionName};
use crate::object::{decode_node, get as lookup};
use crate::store::{Disk, Store, StoreError};

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
        let mut also_prefix = None;
        let commit = match revision {
            Some(revision) => {
                let resolved = resolve(view.tables, &view.head, revision)?;
                also_prefix = resolved.also_prefix;
                Some(resolved.number)
            }
            None => view.head_commit()?,
        };
        let root = view.tables.root(commit)?;
        let mut found = Vec::with_capacity(ids.len());
        for id in ids {
            let staged = if revision.is_none() { view.find(id)? } else { None };
            found.push(match staged {
                Some(change) => match change.node {
                    Some(bytes) => Some(
                        decode_node(bytes)
                            .map_err(|error| StoreError::decode(format!("the staged node '{id}'"), error))?,
                    ),
                    None => None,
                },
                None => match lookup(view.tables, root, id)? {
                    Some((number, object)) => Some(view.tables.node(number, object)?),
                    None => None,
                },
            });
        }
        Ok((found, also_prefix))
    })
}
