//! A store that is written anew: by `gc`, and by `redact`, after which no file holds what was taken out.

use super::place::{Answer, Numbers, Place, finish, signal, start, wanted};
use mnemosyne::model::{NodeId, SessionName};
use mnemosyne::ops;
use mnemosyne::store::Store;
use rustix::process::Signal;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

const SECRET: &str = "the-number-is-5550199";

/// The files below `directory` that hold `text`.
fn holding(directory: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(holding(&path, text));
        } else if memchr::memmem::find(&fs::read(&path).expect("a file"), text.as_bytes()).is_some() {
            found.push(path.display().to_string());
        }
    }
    found
}

/// Commits with a secret among them, on two branches, and more of it staged in three sessions.
fn with_secrets() -> Place {
    let place = Place::new();
    for version in 0..6 {
        let text = format!("{SECRET} v{version} {}", "x".repeat(version * 700));
        place.ok(&["put", "user/phone", &text, "--source", "web", "-m", &text[..3]]);
        place.ok(&["put", &format!("fact/{version}"), &format!("fact {version}"), "-m", "fact"]);
    }
    place.ok(&["switch", "-c", "side", "HEAD~4"]);
    place.ok(&["put", "user/phone", &format!("{SECRET} on a side"), "-m", "side"]);
    place.ok(&["switch", "main"]);
    place.ok(&["rm", "user/phone", "-m", "gone"]);
    place.ok(&["put", "user/phone", &format!("{SECRET} staged")]);
    place.ok(&["put", "other", "staged too"]);
    for session in ["b", "c"] {
        place.ok(&["--session", session, "put", "user/phone", &format!("{SECRET} staged by {session}")]);
    }
    // A log of nothing but dead frames, as a commit leaves it that was killed before it cut the log.
    let log = place.store().join("staged/b");
    let dead = fs::read(&log).expect("a log");
    place.ok(&["--session", "b", "commit", "-m", "of b"]);
    fs::write(&log, dead).expect("written");
    // And what killed writers leave beside.
    fs::write(place.store().join("staged/.c.new"), format!("{SECRET} of a fold")).expect("written");
    fs::write(place.store().join("store.redb.new"), format!("{SECRET} of a rewrite")).expect("written");
    place
}

#[test]
fn after_a_redaction_no_file_holds_the_bytes_also_beside_open_readers() {
    let place = with_secrets();
    let commits = place.ok(&["log", "--all", "--ids"]);
    assert_eq!(holding(&place.store(), SECRET).len(), 6);
    let store = Store::new(place.store(), Duration::from_secs(30));
    let reader = store.snapshot().expect("a snapshot");
    let redacted = place.ok(&["redact", "user/phone", "--reason", "a number", "--json"]);
    assert_eq!(redacted, "{\"v\":1,\"type\":\"redacted\",\"id\":\"user/phone\",\"versions\":8,\"staged\":2}\n");
    assert_eq!(holding(&place.store(), SECRET), Vec::<String>::new());
    assert_eq!(holding(&place.store(), "staged too").len(), 1, "what else is staged stays");
    // Who had it open reads on what was there.
    let number = reader.reference("refs/heads/side").expect("a ref").expect("a commit");
    let id = NodeId::new("user/phone").expect("an id");
    let (record, object) = mnemosyne::object::get(&*reader, reader.root(Some(number)).expect("a root"), &id)
        .expect("sound")
        .expect("it is there");
    assert!(reader.kept(record, object).expect("sound").content().expect("as it was").json().contains(SECRET));
    drop(reader);
    let finished = place.run(&["redact", "--finish"]);
    assert_eq!(finished, Answer::new(0, "", "nothing was interrupted\n"));
    assert_eq!(holding(&place.store(), SECRET), Vec::<String>::new());
    assert_eq!(place.ok(&["log", "--all", "--ids"]), commits, "no id is another");
    for arguments in
        [&["get", "user/phone"][..], &["get", "user/phone", "-r", "side"], &["--session", "c", "get", "user/phone"]]
    {
        assert!(place.run(arguments).is_error(1, "redacted"), "{arguments:?}");
    }
    assert_eq!(place.ok(&["get", "fact/3"]), "fact 3");
    // A version that comes later is another one.
    place.ok(&["restore", "user/phone"]);
    place.ok(&["put", "user/phone", "nothing secret", "-m", "again"]);
    assert_eq!(place.ok(&["get", "user/phone"]), "nothing secret");
}

#[test]
fn only_what_came_from_a_source_is_redacted_where_one_is_named() {
    let place = with_secrets();
    place.ok(&["redact", "--source", "web"]);
    assert_eq!(place.ok(&["log", "side", "-n", "1", "-p", "--oneline"]).matches(SECRET).count(), 1, "it has no source");
    let log = place.ok(&["log", "-p", "main"]);
    assert_eq!((log.matches(" v3").count(), log.matches("redacted").count() > 5), (0, true));
    assert!(place.ok(&["get", "user/phone"]).contains("staged"));
}

/// What is left to be done is known by the store, and nothing else is redacted before.
#[test]
fn a_redaction_that_was_interrupted_is_finished() {
    {
        let place = with_secrets();
        let store = Store::new(place.store(), Duration::from_secs(30));
        // Somebody else is at work on a log, when the request is already kept.
        let log = fs::File::open(place.store().join("staged/b")).expect("a log");
        log.lock().expect("a lock");
        assert!(place.run(&["--lock-timeout", "0", "redact", "user/phone"]).is_error(128, "busy"));
        assert!(!holding(&place.store(), SECRET).is_empty());
        assert!(store.snapshot().expect("sound").redacting().expect("sound").is_some());
        drop(log);
        assert!(place.run(&["redact", "fact/1"]).is_error(3, "in-progress"));
        assert_eq!(place.ok(&["get", "fact/1"]), "fact 1");
        let told = place.run(&["fsck"]);
        assert!(told.status == 0 && told.err.starts_with("a redaction was interrupted; "), "{told:?}");
        place.ok(&["redact", "--finish"]);
        assert_eq!(holding(&place.store(), SECRET), Vec::<String>::new());
        assert!(store.snapshot().expect("sound").redacting().expect("sound").is_none());
    }
}

#[test]
fn a_refused_redaction_changes_no_byte() {
    let place = with_secrets();
    let before = place.everything();
    assert!(place.run(&["redact", "never"]).is_error(1, "no-node"));
    assert!(place.run(&["redact", "--source", "nowhere"]).is_error(1, "no-node"));
    assert!(place.run(&["redact", "user/phone", "never"]).is_error(1, "no-node"));
    assert!(place.run(&["redact", "user/phone", "--source", "wep"]).is_error(1, "no-node"));
    assert!(place.run(&["redact"]).is_error(129, "usage"));
    assert!(place.run(&["redact", "user/phone", "--finish"]).is_error(129, "usage"));
    assert_eq!(place.everything(), before);
}

/// Neither is begun on a store with a damaged row, whatever the row is.
#[test]
fn a_damaged_store_is_not_written_anew() {
    let place = with_secrets();
    place.ok(&["gc"]);
    let mut bytes = fs::read(place.database()).expect("a file");
    let at = memchr::memmem::find(&bytes, b"fact 3").expect("it is there");
    bytes[at] ^= 1;
    fs::write(place.database(), &bytes).expect("written");
    let before = place.everything();
    for arguments in [&["gc"][..], &["redact", "user/phone"], &["redact", "--source", "web"]] {
        assert!(place.run(arguments).is_error(128, "corrupt"), "{arguments:?}");
        assert_eq!(place.everything(), before, "{arguments:?}");
    }
}

#[test]
fn while_a_store_is_written_anew_no_commit_is_lost_and_no_reader_fails() {
    const WRITERS: usize = 3;
    let place = Place::new();
    let puts = wanted("MNEM_TEST_PUTS", 10);
    place.ok(&["put", "seed", "grain", "-m", "seed"]);
    place.ok(&["put", "secret", "s", "-m", "secret"]);
    let done = AtomicBool::new(false);
    let (rewrites, reads) = thread::scope(|scope| {
        let rewrite = |arguments: &'static [&'static str]| {
            let (place, done) = (&place, &done);
            move || {
                let mut count = 0;
                while !done.load(Ordering::Relaxed) {
                    place.ok(arguments);
                    count += 1;
                }
                count
            }
        };
        let read = || {
            let mut before = 0;
            let mut count = 0;
            while !done.load(Ordering::Relaxed) {
                assert_eq!(place.run(&["get", "seed"]), Answer::new(0, "grain", ""));
                let commits = place.commits();
                assert!(before <= commits, "a commit went away");
                before = commits;
                count += 1;
            }
            count
        };
        let rewriters = [scope.spawn(rewrite(&["gc"])), scope.spawn(rewrite(&["redact", "secret"]))];
        let reader = scope.spawn(read);
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let place = &place;
                scope.spawn(move || {
                    for number in 0..puts {
                        let id = format!("w{writer}/{number}");
                        assert_eq!(place.run(&["put", &id, "v", "-m", &id]), Answer::new(0, &format!("{id}\n"), ""));
                    }
                })
            })
            .collect();
        let wrote = writers.into_iter().try_for_each(thread::ScopedJoinHandle::join);
        done.store(true, Ordering::Relaxed);
        let rewrites: usize =
            rewriters.into_iter().map(|rewriter| rewriter.join().expect("rewrites that did not fail")).sum();
        let reads = reader.join().expect("a reader that did not fail");
        wrote.expect("writers that did not fail");
        (rewrites, reads)
    });
    println!("{rewrites} rewrites beside {} commits and {reads} reads", WRITERS * puts);
    assert_eq!(place.commits(), WRITERS * puts + 2);
    for writer in 0..WRITERS {
        for number in 0..puts {
            assert_eq!(place.ok(&["get", &format!("w{writer}/{number}")]), "v");
        }
    }
}

#[test]
fn a_rewrite_that_is_killed_loses_nothing() {
    let place = with_secrets();
    place.ok(&["reset", "--hard", "HEAD~2"]);
    let store = Store::new(place.store(), Duration::from_secs(30));
    let mut numbers = Numbers(11);
    // What is there: all commits with their memories, and what is staged.
    let told = |place: &Place| {
        let mut told = BTreeMap::new();
        for commit in place.ok(&["log", "--all", "--ids"]).lines() {
            told.insert(commit.to_owned(), place.ok(&["export", "-r", commit]));
        }
        told.insert("staged".to_owned(), place.ok(&["--session", "c", "export"]));
        told
    };
    let before = told(&place);
    let mut killed = 0;
    for _ in 0..wanted("MNEM_TEST_KILLED_REWRITES", 12) {
        let child = start(place.command(&["gc"]).stdin(Stdio::null()));
        // A time that nobody can foresee is what is wanted here; which one makes no test fail.
        thread::sleep(Duration::from_micros(numbers.below(40_000)));
        signal(child.id(), Signal::KILL);
        killed += usize::from(finish(child).status == -9);
        assert_eq!(told(&place), before);
    }
    let mut finished = 0;
    for _ in 0..wanted("MNEM_TEST_KILLED_REWRITES", 12) {
        place.ok(&["put", "user/phone", &format!("{SECRET} anew"), "-m", "anew"]);
        let commits = place.ok(&["log", "--ids"]);
        let child = start(place.command(&["redact", "user/phone"]).stdin(Stdio::null()));
        thread::sleep(Duration::from_micros(numbers.below(60_000)));
        signal(child.id(), Signal::KILL);
        killed += usize::from(finish(child).status == -9);
        let is_begun = store.snapshot().expect("sound").redacting().expect("sound").is_some();
        finished += usize::from(is_begun);
        assert_eq!(place.ok(&["log", "--ids"]), commits);
        if is_begun {
            place.ok(&["redact", "--finish"]);
        } else {
            place.ok(&["redact", "user/phone"]);
        }
        assert_eq!(holding(&place.store(), SECRET), Vec::<String>::new());
    }
    println!("{killed} rewrites were killed, {finished} redactions finished later");
}

#[test]
fn a_memory_with_redacted_nodes_comes_back_from_an_export() {
    let place = with_secrets();
    place.ok(&["restore", "user/phone"]);
    place.ok(&["put", "user/phone", "kept", "-m", "kept"]);
    place.ok(&["redact", "user/phone", "--reason", "a \"number\""]);
    place.ok(&["commit", "--allow-empty", "-m", "all"]);
    let state = |place: &Place, revision: &str| {
        let row: serde_json::Value =
            serde_json::from_str(&place.ok(&["log", "--json", "-n", "1", revision])).expect("JSON");
        row["state"].as_str().expect("a state").to_owned()
    };
    for revision in ["HEAD", "side"] {
        let wanted = state(&place, revision);
        place.ok(&["export", "-r", revision, "-o", "rows"]);
        let _ = fs::remove_dir_all(place.path().join("folder"));
        place.ok(&["export", "-r", revision, "--format", "dir", "-o", "folder"]);
        for arguments in [&["import", "rows"][..], &["import", "--format", "dir", "folder"]] {
            let copy = Place::new();
            let path = place.path().join(arguments[arguments.len() - 1]);
            let path = path.to_str().expect("UTF-8");
            let mut arguments = arguments[..arguments.len() - 1].to_vec();
            arguments.extend(["--replace", "-m", "taken in", path]);
            copy.ok(&arguments);
            assert_eq!(state(&copy, "HEAD"), wanted, "{arguments:?} of {revision}");
            assert!(copy.run(&["get", "user/phone"]).is_error(1, "redacted"));
        }
    }
    let session = SessionName::default();
    let store = Store::new(place.store(), Duration::from_secs(30));
    let (nodes, _) = ops::get(&store, &session, None, &[NodeId::new("user/phone").expect("an id")]).expect("read");
    let redaction = nodes[0].as_ref().and_then(|kept| kept.redaction()).expect("redacted").clone();
    assert_eq!(
        (redaction.by.as_str(), redaction.time.to_string().as_str(), redaction.reason.as_deref()),
        ("Ada", "2024-05-06T07:08:09.000+00:00", Some("a \"number\""))
    );
}
