//! What a sequence is made of: commands, and how each is typed.

use crate::history::At;
use crate::model::Model;
use crate::naive::Known;
use crate::packing::FILE;
use crate::revision::Rev;
use mnemosyne::model::{Content, NodeId};
use mnemosyne::ops::{Choice, FastForward, Underway};
use mnemosyne::store::Marked;
use std::rc::Rc;

/// Where a memory is written as a folder.
pub const FOLDER: &str = "folder";

/// A version of a node, or none.
pub type Held = Option<Rc<Known>>;

/// What an id is to be.
pub type Write = (NodeId, Held);

/// Which nodes.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// This id.
    Id(NodeId),
    /// All that begins so; typed with a slash at the end.
    Below(&'static str),
    /// All that begins so and has no further slash; typed with a star.
    Glob(&'static str),
}

impl Pattern {
    pub fn matches(&self, id: &NodeId) -> bool {
        match self {
            Self::Id(own) => own == id,
            Self::Below(start) => id.as_str().starts_with(start),
            Self::Glob(start) => id.as_str().strip_prefix(start).is_some_and(|rest| !rest.contains('/')),
        }
    }

    pub fn text(&self) -> String {
        match self {
            Self::Id(id) => id.to_string(),
            Self::Below(start) => (*start).to_owned(),
            Self::Glob(start) => format!("{start}*"),
        }
    }
}

/// What must hold of an id that is put.
#[derive(Clone, Copy, Debug)]
pub enum When {
    Always,
    Absent,
    /// It is as the session sees it now.
    AsSeen,
    /// It is as HEAD has it.
    AsInHead,
}

/// How nodes are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One, on the command line.
    Argument,
    /// One, on standard input.
    Input,
    /// Rows on standard input.
    Rows,
}

/// What becomes of a commit that would change nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Empty {
    Refused,
    Allowed,
    Skipped,
}

/// A commit of a history that is put as a whole.
#[derive(Clone, Debug)]
pub struct Group {
    pub writes: Vec<Write>,
    pub message: String,
    pub author: Option<String>,
    /// When, if not now.
    pub time: Option<Time>,
}

/// Seconds since the day began on which all commits are made.
pub type Time = u32;

/// A time as it is told.
pub fn told(time: Time) -> String {
    format!("2026-03-01T{:02}:{:02}:{:02}.000+00:00", time / 3600, time / 60 % 60, time % 60)
}

#[derive(Clone, Debug)]
pub enum Command {
    Init,
    Put {
        writes: Vec<Write>,
        form: Form,
        when: When,
        message: Option<String>,
        dry_run: bool,
    },
    History {
        groups: Vec<Group>,
        rest: Vec<Write>,
    },
    Every {
        writes: Vec<Write>,
        count: usize,
        message: String,
    },
    Rm {
        ids: Vec<NodeId>,
        if_exists: bool,
        message: Option<String>,
    },
    RmAll {
        pattern: Pattern,
        if_exists: bool,
        message: Option<String>,
    },
    Restore {
        patterns: Vec<Pattern>,
        source: Option<Rev>,
    },
    Commit {
        message: String,
        only: Vec<Pattern>,
        empty: Empty,
        overwrite: bool,
        author: Option<String>,
        dry_run: bool,
    },
    Amend {
        message: Option<String>,
        only: Vec<Pattern>,
        overwrite: bool,
        author: Option<String>,
    },
    Branch {
        name: String,
        at: Option<Rev>,
        force: bool,
    },
    Delete {
        names: Vec<String>,
        force: bool,
    },
    Rename {
        old: Option<String>,
        new: String,
        force: bool,
    },
    Switch(String),
    Create {
        name: String,
        at: Option<Rev>,
        force: bool,
    },
    Detach(Rev),
    Back,
    Tag {
        name: String,
        at: Option<Rev>,
        message: Option<String>,
        force: bool,
    },
    Untag(Vec<String>),
    Merge {
        other: Rev,
        forward: FastForward,
        unrelated: bool,
        message: Option<String>,
        dry_run: bool,
    },
    Revert {
        commits: Vec<Rev>,
        mainline: Option<u64>,
        message: Option<String>,
    },
    /// Takes back what came from a source.
    Undo {
        source: String,
        message: Option<String>,
    },
    Settle {
        underway: Underway,
        choices: Vec<(NodeId, Choice)>,
    },
    Continue {
        underway: Underway,
        message: Option<String>,
    },
    Abort(Underway),
    Reset {
        to: Option<Rev>,
        hard: bool,
    },
    /// Takes in what a commit has, as rows, or as a folder that was written before.
    Import {
        of: Rev,
        folder: bool,
        replace: bool,
        message: Option<String>,
    },
    Config {
        key: &'static str,
        value: Option<String>,
    },
    StartSearch {
        bad: Option<Rev>,
        good: Vec<Rev>,
        only: Option<NodeId>,
    },
    Mark(Marked, Vec<Rev>),
    Unmark,
    EndSearch,
    Gc {
        days: Option<u32>,
        dry_run: bool,
    },
    Redact {
        ids: Vec<NodeId>,
        source: Option<String>,
        reason: Option<String>,
    },
    /// Writes all branches and tags into a bundle.
    Pack,
    /// Takes in the last bundle that was written.
    Unpack {
        prefix: Option<&'static str>,
        dry_run: bool,
    },
}

/// A command, whose it is and when.
#[derive(Clone, Debug)]
pub struct Step {
    pub session: &'static str,
    pub time: Time,
    pub command: Command,
    /// By what the crash is chosen that comes while it is at work, if one does.
    pub crash: Option<u64>,
}

/// A command line, and what is given on standard input.
#[derive(Clone, Debug, Default)]
pub struct Typed {
    pub words: Vec<String>,
    pub input: String,
}

impl Typed {
    fn new(verb: &str) -> Self {
        Self { words: vec![verb.to_owned()], input: String::new() }
    }

    fn word(mut self, word: impl Into<String>) -> Self {
        self.words.push(word.into());
        self
    }

    fn words(mut self, words: impl IntoIterator<Item = String>) -> Self {
        self.words.extend(words);
        self
    }

    fn flag(self, name: &str, is_given: bool) -> Self {
        if is_given { self.word(name) } else { self }
    }

    fn option(self, name: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.word(name).word(value),
            None => self,
        }
    }

    fn input(self, input: String) -> Self {
        Self { input, ..self }
    }
}

/// The rows of JSON that write just this.
pub fn rows(writes: &[Write]) -> String {
    let row = |(id, new): &Write| match new {
        Some(known) => format!("{}\n", crate::rows::exported(known)),
        None => format!("{{\"id\":{},\"deleted\":true}}\n", crate::rows::text(id.as_str())),
    };
    writes.iter().map(row).collect()
}

fn group_row(group: &Group) -> String {
    let mut row = format!("{{\"message\":{}", crate::rows::text(&group.message));
    if let Some(author) = &group.author {
        row.push_str(&format!(",\"author\":{}", crate::rows::text(author)));
    }
    if let Some(time) = group.time {
        row.push_str(&format!(",\"time\":\"{}\"", told(time)));
    }
    format!("{}{{\"commit\":{row}}}}}\n", rows(&group.writes))
}

fn choice(choice: Choice) -> &'static str {
    match choice {
        Choice::Ours => "ours",
        Choice::Theirs => "theirs",
        Choice::Base => "base",
        Choice::Delete => "delete",
    }
}

impl Command {
    /// What has to be typed before, so that there is something to take in.
    pub fn preparation(&self, model: &Model, session: &str) -> Option<Typed> {
        let Self::Import { of, folder: true, .. } = self else { return None };
        of.resolve(model, session).ok()?;
        let typed = Typed::new("export").word("--format").word("dir").word("-o").word(FOLDER);
        Some(typed.option("-r", Some(&of.text(model))))
    }

    /// The name of its kind.
    pub fn kind(&self) -> String {
        let told = format!("{self:?}");
        told.split([' ', '(']).next().unwrap_or_default().to_owned()
    }

    /// As it is typed where the memory stands as the model says.
    pub fn typed(&self, model: &Model, session: &str) -> Typed {
        let rev = |rev: &Rev| rev.text(model);
        let at = |at: &Option<Rev>| at.iter().map(rev).collect::<Vec<_>>();
        let texts = |patterns: &[Pattern]| patterns.iter().map(Pattern::text).collect::<Vec<_>>();
        match self {
            Self::Init => Typed::new("init"),
            Self::Put { writes, form, when, message, dry_run } => {
                let typed = put(writes, *form).option("-m", message.as_deref()).flag("--dry-run", *dry_run);
                let (id, _) = &writes[0];
                match when {
                    When::Always => typed,
                    When::Absent => typed.word("--if-absent"),
                    When::AsSeen => typed.word("--if-match").word(hash(&model.seen(session).get(id).cloned())),
                    When::AsInHead => typed.word("--if-match").word(hash(&model.held(session, id))),
                }
            }
            Self::History { groups, rest } => {
                let input = groups.iter().map(group_row).collect::<String>() + &rows(rest);
                Typed::new("put").word("--jsonl").word("--commits").input(input)
            }
            Self::Every { writes, count, message } => {
                let typed = Typed::new("put").word("--jsonl").word("-").option("-m", Some(message));
                typed.word("--commit-every").word(count.to_string()).input(rows(writes))
            }
            Self::Rm { ids, if_exists, message } => {
                let typed = Typed::new("rm").words(ids.iter().map(NodeId::to_string));
                typed.flag("--if-exists", *if_exists).option("-m", message.as_deref())
            }
            Self::RmAll { pattern, if_exists, message } => {
                let typed = Typed::new("rm").word("--glob").word(pattern.text());
                typed.flag("--if-exists", *if_exists).option("-m", message.as_deref())
            }
            Self::Restore { patterns, source } => {
                Typed::new("restore").words(texts(patterns)).option("-s", source.as_ref().map(rev).as_deref())
            }
            Self::Commit { message, only, empty, overwrite, author, dry_run } => {
                let typed = Typed::new("commit").option("-m", Some(message)).option("--author", author.as_deref());
                let typed = typed.flag("--overwrite", *overwrite).flag("--dry-run", *dry_run);
                let typed = typed.flag("--allow-empty", *empty == Empty::Allowed);
                let typed = typed.flag("--skip-empty", *empty == Empty::Skipped);
                typed.flag("--only", !only.is_empty()).words(texts(only))
            }
            Self::Amend { message, only, overwrite, author } => {
                let typed = Typed::new("commit").word("--amend").option("-m", message.as_deref());
                let typed = typed.option("--author", author.as_deref()).flag("--overwrite", *overwrite);
                typed.flag("--only", !only.is_empty()).words(texts(only))
            }
            Self::Branch { name, at: rev, force } => {
                Typed::new("branch").flag("--force", *force).word(name).words(at(rev))
            }
            Self::Delete { names, force } => {
                Typed::new("branch").word(if *force { "-D" } else { "-d" }).words(names.clone())
            }
            Self::Rename { old, new, force } => {
                let typed = Typed::new("branch").word(if *force { "-M" } else { "-m" });
                typed.words(old.clone()).word(new)
            }
            Self::Switch(name) => Typed::new("switch").word(name),
            Self::Create { name, at: rev, force } => {
                Typed::new("switch").word(if *force { "--force-create" } else { "-c" }).word(name).words(at(rev))
            }
            Self::Detach(to) => Typed::new("switch").word("--detach").word(rev(to)),
            Self::Back => Typed::new("switch").word("-"),
            Self::Tag { name, at: rev, message, force } => {
                let typed = Typed::new("tag").flag("--force", *force).option("-m", message.as_deref());
                typed.word(name).words(at(rev))
            }
            Self::Untag(names) => Typed::new("tag").word("-d").words(names.clone()),
            Self::Merge { other, forward, unrelated, message, dry_run } => {
                let typed = Typed::new("merge").word(rev(other)).option("-m", message.as_deref());
                let typed = typed.flag("--ff-only", *forward == FastForward::Only);
                let typed = typed.flag("--no-ff", *forward == FastForward::Never);
                typed.flag("--allow-unrelated-histories", *unrelated).flag("--dry-run", *dry_run)
            }
            Self::Revert { commits, mainline, message } => {
                let typed = Typed::new("revert").words(commits.iter().map(rev));
                let mainline = mainline.map(|parent| parent.to_string());
                typed.option("-m", mainline.as_deref()).option("--message", message.as_deref())
            }
            Self::Undo { source, message } => crate::undo::Undoing::typed(source, message.as_deref()),
            Self::Settle { underway, choices } => {
                let choices = choices.iter().map(|(id, on)| format!("{id}={}", choice(*on)));
                Typed::new(underway.name()).word("--resolve").words(choices)
            }
            Self::Continue { underway, message } => {
                Typed::new(underway.name()).word("--continue").option("--message", message.as_deref())
            }
            Self::Abort(underway) => Typed::new(underway.name()).word("--abort"),
            Self::Reset { to, hard } => Typed::new("reset").word(if *hard { "--hard" } else { "--soft" }).words(at(to)),
            Self::Import { of, folder: true, replace, message } if of.resolve(model, session).is_ok() => {
                let typed = Typed::new("import").word("--format").word("dir").word(FOLDER);
                typed.flag("--replace", *replace).option("-m", message.as_deref())
            }
            Self::Import { of, replace, message, .. } => {
                let state: Option<At> = of.resolve(model, session).ok();
                let state = state.map(|at| model.history.commits[at].state.clone()).unwrap_or_default();
                let writes: Vec<_> = state.into_iter().map(|(id, known)| (id, Some(known))).collect();
                let typed = Typed::new("import").word("-").flag("--replace", *replace);
                typed.option("-m", message.as_deref()).input(rows(&writes))
            }
            Self::Config { key, value: Some(value) } => Typed::new("config").word(*key).word(value),
            Self::Config { key, value: None } => Typed::new("config").word(*key).word("--unset"),
            Self::StartSearch { bad, good, only } => {
                let typed = Typed::new("bisect").word("start").words(at(bad)).words(good.iter().map(rev));
                let typed = typed.flag("--", only.is_some());
                typed.words(only.iter().map(NodeId::to_string))
            }
            Self::Mark(marked, revs) => {
                let word = match marked {
                    Marked::Good => "good",
                    Marked::Bad => "bad",
                    Marked::Skip => "skip",
                };
                Typed::new("bisect").word(word).words(revs.iter().map(rev))
            }
            Self::Unmark => Typed::new("bisect").word("undo"),
            Self::EndSearch => Typed::new("bisect").word("reset"),
            Self::Pack => Typed::new("bundle").word("create").word(FILE),
            Self::Unpack { prefix, dry_run } => {
                let typed = Typed::new("bundle").word("import").word(FILE);
                typed.option("--prefix", *prefix).flag("--dry-run", *dry_run)
            }
            Self::Redact { ids, source, reason } => {
                let typed = Typed::new("redact").words(ids.iter().map(NodeId::to_string));
                typed.option("--source", source.as_deref()).option("--reason", reason.as_deref())
            }
            Self::Gc { days, dry_run } => {
                let days = days.map(|days| days.to_string());
                Typed::new("gc").option("--reflog-days", days.as_deref()).flag("--dry-run", *dry_run)
            }
        }
    }
}

fn hash(held: &Held) -> String {
    held.as_ref().map_or("none".to_owned(), |known| known.object.to_string())
}

fn put(writes: &[Write], form: Form) -> Typed {
    let ([(id, Some(known))], Form::Argument | Form::Input) = (writes, form) else {
        return Typed::new("put").word("--jsonl").input(rows(writes));
    };
    let (text, kind) = typed_content(&known.node.content);
    let typed = Typed::new("put").word("-t").word(kind).word(id.as_str());
    let typed = if form == Form::Argument { typed.word(text) } else { typed.word("-").input(text) };
    let provenance = &known.node.provenance;
    let typed = typed.option("--source", provenance.source.as_deref()).option("--note", provenance.note.as_deref());
    typed.option("--event-time", known.node.event_time.as_ref().map(|time| time.as_str()))
}

/// The text of a content, and of what type it is.
fn typed_content(content: &Content) -> (String, &'static str) {
    match content.text() {
        Some(text) => (text.into_owned(), "text"),
        None => (content.json().to_owned(), "json"),
    }
}
