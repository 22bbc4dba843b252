//! `kill -9` at random moments: what was acknowledged is there, what was not is there as a whole or not at all.

use super::place::{Answer, Numbers, Place, finish, signal, start, wanted};
use rustix::process::Signal;
use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

/// Kills of a default run, shared out among these tests.
const KILLS: usize = 500;

const WRITERS: usize = 4;
const IDS: u64 = 12;

/// What a session should see of its own ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Memory {
    head: BTreeMap<String, String>,
    staged: BTreeMap<String, String>,
}

impl Memory {
    fn seen(&self) -> BTreeMap<String, String> {
        let mut seen = self.head.clone();
        seen.extend(self.staged.clone());
        seen
    }

    fn commit(&mut self, chosen: impl Fn(&str) -> bool) {
        let (taken, stays) = self.staged.clone().into_iter().partition(|(id, _)| chosen(id));
        self.staged = stays;
        self.head.extend::<BTreeMap<_, _>>(taken);
    }
}

/// How long a kind of command is let run at the most: many kills come too late, so that they fall all over it.
#[derive(Clone, Copy)]
struct Patience(u64);

impl Patience {
    const FIRST: Self = Self(100_000);

    /// Starts a command and kills it after a while; says whether it was ended by that.
    fn kill(&mut self, command: &mut Command, numbers: &mut Numbers) -> (Answer, bool) {
        let child = start(command.stdin(Stdio::null()));
        // A time that nobody can foresee is what is wanted here; which one makes no test fail.
        // Rather late than early, for a command begins with what touches no file.
        thread::sleep(Duration::from_micros(numbers.below(self.0).max(numbers.below(self.0))));
        signal(child.id(), Signal::KILL);
        let answer = finish(child);
        let killed = answer.status == -9;
        self.0 = if killed { self.0 + self.0 / 10 } else { self.0 - self.0 / 10 }.clamp(1_000, 400_000);
        (answer, killed)
    }
}

#[derive(Default)]
struct Count {
    kills: usize,
    /// Killed, but acknowledged before.
    acknowledged: usize,
    /// Killed and done nevertheless.
    done: usize,
}

/// A session with ids of its own, and what is known of them.
struct Session<'a> {
    place: &'a Place,
    name: String,
    numbers: Numbers,
    patience: [Patience; 5],
    memory: Memory,
    commits: usize,
    next: u64,
    count: Count,
}

impl<'a> Session<'a> {
    fn new(place: &'a Place, name: &str, seed: u64) -> Self {
        Self {
            place,
            name: name.to_owned(),
            numbers: Numbers(seed),
            patience: [Patience::FIRST; 5],
            memory: Memory::default(),
            commits: 0,
            next: 0,
            count: Count::default(),
        }
    }

    fn id(&mut self) -> String {
        format!("{}/{}", self.name, self.numbers.below(IDS))
    }

    fn text(&mut self) -> String {
        self.next += 1;
        format!("{} {}", self.next, "x".repeat(usize::try_from(self.numbers.below(3_000)).expect("small")))
    }

    /// What the session sees of its ids: with what is staged, or as HEAD has it.
    fn look(&self, revision: &[&str]) -> BTreeMap<String, String> {
        let ids: Vec<_> = (0..IDS).map(|number| format!("{}/{number}", self.name)).collect();
        let mut arguments = vec!["--session", &self.name, "get", "--json"];
        arguments.extend(revision);
        arguments.extend(ids.iter().map(String::as_str));
        let answer = self.place.run(&arguments);
        let absent = answer.out.lines().filter(|line| line.contains("\"absent\":true")).count();
        assert_eq!((answer.status, answer.out.lines().count()), (i32::from(absent > 0), ids.len()), "{}", answer.err);
        let rows = ids.into_iter().zip(answer.out.lines()).filter_map(|(id, line)| {
            let row: serde_json::Value = serde_json::from_str(line).expect("JSON");
            Some((id, row["content"].as_str()?.to_owned()))
        });
        rows.collect()
    }

    /// Runs a command, kills it, and compares what is there with what may be.
    fn step(&mut self) {
        let before = self.memory.clone();
        let mut commits = self.commits;
        let place = self.place;
        let rows = place.path().join(format!("{}.jsonl", self.name));
        let kind = match self.numbers.below(5) {
            2 | 3 if before.staged.is_empty() => 0,
            kind => kind,
        };
        let mut arguments = vec!["--session".to_owned(), self.name.clone()];
        let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
        match kind {
            0 | 4 => {
                let (id, text) = (self.id(), self.text());
                arguments.extend(words(&["put", &id, &text]));
                if kind == 4 {
                    arguments.extend(words(&["-m", "one"]));
                    self.memory.staged.remove(&id);
                    self.memory.head.insert(id, text);
                    commits += 1;
                } else {
                    self.memory.staged.insert(id, text);
                }
            }
            1 => {
                let mut lines = String::new();
                for _ in 0..10 {
                    let (id, text) = (self.id(), self.text());
                    lines.push_str(&format!("{{\"id\":\"{id}\",\"content\":\"{text}\"}}\n"));
                    self.memory.staged.insert(id, text);
                }
                fs::write(&rows, lines).expect("written");
                arguments.extend(words(&["put", "--jsonl", rows.to_str().expect("UTF-8")]));
            }
            2 => {
                arguments.extend(words(&["commit", "-m", "all"]));
                self.memory.commit(|_| true);
                commits += 1;
            }
            _ => {
                let only = before.staged.keys().next().expect("something is staged").clone();
                arguments.extend(words(&["commit", "-m", "only", "--only", &only]));
                self.memory.commit(|id| id == only);
                commits += 1;
            }
        }
        let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        let kind = usize::try_from(kind).expect("small");
        let (answer, killed) = self.patience[kind].kill(&mut place.command(&arguments), &mut self.numbers);
        assert!(killed || answer.status == 0, "{arguments:?}: {}", answer.err);

        let (seen, head) = (self.look(&[]), self.look_at_head());
        let acknowledged = !killed || !answer.out.is_empty();
        let done = (&seen, &head) == (&self.memory.seen(), &self.memory.head);
        if !done {
            assert_eq!((&seen, &head), (&before.seen(), &before.head), "neither as before nor as after {arguments:?}");
            assert!(!acknowledged, "acknowledged, and lost: {arguments:?}");
            self.memory = before;
        } else {
            self.commits = commits;
        }
        if killed {
            self.count.kills += 1;
            self.count.acknowledged += usize::from(acknowledged);
            self.count.done += usize::from(done);
        }
    }

    fn look_at_head(&self) -> BTreeMap<String, String> {
        if self.commits == 0 && self.place.run(&["get", "x", "-r", "HEAD"]).word() == Some("bad-revision") {
            return BTreeMap::new();
        }
        self.look(&["-r", "HEAD"])
    }
}

fn kill(writers: usize, kills: usize) {
    let place = Place::new();
    let sessions: Vec<_> = thread::scope(|scope| {
        let running: Vec<_> = (0..writers)
            .map(|writer| {
                let place = &place;
                scope.spawn(move || {
                    let mut session = Session::new(place, &format!("s{writer}"), 7 + writer as u64);
                    while session.count.kills < kills.div_ceil(writers) {
                        session.step();
                    }
                    session
                })
            })
            .collect();
        running.into_iter().map(|session| session.join().expect("a session that lost nothing")).collect()
    });
    for session in &sessions {
        assert_eq!((session.look(&[]), session.look_at_head()), (session.memory.seen(), session.memory.head.clone()));
    }
    assert_eq!(place.commits(), sessions.iter().map(|session| session.commits).sum::<usize>(), "one chain");
    place.ok(&["put", "last", "one", "-m", "still works"]);
    let sum = |part: fn(&Count) -> usize| sessions.iter().map(|session| part(&session.count)).sum::<usize>();
    println!(
        "{} kills with {writers} writer(s) at once: 0 lost; {} had acknowledged, {} were done",
        sum(|count| count.kills),
        sum(|count| count.acknowledged),
        sum(|count| count.done)
    );
}

#[test]
fn one_writer_that_is_killed_loses_nothing() {
    kill(1, wanted("MNEM_TEST_KILLS", KILLS) * 2 / 5);
}

#[test]
fn four_writers_that_are_killed_lose_nothing() {
    kill(WRITERS, wanted("MNEM_TEST_KILLS", KILLS) * 2 / 5);
}

#[test]
fn an_init_that_is_killed_blocks_nothing() {
    let (wanted, mut kills, mut done) = (wanted("MNEM_TEST_KILLS", KILLS) / 5, 0, 0);
    let (mut patience, mut numbers) = (Patience::FIRST, Numbers(3));
    while kills < wanted {
        let place = Place::empty();
        let (answer, killed) = patience.kill(&mut place.command(&["init"]), &mut numbers);
        let there = place.store().exists();
        assert!(there || (killed && answer.out.is_empty()), "acknowledged, and not there");
        let again = place.run(&["init"]);
        let path = format!("{}\n", place.store().canonicalize().expect("there").display());
        assert_eq!(again, Answer::new(0, &path, if there { "already initialised\n" } else { "" }));
        assert_eq!(place.run(&["put", "a", "b", "-m", "c"]), Answer::new(0, "a\n", ""));
        kills += usize::from(killed);
        done += usize::from(killed && there);
    }
    println!("{kills} kills of init: 0 that blocked the next; {done} were done");
}
