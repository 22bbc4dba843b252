//! Revisions, as `mnem log` and `mnem get` take them.

use super::support::{FIRST, Place, SECOND, THIRD};

/// The commit of the text `v` as `k` with the message `c`.
const COMMIT: &str = "1fc25b7c2d76b6086ed5c9c5cb566386140edc96776e5af70c220fa6e5af3230";

#[test]
fn each_form_names_its_commit() {
    let place = Place::with_story();
    let upper = SECOND.to_uppercase();
    for (revision, expected) in [
        ("HEAD", THIRD),
        ("@", THIRD),
        ("main", THIRD),
        ("refs/heads/main", THIRD),
        (SECOND, SECOND),
        (&upper, SECOND),
        (&SECOND[..63], SECOND),
        (&SECOND[..4], SECOND),
        (&upper[..5], SECOND),
        ("HEAD~", SECOND),
        ("HEAD~0", THIRD),
        ("HEAD~2", FIRST),
        ("HEAD^", SECOND),
        ("HEAD^0", THIRD),
        ("HEAD^1", SECOND),
        ("HEAD^^", FIRST),
        ("@~~", FIRST),
        ("main~1^1", FIRST),
        ("main~1^0~0", SECOND),
        (&format!("{}^", &THIRD[..8]), SECOND),
        (&format!("{THIRD}~2"), FIRST),
    ] {
        place.mnem(&["log", "--ids", "-n1", revision]).says(&format!("{expected}\n"), "");
        place.mnem(&["log", "--ids", "-n1", "-r", revision]).says(&format!("{expected}\n"), "");
        let content = if expected == FIRST { "vegan since 2019" } else { "loves steak" };
        place.mnem(&["get", "user/diet", "-r", revision]).says(content, "");
    }
}

#[test]
fn a_branch_wins_over_a_prefix_with_a_warning() {
    let place = Place::empty();
    let prefix = &COMMIT[..6];
    place.mnem(&["init", "-b", prefix]).output();
    place.mnem(&["put", "k", "v", "-m", "c"]).says("k\n", "");
    place.mnem(&["put", "k", "w", "-m", "c"]).says("k\n", "");
    let warning =
        format!("warning: '{prefix}' is a branch and also the prefix of a commit's id; the branch was taken\n");
    place.mnem(&["get", "k", "-r", prefix]).says("w", &warning);
    place.mnem(&["log", "-n0", prefix]).says("", &warning);
    place.mnem(&["get", "k", "-qr", prefix]).says("w", "");
    place.mnem(&["get", "k", "-r", &COMMIT[..7]]).says("v", "");
    let colored = warning.replace("warning:", "\u{1b}[33mwarning:\u{1b}[0m");
    place.mnem(&["get", "k", "-r", prefix, "--color", "always"]).says("w", &colored);
}

#[test]
fn an_ambiguous_prefix_is_refused_with_its_candidates() {
    let place = Place::with_store();
    place.mnem(&["put", "k", "v", "-m", "c"]).says("k\n", "");
    place
        .mnem(&["put", "k", "w", "-m", "a message with a bell \u{7} that was chosen for its commit: 112712"])
        .says("k\n", "");
    let mut ids: Vec<_> = place.mnem(&["log", "--ids"]).output().lines().map(str::to_owned).collect();
    assert_eq!(ids.pop().as_deref(), Some(COMMIT));
    let candidates = format!(
        "hint: {COMMIT} c\n\
         hint: 1fc2cb39ad20f805a62cfd41c9451d864cb173a381f401b7646e890967c76f55 a message with a bell ^G that was \
         chosen for its commit: 112712\n"
    );
    for revision in [&COMMIT[..4], &COMMIT[..4].to_uppercase(), &format!("{}~1", &COMMIT[..4])] {
        let prefix = &revision[..4];
        let said = format!("mnem: error[ambiguous-revision]: the prefix '{prefix}' is ambiguous\n{candidates}");
        for command in [&["log", revision][..], &["get", "k", "-r", revision]] {
            place.mnem(command).refuses(128, &said);
        }
    }
    place.mnem(&["get", "k", "-r", &COMMIT[..5]]).says("v", "");
}
