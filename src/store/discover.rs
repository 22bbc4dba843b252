//! Finding a store, and refusing one that somebody else may have planted.
//!
//! A planted store feeds an agent false memories, or collects what it writes. So a store that is a symbolic link, has
//! another owner, or may be written by others is refused, unless it is named as trusted.

use super::StoreError;
use super::init::STAGED_DIRECTORY;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};

/// The name of the directory.
pub const STORE_DIRECTORY: &str = ".mnemosyne";
/// The name of the database in it.
pub const DATABASE_FILE: &str = "store.redb";

/// What an open must not do: follow a link, wait for the other end of a FIFO, outlive an exec.
pub(super) fn careful_flags() -> i32 {
    (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC).bits().cast_signed()
}

/// Whom to trust.
#[derive(Clone, Debug, Default)]
pub struct Trust {
    /// Stores, or the directories that hold them, that are trusted whoever owns them.
    pub safe: Vec<PathBuf>,
    /// Whether every store is trusted.
    pub all: bool,
    /// The user for whom root acts.
    pub sudo_user: Option<u32>,
}

/// Walks up from `start` to the first directory that holds a store and returns that store's path.
///
/// Stops at a file-system boundary, and never goes up into one of `ceilings`.
pub fn discover(start: &Path, ceilings: &[PathBuf], trust: &Trust) -> Result<PathBuf, StoreError> {
    let none = || StoreError::NoStore { start: start.to_owned() };
    let device = |path: &Path| std::fs::metadata(path).map(|metadata| metadata.dev());
    let first = device(start).map_err(|_| none())?;
    for directory in start.ancestors() {
        if directory != start && (ceilings.iter().any(|c| c == directory) || device(directory).ok() != Some(first)) {
            return Err(none());
        }
        let store = directory.join(STORE_DIRECTORY);
        match std::fs::symlink_metadata(&store) {
            Ok(_) => return check(&store, trust).map(|()| store),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(source) => return Err(StoreError::Io { action: "looking for", path: store, source }),
        }
    }
    Err(none())
}

/// Takes the store that the option or variable `named_by` names.
pub fn named(path: &Path, named_by: &'static str, trust: &Trust) -> Result<PathBuf, StoreError> {
    match std::fs::symlink_metadata(path) {
        Ok(_) if is_another_directory(path) => Err(StoreError::NoStoreAt { path: path.to_owned(), named_by }),
        Ok(_) => check(path, trust).map(|()| path.to_owned()),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Err(StoreError::NoStoreAt { path: path.to_owned(), named_by })
        }
        Err(source) => Err(StoreError::Io { action: "looking for", path: path.to_owned(), source }),
    }
}

/// Whether `path` is a directory, but has nothing of a store: the one that holds a store, perhaps.
fn is_another_directory(path: &Path) -> bool {
    let is_missing = |name| matches!(path.join(name).try_exists(), Ok(false));
    path.is_dir() && is_missing(DATABASE_FILE) && is_missing(STAGED_DIRECTORY)
}

/// Refuses a store that is not trusted. Owner and mode are those of what was opened, not of what the path names later.
pub fn check(store: &Path, trust: &Trust) -> Result<(), StoreError> {
    if is_named_safe(store, trust) {
        return if store.is_dir() { Ok(()) } else { Err(StoreError::NotADirectory { path: store.to_owned() }) };
    }
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY;
    let refused = |why: &str| StoreError::Unsafe { path: store.to_owned(), why: why.to_owned() };
    let directory = match rustix::fs::open(store, flags, Mode::empty()) {
        Ok(descriptor) => File::from(descriptor),
        Err(error) => {
            let link = std::fs::symlink_metadata(store).is_ok_and(|metadata| metadata.file_type().is_symlink());
            return Err(match error {
                _ if link => refused("it is a symbolic link"),
                Errno::NOTDIR => StoreError::NotADirectory { path: store.to_owned() },
                error => StoreError::Io { action: "opening", path: store.to_owned(), source: error.into() },
            });
        }
    };
    check_owner(&metadata_of(&directory, store)?, store, trust)?;
    check_staged(store, trust)?;
    let file = store.join(DATABASE_FILE);
    match open_database_file(&file, false) {
        Ok(file) => check_owner(&metadata_of(&file, store)?, store, trust),
        // A damaged store is not an unsafe one; whoever opens it says what is wrong.
        Err(_) => Ok(()),
    }
}

/// The logs are part of the memory too. A directory that only its owner may write to keeps what was looked at.
fn check_staged(store: &Path, trust: &Trust) -> Result<(), StoreError> {
    let staged = store.join(STAGED_DIRECTORY);
    let planted = |path: &Path| match std::fs::symlink_metadata(path) {
        Ok(metadata) if metadata.file_type().is_symlink() => {
            Err(StoreError::Unsafe { path: store.to_owned(), why: format!("'{}' is a symbolic link", path.display()) })
        }
        Ok(metadata) => check_owner(&metadata, store, trust),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(source) => Err(StoreError::Io { action: "looking at", path: path.to_owned(), source }),
    };
    planted(&staged)?;
    // One that may not be read, or is none, is told of by whoever needs it. A link in the place of a log is never
    // followed, and concerns just that session.
    for entry in std::fs::read_dir(&staged).into_iter().flatten().flatten() {
        if !entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
            planted(&entry.path())?;
        }
    }
    Ok(())
}

fn metadata_of(file: &File, store: &Path) -> Result<Metadata, StoreError> {
    file.metadata().map_err(|source| StoreError::Io { action: "looking at", path: store.to_owned(), source })
}

fn check_owner(metadata: &Metadata, store: &Path, trust: &Trust) -> Result<(), StoreError> {
    let user = rustix::process::geteuid();
    let mine = metadata.uid() == user.as_raw() || (user.is_root() && trust.sudo_user == Some(metadata.uid()));
    let why = if !mine {
        format!("it belongs to user {}, you are user {}", metadata.uid(), user.as_raw())
    } else if metadata.mode() & 0o002 != 0 {
        "anyone may write to it".to_owned()
    } else {
        return Ok(());
    };
    Err(StoreError::Unsafe { path: store.to_owned(), why })
}

fn is_named_safe(store: &Path, trust: &Trust) -> bool {
    if trust.all {
        return true;
    }
    let store = plain(store);
    let names = |safe: &PathBuf| {
        let safe = plain(safe);
        store == safe || store.parent() == Some(&safe)
    };
    trust.safe.iter().any(names)
}

/// The path without links above its last part, or at least without `.` and a slash at the end.
fn plain(path: &Path) -> PathBuf {
    let resolved = match (path.parent().map(Path::canonicalize), path.file_name()) {
        (Some(Ok(parent)), Some(name)) => parent.join(name),
        _ => path.to_owned(),
    };
    resolved.components().filter(|part| *part != Component::CurDir).collect()
}

/// Opens the database file; what is no regular file, and what has no bytes, is damage.
pub fn open_database_file(path: &Path, write: bool) -> Result<File, StoreError> {
    let fault = |what: &str| StoreError::corrupt(format!("'{}' {what}", path.display()));
    let opened = File::options().read(true).write(write).custom_flags(careful_flags()).open(path);
    let failed = |source: io::Error| match Errno::from_io_error(&source) {
        Some(Errno::LOOP) => fault("is a symbolic link"),
        Some(Errno::NOENT) => fault("is missing"),
        Some(Errno::ISDIR | Errno::NXIO) => fault("is not a regular file"),
        _ => StoreError::Io { action: "opening", path: path.to_owned(), source },
    };
    let file = opened.map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if !metadata.is_file() {
        return Err(fault("is not a regular file"));
    }
    if metadata.len() == 0 {
        return Err(fault("has no bytes"));
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn store_in(directory: &Path) -> PathBuf {
        let store = directory.join(STORE_DIRECTORY);
        fs::create_dir_all(&store).expect("directory");
        fs::set_permissions(&store, fs::Permissions::from_mode(0o700)).expect("mode");
        let database = store.join(DATABASE_FILE);
        fs::write(&database, "x").expect("file");
        fs::set_permissions(&database, fs::Permissions::from_mode(0o600)).expect("mode");
        store
    }

    fn place() -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().expect("directory");
        let path = directory.path().canonicalize().expect("path");
        fs::create_dir_all(path.join("a/b")).expect("directory");
        (directory, path)
    }

    #[test]
    fn a_store_is_found_from_below() {
        let (_keep, path) = place();
        let store = store_in(&path);
        for start in ["", "a", "a/b"] {
            assert_eq!(discover(&path.join(start), &[], &Trust::default()).expect("found"), store);
        }
    }

    #[test]
    fn the_search_never_goes_up_into_a_ceiling() {
        let (_keep, path) = place();
        store_in(&path);
        let found =
            |start: &str, ceiling: &str| discover(&path.join(start), &[path.join(ceiling)], &Trust::default()).is_ok();
        assert!(!found("a/b", "a"));
        assert!(!found("a/b", ""), "the ceiling itself is not searched");
        assert!(found("", ""), "but for where the search begins");
        assert!(found("a", "a"), "a ceiling at the start stops nothing");
        assert!(found("a/b", "elsewhere"));
    }

    #[test]
    fn a_link_and_a_store_that_all_may_write_are_refused_unless_named_safe() {
        let (_keep, path) = place();
        let store = store_in(&path.join("a"));
        symlink(&store, path.join(STORE_DIRECTORY)).expect("link");
        let linked = discover(&path, &[], &Trust::default());
        assert!(matches!(linked, Err(StoreError::Unsafe { .. })), "{linked:?}");
        for safe in [path.clone(), path.join(STORE_DIRECTORY), path.join("./.mnemosyne/")] {
            assert!(discover(&path, &[], &Trust { safe: vec![safe.clone()], ..Trust::default() }).is_ok(), "{safe:?}");
        }
        assert!(discover(&path, &[], &Trust { all: true, ..Trust::default() }).is_ok());
        assert!(discover(&path, &[], &Trust { safe: vec![path.join("a")], ..Trust::default() }).is_err());

        fs::set_permissions(&store, fs::Permissions::from_mode(0o702)).expect("mode");
        assert!(matches!(named(&store, "--store", &Trust::default()), Err(StoreError::Unsafe { .. })));
        fs::set_permissions(&store, fs::Permissions::from_mode(0o770)).expect("mode");
        assert!(named(&store, "--store", &Trust::default()).is_ok(), "a group may share a store");
        let refused = || matches!(named(&store, "--store", &Trust::default()), Err(StoreError::Unsafe { .. }));
        let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("mode");
        let staged = store.join(STAGED_DIRECTORY);
        fs::create_dir(&staged).expect("directory");
        mode(&staged, 0o702);
        assert!(refused());
        mode(&staged, 0o700);
        fs::write(staged.join("default"), "").expect("file");
        mode(&staged.join("default"), 0o606);
        assert!(refused());
        mode(&staged.join("default"), 0o600);
        assert!(!refused());
        fs::rename(&staged, path.join("elsewhere")).expect("moved");
        symlink(path.join("elsewhere"), &staged).expect("link");
        assert!(refused());
        fs::remove_file(&staged).expect("link");
        fs::rename(path.join("elsewhere"), &staged).expect("moved");
        mode(&store.join(DATABASE_FILE), 0o606);
        assert!(refused());
    }

    #[test]
    fn another_owner_is_refused_and_the_user_behind_root_is_not() {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let (_keep, path) = place();
        let store = store_in(&path);
        std::os::unix::fs::chown(&store, Some(65534), None).expect("owner");
        assert!(matches!(discover(&path, &[], &Trust::default()), Err(StoreError::Unsafe { .. })));
        assert!(discover(&path, &[], &Trust { sudo_user: Some(65534), ..Trust::default() }).is_ok());
        assert!(discover(&path, &[], &Trust { sudo_user: Some(65533), ..Trust::default() }).is_err());
        std::os::unix::fs::chown(&store, Some(0), None).expect("owner");
        std::os::unix::fs::chown(store.join(DATABASE_FILE), Some(65534), None).expect("owner");
        assert!(matches!(discover(&path, &[], &Trust::default()), Err(StoreError::Unsafe { .. })));
    }

    #[test]
    fn what_is_no_store_is_named() {
        let (_keep, path) = place();
        assert!(matches!(
            discover(&path.join("a/b"), std::slice::from_ref(&path), &Trust::default()),
            Err(StoreError::NoStore { .. })
        ));
        for other in ["none", "a"] {
            let found = named(&path.join(other), "MNEM_DIR", &Trust::default());
            assert!(matches!(found, Err(StoreError::NoStoreAt { .. })), "{other}: {found:?}");
        }
        fs::create_dir(path.join("a/staged")).expect("directory");
        assert!(named(&path.join("a"), "MNEM_DIR", &Trust::default()).is_ok(), "damage is told by whoever opens it");
        fs::write(path.join(STORE_DIRECTORY), "x").expect("file");
        assert!(matches!(discover(&path, &[], &Trust::default()), Err(StoreError::NotADirectory { .. })));
    }

    #[test]
    fn a_database_is_a_regular_file_with_bytes() {
        let (_keep, path) = place();
        let file = path.join("f");
        let fault = |path: &Path| matches!(open_database_file(path, false), Err(StoreError::Corrupt { .. }));
        assert!(fault(&file), "missing");
        fs::write(&file, "").expect("file");
        assert!(fault(&file), "empty");
        fs::write(&file, "x").expect("file");
        assert!(open_database_file(&file, true).is_ok());
        symlink(&file, path.join("l")).expect("link");
        assert!(fault(&path.join("l")), "link");
        assert!(fault(&path.join("a")), "directory");
        rustix::fs::mknodat(rustix::fs::CWD, path.join("p"), rustix::fs::FileType::Fifo, Mode::RUSR, 0).expect("FIFO");
        assert!(fault(&path.join("p")), "FIFO");
        drop(std::os::unix::net::UnixListener::bind(path.join("s")).expect("socket"));
        assert!(fault(&path.join("s")), "socket");
    }
}
