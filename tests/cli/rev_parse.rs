//! `mnem rev-parse`

use super::support::{FIRST, Place, SECOND, THIRD, lines};

#[test]
fn revisions_and_ranges_become_ids() {
    let place = Place::with_story();
    let without = |id: &str| format!("^{id}");
    for (revisions, expected) in [
        (&["HEAD"][..], &[THIRD.to_owned()][..]),
        (&["HEAD~1", "main", &FIRST[..6]], &[SECOND.to_owned(), THIRD.to_owned(), FIRST.to_owned()]),
        (&["^HEAD"], &[without(THIRD)]),
        (&["HEAD~2..main"], &[THIRD.to_owned(), without(FIRST)]),
        (&["HEAD~1.."], &[THIRD.to_owned(), without(SECOND)]),
        (&["HEAD~2...HEAD~1"], &[SECOND.to_owned(), FIRST.to_owned(), without(FIRST)]),
        (&["main@{1}", "@{2}", "HEAD@{0}"], &[SECOND.to_owned(), FIRST.to_owned(), THIRD.to_owned()]),
    ] {
        place.mnem(&["rev-parse"]).arguments(revisions).says(&lines(expected), "");
    }
    place.mnem(&["rev-parse", "-z", "HEAD", "^HEAD~1"]).says(&format!("{THIRD}\0^{SECOND}\0"), "");
    place.mnem(&["rev-parse", "--short", "HEAD", "^@~1"]).says(&lines(&[&THIRD[..10], &without(&SECOND[..10])]), "");
    place.mnem(&["rev-parse", "--short=64", "HEAD"]).says(&lines(&[THIRD]), "");
}

#[test]
fn a_short_id_is_as_long_as_it_takes() {
    let place = Place::with_store();
    place.mnem(&["put", "k", "v", "-m", "c"]).output();
    let message = "a message with a bell \u{7} that was chosen for its commit: 112712";
    place.mnem(&["put", "k", "w", "-m", message]).output();
    place.mnem(&["rev-parse", "--short=4", "HEAD", "HEAD~1"]).says("1fc2c\n1fc25\n", "");
    place.mnem(&["rev-parse", "--short=6", "HEAD", "HEAD~1"]).says("1fc2cb\n1fc25b\n", "");
}

#[test]
fn names_of_refs_are_told() {
    let place = Place::with_store();
    place.mnem(&["rev-parse", "--abbrev-ref", "HEAD"]).says("main\n", "");
    place.mnem(&["rev-parse", "--symbolic-full-name", "@"]).says("refs/heads/main\n", "");
    let unborn = "mnem: error[bad-revision]: no commit yet on 'main'\n\
        hint: make one with 'mnem put ID CONTENT' and 'mnem commit -m MESSAGE'\n";
    place.mnem(&["rev-parse", "HEAD"]).refuses(128, unborn);
    place.mnem(&["rev-parse", "--abbrev-ref", "HEAD~1"]).refuses(128, unborn);
    let place = Place::with_story();
    place.mnem(&["rev-parse", "--abbrev-ref", "HEAD", "HEAD~1", SECOND]).says("main\n", "");
    place
        .mnem(&["rev-parse", "--symbolic-full-name", "main", "^heads/main"])
        .says("refs/heads/main\n^refs/heads/main\n", "");
    place
        .mnem(&["rev-parse", "--abbrev-ref", "HEAD", "nothing"])
        .refuses(128, "mnem: error[bad-revision]: unknown revision 'nothing'\nhint: see 'mnem log --oneline'\n");
}

#[test]
fn json_tells_all_of_it() {
    let place = Place::with_story();
    let row = |revision: &str, id: &str, left_out: bool, reference: &str| {
        format!(
            r#"{{"v":1,"type":"revision","revision":"{revision}","id":"{id}","left_out":{left_out},"ref":{reference}}}"#
        )
    };
    place.mnem(&["rev-parse", "--json", "HEAD~1...main", "HEAD"]).says(
        &lines(&[
            row("main", THIRD, false, r#""refs/heads/main""#),
            row("HEAD~1", SECOND, false, "null"),
            row(SECOND, SECOND, true, "null"),
            row("HEAD", THIRD, false, r#""refs/heads/main""#),
        ]),
        "",
    );
}

#[test]
fn verify_takes_one_commit() {
    let place = Place::with_story();
    place.mnem(&["rev-parse", "--verify", "HEAD~1"]).says(&lines(&[SECOND]), "");
    for revisions in [&["HEAD", "HEAD"][..], &["HEAD~1..HEAD"], &["HEAD~1...HEAD"], &["^HEAD"]] {
        place.mnem(&["rev-parse", "--verify"]).arguments(revisions).refuses(
            129,
            "mnem: error[usage]: --verify takes one revision that is no range\nhint: mnem rev-parse --verify REV\n",
        );
    }
}

#[test]
fn a_wrong_call_is_refused() {
    let place = Place::with_story();
    for arguments in [
        &[][..],
        &["--short=3", "HEAD"],
        &["--short=65", "HEAD"],
        &["--short", "--abbrev-ref", "HEAD"],
        &["--symbolic-full-name", "--abbrev-ref", "HEAD"],
    ] {
        let answer = place.mnem(&["rev-parse"]).arguments(arguments).answer();
        assert_eq!((answer.status, answer.stdout.as_str()), (129, ""), "{arguments:?}");
    }
}

#[test]
fn a_name_in_doubt_is_warned_of() {
    let place = Place::empty();
    place.mnem(&["init", "-b", "1fc25b"]).output();
    place.mnem(&["put", "k", "v", "-m", "c"]).output();
    place.mnem(&["put", "k", "w", "-m", "c"]).output();
    let head = place.mnem(&["rev-parse", "HEAD"]).output();
    let warning = "warning: '1fc25b' is a branch and also the prefix of a commit's id; the branch was taken\n";
    place.mnem(&["rev-parse", "1fc25b"]).says(&head, warning);
    place.mnem(&["merge-base", "1fc25b", "HEAD"]).says(&head, warning);
    place.mnem(&["merge-base", "--is-ancestor", "1fc25b", "HEAD"]).says("", warning);
    let log = place.mnem(&["reflog", "1fc25b", "-n1"]).answer();
    assert_eq!((log.status, log.stderr.as_str()), (0, warning));
}
