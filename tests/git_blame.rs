//! Blame by line against `git blame`, over histories of one text.
//!
//! Lines that differ are of two kinds. Where as many lines can be matched in several ways (`a b` became `b a`), git keeps
//! one line and we may keep the other. Where an edit of one side has several places, both weigh indentation and blank
//! lines, but git with weights of its own; without its weighing it agrees with us there. Of a very long text with changes
//! all over, both give up the search for the most matches, and not at the same point.

use mnemosyne::graph::{Unit, Versions, lineage};
use mnemosyne::model::Content;
use std::convert::Infallible;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

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

/// How the lines of a history look.
#[derive(Clone, Copy, Debug)]
enum Style {
    /// Few lines that come again and again.
    Repeating,
    /// Sentences, most of them once, with blank lines between paragraphs.
    Prose,
    /// Nested lists.
    Indented,
    /// As prose, but so long that no table of all pairs of lines is made.
    Long,
}

impl Style {
    /// How many histories there are, how many versions each has at the most, and how many lines the first of them.
    fn size(self) -> (usize, usize, usize) {
        match self {
            Self::Repeating | Self::Prose | Self::Indented => (400, 20, 30),
            Self::Long => (4, 6, 4000),
        }
    }
}

fn line(style: Style, dice: &mut Dice) -> String {
    match style {
        Style::Repeating => format!("{}\n", ["a", "b", "c", "d", "", "- e", "- f", "g h i"][dice.roll(8)]),
        Style::Prose | Style::Long if dice.roll(5) == 0 => "\n".to_owned(),
        Style::Prose | Style::Long => format!("The user said {} on day {}.\n", dice.roll(9), dice.roll(60)),
        Style::Indented => {
            let depth = dice.roll(3);
            match dice.roll(4) {
                0 => "\n".to_owned(),
                1 => format!("{}end\n", "  ".repeat(depth)),
                _ => format!("{}- item {}\n", "  ".repeat(depth), dice.roll(30)),
            }
        }
    }
}

/// The versions of a text, the oldest first.
fn history(style: Style, dice: &mut Dice) -> Vec<String> {
    let (_, most_versions, most_lines) = style.size();
    let mut lines: Vec<String> = (0..dice.roll(most_lines)).map(|_| line(style, dice)).collect();
    let mut versions = vec![lines.concat()];
    for _ in 0..dice.roll(most_versions) {
        for _ in 0..=dice.roll(3) + lines.len() / 40 {
            let at = dice.roll(lines.len() + 1);
            let end = (at + 1 + dice.roll(4)).min(lines.len());
            match dice.roll(12) {
                0..4 => drop(lines.splice(at..at, (0..=dice.roll(3)).map(|_| line(style, dice)).collect::<Vec<_>>())),
                4..6 => drop(lines.drain(at..end)),
                6..9 if at < lines.len() => lines[at] = line(style, dice),
                9 => {
                    let block: Vec<_> = lines.drain(at..end).collect();
                    let to = dice.roll(lines.len() + 1);
                    drop(lines.splice(to..to, block));
                }
                10 => {
                    let older = &versions[dice.roll(versions.len())];
                    lines = older.split_inclusive('\n').map(str::to_owned).collect();
                }
                _ if dice.roll(6) == 0 => lines.clear(),
                _ => {
                    if let Some(last) = lines.last_mut() {
                        last.truncate(last.trim_end().len());
                    }
                }
            }
            // Only the last line may lack its line feed.
            let count = lines.len();
            for line in lines.iter_mut().take(count.saturating_sub(1)).filter(|line| !line.ends_with('\n')) {
                line.push('\n');
            }
        }
        versions.push(lines.concat());
    }
    versions
}

fn git(directory: &Path, arguments: &[&str]) -> Command {
    let mut git = Command::new("git");
    git.args(arguments).current_dir(directory).env("GIT_DIR", directory.join("repository"));
    for variable in ["XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS"] {
        git.env_remove(variable);
    }
    git.env("HOME", directory).env("GIT_CONFIG_NOSYSTEM", "1");
    git
}

/// Puts each history on a branch of its own.
fn import(directory: &Path, histories: &[Vec<String>]) {
    let output = git(directory, &["init", "-q", "--bare"]).output().expect("git runs");
    assert!(output.status.success(), "{output:?}");
    let mut stream = String::new();
    for (nth, versions) in histories.iter().enumerate() {
        for (at, text) in versions.iter().enumerate() {
            write!(stream, "commit refs/heads/h{nth}\ncommitter A <a@b> {at} +0000\ndata 1\nxM 100644 inline f\n")
                .expect("a string");
            write!(stream, "data {}\n{text}\n", text.len()).expect("a string");
        }
    }
    let mut import = git(directory, &["fast-import", "--quiet"]).stdin(Stdio::piped()).spawn().expect("git runs");
    import.stdin.take().expect("a pipe").write_all(stream.as_bytes()).expect("git reads");
    assert!(import.wait().expect("git ends").success());
}

/// For each line of the text at the end of a branch, the version that it comes from and its number there. Without
/// `weighing`, an edit goes to the last of its places.
fn by_git(directory: &Path, nth: usize, weighing: bool) -> Vec<(usize, usize)> {
    let config = format!("diff.indentHeuristic={weighing}");
    let arguments = ["-c", &config, "blame", "--line-porcelain", &format!("h{nth}"), "--", "f"];
    let output = git(directory, &arguments).output().expect("git runs");
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("text");
    let (mut found, mut line) = (Vec::new(), 0);
    let mut fields = text.lines();
    while let Some(header) = fields.next() {
        line = header.split(' ').nth(1).and_then(|number| number.parse().ok()).unwrap_or(line);
        let time = fields.by_ref().find_map(|field| field.strip_prefix("committer-time ")).expect("a time");
        found.push((time.parse().expect("a number"), line));
        fields.by_ref().find(|field| field.starts_with('\t')).expect("the line");
    }
    found
}

/// One version after the other.
struct Row<'a>(&'a [String]);

impl Versions for Row<'_> {
    type Error = Infallible;

    fn content(&self, version: u64) -> Result<Option<Content>, Infallible> {
        Ok(Some(Content::from_text(&self.0[usize::try_from(version).expect("small")])))
    }

    fn parents(&self, version: u64) -> Result<Vec<Option<u64>>, Infallible> {
        Ok(version.checked_sub(1).map(Some).into_iter().collect())
    }
}

fn by_us(versions: &[String]) -> Vec<(usize, usize)> {
    let start = u64::try_from(versions.len() - 1).expect("small");
    let Ok(found) = lineage(&Row(versions), start, Unit::Line, &|_| Ok(false), None);
    let place = |version: u64, line: Option<usize>| (usize::try_from(version).expect("small"), line.expect("a line"));
    found.parts.into_iter().map(|part| place(part.version, part.origin_line)).collect()
}

/// What came of the comparison of lines.
#[derive(Debug, Default)]
struct Tally {
    lines: usize,
    /// From the same line of the same version.
    same: usize,
    /// As git says without its weighing of places.
    other_place: usize,
    /// From another of the equal lines of the same version.
    other_line: usize,
    other_version: usize,
}

impl Tally {
    fn of(style: Style, dice: &mut Dice) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let histories: Vec<_> = (0..style.size().0).map(|_| history(style, dice)).collect();
        import(directory.path(), &histories);
        let mut tally = Self::default();
        for (nth, versions) in histories.iter().enumerate() {
            let (git, us) = (by_git(directory.path(), nth, true), by_us(versions));
            assert_eq!(git.len(), us.len(), "{versions:?}");
            tally.lines += git.len();
            let plain = if git == us { git.clone() } else { by_git(directory.path(), nth, false) };
            for ((git, plain), us) in git.iter().zip(&plain).zip(&us) {
                *match us {
                    _ if us == git => &mut tally.same,
                    _ if us == plain => &mut tally.other_place,
                    (version, _) if *version == git.0 => &mut tally.other_line,
                    _ => &mut tally.other_version,
                } += 1;
            }
        }
        tally
    }
}

/// Past the capture of the test runner.
fn say(text: &str) {
    std::io::stderr().write_all(text.as_bytes()).expect("standard error");
}

#[test]
fn nearly_every_line_comes_from_where_git_says() {
    if !Command::new("git").arg("--version").output().is_ok_and(|output| output.status.success()) {
        say("note: there is no git here, so blame was not compared with it\n");
        return;
    }
    let mut dice = Dice(0x2545_f491_4f6c_dd1d);
    let (mut lines, mut same) = (0, 0);
    for style in [Style::Repeating, Style::Prose, Style::Indented, Style::Long] {
        let tally = Tally::of(style, &mut dice);
        say(&format!("{style:?}: {tally:?}\n"));
        assert!(tally.same * 100 >= tally.lines * 98, "{style:?}: {tally:?}");
        (lines, same) = (lines + tally.lines, same + tally.same);
    }
    assert!(lines > 20_000 && same * 100 >= lines * 99, "{same} of {lines}");
}
