//! `mnem bisect narrow`, and `mnem bisect run --narrow`

use super::bisect_run::{finds, names_none, rows, script};
use super::support::{Answer, Files, Place, Run};
use serde_json::{Value, json};
use std::fs;

/// A run of `mnem bisect narrow` with a script that tests, and options before it.
fn narrow(place: &Place, options: &[&str], script: &str) -> Run {
    let run = place.mnem(&["bisect", "narrow"]).arguments(options).arguments(["--", "sh", "-c", script]);
    run.env("MNEM", env!("CARGO_BIN_EXE_mnem"))
}

/// The store, byte for byte, and that no copy is left.
fn stored(place: &Place) -> Files {
    assert!(place.copies().is_empty(), "a copy is left");
    place.stored()
}

/// A first commit with two nodes, and a second one that adds `a`, changes `b`, removes `c` and adds ten more. With the ids.
fn batch() -> (Place, [String; 2]) {
    let place = Place::with_store();
    let first = "{\"id\":\"b\",\"content\":\"old\"}\n{\"id\":\"c\",\"content\":\"gone\"}\n";
    let more: String = (0..10).map(|at| format!("{{\"id\":\"n/{at}\",\"content\":{at}}}\n")).collect();
    let second = format!(
        "{{\"id\":\"a\",\"content\":\"new\",\"provenance\":{{\"source\":\"forum\"}}}}\n{{\"id\":\"b\",\"content\":\"changed\"}}\n{{\"id\":\"c\",\"deleted\":true}}\n{more}"
    );
    let ids = [("first", first.to_owned()), ("second", second)].map(|(message, rows)| {
        let put = place.mnem(&["put", "--jsonl", "-", "-m", message]).input(rows);
        assert_eq!(put.answer().status, 0);
        place.mnem(&["rev-parse", "HEAD"]).output().trim().to_owned()
    });
    (place, ids)
}

/// It prints these ids, one a line, and ends with 0.
#[track_caller]
fn prints(answer: &Answer, ids: &[&str]) {
    let expected: String = ids.iter().map(|id| format!("{id}\n")).collect();
    assert!(answer.status == 0 && answer.stdout == expected, "{answer:?}");
}

const RANGE: [&str; 2] = ["--range", "HEAD~1..HEAD"];

#[test]
fn it_prints_the_nodes_and_says_who_wrote_them() {
    let (place, [_, second]) = batch();
    let before = stored(&place);
    let tests = |fails: &str| format!("! {{ {fails}; }}");
    let [added, changed, removed] =
        ["\"$MNEM\" test -q --present a", "\"$MNEM\" test -q --equals b changed", "\"$MNEM\" test -q --absent c"];
    prints(&narrow(&place, &RANGE, &tests(added)).answer(), &["a"]);
    prints(&narrow(&place, &RANGE, &tests(changed)).answer(), &["b"]);
    prints(&narrow(&place, &RANGE, &tests(removed)).answer(), &["c"]);
    prints(&narrow(&place, &RANGE, &tests(&format!("{added} && {removed}"))).answer(), &["a", "c"]);
    let all =
        narrow(&place, &[&RANGE[..], &["-j", "3"]].concat(), &tests(&format!("{added} && {changed} && {removed}")));
    let answer = all.answer();
    prints(&answer, &["a", "b", "c"]);
    let short = &second[..10];
    let date = "~2025-12-01T08:00:00.000+00:00 Ada <ada@example.org>";
    let said = format!(
        "{short} {date} a (source: forum) new\n{short} {date} b changed\n{short} {date} c removed gone [last: "
    );
    assert!(answer.stderr.contains(&said), "{answer:?}");
    assert!(
        answer.stderr.contains("\n13 changes left\n") && answer.stderr.contains("\n3 changes left\n"),
        "{answer:?}"
    );
    assert!(answer.stderr.lines().last().expect("a line").starts_with("narrowed down to 3 of 13 changes with "));
    assert_eq!(stored(&place), before);
}

#[test]
fn either_of_two_is_enough_and_both_may_be_needed() {
    let (place, _) = batch();
    let either = narrow(&place, &RANGE, "\"$MNEM\" test -q --absent n/3 || \"$MNEM\" test -q --absent n/8").answer();
    prints(&either, &["n/3", "n/8"]);
    let one = narrow(&place, &RANGE, "\"$MNEM\" test -q --absent n/3 --absent n/8").answer();
    assert!(one.stdout == "n/3\n" || one.stdout == "n/8\n", "{one:?}");
}

#[test]
fn where_a_smaller_set_cannot_be_tested_that_is_said() {
    let (place, _) = batch();
    let tests = "\"$MNEM\" test -q --absent n/3 || { \"$MNEM\" test -q --present a || exit 125; exit 1; }";
    let answer = narrow(&place, &RANGE, tests).answer();
    prints(&answer, &["a", "n/3"]);
    let said = "\nwarning: fewer may do: without one of these 1 set could not be tested\n";
    assert!(answer.stderr.contains(said), "{answer:?}");
    let told = narrow(&place, &[&RANGE[..], &["--json"]].concat(), tests).answer();
    assert_eq!(serde_json::from_str::<Value>(&told.stdout).expect("JSON")["untested"], 1);
    // Where rates are told apart a run that was late says nothing of the set.
    let (place, commits) = Place::with_values(0..20);
    let two = "{\"id\":\"x\",\"content\":1}\n{\"id\":\"y\",\"content\":1}\n";
    place.mnem(&["put", "--jsonl", "-", "-m", "two"]).input(two).output();
    place.set("n", 20..30);
    let tests = "[ $((MNEM_BISECT_ATTEMPT % 3)) != 1 ] || exit 125; \"$MNEM\" test -q --absent x";
    let range = format!("{}..HEAD", commits[0]);
    let answer = script(&place, &["--range", &range, "--flaky", "--narrow"], tests).answer();
    assert!(answer.status == 0 && answer.stdout.ends_with("\nx\n"), "{answer:?}");
    assert!(!answer.stderr.contains("warning"), "{answer:?}");
}

#[test]
fn a_try_is_a_memory_like_any_other() {
    let (place, [first, second]) = batch();
    let tests = "\"$MNEM\" blame n/3 >blame 2>&1; \"$MNEM\" log --oneline -n 1 >log; \"$MNEM\" log --ids >ids; env | grep ^MNEM_ >env
        \"$MNEM\" put mine 1 -m mine >/dev/null && \"$MNEM\" test -q --absent n/3";
    let before = stored(&place);
    let answer =
        narrow(&place, &[&RANGE[..], &["--export", "jsonl"]].concat(), &format!("cp $MNEM_EXPORT export; {tests}"))
            .answer();
    prints(&answer, &["n/3"]);
    assert_eq!(stored(&place), before);
    let read = |file: &str| fs::read_to_string(place.path(file)).expect("a file");
    // The last one is what was found, once more.
    assert!(
        read("blame").starts_with(&format!("{} ~2025-12-01T08:00:00.000+00:00 Ada", &second[..10])),
        "{}",
        read("blame")
    );
    assert!(read("log").ends_with(" try with 1 of 13 changes\n"), "{}", read("log"));
    let ids: Vec<_> = read("ids").lines().map(str::to_owned).collect();
    assert_eq!(ids[1..], [second.clone(), first.clone()]);
    let export: Vec<Value> = read("export").lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(export.iter().map(|row| row["id"].as_str().expect("text")).collect::<Vec<_>>(), ["b", "c", "n/3"]);
    let env = read("env");
    for line in [
        format!("MNEM_BISECT_REV={}\n", ids[0]),
        format!("MNEM_BISECT_GOOD={first}\n"),
        format!("MNEM_BISECT_BAD={second}\n"),
        "MNEM_BISECT=1\n".to_owned(),
        // What was found is tried once more.
        "MNEM_BISECT_ATTEMPT=2\n".to_owned(),
    ] {
        assert!(env.contains(&line), "{line}{env}");
    }
    assert!(!env.contains("MNEM_REV"), "{env}");
}

#[test]
fn where_there_is_nothing_to_narrow_that_is_said() {
    let (place, [first, second]) = batch();
    let refuses = |options: &[&str], script: &str, status: i32, said: &str| {
        let answer = narrow(&place, options, script).answer();
        assert!(answer.status == status && answer.stdout.is_empty(), "{answer:?}");
        assert!(answer.stderr.ends_with(said), "{said}: {answer:?}");
    };
    let hint = "hint: name a commit where it does";
    let without = format!(
        "mnem: error[bisect-endpoints]: it fails without any change, as at {first}\n{hint} not: --range GOOD..BAD\n"
    );
    refuses(&RANGE, "false", 1, &without);
    let with = format!(
        "mnem: error[bisect-endpoints]: it does not fail with all changes, as at {second}\n{hint}: --range GOOD..BAD\n"
    );
    refuses(&RANGE, "true", 1, &with);
    let untested = format!(
        "mnem: error[bisect-endpoints]: with all changes it cannot be tested, as at {second}\n\
         hint: look at what the program says there: mnem exec -r REV CMD\n"
    );
    refuses(&RANGE, "exit 125", 1, &untested);
    refuses(
        &["--range", "HEAD..HEAD"],
        "false",
        1,
        &format!(
            "mnem: error[bisect-endpoints]: no node differs between {second} and {second}\nhint: mnem bisect narrow --range GOOD..BAD CMD\n"
        ),
    );
    refuses(&["--range", "HEAD"], "false", 129, "hint: such as --range GOOD..BAD\n");
    refuses(&[], "false", 128, "hint: mnem bisect start BAD GOOD, or mnem bisect run --range GOOD..BAD CMD\n");
    refuses(&["--report", "none"], "false", 128, "none': No such file or directory (os error 2)\n");
    refuses(&RANGE, "exit 126", 128, "what is missing or killed says nothing of a commit\n");
}

#[test]
fn what_does_not_fail_the_second_time_is_not_named() {
    let (place, _) = Place::with_values(0..2);
    place
        .mnem(&["put", "--jsonl", "-", "-m", "two"])
        .input("{\"id\":\"x\",\"content\":1}\n{\"id\":\"y\",\"content\":1}\n")
        .output();
    let tests = "[ $MNEM_BISECT_RUN -ge $LAST ] || \"$MNEM\" test -q --absent x";
    let whole = narrow(&place, &RANGE, tests).env("LAST", "100").answer();
    prints(&whole, &["x"]);
    let runs = whole.stderr.lines().filter(|line| line.contains(", run ")).count();
    let answer = narrow(&place, &RANGE, tests).env("LAST", runs.to_string()).answer();
    names_none(&answer, 2, "");
    let said = "mnem: error[bisect-inconclusive]: tried again, what was found does not fail\n\
                hint: a test that is not steady needs more of --repeat, or the --report of a search with --flaky\n";
    assert!(answer.stderr.ends_with(said), "{answer:?}");
}

#[test]
fn within_a_budget_the_smallest_set_so_far_is_told() {
    let (place, _) = batch();
    let tests = "\"$MNEM\" test -q --absent n/3";
    let answer = narrow(&place, &[&RANGE[..], &["--max-runs", "1"]].concat(), tests).answer();
    names_none(&answer, 2, "");
    assert!(answer.stderr.ends_with("as many runs were made as --max-runs allows\nhint: allow more; with --report FILE it goes on where it was\n"), "{answer:?}");
    let answer = narrow(&place, &[&RANGE[..], &["--max-runs", "5", "--json"]].concat(), tests).answer();
    assert_eq!(answer.status, 2, "{answer:?}");
    let told: Value = serde_json::from_str(&answer.stdout).expect("JSON");
    let nodes = told["nodes"].as_array().expect("a list");
    assert!(nodes.len() < 13 && nodes.contains(&json!("n/3")), "{told}");
    assert_eq!((&told["outcome"], &told["runs"], &told["changes"]), (&json!("undecided"), &json!(5), &json!(13)));
    let answer =
        narrow(&place, &[&RANGE[..], &["--max-time", "200ms"]].concat(), "[ $MNEM_BISECT_RUN = 1 ] || sleep 600")
            .answer();
    names_none(&answer, 2, "");
    assert!(
        answer.stderr.ends_with(
            "the time that --max-time allows is over\nhint: allow more; with --report FILE it goes on where it was\n"
        ),
        "{answer:?}"
    );
}

#[test]
fn several_runs_decide_of_a_set() {
    let (place, _) = batch();
    let tests = "\"$MNEM\" test -q --absent n/3 || [ $((MNEM_BISECT_ATTEMPT % 2)) = 1 ]";
    let answer = narrow(&place, &[&RANGE[..], &["--repeat", "2"]].concat(), tests).answer();
    prints(&answer, &["n/3"]);
    assert!(answer.stderr.contains(", attempt 2: exit 1\n"), "{answer:?}");
    let answer = narrow(&place, &[&RANGE[..], &["--repeat", "2", "--bad-if", "all"]].concat(), tests).answer();
    assert!(answer.status == 1 && answer.stderr.contains("it does not fail with all changes"), "{answer:?}");
    let late = "\"$MNEM\" test -q --absent n/3 || sleep 600";
    let options = [&RANGE[..], &["--timeout", "300ms", "--on-timeout", "bad"]].concat();
    prints(&narrow(&place, &options, late).answer(), &["n/3"]);
    prints(
        &narrow(&place, &[&RANGE[..], &["--invert"]].concat(), "\"$MNEM\" test -q --present n/3").answer(),
        &["n/3"],
    );
}

#[test]
fn the_search_by_hand_and_reports_name_the_commit() {
    let (place, [first, second]) = batch();
    let tests = "\"$MNEM\" test -q --absent n/3";
    place.mnem(&["put", "later", "1", "-m", "third"]).output();
    finds(&script(&place, &["--range", &format!("{first}..HEAD"), "--report", "report"], tests).answer(), &second);
    prints(&narrow(&place, &["--report", "report"], tests).answer(), &["n/3"]);
    assert_eq!(place.mnem(&["bisect", "start", "HEAD", &first]).answer().status, 0);
    let answer = narrow(&place, &[], tests).answer();
    assert_eq!(answer.status, 129, "{answer:?}");
    let said = "mnem: error[usage]: the search by hand has found no commit yet\nhint: name the two commits: --range GOOD..BAD\n";
    assert_eq!(answer.stderr, said);
    assert_eq!(place.mnem(&["bisect", "bad", "HEAD~1"]).answer().status, 0);
    prints(&narrow(&place, &[], tests).answer(), &["n/3"]);
    place.write(
        "unfinished",
        fs::read_to_string(place.path("report")).expect("a file").lines().next().expect("a line").to_owned() + "\n",
    );
    let answer = narrow(&place, &["--report", "unfinished"], tests).answer();
    assert!(answer.status == 129 && answer.stderr.contains("unfinished' names no first bad commit\n"), "{answer:?}");
    let root = narrow(&place, &["--range", &format!("{first}^..{first}")], tests).answer();
    assert_eq!(root.status, 128, "{root:?}");
}

#[test]
fn a_run_goes_on_to_the_nodes() {
    let (place, [first, second]) = batch();
    place.mnem(&["put", "later", "1", "-m", "third"]).output();
    let before = stored(&place);
    let tests = "\"$MNEM\" test -q --absent n/3 --absent n/8 || \"$MNEM\" test -q --absent a";
    let options = ["--range", &format!("{first}..HEAD"), "--narrow", "--report", "report"];
    let answer = script(&place, &options, tests).answer();
    assert_eq!(answer.status, 0, "{answer:?}");
    let nodes: Vec<_> = answer.stdout.lines().collect();
    assert!(
        nodes[..2] == [second.as_str(), "a"] && ["n/3", "n/8"].contains(&nodes[2]) && nodes.len() == 3,
        "{answer:?}"
    );
    let last: Vec<_> = answer.stderr.lines().rev().take(20).filter(|line| line.contains("first bad")).collect();
    assert_eq!(last, [format!("{second} is the first bad commit")]);
    let tries =
        rows(&place, "report").into_iter().skip_while(|row| row["type"] != "bisect").skip(1).collect::<Vec<_>>();
    let (start, tries) = tries.split_first().expect("a start");
    assert_eq!(
        (&start["type"], &start["good"], &start["bad"]),
        (&json!("narrow_start"), &json!(first), &json!(second))
    );
    assert!(tries.len() > 3 && tries.iter().all(|row| row["type"] == "try"), "{tries:?}");
    assert_eq!(tries.last().expect("one")["nodes"], json!(nodes[1..]));
    assert_eq!(stored(&place), before);
    let answer = script(&place, &[&options[..3], &["--json"]].concat(), tests).answer();
    let told: Vec<Value> = answer.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!((told.len(), &told[0]["type"], &told[1]["nodes"]), (2, &json!("bisect"), &json!(nodes[1..])));
    // In a copy like these the memories of both ends were tested before.
    let tries = |more: &[&str]| {
        let answer = script(&place, &[&options[..3], more, &["--report", "report"]].concat(), tests).answer();
        assert_eq!(answer.stdout.lines().collect::<Vec<_>>(), nodes);
        let rows = rows(&place, "report");
        let sets =
            rows.iter().filter(|row| row["type"] == "try").map(|row| row["nodes"].as_array().expect("a list").len());
        sets.collect::<Vec<_>>()
    };
    let all = tries(&[]);
    assert_eq!((all[0], all[1]), (0, 13));
    assert_eq!(tries(&["--scratch"]), all[2..]);
    assert_eq!(tries(&["--scratch", "--no-cache"]), all);
    let answer = script(&place, &[&options[..3], &["--max-runs", "7"]].concat(), tests).answer();
    assert!(answer.status == 2 && answer.stdout.lines().next() == Some(&second), "{answer:?}");
    let said =
        "mnem: error[bisect-inconclusive]: not narrowed down to nodes: as many runs were made as --max-runs allows";
    assert!(answer.stderr.contains(said) && !answer.stderr.contains("first bad"), "{answer:?}");
    assert!(answer.stderr.contains(&format!("\n{second} was found, but not what in it\n")), "{answer:?}");
}

/// A test that reads the memory, writes to it, and is bad every second time once it believes in `belief`.
const AGENT: &str = r#"set -e
"$MNEM" put "seen/$MNEM_BISECT_RUN" "$("$MNEM" ls --count)" -m remembered >/dev/null
if "$MNEM" test -q --contains belief wrong; then
    [ $(( ($(printf %s "$MNEM_BISECT_REV" "$MNEM_BISECT_ATTEMPT" | cksum | cut -d' ' -f1) / 7) % 2 )) = 0 ] || exit 1
fi"#;

#[test]
fn an_agent_that_fails_every_second_time_is_traced_to_the_node_with_one_command() {
    let place = Place::with_store();
    let mut history = String::new();
    for commit in 0..200 {
        for node in 0..if commit == 137 { 39 } else { 1 } {
            history += &format!("{{\"id\":\"fact/{node}\",\"content\":\"{commit}\"}}\n");
        }
        if commit == 137 {
            history += "{\"id\":\"belief\",\"content\":\"something wrong\"}\n";
        }
        history += &format!("{{\"commit\":{{\"message\":\"step {commit}\"}}}}\n");
    }
    let commits = place.mnem(&["put", "--jsonl", "-", "--commits"]).input(history).output();
    let commits: Vec<_> = commits.lines().collect();
    let before = stored(&place);
    for options in [&["--one-sided"][..], &["--one-sided", "-j", "4"], &["--repeat", "9"]] {
        let options =
            [&["--range", "HEAD~199..HEAD", "--flaky", "--scratch", "--narrow", "--report", "report"], options]
                .concat();
        let answer = script(&place, &options, AGENT).answer();
        assert_eq!(answer.stdout, format!("{}\nbelief\n", commits[137]), "{answer:?}");
        assert_eq!(answer.status, 0, "{answer:?}");
        assert_eq!(stored(&place), before);
        // In the search each run is an observation, whatever is said of sets of nodes.
        let told = rows(&place, "report");
        let end = told.iter().find(|row| row["type"] == "bisect").expect("an end");
        let seen = end["flaky"]["evidence"].as_array().expect("a list").iter();
        let counted = |seen: &Value| seen["good"].as_u64().expect("a number") + seen["bad"].as_u64().expect("a number");
        assert_eq!(seen.map(counted).sum::<u64>(), end["runs"].as_u64().expect("a number"));
    }
    // The report knows how often it fails.
    let answer = narrow(&place, &["--report", "report"], AGENT).answer();
    prints(&answer, &["belief"]);
    assert_eq!(stored(&place), before);
}

/// The sets of a report's tries, with what was said of each, by the numbers of the runs.
fn tries(place: &Place, file: &str) -> Vec<(u64, Vec<String>, String)> {
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let row = |row: Value| {
        let nodes = row["nodes"].as_array().expect("a list").iter().map(text).collect();
        (row["run"].as_u64().expect("a number"), nodes, text(&row["verdict"]))
    };
    rows(place, file).into_iter().filter(|row| row["type"] == "try").map(row).collect()
}

#[test]
fn what_was_tried_is_not_tried_again() {
    let (place, _) = batch();
    let stops = |how: &str| {
        format!(
            "[ ! -e stop ] || [ $MNEM_BISECT_RUN != 6 ] || {{ {how}; }}; \"$MNEM\" test -q --absent n/3 || \"$MNEM\" test -q --absent a"
        )
    };
    let tests = stops("kill -INT $PPID; sleep 20");
    let options = |file: &'static str| [&RANGE[..], &["--report", file]].concat();
    let whole = narrow(&place, &options("whole"), &tests).answer();
    prints(&whole, &["a", "n/3"]);
    let expected = tries(&place, "whole");
    assert_eq!(
        expected.iter().map(|(run, ..)| *run).collect::<Vec<_>>(),
        (1..=expected.len() as u64).collect::<Vec<_>>()
    );
    place.write("stop", "");
    let stopped = narrow(&place, &options("part"), &tests).answer();
    assert_eq!((stopped.status, stopped.stdout.as_str()), (130, ""), "{stopped:?}");
    let line =
        "interrupted after 6 runs\ngo on with: mnem bisect narrow --range 'HEAD~1..HEAD' --report part -- sh -c ";
    assert!(stopped.stderr.contains(line), "{stopped:?}");
    fs::remove_file(place.path("stop")).expect("it was there");
    assert_eq!(tries(&place, "part"), expected[..5]);
    let limited = narrow(&place, &[&options("part")[..], &["--max-runs", "2"]].concat(), &tests).answer();
    assert_eq!(limited.status, 2, "{limited:?}");
    assert!(limited.stderr.contains("\nhint: go on with: mnem bisect narrow --range "), "{limited:?}");
    prints(&narrow(&place, &options("part"), &tests).answer(), &["a", "n/3"]);
    assert_eq!(tries(&place, "part"), expected);
    // Of another program nothing is taken.
    let other = narrow(&place, &options("part"), "\"$MNEM\" test -q --not --equals b changed").answer();
    prints(&other, &["b"]);
    let starts: Vec<_> = rows(&place, "part").into_iter().filter(|row| row["type"] == "narrow_start").collect();
    assert_eq!(starts.len(), 2);
}

#[test]
fn a_run_that_was_interrupted_on_the_way_to_the_nodes_goes_on_there() {
    let (place, [first, second]) = batch();
    place.mnem(&["put", "later", "1", "-m", "third"]).output();
    let range = format!("{first}..HEAD");
    let tests =
        "[ ! -e stop ] || [ $MNEM_BISECT_RUN != 33 ] || { kill -INT $PPID; sleep 20; }; \"$MNEM\" test -q --absent n/3";
    let options = |file: &'static str| ["--range", &range, "--flaky", "--narrow", "--junit", "junit", file, "report"];
    let whole = script(&place, &options("--report"), tests).answer();
    assert_eq!(whole.stdout, format!("{second}\nn/3\n"), "{whole:?}");
    let all = (rows(&place, "report").len(), tries(&place, "report"));
    place.write("stop", "");
    let stopped = script(&place, &options("--report"), tests).answer();
    assert_eq!((stopped.status, stopped.stdout.as_str()), (130, ""), "{stopped:?}");
    assert!(tries(&place, "report").len() > 3, "{stopped:?}");
    fs::remove_file(place.path("stop")).expect("it was there");
    let again = script(&place, &options("--resume"), tests).answer();
    assert_eq!(again.stdout, format!("{second}\nn/3\n"), "{again:?}");
    let junit = fs::read_to_string(place.path("junit")).expect("a file");
    let runs = rows(&place, "report").iter().filter(|row| row["type"] == "run" || row["type"] == "try").count();
    assert_eq!(junit.matches("<testcase").count(), runs);
    // But for what was found being said once more.
    assert_eq!((rows(&place, "report").len() - 1, tries(&place, "report")), all);
}

#[test]
fn rates_are_learnt_at_both_ends_before_a_set_is_judged() {
    let (place, _) = Place::with_values(0..40);
    let batch: String = (0..6).map(|at| format!("{{\"id\":\"f/{at}\",\"content\":1}}\n")).collect();
    place.mnem(&["put", "--jsonl", "-", "-m", "batch"]).input(batch).output();
    place.set("n", 40..80);
    // In the search it fails each time, and every second time afterwards: few runs had told another rate.
    let tests = "\"$MNEM\" test -q --absent f/3 || { [ -e learnt ] && [ $((MNEM_BISECT_ATTEMPT % 2)) = 0 ]; }";
    let options = ["--range", "HEAD~80..HEAD", "--flaky", "--report", "report"];
    let found = script(&place, &options, tests).answer();
    assert_eq!(found.status, 0, "{found:?}");
    place.write("learnt", "");
    let answer = narrow(&place, &["--report", "report"], tests).answer();
    prints(&answer, &["f/3"]);
    let tried = tries(&place, "report");
    assert!(tried[..8].iter().all(|(_, nodes, _)| nodes.is_empty()), "{tried:?}");
    assert!(tried[8..16].iter().all(|(_, nodes, _)| nodes.len() == 6), "{tried:?}");
    // With --repeat nothing is learnt.
    let answer = narrow(&place, &["--report", "report", "--repeat", "2"], &format!("{tests}; true")).answer();
    assert!(answer.stderr.contains("it does not fail with all changes"), "{answer:?}");
}

#[test]
fn one_writes_to_a_report_at_a_time() {
    let (place, [first, _]) = batch();
    place.mnem(&["put", "later", "1", "-m", "third"]).output();
    let inner =
        "\"$MNEM\" bisect narrow --range HEAD~1..HEAD --report report true 2>inner; \"$MNEM\" test -q --absent n/3";
    let answer = script(&place, &["--range", &format!("{first}..HEAD"), "--report", "report"], inner).answer();
    assert_eq!(answer.status, 0, "{answer:?}");
    let said = fs::read_to_string(place.path("inner")).expect("a file");
    assert!(said.starts_with("mnem: error[busy]: another search writes to '"), "{said}");
    let all = rows(&place, "report");
    assert!(all.iter().all(|row| row["type"] != "try") && all.last().expect("one")["type"] == "bisect", "{all:?}");
    let unfinished = "these are my notes";
    place.write("notes", unfinished);
    let answer = narrow(&place, &[&RANGE[..], &["--report", "notes"]].concat(), "false").answer();
    assert!(answer.status == 129 && answer.stderr.contains("error[bad-json]: line 1 of '"), "{answer:?}");
    assert_eq!(fs::read_to_string(place.path("notes")).expect("a file"), unfinished);
}

#[test]
fn a_signal_ends_it_and_leaves_nothing() {
    let (place, _) = batch();
    let before = stored(&place);
    let answer = narrow(&place, &RANGE, "[ $MNEM_BISECT_RUN = 1 ] || { kill -INT $PPID; sleep 20; }").answer();
    assert_eq!((answer.status, answer.stdout.as_str()), (130, ""), "{answer:?}");
    assert!(answer.stderr.ends_with("interrupted after 2 runs\n"), "{answer:?}");
    assert_eq!(stored(&place), before);
    let range = ["--range", "HEAD~1..HEAD", "--narrow"];
    let tests = "[ $MNEM_BISECT_RUN -lt 6 ] || { kill -TERM $PPID; sleep 20; }; \"$MNEM\" test -q --absent n/3";
    let answer = script(&place, &range, tests).answer();
    assert_eq!((answer.status, answer.stdout.as_str()), (143, ""), "{answer:?}");
    assert_eq!(stored(&place), before);
}
