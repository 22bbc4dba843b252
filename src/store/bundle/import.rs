//! Commits of a bundle, taken into a store.

use super::super::rows::{Access, Writing};
use super::super::tables::Tables;
use super::super::{CommitWords, StoreError};
use super::file::Refusal;
use super::{BundleError, BundleFile, BundledChange, BundledCommit};
use crate::model::NodeId;
use crate::object::{Commit, CommitId, Link, New, Source, Update, update};
use std::io::{Read, Seek};

/// How many commits were taken in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// Commits that are new.
    pub new: u64,
    /// Commits that were there.
    pub known: u64,
}

impl Tables<Writing<'_>> {
    /// Makes the commits of a bundle, one after the other, as whoever made them first did. A commit that is there is kept
    /// as it is. After an error what was written must not be committed.
    pub fn import_commits<R: Read + Seek>(&mut self, bundle: &mut BundleFile<R>) -> Result<Imported, BundleError> {
        let mut imported = Imported::default();
        bundle.each(|bundled| {
            if self.commit_number(&bundled.id)?.is_some() {
                imported.known += 1;
                return Ok(());
            }
            imported.new += 1;
            self.import_commit(bundled)
        })?;
        Ok(imported)
    }

    fn import_commit(&mut self, bundled: BundledCommit) -> Result<(), Refusal> {
        let BundledCommit { id, commit, changes } = bundled;
        let parents = commit.parents.iter().map(|parent| number(self, parent)).collect::<Result<Vec<_>, _>>()?;
        let update = changed(self, self.root(parents.first().copied())?, id, changes)?;
        let Commit { parents: _, state: _, author, time, message } = commit;
        let (_, made) = self.append_commit(parents, CommitWords { author, time, message }, update)?;
        if made == id { Ok(()) } else { Err(Refusal::of(id, ANOTHER_STATE)) }
    }
}

/// What is wrong with a commit whose changes make another memory than the one that it names.
pub(super) const ANOTHER_STATE: &str = "names another memory than its changes make";

/// A commit on which one of a bundle builds: it is there, as that was looked at before.
fn number<A: Access>(tables: &Tables<A>, id: &CommitId) -> Result<u64, Refusal> {
    let missing = || Refusal::of(*id, "is not here, and commits of the bundle build on it");
    tables.commit_number(id)?.ok_or_else(missing)
}

/// The memory below `root` with the changes of a commit, each of which must be one.
pub(super) fn changed<S: Source<Error = StoreError>>(
    source: &S,
    root: Option<Link>,
    commit: CommitId,
    changes: Vec<BundledChange>,
) -> Result<Update<Vec<u8>>, Refusal> {
    let wanted = changes.len();
    let change = |change| -> (NodeId, _) {
        match change {
            BundledChange::Set { id, object, version } => (id, Some(New { object, payload: version })),
            BundledChange::Removed(id) => (id, None),
        }
    };
    let update = update(source, root, changes.into_iter().map(change).collect())?;
    if update.effects.len() == wanted { Ok(update) } else { Err(Refusal::of(commit, "has a change that is none")) }
}
