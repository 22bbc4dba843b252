//! Whose stores are trusted, where they are looked for, and what stands in the place of their files.

use super::place::{Answer, Mounted, NOBODY, Place, answer, is_root, set_mode};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

/// What every directory and every file of a store has.
const MODES: (u32, u32) = (0o700, 0o600);

fn modes(directory: &Path) -> Vec<(PathBuf, u32, u32)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        let is_directory = path.is_dir();
        let right = if is_directory { MODES.0 } else { MODES.1 };
        found.push((path.clone(), fs::metadata(&path).expect("there").permissions().mode() & 0o7777, right));
        if is_directory {
            found.extend(modes(&path));
        }
    }
    found
}

#[test]
fn nobody_else_may_enter_a_store_whatever_the_umask() {
    for umask in ["umask 0", "umask 077", "umask 0277"] {
        let place = Place::empty();
        let large = place.path().join("large");
        fs::write(&large, "x".repeat(700_000)).expect("written");
        let run = |arguments: &[&str]| {
            assert_eq!(answer(&mut place.shell(umask, arguments)).status, 0, "{umask}: {arguments:?}");
        };
        run(&["init"]);
        run(&["put", "a", "b"]);
        run(&["commit", "-m", "m"]);
        // So much that the log is folded into a new file.
        for number in 0..5 {
            fs::write(&large, format!("{number}{}", "x".repeat(700_000))).expect("written");
            run(&["put", "a", "-F", "large"]);
        }
        run(&["--session", "other", "put", "a", "b", "-m", "m"]);
        run(&["--session", "other", "put", "c", "staged"]);
        let mode = fs::metadata(place.store()).expect("there").permissions().mode() & 0o7777;
        assert_eq!(mode, MODES.0, "{umask}");
        let found = modes(&place.store());
        assert!(found.len() >= 5, "{found:?}");
        for (path, mode, right) in found {
            assert_eq!(mode, right, "{umask}: {}", path.display());
        }
    }
}

fn unsafe_store(store: &Path, why: &str) -> Answer {
    let path = store.display();
    let message = format!("mnem: error[unsafe-store]: the memory store '{path}' is not trusted: {why}\n");
    Answer::new(128, "", &format!("{message}hint: to trust it: export MNEM_SAFE_DIRECTORY='{path}'\n"))
}

fn place() -> Place {
    let place = Place::new();
    place.ok(&["put", "a", "1", "-m", "m"]);
    place
}

/// Refused by every command and every way to name it, unless it is trusted.
fn is_refused(place: &Place, why: &str) {
    let store = place.path().canonicalize().expect("there").join(".mnemosyne");
    for arguments in
        [&["get", "a"][..], &["log"], &["put", "b", "2"], &["put", "b", "2", "-m", "m"], &["commit", "-m", "m"]]
    {
        assert_eq!(place.run(arguments), unsafe_store(&store, why));
    }
    let path = store.to_str().expect("UTF-8");
    assert_eq!(place.run(&["--store", path, "get", "a"]), unsafe_store(&store, why));
    assert_eq!(answer(place.command(&["get", "a"]).env("MNEM_DIR", path)), unsafe_store(&store, why));

    let right = Answer::new(0, "1", "");
    let parent = place.path().to_str().expect("UTF-8");
    for safe in [path, parent, "*", &format!("/nowhere:{path}"), &format!("{parent}/")] {
        assert_eq!(answer(place.command(&["get", "a"]).env("MNEM_SAFE_DIRECTORY", safe)), right, "{safe}");
    }
    for other in ["", "/nowhere", &format!("{path}/staged"), ".mnemosyne"] {
        let refused = answer(place.command(&["get", "a"]).env("MNEM_SAFE_DIRECTORY", other));
        assert_eq!(refused, unsafe_store(&store, why), "{other}");
    }
}

#[test]
fn what_all_may_write_is_refused() {
    for part in ["", "store.redb", "staged", "staged/default"] {
        let place = place();
        place.ok(&["put", "z", "1"]);
        let path = place.store().join(part);
        set_mode(&path, if part.is_empty() { 0o702 } else { 0o602 });
        is_refused(&place, "anyone may write to it");
    }
}

#[test]
fn a_link_in_the_place_of_a_store_is_refused() {
    let place = place();
    let moved = place.path().join("moved");
    fs::rename(place.store(), &moved).expect("moved");
    symlink(&moved, place.store()).expect("a link");
    is_refused(&place, "it is a symbolic link");
}

#[test]
fn what_belongs_to_another_user_is_refused_unless_root_acts_for_that_user() {
    if !is_root("stores of other users") {
        return;
    }
    let why = format!("it belongs to user {NOBODY}, you are user 0");
    for part in ["", "store.redb", "staged", "staged/default"] {
        let place = place();
        place.ok(&["put", "z", "1"]);
        chown(place.store().join(part), Some(NOBODY), None).expect("given away");
        is_refused(&place, &why);
        let store = place.path().canonicalize().expect("there").join(".mnemosyne");
        for (user, right) in [
            ("65534", Answer::new(0, "1", "")),
            ("65533", unsafe_store(&store, &why)),
            ("x", unsafe_store(&store, &why)),
        ] {
            assert_eq!(answer(place.command(&["get", "a"]).env("SUDO_UID", user)), right, "{user}");
        }
    }
    // SUDO_UID is believed when root says it, and nobody else.
    let mut place = place();
    set_mode(&place.store(), 0o755);
    set_mode(&place.database(), 0o644);
    let store = place.path().canonicalize().expect("there").join(".mnemosyne");
    let refused = answer(place.as_nobody(&["get", "a"]).env("SUDO_UID", "0"));
    assert_eq!(refused, unsafe_store(&store, &format!("it belongs to user 0, you are user {NOBODY}")));
}

#[test]
fn root_that_acts_for_somebody_leaves_the_store_to_them() {
    if !is_root("a store of another user") {
        return;
    }
    let mut place = place();
    for path in [place.path().to_owned(), place.store(), place.store().join("staged"), place.database()] {
        chown(&path, Some(NOBODY), Some(NOBODY)).expect("given away");
    }
    let log = place.store().join("staged/default");
    fs::remove_file(&log).ok();
    assert_eq!(answer(place.command(&["put", "b", "2"]).env("SUDO_UID", "65534")), Answer::new(0, "b\n", ""));
    assert_eq!(fs::metadata(&log).map(|metadata| metadata.uid()).expect("a log"), NOBODY);
    assert_eq!(answer(&mut place.as_nobody(&["get", "b"])), Answer::new(0, "2", ""));
    assert_eq!(answer(&mut place.as_nobody(&["put", "c", "3"])), Answer::new(0, "c\n", ""));
}

/// Things that are no regular file: a FIFO, a socket, a directory, a link.
const OTHERS: [&str; 4] = ["fifo", "socket", "directory", "link"];

fn plant(kind: &str, path: &Path) {
    match kind {
        "fifo" => mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a FIFO"),
        "socket" => drop(UnixListener::bind(path).expect("a socket")),
        "directory" => fs::create_dir(path).expect("a directory"),
        "link" => symlink("/etc/hostname", path).expect("a link"),
        _ => fs::write(path, "x").expect("a file"),
    }
}

const COMMANDS: [&[&str]; 6] = [
    &["get", "a"],
    &["log", "--ids"],
    &["put", "b", "2"],
    &["put", "b", "2", "-m", "m"],
    &["commit", "-m", "m"],
    &["restore", "a"],
];

#[test]
fn what_is_no_database_file_is_corrupt_and_nothing_hangs() {
    for kind in OTHERS {
        let place = place();
        fs::remove_file(place.database()).expect("removed");
        plant(kind, &place.database());
        let path = place.database().canonicalize().map_or(place.database(), |_| place.database());
        for arguments in COMMANDS {
            let answer = place.run(arguments);
            assert!(answer.is_error(128, "corrupt"), "{kind}, {arguments:?}: {answer:?}");
            assert!(answer.err.contains(&format!("'{}' is ", path.display())), "{kind}: {answer:?}");
        }
        assert!(place.run(&["init"]).is_error(128, "corrupt"), "what can't be used is not initialised");
    }
    for (bytes, why) in [(Some(""), "has no bytes"), (None, "is missing")] {
        let place = place();
        fs::remove_file(place.database()).expect("removed");
        if let Some(bytes) = bytes {
            fs::write(place.database(), bytes).expect("written");
        }
        for arguments in COMMANDS {
            let answer = place.run(arguments);
            assert!(answer.is_error(128, "corrupt") && answer.err.contains(why), "{arguments:?}: {answer:?}");
        }
        assert!(place.run(&["init"]).is_error(128, "corrupt"), "what can't be used is not initialised");
        assert_eq!(
            fs::metadata(place.database()).map(|metadata| metadata.len()).unwrap_or(0),
            0,
            "nothing was created"
        );
    }
}

#[test]
fn what_is_no_log_is_corrupt_and_nothing_hangs() {
    for kind in OTHERS {
        let place = place();
        plant(kind, &place.store().join("staged/planted"));
        for arguments in COMMANDS {
            let answer = place.run(&[&["--session", "planted"], arguments].concat());
            assert!(answer.is_error(128, "corrupt"), "{kind}, {arguments:?}: {answer:?}");
        }
        assert_eq!(place.ok(&["get", "a"]), "1", "another session is not concerned");
    }
}

#[test]
fn what_stands_in_the_place_of_the_logs_is_an_error_and_nothing_hangs() {
    for kind in ["fifo", "socket", "file"] {
        let place = place();
        fs::remove_dir_all(place.store().join("staged")).expect("removed");
        plant(kind, &place.store().join("staged"));
        for arguments in COMMANDS {
            let answer = place.run(arguments);
            assert!(answer.status == 128 && answer.word().is_some(), "{kind}, {arguments:?}: {answer:?}");
        }
    }
}

#[test]
fn what_is_no_directory_is_no_store_and_nothing_hangs() {
    for kind in ["fifo", "socket", "file"] {
        let place = Place::empty();
        plant(kind, &place.store());
        let path = place.path().canonicalize().expect("there").join(".mnemosyne");
        let hint = "hint: move it away, then create one with 'mnem init'";
        let refused =
            Answer::new(128, "", &format!("mnem: error[no-store]: '{}' is not a directory\n{hint}\n", path.display()));
        for arguments in COMMANDS.iter().chain(&[&["init"][..]]) {
            assert_eq!(place.run(arguments), refused, "{kind}, {arguments:?}");
        }
        let trusted = answer(place.command(&["get", "a"]).env("MNEM_SAFE_DIRECTORY", "*"));
        assert_eq!(trusted, refused, "{kind}");
    }
}

fn no_store(start: &Path) -> Answer {
    let message = format!("no memory store in '{}' or any parent directory", start.display());
    Answer::new(128, "", &format!("mnem: error[no-store]: {message}\nhint: create one with 'mnem init'\n"))
}

#[test]
fn the_search_ends_at_a_ceiling() {
    let place = place();
    let path = place.path().canonicalize().expect("there");
    let below = path.join("x/y");
    fs::create_dir_all(&below).expect("a directory");
    let from =
        |ceilings: &str| answer(place.command(&["-C", "x/y", "get", "a"]).env("MNEM_CEILING_DIRECTORIES", ceilings));
    for ceilings in ["", "/nowhere", below.to_str().expect("UTF-8"), "x"] {
        assert_eq!(from(ceilings), Answer::new(0, "1", ""), "{ceilings}");
    }
    for ceiling in [&path, &path.join("x")] {
        assert_eq!(from(&format!("/nowhere:{}", ceiling.display())), no_store(&below));
    }
}

#[test]
fn the_search_ends_where_another_file_system_begins() {
    let test = "file-system boundaries";
    if !is_root(test) {
        return;
    }
    let place = place();
    let Some(mounted) = Mounted::tmpfs(&place.path().join("mounted"), "size=1m", test) else { return };
    fs::create_dir(mounted.path().join("below")).expect("a directory");
    let start = mounted.path().canonicalize().expect("there");
    for (from, start) in [("mounted", start.clone()), ("mounted/below", start.join("below"))] {
        assert_eq!(place.run(&["-C", from, "get", "a"]), no_store(&start));
    }
    let named = answer(place.command(&["-C", "mounted", "get", "a"]).env("MNEM_DIR", "../.mnemosyne"));
    assert_eq!(named, Answer::new(0, "1", ""), "whoever names it finds it");
}

#[test]
fn a_store_that_is_copied_moved_or_reached_by_a_link_works() {
    let place = place();
    place.ok(&["put", "b", "staged"]);
    let (copy, moved, link) = (place.path().join("copy"), place.path().join("moved"), place.path().join("link"));
    fs::create_dir_all(copy.join(".mnemosyne/staged")).expect("a directory");
    fs::create_dir(&moved).expect("a directory");
    for directory in [copy.join(".mnemosyne"), copy.join(".mnemosyne/staged")] {
        set_mode(&directory, 0o700);
    }
    for file in ["store.redb", "staged/default"] {
        fs::copy(place.store().join(file), copy.join(".mnemosyne").join(file)).expect("copied");
    }
    fs::rename(place.store(), moved.join(".mnemosyne")).expect("moved");
    symlink(&moved, &link).expect("a link");
    place.ok(&["-C", "copy", "put", "a", "2", "-m", "m"]);
    place.ok(&["-C", "link", "put", "a", "3", "-m", "m"]);
    for (directory, text) in [("copy", "2"), ("moved", "3"), ("link", "3")] {
        assert_eq!(place.ok(&["-C", directory, "get", "a"]), text);
        assert_eq!(place.ok(&["-C", directory, "get", "b"]), "staged");
        assert_eq!(place.ok(&["-C", directory, "log", "--ids"]).lines().count(), 2);
    }
}
