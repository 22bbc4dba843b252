//! `mnem reflog`

use super::support::{FIRST, Place, SECOND, THIRD, lines};

#[test]
fn the_newest_movement_comes_first() {
    let place = Place::with_story();
    let line = |name: &str, at: usize| {
        let (id, time, reason) = [
            (THIRD, "2025-12-01T11:00:00.500+01:00", "put"),
            (SECOND, "2025-12-01T09:00:00.000+00:00", "put"),
            (FIRST, "2025-12-01T08:00:00.000+00:00", "commit"),
        ][at];
        format!("{} {name}@{{{at}}} {time} {reason}", &id[..10])
    };
    for (arguments, name) in [
        (&[][..], "HEAD"),
        (&["HEAD"], "HEAD"),
        (&["@"], "HEAD"),
        (&["main"], "main"),
        (&["refs/heads/main"], "refs/heads/main"),
    ] {
        let all = [0, 1, 2].map(|at| line(name, at));
        place.mnem(&["reflog"]).arguments(arguments).says(&lines(&all), "");
        place.mnem(&["reflog", "-n2"]).arguments(arguments).says(&lines(&all[..2]), "");
        place.mnem(&["reflog", "--max-count", "0"]).arguments(arguments).says("", "");
    }
    for at in 0..3 {
        let id = [THIRD, SECOND, FIRST][at];
        place.mnem(&["rev-parse", &format!("HEAD@{{{at}}}")]).says(&lines(&[id]), "");
    }
    let colored = line("HEAD", 0).replace(&THIRD[..10], &format!("\u{1b}[33m{}\u{1b}[0m", &THIRD[..10]));
    place.mnem(&["reflog", "-n1", "--color", "always"]).says(&lines(&[colored]), "");
}

#[test]
fn json_has_both_ends() {
    let place = Place::with_story();
    let row = |name: &str, at: usize, old: &str, new: &str, time: &str, reason: &str| {
        format!(
            r#"{{"v":1,"type":"reflog","ref":"{name}","index":{at},"old":{old},"new":"{new}","time":"{time}","reason":"{reason}"}}"#
        )
    };
    for (argument, name) in [("HEAD", "HEAD"), ("heads/main", "refs/heads/main")] {
        let rows = [
            row(name, 0, &format!("\"{SECOND}\""), THIRD, "2025-12-01T11:00:00.500+01:00", "put"),
            row(name, 1, &format!("\"{FIRST}\""), SECOND, "2025-12-01T09:00:00.000+00:00", "put"),
            row(name, 2, "null", FIRST, "2025-12-01T08:00:00.000+00:00", "commit"),
        ];
        place.mnem(&["reflog", argument, "--json"]).says(&lines(&rows), "");
    }
}

#[test]
fn each_session_has_a_head_of_its_own() {
    let place = Place::with_story();
    place.mnem(&["reflog", "--session", "other"]).says("", "");
    place.mnem(&["put", "k", "v", "-m", "c", "--session", "other"]).output();
    let head = place.mnem(&["rev-parse", "--short", "HEAD"]).output();
    let told = format!("{} HEAD@{{0}} 2025-12-01T08:00:00.000+00:00 put\n", head.trim());
    place.mnem(&["reflog", "--session", "other"]).says(&told, "");
    place.mnem(&["reflog", "main", "-n1"]).says(&told.replace("HEAD", "main"), "");
    place.mnem(&["rev-parse", "HEAD@{0}"]).says(&lines(&[THIRD]), "");
    place.mnem(&["rev-parse", "HEAD@{1}", "--session", "other"]).says(&lines(&[THIRD]), "");
}

#[test]
fn what_has_no_log_is_refused() {
    let place = Place::with_story();
    for (of, said) in [
        ("HEAD~1", "'HEAD~1' has no log: only HEAD and refs have one\nhint: see 'mnem reflog'\n"),
        (FIRST, &format!("'{FIRST}' has no log: only HEAD and refs have one\nhint: see 'mnem reflog'\n")),
        ("HEAD@{1}", "'HEAD@{1}' has no log: only HEAD and refs have one\nhint: see 'mnem reflog'\n"),
        (
            "ORIG_HEAD",
            "no command of this session has moved HEAD away, so there is no ORIG_HEAD\nhint: see 'mnem reflog'\n",
        ),
        ("nain", "unknown revision 'nain'\nhint: did you mean 'main'?\n"),
    ] {
        place.mnem(&["reflog", of]).refuses(128, &format!("mnem: error[bad-revision]: {said}"));
    }
    let place = Place::with_store();
    place.mnem(&["reflog"]).says("", "");
    place.mnem(&["reflog", "main"]).says("", "");
}
