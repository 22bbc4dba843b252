//! Completion in the shell: the binary itself answers.

use clap_complete::CompleteEnv;

/// Answers a shell that asks for completions, and ends the process then; otherwise returns at once.
pub fn answer() {
    CompleteEnv::with_factory(super::command).complete();
}
