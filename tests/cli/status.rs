//! `mnem status`, and sessions as it shows them.

use super::oracle::Node;
use super::support::{Place, THIRD, json, staged_row};

const STAGE: &str = "nothing to commit; stage a change with 'mnem put ID CONTENT'\n";
const COMMIT: &str = "commit with 'mnem commit -m MESSAGE', or take back with 'mnem restore ID'\n";
const SETTLE: &str =
    "take the branch's version with 'mnem restore ID', or yours with 'mnem commit --overwrite -m MESSAGE'\n";

/// Two sessions that both changed a node and each staged one alone; `a` has committed.
fn conflict() -> (Place, String) {
    let place = Place::with_story();
    for session in ["a", "b"] {
        place.mnem(&["put", "user/diet", session, "--session", session]).output();
        place.mnem(&["put", session, "alone", "--session", session]).output();
    }
    let commit = place.mnem(&["commit", "-qm", "by a", "--session", "a"]).output();
    (place, commit.trim_end().to_owned())
}

#[test]
fn before_the_first_commit_it_says_so() {
    let place = Place::with_store();
    place.mnem(&["status"]).says(&format!("session default on branch main, no commit yet\n{STAGE}"), "");
    place.mnem(&["put", "k", "v"]).output();
    let staged = format!("staged changes:\n  added     k\n{COMMIT}");
    place.mnem(&["status"]).says(&format!("session default on branch main, no commit yet\n{staged}"), "");
}

#[test]
fn it_tells_what_is_staged_and_the_other_sessions() {
    let place = Place::with_story();
    place.mnem(&["put", "a\u{202e}", "v"]).output();
    place.mnem(&["put", "user/diet", "vegan"]).output();
    place.mnem(&["rm", "plan/dinner"]).output();
    place.mnem(&["put", "k", "v", "--session", "two"]).output();
    place.mnem(&["put", "k", "v", "--session", "one", "-m", "k"]).output();
    let head = place.mnem(&["log", "--ids", "-n1"]).output();
    let head = head.trim_end();
    let short = &head[..10];
    place.mnem(&["status"]).says(
        &format!(
            "session default on branch main at {short}\n\
             staged changes:\n  added     a\\u{{202e}}\n  removed   plan/dinner\n  modified  user/diet\n\
             other sessions:\n  one on branch main at {short}, 0 staged changes\n  \
             two on branch main at {short}, 0 staged changes\n{COMMIT}"
        ),
        "",
    );
    place.mnem(&["put", "k", "w", "--session", "two"]).output();
    let shown = place.mnem(&["status", "--session", "one"]).output();
    let others = format!(
        "other sessions:\n  default on branch main at {short}, 3 staged changes\n  \
         two on branch main at {short}, 1 staged change\n"
    );
    assert_eq!(shown, format!("session one on branch main at {short}\n{others}{STAGE}"));
    let row = |name: &str, staged| {
        format!(
            "{{\"session\":\"{name}\",\"branch\":\"main\",\"head\":\"{head}\",\"staged\":{staged},\"in_progress\":null}}"
        )
    };
    let rows = [
        staged_row("a\u{202e}", Some(&Node::new("a\u{202e}", "\"v\"").hash()), "added"),
        staged_row("plan/dinner", None, "removed"),
        staged_row("user/diet", Some(&Node::new("user/diet", "\"vegan\"").hash()), "modified"),
    ];
    place.mnem(&["status", "--json"]).says(
        &format!(
            "{{\"v\":1,\"type\":\"status\",\"session\":\"default\",\"branch\":\"main\",\"head\":\"{head}\",\
             \"staged\":[{}],\"conflicts\":[],\"in_progress\":null,\"sessions\":[{},{}],\"damaged\":[]}}\n",
            rows.map(|row| row.trim_end().to_owned()).join(","),
            row("one", 0),
            row("two", 1),
        ),
        "",
    );
}

#[test]
fn a_session_that_never_wrote_stands_where_default_does() {
    let place = Place::with_story();
    let short = &THIRD[..10];
    place.mnem(&["status", "--session", "new"]).says(
        &format!(
            "session new on branch main at {short}\n\
             other sessions:\n  default on branch main at {short}, 0 staged changes\n{STAGE}"
        ),
        "",
    );
    let before = place.files();
    place.mnem(&["status", "--session", "new", "-q", "-z"]).output();
    assert!(place.files() == before, "looking makes no session");
}

#[test]
fn a_node_that_the_branch_changed_too_is_marked() {
    let (place, head) = conflict();
    let short = &head[..10];
    place.mnem(&["status", "--session", "b"]).says(
        &format!(
            "session b on branch main at {short}\n\
             staged changes:\n  added     b\n  modified  user/diet  (changed on the branch too)\n\
             other sessions:\n  a on branch main at {short}, 0 staged changes\n  \
             default on branch main at {short}, 0 staged changes\n{SETTLE}"
        ),
        "",
    );
    let row = place.mnem(&["status", "--json", "--session", "b"]).output();
    assert!(row.contains(&format!(",\"conflicts\":[{}],", json("user/diet"))), "{row}");
}

#[test]
fn a_conflict_is_settled_by_restore_which_takes_the_branch_s_version() {
    let (place, _) = conflict();
    place.mnem(&["commit", "-m", "by b", "--session", "b"]).refuses(
        3,
        "mnem: error[conflict]: 'user/diet': 1 node was changed both here and on the branch\n\
         hint: all stays staged; take the branch's version with 'mnem restore ID', or yours with 'mnem commit \
         --overwrite -m MESSAGE'\n",
    );
    place.mnem(&["restore", "-q", "user/diet", "--session", "b"]).says("user/diet\n", "");
    place.mnem(&["commit", "--dry-run", "-q", "--session", "b"]).says("A b\n", "");
    // Put again it is a change of what the branch has.
    place.mnem(&["put", "user/diet", "both", "--session", "b"]).says("user/diet\n", "");
    place.mnem(&["commit", "-qm", "by b", "--session", "b"]).output();
    place.mnem(&["get", "user/diet"]).says("both", "");
    place.mnem(&["get", "b"]).says("alone", "");
    place.mnem(&["get", "user/diet", "-r", "HEAD~1"]).says("a", "");
}

#[test]
fn a_conflict_is_settled_by_overwrite_which_takes_the_staged_version() {
    let (place, _) = conflict();
    let staged = "A b\nM user/diet\n";
    place.mnem(&["commit", "--dry-run", "--overwrite", "-q", "--session", "b"]).says(staged, "");
    // The rest can be committed meanwhile, and what conflicts is kept.
    place.mnem(&["commit", "--only", "b", "-qm", "only b", "--session", "b"]).output();
    place.mnem(&["get", "user/diet", "--session", "b"]).says("b", "");
    let refused = place.mnem(&["commit", "-qm", "by b", "--session", "b"]).answer();
    assert_eq!(refused.status, 3, "{refused:?}");
    place.mnem(&["commit", "--overwrite", "-qm", "by b", "--session", "b"]).output();
    place.mnem(&["get", "user/diet"]).says("b", "");
    place.mnem(&["get", "user/diet", "-r", "HEAD~2"]).says("a", "");
    place.mnem(&["commit", "--dry-run", "--overwrite", "--session", "b"]).refuses(
        1,
        "mnem: error[nothing-to-commit]: nothing to commit\n\
         hint: stage a change with 'mnem put', or commit as it is with '--allow-empty'\n",
    );
}

#[test]
fn a_session_whose_log_is_damaged_is_told_and_keeps_nobody_else_from_going_on() {
    let place = Place::with_story();
    let short = &THIRD[..10];
    place.directory(".mnemosyne/staged/folder");
    std::os::unix::fs::symlink("nowhere", place.path(".mnemosyne/staged/link")).expect("a link");
    place.mnem(&["put", "k", "v", "--session", "torn"]).output();
    place.mnem(&["put", "l", "v", "--session", "torn"]).output();
    let log = place.path(".mnemosyne/staged/torn");
    let mut bytes = std::fs::read(&log).expect("a log");
    bytes[20] ^= 1;
    std::fs::write(&log, &bytes).expect("a log");
    let damage = |what: &str| format!("the memory store is damaged: the staged changes: {what}");
    let not_a_file = |name: &str| damage(&format!("'[PLACE]/.mnemosyne/staged/{name}' is not a regular file"));
    let shown = place.mnem(&["status"]).output();
    let (before, torn) = shown.split_once("  torn: ").expect("it is told");
    assert_eq!(
        before,
        format!(
            "session default on branch main at {short}\nother sessions:\n  folder: {}\n  link: {}\n",
            not_a_file("folder"),
            not_a_file("link")
        )
    );
    let (torn, rest) = torn.split_once('\n').expect("a line");
    assert!(torn.starts_with(&damage("the staged changes in '[PLACE]/.mnemosyne/staged/torn' are damaged at byte ")));
    assert_eq!(rest, STAGE);
    let row: serde_json::Value = serde_json::from_str(&place.mnem(&["status", "--json"]).output()).expect("JSON");
    assert_eq!(row["sessions"], serde_json::json!([]));
    let told: Vec<_> = row["damaged"].as_array().expect("a list").iter().map(|row| row["message"].as_str()).collect();
    assert_eq!(told, [Some(&*not_a_file("folder")), Some(&*not_a_file("link")), Some(torn)]);
    place.mnem(&["put", "k", "v", "-m", "c"]).says("k\n", "");
    // Whoever works in such a session is refused as ever.
    for session in ["folder", "link"] {
        let hint = "hint: nothing was changed; keep a copy of the store before anything else\n";
        let said = format!("mnem: error[corrupt]: {}\n{hint}", not_a_file(session));
        place.mnem(&["status", "--session", session]).refuses(128, &said);
    }
}

#[test]
fn it_takes_no_arguments() {
    let place = Place::with_store();
    place
        .mnem(&["status", "k"])
        .refuses(129, "mnem: error[usage]: unexpected argument 'k' found\nhint: see 'mnem status --help'\n");
}
