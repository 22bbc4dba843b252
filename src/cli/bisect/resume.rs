//! A report that is read again, so that a search goes on where it was.

use super::super::error::{CliError, Word};
use super::rates::Rates;
use super::report::{NarrowStartJson, StartJson};
use super::tester::Verdict;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
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
    /// The commit that was found, where one was, and how often the test failed where that is told.
    pub found: Option<(String, Option<Rates>)>,
    /// How long the file is.
    pub length: u64,
    narrow: Option<NarrowStart>,
    /// The runs with some of the changes by their numbers, as far as they are of the last search for the nodes.
    pub tried: BTreeMap<usize, TriedBefore>,
    /// The numbers of all runs.
    numbers: BTreeSet<usize>,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observed {
    /// The id of the commit.
    pub commit: String,
    /// What it was for.
    pub purpose: String,
    /// Which run of the commit it was.
    pub attempt: usize,
    pub verdict: Verdict,
}

/// One run with some of the changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TriedBefore {
    /// The ids of their nodes.
    pub nodes: Vec<String>,
    /// Which run of them it was.
    pub attempt: usize,
    pub verdict: Verdict,
}

#[derive(Debug, Deserialize)]
struct Start {
    bad: String,
    good: Vec<String>,
    command: Vec<String>,
    #[serde(default)]
    invert: bool,
}

#[derive(Debug, Deserialize)]
struct NarrowStart {
    bad: String,
    good: String,
    command: Vec<String>,
    invert: bool,
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
    purpose: String,
    attempt: Option<usize>,
    verdict: String,
}

#[derive(Deserialize)]
struct TryRow {
    run: usize,
    nodes: Vec<String>,
    attempt: usize,
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
    bad: u64,
    runs: u64,
}

/// The largest number that a run may have: far more than anybody makes, and as many may follow.
const MOST_RUNS: usize = usize::MAX / 2;

/// How the lines begin that are written.
const BEGIN: &[u8] = b"{\"v\":1,";

impl Earlier {
    /// Reads a report.
    pub fn read(path: &Path) -> Result<Self, CliError> {
        let name = format!("'{}'", path.display());
        let mut lines = read_file(path).map_err(|error| CliError::from(error).about(&name))?;
        let length = lines.len() as u64;
        let torn = lines.split_off(lines.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1));
        let begins = torn.len().min(BEGIN.len());
        let last = lines.split_inclusive(|&byte| byte == b'\n').count() + 1;
        // A line that is whole but for its end is held against what a line may be; then it is let go like any other.
        let is_line = serde_json::from_slice::<serde_json::Value>(&torn).is_ok();
        if is_line {
            Self::default().take(&torn).map_err(|why| no_line(last, &name, &why))?;
        }
        if torn[..begins] != BEGIN[..begins] {
            return Err(no_line(last, &name, "it has no end"));
        }
        let mut earlier = Self { path: path.to_owned(), ..Self::default() };
        for (number, line) in lines.split_inclusive(|&byte| byte == b'\n').enumerate() {
            earlier.take(line).map_err(|why| no_line(number + 1, &name, &why))?;
        }
        Ok(Self { lines, length, ..earlier })
    }

    /// Of a file that is not there yet.
    pub fn none(path: &Path) -> Self {
        Self { path: path.to_owned(), ..Self::default() }
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
                self.number(run)?;
                let verdict = verdict(&row.verdict)?;
                let RunRow { commit, purpose, attempt, .. } = row;
                self.observed.insert(run, Observed { commit, purpose, attempt: attempt.unwrap_or(1), verdict });
            }
            "narrow_start" => {
                self.narrow = Some(serde_json::from_slice(line).map_err(told)?);
                self.tried.clear();
            }
            "try" => {
                let row: TryRow = serde_json::from_slice(line).map_err(told)?;
                self.number(row.run)?;
                let TryRow { run, nodes, attempt, verdict: said } = row;
                self.tried.insert(run, TriedBefore { nodes, attempt, verdict: verdict(&said)? });
            }
            "bisect" => {
                let end: EndRow = serde_json::from_slice(line).map_err(told)?;
                let rates = match end.flaky {
                    None => None,
                    Some(FlakyRow { one_sided, before, after }) => {
                        if before.bad > before.runs || after.bad > after.runs {
                            return Err("more runs were bad than there were".to_owned());
                        }
                        Some(Rates { one_sided, before: (before.bad, before.runs), after: (after.bad, after.runs) })
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

    /// Takes in the number of a run, which no other may have.
    fn number(&mut self, run: usize) -> Result<(), String> {
        if run == 0 || run > MOST_RUNS {
            return Err(format!("no run is number {run}"));
        }
        if !self.numbers.insert(run) {
            return Err(format!("run {run} is there twice"));
        }
        Ok(())
    }

    /// The runs with some of the changes, where they are between these commits and by this program.
    pub fn tries(&self, searched: &NarrowStartJson) -> Option<impl Iterator<Item = &TriedBefore>> {
        let narrow = self.narrow.as_ref()?;
        let NarrowStartJson { good, bad, command, invert, .. } = searched;
        let is_same = narrow.bad == *bad && narrow.good == *good && narrow.command == *command;
        (is_same && narrow.invert == *invert).then(|| self.tried.values())
    }

    /// Where it stands.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The number of the last run.
    pub fn last(&self) -> usize {
        self.numbers.last().copied().unwrap_or(0)
    }

    /// Refuses the report of a search between other ends; whether the program was another one.
    pub fn check(&self, searched: &StartJson) -> Result<bool, CliError> {
        let StartJson { bad, good, command, invert, .. } = searched;
        let Some(start) = &self.start else {
            return if self.lines.is_empty() { Ok(false) } else { Err(self.other("it does not say of which")) };
        };
        let sorted = |ids: &[String]| {
            let mut ids = ids.to_vec();
            ids.sort_unstable();
            ids
        };
        if start.invert != *invert {
            let how = if start.invert { "it had --invert" } else { "it had no --invert" };
            return Err(self.other(how));
        }
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

/// Reads a file; what is none, such as a pipe, has no lines to go on behind.
fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no file"));
    }
    std::fs::read(path)
}

fn no_line(number: usize, name: &str, why: &str) -> CliError {
    CliError::new(Word::BadJson, format!("line {number} of {name} is no line of a report: {why}"))
        .hint("a report is what 'mnem bisect run --report FILE' writes")
}

fn verdict(text: &str) -> Result<Verdict, String> {
    let verdict = [Verdict::Good, Verdict::Bad, Verdict::Skip].into_iter().find(|verdict| verdict.name() == text);
    verdict.ok_or_else(|| format!("'{text}' is no verdict"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: &str = r#"{"v":1,"type":"bisect_start","bad":"b","good":["a","c"],"command":["t"]}"#;

    fn run(number: &str, verdict: &str) -> String {
        let of = r#""commit":"x","purpose":"search","attempt":2"#;
        format!(r#"{{"v":1,"type":"run","run":{number},{of},"verdict":"{verdict}"}}"#)
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
        let purpose = "search".to_owned();
        let observed = |verdict| Observed { commit: "x".to_owned(), purpose: purpose.clone(), attempt: 2, verdict };
        assert_eq!(earlier.observed, BTreeMap::from([(1, observed(Verdict::Good)), (3, observed(Verdict::Skip))]));
        assert_eq!((earlier.last(), earlier.lines), (3, whole.into_bytes()));
        for none in ["", "{", "{\"v\":1", "{\"v\":1,\"type\":\"run\",\"ru"] {
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
            error.write(&mut told, false, super::super::super::paint::Paint { colored: false }).expect("told");
            let told = String::from_utf8(told).expect("UTF-8");
            assert!(told.starts_with("mnem: error[bad-json]: line 2 of '") && told.contains(why), "{told}");
        };
        row("{", "EOF");
        row("[]", "");
        row(r#"{"v":2,"type":"run"}"#, "version 2 is not known");
        row(r#"{"v":1,"type":"run","run":1}"#, "missing field");
        row(&run("0", "good"), "no run is number 0");
        let far = (MOST_RUNS + 1).to_string();
        row(&run(&far, "good"), &format!("no run is number {far}"));
        row(&run("1", "fine"), "'fine' is no verdict");
        let twice = |rows: [String; 2]| {
            let text = format!("{START}\n{}\n", rows.join("\n"));
            assert!(format!("{:?}", read(&text).expect_err("twice")).contains("run 7 is there twice"));
        };
        twice([run("7", "bad"), run("7", "bad")]);
        twice([run("7", "bad"), TRY.replace("NR", "7")]);
        read(&format!("{START}\n{{\"v\":1,\"type\":\"other\"}}\n")).expect("what is added later is passed over");
        for text in ["not a report", "{}", "{\"v\":1,\"x\":\"mine\"}", "{\"v\":1,\"type\":\"run\"}\n}"] {
            read(text).expect_err("no report, whole or not");
        }
        let folder = tempfile::tempdir().expect("a directory");
        Earlier::read(folder.path()).expect_err("no file");
    }

    const TRY: &str = r#"{"v":1,"type":"try","run":NR,"nodes":["n","m"],"attempt":3,"verdict":"bad"}"#;

    #[test]
    fn tries_are_those_of_the_last_search_for_the_nodes() {
        let start = |good: &str| {
            let end = r#""bad":"b","command":["t"],"invert":false"#;
            format!(r#"{{"v":1,"type":"narrow_start","good":"{good}",{end}}}"#)
        };
        let rows = [start("a"), TRY.replace("NR", "3"), start("c"), TRY.replace("NR", "4"), TRY.replace("NR", "9")];
        let earlier = read(&format!("{START}\n{}\n", rows.join("\n"))).expect("a report");
        assert_eq!(earlier.last(), 9);
        let of = |good: &str, bad: &str, command: &str, invert| {
            let searched = NarrowStartJson::new(good.to_owned(), bad.to_owned(), vec![command.to_owned()], invert);
            earlier.tries(&searched).map(|tries| tries.cloned().collect())
        };
        let nodes = vec!["n".to_owned(), "m".to_owned()];
        let tried = TriedBefore { nodes, attempt: 3, verdict: Verdict::Bad };
        assert_eq!(of("c", "b", "t", false), Some(vec![tried.clone(), tried]));
        let others =
            [of("a", "b", "t", false), of("c", "d", "t", false), of("c", "b", "u", false), of("c", "b", "t", true)];
        assert_eq!(others, [const { None }; 4]);
    }

    fn searched(bad: &str, good: &str, command: &str) -> StartJson {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect();
        StartJson::new(bad.to_owned(), words(good), words(command), false)
    }

    #[test]
    fn only_a_search_between_the_same_ends_goes_on() {
        let earlier = read(&format!("{START}\n")).expect("a report");
        assert!(!earlier.check(&searched("b", "c a", "t")).expect("the same"));
        assert!(earlier.check(&searched("b", "a c", "t x")).expect("another program"));
        let mut inverted = searched("b", "a c", "t");
        inverted.invert = true;
        earlier.check(&inverted).expect_err("the other way round");
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
        let flaky = |[bad, runs]: [u64; 2]| {
            let after = r#"{"bad":3,"runs":4}"#;
            format!(r#"{{"one_sided":true,"before":{{"bad":{bad},"runs":{runs}}},"after":{after}}}"#)
        };
        let rates = Rates { one_sided: true, before: (1, 2), after: (3, 4) };
        assert_eq!(found(&[end("found", &flaky([1, 2]))]), Some(("y".to_owned(), Some(rates))));
        read(&format!("{START}\n{}\n", end("found", &flaky([2, 1])))).expect_err("more than there were");
    }
}
