//! `mnem completions`

use super::context::Context;
use super::error::{CliError, Word};
use clap_complete::env::{Bash, Elvish, EnvCompleter, Fish, Powershell, Zsh};

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
    context.out().write_all(&script)?;
    Ok(())
}
