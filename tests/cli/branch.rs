//! `mnem branch`

use super::support::{FIRST, Place, SECOND, THIRD, json};

const NINE: &str = "2025-12-01T09:00:00.000+00:00";
const TEN: &str = "2025-12-01T11:00:00.500+01:00";

/// The story, and a branch `side` at its second commit with a commit of its own.
fn forked() -> (Place, String) {
    let place = Place::with_story();
    place.mnem(&["switch", "-qc", "side", SECOND]).says(&format!("{SECOND}\n"), "");
    place.mnem(&["put", "side", "1", "-qm", "aside"]).output();
    let tip = place.mnem(&["log", "--ids", "-n1"]).output().trim_end().to_owned();
    place.mnem(&["switch", "-q", "main"]).says(&format!("{THIRD}\n"), "");
    (place, tip)
}

/// The full names and commits of all branches.
fn branches(place: &Place) -> Vec<(String, String)> {
    let rows = place.mnem(&["branch", "--json"]).output();
    let rows = rows.lines().map(|row| serde_json::from_str::<serde_json::Value>(row).expect("a row"));
    let text = |row: &serde_json::Value, key: &str| row[key].as_str().expect("a text").to_owned();
    rows.map(|row| (text(&row, "name"), text(&row, "commit"))).collect()
}

#[test]
fn the_list_marks_the_own_branch_and_names_the_sessions_on_others() {
    let place = Place::with_story();
    place.mnem(&["branch", "-q", "a/long\u{202e}name", FIRST]).says(&format!("{FIRST}\n"), "");
    place.mnem(&["branch", "-q", "b", SECOND]).output();
    place.mnem(&["switch", "-q", "b", "--session", "two"]).output();
    place.mnem(&["switch", "-q", "b", "--session", "one"]).output();
    place.mnem(&["switch", "-q", "a/long\u{202e}name", "--session", "three"]).output();
    let (first, second, third) = (&FIRST[..10], &SECOND[..10], &THIRD[..10]);
    let gap = " ".repeat(14);
    place.mnem(&["branch"]).says(
        &format!(
            "  a/long\\u{{202e}}name {first} 2025-12-01T08:00:00.000+00:00 learn how Maria eats (session three)\n  \
             b   {gap} {second} {NINE} plan the dinner (sessions one, two)\n\
             * main{gap} {third} {TEN} forget the allergies\n"
        ),
        "",
    );
    let row = |name: &str, commit: &str, time: &str, subject: &str, current: bool, sessions: &str| {
        format!(
            "{{\"v\":1,\"type\":\"branch\",\"name\":{},\"commit\":\"{commit}\",\"time\":\"{time}\",\
             \"subject\":\"{subject}\",\"current\":{current},\"sessions\":[{sessions}]}}\n",
            json(name)
        )
    };
    let of_two = place.mnem(&["branch", "--json", "--session", "two"]).output();
    let expected = [
        row("a/long\u{202e}name", FIRST, "2025-12-01T08:00:00.000+00:00", "learn how Maria eats", false, "\"three\""),
        row("b", SECOND, NINE, "plan the dinner", true, "\"one\""),
        row("main", THIRD, TEN, "forget the allergies", false, "\"default\""),
    ];
    assert_eq!(of_two, expected.concat());
    place.mnem(&["branch", "-q", "--contains", SECOND, "--json"]).says(
        &[
            row("b", SECOND, NINE, "plan the dinner", false, "\"one\",\"two\""),
            row("main", THIRD, TEN, "forget the allergies", true, ""),
        ]
        .concat(),
        "",
    );
}

#[test]
fn a_detached_head_is_listed_first_and_before_the_first_commit_there_is_a_note() {
    let place = Place::with_store();
    place.mnem(&["branch"]).says("", "no commit yet on 'main'\n");
    place.mnem(&["branch", "--show-current"]).says("main\n", "");
    place.mnem(&["branch", "x"]).refuses(
        128,
        "mnem: error[bad-revision]: no commit yet on 'main'\n\
         hint: make one with 'mnem put ID CONTENT' and 'mnem commit -m MESSAGE'\n",
    );
    let place = Place::with_story();
    place.mnem(&["switch", "-q", "--detach", SECOND]).output();
    let (second, third) = (&SECOND[..10], &THIRD[..10]);
    place
        .mnem(&["branch"])
        .says(&format!("* (HEAD detached at {second})\n  main {third} {TEN} forget the allergies\n"), "");
    place.mnem(&["branch", "--show-current"]).says("", "");
    let row = format!("{{\"v\":1,\"type\":\"head\",\"session\":\"default\",\"branch\":null,\"head\":\"{SECOND}\"}}\n");
    place.mnem(&["branch", "--show-current", "--json"]).says(&row, "");
    place
        .mnem(&["branch", "-m", "x"])
        .refuses(129, "mnem: error[usage]: HEAD is on no branch\nhint: mnem branch -m OLD NEW\n");
}

#[test]
fn a_branch_is_created_where_it_is_said_and_nobody_moves() {
    let place = Place::with_story();
    place.mnem(&["branch", "x"]).says(&format!("{THIRD}\n"), "created branch 'x'\n");
    place.mnem(&["branch", "y", "HEAD~1", "-z"]).says(&format!("{SECOND}\0"), "created branch 'y'\n");
    place.mnem(&["branch", "z", "x~2", "--json"]).says(
        &format!("{{\"v\":1,\"type\":\"ref\",\"ref\":\"refs/heads/z\",\"old\":null,\"new\":\"{FIRST}\"}}\n"),
        "created branch 'z'\n",
    );
    place.mnem(&["branch", "--show-current"]).says("main\n", "");
    place.mnem(&["branch", "x", "HEAD~1"]).refuses(
        128,
        "mnem: error[ref-exists]: the branch 'x' exists already\n\
         hint: go there with 'mnem switch x', or move it with 'mnem branch --force x REV'\n",
    );
    place
        .mnem(&["branch", "w", "nowhere"])
        .refuses(128, "mnem: error[bad-revision]: unknown revision 'nowhere'\nhint: see 'mnem log --oneline'\n");
    place.mnem(&["branch", "a b"]).refuses(
        129,
        "mnem: error[bad-ref]: 'a b': a branch name may not hold a space, a control character or one of ~ ^ : ? * [ \\\n\
         hint: such as 'main' or 'agents/seven'\n",
    );
    let digits = &FIRST[..6];
    place.mnem(&["branch", "-q", digits]).output();
    place.mnem(&["log", "--ids", "-n1", digits]).says(
        &format!("{THIRD}\n"),
        &format!("warning: '{digits}' is a branch and also the prefix of a commit's id; the branch was taken\n"),
    );
}

#[test]
fn force_moves_a_branch_on_which_nobody_stands_and_tells_how_to_undo_it() {
    let place = Place::with_story();
    place.mnem(&["branch", "-q", "it's"]).output();
    let moved = place.mnem(&["branch", "-f", "it's", FIRST]).answer();
    let undo = format!("mnem branch --force 'it'\\''s' {THIRD}");
    assert_eq!(moved.stdout, format!("{FIRST}\n"));
    assert_eq!(moved.stderr, format!("moved branch 'it's' (was {})\nto undo: {undo}\n", &THIRD[..10]));
    assert_eq!(branches(&place)[0], ("it's".into(), FIRST.into()));
    assert_eq!(place.undo(&moved).answer().stdout, format!("{THIRD}\n"));
    assert_eq!(branches(&place)[0], ("it's".into(), THIRD.into()));
    let before = place.files();
    place.mnem(&["branch", "-f", "it's"]).says(&format!("{THIRD}\n"), "branch 'it's' stands there already\n");
    assert!(place.files() == before, "nothing is written for nothing");
    place.mnem(&["switch", "-q", "it's", "--session", "s"]).output();
    place.mnem(&["branch", "-f", "it's", FIRST]).refuses(
        1,
        "mnem: error[branch-in-use]: the session 's' stands on the branch 'it's'\n\
         hint: let it go first: mnem switch --detach --session s\n",
    );
    place
        .mnem(&["branch", "-f"])
        .refuses(129, "mnem: error[usage]: no branch is named\nhint: mnem branch --force NAME REV\n");
}

#[test]
fn a_branch_that_has_commits_of_its_own_is_deleted_only_by_force() {
    let (place, tip) = forked();
    place.mnem(&["branch", "-q", "merged", FIRST]).output();
    place.mnem(&["branch", "-d", "merged", "side"]).refuses(
        1,
        "mnem: error[not-merged]: the tip of the branch 'side' is in no other branch and not in HEAD\n\
         hint: to delete it anyway: mnem branch -D side\n",
    );
    place.mnem(&["branch", "-q", "also", "side"]).output();
    place.mnem(&["branch", "-d", "also", "side"]).refuses(
        1,
        "mnem: error[not-merged]: the tips of 'also', 'side' are in no other branch and not in HEAD\n\
         hint: to delete it anyway: mnem branch -D also side\n",
    );
    // Each of the two has what the other has.
    place.mnem(&["branch", "-dq", "also"]).says(&format!("{tip}\n"), "");
    let deleted = place.mnem(&["branch", "-D", "side"]).answer();
    let short = &tip[..10];
    assert_eq!(deleted.stdout, format!("{tip}\n"));
    assert_eq!(deleted.stderr, format!("deleted branch 'side' (was {short})\nto undo: mnem branch side {tip}\n"));
    place.undo(&deleted).says(&format!("{tip}\n"), "created branch 'side'\n");
    place.mnem(&["branch", "-d", "merged", "merged", "--json"]).says(
        &format!("{{\"v\":1,\"type\":\"ref\",\"ref\":\"refs/heads/merged\",\"old\":\"{FIRST}\",\"new\":null}}\n"),
        &format!("deleted branch 'merged' (was {})\nto undo: mnem branch merged {FIRST}\n", &FIRST[..10]),
    );
    let names: Vec<_> = branches(&place).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["main", "side"]);
    place
        .mnem(&["branch", "-D", "side", "sied"])
        .refuses(128, "mnem: error[bad-revision]: no branch 'sied'\nhint: did you mean 'side'?\n");
}

#[test]
fn what_is_in_a_detached_head_may_be_deleted() {
    let (place, _) = forked();
    assert_eq!(place.mnem(&["branch", "-dq", "side"]).answer().status, 1);
    place.mnem(&["switch", "-q", "--detach", "side"]).output();
    place.mnem(&["branch", "-dq", "side"]).output();
    let names: Vec<_> = branches(&place).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["main"]);
}

#[test]
fn no_branch_is_deleted_on_which_a_session_stands() {
    let (place, _) = forked();
    // One with a row, one that has only staged something, and oneself.
    place.mnem(&["switch", "-q", "side", "--session", "a"]).output();
    place.mnem(&["switch", "-q", "side"]).output();
    place.mnem(&["put", "-q", "k", "v", "--session", "b"]).output();
    place.mnem(&["switch", "-q", "main"]).output();
    for option in ["-d", "-D"] {
        place.mnem(&["branch", option, "side"]).refuses(
            1,
            "mnem: error[branch-in-use]: the sessions 'a', 'b' stand on the branch 'side'\n\
             hint: let it go first: mnem switch --detach --session a\n\
             hint: let it go first: mnem switch --detach --session b\n",
        );
        place.mnem(&["branch", option, "main"]).refuses(
            1,
            "mnem: error[branch-in-use]: the session 'default' stands on the branch 'main'\n\
             hint: let it go first: mnem switch --detach --session default\n",
        );
    }
    for session in ["a", "b"] {
        place.mnem(&["switch", "-q", "--detach", "--session", session]).output();
    }
    place.mnem(&["branch", "-qD", "side"]).output();
}

#[test]
fn sessions_follow_a_branch_that_is_renamed() {
    let (place, tip) = forked();
    place.mnem(&["switch", "-q", "side", "--session", "a"]).output();
    place.mnem(&["switch", "-q", "side"]).output();
    place.mnem(&["put", "-q", "k", "v", "--session", "b"]).output();
    place.mnem(&["switch", "-q", "main"]).output();
    let renamed = place.mnem(&["branch", "-m", "side", "other"]).answer();
    assert_eq!(renamed.stdout, format!("{tip}\n"));
    assert_eq!(renamed.stderr, "renamed branch 'side' to 'other'\nto undo: mnem branch -m other side\n");
    for session in ["a", "b"] {
        place.mnem(&["branch", "--show-current", "--session", session]).says("other\n", "");
    }
    place.mnem(&["get", "k", "--session", "b"]).says("v", "");
    place.mnem(&["put", "of-a", "1", "-qm", "by a", "--session", "a"]).output();
    place.mnem(&["commit", "-qm", "by b", "--session", "b"]).output();
    place.mnem(&["get", "of-a", "-r", "other"]).says("1", "");
    place.mnem(&["get", "k", "-r", "other"]).says("v", "");
    // Where a session stood before is known by its new name too.
    place.mnem(&["switch", "-"]).answer();
    place.mnem(&["branch", "--show-current"]).says("other\n", "");
    assert_eq!(place.undo(&renamed).answer().status, 0);
    place.mnem(&["branch", "--show-current"]).says("side\n", "");
    place.mnem(&["branch", "-qm", "own"]).output();
    place.mnem(&["branch", "--show-current", "--session", "a"]).says("own\n", "");
    place.mnem(&["branch", "-m", "own", "main"]).refuses(
        128,
        "mnem: error[ref-exists]: the branch 'main' exists already\n\
         hint: go there with 'mnem switch main', or move it with 'mnem branch --force main REV'\n",
    );
    place
        .mnem(&["branch", "-m", "nothing", "x"])
        .refuses(128, "mnem: error[bad-revision]: no branch 'nothing'\nhint: see 'mnem branch'\n");
}

#[test]
fn a_branch_without_commits_can_be_renamed_and_is_nobody_else_s() {
    let place = Place::with_store();
    place
        .mnem(&["branch", "-m", "trunk"])
        .says("", "renamed branch 'main' to 'trunk'\nto undo: mnem branch -m trunk main\n");
    place.mnem(&["put", "-q", "k", "v", "--session", "s"]).output();
    place.mnem(&["branch", "-qm", "main"]).says("", "");
    place.mnem(&["branch", "--show-current", "--session", "s"]).says("main\n", "");
    place.mnem(&["switch", "-qc", "own"]).says("", "");
    place.mnem(&["put", "k", "v", "-qm", "first"]).output();
    // The session `s` waits for the first commit of its branch.
    for arguments in [&["branch", "main"][..], &["branch", "-m", "main"], &["switch", "-c", "main"]] {
        place.mnem(arguments).refuses(
            1,
            "mnem: error[branch-in-use]: the session 's' stands on the branch 'main'\n\
             hint: let it go first: mnem switch --detach --session s\n",
        );
    }
}

#[test]
fn a_pattern_chooses_which_branches_are_listed() {
    let place = Place::with_story();
    for name in ["agents/one", "agents/two", "agents/deep/three"] {
        place.mnem(&["branch", "-q", name, FIRST]).output();
    }
    place.mnem(&["switch", "-q", "--detach"]).output();
    let listed = |arguments: &[&str]| {
        let rows = place.mnem(&["branch", "--json"]).arguments(arguments).output();
        let rows = rows.lines().map(|row| serde_json::from_str::<serde_json::Value>(row).expect("a row"));
        rows.map(|row| row["name"].as_str().expect("a text").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(listed(&["-l"]), ["agents/deep/three", "agents/one", "agents/two", "main"]);
    assert_eq!(listed(&["--list", "agents/*"]), ["agents/one", "agents/two"]);
    assert_eq!(listed(&["-l", "agents/", "main"]), ["agents/deep/three", "agents/one", "agents/two", "main"]);
    assert_eq!(listed(&["-l", "agents*"]), [""; 0]);
    assert_eq!(listed(&["--contains", SECOND, "agents/**", "main"]), ["main"]);
    assert_eq!(listed(&["--contains", FIRST, "-l", "*/*"]), ["agents/one", "agents/two"]);
    // Where HEAD is on no branch, that is no branch of such a name.
    let third = &THIRD[..10];
    place.mnem(&["branch", "-l", "main"]).says(&format!("  main {third} {TEN} forget the allergies\n"), "");
    place.mnem(&["branch", "-l", "["]).refuses(
        129,
        "mnem: error[bad-pattern]: '[': a '[' has no ']' in pattern '['\n\
         hint: such as 'user/' or 'user/*'; '--literal' takes * ? [ as they are\n",
    );
}

#[test]
fn the_branch_where_the_session_stood_before_goes_by_its_short_cut() {
    let (place, tip) = forked();
    place
        .mnem(&["branch", "-d", "@{-1}", "--session", "new"])
        .refuses(128, "mnem: error[bad-revision]: this session has not switched yet\nhint: see 'mnem branch'\n");
    place.mnem(&["branch", "-d", "@{-1}"]).refuses(
        1,
        "mnem: error[not-merged]: the tip of the branch 'side' is in no other branch and not in HEAD\n\
         hint: to delete it anyway: mnem branch -D side\n",
    );
    place.mnem(&["branch", "-qf", "@{-1}", FIRST]).says(&format!("{FIRST}\n"), "");
    place.mnem(&["branch", "-qf", "side", &tip]).output();
    place.mnem(&["branch", "-qm", "@{-1}", "aside"]).says(&format!("{tip}\n"), "");
    place.mnem(&["branch", "-q", "-d", "-f", "@{-1}"]).says(&format!("{tip}\n"), "");
    assert_eq!(branches(&place), [("main".to_owned(), THIRD.to_owned())]);
    place.mnem(&["switch", "-q", "--detach"]).output();
    place.mnem(&["switch", "-q", "main"]).output();
    place
        .mnem(&["branch", "-d", "@{-1}"])
        .refuses(128, "mnem: error[bad-revision]: '@{-1}' is a commit and no branch\nhint: see 'mnem branch'\n");
    // A new branch has no such name.
    assert_eq!(place.mnem(&["branch", "@{-1}"]).answer().status, 129);
}

#[test]
fn a_rename_by_force_takes_the_place_of_a_branch_on_which_nobody_stands() {
    let (place, tip) = forked();
    place.mnem(&["branch", "-q", "old", FIRST]).output();
    let renamed = place.mnem(&["branch", "-M", "side", "old"]).answer();
    assert_eq!(renamed.stdout, format!("{tip}\n"));
    let undo = format!("mnem branch -m old side && mnem branch old {FIRST}");
    let told = format!("renamed branch 'side' to 'old' (was {})\nto undo: {undo}\n", &FIRST[..10]);
    assert_eq!(renamed.stderr, told);
    assert_eq!(branches(&place), [("main".to_owned(), THIRD.to_owned()), ("old".to_owned(), tip.clone())]);
    place.undo(&renamed).answer();
    place.mnem(&["branch", "-M", "side", "old", "--json"]).answer();
    place.mnem(&["branch", "-q", "third", FIRST]).output();
    place.mnem(&["branch", "-m", "-f", "old", "third", "--json", "-q"]).says(
        &format!(
            "{{\"v\":1,\"type\":\"ref\",\"ref\":\"refs/heads/old\",\"old\":\"{tip}\",\"new\":null}}\n\
             {{\"v\":1,\"type\":\"ref\",\"ref\":\"refs/heads/third\",\"old\":\"{FIRST}\",\"new\":\"{tip}\"}}\n"
        ),
        "",
    );
    place.mnem(&["branch", "-M", "third", "main"]).refuses(
        1,
        "mnem: error[branch-in-use]: the session 'default' stands on the branch 'main'\n\
         hint: let it go first: mnem switch --detach --session default\n",
    );
    let before = place.files();
    place.mnem(&["branch", "-M", "third", "third"]).says("", "branch 'third' is called so already\n");
    place.mnem(&["branch", "-M", "main"]).says("", "branch 'main' is called so already\n");
    assert!(place.files() == before, "nothing is written for nothing");
    assert_eq!(place.mnem(&["branch", "-m", "third", "third"]).answer().status, 128);
    // What has no commit takes no place.
    let empty = Place::with_store();
    empty.mnem(&["switch", "-qc", "own", "--session", "s"]).says("", "");
    empty.mnem(&["put", "k", "v", "-qm", "k", "--session", "s"]).output();
    empty.mnem(&["switch", "-q", "--detach", "--session", "s"]).output();
    assert_eq!(empty.mnem(&["branch", "-M", "own"]).answer().status, 128);
}

#[test]
fn arguments_that_do_not_go_together_are_refused() {
    let place = Place::with_story();
    let usage = "mnem: error[usage]: ";
    place
        .mnem(&["branch", "a", "b", "c"])
        .refuses(129, &format!("{usage}unexpected argument 'c'\nhint: mnem branch NAME REV\n"));
    place
        .mnem(&["branch", "-m", "a", "b", "c"])
        .refuses(129, &format!("{usage}unexpected argument 'c'\nhint: mnem branch -m OLD NEW\n"));
    for arguments in [
        &["-d"][..],
        &["-D"],
        &["-m"],
        &["-d", "-D", "x"],
        &["-d", "-m", "x"],
        &["-m", "-M", "x"],
        &["-M"],
        &["-D", "-M", "x"],
        &["-l", "-d", "x"],
        &["-l", "-f", "x"],
        &["--list", "-m", "x"],
        &["--show-current", "x"],
        &["--show-current", "--list"],
        &["--contains", "main", "-d", "x"],
        &["--show-current", "--contains", "main"],
    ] {
        let answer = place.mnem(&["branch"]).arguments(arguments).answer();
        assert_eq!((answer.status, answer.stdout.as_str()), (129, ""), "{arguments:?}: {answer:?}");
    }
    place.mnem(&["branch", "x"]).env("MNEM_REV", "HEAD").refuses(
        129,
        "mnem: error[read-only-rev]: MNEM_REV is set to 'HEAD', so nothing is written\n\
         hint: to write, run it without: env -u MNEM_REV mnem …\n",
    );
}
