//! `mnem log`

use super::support::{FIRST, Place, SECOND, THIRD};

/// Full ids, one a line.
fn ids(ids: &[&str]) -> String {
    ids.iter().map(|id| format!("{id}\n")).collect()
}

#[test]
fn it_tells_the_commits_children_before_parents() {
    let place = Place::with_story();
    let text = format!(
        "commit {THIRD} (HEAD -> main)\n\
         Author: Ada <ada@example.org>\n\
         Date:   2025-12-01T11:00:00.500+01:00\n\
         \n    forget the allergies\n\
         \n\
         commit {SECOND}\n\
         Author: Ada <ada@example.org>\n\
         Date:   2025-12-01T09:00:00.000+00:00\n\
         \n    plan the dinner\n\n    A stranger on a forum says so.\n\
         \n\
         commit {FIRST}\n\
         Author: Ada <ada@example.org>\n\
         Date:   2025-12-01T08:00:00.000+00:00\n\
         \n    learn how Maria eats\n"
    );
    place.mnem(&["log"]).says(&text, "");
}

#[test]
fn as_json_each_commit_is_one_row() {
    let place = Place::with_story();
    let row = |id: &str, parents: &str, state: &str, time: &str, message: &str, refs: &str, changes: &str| {
        format!(
            "{{\"v\":1,\"type\":\"commit\",\"id\":\"{id}\",\"parents\":[{parents}],\"state\":\"{state}\",\
             \"author\":\"Ada <ada@example.org>\",\"time\":\"{time}\",\"message\":\"{message}\",\"refs\":[{refs}],\
             \"changes\":{{{changes}}}}}\n"
        )
    };
    let rows = [
        row(
            THIRD,
            &format!("\"{SECOND}\""),
            "14ca7045fddb23d39f8ff669254766b5da1b35b54d58344567112ac80f96c3c1",
            "2025-12-01T11:00:00.500+01:00",
            "forget the allergies",
            "\"refs/heads/main\"",
            "\"added\":0,\"modified\":0,\"removed\":1",
        ),
        row(
            SECOND,
            &format!("\"{FIRST}\""),
            "77a57df023bda3d0817c4dbe87326b23414ebe7427cad31a2cfa8c83b2489248",
            "2025-12-01T09:00:00.000+00:00",
            "plan the dinner\\n\\nA stranger on a forum says so.",
            "",
            "\"added\":1,\"modified\":1,\"removed\":0",
        ),
        row(
            FIRST,
            "",
            "2cb28f01a47495a6597879fd103999685ba582245a6ae75ed5ed466a977d4547",
            "2025-12-01T08:00:00.000+00:00",
            "learn how Maria eats",
            "",
            "\"added\":2,\"modified\":0,\"removed\":0",
        ),
    ];
    place.mnem(&["log", "--json"]).says(&rows.concat(), "");
    place.mnem(&["log", "--json", "--oneline", "-n", "1"]).says(&rows[0], "");
    place.mnem(&["log", "--json", "--ids", "-n1"]).says(&rows[0], "");
}

#[test]
fn with_oneline_each_commit_is_one_line() {
    let place = Place::with_story();
    let lines = [
        format!("{} (HEAD -> main) forget the allergies", &THIRD[..10]),
        format!("{} plan the dinner", &SECOND[..10]),
        format!("{} learn how Maria eats", &FIRST[..10]),
    ];
    place.mnem(&["log", "--oneline"]).says(&(lines.join("\n") + "\n"), "");
    place.mnem(&["log", "--oneline", "-z"]).says(&(lines.join("\0") + "\0"), "");
}

#[test]
fn each_option_chooses_its_commits() {
    let place = Place::with_story();
    for (arguments, expected) in [
        (&[][..], &[THIRD, SECOND, FIRST][..]),
        (&["-n", "0"], &[]),
        (&["-n", "2"], &[THIRD, SECOND]),
        (&["-n99"], &[THIRD, SECOND, FIRST]),
        (&["--max-count=1"], &[THIRD]),
        (&["--skip", "1"], &[SECOND, FIRST]),
        (&["--skip=1", "-n", "1"], &[SECOND]),
        (&["--skip", "9"], &[]),
        (&["--skip", "18446744073709551615", "-n", "1"], &[]),
        (&["--reverse"], &[FIRST, SECOND, THIRD]),
        (&["--reverse", "-n", "2"], &[SECOND, THIRD]),
        (&["--reverse", "--skip", "1", "-n", "1"], &[SECOND]),
        (&["--first-parent"], &[THIRD, SECOND, FIRST]),
        (&["HEAD~1"], &[SECOND, FIRST]),
        (&[FIRST], &[FIRST]),
        (&[FIRST, "HEAD~1", FIRST], &[SECOND, FIRST]),
        (&["-r", "HEAD~1"], &[SECOND, FIRST]),
        (&["--rev", FIRST], &[FIRST]),
        (&["--", "user/diet"], &[SECOND, FIRST]),
        (&["--", "user/allergies"], &[THIRD, FIRST]),
        (&["-n", "1", "--", "user/allergies"], &[THIRD]),
        (&["--skip", "1", "--", "user/"], &[SECOND, FIRST]),
        (&["HEAD~1", "--", "user/allergies"], &[FIRST]),
        (&["-r", "HEAD~2", "--", "user/diet"], &[FIRST]),
        (&["--reverse", "--", "user/diet"], &[FIRST, SECOND]),
        (&["--first-parent", "--", "user/diet"], &[SECOND, FIRST]),
        (&["--", "user/diet", "plan/dinner"], &[SECOND, FIRST]),
        (&["--", "nothing"], &[]),
        (&["--"], &[THIRD, SECOND, FIRST]),
    ] {
        place.mnem(&["log", "--ids"]).arguments(arguments).says(&ids(expected), "");
    }
    place.mnem(&["log", "--ids", "-z", "HEAD~1"]).says(&format!("{SECOND}\0{FIRST}\0"), "");
}

#[test]
fn clocks_never_reorder() {
    let place = Place::with_store();
    for (message, date) in [("c1", "@2000000000"), ("c2", "@1000"), ("c3", "@1000"), ("c4", "@999")] {
        place.mnem(&["put", "k", message, "-qm", message]).env("MNEM_DATE", date).says("k\n", "");
    }
    let log = place.mnem(&["log", "--oneline"]).output();
    let subjects: Vec<_> = log.lines().filter_map(|line| line.split(' ').next_back()).collect();
    assert_eq!(subjects, ["c4", "c3", "c2", "c1"]);
}

#[test]
fn before_the_first_commit_there_are_no_rows_and_a_note() {
    let place = Place::with_store();
    for arguments in [&[][..], &["--json"], &["--oneline"], &["--ids"], &["--", "k"]] {
        place.mnem(&["log"]).arguments(arguments).says("", "no commit yet on 'main'\n");
    }
    place.mnem(&["log", "-q"]).says("", "");
    for revision in ["HEAD", "main", "@~1"] {
        place.mnem(&["log", revision]).refuses(
            128,
            "mnem: error[bad-revision]: no commit yet on 'main'\n\
             hint: make one with 'mnem put ID CONTENT' and 'mnem commit -m MESSAGE'\n",
        );
    }
}

#[test]
fn a_branch_is_escaped_for_people_and_exact_in_json() {
    let place = Place::empty();
    place.mnem(&["init", "-q", "-b", "m\u{202e}\u{200b}"]).output();
    place.mnem(&["log"]).says("", "no commit yet on 'm\\u{202e}\\u{200b}'\n");
    place.mnem(&["put", "k", "v"]).says("k\n", "");
    let commit = place.mnem(&["commit", "-m", "c"]).answer();
    let id = &commit.stdout[..10];
    assert_eq!(commit.stderr, format!("[m\\u{{202e}}\\u{{200b}} {id}] c\n 1 node changed: 1 added\n"));
    place.mnem(&["log", "--oneline"]).says(&format!("{id} (HEAD -> m\\u{{202e}}\\u{{200b}}) c\n"), "");
    let row = place.mnem(&["log", "--json"]).output();
    assert!(row.contains("\"refs\":[\"refs/heads/m\u{202e}\u{200b}\"]"), "{row}");
}

#[test]
fn what_a_terminal_would_act_on_is_escaped_for_people_and_exact_in_json() {
    let place = Place::with_store();
    let message = "hi\u{1b}]0;owned\u{7}\u{202e}\u{200b}\n\n\tbody\u{9b}31m\r\nend";
    let put = place.mnem(&["put", "k", "v", "-qm", message]).env("MNEM_AUTHOR", "A\u{1b}[2J\u{2066}");
    put.says("k\n", "");
    let id = place.mnem(&["log", "--ids"]).output();
    let id = id.trim_end();
    place.mnem(&["log"]).says(
        &format!(
            "commit {id} (HEAD -> main)\n\
             Author: A^[[2J\\u{{2066}}\n\
             Date:   2025-12-01T08:00:00.000+00:00\n\
             \n    hi^[]0;owned^G\\u{{202e}}\\u{{200b}}\n\n    \tbody\\u{{9b}}31m^M\n    end\n"
        ),
        "",
    );
    place
        .mnem(&["log", "--oneline"])
        .says(&format!("{} (HEAD -> main) hi^[]0;owned^G\\u{{202e}}\\u{{200b}}\n", &id[..10]), "");
    let row = place.mnem(&["log", "--json"]).output();
    let row: serde_json::Value = serde_json::from_str(&row).expect("JSON");
    assert_eq!(row["message"], message);
    assert_eq!(row["author"], "A\u{1b}[2J\u{2066}");
}

#[test]
fn each_filter_admits_its_commits() {
    let place = Place::with_story();
    // A clock that is a year behind hides nothing.
    place.mnem(&["put", "k", "v", "-qm", "late"]).env("MNEM_DATE", "2024-12-01T00:00:00Z").output();
    let put = place.mnem(&["put", "k", "w", "-qm", "Forget it"]).env("MNEM_DATE", "2025-12-02T00:00:00.5Z");
    put.env("MNEM_AUTHOR", "Bo").output();
    let all = place.mnem(&["log", "--ids"]).output();
    let [bo, late, ..] = all.lines().collect::<Vec<_>>()[..] else { panic!("{all}") };
    let zoned = |arguments: &[&str]| place.mnem(&["log", "--ids"]).arguments(arguments).env("TZ", "UTC");
    for (arguments, expected) in [
        (&["--since", "2025-12-01T10:00:00Z"][..], &[bo, THIRD][..]),
        (&["--since=2025-12-01T10:00:00.500Z"], &[bo, THIRD]),
        (&["--since", "2025-12-01T10:00:00.501Z"], &[bo]),
        (&["--since", "2025-12-01"], &[bo, THIRD, SECOND, FIRST]),
        (&["--until", "2025-12-01T08:00:00Z"], &[late, FIRST]),
        (&["--until", "2025-11-30 23:59:59"], &[late]),
        (&["--until", "@0"], &[]),
        (&["--since", "@1764579600", "--until", "@1764583201"], &[THIRD, SECOND]),
        (&["--author", "^Bo$"], &[bo]),
        (&["--author", "-"], &[]),
        (&["--author=ada@"], &[late, THIRD, SECOND, FIRST]),
        (&["--grep", "forget"], &[THIRD]),
        (&["--grep", "(?i)forget"], &[bo, THIRD]),
        (&["--grep", "stranger on a forum"], &[SECOND]),
        (&["--grep", "-x"], &[]),
        // Each line of a message begins and ends.
        (&["--grep", "^A stranger"], &[SECOND]),
        (&["--grep", "dinner$"], &[SECOND]),
        (&["--grep", "^stranger"], &[]),
        (&["--grep", "on$"], &[]),
        (&["--author", "Ada", "--grep", "t", "--skip", "1", "-n", "1"], &[THIRD]),
        (&["--grep", "e", "--", "user/"], &[THIRD, SECOND, FIRST]),
        (&["--all"], &[bo, late, THIRD, SECOND, FIRST]),
        (&["--all", "-n", "1", "--", "user/diet"], &[SECOND]),
        (&["--all", SECOND], &[bo, late, THIRD, SECOND, FIRST]),
        (&["--all", "^HEAD~2"], &[bo, late]),
        (&["--all", "HEAD~2..HEAD~1"], &[bo, late]),
        (&["--all", "^HEAD"], &[]),
    ] {
        zoned(arguments).says(&ids(expected), "");
    }
    // Relative times are against the clock, and it is later than that.
    place.mnem(&["log", "--ids", "--since", "1 hour ago"]).says("", "");
}

#[test]
fn what_wrote_a_node_is_found_by_where_it_came_from_and_when() {
    let place = Place::with_story();
    let call = ["put", "k", "v", "--tool-call", "-x", "--source", "", "-qm", "call"];
    place.mnem(&call).env("MNEM_SOURCE", "not the same").output();
    let put = place.mnem(&["put", "k", "w", "--provenance", r#"{"source":""}"#, "-qm", "an empty source"]);
    put.env("MNEM_DATE", "2025-12-01T09:00:00Z").output();
    let all = place.mnem(&["log", "--ids"]).output();
    let [blank, call, ..] = all.lines().collect::<Vec<_>>()[..] else { panic!("{all}") };
    let forum = "https://forum.example/t/88";
    for (arguments, expected) in [
        (&["--source", forum][..], &[SECOND][..]),
        (&["--source", ""], &[blank]),
        (&["--source=https://forum.example"], &[]),
        (&["--tool-call", "-x"], &[call]),
        (&["--agent-step", "1"], &[FIRST]),
        (&["--observation", "chat/1"], &[FIRST]),
        (&["--agent-step", "1", "--observation", "chat/1"], &[FIRST]),
        (&["--agent-step", "1", "--source", forum], &[]),
        (&["--event-since", "2025-12-01T09:30:00.50+01:00"], &[blank, SECOND]),
        (&["--event-since", "2025-12-01T09:00:00.000000001Z"], &[]),
        (&["--event-until", "2025-12-01T08:30:00.5Z"], &[call, SECOND, FIRST]),
        (&["--event-until", "2025-12-01T08:30:00.499999999Z"], &[call, FIRST]),
        (&["--event-since", "@1764577800", "--event-until", "@1764579599"], &[SECOND]),
        (&["--event-since", "2025-12-01T08:30:00.500000001Z", "--event-until", "@1764579599"], &[]),
        // The node of the source and the node of the time are two.
        (&["--source", forum, "--event-until", "@1764579599"], &[]),
        (&["--source", forum, "--event-until", "@1764579600"], &[SECOND]),
        (&["--source", forum, "--", "user/"], &[SECOND]),
        (&["--source", forum, "--", "plan/dinner", "user/allergies"], &[]),
        (&["--first-parent", "--source", forum, "--", "user/diet"], &[SECOND]),
        (&["--until", "@1764576000", "--event-until", "@1764579599"], &[call, FIRST]),
        (&["-n", "1", "--agent-step", "1"], &[FIRST]),
    ] {
        place.mnem(&["log", "--ids"]).arguments(arguments).says(&ids(expected), "");
    }
    place.mnem(&["log", "--ids", "--event-since", "1 hour ago"]).says("", "");
    // Behind the commit only what is wanted of it.
    place
        .mnem(&["log", "--oneline", "--name-status", "--source", forum])
        .says(&format!("{} plan the dinner\nM user/diet\n", &SECOND[..10]), "");
}

#[test]
fn what_changed_a_text_is_found() {
    let place = Place::with_story();
    place.mnem(&["put", "doc", "-a steak\nb\n", "-qm", "doc"]).output();
    place.mnem(&["put", "doc", "-a steak\nc steak\n", "-qm", "more"]).output();
    place.mnem(&["put", "doc", "c steak\n-a steak\n", "-qm", "moved"]).output();
    let all = place.mnem(&["log", "--ids"]).output();
    let [moved, more, doc, ..] = all.lines().collect::<Vec<_>>()[..] else { panic!("{all}") };
    for (arguments, expected) in [
        (&["-S", "steak"][..], &[more, doc, SECOND][..]),
        (&["-Svegan"], &[SECOND, FIRST]),
        (&["-S", "-a"], &[doc]),
        (&["-S", "steak.*"], &[]),
        (&["-S", "peanuts\", 1.0"], &[THIRD, FIRST]),
        (&["-S", "\n"], &[doc]),
        (&["-S", "steak", "--", "user/"], &[SECOND]),
        (&["-S", "steak", "--", "doc"], &[more, doc]),
        (&["-S", "steak", "--source", "https://forum.example/t/88"], &[SECOND]),
        (&["-S", "20:00", "--source", "https://forum.example/t/88"], &[]),
        (&["-S", "steak", "--first-parent", "--reverse", "-n", "1"], &[more]),
        (&["-G", "^c"], &[more]),
        (&["-G^-a"], &[moved, doc]),
        (&["-G", "-a"], &[moved, doc]),
        (&["-G", "(?i)STEAK$"], &[moved, more, doc, SECOND]),
        (&["-G", "^c", "--", "user/"], &[]),
        (&["-G", ".", "--", "user/allergies"], &[THIRD, FIRST]),
        (&["-G", "peanuts.*1\\.0"], &[THIRD, FIRST]),
        (&["-G", "loves", "--agent-step", "1"], &[]),
    ] {
        place.mnem(&["log", "--ids"]).arguments(arguments).says(&ids(expected), "");
    }
    let second = format!("{} plan the dinner\nM user/diet\n", &SECOND[..10]);
    place.mnem(&["log", "--oneline", "--name-status", "-S", "vegan", "-n1"]).says(&second, "");
    place
        .mnem(&["log", "-S", ""])
        .refuses(129, "mnem: error[usage]: -S: an empty text occurs everywhere\nhint: such as -S steak\n");
}

#[test]
fn name_status_and_stat_tell_what_each_commit_changed() {
    let place = Place::with_story();
    let head = |id: &str, tip: &str, subject: &str| format!("{}{tip} {subject}\n", &id[..10]);
    let third = head(THIRD, " (HEAD -> main)", "forget the allergies");
    let second = head(SECOND, "", "plan the dinner");
    let first = head(FIRST, "", "learn how Maria eats");
    place.mnem(&["log", "--oneline", "--name-status"]).says(
        &format!("{third}D user/allergies\n{second}A plan/dinner\nM user/diet\n{first}A user/allergies\nA user/diet\n"),
        "",
    );
    place.mnem(&["log", "--oneline", "--stat"]).says(
        &format!(
            "{third} user/allergies | D +0 -2\n 1 node changed, +0 -2 leaves\n\
             {second} plan/dinner | A +1 -0\n user/diet   | M +1 -1\n 2 nodes changed, +1 -1 lines, +1 -0 leaves\n\
             {first} user/allergies | A +2 -0\n user/diet      | A +1 -0\n 2 nodes changed, +1 -0 lines, +2 -0 leaves\n"
        ),
        "",
    );
    // With patterns only such nodes are told.
    place
        .mnem(&["log", "--oneline", "--name-status", "--reverse", "--", "user/diet"])
        .says(&format!("{first}A user/diet\n{second}M user/diet\n"), "");
    place.mnem(&["log", "-n1", "--name-status"]).says(
        &format!(
            "commit {THIRD} (HEAD -> main)\nAuthor: Ada <ada@example.org>\nDate:   2025-12-01T11:00:00.500+01:00\n\
             \n    forget the allergies\n\nD user/allergies\n"
        ),
        "",
    );
    let changed = |commit: &str, id: &str, change: &str, [added, removed, come, gone]: [&str; 4]| {
        format!(
            "{{\"v\":1,\"type\":\"changed\",\"commit\":\"{commit}\",\"id\":\"{id}\",\"change\":\"{change}\",\
             \"lines_added\":{added},\"lines_removed\":{removed},\
             \"leaves_added\":{come},\"leaves_removed\":{gone}}}\n"
        )
    };
    let row = place.mnem(&["log", "-n1", "--json"]).output();
    let status = changed(THIRD, "user/allergies", "removed", ["null"; 4]);
    place.mnem(&["log", "-n1", "--json", "--name-status"]).says(&format!("{row}{status}"), "");
    let stat = changed(THIRD, "user/allergies", "removed", ["0", "1", "0", "2"]);
    place.mnem(&["log", "-n1", "--json", "--stat"]).says(&format!("{row}{stat}"), "");
    // For people escaped, exact where lines end with NUL.
    place.mnem(&["put", "a\u{202e}", "1\n2\n", "-qm", "c"]).output();
    let short = place.mnem(&["log", "-n1", "--ids"]).output()[..10].to_owned();
    let tip = format!("{short} (HEAD -> main) c");
    place.mnem(&["log", "-n1", "--oneline", "--name-status"]).says(&format!("{tip}\nA a\\u{{202e}}\n"), "");
    place.mnem(&["log", "-n1", "--oneline", "--name-status", "-z"]).says(&format!("{tip}\0A a\u{202e}\0"), "");
    place
        .mnem(&["log", "-n1", "--oneline", "--stat"])
        .says(&format!("{tip}\n a\\u{{202e}} | A +2 -0\n 1 node changed, +2 -0 lines\n"), "");
}

#[test]
fn a_filter_that_is_none_is_refused() {
    let place = Place::with_story();
    let time = "a time looks like 2026-11-30T18:05:00+01:00, '2026-11-30 18:05', '2 days ago' or @1764522300";
    let help = "see 'mnem log --help'";
    for (arguments, said) in [
        (&["--since", "soon"][..], format!("bad-time]: --since: cannot read 'soon' as a time\nhint: {time}")),
        (&["--until", ""], format!("bad-time]: --until: cannot read '' as a time\nhint: {time}")),
        (&["--event-since", "soon"], format!("bad-time]: --event-since: cannot read 'soon' as a time\nhint: {time}")),
        (&["--event-until", ""], format!("bad-time]: --event-until: cannot read '' as a time\nhint: {time}")),
        (&["--author", "("], "bad-pattern]: --author '(': unclosed group".to_owned()),
        (
            &["--grep", "[z-a]"],
            "bad-pattern]: --grep '[z-a]': invalid character class range, the start must be <= the end".to_owned(),
        ),
        (&["-G", "("], "bad-pattern]: -G '(': unclosed group".to_owned()),
        (
            &["-S", "a", "-G", "b"],
            format!("usage]: the argument '-S <TEXT>' cannot be used with '-G <REGEX>'\nhint: {help}"),
        ),
        (
            &["--all", "-r", "HEAD"],
            format!("usage]: the argument '--all' cannot be used with '--rev <REV>'\nhint: {help}"),
        ),
        (&["--stat", "--ids"], format!("usage]: the argument '--stat' cannot be used with '--ids'\nhint: {help}")),
        (
            &["--stat", "--name-status"],
            format!("usage]: the argument '--stat' cannot be used with '--name-status'\nhint: {help}"),
        ),
        (
            &["--name-status", "--ids"],
            format!("usage]: the argument '--name-status' cannot be used with '--ids'\nhint: {help}"),
        ),
    ] {
        place.mnem(&["log"]).arguments(arguments).refuses(129, &format!("mnem: error[{said}\n"));
    }
}

#[test]
fn all_begins_at_every_ref_and_leaves_out_what_is_named() {
    let place = Place::with_story();
    place.mnem(&["switch", "-qc", "side", SECOND]).output();
    place.mnem(&["log", "--all", "--ids", "^side"]).says(&ids(&[THIRD]), "");
    place.mnem(&["log", "--all", "--ids", "^main"]).says("", "");
    place.mnem(&["log", "--all", "--ids", "^main"]).env("MNEM_REV", FIRST).says("", "");
    // HEAD counts where no ref names it.
    place.mnem(&["switch", "-q", "--detach", "HEAD"]).output();
    place.mnem(&["put", "k", "v", "-qm", "alone"]).output();
    let head = place.mnem(&["rev-parse", "HEAD"]).output();
    place.mnem(&["log", "--all", "--ids", "^main"]).says(&head, "");
    let unborn = Place::with_store();
    unborn.mnem(&["log", "--all"]).says("", "");
}

#[test]
fn an_option_behind_dashes_is_a_pattern_and_told_where_it_chooses_nothing() {
    let place = Place::with_story();
    let note = |text: &str| format!("note: '{text}' is a pattern; options stand before the '--'\n");
    for verb in ["log", "diff"] {
        place.mnem(&[verb, "--", "user/x", "--oneline\u{202e}"]).says("", &note("--oneline\\u{202e}"));
        place.mnem(&[verb, "-q", "--", "--stat"]).says("", "");
        place.mnem(&[verb, "--", "-x", "none"]).says("", "");
    }
    assert_eq!(place.mnem(&["show", "--", "--stat"]).answer().stderr, note("--stat"));
    assert_eq!(place.mnem(&["log", "--", "--stat", "user/"]).answer().stderr, "");
    place.mnem(&["put", "-qm", "m", "--", "--stat", "v"]).output();
    assert_eq!(place.mnem(&["log", "--", "--stat"]).answer().stderr, "");
}
