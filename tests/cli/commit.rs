//! `mnem commit`

use super::oracle::{self, Node};
use super::support::{AUTHOR, FIRST, Place, SECOND, THIRD, json};

const TIME: &str = "2025-12-01T08:00:00.000+00:00";

const NOTHING: &str = "mnem: error[nothing-to-commit]: nothing to commit\n\
    hint: stage a change with 'mnem put', or commit as it is with '--allow-empty'\n";

/// A store where the text `v` is staged as `k`.
fn staged() -> Place {
    let place = Place::with_store();
    place.mnem(&["put", "k", "v"]).says("k\n", "");
    place
}

/// The id of the first commit of what [`staged`] has.
fn id(author: &str, time: &str, message: &str) -> String {
    oracle::commit(&[], &oracle::state([&Node::new("k", "\"v\"")]), author, time, message)
}

/// What is said of it on standard error.
fn told(id: &str, subject: &str) -> String {
    format!("[main {}] {subject}\n 1 node changed: 1 added\n", &id[..10])
}

#[test]
fn it_prints_the_full_id_and_tells_what_changed() {
    let place = staged();
    let id = id(AUTHOR, TIME, "subject\n\nbody");
    place.mnem(&["commit", "-m", "subject\n\nbody"]).says(&format!("{id}\n"), &told(&id, "subject"));
    let rows = "{\"id\":\"k\",\"content\":1}\n{\"id\":\"n\",\"content\":1}\n{\"id\":\"m\",\"content\":1}\n";
    place.mnem(&["put", "--jsonl", "-"]).input(rows).output();
    let second = place.mnem(&["commit", "-qzm", "two"]).output();
    let nodes = ["k", "n", "m"].map(|id| Node::new(id, "1"));
    let expected = oracle::commit(&[&id], &oracle::state(&nodes), AUTHOR, TIME, "two");
    assert_eq!(second, expected.clone() + "\0");
    place.mnem(&["put", "--jsonl"]).input("{\"id\":\"k\",\"deleted\":true}\n{\"id\":\"n\",\"content\":2}").output();
    let third = oracle::commit(&[&expected], &oracle::state([&Node::new("n", "2"), &nodes[2]]), AUTHOR, TIME, "three");
    place.mnem(&["commit", "-m", "three"]).says(
        &format!("{third}\n"),
        &format!("[main {}] three\n 2 nodes changed: 1 modified, 1 removed\n", &third[..10]),
    );
}

#[test]
fn as_json_it_is_the_commit() {
    let place = staged();
    let id = id(AUTHOR, TIME, "c \"1\"");
    let row = format!(
        "{{\"v\":1,\"type\":\"commit\",\"id\":\"{id}\",\"parents\":[],\"state\":\"{}\",\
         \"author\":\"Ada <ada@example.org>\",\"time\":\"{TIME}\",\"message\":\"c \\\"1\\\"\",\
         \"refs\":[\"refs/heads/main\"],\"changes\":{{\"added\":1,\"modified\":0,\"removed\":0}}}}\n",
        oracle::state([&Node::new("k", "\"v\"")]),
    );
    place.mnem(&["commit", "--json", "-m", "c \"1\""]).says(&row, &told(&id, "c \"1\""));
    place.mnem(&["log", "--json"]).says(&row, "");
    place.mnem(&["commit", "--json", "--skip-empty", "-m", "c"]).says(&row, "nothing to commit\n");
}

#[test]
fn the_message_comes_from_options_a_file_or_standard_input() {
    for (arguments, input, message) in [
        (&["-m", "one", "--message", "- two\nlines", "-m", "--three"][..], "", "one\n\n- two\nlines\n\n--three"),
        (&["-m", "# heading\n#12 done\r\n\n"], "", "# heading\n#12 done"),
        (&["-m", " spaces \t"], "", " spaces \t"),
        (&["-F", "message.txt"], "", "from a file\n\n# and more"),
        (&["--file", "-"], "from a pipe\n", "from a pipe"),
        (&["-m", "run `id` $(id) \"x\" \\n"], "", "run `id` $(id) \"x\" \\n"),
    ] {
        let place = staged();
        place.write("message.txt", "from a file\n\n# and more\n");
        let commit = place.mnem(&["commit", "-q"]).arguments(arguments).input(input);
        commit.says(&(id(AUTHOR, TIME, message) + "\n"), "");
    }
}

#[test]
fn the_author_comes_from_the_option_the_variable_or_the_user() {
    for (arguments, author, user, expected) in [
        (&[][..], Some("Bo <b@x>"), Some("cy"), "Bo <b@x>"),
        (&["--author", " -di \u{a0}"], Some("Bo <b@x>"), Some("cy"), "-di"),
        (&[], None, Some("cy"), "cy"),
        (&[], Some(""), Some("cy"), "cy"),
        (&[], None, Some(" "), "unknown"),
        (&[], None, None, "unknown"),
    ] {
        let place = staged();
        let mut commit = place.mnem(&["commit", "-qm", "c"]).arguments(arguments).without("MNEM_AUTHOR");
        for (name, value) in [("MNEM_AUTHOR", author), ("USER", user)] {
            commit = value.into_iter().fold(commit, |commit, value| commit.env(name, value));
        }
        commit.says(&(id(expected, TIME, "c") + "\n"), "");
    }
}

#[test]
fn the_time_comes_from_the_option_or_the_variable() {
    for (arguments, variable, zone, expected) in [
        (&[][..], "@0", "UTC", "1970-01-01T00:00:00.000+00:00"),
        (&["--date", "@-1"], "@0", "UTC", "1969-12-31T23:59:59.000+00:00"),
        (&["--date=2024-05-06T07:08:09.123999Z"], "@0", "UTC", "2024-05-06T07:08:09.123+00:00"),
        (&[], "2024-05-06t07:08:09-05:30", "UTC", "2024-05-06T07:08:09.000-05:30"),
        (&["--date", "2016-12-31T23:59:60Z"], "@0", "UTC", "2017-01-01T00:00:00.000+00:00"),
        (&["--date", "2024-05-06"], "@0", "XXX-5:30", "2024-05-06T00:00:00.000+05:30"),
        (&["--date", "2024-05-06 07:08"], "@0", "XXX3", "2024-05-06T07:08:00.000-03:00"),
        (&[], "2024-05-06 07:08:09", "XXX-14", "2024-05-06T07:08:09.000+14:00"),
        (&["--date", "@1"], "@0", "XXX3", "1970-01-01T00:00:01.000+00:00"),
    ] {
        let place = staged();
        let commit = place.mnem(&["commit", "-qm", "c"]).arguments(arguments);
        commit.env("MNEM_DATE", variable).env("TZ", zone).says(&(id(AUTHOR, expected, "c") + "\n"), "");
    }
}

#[test]
fn nothing_staged_is_an_answer_of_its_own() {
    let place = Place::with_store();
    place.mnem(&["commit", "-m", "c"]).refuses(1, NOTHING);
    place.mnem(&["commit"]).refuses(1, NOTHING);
    place.mnem(&["commit", "--skip-empty", "-m", "c"]).says("", "nothing to commit\n");
    let place = Place::with_story();
    place.mnem(&["commit", "-m", "c"]).refuses(1, NOTHING);
    place.mnem(&["commit", "-m", "c", "--session", "other"]).refuses(1, NOTHING);
    place.mnem(&["commit", "--dry-run"]).refuses(1, NOTHING);
    let before = place.files();
    place.mnem(&["commit", "--skip-empty", "-m", "c"]).says(&format!("{THIRD}\n"), "nothing to commit\n");
    place.mnem(&["commit", "--skip-empty"]).says(&format!("{THIRD}\n"), "nothing to commit\n");
    place.mnem(&["commit", "--skip-empty", "-qm", "c"]).says(&format!("{THIRD}\n"), "");
    assert!(place.files() == before);
}

#[test]
fn an_empty_commit_is_made_when_it_is_asked_for() {
    let place = Place::with_store();
    let first = oracle::commit(&[], &oracle::state([]), AUTHOR, TIME, "nothing yet");
    place
        .mnem(&["commit", "--allow-empty", "-m", "nothing yet"])
        .says(&format!("{first}\n"), &format!("[main {}] nothing yet\n no node changed\n", &first[..10]));
    place.mnem(&["commit", "--allow-empty", "--dry-run"]).says("", "would commit: no node changed\n");
    let second = oracle::commit(&[&first], &oracle::state([]), AUTHOR, TIME, "still nothing");
    place.mnem(&["commit", "--allow-empty", "-qm", "still nothing"]).says(&format!("{second}\n"), "");
}

#[test]
fn a_dry_run_tells_what_would_change_and_changes_nothing() {
    let place = Place::with_story();
    let rows = concat!(
        "{\"id\":\"a\\u202e\",\"content\":1}\n",
        "{\"id\":\"user/diet\",\"content\":\"vegan\"}\n",
        "{\"id\":\"plan/dinner\",\"deleted\":true}\n",
    );
    place.mnem(&["put", "--jsonl", "-"]).input(rows).output();
    let before = place.files();
    let counts = "would commit: 3 nodes changed: 1 added, 1 modified, 1 removed\n";
    place.mnem(&["commit", "--dry-run"]).says("A a\\u{202e}\nD plan/dinner\nM user/diet\n", counts);
    place.mnem(&["commit", "--dry-run", "-zqm", "c"]).says("A a\u{202e}\0D plan/dinner\0M user/diet\0", "");
    let row = |id: &str, hash: Option<String>, change: &str| {
        let hash = hash.map_or("null".to_owned(), |hash| json(&hash));
        format!(
            "{{\"v\":1,\"type\":\"staged\",\"id\":\"{id}\",\"hash\":{hash},\"change\":\"{change}\",\"session\":\"default\"}}\n"
        )
    };
    let rows = [
        row("a\u{202e}", Some(Node::new("a\u{202e}", "1").hash()), "added"),
        row("plan/dinner", None, "removed"),
        row("user/diet", Some(Node::new("user/diet", "\"vegan\"").hash()), "modified"),
    ];
    place.mnem(&["commit", "--dry-run", "--json"]).says(&rows.concat(), counts);
    assert!(place.files() == before);
}

#[test]
fn a_message_is_needed_where_no_person_can_be_asked() {
    let place = staged();
    place.mnem(&["commit"]).refuses(129, "mnem: error[usage]: no message is given\nhint: mnem commit -m MESSAGE\n");
    for arguments in [&["-m", ""][..], &["-m", " ", "-m", "\n"], &["-F", "-"]] {
        place.mnem(&["commit"]).arguments(arguments).input("\u{2003}\r\n").refuses(
            129,
            "mnem: error[usage]: the message may not be blank\nhint: say what changed: -m 'learn preferences'\n",
        );
    }
}

#[test]
fn the_commits_of_the_story_keep_their_ids() {
    let diet = Node {
        provenance: vec![("agent_step", "1".to_owned()), ("observation", "chat/1".to_owned())],
        ..Node::new("user/diet", "\"vegan since 2019\"")
    };
    let allergies = Node::new("user/allergies", "[\"peanuts\", 1.0]");
    let first = oracle::commit(&[], &oracle::state([&diet, &allergies]), AUTHOR, TIME, "learn how Maria eats");
    assert_eq!(first, FIRST);
    let diet = Node {
        provenance: vec![("source", "https://forum.example/t/88".to_owned())],
        ..Node::new("user/diet", "\"loves steak\"")
    };
    let dinner = Node {
        event_time: Some("2025-12-01T09:30:00.50+01:00".to_owned()),
        ..Node::new("plan/dinner", "{\"at\": \"20:00\"}")
    };
    let message = "plan the dinner\n\nA stranger on a forum says so.";
    let time = "2025-12-01T09:00:00.000+00:00";
    let second = oracle::commit(&[FIRST], &oracle::state([&diet, &allergies, &dinner]), AUTHOR, time, message);
    assert_eq!(second, SECOND);
    let time = "2025-12-01T11:00:00.500+01:00";
    let third = oracle::commit(&[SECOND], &oracle::state([&diet, &dinner]), AUTHOR, time, "forget the allergies");
    assert_eq!(third, THIRD);
}

#[test]
fn only_takes_what_matches_and_leaves_the_rest_staged() {
    let place = Place::with_story();
    for id in ["a*", "ab", "b/1", "b/2", "c"] {
        place.mnem(&["put", id, "v"]).output();
    }
    place.mnem(&["rm", "user/diet"]).output();
    let commit = |arguments: &[&str]| {
        let said = place.mnem(&["commit", "-m", "m", "--only"]).arguments(arguments).answer();
        assert_eq!(said.status, 0, "{said:?}");
        said.stderr.lines().last().expect("counts").to_owned()
    };
    assert_eq!(commit(&["a*", "--literal"]), " 1 node changed: 1 added");
    assert_eq!(commit(&["b/", "user/*"]), " 3 nodes changed: 2 added, 1 removed");
    place.mnem(&["commit", "--dry-run", "-q"]).says("A ab\nA c\n", "");
    place.mnem(&["commit", "--dry-run", "-q", "--only", "c"]).says("A c\n", "");
    let nothing = |patterns: &str| {
        format!(
            "mnem: error[nothing-to-commit]: nothing to commit: nothing staged matches {patterns}\n\
             hint: see what is staged with 'mnem status'\n"
        )
    };
    place.mnem(&["commit", "-m", "m", "--only", "none"]).refuses(1, &nothing("'none'"));
    place.mnem(&["commit", "--only", "none"]).refuses(1, &nothing("'none'"));
    place
        .mnem(&["commit", "--dry-run", "--only", "no\u{202e}ne", "n/*"])
        .refuses(1, &nothing("'no\\u{202e}ne' or 'n/*'"));
    place.mnem(&["commit", "-m", "m", "--only", "user/diet"]).refuses(1, &nothing("'user/diet'"));
    assert_eq!(commit(&["none", "--allow-empty"]), " no node changed");
    place.mnem(&["commit", "--dry-run", "-q"]).says("A ab\nA c\n", "");
    place.mnem(&["commit", "-m", "m", "--only"]).refuses(
        129,
        "mnem: error[usage]: a value is required for '--only <PATTERN>...' but none was supplied\nhint: see 'mnem commit --help'\n",
    );
}
