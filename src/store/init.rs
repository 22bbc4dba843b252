//! Creating a store.

use super::StoreError;
use super::discover::{DATABASE_FILE, STORE_DIRECTORY};
use super::record::{Head, Session};
use super::rows::Writing;
use super::tables::Tables;
use crate::model::{BranchName, SessionName};
use redb::StorageBackend;
use redb::backends::FileBackend;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The directory of the staged logs.
pub const STAGED_DIRECTORY: &str = "staged";

/// Whether a store had to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Created {
    /// It is new.
    New,
    /// It was there.
    Existing,
}

/// Creates a store at `store`, unless one is there: built beside, synced, renamed into place.
///
/// A kill leaves at most a directory `.mnemosyne-new-…` beside, which blocks nothing.
pub fn init(store: &Path, branch: &BranchName) -> Result<Created, StoreError> {
    let parent = store.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if exists(store)? {
        return existing(parent);
    }
    let failed = |action, path: &Path| {
        let path = path.to_owned();
        move |source| StoreError::Io { action, path, source }
    };
    create_directories(parent)?;
    let building = tempfile::Builder::new()
        .prefix(&format!("{STORE_DIRECTORY}-new-"))
        .tempdir_in(parent)
        .map_err(failed("creating a directory in", parent))?;
    std::fs::set_permissions(building.path(), std::fs::Permissions::from_mode(0o700))
        .map_err(failed("setting the mode of", building.path()))?;
    prepare(building.path())?;
    build(building.path(), |tables| begin(tables, branch))?;
    match std::fs::rename(building.path(), store) {
        Ok(()) => {
            // It is in place now: nothing is left to be removed.
            let _moved = building.keep();
            sync_directory(parent)?;
            Ok(Created::New)
        }
        Err(error) if matches!(error.kind(), io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::AlreadyExists) => {
            existing(parent)
        }
        Err(error) => Err(failed("renaming to", store)(error)),
    }
}

/// A store that is there. Whoever made it may have died before its name was synced.
fn existing(parent: &Path) -> Result<Created, StoreError> {
    sync_directory(parent)?;
    Ok(Created::Existing)
}

/// Whether something stands in the place of the store; what is no directory is refused.
fn exists(store: &Path) -> Result<bool, StoreError> {
    match std::fs::symlink_metadata(store) {
        Ok(metadata) if metadata.is_dir() || metadata.is_symlink() => Ok(true),
        Ok(_) => Err(StoreError::NotADirectory { path: store.to_owned() }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(source) => Err(StoreError::Io { action: "looking for", path: store.to_owned(), source }),
    }
}

/// Makes a directory for a store, of mode 0700 whatever the umask, with all but the database.
pub(super) fn build_directory(directory: &Path) -> Result<(), StoreError> {
    make_private_directory(directory)?;
    prepare(directory)
}

fn make_private_directory(path: &Path) -> Result<(), StoreError> {
    let made = std::fs::DirBuilder::new().mode(0o700).create(path);
    made.and_then(|()| std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700)))
        .map_err(|source| StoreError::Io { action: "creating", path: path.to_owned(), source })
}

/// Makes all of a store but the database.
fn prepare(directory: &Path) -> Result<(), StoreError> {
    let (path, mut ignore) = create(directory, ".gitignore")?;
    let written = ignore.write_all(b"*\n").and_then(|()| ignore.sync_all());
    written.map_err(|source| StoreError::Io { action: "creating", path, source })?;
    let staged = directory.join(STAGED_DIRECTORY);
    make_private_directory(&staged)?;
    sync_directory(&staged)
}

fn create(directory: &Path, name: &str) -> Result<(PathBuf, File), StoreError> {
    let path = directory.join(name);
    let file = File::options().read(true).write(true).create_new(true).mode(0o600).open(&path);
    let file = file.and_then(|file| file.set_permissions(std::fs::Permissions::from_mode(0o600)).map(|()| file));
    match file {
        Ok(file) => Ok((path, file)),
        Err(source) => Err(StoreError::Io { action: "creating", path, source }),
    }
}

/// Makes the database in a directory that has all else, and returns what `fill` does: where that is `false`, the tables
/// stay as they were before it was called.
pub(super) fn build(
    directory: &Path,
    fill: impl FnOnce(&mut Tables<Writing<'_>>) -> Result<bool, StoreError>,
) -> Result<bool, StoreError> {
    let (path, file) = create(directory, DATABASE_FILE)?;
    let failed = |source| StoreError::Io { action: "creating", path: path.clone(), source };
    let synced = file.try_clone().map_err(failed)?;
    let filled = make_tables(FileBackend::new(file)?, fill).map_err(|error| error.at(&path))?;
    synced.sync_all().map_err(failed)?;
    sync_directory(directory)?;
    Ok(filled)
}

/// Makes the database of a new store in what is empty.
#[cfg(feature = "internals")]
pub fn create_tables(file: impl StorageBackend, branch: &BranchName) -> Result<(), StoreError> {
    make_tables(file, |tables| begin(tables, branch)).map(|_| ())
}

/// What a new store begins with.
fn begin(tables: &mut Tables<Writing<'_>>, branch: &BranchName) -> Result<bool, StoreError> {
    let session = Session::at(Head::Branch(branch.ref_name()));
    tables.set_session(&SessionName::default(), &session).map(|()| true)
}

fn make_tables(
    file: impl StorageBackend,
    fill: impl FnOnce(&mut Tables<Writing<'_>>) -> Result<bool, StoreError>,
) -> Result<bool, StoreError> {
    let database = super::open::builder().create_with_backend(file)?;
    let transaction = database.begin_write()?;
    let filled = fill(&mut Tables::create(&transaction)?)?;
    if filled {
        transaction.commit()?;
    } else {
        transaction.abort()?;
    }
    database.close()?;
    Ok(filled)
}

/// Creates `directory` and those above it that are missing, each synced into its parent.
fn create_directories(directory: &Path) -> Result<(), StoreError> {
    if directory.as_os_str().is_empty() || directory.is_dir() {
        return Ok(());
    }
    let parent = directory.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    create_directories(parent)?;
    match std::fs::create_dir(directory) {
        Ok(()) => sync_directory(parent),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && directory.is_dir() => Ok(()),
        Err(source) => Err(StoreError::Io { action: "creating", path: directory.to_owned(), source }),
    }
}

/// Returns when the names in a directory are on the disk.
pub(super) fn sync_directory(directory: &Path) -> Result<(), StoreError> {
    File::open(directory).and_then(|directory| directory.sync_all()).map_err(|source| StoreError::Io {
        action: "syncing",
        path: directory.to_owned(),
        source,
    })
}
