//! `mnem bisect start`, `good`, `bad`, `skip`, `undo`, `status`, `log`, `replay`, `reset` and `shell`, and `run` without ends

use super::bisect_run::{below, finds, names_none, rows, script, search};
use super::support::{Answer, Place, Run, lines};
use serde_json::{Value, json};

fn bisect(place: &Place, arguments: &[&str]) -> Run {
    place.mnem(&["bisect"]).arguments(arguments)
}

/// What is said of the commit that is to be tested next.
fn to_test(commits: &[String], at: usize, left: usize, steps: usize) -> (String, String) {
    let steps = if steps == 1 { "1 step".to_owned() } else { format!("{steps} steps") };
    let talk = format!("{left} commits left, about {steps}\nto test: {} set n to {at}\n", &commits[at][..10]);
    (format!("{}\n", commits[at]), talk)
}

/// What is said of the culprit.
fn found(commits: &[String], at: usize) -> (String, String) {
    let (id, short) = (&commits[at], &commits[at][..10]);
    let talk = format!(
        "{id} is the first bad commit\n2025-12-01T08:00:00.000+00:00 Ada <ada@example.org>: set n to {at}\n  M n\n\
         found with marks by hand; to look into it:\n\
         \x20 mnem show {short}\n  mnem blame -r {short} -- n\n  mnem revert {short}\n"
    );
    (format!("{id}\n"), talk)
}

/// It ends with 0 and says this pair.
#[track_caller]
fn says(run: Run, (stdout, stderr): &(String, String)) {
    run.says(stdout, stderr);
}

const NO_SEARCH: &str = "mnem: error[bisect-no-session]: this session is not searching\n\
                         hint: mnem bisect start BAD GOOD, or mnem bisect run --range GOOD..BAD CMD\n";

/// What `log` prints.
fn log(place: &Place) -> String {
    bisect(place, &["log"]).output()
}

#[test]
fn marks_lead_to_the_culprit() {
    let (place, commits) = Place::with_values(0..9);
    bisect(&place, &["start"]).says("", "waiting for a bad commit: mnem bisect bad REV\n");
    bisect(&place, &["bad"]).says("", "waiting for a good commit: mnem bisect good REV\n");
    says(bisect(&place, &["good", "HEAD~8"]), &to_test(&commits, 4, 8, 3));
    says(bisect(&place, &["status"]), &to_test(&commits, 4, 8, 3));
    says(bisect(&place, &["good"]), &to_test(&commits, 6, 4, 2));
    says(bisect(&place, &["undo"]), &to_test(&commits, 4, 8, 3));
    says(bisect(&place, &["bad"]), &to_test(&commits, 2, 4, 2));
    says(bisect(&place, &["good"]), &to_test(&commits, 3, 2, 1));
    says(bisect(&place, &["bad", &commits[3]]), &found(&commits, 3));
    says(bisect(&place, &["status"]), &found(&commits, 3));
    let mark =
        |what: &str, at: usize| format!("# {} set n to {at}\nmnem bisect {what} {}\n", &commits[at][..10], commits[at]);
    let told = [mark("bad", 8), mark("good", 0), mark("bad", 4), mark("good", 2), mark("bad", 3)].concat();
    bisect(&place, &["log"]).says(&format!("mnem bisect start\n{told}"), "");
    for _ in 0..5 {
        assert_eq!(bisect(&place, &["undo"]).answer().status, 0);
    }
    let said = "mnem: error[usage]: nothing is marked yet\nhint: see 'mnem bisect status'\n";
    bisect(&place, &["undo"]).refuses(129, said);
}

#[test]
fn a_start_may_name_the_ends_and_takes_the_place_of_the_search_before() {
    let (place, commits) = Place::with_values(0..9);
    says(bisect(&place, &["start", "HEAD", "HEAD~8"]), &to_test(&commits, 4, 8, 3));
    says(bisect(&place, &["good"]), &to_test(&commits, 6, 4, 2));
    let before = log(&place);
    let answer = bisect(&place, &["start", "HEAD~2", "HEAD~8", "HEAD~6"]).answer();
    let (stdout, talk) = to_test(&commits, 4, 4, 2);
    assert_eq!((answer.status, &answer.stdout), (0, &stdout));
    let rest = answer.stderr.strip_prefix("the search before is ended\nto undo: printf '%s\\n' ").expect("how to undo");
    assert!(rest.ends_with(&talk), "{answer:?}");
    assert_eq!(place.undo(&answer).answer().status, 0);
    assert_eq!(log(&place), before);
}

#[test]
fn a_reset_ends_it_and_says_how_to_go_on() {
    let (place, commits) = Place::with_values(0..9);
    bisect(&place, &["reset"]).refuses(0, "this session is not searching\n");
    for verb in ["good", "bad", "skip", "undo", "status", "log", "shell"] {
        bisect(&place, &[verb]).refuses(128, NO_SEARCH);
    }
    script(&place, &[], &below(3)).refuses(128, NO_SEARCH);
    bisect(&place, &["start", "HEAD", "HEAD~8"]).answer();
    bisect(&place, &["skip", "HEAD~3"]).answer();
    let before = log(&place);
    let answer = bisect(&place, &["reset"]).answer();
    let told = format!(
        "the search is ended\nto undo: printf '%s\\n' 'mnem bisect start' 'mnem bisect bad {}' \
         'mnem bisect good {}' 'mnem bisect skip {}' | mnem bisect replay -\n",
        commits[8], commits[0], commits[5]
    );
    assert_eq!((answer.status, answer.stdout.as_str(), answer.stderr.as_str()), (0, "", told.as_str()));
    bisect(&place, &["status"]).refuses(128, NO_SEARCH);
    assert_eq!(place.undo(&answer).answer().status, 0);
    assert_eq!(log(&place), before);
}

#[test]
fn a_skip_takes_commits_and_ranges() {
    let (place, commits) = Place::with_values(0..9);
    says(bisect(&place, &["start", "HEAD", "HEAD~8"]), &to_test(&commits, 4, 8, 3));
    let answer = bisect(&place, &["skip", "HEAD~6..HEAD~3", "HEAD~1"]).answer();
    let next = answer.stdout.trim().to_owned();
    assert!([&commits[1], &commits[2], &commits[6]].contains(&&next), "{answer:?}");
    let status: Value = serde_json::from_str(&bisect(&place, &["status", "--json"]).answer().stdout).expect("JSON");
    assert_eq!(status["skipped"], json!([commits[5], commits[4], commits[3], commits[7]]));
    bisect(&place, &["good", "HEAD~6"]).answer();
    let answer = bisect(&place, &["bad", "HEAD~2"]).answer();
    names_none(&answer, 2, &lines(&commits[3..=6]));
    let said = "mnem: error[bisect-inconclusive]: only commits are left that cannot be tested; 4 commits are left\n\
                hint: mnem bisect undo, or test one of them\n";
    assert_eq!(answer.stderr, said);
    bisect(&place, &["status"]).ends(2, &lines(&commits[3..=6]), said);
    assert_eq!(bisect(&place, &["good", "HEAD~4"]).answer().stdout, lines(&commits[5..=6]));
    says(bisect(&place, &["good", "HEAD~3"]), &found(&commits, 6));
}

#[test]
fn what_does_not_go_together_is_refused_and_the_search_stays_as_it_was() {
    let (place, commits) = Place::with_values(0..9);
    let swapped = |bad: usize, good: usize| {
        format!(
            "mnem: error[bisect-endpoints]: the good end {0} descends from the bad end {1}\n\
             hint: are the two swapped? mnem bisect start {0} {1}\n",
            commits[good], commits[bad]
        )
    };
    bisect(&place, &["start", "HEAD~8", "HEAD"]).refuses(1, &swapped(0, 8));
    bisect(&place, &["status"]).refuses(128, NO_SEARCH);
    bisect(&place, &["start", "HEAD", "HEAD~8"]).answer();
    let before = log(&place);
    bisect(&place, &["start", "HEAD~8", "HEAD"]).refuses(1, &swapped(0, 8));
    bisect(&place, &["bad", "HEAD~3"]).answer();
    bisect(&place, &["good", "HEAD~2"]).refuses(1, &swapped(5, 6));
    let both = |at: usize| {
        format!(
            "mnem: error[bisect-endpoints]: commit {} is good and bad\n\
             hint: name a good end and a bad one: --range GOOD..BAD\n",
            commits[at]
        )
    };
    bisect(&place, &["good", "HEAD"]).refuses(1, &both(8));
    bisect(&place, &["bad", "HEAD~8"]).refuses(1, &both(0));
    bisect(&place, &["good", "nope"])
        .refuses(128, "mnem: error[bad-revision]: unknown revision 'nope'\nhint: see 'mnem log --oneline'\n");
    bisect(&place, &["undo"]).answer();
    assert_eq!(log(&place), before);
    bisect(&place, &["start", "HEAD", "HEAD"]).refuses(1, &both(8));
    let said = "mnem: error[bisect-endpoints]: no commit between the ends changed such a node\n\
                hint: see 'mnem log GOOD..BAD -- PATTERN'\n";
    bisect(&place, &["start", "HEAD", "HEAD~8", "--", "other"]).refuses(1, said);
    let said = "mnem: error[usage]: unrecognized subcommand 'better'\nhint: see 'mnem bisect --help'\n";
    bisect(&place, &["better", "HEAD"]).refuses(129, said);
}

#[test]
fn good_and_bad_may_have_other_names() {
    let (place, commits) = Place::with_values(0..9);
    bisect(&place, &["start", "--term-good", "fast", "--term-bad", "slow"])
        .says("", "waiting for a slow commit: mnem bisect slow REV\n");
    bisect(&place, &["slow"]).says("", "waiting for a fast commit: mnem bisect fast REV\n");
    says(bisect(&place, &["fast", "HEAD~8"]), &to_test(&commits, 4, 8, 3));
    says(bisect(&place, &["fast"]), &to_test(&commits, 6, 4, 2));
    let before = log(&place);
    assert!(before.starts_with("mnem bisect start --term-good fast --term-bad slow\n#"), "{before}");
    place.write("log", &before);
    bisect(&place, &["reset"]).answer();
    says(bisect(&place, &["replay", "log"]), &to_test(&commits, 6, 4, 2));
    assert_eq!(log(&place), before);
    says(bisect(&place, &["slow"]), &to_test(&commits, 5, 2, 1));
    bisect(&place, &["reset"]).answer();
    let hint = "hint: such as --term-good fast --term-bad slow\n";
    for term in ["start", "skip", "run", "-x", "", "a b", "é"] {
        let good = format!("--term-good={term}");
        let said = format!("mnem: error[usage]: '{term}' cannot be a word for good or bad\n{hint}");
        bisect(&place, &["start", &good, "--term-bad", "slow"]).refuses(129, &said);
    }
    let said = format!("mnem: error[usage]: good and bad have one word\n{hint}");
    bisect(&place, &["start", "--term-good", "x", "--term-bad", "x"]).refuses(129, &said);
    let said = "mnem: error[usage]: unrecognized subcommand 'fast'\nhint: see 'mnem bisect --help'\n";
    bisect(&place, &["fast"]).refuses(129, said);
}

#[test]
fn a_log_is_replayed_as_it_was_printed() {
    let (place, _) = Place::with_values(0..9);
    let mut odd = vec![
        "it's",
        "a b",
        "$HOME",
        "`x`",
        "\"q\"",
        "back\\slash",
        "-dash",
        "--",
        "#",
        "*",
        "é",
        "\u{202e}x",
        "%s",
        "n",
    ];
    for id in ["it's", "-dash", "\u{202e}x", "*"] {
        place.set(id, [1, 2, 3, 4]);
    }
    for first_parent in [&[][..], &["--first-parent"], &["--literal"]] {
        let start = [&["start"], first_parent, &["HEAD", "HEAD~20", "--"], &odd[..]].concat();
        let answer = bisect(&place, &start).answer();
        assert_eq!(answer.status, 0, "{answer:?}");
        bisect(&place, &["good"]).answer();
        bisect(&place, &["skip", "HEAD~2..HEAD~2"]).answer();
        let before = log(&place);
        let status = bisect(&place, &["status", "--json"]).answer();
        place.write("log", &before);
        let reset = bisect(&place, &["reset"]).answer();
        let replayed = bisect(&place, &["replay", "log"]).answer();
        assert_eq!((replayed.status, log(&place)), (0, before.clone()), "{replayed:?}");
        assert_eq!(bisect(&place, &["status", "--json"]).answer(), status);
        bisect(&place, &["reset"]).answer();
        assert_eq!(place.undo(&reset).answer().status, 0);
        assert_eq!(bisect(&place, &["status", "--json"]).answer(), status);
        bisect(&place, &["reset"]).answer();
        assert_eq!(bisect(&place, &["replay", "-"]).input(before.clone()).answer().status, 0);
        assert_eq!(log(&place), before);
        odd.reverse();
    }
    let before = log(&place);
    for (text, at) in [
        ("mnem bisect start\nmnem bisect better HEAD\n", 2),
        ("mnem bisect good HEAD\n", 1),
        ("mnem bisect start\n\n# more\nmnem bisect start\n", 4),
        ("mnem bisect start --nope\n", 1),
        ("mnem bisect start -- 'open\n", 1),
        ("mnem bisect start -- \"$(date)\"\n", 1),
        ("rm -rf x\n", 1),
    ] {
        place.write("log", text);
        let line = text.lines().nth(at - 1).expect("a line");
        let said = format!(
            "mnem: error[usage]: log, line {at}: '{line}' is no line of a search\nhint: see 'mnem bisect log'\n"
        );
        bisect(&place, &["replay", "log"]).refuses(129, &said);
    }
    let said = "mnem: error[usage]: there is no line that begins a search\nhint: see 'mnem bisect log'\n";
    bisect(&place, &["replay", "-"]).input("# nothing\n").refuses(129, said);
    assert_eq!(log(&place), before);
}

#[test]
fn as_json_it_tells_where_the_search_stands() {
    let (place, commits) = Place::with_values(0..9);
    let status = |arguments: &[&str]| -> (i32, Value) {
        let answer: Answer = bisect(&place, arguments).arguments(["--json"]).answer();
        (answer.status, serde_json::from_str(&answer.stdout).expect("JSON"))
    };
    let mut expected = json!({"v": 1, "type": "bisect_status", "next": null, "found": null, "candidates": [],
        "left": null, "steps": null, "bad": [], "good": [], "skipped": []});
    assert_eq!(status(&["start"]), (0, expected.clone()));
    expected["bad"] = json!([commits[8]]);
    assert_eq!(status(&["bad"]), (0, expected.clone()));
    expected["good"] = json!([commits[0]]);
    (expected["next"], expected["left"], expected["steps"]) = (json!(commits[4]), json!(8), json!(3));
    assert_eq!(status(&["good", "HEAD~8"]), (0, expected.clone()));
    assert_eq!(status(&["status"]), (0, expected.clone()));
    expected["good"] = json!([commits[0], commits[5]]);
    expected["skipped"] = json!([commits[6], commits[7]]);
    (expected["next"], expected["left"], expected["steps"]) = (Value::Null, Value::Null, Value::Null);
    expected["candidates"] = json!(commits[6..]);
    bisect(&place, &["skip", "HEAD~2", "HEAD~1"]).answer();
    assert_eq!(status(&["good", "HEAD~3"]), (2, expected.clone()));
    expected["bad"] = json!([commits[8], commits[6]]);
    (expected["candidates"], expected["found"]) = (json!([]), json!(commits[6]));
    assert_eq!(status(&["bad", "HEAD~2"]), (0, expected));
}

#[test]
fn a_shell_marks_by_its_exit_status() {
    let (place, commits) = Place::with_values(0..9);
    let shell = |status: u8| {
        let script = format!(
            "#!/bin/sh\n[ \"$MNEM_REV\" = \"$MNEM_BISECT_REV\" ] && [ $MNEM_BISECT = 1 ] && \
             [ \"$MNEM_SESSION\" = default ] || exit 126\n\"$MNEM\" get n\nexit {status}\n"
        );
        place.write("shell", script);
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(place.path("shell"), mode).expect("permissions");
        bisect(&place, &["shell"]).env("SHELL", place.path("shell")).env("MNEM", env!("CARGO_BIN_EXE_mnem"))
    };
    let leave = |at: usize| {
        format!("leave the shell with 'exit 0' for good, 'exit 1' for bad, 'exit 125' to skip {}\n", &commits[at][..10])
    };
    bisect(&place, &["start", "HEAD"]).answer();
    let said = "mnem: error[usage]: there is no commit to test\nhint: see 'mnem bisect status'\n";
    shell(0).refuses(129, said);
    bisect(&place, &["good", "HEAD~8"]).answer();
    for status in [126, 127, 128, 200] {
        let said = format!(
            "{}mnem: error[io]: the shell at {} ended with {status}, which marks nothing\nhint: see 'mnem bisect status'\n",
            leave(4),
            &commits[4][..10]
        );
        let before = log(&place);
        shell(status).ends(128, "4", &said);
        assert_eq!(log(&place), before);
    }
    let then = |at: usize, status: u8, next: (String, String)| {
        shell(status).says(&format!("{at}{}", next.0), &(leave(at) + &next.1));
    };
    then(4, 0, to_test(&commits, 6, 4, 2));
    then(6, 124, to_test(&commits, 5, 2, 1));
    let said = "mnem: error[bisect-inconclusive]: only commits are left that cannot be tested; 2 commits are left\n\
                hint: mnem bisect undo, or test one of them\n";
    shell(125).ends(2, &format!("5{}", lines(&commits[5..=6])), &(leave(5) + said));
    bisect(&place, &["undo"]).answer();
    then(5, 1, found(&commits, 5));
    bisect(&place, &["undo"]).answer();
    let said = format!(
        "{}mnem: error[command-not-found]: there is no program 'nope'\nhint: no shell reads the words: mnem exec -- sh -c 'COMMAND LINE'\n",
        leave(5)
    );
    bisect(&place, &["shell"]).env("SHELL", "nope").refuses(128, &said);
}

#[test]
fn each_session_searches_for_itself_and_nothing_else_moves() {
    let (place, commits) = Place::with_values(0..9);
    place.mnem(&["put", "-q", "staged", "1"]).output();
    let stand = |place: &Place| {
        let all = [&["status"][..], &["branch", "-v"], &["log", "--ids"], &["reflog"], &["diff"]];
        all.map(|arguments| place.mnem(arguments).answer())
    };
    place.mnem(&["put", "-q", "--session", "agent", "other", "1"]).output();
    let before = stand(&place);
    says(bisect(&place, &["start", "HEAD", "HEAD~8"]), &to_test(&commits, 4, 8, 3));
    let agent = |arguments: &[&str]| bisect(&place, arguments).arguments(["--session", "agent"]);
    agent(&["status"]).refuses(128, NO_SEARCH);
    says(agent(&["start", &commits[2], &commits[0]]), &to_test(&commits, 1, 2, 1));
    let (stdout, talk) = found(&commits, 1);
    agent(&["bad"]).says(&stdout, &talk.replace("  mnem ", "  mnem --session agent "));
    says(bisect(&place, &["status"]), &to_test(&commits, 4, 8, 3));
    assert_eq!(agent(&["reset"]).answer().status, 0);
    says(bisect(&place, &["good"]), &to_test(&commits, 6, 4, 2));
    finds(&script(&place, &[], &below(5)).answer(), &commits[5]);
    assert_eq!(stand(&place), before);
}

#[test]
fn a_run_without_ends_goes_on_from_the_marks_and_makes_its_own() {
    let (place, commits) = Place::with_values(0..9);
    let missing = |end: &str| format!("mnem: error[usage]: no {end} commit is marked\nhint: mnem bisect {end} REV\n");
    bisect(&place, &["start"]).answer();
    search(&place, &["true"]).refuses(129, &missing("bad"));
    bisect(&place, &["good", "HEAD~8"]).answer();
    search(&place, &["true"]).refuses(129, &missing("bad"));
    bisect(&place, &["start", "HEAD"]).answer();
    search(&place, &["true"]).refuses(129, &missing("good"));
    bisect(&place, &["good", "HEAD~8"]).answer();
    bisect(&place, &["skip", "HEAD~4"]).answer();
    let before = log(&place);
    let tests = format!("[ $MNEM_BISECT_REV != {} ] || exit 126; {}", commits[4], below(6));
    finds(&script(&place, &["--report", "report"], &tests).answer(), &commits[6]);
    let made: Vec<_> = rows(&place, "report")
        .iter()
        .filter(|row| row["purpose"] == "search")
        .map(|row| {
            let text = |key: &str| row[key].as_str().expect("text").to_owned();
            format!("mnem bisect {} {}", text("verdict"), text("commit"))
        })
        .collect();
    let after = log(&place);
    let new: Vec<_> =
        after.strip_prefix(&before).expect("more").lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(new, made);
    says(bisect(&place, &["status"]), &found(&commits, 6));
    bisect(&place, &["start", "HEAD", "HEAD~8"]).answer();
    let before = log(&place);
    finds(&script(&place, &["--range", "HEAD~8..HEAD"], &below(6)).answer(), &commits[6]);
    assert_eq!(log(&place), before, "what has ends of its own makes no marks");
    place.set("m", [0, 1]);
    bisect(&place, &["start", "HEAD", &commits[0], "--", "m"]).answer();
    let skips = r#"m=$("$MNEM" get m 2>/dev/null || echo 0); [ $m = 0 ]"#;
    let answer = script(&place, &["--report", "report"], skips).answer();
    assert_eq!(answer.status, 0, "{answer:?}");
    assert!(rows(&place, "report").len() <= 7, "only two commits changed it");
}
