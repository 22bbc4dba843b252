//! Where two histories part.

use super::OpError;
use crate::graph::{Doubt, Reach, Resolved, Revision, merge_bases, resolve};
use crate::model::SessionName;
use crate::object::CommitId;
use crate::store::{Disk, Store};

/// The best common ancestors of two commits: those that are ancestors of both and of no other such; and what the names
/// stand for beside what was taken.
pub fn merge_base<D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    one: &Revision,
    other: &Revision,
) -> Result<(Vec<CommitId>, Vec<Doubt>), OpError> {
    store.read(session, |view| {
        let (one, other) = (resolve(view, one)?, resolve(view, other)?);
        let bases = merge_bases(view.tables, one.number, other.number)?;
        let ids = bases.into_iter().map(|base| view.tables.commit_id(base)).collect::<Result<_, _>>()?;
        Ok::<_, OpError>((ids, doubts(one, other)))
    })
}

/// Whether `one` is an ancestor of `other`: the commit itself, or an ancestor of one of its parents.
pub fn is_ancestor<D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    one: &Revision,
    other: &Revision,
) -> Result<(bool, Vec<Doubt>), OpError> {
    store.read(session, |view| {
        let (one, other) = (resolve(view, one)?, resolve(view, other)?);
        let place = |number| Ok::<_, OpError>(view.tables.commit(number)?.place);
        let is_ancestor = Reach::of([place(other.number)?]).contains(view.tables, place(one.number)?)?;
        Ok::<_, OpError>((is_ancestor, doubts(one, other)))
    })
}

fn doubts(one: Resolved, other: Resolved) -> Vec<Doubt> {
    one.doubt.into_iter().chain(other.doubt).collect()
}
