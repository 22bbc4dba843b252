//! `mnem demo`: the story of a poisoned belief, played with the real commands in a store of its own.

use super::context::Context;
use super::error::{CliError, Word};
use super::json::V;
use super::text::escape_block;
use serde::Serialize;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

/// Play the story of a poisoned belief
///
/// An agent learns something false from a web page, builds on it, and is traced back to where it came from. Runs each
/// command in a store of its own, which is removed afterwards, and shows its real output.
#[derive(clap::Args, Debug)]
pub(super) struct DemoArgs {}

/// A remark, or a command with its arguments.
enum Scene {
    Say(&'static str),
    Run(&'static [&'static str]),
}

use Scene::{Run, Say};

const STORY: &[Scene] = &[
    Say("An agent keeps what it knows of Maria in a memory store."),
    Run(&["init"]),
    Say("Step 1: Maria talks, and the agent takes notes."),
    Run(&["put", "user/diet", "vegan since 2019", "--agent-step", "1", "--observation", "chat/1"]),
    Run(&["put", "user/allergies", "[\"peanuts\"]", "-t", "json", "--agent-step", "1", "--observation", "chat/1"]),
    Run(&["commit", "-m", "learn how Maria eats"]),
    Say("Step 2: it looks for a restaurant, and believes a stranger on a web page."),
    Run(&[
        "put",
        "user/diet",
        "loves steak",
        "--agent-step",
        "2",
        "--tool-call",
        "search/7",
        "--source",
        "https://forum.example/t/88",
    ]),
    Run(&["put", "plan/dinner", "Grill House, 20:00", "--agent-step", "2"]),
    Run(&["commit", "-m", "plan the dinner"]),
    Say("Step 3: it goes on."),
    Run(&["put", "plan/taxi", "19:40", "--agent-step", "3"]),
    Run(&["commit", "-m", "order a taxi"]),
    Say("Now it says that Maria loves steak. What does the memory hold?"),
    Run(&["get", "user/diet"]),
    Say("Which commits ever changed that belief?"),
    Run(&["log", "--", "user/diet"]),
    Say("What did it say before, and from what was it changed?"),
    Run(&["diff", "HEAD~2", "--provenance", "--", "user/diet"]),
    Run(&["blame", "user/diet"]),
    Say("What else came from there, ever, and what of it still stands?"),
    Run(&["log", "--oneline", "--source", "https://forum.example/t/88"]),
    Run(&["ls", "--source", "https://forum.example/t/88"]),
    Say("A web page, by tool call search/7. The belief is set right, and the record of the error stays."),
    Run(&[
        "put",
        "user/diet",
        "vegan since 2019",
        "--agent-step",
        "4",
        "--note",
        "the forum was wrong",
        "-m",
        "set the diet right",
    ]),
    Run(&["blame", "--history", "user/diet"]),
];

/// When the story begins, so that its ids are the same each time; a minute passes with each command.
const BEGIN: i64 = 1_764_576_000;

/// A scene as `--json` tells it.
#[derive(Serialize)]
struct SceneJson<'a> {
    v: u8,
    r#type: &'static str,
    remark: Option<&'a str>,
    command: Option<String>,
    output: Option<&'a str>,
}

pub(super) fn run(_: &DemoArgs, context: &mut Context) -> Result<(), CliError> {
    let place = tempfile::Builder::new().prefix("mnem-demo-").tempdir()?;
    let program = std::env::current_exe()?;
    for (minute, scene) in (0..).zip(STORY) {
        match scene {
            Say(remark) => tell(context, Some(remark), None)?,
            Run(arguments) => {
                let (status, output) = play(&program, arguments, place.path(), BEGIN + 60 * minute)?;
                let text = String::from_utf8_lossy(&output).replace(&place.path().display().to_string(), "/agent");
                tell(context, None, Some((arguments, &text)))?;
                if !status.success() {
                    return Err(CliError::new(Word::Io, format!("'mnem {}' failed", shell_words(arguments))));
                }
            }
        }
    }
    Ok(())
}

/// Runs a command in the demo's own store, at a moment of its own, whatever the environment says. What it prints on either
/// stream comes in the order in which it was printed.
fn play(program: &Path, arguments: &[&str], place: &Path, moment: i64) -> io::Result<(ExitStatus, Vec<u8>)> {
    let (mut reader, writer) = io::pipe()?;
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.as_encoded_bytes().starts_with(b"MNEM_")) {
        command.env_remove(name);
    }
    command
        .args(arguments)
        .current_dir(place)
        .env("MNEM_DATE", format!("@{moment}"))
        .env("MNEM_AUTHOR", "agent-7 <agent-7@example.org>")
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer);
    let mut child = command.spawn()?;
    // The command holds the other end of the pipe too, and would keep it open.
    drop(command);
    let mut output = Vec::new();
    reader.read_to_end(&mut output)?;
    Ok((child.wait()?, output))
}

fn tell(context: &mut Context, remark: Option<&str>, played: Option<(&[&str], &str)>) -> Result<(), CliError> {
    if context.globals.json {
        let command = played.map(|(arguments, _)| format!("mnem {}", shell_words(arguments)));
        let output = played.map(|(_, output)| output);
        return context.json_line(&SceneJson { v: V, r#type: "scene", remark, command, output });
    }
    let out = context.out();
    if let Some(remark) = remark {
        writeln!(out, "\n# {remark}")?;
    }
    if let Some((arguments, output)) = played {
        let output = escape_block(output);
        let end = if output.is_empty() || output.ends_with('\n') { "" } else { "\n" };
        write!(out, "$ mnem {}\n{output}{end}", shell_words(arguments))?;
    }
    Ok(out.flush()?)
}

/// The arguments as a person would type them.
fn shell_words(arguments: &[&str]) -> String {
    let plain = |word: &str| word.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_./:~@".contains(&b));
    let quote = |word: &&str| if plain(word) { (*word).to_owned() } else { format!("'{word}'") };
    arguments.iter().map(quote).collect::<Vec<_>>().join(" ")
}
