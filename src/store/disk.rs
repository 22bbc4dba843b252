//! Where the files of a store lie: the file system, or a simulation of it that fails and crashes at will.

use super::StoreError;
use super::discover::{DATABASE_FILE, open_database_file};
use super::init::STAGED_DIRECTORY;
use super::staged::{LogError, LogFile, LogView, StagedLog};
use crate::model::SessionName;
use redb::StorageBackend;
use redb::backends::FileBackend;
use std::fmt::Debug;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The files of one store.
pub trait Disk: Clone + Debug + Send + 'static {
    /// The database file, opened.
    type Database: StorageBackend;
    /// A session's log, opened.
    type Log: LogFile;

    /// The `.mnemosyne` directory, for messages.
    fn directory(&self) -> &Path;

    /// Opens the database, and never creates it.
    fn open_database(&self, write: bool) -> Result<Self::Database, StoreError>;

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

    fn staged(&self) -> PathBuf {
        self.directory.join(STAGED_DIRECTORY)
    }
}

impl Disk for Files {
    type Database = FileBackend;
    type Log = super::staged::DiskFile;

    fn directory(&self) -> &Path {
        &self.directory
    }

    fn open_database(&self, write: bool) -> Result<FileBackend, StoreError> {
        let file: File = open_database_file(&self.database_path(), write)?;
        Ok(FileBackend::new(file)?)
    }

    fn logs(&self) -> Result<Vec<SessionName>, LogError> {
        let path = self.staged();
        let failed = |source| LogError::Io { action: "reading", path: path.clone(), source };
        let mut found = Vec::new();
        let entries = match std::fs::read_dir(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(found),
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
