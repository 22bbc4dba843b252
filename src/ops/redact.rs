//! Taking what nodes said out of a store for good.

use super::OpError;
use crate::model::{NodeId, SessionName};
use crate::store::{Disk, RedactedVersions, Redacting, Store, StoreError};

/// Puts markers in the place of every stored version of the nodes that are named, or that came from a source: in commits of
/// all branches and in what all sessions have staged. No file of the store holds their bytes when this returns.
///
/// Refused as long as another one is to be finished. Returns how many versions of each node were redacted: none where all were
/// before.
pub fn redact<D: Disk>(store: &Store<D>, redacting: &Redacting) -> Result<RedactedVersions, OpError> {
    if let Some(left) = store.look(|tables| tables.redacting())?.0 {
        return Err(OpError::RedactionLeft(Box::new(left)));
    }
    refuse_unknown(store, redacting)?;
    Ok(store.redact(redacting)?)
}

/// Finishes what was interrupted; `None` where there is nothing to be done.
pub fn finish_redaction<D: Disk>(store: &Store<D>) -> Result<Option<RedactedVersions>, OpError> {
    let (left, _) = store.look(|tables| tables.redacting())?;
    Ok(left.map(|redacting| store.finish(&redacting)).transpose()?)
}

/// Refuses nodes of which no version was ever kept, a source from which none came, and a store with a damaged row, which could
/// not be written anew.
fn refuse_unknown<D: Disk>(store: &Store<D>, redacting: &Redacting) -> Result<(), OpError> {
    let mut unknown: Vec<&NodeId> = redacting.ids.iter().collect();
    let mut is_found = false;
    for session in store.sessions()? {
        let staged = staged(store, &session, redacting)?;
        is_found |= staged.iter().any(|(_, is_chosen)| *is_chosen);
        unknown.retain(|id| !staged.iter().any(|(staged, _)| staged == *id));
    }
    let ((known, count), _) = store.look(|tables| {
        let known = unknown.iter().map(|id| Ok(!tables.versions(id)?.is_empty()));
        let known = known.collect::<Result<Vec<_>, StoreError>>()?;
        tables.check_rows()?;
        Ok::<_, StoreError>((known, redacting.count(tables)?.len()))
    })?;
    let unknown: Vec<_> =
        unknown.into_iter().zip(known).filter(|(_, known)| !known).map(|(id, _)| id.clone()).collect();
    match &redacting.source {
        _ if !unknown.is_empty() => Err(OpError::NoNode(unknown)),
        Some(source) if !is_found && count == 0 => Err(OpError::NoSource(source.clone())),
        Some(_) | None => Ok(()),
    }
}

/// The nodes that a session has staged, and whether the request is about what is staged for them.
fn staged<D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    redacting: &Redacting,
) -> Result<Vec<(NodeId, bool)>, OpError> {
    store.read(session, |view| {
        let mut found = Vec::new();
        for (id, change) in view.staged.replay().map_err(StoreError::from)? {
            let Some(node) = change.node else { continue };
            let marker = redacting.marker(node);
            let marker = marker.map_err(|error| StoreError::decode(format!("the staged node '{id}'"), error))?;
            found.push((id, marker.is_some()));
        }
        Ok(found)
    })
}
