//! The lines that commands print to take back what they did: typed into a shell, they leave all as it was.

use super::support::{FIRST, Place, SECOND, THIRD};

/// What a text may hold that a shell or a terminal takes for something else.
const NASTY: &str = "it's 5%:\n\t$HOME `x` \\n \u{202e}\"";

/// Branches with commits of their own, tags, a second session, and one change staged of each kind.
fn place() -> Place {
    let place = Place::with_story();
    place.mnem(&["switch", "-qc", "side", SECOND]).output();
    place.mnem(&["put", "side", "1", "-qm", "aside"]).output();
    place.mnem(&["switch", "-q", "main"]).output();
    place.mnem(&["branch", "-q", "it's", FIRST]).output();
    place.mnem(&["tag", "-q", "v1", "HEAD~1", "-m", NASTY]).env("MNEM_DATE", "2024-02-29T23:59:59.123+05:30").output();
    place.mnem(&["tag", "-q", "plain"]).env("MNEM_DATE", "@1").output();
    place.mnem(&["switch", "-qc", "others", "--session", "other"]).output();
    place.mnem(&["put", "o", "1", "-qm", "by the other", "--session", "other"]).output();
    place.mnem(&["put", "-q", "o", "2", "--session", "other"]).output();
    let told = ["--note", NASTY, "--event-time", "2025-12-01T09:30:00.50+01:00"];
    place.mnem(&["put", "-q", "k", NASTY]).arguments(told).output();
    place.mnem(&["put", "-q", "plan/dinner", "-t", "json", "{\"at\" : 1.10,\n\"b\":\"\\ud800\"}"]).output();
    place.mnem(&["rm", "-q", "user/diet"]).output();
    place
}

/// All that can be seen, by either session.
fn seen(place: &Place) -> Vec<String> {
    let mut seen = Vec::new();
    for session in ["default", "other"] {
        for command in [
            &["log", "--json"][..],
            &["log", "--json", "--all"],
            &["ls", "-l", "--json"],
            &["export"],
            &["branch", "--json"],
            &["tag", "--json"],
            &["status", "--json"],
        ] {
            seen.push(place.mnem(command).arguments(["--session", session]).output());
        }
    }
    seen
}

#[test]
fn every_line_that_takes_something_back_leaves_all_as_it_was() {
    let commands: &[&[&str]] = &[
        &["branch", "-d", "it's"],
        &["branch", "-D", "side", "it's"],
        &["branch", "-D", "@{-1}"],
        &["branch", "-f", "it's"],
        &["branch", "-f", "@{-1}", FIRST],
        &["branch", "-m", "side", "it's/x"],
        &["branch", "-m", "own"],
        &["branch", "-M", "side", "it's"],
        &["branch", "-m", "-f", "it's"],
        &["tag", "-d", "v1"],
        &["tag", "-d", "plain", "v1"],
        &["tag", "-f", "v1"],
        &["tag", "--force", "v1", SECOND, "-m", "other"],
        &["tag", "-f", "plain", FIRST, "-m", "x"],
        &["switch", "--force-create", "it's"],
        &["switch", "--force-create", "main", SECOND],
        &["reset", "HEAD~1"],
        &["reset", "--soft", FIRST],
        &["reset", "--hard", "HEAD~2"],
        &["reset", "--hard"],
        &["reset", "--hard", "HEAD~1", "--session", "other"],
        &["commit", "--amend"],
        &["commit", "--amend", "-m", "anew", "--author", "Eve"],
        &["commit", "--amend", "--only", "k"],
        &["commit", "--amend", "-m", "x", "--session", "other"],
        &["restore", "**"],
        &["restore", "k", "user/diet"],
        &["restore", "user/diet", "plan/dinner", "-s", FIRST],
        &["restore", "o", "--session", "other"],
    ];
    let place = place();
    let before = seen(&place);
    for command in commands {
        let done = place.mnem(command).answer();
        assert_eq!(done.status, 0, "{command:?}: {done:?}");
        assert!(seen(&place) != before, "{command:?} did nothing");
        let undone = place.undo(&done).answer();
        assert_eq!(undone.status, 0, "{command:?}: {done:?}{undone:?}");
        for (found, expected) in seen(&place).iter().zip(&before) {
            assert_eq!(found, expected, "{command:?}: {done:?}{undone:?}");
        }
    }
}

#[test]
fn what_is_too_long_for_a_line_is_said_to_be_lost() {
    let place = Place::with_story();
    let lost = "1 change is no longer staged, which cannot be undone\n";
    place.mnem(&["put", "-q", "k", &"x".repeat(4096)]).output();
    place.mnem(&["restore", "k"]).says("k\n", lost);
    place.mnem(&["put", "-q", "k", &"x".repeat(4096)]).output();
    let here = format!("HEAD is now at {} (HEAD -> main) forget the allergies\n{lost}", &THIRD[..10]);
    place.mnem(&["reset", "--hard"]).says(&format!("{THIRD}\n"), &here);
    place.mnem(&["put", "-q", "k", &"x".repeat(2000)]).output();
    let restored = place.mnem(&["restore", "k"]).answer();
    assert_eq!(place.undo(&restored).output(), "k\n");
}

#[test]
fn what_was_in_progress_and_is_left_begins_again_as_it_was_settled() {
    let put = |place: &Place, id: &str, content: &str, more: &[&str]| {
        place.mnem(&["put", "-q", "-m", content, id, content]).arguments(more).output();
    };
    let begun: &[(&str, &[&str], &[&str])] = &[
        ("merge", &["it's"], &["one=theirs", "two=ours", "three=delete"]),
        ("merge", &["it's", "-m", NASTY], &["one=base"]),
        ("revert", &["HEAD", "HEAD~4", "HEAD~5"], &["three=theirs"]),
        ("revert", &["HEAD~5", "--message", "it's"], &["two=ours"]),
        ("revert", &["--source", "it's", "--", "t*"], &["two=delete"]),
        ("revert", &["--source", "it's"], &[]),
    ];
    for (verb, arguments, choices) in begun {
        let place = Place::with_store();
        for id in ["one", "two", "three"] {
            put(&place, id, "base\nkept", &[]);
        }
        place.mnem(&["switch", "-qc", "it's"]).output();
        for id in ["one", "two", "three"] {
            put(&place, id, "theirs", &[]);
        }
        place.mnem(&["switch", "-q", "main"]).output();
        for id in ["one", "two", "three"] {
            put(&place, id, "ours\nkept", &["--source", "it's"]);
        }
        for id in ["one", "two", "three"] {
            put(&place, id, "ours\nnew", &[]);
        }
        put(&place, "last", "l", &[]);
        place.mnem(&["put", "-q", "staged", "s"]).output();
        let stopped = place.mnem(&[verb]).arguments(*arguments).answer();
        assert_eq!(stopped.status, 3, "{verb} {arguments:?}: {stopped:?}");
        for choice in *choices {
            place.mnem(&[verb, "-q", "--resolve", choice]).output();
        }
        let before = seen(&place);
        let done = place.mnem(&[verb, "--abort"]).answer();
        assert!(done.status == 0 && seen(&place) != before, "{done:?}");
        let undone = place.undo(&done).answer();
        for (found, expected) in seen(&place).iter().zip(&before) {
            assert_eq!(found, expected, "{verb} {arguments:?}: {done:?}{undone:?}");
        }
    }
}

#[test]
fn what_was_not_staged_needs_no_line() {
    let place = Place::with_story();
    place.mnem(&["restore", "user/diet", "-s", FIRST]).says("user/diet\n", "");
    place.mnem(&["restore", "user/diet", "-s", SECOND]).says(
        "user/diet\n",
        &format!(
            "1 change is no longer staged\nto undo: printf '%s\\n' '{}' | mnem put -q --jsonl -\n",
            "{\"id\":\"user/diet\",\"content\":\"vegan since 2019\",\"content_kind\":\"note\",\
             \"provenance\":{\"agent_step\":\"1\",\"observation\":\"chat/1\"}}"
        ),
    );
}
