//! A disk in memory: the database file, the staged logs and their directory, and the order of all that was asked of it.
//!
//! What a process reads is what was written last, as from the cache of an operating system. What survives a crash is
//! decided by the record of events, in `image.rs`. Locks are always free. Calls fail where a [`Fault`] says so.

use crate::image::Image;
use mnemosyne::model::SessionName;
use mnemosyne::store::{Disk, FileId, LogError, LogFile, LogView, Opened, StagedLog, Store, StoreError};
use redb::{BackendError, StorageBackend};
use std::io;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// The number of a file: what an inode is elsewhere.
pub type FileNumber = usize;

/// The first file that was the database.
pub const DATABASE: FileNumber = 0;

/// What the database is called since another file took its place, and that file until then. No session is called so.
pub const DATABASE_NAME: &str = "/database";
/// The same of a file that is to be the database.
pub const SUCCESSOR_NAME: &str = "/database.new";

const DIRECTORY: &str = "/simulated/.mnemosyne";

/// Something that was asked of the disk and that it has done.
#[derive(Clone, Debug)]
pub enum Event {
    /// Bytes were written.
    Write { file: FileNumber, offset: u64, bytes: Arc<[u8]> },
    /// A file was cut off or made longer.
    Length { file: FileNumber, length: u64 },
    /// All that was done to one file before is durable.
    Sync { file: FileNumber },
    /// A name leads to a file, which leaves the name that it had.
    Name { name: String, file: FileNumber, before: Option<String> },
    /// A name is gone.
    Remove { name: String },
    /// All names are durable.
    SyncNames,
}

/// What a process asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// Opening or creating a file.
    Open,
    /// Reading bytes.
    Read,
    /// Writing bytes; half of them arrive.
    Write,
    /// Setting the length.
    Length,
    /// Syncing a file.
    Sync,
    /// Syncing the names.
    SyncNames,
    /// Renaming.
    Rename,
}

/// Which calls fail.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// On the database, or else on logs and names.
    pub database: bool,
    /// What is asked.
    pub calls: &'static [Call],
    /// The first of such calls that fails, from 1.
    pub nth: usize,
    /// Whether all later ones fail too.
    pub forever: bool,
    /// The number of the error that the system gives.
    pub error: i32,
}

#[derive(Debug)]
struct World {
    image: Image,
    events: Vec<Event>,
    fault: Option<Fault>,
    calls: usize,
    fired: usize,
}

impl World {
    /// Every file is a log, or was one, but for the database, what it was, and what is to be it.
    fn is_database(&self, file: FileNumber) -> bool {
        file == self.database() || file == DATABASE || self.image.file(SUCCESSOR_NAME) == Some(file)
    }

    /// The file that the name of the database leads to.
    fn database(&self) -> FileNumber {
        self.image.file(DATABASE_NAME).unwrap_or(DATABASE)
    }

    fn fault(&mut self, file: FileNumber, call: Call) -> io::Result<()> {
        let Some(fault) = self.fault else { return Ok(()) };
        if fault.database != self.is_database(file) || !fault.calls.contains(&call) {
            return Ok(());
        }
        self.calls += 1;
        if self.calls == fault.nth || (fault.forever && self.calls > fault.nth) {
            self.fired += 1;
            return Err(io::Error::from_raw_os_error(fault.error));
        }
        Ok(())
    }

    fn write(&mut self, file: FileNumber, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let outcome = self.fault(file, Call::Write);
        let bytes = if outcome.is_ok() { bytes } else { &bytes[..bytes.len() / 2] };
        self.done(Event::Write { file, offset, bytes: bytes.into() });
        outcome
    }

    fn set_length(&mut self, file: FileNumber, length: u64) -> io::Result<()> {
        self.fault(file, Call::Length)?;
        self.done(Event::Length { file, length });
        Ok(())
    }

    fn sync(&mut self, file: FileNumber) -> io::Result<()> {
        self.fault(file, Call::Sync)?;
        self.done(Event::Sync { file });
        Ok(())
    }

    fn done(&mut self, event: Event) {
        self.image.apply_event(&event);
        self.events.push(event);
    }
}

/// The disk. Clones are the same disk.
#[derive(Clone, Debug)]
pub struct SimulatedDisk(Arc<Mutex<World>>);

impl SimulatedDisk {
    /// A disk on which all of `image` is durable.
    pub fn new(image: Image) -> Self {
        Self(Arc::new(Mutex::new(World { image, events: Vec::new(), fault: None, calls: 0, fired: 0 })))
    }

    /// The store on it.
    pub fn store(&self) -> Store<Self> {
        Store::on(self.clone(), Duration::from_secs(600))
    }

    /// The database file, as it is.
    pub fn database(&self) -> SimulatedFile {
        let file = self.world().database();
        SimulatedFile { disk: self.clone(), file }
    }

    /// Lets calls fail from now on, or none.
    pub fn set_fault(&self, fault: Option<Fault>) {
        let mut world = self.world();
        (world.fault, world.calls, world.fired) = (fault, 0, 0);
    }

    /// How many calls have failed since.
    pub fn fired(&self) -> usize {
        self.world().fired
    }

    /// What was done to it so far.
    pub fn events(&self) -> Vec<Event> {
        self.world().events.clone()
    }

    /// What a process finds on it.
    pub fn image(&self) -> Image {
        self.world().image.clone()
    }

    fn world(&self) -> MutexGuard<'_, World> {
        self.0.lock().expect("no panic while it is held")
    }
}

/// Says on what the system refused; for `map_err`.
fn refused(action: &'static str) -> impl FnOnce(io::Error) -> StoreError {
    move |source| StoreError::Io { action, path: DIRECTORY.into(), source }
}

fn staged_path(session: &SessionName) -> PathBuf {
    Path::new(DIRECTORY).join("staged").join(session.as_str())
}

impl Disk for SimulatedDisk {
    type Database = SimulatedFile;
    type Log = SimulatedLog;

    fn directory(&self) -> &Path {
        Path::new(DIRECTORY)
    }

    fn open_database(&self, _: bool) -> Result<Opened<SimulatedFile>, StoreError> {
        self.world().fault(DATABASE, Call::Open).map_err(refused("opening"))?;
        Ok(Opened { file: self.database(), id: self.database_id()? })
    }

    fn database_id(&self) -> Result<FileId, StoreError> {
        Ok(FileId(0, self.world().database() as u64))
    }

    fn database_bytes(&self) -> Result<u64, StoreError> {
        self.database().len().map_err(refused("looking at"))
    }

    fn create_successor(&self) -> Result<SimulatedFile, StoreError> {
        self.remove_successor()?;
        let mut world = self.world();
        world.fault(DATABASE, Call::Open).map_err(refused("creating"))?;
        let file = world.image.add_file();
        world.done(Event::Name { name: SUCCESSOR_NAME.to_owned(), file, before: None });
        drop(world);
        Ok(SimulatedFile { disk: self.clone(), file })
    }

    fn install_successor(&self) -> Result<(), StoreError> {
        let mut world = self.world();
        let file = world.image.file(SUCCESSOR_NAME).expect("it was created");
        world.sync(file).map_err(refused("syncing"))?;
        world.fault(DATABASE, Call::Rename).map_err(refused("renaming"))?;
        let before = Some(SUCCESSOR_NAME.to_owned());
        world.done(Event::Name { name: DATABASE_NAME.to_owned(), file, before });
        world.fault(DATABASE, Call::SyncNames).map_err(refused("syncing"))?;
        world.done(Event::SyncNames);
        Ok(())
    }

    fn remove_successor(&self) -> Result<(), StoreError> {
        let mut world = self.world();
        if world.image.file(SUCCESSOR_NAME).is_some() {
            world.done(Event::Remove { name: SUCCESSOR_NAME.to_owned() });
        }
        Ok(())
    }

    fn has_log(&self, session: &SessionName) -> bool {
        self.world().image.file(session.as_str()).is_some()
    }

    fn logs(&self) -> Result<Vec<SessionName>, LogError> {
        Ok(self.world().image.names().filter_map(|name| SessionName::new(name).ok()).collect())
    }

    fn lock_log(&self, session: &SessionName, _: Duration) -> Result<StagedLog<SimulatedLog>, LogError> {
        let path = staged_path(session);
        let name = session.as_str().to_owned();
        let mut world = self.world();
        let refused = |source| LogError::Io { action: "opening", path: path.clone(), source };
        world.fault(DATABASE + 1, Call::Open).map_err(refused)?;
        let (file, is_new) = match world.image.file(&name) {
            Some(file) => (file, false),
            None => {
                let file = world.image.add_file();
                world.done(Event::Name { name: name.clone(), file, before: None });
                (file, true)
            }
        };
        drop(world);
        let file = SimulatedFile { disk: self.clone(), file };
        Ok(StagedLog::over(SimulatedLog { file, name }, path, is_new))
    }

    fn read_log(&self, session: &SessionName, _: Option<Duration>) -> Result<LogView, LogError> {
        let path = staged_path(session);
        let refused = |action| {
            let path = path.clone();
            move |source| LogError::Io { action, path, source }
        };
        let mut world = self.world();
        world.fault(DATABASE + 1, Call::Open).map_err(refused("opening"))?;
        let bytes = match world.image.file(session.as_str()) {
            Some(file) => {
                world.fault(file, Call::Read).map_err(refused("reading"))?;
                world.image.bytes(file).to_vec()
            }
            None => Vec::new(),
        };
        Ok(LogView::unchanging(path, bytes))
    }
}

/// A file, opened.
#[derive(Clone, Debug)]
pub struct SimulatedFile {
    disk: SimulatedDisk,
    file: FileNumber,
}

impl StorageBackend for SimulatedFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.disk.world().image.bytes(self.file).len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let mut world = self.disk.world();
        world.fault(self.file, Call::Read)?;
        let start = usize::try_from(offset).map_err(io::Error::other)?;
        let end = start.checked_add(out.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        let bytes = world.image.bytes(self.file).get(start..end).ok_or(io::ErrorKind::UnexpectedEof)?;
        out.copy_from_slice(bytes);
        Ok(())
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.disk.world().set_length(self.file, length)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.disk.world().sync(self.file)
    }

    fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.disk.world().write(self.file, offset, bytes)
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
pub struct SimulatedLog {
    file: SimulatedFile,
    name: String,
}

impl SimulatedLog {
    fn successor(&self) -> String {
        format!(".{}.new", self.name)
    }
}

impl LogFile for SimulatedLog {
    fn read_all(&mut self) -> io::Result<Vec<u8>> {
        let mut world = self.file.disk.world();
        world.fault(self.file.file, Call::Read)?;
        Ok(world.image.bytes(self.file.file).to_vec())
    }

    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.write(offset, bytes)
    }

    fn set_length(&mut self, length: u64) -> io::Result<()> {
        self.file.set_len(length)
    }

    fn sync_data(&mut self) -> io::Result<()> {
        StorageBackend::sync_data(&self.file)
    }

    fn sync_directory(&mut self) -> io::Result<()> {
        let mut world = self.file.disk.world();
        world.fault(self.file.file, Call::SyncNames)?;
        world.done(Event::SyncNames);
        Ok(())
    }

    fn create_successor(&mut self) -> io::Result<Self> {
        let name = self.successor();
        let mut world = self.file.disk.world();
        world.fault(self.file.file, Call::Open)?;
        if world.image.file(&name).is_some() {
            world.done(Event::Remove { name: name.clone() });
        }
        let file = world.image.add_file();
        world.done(Event::Name { name, file, before: None });
        drop(world);
        Ok(Self { file: SimulatedFile { disk: self.file.disk.clone(), file }, name: self.name.clone() })
    }

    fn take_place(&mut self) -> io::Result<()> {
        let before = Some(self.successor());
        let mut world = self.file.disk.world();
        world.fault(self.file.file, Call::Rename)?;
        world.done(Event::Name { name: self.name.clone(), file: self.file.file, before });
        Ok(())
    }

    fn abandon(self) {
        self.file.disk.world().done(Event::Remove { name: self.successor() });
    }
}
