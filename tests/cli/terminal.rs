//! Colours, the pager and the editor: what hangs on a terminal.

use super::support::{FIRST, Place, Run, SECOND, THIRD};

/// The log of the story on one line each, coloured.
fn colored() -> String {
    format!(
        "\u{1b}[33m{}\u{1b}[0m (\u{1b}[36m\u{1b}[1mHEAD ->\u{1b}[0m \u{1b}[32m\u{1b}[1mmain\u{1b}[0m) forget the allergies\n\
         \u{1b}[33m{}\u{1b}[0m plan the dinner\n\u{1b}[33m{}\u{1b}[0m learn how Maria eats\n",
        &THIRD[..10],
        &SECOND[..10],
        &FIRST[..10]
    )
}

fn plain() -> String {
    format!(
        "{} (HEAD -> main) forget the allergies\n{} plan the dinner\n{} learn how Maria eats\n",
        &THIRD[..10],
        &SECOND[..10],
        &FIRST[..10]
    )
}

#[test]
fn colours_hang_on_the_option_then_the_variables_then_the_terminal() {
    let place = Place::with_story();
    let log = |options: &[&str], variables: &[(&str, &str)]| {
        let run = place.mnem(&["log", "--oneline"]).arguments(options);
        variables.iter().fold(run, |run, (name, value)| run.env(name, value))
    };
    for (options, variables, is_colored) in [
        (&[][..], &[][..], false),
        (&[], &[("TERM", "xterm")], false),
        (&["--color", "auto"], &[], false),
        (&["--color", "always"], &[], true),
        (&["--color=always"], &[("NO_COLOR", "1")], true),
        (&["--color=never"], &[("CLICOLOR_FORCE", "1")], false),
        (&[], &[("CLICOLOR_FORCE", "1")], true),
        (&["--color=auto"], &[("CLICOLOR_FORCE", "1")], true),
        (&[], &[("CLICOLOR_FORCE", "0")], false),
        (&[], &[("CLICOLOR_FORCE", "")], false),
        (&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], false),
        (&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "")], true),
    ] {
        log(options, variables).says(&if is_colored { colored() } else { plain() }, "");
    }
    let json = place.mnem(&["log", "--json"]).output();
    log(&["--json", "--color=always"], &[("CLICOLOR_FORCE", "1")]).says(&json, "");
}

#[test]
fn errors_and_hints_are_coloured_as_standard_error_is() {
    let place = Place::with_story();
    for (arguments, message) in [
        (&["log", "mian"][..], "\u{1b}[31m\u{1b}[1merror[bad-revision]:\u{1b}[0m unknown revision 'mian'"),
        (&["log", "--onelin"], "\u{1b}[31m\u{1b}[1merror[usage]:\u{1b}[0m unexpected argument '--onelin' found"),
    ] {
        let hint =
            if arguments[1] == "mian" { "did you mean 'main'?" } else { "a similar argument exists: '--oneline'" };
        let said = format!("mnem: {message}\n\u{1b}[36mhint:\u{1b}[0m {hint}\n");
        let status = if arguments[1] == "mian" { 128 } else { 129 };
        for options in [&["--color", "always"][..], &["--color=always"]] {
            place.mnem(options).arguments(arguments).refuses(status, &said);
            place.mnem(arguments).arguments(options).refuses(status, &said);
        }
        place.mnem(arguments).env("CLICOLOR_FORCE", "1").refuses(status, &said);
        let plain = said.replace("\u{1b}[31m\u{1b}[1m", "").replace("\u{1b}[36m", "").replace("\u{1b}[0m", "");
        place.mnem(arguments).refuses(status, &plain);
        place.mnem(&["--color=never"]).arguments(arguments).env("CLICOLOR_FORCE", "1").refuses(status, &plain);
    }
}

#[test]
fn the_whole_log_is_coloured_by_role() {
    let place = Place::with_story();
    let run = place.mnem(&["log", "-n1", "--color", "always"]);
    run.says(
        &format!(
            "\u{1b}[33mcommit {THIRD}\u{1b}[0m (\u{1b}[36m\u{1b}[1mHEAD ->\u{1b}[0m \u{1b}[32m\u{1b}[1mmain\u{1b}[0m)\n\
             Author: Ada <ada@example.org>\nDate:   2025-12-01T11:00:00.500+01:00\n\n    forget the allergies\n"
        ),
        "",
    );
}

/// What comes out at a terminal, with plain line ends.
fn shown(run: Run) -> String {
    let answer = run.answer();
    assert_eq!((answer.status, answer.stderr.as_str()), (0, ""), "{answer:?}");
    answer.stdout.replace("\r\n", "\n").replace("^D\u{8}\u{8}", "")
}

#[test]
fn at_a_terminal_the_log_is_coloured_and_goes_through_the_pager() {
    let place = Place::with_story();
    let arguments = ["log", "--oneline"];
    let Some(run) = place.at_terminal(&arguments) else { return };
    let marked = |text: String, mark: &str| text.lines().map(|line| format!("{mark}{line}\n")).collect::<String>();
    assert_eq!(shown(run.env("PAGER", "sed s/^/1:/")), marked(colored(), "1:"));
    let log = || place.at_terminal(&arguments).expect("as before").env("PAGER", "sed s/^/1:/");
    assert_eq!(shown(log().env("MNEM_PAGER", "sed s/^/2:/")), marked(colored(), "2:"));
    assert_eq!(shown(log().env("MNEM_PAGER", "")), marked(colored(), "1:"));
    assert_eq!(shown(log().env("NO_COLOR", "1")), marked(plain(), "1:"));
    assert_eq!(shown(log().env("TERM", "dumb")), plain());
    assert_eq!(shown(log().without("TERM")), plain());
    assert_eq!(shown(log().env("TERM", "")), plain());
    for pager in ["false", "exit 3", "kill -9 $$"] {
        assert_eq!(shown(log().env("PAGER", pager)), colored(), "{pager}");
    }
    let said = shown(log().env("PAGER", "/nonexistent/pager"));
    assert!(said.ends_with(&colored()), "{said}");
    assert_eq!(shown(log().env("PAGER", "printf '%s\\n' \"$LESS\"; cat >/dev/null")), "FRX\n");
    assert_eq!(shown(log().env("PAGER", "printf '%s\\n' \"$LESS\"; cat >/dev/null").env("LESS", "S")), "S\n");
    let at = |arguments: &[&str]| shown(place.at_terminal(arguments).expect("as before").env("PAGER", "sed s/^/1:/"));
    assert_eq!(at(&["log", "--oneline", "--no-pager"]), colored());
    assert_eq!(at(&["--no-pager", "log", "--oneline", "--color", "never"]), plain());
    assert_eq!(at(&["log", "--ids"]), format!("{THIRD}\n{SECOND}\n{FIRST}\n"));
    assert_eq!(at(&["log", "--json"]), place.mnem(&["log", "--json"]).output());
    assert_eq!(at(&["get", "user/diet"]), "loves steak");
    assert_eq!(at(&["log", "-n0"]), "");
}

#[test]
fn on_a_pipe_no_pager_is_ever_started() {
    let place = Place::with_story();
    let run = place.mnem(&["log", "--oneline"]).env("TERM", "xterm").env("PAGER", "touch paged");
    run.env("MNEM_PAGER", "touch paged").says(&plain(), "");
    assert!(!place.path("paged").exists());
}

#[test]
fn at_a_terminal_a_person_is_asked_for_the_message() {
    let place = Place::with_store();
    let commit = || place.at_terminal(&["commit", "--color", "never"]);
    let Some(nothing) = commit() else { return };
    let answer = nothing.env("EDITOR", "touch edited").answer();
    assert!(answer.status == 1 && answer.stdout.contains("error[nothing-to-commit]"), "{answer:?}");
    assert!(!place.path("edited").exists(), "with nothing to commit nobody is asked");
    let commit = || commit().expect("as before");
    let put = |content: &str| place.mnem(&["put", "k", content]).says("k\n", "");
    put("v");
    let answer = commit().env("EDITOR", "false").answer();
    assert_eq!(answer.status, 129);
    assert!(answer.stdout.contains("error[usage]: the editor 'false' failed"), "{answer:?}");
    let answer = commit().env("EDITOR", "true").answer();
    assert!(answer.status == 129 && answer.stdout.contains("may not be blank"), "{answer:?}");
    let editor = "printf '%s\\n' '# kept' >";
    let said = shown(commit().env("EDITOR", editor));
    let id = place.mnem(&["log", "--ids"]).output();
    assert!(said.ends_with(id.trim_end()) || said.contains(id.trim_end()), "{said}");
    let log = place.mnem(&["log", "--oneline"]).output();
    assert!(log.ends_with(" (HEAD -> main) # kept\n"), "{log}");
    put("w");
    shown(commit().env("EDITOR", "false").env("VISUAL", "printf visual >"));
    let log = place.mnem(&["log", "--oneline", "-n1"]).output();
    assert!(log.ends_with(" (HEAD -> main) visual\n"), "{log}");
    assert_eq!(place.files().keys().filter(|name| name.contains("message")).count(), 0, "the file is removed");
}
