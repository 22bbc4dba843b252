//! Where HEAD and refs have been.

use super::OpError;
use crate::graph::{Doubt, Revision, ref_log};
use crate::model::{CommitTime, SessionName};
use crate::object::CommitId;
use crate::store::{Disk, Store};

/// A movement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The commit before; `None` where there was none.
    pub old: Option<CommitId>,
    /// The commit after; `None` where the ref was deleted, or HEAD went to a branch without commits.
    pub new: Option<CommitId>,
    /// When.
    pub time: CommitTime,
    /// Which command did it.
    pub reason: String,
}

/// What [`reflog`] found.
#[derive(Clone, Debug)]
pub struct ReflogReport {
    /// `HEAD`, or the full name of the ref.
    pub name: String,
    /// The movements, the newest first.
    pub moved: Vec<Moved>,
    /// What the name stands for beside what was taken.
    pub doubt: Option<Doubt>,
}

/// Tells the last movements of HEAD or of a ref, also of one that was deleted; at most `limit` of them.
pub fn reflog<D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    of: &Revision,
    limit: Option<usize>,
) -> Result<ReflogReport, OpError> {
    store.read(session, |view| {
        let log = ref_log(view, of)?;
        let id = |number: Option<_>| number.map(|number| view.tables.commit_id(number)).transpose();
        let newest = log.updates.into_iter().take(limit.unwrap_or(usize::MAX));
        let moved = newest.map(|update| {
            let (old, new) = (id(update.old)?, id(update.new)?);
            Ok(Moved { old, new, time: update.time, reason: update.reason })
        });
        let moved = moved.collect::<Result<_, OpError>>()?;
        Ok::<_, OpError>(ReflogReport { name: log.name, moved, doubt: log.doubt })
    })
}
