//! Names of commits: `HEAD`, `@`, a branch, `refs/…`, an id or a prefix of one, each with `~N`, `^N` and `@{TIME}` behind
//! it; and of ranges of them: `A..B`, `A...B`, `^A`.

use super::back::back;
use super::merge_bases;
use crate::model::CommitTime;
use crate::object::CommitId;
use crate::store::{Access, Head, MayBeDamage, Number, StoreError, Tables, short_branch};

/// The shortest prefix of an id that names a commit.
const SHORTEST_PREFIX: usize = 4;
/// How many candidates of an ambiguous prefix are told.
const CANDIDATES: usize = 10;

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
    /// `@{TIME}`: the newest first-parent ancestor made at this time or earlier.
    At(CommitTime),
}

/// Commits to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// The commit and its ancestors.
    Of(Revision),
    /// Not the commit and its ancestors.
    Without(Revision),
    /// The ancestors of the second that are none of the first: `A..B`.
    Between(Revision, Revision),
    /// The ancestors of either that are not ancestors of both: `A...B`.
    Either(Revision, Revision),
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
    /// No commit is that old.
    #[error("no commit of '{text}' is that old")]
    NoneThatOld {
        /// What was given.
        text: String,
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
    /// Two commits have no common ancestor.
    #[error("'{one}' and '{other}' have no common ancestor")]
    Unrelated {
        /// One of them.
        one: String,
        /// The other.
        other: String,
    },
    /// Several commits have ids with this prefix.
    #[error("the prefix '{text}' is ambiguous")]
    Ambiguous {
        /// What was given.
        text: String,
        /// Some of the commits: id and subject.
        candidates: Vec<(CommitId, String)>,
        /// Whether there are more.
        more: bool,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl MayBeDamage for RevisionError {
    fn is_damage(&self) -> bool {
        matches!(self, Self::Store(error) if error.is_damage())
    }

    fn located(self, path: &std::path::Path) -> Self {
        match self {
            Self::Store(error) => Self::Store(error.at(path)),
            other => other,
        }
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

/// Reads a time within a revision; `None` where it is none.
pub type ReadTime<'t> = &'t dyn Fn(&str) -> Option<CommitTime>;

impl Revision {
    /// Reads the grammar; whether the commit exists is not looked at.
    pub fn parse(text: &str, read_time: ReadTime<'_>) -> Result<Self, RevisionError> {
        let fault = |why| RevisionError::Syntax { text: text.to_owned(), why };
        if text.contains("..") || text.starts_with('^') {
            return Err(fault("one commit is wanted here, and no range"));
        }
        let end = ["~", "^", "@{"].iter().filter_map(|start| text.find(start)).min().unwrap_or(text.len());
        let (name, mut rest) = text.split_at(end);
        let base = match name {
            "" if rest.starts_with("@{") => Base::Head,
            "" => return Err(fault("it names no commit")),
            "HEAD" | "@" => Base::Head,
            name if name.chars().any(|c| c.is_control() || c.is_whitespace()) => {
                return Err(fault("a name holds no white space and no control characters"));
            }
            name => Base::Name(name.to_owned()),
        };
        let mut steps = Vec::new();
        while !rest.is_empty() {
            if let Some(inside) = rest.strip_prefix("@{") {
                let (time, behind) = inside.split_once('}').ok_or_else(|| fault("'@{' has no '}'"))?;
                steps.push(Step::At(read_time(time).ok_or_else(|| fault("between '@{' and '}' stands a time"))?));
                rest = behind;
                continue;
            }
            if !rest.starts_with(['~', '^']) {
                return Err(fault("behind a name only ~N, ^N and @{TIME} may stand"));
            }
            let digits = rest[1..].find(|c: char| !c.is_ascii_digit()).map_or(rest.len(), |at| at + 1);
            let count = match &rest[1..digits] {
                "" => 1,
                digits => digits.parse().map_err(|_| fault("a count is too large"))?,
            };
            steps.push(if rest.starts_with('~') { Step::Back(count) } else { Step::Parent(count) });
            rest = &rest[digits..];
        }
        Ok(Self { text: text.to_owned(), base, steps })
    }

    /// HEAD itself.
    pub fn head() -> Self {
        Self { text: "HEAD".to_owned(), base: Base::Head, steps: Vec::new() }
    }
}

impl std::fmt::Display for Revision {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl Selection {
    /// Reads a revision, `^A`, `A..B` or `A...B`; an end that is left out is HEAD.
    pub fn parse(text: &str, read_time: ReadTime<'_>) -> Result<Self, RevisionError> {
        let end = |text: &str| if text.is_empty() { Ok(Revision::head()) } else { Revision::parse(text, read_time) };
        if let Some(without) = text.strip_prefix('^') {
            return Ok(Self::Without(Revision::parse(without, read_time)?));
        }
        if let Some((one, other)) = text.split_once("...") {
            return Ok(Self::Either(end(one)?, end(other)?));
        }
        match text.split_once("..") {
            Some((one, other)) => Ok(Self::Between(end(one)?, end(other)?)),
            None => Ok(Self::Of(Revision::parse(text, read_time)?)),
        }
    }
}

/// The ends of a walk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ends {
    /// Where it begins.
    pub starts: Vec<Number>,
    /// Whose ancestors it leaves out.
    pub without: Vec<Number>,
    /// Branch names that are prefixes of commit ids too.
    pub also_prefixes: Vec<String>,
}

/// Finds the commits that selections name. HEAD is where they begin that only leave out.
pub fn resolve_all<A: Access>(
    tables: &Tables<A>,
    head: &Head,
    selections: &[Selection],
) -> Result<Ends, RevisionError> {
    let mut ends = Ends::default();
    let mut find = |revision: &Revision| -> Result<Number, RevisionError> {
        let resolved = resolve(tables, head, revision)?;
        ends.also_prefixes.extend(resolved.also_prefix);
        Ok(resolved.number)
    };
    let (mut starts, mut without) = (Vec::new(), Vec::new());
    for selection in selections {
        match selection {
            Selection::Of(revision) => starts.push(find(revision)?),
            Selection::Without(revision) => without.push(find(revision)?),
            Selection::Between(one, other) => {
                without.push(find(one)?);
                starts.push(find(other)?);
            }
            Selection::Either(one, other) => {
                let (one, other) = (find(one)?, find(other)?);
                without.extend(merge_bases(tables, one, other)?);
                starts.extend([one, other]);
            }
        }
    }
    if starts.is_empty() {
        starts.push(find(&Revision::head())?);
    }
    Ok(Ends { starts, without, ..ends })
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
                let found = back(tables, resolved.number, count)?;
                resolved.number = found.ok_or_else(|| RevisionError::NoAncestor { text: text() })?;
            }
            Step::At(time) => loop {
                let commit = tables.commit(resolved.number)?;
                if commit.time.unix_ms() <= time.unix_ms() {
                    break;
                }
                resolved.number = *commit.parents.first().ok_or_else(|| RevisionError::NoneThatOld { text: text() })?;
            },
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
            let more = several.len() > CANDIDATES;
            Err(RevisionError::Ambiguous { text: name.to_owned(), candidates, more })
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

    const NOON: &str = "2026-01-02T12:00:00.000+00:00";

    fn read(text: &str) -> Option<CommitTime> {
        (text == "noon").then(|| CommitTime::parse(NOON).expect("a time"))
    }

    fn parse(text: &str) -> Result<Revision, RevisionError> {
        Revision::parse(text, &read)
    }

    fn steps(text: &str) -> Vec<Step> {
        parse(text).expect("a revision").steps
    }

    #[test]
    fn steps_follow_the_name() {
        for text in ["HEAD", "@", "@~2^", "@{noon}", "@@{noon}"] {
            assert_eq!(parse(text).expect("a revision").base, Base::Head, "{text}");
        }
        assert_eq!(parse("a/b-c.d").expect("a revision").base, Base::Name("a/b-c.d".into()));
        assert_eq!(steps("x"), []);
        assert_eq!(steps("x~"), [Step::Back(1)]);
        assert_eq!(steps("x~0^^2~10"), [Step::Back(0), Step::Parent(1), Step::Parent(2), Step::Back(10)]);
        let noon = Step::At(CommitTime::parse(NOON).expect("a time"));
        assert_eq!(steps("x~2@{noon}^"), [Step::Back(2), noon, Step::Parent(1)]);
    }

    #[test]
    fn what_is_not_in_the_grammar_is_refused() {
        for text in
            ["", "~1", "^", "x~a", "x^1y", "a b", "a\n", "x~99999999999999999999", "x@{night}", "x@{noon", "x~é", "^é"]
        {
            assert!(matches!(parse(text), Err(RevisionError::Syntax { .. })), "{text:?}");
        }
    }

    #[test]
    fn selections_name_ends() {
        let select = |text| Selection::parse(text, &read).expect("a selection");
        let (a, b, head) = (parse("a").expect("a"), parse("b~2").expect("b"), Revision::head());
        assert_eq!(select("a"), Selection::Of(a.clone()));
        assert_eq!(select("^a"), Selection::Without(a.clone()));
        assert_eq!(select("a..b~2"), Selection::Between(a.clone(), b.clone()));
        assert_eq!(select("a.."), Selection::Between(a.clone(), head.clone()));
        assert_eq!(select("..b~2"), Selection::Between(head.clone(), b.clone()));
        assert_eq!(select("a...b~2"), Selection::Either(a.clone(), b));
        assert_eq!(select("...a"), Selection::Either(head, a));
        for text in ["^", "", "a..b..c d", "^a..b c"] {
            assert!(Selection::parse(text, &read).is_err(), "{text:?}");
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
