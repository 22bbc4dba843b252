//! Names of commits: `HEAD`, `@`, a branch, `refs/…`, an id or a prefix of one, each with `~N` and `^N` behind it.

use crate::object::CommitId;
use crate::store::{Access, Head, MayBeDamage, Number, StoreError, Tables, short_branch};

/// The shortest prefix of an id that names a commit.
const SHORTEST_PREFIX: usize = 4;
/// How many candidates of an ambiguous prefix are told.
const CANDIDATES: usize = 5;

/// A parsed revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision {
    text: String,
    base: Base,
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Base {
    Head,
    Name(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// `~N`: so many first parents back.
    Back(u64),
    /// `^N`: the N-th parent; `^0` is the commit itself.
    Parent(u64),
}

/// Why a revision names no commit.
#[derive(Debug, thiserror::Error)]
pub enum RevisionError {
    /// Not in the grammar.
    #[error("'{text}' is not a revision: {why}")]
    Syntax {
        /// What was given.
        text: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// HEAD's branch has no commit.
    #[error("no commit yet on '{branch}'")]
    Unborn {
        /// The branch, in short.
        branch: String,
    },
    /// No ref and no commit of this name.
    #[error("unknown revision '{text}'")]
    Unknown {
        /// What was given.
        text: String,
        /// Branches whose names are like it.
        near: Vec<String>,
    },
    /// A step leads behind the first commit.
    #[error("'{text}' leads behind the first commit")]
    NoAncestor {
        /// What was given.
        text: String,
    },
    /// A commit has fewer parents.
    #[error("'{text}' asks for a parent that the commit does not have")]
    NoParent {
        /// What was given.
        text: String,
    },
    /// Several commits have ids with this prefix.
    #[error("the prefix '{text}' is ambiguous")]
    Ambiguous {
        /// What was given.
        text: String,
        /// Some of the commits: id and subject.
        candidates: Vec<(CommitId, String)>,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl MayBeDamage for RevisionError {
    fn is_damage(&self) -> bool {
        matches!(self, Self::Store(error) if error.is_damage())
    }
}

/// The commit that a revision names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// Its number.
    pub number: Number,
    /// A branch name that is also the prefix of a commit's id; the branch was taken.
    pub also_prefix: Option<String>,
}

impl Revision {
    /// Reads the grammar; whether the commit exists is not looked at.
    pub fn parse(text: &str) -> Result<Self, RevisionError> {
        let fault = |why| RevisionError::Syntax { text: text.to_owned(), why };
        let end = text.find(['~', '^']).unwrap_or(text.len());
        let (name, mut rest) = text.split_at(end);
        let base = match name {
            "" => return Err(fault("it names no commit")),
            "HEAD" | "@" => Base::Head,
            name if name.chars().any(|c| c.is_control() || c.is_whitespace()) => {
                return Err(fault("a name holds no white space and no control characters"));
            }
            name => Base::Name(name.to_owned()),
        };
        let mut steps = Vec::new();
        while let Some(kind) = rest.chars().next() {
            let digits = rest[1..].find(|c: char| !c.is_ascii_digit()).map_or(rest.len(), |at| at + 1);
            let count = match &rest[1..digits] {
                "" => 1,
                digits => digits.parse().map_err(|_| fault("a count is too large"))?,
            };
            steps.push(match kind {
                '~' => Step::Back(count),
                '^' => Step::Parent(count),
                _ => return Err(fault("behind a name only ~N and ^N may stand")),
            });
            rest = &rest[digits..];
        }
        Ok(Self { text: text.to_owned(), base, steps })
    }
}

/// Finds the commit that `revision` names, where `head` is the session's HEAD.
pub fn resolve<A: Access>(tables: &Tables<A>, head: &Head, revision: &Revision) -> Result<Resolved, RevisionError> {
    let mut resolved = match &revision.base {
        Base::Head => Resolved { number: head_commit(tables, head)?, also_prefix: None },
        Base::Name(name) => named(tables, head, name)?,
    };
    for step in &revision.steps {
        let text = || revision.text.clone();
        match *step {
            Step::Back(count) => {
                for _ in 0..count {
                    let parents = tables.commit(resolved.number)?.parents;
                    resolved.number = *parents.first().ok_or_else(|| RevisionError::NoAncestor { text: text() })?;
                }
            }
            Step::Parent(0) => {}
            Step::Parent(count) => {
                let parents = tables.commit(resolved.number)?.parents;
                let parent = usize::try_from(count - 1).ok().and_then(|at| parents.get(at));
                resolved.number = *parent.ok_or_else(|| RevisionError::NoParent { text: text() })?;
            }
        }
    }
    Ok(resolved)
}

fn head_commit<A: Access>(tables: &Tables<A>, head: &Head) -> Result<Number, RevisionError> {
    let branch = match head {
        Head::Branch(name) => short_branch(name).to_owned(),
        Head::Detached(_) => String::new(),
    };
    tables.head_commit(head)?.ok_or(RevisionError::Unborn { branch })
}

fn named<A: Access>(tables: &Tables<A>, head: &Head, name: &str) -> Result<Resolved, RevisionError> {
    let found = |number| Ok(Resolved { number, also_prefix: None });
    if name.starts_with("refs/")
        && let Some(number) = tables.reference(name)?
    {
        return found(number);
    }
    let prefixed = if is_prefix(name) { tables.commits_with_prefix(name, CANDIDATES + 1)? } else { Vec::new() };
    if let Some(number) = tables.reference(&format!("refs/heads/{name}"))? {
        let also_prefix = (!prefixed.is_empty()).then(|| name.to_owned());
        return Ok(Resolved { number, also_prefix });
    }
    match prefixed.as_slice() {
        [(_, number)] => found(*number),
        [] => {
            if matches!(head, Head::Branch(branch) if short_branch(branch) == name) {
                return Err(RevisionError::Unborn { branch: name.to_owned() });
            }
            if is_prefix(name) {
                tables.check_no_commit_begins_with(name)?;
            }
            Err(RevisionError::Unknown { text: name.to_owned(), near: near(tables, name)? })
        }
        several => {
            let candidates = several.iter().take(CANDIDATES).map(|&(id, number)| {
                let subject = tables.commit(number)?.message.subject().to_owned();
                Ok((id, subject))
            });
            let candidates = candidates.collect::<Result<_, StoreError>>()?;
            Err(RevisionError::Ambiguous { text: name.to_owned(), candidates })
        }
    }
}

fn is_prefix(name: &str) -> bool {
    (SHORTEST_PREFIX..=64).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Branches whose names are like `name`, the likest first.
fn near<A: Access>(tables: &Tables<A>, name: &str) -> Result<Vec<String>, StoreError> {
    let mut near: Vec<(f64, String)> = Vec::new();
    for (full, _) in tables.references("refs/heads/")? {
        let likeness = strsim::jaro_winkler(short_branch(&full), name);
        if likeness > 0.8 {
            near.push((likeness, short_branch(&full).to_owned()));
        }
    }
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    Ok(near.into_iter().take(3).map(|(_, name)| name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(text: &str) -> Vec<Step> {
        Revision::parse(text).expect("a revision").steps
    }

    #[test]
    fn steps_follow_the_name() {
        assert_eq!(Revision::parse("HEAD").expect("a revision").base, Base::Head);
        assert_eq!(Revision::parse("@~2^").expect("a revision").base, Base::Head);
        assert_eq!(Revision::parse("a/b-c.d").expect("a revision").base, Base::Name("a/b-c.d".into()));
        assert_eq!(steps("x"), []);
        assert_eq!(steps("x~"), [Step::Back(1)]);
        assert_eq!(steps("x~0^^2~10"), [Step::Back(0), Step::Parent(1), Step::Parent(2), Step::Back(10)]);
    }

    #[test]
    fn what_is_not_in_the_grammar_is_refused() {
        for text in ["", "~1", "^", "x~a", "x^1y", "a b", "a\n", "x~99999999999999999999"] {
            assert!(matches!(Revision::parse(text), Err(RevisionError::Syntax { .. })), "{text:?}");
        }
    }

    #[test]
    fn a_prefix_has_four_digits_at_least() {
        assert!(is_prefix("0aF9"));
        assert!(!is_prefix("0aF"));
        assert!(!is_prefix("0aFg"));
        assert!(is_prefix(&"a".repeat(64)));
        assert!(!is_prefix(&"a".repeat(65)));
    }
}
