//! The README's tables and commands.

use super::bless::root;
use super::tables::{quoted, rows};
use regex::Regex;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

fn readme() -> String {
    fs::read_to_string(root().join("README.md")).expect("the README")
}

#[test]
fn it_lists_every_command_with_what_help_says() {
    let listed: Vec<_> =
        rows(&readme(), "## Commands").into_iter().map(|row| (row[0].clone(), row[1].clone())).collect();
    let definition = mnemosyne::command();
    let commands = definition.get_subcommands().map(|command| {
        (format!("`mnem {}`", command.get_name()), command.get_about().expect("a first line").to_string())
    });
    assert_eq!(listed, commands.collect::<Vec<_>>());
}

#[test]
fn it_lists_every_variable_that_the_program_asks_for() {
    let rows = rows(&readme(), "## Variables");
    let listed: BTreeSet<_> = rows.iter().flat_map(|row| quoted(&row[0]).map(str::to_owned)).collect();
    let mut asked = BTreeSet::new();
    let names = Regex::new(r#""(MNEM_[A-Z_]+)"|variable(?:_os)?\("([A-Z_]+)"\)"#).expect("a pattern");
    source_files(&root().join("src"), &mut |text| {
        for found in names.captures_iter(text) {
            asked.extend(found.iter().skip(1).flatten().map(|name| name.as_str().to_owned()));
        }
    });
    assert_eq!(listed, asked);
}

fn source_files(directory: &Path, visit: &mut impl FnMut(&str)) {
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            source_files(&path, visit);
        } else {
            visit(&fs::read_to_string(&path).expect("text"));
        }
    }
}

#[test]
fn the_continuous_check_ends_with_its_test_command() {
    let readme = readme();
    let command = readme.lines().find(|line| line.starts_with("cargo test ")).expect("a test command");
    let check = fs::read_to_string(root().join(".ci/run")).expect("the check");
    assert_eq!(check.lines().last(), Some(command));
}

#[test]
fn the_demo_is_the_same_whatever_the_environment_says() {
    let play = |variables: &[(&str, &str)]| {
        let place = tempfile::tempdir().expect("a directory");
        let mut mnem = Command::new(env!("CARGO_BIN_EXE_mnem"));
        let output = mnem.arg("demo").current_dir(place.path()).env_clear().envs(variables.iter().copied()).output();
        let output = output.expect("mnem runs");
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        assert_eq!(fs::read_dir(place.path()).expect("a directory").count(), 0, "nothing is left");
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let plain = play(&[]);
    assert!(plain.starts_with("\n# An agent keeps what it knows of Maria in a memory store.\n$ mnem init\n/agent/"));
    let set = [("MNEM_SESSION", "other"), ("MNEM_REV", "HEAD"), ("MNEM_SOURCE", "me"), ("CLICOLOR_FORCE", "1")];
    assert_eq!(play(&set), plain);
}
