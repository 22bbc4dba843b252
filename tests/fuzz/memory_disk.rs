//! A store whose files are in memory and belong to nobody else: locks are free, every name and byte is durable.

use mnemosyne::model::SessionName;
use mnemosyne::store::{Disk, FileId, LogError, LogFile, LogView, Opened, StagedLog, Store, StoreError};
use redb::{
    BackendError, Builder, ConcurrencyMode, Key, ReadTransaction, ReadableDatabase, ReadableTable, StorageBackend,
    TableDefinition,
};
use std::collections::BTreeMap;
use std::io;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

const DIRECTORY: &str = "/memory/.mnemosyne";

/// Longer than anything takes that does not hang.
const PATIENCE: Duration = Duration::from_secs(60);

/// The bytes of the files of a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files {
    pub database: Vec<u8>,
    /// By the names of their sessions, and what is to become one.
    pub logs: BTreeMap<String, Vec<u8>>,
}

/// The disk. Clones are the same disk.
#[derive(Clone, Debug, Default)]
pub struct MemoryDisk(Arc<Mutex<Files>>);

impl MemoryDisk {
    pub fn new(files: Files) -> Self {
        Self(Arc::new(Mutex::new(files)))
    }

    pub fn store(&self) -> Store<Self> {
        Store::on(self.clone(), PATIENCE)
    }

    /// What is on it now.
    pub fn files(&self) -> MutexGuard<'_, Files> {
        self.0.lock().expect("no panic while it is held")
    }
}

fn log_path(session: &SessionName) -> PathBuf {
    Path::new(DIRECTORY).join("staged").join(session.as_str())
}

impl Disk for MemoryDisk {
    type Database = MemoryDatabase;
    type Log = MemoryLog;

    fn directory(&self) -> &Path {
        Path::new(DIRECTORY)
    }

    fn open_database(&self, _: bool) -> Result<Opened<MemoryDatabase>, StoreError> {
        Ok(Opened { file: MemoryDatabase(self.clone()), id: self.database_id()? })
    }

    fn database_id(&self) -> Result<FileId, StoreError> {
        Ok(FileId(0, 0))
    }

    fn database_bytes(&self) -> Result<u64, StoreError> {
        Ok(self.files().database.len() as u64)
    }

    fn create_successor(&self) -> Result<MemoryDatabase, StoreError> {
        unreachable!("no target writes a store anew")
    }

    fn install_successor(&self) -> Result<(), StoreError> {
        unreachable!("no target writes a store anew")
    }

    fn remove_successor(&self) -> Result<(), StoreError> {
        unreachable!("no target writes a store anew")
    }

    fn logs(&self) -> Result<Vec<SessionName>, LogError> {
        Ok(self.files().logs.keys().filter_map(|name| SessionName::new(name).ok()).collect())
    }

    fn has_log(&self, session: &SessionName) -> bool {
        self.files().logs.contains_key(session.as_str())
    }

    fn lock_log(&self, session: &SessionName, _: Duration) -> Result<StagedLog<MemoryLog>, LogError> {
        let is_new = !self.has_log(session);
        let name = session.as_str().to_owned();
        self.files().logs.entry(name.clone()).or_default();
        Ok(StagedLog::over(MemoryLog { disk: self.clone(), name }, log_path(session), is_new))
    }

    fn read_log(&self, session: &SessionName, _: Option<Duration>) -> Result<LogView, LogError> {
        let bytes = self.files().logs.get(session.as_str()).cloned().unwrap_or_default();
        Ok(LogView::unchanging(log_path(session), bytes))
    }
}

/// The database file, opened.
#[derive(Clone, Debug)]
pub struct MemoryDatabase(MemoryDisk);

/// Where a range lies in a file, as far as its places can be told.
fn place(offset: u64, length: usize) -> io::Result<std::ops::Range<usize>> {
    let start = usize::try_from(offset).map_err(io::Error::other)?;
    Ok(start..start.checked_add(length).ok_or(io::ErrorKind::UnexpectedEof)?)
}

impl StorageBackend for MemoryDatabase {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.files().database.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let files = self.0.files();
        let bytes = files.database.get(place(offset, out.len())?).ok_or(io::ErrorKind::UnexpectedEof)?;
        out.copy_from_slice(bytes);
        Ok(())
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.0.files().database.resize(usize::try_from(length).map_err(io::Error::other)?, 0);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let place = place(offset, bytes.len())?;
        let mut files = self.0.files();
        let length = files.database.len().max(place.end);
        files.database.resize(length, 0);
        files.database[place].copy_from_slice(bytes);
        Ok(())
    }

    fn try_lock_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<bool, BackendError> {
        Ok(true)
    }

    fn try_lock_shared_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<bool, BackendError> {
        Ok(true)
    }

    fn lock_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<(), BackendError> {
        Ok(())
    }

    fn lock_shared_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<(), BackendError> {
        Ok(())
    }

    fn unlock_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<(), BackendError> {
        Ok(())
    }

    fn query_lock_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<bool, BackendError> {
        Ok(false)
    }
}

/// A log, opened and locked.
#[derive(Debug)]
pub struct MemoryLog {
    disk: MemoryDisk,
    name: String,
}

impl MemoryLog {
    fn with<T>(&self, edit: impl FnOnce(&mut Vec<u8>) -> T) -> io::Result<T> {
        self.disk.files().logs.get_mut(&self.name).map(edit).ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

impl LogFile for MemoryLog {
    fn read_all(&mut self) -> io::Result<Vec<u8>> {
        self.with(|bytes| bytes.clone())
    }

    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let place = place(offset, bytes.len())?;
        self.with(|file| {
            file.resize(file.len().max(place.end), 0);
            file[place].copy_from_slice(bytes);
        })
    }

    fn set_length(&mut self, length: u64) -> io::Result<()> {
        let length = usize::try_from(length).map_err(io::Error::other)?;
        self.with(|file| file.resize(length, 0))
    }

    fn sync_data(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn sync_directory(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn create_successor(&mut self) -> io::Result<Self> {
        let name = format!(".{}.new", self.name);
        self.disk.files().logs.insert(name.clone(), Vec::new());
        Ok(Self { disk: self.disk.clone(), name })
    }

    fn take_place(&mut self) -> io::Result<()> {
        let name = self.name[1..self.name.len() - ".new".len()].to_owned();
        let mut files = self.disk.files();
        let bytes = files.logs.remove(&self.name).ok_or(io::ErrorKind::NotFound)?;
        files.logs.insert(name.clone(), bytes);
        self.name = name;
        Ok(())
    }

    fn abandon(self) {
        self.disk.files().logs.remove(&self.name);
    }
}

/// The key and the value of each row of each table.
pub type AllRows = BTreeMap<&'static str, Vec<(Vec<u8>, Vec<u8>)>>;

/// Opens databases as the program does.
pub fn builder() -> Builder {
    let mut builder = Builder::new();
    builder.set_concurrency_mode(ConcurrencyMode::MultiWriter);
    builder
}

/// Reads all rows of a database.
pub fn all_rows(disk: &MemoryDisk) -> Result<AllRows, redb::Error> {
    let database = builder().open_read_only_with_backend(disk.open_database(false).expect("a file").file)?;
    let transaction = database.begin_read()?;
    Ok(AllRows::from([
        ("object", rows::<u64>(&transaction, "object")?),
        ("commit", rows::<u64>(&transaction, "commit")?),
        ("hash", rows::<&[u8; 32]>(&transaction, "hash")?),
        ("chain", rows::<(u64, u64)>(&transaction, "chain")?),
        ("history", rows::<&[u8]>(&transaction, "history")?),
        ("ref", rows::<&str>(&transaction, "ref")?),
        ("reflog", rows::<&[u8]>(&transaction, "reflog")?),
        ("session", rows::<&str>(&transaction, "session")?),
        ("setting", rows::<&str>(&transaction, "setting")?),
    ]))
}

/// The key and the value of each row of a table.
type Rows = Vec<(Vec<u8>, Vec<u8>)>;

fn rows<K: Key + 'static>(transaction: &ReadTransaction, name: &'static str) -> Result<Rows, redb::Error> {
    let mut rows = Vec::new();
    for row in transaction.open_table(TableDefinition::<K, &[u8]>::new(name))?.iter()? {
        let (key, value) = row?;
        rows.push((K::as_bytes(&key.value()).as_ref().to_vec(), value.value().to_vec()));
    }
    Ok(rows)
}
