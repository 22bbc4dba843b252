//! Id patterns, the same in every command that takes them.

use super::support::{Place, json, lines};

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

/// The arguments of a pattern, and the ids that it chooses, in the order of [`IDS`].
const CHOSEN: [(&[&str], &[&str]); 26] = [
    (&["--", "user"], &["user"]),
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
];

#[test]
fn a_pattern_chooses_the_commits_that_changed_such_an_id() {
    let place = commits();
    for (arguments, expected) in CHOSEN {
        let log = place.mnem(&["log", "--json", "--reverse"]).arguments(arguments).output();
        let row = |line: &str| serde_json::from_str::<serde_json::Value>(line).expect("JSON");
        let found: Vec<_> = log.lines().map(|line| row(line)["message"].as_str().expect("text").to_owned()).collect();
        assert_eq!(found, expected, "{arguments:?}");
    }
}

/// The ids of `expected` in the order of their bytes, one a line.
fn sorted(expected: &[&str]) -> String {
    let mut ids = expected.to_vec();
    ids.sort_unstable();
    lines(&ids)
}

#[test]
fn the_same_pattern_chooses_the_same_ids_in_every_command() {
    let stored = commits();
    let staged = Place::with_store();
    let rows: String = IDS.iter().map(|id| format!("{{\"id\":{},\"content\":\"v\"}}\n", json(id))).collect();
    staged.mnem(&["put", "--jsonl", "-q"]).input(rows).output();
    for (arguments, expected) in CHOSEN {
        let chosen = sorted(expected);
        for place in [&stored, &staged] {
            place.mnem(&["ls", "-q"]).arguments(arguments).says(&chosen, "");
            let status = i32::from(expected.is_empty());
            place.mnem(&["grep", "-l", "v"]).arguments(arguments).ends(status, &chosen, "");
            let rows = place.mnem(&["export"]).arguments(arguments).output();
            let row = |line: &str| serde_json::from_str::<serde_json::Value>(line).expect("JSON");
            let ids: Vec<_> = rows.lines().map(|line| row(line)["id"].as_str().expect("text").to_owned()).collect();
            assert_eq!(lines(&ids), chosen, "{arguments:?}");
        }
        // A pattern behind --only ends where an option begins.
        let (literal, patterns) = arguments.split_at(arguments.iter().position(|word| *word == "--").expect("it is"));
        for pattern in patterns[1..].iter().filter(|_| patterns.len() == 2) {
            let only = format!("--only={pattern}");
            let planned = staged.mnem(&["commit", "--dry-run", "-q", &only]).arguments(literal).answer();
            let ids: Vec<_> = planned.stdout.lines().map(|line| &line[2..]).collect();
            assert_eq!(lines(&ids), chosen, "--only {pattern}");
            if literal.is_empty() {
                stored.mnem(&["rm", "--if-exists", "--glob", pattern, "-q"]).says(&chosen, "");
                if !expected.is_empty() {
                    stored.mnem(&["restore", "-q", "--", pattern]).says(&chosen, "");
                }
            } else if !expected.is_empty() {
                stored.mnem(&["restore", "-s", "HEAD"]).arguments(arguments).says("", "");
            }
        }
    }
    stored.mnem(&["restore", "**", "-s", "HEAD"]).says("", "");
}
