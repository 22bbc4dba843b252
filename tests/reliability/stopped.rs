//! A process that stands still in the middle, at a point that the test chooses: readers go on, or say `busy` in time.

use super::place::{Answer, Place, answer, finish, signal, start};
use mnemosyne::model::SessionName;
use mnemosyne::store::{Store, StoreError};
use redb::StorageBackend;
use redb::backends::FileBackend;
use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, waitpid};
use std::fs::File;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const STORE_VARIABLE: &str = "MNEM_TEST_STORE";

/// What redb locks while it reads or writes the header of the file.
const HEADER: (Bound<u64>, Bound<u64>) = (Bound::Included(0), Bound::Excluded(320));

/// Not a test of its own: a writer that the others start, which stops inside its transaction.
#[test]
#[ignore = "other tests start it as a process of its own"]
#[expect(clippy::disallowed_methods, reason = "its caller tells it so")]
fn a_writer_that_stops_inside_its_transaction() {
    let Ok(directory) = std::env::var(STORE_VARIABLE) else { return };
    let store = Store::new(PathBuf::from(directory), Duration::from_secs(60));
    let log = store.lock_log(&SessionName::default()).expect("free");
    let seen = store.snapshot().expect("readable");
    let written = store.write(seen, |tables| {
        let row = tables.session(&SessionName::default())?.expect("the session of those who name none");
        tables.set_session(&SessionName::default(), &row)?;
        kill_process(getpid(), Signal::STOP).map_err(|_| StoreError::corrupt("not stopped"))
    });
    written.expect("written");
    drop(log);
}

/// Starts a writer and returns when it has stopped inside its transaction.
pub fn stopped_writer(store: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().expect("this binary"));
    command.args(["--ignored", "--exact", "stopped::a_writer_that_stops_inside_its_transaction"]);
    let writer = command.env(STORE_VARIABLE, store).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let writer = writer.expect("started");
    let id = Pid::from_child(&writer);
    let (_, status) = waitpid(Some(id), WaitOptions::UNTRACED).expect("waited for").expect("a change");
    assert!(status.stopped(), "it did not stop");
    writer
}

/// Kills what is stopped; the store is as a kill leaves it.
pub fn kill_stopped(writer: Child) {
    signal(writer.id(), Signal::KILL);
    assert_eq!(finish(writer).status, -9);
}

fn place() -> Place {
    let place = Place::new();
    place.ok(&["put", "a", "1", "-m", "one"]);
    place.ok(&["put", "b", "2"]);
    place
}

fn busy(path: &Path) -> Answer {
    let hint = "hint: wait for it, or give it longer with '--lock-timeout 60s'";
    Answer::new(128, "", &format!("mnem: error[busy]: '{}' is in use by another process\n{hint}\n", path.display()))
}

fn readers_go_on(place: &Place) {
    for arguments in [&["get", "b"][..], &["get", "b", "--lock-timeout", "0"]] {
        assert_eq!(place.run(arguments), Answer::new(0, "2", ""));
    }
    assert_eq!(place.run(&["get", "a", "-r", "HEAD"]), Answer::new(0, "1", ""));
    assert_eq!(place.commits(), 1);
    assert_eq!(place.ok(&["log", "--ids", "--", "a"]).lines().count(), 1);
}

#[test]
fn beside_a_writer_that_stopped_readers_go_on_and_writers_give_up_in_time() {
    let place = place();
    let log = place.store().canonicalize().expect("there").join("staged/default");
    let writer = stopped_writer(&place.store());
    readers_go_on(&place);
    for wait in ["0", "300ms"] {
        // The same session waits for its log, another one for the transaction.
        assert_eq!(place.run(&["--lock-timeout", wait, "put", "c", "3"]), busy(&log), "{wait}");
        assert_eq!(place.run(&["--lock-timeout", wait, "commit", "-m", "m"]), busy(&log), "{wait}");
        let store = place.store().canonicalize().expect("there");
        let other = ["--session", "other", "--lock-timeout", wait, "put", "c", "3", "-m", "m"];
        assert_eq!(place.run(&other), busy(&store), "{wait}");
        let mut by_variable = place.command(&["--session", "other", "put", "c", "3", "-m", "m"]);
        assert_eq!(answer(by_variable.env("MNEM_LOCK_TIMEOUT", wait)), busy(&store), "{wait}");
    }
    assert_eq!(place.run(&["--session", "other", "put", "c", "3"]), Answer::new(0, "c\n", ""), "staging needs no turn");

    signal(writer.id(), Signal::CONT);
    assert_eq!(finish(writer).status, 0);
    place.ok(&["--session", "other", "commit", "-m", "two"]);
    assert_eq!(place.commits(), 2);
}

#[test]
fn a_writer_that_waits_gets_its_turn_when_the_stopped_one_is_killed() {
    let place = place();
    let writer = stopped_writer(&place.store());
    let waiting = start(&mut place.command(&["--lock-timeout", "60s", "--session", "x", "put", "c", "3", "-m", "m"]));
    kill_stopped(writer);
    assert_eq!(finish(waiting), Answer::new(0, "c\n", ""));
    assert_eq!(place.ok(&["get", "b"]), "2");
    assert_eq!(place.commits(), 2);
}

/// The header is locked while another process opens the file, or is in the middle of a header write.
#[test]
fn beside_a_header_that_is_being_written_everybody_is_busy_in_time() {
    let place = place();
    let file = File::options().read(true).write(true).open(place.database()).expect("there");
    let holder = FileBackend::new(file).expect("a file");
    holder.lock_range(HEADER.0, HEADER.1).expect("free");
    let store = place.store().canonicalize().expect("there");
    for arguments in [
        &["get", "a"][..],
        &["get", "a", "-r", "HEAD"],
        &["log", "--ids"],
        &["log", "--", "a"],
        &["put", "a", "1"],
        &["put", "c", "3", "-m", "m"],
        &["commit", "-m", "m"],
        &["restore", "b"],
    ] {
        for wait in ["0", "300ms"] {
            let arguments: Vec<_> = ["--lock-timeout", wait].iter().chain(arguments).copied().collect();
            assert_eq!(place.run(&arguments), busy(&store), "{arguments:?}");
        }
    }
    let waiting = start(&mut place.command(&["--lock-timeout", "60s", "get", "b"]));
    holder.unlock_range(HEADER.0, HEADER.1).expect("held");
    assert_eq!(finish(waiting), Answer::new(0, "2", ""));
    readers_go_on(&place);
}
