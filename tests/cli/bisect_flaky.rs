//! `mnem bisect run --flaky`

use super::bisect_run::{below, finds, names_none, rows, script, search};
use super::support::{Answer, Place, lines};
use serde_json::Value;
use std::fs;

/// A script that says bad in about every second run where `n` is at least this, whichever runs there are beside it.
fn half(culprit: usize) -> String {
    let coin = "[ $(( ($(printf %s $MNEM_BISECT_REV $MNEM_BISECT_ATTEMPT | cksum | cut -d' ' -f1) / 7) % 2 )) = 0 ]";
    format!("{} || {coin}", below(culprit))
}

/// All sixty commits.
const RANGE: &str = "HEAD~59..HEAD";

/// The observations of a report: the number of each run, its commit and what it said.
fn observed(rows: &[Value]) -> Vec<(u64, String, String)> {
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let runs = rows.iter().filter(|row| row["type"] == "run");
    runs.map(|row| (row["run"].as_u64().expect("a number"), text(&row["commit"]), text(&row["verdict"]))).collect()
}

#[test]
fn a_test_that_fails_every_second_time_finds_its_commit() {
    let (place, commits) = Place::with_values(0..60);
    for culprit in [12, 33] {
        for options in [&[][..], &["--one-sided"], &["-j", "4"], &["--confidence", "0.8"]] {
            let answer = script(&place, &[&["--range", RANGE, "--flaky"], options].concat(), &half(culprit)).answer();
            finds(&answer, &commits[culprit]);
        }
    }
}

#[test]
fn what_is_believed_is_told() {
    let (place, commits) = Place::with_values(0..60);
    let options = ["--range", RANGE, "--flaky", "--one-sided", "--report", "report"];
    let answer = script(&place, &options, &half(33)).answer();
    finds(&answer, &commits[33]);
    let told = rows(&place, "report");
    let end = told.last().expect("an end");
    let printed = script(&place, &[&options[..4], &["--json"]].concat(), &half(33)).answer();
    let printed: Value = serde_json::from_str(&printed.stdout).expect("JSON");
    assert_eq!(*end, printed);
    let belief = &end["flaky"];
    assert_eq!((&belief["confidence"], &belief["one_sided"]), (&0.95.into(), &true.into()));
    assert_eq!(belief["likeliest"][0]["commit"], commits[33]);
    assert!(belief["likeliest"][0]["probability"].as_f64().expect("a number") >= 0.95);
    assert_eq!(belief["likeliest"].as_array().expect("a list").len(), 5);
    let list = |key: &str| belief[key].as_array().expect("a list").clone();
    let observations: Vec<_> = observed(&told);
    let number = |value: &Value| value.as_u64().expect("a number");
    let again: Vec<_> = list("observations")
        .iter()
        .map(|seen| {
            (
                number(&seen["run"]),
                seen["commit"].as_str().expect("text").to_owned(),
                seen["verdict"].as_str().expect("text").to_owned(),
            )
        })
        .collect();
    assert_eq!(again, observations);
    let runs = observations.len() as u64;
    assert_eq!(number(&end["runs"]), runs);
    let mut of_commits = 0;
    for seen in list("evidence") {
        let of = |verdict: &str| {
            observations.iter().filter(|(_, commit, said)| *commit == seen["commit"] && said == verdict).count() as u64
        };
        assert_eq!((number(&seen["good"]), number(&seen["bad"])), (of("good"), of("bad")));
        of_commits += of("good") + of("bad");
    }
    assert_eq!(of_commits, runs);
    let rate = |key: &str| (number(&belief[key]["bad"]), number(&belief[key]["runs"]));
    let at = |commit: &str| commits.iter().position(|other| other == commit).expect("one of them");
    let side = |is_after: bool| {
        let runs: Vec<_> = observations.iter().filter(|(_, commit, _)| (at(commit) >= 33) == is_after).collect();
        (runs.iter().filter(|(.., said)| said == "bad").count() as u64, runs.len() as u64)
    };
    assert_eq!((rate("before"), rate("after")), (side(false), side(true)));
    let (failed, all) = side(true);
    let said = format!(
        "fails before: 0 of {} runs, taken never to\nfails from it on: {failed} of {all} runs, rate 0.",
        side(false).1
    );
    assert!(answer.stderr.contains(&said), "{answer:?}");
    for needed in ["runs by commit:\n", "likeliest:\n", &format!("found with {runs} runs, probability 9")] {
        assert!(answer.stderr.contains(needed), "{needed}: {answer:?}");
    }
    let live = answer.stderr.lines().filter(|line| line.contains(" bits left, likeliest ")).count() as u64;
    assert_eq!(live, runs);
}

/// All of twelve.
const SHORT: &str = "HEAD~11..HEAD";

/// Searches without and with an interruption after ten runs, which `options` bring about or what the script does as long as
/// there is a file `stop`, and holds the two against each other.
fn resumes(options: &[&str], stops: &str, stopped: &dyn Fn(&Answer)) {
    let (place, commits) = Place::with_values(0..12);
    let tests = format!("[ ! -e stop ] || [ $MNEM_BISECT_RUN != 11 ] || {{ {stops}; }}; {}", half(7));
    let whole = ["--range", SHORT, "--flaky", "--report", "whole"];
    finds(&script(&place, &whole, &tests).answer(), &commits[7]);
    let first = [&["--range", SHORT, "--flaky", "--report", "part"], options].concat();
    place.write("stop", "");
    stopped(&script(&place, &first, &tests).answer());
    fs::remove_file(place.path("stop")).expect("it was there");
    let kept = observed(&rows(&place, "part"));
    assert_eq!(kept.len(), 10);
    // On in the same file, and in another one.
    fs::copy(place.path("part"), place.path("kept")).expect("a copy");
    finds(&script(&place, &["--range", SHORT, "--flaky", "--resume", "part"], &tests).answer(), &commits[7]);
    let other = ["--range", SHORT, "--flaky", "--resume", "kept", "--report", "other"];
    let answer = script(&place, &other, &tests).answer();
    finds(&answer, &commits[7]);
    assert!(answer.stderr.starts_with("10 of 10 runs taken from the report\n"), "{answer:?}");
    let expected = observed(&rows(&place, "whole"));
    assert_eq!(expected[..10], kept);
    assert_eq!(observed(&rows(&place, "part")), expected);
    let attempts = |file: &str| -> Vec<Value> { rows(&place, file).iter().map(|row| row["attempt"].clone()).collect() };
    let runs = |file: &str| attempts(file).into_iter().filter(|attempt| !attempt.is_null()).collect::<Vec<_>>();
    assert_eq!(runs("part"), runs("whole"));
    assert_eq!(observed(&rows(&place, "other")), expected);
    assert_eq!(observed(&rows(&place, "kept")), kept);
    let belief = |file: &str| rows(&place, file).pop().expect("an end")["flaky"].take();
    assert_eq!(belief("part"), belief("whole"));
    assert_eq!(belief("other"), belief("whole"));
    // What is known is enough, and nothing is run.
    let answer = script(&place, &["--range", SHORT, "--flaky", "--resume", "part"], "exit 126").answer();
    finds(&answer, &commits[7]);
    assert!(answer.stderr.contains("warning: the report is of runs of another program\n"), "{answer:?}");
}

#[test]
fn a_search_that_used_its_runs_up_goes_on_where_it_was() {
    resumes(&["--max-runs", "10"], "false", &|answer| {
        assert_eq!(answer.status, 2, "{answer:?}");
        assert!(answer.stdout.lines().count() > 1 && !answer.stderr.contains("first bad"), "{answer:?}");
        let last: Vec<_> = answer.stderr.lines().rev().take(2).collect();
        assert!(last[1].starts_with("mnem: error[bisect-inconclusive]: as many runs were made as --max-runs allows; "));
        let line = "hint: go on with: mnem bisect run --resume part --range 'HEAD~11..HEAD' --flaky --report part --max-runs 10 -- sh -c ";
        assert!(last[0].starts_with(line), "{answer:?}");
    });
}

#[test]
fn a_search_that_a_signal_ended_goes_on_where_it_was() {
    for (signal, status) in [("INT", 130), ("TERM", 143)] {
        resumes(&[], &format!("kill -{signal} $PPID; sleep 20"), &|answer| {
            assert_eq!((answer.status, answer.stdout.as_str()), (status, ""), "{answer:?}");
            assert!(answer.stderr.contains("interrupted after "), "{answer:?}");
            assert!(answer.stderr.contains("\ngo on with: mnem bisect run --resume part "), "{answer:?}");
        });
    }
}

#[test]
fn a_search_whose_time_is_over_tells_what_it_believes_so_far() {
    let (place, commits) = Place::with_values(0..9);
    let tests = "[ $MNEM_BISECT_RUN != 3 ] || sleep 600; exit 0";
    let options = ["--range", "HEAD~8..HEAD", "--max-time", "300ms", "--report", "report"];
    let answer = script(&place, &[&options[..], &["--flaky"]].concat(), tests).answer();
    names_none(&answer, 2, &lines(&commits[1..]));
    let said = "mnem: error[bisect-inconclusive]: the time that --max-time allows is over; 8 commits together are as probable as is asked for\n\
                hint: go on with: mnem bisect run --resume report ";
    assert!(answer.stderr.contains(said), "{answer:?}");
    assert_eq!(observed(&rows(&place, "report")).len(), 2, "the run that was ended says nothing");
    // Of eight that are as likely four hold half of it.
    let answer = script(&place, &[&options[..4], &["--flaky", "--confidence", "0.5"]].concat(), tests).answer();
    names_none(&answer, 2, &lines(&commits[5..]));
    let tests = format!("[ $MNEM_BISECT_RUN != 3 ] || sleep 600; {}", below(3));
    let answer = script(&place, &options, &tests).answer();
    names_none(&answer, 2, &lines(&commits[1..]));
    let said = "mnem: error[bisect-inconclusive]: the time that --max-time allows is over; 8 commits are left\n\
                hint: allow more, or look at fewer commits with --changed\n";
    assert!(answer.stderr.ends_with(said), "{answer:?}");
    finds(&script(&place, &["--range", "HEAD~8..HEAD", "--max-time", "1h"], &below(3)).answer(), &commits[3]);
    // Of the two limits the one counts that is reached.
    let late = ["--timeout", "1h", "--on-timeout", "bad"];
    let answer = script(&place, &[&options[..4], &late].concat(), &tests).answer();
    names_none(&answer, 2, &lines(&commits[1..]));
    let early = ["--range", "HEAD~8..HEAD", "--max-time", "1h", "--timeout", "300ms", "--on-timeout", "bad"];
    finds(&script(&place, &early, &tests).answer(), &commits[3]);
}

#[test]
fn where_there_is_nothing_to_find_that_is_said() {
    let (place, commits) = Place::with_values(0..9);
    let flaky = ["--range", "HEAD~8..HEAD", "--flaky"];
    let answer = search(&place, &[&flaky[..], &["false"]].concat()).answer();
    names_none(&answer, 1, "");
    let said = "mnem: error[bisect-endpoints]: it fails as often at the good end as at the bad one, with a probability of 95.0 %\n\
                hint: look for an older good end, or a newer bad one\n";
    assert!(answer.stderr.ends_with(said), "{answer:?}");
    let answer = script(&place, &flaky, &format!("! {}", below(3))).answer();
    names_none(&answer, 1, "");
    let said = format!(
        "mnem: error[bisect-endpoints]: it fails less often from {} on than before\nhint: are the ends swapped? or say --invert\n",
        commits[3]
    );
    assert!(answer.stderr.ends_with(&said), "{answer:?}");
    finds(&script(&place, &[&flaky[..], &["--invert"]].concat(), &format!("! {}", below(3))).answer(), &commits[3]);
    let answer = search(&place, &[&flaky[..], &["--one-sided", "false"]].concat()).answer();
    names_none(&answer, 1, "");
    let said = format!(
        "mnem: error[bisect-endpoints]: what is good never fails, says --one-sided, and these failed: {}\n\
         hint: search without --one-sided\n",
        commits[0]
    );
    assert!(answer.stderr.ends_with(&said), "{answer:?}");
}

#[test]
fn what_cannot_be_tested_is_run_once() {
    let (place, commits) = Place::with_values(0..20);
    let tests = format!("n=$(\"$MNEM\" get n); case $n in 9|10|11) echo >>skips; exit 125;; esac; {}", below(15));
    let options = ["--range", "HEAD~19..HEAD", "--flaky", "--report", "report"];
    finds(&script(&place, &options, &tests).answer(), &commits[15]);
    let skips = fs::read_to_string(place.path("skips")).unwrap_or_default().lines().count();
    let skipped = observed(&rows(&place, "report")).into_iter().filter(|(.., said)| said == "skip").count();
    assert!(skips == skipped && skips <= 3, "{skips} {skipped}");
    fs::remove_file(place.path("skips")).expect("it was there");
    let options = ["--range", "HEAD~19..HEAD", "--flaky", "--skip", "HEAD~10..HEAD~7"];
    finds(&script(&place, &options, &tests).answer(), &commits[15]);
    let skips = fs::read_to_string(place.path("skips")).unwrap_or_default().lines().count();
    assert!(skips <= 1, "{skips}");
    // What comes right before it, and was never run, may be it as well.
    let skipping = |skip: &str| {
        let options = ["--range", "HEAD~19..HEAD", "--flaky", "--skip", skip];
        script(&place, &options, &below(15)).answer()
    };
    finds(&skipping("HEAD~6"), &commits[15]);
    for (skip, left) in [("HEAD~5", &commits[14..16]), ("HEAD~7..HEAD~5", &commits[13..16])] {
        let answer = skipping(skip);
        names_none(&answer, 2, &lines(left));
        assert!(answer.stderr.contains("only commits are left that cannot be tested"), "{answer:?}");
    }
    // One run that was late says nothing of a commit that was run before.
    let tests =
        format!("n=$(\"$MNEM\" get n); [ $n != 14 ] || [ $MNEM_BISECT_ATTEMPT != 2 ] || exit 125; {}", below(15));
    finds(&script(&place, &options[..3], &tests).answer(), &commits[15]);
}

#[test]
fn where_hardly_anything_can_be_tested_no_commit_is_accused() {
    let (place, commits) = Place::with_values(0..20);
    let options = ["--range", "HEAD~19..HEAD", "--flaky"];
    let refuses = |tests: &str, end: &str, commit: &str| {
        let answer = script(&place, &options, tests).answer();
        names_none(&answer, 1, "");
        let said = format!("mnem: error[bisect-endpoints]: {end} end {commit} cannot be tested\n");
        assert!(answer.stderr.contains(&said), "{answer:?}");
    };
    refuses("exit 125", "the good", &commits[0]);
    refuses(&format!("[ $MNEM_BISECT_REV != {} ] || exit 125; {}", commits[19], below(7)), "the bad", &commits[19]);
    refuses(&format!("[ $MNEM_BISECT_REV != {} ] || exit 125; {}", commits[0], below(7)), "the good", &commits[0]);
    // An end that is late once is run again, also in a search that goes on.
    let once = format!("[ $MNEM_BISECT_ATTEMPT != 1 ] || exit 125; {}", below(7));
    finds(&script(&place, &options, &once).answer(), &commits[7]);
    let report = [&options[..], &["--report", "report"]].concat();
    assert_eq!(script(&place, &report, "exit 125").answer().status, 1);
    finds(&script(&place, &[&options[..], &["--resume", "report"]].concat(), &below(7)).answer(), &commits[7]);
    let answer = script(&place, &[&options[..], &["--resume", "report", "--invert"]].concat(), "exit 126").answer();
    assert!(answer.status == 129 && answer.stderr.contains("another search: it had no --invert"), "{answer:?}");
    let ends =
        format!("case $MNEM_BISECT_REV in {}) exit 0;; {}) exit 1;; *) exit 125;; esac", commits[0], commits[19]);
    names_none(&script(&place, &options, &ends).answer(), 2, &lines(&commits[1..]));
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_is_run() {
    let (place, commits) = Place::with_values(0..9);
    let options = ["--range", "HEAD~8..HEAD", "--flaky"];
    let search = |more: &[&str]| script(&place, &[&options[..], more].concat(), "echo >>calls; exit 1").answer();
    let usage = |more: &[&str], said: &str| {
        let answer = search(more);
        names_none(&answer, 129, "");
        assert!(answer.stderr.contains(said) && !place.path("calls").exists(), "{answer:?}");
    };
    for confidence in ["0.49", "0.99991", "1", "nan", "x", ""] {
        usage(&["--confidence", confidence], "at least 0.5 and at most 0.9999");
    }
    usage(&["--confirm", "2"], "--confirm");
    usage(&["--no-verify"], "--no-verify");
    usage(&["--no-cache"], "--no-cache");
    usage(&["--repeat", "3"], "--flaky runs each commit as often as it tells something, so not --repeat");
    usage(&["--bad-if", "all"], "--repeat");
    let auto = ["--flaky", "--good", "auto", "--bad", "HEAD"];
    let answer = script(&place, &auto, "echo >>calls; exit 1").answer();
    assert!(answer.status == 129 && answer.stderr.contains("so not --good auto"), "{answer:?}");
    for lonely in [&["--confidence", "0.9"][..], &["--one-sided"], &["--resume", "report"]] {
        let answer = script(&place, &[&options[..2], lonely].concat(), "echo >>calls").answer();
        assert!(answer.status == 129 && answer.stderr.contains("--flaky"), "{answer:?}");
    }
    place.write("report", "{\"v\":1,\"type\":\"bisect_start\"}\n");
    usage(&["--resume", "report"], "error[bad-json]: line 1 of '");
    let start = format!(
        "{{\"v\":1,\"type\":\"bisect_start\",\"bad\":\"{}\",\"good\":[\"{}\"],\"command\":[]}}\n",
        commits[7], commits[0]
    );
    place.write("report", &start);
    usage(&["--resume", "report"], "is the report of another search: its bad end is ");
    assert_eq!(fs::read_to_string(place.path("report")).expect("a file"), start);
    let answer = search(&["--resume", "none"]);
    assert!(answer.status == 128 && answer.stderr.contains("none': No such file"), "{answer:?}");
    assert!(!place.path("calls").exists() && !place.path("none").exists());
}

#[test]
fn the_session_and_its_marks_stay_as_they_are() {
    let (place, commits) = Place::with_values(0..20);
    assert_eq!(place.mnem(&["bisect", "start", "HEAD", &commits[0]]).answer().status, 0);
    let before = place.files();
    finds(&script(&place, &["--flaky"], &below(7)).answer(), &commits[7]);
    finds(
        &script(&place, &["--flaky", "--scratch"], &format!("\"$MNEM\" put x 1 -m x && {}", below(7))).answer(),
        &commits[7],
    );
    assert!(place.files() == before);
}
