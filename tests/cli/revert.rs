//! `mnem revert`

use super::support::{FIRST, Place, SECOND, THIRD, lines};

fn put(place: &Place, id: &str, content: &str, more: &[&str]) {
    place.mnem(&["put", "-q", id, "-"]).arguments(more).input(content).output();
}

fn commit(place: &Place, revision: &str) -> String {
    place.mnem(&["rev-parse", revision]).output().trim_end().to_owned()
}

/// What a commit says.
fn message(place: &Place, revision: &str) -> String {
    let row = place.mnem(&["log", "-n1", "--json", revision]).output();
    let row: serde_json::Value = serde_json::from_str(&row).expect("a commit");
    row["message"].as_str().expect("a text").to_owned()
}

fn content(place: &Place, id: &str) -> Option<String> {
    let answer = place.mnem(&["get", id]).answer();
    (answer.status == 0).then_some(answer.stdout)
}

/// A scalar with three values, a commit each.
fn counted() -> Place {
    let place = Place::with_store();
    for value in ["1", "2", "3"] {
        put(&place, "n", value, &["-m", value]);
    }
    place
}

const STOPPED: &str = "hint: settle each with 'mnem revert --resolve ID=ours|theirs|base|delete' or 'mnem put ID CONTENT', \
     then 'mnem revert --continue'; or leave it with 'mnem revert --abort'\n";

#[test]
fn a_commit_is_undone_by_a_new_one() {
    let place = Place::with_story();
    let answer = place.mnem(&["revert", "HEAD"]).answer();
    let id = commit(&place, "HEAD");
    assert_eq!(
        (answer.status, answer.stdout, answer.stderr),
        (0, format!("{id}\n"), format!("{} (HEAD -> main) revert \"forget the allergies\"\n", &id[..10]))
    );
    assert_eq!(message(&place, "HEAD"), format!("revert \"forget the allergies\"\n\nThis reverts commit {THIRD}."));
    place.mnem(&["rev-parse", "HEAD^1", "ORIG_HEAD"]).says(&lines(&[THIRD, THIRD]), "");
    place.mnem(&["diff", SECOND, "HEAD"]).says("", "");
    // And that by another, and so on to the empty memory before the first.
    place.mnem(&["revert", "-q", "HEAD"]).output();
    place.mnem(&["diff", THIRD, "HEAD"]).says("", "");
    place.mnem(&["reset", "-q", "--hard", FIRST]).answer();
    place.mnem(&["revert", "-q", "HEAD", "--message", "nothing"]).output();
    place.mnem(&["ls", "--count"]).says("0\n", "");
    assert_eq!(message(&place, "HEAD"), "nothing");
}

#[test]
fn what_was_made_of_it_since_stays() {
    let place = Place::with_store();
    put(&place, "text", "one\ntwo\nthree\n", &["-m", "text"]);
    put(&place, "text", "ONE\ntwo\nthree\n", &["-m", "one"]);
    put(&place, "text", "ONE\ntwo\nTHREE\n", &["-m", "three"]);
    put(&place, "other", "o", &["-m", "other"]);
    place.mnem(&["revert", "-q", "HEAD~2"]).output();
    place.mnem(&["get", "text"]).says("one\ntwo\nTHREE\n", "");
    place.mnem(&["get", "other"]).says("o", "");
    let row = place.mnem(&["get", "text", "--json"]).output();
    let note = format!("\"note\":\"revert of {} in main\"}}", &commit(&place, "HEAD~3")[..10]);
    assert!(row.contains(&note), "{row}");
}

#[test]
fn several_are_undone_in_order_a_commit_each() {
    let place = counted();
    let (two, three) = (commit(&place, "HEAD~1"), commit(&place, "HEAD"));
    let answer = place.mnem(&["revert", "HEAD", "HEAD~1"]).answer();
    let (first, last) = (commit(&place, "HEAD~1"), commit(&place, "HEAD"));
    let said = format!("{} revert \"3\"\n{} (HEAD -> main) revert \"2\"\n", &first[..10], &last[..10]);
    assert_eq!(answer.stderr, said);
    let made = answer.stdout;
    assert_eq!(made, lines(&[commit(&place, "HEAD~1"), commit(&place, "HEAD")]));
    assert_eq!(message(&place, "HEAD~1"), format!("revert \"3\"\n\nThis reverts commit {three}."));
    assert_eq!(message(&place, "HEAD"), format!("revert \"2\"\n\nThis reverts commit {two}."));
    assert_eq!(content(&place, "n").as_deref(), Some("1"));
    place.mnem(&["reset", "-q", "--hard", &three]).answer();
    assert_eq!(place.mnem(&["revert", "-q", "HEAD~2.."]).output().lines().count(), 2);
    assert_eq!(content(&place, "n").as_deref(), Some("1"));
    // What HEAD has nothing of is passed over, and alone it is no commit.
    let made = place.mnem(&["revert", &three, "HEAD"]).answer();
    assert_eq!(made.status, 3, "{made:?}");
    place.mnem(&["revert", "-q", "--abort"]).output();
    put(&place, "n", "2", &["-m", "two again"]);
    let before = place.files();
    place.mnem(&["revert", &three]).ends(
        1,
        "",
        "mnem: error[nothing-to-commit]: HEAD has nothing of it any more: nothing to commit\nhint: see 'mnem log --oneline'\n",
    );
    assert!(place.files() == before);
    let made = place.mnem(&["revert", &three, "HEAD"]).answer();
    let (id, short) = (commit(&place, "HEAD"), &three[..10]);
    let said = format!("{} (HEAD -> main) revert \"two again\"\nundoing {short} changes nothing\n", &id[..10]);
    assert_eq!((made.stdout, made.stderr), (format!("{id}\n"), said));
}

#[test]
fn a_merge_goes_back_to_the_parent_that_is_named() {
    let place = Place::with_store();
    put(&place, "base", "b", &["-m", "base"]);
    place.mnem(&["switch", "-qc", "side"]).output();
    put(&place, "side", "s", &["-m", "side"]);
    place.mnem(&["switch", "-q", "main"]).output();
    put(&place, "main", "m", &["-m", "main"]);
    place.mnem(&["merge", "-q", "side"]).output();
    let merge = commit(&place, "HEAD");
    let before = place.files();
    for (arguments, said) in [
        (
            &["HEAD"][..],
            format!(
                "usage]: commit {merge} is a merge, and no parent is named\nhint: name one of 1 to 2 with -m; see 'mnem log --graph'"
            ),
        ),
        (
            &["-m", "3", "HEAD"],
            format!("usage]: commit {merge} has no parent 3\nhint: name one of 1 to 2 with -m; see 'mnem log --graph'"),
        ),
        (&["-m", "1", "side"], format!("usage]: commit {} is no merge\nhint: leave -m out", commit(&place, "side"))),
    ] {
        place.mnem(&["revert"]).arguments(arguments).ends(129, "", &format!("mnem: error[{said}\n"));
    }
    assert_eq!(place.mnem(&["revert", "-m", "0", "HEAD"]).answer().status, 129);
    assert!(place.files() == before);
    place.mnem(&["revert", "-q", "-m", "1", "HEAD"]).output();
    place.mnem(&["ls"]).says("base\nmain\n", "");
    place.mnem(&["reset", "-q", "--hard", &merge]).answer();
    place.mnem(&["revert", "-q", "--mainline", "2", "HEAD"]).output();
    place.mnem(&["ls"]).says("base\nside\n", "");
}

#[test]
fn a_conflict_stops_it_and_settled_it_goes_on() {
    let place = counted();
    put(&place, "other", "o", &["-m", "other"]);
    let (two, head) = (commit(&place, "HEAD~2"), commit(&place, "HEAD"));
    let ada = "~2025-12-01T08:00:00.000+00:00 Ada <ada@example.org>";
    let short = |revision: &str| commit(&place, revision)[..10].to_owned();
    let conflict = format!(
        "n: conflict\n  base   \"2\"\n         {} {ada}\n  ours   \"3\"\n         {} {ada}\n  theirs \"1\"\n         {} {ada}\n",
        short("main~2"),
        short("main~1"),
        short("main~3")
    );
    let answer = place.mnem(&["revert", "HEAD", &two, "HEAD~1"]).answer();
    let made = commit(&place, "HEAD");
    let expected = (
        3,
        format!("{made}\n{conflict}"),
        format!(
            "{} (HEAD -> main) revert \"other\"\nmnem: error[conflict]: {}: 1 node conflicts; it is not undone yet\n{STOPPED}",
            &made[..10],
            &two[..10]
        ),
    );
    assert_eq!((answer.status, answer.stdout, answer.stderr), expected);
    let status = place.mnem(&["status"]).output();
    assert!(
        status.contains(&format!("undoing {}: 1 conflict, 1 to settle, 1 commit to come\n", &two[..10])),
        "{status}"
    );
    place.mnem(&["revert", "--continue"]).ends(
        3,
        "",
        "mnem: error[conflict]: 'n': 1 conflict is not settled\n\
         hint: mnem revert --resolve ID=ours|theirs|base|delete, or 'mnem put ID CONTENT'; see 'mnem status'\n",
    );
    place.mnem(&["revert", "-q", "--resolve", "n=theirs"]).output();
    // The next one is about the value that is there no more.
    let answer = place.mnem(&["revert", "--continue"]).answer();
    assert_eq!((answer.status, content(&place, "n").as_deref()), (3, Some("1")), "{answer:?}");
    put(&place, "n", "4", &[]);
    let answer = place.mnem(&["revert", "--continue", "--message", "four"]).answer();
    assert_eq!((answer.status, message(&place, "HEAD").as_str()), (0, "four"), "{answer:?}");
    assert_eq!(place.mnem(&["log", "--ids", &format!("{head}..")]).output().lines().count(), 3);
    place.mnem(&["revert", "--continue"]).ends(
        129,
        "",
        "mnem: error[usage]: no revert is in progress\nhint: see 'mnem status'\n",
    );
}

#[test]
fn settled_on_what_stands_it_is_passed_over() {
    let place = counted();
    let (two, head) = (commit(&place, "HEAD~1"), commit(&place, "HEAD"));
    assert_eq!(place.mnem(&["revert", &two]).answer().status, 3);
    place.mnem(&["revert", "-q", "--resolve", "n=ours"]).output();
    place.mnem(&["revert", "--continue"]).says("", &format!("undoing {} changes nothing\n", &two[..10]));
    assert_eq!(commit(&place, "HEAD"), head);
}

#[test]
fn leaving_it_goes_back_to_where_it_began() {
    let place = counted();
    put(&place, "other", "o", &["-m", "other"]);
    put(&place, "staged", "s", &[]);
    let head = commit(&place, "HEAD");
    let before = [&["status", "--json"][..], &["log", "--json"], &["ls", "--json"]];
    let told = || before.map(|arguments| place.mnem(arguments).output());
    let was = told();
    assert_eq!(place.mnem(&["revert", "HEAD", "HEAD~2"]).answer().status, 3);
    place.mnem(&["revert", "-q", "--resolve", "n=theirs"]).output();
    let (left, two) = (commit(&place, "HEAD"), commit(&place, &format!("{head}~2")));
    let answer = place.mnem(&["revert", "--abort"]).answer();
    let said = format!(
        "left the revert\n1 change is no longer staged\n\
         to undo: mnem merge -q --ff-only {left} && mnem revert {two} || printf '%s\\n' '{{\"id\":\"n\",\"content\":\"1\",\
         \"content_kind\":\"note\",\"provenance\":{{}}}}' | mnem put -q --jsonl -\n"
    );
    assert_eq!((answer.status, answer.stdout, answer.stderr), (0, format!("{head}\n"), said));
    assert!(told() == was);
    // Where another session has committed on top, what was made stays.
    assert_eq!(place.mnem(&["revert", "HEAD", "HEAD~2"]).answer().status, 3);
    place.mnem(&["put", "-qm", "beside", "beside", "1", "--session", "two"]).output();
    let tip = commit(&place, "HEAD");
    let said = format!("left the revert\nto undo: mnem revert {two}\n");
    place.mnem(&["revert", "--abort"]).says(&format!("{tip}\n"), &said);
}

#[test]
fn what_came_from_a_source_is_undone_and_nothing_else() {
    let place = Place::with_store();
    put(&place, "text", "one\n-\ntwo\nthree\n", &["--source", "good"]);
    put(&place, "kept", "k", &["--source", "good", "-m", "kept"]);
    put(&place, "list", "[1,2,3]", &["-t", "json"]);
    place.mnem(&["commit", "-qm", "text"]).output();
    put(&place, "text", "one\n-\nBAD\nthree\n", &["--source", "bad", "--tool-call", "c1"]);
    put(&place, "lie", "yes", &["--source", "bad", "--tool-call", "c2"]);
    put(&place, "list", "[1,2,3,666]", &["-t", "json", "--source", "bad"]);
    put(&place, "good", "g", &["--source", "good"]);
    place.mnem(&["commit", "-qm", "mixed"]).output();
    put(&place, "text", "ONE\n-\nBAD\nthree\n", &["--source", "good"]);
    put(&place, "list", "[0,1,2,3,666]", &["-t", "json", "--source", "good"]);
    place.mnem(&["commit", "-qm", "later"]).output();
    let head = commit(&place, "HEAD");
    let id = place.mnem(&["revert", "-q", "--source", "bad"]).output();
    assert_eq!(id.trim_end(), commit(&place, "HEAD"));
    assert_eq!(message(&place, "HEAD"), "revert what came from source 'bad'");
    place.mnem(&["get", "text"]).says("ONE\n-\ntwo\nthree\n", "");
    place.mnem(&["get", "list"]).says("[0,1,2,3]", "");
    place.mnem(&["ls"]).says("good\nkept\nlist\ntext\n", "");
    // Only from one call, only of some nodes, only of some commits.
    for (arguments, contents) in [
        (&["--tool-call", "c1"][..], [Some("ONE\n-\ntwo\nthree\n"), Some("yes")]),
        (&["--source", "bad", "--tool-call", "c2"], [Some("ONE\n-\nBAD\nthree\n"), None]),
        (&["--source", "bad", "--", "t*"], [Some("ONE\n-\ntwo\nthree\n"), Some("yes")]),
        (&["--source", "bad", "--", "lie"], [Some("ONE\n-\nBAD\nthree\n"), None]),
        (&["HEAD~1", "--source", "bad"], [Some("ONE\n-\ntwo\nthree\n"), None]),
        (&["HEAD~2..", "--source", "bad"], [Some("ONE\n-\ntwo\nthree\n"), None]),
    ] {
        place.mnem(&["reset", "-q", "--hard", &head]).answer();
        place.mnem(&["revert", "-q"]).arguments(arguments).output();
        assert_eq!([content(&place, "text").as_deref(), content(&place, "lie").as_deref()], contents, "{arguments:?}");
    }
    place.mnem(&["reset", "-q", "--hard", &head]).answer();
    let before = place.files();
    for arguments in [
        &["--source", "unknown"][..],
        &["--source", "bad", "--tool-call", "c3"],
        &["--source", "bad", "--", "kept"],
        &["HEAD", "--source", "bad"],
        &["--agent-step", "9"],
        &["--observation", "o"],
    ] {
        place.mnem(&["revert"]).arguments(arguments).ends(
            1,
            "",
            "mnem: error[nothing-to-commit]: nothing in HEAD came from there: nothing to commit\n\
             hint: see 'mnem log --source REF'\n",
        );
    }
    assert!(place.files() == before);
}

#[test]
fn what_nothing_is_left_of_is_no_conflict_and_what_is_left_of_it_is() {
    let place = Place::with_store();
    put(&place, "gone", "lie", &["--source", "bad"]);
    put(&place, "left", "lie\nkept\n", &["--source", "bad"]);
    place.mnem(&["commit", "-qm", "lies"]).output();
    put(&place, "gone", "true", &["--source", "good"]);
    put(&place, "left", "lie\nnew\n", &["--source", "good"]);
    place.mnem(&["commit", "-qm", "better"]).output();
    let answer = place.mnem(&["revert", "--source", "bad"]).answer();
    assert!(answer.status == 3 && answer.stdout.starts_with("left: conflict\n"), "{answer:?}");
    assert!(
        answer.stderr.starts_with("mnem: error[conflict]: 1 node conflicts; nothing is changed yet\n"),
        "{answer:?}"
    );
    let status = place.mnem(&["status"]).output();
    assert!(status.contains("undoing what came from source 'bad': 1 conflict, 1 to settle\n"), "{status}");
    put(&place, "left", "new\n", &[]);
    place.mnem(&["revert", "-q", "--continue"]).output();
    assert_eq!([content(&place, "gone"), content(&place, "left")], [Some("true".into()), Some("new\n".into())]);
    // A node that was removed since has nothing to undo; settled on what stands there is nothing to commit.
    put(&place, "left", "lie\n", &["--source", "bad", "-m", "again"]);
    put(&place, "left", "lie\nmore\n", &["--source", "good", "-m", "more"]);
    assert_eq!(place.mnem(&["revert", "--source", "bad"]).answer().status, 3);
    place.mnem(&["revert", "-q", "--resolve", "left=ours"]).output();
    place.mnem(&["revert", "--continue"]).ends(
        1,
        "",
        "mnem: error[nothing-to-commit]: nothing to commit\n\
         hint: as it is settled nothing changes; leave it with 'mnem revert --abort'\n",
    );
    place.mnem(&["revert", "-q", "--abort"]).output();
    place.mnem(&["rm", "-qm", "without", "left"]).output();
    assert_eq!(place.mnem(&["revert", "--source", "bad"]).answer().status, 1);
}

#[test]
fn what_was_replaced_before_the_source_wrote_again_is_not_asked_for() {
    for (format, contents, left) in [
        ("text", ["bad1", "good", "bad2"], "good"),
        ("json", [r#"{"a":2,"b":1}"#, r#"{"a":3,"b":1}"#, r#"{"a":3,"b":9}"#], r#"{"a":3,"b":1}"#),
    ] {
        let place = Place::with_store();
        if format == "json" {
            put(&place, "p", r#"{"a":1,"b":1}"#, &["-t", format, "-m", "first"]);
        }
        for (content, source) in contents.iter().zip(["bad", "g", "bad"]) {
            put(&place, "p", content, &["-t", format, "--source", source, "-m", content]);
        }
        place.mnem(&["revert", "-q", "--source", "bad"]).output();
        place.mnem(&["get", "p"]).says(left, "");
    }
}

#[test]
fn what_is_staged_stays_and_for_a_node_that_it_is_about_speaks_against_it() {
    let place = counted();
    put(&place, "beside", "1", &[]);
    place.mnem(&["revert", "-q", "HEAD"]).output();
    place.mnem(&["diff", "--name-status"]).says("A beside\n", "");
    put(&place, "n", "mine", &[]);
    let before = place.files();
    place.mnem(&["revert", "HEAD"]).ends(
        1,
        "",
        "mnem: error[would-overwrite]: 'n': 1 node was staged, and otherwise changed there\n\
         hint: nothing was done; commit them with 'mnem commit -m MESSAGE', or take them back with 'mnem restore ID'\n",
    );
    assert!(place.files() == before);
}

#[test]
fn wrong_calls_are_told_and_change_nothing() {
    let place = counted();
    let before = place.files();
    for (arguments, status, said) in [
        (
            &["HEAD.."][..],
            1,
            "nothing-to-commit]: no commit is chosen\nhint: see what a range chooses with 'mnem log --oneline A..B'",
        ),
        (&[], 129, "usage]: no commit is named\nhint: mnem revert REV, or mnem revert --source REF"),
        (&["nowhere"], 128, "bad-revision]: unknown revision 'nowhere'\nhint: see 'mnem log --oneline'"),
        (
            &["HEAD", "--", "n"],
            129,
            "usage]: a commit is undone as a whole; patterns go with --source and the like\n\
             hint: to bring back single nodes as they were: mnem restore -s REV ID",
        ),
        (
            &["HEAD", "HEAD~1", "--message", "x"],
            129,
            "usage]: one message can't be that of several commits\nhint: mnem revert --message TEXT REV",
        ),
        (
            &["HEAD", "--message", ""],
            129,
            "usage]: the message may not be blank\nhint: say what changed: -m 'learn preferences'",
        ),
        (&["--continue"], 129, "usage]: no revert is in progress\nhint: see 'mnem status'"),
        (&["--abort"], 129, "usage]: no revert is in progress\nhint: see 'mnem status'"),
        (&["--resolve", "n=ours"], 129, "usage]: no revert is in progress\nhint: see 'mnem status'"),
    ] {
        place.mnem(&["revert"]).arguments(arguments).ends(status, "", &format!("mnem: error[{said}\n"));
    }
    for arguments in [&["HEAD", "--abort"][..], &["-m", "1", "--source", "s"], &["--continue", "--abort"]] {
        assert_eq!(place.mnem(&["revert"]).arguments(arguments).answer().status, 129, "{arguments:?}");
    }
    assert!(place.files() == before);
    let empty = Place::with_store();
    empty.mnem(&["revert", "HEAD"]).ends(
        128,
        "",
        "mnem: error[bad-revision]: no commit yet on 'main'\n\
         hint: make one with 'mnem put ID CONTENT' and 'mnem commit -m MESSAGE'\n",
    );
    empty.mnem(&["revert", "--source", "s"]).ends(
        128,
        "",
        "mnem: error[bad-revision]: no commit yet on 'main'\n\
         hint: make one with 'mnem put ID CONTENT' and 'mnem commit -m MESSAGE'\n",
    );
}
