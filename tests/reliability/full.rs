//! No space, no permission, no more than so many bytes: an error, nothing lost, and on it goes when there is room.

use super::place::{Answer, Mounted, Place, answer, is_root, set_mode};
use std::fs;
use std::process::Command;

const LARGE: usize = 300_000;

fn large(place: &Place, number: usize) -> String {
    let text = format!("{number}{}", "x".repeat(LARGE));
    fs::write(place.path().join("large"), &text).expect("written");
    text
}

/// Puts large contents until it fails, and returns those that were acknowledged.
fn fill(place: &Place, command: &dyn Fn(&[&str]) -> Command, message: &[&str]) -> Vec<(String, String)> {
    let mut acknowledged = Vec::new();
    for number in 0.. {
        let (id, text) = (format!("large/{number}"), large(place, number));
        let answer = answer(&mut command(&[&["put", &id, "-F", "large"], message].concat()));
        if answer.status != 0 {
            assert!(answer.is_error(128, "io"), "{answer:?}");
            assert!(
                ["No space left on device", "File too large"].iter().any(|why| answer.err.contains(why)),
                "{answer:?}"
            );
            return acknowledged;
        }
        assert_eq!(answer, Answer::new(0, &format!("{id}\n"), ""));
        acknowledged.push((id, text));
        assert!(number < 100, "it is never full");
    }
    acknowledged
}

#[test]
fn a_full_disk_is_an_error_and_loses_nothing() {
    let test = "a full disk";
    if !is_root(test) {
        return;
    }
    for message in [&[][..], &["-m", "m"]] {
        let place = Place::empty();
        let Some(disk) = Mounted::tmpfs(&place.path().join("disk"), "size=4m,mode=700", test) else { return };
        let store = disk.path().join(".mnemosyne");
        let on_disk = |arguments: &[&str]| {
            let mut command = place.command(arguments);
            command.env("MNEM_DIR", &store);
            command
        };
        let ok = |arguments: &[&str]| {
            let answer = answer(&mut on_disk(arguments));
            assert_eq!((answer.status, answer.err.as_str()), (0, ""), "{arguments:?}");
            answer.out
        };
        ok(&["init"]);
        ok(&["put", "seed", "grain", "-m", "seed"]);
        let ballast = disk.path().join("ballast");
        fs::write(&ballast, vec![0; 1 << 20]).expect("written");

        let acknowledged = fill(&place, &on_disk, message);
        assert!(!acknowledged.is_empty(), "or it was full from the beginning");
        let all_is_there = || {
            assert_eq!(ok(&["get", "seed"]), "grain");
            for (id, text) in &acknowledged {
                assert!(ok(&["get", id]) == *text, "{id}");
            }
        };
        all_is_there();
        assert_eq!(ok(&["log", "--ids"]).lines().count(), if message.is_empty() { 1 } else { acknowledged.len() + 1 });

        fs::remove_file(&ballast).expect("removed");
        let more = large(&place, 1_000);
        ok(&["put", "more", "-F", "large", "-m", "there is room"]);
        assert!(ok(&["get", "more"]) == more);
        all_is_there();
    }
}

#[test]
fn an_init_on_a_full_disk_is_an_error_and_leaves_nothing() {
    let test = "init on a full disk";
    if !is_root(test) {
        return;
    }
    let place = Place::empty();
    let Some(disk) = Mounted::tmpfs(&place.path().join("disk"), "size=256k,mode=700", test) else { return };
    let full = fs::write(disk.path().join("ballast"), vec![0; 1 << 20]);
    full.expect_err("it is full");
    let answer = place.run(&["init", "disk"]);
    assert!(answer.is_error(128, "io") && answer.err.contains("No space left on device"), "{answer:?}");
    assert_eq!(fs::read_dir(disk.path()).expect("there").count(), 1, "only the ballast");
}

#[test]
fn a_limit_of_file_sizes_is_an_error_and_no_signal() {
    // In blocks of 512 bytes; the first stops the log, the others the database at different moments.
    for (limit, message) in [(1_000, &[][..]), (3_000, &["-m", "m"]), (4_100, &["-m", "m"])] {
        let place = Place::new();
        place.ok(&["put", "seed", "grain", "-m", "seed"]);
        let limited = |arguments: &[&str]| place.shell(&format!("ulimit -f {limit}"), arguments);
        let acknowledged = fill(&place, &limited, message);
        for (id, text) in &acknowledged {
            assert!(place.ok(&["get", id]) == *text, "{id}");
        }
        let commits = place.commits();
        assert_eq!(commits, if message.is_empty() { 1 } else { acknowledged.len() + 1 });
        place.ok(&["put", "more", "-F", "large", "-m", "without a limit"]);
        assert_eq!(place.commits(), commits + 1);
        assert_eq!(place.ok(&["get", "seed"]), "grain");
    }
}

#[test]
fn without_permission_nothing_is_written_and_the_error_names_the_file() {
    if !is_root("no permission") {
        return;
    }
    let mut place = Place::new();
    place.ok(&["put", "a", "1", "-m", "m"]);
    place.ok(&["put", "b", "2"]);
    let path = place.store().canonicalize().expect("there");
    let io = |path: &str, action: &str| {
        Answer::new(128, "", &format!("mnem: error[io]: {action} '{path}' failed: Permission denied (os error 13)\n"))
    };
    let log = path.join("staged/default");
    let (store, database, log) = (
        path.to_str().expect("UTF-8").to_owned(),
        path.join("store.redb").to_str().expect("UTF-8").to_owned(),
        log.to_str().expect("UTF-8").to_owned(),
    );
    // Which part may not be entered or read, and what every command then says.
    for (part, denied) in [("", &database), ("store.redb", &database), ("staged", &log), ("staged/default", &log)] {
        super::place::set_modes(&place.store(), 0o755, 0o644);
        set_mode(&place.store().join(part), 0);
        for arguments in [&["get", "b"][..], &["log", "--ids"], &["put", "c", "3"], &["commit", "-m", "m"]] {
            let mut command = place.as_nobody(arguments);
            let answer = answer(command.env("MNEM_SAFE_DIRECTORY", "*"));
            let expected = [io(denied, "opening"), io(&store, "opening"), io(&log, "opening")];
            assert!(expected.contains(&answer), "{part}, {arguments:?}: {answer:?}");
        }
    }
    super::place::set_modes(&place.store(), 0o700, 0o600);
    place.ok(&["commit", "-m", "two"]);
    assert_eq!(place.commits(), 2);
    assert_eq!((place.ok(&["get", "a"]), place.ok(&["get", "b"])), ("1".to_owned(), "2".to_owned()));
}

#[test]
fn an_export_that_fails_half_way_leaves_nothing_and_keeps_what_was_there() {
    let place = Place::new();
    place.ok(&["put", "a", "small"]);
    let text = large(&place, 1);
    place.ok(&["put", "b", "-F", "large"]);
    fs::create_dir(place.path().join("empty")).expect("a directory");
    fs::write(place.path().join("old"), "kept").expect("a file");
    let everything = || {
        let names = |folder: &str| {
            let entries = fs::read_dir(place.path().join(folder)).expect("a directory");
            let mut names: Vec<_> = entries.map(|entry| entry.expect("an entry").file_name()).collect();
            names.sort();
            names
        };
        (names("."), names("empty"), fs::read(place.path().join("old")).expect("a file"))
    };
    let before = everything();
    let refused = |arguments: &[&str], what: &str| {
        let answer = answer(&mut place.shell("ulimit -f 64", arguments));
        assert!(answer.is_error(128, "io") && answer.err.contains("File too large"), "{answer:?}");
        let path = place.path().join(what);
        assert!(answer.err.contains(&format!("writing '{}' failed", path.display())), "{answer:?}");
        assert_eq!(everything(), before, "{arguments:?}");
    };
    for folder in ["new", "empty"] {
        refused(&["export", "--format", "dir", "-o", folder], &format!("{folder}/b"));
    }
    for file in ["old", "none"] {
        refused(&["export", "-o", file], file);
    }
    for folder in ["new", "empty"] {
        place.ok(&["export", "--format", "dir", "-o", folder]);
        assert_eq!(fs::read_to_string(place.path().join(folder).join("b")).expect("a file"), text);
    }
    assert_eq!(everything().0.len(), before.0.len() + 1);
}
