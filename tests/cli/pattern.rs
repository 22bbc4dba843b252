//! Id patterns, as `mnem log` takes them.

use super::support::Place;

const IDS: [&str; 14] = [
    "user", "user/", "user/a", "user/b", "user/a/x", "users", "u*", "u[s]er", "\\u", "é/1", "e/1", "..", "a b", "{a,b}",
];

/// A store with a commit for each id, the id as its message.
fn commits() -> Place {
    let place = Place::with_store();
    for id in IDS {
        place.mnem(&["put", id, "v", "-qm", id]).says(&format!("{id}\n"), "");
    }
    place
}

#[test]
fn a_pattern_chooses_the_commits_that_changed_such_an_id() {
    let place = commits();
    for (arguments, expected) in [
        (&["--", "user"][..], &["user"][..]),
        (&["--", "use"], &[]),
        (&["--", "é/1"], &["é/1"]),
        (&["--", "user/"], &["user/", "user/a", "user/b", "user/a/x"]),
        (&["--", "user/a/"], &["user/a/x"]),
        (&["--", "user/*"], &["user/", "user/a", "user/b"]),
        (&["--", "user/**"], &["user/", "user/a", "user/b", "user/a/x"]),
        (&["--", "**/x"], &["user/a/x"]),
        (&["--", "user/**/x"], &["user/a/x"]),
        (&["--", "user?"], &["users"]),
        (&["--", "?/1"], &["é/1", "e/1"]),
        (&["--", "user/[ab]"], &["user/a", "user/b"]),
        (&["--", "user/[!a]"], &["user/b"]),
        (&["--", "user/[b-z]*"], &["user/b"]),
        (&["--", "u[*]"], &["u*"]),
        (&["--", "u\\*?"], &[]),
        (&["--", "u\\*"], &["u*"]),
        (&["--", "*"], &["user", "users", "u*", "u[s]er", "\\u", "..", "a b", "{a,b}"]),
        (&["--", "{a,b}"], &["{a,b}"]),
        (&["--", "\\u"], &["\\u"]),
        (&["--", "..", "user/b", "none"], &["user/b", ".."]),
        (&["--literal", "--", "u*"], &["u*"]),
        (&["--literal", "--", "u[s]er"], &["u[s]er"]),
        (&["--literal", "--", "user/"], &["user/", "user/a", "user/b", "user/a/x"]),
        (&["--literal", "--", "*"], &[]),
        (&["--", "u[s]er"], &["user"]),
    ] {
        let log = place.mnem(&["log", "--json", "--reverse"]).arguments(arguments).output();
        let row = |line: &str| serde_json::from_str::<serde_json::Value>(line).expect("JSON");
        let found: Vec<_> = log.lines().map(|line| row(line)["message"].as_str().expect("text").to_owned()).collect();
        assert_eq!(found, expected, "{arguments:?}");
    }
}
