//! Opening the database: every handle goes through here.
//!
//! All handles use redb's multi-writer mode: readers are never refused, a second writer waits. redb's waits have no
//! time-out of their own, so they happen in a thread that is given up when the time is over.

use super::StoreError;
use super::disk::{Disk, Files, Opened};
use super::overlay::open_over;
use super::rows::{Access, Reading, Writing};
use super::tables::Tables;
use redb::{Builder, ConcurrencyMode, Database, DatabaseError, ReadableDatabase, TransactionError, WriteTransaction};
use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

/// The setting that says how long to wait for another writer.
pub const LOCK_TIMEOUT: &str = "lock-timeout";

const CACHE_BYTES: usize = 64 << 20;

/// How long an open may wait even where nothing is to be waited for: a header write takes microseconds.
pub(super) const HEADER_GRACE: Duration = Duration::from_millis(250);

/// How often a read tries to repair and open again before it gives up: beside writers that are killed again and again.
const ATTEMPTS: usize = 100;

/// A store. Holds no file and no lock between calls.
#[derive(Clone, Debug)]
pub struct Store<D = Files> {
    disk: D,
    lock_timeout: Duration,
    read_setting: Option<ReadDuration>,
}

/// Reads a duration as the settings spell it.
pub type ReadDuration = fn(&str) -> Option<Duration>;

/// The memory of a store at one moment: nothing that is written later shows in it.
pub struct Snapshot {
    tables: Tables<Reading>,
    /// Open as long as the tables are, where the file may not be written.
    overlay: Option<Database>,
}

/// An error that may come from damaged bytes.
pub trait MayBeDamage: From<StoreError> {
    /// Whether it does.
    fn is_damage(&self) -> bool;

    /// Names the file or directory on which the system refused, where that is not known yet.
    fn located(self, path: &Path) -> Self;
}

impl MayBeDamage for StoreError {
    fn is_damage(&self) -> bool {
        matches!(self, Self::Corrupt { .. } | Self::UnsupportedFormat { .. } | Self::UnsupportedKind(_))
    }

    fn located(self, path: &Path) -> Self {
        self.at(path)
    }
}

impl std::ops::Deref for Snapshot {
    type Target = Tables<Reading>;

    fn deref(&self) -> &Self::Target {
        &self.tables
    }
}

impl Snapshot {
    /// A snapshot of these tables, with the database where that is an overlay.
    pub(super) fn new(tables: Tables<Reading>, overlay: Option<Database>) -> Self {
        Self { tables, overlay }
    }

    /// Whether it lies over a file that writers may change.
    pub(super) fn is_overlay(&self) -> bool {
        self.overlay.is_some()
    }

    /// Calls `read`; a panic of the database on damaged pages becomes the error that it is.
    pub fn guarded<R, E: From<StoreError>>(&self, read: impl FnOnce(&Tables<Reading>) -> Result<R, E>) -> Result<R, E> {
        guarded(|| read(&self.tables)).unwrap_or_else(|damage| Err(damage.into()))
    }
}

impl Store {
    /// The store in `directory`, which discovery has checked.
    pub fn new(directory: PathBuf, lock_timeout: Duration) -> Self {
        Self::on(Files::new(directory), lock_timeout)
    }
}

impl<D: Disk> Store<D> {
    /// The store whose files `disk` has.
    pub fn on(disk: D, lock_timeout: Duration) -> Self {
        Self { disk, lock_timeout, read_setting: None }
    }

    /// Lets the store's own setting, if there is one, beat the time-out that it was made with.
    pub fn with_setting(self, read: ReadDuration) -> Self {
        Self { read_setting: Some(read), ..self }
    }

    /// Its files.
    pub fn disk(&self) -> &D {
        &self.disk
    }

    /// The `.mnemosyne` directory.
    pub fn directory(&self) -> &Path {
        self.disk.directory()
    }

    /// How long to wait for another writer; zero is not at all.
    pub fn lock_timeout(&self) -> Duration {
        self.lock_timeout
    }

    /// The same with a look at the settings, where these count.
    pub(super) fn patience<A: Access>(&self, tables: &Tables<A>) -> Result<Duration, StoreError> {
        let Some(read) = self.read_setting else { return Ok(self.lock_timeout) };
        Ok(tables.setting(LOCK_TIMEOUT)?.and_then(|text| read(&text)).unwrap_or(self.lock_timeout))
    }

    /// Whether the settings say how long to wait.
    pub(super) fn asks_settings(&self) -> bool {
        self.read_setting.is_some()
    }

    /// Opens a snapshot of the store as it is now.
    pub fn snapshot(&self) -> Result<Snapshot, StoreError> {
        let disk = self.disk.clone();
        self.bounded(self.lock_timeout.max(HEADER_GRACE), move || open_snapshot(&disk))
    }

    /// Opens a snapshot without waiting and without a repair.
    pub(super) fn clean_snapshot(&self) -> Result<Snapshot, StoreError> {
        let disk = self.disk.clone();
        self.bounded(HEADER_GRACE, move || {
            let database = builder().open_read_only_with_backend(disk.open_database(false)?.file)?;
            let transaction = database.begin_read()?;
            Ok(Snapshot { tables: Tables::open(&transaction)?, overlay: None })
        })
    }

    /// Calls `write` in the one write transaction of a command, then commits; an error leaves all as it was.
    ///
    /// Opening to write changes the file's header, so a snapshot that was `seen` must show before that the store is ours
    /// and that there is something to do: what is refused leaves the store byte for byte as it was. What the snapshot
    /// showed may have changed when `write` is called.
    ///
    /// The result counts once the commit has returned; what fails while closing after that is only told in the second
    /// part of the answer.
    pub fn write<R, E: MayBeDamage>(
        &self,
        seen: Snapshot,
        write: impl FnOnce(&mut Tables<Writing<'_>>) -> Result<R, E>,
    ) -> Result<(R, Option<StoreError>), E> {
        let (database, transaction) = self.begin(seen)?;
        let work = move || -> Result<R, E> {
            let value = write(&mut Tables::open_to_write(&transaction)?)?;
            transaction.commit().map_err(StoreError::from)?;
            Ok(value)
        };
        let value = guarded(work).unwrap_or_else(|damage| Err(damage.into()));
        let closed = guarded(move || database.close()).and_then(|closed| Ok(closed?));
        let value = value.map_err(|error: E| error.located(self.directory()))?;
        Ok((value, closed.err().map(|error| error.at(self.directory()))))
    }

    /// Begins a write transaction when the store is seen to be ours.
    pub(super) fn begin(&self, seen: Snapshot) -> Result<(Database, WriteTransaction), StoreError> {
        let patience = self.patience(&seen.tables)?;
        drop(seen);
        let disk = self.disk.clone();
        let wait = !patience.is_zero();
        self.bounded(patience.max(HEADER_GRACE), move || begin_write(&disk, wait))
    }

    /// Runs `work` in a thread, and leaves it behind when it takes longer than `timeout`.
    pub(super) fn bounded<T: Send + 'static>(
        &self,
        timeout: Duration,
        work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (sender, receiver) = mpsc::sync_channel(1);
        let spawned = std::thread::Builder::new().spawn(move || {
            // After the time-out nobody receives it: all that was opened is closed then.
            drop(sender.send(guarded(work)));
        });
        if let Err(source) = spawned {
            return Err(StoreError::Io {
                action: "starting a thread to open",
                path: self.directory().to_owned(),
                source,
            });
        }
        match receiver.recv_timeout(timeout) {
            Ok(result) => result.unwrap_or_else(Err).map_err(|error| error.at(self.directory())),
            Err(_) => Err(StoreError::Busy { path: self.directory().to_owned() }),
        }
    }
}

/// Turns a panic of the database on damaged pages into the error that it is.
pub(super) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, StoreError> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let said = panic_message(panic.as_ref());
        StoreError::Corrupt { what: "the database file".to_owned(), source: Some(said.into()) }
    })
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("it is not as the database expects").to_owned()
}

pub(super) fn builder() -> Builder {
    let mut builder = Builder::new();
    builder.set_cache_size(CACHE_BYTES).set_concurrency_mode(ConcurrencyMode::MultiWriter);
    builder
}

fn open_to_write<D: Disk>(disk: &D) -> Result<Opened<Database>, StoreError> {
    let Opened { file, id } = disk.open_database(true)?;
    Ok(Opened { file: builder().create_with_backend(file)?, id })
}

/// Begins the one write transaction that there may be. Where the database was rewritten into another file meanwhile, it is
/// that file.
fn begin_write<D: Disk>(disk: &D, wait: bool) -> Result<(Database, WriteTransaction), StoreError> {
    loop {
        let Opened { file: database, id } = open_to_write(disk)?;
        let transaction = if wait { database.begin_write() } else { database.try_begin_write() };
        match transaction {
            Ok(transaction) if disk.database_id()? == id => return Ok((database, transaction)),
            Ok(_) => {}
            Err(TransactionError::WouldBlock) => return Err(StoreError::Busy { path: disk.directory().to_owned() }),
            Err(error) => return Err(error.into()),
        }
    }
}

/// Opens for reading; after a kill it lets a writing open recover the file once, or recovers in memory where the file
/// may not be written.
fn open_snapshot<D: Disk>(disk: &D) -> Result<Snapshot, StoreError> {
    for _ in 0..ATTEMPTS {
        match builder().open_read_only_with_backend(disk.open_database(false)?.file) {
            Ok(database) => {
                let transaction = database.begin_read()?;
                return Ok(Snapshot { tables: Tables::open(&transaction)?, overlay: None });
            }
            Err(DatabaseError::RepairAborted) => {}
            Err(error) => return Err(error.into()),
        }
        match open_to_write(disk) {
            Ok(Opened { file: database, .. }) => database.close()?,
            Err(StoreError::Io { source, .. }) if is_refusal(&source) => {
                let database =
                    open_over(disk.open_database(false)?.file, &disk.open_database(false)?.file, CACHE_BYTES)?;
                let transaction = database.begin_read()?;
                return Ok(Snapshot { tables: Tables::open(&transaction)?, overlay: Some(database) });
            }
            Err(error) => return Err(error),
        }
    }
    Err(StoreError::corrupt("the database file needs repair again and again"))
}

fn is_refusal(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}
