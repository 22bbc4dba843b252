//! `mnem gc`

use super::support::{FIRST, Place, THIRD};

/// Half a year after all that a place begins with.
const LATER: (&str, &str) = ("MNEM_DATE", "2026-06-01T08:00:00Z");

/// A story, and a commit that nothing but ORIG_HEAD and movements of refs name; returns its id.
fn with_a_lost_commit() -> (Place, String) {
    let place = Place::with_story();
    let lost = place.mnem(&["commit", "--allow-empty", "-qm", "lost"]).answer().stdout;
    place.mnem(&["reset", "-q", "--hard", THIRD]).answer();
    (place, lost.trim().to_owned())
}

#[test]
fn what_nothing_names_any_more_is_dropped_once_the_movements_are_old() {
    let (place, lost) = with_a_lost_commit();
    // ORIG_HEAD names it.
    let dry = place.mnem(&["gc", "--dry-run"]).env(LATER.0, LATER.1).answer().stdout;
    assert!(dry.starts_with("would drop 0 commits, 0 objects and 8 movements of refs of "), "{dry}");
    place.mnem(&["reset", "-q", "--hard", FIRST]).answer();
    place.mnem(&["reset", "-q", "--hard", THIRD]).answer();
    let young = place.mnem(&["gc"]).answer().stdout;
    assert!(young.starts_with("dropped 0 commits, 0 objects and 0 movements of refs: "), "{young}");
    place.mnem(&["rev-parse", &lost]).says(&format!("{lost}\n"), "");
    let (log, export) = (place.mnem(&["log", "-p"]).answer().stdout, place.mnem(&["export"]).answer().stdout);
    let dropped = place.mnem(&["gc"]).env(LATER.0, LATER.1).answer().stdout;
    assert!(dropped.starts_with("dropped 1 commit, 0 objects and 12 movements of refs: "), "{dropped}");
    let refused = place.mnem(&["rev-parse", &lost]).answer();
    assert_eq!((refused.status, refused.word()), (128, Some("bad-revision")));
    assert_eq!((place.mnem(&["log", "-p"]).answer().stdout, place.mnem(&["export"]).answer().stdout), (log, export));
}

#[test]
fn how_long_movements_count_is_said_by_the_option_else_by_the_setting() {
    let (place, _) = with_a_lost_commit();
    let would = |arguments: &[&str]| {
        let said =
            place.mnem(&["gc", "--dry-run"]).arguments(arguments.iter().copied()).env(LATER.0, LATER.1).answer().stdout;
        said.split(" and ").nth(1).and_then(|rest| rest.split(' ').next()).expect("a number").to_owned()
    };
    assert_eq!(would(&[]), "8");
    assert_eq!(would(&["--reflog-days", "1000"]), "0");
    place.mnem(&["config", "reflog-days", "1000"]).answer();
    assert_eq!(would(&[]), "0");
    assert_eq!(would(&["--reflog-days", "3"]), "8");
    assert_eq!(place.mnem(&["gc", "--reflog-days", "-1"]).answer().status, 129);
}

#[test]
fn a_dry_run_changes_no_byte_and_a_gc_makes_the_store_smaller() {
    let place = Place::with_store();
    place.set("n", 0..200);
    let before = place.stored();
    place.mnem(&["gc", "--dry-run"]).answer();
    assert_eq!(place.stored(), before);
    let row = place.mnem(&["gc", "--json"]).answer().stdout;
    let row: serde_json::Value = serde_json::from_str(&row).expect("JSON");
    let bytes = |key: &str| row[key].as_u64().expect("bytes");
    assert!(bytes("bytes_after") < bytes("bytes_before"), "{row}");
    let size = std::fs::metadata(place.path(".mnemosyne/store.redb")).expect("a file").len();
    assert_eq!(bytes("bytes_after"), size);
    place.mnem(&["get", "n"]).says("199", "");
}

#[test]
fn a_store_that_is_only_read_is_not_written_anew() {
    let place = Place::with_story();
    let refused = place.mnem(&["gc"]).env("MNEM_REV", "HEAD").answer();
    assert_eq!((refused.status, refused.word()), (129, Some("read-only-rev")));
    assert_eq!(place.mnem(&["gc", "--dry-run"]).env("MNEM_REV", "HEAD").answer().status, 0);
    let refused = place.mnem(&["redact", "user/diet"]).env("MNEM_REV", "HEAD").answer();
    assert_eq!((refused.status, refused.word()), (129, Some("read-only-rev")));
}
