//! `mnem bisect run`: what a search finds, and what it does not

use super::support::{Answer, Place, Run, lines};
use serde_json::{Value, json};
use std::fs;

/// A run of `mnem bisect run` whose scripts know the binary as `$MNEM`.
pub fn search(place: &Place, arguments: &[&str]) -> Run {
    place.mnem(&["bisect", "run"]).arguments(arguments).env("MNEM", env!("CARGO_BIN_EXE_mnem"))
}

/// The same with a script that tests, and options before it.
pub fn script(place: &Place, options: &[&str], script: &str) -> Run {
    search(place, options).arguments(["--", "sh", "-c", script])
}

/// A script that says good where the node `n` is less than this.
pub fn below(limit: usize) -> String {
    format!(r#"[ "$("$MNEM" get n)" -lt {limit} ]"#)
}

/// It names this commit, and no other.
#[track_caller]
pub fn finds(answer: &Answer, commit: &str) {
    assert!(answer.status == 0 && answer.stdout == format!("{commit}\n"), "{answer:?}");
    let last: Vec<_> = answer.stderr.lines().rev().take(20).filter(|line| line.contains("first bad")).collect();
    assert_eq!(last, [format!("{commit} is the first bad commit")]);
}

/// It ends with this status and names no commit.
#[track_caller]
pub fn names_none(answer: &Answer, status: i32, stdout: &str) {
    assert!(answer.status == status && answer.stdout == stdout, "{answer:?}");
    assert!(!answer.stderr.contains("first bad"), "{answer:?}");
}

/// How often the scripts wrote a line to this file.
fn count(place: &Place, file: &str) -> usize {
    let text = fs::read_to_string(place.path(file)).unwrap_or_default();
    fs::remove_file(place.path(file)).expect("it was there");
    text.lines().count()
}

/// The lines of a report.
pub fn rows(place: &Place, file: &str) -> Vec<Value> {
    let text = fs::read_to_string(place.path(file)).expect("a report");
    assert!(text.ends_with('\n'));
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// The runs of a report as what they were for and what the commit sets `n` to.
fn runs(rows: &[Value], commits: &[String]) -> Vec<(String, usize)> {
    let run = |row: &Value| {
        let at = commits.iter().position(|commit| row["commit"] == **commit).expect("one of the commits");
        (row["purpose"].as_str().expect("text").to_owned(), at)
    };
    rows.iter().filter(|row| row["type"] == "run").map(run).collect()
}

/// `main` has 0, 1 and 2 in `n`; `side` goes on from the first one with three values of `s`, and is merged.
fn merged(side: [usize; 3]) -> (Place, Vec<String>, Vec<String>, String) {
    let (place, main) = Place::with_values([0]);
    place.mnem(&["switch", "-qc", "side"]).output();
    let side = place.set("s", side);
    place.mnem(&["switch", "-q", "main"]).output();
    let main = [main, place.set("n", [1, 2])].concat();
    let merge = place.mnem(&["merge", "-q", "side", "-m", "merge"]).answer();
    assert_eq!(merge.status, 0, "{merge:?}");
    let merge = place.mnem(&["rev-parse", "HEAD"]).output().trim().to_owned();
    (place, main, side, merge)
}

#[test]
fn it_prints_the_culprit_and_says_what_a_person_asks_next() {
    let (place, commits) = Place::with_values(0..9);
    let [good, second, culprit, third, bad] = [0, 2, 3, 4, 8].map(|at: usize| &commits[at][..10]);
    let told = format!(
        "{bad} bad (the bad end), run 1: exit 1: set n to 8\n\
         {good} good (a good end), run 2: exit 0: set n to 0\n\
         {third} bad, run 3: exit 1: set n to 4\n\
         4 commits left, about 2 steps\n\
         {second} good, run 4: exit 0: set n to 2\n\
         2 commits left, about 1 step\n\
         {culprit} bad, run 5: exit 1: set n to 3\n\
         {culprit} bad (to confirm), run 6: exit 1: set n to 3\n\
         {second} good (to confirm), run 7: exit 0: set n to 2\n\
         {} is the first bad commit\n\
         2025-12-01T08:00:00.000+00:00 Ada <ada@example.org>: set n to 3\n  M n\n\
         found with 7 runs; to look into it:\n  mnem show {culprit}\n  mnem blame -r {culprit} -- n\n  mnem revert {culprit}\n",
        commits[3],
    );
    script(&place, &["--range", "HEAD~8..HEAD"], &below(3)).says(&format!("{}\n", commits[3]), &told);
    script(&place, &["--good", &commits[0], "--bad", "main"], &below(3)).says(&format!("{}\n", commits[3]), &told);
    let answer = script(&place, &["--range", "HEAD~8..HEAD", "--json"], &below(3)).answer();
    assert_eq!((answer.status, answer.stderr.as_str()), (0, told.as_str()));
    let commit = place.mnem(&["log", "-n1", &commits[3], "--json"]).output();
    let mut told: Value = serde_json::from_str(&answer.stdout).expect("JSON");
    assert_eq!(told["commit"].take(), serde_json::from_str::<Value>(&commit).expect("JSON"));
    assert_eq!(
        told,
        json!({"v": 1, "type": "bisect", "outcome": "found", "commit": null, "candidates": [commits[3]],
            "bad": commits[8], "good": [commits[0]], "runs": 7, "spared": 0, "one_of_several": false, "flaky": null})
    );
}

#[test]
fn it_finds_each_commit_between_the_ends() {
    let (place, commits) = Place::with_values(0..9);
    for (limit, culprit) in commits.iter().enumerate().skip(1) {
        finds(&script(&place, &["--range", "HEAD~8..HEAD"], &below(limit)).answer(), culprit);
    }
    for culprit in [1, 5, 8] {
        let answer = script(&place, &["--range", "HEAD~8..HEAD", "-j", "3"], &below(culprit)).answer();
        finds(&answer, &commits[culprit]);
        let range = format!("{}..{}", commits[culprit - 1], commits[culprit]);
        finds(&script(&place, &["--range", &range], &below(culprit)).answer(), &commits[culprit]);
    }
}

#[test]
fn it_tests_few_commits_of_many() {
    let (place, commits) = Place::with_values(0..200);
    let tests = format!("echo >>calls; {}", below(137));
    finds(&script(&place, &["--range", "HEAD~199..HEAD"], &tests).answer(), &commits[137]);
    let calls = count(&place, "calls");
    assert!(calls <= 12, "{calls}");
    let options = ["--range", "HEAD~199..HEAD", "-j", "4", "--report", "report"];
    finds(&script(&place, &options, &below(137)).answer(), &commits[137]);
    let found = runs(&rows(&place, "report"), &commits);
    let searched = found.iter().filter(|(purpose, _)| purpose == "search").count();
    assert!(searched <= 16, "four rounds of four: {found:?}");
}

#[test]
fn several_commits_are_tested_at_once() {
    let (place, commits) = Place::with_values(0..9);
    fifo(&place, "fifo");
    let waits = "if [ $MNEM_BISECT_RUN -gt 2 ]; then
        if mkdir first 2>/dev/null; then read x <fifo; elif mkdir second 2>/dev/null; then echo >fifo; fi
    fi;";
    let options = ["--range", "HEAD~8..HEAD", "-j", "2", "--timeout", "60s", "--on-timeout", "abort"];
    finds(&script(&place, &options, &format!("{waits} {}", below(5))).answer(), &commits[5]);
}

pub fn fifo(place: &Place, name: &str) {
    let mode = rustix::fs::Mode::RWXU;
    rustix::fs::mknodat(rustix::fs::CWD, place.path(name), rustix::fs::FileType::Fifo, mode, 0).expect("a FIFO");
}

#[test]
fn what_cannot_be_tested_is_gone_around() {
    let (place, commits) = Place::with_values(0..9);
    let skips = |what: &str| format!("n=$(\"$MNEM\" get n); case $n in {what}) exit 125;; esac; [ $n -lt 5 ]");
    finds(&script(&place, &["--range", "HEAD~8..HEAD"], &skips("2|3|6")).answer(), &commits[5]);
    let answer = script(&place, &["--range", "HEAD~8..HEAD"], &skips("3|4")).answer();
    names_none(&answer, 2, &lines(&commits[3..=5]));
    let said = "mnem: error[bisect-inconclusive]: only commits are left that cannot be tested; 3 commits are left\n\
                hint: look at them by hand: mnem bisect start BAD GOOD\n";
    assert!(answer.stderr.ends_with(said), "{answer:?}");
    let answer = script(&place, &["--range", "HEAD~8..HEAD"], &skips("[1-7]")).answer();
    names_none(&answer, 2, &lines(&commits[1..]));
    let answer = script(&place, &["--range", "HEAD~8..HEAD", "--json"], &skips("[1-7]")).answer();
    let told: Value = serde_json::from_str(&answer.stdout).expect("JSON");
    assert_eq!(
        (answer.status, told),
        (
            2,
            json!({"v": 1, "type": "bisect", "outcome": "undecided", "commit": null, "candidates": commits[1..],
                "bad": commits[8], "good": [commits[0]], "runs": 9, "spared": 0, "one_of_several": false, "flaky": null})
        )
    );
    for (end, what) in [(8, "the bad"), (0, "the good")] {
        let answer = script(&place, &["--range", "HEAD~8..HEAD"], &skips(&end.to_string())).answer();
        names_none(&answer, 1, "");
        let said = format!("error[bisect-endpoints]: {what} end {} cannot be tested\n", commits[end]);
        assert!(answer.stderr.contains(&said), "{answer:?}");
    }
}

#[test]
fn commits_that_are_named_are_not_tested() {
    let (place, commits) = Place::with_values(0..16);
    let tests = format!("echo $MNEM_BISECT_REV >>calls; {}", below(12));
    for skip in [&["--skip", "HEAD~8..HEAD~5"][..], &["--skip", "HEAD~5", "--skip", "HEAD~6", "--skip", "HEAD~7"]] {
        let options = [&["--range", "HEAD~15..HEAD"], skip].concat();
        finds(&script(&place, &options, &tests).answer(), &commits[12]);
        let calls = fs::read_to_string(place.path("calls")).expect("calls");
        fs::remove_file(place.path("calls")).expect("it is there");
        assert!(commits[8..=10].iter().all(|commit| !calls.contains(commit)), "{skip:?}: {calls}");
    }
    let answer = script(&place, &["--range", "HEAD~15..HEAD", "--skip", "HEAD~5..HEAD~3"], &tests).answer();
    names_none(&answer, 2, &lines(&commits[11..=13]));
}

#[test]
fn a_program_that_cannot_be_run_or_does_not_say_accuses_no_commit() {
    let (place, commits) = Place::with_values(0..9);
    place.write("text", "no program");
    place.directory("folder");
    let hint = "hint: no shell reads the words: mnem exec -- sh -c 'COMMAND LINE'\n";
    for (program, said) in [
        ("nope", "there is no program 'nope'"),
        ("./nope", "there is no program './nope'"),
        ("./text", "'./text' is no program that may be run"),
        ("./folder", "'./folder' is no program that may be run"),
    ] {
        let said = format!("mnem: error[command-not-found]: {said}\n{hint}");
        search(&place, &["--range", "HEAD~8..HEAD", program]).refuses(128, &said);
    }
    let hint = "hint: 0 is good, 1 to 124 are bad, 125 is skip; what is missing or killed says nothing of a commit\n";
    for (how, said) in [
        ("exit 126", "ended with 126"),
        ("exit 127", "ended with 127"),
        ("exit 128", "ended with 128"),
        ("exit 255", "ended with 255"),
        ("kill -9 $$", "was killed by signal 9"),
        ("kill -11 $$", "was killed by signal 11"),
    ] {
        let told = |commit: &str| {
            let commit = &commit[..10];
            format!("mnem: error[io]: the program {said} at {commit}, so the search ends\n{hint}")
        };
        for options in [&[][..], &["--invert"]] {
            let options = [&["--range", "HEAD~8..HEAD"], options].concat();
            script(&place, &options, how).refuses(128, &told(&commits[8]));
        }
        let tests = format!("n=$(\"$MNEM\" get n); [ $n = 0 ] || [ $n = 8 ] || {how}; [ $n = 0 ]");
        let answer = script(&place, &["--range", "HEAD~8..HEAD"], &tests).answer();
        names_none(&answer, 128, "");
        assert!(answer.stderr.ends_with(&told(&commits[4])), "{answer:?}");
    }
    let tests = |bad: u8| format!("{} || exit {bad}", below(4));
    for bad in [1, 2, 124] {
        finds(&script(&place, &["--range", "HEAD~8..HEAD"], &tests(bad)).answer(), &commits[4]);
    }
}

#[test]
fn ends_that_are_not_what_they_are_said_to_be_are_told() {
    let (place, commits) = Place::with_values(0..4);
    let (good, bad) = (&commits[0], &commits[3]);
    let hint = "hint: look at what the program says there: mnem exec -r REV CMD\n";
    let first = format!("{} good (the bad end), run 1: exit 0: set n to 3\n", &bad[..10]);
    let said = format!("{first}mnem: error[bisect-endpoints]: the bad end {bad} tests good\n{hint}");
    search(&place, &["--range", "HEAD~3..HEAD", "true"]).refuses(1, &said);
    let first = format!("{} bad (the bad end), run 1: exit 1: set n to 3\n", &bad[..10]);
    let second = format!("{} bad (a good end), run 2: exit 1: set n to 0\n", &good[..10]);
    let said = format!("{first}{second}mnem: error[bisect-endpoints]: the good end {good} tests bad\n{hint}");
    search(&place, &["--range", "HEAD~3..HEAD", "false"]).refuses(1, &said);
    let said = format!(
        "mnem: error[bisect-endpoints]: the good end {bad} descends from the bad end {good}\n\
         hint: are the two swapped? mnem bisect run --range {good}..{bad} CMD\n"
    );
    search(&place, &["--range", "HEAD..HEAD~3", "true"]).refuses(1, &said);
    let said = format!(
        "mnem: error[bisect-endpoints]: commit {bad} is good and bad\n\
         hint: name a good end and a bad one: --range GOOD..BAD\n"
    );
    search(&place, &["--range", "HEAD..HEAD", "true"]).refuses(1, &said);
    search(&place, &["--good", "HEAD~1", "--good", "HEAD", "--bad", "main", "true"]).refuses(1, &said);
    for (end, missing) in [("--good", "--bad <REV>"), ("--bad", "--good <REV|auto>")] {
        let said = format!(
            "mnem: error[usage]: the following required arguments were not provided: {missing}\n\
             hint: see 'mnem bisect run --help'\n"
        );
        search(&place, &[end, "HEAD", "true"]).refuses(129, &said);
    }
    let said = "mnem: error[usage]: 'HEAD' has no two ends\nhint: such as --range GOOD..BAD\n";
    search(&place, &["--range", "HEAD", "true"]).refuses(129, said);
    let said = "mnem: error[usage]: --good auto stands alone\nhint: mnem bisect run --good auto --bad HEAD CMD\n";
    search(&place, &["--good", "auto", "--good", "HEAD~1", "--bad", "HEAD", "true"]).refuses(129, said);
}

#[test]
fn what_says_something_else_when_it_is_tested_again_yields_no_name() {
    let (place, commits) = Place::with_values(0..9);
    let range = ["--range", "HEAD~8..HEAD"];
    let tests = |attempt: u8, status: u8| {
        format!("echo >>calls; [ $MNEM_BISECT_ATTEMPT -lt {attempt} ] || exit {status}; {}", below(3))
    };
    let said = "mnem: error[bisect-inconclusive]: tested again, what was found says something else\n\
                hint: a test that is not steady needs --flaky\n";
    for (options, attempt, status, calls) in
        [(&[][..], 2, 0, 6), (&[], 2, 1, 7), (&["--confirm", "2"], 3, 0, 8), (&["--confirm", "2"], 3, 1, 9)]
    {
        let answer = script(&place, &[&range, options].concat(), &tests(attempt, status)).answer();
        names_none(&answer, 2, "");
        assert!(answer.stderr.ends_with(said), "{answer:?}");
        assert_eq!(count(&place, "calls"), calls);
    }
    for (options, attempt, calls) in
        [(&[][..], 3, 7), (&["--confirm", "0"], 2, 5), (&["--confirm", "2"], 4, 9), (&["--no-verify"], 1, 3)]
    {
        let options = [&range, options].concat();
        let tests = if attempt == 1 { format!("echo >>calls; {}", below(3)) } else { tests(attempt, 0) };
        finds(&script(&place, &options, &tests).answer(), &commits[3]);
        assert_eq!(count(&place, "calls"), calls, "{options:?}");
    }
}

#[test]
fn the_culprit_may_be_on_a_side_branch_or_be_the_merge() {
    let (place, main, side, merge) = merged([1, 2, 3]);
    let range = format!("{}..{merge}", main[0]);
    let tests = |limit: u8| format!("s=$(\"$MNEM\" get s 2>/dev/null || echo 0); [ $s -lt {limit} ]");
    for (at, culprit) in side.iter().enumerate() {
        finds(&script(&place, &["--range", &range], &tests(u8::try_from(at + 1).expect("few"))).answer(), culprit);
    }
    let both = r#"! { "$MNEM" get s && [ $("$MNEM" get n) = 2 ]; }"#;
    finds(&script(&place, &["--range", &range], both).answer(), &merge);
    for culprit in [1, 2] {
        finds(&script(&place, &["--range", &range], &below(culprit)).answer(), &main[culprit]);
    }
    let answer = script(&place, &["--range", &range, "--first-parent", "--report", "report"], &tests(2)).answer();
    finds(&answer, &merge);
    let commits = [&main[..], std::slice::from_ref(&merge)].concat();
    assert!(runs(&rows(&place, "report"), &commits).len() >= 4, "none of them is on the side");
}

#[test]
fn a_good_end_that_is_no_ancestor_puts_the_merge_base_to_the_test() {
    let (place, main, side, _) = merged([1, 2, 3]);
    let options = ["--good", &side[2], "--bad", &main[2], "--report", "report"];
    finds(&script(&place, &options, &below(2)).answer(), &main[2]);
    let purposes = runs(&rows(&place, "report"), &[&main[..], &side[2..]].concat());
    assert_eq!(purposes[2], ("merge-base".to_owned(), 0));
    let mended = r#""$MNEM" get s"#;
    let answer = script(&place, &options, mended).answer();
    names_none(&answer, 1, "");
    let said = format!(
        "mnem: error[bisect-endpoints]: the merge base {} is bad: what is looked for was mended on the way to a good end\n\
         hint: search with that as the bad end\n",
        main[0]
    );
    assert!(answer.stderr.ends_with(&said), "{answer:?}");
    let skips = format!("[ $MNEM_BISECT_REV = {} ] && exit 125; {}", main[0], below(2));
    let answer = script(&place, &options, &skips).answer();
    finds(&answer, &main[2]);
    let said = "warning: a merge base cannot be tested: the culprit may be elsewhere\n";
    assert!(answer.stderr.contains(said), "{answer:?}");
}

#[test]
fn a_good_end_is_looked_for_further_and_further_down() {
    let (place, commits) = Place::with_values(0..12);
    for (culprit, ladder) in
        [(11, &[10][..]), (10, &[10, 9]), (9, &[10, 9, 7]), (4, &[10, 9, 7, 3]), (2, &[10, 9, 7, 3, 0])]
    {
        let options = ["--good", "auto", "--bad", "HEAD", "--report", "report"];
        finds(&script(&place, &options, &below(culprit)).answer(), &commits[culprit]);
        let found = runs(&rows(&place, "report"), &commits);
        let found: Vec<_> = found.iter().filter(|(purpose, _)| purpose == "auto").map(|(_, at)| *at).collect();
        assert_eq!(found, ladder);
    }
    let answer = search(&place, &["--good", "auto", "--bad", "HEAD", "false"]).answer();
    names_none(&answer, 1, "");
    let said = "mnem: error[bisect-endpoints]: no commit before the bad end tests good\n\
                hint: name one that is good: --good REV\n";
    assert!(answer.stderr.ends_with(said), "{answer:?}");
}

#[test]
fn good_and_bad_may_be_the_other_way_round() {
    let (place, commits) = Place::with_values(0..9);
    let tests = format!("! {}", below(6));
    finds(&script(&place, &["--range", "HEAD~8..HEAD", "--invert"], &tests).answer(), &commits[6]);
    let skips = format!("[ $MNEM_BISECT_REV = {} ] && exit 125; {tests}", commits[4]);
    finds(&script(&place, &["--range", "HEAD~8..HEAD", "--invert"], &skips).answer(), &commits[6]);
}

#[test]
fn where_no_answer_comes_it_is_said_why() {
    let place = Place::with_store();
    let both: Vec<_> = [("n", 0..2), ("other", 0..1), ("n", 2..3)]
        .into_iter()
        .flat_map(|(id, values)| place.set(id, values))
        .collect();
    let range = format!("{}..{}", both[0], both[3]);
    let answer = script(&place, &["--range", &range, "--changed", "n"], r#""$MNEM" test -q --absent other"#).answer();
    names_none(&answer, 2, "");
    let said = "mnem: error[bisect-inconclusive]: what was found, or what stood before it, says something else\n\
                hint: another commit may have done it: search without --changed\n";
    assert!(answer.stderr.ends_with(said), "{answer:?}");
    let gone = ["--range", &range, "--junit", "gone/x", "sh", "-c", "echo >>calls"];
    let answer = search(&place, &gone).answer();
    assert!(answer.status == 128 && !place.path("calls").exists(), "{answer:?}");
}

#[test]
fn several_runs_of_a_commit_decide_together() {
    let (place, commits) = Place::with_values(0..9);
    // Which attempts fail before the culprit, and which from it on; how often each is run.
    for (bad_if, before, after, good_runs, bad_runs) in [
        (None, "", "3", 3, 3),
        (Some("any"), "", "2", 3, 2),
        (Some("majority"), "2", "1|3", 3, 3),
        (Some("majority"), "3", "1|2", 2, 2),
        (Some("all"), "1|2", "1|2|3", 3, 3),
    ] {
        let tests = format!(
            "if {}; then case $MNEM_BISECT_ATTEMPT in {}) exit 1;; esac; else case $MNEM_BISECT_ATTEMPT in {after}) exit 1;; esac; fi",
            below(5),
            if before.is_empty() { "none" } else { before },
        );
        let mut options = vec!["--range", "HEAD~8..HEAD", "--repeat", "3", "--confirm", "0", "--report", "report"];
        options.extend(bad_if.iter().flat_map(|how| ["--bad-if", how]));
        finds(&script(&place, &options, &tests).answer(), &commits[5]);
        let found = runs(&rows(&place, "report"), &commits);
        for (at, times) in [(0, good_runs), (8, bad_runs)] {
            assert_eq!(found.iter().filter(|(_, own)| *own == at).count(), times, "{bad_if:?} {at}");
        }
    }
}

#[test]
fn after_so_many_runs_it_gives_up() {
    let (place, commits) = Place::with_values(0..9);
    let tests = format!("echo >>calls; {}", below(3));
    for (most, left) in [
        ("1", &commits[1..]),
        ("2", &commits[1..]),
        ("3", &commits[1..5]),
        ("4", &commits[3..5]),
        ("6", &commits[3..4]),
    ] {
        let answer = script(&place, &["--range", "HEAD~8..HEAD", "--max-runs", most], &tests).answer();
        names_none(&answer, 2, &lines(left));
        assert_eq!(count(&place, "calls").to_string(), most);
        let commits = if left.len() == 1 { "1 commit is".to_owned() } else { format!("{} commits are", left.len()) };
        let fewer = if left.len() == 1 { "" } else { ", or look at fewer commits with --changed" };
        let said = format!(
            "mnem: error[bisect-inconclusive]: as many runs were made as --max-runs allows; {commits} left\n\
             hint: allow more{fewer}\n"
        );
        assert!(answer.stderr.ends_with(&said), "{answer:?}");
    }
    finds(&script(&place, &["--range", "HEAD~8..HEAD", "--max-runs", "7"], &tests).answer(), &commits[3]);
}

#[test]
fn equal_memories_are_tested_once() {
    let (place, commits) = Place::with_values([0, 1, 0, 1, 0, 1, 0, 1, 9]);
    let tests = format!("echo >>calls; {}", below(5));
    for (options, calls, spared) in [(&[][..], 5, 2), (&["-j", "3"], 5, 3), (&["--no-cache"], 7, 0)] {
        let options = [&["--range", "HEAD~8..HEAD", "--json"], options].concat();
        let answer = script(&place, &options, &tests).answer();
        let told: Value = serde_json::from_str(&answer.stdout).expect("JSON");
        assert_eq!(told["commit"]["id"], commits[8]);
        assert_eq!((count(&place, "calls"), told["spared"].as_u64()), (calls, Some(spared)), "{options:?}");
        assert_eq!(told["runs"], calls);
    }
}

#[test]
fn where_it_went_bad_more_than_once_that_is_said() {
    let (place, commits) = Place::with_values([0, 9, 0, 9, 0, 9]);
    let said = "warning: equal memories tested otherwise elsewhere between the ends: this is one of several changes\n";
    let answer = script(&place, &["--range", "HEAD~5..HEAD"], &below(5)).answer();
    assert!(answer.status == 0 && answer.stderr.contains(said), "{answer:?}");
    let id = answer.stdout.trim();
    assert!(commits.contains(&id.to_owned()), "{answer:?}");
    finds(&answer, id);
    let answer = script(&place, &["--range", "HEAD~5..HEAD", "--json"], &below(5)).answer();
    let told: Value = serde_json::from_str(&answer.stdout).expect("JSON");
    assert_eq!(told["one_of_several"], true);
    let answer = script(&place, &["--range", "HEAD~1..HEAD"], &below(5)).answer();
    assert!(!answer.stderr.contains("warning"), "{answer:?}");
}

#[test]
fn only_commits_that_changed_a_node_are_tested() {
    let (place, all) = Place::with_values(0..20);
    let first = place.set("rare/a", [1]);
    let more = place.set("n", 20..40);
    let second = place.set("rare/b", [1]);
    place.set("n", 40..60);
    let tests = format!("echo >>calls; {}", r#"! "$MNEM" get rare/b"#);
    let range = format!("{}..HEAD", all[0]);
    for pattern in
        [&["--changed", "rare/"][..], &["--changed", "rare/*"], &["--changed", "rare/a", "--changed", "rare/b"]]
    {
        let options = [&["--range", &range], pattern].concat();
        finds(&script(&place, &options, &tests).answer(), &second[0]);
        assert_eq!(count(&place, "calls"), 5, "{pattern:?}");
    }
    let tests = r#"! "$MNEM" get rare/a"#;
    finds(&script(&place, &["--range", &range, "--changed", "rare/"], tests).answer(), &first[0]);
    let said = "mnem: error[bisect-endpoints]: no commit between the ends changed such a node\n\
                hint: search without --changed\n";
    let range = format!("{}..{}", more[0], more[9]);
    search(&place, &["--range", &range, "--changed", "rare/", "--no-verify", "true"]).refuses(1, said);
    search(&place, &["--range", &range, "--changed", "n*", "--literal", "--no-verify", "true"]).refuses(1, said);
}

#[test]
fn each_run_is_written_down() {
    let (place, commits) = Place::with_values([0, 1, 0, 1, 9]);
    let tests =
        "echo out; echo err >&2; [ \"$(\"$MNEM\" get n)\" != 1 ] || [ $MNEM_BISECT_ATTEMPT != 1 ] || exec sleep 600";
    let tests = format!("{tests}; [ \"$(\"$MNEM\" get n)\" -lt 5 ] || exit 7");
    let options = [
        "--range",
        "HEAD~4..HEAD",
        "--report",
        "report",
        "--junit",
        "junit",
        "--log-dir",
        "logs/deep",
        "--timeout",
        "300ms",
    ];
    place.write("report", "what was there before");
    let answer = script(&place, &options, &tests).answer();
    names_none(&answer, 2, &lines(&[&commits[3], &commits[4]]));
    assert!(!answer.stderr.contains("\nout\n") && !answer.stderr.contains("err\n"), "{answer:?}");
    let mut told = rows(&place, "report");
    for row in &mut told {
        if let Some(milliseconds) = row.get_mut("milliseconds") {
            assert!(row_is_run(milliseconds));
            *milliseconds = json!("some");
        }
        if let Some(state) = row.get_mut("state") {
            assert_eq!(state.as_str().expect("an id").len(), 64);
            state.take();
        }
    }
    let run = |at: usize, number: usize, purpose: &str, verdict: &str, exit: Option<u8>| {
        json!({"v": 1, "type": "run", "run": number, "commit": commits[at], "state": null, "purpose": purpose,
            "attempt": 1, "verdict": verdict, "exit": exit, "timed_out": exit.is_none(), "milliseconds": "some"})
    };
    let known = |at: usize, verdict: &str| {
        json!({"v": 1, "type": "run", "run": null, "commit": commits[at], "state": null, "purpose": "search",
            "attempt": null, "verdict": verdict, "exit": null, "timed_out": false, "milliseconds": "some"})
    };
    let expected = [
        json!({"v": 1, "type": "bisect_start", "bad": commits[4], "good": [commits[0]], "command": ["sh", "-c", tests],
            "invert": false}),
        run(4, 1, "bad-end", "bad", Some(7)),
        run(0, 2, "good-end", "good", Some(0)),
        known(2, "good"),
        run(3, 3, "search", "skip", None),
        json!({"v": 1, "type": "bisect", "outcome": "undecided", "commit": null, "candidates": commits[3..],
            "bad": commits[4], "good": [commits[0]], "runs": 3, "spared": 1, "one_of_several": false, "flaky": null}),
    ];
    assert_eq!(told, expected);
    let case = |number: usize, at: usize, purpose: &str| {
        format!("<testcase classname=\"bisect\" name=\"run {number}: {} ({purpose})\"", commits[at])
    };
    let junit = fs::read_to_string(place.path("junit")).expect("a file");
    assert_eq!(
        junit,
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n\
             <testsuite name=\"bisect\" tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\">\n\
             {}>\n<failure message=\"bad\">bad</failure>\n</testcase>\n{}/>\n{}>\n<skipped/>\n</testcase>\n</testsuite>\n</testsuites>\n",
            case(1, 4, "bad-end"),
            case(2, 0, "good-end"),
            case(3, 3, "search"),
        )
    );
    for (number, at) in [(1, 4), (2, 0), (3, 3)] {
        let name = format!("logs/deep/{number:04}-{}.log", &commits[at][..10]);
        assert_eq!(fs::read_to_string(place.path(&name)).expect("a log"), "out\nerr\n", "{name}");
    }
    let blocked = "mnem: error[io]: 'PLACE/no/report': No such file or directory (os error 2)\n";
    let answer = search(&place, &["--range", "HEAD~4..HEAD", "--report", "no/report", "true"]).answer();
    assert_eq!((answer.status, answer.stderr.replace("[PLACE]", "PLACE").as_str()), (128, blocked));
}

/// A number for a run, and nothing for what was known.
fn row_is_run(milliseconds: &Value) -> bool {
    milliseconds.is_u64() || milliseconds.is_null()
}
