//! What a program is to run against: a revision of the store, or a private copy.

use super::OpError;
use crate::graph::{Doubt, Revision, resolve};
use crate::model::SessionName;
use crate::object::CommitId;
use crate::store::{Copying, Disk, Extent, STORE_DIRECTORY, Scratch, Store, copy};
use std::path::{Path, PathBuf};

/// The commit that a revision names now, and what the name stands for beside it.
pub fn pin<D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    revision: &Revision,
) -> Result<(CommitId, Option<Doubt>), OpError> {
    store.read(session, |view| {
        let resolved = resolve(view, revision)?;
        Ok::<_, OpError>((view.tables.commit_id(resolved.number)?, resolved.doubt))
    })
}

/// Which private copy to make.
pub struct ScratchRequest<'a> {
    /// Where its session stands.
    pub revision: &'a Revision,
    /// How much is copied.
    pub extent: Extent,
    /// The temporary directory.
    pub temporary: &'a Path,
    /// Asked again and again whether to go on.
    pub go_on: &'a dyn Fn() -> bool,
}

/// A private copy of a store.
#[derive(Debug)]
pub struct ScratchReport {
    /// The directory that is removed with it.
    pub scratch: Scratch,
    /// What the revision stands for beside what was taken.
    pub doubt: Option<Doubt>,
}

impl ScratchReport {
    /// The copy itself.
    pub fn store(&self) -> PathBuf {
        self.scratch.path().join(STORE_DIRECTORY)
    }
}

/// Makes a private copy of the store; `None` where it was told to stop, and then nothing is left of it.
pub fn scratch<D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    request: &ScratchRequest<'_>,
) -> Result<Option<ScratchReport>, OpError> {
    let &ScratchRequest { extent, go_on, .. } = request;
    store.read(session, |view| {
        let resolved = resolve(view, request.revision)?;
        let scratch = Scratch::create(request.temporary)?;
        let report = ScratchReport { scratch, doubt: resolved.doubt };
        let copied = copy(view, &Copying { at: resolved.number, extent, go_on }, &report.store())?;
        Ok::<_, OpError>(copied.then_some(report))
    })
}
