//! `mnem merge`

use super::support::Place;

/// A text of which the two branches change different lines, and a scalar that both change.
const TEXT: &str = "one\ntwo\nthree\nfour\n";

/// `main` and `side` with changes that go together; the session stands on `main`.
fn parted() -> Place {
    let place = Place::with_store();
    put(&place, "text", TEXT, &[]);
    put(&place, "kept", "k", &["-m", "base"]);
    place.mnem(&["commit", "-qm", "text"]).output();
    place.mnem(&["switch", "-qc", "side"]).output();
    put(&place, "text", "one\ntwo\nthree\nFOUR\n", &["--source", "s", "-m", "side"]);
    place.mnem(&["switch", "-q", "main"]).output();
    put(&place, "text", "ONE\ntwo\nthree\nfour\n", &["--source", "m", "-m", "main"]);
    place
}

/// The same, and nodes that do not go together: `both` changed, `gone` removed here and changed there.
fn torn() -> Place {
    let place = Place::with_store();
    let rows = r#"{"id":"both","content":"b"}
        {"id":"gone","content":"g"}
        {"id":"text","content":"one\ntwo\nthree\nfour\n"}"#;
    place.mnem(&["put", "-q", "--jsonl", "-", "-m", "base"]).input(rows).output();
    place.mnem(&["switch", "-qc", "side"]).output();
    let rows = r#"{"id":"both","content":"theirs","provenance":{"source":"s"}}
        {"id":"gone","content":"changed"}
        {"id":"text","content":"one\ntwo\nthree\nFOUR\n"}"#;
    place.mnem(&["put", "-q", "--jsonl", "-", "-m", "side"]).input(rows).output();
    place.mnem(&["switch", "-q", "main"]).output();
    let rows = r#"{"id":"both","content":"ours"}
        {"id":"gone","deleted":true}
        {"id":"text","content":"ONE\ntwo\nthree\nfour\n"}"#;
    place.mnem(&["put", "-q", "--jsonl", "-", "-m", "main"]).input(rows).output();
    place
}

fn put(place: &Place, id: &str, content: &str, more: &[&str]) {
    place.mnem(&["put", "-q", id, "-"]).arguments(more).input(content).output();
}

fn commit(place: &Place, revision: &str) -> String {
    place.mnem(&["rev-parse", revision]).output().trim_end().to_owned()
}

fn short(place: &Place, revision: &str) -> String {
    commit(place, revision)[..10].to_owned()
}

/// All that a session and its store tell of themselves.
fn told(place: &Place) -> Vec<String> {
    let asked: [&[&str]; 8] = [
        &["status", "--json"],
        &["log", "--all", "--json"],
        &["branch", "--json"],
        &["reflog", "--json"],
        &["reflog", "main", "--json"],
        &["ls", "--json"],
        &["diff", "--json"],
        &["blame", "--json"],
    ];
    asked.iter().map(|arguments| place.mnem(arguments).output()).collect()
}

const STOPPED: &str = "hint: settle each with 'mnem merge --resolve ID=ours|theirs|base|delete' or 'mnem put ID CONTENT', \
     then 'mnem merge --continue'; or leave it with 'mnem merge --abort'\n";

/// The paragraphs of the two conflicts of [`torn`].
fn conflicts(place: &Place, both: &str, gone: &str, indent: &str) -> String {
    let (base, ours, theirs) = (short(place, "main~1"), short(place, "main"), short(place, "side"));
    let ada = "~2025-12-01T08:00:00.000+00:00 Ada <ada@example.org>";
    let text = format!(
        "both: {both}\n  base   \"b\"\n         {base} {ada}\n  ours   \"ours\"\n         {ours} {ada}\n  theirs \"theirs\"\n         \
         {theirs} {ada} (source: s)\n\
         gone: {gone}\n  base   \"g\"\n         {base} {ada}\n  ours   removed\n         {ours} {ada}\n  theirs \"changed\"\n         \
         {theirs} {ada}\n"
    );
    text.lines().map(|line| format!("{indent}{line}\n")).collect()
}

fn stop(place: &Place) {
    place.mnem(&["merge", "side"]).ends(
        3,
        &conflicts(place, "conflict", "conflict", ""),
        &format!("mnem: error[conflict]: 2 nodes conflict; nothing is changed yet\n{STOPPED}"),
    );
}

#[test]
fn changes_that_go_together_become_a_commit_with_two_parents() {
    let place = parted();
    let (main, side) = (commit(&place, "main"), commit(&place, "side"));
    let answer = place.mnem(&["merge", "side"]).answer();
    let id = commit(&place, "HEAD");
    assert_eq!(answer.stdout, format!("{id}\n"));
    let said = format!("{} (HEAD -> main) merge side into main\nto undo: mnem reset --hard {main}\n", &id[..10]);
    assert_eq!((answer.status, answer.stderr.as_str()), (0, said.as_str()));
    place.mnem(&["rev-parse", "HEAD^1", "HEAD^2", "ORIG_HEAD"]).says(&format!("{main}\n{side}\n{main}\n"), "");
    place.mnem(&["get", "text"]).says("ONE\ntwo\nthree\nFOUR\n", "");
    let row = place.mnem(&["get", "text", "--json"]).output();
    assert!(row.contains(r#""source":null,"note":"merge of main and side"}"#), "{row}");
    let blamed = place.mnem(&["blame", "text", "--json"]).output();
    let writers: Vec<_> = blamed.lines().map(|line| line.contains(&main) || line.contains(&side)).collect();
    assert_eq!(writers, [true, false, false, true]);
    assert_eq!(place.mnem(&["reflog", "-n", "1"]).output().split(' ').skip(3).collect::<Vec<_>>(), ["merge", "side\n"]);
    assert_eq!(place.undo(&answer).answer().status, 0);
    place.mnem(&["get", "text"]).says("ONE\ntwo\nthree\nfour\n", "");
}

#[test]
fn the_message_is_what_was_said() {
    let place = parted();
    place.mnem(&["merge", "side", "-m", "- one", "-m", "two", "-q"]).output();
    let row = place.mnem(&["log", "-n1", "--json"]).output();
    assert!(row.contains(r#""message":"- one\n\ntwo","refs":["refs/heads/main"]"#), "{row}");
    place.mnem(&["merge", "side", "-m", " "]).ends(
        129,
        "",
        "mnem: error[usage]: the message may not be blank\nhint: say what changed: -m 'learn preferences'\n",
    );
}

#[test]
fn what_head_has_is_not_merged_again() {
    let place = parted();
    let main = commit(&place, "main");
    let before = place.files();
    for revision in ["main", "main~1", "@"] {
        for option in ["--ff-only", "--no-ff", "--dry-run"] {
            let said = if option == "--dry-run" { String::new() } else { format!("{main}\n") };
            place.mnem(&["merge", revision, option]).says(&said, "already up to date\n");
        }
    }
    assert!(place.files() == before);
}

#[test]
fn a_branch_that_is_behind_moves_on() {
    let place = parted();
    let (main, base) = (commit(&place, "main"), commit(&place, "main~1"));
    place.mnem(&["switch", "-qc", "late", "main~1"]).output();
    put(&place, "new", "n", &[]);
    place.mnem(&["merge", "--dry-run", "main"]).says("M text\n", "the branch would move on\n");
    place
        .mnem(&["merge", "--ff-only", "main"])
        .says(&format!("{main}\n"), &format!("moved on to {} (HEAD -> late, main) main\n", &main[..10]));
    place.mnem(&["get", "new"]).says("n", "");
    place.mnem(&["restore", "-q", "new"]).output();
    place.mnem(&["reset", "-q", "--hard", &base]).output();
    let answer = place.mnem(&["merge", "main"]).answer();
    assert_eq!(answer.stderr.lines().last(), Some(format!("to undo: mnem reset --hard {base}").as_str()));
    assert_eq!(place.undo(&answer).answer().status, 0);
    let output = place.mnem(&["merge", "--no-ff", "main", "--json", "-q"]).output();
    assert!(output.contains(&format!("\"parents\":[\"{base}\",\"{main}\"]")), "{output}");
    place.mnem(&["diff", "main", "HEAD"]).says("", "");
}

#[test]
fn only_moving_on_is_refused_where_there_is_more_to_do() {
    let place = parted();
    let before = place.files();
    for option in [&["--ff-only"][..], &["--ff-only", "--dry-run"]] {
        place.mnem(&["merge", "side"]).arguments(option).ends(
            1,
            "",
            "mnem: error[not-fast-forward]: HEAD is no ancestor of 'side'\nhint: mnem merge side\n",
        );
    }
    assert!(place.files() == before);
}

#[test]
fn a_staged_change_that_would_be_hidden_speaks_against_it() {
    let place = parted();
    put(&place, "text", "mine", &[]);
    let before = place.files();
    let refused = "mnem: error[would-overwrite]: 'text': 1 node was staged, and otherwise changed there\n\
         hint: nothing was done; commit them with 'mnem commit -m MESSAGE', or take them back with 'mnem restore ID'\n";
    place.mnem(&["merge", "side"]).ends(1, "", refused);
    place.mnem(&["merge", "side", "--dry-run"]).ends(1, "", refused);
    assert!(place.files() == before);
    place.mnem(&["switch", "-qd", "main~1"]).ends(1, "", refused);
    place.mnem(&["restore", "-q", "text"]).output();
    place.mnem(&["switch", "-qd", "main~1"]).output();
    put(&place, "text", "mine", &[]);
    place.mnem(&["merge", "side"]).ends(1, "", refused);
    place.mnem(&["merge", "side", "--dry-run"]).ends(1, "", refused);
}

#[test]
fn what_is_staged_for_other_nodes_stays_staged() {
    let place = parted();
    put(&place, "kept", "staged", &[]);
    let id = place.mnem(&["merge", "side", "-q"]).output();
    place.mnem(&["diff", "--name-status"]).says("M kept\n", "");
    place.mnem(&["get", "kept", "-r", id.trim_end()]).says("k", "");
    let answer = place.mnem(&["merge", "side~1"]).answer();
    assert_eq!(answer.stderr, "already up to date\n");
}

#[test]
fn what_does_not_go_together_changes_nothing_and_waits() {
    let place = torn();
    let before = told(&place);
    place.mnem(&["merge", "--dry-run", "side"]).ends(
        3,
        &format!("M text\n{}", conflicts(&place, "conflict", "conflict", "")),
        "mnem: error[conflict]: 2 nodes would conflict\nhint: nothing was changed; go ahead without --dry-run\n",
    );
    assert!(told(&place) == before);
    stop(&place);
    assert_eq!(told(&place)[1..], before[1..]);
    let head = short(&place, "main");
    place.mnem(&["status"]).says(
        &format!(
            "session default on branch main at {head}\n\
             merging side ({}): 2 conflicts, 2 to settle\n{}\
             settle each with 'mnem merge --resolve ID=ours|theirs|base|delete' or 'mnem put ID CONTENT'; leave it with \
             'mnem merge --abort'\n",
            short(&place, "side"),
            conflicts(&place, "conflict", "conflict", "  "),
        ),
        "",
    );
    let other = place.mnem(&["status", "--session", "other"]).output();
    assert!(
        other.contains(&format!("  default on branch main at {head}, 0 staged changes, a merge in progress\n")),
        "{other}"
    );
    place.mnem(&["merge", "--continue"]).ends(
        3,
        "",
        "mnem: error[conflict]: 'both', 'gone': 2 conflicts are not settled\n\
         hint: mnem merge --resolve ID=ours|theirs|base|delete, or 'mnem put ID CONTENT'; see 'mnem status'\n",
    );
    place
        .mnem(&["merge", "--resolve", "both=theirs"])
        .says(&conflicts(&place, "settled: theirs", "conflict", ""), "1 conflict is left\n");
    place.mnem(&["get", "both"]).says("theirs", "");
    place.mnem(&["merge", "--resolve", "gone=theirs", "both=base"]).says(
        &conflicts(&place, "settled: base", "settled: theirs", ""),
        "all conflicts are settled; go on with 'mnem merge --continue'\n",
    );
    let merged = place.mnem(&["merge", "--continue"]).answer();
    let id = commit(&place, "HEAD");
    assert_eq!(
        (merged.status, merged.stdout, merged.stderr),
        (0, format!("{id}\n"), format!("{} (HEAD -> main) merge side into main\n", &id[..10]))
    );
    place.mnem(&["get", "both"]).says("b", "");
    place.mnem(&["get", "gone"]).says("changed", "");
    place.mnem(&["get", "text"]).says("ONE\ntwo\nthree\nFOUR\n", "");
    place.mnem(&["rev-parse", "HEAD^1", "HEAD^2"]).output();
    place.mnem(&["status"]).says(
        &format!(
            "session default on branch main at {}\nnothing to commit; stage a change with 'mnem put ID CONTENT'\n",
            &id[..10]
        ),
        "",
    );
}

#[test]
fn each_way_to_settle_gives_what_it_says() {
    for (ways, both, gone) in [
        (&["both=ours", "gone=ours"][..], Some("ours"), None),
        (&["both=theirs", "gone=theirs"], Some("theirs"), Some("changed")),
        (&["both=base", "gone=base"], Some("b"), Some("g")),
        (&["both=delete", "gone=delete"], None, None),
        (&["both=delete", "gone=ours", "both=ours"], Some("ours"), None),
    ] {
        let place = torn();
        stop(&place);
        place.mnem(&["merge", "-q", "--resolve"]).arguments(ways).output();
        place.mnem(&["merge", "-q", "--continue"]).output();
        for (id, content) in [("both", both), ("gone", gone)] {
            let answer = place.mnem(&["get", id]).answer();
            assert_eq!((answer.status == 0).then_some(answer.stdout.as_str()), content, "{id} {ways:?}");
        }
        place.mnem(&["rev-parse", "HEAD^2"]).says(&format!("{}\n", commit(&place, "side")), "");
    }
}

#[test]
fn put_rm_and_restore_settle_too_also_with_what_stands_already() {
    for (settle, both, gone) in [
        (&[&["put", "both", "new"][..], &["put", "gone", "new"]][..], Some("new"), Some("new")),
        (&[&["put", "both", "ours"], &["rm", "gone"]], Some("ours"), None),
        (&[&["rm", "both"], &["restore", "gone"]], None, None),
        (&[&["restore", "both"], &["restore", "-s", "side", "gone"]], Some("ours"), Some("changed")),
        (&[&["put", "both", "new"], &["restore", "both", "gone"]], Some("ours"), None),
        (&[&["restore", "-s", "main~1", "*"]], Some("b"), Some("g")),
        (&[&["put", "both", "theirs", "--source", "s"], &["rm", "gone", "both"]], None, None),
    ] {
        let place = torn();
        stop(&place);
        settle.iter().for_each(|arguments| drop(place.mnem(arguments).arguments(["-q"]).output()));
        place.mnem(&["merge", "--continue", "-qm", "settled"]).output();
        for (id, content) in [("both", both), ("gone", gone)] {
            let answer = place.mnem(&["get", id]).answer();
            assert_eq!((answer.status == 0).then_some(answer.stdout.as_str()), content, "{id} {settle:?}");
        }
        assert!(place.mnem(&["log", "-n1", "--oneline"]).output().ends_with("(HEAD -> main) settled\n"));
        place.mnem(&["diff"]).says("", "");
    }
}

#[test]
fn a_pattern_takes_back_what_is_staged_and_settles_nothing() {
    let place = torn();
    stop(&place);
    place.mnem(&["put", "-q", "both", "new"]).output();
    place.mnem(&["restore", "-q", "*"]).output();
    let status = place.mnem(&["status"]).output();
    assert!(status.contains("2 conflicts, 2 to settle\n"), "{status}");
    place.mnem(&["get", "both"]).says("ours", "");
}

#[test]
fn the_notes_of_merges_are_no_conflict() {
    let lines = |one: &str, five: &str| format!("{one}\n2\n3\n4\n{five}\n");
    // Each side merges what the other was, and both have the same then.
    let place = Place::with_store();
    put(&place, "x", &lines("1", "5"), &["-m", "base"]);
    place.mnem(&["switch", "-qc", "side"]).output();
    put(&place, "x", &lines("1", "S"), &["-m", "side"]);
    place.mnem(&["switch", "-q", "main"]).output();
    put(&place, "x", &lines("M", "5"), &["-m", "main"]);
    place.mnem(&["tag", "-q", "was"]).output();
    place.mnem(&["merge", "-q", "side"]).output();
    place.mnem(&["switch", "-q", "side"]).output();
    place.mnem(&["merge", "-q", "was"]).output();
    place.mnem(&["branch", "-q", "crossed"]).output();
    place.mnem(&["switch", "-q", "main"]).output();
    place.mnem(&["merge", "-q", "side"]).output();
    place.mnem(&["get", "x"]).says(&lines("M", "S"), "");
    // One of them goes on.
    place.mnem(&["switch", "-q", "crossed"]).output();
    put(&place, "x", &lines("M", "SS"), &["--source", "s", "-m", "goes on"]);
    place.mnem(&["switch", "-qc", "again", "main~1"]).output();
    place.mnem(&["merge", "-q", "crossed"]).output();
    place.mnem(&["get", "x"]).says(&lines("M", "SS"), "");
    // The same source is taken back on both.
    let place = Place::with_store();
    put(&place, "x", &lines("1", "5"), &["-m", "base"]);
    put(&place, "x", &lines("BAD", "5"), &["-m", "bad", "--source", "bad"]);
    put(&place, "x", &lines("BAD", "good"), &["-m", "good"]);
    place.mnem(&["switch", "-qc", "side"]).output();
    place.mnem(&["revert", "-q", "--source", "bad"]).output();
    place.mnem(&["switch", "-q", "main"]).output();
    place.mnem(&["revert", "-q", "--source", "bad"]).output();
    place.mnem(&["merge", "-q", "side"]).output();
    place.mnem(&["get", "x"]).says(&lines("1", "good"), "");
}

#[test]
fn rm_of_what_is_no_conflict_and_absent_is_refused_as_ever() {
    let place = torn();
    stop(&place);
    place.mnem(&["rm", "gone", "nothing"]).ends(
        1,
        "",
        "mnem: error[no-node]: no node 'gone', 'nothing'\nhint: see 'mnem ls'\n",
    );
    place.mnem(&["restore", "nothing"]).ends(
        1,
        "",
        "mnem: error[no-node]: no node matches 'nothing'\nhint: see 'mnem status' and 'mnem ls'\n",
    );
}

#[test]
fn what_is_staged_meanwhile_for_the_merge_is_part_of_it_and_the_rest_stays() {
    let place = torn();
    put(&place, "before", "1", &[]);
    stop(&place);
    put(&place, "other", "1", &[]);
    put(&place, "text", "mine", &[]);
    place.mnem(&["merge", "-q", "--resolve", "both=ours", "gone=ours"]).output();
    place.mnem(&["merge", "-q", "--continue"]).output();
    place.mnem(&["get", "text", "-r", "HEAD"]).says("mine", "");
    place.mnem(&["diff", "--name-status"]).says("A before\nA other\n", "");
}

#[test]
fn what_would_go_past_the_merge_is_refused_meanwhile() {
    let place = torn();
    stop(&place);
    let before = place.files();
    for arguments in [
        &["commit", "-m", "x"][..],
        &["commit", "--amend"],
        &["put", "k", "v", "-m", "x"],
        &["put", "k", "v", "-m", "x", "--dry-run"],
        &["rm", "both", "-m", "x"],
        &["switch", "side"],
        &["switch", "-c", "new"],
        &["switch", "--detach"],
        &["reset", "main~1"],
        &["reset", "--soft"],
        &["merge", "side"],
        &["merge", "--dry-run", "side"],
        &["revert", "HEAD"],
        &["revert", "--continue"],
        &["revert", "--abort"],
        &["revert", "--resolve", "both=ours"],
    ] {
        place.mnem(arguments).ends(
            3,
            "",
            "mnem: error[in-progress]: a merge is in progress\nhint: see 'mnem status'; finish it with 'mnem merge --continue', \
             or leave it with 'mnem merge --abort'\n",
        );
    }
    let rows = "{\"id\":\"k\",\"content\":1}\n{\"commit\":{\"message\":\"x\"}}";
    for arguments in [&["put", "--jsonl", "-", "--commits"][..], &["import", "-", "-m", "x"]] {
        let rows = if arguments[0] == "put" { rows } else { "{\"id\":\"k\",\"content\":1}" };
        let answer = place.mnem(arguments).input(rows).answer();
        assert_eq!((answer.status, answer.stdout.as_str()), (3, ""), "{arguments:?} {}", answer.stderr);
    }
    assert!(place.files() == before);
    place.mnem(&["put", "k", "v", "-qm", "x", "--session", "other"]).output();
}

#[test]
fn leaving_it_leaves_all_as_it_was() {
    let place = torn();
    put(&place, "staged", "1", &[]);
    let before = told(&place);
    stop(&place);
    let main = commit(&place, "main");
    let said = "left the merge of side\nto undo: mnem merge side\n";
    place.mnem(&["merge", "--abort"]).says(&format!("{main}\n"), said);
    assert!(told(&place) == before);
    stop(&place);
    place.mnem(&["merge", "-q", "--resolve", "both=theirs", "gone=ours"]).output();
    put(&place, "text", "mine", &[]);
    let answer = place.mnem(&["merge", "--abort"]).answer();
    let said = "left the merge of side\n3 changes are no longer staged\nto undo: mnem merge side || printf ";
    assert!(answer.stderr.starts_with(said), "{answer:?}");
    assert!(told(&place) == before);
    // What was settled once is forgotten.
    stop(&place);
    place.mnem(&["merge", "--continue"]).answer();
    place.mnem(&["merge", "-q", "--abort"]).output();
    assert!(told(&place) == before);
}

#[test]
fn without_a_merge_there_is_nothing_to_go_on_with() {
    let place = torn();
    let before = place.files();
    for arguments in [&["--continue"][..], &["--abort"], &["--resolve", "both=ours"]] {
        place.mnem(&["merge"]).arguments(arguments).ends(
            129,
            "",
            "mnem: error[usage]: no merge is in progress\nhint: see 'mnem status'\n",
        );
    }
    assert!(place.files() == before);
}

#[test]
fn wrong_calls_are_told_and_change_nothing() {
    let place = torn();
    stop(&place);
    let before = place.files();
    for (arguments, status, said) in [
        (
            &["--resolve", "both=mine"][..],
            129,
            "usage]: --resolve: 'both=mine' does not say on what a conflict is settled\nhint: such as --resolve user/diet=theirs",
        ),
        (
            &["--resolve", "both"],
            129,
            "usage]: --resolve: 'both' does not say on what a conflict is settled\nhint: such as --resolve user/diet=theirs",
        ),
        (&["--resolve", "both=ours", "text=ours"], 1, "no-node]: 'text' is no conflict\nhint: see 'mnem status'"),
        (
            &["--resolve", "=ours"],
            129,
            "bad-id]: an id may not be blank\nhint: such as 'user/diet'; 'mnem put --new CONTENT' generates one",
        ),
        (&[], 129, "usage]: no branch is named\nhint: mnem merge NAME"),
    ] {
        place.mnem(&["merge"]).arguments(arguments).ends(status, "", &format!("mnem: error[{said}\n"));
    }
    for arguments in [
        &["--continue", "--abort"][..],
        &["side", "--continue"],
        &["--ff-only", "--no-ff", "side"],
        &["--abort", "-m", "x"],
        &["--resolve", "both=ours", "--continue"],
    ] {
        assert_eq!(place.mnem(&["merge"]).arguments(arguments).answer().status, 129, "{arguments:?}");
    }
    assert!(place.files() == before);
}

#[test]
fn an_id_with_an_equals_sign_or_a_dash_in_front_can_be_settled() {
    let place = Place::with_store();
    for id in ["a=b", "-x=ours"] {
        place.mnem(&["put", "-qm", "base", "--", id, "0"]).output();
    }
    place.mnem(&["switch", "-qc", "side"]).output();
    for id in ["a=b", "-x=ours"] {
        place.mnem(&["put", "-qm", "side", "--", id, "theirs"]).output();
    }
    place.mnem(&["switch", "-q", "main"]).output();
    for id in ["a=b", "-x=ours"] {
        place.mnem(&["put", "-qm", "main", "--", id, "ours"]).output();
    }
    assert_eq!(place.mnem(&["merge", "side"]).answer().status, 3);
    place.mnem(&["merge", "-q", "--resolve", "a=b=theirs", "--resolve=-x=ours=theirs"]).output();
    place.mnem(&["merge", "-q", "--continue"]).output();
    place.mnem(&["get", "a=b"]).says("theirs", "");
    place.mnem(&["get", "--", "-x=ours"]).says("theirs", "");
}

#[test]
fn another_session_may_move_the_branch_meanwhile() {
    let place = torn();
    stop(&place);
    place.mnem(&["merge", "-q", "--resolve", "both=theirs", "gone=ours"]).output();
    // What is not concerned is taken along.
    place.mnem(&["put", "-qm", "beside", "new", "n", "--session", "other"]).output();
    // What was settled against another version is a conflict again.
    place.mnem(&["put", "-qm", "again", "both", "ours too", "--session", "other"]).output();
    place.mnem(&["merge", "--continue"]).ends(
        3,
        "",
        "mnem: error[conflict]: 'both': 1 conflict is not settled\n\
         hint: mnem merge --resolve ID=ours|theirs|base|delete, or 'mnem put ID CONTENT'; see 'mnem status'\n",
    );
    let status = place.mnem(&["status"]).output();
    assert!(status.contains("2 conflicts, 1 to settle\n") && status.contains("ours   \"ours too\"\n"), "{status}");
    place.mnem(&["merge", "-q", "--resolve", "both=ours"]).output();
    place.mnem(&["merge", "-q", "--continue"]).output();
    place.mnem(&["get", "both"]).says("ours too", "");
    place.mnem(&["get", "new"]).says("n", "");
    place.mnem(&["rev-parse", "HEAD^2"]).says(&format!("{}\n", commit(&place, "side")), "");
}

#[test]
fn what_another_session_has_merged_meanwhile_is_done() {
    let place = torn();
    stop(&place);
    let other = ["--session", "other"];
    place.mnem(&["merge", "side"]).arguments(other).answer();
    place.mnem(&["merge", "--resolve", "both=theirs", "gone=theirs", "-q"]).arguments(other).output();
    let merged = place.mnem(&["merge", "--continue", "-q"]).arguments(other).output();
    place.mnem(&["merge", "--continue"]).says(&merged, "already up to date\n");
    place.mnem(&["merge", "--abort"]).ends(
        129,
        "",
        "mnem: error[usage]: no merge is in progress\nhint: see 'mnem status'\n",
    );
}

#[test]
fn before_the_first_commit_and_on_no_branch_it_merges_too() {
    let place = parted();
    let side = commit(&place, "side");
    place.mnem(&["branch", "-q", "-m", "side", "trunk"]).output();
    place.mnem(&["switch", "-q", "--detach", "main"]).output();
    let id = place.mnem(&["merge", "trunk", "-q"]).output();
    place.mnem(&["rev-parse", "HEAD", "HEAD^2"]).says(&format!("{id}{side}\n"), "");
    let row = place.mnem(&["get", "text", "--json"]).output();
    let note = format!(r#""note":"merge of {} and trunk"}}"#, short(&place, "main"));
    assert!(row.contains(&note), "{row}");
    let other = Place::with_store();
    other.mnem(&["put", "-qm", "first", "a", "1", "--session", "one"]).output();
    other.mnem(&["branch", "-q", "kept", "main"]).output();
    other.mnem(&["switch", "-q", "kept", "--session", "one"]).output();
    other.mnem(&["merge", "nothing"]).ends(
        128,
        "",
        "mnem: error[bad-revision]: unknown revision 'nothing'\nhint: see 'mnem log --oneline'\n",
    );
}

#[test]
fn a_hard_reset_leaves_the_merge_too() {
    let place = torn();
    stop(&place);
    place.mnem(&["merge", "-q", "--resolve", "both=theirs"]).output();
    let answer = place.mnem(&["reset", "--hard"]).answer();
    assert_eq!((answer.status, answer.stdout), (0, format!("{}\n", commit(&place, "HEAD"))));
    let said = "what was in progress is left\n1 change is no longer staged\nto undo: mnem merge side || printf";
    assert!(answer.stderr.contains(said), "{}", answer.stderr);
    let undone = torn();
    stop(&undone);
    undone.mnem(&["merge", "-q", "--resolve", "both=ours", "gone=ours"]).output();
    let settled = undone.mnem(&["status"]).output();
    undone.undo(&undone.mnem(&["reset", "--hard"]).answer()).answer();
    assert_eq!(undone.mnem(&["status"]).output(), settled);
    place.mnem(&["commit", "-m", "x"]).ends(
        1,
        "",
        "mnem: error[nothing-to-commit]: nothing to commit\n\
         hint: stage a change with 'mnem put', or commit as it is with '--allow-empty'\n",
    );
}

#[test]
fn json_tells_the_sides_and_who_wrote_them() {
    let place = torn();
    let answer = place.mnem(&["merge", "side", "--json"]).answer();
    let mut rows = answer.stdout.lines();
    let (base, ours, theirs) = (commit(&place, "main~1"), commit(&place, "main"), commit(&place, "side"));
    let by = r#""author":"Ada <ada@example.org>","time":"2025-12-01T08:00:00.000+00:00""#;
    let both = rows.next().expect("a row");
    for part in [
        r#"{"v":1,"type":"conflict","id":"both","base":{"state":"node","node":{"v":1,"type":"node","id":"both","#,
        &format!(r#""event_time":null}},"commit":"{base}",{by},"last":null}},"ours":{{"state":"node""#),
        &format!(r#""commit":"{ours}",{by},"last":null}},"theirs""#),
        &format!(r#""commit":"{theirs}",{by},"last":null}},"settled":null}}"#),
    ] {
        assert!(both.contains(part), "{part}\n{both}");
    }
    let gone = rows.next().expect("a row");
    let removed = format!(r#""ours":{{"state":"removed","node":null,"commit":"{ours}",{by},"last":"g"}},"theirs""#);
    assert!(gone.contains(&removed), "{gone}");
    assert_eq!((answer.status, rows.next()), (3, None));
    let error =
        "{\"v\":1,\"type\":\"error\",\"code\":\"conflict\",\"message\":\"2 nodes conflict; nothing is changed yet\",";
    assert!(answer.stderr.starts_with(error), "{}", answer.stderr);
}
