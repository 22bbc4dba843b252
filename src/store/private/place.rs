//! Directories for private copies, in the temporary directory.
//!
//! Who makes one holds a lock on it, of which the system lets go when that process and the programs that it has started end,
//! however they end. So one whose lock can be had is a leftover, and whoever makes the next one removes it.

use super::super::StoreError;
use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, FdFlags, fcntl_setfd};
use std::fs::{File, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// What the name of a directory begins with that goes with its owner; a process id, `-` and [`RANDOM`] follow.
const PASSING: &str = "mnem-scratch-";
/// The same of one that stays.
const KEPT: &str = "mnem-kept-";
/// How many letters and digits a name ends with.
const RANDOM: usize = 8;

/// How often somebody who takes a new directory for a leftover may be faster than its owner.
const ATTEMPTS: usize = 100;

/// A directory of mode 0700 that is removed with all that is in it when this is dropped.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    _lock: File,
    passing: bool,
}

impl Scratch {
    /// Makes a directory in `temporary`, and removes leftovers there.
    pub fn create(temporary: &Path) -> Result<Self, StoreError> {
        let failed = |source| StoreError::Io { action: "creating a directory in", path: temporary.to_owned(), source };
        // A temporary directory may be named relative to where a program starts, and the copy is used from elsewhere.
        let temporary = temporary.canonicalize().map_err(failed)?;
        sweep(&temporary);
        for _ in 0..ATTEMPTS {
            let made = tempfile::Builder::new()
                .prefix(&format!("{PASSING}{}-", std::process::id()))
                .rand_bytes(RANDOM)
                .tempdir_in(&temporary)
                .map_err(failed)?;
            // The mode that a directory begins with hangs on the umask.
            match std::fs::set_permissions(made.path(), Permissions::from_mode(0o700)) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                set => set.map_err(failed)?,
            }
            if let Some(lock) = lock(made.path()).map_err(failed)? {
                // A program that outlives us has the copy until it ends: it holds the lock too.
                fcntl_setfd(&lock, FdFlags::empty()).map_err(|error| failed(error.into()))?;
                return Ok(Self { path: made.keep(), _lock: lock, passing: true });
            }
        }
        Err(failed(io::ErrorKind::ResourceBusy.into()))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Lets it stay for good, under another name.
    pub fn keep(mut self) -> Result<Self, StoreError> {
        let name = self.path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_prefix(PASSING));
        let kept = self.path.with_file_name(format!("{KEPT}{}", name.expect("it was given such a name")));
        std::fs::rename(&self.path, &kept).map_err(|source| StoreError::Io {
            action: "renaming to",
            path: kept.clone(),
            source,
        })?;
        self.path = kept;
        self.passing = false;
        Ok(self)
    }

    /// Removes it now, unless it is kept, and says what is in the way.
    pub fn remove(mut self) -> Result<(), StoreError> {
        let passing = std::mem::replace(&mut self.passing, false);
        let removed = if passing { std::fs::remove_dir_all(&self.path) } else { Ok(()) };
        removed.map_err(|source| StoreError::Io { action: "removing", path: self.path.clone(), source })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if self.passing {
            // What stays in spite of it is a leftover for the next one.
            let _removed = std::fs::remove_dir_all(&self.path);
        }
    }
}

/// Removes what dead processes left behind. What cannot be removed is in nobody's way.
fn sweep(temporary: &Path) {
    for entry in std::fs::read_dir(temporary).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(is_passing)
            && let Ok(Some(_lock)) = lock(&entry.path())
        {
            let _removed = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether a directory of this name goes with its owner.
fn is_passing(name: &str) -> bool {
    let parts = name.strip_prefix(PASSING).and_then(|rest| rest.split_once('-'));
    parts.is_some_and(|(process, random)| {
        process.parse::<u32>().is_ok() && random.len() == RANDOM && random.bytes().all(|b| b.is_ascii_alphanumeric())
    })
}

/// Opens and locks a directory of our own; `None` for one whose owner lives, for somebody else's, and for what is none.
fn lock(path: &Path) -> io::Result<Option<File>> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY;
    let directory = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(descriptor) => File::from(descriptor),
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::ACCESS) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let metadata = directory.metadata()?;
    if metadata.uid() != rustix::process::geteuid().as_raw() || metadata.mode() & 0o777 != 0o700 {
        return Ok(None);
    }
    match directory.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(None),
        Err(TryLockError::Error(error)) => return Err(error),
    }
    // Who had the lock before may have removed or renamed it.
    let same = |there: &std::fs::Metadata| (there.dev(), there.ino()) == (metadata.dev(), metadata.ino());
    Ok(std::fs::symlink_metadata(path).is_ok_and(|there| same(&there)).then_some(directory))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).expect("a directory");
        let mut names: Vec<_> =
            entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    fn leave(directory: &Path, name: &str) -> PathBuf {
        let path = directory.join(name);
        fs::create_dir(&path).expect("a directory");
        fs::write(path.join("file"), "x").expect("a file");
        fs::set_permissions(&path, Permissions::from_mode(0o700)).expect("permissions");
        path
    }

    #[test]
    fn a_directory_goes_when_it_is_dropped_or_removed_and_stays_when_it_is_kept() {
        let temporary = tempfile::tempdir().expect("a directory");
        let scratch = Scratch::create(temporary.path()).expect("a directory");
        let mode = fs::metadata(scratch.path()).expect("metadata").mode() & 0o777;
        assert_eq!((scratch.path().is_absolute(), mode), (true, 0o700));
        fs::write(scratch.path().join("file"), "x").expect("a file");
        drop(scratch);
        assert!(names(temporary.path()).is_empty());
        let scratch = Scratch::create(temporary.path()).expect("a directory");
        fs::write(scratch.path().join("file"), "x").expect("a file");
        scratch.remove().expect("removed");
        assert!(names(temporary.path()).is_empty());

        let kept = Scratch::create(temporary.path()).expect("a directory").keep().expect("renamed");
        let path = kept.path().to_owned();
        kept.remove().expect("nothing to do");
        assert!(path.is_dir());
        drop(Scratch::create(temporary.path()).expect("a directory").keep().expect("renamed"));
        drop(Scratch::create(temporary.path()));
        assert_eq!(names(temporary.path()).len(), 2, "and nobody takes it for a leftover");
    }

    #[test]
    fn who_makes_the_next_one_removes_what_dead_processes_left() {
        let temporary = tempfile::tempdir().expect("a directory");
        let name = |end: &str| format!("{PASSING}{end}");
        let living = Scratch::create(temporary.path()).expect("a directory");
        leave(temporary.path(), &name("1-abcdEF12"));
        let stays = [
            leave(temporary.path(), &name("notes")),
            leave(temporary.path(), &name("1-abcdEF1")),
            leave(temporary.path(), &name("x-abcdEF12")),
            leave(temporary.path(), &name("1-abcd.F12")),
            leave(temporary.path(), "mnem-other-1-abcdEF12"),
            leave(temporary.path(), &format!("{KEPT}1-abcdEF12")),
            leave(temporary.path(), &name("2-abcdEF12")),
        ];
        fs::set_permissions(&stays[6], Permissions::from_mode(0o755)).expect("permissions");
        fs::write(temporary.path().join(name("3-abcdEF12")), "x").expect("a file");
        symlink(&stays[0], temporary.path().join(name("4-abcdEF12"))).expect("a link");
        let scratch = Scratch::create(temporary.path()).expect("a directory");
        for path in stays.iter().map(PathBuf::as_path).chain([living.path(), scratch.path()]) {
            assert!(path.is_dir(), "{}", path.display());
        }
        assert!(stays[0].join("file").exists(), "a link is not followed");
        assert_eq!(names(temporary.path()).len(), stays.len() + 4, "{:?}", names(temporary.path()));
    }

    #[test]
    fn the_directory_of_another_user_is_left_alone() {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let temporary = tempfile::tempdir().expect("a directory");
        let other = leave(temporary.path(), &format!("{PASSING}1-abcdEF12"));
        std::os::unix::fs::chown(&other, Some(65534), None).expect("owner");
        drop(Scratch::create(temporary.path()).expect("a directory"));
        assert!(other.is_dir());
    }

    #[test]
    fn a_temporary_directory_that_is_none_is_named() {
        let temporary = tempfile::tempdir().expect("a directory");
        let none = temporary.path().join("none");
        let Err(StoreError::Io { path, .. }) = Scratch::create(&none) else { panic!("it is not there") };
        assert_eq!(path, none);
    }
}
