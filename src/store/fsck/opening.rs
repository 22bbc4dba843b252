//! Opening a database file to look at it and never to write: what its header says, what redb's own check says, and the tables
//! as readers get them, as far as they can be had.

use super::super::StoreError;
use super::super::disk::Disk;
use super::super::open::{HEADER_GRACE, Store, builder, guarded};
use super::super::overlay::{Overlay, WRITER_BYTE};
use super::super::rows::Reading;
use super::super::tables::Tables;
use super::commits::{is_refusal, told};
use super::finding::{Fault, Finding};
use redb::backends::InMemoryBackend;
use redb::{Database, DatabaseError, ReadOnlyDatabase, ReadTransaction, ReadableDatabase, StorageBackend};

/// Enough for the upper pages of all tables.
const CACHE_BYTES: usize = 16 << 20;

/// The header, by redb's design document.
pub const HEADER_BYTES: usize = 320;
const GOD_BYTE: usize = 9;
const PRIMARY: u8 = 1;
const RECOVERY: u8 = 2;
const TWO_PHASE: u8 = 4;
const UNFLUSHED: u8 = 8;
const SLOTS: [usize; 2] = [64, 192];
const TRANSACTION: usize = 104;

pub type Header = [u8; HEADER_BYTES];

/// The file at one moment, at which nobody wrote.
pub struct Moment<D: Disk> {
    /// What the file begins with; `None` where it is too short.
    pub header: Option<Header>,
    /// The file, by which writers are held off while `is_locked`.
    lock: D::Database,
    is_locked: bool,
    /// The same file, opened for each overlay that may be laid over it.
    files: Vec<D::Database>,
    plain: Option<Plain>,
    /// Whether a writer was killed, so that readers have to recover.
    pub is_unrecovered: bool,
}

/// A snapshot as readers have it; its pages are not used again while it is there.
struct Plain {
    transaction: ReadTransaction,
    _database: ReadOnlyDatabase,
}

/// The tables, and what keeps them open.
pub struct OpenTables {
    pub tables: Tables<Reading>,
    /// Tables that could not be opened, and have no rows here.
    pub lost: Vec<(&'static str, StoreError)>,
    _plain: Option<Plain>,
    _overlay: Option<Database>,
    _empty: Database,
}

impl<D: Disk> Moment<D> {
    /// Waits for a live writer, and takes the moment behind it; holds further ones off until [`Moment::unlock`].
    pub fn take(store: &Store<D>) -> Result<Self, StoreError> {
        let disk = store.disk().clone();
        store.bounded(store.lock_timeout().max(HEADER_GRACE), move || {
            let lock = lock_current(&disk)?;
            let header = read_header(&lock)?;
            let flags = header.map_or(0, |header| header[GOD_BYTE]);
            let mut is_unrecovered = flags & UNFLUSHED != 0 && flags & RECOVERY != 0;
            // While it is locked, nothing takes the file's place.
            let opened = disk.open_database(false)?.file;
            let files = vec![disk.open_database(false)?.file, disk.open_database(false)?.file];
            let plain = guarded(|| -> Result<Result<Plain, DatabaseError>, StoreError> {
                Ok(match reader().open_read_only_with_backend(opened) {
                    Ok(database) => Ok(Plain { transaction: database.begin_read()?, _database: database }),
                    Err(error) => Err(error),
                })
            });
            let plain = match plain.and_then(|plain| plain) {
                Ok(Ok(plain)) => Some(plain),
                Ok(Err(DatabaseError::RepairAborted)) => {
                    is_unrecovered = true;
                    None
                }
                // Why it cannot be read is told by the check of its pages.
                Ok(Err(error)) => Some(StoreError::from(error)).filter(is_refusal).map_or(Ok(None), Err)?,
                Err(error) => Some(error).filter(is_refusal).map_or(Ok(None), Err)?,
            };
            Ok(Self { header, lock, is_locked: true, files, plain, is_unrecovered })
        })
    }

    /// What the header shows, where it was not left so by a writer, living or killed.
    pub fn header_findings(&self) -> Vec<Finding> {
        let Some(header) = &self.header else {
            return vec![Finding::new(Fault::Structure, FILE, "it is cut off in its header")];
        };
        let flags = header[GOD_BYTE];
        let [first, second] = SLOTS.map(|slot| transaction(header, slot));
        let (primary, secondary) = if flags & PRIMARY == 0 { (first, second) } else { (second, first) };
        let recovered = flags & RECOVERY == 0;
        let cases = [
            (flags & TWO_PHASE == 0, "it says that commits are not flushed in two phases"),
            (recovered && flags & UNFLUSHED != 0, "it leads readers to the transaction before the last"),
            (recovered && secondary > primary, "it leads to an older transaction than the last"),
            (recovered && self.is_unrecovered, "it does not have the length of the file"),
        ];
        let found = cases.into_iter().filter(|(is_wrong, _)| *is_wrong);
        found.map(|(_, what)| Finding::new(Fault::Header, FILE, what)).collect()
    }

    /// Lets redb look at every page of the committed trees; returns what it refuses, and the database where that had to be
    /// recovered for it.
    pub fn check(&mut self) -> Result<(Option<Finding>, Option<Database>), StoreError> {
        let Some(header) = self.header else { return Ok((None, None)) };
        match self.open_over(&header, true)? {
            Ok(database) => Ok((None, self.is_unrecovered.then_some(database))),
            Err(error) => Ok((Some(Finding::new(Fault::Structure, FILE, told(&error))), None)),
        }
    }

    fn open_over(&mut self, header: &Header, check: bool) -> Result<Result<Database, StoreError>, StoreError> {
        let overlay = Overlay::over(self.files.pop().expect("one for each time"), header)?;
        let opened = guarded(|| {
            let mut builder = redb::Builder::new();
            builder.set_cache_size(CACHE_BYTES).set_check_integrity_on_open(check);
            builder.create_with_backend(overlay).map_err(StoreError::from)
        });
        match opened.and_then(|opened| opened) {
            Err(error) if is_refusal(&error) => Err(error),
            opened => Ok(opened),
        }
    }

    /// The tables as a reader gets them; `recovered` is the database where that had to be recovered. `None` where nothing can
    /// be read at all.
    pub fn tables(&mut self, recovered: Option<Database>) -> Result<Option<OpenTables>, StoreError> {
        let plain = self.plain.take().filter(|_| recovered.is_none() && !self.is_unrecovered);
        let overlay = match (&plain, recovered, self.header) {
            (Some(_), _, _) | (None, None, None) => None,
            (None, Some(database), _) => Some(database),
            (None, None, Some(header)) => self.open_over(&header, false)?.ok(),
        };
        let begun = overlay.as_ref().and_then(|database| guarded(|| database.begin_read()).ok()?.ok());
        let Some(transaction) = plain.as_ref().map(|plain| &plain.transaction).or(begun.as_ref()) else {
            return Ok(None);
        };
        let (empty, nothing) = empty()?;
        let mut lost = Vec::new();
        let tables = Tables::open_what_is_there(transaction, &nothing, &mut lost)?;
        Ok(Some(OpenTables { tables, lost, _plain: plain, _overlay: overlay, _empty: empty }))
    }

    /// Lets writers in again.
    pub fn unlock(&mut self) -> Result<(), StoreError> {
        if std::mem::take(&mut self.is_locked) {
            self.lock.unlock_range(WRITER_BYTE.0, WRITER_BYTE.1).map_err(DatabaseError::from)?;
        }
        Ok(())
    }

    /// Whether nobody has written to the file since.
    pub fn is_still(&self) -> Result<bool, StoreError> {
        Ok(read_header(&self.lock)? == self.header)
    }
}

/// Holds writers off the file that the name of the database leads to.
fn lock_current<D: Disk>(disk: &D) -> Result<D::Database, StoreError> {
    loop {
        let opened = disk.open_database(false)?;
        opened.file.lock_shared_range(WRITER_BYTE.0, WRITER_BYTE.1).map_err(DatabaseError::from)?;
        if disk.database_id()? == opened.id {
            return Ok(opened.file);
        }
    }
}

/// What findings about the file as a whole are about.
pub const FILE: &str = "store.redb";

/// The header of the file as it is now.
fn read_header(file: &impl StorageBackend) -> Result<Option<Header>, StoreError> {
    let length = file.len().map_err(DatabaseError::from)?;
    if length < HEADER_BYTES as u64 {
        return Ok(None);
    }
    let mut header = [0; HEADER_BYTES];
    file.read(0, &mut header).map_err(DatabaseError::from)?;
    Ok(Some(header))
}

fn transaction(header: &Header, slot: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&header[slot + TRANSACTION..][..8]);
    u64::from_le_bytes(bytes)
}

fn reader() -> redb::Builder {
    let mut builder = builder();
    builder.set_cache_size(CACHE_BYTES);
    builder
}

/// A database whose tables have no rows.
fn empty() -> Result<(Database, ReadTransaction), StoreError> {
    let database = redb::Builder::new().create_with_backend(InMemoryBackend::new())?;
    let transaction = database.begin_write()?;
    Tables::create(&transaction)?;
    transaction.commit()?;
    let begun = database.begin_read()?;
    Ok((database, begun))
}
