//! Many processes at once.

use super::place::{Answer, Place, wanted};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const WRITERS: usize = 8;

#[test]
fn of_many_writers_at_once_no_commit_is_lost_and_no_reader_fails() {
    let place = Place::new();
    let puts = wanted("MNEM_TEST_PUTS", 10);
    place.ok(&["put", "seed", "grain", "-m", "seed"]);
    let done = AtomicBool::new(false);
    let times = Mutex::new(Vec::new());
    let reads = thread::scope(|scope| {
        let read = || {
            let (mut count, mut before) = (0, 0);
            while !done.load(Ordering::Relaxed) {
                assert_eq!(place.run(&["get", "seed"]), Answer::new(0, "grain", ""));
                let log = place.run(&["log", "--ids"]);
                assert_eq!((log.status, log.err.as_str()), (0, ""));
                let commits = log.out.lines().count();
                assert!(before <= commits, "a commit went away");
                before = commits;
                count += 2;
            }
            count
        };
        let readers = [scope.spawn(read), scope.spawn(read)];
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (place, times) = (&place, &times);
                scope.spawn(move || {
                    for number in 0..puts {
                        let (id, text) = (format!("w{writer}/{number}"), format!("{writer}.{number}"));
                        let began = Instant::now();
                        let answer = place.run(&["put", &id, &text, "-m", &text]);
                        times.lock().expect("no panic").push(began.elapsed());
                        assert_eq!(answer, Answer::new(0, &format!("{id}\n"), ""));
                    }
                })
            })
            .collect();
        let wrote = writers.into_iter().try_for_each(thread::ScopedJoinHandle::join);
        done.store(true, Ordering::Relaxed);
        let reads = readers.map(|reader| reader.join().expect("a reader that did not fail"));
        wrote.expect("writers that did not fail");
        reads.iter().sum::<u32>()
    });

    let log = place.ok(&["log", "--ids"]);
    assert_eq!(log.lines().count(), WRITERS * puts + 1);
    assert_eq!(place.ok(&["log", "--ids", "--first-parent"]), log, "one chain");
    for writer in 0..WRITERS {
        for number in 0..puts {
            assert_eq!(place.ok(&["get", &format!("w{writer}/{number}"), "-r", "HEAD"]), format!("{writer}.{number}"));
        }
    }
    let mut times = times.into_inner().expect("no panic");
    times.sort();
    let at = |part: usize| times[(times.len() * part / 100).min(times.len() - 1)].as_secs_f64() * 1_000.0;
    println!(
        "{WRITERS} writers x {puts} put -m: 0 lost, {reads} reads beside, p50 {:.0} ms, p99 {:.0} ms, max {:.0} ms",
        at(50),
        at(99),
        times.last().map_or(0.0, Duration::as_secs_f64) * 1_000.0
    );
}

#[test]
fn two_sessions_that_put_and_commit_at_once_never_mix() {
    const ROUNDS: usize = 8;
    let place = Place::new();
    thread::scope(|scope| {
        for (own, other) in [("a", "b"), ("b", "a")] {
            let place = &place;
            scope.spawn(move || {
                let rows = place.path().join(format!("{own}.jsonl"));
                for round in 0..ROUNDS {
                    let row = |part| format!("{{\"id\":\"{own}/{round}/{part}\",\"content\":\"{own}\"}}\n");
                    std::fs::write(&rows, row("x") + &row("y")).expect("written");
                    place.ok(&["--session", own, "put", "--jsonl", rows.to_str().expect("UTF-8")]);
                    // Staged here, seen here, and only here.
                    assert_eq!(place.ok(&["--session", own, "get", &format!("{own}/{round}/x")]), own);
                    let id = format!("{other}/{}/x", ROUNDS - 1);
                    let uncommitted = place.run(&["--session", own, "get", &id]);
                    let committed = place.run(&["get", &id, "-r", "HEAD"]);
                    assert!(uncommitted.status == 1 || committed.status == 0, "staged there, seen here");
                    place.ok(&["--session", own, "commit", "-m", &format!("{own} {round}")]);
                }
            });
        }
    });
    let log = place.ok(&["log", "--json"]);
    assert_eq!(log.lines().count(), 2 * ROUNDS);
    for line in log.lines() {
        assert!(line.contains(r#""changes":{"added":2,"modified":0,"removed":0}"#), "{line}");
    }
    for own in ["a", "b"] {
        let log = place.ok(&["log", "--oneline", "--", &format!("{own}/")]);
        let messages: Vec<_> = log.lines().filter_map(|line| line.split(' ').next_back()).collect();
        let rounds: Vec<_> = (0..ROUNDS).rev().map(|round| round.to_string()).collect();
        assert_eq!(messages, rounds, "each commit of '{own}' has its own nodes and is in its order");
    }
}

#[test]
fn a_session_commits_on_top_of_where_another_moved_the_branch() {
    let place = Place::new();
    place.ok(&["put", "seed", "1", "-m", "seed"]);
    place.ok(&["--session", "b", "put", "b", "of b"]);
    let moved = place.ok(&["put", "a", "of a", "-m", "a"]);
    assert_eq!(moved, "a\n");
    let before = place.ok(&["log", "--ids"]);
    let commit = place.ok(&["--session", "b", "commit", "-m", "b"]);
    assert_eq!(place.ok(&["log", "--ids"]), commit + &before);
    for (id, text) in [("seed", "1"), ("a", "of a"), ("b", "of b")] {
        assert_eq!(place.ok(&["get", id]), text);
    }
}

#[test]
fn a_node_that_both_changed_is_a_conflict_and_all_is_kept() {
    let place = Place::new();
    place.ok(&["put", "x", "0", "-m", "seed"]);
    for (session, text) in [("b", "of b"), ("default", "of a")] {
        place.ok(&["--session", session, "put", "x", text]);
    }
    place.ok(&["--session", "b", "put", "y", "of b"]);
    place.ok(&["commit", "-m", "a"]);
    let before = place.everything();
    let refused = Answer::new(
        3,
        "",
        "mnem: error[conflict]: 'x': 1 node was changed both here and on the branch\n\
         hint: all stays staged; take the branch's version with 'mnem restore ID', or yours with \
         'mnem commit --overwrite -m MESSAGE'\n",
    );
    assert_eq!(place.run(&["--session", "b", "commit", "-m", "b"]), refused);
    assert_eq!(place.everything(), before);
    for (arguments, text) in [
        (["--session", "b", "get", "x"], "of b"),
        (["--session", "b", "get", "y"], "of b"),
        (["get", "x", "-r", "HEAD"], "of a"),
    ] {
        assert_eq!(place.ok(&arguments), text);
    }
}

#[test]
fn of_many_that_create_one_branch_at_once_just_one_does() {
    let place = Place::new();
    place.ok(&["put", "seed", "grain", "-m", "seed"]);
    for round in 0..wanted("MNEM_TEST_PUTS", 3) {
        let name = format!("b{round}");
        let statuses = thread::scope(|scope| {
            let create = |verb: &'static [&'static str]| {
                let (place, name) = (&place, &name);
                scope.spawn(move || place.run(&[verb, &[name.as_str()]].concat()).status)
            };
            let started = [&["branch"][..], &["--session", "s", "switch", "-c"], &["branch"], &["branch"]].map(create);
            started.map(|thread| thread.join().expect("it ends"))
        });
        let mut sorted = statuses;
        sorted.sort_unstable();
        assert_eq!(sorted, [0, 128, 128, 128]);
    }
}

#[test]
fn no_branch_goes_while_a_session_gets_on_it() {
    let place = Place::new();
    place.ok(&["put", "seed", "grain", "-m", "seed"]);
    for _ in 0..wanted("MNEM_TEST_PUTS", 5) {
        place.ok(&["branch", "-q", "b"]);
        let [switched, deleted] = thread::scope(|scope| {
            let run = |arguments: &'static [&'static str]| {
                let place = &place;
                scope.spawn(move || place.run(arguments).status)
            };
            [run(&["switch", "b", "--session", "s"]), run(&["branch", "-D", "b"])]
                .map(|thread| thread.join().expect("it ends"))
        });
        let here = place.ok(&["branch", "--show-current", "--session", "s"]);
        match (switched, deleted) {
            (0, 1) => {
                assert_eq!(here, "b\n");
                place.ok(&["switch", "-q", "main", "--session", "s"]);
                place.ok(&["branch", "-Dq", "b"]);
            }
            (128, 0) => assert_eq!(here, "main\n"),
            other => panic!("{other:?}"),
        }
    }
}
