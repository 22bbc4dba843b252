//! The editor for a commit message.

use super::context::Context;
use super::error::CliError;
use std::io::{self, IsTerminal};
use std::process::Command;

/// Lets a person write a text; `None` where there is no terminal. Every line counts: there are no comments.
pub fn edit(context: &Context) -> Result<Option<String>, CliError> {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Ok(None);
    }
    let editor = context.variable_os("VISUAL").or_else(|| context.variable_os("EDITOR")).unwrap_or("vi".into());
    let file = tempfile::Builder::new().prefix("mnem-message-").suffix(".txt").tempfile()?;
    let mut shell = Command::new("sh");
    shell.current_dir(context.directory()).arg("-c").arg({
        let mut line = editor.clone();
        line.push(" \"$1\"");
        line
    });
    let status = shell.arg("sh").arg(file.path()).status()?;
    if !status.success() {
        return Err(CliError::usage(format!("the editor '{}' failed", editor.display())).hint("mnem commit -m MESSAGE"));
    }
    Ok(Some(std::fs::read_to_string(file.path())?))
}
