//! `mnem reset`, and `mnem commit --amend`, which it undoes

use super::support::{FIRST, Place, SECOND, THIRD};

/// The line that stages again what some of the tests stage.
const ROW: &str = "printf '%s\\n' '{\"id\":\"new\",\"content\":\"1\",\"content_kind\":\"note\",\"provenance\":{}}' | mnem put -q \
    --jsonl -";

/// The id of HEAD.
fn head(place: &Place) -> String {
    place.mnem(&["log", "--ids", "-n1"]).output().trim_end().to_owned()
}

/// The memory that the session sees, and what a commit would change.
fn seen(place: &Place) -> (String, String) {
    (place.mnem(&["export"]).output(), place.mnem(&["commit", "--dry-run"]).answer().stdout)
}

#[test]
fn the_memory_stays_and_what_is_left_behind_is_staged() {
    let place = Place::with_story();
    place.mnem(&["put", "new", "1"]).output();
    let before = seen(&place);
    for way in [&["reset", "HEAD~2"][..], &["reset", "--soft", FIRST]] {
        let answer = place.mnem(way).answer();
        let told = format!(
            "HEAD is now at {} (HEAD -> main) learn how Maria eats\n2 commits are left behind:\n  \
             {} forget the allergies (Ada <ada@example.org>)\n  {} plan the dinner (Ada <ada@example.org>)\n\
             4 changes are staged\nto undo: mnem reset --soft {THIRD}\n",
            &FIRST[..10],
            &THIRD[..10],
            &SECOND[..10]
        );
        assert_eq!((answer.status, &answer.stdout, &answer.stderr), (0, &format!("{FIRST}\n"), &told));
        let changes = "A new\nA plan/dinner\nD user/allergies\nM user/diet\n";
        assert_eq!(seen(&place), (before.0.clone(), changes.to_owned()));
        place.undo(&answer).answer();
        assert_eq!((head(&place).as_str(), seen(&place)), (THIRD, before.clone()));
    }
    // What was staged over a node that is left behind stays the newest version.
    place.mnem(&["put", "user/diet", "pescatarian"]).output();
    place.mnem(&["reset", "-q", "HEAD~2"]).says(&format!("{FIRST}\n"), "");
    place.mnem(&["get", "user/diet"]).says("pescatarian", "");
    place.mnem(&["commit", "-qm", "all at once"]).output();
    place.mnem(&["get", "user/diet", "-r", "HEAD"]).says("pescatarian", "");
    assert_eq!(place.mnem(&["log", "--ids"]).output().lines().count(), 2);
}

#[test]
fn hard_drops_what_is_staged_and_left_behind() {
    let place = Place::with_story();
    place.mnem(&["put", "new", "1"]).output();
    let answer = place.mnem(&["reset", "--hard", "HEAD~1"]).answer();
    let told = format!(
        "HEAD is now at {} (HEAD -> main) plan the dinner\n1 commit is left behind:\n  \
         {} forget the allergies (Ada <ada@example.org>)\n1 change is no longer staged\n\
         to undo: mnem reset --hard {THIRD} && {ROW}\n",
        &SECOND[..10],
        &THIRD[..10]
    );
    assert_eq!((answer.status, &answer.stdout, &answer.stderr), (0, &format!("{SECOND}\n"), &told));
    place.mnem(&["ls"]).says("plan/dinner\nuser/allergies\nuser/diet\n", "");
    let back = format!(
        "HEAD is now at {} (HEAD -> main) forget the allergies\nto undo: mnem reset --hard {SECOND}\n",
        &THIRD[..10]
    );
    assert_eq!(place.undo(&answer).answer().stderr, back);
    assert_eq!(head(&place), THIRD);
    place.mnem(&["get", "new"]).says("1", "");
    let here = format!(
        "HEAD is now at {} (HEAD -> main) forget the allergies\n1 change is no longer staged\nto undo: {ROW}\n",
        &THIRD[..10]
    );
    place.mnem(&["reset", "--hard"]).says(&format!("{THIRD}\n"), &here);
    place.mnem(&["get", "new"]).refuses(1, "mnem: error[no-node]: no node 'new'\nhint: see 'mnem ls'\n");
}

#[test]
fn what_names_no_commit_or_no_way_moves_nothing() {
    let place = Place::with_story();
    let way = "mnem: error[usage]: neither a commit nor a way is named\nhint: mnem reset REV, or 'mnem restore ID' to take \
        a staged change back, or 'mnem reset --hard' for all\n";
    place.mnem(&["reset"]).refuses(129, way);
    let unknown = "mnem: error[bad-revision]: 'HEAD~9' leads behind the first commit\nhint: see 'mnem log --oneline'\n";
    place.mnem(&["reset", "HEAD~9"]).refuses(128, unknown);
    assert_eq!(place.mnem(&["reset", "--soft", "--hard", "HEAD"]).answer().status, 129);
    let read_only = "mnem: error[read-only-rev]: MNEM_REV is set to 'HEAD~1', so nothing is written\n\
        hint: to write, run it without: env -u MNEM_REV mnem …\n";
    place.mnem(&["reset", "--hard", "HEAD~1"]).env("MNEM_REV", "HEAD~1").refuses(129, read_only);
    place.mnem(&["commit", "--amend", "-m", "x"]).env("MNEM_REV", "HEAD~1").refuses(129, read_only);
}

#[test]
fn an_amended_commit_takes_the_place_of_the_last_one() {
    let place = Place::with_story();
    place.mnem(&["put", "new", "1"]).output();
    let before = seen(&place);
    let answer = place.mnem(&["commit", "--amend", "-m", "forget, and learn"]).answer();
    let id = answer.stdout.trim_end().to_owned();
    let told = format!(
        "[main {}] forget, and learn\n 2 nodes changed: 1 added, 1 removed\nto undo: mnem reset --soft {THIRD}\n",
        &id[..10]
    );
    assert_eq!((answer.status, &answer.stderr), (0, &told));
    let subjects = "forget, and learn\nplan the dinner\nlearn how Maria eats\n";
    let log = place.mnem(&["log", "--json"]).output();
    let rows: Vec<serde_json::Value> = log.lines().map(|row| serde_json::from_str(row).expect("a commit")).collect();
    let subject = |row: &serde_json::Value| row["message"].as_str().expect("a text").lines().next().map(str::to_owned);
    let found: Vec<_> = rows.iter().filter_map(subject).collect();
    assert_eq!(found.join("\n") + "\n", subjects);
    assert_eq!((&rows[0]["parents"][0], rows[0]["parents"].as_array().map(Vec::len)), (&SECOND.into(), Some(1)));
    // Both are blamed on the commit that stands.
    assert!(place.mnem(&["blame", "new"]).output().starts_with(&id[..10]));
    assert!(place.mnem(&["blame", "user/allergies"]).answer().stdout.starts_with(&id[..10]));
    place.undo(&answer).answer();
    assert_eq!((head(&place).as_str(), seen(&place)), (THIRD, before));
}

#[test]
fn author_and_message_of_the_last_commit_stay_unless_others_are_given() {
    let place = Place::with_story();
    let row = |arguments: &[&str]| -> serde_json::Value {
        let run = place.mnem(&["commit", "--amend", "--json", "-q"]).arguments(arguments);
        serde_json::from_str(&run.env("MNEM_AUTHOR", "Bob").env("MNEM_DATE", "@1764590000").output()).expect("a commit")
    };
    let kept = row(&[]);
    assert_eq!((&kept["author"], &kept["message"]), (&"Ada <ada@example.org>".into(), &"forget the allergies".into()));
    assert_eq!(kept["time"], "2025-12-01T11:53:20.000+00:00");
    let given = row(&["--author", "Eve", "-m", "x", "--date", "2025-12-01T12:00:00Z"]);
    assert_eq!((&given["author"], &given["message"]), (&"Eve".into(), &"x".into()));
    // The first commit can be amended too.
    place.mnem(&["reset", "-q", "--hard", FIRST]).output();
    place.mnem(&["rm", "user/allergies"]).output();
    let first = row(&["-m", "less"]);
    assert_eq!((&first["parents"], &first["changes"]["added"]), (&serde_json::json!([]), &1.into()));
    let unborn = "mnem: error[bad-revision]: no commit yet on 'main'\n\
        hint: make one with 'mnem put ID CONTENT' and 'mnem commit -m MESSAGE'\n";
    Place::with_store().mnem(&["commit", "--amend", "-m", "x"]).refuses(128, unborn);
}

const FOREIGN: &str = "mnem: error[conflict]: the last commit is none that this session has made or gone to\n\
    hint: look at it with 'mnem show', and commit on top with 'mnem commit -m MESSAGE'\n\
    hint: to amend it all the same, go there first: mnem switch main\n";

#[test]
fn what_is_amended_is_where_the_session_itself_has_brought_head() {
    let place = Place::with_story();
    place.mnem(&["branch", "-q", "side"]).output();
    // How a session comes to stand before another commits, and whether it knows the last commit by then.
    let cases: [(&[&[&str]], bool); 7] = [
        (&[], false),
        (&[&["put", "-q", "x", "1"]], false),
        (&[&["switch", "-q", "main"]], true),
        (&[&["switch", "-q", "side"], &["switch", "-q", "main"]], true),
        (&[&["switch", "-q", "side"], &["switch", "-q", "-"]], true),
        (&[&["put", "y", "1", "-qm", "own"]], true),
        (&[&["put", "z", "1", "-qm", "own"], &["reset", "-q", "HEAD~1"]], true),
    ];
    for (at, (steps, knows)) in cases.iter().enumerate() {
        let session = format!("s{at}");
        let own = |arguments: &[&str]| place.mnem(&["--session", &session]).arguments(arguments);
        steps.iter().for_each(|step| drop(own(step).output()));
        let amend = ["commit", "--amend", "-qm", "amended"];
        if *knows {
            own(&amend).output();
        } else {
            own(&amend).refuses(3, FOREIGN);
        }
        place.mnem(&["put", "k", &at.to_string(), "-qm", "by another"]).output();
        own(&amend).refuses(3, FOREIGN);
        // Who goes there knows it, also where it stands there already.
        let last = place.mnem(&["log", "--ids", "-n1"]).output();
        own(&["switch", "main"]).says(&last, "already on 'main'\n");
        own(&amend).output();
    }
    place.mnem(&["commit", "--amend", "-m", "x"]).refuses(3, FOREIGN);
}

#[test]
fn commits_that_are_left_behind_are_told_with_those_who_made_them() {
    let place = Place::with_story();
    let commit = |at: usize| {
        let put = place.mnem(&["put", "k", &at.to_string(), "-m", &format!("step {at}\u{202e}"), "--session", "b"]);
        put.env("MNEM_AUTHOR", format!("B{at}")).output();
        place.mnem(&["log", "--ids", "-n1"]).output()[..10].to_owned()
    };
    let ids: Vec<_> = (0..5).map(commit).collect();
    let answer = place.mnem(&["reset", "--hard", THIRD]).answer();
    let told = format!(
        "HEAD is now at {} (HEAD -> main) forget the allergies\n5 commits are left behind:\n  \
         {} step 4\\u{{202e}} (B4)\n  {} step 3\\u{{202e}} (B3)\n  {} step 2\\u{{202e}} (B2)\n  and 2 more\nto undo: ",
        &THIRD[..10],
        ids[4],
        ids[3],
        ids[2]
    );
    assert!(answer.stderr.starts_with(&told), "{answer:?}");
    // The way back leaves nothing behind; a way aside leaves what only the branch had.
    assert!(!place.undo(&answer).answer().stderr.contains("left behind"));
    place.mnem(&["switch", "-qc", "aside", FIRST]).output();
    place.mnem(&["put", "aside", "1", "-qm", "aside"]).output();
    let aside = place.mnem(&["reset", "--hard", "main"]).answer();
    assert!(
        aside.stderr.contains("\n1 commit is left behind:\n  ") && aside.stderr.contains(" aside (Ada "),
        "{aside:?}"
    );
}

#[test]
fn a_branch_without_commits_is_put_somewhere_and_cannot_be_put_back() {
    let place = Place::with_store();
    place.mnem(&["put", "-q", "k", "v", "--session", "s"]).output();
    place.mnem(&["switch", "-qc", "own"]).says("", "");
    place.mnem(&["put", "a", "1", "-qm", "first"]).output();
    let own = place.mnem(&["log", "--ids"]).output();
    place.mnem(&["reset", "own", "--session", "s"]).says(
        &own,
        &format!(
            "HEAD is now at {} (HEAD -> main, own) first\n2 changes are staged\n\
             there was no commit here before, so there is none to go back to\n",
            &own[..10]
        ),
    );
}

#[test]
fn a_conflict_is_not_reset_away_and_no_others_commit_is_amended() {
    let place = Place::with_store();
    place.mnem(&["put", "b", "1", "-m", "one"]).output();
    place.mnem(&["put", "b", "mine"]).output();
    place.mnem(&["--session", "other", "put", "b", "theirs", "-m", "two"]).output();
    let conflict = "mnem: error[conflict]: 'b': 1 node was changed both here and on the branch\nhint: all stays staged; take \
        the branch's version with 'mnem restore ID', or yours with 'mnem commit --overwrite -m MESSAGE'\n";
    for way in [&["HEAD"][..], &["HEAD~1"], &["--soft", "HEAD"]] {
        place.mnem(&["reset"]).arguments(way).refuses(3, conflict);
    }
    place.mnem(&["commit", "--amend", "-m", "x"]).refuses(3, FOREIGN);
    // The other session may, and hears how to undo it for itself.
    let answer = place.mnem(&["--session", "other", "commit", "--amend", "-m", "x"]).answer();
    assert!(answer.stderr.contains("to undo: mnem --session other reset --soft "), "{answer:?}");
    let answer = place.mnem(&["commit", "--amend", "-m", "y"]).env("MNEM_SESSION", "other").answer();
    assert!(answer.stderr.contains("to undo: mnem --session other reset --soft "), "{answer:?}");
    place.mnem(&["restore", "-q", "b"]).output();
    place.mnem(&["reset", "-q", "--soft", "HEAD~1"]).output();
    place.mnem(&["get", "b"]).says("theirs", "");
}
