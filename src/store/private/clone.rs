//! Copies of a private copy, for who runs one program many times.

use super::super::discover::DATABASE_FILE;
use super::super::init::build_directory;
use super::super::record::Head;
use super::super::{Number, Store, StoreError};
use super::copy::stand;
use crate::model::SessionName;
use std::path::Path;
use std::time::Duration;

/// Makes a store at `to`, where nothing may be, of the private copy at `from`, which nobody has open, and lets its sessions
/// stand at `at`. Shares the blocks of the file where the file system can.
pub fn clone_at(from: &Path, to: &Path, name: &SessionName, at: Number) -> Result<Store, StoreError> {
    build_directory(to)?;
    let (file, clone) = (from.join(DATABASE_FILE), to.join(DATABASE_FILE));
    std::fs::copy(&file, &clone).map_err(|source| StoreError::Io { action: "copying", path: file, source })?;
    // Nobody else has it: what there is to wait for is a slow disk, and none is that slow.
    let store = Store::new(to.to_owned(), Duration::from_secs(60));
    let snapshot = store.snapshot()?;
    let (_, closed) = store.write(snapshot, |tables| -> Result<_, StoreError> {
        let row = tables.session(name)?;
        let mut session = row.ok_or_else(|| StoreError::corrupt(format!("the copy has no session '{name}'")))?;
        let old = tables.head_commit(&session.head)?;
        session.head = Head::Detached(at);
        stand(tables, name, &session, old, at)
    })?;
    closed.map_or(Ok(store), Err)
}
