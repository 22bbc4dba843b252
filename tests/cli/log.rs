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
