//! What a command needs from the world: options and variables, clock, terminal, store. Nothing else asks for them.

use super::error::{CliError, Word};
use super::paint::Paint;
use super::shell::word;
use super::text::escape_line;
use super::when;
use super::world::World;
use crate::graph::{Doubt, Meaning, Revision, Selection};
use crate::model::{Author, CommitTime, Message, NodeId, Provenance, SessionName, Timestamp};
use crate::ops;
use crate::store::{CommitWords, Store, StoreError, Trust, check, discover, named};
use chrono::{DateTime, FixedOffset};
use std::cell::RefMut;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// How long two contents are compared before the answer is simplified.
const COMPARISON_TIME: Duration = Duration::from_secs(2);
const DEFAULT_LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// The options that every command has.
#[derive(clap::Args, Debug, Clone, Default)]
#[command(next_help_heading = "Global options")]
pub struct Globals {
    /// Act as if started in PATH; several follow one another
    #[arg(short = 'C', value_name = "PATH", global = true, action = clap::ArgAction::Append)]
    pub directory: Vec<PathBuf>,

    /// Take the store in DIR, the `.mnemosyne` directory itself, and do not search upward [env: MNEM_DIR]
    #[arg(long, value_name = "DIR", global = true)]
    pub store: Option<PathBuf>,

    /// Whose staged changes and whose HEAD; `default` if none is named [env: MNEM_SESSION]
    #[arg(long, value_name = "NAME", global = true, add = super::complete::sessions())]
    pub session: Option<String>,

    /// Answer in JSON, one object a line
    #[arg(long, global = true)]
    pub json: bool,

    /// End the lines of plain lists with NUL instead of a newline
    #[arg(short = 'z', global = true)]
    pub nul: bool,

    /// Leave out the commentary on standard error
    #[arg(short, long, global = true)]
    pub quiet: bool,

    /// Say more on standard error
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    pub verbose: bool,

    /// When to use colours [env: NO_COLOR, CLICOLOR_FORCE]
    #[arg(long, value_name = "WHEN", global = true, default_value = "auto", value_parser = ["auto", "always", "never"])]
    pub color: String,

    /// Never start a pager [env: MNEM_PAGER, PAGER]
    #[arg(long, global = true)]
    pub no_pager: bool,

    /// How long to wait for another writer, such as 500ms or 2m; 0 is not at all; 10s if not given [env: MNEM_LOCK_TIMEOUT]
    #[arg(long, value_name = "DURATION", global = true)]
    pub lock_timeout: Option<String>,
}

impl Globals {
    /// What a completer goes by: the variables alone, and no wait.
    pub fn for_completion() -> Self {
        Self { quiet: true, color: "never".to_owned(), lock_timeout: Some("0".to_owned()), ..Self::default() }
    }
}

/// A revision to read at.
#[derive(clap::Args, Debug, Clone, Default)]
pub struct AtRevision {
    /// Read the memory as it was at this revision [env: MNEM_REV]
    #[arg(short, long, value_name = "REV", add = super::complete::revisions())]
    pub rev: Option<String>,
}

/// The defaults of `put`'s provenance, from the environment.
const PROVENANCE_VARIABLES: [&str; 5] =
    ["MNEM_AGENT_STEP", "MNEM_OBSERVATION", "MNEM_TOOL_CALL", "MNEM_SOURCE", "MNEM_NOTE"];

/// Standard output, whose errors say so.
struct Answer(Rc<World>);

impl Write for Answer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.output.borrow_mut().write(bytes).map_err(of_standard_output)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.output.borrow_mut().flush().map_err(of_standard_output)
    }
}

fn of_standard_output(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::Interrupted => error,
        kind => io::Error::new(kind, format!("standard output: {error}")),
    }
}

/// What one command has of the world.
pub struct Context {
    /// The global options as they were given.
    pub globals: Globals,
    world: Rc<World>,
    directory: PathBuf,
    out: io::BufWriter<Answer>,
    paged: Option<Vec<u8>>,
    status: u8,
    out_paint: Paint,
    err_paint: Paint,
}

impl Context {
    /// Looks at the options, the working directory and the terminal.
    pub fn new(world: &Rc<World>, globals: Globals) -> Result<Self, CliError> {
        let mut directory = world.directory.clone();
        for step in &globals.directory {
            directory.push(step);
            if !directory.is_dir() {
                return Err(CliError::usage(format!("cannot change to '{}': no such directory", step.display()))
                    .hint("mnem -C DIRECTORY COMMAND"));
            }
        }
        let (out_terminal, err_terminal) = world.terminals;
        let out_paint = Paint { colored: !globals.json && world.paint(&globals.color, out_terminal).colored };
        let err_paint = world.paint(&globals.color, err_terminal);
        let out = io::BufWriter::with_capacity(64 << 10, Answer(Rc::clone(world)));
        Ok(Self { globals, world: Rc::clone(world), directory, out, paged: None, status: 0, out_paint, err_paint })
    }

    /// Where the answer goes.
    pub fn out(&mut self) -> &mut dyn Write {
        match &mut self.paged {
            Some(buffer) => buffer,
            None => &mut self.out,
        }
    }

    /// What `write` would have answered.
    pub fn captured(&mut self, write: impl FnOnce(&mut Self) -> Result<(), CliError>) -> Result<Vec<u8>, CliError> {
        let before = self.paged.replace(Vec::new());
        let written = write(self);
        let captured = std::mem::replace(&mut self.paged, before);
        written.map(|()| captured.unwrap_or_default())
    }

    /// The colours of the answer.
    pub fn paint(&self) -> Paint {
        self.out_paint
    }

    /// The colours of the commentary.
    pub fn err_paint(&self) -> Paint {
        self.err_paint
    }

    /// Ends a line of a plain list.
    pub fn line(&mut self, text: &str) -> io::Result<()> {
        let end = if self.globals.nul { b"\0" } else { b"\n" };
        let out = self.out();
        out.write_all(text.as_bytes())?;
        out.write_all(end)
    }

    /// Writes an id on a line of its own: for people escaped, exact where lines end with NUL.
    pub fn id_line(&mut self, id: &NodeId) -> io::Result<()> {
        if self.globals.nul { self.line(id.as_str()) } else { self.line(&self.paint().id(&escape_line(id.as_str()))) }
    }

    /// Writes one row of JSON.
    pub fn json_line(&mut self, row: &impl serde::Serialize) -> Result<(), CliError> {
        let out = self.out();
        serde_json::to_writer(&mut *out, row).map_err(io::Error::from)?;
        out.write_all(b"\n")?;
        Ok(())
    }

    /// Where the commentary goes.
    pub fn err(&self) -> RefMut<'_, Box<dyn Write>> {
        self.world.commentary.borrow_mut()
    }

    /// Says something on standard error, unless it is to be quiet. Where nobody listens, nothing is lost.
    pub fn say(&self, text: &str) {
        if !self.globals.quiet {
            let _unheard = writeln!(self.err(), "{text}");
        }
    }

    /// Warns on standard error. The text is escaped here.
    pub fn warn(&self, text: &str) {
        let label = self.err_paint.warning("warning:");
        self.say(&format!("{label} {}", escape_line(text)));
    }

    /// Warns of what failed after the work was done.
    pub fn warn_error(&self, error: Option<StoreError>) {
        if let Some(error) = error {
            self.warn(&CliError::from(error).to_string());
        }
    }

    /// Warns of names that stand for more than what was taken.
    pub fn warn_doubts<'d>(&self, doubts: impl IntoIterator<Item = &'d Doubt>) {
        for doubt in doubts {
            self.warn(&doubt_text(doubt));
        }
    }

    /// Refuses a word in the place of text that looks like an option, unless `--` stands before it: a mistyped one, or one
    /// of the letters `with_value` with its value behind it.
    pub fn refuse_option(&self, word: &str, with_value: &str, instead: &str) -> Result<(), CliError> {
        if self.is_behind_dashes(word) {
            Ok(())
        } else if looks_like_option(word) {
            Err(CliError::usage(format!("unknown option '{word}'")).hint(instead))
        } else if let Some((option, value)) = option_and_value(word, with_value) {
            Err(CliError::usage(format!("'{word}' is text, or the option {option}"))
                .hint(format!("{option} {value}, or {instead}")))
        } else {
            Ok(())
        }
    }

    /// Whether a word stands behind `--`.
    pub fn is_behind_dashes(&self, word: &str) -> bool {
        self.world.arguments.iter().skip_while(|argument| *argument != "--").any(|argument| argument == word)
    }

    /// Sends all that follows through a pager, if a person looks at it.
    pub fn page(&mut self) {
        let terminal = self.world.terminals.0 && self.world.is_capable();
        if terminal && !self.globals.json && !self.globals.no_pager {
            self.paged = Some(Vec::new());
        }
    }

    /// How a command on the same store and session is typed: `mnem` with the global options that name them.
    pub fn typed(&self) -> String {
        let mut words = vec!["mnem".to_owned()];
        for directory in &self.globals.directory {
            words.extend(["-C".to_owned(), word(&directory.display().to_string())]);
        }
        if let Some(store) = &self.globals.store {
            words.extend(["--store".to_owned(), word(&store.display().to_string())]);
        }
        if let Ok(session) = self.session()
            && (self.globals.session.is_some() || session != SessionName::default())
        {
            words.extend(["--session".to_owned(), word(session.as_str())]);
        }
        words.join(" ")
    }

    /// The command line as it is typed, with more words behind the name of the command.
    pub fn shown_words(&self, more: &[&str]) -> String {
        let mut words: Vec<_> =
            self.world.arguments.iter().skip(1).map(|argument| argument.to_string_lossy().into_owned()).collect();
        let verb = words.iter().position(|word| word == "bisect").map_or(0, |group| {
            group
                + words[group..]
                    .iter()
                    .position(|word| ["run", "narrow"].contains(&&word[..]))
                    .map_or(0, |verb| verb + 1)
        });
        words.splice(verb..verb, more.iter().map(|&word| word.to_owned()));
        let shown = words.iter().map(|text| word(text));
        std::iter::once("mnem".to_owned()).chain(shown).collect::<Vec<_>>().join(" ")
    }

    /// Ends the command with 1, without an error: the answer to its question is no.
    pub fn answer_no(&mut self) {
        self.end_with(1);
    }

    /// Ends the command with this exit status, without an error.
    pub fn end_with(&mut self, status: u8) {
        self.status = status;
    }

    /// Brings the answer out and returns the exit status.
    pub fn finish(mut self) -> io::Result<u8> {
        self.bring_out()?;
        Ok(self.status)
    }

    pub fn bring_out(&mut self) -> io::Result<()> {
        if let Some(answer) = self.paged.take() {
            let pager = self.variable_os("MNEM_PAGER").or_else(|| self.variable_os("PAGER"));
            let pager = pager.unwrap_or("less -FRX".into());
            if answer.is_empty() || super::pager::page(&pager, self.variable_os("LESS").is_some(), &answer) {
                return Ok(());
            }
            self.out.write_all(&answer)?;
        }
        self.out.flush()
    }

    /// A path as the user means it: relative to where the command acts.
    pub fn path(&self, path: &Path) -> PathBuf {
        self.directory.join(path)
    }

    /// Where the command acts.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Where files go that nobody keeps.
    pub fn temporary_directory(&self) -> PathBuf {
        self.path(&std::env::temp_dir())
    }

    /// The store that was named, by which option or variable; `None` where it is to be searched for.
    pub fn named_store(&self) -> Option<(PathBuf, &'static str)> {
        let option = self.globals.store.clone().map(|path| (path, "--store"));
        let named = option.or_else(|| self.variable_os("MNEM_DIR").map(|path| (path.into(), "MNEM_DIR")));
        named.map(|(path, by)| (self.path(&path), by))
    }

    /// A variable of the environment; an empty one is an unset one.
    pub fn variable_os(&self, name: &str) -> Option<OsString> {
        self.world.variable_os(name)
    }

    fn trust(&self) -> Trust {
        let list = self.variable_os("MNEM_SAFE_DIRECTORY");
        let sudo_user = self.variable_os("SUDO_UID").and_then(|user| user.to_str()?.parse().ok());
        match list {
            Some(list) if list == "*" => Trust { safe: Vec::new(), all: true, sudo_user },
            Some(list) => Trust { safe: split_paths(&list), all: false, sudo_user },
            None => Trust { safe: Vec::new(), all: false, sudo_user },
        }
    }

    /// Finds the store and checks that it may be trusted.
    pub fn store(&self) -> Result<Store, CliError> {
        let trust = self.trust();
        let directory = match self.named_store() {
            Some((path, by)) => named(&path, by, &trust)?,
            None => {
                let ceilings =
                    self.variable_os("MNEM_CEILING_DIRECTORIES").map_or(Vec::new(), |list| split_paths(&list));
                let start = self.directory.canonicalize().unwrap_or_else(|_| self.directory.clone());
                discover(&start, &ceilings, &trust)?
            }
        };
        if self.globals.verbose {
            let session = self.session()?;
            self.say(&format!("store '{}', session '{session}'", escape_line(&directory.display().to_string())));
        }
        Ok(match self.lock_timeout()? {
            Some(given) => Store::new(directory, given),
            None => Store::new(directory, DEFAULT_LOCK_TIMEOUT).with_setting(|text| when::parse_duration(text).ok()),
        })
    }

    /// The store that stands at `directory`, if it may be trusted.
    pub fn open_named(&self, directory: &Path) -> Result<Store, CliError> {
        check(directory, &self.trust())?;
        Ok(Store::new(directory.to_owned(), DEFAULT_LOCK_TIMEOUT))
    }

    /// The store, for a command that writes: refused while a revision is being looked at.
    pub fn store_to_write(&self) -> Result<Store, CliError> {
        let store = self.store()?;
        self.refuse_read_only(store.directory())?;
        Ok(store)
    }

    /// Refuses to write to a store of which a revision is being looked at.
    pub fn refuse_read_only(&self, store: &Path) -> Result<(), CliError> {
        match self.variable_revision(store)? {
            None => Ok(()),
            Some(rev) => {
                Err(CliError::new(Word::ReadOnlyRev, format!("MNEM_REV is set to '{rev}', so nothing is written"))
                    .hint("to write, run it without: env -u MNEM_REV mnem …"))
            }
        }
    }

    /// The revision to read at, by option or variable.
    pub fn revision(&self, option: &AtRevision, store: &Store) -> Result<Option<Revision>, CliError> {
        let text = match &option.rev {
            Some(rev) => Some(rev.clone()),
            None => self.variable_revision(store.directory())?,
        };
        text.map(|text| self.read_revision(&text)).transpose()
    }

    /// Reads a revision; times in it may be relative.
    pub fn read_revision(&self, text: &str) -> Result<Revision, CliError> {
        Ok(Revision::parse(text, &|time| self.time(time).ok())?)
    }

    /// Reads a revision, `^A`, `A..B` or `A...B`.
    pub fn read_selection(&self, text: &str) -> Result<Selection, CliError> {
        Ok(Selection::parse(text, &|time| self.time(time).ok())?)
    }

    /// `MNEM_REV`, unless `MNEM_REV_DIR` limits it to another store.
    fn variable_revision(&self, store: &Path) -> Result<Option<String>, CliError> {
        let Some(rev) = self.world.variable("MNEM_REV")? else { return Ok(None) };
        let limit = self.variable_os("MNEM_REV_DIR").map(|path| self.path(Path::new(&path)));
        let same = |limit: &PathBuf| match (limit.canonicalize(), store.canonicalize()) {
            (Ok(limit), Ok(store)) => limit == store,
            _ => limit == store,
        };
        Ok(limit.as_ref().is_none_or(same).then_some(rev))
    }

    /// How long to wait for another writer, by option or variable.
    fn lock_timeout(&self) -> Result<Option<Duration>, CliError> {
        let (text, from) = match &self.globals.lock_timeout {
            Some(text) => (Some(text.clone()), "--lock-timeout"),
            None => (self.world.variable("MNEM_LOCK_TIMEOUT")?, "MNEM_LOCK_TIMEOUT"),
        };
        let read = text.map(|text| when::parse_duration(&text)).transpose();
        read.map_err(|error| CliError::usage(error.to_string()).about(from).hint("such as 500ms, 10s or 2m"))
    }

    /// The session, by option or variable.
    pub fn session(&self) -> Result<SessionName, CliError> {
        let name = match &self.globals.session {
            Some(name) => Some(name.clone()),
            None => self.world.variable("MNEM_SESSION")?,
        };
        match name {
            None => Ok(SessionName::default()),
            Some(name) => SessionName::new(&name).map_err(|error| CliError::from(error).about(&format!("'{name}'"))),
        }
    }

    /// The present time in the local zone, or what `MNEM_DATE` says.
    pub fn now(&self) -> Result<CommitTime, CliError> {
        let now = clock()?;
        match self.world.variable("MNEM_DATE")? {
            None => Ok(now),
            Some(text) => {
                when::parse(&text, now, &chrono::Local).map_err(|error| CliError::from(error).about("MNEM_DATE"))
            }
        }
    }

    /// A time given in an option, relative ones against the clock.
    pub fn time(&self, text: &str) -> Result<CommitTime, CliError> {
        Ok(when::parse(text, clock()?, &chrono::Local)?)
    }

    /// When a search for what differs between two contents gives up.
    pub fn deadline(&self) -> Instant {
        Instant::now() + COMPARISON_TIME
    }

    /// An instant given in an option: RFC 3339 to the last digit, everything else as [`Context::time`] has it.
    pub fn instant(&self, text: &str) -> Result<DateTime<FixedOffset>, CliError> {
        match Timestamp::parse(text) {
            Ok(time) => Ok(time.instant()),
            Err(_) => Ok(self.time(text)?.instant()),
        }
    }

    /// The author, by option, variable or setting; else the user's name, else `unknown`.
    pub fn author(&self, option: Option<&str>, store: &Store) -> Result<Author, CliError> {
        let (text, from) = match option {
            Some(text) => (Some(text.to_owned()), "--author"),
            None => match self.world.variable("MNEM_AUTHOR")? {
                Some(text) => (Some(text), "MNEM_AUTHOR"),
                None => (ops::setting(store, "author")?, "the setting 'author'"),
            },
        };
        let refused =
            |error| CliError::usage(format!("{from} {error}")).hint("such as --author 'Name <mail@example.org>'");
        match text {
            Some(text) => Author::one_line(&text).map_err(refused),
            None => {
                let user = self.variable_os("USER").and_then(|user| user.into_string().ok());
                let author = user.and_then(|user| Author::one_line(&user).ok());
                Ok(author.unwrap_or(Author::new("unknown").expect("it is not blank")))
            }
        }
    }

    /// What a commit says that is made along with a change: `None` where no message is given. Several are paragraphs.
    pub fn commit_words(&self, paragraphs: &[String], store: &Store) -> Result<Option<CommitWords>, CliError> {
        if paragraphs.is_empty() {
            return Ok(None);
        }
        let message = message(&paragraphs.join("\n\n"))?;
        Ok(Some(CommitWords { author: self.author(None, store)?, time: self.now()?, message }))
    }

    /// The provenance that the environment names.
    pub fn provenance(&self) -> Result<Provenance, CliError> {
        let [agent_step, observation, tool_call, source, note] =
            PROVENANCE_VARIABLES.map(|name| self.world.variable(name));
        Ok(Provenance {
            agent_step: agent_step?,
            observation: observation?,
            tool_call: tool_call?,
            source: source?,
            note: note?,
        })
    }

    /// A fresh id, UUIDv7, from the present time; those of one command rise.
    pub fn generated_ids(&self) -> Result<impl FnMut() -> NodeId + use<>, CliError> {
        let milliseconds = u64::try_from(self.now()?.unix_ms()).unwrap_or(0);
        let counter = uuid::ContextV7::new();
        Ok(move || {
            let nanoseconds = u32::try_from(milliseconds % 1000).unwrap_or(0) * 1_000_000;
            let time = uuid::Timestamp::from_unix(&counter, milliseconds / 1000, nanoseconds);
            NodeId::new(uuid::Uuid::new_v7(time).to_string()).expect("a UUID is an id")
        })
    }

    /// All of standard input.
    pub fn stdin(&self) -> RefMut<'_, Box<dyn Read>> {
        self.world.input.borrow_mut()
    }
}

/// Which of the things that a name stands for was taken.
fn doubt_text(doubt: &Doubt) -> String {
    let told = |meaning| match meaning {
        Meaning::Commit => ("the id of a commit", "the commit"),
        Meaning::Ref => ("a ref", "the ref"),
        Meaning::Tag => ("a tag", "the tag"),
        Meaning::Branch => ("a branch", "the branch"),
        Meaning::Prefix => ("the prefix of a commit's id", "the commit"),
    };
    let (is, taken) = told(doubt.taken);
    let others: Vec<_> = doubt.others.iter().map(|&other| told(other).0).collect();
    format!("'{}' is {is} and also {}; {taken} was taken", doubt.name, others.join(" and "))
}

/// Reads a commit message.
pub fn message(text: &str) -> Result<Message, CliError> {
    let blank = |_| CliError::usage("the message may not be blank").hint("say what changed: -m 'learn preferences'");
    Message::new(text).map_err(blank)
}

/// The time of the clock, in the local zone.
#[expect(clippy::disallowed_methods, reason = "the one place that asks the clock")]
fn clock() -> Result<CommitTime, CliError> {
    Ok(CommitTime::at(&chrono::Local::now())?)
}

/// The absolute paths of a list separated by `:`.
fn split_paths(list: &std::ffi::OsStr) -> Vec<PathBuf> {
    std::env::split_paths(list).filter(|path| path.is_absolute()).collect()
}

/// Whether a word has the form `--name` or `--name=…`, without white space.
fn looks_like_option(word: &str) -> bool {
    let Some(name) = word.strip_prefix("--") else { return false };
    let name = name.split_once('=').map_or(name, |(name, _)| name);
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')
        && !word.contains(char::is_whitespace)
}

/// Takes a word such as `-Fnotes.txt` apart, where the letter is one of `with_value` and there is no white space.
fn option_and_value<'a>(word: &'a str, with_value: &str) -> Option<(&'a str, &'a str)> {
    let letter = word.strip_prefix('-')?.chars().next().filter(|letter| with_value.contains(*letter))?;
    let (option, value) = word.split_at(1 + letter.len_utf8());
    (!value.is_empty() && !value.contains(char::is_whitespace)).then_some((option, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_may_stand_right_behind_its_letter() {
        assert_eq!(option_and_value("-Fnotes.txt", "tF"), Some(("-F", "notes.txt")));
        assert_eq!(option_and_value("-t=json", "tF"), Some(("-t", "=json")));
        for text in ["-x1", "-5", "-F", "-", "", "Fx", "--Fx", "-Fat cats", "- Fx"] {
            assert_eq!(option_and_value(text, "tF"), None, "{text}");
        }
    }

    #[test]
    fn a_name_in_doubt_is_told_with_what_was_taken() {
        let text =
            |taken, others: &[Meaning]| doubt_text(&Doubt { name: "x".to_owned(), taken, others: others.to_vec() });
        let all = [Meaning::Tag, Meaning::Branch, Meaning::Prefix];
        assert_eq!(
            text(Meaning::Ref, &all),
            "'x' is a ref and also a tag and a branch and the prefix of a commit's id; the ref was taken"
        );
        assert_eq!(text(Meaning::Tag, &[Meaning::Branch]), "'x' is a tag and also a branch; the tag was taken");
        assert_eq!(
            text(Meaning::Commit, &[Meaning::Ref]),
            "'x' is the id of a commit and also a ref; the commit was taken"
        );
    }

    #[test]
    fn only_the_form_of_an_option_is_taken_for_one() {
        for option in ["--nope", "--a-b", "--x=1", "--x="] {
            assert!(looks_like_option(option), "{option}");
        }
        for text in ["-5", "-x", "--", "---", "--X", "--1", "--a b", "--a=b c", "--a\u{a0}", "--a_b", "- fix"] {
            assert!(!looks_like_option(text), "{text}");
        }
    }
}
