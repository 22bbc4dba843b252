//! `mnem bisect start`, `good`, `bad`, `skip`, `undo`, `status`, `log`, `replay`, `reset` and `shell`: a search by hand

use super::super::child::{Children, status_of};
use super::super::context::Context;
use super::super::error::{CliError, Word};
use super::super::input;
use super::super::json::V;
use super::super::pattern::patterns;
use super::super::shell::{word, words};
use super::super::text::escape_line;
use super::super::undo::say_undo;
use super::culprit::{self, Found};
use super::tester::Verdict;
use crate::graph::{Revision, Selection, nearest};
use crate::model::{MAX_CONTENT_BYTES, SessionName};
use crate::object::CommitId;
use crate::ops::{self, Marking, MarksReport, Next};
use crate::store::{Marked, Marks, Store};
use serde::Serialize;
use std::path::PathBuf;
use std::process::Command;

/// Begin a search by hand
///
/// Names the ends, now or later with 'mnem bisect bad' and 'mnem bisect good'. The marks are kept with the session; HEAD,
/// branches and what is staged stay. Prints the full id of the commit to test next.
#[derive(clap::Args, Debug)]
pub(super) struct StartArgs {
    /// The bad end, and the good ones
    #[arg(value_name = "BAD GOOD", add = super::super::complete::revisions())]
    revisions: Vec<String>,

    /// Follow first parents only
    #[arg(long)]
    first_parent: bool,

    /// What to call good
    #[arg(long, value_name = "WORD", requires = "term_bad")]
    term_good: Option<String>,

    /// What to call bad
    #[arg(long, value_name = "WORD", requires = "term_good")]
    term_bad: Option<String>,

    /// Only commits that changed a node with such an id: an id, an id with / behind it for all below, or a glob
    #[arg(last = true, value_name = "PATTERN", add = super::super::complete::ids())]
    patterns: Vec<String>,

    /// Take * ? [ in patterns as they are
    #[arg(long)]
    literal: bool,
}

/// Commits
#[derive(clap::Args, Debug)]
pub(super) struct MarkArgs {
    /// The commits; the one to test next, or else HEAD, if none is named
    #[arg(value_name = "REV", add = super::super::complete::revisions())]
    revisions: Vec<String>,
}

/// Mark again what a log of a search says
///
/// Takes the place of the session's search. Prints the full id of the commit to test next.
#[derive(clap::Args, Debug)]
pub(super) struct ReplayArgs {
    /// What 'mnem bisect log' printed; - is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// What `status` and every mark tell.
#[derive(Serialize)]
struct StatusJson {
    v: u8,
    r#type: &'static str,
    next: Option<String>,
    found: Option<String>,
    candidates: Vec<String>,
    left: Option<usize>,
    steps: Option<u32>,
    bad: Vec<String>,
    good: Vec<String>,
    skipped: Vec<String>,
}

/// The words that cannot be terms.
const TAKEN: [&str; 14] = [
    "start", "good", "bad", "skip", "undo", "status", "log", "replay", "reset", "shell", "run", "find", "narrow",
    "help",
];

pub(super) fn start(args: &StartArgs, context: &mut Context) -> Result<(), CliError> {
    patterns(&args.patterns, args.literal)?;
    let terms = args.term_good.clone().zip(args.term_bad.clone());
    for term in terms.iter().flat_map(|(good, bad)| [good, bad]) {
        let is_word = term.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
        if term.is_empty() || term.starts_with('-') || !is_word || TAKEN.contains(&term.as_str()) {
            let message = format!("'{term}' cannot be a word for good or bad");
            return Err(CliError::usage(message).hint("such as --term-good fast --term-bad slow"));
        }
    }
    if let Some((good, bad)) = &terms
        && good == bad
    {
        return Err(CliError::usage("good and bad have one word").hint("such as --term-good fast --term-bad slow"));
    }
    let read = |text: &String| context.read_revision(text);
    let mut said = Vec::new();
    if let Some((bad, good)) = args.revisions.split_first() {
        said.push((Marked::Bad, vec![read(bad)?]));
        if !good.is_empty() {
            said.push((Marked::Good, good.iter().map(read).collect::<Result<_, _>>()?));
        }
    }
    let marks = Marks {
        terms,
        first_parent: args.first_parent,
        patterns: args.patterns.clone(),
        literal: args.literal,
        said: Vec::new(),
    };
    let (store, session) = (context.store_to_write()?, context.session()?);
    let before = ops::marks(&store, &session)?;
    let report = ops::set_marks(&store, &session, &Marking::Start(marks, said))?;
    if let Some(before) = before {
        context.say("the search before is ended");
        say_undo(context, &replaying(&before, context));
    }
    tell(report, &store, context)
}

pub(super) fn mark(marked: Marked, args: &MarkArgs, context: &mut Context) -> Result<(), CliError> {
    say(marked, &args.revisions, context)
}

fn say(marked: Marked, revisions: &[String], context: &mut Context) -> Result<(), CliError> {
    let selections: Vec<Selection> =
        revisions.iter().map(|text| context.read_selection(text)).collect::<Result<_, _>>()?;
    let (store, session) = (context.store_to_write()?, context.session()?);
    let report = ops::set_marks(&store, &session, &Marking::Say(marked, selections))?;
    tell(report, &store, context)
}

/// Words of the user's own for good and bad.
pub(super) fn term(words: &[String], context: &mut Context) -> Result<(), CliError> {
    let (term, revisions) = words.split_first().expect("clap passes the command on");
    let (store, session) = (context.store()?, context.session()?);
    let terms = ops::marks(&store, &session)?.and_then(|report| report.marks.terms);
    let marked = match &terms {
        Some((good, _)) if good == term => Marked::Good,
        Some((_, bad)) if bad == term => Marked::Bad,
        Some(_) | None => {
            let own = terms.iter().flat_map(|(good, bad)| [good.as_str(), bad]);
            let there = TAKEN.into_iter().filter(|&word| word != "help");
            let near = nearest(term, there.chain(own).map(|word| (word, word)));
            let hint = match near.first() {
                Some(near) => format!("a similar subcommand exists: '{near}'"),
                None => "see 'mnem bisect --help'".to_owned(),
            };
            return Err(CliError::usage(format!("unrecognized subcommand '{term}'")).hint(hint));
        }
    };
    drop(store);
    say(marked, revisions, context)
}

pub(super) fn undo(context: &mut Context) -> Result<(), CliError> {
    let (store, session) = (context.store_to_write()?, context.session()?);
    let report = ops::set_marks(&store, &session, &Marking::Undo)?;
    tell(report, &store, context)
}

pub(super) fn status(context: &mut Context) -> Result<(), CliError> {
    let (store, session) = (context.store()?, context.session()?);
    tell(standing(&store, &session)?, &store, context)
}

fn standing(store: &Store, session: &SessionName) -> Result<MarksReport, CliError> {
    Ok(ops::marks(store, session)?.ok_or(ops::OpError::NoBisect)?)
}

pub(super) fn reset(context: &mut Context) -> Result<(), CliError> {
    let (store, session) = (context.store_to_write()?, context.session()?);
    match ops::forget_marks(&store, &session)? {
        None => context.say("this session is not searching"),
        Some(before) => {
            context.say("the search is ended");
            say_undo(context, &replaying(&before, context));
        }
    }
    Ok(())
}

pub(super) fn log(context: &mut Context) -> Result<(), CliError> {
    let (store, session) = (context.store()?, context.session()?);
    for line in lines(&standing(&store, &session)?) {
        context.line(&line)?;
    }
    Ok(())
}

/// What makes the marks again, a command a line.
fn lines(report: &MarksReport) -> Vec<String> {
    let Marks { terms, first_parent, patterns, literal, .. } = &report.marks;
    let mut start = "mnem bisect start".to_owned();
    if *first_parent {
        start += " --first-parent";
    }
    if let Some((good, bad)) = terms {
        start += &format!(" --term-good {good} --term-bad {bad}");
    }
    if *literal {
        start += " --literal";
    }
    if !patterns.is_empty() {
        start += " --";
        patterns.iter().for_each(|pattern| start += &format!(" {}", word(pattern)));
    }
    let mut lines = vec![start];
    for (marked, commits) in &report.said {
        for (id, subject) in commits {
            lines.push(format!("# {} {}", &id.to_string()[..10], escape_line(subject)));
        }
        let ids: Vec<_> = commits.iter().map(|(id, _)| id.to_string()).collect();
        lines.push(format!("mnem bisect {} {}", name(*marked), ids.join(" ")));
    }
    lines
}

fn name(marked: Marked) -> &'static str {
    match marked {
        Marked::Good => "good",
        Marked::Bad => "bad",
        Marked::Skip => "skip",
    }
}

/// The line that makes the marks again.
fn replaying(report: &MarksReport, context: &Context) -> String {
    let rows: Vec<_> =
        lines(report).into_iter().filter(|line| !line.starts_with('#')).map(|line| word(&line)).collect();
    format!("printf '%s\\n' {} | {} bisect replay -", rows.join(" "), context.typed())
}

pub(super) fn replay(args: &ReplayArgs, context: &mut Context) -> Result<(), CliError> {
    let bytes = input::read_bytes(context, &args.file, MAX_CONTENT_BYTES)?;
    let name = input::name(&args.file);
    let text = super::super::put::utf8(&bytes, &name)?;
    let (mut marks, mut said) = (None, Vec::new());
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let wrong = || {
            let error = CliError::usage(format!("'{line}' is no line of a search"));
            error.about(&format!("{name}, line {}", at + 1)).hint("see 'mnem bisect log'")
        };
        let words = words(line).ok_or_else(wrong)?;
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match &words[..] {
            ["mnem", "bisect", "start", rest @ ..] if marks.is_none() => {
                marks = Some(read_start(rest).ok_or_else(wrong)?);
            }
            ["mnem", "bisect", verb @ ("good" | "bad" | "skip"), ids @ ..] if marks.is_some() => {
                let marked = match *verb {
                    "good" => Marked::Good,
                    "bad" => Marked::Bad,
                    _ => Marked::Skip,
                };
                let revisions = ids.iter().map(|id| context.read_revision(id));
                said.push((marked, revisions.collect::<Result<Vec<Revision>, _>>()?));
            }
            _ => return Err(wrong()),
        }
    }
    let marks =
        marks.ok_or_else(|| CliError::usage("there is no line that begins a search").hint("see 'mnem bisect log'"))?;
    patterns(&marks.patterns, marks.literal)?;
    let (store, session) = (context.store_to_write()?, context.session()?);
    let report = ops::set_marks(&store, &session, &Marking::Start(marks, said))?;
    tell(report, &store, context)
}

fn read_start(words: &[&str]) -> Option<Marks> {
    let mut marks = Marks::default();
    let (mut good, mut bad) = (None, None);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match *word {
            "--first-parent" => marks.first_parent = true,
            "--literal" => marks.literal = true,
            "--term-good" => good = Some((*words.next()?).to_owned()),
            "--term-bad" => bad = Some((*words.next()?).to_owned()),
            "--" => marks.patterns = words.by_ref().map(|word| (*word).to_owned()).collect(),
            _ => return None,
        }
    }
    marks.terms = good.zip(bad);
    Some(marks)
}

/// Open a shell in which mnem reads the commit to test, and mark it by the shell's exit status
pub(super) fn shell(context: &mut Context) -> Result<(), CliError> {
    let (store, session) = (context.store_to_write()?, context.session()?);
    let id = match standing(&store, &session)?.next {
        Next::Test { id, .. } => id,
        Next::NeedsBad | Next::NeedsGood | Next::Found(_) | Next::Unsure(_) => {
            return Err(CliError::usage("there is no commit to test").hint("see 'mnem bisect status'"));
        }
    };
    let directory = std::path::absolute(store.directory())?;
    let shell = context.variable_os("SHELL").unwrap_or_else(|| "/bin/sh".into());
    let mut command = Command::new(&shell);
    command
        .current_dir(context.directory())
        .env("MNEM_SESSION", session.as_str())
        .env("MNEM_REV", id.to_string())
        .env("MNEM_REV_DIR", &directory)
        .env("MNEM_BISECT", "1")
        .env("MNEM_BISECT_REV", id.to_string());
    context.say(&format!(
        "leave the shell with 'exit 0' for good, 'exit 1' for bad, 'exit 125' to skip {}",
        &id.to_string()[..10]
    ));
    drop(store);
    let children = Children::new()?;
    let ended = children.run(&mut command).map_err(|error| super::super::exec::not_started(&shell, &error))?;
    let status = ended.map(status_of);
    let verdict = match status {
        Some(0) => Verdict::Good,
        Some(1..=124) => Verdict::Bad,
        Some(125) => Verdict::Skip,
        Some(_) | None => {
            let message = format!(
                "the shell at {} ended with {}, which marks nothing",
                &id.to_string()[..10],
                status.unwrap_or(130)
            );
            return Err(CliError::new(Word::Io, message).hint("see 'mnem bisect status'"));
        }
    };
    say(super::marked(verdict), &[id.to_string()], context)
}

/// Prints what is to be tested next, or what was found, and says how far it is.
fn tell(report: MarksReport, store: &Store, context: &mut Context) -> Result<(), CliError> {
    context.warn_error(report.warning);
    context.warn_doubts(&report.doubts);
    let ids = |marked: Marked| -> Vec<String> {
        let of = report.said.iter().filter(|(kind, _)| *kind == marked);
        of.flat_map(|(_, commits)| commits.iter().map(|(id, _)| id.to_string())).collect()
    };
    let mut told = StatusJson {
        v: V,
        r#type: "bisect_status",
        next: None,
        found: None,
        candidates: Vec::new(),
        left: None,
        steps: None,
        bad: ids(Marked::Bad),
        good: ids(Marked::Good),
        skipped: ids(Marked::Skip),
    };
    let (good, bad) = report.marks.terms.clone().unwrap_or(("good".to_owned(), "bad".to_owned()));
    let is_json = context.globals.json;
    let print = |context: &mut Context, told: &StatusJson, lines: &[String]| -> Result<(), CliError> {
        if is_json {
            context.json_line(told)?;
        } else {
            lines.iter().try_for_each(|line| context.line(line))?;
        }
        Ok(context.bring_out()?)
    };
    match &report.next {
        Next::NeedsBad => {
            print(context, &told, &[])?;
            context.say(&format!("waiting for a {bad} commit: mnem bisect {bad} REV"));
        }
        Next::NeedsGood => {
            print(context, &told, &[])?;
            context.say(&format!("waiting for a {good} commit: mnem bisect {good} REV"));
        }
        Next::Test { id, subject, left, steps, .. } => {
            (told.next, told.left, told.steps) = (Some(id.to_string()), Some(*left), Some(*steps));
            print(context, &told, &[id.to_string()])?;
            context.say(&super::far(*left, *steps));
            let short = context.err_paint().commit(&id.to_string()[..10]);
            context.say(&format!("to test: {short} {}", escape_line(subject)));
        }
        Next::Found(id) => {
            told.found = Some(id.to_string());
            print(context, &told, &[id.to_string()])?;
            let session = context.session()?;
            let shown = ops::show(store, &session, &super::revision(id), &[])?;
            let found = Found { runs: "marks by hand", one_of_several: false, node: None, is_whole: true };
            culprit::tell(&shown, &id.to_string(), &found, context);
        }
        Next::Unsure(left) => {
            let left: Vec<_> = left.iter().map(CommitId::to_string).collect();
            told.candidates.clone_from(&left);
            print(context, &told, &left)?;
            let message = format!("only commits are left that cannot be tested; {} commits are left", left.len());
            return Err(CliError::new(Word::BisectInconclusive, message).hint("mnem bisect undo, or test one of them"));
        }
    }
    Ok(())
}
