//! `mnem completions`, and what a shell is offered.

use super::support::{Answer, Place, Run, lines};
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// Asks for the last of `words` as the script of bash does.
fn asked(place: &Place, words: &[&str]) -> Run {
    let run = place.mnem(&["--", "mnem"]).arguments(words);
    run.env("COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", words.len().to_string()).env("_CLAP_IFS", "\n")
}

/// What is offered for the last of `words`; the same bytes lie in the store afterwards.
#[track_caller]
fn offered(place: &Place, words: &[&str]) -> Vec<String> {
    let before = place.files();
    let offered = asked(place, words).output();
    assert!(place.files() == before, "{words:?} changed the store");
    offered.lines().map(str::to_owned).collect()
}

/// A store with awkward ids, in a commit and staged, and another session.
fn place() -> Place {
    let place = Place::with_store();
    for id in ["user:diet", "user:home town", "user/name", "it's \"q\"", "a*", "ada@x", "$HOME", "gone"] {
        place.mnem(&["put", id, "v"]).output();
    }
    place.mnem(&["commit", "-qm", "first"]).output();
    place.mnem(&["rm", "gone"]).output();
    place.mnem(&["put", "user/new", "v"]).output();
    place.mnem(&["put", "of-agent", "v", "--session", "agent-7"]).output();
    place
}

#[test]
fn ids_are_offered_as_they_stand() {
    let place = place();
    for command in ["get", "rm", "put", "restore", "ls", "export"] {
        assert_eq!(offered(&place, &[command, "user/"]), ["user/name", "user/new"], "{command}");
        assert_eq!(offered(&place, &[command, "user:"]), ["user:diet", "user:home town"], "{command}");
    }
    for words in [&["log", "--", "user/n"][..], &["commit", "--only", "user/n"], &["rm", "--glob", "user/n"]] {
        assert_eq!(offered(&place, words), ["user/name", "user/new"], "{words:?}");
    }
    assert_eq!(offered(&place, &["get", "user:home t"]), ["user:home town"]);
    assert_eq!(offered(&place, &["get", "it's "]), ["it's \"q\""]);
    assert_eq!(offered(&place, &["get", "gon"]), [""; 0]);
    assert_eq!(offered(&place, &["get", "of"]), [""; 0]);
    let of_agent = asked(&place, &["get", "of"]).env("MNEM_SESSION", "agent-7").output();
    assert_eq!(of_agent, "of-agent");
}

#[test]
fn revisions_sessions_and_keys_are_offered() {
    let place = place();
    let commit = place.mnem(&["log", "--ids"]).output();
    let commit = commit.trim_end();
    for words in [&["get", "k", "-r", ""][..], &["log", ""], &["restore", "k", "-s", ""], &["ls", "--rev", ""]] {
        let found = offered(&place, words);
        for revision in ["HEAD", "main", commit] {
            assert!(found.iter().any(|word| word == revision), "{words:?}: {found:?}");
        }
    }
    assert_eq!(offered(&place, &["log", "ma"]), ["main"]);
    assert_eq!(offered(&place, &["log", &commit[..5]]), [commit]);
    for first in ["HEAD..", "main~1...", "..", "...", "a b.."] {
        assert_eq!(offered(&place, &["log", &format!("{first}ma")]), [format!("{first}main")]);
        assert_eq!(offered(&place, &["diff", &format!("{first}{}", &commit[..5])]), [format!("{first}{commit}")]);
        let found = offered(&place, &["log", first]);
        for revision in ["HEAD", "main", commit] {
            assert!(found.contains(&format!("{first}{revision}")), "{first}: {found:?}");
        }
    }
    assert_eq!(offered(&place, &["log", "--", "HEAD..ma"]), [""; 0]);
    assert_eq!(offered(&place, &["status", "--session", ""]), ["agent-7", "default"]);
    assert_eq!(offered(&place, &["status", "--session", "a"]), ["agent-7"]);
    assert_eq!(offered(&place, &["config", "lo"]), ["lock-timeout"]);
    let keys = offered(&place, &["config", ""]);
    assert!(["author", "lock-timeout", "reflog-days"].iter().all(|key| keys.iter().any(|word| word == key)));
    assert_eq!(offered(&place, &["ls", "--sort", ""]), ["id", "time", "event-time"]);
}

#[test]
fn branches_and_tags_are_offered_where_they_are_meant() {
    let place = place();
    let commit = place.mnem(&["log", "--ids"]).output();
    let commit = &commit[..5];
    place.mnem(&["branch", "-q", "side"]).output();
    place.mnem(&["tag", "-q", "stone"]).output();
    for words in [&["branch", "s"][..], &["branch", "-d", "main", "s"], &["branch", "-m", "s"], &["switch", "s"]] {
        assert_eq!(offered(&place, words), ["side"], "{words:?}");
    }
    for words in [&["tag", "s"][..], &["tag", "-d", "v1", "s"]] {
        assert_eq!(offered(&place, words), ["stone"], "{words:?}");
    }
    for words in [&["branch", "x", "s"][..], &["tag", "x", "s"], &["switch", "-c", "x", "s"], &["log", "s"]] {
        assert_eq!(offered(&place, words), ["side", "stone"], "{words:?}");
    }
    assert_eq!(offered(&place, &["switch", commit]), [""; 0]);
    for words in [&["switch", "--detach", commit][..], &["branch", "x", commit], &["branch", "--contains", commit]] {
        assert_eq!(offered(&place, words).len(), 1, "{words:?}");
    }
}

/// A way of asking for ids, revisions or sessions.
const ASKED: [&[&str]; 5] =
    [&["get", "u"], &["get", "k", "-r", "m"], &["status", "--session", "a"], &["log", "--", "u"], &["switch", "m"]];

#[track_caller]
fn is_silent(run: Run) {
    let Answer { status, stdout, stderr } = run.answer();
    assert_eq!((status, &*stdout, &*stderr), (0, "", ""));
}

#[test]
fn where_no_store_can_be_read_nothing_is_offered_and_nothing_said() {
    let empty = Place::empty();
    for words in ASKED {
        is_silent(asked(&empty, words));
    }
    let place = place();
    let database = place.path(".mnemosyne/store.redb");
    let whole = fs::read(&database).expect("a file");
    let mut scribbled = whole.clone();
    scribbled[4096..].fill(0xa5);
    let mut flipped = whole.clone();
    flipped.iter_mut().skip(4096).step_by(64).for_each(|byte| *byte ^= 0x10);
    for damaged in [&b""[..], &whole[..1000], &vec![0x5a; whole.len()], &scribbled, &flipped] {
        fs::write(&database, damaged).expect("a file");
        let before = place.files();
        for words in ASKED {
            is_silent(asked(&place, words));
        }
        assert!(place.files() == before);
    }
    fs::write(&database, &whole).expect("a file");
    for words in ASKED {
        let strange = asked(&place, words).env("MNEM_SESSION", "No Session");
        if words[0] == "status" {
            continue;
        }
        is_silent(strange);
    }
    let log = place.path(".mnemosyne/staged/default");
    let mut damaged = fs::read(&log).expect("a log");
    damaged[40] ^= 1;
    fs::write(&log, damaged).expect("a log");
    is_silent(asked(&place, &["get", "u"]));
    let readable = fs::Permissions::from_mode(0o707);
    fs::set_permissions(place.path(".mnemosyne"), readable).expect("permissions");
    is_silent(asked(&place, &["get", "k", "-r", "m"]));
}

#[test]
fn what_a_crash_left_is_not_repaired() {
    let place = place();
    // The byte of the header in which the database marks that it was not closed.
    let database = place.path(".mnemosyne/store.redb");
    let mut bytes = fs::read(&database).expect("a file");
    bytes[9] |= 2;
    fs::write(&database, &bytes).expect("a file");
    let before = place.files();
    for words in ASKED {
        is_silent(asked(&place, words));
    }
    assert!(place.files() == before);
}

/// Holds the one write transaction that a store may have, as a long import would.
#[cfg(feature = "internals")]
#[test]
fn while_a_writer_is_at_work_completion_does_not_wait() {
    let place = place();
    let mut builder = redb::Builder::new();
    builder.set_concurrency_mode(redb::ConcurrencyMode::MultiWriter);
    let database = builder.open(place.path(".mnemosyne/store.redb")).expect("a database");
    let writer = database.begin_write().expect("a transaction");
    for words in ASKED {
        let offers = asked(&place, words).env("MNEM_LOCK_TIMEOUT", "1h").output();
        assert!(!offers.is_empty(), "{words:?}");
    }
    writer.abort().expect("it was open");
}

#[test]
fn help_is_escaped_and_cut() {
    let place = Place::with_store();
    let content = "\u{1b}]0;owned\u{7}\u{202e} and more than would ever fit into one line of a shell\nsecond line";
    place.mnem(&["put", "k:1", content, "-qm", content]).output();
    for words in [&["get", "k"][..], &["log", "ma"]] {
        for shell in ["zsh", "fish"] {
            let answer = asked(&place, words).env("COMPLETE", shell).output();
            assert!(answer.contains("^[]0;owned^G\\") && answer.contains("u{202e}"), "{shell}: {answer:?}");
            let is_clean = |c: char| c == '\n' || c == '\t' || (!c.is_control() && c != '\u{202e}');
            assert!(answer.chars().all(is_clean), "{shell}: {answer:?}");
        }
    }
}

#[test]
fn each_script_is_printed_and_as_json_it_is_a_text() {
    let place = Place::empty();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = place.mnem(&["completions", shell]).output();
        assert!(script.contains("mnem"), "{shell}");
        let row = place.mnem(&["completions", shell, "--json"]).output();
        let script = serde_json::to_string(&script).expect("text");
        assert_eq!(row, format!("{{\"v\":1,\"type\":\"completions\",\"shell\":\"{shell}\",\"script\":{script}}}\n"));
    }
    let shells = "[possible values: bash, zsh, fish, elvish, powershell]";
    place.mnem(&["completions", "tcsh"]).refuses(
        129,
        &format!(
            "mnem: error[usage]: invalid value 'tcsh' for '<SHELL>' {shells}\nhint: a similar value exists: 'zsh'\n"
        ),
    );
    let help = "hint: see 'mnem completions --help'\n";
    place.mnem(&["completions"]).refuses(
        129,
        &format!("mnem: error[usage]: the following required arguments were not provided: <SHELL>\n{help}"),
    );
}

/// What another shell says to `script`, in which `mnem` is the binary; `None`, and a note, where it is not installed.
fn said_by(shell: &str, place: &Place, script: &str) -> Option<Vec<String>> {
    if Command::new(shell).arg("--version").output().is_err() {
        let note = format!("note: no {shell} here, so its script was not tried\n");
        std::io::stderr().write_all(note.as_bytes()).expect("standard error");
        return None;
    }
    let binary = std::path::Path::new(env!("CARGO_BIN_EXE_mnem")).parent().expect("a directory");
    let path = std::env::join_paths([binary, "/usr/bin".as_ref(), "/bin".as_ref()]).expect("a path");
    let mut command = Command::new(shell);
    command.args(["-c", script]).current_dir(place.path("")).env_clear().env("PATH", path);
    let output = command.env("HOME", place.path("")).env("LC_ALL", "C.UTF-8").output().expect("it runs");
    assert!(output.status.success(), "{output:?}");
    Some(String::from_utf8(output.stdout).expect("UTF-8").lines().map(str::to_owned).collect())
}

#[test]
fn fish_is_offered_whole_ids_with_the_beginning_of_their_content() {
    let place = place();
    let said = |line: &str| said_by("fish", &place, &format!("mnem completions fish | source; complete -C {line:?}"));
    let Some(offers) = said("mnem get user:") else { return };
    assert_eq!(offers, ["user:diet\tv", "user:home town\tv"]);
    assert_eq!(said("mnem log -- it").expect("fish"), ["it's \"q\"\tv"]);
    assert_eq!(said("mnem status --session ag").expect("fish"), ["agent-7"]);
}

#[test]
fn zsh_is_offered_whole_ids_with_the_beginning_of_their_content() {
    let place = place();
    // In place of the function that shows them.
    let said = |words: &str, count: usize| {
        let script = format!(
            "compdef() {{}}; _describe() {{ print -rl -- \"${{(@P)3}}\" }}; source <(mnem completions zsh)\n\
             words=({words}) CURRENT={count}; _clap_dynamic_completer_mnem || true"
        );
        said_by("zsh", &place, &script)
    };
    let Some(offers) = said("mnem get user:", 3) else { return };
    assert_eq!(offers, ["user\\:diet:v", "user\\:home town:v"]);
    assert_eq!(said("mnem get nothing", 3).expect("zsh"), [""; 0]);
}

/// What bash puts in place of the end of a line: `end` is what its own rules take for the word that is completed.
fn replies(place: &Place, line: &str, end: &str) -> Vec<String> {
    let script = r#"source <(mnem completions bash)
        COMP_LINE=$1 COMP_POINT=${#1} COMP_TYPE=9 COMP_WORDS=(not used) COMP_CWORD=1
        _mnem mnem "$2" mnem
        [ "${#COMPREPLY[@]}" = 0 ] || printf '%s\n' "${COMPREPLY[@]}""#;
    let mut bash = Command::new("bash");
    bash.args(["-c", script, "bash", line, end]).current_dir(place.path("")).env_clear();
    let binary = std::path::Path::new(env!("CARGO_BIN_EXE_mnem")).parent().expect("a directory");
    bash.env("PATH", std::env::join_paths([binary, "/usr/bin".as_ref(), "/bin".as_ref()]).expect("a path"));
    let output = bash.output().expect("bash runs");
    assert!(output.stderr.is_empty() && output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("UTF-8").lines().map(str::to_owned).collect()
}

#[test]
fn in_bash_an_id_is_put_in_as_the_shell_takes_it_for_one_word() {
    let place = place();
    for (line, end, expected) in [
        ("mnem get user/na", "user/na", &["user/name"][..]),
        // Bash ends a word at ':' and '@': only what comes behind is replaced.
        ("mnem get user:", "", &["diet", "home\\ town"]),
        ("mnem get user:d", "d", &["diet"]),
        ("mnem get user:home\\ t", "home\\ t", &["home\\ town"]),
        ("mnem get ada@", "", &["x"]),
        // Within quotes it does not, and what is put in stands as it is.
        ("mnem get 'user:", "user:", &["user:diet", "user:home town"]),
        ("mnem get \"user:home t", "user:home t", &["user:home town"]),
        ("mnem get 'user':h", "h", &["home\\ town"]),
        ("mnem get it", "it", &["it\\'s\\ \\\"q\\\""]),
        ("mnem get it\\'s", "it\\'s", &["it\\'s\\ \\\"q\\\""]),
        ("mnem get a", "a", &["a\\*", "ada@x"]),
        ("mnem get \\$", "\\$", &["\\$HOME"]),
        ("mnem get 'a b' user:d", "d", &["diet"]),
        ("mnem  get   user:d", "d", &["diet"]),
        ("mnem status --session ag", "ag", &["agent-7"]),
        ("mnem status --session=ag", "ag", &["agent-7"]),
        ("mnem comm", "comm", &["commit"]),
        ("mnem get nothing", "nothing", &[]),
    ] {
        assert_eq!(replies(&place, line, end), expected, "{line}");
    }
    // Names of files have no part in it.
    place.write("a-file", "");
    assert_eq!(replies(&place, "mnem get a*", "a*"), ["a\\*"]);
    assert_eq!(lines(&replies(&Place::empty(), "mnem get u", "u")), "");
}
