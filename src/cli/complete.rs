//! Completion in the shell: the binary itself answers.
//!
//! A completer reads a clean store and nothing else: it never repairs, never waits, and is silent where anything is
//! amiss.

use super::config::KEYS;
use super::context::{Context, Globals};
use super::text::escape_line;
use super::world::World;
use crate::model::SessionName;
use crate::ops;
use clap_complete::CompleteEnv;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use std::ffi::OsStr;
use std::rc::Rc;

/// How many ids or commits are offered at the most.
const MOST: usize = 1000;

/// Answers a shell that asks for completions, and ends the process then; otherwise returns at once.
pub fn answer() {
    CompleteEnv::with_factory(super::command).complete();
}

/// Completes ids of nodes.
pub fn ids() -> ArgValueCompleter {
    ArgValueCompleter::new(offer_ids)
}

/// Completes revisions: HEAD, branches, tags, and ids of commits.
pub fn revisions() -> ArgValueCompleter {
    ArgValueCompleter::new(offer_revisions)
}

/// Completes revisions, also the second of a range.
pub fn ranges() -> ArgValueCompleter {
    ArgValueCompleter::new(offer_ranges)
}

/// Completes revisions, also the second of a range, and behind `--` ids of nodes. The library asks for the first
/// positional argument there too.
pub fn revisions_then_ids() -> ArgValueCompleter {
    ArgValueCompleter::new(|word: &OsStr| {
        // The first one is the shell's own.
        let is_behind = std::env::args_os().filter(|argument| argument == "--").count() > 1;
        if is_behind { offer_ids(word) } else { offer_ranges(word) }
    })
}

/// Completes branches.
pub fn branches() -> ArgValueCompleter {
    ArgValueCompleter::new(offer_branches)
}

/// Completes tags.
pub fn tags() -> ArgValueCompleter {
    ArgValueCompleter::new(offer_tags)
}

/// Completes revisions, and branches behind an option that deletes or renames.
pub fn branches_or_revisions() -> ArgValueCompleter {
    ArgValueCompleter::new(|word: &OsStr| {
        let names = is_given(&["-d", "--delete", "-D", "-m", "--move", "-M", "-l", "--list"]);
        if names { offer_branches(word) } else { offer_revisions(word) }
    })
}

/// Completes revisions, and tags behind the option that deletes.
pub fn tags_or_revisions() -> ArgValueCompleter {
    ArgValueCompleter::new(|word: &OsStr| {
        if is_given(&["-d", "--delete", "-l", "--list"]) { offer_tags(word) } else { offer_revisions(word) }
    })
}

/// Completes branches, and revisions where a branch is to be created or none is meant.
pub fn switch_target() -> ArgValueCompleter {
    ArgValueCompleter::new(|word: &OsStr| {
        let revision = is_given(&["-c", "--create", "--force-create", "-d", "--detach"]);
        if revision { offer_revisions(word) } else { offer_branches(word) }
    })
}

/// Whether one of these options is among the words.
fn is_given(options: &[&str]) -> bool {
    std::env::args_os().any(|argument| options.iter().any(|option| argument == *option))
}

fn offer_branches(word: &OsStr) -> Vec<CompletionCandidate> {
    offer(word, |context, _, _| ops::complete_branches(&context.store().ok()?).ok())
}

fn offer_tags(word: &OsStr) -> Vec<CompletionCandidate> {
    offer(word, |context, _, _| ops::complete_tags(&context.store().ok()?).ok())
}

fn offer_ids(word: &OsStr) -> Vec<CompletionCandidate> {
    offer(word, |context, session, word| ops::complete_ids(&context.store().ok()?, session, word, MOST).ok())
}

fn offer_revisions(word: &OsStr) -> Vec<CompletionCandidate> {
    offer(word, |context, _, word| ops::complete_revisions(&context.store().ok()?, word, MOST).ok())
}

/// Revisions; behind `..` or `...` with the first part of the range before them.
fn offer_ranges(word: &OsStr) -> Vec<CompletionCandidate> {
    let second = word.to_str().and_then(|word| word.rfind("..").map(|at| word.split_at(at + 2)));
    let Some((first, word)) = second else { return offer_revisions(word) };
    offer_revisions(OsStr::new(word)).into_iter().map(|candidate| candidate.add_prefix(first)).collect()
}

/// Completes names of sessions.
pub fn sessions() -> ArgValueCompleter {
    ArgValueCompleter::new(|word: &OsStr| {
        offer(word, |context, _, _| ops::complete_sessions(&context.store().ok()?).ok())
    })
}

/// Completes keys of settings.
pub fn keys() -> ArgValueCompleter {
    ArgValueCompleter::new(|word: &OsStr| {
        let keys = KEYS.iter().filter(|key| word.to_str().is_some_and(|word| key.name.starts_with(word)));
        keys.map(|key| CompletionCandidate::new(key.name).help(Some(key.help.into()))).collect()
    })
}

/// What begins with `word`, with a word of explanation where there is one.
fn offer(
    word: &OsStr,
    find: impl FnOnce(&Context, &SessionName, &str) -> Option<Vec<(String, Option<String>)>>,
) -> Vec<CompletionCandidate> {
    let found = || {
        let word = word.to_str()?;
        let context = Context::new(&Rc::new(World::process()), Globals::for_completion()).ok()?;
        let session = context.session().ok()?;
        let found = find(&context, &session, word)?;
        Some(found.into_iter().filter(|(value, _)| value.starts_with(word)).collect::<Vec<_>>())
    };
    // The shell shows the help to a person as it is.
    let candidate = |(value, help): (String, Option<String>)| {
        CompletionCandidate::new(value).help(help.map(|help| escape_line(&help).into_owned().into()))
    };
    found().unwrap_or_default().into_iter().map(candidate).collect()
}
