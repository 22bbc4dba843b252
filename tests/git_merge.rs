//! Merges by line against `git merge-file`, over random texts.
//!
//! Where lines come again, an edit may be told in several ways, and then one of us may see a conflict where the other sees
//! none. Where both see none, the text is the same, but for texts of hardly more than two kinds of lines: there git may
//! match other lines than we do, from the front or from the end, and make another text of it.

use mnemosyne::graph::merge_texts;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

/// Numbers that look random and are always the same.
struct Dice(u64);

impl Dice {
    /// Less than `sides`.
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).expect("31 bits") % sides
    }
}

/// How lines look: of so many kinds, the fewer the more often each comes.
#[derive(Clone, Copy, Debug)]
struct Style {
    kinds: usize,
    most_lines: usize,
    /// In place of a line feed at the end of some lines.
    end: &'static str,
}

fn line(style: Style, dice: &mut Dice) -> String {
    format!("{}{}", dice.roll(style.kinds), if dice.roll(4) == 0 { style.end } else { "\n" })
}

fn edited(base: &[String], style: Style, dice: &mut Dice) -> Vec<String> {
    let mut lines = base.to_vec();
    for _ in 0..dice.roll(4) {
        let at = dice.roll(lines.len() + 1);
        let end = (at + dice.roll(3)).min(lines.len());
        match dice.roll(4) {
            0 => drop(lines.drain(at..end)),
            1 => drop(lines.splice(at..at, (0..=dice.roll(2)).map(|_| line(style, dice)).collect::<Vec<_>>())),
            2 => drop(lines.splice(at..end, (0..=dice.roll(2)).map(|_| line(style, dice)).collect::<Vec<_>>())),
            _ => {
                let block = lines[at..end].to_vec();
                drop(lines.splice(at..at, block));
            }
        }
    }
    lines
}

/// A text, of which the last line may lack its line feed.
fn text(lines: &[String], dice: &mut Dice) -> String {
    let mut text = lines.concat();
    if dice.roll(4) == 0 && text.ends_with('\n') {
        text.pop();
    }
    text
}

/// `None` for a conflict.
fn by_git(directory: &Path, texts: &[String; 3]) -> Option<String> {
    for (name, text) in ["base", "ours", "theirs"].iter().zip(texts) {
        std::fs::write(directory.join(name), text).expect("a file");
    }
    let mut git = Command::new("git");
    for variable in ["XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS", "GIT_DIR"] {
        git.env_remove(variable);
    }
    git.env("HOME", directory).env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CEILING_DIRECTORIES", directory);
    git.args(["merge-file", "-p", "-q", "ours", "base", "theirs"]).current_dir(directory);
    let output = git.output().expect("git runs");
    match output.status.code() {
        Some(0) => Some(String::from_utf8(output.stdout).expect("text")),
        Some(1..128) => None,
        _ => panic!("{output:?}"),
    }
}

/// Past the capture of the test runner.
fn say(text: &str) {
    std::io::stderr().write_all(text.as_bytes()).expect("standard error");
}

/// How many merges came out how.
#[derive(Debug, Default)]
struct Tally {
    same: usize,
    both_conflict: usize,
    only_git_merges: usize,
    only_we_merge: usize,
    /// Both merge, to another text.
    other: usize,
}

#[test]
fn where_git_and_we_merge_the_text_is_the_same_but_for_very_repetitive_texts() {
    if !Command::new("git").arg("--version").output().is_ok_and(|output| output.status.success()) {
        say("note: there is no git here, so merges were not compared with it\n");
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let mut dice = Dice(0x2545_f491_4f6c_dd1d);
    for (style, count, most_other) in [
        (Style { kinds: 10_000, most_lines: 12, end: "\r\n" }, 300, 0),
        (Style { kinds: 30, most_lines: 30, end: "\n\n" }, 200, 0),
        (Style { kinds: 5, most_lines: 12, end: "\n" }, 300, 0),
        (Style { kinds: 3, most_lines: 14, end: "\n" }, 200, 0),
        (Style { kinds: 2, most_lines: 8, end: "\n" }, 400, 4),
    ] {
        let mut tally = Tally::default();
        for _ in 0..count {
            let base: Vec<_> = (0..dice.roll(style.most_lines)).map(|_| line(style, &mut dice)).collect();
            let sides = [base.clone(), edited(&base, style, &mut dice), edited(&base, style, &mut dice)];
            let texts = sides.map(|lines| text(&lines, &mut dice));
            *match (by_git(directory.path(), &texts), merge_texts(&texts[0], &texts[1], &texts[2])) {
                (Some(git), Some(us)) if git == us => &mut tally.same,
                (None, None) => &mut tally.both_conflict,
                (Some(_), None) => &mut tally.only_git_merges,
                (None, Some(_)) => &mut tally.only_we_merge,
                (Some(git), Some(us)) => {
                    say(&format!("{texts:?}\n  git {git:?}\n  us  {us:?}\n"));
                    &mut tally.other
                }
            } += 1;
        }
        say(&format!("{style:?}: {tally:?}\n"));
        assert!(tally.other <= most_other, "{style:?}: {tally:?}");
        assert!(tally.same * 2 > count, "{style:?}: {tally:?}");
    }
}
