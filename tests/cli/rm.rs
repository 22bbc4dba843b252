//! `mnem rm`

use super::support::{Place, staged_row};

const NONE: &str = "hint: see 'mnem ls'\n";

/// What is staged, as `commit --dry-run` lists it.
#[track_caller]
fn stages(place: &Place, lines: &str) {
    assert_eq!(place.mnem(&["commit", "--dry-run", "-q"]).answer().stdout, lines);
}

#[test]
fn it_stages_removals_and_prints_the_ids_in_their_order() {
    let place = Place::with_story();
    place.mnem(&["rm", "user/diet", "plan/dinner", "user/diet"]).says("plan/dinner\nuser/diet\n", "");
    stages(&place, "D plan/dinner\nD user/diet\n");
    place.mnem(&["get", "user/diet", "-r", "HEAD"]).says("loves steak", "");
    place.mnem(&["get", "user/diet"]).refuses(1, &format!("mnem: error[no-node]: no node 'user/diet'\n{NONE}"));
}

#[test]
fn as_json_it_is_what_is_staged_and_with_a_message_the_commit_too() {
    let place = Place::with_story();
    let row = |id| staged_row(id, None, "removed");
    place.mnem(&["rm", "--json", "user/diet"]).says(&row("user/diet"), "");
    let said = place.mnem(&["rm", "--json", "plan/dinner", "-m", "no dinner", "-m", "- at all"]).output();
    let commit = place.mnem(&["log", "--ids", "-n1"]).output();
    let committed = row("plan/dinner").replace("}\n", &format!(",\"commit\":\"{}\"}}\n", commit.trim_end()));
    assert_eq!(said, committed);
    let log = place.mnem(&["log", "-n1"]).output();
    assert!(log.ends_with("\n    no dinner\n\n    - at all\n"), "{log}");
    // Only this was committed.
    stages(&place, "D user/diet\n");
}

#[test]
fn one_id_that_is_absent_refuses_all() {
    let place = Place::with_story();
    let absent = format!("mnem: error[no-node]: no node 'a', 'b'\n{NONE}");
    place.mnem(&["rm", "b", "user/diet", "a"]).refuses(1, &absent);
    place.mnem(&["rm", "b", "user/diet", "a", "-m", "m"]).refuses(1, &absent);
    // A pattern is no id.
    place.mnem(&["rm", "user/"]).refuses(1, &format!("mnem: error[no-node]: no node 'user/'\n{NONE}"));
    place.mnem(&["rm", "user/diet"]).output();
    place.mnem(&["rm", "user/diet"]).refuses(1, &format!("mnem: error[no-node]: no node 'user/diet'\n{NONE}"));
}

#[test]
fn absent_ids_are_passed_over_where_that_is_asked_for() {
    let place = Place::with_story();
    place.mnem(&["rm", "--if-exists", "a", "user/diet", "b"]).says("user/diet\n", "");
    stages(&place, "D user/diet\n");
    let before = place.files();
    place.mnem(&["rm", "--if-exists", "a", "user/diet"]).says("", "nothing to remove\n");
    place.mnem(&["rm", "--if-exists", "--glob", "a/*", "-m", "m"]).says("", "nothing to remove\n");
    place.mnem(&["rm", "--if-exists", "a", "--json", "-q"]).says("", "");
    assert!(place.files() == before);
}

#[test]
fn with_glob_all_that_match_are_removed_staged_ones_too() {
    let place = Place::with_story();
    place.mnem(&["put", "user/new", "v"]).output();
    place.mnem(&["rm", "--glob", "user/*"]).says("user/diet\nuser/new\n", "");
    stages(&place, "D user/diet\n");
    let none = format!("mnem: error[no-node]: no node matches 'user/*'\n{NONE}");
    place.mnem(&["rm", "--glob", "user/*"]).refuses(1, &none);
}

#[test]
fn with_literal_a_pattern_is_an_id_whatever_it_holds() {
    let place = Place::with_story();
    place.mnem(&["put", "user/*", "v"]).output();
    place.mnem(&["rm", "--literal", "--glob", "user/*"]).says("user/*\n", "");
    place.mnem(&["get", "user/diet"]).says("loves steak", "");
    let none = format!("mnem: error[no-node]: no node matches 'user/*'\n{NONE}");
    place.mnem(&["rm", "--literal", "--glob", "user/*"]).refuses(1, &none);
    place.mnem(&["rm", "--literal", "--glob", "user/"]).says("user/diet\n", "");
    // An id is taken as it is anyway.
    place.mnem(&["rm", "--literal", "plan/dinner"]).refuses(
        129,
        "mnem: error[usage]: the argument '--literal' cannot be used with '[ID]...'\nhint: see 'mnem rm --help'\n",
    );
    place.mnem(&["rm", "--literal"]).refuses(
        129,
        "mnem: error[usage]: the following required arguments were not provided: --glob <PATTERN> <ID>...\n\
         hint: see 'mnem rm --help'\n",
    );
}

#[test]
fn what_was_only_staged_is_staged_no_more() {
    let place = Place::with_story();
    for message in [&[][..], &["-m", "m"]] {
        place.mnem(&["put", "k", "v"]).output();
        place.mnem(&["rm", "k"]).arguments(message).says("k\n", "");
        stages(&place, "");
    }
    assert_eq!(place.mnem(&["log", "--ids"]).output().lines().count(), 3);
}

#[test]
fn a_wrong_call_is_refused() {
    let place = Place::with_story();
    let help = "hint: see 'mnem rm --help'\n";
    for (arguments, status, said) in [
        (&["rm"][..], 129, format!("usage]: the following required arguments were not provided: <ID>...\n{help}")),
        (
            &["rm", "k", "--glob", "*"],
            129,
            format!("usage]: the argument '[ID]...' cannot be used with '--glob <PATTERN>'\n{help}"),
        ),
        (
            &["rm", "user/diet", "-m", " "],
            129,
            "usage]: the message may not be blank\nhint: say what changed: -m 'learn preferences'\n".to_owned(),
        ),
        (
            &["rm", "--glob", "[b-a]"],
            129,
            "bad-pattern]: '[b-a]': range 'b-a' is upside down in pattern '[b-a]'\n\
             hint: such as 'user/' or 'user/*'; '--literal' takes * ? [ as they are\n"
                .to_owned(),
        ),
    ] {
        place.mnem(arguments).refuses(status, &format!("mnem: error[{said}"));
    }
    place.mnem(&["rm", "user/diet"]).env("MNEM_REV", "HEAD").refuses(
        129,
        "mnem: error[read-only-rev]: MNEM_REV is set to 'HEAD', so nothing is written\n\
         hint: to write, run it without: env -u MNEM_REV mnem …\n",
    );
}
