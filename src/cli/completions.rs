//! `mnem completions`

use super::context::Context;
use super::error::{CliError, Word};
use super::json::V;
use clap_complete::env::{Bash, Elvish, EnvCompleter, Fish, Powershell, Zsh};
use serde::Serialize;

/// What bash needs beside the script that every program has.
const WORDS_FOR_BASH: &str = include_str!("mnem.bash");

/// Print the completion script of a shell
///
/// For bash: source <(mnem completions bash). The script asks mnem itself, so that ids, revisions and sessions complete
/// as well as options.
#[derive(clap::Args, Debug)]
pub(super) struct CompletionsArgs {
    /// Which shell
    #[arg(value_name = "SHELL", value_parser = ["bash", "zsh", "fish", "elvish", "powershell"])]
    shell: String,
}

#[derive(Serialize)]
struct CompletionsJson<'a> {
    v: u8,
    r#type: &'static str,
    shell: &'a str,
    script: &'a str,
}

pub(super) fn run(args: &CompletionsArgs, context: &mut Context) -> Result<(), CliError> {
    let shell: &dyn EnvCompleter = match args.shell.as_str() {
        "bash" => &Bash,
        "zsh" => &Zsh,
        "fish" => &Fish,
        "elvish" => &Elvish,
        _ => &Powershell,
    };
    let mut script = Vec::new();
    shell
        .write_registration("COMPLETE", "mnem", "mnem", "mnem", &mut script)
        .map_err(|error| CliError::new(Word::Io, error.to_string()))?;
    if args.shell == "bash" {
        script.extend_from_slice(WORDS_FOR_BASH.as_bytes());
    }
    if context.globals.json {
        let script = &String::from_utf8_lossy(&script);
        return context.json_line(&CompletionsJson { v: V, r#type: "completions", shell: &args.shell, script });
    }
    context.out().write_all(&script)?;
    Ok(())
}
