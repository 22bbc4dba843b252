//! The log in the hands of its one writer.
//!
//! Decides what is written, cut and synced, and in which order; the file itself is a small trait, so that tests can
//! record and fail each call.

use super::LogError;
use super::disk::DiskFile;
use super::replay::{NewFrame, Place, is_fresh_fold};
use std::io;
use std::path::{Path, PathBuf};

/// What the writer asks of the file of a log and of its directory.
pub trait LogFile: Sized {
    /// All bytes of the file.
    fn read_all(&mut self) -> io::Result<Vec<u8>>;
    /// Writes all of `bytes` at `offset`.
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()>;
    /// Cuts the file off.
    fn set_length(&mut self, length: u64) -> io::Result<()>;
    /// Returns when bytes and length are on the disk.
    fn sync_data(&mut self) -> io::Result<()>;
    /// Returns when the name of the file is on the disk.
    fn sync_directory(&mut self) -> io::Result<()>;
    /// Makes an empty file beside this one, locked as this one is, in place of one that a crash left behind.
    fn create_successor(&mut self) -> io::Result<Self>;
    /// Gives a successor the name of the file that it was made beside.
    fn take_place(&mut self) -> io::Result<()>;
    /// Removes a successor that did not take its place.
    fn abandon(self);
}

/// A session's log, locked for writing until it is dropped.
#[derive(Debug)]
pub struct StagedLog<F = DiskFile> {
    file: F,
    path: PathBuf,
    /// Whether its name may not be on the disk yet.
    is_new: bool,
    /// The length of the file, where it is known.
    length: Option<u64>,
}

impl<F: LogFile> StagedLog<F> {
    /// Takes a file that is locked; `is_new` when it was just created.
    pub fn over(file: F, path: PathBuf, is_new: bool) -> Self {
        Self { file, path, is_new, length: None }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The bytes of the log.
    pub fn read(&mut self) -> Result<Vec<u8>, LogError> {
        let bytes = self.file.read_all().map_err(LogError::io("reading", &self.path))?;
        self.length = Some(bytes.len() as u64);
        // Who folded it may have died before its sync.
        self.is_new |= is_fresh_fold(&bytes);
        Ok(bytes)
    }

    /// Writes a frame that was made from what [`Self::read`] gave, and returns its number when it is on the disk.
    ///
    /// A torn tail is cut off before. After an error the log comes to what it came to before, unless a sync failed and
    /// the frame could neither be cut off nor spoiled, or the name of a fold could not be synced.
    pub fn append(&mut self, frame: &NewFrame) -> Result<u64, LogError> {
        assert_eq!(self.length, Some(frame.seen), "a frame goes onto the log that it was made from");
        match frame.place {
            Place::At(end) => {
                // The creator may have died before its sync; only the first number can be without one.
                self.is_new |= frame.number == 1;
                self.sync_name()?;
                self.write(end, frame)?;
            }
            Place::NewFile => self.replace(frame)?,
        }
        Ok(frame.number)
    }

    /// Empties the log, of which nothing may be live any more. Not synced: numbers that are consumed never count.
    ///
    /// But where its name may not be on the disk yet, that comes first: nobody could tell any more.
    pub fn truncate(&mut self) -> Result<(), LogError> {
        self.sync_name()?;
        self.cut(0)
    }

    /// Empties the log, of which nothing may be live any more, and what a killed writer left beside it: on the disk when this
    /// returns.
    pub fn clear(&mut self) -> Result<(), LogError> {
        let successor = self.file.create_successor();
        successor.map_err(LogError::io("creating the successor of", &self.path))?.abandon();
        self.truncate()?;
        self.file.sync_data().map_err(LogError::io("truncating", &self.path))
    }

    fn sync_name(&mut self) -> Result<(), LogError> {
        if self.is_new {
            self.file.sync_directory().map_err(LogError::io("syncing the directory of", &self.path))?;
            self.is_new = false;
        }
        Ok(())
    }

    fn cut(&mut self, length: u64) -> Result<(), LogError> {
        self.length = None;
        self.file.set_length(length).map_err(LogError::io("truncating", &self.path))?;
        self.length = Some(length);
        Ok(())
    }

    fn write(&mut self, end: u64, frame: &NewFrame) -> Result<(), LogError> {
        if end < frame.seen {
            self.cut(end)?;
        }
        let written = self.file.write_at(end, &frame.bytes).and_then(|()| self.file.sync_data());
        match written {
            Ok(()) => {
                self.length = Some(end + frame.bytes.len() as u64);
                Ok(())
            }
            Err(source) => {
                // The first error is the one to tell; what can't be cut off is made a torn tail for the next writer.
                if self.cut(end).is_err() {
                    drop(self.file.write_at(end, &[0]));
                }
                Err(LogError::io("writing", &self.path)(source))
            }
        }
    }

    fn replace(&mut self, frame: &NewFrame) -> Result<(), LogError> {
        let mut successor =
            self.file.create_successor().map_err(LogError::io("creating the successor of", &self.path))?;
        let written = successor
            .write_at(0, &frame.bytes)
            .and_then(|()| successor.sync_data())
            .and_then(|()| successor.take_place());
        if let Err(source) = written {
            successor.abandon();
            return Err(LogError::io("folding", &self.path)(source));
        }
        self.file = successor;
        self.length = Some(frame.bytes.len() as u64);
        self.is_new = true;
        self.sync_name()
    }
}

#[cfg(test)]
mod tests {
    use super::super::frame::StoredId;
    use super::super::{Change, Staged};
    use super::*;
    use crate::model::NodeId;
    use std::cell::RefCell;
    use std::rc::Rc;

    /// A directory in memory that notes every call and fails the one that it is told to.
    #[derive(Debug, Default)]
    struct Disk {
        log: Vec<u8>,
        successor: Option<Vec<u8>>,
        calls: Vec<&'static str>,
        fails: Option<usize>,
        fails_also: Option<usize>,
    }

    #[derive(Debug)]
    struct MemoryFile {
        disk: Rc<RefCell<Disk>>,
        is_successor: bool,
    }

    impl MemoryFile {
        fn call(&mut self, name: &'static str) -> io::Result<()> {
            let mut disk = self.disk.borrow_mut();
            disk.calls.push(name);
            let fails = [disk.fails, disk.fails_also].contains(&Some(disk.calls.len()));
            if fails { Err(io::Error::other("told to fail")) } else { Ok(()) }
        }

        fn with<T>(&mut self, edit: impl FnOnce(&mut Vec<u8>) -> T) -> T {
            let mut disk = self.disk.borrow_mut();
            let disk = &mut *disk;
            edit(if self.is_successor { disk.successor.as_mut().expect("made") } else { &mut disk.log })
        }
    }

    impl LogFile for MemoryFile {
        fn read_all(&mut self) -> io::Result<Vec<u8>> {
            self.call("read")?;
            Ok(self.with(|bytes| bytes.clone()))
        }

        fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
            let outcome = self.call("write");
            let written = if outcome.is_ok() { bytes } else { &bytes[..bytes.len() / 2] };
            let offset = usize::try_from(offset).expect("fits");
            self.with(|file| {
                file.resize(file.len().max(offset + written.len()), 0);
                file[offset..][..written.len()].copy_from_slice(written);
            });
            outcome
        }

        fn set_length(&mut self, length: u64) -> io::Result<()> {
            self.call("set length")?;
            self.with(|file| file.resize(usize::try_from(length).expect("fits"), 0));
            Ok(())
        }

        fn sync_data(&mut self) -> io::Result<()> {
            self.call("sync")
        }

        fn sync_directory(&mut self) -> io::Result<()> {
            self.call("sync directory")
        }

        fn create_successor(&mut self) -> io::Result<Self> {
            self.call("create")?;
            self.disk.borrow_mut().successor = Some(Vec::new());
            Ok(Self { disk: Rc::clone(&self.disk), is_successor: true })
        }

        fn take_place(&mut self) -> io::Result<()> {
            self.call("rename")?;
            let mut disk = self.disk.borrow_mut();
            disk.log = disk.successor.take().expect("made");
            self.is_successor = false;
            Ok(())
        }

        fn abandon(self) {
            self.disk.borrow_mut().successor = None;
        }
    }

    type MemoryLog = StagedLog<MemoryFile>;

    /// A log in which `sizes` were staged for one id, one frame each.
    fn log_with(sizes: &[usize]) -> (Rc<RefCell<Disk>>, MemoryLog) {
        let disk = Rc::<RefCell<Disk>>::default();
        let file = MemoryFile { disk: Rc::clone(&disk), is_successor: false };
        let mut log = StagedLog::over(file, "staged/default".into(), false);
        for size in sizes {
            put(&mut log, "a", *size).expect("no fault");
        }
        disk.borrow_mut().calls.clear();
        (disk, log)
    }

    fn put(log: &mut MemoryLog, name: &str, size: usize) -> Result<u64, LogError> {
        let bytes = log.read()?;
        let (id, node) = (NodeId::new(name).expect("id"), vec![b'x'; size]);
        let change = Change::Set { id: StoredId::from(&id), base: None, node: &node };
        let frame = Staged::scan(log.path(), &bytes, 0)?.next_frame(None, [change])?;
        log.append(&frame)
    }

    fn staged(disk: &RefCell<Disk>) -> Vec<(String, usize)> {
        let disk = disk.borrow();
        let staged = Staged::scan(Path::new("staged/default"), &disk.log, 0).expect("a good log");
        let all = staged.replay().expect("a good log").into_iter();
        all.map(|(id, change)| (id.to_string(), change.node.map_or(0, <[u8]>::len))).collect()
    }

    /// Sizes after which the next frame of 400,000 bytes folds the log.
    const DUE: [usize; 5] = [400_000; 5];

    #[test]
    fn a_put_is_one_write_and_one_sync_and_the_first_syncs_the_directory() {
        let (disk, mut log) = log_with(&[]);
        assert_eq!(put(&mut log, "a", 1).expect("no fault"), 1);
        assert_eq!(put(&mut log, "a", 2).expect("no fault"), 2);
        let calls = ["read", "sync directory", "write", "sync", "read", "write", "sync"];
        assert_eq!(disk.borrow().calls, calls);
        assert_eq!(staged(&disk), [("a".to_owned(), 2)]);
    }

    #[test]
    fn a_file_that_was_just_created_syncs_the_directory_whatever_its_first_number() {
        let (disk, mut log) = log_with(&[]);
        log.is_new = true;
        let bytes = log.read().expect("no fault");
        let frame =
            Staged::scan(log.path(), &bytes, 7).and_then(|staged| staged.next_frame(None, [])).expect("a frame");
        assert_eq!(log.append(&frame).expect("no fault"), 8);
        assert_eq!(disk.borrow().calls, ["read", "sync directory", "write", "sync"]);
        assert!(!log.is_new);
    }

    #[test]
    fn a_torn_tail_is_cut_off_before_a_frame_is_written() {
        let (disk, mut log) = log_with(&[1]);
        disk.borrow_mut().log.extend_from_slice(&[0; 1000]);
        put(&mut log, "b", 2).expect("no fault");
        assert_eq!(disk.borrow().calls, ["read", "set length", "write", "sync"]);
        assert!(disk.borrow().log.len() < 300);
        assert_eq!(staged(&disk), [("a".to_owned(), 1), ("b".to_owned(), 2)]);
    }

    #[test]
    fn a_fold_is_synced_before_it_gets_the_name_and_the_directory_after() {
        let (disk, mut log) = log_with(&DUE);
        assert_eq!(put(&mut log, "b", 400_000).expect("no fault"), 6);
        assert_eq!(disk.borrow().calls, ["read", "create", "write", "sync", "rename", "sync directory"]);
        assert!(disk.borrow().log.len() < 900_000);
        assert_eq!(staged(&disk), [("a".to_owned(), 400_000), ("b".to_owned(), 400_000)]);
        assert_eq!(put(&mut log, "c", 1).expect("no fault"), 7);
        assert_eq!(disk.borrow().calls[6..], ["read", "sync directory", "write", "sync"]);
    }

    #[test]
    fn a_truncation_is_not_synced() {
        let (disk, mut log) = log_with(&[1]);
        log.truncate().expect("no fault");
        assert_eq!(disk.borrow().calls, ["set length"]);
        assert!(disk.borrow().log.is_empty());
    }

    #[test]
    fn a_frame_goes_only_onto_the_log_that_it_was_made_from() {
        let (_, mut log) = log_with(&[1]);
        let bytes = log.read().expect("no fault");
        let staged = Staged::scan(log.path(), &bytes, 0).expect("a good log");
        let (first, second) =
            (staged.next_frame(None, []).expect("a frame"), staged.next_frame(None, []).expect("a frame"));
        log.append(&first).expect("no fault");
        let stale = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| log.append(&second)));
        assert!(stale.is_err());
    }

    #[test]
    fn whatever_call_fails_the_log_comes_to_what_it_did_before_and_goes_on() {
        for (sizes, torn) in [(&[][..], 0), (&[1, 2], 0), (&[1, 2], 50), (&DUE, 0)] {
            for nth in 1.. {
                let (disk, mut log) = log_with(sizes);
                disk.borrow_mut().log.extend(vec![0; torn]);
                let before = staged(&disk);
                disk.borrow_mut().fails = Some(nth);
                let outcome = put(&mut log, "b", 400_000);
                let failed = disk.borrow().calls.get(nth - 1).copied();
                let renamed = disk.borrow().calls.contains(&"rename") && failed == Some("sync directory");
                assert_eq!(outcome.is_err(), failed.is_some(), "{sizes:?} {nth}");
                assert_eq!(staged(&disk) == before, outcome.is_err() && !renamed, "{sizes:?} {failed:?}");
                assert!(disk.borrow().successor.is_none(), "{failed:?} leaves a successor");
                if failed.is_none() {
                    break;
                }
                disk.borrow_mut().calls.clear();
                disk.borrow_mut().fails = None;
                put(&mut log, "c", 3).expect("no fault");
                assert!(!renamed || disk.borrow().calls.contains(&"sync directory"), "the name is still to be synced");
                assert!(staged(&disk).contains(&("c".to_owned(), 3)), "{sizes:?} {nth}");
            }
        }
    }

    #[test]
    fn the_name_of_a_fold_is_synced_by_the_next_writer_whose_maker_may_have_died() {
        for truncates in [false, true] {
            let (disk, mut log) = log_with(&DUE);
            put(&mut log, "b", 400_000).expect("no fault");
            let file = MemoryFile { disk: Rc::clone(&disk), is_successor: false };
            let mut log = MemoryLog::over(file, "staged/default".into(), false);
            disk.borrow_mut().calls.clear();
            if truncates {
                log.read().expect("no fault");
                log.truncate().expect("no fault");
                assert_eq!(disk.borrow().calls, ["read", "sync directory", "set length"]);
            } else {
                put(&mut log, "c", 1).expect("no fault");
                put(&mut log, "d", 1).expect("no fault");
                let calls = ["read", "sync directory", "write", "sync", "read", "write", "sync"];
                assert_eq!(disk.borrow().calls, calls);
                let file = MemoryFile { disk: Rc::clone(&disk), is_successor: false };
                put(&mut MemoryLog::over(file, "staged/default".into(), false), "e", 1).expect("no fault");
                assert_eq!(disk.borrow().calls[7..], ["read", "write", "sync"], "once is enough");
            }
        }
    }

    #[test]
    fn a_refused_frame_that_can_not_be_cut_off_is_spoiled() {
        let (disk, mut log) = log_with(&[1]);
        // read, write, then sync and set length
        disk.borrow_mut().fails = Some(3);
        disk.borrow_mut().fails_also = Some(4);
        put(&mut log, "b", 2).expect_err("the sync fails");
        assert_eq!(disk.borrow().calls, ["read", "write", "sync", "set length", "write"]);
        assert_eq!(staged(&disk), [("a".to_owned(), 1)]);
        put(&mut log, "c", 3).expect("no fault");
        assert_eq!(staged(&disk), [("a".to_owned(), 1), ("c".to_owned(), 3)]);
    }

    #[test]
    fn a_half_written_frame_that_can_not_be_cut_is_a_torn_tail() {
        let (disk, mut log) = log_with(&[1]);
        let bytes = log.read().expect("no fault");
        let frame =
            Staged::scan(log.path(), &bytes, 0).and_then(|staged| staged.next_frame(None, [])).expect("a frame");
        disk.borrow_mut().calls.clear();
        let half = frame.bytes.len() / 2;
        log.file.write_at(frame.seen, &frame.bytes[..half]).expect("no fault");
        assert_eq!(staged(&disk), [("a".to_owned(), 1)]);
        put(&mut log, "b", 2).expect("no fault");
        assert_eq!(staged(&disk), [("a".to_owned(), 1), ("b".to_owned(), 2)]);
    }
}
