//! `mnem merge-base`

use super::support::{Place, SECOND, THIRD, lines};

#[test]
fn of_a_line_it_is_the_older_commit() {
    let place = Place::with_story();
    for (one, other, base) in [("HEAD", "HEAD~1", SECOND), ("HEAD~1", "main", SECOND), ("HEAD", "main", THIRD)] {
        place.mnem(&["merge-base", one, other]).says(&lines(&[base]), "");
        place.mnem(&["merge-base", "--all", one, other]).says(&lines(&[base]), "");
    }
    let row = format!(r#"{{"v":1,"type":"base","id":"{SECOND}"}}"#);
    place.mnem(&["merge-base", "HEAD", "HEAD~1", "--json"]).says(&lines(&[row]), "");
}

#[test]
fn an_ancestor_is_one_by_the_exit_status() {
    let place = Place::with_story();
    for (one, other, status) in [("HEAD~2", "HEAD", 0), ("HEAD", "HEAD", 0), ("HEAD", "HEAD~2", 1)] {
        place.mnem(&["merge-base", "--is-ancestor", one, other]).ends(status, "", "");
        let row = format!(r#"{{"v":1,"type":"ancestor","ancestor":{}}}"#, status == 0);
        place.mnem(&["merge-base", "--is-ancestor", one, other, "--json"]).ends(status, &lines(&[row]), "");
    }
}

#[test]
fn a_wrong_call_is_refused() {
    let place = Place::with_story();
    for arguments in [&[][..], &["HEAD"], &["HEAD", "HEAD", "HEAD"], &["--all", "--is-ancestor", "HEAD", "HEAD"]] {
        let answer = place.mnem(&["merge-base"]).arguments(arguments).answer();
        assert_eq!((answer.status, answer.stdout.as_str()), (129, ""), "{arguments:?}");
    }
    for (one, other) in [("nothing", "HEAD"), ("HEAD", "nothing")] {
        for option in ["--all", "--is-ancestor"] {
            place.mnem(&["merge-base", option, one, other]).refuses(
                128,
                "mnem: error[bad-revision]: unknown revision 'nothing'\nhint: see 'mnem log --oneline'\n",
            );
        }
    }
}
