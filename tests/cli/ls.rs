//! `mnem ls`

use super::oracle::Node;
use super::support::{FIRST, Place, SECOND, lines};

/// A store whose nodes differ in their times: two in commits, two staged.
fn times() -> Place {
    let place = Place::with_store();
    let step = |arguments: &[&str], date| place.mnem(arguments).env("MNEM_DATE", date).output();
    step(&["put", "a", "1", "-m", "one"], "@100");
    step(&["put", "b", "2", "-m", "two", "--event-time", "1970-01-01T00:00:01Z"], "@200");
    step(&["put", "c", "3"], "@300");
    step(&["put", "d", "4", "--event-time", "1970-01-01T01:02:30+01:00"], "@400");
    place
}

#[test]
fn it_lists_ids_in_the_order_of_their_bytes() {
    let place = Place::with_store();
    for id in ["b", "a b", "é", "B", "a/b", "~", "a\u{202e}"] {
        place.mnem(&["put", id, "v"]).output();
    }
    place.mnem(&["ls"]).says("B\na b\na/b\na\\u{202e}\nb\n~\né\n", "");
    place.mnem(&["ls", "-z"]).says("B\0a b\0a/b\0a\u{202e}\0b\0~\0é\0", "");
    place.mnem(&["ls", "--literal", "a/b", "a*", "a b"]).says("a b\na/b\n", "");
}

#[test]
fn it_reads_head_with_what_is_staged_or_a_revision() {
    let place = Place::with_story();
    place.mnem(&["put", "new", "v"]).output();
    place.mnem(&["rm", "user/diet"]).output();
    place.mnem(&["ls"]).says("new\nplan/dinner\n", "");
    place.mnem(&["ls", "--session", "other"]).says("plan/dinner\nuser/diet\n", "");
    place.mnem(&["ls", "-r", "HEAD"]).says("plan/dinner\nuser/diet\n", "");
    place.mnem(&["ls", "--rev", FIRST, "user/"]).says("user/allergies\nuser/diet\n", "");
    place.mnem(&["ls"]).env("MNEM_REV", "HEAD~2").says("user/allergies\nuser/diet\n", "");
    place.mnem(&["ls", "nothing", "user/diet"]).says("", "");
}

#[test]
fn with_long_it_shows_commit_time_and_size() {
    let place = Place::with_story();
    place.mnem(&["put", "new\u{202e}", "v"]).output();
    let second = &SECOND[..10];
    let dinner = format!("{second} 2025-12-01T09:30:00.50+01:00          15 plan/dinner");
    let diet = format!("{second} ~2025-12-01T09:00:00.000+00:00        13 user/diet");
    let new = format!("staged     {:30}         3 new", "-");
    for option in ["-l", "--long"] {
        let shown = format!("{new}\\u{{202e}}\n{dinner}\n{diet}\n");
        place.mnem(&["ls", option]).says(&shown, "");
    }
    place.mnem(&["ls", "-lz"]).says(&format!("{new}\u{202e}\0{dinner}\0{diet}\0"), "");
}

#[test]
fn each_order_is_its_own() {
    let place = times();
    for (key, ids) in
        [("id", ["a", "b", "c", "d"]), ("time", ["c", "d", "b", "a"]), ("event-time", ["c", "d", "a", "b"])]
    {
        place.mnem(&["ls", "--sort", key]).says(&lines(&ids), "");
    }
    place.mnem(&["ls", "--sort=time", "-r", "HEAD"]).says("b\na\n", "");
}

#[test]
fn count_is_a_number_alone() {
    let place = times();
    place.mnem(&["ls", "--count"]).says("4\n", "");
    place.mnem(&["ls", "--count", "[a-c]"]).says("3\n", "");
    place.mnem(&["ls", "--count", "-r", "HEAD~1"]).says("1\n", "");
    place.mnem(&["ls", "--count", "none"]).says("0\n", "");
    place.mnem(&["ls", "--count", "--json"]).says("{\"v\":1,\"type\":\"count\",\"count\":4}\n", "");
}

#[test]
fn what_stands_of_a_source_or_a_time_is_found() {
    let place = Place::with_story();
    let forum = "https://forum.example/t/88";
    place.mnem(&["put", "new", "v", "--source", forum, "--tool-call", "call/7"]).output();
    for (arguments, expected) in [
        (&["--source", forum][..], &["new", "user/diet"][..]),
        (&["--source", forum, "user/"], &["user/diet"]),
        (&["--source", forum, "--tool-call", "call/7"], &["new"]),
        (&["--source", "forum"], &[]),
        // What it once said of the diet does not stand any more.
        (&["--agent-step", "1"], &[]),
        (&["--agent-step", "1", "-r", FIRST], &["user/diet"]),
        (&["--observation", "chat/1", "--rev", FIRST], &["user/diet"]),
        (&["--event-since", "2025-12-01T08:30:00.5Z"], &["new", "plan/dinner", "user/diet"]),
        (&["--event-since", "2025-12-01T08:30:00.500000001Z"], &["new", "user/diet"]),
        (&["--event-since", "9999-12-31"], &["new"]),
        (&["--event-until", "2025-12-01T09:30:00.5+01:00"], &["plan/dinner"]),
        (&["--event-until", "2025-12-01T09:00:00Z", "--sort", "event-time"], &["user/diet", "plan/dinner"]),
        (&["--event-until", "9999-12-30"], &["plan/dinner", "user/diet"]),
    ] {
        place.mnem(&["ls"]).arguments(arguments).env("TZ", "UTC").says(&lines(expected), "");
        let count = format!("{}\n", expected.len());
        place.mnem(&["ls", "--count"]).arguments(arguments).env("TZ", "UTC").says(&count, "");
    }
    let time = "a time looks like 2026-11-30T18:05:00+01:00, '2026-11-30 18:05', '2 days ago' or @1764522300";
    for option in ["--event-since", "--event-until"] {
        let said = format!("mnem: error[bad-time]: {option}: cannot read 'soon' as a time\nhint: {time}\n");
        place.mnem(&["ls", option, "soon"]).refuses(129, &said);
    }
}

#[test]
fn as_json_each_node_is_one_row() {
    let place = times();
    let node = |id: &str, content: &str, time: Option<&str>| {
        Node { event_time: time.map(str::to_owned), ..Node::new(id, content) }.row()
    };
    let rows = [
        node("a", "\"1\"", None),
        node("b", "\"2\"", Some("1970-01-01T00:00:01Z")),
        node("c", "\"3\"", None),
        node("d", "\"4\"", Some("1970-01-01T01:02:30+01:00")),
    ];
    place.mnem(&["ls", "--json"]).says(&rows.concat(), "");
    let commits = place.mnem(&["log", "--ids"]).output();
    let [two, one] = commits.lines().collect::<Vec<_>>()[..] else { panic!("{commits}") };
    let wrote = |commit: &str, second: i32| {
        format!("\"commit\":\"{commit}\",\"time\":\"1970-01-01T00:0{}:{}.000+00:00\"}}", second / 60, second % 60)
    };
    let staged = "\"commit\":null,\"time\":null}".to_owned();
    let origins = [wrote(one, 100), wrote(two, 200), staged.clone(), staged];
    let long = rows.iter().zip(origins).map(|(row, origin)| row.replace("}\n", &format!(",{origin}\n")));
    place.mnem(&["ls", "--json", "-lz"]).says(&long.collect::<String>(), "");
    place.mnem(&["ls", "--json", "--sort", "time", "-r", "HEAD"]).says(&format!("{}{}", rows[1], rows[0]), "");
}

#[test]
fn before_the_first_commit_there_are_no_rows_and_a_note() {
    let place = Place::with_store();
    for arguments in [&["ls"][..], &["ls", "--json"], &["ls", "-l"], &["ls", "user/"]] {
        place.mnem(arguments).says("", "no commit yet on 'main'\n");
    }
    place.mnem(&["ls", "-q"]).says("", "");
    place.mnem(&["ls", "-r", "HEAD"]).refuses(
        128,
        "mnem: error[bad-revision]: no commit yet on 'main'\n\
         hint: make one with 'mnem put ID CONTENT' and 'mnem commit -m MESSAGE'\n",
    );
    place.mnem(&["put", "k", "v"]).output();
    place.mnem(&["ls"]).says("k\n", "");
}

#[test]
fn a_wrong_call_is_refused() {
    let place = Place::with_story();
    let help = "hint: see 'mnem ls --help'\n";
    let both = format!("mnem: error[usage]: the argument '--long' cannot be used with '--count'\n{help}");
    place.mnem(&["ls", "-l", "--count"]).refuses(129, &both);
    let key = "invalid value 'size' for '--sort <KEY>' [possible values: id, time, event-time]";
    place.mnem(&["ls", "--sort", "size"]).refuses(129, &format!("mnem: error[usage]: {key}\n{help}"));
    let pattern = "'a[': a '[' has no ']' in pattern 'a['";
    place.mnem(&["ls", "a["]).refuses(
        129,
        &format!(
            "mnem: error[bad-pattern]: {pattern}\nhint: such as 'user/' or 'user/*'; '--literal' takes * ? [ as they are\n"
        ),
    );
}
