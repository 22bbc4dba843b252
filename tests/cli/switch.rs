//! `mnem switch`

use super::support::{FIRST, Place, SECOND, THIRD, staged_row};

/// The story, and a branch `side` at its first commit: there `user/diet` is another node, `plan/dinner` is not there and
/// `user/allergies` is.
fn forked() -> Place {
    let place = Place::with_story();
    place.mnem(&["branch", "-q", "side", FIRST]).output();
    place
}

#[test]
fn it_prints_where_the_session_stands_now() {
    let place = forked();
    place.mnem(&["switch", "side"]).says(&format!("{FIRST}\n"), "switched to branch 'side'\n");
    place.mnem(&["get", "user/diet"]).says("vegan since 2019", "");
    place.mnem(&["switch", "-"]).says(&format!("{THIRD}\n"), "switched to branch 'main'\n");
    place.mnem(&["switch", "-c", "new", "HEAD~1", "--json"]).says(
        &format!(
            "{{\"v\":1,\"type\":\"switched\",\"session\":\"default\",\"branch\":\"new\",\"head\":\"{SECOND}\",\"carried\":0,\"settled\":0}}\n"
        ),
        "switched to a new branch 'new'\n",
    );
    place.mnem(&["switch", "-zc", "newer"]).says(&format!("{SECOND}\0"), "switched to a new branch 'newer'\n");
    let short = &FIRST[..10];
    let detached = format!(
        "HEAD is detached at {short} learn how Maria eats\nto keep commits that you make here: mnem switch -c NAME\n"
    );
    place.mnem(&["switch", "--detach", "side"]).says(&format!("{FIRST}\n"), &detached);
    place.mnem(&["switch", "-d"]).says(&format!("{FIRST}\n"), &detached);
    place.mnem(&["log", "--oneline", "-n1"]).says(&format!("{short} (HEAD, side) learn how Maria eats\n"), "");
    place.mnem(&["status"]).says(
        &format!(
            "session default on no branch, at {short}\n\
             nothing to commit; stage a change with 'mnem put ID CONTENT'\n"
        ),
        "",
    );
}

#[test]
fn what_is_no_branch_is_refused_and_nothing_changes() {
    let place = forked();
    place.mnem(&["put", "-q", "k", "v"]).output();
    place.mnem(&["tag", "-q", "v1"]).output();
    let before = place.files();
    for (arguments, status, said) in [
        (&["sied"][..], 128, "bad-revision]: unknown revision 'sied'\nhint: did you mean 'side'?".to_owned()),
        (
            &["refs/heads/side"],
            128,
            "bad-revision]: 'refs/heads/side' is a longer name of the branch 'side'\nhint: mnem switch side".to_owned(),
        ),
        (
            &["heads/side"],
            128,
            "bad-revision]: 'heads/side' is a longer name of the branch 'side'\nhint: mnem switch side".to_owned(),
        ),
        (&["v1"], 128, "bad-revision]: 'v1' is a commit and no branch\nhint: mnem switch --detach v1".to_owned()),
        (
            &[&SECOND[..8]],
            128,
            format!(
                "bad-revision]: '{0}' is a commit and no branch\nhint: mnem switch --detach {0}",
                &SECOND[..8]
            ),
        ),
        (
            &[SECOND],
            129,
            format!(
                "bad-ref]: '{SECOND}': a branch name may not be spelled as a full commit id\nhint: to stand on a commit: mnem \
                 switch --detach REV"
            ),
        ),
        (
            &["-c", "ORIG_HEAD"],
            129,
            "bad-ref]: 'ORIG_HEAD': a branch name may not be such as 'ORIG_HEAD'\nhint: such as 'main' or 'agents/seven'"
                .to_owned(),
        ),
        (&["-"], 128, "bad-revision]: this session has not switched yet\nhint: see 'mnem branch'".to_owned()),
        (&[], 129, "usage]: no branch is named\nhint: mnem switch NAME".to_owned()),
        (
            &["HEAD"],
            129,
            "bad-ref]: 'HEAD': a branch name may not be '@' or 'HEAD'\nhint: to stand on a commit: mnem switch --detach REV"
                .to_owned(),
        ),
        (
            &["-c", "side"],
            128,
            "ref-exists]: the branch 'side' exists already\nhint: go there with 'mnem switch side', or move it with \
             'mnem branch --force side REV'"
                .to_owned(),
        ),
        (
            &["-c", "x", "--detach"],
            129,
            "usage]: the argument '--create <NAME>' cannot be used with '--detach'\nhint: see 'mnem switch --help'".to_owned(),
        ),
    ] {
        place.mnem(&["switch"]).arguments(arguments).refuses(status, &format!("mnem: error[{said}\n"));
        // Also where the session has no log yet.
        place.mnem(&["switch", "--session", "new"]).arguments(arguments).refuses(status, &format!("mnem: error[{said}\n"));
    }
    assert!(place.files() == before);
    place.mnem(&["switch", "-q", "side"]).output();
    place.mnem(&["branch", "-qD", "main"]).output();
    place.mnem(&["switch", "-"]).refuses(128, "mnem: error[bad-revision]: no branch 'main'\nhint: see 'mnem branch'\n");
    place.mnem(&["switch", "side"]).env("MNEM_REV", "HEAD").refuses(
        129,
        "mnem: error[read-only-rev]: MNEM_REV is set to 'HEAD', so nothing is written\n\
         hint: to write, run it without: env -u MNEM_REV mnem …\n",
    );
}

#[test]
fn the_branch_on_which_it_stands_is_no_switch() {
    let place = forked();
    place.mnem(&["put", "-q", "k", "v"]).output();
    let before = place.files();
    place.mnem(&["switch", "main"]).says(&format!("{THIRD}\n"), "already on 'main'\n");
    assert!(place.files() == before);
    // A session that has done nothing stays where it says.
    place.mnem(&["switch", "main", "--session", "s"]).says(&format!("{THIRD}\n"), "already on 'main'\n");
    place.mnem(&["switch", "-q", "side"]).output();
    place.mnem(&["branch", "--show-current", "--session", "s"]).says("main\n", "");
    place.mnem(&["branch", "--show-current", "--session", "t"]).says("side\n", "");
}

#[test]
fn staged_changes_come_along_and_what_would_be_hidden_is_named() {
    let place = forked();
    for (id, content) in [("new", "1"), ("plan/dinner", "none"), ("user/diet", "fish")] {
        place.mnem(&["put", "-q", id, content]).output();
    }
    place.mnem(&["switch", "side"]).refuses(
        1,
        "mnem: error[would-overwrite]: 'plan/dinner', 'user/diet': 2 nodes were staged, and otherwise changed there\n\
         hint: nothing was done; commit them with 'mnem commit -m MESSAGE', or take them back with 'mnem restore ID'\n",
    );
    place.mnem(&["restore", "-q", "plan/dinner", "user/diet"]).output();
    // It has there what it had here before it was put back: no change any more.
    place.mnem(&["restore", "-q", "user/diet", "-s", "side"]).output();
    place.mnem(&["put", "-q", "user/diet2", "x"]).output();
    place.mnem(&["switch", "side"]).says(
        &format!("{FIRST}\n"),
        "switched to branch 'side'\n2 staged changes came along\n1 staged change is there already, and no longer staged\n",
    );
    place.mnem(&["commit", "--dry-run", "-q"]).says("A new\nA user/diet2\n", "");
    place.mnem(&["commit", "-qm", "on side"]).output();
    place.mnem(&["get", "new", "-r", "side"]).says("1", "");
    place.mnem(&["get", "new", "-r", "main"]).refuses(1, "mnem: error[no-node]: no node 'new'\nhint: see 'mnem ls'\n");
    place.mnem(&["put", "-q", "k", "v"]).output();
    let row = place.mnem(&["switch", "main", "--json"]).answer();
    assert!(row.stdout.ends_with(",\"carried\":1,\"settled\":0}\n"), "{row:?}");
    assert_eq!(row.stderr, "switched to branch 'main'\n1 staged change came along\n");
    let staged = place.mnem(&["status", "--json"]).output();
    let hash = place.mnem(&["get", "k", "--json"]).output();
    let hash = &hash.split("\"hash\":\"").nth(1).expect("a hash")[..64];
    assert!(staged.contains(staged_row("k", Some(hash), "added").trim_end()), "{staged}");
}

#[test]
fn a_new_branch_where_the_session_stands_takes_even_a_conflict_along() {
    let place = forked();
    place.mnem(&["put", "-q", "user/diet", "fish"]).output();
    place.mnem(&["put", "-qm", "by s", "user/diet", "meat", "--session", "s"]).output();
    place.mnem(&["switch", "-qc", "aside"]).output();
    let refused = place.mnem(&["commit", "-qm", "fish"]).answer();
    assert_eq!(refused.status, 3, "{refused:?}");
    place.mnem(&["commit", "-qm", "fish", "--overwrite"]).output();
    place.mnem(&["get", "user/diet", "-r", "main"]).says("meat", "");
}

#[test]
fn a_switch_of_one_session_never_moves_another() {
    let place = forked();
    place.mnem(&["switch", "-q", "side", "--session", "b"]).output();
    place.mnem(&["put", "-q", "of-a", "1", "--session", "a"]).output();
    place.mnem(&["put", "-q", "of-b", "1", "--session", "b"]).output();
    place.mnem(&["switch", "-qc", "third"]).output();
    place.mnem(&["switch", "-q", "side"]).output();
    let a = place.mnem(&["commit", "-qm", "a", "--session", "a"]).output();
    let b = place.mnem(&["commit", "-qm", "b", "--session", "b"]).output();
    for (branch, commit) in [("main", a.as_str()), ("side", &b), ("third", &format!("{THIRD}\n"))] {
        place.mnem(&["log", "--ids", "-n1", branch]).says(commit, "");
    }
    place.mnem(&["log", "--ids", "-n1"]).says(&b, "");
}

#[test]
fn commits_on_no_branch_are_told_before_they_are_left() {
    let place = forked();
    place.mnem(&["switch", "-q", "--detach"]).output();
    place.mnem(&["switch", "main"]).says(&format!("{THIRD}\n"), "switched to branch 'main'\n");
    place.mnem(&["switch", "-q", "--detach"]).output();
    place.mnem(&["put", "-q", "k", "v"]).output();
    let commit = place.mnem(&["commit", "-m", "k"]).answer();
    let id = commit.stdout.trim_end();
    let short = &id[..10];
    assert_eq!(commit.stderr, format!("[detached HEAD {short}] k\n 1 node changed: 1 added\n"));
    let left = place.mnem(&["switch", "side"]).answer();
    assert_eq!(
        left.stderr,
        format!(
            "switched to branch 'side'\nwarning: commit {short} is on no branch\nto keep it: mnem branch NAME {id}\n"
        )
    );
    place.mnem(&["switch", "-q", "-"]).says(&format!("{id}\n"), "");
    place.mnem(&["switch", "-c", "kept"]).says(&format!("{id}\n"), "switched to a new branch 'kept'\n");
}

#[test]
fn before_the_first_commit_a_new_branch_has_none_either() {
    let place = Place::with_store();
    place.mnem(&["put", "-q", "k", "v"]).output();
    place.mnem(&["switch", "-c", "own", "--json"]).says(
        "{\"v\":1,\"type\":\"switched\",\"session\":\"default\",\"branch\":\"own\",\"head\":null,\"carried\":1,\"settled\":0}\n",
        "switched to a new branch 'own'\n1 staged change came along\n",
    );
    place.mnem(&["commit", "-qm", "first"]).output();
    place.mnem(&["branch", "--show-current"]).says("own\n", "");
    place
        .mnem(&["switch", "main"])
        .refuses(128, "mnem: error[bad-revision]: unknown revision 'main'\nhint: see 'mnem log --oneline'\n");
}

#[test]
fn what_stands_there_already_hides_nothing_that_another_session_makes_of_it() {
    let place = forked();
    place.mnem(&["restore", "-s", "side", "user/diet", "user/allergies"]).output();
    place.mnem(&["switch", "side"]).says(
        &format!("{FIRST}\n"),
        "switched to branch 'side'\n2 staged changes are there already, and no longer staged\n",
    );
    place.mnem(&["put", "user/diet", "fish", "-qm", "by s", "--session", "s"]).output();
    place.mnem(&["get", "user/diet"]).says("fish", "");
    let status = place.mnem(&["status", "--json"]).output();
    assert!(status.contains("\"staged\":[],\"conflicts\":[]"), "{status}");
}

#[test]
fn force_creates_or_moves_the_branch_and_tells_how_to_undo_it() {
    let place = forked();
    place
        .mnem(&["switch", "--force-create", "new", FIRST])
        .says(&format!("{FIRST}\n"), "switched to a new branch 'new'\n");
    place.mnem(&["switch", "--force-create", "side"]).says(&format!("{FIRST}\n"), "switched to branch 'side'\n");
    place.mnem(&["switch", "--force-create", "side"]).says(&format!("{FIRST}\n"), "already on 'side'\n");
    place.mnem(&["switch", "-q", "main"]).output();
    place.mnem(&["switch", "--force-create", "side"]).says(
        &format!("{THIRD}\n"),
        &format!(
            "switched to branch 'side'\nmoved branch 'side' (was {})\n\
             to undo: mnem switch - && mnem branch --force side {FIRST}\n",
            &FIRST[..10]
        ),
    );
    place.mnem(&["put", "-q", "k", "v"]).output();
    place.mnem(&["switch", "--force-create", "side", SECOND]).says(
        &format!("{SECOND}\n"),
        &format!(
            "switched to branch 'side'\nmoved branch 'side' (was {})\n\
             to undo: mnem switch --force-create side {THIRD}\n1 staged change came along\n",
            &THIRD[..10]
        ),
    );
    place.mnem(&["log", "--ids", "-n1", "ORIG_HEAD"]).says(&format!("{THIRD}\n"), "");
    place.mnem(&["switch", "-q", "-"]).says(&format!("{THIRD}\n"), "");
    place.mnem(&["switch", "-q", "side", "--session", "s"]).output();
    place.mnem(&["switch", "--force-create", "side"]).refuses(
        1,
        "mnem: error[branch-in-use]: the session 's' stands on the branch 'side'\n\
         hint: let it go first: mnem switch --detach --session s\n",
    );
    place.mnem(&["switch", "-q", "--force-create", "side", SECOND]).says(&format!("{SECOND}\n"), "");
    let empty = Place::with_store();
    empty.mnem(&["switch", "-q", "--force-create", "own"]).says("", "");
    empty.mnem(&["branch", "--show-current"]).says("own\n", "");
}
