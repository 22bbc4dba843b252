//! Sessions: whose staged changes, and whose HEAD.

use super::support::Place;

#[test]
fn what_one_session_stages_no_other_sees_before_it_is_committed() {
    let place = Place::with_story();
    place.mnem(&["--session", "a", "put", "k", "of a"]).says("k\n", "");
    place.mnem(&["put", "k", "of b"]).env("MNEM_SESSION", "b").says("k\n", "");
    place.mnem(&["put", "other", "of default"]).says("other\n", "");
    place.mnem(&["get", "k", "--session", "a"]).says("of a", "");
    place.mnem(&["get", "k"]).env("MNEM_SESSION", "b").says("of b", "");
    place.mnem(&["get", "k", "--session", "a"]).env("MNEM_SESSION", "b").says("of a", "");
    for command in [place.mnem(&["get", "k"]), place.mnem(&["get", "k"]).env("MNEM_SESSION", "")] {
        command.refuses(1, "mnem: error[no-node]: no node 'k'\nhint: see 'mnem ls'\n");
    }
    place.mnem(&["commit", "-qm", "by a", "--session", "a"]).output();
    place.mnem(&["get", "k"]).says("of a", "");
    place.mnem(&["get", "k", "--session", "b"]).says("of b", "");
    place
        .mnem(&["get", "other", "--session", "a"])
        .refuses(1, "mnem: error[no-node]: no node 'other'\nhint: see 'mnem ls'\n");
    place.mnem(&["commit", "--dry-run"]).says("A other\n", "would commit: 1 node changed: 1 added\n");
    let log = place.mnem(&["log", "--oneline", "-n1", "--session", "c"]).output();
    assert!(log.ends_with(" (HEAD -> main) by a\n"), "{log}");
}

#[test]
fn the_session_is_named_in_what_is_staged() {
    let place = Place::with_store();
    for name in ["0", "agent-7", "a.b_c-d", "a234567890123456789012345678901234567890123456789012345678901234"] {
        let row = place.mnem(&["put", "k", "v", "--json", "--session", name]).output();
        assert!(row.ends_with(&format!(",\"session\":\"{name}\"}}\n")), "{row}");
    }
}

#[test]
fn a_node_that_two_sessions_changed_is_a_conflict_and_stays_staged() {
    let place = Place::with_story();
    for (session, content) in [("a", "of a"), ("b", "of b")] {
        for id in ["user/diet", "plan/\u{202e}"] {
            place.mnem(&["put", id, content, "-q", "--session", session]).output();
        }
        place.mnem(&["put", session, "alone", "--session", session]).says(&format!("{session}\n"), "");
    }
    place.mnem(&["commit", "-qm", "by a", "--session", "a"]).output();
    place.mnem(&["commit", "-m", "by b", "--session", "b"]).refuses(
        3,
        "mnem: error[conflict]: 'plan/\\u{202e}', 'user/diet': 2 nodes were changed both here and on the branch\n\
         hint: all stays staged; take the branch's version with 'mnem restore ID', or yours with \
         'mnem commit --overwrite -m MESSAGE'\n",
    );
    place.mnem(&["get", "b", "--session", "b"]).says("alone", "");
    place.mnem(&["get", "user/diet", "--session", "b"]).says("of b", "");
    place.mnem(&["get", "user/diet", "--session", "b", "-r", "HEAD"]).says("of a", "");
}

#[test]
fn what_two_sessions_changed_alike_is_no_conflict_and_the_rest_goes_on_top() {
    let place = Place::with_story();
    for session in ["a", "b"] {
        place.mnem(&["put", "user/diet", "vegan", "--session", session]).says("user/diet\n", "");
        place.mnem(&["put", session, "alone", "--session", session]).says(&format!("{session}\n"), "");
    }
    place.mnem(&["commit", "-qm", "by a", "--session", "a"]).output();
    let second = place.mnem(&["commit", "-m", "by b", "--session", "b"]).answer();
    assert_eq!(second.status, 0);
    assert_eq!(second.stderr, format!("[main {}] by b\n 1 node changed: 1 added\n", &second.stdout[..10]));
    for session in ["a", "b", "default"] {
        place.mnem(&["get", "user/diet", "--session", session]).says("vegan", "");
        place.mnem(&["get", "a", "--session", session]).says("alone", "");
        place.mnem(&["get", "b", "--session", session]).says("alone", "");
    }
}

#[test]
fn what_commits_at_once_passes_over_no_conflict() {
    let place = Place::with_store();
    place.mnem(&["put", "a", "base", "-m", "c"]).says("a\n", "");
    place.mnem(&["--session", "s", "put", "a", "STAGED"]).says("a\n", "");
    let row = place.mnem(&["--session", "s", "get", "a", "--json"]).answer().stdout;
    let hash = row.split("\"hash\":\"").nth(1).expect("a hash")[..64].to_owned();
    place.mnem(&["put", "a", "COMMITTED", "-m", "c"]).says("a\n", "");
    let rows = "{\"id\":\"a\",\"content\":\"FINAL\"}\n{\"commit\":{\"message\":\"c\"}}\n";
    for arguments in [
        &["put", "a", "FINAL", "-m", "c"][..],
        &["put", "a", "FINAL", "--if-match", &hash, "-m", "c"],
        &["rm", "a", "-m", "c"],
        &["put", "--jsonl", "-", "--commits"],
        &["commit", "-m", "c"],
    ] {
        let answer = place.mnem(&["--session", "s"]).arguments(arguments).input(rows).answer();
        assert_eq!((answer.status, answer.stdout.as_str()), (3, ""), "{arguments:?}: {}", answer.stderr);
        place.mnem(&["get", "a"]).says("COMMITTED", "");
        place.mnem(&["--session", "s", "get", "a"]).says("STAGED", "");
    }
    place.mnem(&["--session", "s", "put", "a", "COMMITTED", "-m", "c"]).says("a\n", "unchanged: 'a'\n");
}
