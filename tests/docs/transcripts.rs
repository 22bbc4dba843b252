//! Runs the console blocks of `README.md` and `docs/*.md`.
//!
//! In a block, `$ ` begins a command for the shell, `> ` goes on with it, and what follows is what it prints on either stream. The blocks of
//! one document run in order in one directory. A minute passes with each command, so that times and ids are always the
//! same. A command that is to fail says so: `mnem get nothing; echo "exit status $?"`. A block `rows` holds all rows of the
//! store as it is then.

use super::bless::{is_blessing, root};
use super::store_reader::Reader;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const REWRITE: &str = "MNEM_BLESS=1 cargo test --test docs transcripts";

/// Where the directory seems to be, whatever it is really called.
const SHOWN_DIRECTORY: &str = "/home/ada/agent";

/// The time of the first command, in seconds since 1970.
const BEGIN: i64 = 1_764_576_000;

#[test]
fn what_documents_show_is_what_commands_print() {
    let mut stale = Vec::new();
    for path in documents() {
        let text = fs::read_to_string(&path).expect("text");
        let played = Stage::new().play(&text);
        if is_blessing() {
            fs::write(&path, &played).expect("written");
        } else if played != text {
            let differs = |(line, (old, new)): (usize, (&str, &str))| {
                (old != new).then(|| format!("line {}: shown {old:?}, printed {new:?}", line + 1))
            };
            let first = text.lines().zip(played.lines()).enumerate().find_map(differs);
            stale.push(format!("{}: {}", path.display(), first.unwrap_or("another length".to_owned())));
        }
    }
    assert!(stale.is_empty(), "{}\nto rewrite: {REWRITE}", stale.join("\n"));
}

fn documents() -> Vec<PathBuf> {
    let docs = fs::read_dir(root().join("docs")).expect("a directory").map(|entry| entry.expect("an entry").path());
    let mut documents: Vec<_> = docs.filter(|path| path.extension().is_some_and(|end| end == "md")).collect();
    documents.sort();
    documents.push(root().join("README.md"));
    documents
}

/// A place for the commands of one document.
struct Stage {
    directory: tempfile::TempDir,
    played: i64,
}

impl Stage {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        fs::create_dir(directory.path().join("agent")).expect("a directory");
        Self { directory, played: 0 }
    }

    /// The document with what its commands print now.
    fn play(&mut self, text: &str) -> String {
        let mut played = String::with_capacity(text.len());
        let mut in_block = false;
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            if line.starts_with("```") {
                in_block = matches!(line, "```console" | "```rows");
            }
            let command = line.strip_prefix("$ ").filter(|_| in_block);
            if !in_block || line.starts_with("```") || command.is_some() {
                played.push_str(line);
                played.push('\n');
            }
            if let Some(command) = command {
                let mut command = command.to_owned();
                while let Some(line) = lines.next_if(|line| line.starts_with("> ")) {
                    played.push_str(line);
                    played.push('\n');
                    command += "\n";
                    command += &line[2..];
                }
                played.push_str(&self.run(&command));
            } else if line == "```rows" {
                played.push_str(&Reader::open(&self.directory.path().join("agent/.mnemosyne")).dump());
            }
        }
        played
    }

    fn run(&mut self, command: &str) -> String {
        let path = self.directory.path().join("agent").canonicalize().expect("a path");
        let programs = Path::new(env!("CARGO_BIN_EXE_mnem")).parent().expect("a directory");
        let programs = [programs, Path::new("/usr/bin"), Path::new("/bin")];
        let moment = BEGIN + 60 * self.played;
        self.played += 1;
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(format!("exec 2>&1\n{command}")).current_dir(&path).env_clear();
        shell.env("PATH", std::env::join_paths(programs).expect("a path"));
        shell.env("HOME", self.directory.path()).env("MNEM_CEILING_DIRECTORIES", self.directory.path());
        shell.env("MNEM_DATE", format!("@{moment}")).env("MNEM_AUTHOR", "agent-7 <agent-7@example.org>");
        let output = shell.output().expect("a shell");
        assert!(output.status.success(), "{command}: {output:?}");
        let printed = String::from_utf8(output.stdout).expect("UTF-8");
        let printed = printed.replace(&path.display().to_string(), SHOWN_DIRECTORY);
        let end = if printed.is_empty() || printed.ends_with('\n') { "" } else { "\n" };
        printed + end
    }
}
