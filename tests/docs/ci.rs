//! The script of the page on continuous integration does what the page says.

use super::bless::root;
use std::path::Path;
use std::process::{Command, Output};

/// The script as the page has it.
fn script() -> String {
    let page = std::fs::read_to_string(root().join("docs/ci.md")).expect("the page");
    let (_, rest) = page.split_once("```sh\n").expect("a script");
    // Its own fences stand within quotes.
    let (script, _) = rest.split_once("\n```\n").expect("its end");
    format!("{script}\n")
}

fn run(place: &Path, program: &str, arguments: &[&str]) -> Output {
    let mnem = Path::new(env!("CARGO_BIN_EXE_mnem")).parent().expect("a directory");
    let path = std::env::join_paths([mnem, "/usr/bin".as_ref(), "/bin".as_ref()]).expect("a path");
    let mut command = Command::new(program);
    command.args(arguments).current_dir(place).env_clear().env("PATH", path).env("TMPDIR", place);
    command.env("MNEM_DATE", "@1764576000").env("MNEM_AUTHOR", "Ada").env("MNEM_CEILING_DIRECTORIES", place);
    command.output().expect("it starts")
}

fn mnem(place: &Path, arguments: &[&str]) -> String {
    let output = run(place, env!("CARGO_BIN_EXE_mnem"), arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("UTF-8").trim_end().to_owned()
}

#[test]
fn the_script_moves_the_tag_or_names_the_commit_that_broke_it() {
    let place = tempfile::tempdir().expect("a directory");
    let place = place.path();
    let file = |name: &str| std::fs::read_to_string(place.join(name)).expect(name);
    std::fs::write(place.join("check.sh"), script()).expect("a script");
    let belief = r#"{"name":"Maria is vegan","predicates":["--contains","user/diet","vegan"]}"#;
    std::fs::write(place.join("beliefs.jsonl"), belief).expect("assertions");
    mnem(place, &["init"]);
    mnem(place, &["put", "user/diet", "vegan", "-m", "first"]);

    let green = run(place, "sh", &["check.sh"]);
    assert!(green.status.success(), "{green:?}");
    assert_eq!(mnem(place, &["rev-parse", "last-green"]), mnem(place, &["rev-parse", "HEAD"]));
    assert!(file("summary.md").is_empty() && file("check.xml").contains("failures=\"0\""));

    for (id, content) in [("a", "1"), ("user/diet", "steak"), ("b", "1"), ("c", "1")] {
        mnem(place, &["put", id, content, "-m", content, "--source", "forum"]);
    }
    let bad = mnem(place, &["rev-parse", "HEAD~2"]);
    let red = run(place, "sh", &["check.sh"]);
    let said = String::from_utf8(red.stdout).expect("UTF-8");
    assert_eq!(red.status.code(), Some(1));
    assert!(said.contains(&format!("::error title=memory::broken by commit {bad}\n")), "{said}");
    let summary = file("summary.md");
    assert!(summary.starts_with(&format!("## Broken by {bad}\n")) && summary.contains("source: forum"), "{summary}");
    assert!(file("bisect.jsonl").lines().last().expect("a line").contains(&bad));
    assert!(file("bisect.xml").starts_with("<?xml") && file("check.xml").contains("failures=\"1\""));
    assert_eq!(mnem(place, &["rev-parse", "last-green"]), mnem(place, &["rev-parse", "HEAD~4"]));

    mnem(place, &["tag", "-d", "last-green"]);
    let unknown = run(place, "sh", &["check.sh"]);
    assert_eq!(unknown.status.code(), Some(1));
    assert!(String::from_utf8(unknown.stdout).expect("UTF-8").contains("::error title=memory::no search"));
}
