//! Reading: by the owner, by other users, from media that nobody may write, after kills and beside writers.

use super::place::{Answer, Mounted, NOBODY, Place, answer, everything, finish, is_root, set_mode, set_modes, start};
use super::stopped::{kill_stopped, stopped_writer};
use mnemosyne::model::{NodeId, SessionName};
use mnemosyne::object::get;
use mnemosyne::store::{Store, StoreError};
use redb::backends::FileBackend;
use redb::{Builder, ConcurrencyMode, DatabaseError, StorageBackend};
use std::ffi::OsStr;
use std::fs::File;
use std::ops::Bound;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

const COMMITS: usize = 6;

/// Every way to read, and what is right.
const READS: [(&[&str], &str); 6] = [
    (&["get", "fact"], "version 5"),
    (&["get", "staged"], "not committed"),
    (&["get", "fact", "-r", "HEAD"], "version 5"),
    (&["get", "fact", "-r", "HEAD~3"], "version 2"),
    (&["log", "-n", "1", "--ids", "--", "other/0"], "@"),
    (&["log", "--ids", "HEAD~4"], "@"),
];

struct Known {
    place: Place,
    answers: Vec<Answer>,
}

fn known() -> Known {
    let place = Place::new();
    for number in 0..COMMITS {
        place.ok(&["put", &format!("other/{number}"), "x"]);
        place.ok(&["put", "fact", &format!("version {number}")]);
        place.ok(&["commit", "-m", &number.to_string()]);
    }
    place.ok(&["put", "staged", "not committed"]);
    let answers: Vec<_> = READS.iter().map(|(arguments, _)| place.run(arguments)).collect();
    for (answer, (arguments, right)) in answers.iter().zip(READS) {
        assert_eq!((answer.status, answer.err.as_str()), (0, ""), "{arguments:?}");
        assert!(right == "@" || answer.out == right, "{arguments:?}: {}", answer.out);
    }
    Known { place, answers }
}

impl Known {
    /// Reads all with commands that `command` makes.
    fn is_read(&self, mut command: impl FnMut(&[&str]) -> Command) {
        for ((arguments, _), right) in READS.iter().zip(&self.answers) {
            assert_eq!(answer(&mut command(arguments)), *right, "{arguments:?}");
        }
    }

    /// Leaves the store as a kill in the middle of a transaction does.
    fn crash(&self) {
        kill_stopped(stopped_writer(&self.place.store()));
        assert!(needs_recovery(&self.place.database()), "or there is nothing to show");
    }

    /// Lets everybody read the store, and nobody but root write it.
    fn open_up(&self) {
        set_modes(&self.place.store(), 0o755, 0o644);
    }
}

fn needs_recovery(database: &Path) -> bool {
    let mut builder = Builder::new();
    builder.set_concurrency_mode(ConcurrencyMode::MultiWriter);
    matches!(builder.open_read_only(database), Err(DatabaseError::RepairAborted))
}

/// The binary as another user, who trusts the store.
fn trusting(place: &mut Place, arguments: &[&str]) -> Command {
    let store = place.store();
    let mut command = place.as_nobody(arguments);
    command.env("MNEM_SAFE_DIRECTORY", store);
    command
}

#[test]
fn reading_changes_no_byte() {
    let known = known();
    let before = known.place.everything();
    known.is_read(|arguments| known.place.command(arguments));
    known.is_read(|arguments| known.place.command(&[&["--session", "default"], arguments].concat()));
    assert_eq!(known.place.run(&["get", "absent"]).status, 1);
    assert_eq!(known.place.run(&["put", "staged", "not committed"]), Answer::new(0, "staged\n", ""));
    assert_eq!(known.place.run(&["commit", "--dry-run"]).status, 0);
    assert_eq!(known.place.everything(), before);
}

#[test]
fn after_a_kill_reading_recovers_and_after_that_changes_no_byte() {
    let known = known();
    known.crash();
    known.is_read(|arguments| known.place.command(arguments));
    assert!(!needs_recovery(&known.place.database()));
    let before = known.place.everything();
    known.is_read(|arguments| known.place.command(arguments));
    assert_eq!(known.place.everything(), before);
}

#[test]
fn read_only_media_are_read_also_after_a_kill() {
    let test = "read-only media";
    if !is_root(test) {
        return;
    }
    for crashed in [false, true] {
        let known = known();
        if crashed {
            known.crash();
        }
        let Some(media) = Mounted::tmpfs(&known.place.path().join("media"), "size=8m", test) else { return };
        let copied = Command::new("cp").arg("-a").args([&known.place.store(), media.path()]).status();
        assert!(copied.expect("cp").success());
        media.make_read_only();
        let store = media.path().join(".mnemosyne");
        let before = everything(&store);
        let on_media = |arguments: &[&str]| {
            let mut command = known.place.command(arguments);
            command.env("MNEM_DIR", &store);
            command
        };
        known.is_read(on_media);
        for arguments in [&["put", "a", "b"][..], &["put", "a", "b", "-m", "c"], &["commit", "-m", "c"]] {
            let refused = answer(&mut on_media(arguments));
            assert!(refused.is_error(128, "io") && refused.err.contains("Read-only file system"), "{refused:?}");
        }
        assert_eq!(everything(&store), before);
    }
}

#[test]
fn another_user_reads_what_is_trusted_also_after_a_kill() {
    if !is_root("another user") {
        return;
    }
    for crashed in [false, true] {
        let mut known = known();
        if crashed {
            known.crash();
        }
        known.open_up();
        let before = known.place.everything();
        let store = known.place.store().canonicalize().expect("there");
        let path = store.display();
        let refused = Answer::new(
            128,
            "",
            &format!(
                "mnem: error[unsafe-store]: the memory store '{path}' is not trusted: it belongs to user 0, you are \
                 user {NOBODY}\nhint: to trust it: export MNEM_SAFE_DIRECTORY='{path}'\n"
            ),
        );
        assert_eq!(answer(&mut known.place.as_nobody(&["get", "fact"])), refused);
        for _ in 0..2 {
            let Known { place, answers } = &mut known;
            for ((arguments, _), right) in READS.iter().zip(answers) {
                assert_eq!(answer(&mut trusting(place, arguments)), *right, "{arguments:?}");
            }
        }
        for arguments in [&["put", "a", "b"][..], &["put", "a", "b", "-m", "c"], &["commit", "-m", "c"]] {
            let refused = answer(&mut trusting(&mut known.place, arguments));
            assert!(refused.is_error(128, "io") && refused.err.contains("Permission denied"), "{refused:?}");
        }
        assert_eq!(known.place.everything(), before);
        assert_eq!(needs_recovery(&known.place.database()), crashed);
    }
}

#[test]
fn two_who_may_not_write_read_at_a_time_after_a_kill() {
    if !is_root("two readers who may not write") {
        return;
    }
    let mut known = known();
    known.crash();
    known.open_up();
    for _ in 0..10 {
        let Known { place, answers } = &mut known;
        let readers: Vec<_> = READS.iter().map(|(arguments, _)| start(&mut trusting(place, arguments))).collect();
        for (reader, right) in readers.into_iter().zip(answers) {
            assert_eq!(finish(reader), *right);
        }
    }
    assert!(needs_recovery(&known.place.database()), "all of them were overlays");
}

/// While redb's writer byte is held, a writer may be in its transaction: whoever recovers in memory waits for it.
#[test]
fn who_recovers_in_memory_waits_for_a_live_writer() {
    const WRITER_BYTE: (Bound<u64>, Bound<u64>) = (Bound::Included(1 << 62), Bound::Included(1 << 62));
    if !is_root("a reader who may not write") {
        return;
    }
    let mut known = known();
    known.crash();
    known.open_up();
    let file = File::options().read(true).write(true).open(known.place.database()).expect("there");
    let writer = FileBackend::new(file).expect("a file");
    writer.lock_range(WRITER_BYTE.0, WRITER_BYTE.1).expect("free");
    for wait in ["0", "400ms"] {
        let told = answer(&mut trusting(&mut known.place, &["--lock-timeout", wait, "log"]));
        assert!(told.is_error(128, "busy"), "{told:?}");
    }
    let waiting = start(&mut trusting(&mut known.place, READS[0].0));
    writer.unlock_range(WRITER_BYTE.0, WRITER_BYTE.1).expect("held");
    assert_eq!(finish(waiting), known.answers[0]);
}

/// Writers come, are killed and go; whoever may not write reads what was there before or after, and never fails.
#[test]
fn who_may_not_write_reads_beside_writers_and_their_kills() {
    const ROUNDS: usize = 25;
    if !is_root("a reader who may not write, beside writers") {
        return;
    }
    let mut known = known();
    known.open_up();
    let mut reader = trusting(&mut known.place, &["get", "fact", "-r", "HEAD~1"]);
    let (place, done) = (&known.place, AtomicBool::new(false));
    let reads = thread::scope(|scope| {
        let done = &done;
        let reading = scope.spawn(move || {
            let mut reads = 0;
            while !done.load(Ordering::Relaxed) {
                let answer = answer(&mut reader);
                let number = answer.out.strip_prefix("version ").and_then(|number| number.parse::<usize>().ok());
                assert!(answer.status == 0 && answer.err.is_empty() && number.is_some(), "{answer:?}");
                reads += 1;
            }
            reads
        });
        for number in COMMITS..COMMITS + ROUNDS {
            kill_stopped(stopped_writer(&place.store()));
            if number % 2 == 0 {
                place.ok(&["put", "fact", &format!("version {number}"), "-m", "m"]);
            }
        }
        done.store(true, Ordering::Relaxed);
        reading.join().expect("a reader that did not fail")
    });
    println!("{reads} reads by another user beside {ROUNDS} writers that were killed: 0 failed");
}

/// The reader's snapshot lies over the file when the writer begins; what it then sees is one memory or the other.
#[test]
fn a_writer_may_begin_while_someone_reads_who_may_not_write() {
    let test = "a writer beside an overlay";
    if !is_root(test) {
        return;
    }
    let known = known();
    known.crash();
    let read_only = known.place.path().join("read-only");
    let Some(mounted) = Mounted::new(&read_only, &[OsStr::new("--bind"), known.place.path().as_os_str()], test) else {
        return;
    };
    let remounted = Command::new("mount").args(["-o", "remount,ro,bind"]).arg(mounted.path()).status();
    assert!(remounted.expect("mount").success());

    let store = Store::new(read_only.join(".mnemosyne"), Duration::from_secs(60));
    let id = NodeId::new("fact").expect("an id");
    let mut writes = 0;
    let content = store.read(&SessionName::default(), |view| {
        writes += 1;
        let text = format!("written {writes}");
        // It waits for nobody.
        let arguments = ["--lock-timeout", "0", "--session", "w", "put", "fact", &text, "-m", "m"];
        assert_eq!(known.place.run(&arguments), Answer::new(0, "fact\n", ""));
        let root = view.tables.root(view.head_commit()?)?;
        let (number, object) = get(view.tables, root, &id)?.ok_or_else(|| StoreError::corrupt("another memory"))?;
        Ok::<_, StoreError>(view.tables.kept(number, object)?.content().cloned().expect("it is not redacted"))
    });
    let text = content.expect("read, if need be again").text().expect("text").into_owned();
    assert!(["version 5".to_owned(), format!("written {}", writes - 1)].contains(&text), "{text} after {writes}");
    set_mode(&known.place.store(), 0o700);
}
