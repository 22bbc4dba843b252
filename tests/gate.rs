//! The rules that no test of behaviour sees: format, lints, documentation. Part of `cargo test`, so that one command
//! tells whether a change is good.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output};

/// Cargo of the toolchain that built this, over a target directory of its own: the outer one may be locked.
fn cargo(arguments: &[&str]) -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(arguments).current_dir(env!("CARGO_MANIFEST_DIR"));
    cargo.env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("gate"));
    cargo.env("CARGO_TERM_COLOR", "never").env_remove("RUSTFLAGS").env_remove("RUSTDOCFLAGS");
    cargo
}

fn told(output: &Output) -> String {
    [&output.stdout[..], &output.stderr[..]].map(String::from_utf8_lossy).concat()
}

/// Whether the toolchain has the tool. A small one may lack it: then nothing is checked, and that is said aloud.
fn has(tool: &str) -> bool {
    let there = cargo(&[tool, "--version"]).output().is_ok_and(|output| output.status.success());
    if !there {
        // Past the capture of the test runner.
        let note = format!("note: this toolchain has no 'cargo {tool}', so it was not run\n");
        std::io::stderr().write_all(note.as_bytes()).expect("standard error");
    }
    there
}

fn passes(mut command: Command) {
    let output = command.output().expect("cargo runs");
    assert!(output.status.success(), "{command:?}\n{}", told(&output));
}

#[test]
fn the_code_is_formatted() {
    if has("fmt") {
        passes(cargo(&["fmt", "--check"]));
    }
}

/// Without features some code is unused that tests reach; a user must see no warning either.
#[test]
fn clippy_has_nothing_to_say() {
    if has("clippy") {
        for features in [&["--all-features"][..], &[]] {
            let mut clippy = cargo(&["clippy", "--quiet", "--locked", "--offline", "--all-targets"]);
            clippy.args(features).args(["--", "-D", "warnings"]);
            passes(clippy);
        }
    }
}

#[test]
fn the_documentation_has_no_warnings() {
    let mut doc = cargo(&["doc", "--quiet", "--locked", "--offline", "--no-deps", "--all-features"]);
    doc.arg("--document-private-items");
    doc.env("RUSTDOCFLAGS", "-D warnings");
    passes(doc);
}
