//! Texts of revisions and of selections: what the grammar admits, and which commits are meant in a store that has an
//! example of each thing that can be named. All is held against [`naive`].

mod memory;
mod naive;

use memory::{Memory, SESSIONS};
use mnemosyne::graph::{Revision, RevisionError, Selection, abbreviated, ref_named, resolve, resolve_all};
use mnemosyne::model::CommitTime;
use mnemosyne::store::{Number, Reading, SessionView};
use naive::Meant;
use std::collections::BTreeSet;
use std::sync::LazyLock;

static MEMORY: LazyLock<Memory> = LazyLock::new(Memory::new);

fn time(text: &str) -> Option<CommitTime> {
    CommitTime::parse(text).ok()
}

/// Checks one text; bytes that are none are left alone.
pub fn check(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let revision = revision(text);
    let selection = selection(text);
    assert_eq!(selection.is_some(), naive::is_selection(text));
    for name in SESSIONS {
        let view = MEMORY.view(name);
        if let Some(revision) = &revision {
            meaning(&view, revision);
            name_of_a_ref(&view, revision);
        }
        if let Some(selection) = &selection {
            ends(&view, selection);
        }
    }
}

/// What is read prints as it was given, and so reads again to the same.
fn revision(text: &str) -> Option<Revision> {
    let parsed = Revision::parse(text, &time);
    assert_eq!(parsed.is_ok(), naive::revision(text).is_some(), "{parsed:?}");
    let revision = read(parsed)?;
    assert_eq!(revision.to_string(), text);
    assert_eq!(Selection::parse(text, &time).expect("a revision is a selection"), Selection::Of(revision.clone()));
    Some(revision)
}

/// Each end is a revision by itself, and all put together are the text.
fn selection(text: &str) -> Option<Selection> {
    let selection = read(Selection::parse(text, &time))?;
    for (end, _) in selection.ends() {
        assert_eq!(&Revision::parse(&end.to_string(), &time).expect("an end is a revision"), end);
    }
    let range = |one: &Revision, dots: &str, other: &Revision| {
        let spelled =
            |end: &Revision| [end.to_string()].into_iter().chain((*end == Revision::head()).then(String::new));
        spelled(one).any(|one| spelled(other).any(|other| format!("{one}{dots}{other}") == text))
    };
    assert!(match &selection {
        Selection::Of(revision) => revision.to_string() == text,
        Selection::Without(revision) => format!("^{revision}") == text,
        Selection::Between(one, other) => range(one, "..", other),
        Selection::Either(one, other) => range(one, "...", other),
    });
    Some(selection)
}

/// What the parser gave; a refusal is one of syntax.
fn read<T>(parsed: Result<T, RevisionError>) -> Option<T> {
    let syntax = |error: &RevisionError| assert!(matches!(error, RevisionError::Syntax { .. }), "{error:?}");
    parsed.inspect_err(syntax).ok()
}

/// What was found in the store; a refusal is for what the text names, and never for how it is spelled or stored.
fn found<T>(answer: Result<T, RevisionError>) -> Option<T> {
    let sound = |error: &RevisionError| {
        assert!(!matches!(error, RevisionError::Syntax { .. } | RevisionError::Store(_)), "{error:?}");
    };
    answer.inspect_err(sound).ok()
}

/// The commit is the one that is meant, and a doubt is told just where the name has several meanings.
fn meaning(view: &SessionView<'_, Reading>, revision: &Revision) {
    let found = found(resolve(view, revision));
    let found = found.map(|found| Meant { commit: found.number, doubtful: found.doubt.is_some() });
    assert_eq!(found, naive::commit(&MEMORY, view, &revision.to_string()), "of '{}'", view.name);
}

/// The short name of a ref that has a commit finds that ref.
fn name_of_a_ref(view: &SessionView<'_, Reading>, revision: &Revision) {
    let Some(Some(name)) = found(ref_named(view, revision)) else { return };
    if name == "HEAD" || view.tables.reference(&name).expect("a ref").is_none() {
        return;
    }
    let short = abbreviated(view.tables, &name).expect("a short name");
    let again = Revision::parse(short, &time).expect("a short name is a revision");
    assert_eq!(found(ref_named(view, &again)).flatten(), Some(name));
}

/// A walk begins at the ends, and leaves out what is to be left out: of `A...B` the best common ancestors.
fn ends(view: &SessionView<'_, Reading>, selection: &Selection) {
    let found = found(resolve_all(view, std::slice::from_ref(selection)));
    let meant = |revision: &Revision| naive::commit(&MEMORY, view, &revision.to_string()).map(|meant| meant.commit);
    let expected: Option<Vec<(Number, bool)>> =
        selection.ends().into_iter().map(|(end, left_out)| Some((meant(end)?, left_out))).collect();
    assert_eq!(found.is_some(), expected.is_some());
    let (Some(found), Some(expected)) = (found, expected) else { return };
    let of = |out: bool| expected.iter().filter(move |(_, left_out)| *left_out == out).map(|(number, _)| *number);
    assert_eq!(found.starts, of(false).collect::<Vec<_>>());
    let mut without: BTreeSet<_> = of(true).collect();
    if let (Selection::Either(..), &[(other, _), (one, _)]) = (selection, &expected[..]) {
        without = naive::merge_bases(&MEMORY, one, other);
    }
    assert_eq!(found.without.into_iter().collect::<BTreeSet<_>>(), without);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus;
    use mnemosyne::graph::Meaning;

    /// How a text ends in one session.
    fn outcome(view: &SessionView<'_, Reading>, text: &str) -> Vec<&'static str> {
        let answer = match Revision::parse(text, &time) {
            Ok(revision) => resolve(view, &revision),
            Err(error) => Err(error),
        };
        let meaning = |meaning: &Meaning| match meaning {
            Meaning::Commit => "commit",
            Meaning::Ref => "ref",
            Meaning::Tag => "tag",
            Meaning::Branch => "branch",
            Meaning::Prefix => "prefix",
        };
        match answer {
            Ok(found) => match found.doubt {
                Some(doubt) => [doubt.taken].iter().chain(&doubt.others).map(meaning).collect(),
                None => vec!["found"],
            },
            Err(error) => vec![match error {
                RevisionError::Syntax { .. } => "syntax",
                RevisionError::Unborn { .. } => "unborn",
                RevisionError::Unknown { .. } => "unknown",
                RevisionError::Deleted { .. } => "deleted",
                RevisionError::NoOrigHead => "no ORIG_HEAD",
                RevisionError::NoPrevious => "no previous",
                RevisionError::NoLog { .. } => "no log",
                RevisionError::OutOfLog { .. } => "out of log",
                RevisionError::NoCommitThen { .. } => "no commit then",
                RevisionError::NoneThatOld { .. } => "none that old",
                RevisionError::NoAncestor { .. } => "no ancestor",
                RevisionError::NoParent { .. } => "no parent",
                RevisionError::Unrelated { .. } => "unrelated",
                RevisionError::Ambiguous { .. } => "ambiguous",
                RevisionError::Store(_) => "store",
            }],
        }
    }

    /// Ids in the corpus go out of date when those of the store change.
    #[test]
    fn the_corpus_comes_upon_every_meaning_and_every_refusal() {
        let mut outcomes = BTreeSet::new();
        for (_, input) in corpus("revision") {
            let Ok(text) = String::from_utf8(input) else { continue };
            for name in SESSIONS {
                outcomes.extend(outcome(&MEMORY.view(name), &text));
            }
        }
        let expected = [
            "ambiguous",
            "branch",
            "commit",
            "deleted",
            "found",
            "no ORIG_HEAD",
            "no ancestor",
            "no commit then",
            "no log",
            "no parent",
            "no previous",
            "none that old",
            "out of log",
            "prefix",
            "ref",
            "syntax",
            "tag",
            "unborn",
            "unknown",
        ];
        assert_eq!(outcomes.into_iter().collect::<Vec<_>>(), expected);
    }
}
