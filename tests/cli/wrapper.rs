//! A wrapper script around the tools of an agent: `tests/wrapper.sh`.

use super::oracle::{self, Node};
use super::support::{Place, state};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, Stdio};

const STEPS: usize = 10;
const CALLS: usize = 20;

/// A tool that answers several lines, and writes down that it was called.
const TOOL: &str = "#!/bin/sh\necho \"$1.$2\" >>calls\nprintf 'answer %s of step %s\\n\\n  [1.10, \"\\342\\230\\225\"]\\n' \"$2\" \"$1\"\n";

/// Stands in the way of `mnem`, counts its calls, and kills the script before or behind one of them.
const SHIM: &str = r#"#!/bin/sh
read -r count <count
echo $((count + 1)) >count
[ "$KILL_BEFORE" = "$count" ] && kill -9 "$(cat pid)" && exit 1
"$MNEM" "$@"
status=$?
[ "$KILL_BEHIND" = "$count" ] && kill -9 "$(cat pid)"
exit $status
"#;

struct Wrapper {
    place: Place,
}

impl Wrapper {
    fn new() -> Self {
        let place = Place::empty();
        for (name, text) in [("bin/mnem", SHIM), ("bin/tool", TOOL)] {
            place.write(name, text);
            let executable = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(place.path(name), executable).expect("permissions");
        }
        place.write("calls", "");
        Self { place }
    }

    /// Runs the script until it ends, or until it is killed around the call with this number.
    fn run(&self, before: Option<usize>, behind: Option<usize>) -> ExitStatus {
        self.place.write("count", "0\n");
        let number = |number: Option<usize>| number.map_or("none".to_owned(), |number| number.to_string());
        let path = std::env::join_paths([self.place.path("bin")].into_iter().chain(["/usr/bin".into(), "/bin".into()]));
        let mut script = Command::new("sh");
        let tests = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wrapper.sh");
        script.args(["-c", "echo $$ >pid; exec sh \"$@\"", "sh"]).arg(tests);
        script.args([&STEPS.to_string(), &CALLS.to_string(), "tool"]).current_dir(self.place.path("")).env_clear();
        script.env("PATH", path.expect("a path")).env("MNEM", env!("CARGO_BIN_EXE_mnem"));
        script.env("MNEM_DATE", super::support::DATE).env("TMPDIR", self.place.path(""));
        script.env("KILL_BEFORE", number(before)).env("KILL_BEHIND", number(behind));
        script.stdin(Stdio::null()).stdout(Stdio::null()).status().expect("sh runs")
    }
}

/// All answers, as the nodes that they are to be.
fn nodes() -> Vec<Node> {
    let node = |(step, call): (usize, usize)| Node {
        provenance: vec![
            ("agent_step", step.to_string()),
            ("observation", format!("chat/{step}")),
            ("tool_call", format!("{step}.{call}")),
            ("source", "tool".to_owned()),
        ],
        ..Node::new(
            &format!("step/{step}/call/{call}"),
            &format!("\"answer {call} of step {step}\\n\\n  [1.10, \\\"\u{2615}\\\"]\\n\""),
        )
    };
    (1..=STEPS).flat_map(|step| (1..=CALLS).map(move |call| (step, call))).map(node).collect()
}

#[test]
fn killed_anywhere_and_started_again_a_wrapper_loses_and_doubles_nothing() {
    let wrapper = Wrapper::new();
    // Call 0 is init, 1 the first log, 2 the first ls, 3 to 22 are puts, 23 the first commit.
    for (before, behind) in [
        (Some(0), None),
        (None, Some(0)),
        (None, Some(3)),
        (Some(12), None),
        (None, Some(16)),
        (Some(5), None),
        (None, Some(9)),
        (None, Some(60)),
        (Some(20), None),
    ] {
        let status = wrapper.run(before, behind);
        assert_eq!(status.signal(), Some(9), "{before:?} {behind:?}: {status}");
    }
    assert!(wrapper.run(None, None).success());
    let again = wrapper.run(None, None);
    assert!(again.success(), "{again}");

    let place = &wrapper.place;
    assert_eq!(state(place), oracle::state(&nodes()));
    let log = place.mnem(&["log", "--reverse", "--json"]).output();
    let rows: Vec<serde_json::Value> = log.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let steps: Vec<_> = rows.iter().map(|row| (row["message"].as_str(), row["changes"]["added"].as_u64())).collect();
    let messages: Vec<_> = (1..=STEPS).map(|step| format!("step {step}")).collect();
    let expected: Vec<_> = messages.iter().map(|message| (Some(message.as_str()), Some(CALLS as u64))).collect();
    assert_eq!(steps, expected);
    place.mnem(&["ls", "--count"]).says(&format!("{}\n", STEPS * CALLS), "");
    // A tool is called again only where the end came between its answer and the record of it.
    let calls = std::fs::read_to_string(place.path("calls")).expect("a file");
    assert!(calls.lines().count() <= STEPS * CALLS + 9, "{}", calls.lines().count());
}
