//! Revisions, and what each names, read off the rules.

use crate::history::At;
use crate::model::{Head, Model, Refusal, refused};

#[derive(Clone, Debug)]
pub enum Base {
    Head,
    /// A branch or a tag, by its short name.
    Name(String),
    /// A branch, by its full name.
    Full(String),
    /// A commit by its place among all that the store has learned of, counted round.
    Made(usize),
    /// The same by the first digits of its id.
    Digits(usize),
    OrigHead,
    Previous,
}

#[derive(Clone, Copy, Debug)]
pub enum Back {
    /// So many first parents.
    By(usize),
    /// To this parent, counted from 1.
    Parent(usize),
}

#[derive(Clone, Debug)]
pub struct Rev {
    pub base: Base,
    /// The N-th last value of it.
    pub nth: Option<usize>,
    pub back: Vec<Back>,
}

/// How many digits stand for a commit.
const DIGITS: usize = 9;

enum Target {
    Head,
    Ref(String),
    Commit(At),
}

impl Rev {
    pub fn of(base: Base) -> Self {
        Self { base, nth: None, back: Vec::new() }
    }

    pub fn head() -> Self {
        Self::of(Base::Head)
    }

    pub fn name(name: &str) -> Self {
        Self::of(Base::Name(name.to_owned()))
    }

    /// As it is typed.
    pub fn text(&self, model: &Model) -> String {
        // Where there is no commit, none has it.
        let made = |nth: usize| nth_of(model, nth).map_or_else(|| "f".repeat(64), |at| model.made[at].id.clone());
        let mut text = match &self.base {
            Base::Head => "HEAD".to_owned(),
            Base::Name(name) => name.clone(),
            Base::Full(name) => format!("refs/heads/{name}"),
            Base::Made(nth) => made(*nth),
            Base::Digits(nth) => made(*nth)[..DIGITS].to_owned(),
            Base::OrigHead => "ORIG_HEAD".to_owned(),
            Base::Previous => "@{-1}".to_owned(),
        };
        if let Some(nth) = self.nth {
            text.push_str(&format!("@{{{nth}}}"));
        }
        for back in &self.back {
            text.push_str(&match back {
                Back::By(count) => format!("~{count}"),
                Back::Parent(nth) => format!("^{nth}"),
            });
        }
        text
    }

    fn is_plain(&self) -> bool {
        self.nth.is_none() && self.back.is_empty()
    }

    /// The commit that it names.
    pub fn resolve(&self, model: &Model, session: &str) -> Result<At, Refusal> {
        let bad = || refused("bad-revision");
        let target = self.target(model, session)?;
        let mut at = match self.nth {
            None => value(&target, model, session).ok_or_else(bad)?,
            Some(nth) => {
                let log = match &target {
                    Target::Head => model.log(&format!("session/{session}")),
                    Target::Ref(name) => model.log(name),
                    Target::Commit(_) => return Err(bad()),
                };
                match log.iter().rev().nth(nth) {
                    Some(update) => update.new.ok_or_else(bad)?,
                    None if nth == 0 => value(&target, model, session).ok_or_else(bad)?,
                    None => {
                        let first = log.first().filter(|_| nth == log.len());
                        first.and_then(|update| update.old).ok_or_else(bad)?
                    }
                }
            }
        };
        for back in &self.back {
            match back {
                Back::By(count) => {
                    for _ in 0..*count {
                        at = *model.history.commits[at].parents.first().ok_or_else(bad)?;
                    }
                }
                Back::Parent(nth) => at = *model.history.commits[at].parents.get(nth - 1).ok_or_else(bad)?,
            }
        }
        Ok(at)
    }

    /// The ref that it is by name: of HEAD the branch, or `HEAD`.
    pub fn reference(&self, model: &Model, session: &str) -> Option<String> {
        match self.target(model, session).ok().filter(|_| self.is_plain())? {
            Target::Head => Some(match model.head(session) {
                Head::Branch(name) => name,
                Head::Detached(_) => "HEAD".to_owned(),
            }),
            Target::Ref(name) => Some(name),
            Target::Commit(_) => None,
        }
    }

    fn target(&self, model: &Model, session: &str) -> Result<Target, Refusal> {
        let bad = || refused("bad-revision");
        let row = model.sessions[session].row.as_ref();
        Ok(match &self.base {
            Base::Head => Target::Head,
            Base::OrigHead => Target::Commit(row.and_then(|row| row.orig_head).ok_or_else(bad)?),
            Base::Previous => match row.and_then(|row| row.previous.clone()).ok_or_else(bad)? {
                Head::Branch(name) => Target::Ref(name),
                Head::Detached(at) => Target::Commit(at),
            },
            Base::Made(nth) => Target::Commit(nth_of(model, *nth).ok_or_else(bad)?),
            Base::Digits(nth) => {
                let at = nth_of(model, *nth).ok_or_else(bad)?;
                let digits = &model.made[at].id[..DIGITS];
                let alike = model.there().into_iter().filter(|&other| model.made[other].id.starts_with(digits)).count();
                if alike > 1 {
                    return Err(refused("ambiguous-revision"));
                }
                Target::Commit(at)
            }
            Base::Full(name) => named(model, session, &[format!("refs/heads/{name}")])?,
            Base::Name(name) => named(model, session, &[format!("refs/tags/{name}"), format!("refs/heads/{name}")])?,
        })
    }
}

/// A commit that is there, counted round.
fn nth_of(model: &Model, nth: usize) -> Option<At> {
    let there = model.there();
    there.get(nth % there.len().max(1)).copied()
}

/// The first of these refs that is there; else one that is the session's own, or was there.
fn named(model: &Model, session: &str, names: &[String]) -> Result<Target, Refusal> {
    let is_there = |name: &&String| model.refs.contains_key(*name);
    let was_there =
        |name: &&String| model.head(session) == Head::Branch((*name).clone()) || !model.log(name).is_empty();
    let found = names.iter().find(is_there).or_else(|| names.iter().find(was_there));
    found.map(|name| Target::Ref(name.clone())).ok_or_else(|| refused("bad-revision"))
}

fn value(target: &Target, model: &Model, session: &str) -> Option<At> {
    match target {
        Target::Head => model.at(session),
        Target::Ref(name) => model.refs.get(name).copied(),
        Target::Commit(at) => Some(*at),
    }
}
