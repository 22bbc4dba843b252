//! The files in `man/` and `completions/` are what the definition of the command line and the README's tables make.

#[path = "docs/bless.rs"]
mod bless;
#[path = "docs/tables.rs"]
mod tables;

use bless::{is_blessing, root};
use clap::Command;
use clap_complete::env::Shells;
use clap_mangen::Man;
use clap_mangen::roff::{Inline, Roff, bold, roman};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use tables::{quoted, rows};

const MNEM: &str = env!("CARGO_BIN_EXE_mnem");
const REWRITE: &str = "MNEM_BLESS=1 cargo test --test generated";

#[test]
fn man_pages_are_current() {
    let definition = definition();
    let pages = with_inner(&definition).into_iter().map(page).collect();
    compare("man", &pages);
}

#[test]
fn completions_are_current() {
    let shells = Shells::builtins();
    let scripts = shells.iter().map(|shell| {
        let name = match shell.name() {
            "bash" => "mnem.bash",
            "elvish" => "mnem.elv",
            "fish" => "mnem.fish",
            "powershell" => "mnem.ps1",
            "zsh" => "_mnem",
            other => panic!("no file name for the shell '{other}'"),
        };
        let script = std::process::Command::new(MNEM).args(["completions", shell.name()]).output().expect("mnem runs");
        let script = String::from_utf8(script.stdout).expect("UTF-8");
        (name.to_owned(), format!("{}\n", script.trim()))
    });
    compare("completions", &scripts.collect());
}

#[test]
fn every_command_and_option_is_completed_and_has_its_place_in_a_page() {
    let definition = definition();
    for command in &with_inner(&definition)[1..] {
        let path = command.get_bin_name().expect("a built definition");
        let (outer, name) = path.rsplit_once(' ').expect("a command inside another");
        let words = |last| outer.split(' ').chain(last).collect::<Vec<_>>();
        let offered = completions(&words(vec![""]));
        assert!(offered.iter().any(|word| word == name), "{path}: {offered:?}");
        let page = page(command).1.replace("\\-", "-");
        let offered = completions(&words(vec![name, "--"]));
        let options: Vec<_> = command.get_arguments().filter_map(|argument| argument.get_long()).collect();
        assert!(options.contains(&"json"), "{name}: {options:?}");
        for option in options {
            let option = format!("--{option}");
            assert!(offered.contains(&option), "{name} {option}: {offered:?}");
            assert!(option == "--help" || page.contains(&option), "{option} is not in the page of {name}");
        }
    }
}

#[test]
fn the_script_for_bash_completes_a_command() {
    let path =
        std::env::join_paths([Path::new(MNEM).parent().expect("a directory"), "/usr/bin".as_ref(), "/bin".as_ref()]);
    let script = "source completions/mnem.bash\n\
        COMP_WORDS=(mnem comm) COMP_CWORD=1 COMP_TYPE=9\n\
        _clap_complete_mnem mnem comm mnem && printf '%s\\n' \"${COMPREPLY[@]}\"";
    let mut bash = std::process::Command::new("bash");
    bash.args(["-c", script]).current_dir(root());
    let output = bash.env("PATH", path.expect("a path")).output().expect("bash runs");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "commit\n", "{output:?}");
}

/// The command line with all that is derived: global options in each command, names such as `mnem-put`.
fn definition() -> Command {
    let mut definition = mnemosyne::command();
    definition.build();
    definition
}

/// A command, and behind it all that are inside it.
fn with_inner(command: &Command) -> Vec<&Command> {
    [command].into_iter().chain(command.get_subcommands().flat_map(with_inner)).collect()
}

/// What the shell is offered for the last of `words`.
fn completions(words: &[&str]) -> Vec<String> {
    let index = (words.len() - 1).to_string();
    let mut mnem = std::process::Command::new(MNEM);
    mnem.env("COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", index).env("_CLAP_IFS", "\n").arg("--").args(words);
    let output = mnem.output().expect("mnem runs");
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout).expect("UTF-8").lines().map(str::to_owned).collect()
}

/// The page of one command, with its file name.
fn page(command: &Command) -> (String, String) {
    let name = command.get_display_name().unwrap_or(command.get_name()).to_owned();
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").to_owned();
    let man = Man::new(command.clone().override_usage(usage))
        .title(name.to_uppercase())
        // An empty date: pages do not change by the day.
        .date("\"\"")
        .source(concat!("mnem ", env!("CARGO_PKG_VERSION")))
        .manual("Mnemosyne");
    let mut page = Vec::new();
    man.render(&mut page).expect("a page");
    let mut page = String::from_utf8(page).expect("UTF-8");
    let begin = page.find(".TH").expect("a title");
    // Each part begins with the same preamble; the page has it once.
    page.push_str(&tail(command).render()[begin..]);
    (format!("{name}.1"), page)
}

/// What no definition holds: statuses and variables, as the README lists them, and the other pages.
fn tail(command: &Command) -> Roff {
    let readme = fs::read_to_string(root().join("README.md")).expect("the README");
    let is_whole = command.get_name() == "mnem";
    let mut roff = Roff::new();
    roff.control("SH", ["EXIT STATUS"]);
    for row in rows(&readme, "## Exit status") {
        let [status, meaning, words] = &row[..] else { panic!("three columns: {row:?}") };
        roff.control("TP", []).text([bold(status)]).text(inlines(meaning));
        if !words.is_empty() {
            roff.control("br", []).text(inlines(words));
        }
    }
    roff.control("SH", ["ENVIRONMENT"]);
    for row in rows(&readme, "## Variables") {
        let [variables, commands, meaning] = &row[..] else { panic!("three columns: {row:?}") };
        let is_one = |name: &str| command.get_bin_name() == Some(&format!("mnem {name}"));
        if commands == "all" || is_whole || quoted(commands).any(is_one) {
            roff.control("TP", []).text(inlines(variables)).text(inlines(meaning));
        }
    }
    if !is_whole {
        roff.control("SH", ["SEE ALSO"]).text([bold("mnem"), roman("(1)")]);
    }
    roff
}

/// Markdown's `code` in bold, all else as it is.
fn inlines(markdown: &str) -> Vec<Inline> {
    let part = |(at, text): (usize, &str)| if at % 2 == 1 { bold(text) } else { roman(text) };
    markdown.split('`').enumerate().map(part).collect()
}

/// Compares a directory with the files that it should hold, and nothing else.
fn compare(directory: &str, wanted: &BTreeMap<String, String>) {
    let directory = root().join(directory);
    if is_blessing() {
        let _absent = fs::remove_dir_all(&directory);
        fs::create_dir(&directory).expect("a new directory");
        for (name, text) in wanted {
            fs::write(directory.join(name), text).expect("a new file");
        }
    }
    let entry = |entry: std::io::Result<fs::DirEntry>| {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        (name, fs::read_to_string(&path).expect("text"))
    };
    let found: BTreeMap<_, _> = fs::read_dir(&directory).expect("a directory").map(entry).collect();
    let stale = wanted.iter().filter(|(name, text)| found.get(*name) != Some(text)).map(|(name, _)| name);
    let stale: Vec<_> = stale.chain(found.keys().filter(|name| !wanted.contains_key(*name))).collect();
    assert!(stale.is_empty(), "{}: {stale:?} not current; to rewrite: {REWRITE}", directory.display());
}
