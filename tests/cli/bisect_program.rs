//! `mnem bisect run`: what the program that tests a commit gets, and how it is ended

use super::bisect_run::{below, fifo, finds, names_none, rows, script, search};
use super::support::{Answer, Place, Run, lines};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStderr, Stdio};

const RANGE: [&str; 2] = ["--range", "HEAD~8..HEAD"];

/// A run that is in its program, which has said so on standard error.
struct Running {
    child: Child,
    talk: BufReader<ChildStderr>,
    /// The program's group.
    program: Pid,
    told: String,
}

impl Running {
    fn start(run: Run) -> Self {
        let mut command = run.command();
        // In a group of its own, it is not where keys go that are typed while the tests run.
        command.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        let mut talk = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut told = String::new();
        let program = loop {
            let from = told.len();
            assert!(talk.read_line(&mut told).expect("a line") > 0, "{told}");
            if let Some(program) = told[from..].strip_prefix("ready ") {
                break program.trim().parse().ok().and_then(Pid::from_raw).expect("an id");
            }
        };
        Self { child, talk, program, told }
    }

    fn send(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("it runs");
    }

    /// Ends only when nobody has the stream any more, so neither what the program has started.
    fn end(mut self) -> Answer {
        let (mut stdout, mut stderr) = (String::new(), self.told);
        self.child.stdout.take().expect("a pipe").read_to_string(&mut stdout).expect("text");
        self.talk.read_to_string(&mut stderr).expect("text");
        Answer { status: self.child.wait().expect("it ends").code().expect("no signal"), stdout, stderr }
    }
}

/// Says from the third run on that it runs, and then does this until a signal ends it.
fn waits(what: &str) -> String {
    format!("if [ $MNEM_BISECT_RUN -ge 3 ]; then echo ready $$ >&2; {what}; fi; {}", below(3))
}

/// Something that a program starts and that lets no signal end it that can be ignored.
const STUBBORN: &str = "(trap '' INT TERM HUP; sleep 20; echo lived >lived) & wait";

#[test]
fn the_environment_tells_what_is_tested() {
    let (place, commits) = Place::with_values(0..9);
    place.directory("sub");
    let tests =
        format!("env | grep ^MNEM_ | grep -v '^MNEM_DATE=\\|^MNEM_AUTHOR=' >env-$MNEM_BISECT_RUN; {}", below(3));
    let variables = |file: &str| -> BTreeMap<String, String> {
        let text = fs::read_to_string(place.path(file)).expect("a file").replace(&place.argument(""), "[PLACE]/");
        let pair = |line: &str| {
            let (name, value) = line.split_once('=').expect("a variable");
            (name.to_owned(), value.to_owned())
        };
        text.lines().map(pair).filter(|(name, _)| name != "MNEM").collect()
    };
    let expected = |at: usize, run: usize, attempt: usize, more: &[(&str, &str)]| -> BTreeMap<String, String> {
        let (run, attempt) = (run.to_string(), attempt.to_string());
        let all = [
            ("MNEM_SESSION", "default"),
            ("MNEM_BISECT", "1"),
            ("MNEM_BISECT_REV", &commits[at]),
            ("MNEM_BISECT_GOOD", &commits[0]),
            ("MNEM_BISECT_BAD", &commits[8]),
            ("MNEM_BISECT_RUN", &run),
            ("MNEM_BISECT_ATTEMPT", &attempt),
        ];
        all.iter().chain(more).map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    };
    let order = [(8, 1), (0, 1), (4, 1), (2, 1), (3, 1), (3, 2), (2, 2)];
    finds(&script(&place, &RANGE, &tests).answer(), &commits[3]);
    for (run, (at, attempt)) in (1..).zip(order) {
        let read = [("MNEM_REV", commits[at].as_str()), ("MNEM_REV_DIR", "[PLACE]/.mnemosyne")];
        assert_eq!(variables(&format!("env-{run}")), expected(at, run, attempt, &read));
    }
    let named = script(&place, &["-C", "sub", "--range", "HEAD~8..HEAD", "--store", "../.mnemosyne"], &tests);
    finds(&named.answer(), &commits[3]);
    assert_eq!(variables("sub/env-3")["MNEM_DIR"], "[PLACE]/sub/../.mnemosyne");
    for scratch in ["--scratch", "--scratch=state"] {
        let tests = if scratch == "--scratch" { tests.clone() } else { tests.replace("env-", "env-state-") };
        finds(&script(&place, &[&RANGE[..], &[scratch]].concat(), &tests).answer(), &commits[3]);
        for (run, (at, attempt)) in (1..).zip(order) {
            let file = if scratch == "--scratch" { format!("env-{run}") } else { format!("env-state-{run}") };
            let mut found = variables(&file);
            let copy = found.remove("MNEM_DIR").expect("a copy");
            assert!(copy.starts_with("[PLACE]/mnem-"), "{copy}");
            assert_eq!(found, expected(at, run, attempt, &[]), "no MNEM_REV");
        }
    }
    assert_eq!(place.copies(), [""; 0]);
    let auto = ["--good", "auto", "--bad", "HEAD"];
    finds(&script(&place, &auto, &tests).answer(), &commits[3]);
    assert_eq!(variables("env-1")["MNEM_BISECT_GOOD"], "", "none is known");
    assert_eq!(variables("env-6")["MNEM_BISECT_GOOD"], commits[0], "it was found");
    let (one, two) = (&commits[0], &commits[1]);
    finds(&script(&place, &["--good", one, "--good", two, "--bad", "HEAD"], &tests).answer(), &commits[3]);
    assert_eq!(variables("env-1")["MNEM_BISECT_GOOD"], format!("{one} {two}"));
}

#[test]
fn the_memory_is_there_as_a_file() {
    let (place, commits) = Place::with_values([0, 1, 0, 5]);
    place.set("far/away", ["\"é\""]);
    let export = |format: &str| match format {
        "dir" => {
            r#""$MNEM" export --format dir -o own-$MNEM_BISECT_RUN && diff -r own-$MNEM_BISECT_RUN "$MNEM_EXPORT""#
                .to_owned()
        }
        _ => format!(r#""$MNEM" export --format {format} | cmp - "$MNEM_EXPORT""#),
    };
    for format in ["jsonl", "json", "dir"] {
        let tests =
            format!("echo \"$MNEM_EXPORT\" >>names-{format}; {{ {}; }} || exit 126; {}", export(format), below(5));
        let options = ["--range", "HEAD~4..HEAD", "--export", format, "--no-cache"];
        finds(&script(&place, &options, &tests).answer(), &commits[3]);
        let names = fs::read_to_string(place.path(&format!("names-{format}"))).expect("names");
        let distinct: std::collections::BTreeSet<_> = names.lines().collect();
        assert!(distinct.len() < names.lines().count(), "{names}");
        assert!(names.lines().all(|name| name.starts_with(&place.argument("mnem-"))), "{names}");
        assert_eq!(place.copies(), [""; 0]);
    }
    let fresh = r#"! grep -q 5 "$MNEM_EXPORT" && echo spoilt >"$MNEM_EXPORT""#;
    let options = ["--range", "HEAD~4..HEAD", "--export", "jsonl"];
    let written = script(&place, &options, &fresh.replace("&&", ";")).answer();
    assert!(!written.stderr.contains("error[io]"), "{written:?}");
}

#[test]
fn its_words_are_its_own_and_it_starts_where_mnem_does() {
    let (place, commits) = Place::with_values(0..9);
    place.directory("sub/deep");
    let words = ["a b", "*", "", "--", "--range", "x", "--json", "$HOME", "'", "-z", "--nope"];
    let told: String = words.iter().map(|word| format!("<{word}>")).collect();
    for before in [&["sh"][..], &["--", "sh"]] {
        let tests = format!("printf '<%s>' \"$@\" >words; {}", below(3));
        let run = search(&place, &RANGE).arguments(before).arguments(["-c", &tests, "sh"]).arguments(words);
        finds(&run.answer(), &commits[3]);
        assert_eq!(fs::read_to_string(place.path("words")).expect("a file"), told);
    }
    let tests = format!("pwd >>\"$PLACE/where\"; cd \"$TO\"; {}", below(3));
    for (options, to) in [
        (&["-C", "sub/deep"][..], ".."),
        (&["-C", "sub/deep", "--scratch"], "/"),
        (&["-C", "sub/deep", "--store", "../../.mnemosyne"], "/"),
    ] {
        let run = script(&place, &[options, &RANGE].concat(), &tests).env("PLACE", place.argument("")).env("TO", to);
        finds(&run.answer(), &commits[3]);
    }
    let run = script(&place, &RANGE, &tests).within("sub/deep").env("PLACE", place.argument("")).env("TO", "..");
    finds(&run.answer(), &commits[3]);
    let places = fs::read_to_string(place.path("where")).expect("a file");
    assert_eq!(places, format!("{}\n", place.argument("sub/deep")).repeat(28));
}

#[test]
fn its_input_is_empty_and_that_of_mnem_is_left() {
    let (place, commits) = Place::with_values(0..9);
    let tests = format!("[ -z \"$(cat)\" ] || exit 126; {}", below(3));
    let around = r#""$MNEM" bisect run --range HEAD~8..HEAD -- sh -c "$TESTS" 2>/dev/null; cat"#;
    let run = place.mnem(&["exec", "sh", "-c", around]).env("MNEM", env!("CARGO_BIN_EXE_mnem")).env("TESTS", tests);
    run.input("for another\n").says(&format!("{}\nfor another\n", commits[3]), "");
}

#[test]
fn it_may_print_as_much_as_it_likes() {
    let (place, commits) = Place::with_values(0..2);
    let much = "head -c 2000000 /dev/zero | tr '\\0' o; head -c 2000000 /dev/zero | tr '\\0' e >&2";
    let tests = format!("{much}; {}", below(1));
    let answer = script(&place, &["--range", "HEAD~1..HEAD"], &tests).answer();
    finds(&answer, &commits[1]);
    assert!(answer.stderr.len() > 16_000_000);
    finds(&script(&place, &["--range", "HEAD~1..HEAD", "--log-dir", "logs"], &tests).answer(), &commits[1]);
    let name = format!("logs/0001-{}.log", &commits[1][..10]);
    assert_eq!(fs::metadata(place.path(&name)).expect("a log").len(), 4_000_000);
}

#[test]
fn nothing_is_written_whatever_it_reads_and_in_a_copy_it_may_write() {
    let (place, commits) = Place::with_values(0..9);
    place.mnem(&["put", "-q", "staged", "1"]).output();
    let before = place.stored();
    let reads = format!(r#""$MNEM" ls && "$MNEM" log -n1 && "$MNEM" status; {}"#, below(3));
    finds(&script(&place, &RANGE, &reads).answer(), &commits[3]);
    assert!(place.stored() == before);
    let refused = format!(r#""$MNEM" put k v && exit 126; {}"#, below(3));
    finds(&script(&place, &RANGE, &refused).answer(), &commits[3]);
    assert!(place.stored() == before);
    // Nobody else's writes are there, and HEAD is the commit.
    let writes = r#"set -e; ! "$MNEM" get own; ! "$MNEM" get staged; "$MNEM" put own 1; "$MNEM" commit -qm own
        [ -z "$HISTORY" ] || [ "$("$MNEM" rev-parse HEAD~1)" = $MNEM_BISECT_REV ]"#;
    let tests = format!("({writes}) || exit 126; {}", below(3));
    for (scratch, history) in
        [(&["--scratch"][..], "1"), (&["--scratch", "-j", "3"], "1"), (&["--scratch=state", "-j", "2"], "")]
    {
        let options = [&["--range", "HEAD~6..HEAD~4"], scratch].concat();
        finds(&script(&place, &options, &tests).env("HISTORY", history).answer(), &commits[3]);
        assert!(place.stored() == before, "{scratch:?}");
        assert_eq!(place.copies(), [""; 0]);
    }
}

#[test]
fn others_may_commit_meanwhile() {
    let (place, commits) = Place::with_values(0..9);
    let commits_too = r#"env -u MNEM_REV "$MNEM" put --session other n $((100 + $MNEM_BISECT_RUN)) -qm other"#;
    let moves_too = r#"env -u MNEM_REV "$MNEM" put n $((200 + $MNEM_BISECT_RUN)) -qm own"#;
    for also in [commits_too, moves_too] {
        let range = format!("{}..{}", commits[0], commits[8]);
        let tests = format!("{also} || exit 126; {}", below(3));
        finds(&script(&place, &["--range", &range], &tests).answer(), &commits[3]);
    }
    place.mnem(&["get", "n"]).says("207", "");
    place.mnem(&["get", "n", "--session", "other"]).says("207", "");
    let tests = format!("{moves_too} || exit 126; {}", below(3));
    finds(&script(&place, &["--good", &commits[0], "--bad", "main"], &tests).answer(), &commits[3]);
}

#[test]
fn a_long_history_with_merges_is_searched_beside_who_commits() {
    const OTHERS: usize = 200;
    let place = Place::with_store();
    let first = place.set("n", 0..300)[0].clone();
    place.mnem(&["switch", "-qc", "side"]).output();
    let side = place.set("s", 0..350);
    place.mnem(&["switch", "-q", "main"]).output();
    place.set("n", 300..500);
    place.mnem(&["merge", "-q", "side"]).output();
    place.mnem(&["switch", "-q", "side"]).output();
    place.set("t", 0..50);
    place.mnem(&["switch", "-q", "main"]).output();
    place.mnem(&["merge", "-q", "side"]).output();
    let last = place.set("n", 500..600).pop().expect("the last one");
    place.mnem(&["switch", "-qc", "others", "--session", "other"]).output();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..OTHERS {
                place.mnem(&["put", "o", &number.to_string(), "-qm", "o", "--session", "other"]).output();
            }
        });
        let tests = r#"s=$("$MNEM" get s 2>/dev/null) || s=0; [ "$s" -lt 175 ]"#;
        for jobs in ["1", "4"] {
            let range = format!("{first}..{last}");
            finds(&script(&place, &["-j", jobs, "--range", &range], tests).answer(), &side[175]);
        }
    });
    assert_eq!(place.mnem(&["log", "--ids", "main..others"]).output().lines().count(), OTHERS);
    place.mnem(&["rev-parse", "main"]).says(&format!("{last}\n"), "");
}

#[test]
fn what_takes_too_long_is_ended_with_all_that_it_started() {
    let (place, commits) = Place::with_values(0..9);
    fifo(&place, "fifo");
    let late = |what: &str| format!("[ \"$(\"$MNEM\" get n)\" != 3 ] || {{ {what}; }}; {}", below(3));
    let timeout = |on_timeout: &[&'static str]| [&RANGE[..], &["--timeout", "200ms"], on_timeout].concat();
    let said = format!("{} skip, run 5: took too long: set n to 3\n", &commits[3][..10]);
    for options in [timeout(&[]), timeout(&["--on-timeout", "skip"])] {
        let answer = script(&place, &options, &late("read x <fifo")).answer();
        names_none(&answer, 2, &lines(&commits[3..=4]));
        assert!(answer.stderr.contains(&said), "{answer:?}");
    }
    for what in ["read x <fifo", "exec sleep 600", STUBBORN] {
        let answer = script(&place, &timeout(&["--on-timeout", "bad"]), &late(what)).answer();
        finds(&answer, &commits[3]);
    }
    let answer = script(&place, &timeout(&["--on-timeout", "abort"]), &late("exec sleep 600")).answer();
    names_none(&answer, 128, "");
    let said = format!(
        "mnem: error[io]: the program took longer than --timeout allows at {}, so the search ends\n\
         hint: allow more, or let it say nothing of the commit: --on-timeout skip\n",
        &commits[3][..10]
    );
    assert!(answer.stderr.ends_with(&said), "{answer:?}");
    assert!(!place.path("lived").exists());
    let said = "mnem: error[usage]: the following required arguments were not provided: --timeout <DURATION>\n\
                hint: see 'mnem bisect run --help'\n";
    search(&place, &RANGE).arguments(["--on-timeout", "bad", "true"]).refuses(129, said);
    let answer = search(&place, &RANGE).arguments(["--timeout", "soon", "true"]).answer();
    assert_eq!(answer.status, 129, "{answer:?}");
}

#[test]
fn what_nobody_needs_any_more_is_ended() {
    let (place, commits) = Place::with_values(0..9);
    // The later one of two waits until the earlier one has said bad, which tells what the later one would say.
    let tests =
        format!("[ $MNEM_BISECT_RUN -lt 3 ] || [ \"$(\"$MNEM\" get n)\" -lt 4 ] || {{ {STUBBORN}; }}; {}", below(1));
    finds(&script(&place, &[&RANGE[..], &["-j", "2"]].concat(), &tests).answer(), &commits[1]);
    assert!(!place.path("lived").exists());
}

#[test]
fn a_signal_ends_the_program_and_what_was_found_so_far_is_kept() {
    let (place, commits) = Place::with_values(0..9);
    let before = place.stored();
    for (signal, status) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        for (options, what) in
            [(&[][..], STUBBORN), (&["--scratch"], "exec sleep 600"), (&["-j", "3"], "exec sleep 600")]
        {
            let options = [&RANGE[..], &["--report", "report"], options].concat();
            let running = Running::start(script(&place, &options, &waits(what)));
            running.send(signal);
            let answer = running.end();
            names_none(&answer, status, "");
            assert!(answer.stderr.contains("interrupted after "), "{answer:?}");
            let kept = rows(&place, "report");
            let purposes: Vec<_> = kept.iter().map(|row| row["purpose"].as_str().unwrap_or_default()).collect();
            assert_eq!(purposes, ["", "bad-end", "good-end"]);
            assert_eq!((&kept[0]["type"], &kept[2]["commit"]), (&"bisect_start".into(), &commits[0].clone().into()));
            assert!(!place.path("lived").exists());
            assert!(place.stored() == before && place.copies().is_empty());
        }
    }
}

#[test]
fn what_a_killed_one_leaves_is_removed_by_the_next() {
    let (place, commits) = Place::with_values(0..9);
    let before = place.stored();
    for options in [&["--scratch"][..], &["--scratch=state"], &["--export", "jsonl"], &[]] {
        let options = [&RANGE[..], options].concat();
        let mut killed = Running::start(script(&place, &options, &waits("exec sleep 600")));
        killed.send(Signal::KILL);
        assert_eq!(killed.child.wait().expect("it ends").signal(), Some(9));
        kill_process_group(killed.program, Signal::KILL).expect("it runs still");
        assert!(place.stored() == before);
        assert_eq!(place.copies().is_empty(), options.len() == 2);
        let next = ["--range", "HEAD~1..HEAD", "--no-verify", "--scratch", "true"];
        finds(&search(&place, &next).answer(), &commits[8]);
        assert!(place.stored() == before && place.copies().is_empty());
    }
}
