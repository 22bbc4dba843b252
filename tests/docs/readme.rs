//! The README's tables and commands.

use super::bless::root;
use super::tables::{quoted, rows};
use regex::Regex;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

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
