//! A directory with a store, and the binary that is run in it.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;
use tempfile::TempDir;

/// A command that takes longer hangs: every test here ends sooner, however busy the machine.
const HANGS: Duration = Duration::from_secs(120);

/// An ordinary user who owns nothing.
pub const NOBODY: u32 = 65534;

/// All that a command said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The exit status, or minus the signal that ended it.
    pub status: i32,
    pub out: String,
    pub err: String,
}

impl Answer {
    pub fn new(status: i32, out: &str, err: &str) -> Self {
        Self { status, out: out.to_owned(), err: err.to_owned() }
    }

    /// The word of the error, such as `busy`.
    pub fn word(&self) -> Option<&str> {
        let plain = self.err.strip_prefix("mnem: error[").and_then(|rest| rest.split_once(']'));
        let json = || self.err.strip_prefix(r#"{"v":1,"type":"error","code":""#)?.split_once('"');
        Some(plain.or_else(json)?.0)
    }

    pub fn is_error(&self, status: i32, word: &str) -> bool {
        self.status == status && self.word() == Some(word) && self.out.is_empty()
    }
}

pub struct Place {
    directory: TempDir,
    binary: PathBuf,
}

impl Place {
    /// A directory without a store, which others may enter.
    pub fn empty() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        set_mode(directory.path(), 0o755);
        Self { directory, binary: PathBuf::from(env!("CARGO_BIN_EXE_mnem")) }
    }

    /// A directory with a new store.
    pub fn new() -> Self {
        let place = Self::empty();
        place.ok(&["init"]);
        place
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    pub fn store(&self) -> PathBuf {
        self.path().join(".mnemosyne")
    }

    pub fn database(&self) -> PathBuf {
        self.store().join("store.redb")
    }

    /// The binary in this directory, in an environment with nothing but an author and a time.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        self.settle(&mut command);
        command.args(arguments);
        command
    }

    /// The same through a shell that says `prelude` first.
    pub fn shell(&self, prelude: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", &format!("{prelude}; exec \"$0\" \"$@\"")]).arg(&self.binary);
        self.settle(&mut command);
        command.args(arguments);
        command
    }

    /// The same as [`NOBODY`].
    pub fn as_nobody(&mut self, arguments: &[&str]) -> Command {
        let copy = self.path().join("mnem-of-all");
        if self.binary != copy {
            // By another process: a file that this one has open for writing, or a child of it between fork and exec, can't
            // be run.
            let copied = Command::new("cp").arg(&self.binary).arg(&copy).status();
            assert!(copied.is_ok_and(|status| status.success()), "copied");
            set_mode(&copy, 0o755);
            self.binary = copy;
        }
        let mut command = self.command(arguments);
        command.uid(NOBODY).gid(NOBODY);
        command
    }

    fn settle(&self, command: &mut Command) {
        command.env_clear().current_dir(self.path()).stdin(Stdio::null());
        command.env("MNEM_DATE", "2024-05-06T07:08:09+00:00").env("MNEM_AUTHOR", "Ada").env("PATH", "/usr/bin:/bin");
    }

    pub fn run(&self, arguments: &[&str]) -> Answer {
        answer(&mut self.command(arguments))
    }

    /// Runs what must do, and returns its answer.
    pub fn ok(&self, arguments: &[&str]) -> String {
        let answer = self.run(arguments);
        assert_eq!(answer.status, 0, "{arguments:?}: {}", answer.err);
        answer.out
    }

    /// How many commits HEAD has behind it, itself among them.
    pub fn commits(&self) -> usize {
        self.ok(&["log", "--ids"]).lines().count()
    }

    /// All that is in the store: names, modes, times of change and bytes.
    pub fn everything(&self) -> Vec<String> {
        everything(&self.store())
    }
}

pub fn everything(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        let metadata = fs::symlink_metadata(&path).expect("there");
        let bytes = if metadata.is_file() { fs::read(&path).expect("a file") } else { Vec::new() };
        let (mode, changed) = (metadata.permissions().mode(), metadata.modified().expect("a time"));
        found.push(format!("{} {mode:o} {changed:?} {} {:08x}", path.display(), bytes.len(), crc32c::crc32c(&bytes)));
        if metadata.is_dir() {
            found.extend(everything(&path));
        }
    }
    found.sort();
    found
}

pub fn answer(command: &mut Command) -> Answer {
    finish(start(command))
}

/// Starts a command whose answer is wanted.
pub fn start(command: &mut Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started")
}

/// Waits for the answer, and fails where a command hangs.
pub fn finish(child: Child) -> Answer {
    let id = child.id();
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(child.wait_with_output()));
    let Ok(output) = receiver.recv_timeout(HANGS) else {
        signal(id, rustix::process::Signal::KILL);
        panic!("a command hangs");
    };
    let output = output.expect("waited for");
    let status = output.status.code().or(output.status.signal().map(|signal| -signal)).expect("ended");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Answer { status, out: text(output.stdout), err: text(output.stderr) }
}

pub fn signal(id: u32, signal: rustix::process::Signal) {
    let id = rustix::process::Pid::from_raw(id.cast_signed()).expect("an id");
    rustix::process::kill_process(id, signal).expect("signalled");
}

pub fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("a mode");
}

/// Sets the modes of a store and what is in it.
pub fn set_modes(store: &Path, directory: u32, file: u32) {
    for entry in fs::read_dir(store).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() { set_modes(&path, directory, file) } else { set_mode(&path, file) }
    }
    set_mode(store, directory);
}

/// Whether what needs root may run; says so where not.
pub fn is_root(test: &str) -> bool {
    let root = rustix::process::geteuid().is_root();
    if !root {
        println!("skipped: {test}: needs root");
    }
    root
}

/// A mount that lasts as long as this.
pub struct Mounted(PathBuf);

impl Mounted {
    /// Mounts at `at`; `None`, and says so, where that is not permitted.
    pub fn new(at: &Path, arguments: &[&OsStr], test: &str) -> Option<Self> {
        fs::create_dir_all(at).expect("a directory");
        let mounted = Command::new("mount").args(arguments).arg(at).stderr(Stdio::null()).status();
        if mounted.is_ok_and(|status| status.success()) {
            return Some(Self(at.to_owned()));
        }
        println!("skipped: {test}: mounting is not permitted");
        None
    }

    pub fn tmpfs(at: &Path, options: &str, test: &str) -> Option<Self> {
        Self::new(at, &["-t", "tmpfs", "-o", options, "tmpfs"].map(OsStr::new), test)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn make_read_only(&self) {
        let status = Command::new("mount").args(["-o", "remount,ro"]).arg(&self.0).status().expect("mount");
        assert!(status.success());
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // Lazily, so that nothing stays when a test fails in the middle.
        drop(Command::new("umount").arg("-l").arg(&self.0).status());
    }
}

/// Numbers that follow from a seed.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) % end
    }
}

/// A count from the environment.
#[expect(clippy::disallowed_methods, reason = "tests ask for themselves")]
pub fn wanted(variable: &str, default: usize) -> usize {
    std::env::var(variable).map_or(default, |text| text.parse().expect("a count"))
}
