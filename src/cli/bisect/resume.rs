//! A report that is read again, so that a search goes on where it was.

use super::super::error::{CliError, Word};
use super::report::StartJson;
use super::tester::Verdict;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What a report holds of a search.
#[derive(Debug, Default)]
pub struct Earlier {
    path: PathBuf,
    /// The lines that are whole, as they are written. What a killed search has left behind them is none.
    pub lines: Vec<u8>,
    start: Option<Start>,
    /// All runs by their numbers.
    pub observed: BTreeMap<usize, Observed>,
    /// The commit that was found, where one was, and how often the test fails before it and from it on where that is told.
    pub found: Option<(String, Option<(f64, f64)>)>,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observed {
    /// The id of the commit.
    pub commit: String,
    pub verdict: Verdict,
}

#[derive(Debug, Deserialize)]
struct Start {
    bad: String,
    good: Vec<String>,
    command: Vec<String>,
}

#[derive(Deserialize)]
struct Row {
    v: u64,
    r#type: String,
}

#[derive(Deserialize)]
struct RunRow {
    run: Option<usize>,
    commit: String,
    verdict: String,
}

#[derive(Deserialize)]
struct EndRow {
    outcome: String,
    candidates: Vec<String>,
    #[serde(default)]
    flaky: Option<FlakyRow>,
}

#[derive(Deserialize)]
struct FlakyRow {
    one_sided: bool,
    before: RateRow,
    after: RateRow,
}

#[derive(Deserialize)]
struct RateRow {
    estimate: f64,
}

/// The largest number that a run may have: far more than anybody makes.
const MOST_RUNS: usize = 1_000_000_000;

impl Earlier {
    /// Reads a report.
    pub fn read(path: &Path) -> Result<Self, CliError> {
        let name = format!("'{}'", path.display());
        let mut lines = std::fs::read(path).map_err(|error| CliError::from(error).about(&name))?;
        lines.truncate(lines.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1));
        let mut earlier = Self { path: path.to_owned(), ..Self::default() };
        for (number, line) in lines.split_inclusive(|&byte| byte == b'\n').enumerate() {
            earlier.take(line).map_err(|why| {
                let message = format!("line {} of {name} is no line of a report: {why}", number + 1);
                CliError::new(Word::BadJson, message).hint("a report is what 'mnem bisect run --report FILE' writes")
            })?;
        }
        Ok(Self { lines, ..earlier })
    }

    fn take(&mut self, line: &[u8]) -> Result<(), String> {
        let told = |error: serde_json::Error| error.to_string();
        let Row { v, r#type } = serde_json::from_slice(line).map_err(told)?;
        if v != u64::from(super::super::json::V) {
            return Err(format!("version {v} is not known"));
        }
        match r#type.as_str() {
            "bisect_start" => self.start = Some(serde_json::from_slice(line).map_err(told)?),
            "run" => {
                let row: RunRow = serde_json::from_slice(line).map_err(told)?;
                let Some(run) = row.run else { return Ok(()) };
                let verdict = [Verdict::Good, Verdict::Bad, Verdict::Skip];
                let verdict = verdict.into_iter().find(|verdict| verdict.name() == row.verdict);
                let verdict = verdict.ok_or_else(|| format!("'{}' is no verdict", row.verdict))?;
                if run == 0 || run > MOST_RUNS {
                    return Err(format!("no run is number {run}"));
                }
                if self.observed.insert(run, Observed { commit: row.commit, verdict }).is_some() {
                    return Err(format!("run {run} is there twice"));
                }
            }
            "bisect" => {
                let end: EndRow = serde_json::from_slice(line).map_err(told)?;
                let rates = match end.flaky {
                    None => None,
                    Some(FlakyRow { one_sided, before, after }) => {
                        let before = if one_sided { 0.0 } else { before.estimate };
                        let is_told = 0.0 <= before && before < after.estimate && after.estimate <= 1.0;
                        Some((before, after.estimate)).filter(|_| is_told)
                    }
                };
                let found = end.candidates.into_iter().next().filter(|_| end.outcome == "found");
                self.found = found.map(|commit| (commit, rates));
            }
            // What a later version adds.
            _ => {}
        }
        Ok(())
    }

    /// Where it stands.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The number of the last run.
    pub fn last(&self) -> usize {
        self.observed.last_key_value().map_or(0, |(&run, _)| run)
    }

    /// Refuses the report of a search between other ends; whether the program was another one.
    pub fn check(&self, searched: &StartJson) -> Result<bool, CliError> {
        let StartJson { bad, good, command, .. } = searched;
        let Some(start) = &self.start else {
            return if self.lines.is_empty() { Ok(false) } else { Err(self.other("it does not say of which")) };
        };
        let sorted = |ids: &[String]| {
            let mut ids = ids.to_vec();
            ids.sort_unstable();
            ids
        };
        if start.bad != *bad {
            return Err(self.other(&format!("its bad end is {}", start.bad)));
        }
        // With --good auto none is known yet when a report begins.
        if !start.good.is_empty() && sorted(&start.good) != sorted(good) {
            return Err(self.other(&format!("its good ends are {}", start.good.join(" "))));
        }
        Ok(start.command != *command)
    }

    fn other(&self, how: &str) -> CliError {
        let message = format!("'{}' is the report of another search: {how}", self.path.display());
        CliError::usage(message).hint("name the ends that it had: --range GOOD..BAD")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: &str = r#"{"v":1,"type":"bisect_start","bad":"b","good":["a","c"],"command":["t"]}"#;

    fn run(number: &str, verdict: &str) -> String {
        format!(r#"{{"v":1,"type":"run","run":{number},"commit":"x","purpose":"search","verdict":"{verdict}"}}"#)
    }

    fn read(text: &str) -> Result<Earlier, CliError> {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("report");
        std::fs::write(&path, text).expect("a file");
        Earlier::read(&path)
    }

    #[test]
    fn each_run_counts_once_and_what_is_not_whole_does_not() {
        let whole = format!("{START}\n{}\n{}\n{}\n", run("1", "good"), run("null", "bad"), run("3", "skip"));
        let earlier = read(&format!("{whole}{}", run("4", "bad"))).expect("a report");
        let observed = |verdict| Observed { commit: "x".to_owned(), verdict };
        assert_eq!(earlier.observed, BTreeMap::from([(1, observed(Verdict::Good)), (3, observed(Verdict::Skip))]));
        assert_eq!((earlier.last(), earlier.lines), (3, whole.into_bytes()));
        for none in ["", "{\"v\":1"] {
            let earlier = read(none).expect("nothing yet");
            assert!(earlier.observed.is_empty() && earlier.lines.is_empty());
            assert!(!earlier.check(&searched("b", "", "")).expect("nothing to hold against it"));
        }
    }

    #[test]
    fn what_is_no_report_is_refused_with_its_line() {
        let row = |line: &str, why: &str| {
            let error = read(&format!("{START}\n{line}\n")).expect_err(line);
            let mut told = Vec::new();
            error.write(&mut told, false, super::super::super::context::paint_for("never", false)).expect("told");
            let told = String::from_utf8(told).expect("UTF-8");
            assert!(told.starts_with("mnem: error[bad-json]: line 2 of '") && told.contains(why), "{told}");
        };
        row("{", "EOF");
        row("[]", "");
        row(r#"{"v":2,"type":"run"}"#, "version 2 is not known");
        row(r#"{"v":1,"type":"run","run":1}"#, "missing field");
        row(&run("0", "good"), "no run is number 0");
        row(&run("1000000001", "good"), "no run is number 1000000001");
        row(&run("1", "fine"), "'fine' is no verdict");
        let twice = format!("{START}\n{0}\n{0}\n", run("7", "bad"));
        assert!(format!("{:?}", read(&twice).expect_err("twice")).contains("run 7 is there twice"));
        read(&format!("{START}\n{{\"v\":1,\"type\":\"other\"}}\n")).expect("what is added later is passed over");
    }

    fn searched(bad: &str, good: &str, command: &str) -> StartJson {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect();
        StartJson::new(bad.to_owned(), words(good), words(command))
    }

    #[test]
    fn only_a_search_between_the_same_ends_goes_on() {
        let earlier = read(&format!("{START}\n")).expect("a report");
        assert!(!earlier.check(&searched("b", "c a", "t")).expect("the same"));
        assert!(earlier.check(&searched("b", "a c", "t x")).expect("another program"));
        earlier.check(&searched("a", "a c", "t")).expect_err("another bad end");
        earlier.check(&searched("b", "a", "t")).expect_err("another good end");
        let auto = read(&format!("{}\n", START.replace(r#""a","c""#, ""))).expect("a report");
        assert!(!auto.check(&searched("b", "a", "t")).expect("not known then"));
        let rows = read(&format!("{}\n", run("1", "bad"))).expect("rows");
        rows.check(&searched("b", "", "")).expect_err("no beginning");
    }

    #[test]
    fn what_was_found_last_is_known() {
        let end = |outcome: &str, flaky: &str| {
            format!(r#"{{"v":1,"type":"bisect","outcome":"{outcome}","candidates":["y","z"],"flaky":{flaky}}}"#)
        };
        let found = |ends: &[String]| read(&format!("{START}\n{}\n", ends.join("\n"))).expect("a report").found;
        let undecided = end("undecided", "null");
        assert_eq!(found(&[undecided.clone(), end("found", "null")]), Some(("y".to_owned(), None)));
        assert_eq!(found(&[end("found", "null"), undecided]), None);
        for (one_sided, before) in [(false, 0.25), (true, 0.0)] {
            let flaky =
                format!(r#"{{"one_sided":{one_sided},"before":{{"estimate":0.25}},"after":{{"estimate":0.5}}}}"#);
            assert_eq!(found(&[end("found", &flaky)]), Some(("y".to_owned(), Some((before, 0.5)))));
        }
        for (before, after) in [(0.5, 0.5), (0.6, 0.5), (-0.1, 0.5), (0.5, 1.5)] {
            let flaky =
                format!(r#"{{"one_sided":false,"before":{{"estimate":{before}}},"after":{{"estimate":{after}}}}}"#);
            assert_eq!(found(&[end("found", &flaky)]), Some(("y".to_owned(), None)), "no two rates");
        }
    }
}
