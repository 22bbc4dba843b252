//! `mnem redact`, and what other commands say of a redacted node.

use super::support::{FIRST, Place, SECOND, THIRD};

const SAID: &str = "redacted 1 version of 1 node\ncopies, exports and bundles that were made before still hold it\n";
const MARK: &str = "redacted 2025-12-01T08:00:00.000+00:00 by Ada <ada@example.org>: a lie";

/// A story whose node `user/diet`, of two versions, is redacted.
fn redacted() -> Place {
    let place = Place::with_story();
    place
        .mnem(&["redact", "user/diet", "--reason", "a lie"])
        .says("user/diet\n", &SAID.replace("1 version", "2 versions"));
    place
}

#[test]
fn who_did_it_and_why_is_told_in_place_of_what_the_node_said() {
    let place = redacted();
    let refused = |text: &str| {
        format!("mnem: error[redacted]: 'user/diet' was {MARK}{text}\nhint: mnem blame --history -- user/diet\n")
    };
    place.mnem(&["get", "user/diet"]).refuses(1, &refused(""));
    place.mnem(&["get", "user/diet", "--path", "/a"]).refuses(1, &refused(""));
    place.mnem(&["get", "-r", FIRST, "user/diet", "-t", "json"]).refuses(1, &refused(""));
    let rows = place.mnem(&["get", "--json", "user/diet", "no", "plan/dinner"]).answer();
    assert_eq!((rows.status, rows.stdout.lines().count()), (1, 3));
    assert!(rows.stderr.contains(&format!("'user/diet' was {MARK}; no node 'no'")), "{}", rows.stderr);
    place.mnem(&["ls"]).says("plan/dinner\nuser/diet\n", "");
    place.mnem(&["ls", "-l", "user/diet"]).says("1225f5ed2d ~2025-12-01T09:00:00.000+00:00  redacted user/diet\n", "");
    place.mnem(&["ls", "--source", "https://forum.example/t/88"]).says("", "");
    place
        .mnem(&["diff", FIRST, THIRD, "--", "user/diet"])
        .says(&format!("modified user/diet\n  old: [{MARK}]\n  new: [{MARK}]\n"), "");
    let shown = place.mnem(&["show", SECOND, "--", "user/diet"]).answer().stdout;
    assert!(shown.ends_with(&format!("modified user/diet\n  old: [{MARK}]\n  new: [{MARK}]\n")), "{shown}");
    place
        .mnem(&["blame", "user/diet"])
        .says(&format!("1225f5ed2d ~2025-12-01T09:00:00.000+00:00 Ada <ada@example.org>\n    [{MARK}]\n"), "");
    place
        .mnem(&["blame", "user/diet", "--by", "line"])
        .says(&format!("1225f5ed2d ~2025-12-01T09:00:00.000+00:00 Ada <ada@example.org>\n    [{MARK}]\n"), "");
    place
        .mnem(&["blame", "user/"])
        .says(&format!("1225f5ed2d ~2025-12-01T09:00:00.000+00:00 Ada <ada@example.org> user/diet [{MARK}]\n"), "");
    place
        .mnem(&["log", "--oneline", "--", "user/diet"])
        .says("1225f5ed2d plan the dinner\n8f53e073d1 learn how Maria eats\n", "");
    place.mnem(&["log", "-S", "steak", "--oneline"]).says("", "");
}

#[test]
fn no_predicate_matches_and_nothing_is_found() {
    let place = redacted();
    for words in [
        &["--present", "user/diet"][..],
        &["--absent", "user/diet"],
        &["--equals", "user/diet", "loves steak"],
        &["--contains", "user/diet", "steak"],
        &["--matches", "user/diet", "."],
        &["--path-exists", "user/diet", ""],
        &["--any", "user/", "steak"],
    ] {
        let answer = place.mnem(&["test"]).arguments(words.iter().copied()).answer();
        assert_eq!(answer.status, 1, "{words:?}");
    }
    place.mnem(&["test", "--present", "user/diet"]).ends(1, "", "--present user/diet: 'user/diet' is redacted\n");
    // It is still one of the nodes of the memory.
    assert_eq!(place.mnem(&["test", "--count", "user/", "eq", "1"]).answer().status, 0);
    assert_eq!(place.mnem(&["grep", "steak"]).answer().status, 1);
    let found = place.mnem(&["bisect", "find", "--present", "user/diet"]).answer();
    assert_ne!(found.status, 0, "it never was so: {}", found.stdout);
}

#[test]
fn what_stays_of_a_text_is_blamed_on_who_wrote_it_behind_the_redaction() {
    let place = Place::with_store();
    for (text, source) in [("one\ntwo\n", "web"), ("one\ntwo\nthree\n", ""), ("one\nTWO\nthree\n", "")] {
        place.mnem(&["put", "n", text, "--source", source, "-m", "m"]).answer();
    }
    place.mnem(&["redact", "n", "--source", "web"]).says("n\n", SAID);
    let ids: Vec<_> = place.mnem(&["log", "--ids"]).answer().stdout.lines().map(|id| id[..10].to_owned()).collect();
    let blame = place.mnem(&["blame", "n"]).answer().stdout;
    let by: Vec<_> = blame.lines().filter(|line| !line.starts_with(' ')).map(|line| line[..10].to_owned()).collect();
    assert_eq!(by, [ids[1].clone(), ids[0].clone(), ids[1].clone()], "{blame}");
}

#[test]
fn a_merge_and_a_revert_do_not_look_into_it() {
    let place = Place::with_store();
    place.mnem(&["put", "n", "a\nb\nc\n", "-m", "base"]).answer();
    place.mnem(&["switch", "-qc", "side"]).answer();
    place.mnem(&["put", "n", "a\nb\nC\n", "-m", "side"]).answer();
    place.mnem(&["switch", "-q", "main"]).answer();
    place.mnem(&["put", "n", "A\nb\nc\n", "-m", "main"]).answer();
    assert_eq!(place.mnem(&["merge", "--dry-run", "side"]).answer().status, 0);
    place.mnem(&["redact", "n"]).answer();
    // Texts that would go together do so no longer, for nobody knows them.
    assert_eq!(place.mnem(&["merge", "--dry-run", "side"]).answer().status, 3);
    let stopped = place.mnem(&["merge", "side"]).answer();
    assert_eq!((stopped.status, stopped.word()), (3, Some("conflict")));
    let told = place.mnem(&["status"]).answer().stdout;
    assert_eq!(told.matches("redacted 2025-12-01T08:00:00.000+00:00 by Ada").count(), 3, "{told}");
    place.mnem(&["merge", "--resolve", "n=theirs"]).answer();
    place.mnem(&["merge", "--continue"]).answer();
    assert_eq!(place.mnem(&["get", "n"]).answer().word(), Some("redacted"));
    place.mnem(&["revert", "-m", "1", "HEAD"]).answer();
    assert_eq!(place.mnem(&["diff", "HEAD", "HEAD~2"]).answer().stdout, "", "it is what it was before, and as unknown");
}

#[test]
fn what_is_said_again_is_not_kept_again() {
    let place = redacted();
    let put = |text: &str| place.mnem(&["put", "user/diet", text, "--source", "https://forum.example/t/88"]).answer();
    let again = put("loves steak");
    assert_eq!((again.status, again.stderr.as_str()), (0, "unchanged: 'user/diet'\n"));
    assert_eq!(place.mnem(&["get", "user/diet"]).answer().word(), Some("redacted"));
    put("loves tofu");
    place.mnem(&["get", "user/diet"]).says("loves tofu", "");
    place
        .mnem(&["redact", "user/diet"])
        .says("user/diet\n", &SAID.replace("1 version of", "0 versions and 1 staged change of"));
    place.mnem(&["redact", "user/diet"]).says("", "unchanged: every version is redacted already\n");
}

#[test]
fn a_row_of_a_marker_is_all_there_or_refused() {
    let place = redacted();
    let row = place.mnem(&["export", "user/diet"]).answer().stdout;
    for (from, to, said) in [
        ("\"redacted\":\"", "\"redacted\":\"x", "the key 'redacted' is no hash"),
        ("\"id\":\"user/diet\",", "", "beside the key 'redacted' the key 'id' is missing"),
        ("\"by\":\"Ada <ada@example.org>\",", "", "beside the key 'redacted' the key 'by' is missing"),
        ("\"id\"", "\"content\":1,\"id\"", "unknown key 'content'"),
        ("+00:00", "", "the key 'time'"),
    ] {
        let bad = row.replacen(from, to, 1);
        assert_ne!(bad, row);
        let refused = place.mnem(&["put", "--jsonl", "-"]).input(bad).answer();
        assert!(refused.status == 129 && refused.stderr.contains(said), "{}", refused.stderr);
    }
    place.mnem(&["put", "--jsonl", "-"]).input(row).says("user/diet\n", "unchanged: 1 of 1\n");
}
