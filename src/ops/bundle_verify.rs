//! A bundle that is tried and not taken in.

use super::OpError;
use super::refs::refuse_lacking;
use crate::store::{BundleFile, Disk, Reading, Scratch, Store, Summary, rebuild};
use std::io::{Read, Seek};
use std::path::Path;

/// Builds the memory of each commit of a bundle from scratch, on top of those of its prerequisites, which `store` must
/// have, and compares its id. What is built lies in a directory in `temporary`, and goes at the end.
///
/// A bundle without prerequisites needs no store.
pub fn verify_bundle<D: Disk, R: Read + Seek>(
    store: Option<&Store<D>>,
    bundle: &mut BundleFile<R>,
    summary: &Summary,
    temporary: &Path,
) -> Result<(), OpError> {
    let scratch = Scratch::create(temporary)?;
    match store.filter(|_| !summary.header.prerequisites.is_empty()) {
        None => rebuild::<Reading, R>(bundle, None, scratch.path())?,
        Some(store) => {
            let ((), snapshot) = store.look(|tables| refuse_lacking(tables, bundle.name(), summary))?;
            snapshot.guarded(|tables| Ok::<_, OpError>(rebuild(bundle, Some(tables), scratch.path())?))?;
        }
    }
    Ok(scratch.remove()?)
}
