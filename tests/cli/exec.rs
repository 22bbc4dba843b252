//! `mnem exec`

use super::support::{Answer, FIRST, Place, Run, SECOND, THIRD};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, ChildStdout, Stdio};

/// Says that it runs, and runs until a signal ends it.
const WAITS: &str = "echo ready; exec sleep 600";

/// A run of `mnem exec` whose scripts know the binary as `$MNEM`.
fn exec(place: &Place, arguments: &[&str]) -> Run {
    place.mnem(&["exec"]).arguments(arguments).env("MNEM", env!("CARGO_BIN_EXE_mnem"))
}

/// The same of a script with options before it.
fn script(place: &Place, options: &[&str], script: &str) -> Run {
    exec(place, options).arguments(["--", "sh", "-c", script])
}

/// A run that is in its program.
struct Running {
    child: Child,
    answer: BufReader<ChildStdout>,
}

impl Running {
    fn start(run: Run) -> Self {
        let mut command = run.command();
        // In a group of its own, it is not where keys go that are typed while the tests run.
        command.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        let mut answer = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut line = String::new();
        answer.read_line(&mut line).expect("a line");
        assert_eq!(line, "ready\n");
        Self { child, answer }
    }

    fn send(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("it runs");
    }

    fn end(mut self) -> Answer {
        let (mut stdout, mut stderr) = (String::new(), String::new());
        self.answer.read_to_string(&mut stdout).expect("text");
        self.child.stderr.take().expect("a pipe").read_to_string(&mut stderr).expect("text");
        let status = self.child.wait().expect("it ends").code().expect("no signal");
        Answer { status, stdout, stderr }
    }
}

#[test]
fn what_the_program_reads_is_the_memory_at_the_revision() {
    let place = Place::with_story();
    place.mnem(&["put", "user/diet", "staged"]).output();
    place.directory("sub");
    let told = format!("vegan since 2019\n{FIRST} [PLACE]/.mnemosyne default\n");
    let asks = r#"cd sub; "$MNEM" get user/diet; echo; echo "$MNEM_REV $MNEM_REV_DIR $MNEM_SESSION$MNEM_DIR""#;
    script(&place, &["-r", &FIRST[..8]], asks).says(&told, "");
    script(&place, &["--rev=HEAD~2"], asks).says(&told, "");
    script(&place, &["-C", "sub", "-r", "main~2"], &asks.replace("sub", ".")).says(&told, "");
    script(&place, &[], asks).env("MNEM_REV", "HEAD~2").says(&told, "");
    script(&place, &["-r", FIRST], asks).env("MNEM_REV", "HEAD").says(&told, "");
    script(&place, &[], r#""$MNEM" get user/diet; echo " $MNEM_REV""#).says(&format!("loves steak {THIRD}\n"), "");
    script(&place, &["--session", "agent", "-r", "HEAD~1"], r#"echo "$MNEM_SESSION""#)
        .env("MNEM_SESSION", "other")
        .says("agent\n", "");
    exec(&place, &["-C", "sub", "pwd"]).says("[PLACE]/sub\n", "");
    exec(&place, &["-C", "sub", "--scratch", "pwd"]).says("[PLACE]/sub\n", "");
    exec(&place, &["cat"]).input("what comes in").says("what comes in", "");
    place.mnem(&["branch", "-q", &SECOND[..6], FIRST]).output();
    script(&place, &["-r", &SECOND[..6]], r#"echo "$MNEM_REV""#).says(
        &format!("{FIRST}\n"),
        &format!(
            "warning: '{0}' is a branch and also the prefix of a commit's id; the branch was taken\n",
            &SECOND[..6]
        ),
    );
}

#[test]
fn a_store_that_is_named_is_found_from_anywhere() {
    let place = Place::with_story();
    place.directory("sub");
    let asks = r#"cd /; "$MNEM" get user/diet; echo " $MNEM_DIR""#;
    let told = "vegan since 2019 [PLACE]/sub/../.mnemosyne\n";
    script(&place, &["-r", FIRST, "--store", "../.mnemosyne"], asks).within("sub").says(told, "");
    script(&place, &["-r", FIRST], asks).within("sub").env("MNEM_DIR", "../.mnemosyne").says(told, "");
}

#[test]
fn nothing_is_written_at_a_revision_and_stores_of_its_own_are_none_of_it() {
    let place = Place::with_story();
    let refusal = format!(
        "mnem: error[read-only-rev]: MNEM_REV is set to '{FIRST}', so nothing is written\n\
         hint: to write, run it without: env -u MNEM_REV mnem …\n"
    );
    exec(&place, &["-r", FIRST, env!("CARGO_BIN_EXE_mnem"), "put", "k", "v"]).refuses(129, &refusal);
    let own = r#"mkdir own && cd own && "$MNEM" init -q && "$MNEM" put k own -qm own && "$MNEM" get k"#;
    script(&place, &["-r", FIRST], own).says("[PLACE]/own/.mnemosyne\nk\nown", "");
}

#[test]
fn the_words_behind_the_program_are_its_own() {
    let place = Place::with_story();
    let words = ["a b", "*", "", "--", "-r", "x", "--json", "--scratch", "$HOME", "'", "-z", "--nope"];
    let shows = ["sh", "-c", "printf '<%s>' \"$@\"", "-C"];
    let told: String = words.iter().map(|word| format!("<{word}>")).collect();
    for before in [&[][..], &["--"], &["-q", "--rev", FIRST], &["--scratch", "--"]] {
        exec(&place, before).arguments(shows).arguments(words).says(&told, "");
    }
    place.write("-r", "#!/bin/sh\necho \"it is $0\"\n");
    fs::set_permissions(place.path("-r"), fs::Permissions::from_mode(0o755)).expect("permissions");
    exec(&place, &["./-r"]).says("it is ./-r\n", "");
}

#[test]
fn its_exit_status_is_that_of_the_program() {
    let place = Place::with_story();
    for (says, status) in [("true", 0), ("exit 1", 1), ("exit 125", 125), ("exit 255", 255), ("kill -9 $$", 137)] {
        script(&place, &[], says).ends(status, "", "");
        script(&place, &["--scratch"], says).ends(status, "", "");
    }
    assert!(place.copies().is_empty());
}

#[test]
fn what_cannot_be_run_is_refused() {
    let place = Place::with_story();
    place.write("plain", "text");
    place.directory("directory");
    let shell = "hint: no shell reads the words: mnem exec -- sh -c 'COMMAND LINE'\n";
    for (program, message) in [
        ("no such program", "there is no program 'no such program'"),
        ("", "there is no program ''"),
        ("./none", "there is no program './none'"),
        ("./plain", "'./plain' is no program that may be run"),
        ("./directory", "'./directory' is no program that may be run"),
    ] {
        let refusal = format!("mnem: error[command-not-found]: {message}\n{shell}");
        exec(&place, &["--", program]).refuses(128, &refusal);
        exec(&place, &["--scratch", "--", program]).refuses(128, &refusal);
    }
    exec(&place, &["--json", "none"]).refuses(
        128,
        "{\"v\":1,\"type\":\"error\",\"code\":\"command-not-found\",\"message\":\"there is no program 'none'\",\
         \"hint\":\"no shell reads the words: mnem exec -- sh -c 'COMMAND LINE'\",\"exit\":128}\n",
    );
    let long = "x".repeat(300);
    let refusal = format!("mnem: error[io]: starting '{long}' failed: File name too long (os error 36)\n");
    exec(&place, &[&long]).refuses(128, &refusal);
    for (arguments, message, hint) in [
        (&[][..], "the following required arguments were not provided: <CMD>...", "see 'mnem exec --help'"),
        (&["--nope", "true"], "unexpected argument '--nope' found", "a similar argument exists: '--no-pager'"),
        (
            &["--keep", "true"],
            "the following required arguments were not provided: --scratch[=<EXTENT>]",
            "see 'mnem exec --help'",
        ),
        (
            &["--scratch=all", "true"],
            "invalid value 'all' for '--scratch[=<EXTENT>]' [possible values: history, state]",
            "see 'mnem exec --help'",
        ),
    ] {
        exec(&place, arguments).refuses(129, &format!("mnem: error[usage]: {message}\nhint: {hint}\n"));
    }
}

#[test]
fn a_revision_that_is_none_is_refused_before_anything_runs() {
    let (place, unborn) = (Place::with_story(), Place::with_store());
    for options in [&[][..], &["--scratch"], &["--scratch=state"]] {
        exec(&place, &["-r", "nowhere"])
            .arguments(options)
            .arguments(["touch", "ran"])
            .refuses(128, "mnem: error[bad-revision]: unknown revision 'nowhere'\nhint: see 'mnem log --oneline'\n");
        script(&unborn, options, "touch ran").refuses(
            128,
            "mnem: error[bad-revision]: no commit yet on 'main'\n\
             hint: make one with 'mnem put ID CONTENT' and 'mnem commit -m MESSAGE'\n",
        );
    }
}

#[test]
fn the_store_is_free_while_the_program_runs() {
    let place = Place::with_story();
    let writes = r#"
        set -e
        unset MNEM_REV MNEM_REV_DIR
        export MNEM_DIR="$STORE" MNEM_LOCK_TIMEOUT=0
        "$MNEM" put "$NAME" 1 -qm one
        "$MNEM" put "$NAME/staged" 2
        "$MNEM" commit -qm two >/dev/null
        export MNEM_LOCK_TIMEOUT=60s
        for n in 1 2 3 4 5; do "$MNEM" --session other put "$NAME/other/$n" "$n" -m "$n"; done >/dev/null & other=$!
        for n in 1 2 3 4 5; do "$MNEM" put "$NAME/here/$n" "$n" -m "$n"; done >/dev/null
        wait $other
        "$MNEM" log --ids | wc -l
        "$MNEM" ls --count"#;
    for (options, name, commits, nodes) in [(&[][..], "plain", 15, 14), (&["--scratch"], "copy", 27, 26)] {
        let run = script(&place, options, writes).env("STORE", place.path(".mnemosyne")).env("NAME", name);
        run.says(&format!("{name}\n{name}/staged\n{commits}\n{nodes}\n"), "");
    }
}

#[test]
fn a_copy_says_what_the_store_says_at_the_revision() {
    let place = Place::with_story();
    for revision in [FIRST, SECOND, THIRD] {
        for (there, here) in [
            (&["log", "--json", revision][..], &["log", "--json"][..]),
            (&["log", "-p", "--json", revision], &["log", "-p", "--json"]),
            (&["blame", "--json", "-r", revision], &["blame", "--json"]),
            (
                &["blame", "--json", "--history", "user/diet", "-r", revision],
                &["blame", "--json", "--history", "user/diet"],
            ),
            (&["ls", "--json", "-r", revision], &["ls", "--json"]),
            (&["show", "--json", revision], &["show", "--json"]),
            (&["branch", "--json", "--contains", revision, "-q"], &["branch", "--json", "--contains", "HEAD"]),
        ] {
            let told = place.mnem(there).output().replace("\"current\":true", "\"current\":false");
            let run = exec(&place, &["-r", revision, "--scratch", "--", env!("CARGO_BIN_EXE_mnem")]);
            let copy = run.arguments(here).output();
            let decorated = |text: &str| text.replace("\"HEAD\",", "").replace("\"HEAD\"", "");
            assert_eq!(decorated(&copy), decorated(&told), "{here:?} at {revision}");
        }
    }
}

#[test]
fn what_is_written_in_a_copy_is_thrown_away() {
    let place = Place::with_story();
    place.mnem(&["put", "-q", "staged", "1"]).output();
    place.mnem(&["config", "author", "Store <store@example.org>"]).output();
    place.directory("sub");
    let before = place.files();
    let writes = r#"
        cd sub
        echo "$MNEM_SESSION $MNEM_REV $MNEM_REV_DIR"
        "$MNEM" put user/diet changed >/dev/null && "$MNEM" commit -qm changed >/dev/null
        "$MNEM" log --oneline | cut -d' ' -f2-
        "$MNEM" get user/diet; echo
        "$MNEM" get staged 2>/dev/null || echo "nothing staged"
        "$MNEM" rev-parse '@{-1}' 'HEAD@{1}'
        "$MNEM" put --session third third 3 -qm third
        "$MNEM" status --session other | head -n1
        "$MNEM" config author"#;
    let run = script(&place, &["-r", FIRST, "--scratch"], writes);
    run.env("MNEM_REV", "HEAD").env("MNEM_REV_DIR", place.path(".mnemosyne")).says(
        &format!(
            "default  \n(HEAD) changed\nlearn how Maria eats\nchanged\nnothing staged\n{THIRD}\n{FIRST}\nthird\n\
             session other on no branch, at 2dea8ca67f\nStore <store@example.org>\n"
        ),
        "",
    );
    assert!(place.files() == before);
}

#[test]
fn a_copy_of_the_state_has_no_history() {
    let place = Place::with_story();
    let before = place.files();
    let asks = r#"
        "$MNEM" ls
        "$MNEM" log --json
        "$MNEM" blame user/diet | cut -c12- | head -n1
        "$MNEM" branch
        "$MNEM" put user/diet changed -m changed
        "$MNEM" log --oneline | wc -l"#;
    let state = place.mnem(&["log", "-n1", "--json", SECOND]).output();
    let state: serde_json::Value = serde_json::from_str(&state).expect("a commit");
    let answer = script(&place, &["-r", SECOND, "--scratch=state"], asks).answer();
    assert_eq!((answer.status, answer.stderr.as_str()), (0, ""), "{answer:?}");
    let mut told = answer.stdout.lines();
    assert_eq!(told.by_ref().take(3).collect::<Vec<_>>(), ["plan/dinner", "user/allergies", "user/diet"]);
    let commit: serde_json::Value = serde_json::from_str(told.next().expect("a commit")).expect("JSON");
    for field in ["state", "author", "time", "message"] {
        assert_eq!(commit[field], state[field]);
    }
    assert_eq!((&commit["parents"], &commit["changes"]["added"]), (&serde_json::json!([]), &serde_json::json!(3)));
    assert_eq!(
        told.collect::<Vec<_>>(),
        [
            "~2025-12-01T09:00:00.000+00:00 Ada <ada@example.org> (source: https://forum.example/t/88)",
            "* (HEAD detached at fcfd1cc1a7)",
            "user/diet",
            "2"
        ]
    );
    assert!(place.files() == before);
}

#[test]
fn a_copy_that_is_kept_stays_and_is_told() {
    let place = Place::with_story();
    for options in [&["-q"][..], &["--session", "agent"]] {
        let run = exec(&place, &["-r", FIRST, "--scratch", "--keep"]).arguments(options);
        let answer = run.arguments(["sh", "-c", r#""$MNEM" put k v -qm mine; echo "$MNEM_DIR""#]).answer();
        assert_eq!(answer.status, 0);
        let path = answer.stdout.lines().nth(1).expect("a path").replace("[PLACE]", &place.argument(""));
        let typed = answer.stderr.strip_prefix("to look into the copy: ").expect("a line").trim_end();
        let session = if options[0] == "-q" { "" } else { " --session agent" };
        let shown = answer.stdout.lines().nth(1).expect("a path");
        assert_eq!(typed, format!("mnem --store {shown}{session} log"));
        let mode =
            fs::metadata(Path::new(&path).parent().expect("a directory")).expect("it stays").permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        let words: Vec<_> = typed.split(' ').skip(1).map(|word| word.replace("[PLACE]", &place.argument(""))).collect();
        let log = place.mnem(&[]).arguments(&words).arguments(["--oneline"]).output();
        assert!(log.contains("(HEAD) mine\n") && log.ends_with("learn how Maria eats\n"), "{log}");
    }
    exec(&place, &["--scratch", "true"]).says("", "");
    assert_eq!(place.copies().len(), 2, "and is no leftover");
}

#[test]
fn of_a_damaged_store_there_is_no_copy() {
    let place = Place::with_story();
    let file = place.path(".mnemosyne/store.redb");
    let mut bytes = fs::read(&file).expect("a file");
    let text = b"loves steak";
    let at: Vec<_> = (0..bytes.len() - text.len()).filter(|&at| bytes[at..].starts_with(text)).collect();
    assert!(!at.is_empty());
    at.into_iter().for_each(|at| bytes[at] ^= 1);
    fs::write(&file, bytes).expect("a file");
    for options in [&["--scratch"][..], &["--scratch", "--keep"], &["--scratch=state", "-r", SECOND]] {
        script(&place, options, "touch ran").refuses(
            128,
            "mnem: error[corrupt]: the memory store is damaged: a row of the table 'object' fails its check\n\
             hint: nothing was changed; keep a copy of the store before anything else\n",
        );
    }
}

#[test]
fn a_signal_to_mnem_alone_goes_to_the_program_and_the_copy_is_removed() {
    let place = Place::with_story();
    for (signal, status) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        for options in [&[][..], &["--scratch"]] {
            let running = Running::start(script(&place, options, WAITS));
            assert_eq!(place.copies().len(), options.len());
            running.send(signal);
            let answer = running.end();
            assert_eq!((answer.status, answer.stderr.as_str()), (status, ""));
            assert!(place.copies().is_empty());
        }
    }
    let traps = "trap 'echo cleaned; exit 7' TERM; echo ready; while :; do read x <fifo; done";
    rustix::fs::mknodat(rustix::fs::CWD, place.path("fifo"), rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0)
        .expect("a FIFO");
    let running = Running::start(script(&place, &["--scratch"], traps));
    running.send(Signal::TERM);
    let answer = running.end();
    assert_eq!((answer.status, answer.stdout.as_str()), (7, "cleaned\n"), "it has the last word");
    assert!(place.copies().is_empty());
}

#[test]
fn a_signal_while_the_copy_is_made_leaves_nothing() {
    let place = Place::with_store();
    let rows: String = (0..20_000).map(|n| format!("{{\"id\":\"node/{n}\",\"content\":{n}}}\n")).collect();
    place.mnem(&["put", "--jsonl", "-", "-qm", "many"]).input(rows).output();
    for (options, signal, status) in [("--scratch", Signal::TERM, 143), ("--scratch=state", Signal::INT, 130)] {
        let mut command = script(&place, &[options], WAITS).command();
        command.process_group(0).stdin(Stdio::null()).stdout(Stdio::null());
        let mut child = command.spawn().expect("it starts");
        while place.copies().is_empty() {
            std::thread::yield_now();
        }
        kill_process(Pid::from_child(&child), signal).expect("it runs");
        assert_eq!(child.wait().expect("it ends").code(), Some(status));
        assert!(place.copies().is_empty());
    }
}

#[test]
fn what_a_killed_one_leaves_is_removed_by_the_next_and_what_a_living_one_has_is_not() {
    let place = Place::with_story();
    let mut killed =
        Running::start(script(&place, &["--scratch"], &WAITS.replace("echo ready", "echo ready; echo $$")));
    let mut program = String::new();
    killed.answer.read_line(&mut program).expect("its id");
    killed.send(Signal::KILL);
    assert_eq!(killed.child.wait().expect("it ends").signal(), Some(9));
    let program = program.trim().parse().ok().and_then(Pid::from_raw).expect("an id");
    let left = place.copies();
    assert_eq!(left.len(), 1);
    exec(&place, &["--scratch", "true"]).says("", "");
    assert_eq!(place.copies(), left, "the program has it still");
    kill_process(program, Signal::KILL).expect("it runs");
    // How soon it is gone nobody tells who is not its parent.
    while !place.copies().is_empty() {
        exec(&place, &["--scratch", "true"]).says("", "");
    }
    let running = Running::start(script(&place, &["--scratch"], WAITS));
    let living = place.copies();
    assert!(living.len() == 1 && living != left, "{living:?}");
    exec(&place, &["--scratch", "true"]).says("", "");
    assert_eq!(place.copies(), living);
    running.send(Signal::TERM);
    assert_eq!(running.end().status, 143);
    assert!(place.copies().is_empty());
}

#[test]
fn a_signal_that_is_ignored_from_the_start_stays_so() {
    let place = Place::with_story();
    let command =
        exec(&place, &["--scratch", "sh", "-c"]).arguments(["echo ready; read x; kill -HUP $$; echo on"]).command();
    let words: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
    let program = command.get_program().to_owned();
    let mut ignoring = std::process::Command::new("sh");
    ignoring.args(["-c", "trap '' HUP; exec \"$0\" \"$@\""]).arg(program).args(words);
    let variables = command.get_envs().filter_map(|(name, value)| Some((name, value?)));
    ignoring.current_dir(place.path("")).env_clear().envs(variables);
    let mut child = ignoring.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut answer = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut told = String::new();
    answer.read_line(&mut told).expect("a line");
    kill_process(Pid::from_child(&child), Signal::HUP).expect("it runs");
    child.stdin.take().expect("a pipe").write_all(b"\n").expect("it reads");
    answer.read_to_string(&mut told).expect("text");
    assert_eq!((told.as_str(), child.wait().expect("it ends").code()), ("ready\non\n", Some(0)));
    assert!(place.copies().is_empty());
}

#[test]
fn what_is_typed_at_a_terminal_reaches_the_program_once() {
    let place = Place::with_story();
    let counts = "trap 'echo int' INT; echo ready; until read x; do :; done";
    let Some(run) = place.at_terminal(&["exec", "--scratch", "--", "sh", "-c", counts]) else { return };
    let mut command = run.command();
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut answer = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut keys = child.stdin.take().expect("a pipe");
    let mut told = String::new();
    while !told.contains("ready") {
        answer.read_line(&mut told).expect("a line");
    }
    // What comes twice may seem to come once, but not each time.
    let heard = |told: &str| told.lines().filter(|line| line.ends_with("int")).count();
    for times in 1..=20 {
        keys.write_all(b"\x03").expect("a key");
        while heard(&told) < times {
            answer.read_line(&mut told).expect("a line");
        }
    }
    keys.write_all(b"x\n").expect("keys");
    answer.read_to_string(&mut told).expect("text");
    assert_eq!(heard(&told), 20, "{told:?}");
    assert_eq!(child.wait().expect("it ends").code(), Some(0), "{told:?}");
    assert!(place.copies().is_empty());
}
