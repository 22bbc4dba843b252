//! Standard output has the answer, standard error the commentary, and standard input is read where it is asked for.

use super::support::{Place, THIRD};
use std::fs::File;
use std::io::{Read, Seek};
use std::process::Stdio;

/// A run of each command that answers something.
const ANSWERS: [&[&str]; 12] = [
    &["init", "new"],
    &["put", "k", "v"],
    &["put", "--json", "k", "w"],
    &["put", "--new", "v"],
    &["get", "user/diet"],
    &["get", "--json", "user/diet", "none"],
    &["commit", "-m", "c"],
    &["log"],
    &["log", "--json"],
    &["version"],
    &["demo"],
    &["--help"],
];

#[test]
fn a_closed_pipe_ends_quietly() {
    let place = Place::with_story();
    place.mnem(&["put", "big", "-qm", "big", "-F", "-"]).input(vec![b'x'; 1 << 20]).output();
    for arguments in ANSWERS.iter().chain([&["get", "big"][..], &["get", "big", "--json"], &["log", "--help"]].iter()) {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let mut command = place.mnem(arguments).command();
        let output = command.stdin(Stdio::null()).stdout(writer).stderr(Stdio::piped()).spawn();
        let output = output.and_then(std::process::Child::wait_with_output).expect("it ends");
        let absent = arguments.contains(&"none");
        assert!(output.status.code() == Some(0) || absent, "{arguments:?}: {output:?}");
        let said = String::from_utf8(output.stderr).expect("UTF-8");
        assert!(!said.contains("error[") || absent, "{arguments:?}: {said}");
    }
}

#[test]
fn a_pipe_that_closes_half_way_ends_quietly() {
    let place = Place::with_story();
    place.mnem(&["put", "big", "-qm", &"x".repeat(100_000), "-F", "-"]).input(vec![b'x'; 1 << 20]).output();
    for arguments in [&["get", "big"][..], &["log"], &["log", "--json"], &["log", "--oneline"]] {
        let (mut reader, writer) = std::io::pipe().expect("a pipe");
        let mut command = place.mnem(arguments).command();
        let child = command.stdin(Stdio::null()).stdout(writer).stderr(Stdio::piped()).spawn().expect("it starts");
        drop(command);
        reader.read_exact(&mut [0]).expect("a byte");
        drop(reader);
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success() && output.stderr.is_empty(), "{arguments:?}: {output:?}");
    }
}

#[test]
fn an_answer_that_cannot_be_written_is_an_error() {
    let place = Place::with_story();
    let Ok(full) = File::options().write(true).open("/dev/full") else { return };
    for arguments in [&["get", "user/diet"][..], &["log"], &["log", "--json"], &["version"], &["--help"]] {
        let mut command = place.mnem(arguments).command();
        let output = command.stdin(Stdio::null()).stdout(full.try_clone().expect("the device")).output();
        let output = output.expect("it ends");
        assert_eq!(output.status.code(), Some(128), "{arguments:?}");
        let said = String::from_utf8(output.stderr).expect("UTF-8");
        let (text, json) = (
            "mnem: error[io]: standard output: No space left",
            "\"code\":\"io\",\"message\":\"standard output: No space left",
        );
        assert!(said.contains(if arguments.contains(&"--json") { json } else { text }), "{arguments:?}: {said}");
    }
}

#[test]
fn where_nobody_listens_to_the_commentary_the_answer_is_the_same() {
    let place = Place::with_story();
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    for (arguments, stdout, status) in [
        (&["commit", "--skip-empty", "-m", "c"][..], format!("{THIRD}\n"), 0),
        (&["get", "none"], String::new(), 1),
        (&["--nope"], String::new(), 129),
    ] {
        let mut command = place.mnem(arguments).command();
        let output = command.stdin(Stdio::null()).stderr(writer.try_clone().expect("the pipe")).output();
        let output = output.expect("it ends");
        assert_eq!((output.status.code(), output.stdout), (Some(status), stdout.into_bytes()), "{arguments:?}");
    }
}

#[test]
fn standard_input_is_read_only_where_it_is_asked_for() {
    let place = Place::with_story();
    place.write("input", "[1]\n");
    place.write("content", "content");
    let read = |arguments: &[&str]| {
        let mut input = File::open(place.path("input")).expect("the file");
        let mut command = place.mnem(arguments).command();
        command.stdin(input.try_clone().expect("the file")).output().expect("it ends");
        // The offset is shared with the process.
        input.stream_position().expect("an offset") > 0
    };
    for arguments in ANSWERS.iter().chain([&["put", "k", "-F", "content"][..], &["commit"], &["put", "k"]].iter()) {
        assert!(!read(arguments), "{arguments:?}");
    }
    for arguments in [
        &["put", "k", "-"][..],
        &["put", "k", "-F", "-"],
        &["put", "--new", "-"],
        &["put", "k", "-t", "json", "-"],
        &["put", "--jsonl"],
        &["put", "--jsonl", "-"],
        &["get", "--json", "--stdin"],
        &["commit", "-F", "-"],
    ] {
        assert!(read(arguments), "{arguments:?}");
    }
}

#[test]
fn quiet_silences_the_commentary_and_never_the_answer_or_an_error() {
    let place = Place::with_story();
    let unchanged = place.argument(".mnemosyne");
    for (arguments, commentary) in [
        (&["init"][..], "already initialised\n"),
        (&["commit", "--skip-empty", "-m", "c"], "nothing to commit\n"),
        (
            &[
                "put",
                "plan/dinner",
                "-t",
                "json",
                "{\"at\": \"20:00\"}",
                "--event-time",
                "2025-12-01T09:30:00.50+01:00",
            ],
            "unchanged: 'plan/dinner'\n",
        ),
    ] {
        let loud = place.mnem(arguments).answer();
        assert_eq!((loud.status, loud.stderr.as_str()), (0, commentary), "{arguments:?}");
        place.mnem(arguments).arguments(["-q"]).says(&loud.stdout, "");
        place.mnem(arguments).env("MNEM_DIR", &unchanged).arguments(["--quiet"]).says(&loud.stdout, "");
    }
    place.mnem(&["get", "none", "-q"]).refuses(1, "mnem: error[no-node]: no node 'none'\nhint: see 'mnem ls'\n");
}
