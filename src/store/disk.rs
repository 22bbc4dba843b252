//! Where the files of a store lie: the file system, or a simulation of it that fails and crashes at will.

use super::StoreError;
use super::discover::{DATABASE_FILE, open_database_file};
use super::init::{STAGED_DIRECTORY, sync_directory};
use super::staged::{LogError, LogFile, LogView, StagedLog, create_private};
use crate::model::SessionName;
use redb::StorageBackend;
use redb::backends::FileBackend;
use std::fmt::Debug;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Which file it is that a name leads to, however it is called later: device and number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileId(pub u64, pub u64);

/// A file that was opened, and which one it is.
#[derive(Debug)]
pub struct Opened<F> {
    /// The file.
    pub file: F,
    /// Which one.
    pub id: FileId,
}

/// The files of one store.
pub trait Disk: Clone + Debug + Send + 'static {
    /// The database file, opened.
    type Database: StorageBackend;
    /// A session's log, opened.
    type Log: LogFile;

    /// The `.mnemosyne` directory, for messages.
    fn directory(&self) -> &Path;

    /// Opens the database, and never creates it.
    fn open_database(&self, write: bool) -> Result<Opened<Self::Database>, StoreError>;

    /// Which file the name of the database leads to now.
    fn database_id(&self) -> Result<FileId, StoreError>;

    /// How many bytes the database has.
    fn database_bytes(&self) -> Result<u64, StoreError>;

    /// Makes an empty file that is to take the place of the database, also in place of one that a killed process left.
    fn create_successor(&self) -> Result<Self::Database, StoreError>;

    /// Gives the successor the name of the database: durable, with all that was written to it, when this returns.
    fn install_successor(&self) -> Result<(), StoreError>;

    /// Removes the successor, if there is one: also one that a killed process left.
    fn remove_successor(&self) -> Result<(), StoreError>;

    /// The sessions that have a log, in the order of their names.
    fn logs(&self) -> Result<Vec<SessionName>, LogError>;

    /// Whether the session has a log.
    fn has_log(&self, session: &SessionName) -> bool;

    /// Opens the session's log for writing, creates it if need be, and locks it.
    fn lock_log(&self, session: &SessionName, wait: Duration) -> Result<StagedLog<Self::Log>, LogError>;

    /// Reads the session's log, under a shared lock where `wait` says how long to wait for it.
    fn read_log(&self, session: &SessionName, wait: Option<Duration>) -> Result<LogView, LogError>;
}

/// The files in a `.mnemosyne` directory.
#[derive(Clone, Debug)]
pub struct Files {
    directory: PathBuf,
}

impl Files {
    /// The files in `directory`, which discovery has checked.
    pub fn new(directory: PathBuf) -> Self {
        Self { directory }
    }

    /// The database file.
    pub fn database_path(&self) -> PathBuf {
        self.directory.join(DATABASE_FILE)
    }

    /// Where the file is built that is to be the database.
    fn successor_path(&self) -> PathBuf {
        self.directory.join(format!("{DATABASE_FILE}.new"))
    }

    fn staged(&self) -> PathBuf {
        self.directory.join(STAGED_DIRECTORY)
    }
}

/// Says on what the system refused; for `map_err`.
fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> StoreError {
    move |source| StoreError::Io { action, path: path.to_owned(), source }
}

fn remove_if_there(path: &Path) -> Result<(), StoreError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(failed("removing", path)),
    }
}

impl Disk for Files {
    type Database = FileBackend;
    type Log = super::staged::DiskFile;

    fn directory(&self) -> &Path {
        &self.directory
    }

    fn open_database(&self, write: bool) -> Result<Opened<FileBackend>, StoreError> {
        let path = self.database_path();
        let file: File = open_database_file(&path, write)?;
        let metadata = file.metadata().map_err(failed("looking at", &path))?;
        Ok(Opened { id: FileId(metadata.dev(), metadata.ino()), file: FileBackend::new(file)? })
    }

    fn database_id(&self) -> Result<FileId, StoreError> {
        let path = self.database_path();
        let metadata = fs::symlink_metadata(&path).map_err(failed("looking at", &path))?;
        Ok(FileId(metadata.dev(), metadata.ino()))
    }

    fn database_bytes(&self) -> Result<u64, StoreError> {
        let path = self.database_path();
        Ok(fs::symlink_metadata(&path).map_err(failed("looking at", &path))?.len())
    }

    fn create_successor(&self) -> Result<FileBackend, StoreError> {
        let path = self.successor_path();
        self.remove_successor()?;
        Ok(FileBackend::new(create_private(&path).map_err(failed("creating", &path))?)?)
    }

    fn install_successor(&self) -> Result<(), StoreError> {
        let path = self.successor_path();
        let synced = File::open(&path).and_then(|file| file.sync_all());
        synced.map_err(failed("syncing", &path))?;
        fs::rename(&path, self.database_path()).map_err(failed("renaming", &path))?;
        sync_directory(&self.directory)
    }

    fn remove_successor(&self) -> Result<(), StoreError> {
        remove_if_there(&self.successor_path())
    }

    fn logs(&self) -> Result<Vec<SessionName>, LogError> {
        let path = self.staged();
        let failed = |source| LogError::Io { action: "reading", path: path.clone(), source };
        let mut found = Vec::new();
        let entries = match fs::read_dir(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
            entries => entries.map_err(failed)?,
        };
        for entry in entries {
            // What is no session's name is the successor of a log, or nothing of ours.
            let name = entry.map_err(failed)?.file_name();
            found.extend(name.to_str().and_then(|name| SessionName::new(name).ok()));
        }
        found.sort();
        Ok(found)
    }

    fn has_log(&self, session: &SessionName) -> bool {
        self.staged().join(session.as_str()).exists()
    }

    fn lock_log(&self, session: &SessionName, wait: Duration) -> Result<StagedLog, LogError> {
        StagedLog::open(&self.staged(), session, wait)
    }

    fn read_log(&self, session: &SessionName, wait: Option<Duration>) -> Result<LogView, LogError> {
        match wait {
            None => LogView::read(&self.staged(), session),
            Some(wait) => LogView::read_locked(&self.staged(), session, wait),
        }
    }
}
