//! `mnem reset`, and `mnem commit --amend`, which it undoes

use super::support::{FIRST, Place, SECOND, THIRD};

/// The id of HEAD.
fn head(place: &Place) -> String {
    place.mnem(&["log", "--ids", "-n1"]).output().trim_end().to_owned()
}

/// The memory that the session sees, and what a commit would change.
fn seen(place: &Place) -> (String, String) {
    (place.mnem(&["export"]).output(), place.mnem(&["commit", "--dry-run"]).answer().stdout)
}

/// Runs the command that the last line of commentary names.
fn undo(place: &Place, commentary: &str) {
    let line = commentary.lines().last().and_then(|line| line.strip_prefix("to undo: mnem ")).expect("how to undo it");
    assert_eq!(place.mnem(&line.split(' ').collect::<Vec<_>>()).answer().status, 0, "{line}");
}

#[test]
fn the_memory_stays_and_what_is_left_behind_is_staged() {
    let place = Place::with_story();
    place.mnem(&["put", "new", "1"]).output();
    let before = seen(&place);
    for way in [&["reset", "HEAD~2"][..], &["reset", "--soft", FIRST]] {
        let answer = place.mnem(way).answer();
        let told = format!(
            "HEAD is now at {} (HEAD -> main) learn how Maria eats\n4 changes are staged\n\
             to undo: mnem reset --soft {THIRD}\n",
            &FIRST[..10]
        );
        assert_eq!((answer.status, answer.stdout, &answer.stderr), (0, format!("{FIRST}\n"), &told));
        let changes = "A new\nA plan/dinner\nD user/allergies\nM user/diet\n";
        assert_eq!(seen(&place), (before.0.clone(), changes.to_owned()));
        undo(&place, &told);
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
        "HEAD is now at {} (HEAD -> main) plan the dinner\n1 change is no longer staged, which cannot be undone\n\
         to undo: mnem reset --hard {THIRD}\n",
        &SECOND[..10]
    );
    assert_eq!((answer.status, answer.stdout, &answer.stderr), (0, format!("{SECOND}\n"), &told));
    place.mnem(&["ls"]).says("plan/dinner\nuser/allergies\nuser/diet\n", "");
    undo(&place, &told);
    assert_eq!(head(&place), THIRD);
    place.mnem(&["put", "new", "1"]).output();
    let here = format!(
        "HEAD is now at {} (HEAD -> main) forget the allergies\n1 change is no longer staged, which cannot be undone\n",
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
    undo(&place, &told);
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
    let foreign = "mnem: error[conflict]: the branch has moved meanwhile\nhint: the last commit is not this session's; look \
        at it with 'mnem show', and commit on top with 'mnem commit -m MESSAGE'\n";
    place.mnem(&["commit", "--amend", "-m", "x"]).refuses(3, foreign);
    // The other session may, and hears how to undo it for itself.
    let answer = place.mnem(&["--session", "other", "commit", "--amend", "-m", "x"]).answer();
    assert!(answer.stderr.contains("to undo: mnem --session other reset --soft "), "{answer:?}");
    let answer = place.mnem(&["commit", "--amend", "-m", "y"]).env("MNEM_SESSION", "other").answer();
    assert!(answer.stderr.contains("to undo: mnem --session other reset --soft "), "{answer:?}");
    place.mnem(&["restore", "b"]).output();
    place.mnem(&["reset", "-q", "--soft", "HEAD~1"]).output();
    place.mnem(&["get", "b"]).says("theirs", "");
}
