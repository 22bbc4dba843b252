//! Writing a store anew without what nothing names any more.

use super::OpError;
use crate::model::CommitTime;
use crate::store::{Disk, Dropped, Keeping, Store};

/// What [`gc`] did, or would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GcReport {
    /// What is left out.
    pub dropped: Dropped,
    /// The bytes of the database before.
    pub before: u64,
    /// The bytes of the database after; `None` where nothing was done.
    pub after: Option<u64>,
}

/// Leaves out commits that no ref, no session and no update of a ref since `oldest` names, with all that only they have; and
/// updates of refs before that, but for the last one of each. What is left is written into a file as small as it can be.
///
/// Readers go on with what they have; writers wait. With `dry_run` nothing is written.
pub fn gc<D: Disk>(store: &Store<D>, oldest: CommitTime, dry_run: bool) -> Result<GcReport, OpError> {
    let before = store.disk().database_bytes()?;
    if dry_run {
        let dropped = store.look(|tables| {
            let standing = store.standings(tables)?.into_values();
            Ok::<_, OpError>(Keeping::of(tables, standing, oldest)?.dropped)
        })?;
        return Ok(GcReport { dropped: dropped.0, before, after: None });
    }
    // What cannot be written anew is not opened to be written.
    let snapshot = store.look(|tables| tables.check_rows())?.1;
    let dropped = store.rewrite(snapshot, |old, new| {
        let keeping = Keeping::of(old, store.standings(old)?.into_values(), oldest)?;
        keeping.fill(new, old)?;
        Ok::<_, OpError>(keeping.dropped)
    })?;
    Ok(GcReport { dropped, before, after: Some(store.disk().database_bytes()?) })
}
