//! One commit and what it changed.

use super::OpError;
use crate::graph::{Changed, Doubt, Entry, Revision, Surroundings, changed, resolve};
use crate::model::{Pattern, SessionName};
use crate::store::{Disk, Store};
use std::collections::BTreeMap;

/// What [`show`] found.
#[derive(Debug)]
pub struct ShowReport {
    /// The commit.
    pub entry: Entry,
    /// What it changed against its first parent, in the order of the ids.
    pub changed: Vec<Changed>,
    /// The ref of the branch on which the session stands.
    pub head_branch: Option<String>,
    /// What the name of the revision stands for beside what was taken.
    pub doubt: Option<Doubt>,
}

/// Tells the commit that `revision` names, and what it changed of the nodes that `patterns` choose, all where there is
/// none.
pub fn show<D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    revision: &Revision,
    patterns: &[Pattern],
) -> Result<ShowReport, OpError> {
    store.read(session, |view| {
        let resolved = resolve(view, revision)?;
        let commit = view.tables.commit(resolved.number)?;
        let parent = view.tables.root(commit.parents.first().copied())?;
        let changed = changed(view.tables, parent, view.tables.root(Some(resolved.number))?, patterns)?;
        let surroundings = Surroundings::new(view.tables, &view.head)?;
        let entry = surroundings.entry(view.tables, resolved.number, commit, &BTreeMap::new())?;
        let head_branch = view.head.branch().map(str::to_owned);
        Ok(ShowReport { entry, changed, head_branch, doubt: resolved.doubt })
    })
}
