//! A place of its own for each test, and runs of the real binary in it.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What `MNEM_DATE` says unless a run says otherwise: 2025-12-01T08:00:00Z.
pub const DATE: &str = "@1764576000";
/// What `MNEM_AUTHOR` says unless a run says otherwise.
pub const AUTHOR: &str = "Ada <ada@example.org>";

/// The commits of [`Place::with_story`], the oldest first.
pub const FIRST: &str = "8f53e073d1f6aff6b1019131a78948acfba5c42ce2a942f3c21e65bf82ebf512";
pub const SECOND: &str = "1225f5ed2d80ec99a9e10bc4beb223a0bb46d2f4840a23579946e61bb392b86f";
pub const THIRD: &str = "8bf0cc447a381002f1d8e0f16747eca1f5e9ac90d4634876065d5a823461ef9d";

/// A temporary directory. In what a run says it stands as `[PLACE]`.
pub struct Place {
    root: PathBuf,
    _directory: tempfile::TempDir,
}

impl Place {
    /// Nothing is in it.
    pub fn empty() -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let root = directory.path().canonicalize().expect("its path");
        Self { root, _directory: directory }
    }

    /// A store without commits is in it.
    pub fn with_store() -> Self {
        let place = Self::empty();
        place.mnem(&["init"]).says("[PLACE]/.mnemosyne\n", "");
        place
    }

    /// A store with three commits is in it: two nodes added; one modified and one added; one removed.
    pub fn with_story() -> Self {
        let place = Self::with_store();
        let step = ["--agent-step", "1", "--observation", "chat/1"];
        place.mnem(&["put", "user/diet", "vegan since 2019"]).arguments(step).says("user/diet\n", "");
        place.mnem(&["put", "user/allergies", r#"["peanuts", 1.0]"#, "-t", "json"]).says("user/allergies\n", "");
        place.mnem(&["commit", "-qm", "learn how Maria eats"]).says(&format!("{FIRST}\n"), "");
        let rows = r#"{"id":"user/diet","content":"loves steak","provenance":{"source":"https://forum.example/t/88"}}
            {"id":"plan/dinner","content":{"at": "20:00"},"event_time":"2025-12-01T09:30:00.50+01:00"}"#;
        let message = ["-m", "plan the dinner", "-m", "A stranger on a forum says so."];
        let put = place.mnem(&["put", "--jsonl", "-"]).arguments(message).input(rows);
        put.env("MNEM_DATE", "@1764579600").says("user/diet\nplan/dinner\n", "");
        let row = r#"{"id":"user/allergies","deleted":true}"#;
        let put = place.mnem(&["put", "--jsonl", "-", "-m", "forget the allergies"]).input(row);
        put.env("MNEM_DATE", "2025-12-01T11:00:00.5+01:00").says("user/allergies\n", "");
        place
    }

    /// A store is in it whose commits set the node `n` to these values, one after the other; with the ids of the commits.
    pub fn with_values<V: fmt::Display>(values: impl IntoIterator<Item = V>) -> (Self, Vec<String>) {
        let place = Self::with_store();
        let commits = place.set("n", values);
        (place, commits)
    }

    /// Makes a commit for each of these values of a node, where the session stands; returns their ids.
    pub fn set<V: fmt::Display>(&self, id: &str, values: impl IntoIterator<Item = V>) -> Vec<String> {
        let row = |value: V| {
            let node = format!("{{\"id\":{},\"content\":{value}}}\n", json(id));
            node + &format!("{{\"commit\":{{\"message\":{}}}}}\n", json(&format!("set {id} to {value}")))
        };
        let rows: String = values.into_iter().map(row).collect();
        let answer = self.mnem(&["put", "--jsonl", "-", "--commits"]).input(rows).output();
        answer.lines().map(str::to_owned).collect()
    }

    /// Such files are in it.
    pub fn with_files(files: &Files) -> Self {
        let place = Self::empty();
        for (relative, (mode, bytes)) in files {
            match bytes {
                Some(bytes) => place.write(relative, bytes),
                None => place.directory(relative),
            }
            let permissions = fs::Permissions::from_mode(*mode);
            fs::set_permissions(place.path(relative), permissions).expect("permissions");
        }
        place
    }

    /// A path in it.
    pub fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// The same as an argument.
    pub fn argument(&self, relative: &str) -> String {
        self.path(relative).to_str().expect("a temporary directory with a plain name").to_owned()
    }

    /// Writes a file, and the directories that lead to it.
    pub fn write(&self, relative: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().expect("it is below the place")).expect("directories");
        fs::write(path, bytes).expect("a file");
    }

    /// Makes a directory.
    pub fn directory(&self, relative: &str) {
        fs::create_dir_all(self.path(relative)).expect("a directory");
    }

    /// All that is in it.
    pub fn files(&self) -> Files {
        files_below(&self.root)
    }

    /// The store, byte for byte.
    pub fn stored(&self) -> Files {
        self.files().into_iter().filter(|(name, _)| name.starts_with(".mnemosyne")).collect()
    }

    /// Private copies that lie beside the store.
    pub fn copies(&self) -> Vec<String> {
        let names = fs::read_dir(&self.root).expect("a directory").map(|entry| entry.expect("an entry").file_name());
        names.filter_map(|name| name.into_string().ok()).filter(|name| name.starts_with("mnem-")).collect()
    }

    /// A run of the binary in it. Of the environment only `PATH` comes through; standard input is empty.
    pub fn mnem(&self, arguments: &[&str]) -> Run {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mnem"));
        command.args(arguments);
        self.run(command)
    }

    /// Like [`Place::mnem`] at a terminal of 80 columns, where both streams come together with `\r\n` for line ends.
    /// `None` where the system has no `script` that makes one.
    pub fn at_terminal(&self, arguments: &[&str]) -> Option<Run> {
        let version = Command::new("script").arg("--version").output().ok()?;
        if !String::from_utf8_lossy(&version.stdout).contains("util-linux") {
            return None;
        }
        let words: Vec<_> = [env!("CARGO_BIN_EXE_mnem")].iter().chain(arguments).map(|word| quoted(word)).collect();
        let mut command = Command::new("script");
        command.arg("-qec").arg(format!("exec {}", words.join(" "))).arg("/dev/null");
        Some(self.run(command).env("SHELL", "/bin/sh").env("TERM", "xterm"))
    }

    /// Types the lines that `answer` shows behind `to undo: ` into a shell that knows `mnem`.
    #[track_caller]
    pub fn undo(&self, answer: &Answer) -> Run {
        let lines: Vec<_> = answer.stderr.lines().filter_map(|line| line.strip_prefix("to undo: ")).collect();
        assert!(!lines.is_empty(), "no line that undoes it: {answer:?}");
        let mut command = Command::new("sh");
        command.arg("-ec").arg(lines.join("\n"));
        let programs = Path::new(env!("CARGO_BIN_EXE_mnem")).parent().expect("a directory");
        let path = std::env::join_paths([programs, "/usr/bin".as_ref(), "/bin".as_ref()]).expect("a path");
        self.run(command).env("PATH", path)
    }

    fn run(&self, mut command: Command) -> Run {
        command.current_dir(&self.root).env_clear();
        command.envs(std::env::vars_os().filter(|(name, _)| name == "PATH"));
        command.envs([("MNEM_DATE", DATE), ("MNEM_AUTHOR", AUTHOR)]).env("TMPDIR", &self.root);
        Run { command, input: None, root: self.root.clone() }
    }
}

/// A word as the shell takes it for itself.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Files and directories by their path below some directory: mode, and for a file the bytes.
pub type Files = BTreeMap<String, (u32, Option<Vec<u8>>)>;

fn files_below(root: &Path) -> Files {
    let mut files = Files::new();
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            let metadata = fs::symlink_metadata(&path).expect("metadata");
            let bytes = metadata.is_file().then(|| fs::read(&path).expect("a file"));
            let name = path.strip_prefix(root).expect("it is below").display().to_string();
            files.insert(name, (metadata.permissions().mode() & 0o7777, bytes));
            if metadata.is_dir() {
                directories.push(path);
            }
        }
    }
    files
}

/// A run that is being prepared. It ends with one of the claims about what it says.
pub struct Run {
    command: Command,
    input: Option<Vec<u8>>,
    root: PathBuf,
}

impl Run {
    pub fn arguments<S: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = S>) -> Self {
        self.command.args(arguments);
        self
    }

    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    pub fn without(mut self, name: &str) -> Self {
        self.command.env_remove(name);
        self
    }

    /// Starts in a directory of the place.
    pub fn within(mut self, directory: &str) -> Self {
        self.command.current_dir(self.root.join(directory));
        self
    }

    /// What comes in on a pipe.
    pub fn input(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.input = Some(bytes.into());
        self
    }

    /// The command as it stands, for a test with streams of its own.
    pub fn command(self) -> Command {
        self.command
    }

    /// What it says, and how it ends.
    pub fn answer(mut self) -> Answer {
        let input = self.input.take();
        self.command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
        let mut child = self.command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let writer = child.stdin.take().zip(input).map(|(mut pipe, bytes)| {
            // Who refuses the arguments does not read what was to come.
            std::thread::spawn(move || drop(pipe.write_all(&bytes)))
        });
        let output = child.wait_with_output().expect("it ends");
        if let Some(writer) = writer {
            writer.join().expect("the input was written");
        }
        let place = self.root.to_str().expect("a temporary directory with a plain name");
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8").replace(place, "[PLACE]");
        Answer {
            status: output.status.code().expect("no signal"),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    /// It ends with 0 and says just this.
    #[track_caller]
    pub fn says(self, stdout: &str, stderr: &str) {
        self.ends(0, stdout, stderr);
    }

    /// It ends with `status` and says just this.
    #[track_caller]
    pub fn ends(self, status: i32, stdout: &str, stderr: &str) {
        let told = |command: &Command| command.get_args().map(|word| format!(" {word:?}")).collect::<String>();
        let told = told(&self.command);
        let expected = Answer { status, stdout: stdout.to_owned(), stderr: stderr.to_owned() };
        let answer = self.answer();
        assert!(answer == expected, "mnem{told}\n== expected\n{expected:?}== found\n{answer:?}");
    }

    /// It ends with `status`, says just this on standard error, and leaves every file as it was.
    #[track_caller]
    pub fn refuses(self, status: i32, stderr: &str) {
        let root = self.root.clone();
        let before = files_below(&root);
        self.ends(status, "", stderr);
        let after = files_below(&root);
        let names: std::collections::BTreeSet<_> = before.keys().chain(after.keys()).collect();
        let changed: Vec<_> = names.into_iter().filter(|name| before.get(*name) != after.get(*name)).collect();
        assert!(changed.is_empty(), "{changed:?} changed: {stderr}");
    }

    /// It ends with 0 and says nothing on standard error; returns what it says on standard output.
    #[track_caller]
    pub fn output(self) -> String {
        let answer = self.answer();
        assert!(answer.status == 0 && answer.stderr.is_empty(), "{answer:?}");
        answer.stdout
    }
}

/// What a run said, and how it ended.
#[derive(PartialEq, Eq)]
pub struct Answer {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Answer {
    /// The word of the error, such as `busy`.
    pub fn word(&self) -> Option<&str> {
        Some(self.stderr.split_once("mnem: error[")?.1.split_once(']')?.0)
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = |text: &str| if text.is_empty() || text.ends_with('\n') { "" } else { "⏎\n" };
        let Self { status, stdout, stderr } = self;
        write!(f, "-- status {status}\n-- stdout\n{stdout}{}-- stderr\n{stderr}{}", end(stdout), end(stderr))
    }
}

/// A text as JSON.
pub fn json(text: &str) -> String {
    serde_json::to_string(text).expect("a string")
}

/// A text with a newline behind each of these.
pub fn lines<S: AsRef<str>>(texts: &[S]) -> String {
    texts.iter().map(|text| format!("{}\n", text.as_ref())).collect()
}

/// What `--json` says of a staged change of the session `default`; the hash is that of the version, if there is one.
pub fn staged_row(id: &str, hash: Option<&str>, change: &str) -> String {
    let hash = hash.map_or("null".to_owned(), json);
    format!(
        "{{\"v\":1,\"type\":\"staged\",\"id\":{},\"hash\":{hash},\"change\":\"{change}\",\"session\":\"default\"}}\n",
        json(id)
    )
}

/// The id of the memory at HEAD.
pub fn state(place: &Place) -> String {
    let row = place.mnem(&["log", "-n1", "--json"]).output();
    let row: serde_json::Value = serde_json::from_str(&row).expect("a commit");
    row["state"].as_str().expect("an id").to_owned()
}
