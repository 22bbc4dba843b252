//! The `mnem` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    mnemosyne::run()
}
