//! The pager.

use std::ffi::OsStr;
use std::io::Write;
use std::process::{Command, Stdio};

/// Shows `answer` in the pager, a command line for the shell, with options for `less` unless it has some. `false` when it
/// could not be started or failed, so that the answer still has to be brought out.
pub fn page(command: &OsStr, has_options: bool, answer: &[u8]) -> bool {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command).stdin(Stdio::piped());
    if !has_options {
        shell.env("LESS", "FRX");
    }
    let Ok(mut child) = shell.spawn() else { return false };
    if let Some(mut input) = child.stdin.take() {
        // A pager that is left early closes its end; its status tells whether it has done its work.
        let _left_early = input.write_all(answer);
    }
    child.wait().is_ok_and(|status| status.success())
}
