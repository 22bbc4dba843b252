//! `mnem restore`

use super::oracle::{self, Node};
use super::support::{FIRST, Place, staged_row, state};

const MODIFIED: &str = "user/diet";

/// The story with a node added, one modified and one removed, all staged.
fn staged() -> Place {
    let place = Place::with_story();
    place.mnem(&["put", "new", "v"]).output();
    place.mnem(&["put", MODIFIED, "vegan"]).output();
    place.mnem(&["rm", "plan/dinner"]).output();
    place
}

#[track_caller]
fn stages(place: &Place, lines: &str) {
    assert_eq!(place.mnem(&["commit", "--dry-run", "-q"]).answer().stdout, lines);
}

#[test]
fn it_forgets_what_is_staged_and_prints_the_ids() {
    let place = staged();
    place.mnem(&["restore", "-q", MODIFIED]).says("user/diet\n", "");
    stages(&place, "A new\nD plan/dinner\n");
    place.mnem(&["restore", "-qz", "plan/", "n*"]).says("new\0plan/dinner\0", "");
    stages(&place, "");
    let before = place.files();
    place.mnem(&["restore", "**"]).says("", "");
    assert!(place.files() == before, "where nothing is staged nothing is written");
}

#[test]
fn as_json_it_is_how_each_node_stands_now() {
    let place = staged();
    let head = |id: &str| {
        let row = place.mnem(&["get", "--json", "-r", "HEAD", id]).output();
        let row: serde_json::Value = serde_json::from_str(&row).expect("JSON");
        row["hash"].as_str().expect("a hash").to_owned()
    };
    let rows = [
        staged_row("new", None, "unchanged"),
        staged_row("plan/dinner", Some(&head("plan/dinner")), "unchanged"),
        staged_row(MODIFIED, Some(&head(MODIFIED)), "unchanged"),
    ];
    place.mnem(&["restore", "-q", "--json", "**"]).says(&rows.concat(), "");
}

#[test]
fn with_a_source_that_version_is_staged() {
    let place = staged();
    place.mnem(&["restore", "-qs", FIRST, "**"]).says("new\nuser/allergies\nuser/diet\n", "");
    stages(&place, "D plan/dinner\nA user/allergies\nM user/diet\n");
    place.mnem(&["commit", "-qm", "as in the beginning"]).output();
    let diet = Node {
        provenance: vec![("agent_step", "1".to_owned()), ("observation", "chat/1".to_owned())],
        ..Node::new(MODIFIED, "\"vegan since 2019\"")
    };
    let allergies = Node::new("user/allergies", "[\"peanuts\", 1.0]");
    assert_eq!(state(&place), oracle::state([&diet, &allergies]));
    // What HEAD has already is not staged again.
    let before = place.files();
    place.mnem(&["restore", "--source", "HEAD~3", "**"]).says("", "");
    assert!(place.files() == before);
    place.mnem(&["restore", "--source=HEAD~1", MODIFIED, "--json"]).says(
        &staged_row(
            MODIFIED,
            Some(
                &Node {
                    provenance: vec![("source", "https://forum.example/t/88".to_owned())],
                    ..Node::new(MODIFIED, "\"loves steak\"")
                }
                .hash(),
            ),
            "modified",
        ),
        "",
    );
}

#[test]
fn literal_takes_a_pattern_as_an_id() {
    let place = Place::with_store();
    for id in ["a*", "ab"] {
        place.mnem(&["put", id, "v"]).output();
    }
    place.mnem(&["restore", "-q", "--literal", "a*"]).says("a*\n", "");
    stages(&place, "A ab\n");
}

#[test]
fn a_pattern_that_matches_nothing_refuses_all() {
    let place = staged();
    let none =
        |names| format!("mnem: error[no-node]: no node matches {names}\nhint: see 'mnem status' and 'mnem ls'\n");
    place.mnem(&["restore", MODIFIED, "none", "no/"]).refuses(1, &none("'none', 'no/'"));
    place.mnem(&["restore", "-s", "HEAD", MODIFIED, "user/allergies"]).refuses(1, &none("'user/allergies'"));
}

#[test]
fn before_the_first_commit_it_takes_back_all_the_same() {
    let place = Place::with_store();
    place.mnem(&["put", "k", "v"]).output();
    place.mnem(&["restore", "-q", "k"]).says("k\n", "");
    place.mnem(&["ls"]).says("", "no commit yet on 'main'\n");
}

#[test]
fn a_wrong_call_is_refused() {
    let place = staged();
    place.mnem(&["restore"]).refuses(
        129,
        "mnem: error[usage]: the following required arguments were not provided: <PATTERN>...\nhint: see 'mnem restore --help'\n",
    );
    place
        .mnem(&["restore", "-s", "mian", MODIFIED])
        .refuses(128, "mnem: error[bad-revision]: unknown revision 'mian'\nhint: did you mean 'main'?\n");
    place.mnem(&["restore", "a["]).refuses(
        129,
        "mnem: error[bad-pattern]: 'a[': a '[' has no ']' in pattern 'a['\n\
         hint: such as 'user/' or 'user/*'; '--literal' takes * ? [ as they are\n",
    );
    place.mnem(&["restore", MODIFIED]).env("MNEM_REV", "HEAD").refuses(
        129,
        "mnem: error[read-only-rev]: MNEM_REV is set to 'HEAD', so nothing is written\n\
         hint: to write, run it without: env -u MNEM_REV mnem …\n",
    );
}
