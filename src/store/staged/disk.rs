//! The file of a log: opened, locked, read.
//!
//! `staged/<session>`, mode 0600. The lock is `flock` on the file itself. A log that is folded is another file under the
//! same name, so whoever gets the lock looks whether the file still has the name.

use super::log::{LogFile, StagedLog};
use super::{LogError, Staged};
use crate::model::SessionName;
use rustix::fs::OFlags;
use rustix::io::Errno;
use std::fs::{self, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Read, Seek};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

const MODE: u32 = 0o600;

/// A log in a directory of the file system.
#[derive(Debug)]
pub struct DiskFile {
    file: File,
    /// The name of the log; what a successor takes.
    path: PathBuf,
    /// The name of a successor until then.
    successor: PathBuf,
    /// Whether this command created it.
    is_ours: bool,
}

/// A log that was created for a command that then wrote nothing to it goes again.
impl Drop for DiskFile {
    fn drop(&mut self) {
        let is_empty = |file: &fs::Metadata| file.len() == 0;
        if let (true, Ok(file), Ok(Some(there))) = (self.is_ours, self.file.metadata(), look(&self.path))
            && is_empty(&file)
            && is_same(&there, &file)
        {
            // Still locked: whoever waits for the lock looks whether the file has its name. Where it stays, it is empty.
            drop(fs::remove_file(&self.path));
        }
    }
}

impl StagedLog {
    /// Opens the log of `session` in `directory` for writing, creates it if need be, and locks it. Waits up to `wait`
    /// for another holder of the lock.
    pub fn open(directory: &Path, session: &SessionName, wait: Duration) -> Result<Self, LogError> {
        let path = directory.join(session.as_str());
        loop {
            let (file, is_new) = open_or_create(&path)?;
            if let Some(file) = lock_named(file, Hold::Exclusive, wait, &path)? {
                let successor = directory.join(format!(".{session}.new"));
                return Ok(Self::over(DiskFile { file, path: path.clone(), successor, is_ours: is_new }, path, is_new));
            }
        }
    }
}

/// The bytes of a log as a reader saw them.
#[derive(Debug)]
pub struct LogView {
    path: PathBuf,
    bytes: Vec<u8>,
    /// Kept open, so that its inode is not given to another file; holds the lock, if there is one.
    file: Option<File>,
}

impl LogView {
    /// Reads the log of `session` without a lock. A missing file is an empty log.
    pub fn read(directory: &Path, session: &SessionName) -> Result<Self, LogError> {
        let path = directory.join(session.as_str());
        let file = open_if_there(&path, OpenOptions::new().read(true))?;
        Self::of(path, file)
    }

    /// Reads it under a shared lock, which is held until the view is dropped. Waits up to `wait` for a writer.
    pub fn read_locked(directory: &Path, session: &SessionName, wait: Duration) -> Result<Self, LogError> {
        let path = directory.join(session.as_str());
        while let Some(file) = open_if_there(&path, OpenOptions::new().read(true))? {
            if let Some(file) = lock_named(file, Hold::Shared, wait, &path)? {
                return Self::of(path, Some(file));
            }
        }
        Self::of(path, None)
    }

    /// The log of a disk that is no directory of the file system, and on which nobody else writes.
    #[cfg(feature = "internals")]
    pub fn unchanging(path: PathBuf, bytes: Vec<u8>) -> Self {
        Self { path, bytes, file: None }
    }

    fn of(path: PathBuf, mut file: Option<File>) -> Result<Self, LogError> {
        let bytes = file.as_mut().map_or(Ok(Vec::new()), read_all).map_err(LogError::io("reading", &path))?;
        Ok(Self { path, bytes, file })
    }

    /// What is staged in it, where a commit has consumed the numbers up to `consumed`.
    pub fn staged(&self, consumed: u64) -> Result<Staged<'_>, LogError> {
        Staged::scan(&self.path, &self.bytes, consumed)
    }

    /// Whether the name still leads to the file that was read, at the length that was read.
    pub fn is_current(&self) -> Result<bool, LogError> {
        let there = look(&self.path)?;
        match (&self.file, there) {
            (None, None) => Ok(true),
            (Some(file), Some(there)) => Ok(there.len() == self.bytes.len() as u64
                && is_same(&there, &file.metadata().map_err(LogError::io("reading", &self.path))?)),
            (None, Some(_)) | (Some(_), None) => Ok(false),
        }
    }
}

impl LogFile for DiskFile {
    fn read_all(&mut self) -> io::Result<Vec<u8>> {
        read_all(&mut self.file)
    }

    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all_at(bytes, offset)
    }

    fn set_length(&mut self, length: u64) -> io::Result<()> {
        self.file.set_len(length)
    }

    fn sync_data(&mut self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn sync_directory(&mut self) -> io::Result<()> {
        File::open(self.path.parent().expect("a log is in a directory"))?.sync_all()
    }

    fn create_successor(&mut self) -> io::Result<Self> {
        match fs::remove_file(&self.successor) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        let file = create_private(&self.successor)?;
        file.try_lock()?;
        Ok(Self { file, path: self.path.clone(), successor: self.successor.clone(), is_ours: false })
    }

    fn take_place(&mut self) -> io::Result<()> {
        fs::rename(&self.successor, &self.path)
    }

    fn abandon(self) {
        // The next fold removes what stays.
        drop(fs::remove_file(&self.successor));
    }
}

fn read_all(file: &mut File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Opens the file at `path` and says whether it had to be created.
fn open_or_create(path: &Path) -> Result<(File, bool), LogError> {
    loop {
        if let Some(file) = open_if_there(path, OpenOptions::new().read(true).write(true))? {
            return Ok((file, false));
        }
        match create_private(path) {
            Ok(file) => return Ok((file, true)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(source) => return Err(LogError::io("creating", path)(source)),
        }
    }
}

/// Creates a file that only the owner of the directory may read.
pub fn create_private(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).write(true).create_new(true).mode(MODE).open(path)?;
    // The umask may have taken bits away.
    file.set_permissions(Permissions::from_mode(MODE))?;
    // Root that acts for somebody leaves their store to them.
    if let Some(directory) = path.parent().map(fs::metadata).transpose()?
        && directory.uid() != file.metadata()?.uid()
    {
        std::os::unix::fs::fchown(&file, Some(directory.uid()), Some(directory.gid()))?;
    }
    Ok(file)
}

/// Opens a regular file; never follows a link, never waits for the other end of a pipe.
fn open_if_there(path: &Path, options: &mut OpenOptions) -> Result<Option<File>, LogError> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let not_a_file = || LogError::NotAFile { path: path.to_owned() };
    let file = match options.custom_flags(flags.bits().cast_signed()).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            return Err(match Errno::from_io_error(&error) {
                Some(Errno::LOOP | Errno::ISDIR | Errno::NXIO) => not_a_file(),
                _ => LogError::io("opening", path)(error),
            });
        }
    };
    let metadata = file.metadata().map_err(LogError::io("opening", path))?;
    if metadata.is_file() { Ok(Some(file)) } else { Err(not_a_file()) }
}

/// What stands at `path`.
fn look(path: &Path) -> Result<Option<fs::Metadata>, LogError> {
    match fs::symlink_metadata(path) {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(LogError::io("reading", path)(source)),
    }
}

fn is_same(a: &fs::Metadata, b: &fs::Metadata) -> bool {
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

#[derive(Clone, Copy, Debug)]
enum Hold {
    Shared,
    Exclusive,
}

/// Locks `file`; `None` when it lost its name to another meanwhile.
fn lock_named(file: File, hold: Hold, wait: Duration, path: &Path) -> Result<Option<File>, LogError> {
    let file = lock(file, hold, wait, path)?;
    let metadata = file.metadata().map_err(LogError::io("reading", path))?;
    Ok(look(path)?.is_some_and(|there| is_same(&there, &metadata)).then_some(file))
}

fn lock(file: File, hold: Hold, wait: Duration, path: &Path) -> Result<File, LogError> {
    let free = match hold {
        Hold::Shared => file.try_lock_shared(),
        Hold::Exclusive => file.try_lock(),
    };
    match free {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) if wait.is_zero() => Err(LogError::Busy { path: path.to_owned() }),
        Err(TryLockError::WouldBlock) => wait_for_lock(file, hold, wait, path),
        Err(TryLockError::Error(source)) => Err(LogError::io("locking", path)(source)),
    }
}

/// Waits in a thread, for the system's own wait knows no time-out.
fn wait_for_lock(file: File, hold: Hold, wait: Duration, path: &Path) -> Result<File, LogError> {
    let (sender, receiver) = mpsc::channel();
    let waiting = move || {
        let locked = match hold {
            Hold::Shared => file.lock_shared(),
            Hold::Exclusive => file.lock(),
        };
        // After the time-out nobody receives it: the file is closed then, which lets go of the lock.
        drop(sender.send(locked.map(|()| file)));
    };
    thread::Builder::new().name("lock".to_owned()).spawn(waiting).map_err(LogError::io("locking", path))?;
    match receiver.recv_timeout(wait) {
        Ok(locked) => locked.map_err(LogError::io("locking", path)),
        Err(_) => Err(LogError::Busy { path: path.to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Change;
    use super::*;
    use crate::model::NodeId;
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;
    use tempfile::TempDir;

    const LONG: Duration = Duration::from_secs(60);

    fn directory() -> TempDir {
        tempfile::tempdir().expect("a directory")
    }

    fn session() -> SessionName {
        SessionName::default()
    }

    fn open(directory: &TempDir, wait: Duration) -> Result<StagedLog, LogError> {
        StagedLog::open(directory.path(), &session(), wait)
    }

    fn put(log: &mut StagedLog, name: &str, size: usize) -> u64 {
        let bytes = log.read().expect("readable");
        let (id, node) = (NodeId::new(name).expect("id"), vec![b'x'; size]);
        let change = Change::Set { id: (&id).into(), base: None, node: &node };
        let frame = Staged::scan(log.path(), &bytes, 0).and_then(|staged| staged.next_frame(None, [change]));
        log.append(&frame.expect("a frame")).expect("writable")
    }

    /// Stages so much that the last put folds the log.
    fn fold(log: &mut StagedLog) {
        for _ in 0..6 {
            put(log, "a", 400_000);
        }
    }

    fn view(directory: &TempDir) -> LogView {
        LogView::read(directory.path(), &session()).expect("readable")
    }

    fn ids(view: &LogView) -> Vec<String> {
        let staged = view.staged(0).expect("a good log").replay().expect("a good log");
        staged.into_keys().map(|id| id.to_string()).collect()
    }

    #[test]
    fn what_is_appended_is_read() {
        let directory = directory();
        let mut log = open(&directory, Duration::ZERO).expect("free");
        assert_eq!((put(&mut log, "a", 1), put(&mut log, "b", 2)), (1, 2));
        assert_eq!(ids(&view(&directory)), ["a", "b"]);
        log.truncate().expect("writable");
        assert!(ids(&view(&directory)).is_empty());
        drop(log);
        let mut log = open(&directory, Duration::ZERO).expect("free");
        assert_eq!(put(&mut log, "c", 1), 1);
    }

    #[test]
    fn one_session_does_not_see_another() {
        let directory = directory();
        put(&mut open(&directory, Duration::ZERO).expect("free"), "a", 1);
        let other = SessionName::new("other").expect("name");
        let view = LogView::read(directory.path(), &other).expect("readable");
        assert!(ids(&view).is_empty());
        StagedLog::open(directory.path(), &other, Duration::ZERO).expect("a lock of its own");
    }

    #[test]
    fn a_missing_log_is_empty_and_reading_does_not_create_it() {
        let directory = directory();
        let unlocked = view(&directory);
        let locked = LogView::read_locked(directory.path(), &session(), Duration::ZERO).expect("readable");
        assert!(unlocked.staged(3).expect("a good log").is_empty());
        assert!(locked.staged(3).expect("a good log").is_empty());
        assert!(unlocked.is_current().expect("there"));
        assert_eq!(fs::read_dir(directory.path()).expect("there").count(), 0);
        let _log = open(&directory, Duration::ZERO).expect("free");
        assert!(!unlocked.is_current().expect("there"));
    }

    #[test]
    fn a_log_that_was_created_for_nothing_goes_again() {
        let directory = directory();
        let is_there = || directory.path().join(session().as_str()).exists();
        drop(open(&directory, Duration::ZERO).expect("free"));
        assert!(!is_there());
        let mut log = open(&directory, Duration::ZERO).expect("free");
        fs::remove_file(log.path()).expect("there");
        fs::write(log.path(), "").expect("writable");
        drop(log);
        assert!(is_there(), "a file of another");
        log = open(&directory, Duration::ZERO).expect("free");
        drop(log);
        assert!(is_there(), "a log that was there before");
        fs::remove_file(directory.path().join(session().as_str())).expect("there");
        log = open(&directory, Duration::ZERO).expect("free");
        put(&mut log, "a", 1);
        drop(log);
        assert!(is_there(), "a log with a frame");
    }

    #[test]
    fn a_view_is_current_until_the_log_is_another_or_of_another_length() {
        let directory = directory();
        let mut log = open(&directory, Duration::ZERO).expect("free");
        put(&mut log, "a", 1);
        let before = view(&directory);
        assert!(before.is_current().expect("there"));
        put(&mut log, "b", 1);
        assert!(!before.is_current().expect("there"));
        let path = directory.path().join("default");
        let before = view(&directory);
        fs::copy(&path, directory.path().join("copy")).expect("copied");
        fs::rename(directory.path().join("copy"), &path).expect("renamed");
        assert!(!before.is_current().expect("there"), "another file of the same length");
        let before = view(&directory);
        fs::remove_file(&path).expect("removed");
        assert!(!before.is_current().expect("there"));
    }

    #[test]
    fn two_writers_exclude_each_other() {
        let directory = directory();
        let log = open(&directory, Duration::ZERO).expect("free");
        for wait in [Duration::ZERO, Duration::from_millis(5)] {
            assert!(matches!(open(&directory, wait), Err(LogError::Busy { .. })), "{wait:?}");
        }
        drop(log);
        open(&directory, LONG).expect("who gave up let go of the lock");
    }

    #[test]
    fn a_writer_waits_for_another() {
        let directory = directory();
        let mut log = open(&directory, Duration::ZERO).expect("free");
        thread::scope(|scope| {
            let waiting = scope.spawn(|| open(&directory, LONG).map(|mut log| put(&mut log, "b", 1)));
            put(&mut log, "a", 1);
            drop(log);
            assert_eq!(waiting.join().expect("no panic").expect("free at last"), 2);
        });
    }

    #[test]
    fn locked_readers_share_and_exclude_writers() {
        let directory = directory();
        let mut log = open(&directory, Duration::ZERO).expect("free");
        put(&mut log, "a", 1);
        let read = |wait| LogView::read_locked(directory.path(), &session(), wait);
        assert!(matches!(read(Duration::ZERO), Err(LogError::Busy { .. })));
        assert!(matches!(read(Duration::from_millis(5)), Err(LogError::Busy { .. })));
        assert_eq!(ids(&view(&directory)), ["a"], "a reader without a lock is not refused");
        drop(log);
        let (one, two) = (read(LONG).expect("free"), read(LONG).expect("shared"));
        assert!(matches!(open(&directory, Duration::ZERO), Err(LogError::Busy { .. })));
        assert_eq!(ids(&one), ids(&two));
        drop((one, two));
        open(&directory, LONG).expect("free");
    }

    #[test]
    fn a_lock_on_a_file_that_lost_its_name_is_noticed() {
        let directory = directory();
        let mut log = open(&directory, Duration::ZERO).expect("free");
        let path = log.path().to_owned();
        let stale = || open_or_create(&path).expect("there").0;
        let (one, two) = (stale(), stale());
        fold(&mut log);
        let lock = |file, hold| lock_named(file, hold, Duration::ZERO, &path).expect("the fold let go of the old file");
        assert!(lock(one, Hold::Exclusive).is_none());
        assert!(lock(two, Hold::Shared).is_none());
        assert!(matches!(open(&directory, Duration::ZERO), Err(LogError::Busy { .. })), "the fold holds the new one");
        drop(log);
        assert!(lock(stale(), Hold::Exclusive).is_some());
        let removed = stale();
        fs::remove_file(&path).expect("removed");
        assert!(lock(removed, Hold::Exclusive).is_none());
    }

    #[test]
    fn who_waits_for_a_shared_lock_shares_it() {
        let directory = directory();
        let path = directory.path().join("default");
        let wait = |hold, wait| wait_for_lock(open_or_create(&path).expect("there").0, hold, wait, &path);
        let _one = wait(Hold::Shared, LONG).expect("free");
        wait(Hold::Shared, LONG).expect("shared");
        assert!(matches!(wait(Hold::Exclusive, Duration::from_millis(5)), Err(LogError::Busy { .. })));
    }

    #[test]
    fn a_fold_replaces_what_a_crash_left_of_one() {
        let directory = directory();
        let stale = directory.path().join(".default.new");
        fs::write(&stale, b"stale").expect("written");
        let mut log = open(&directory, Duration::ZERO).expect("free");
        fold(&mut log);
        put(&mut log, "b", 1);
        assert!(!stale.exists());
        assert_eq!(ids(&view(&directory)), ["a", "b"]);
        assert!(fs::metadata(log.path()).expect("there").len() < 900_000);
    }

    #[test]
    fn files_are_for_their_owner_alone() {
        let directory = directory();
        let mut log = open(&directory, Duration::ZERO).expect("free");
        let mode = |log: &StagedLog| fs::metadata(log.path()).expect("there").permissions().mode() & 0o7777;
        assert_eq!(mode(&log), MODE);
        fold(&mut log);
        assert_eq!(mode(&log), MODE);
    }

    #[test]
    fn what_is_no_regular_file_is_refused_and_left_alone() {
        let directory = directory();
        let path = directory.path().join("default");
        let elsewhere = directory.path().join("elsewhere");
        fs::write(&elsewhere, b"mine").expect("written");
        let make: [(&str, &dyn Fn()); 5] = [
            ("link", &|| symlink(&elsewhere, &path).expect("made")),
            ("dangling link", &|| symlink(directory.path().join("nothing"), &path).expect("made")),
            ("pipe", &|| mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("made")),
            ("socket", &|| drop(UnixListener::bind(&path).expect("made"))),
            ("directory", &|| fs::create_dir(&path).expect("made")),
        ];
        for (kind, make) in make {
            make();
            let refused = |result: Result<(), LogError>| matches!(result, Err(LogError::NotAFile { .. }));
            assert!(refused(open(&directory, Duration::ZERO).map(drop)), "{kind}");
            assert!(refused(LogView::read(directory.path(), &session()).map(drop)), "{kind}");
            assert!(refused(LogView::read_locked(directory.path(), &session(), Duration::ZERO).map(drop)), "{kind}");
            fs::remove_file(&path).or_else(|_| fs::remove_dir(&path)).expect("removed");
        }
        assert_eq!(fs::read(&elsewhere).expect("there"), b"mine");
        assert!(!directory.path().join("nothing").exists());
    }

    #[test]
    fn a_missing_directory_is_an_error_of_the_system() {
        let directory = directory();
        let missing = directory.path().join("staged");
        let refused = StagedLog::open(&missing, &session(), Duration::ZERO);
        assert!(matches!(refused, Err(LogError::Io { action: "creating", .. })));
    }
}
