//! Predicates from words: those of a command line, or of a list in a file.

use super::{Claim, Comparison, Kind, Pointer, Predicate};
use crate::model::{Content, IdError, JsonError, NodeId, Pattern, PatternError, PointerError, pointer};
use regex::{Regex, RegexBuilder};

/// How many bytes a compiled regex may take.
const MAX_REGEX_BYTES: usize = 10 << 20;

/// How like a name must be to be offered in place of another.
const LIKE: f64 = 0.8;

/// Why words are no predicates.
#[derive(Debug, thiserror::Error)]
pub enum PredicateError {
    /// A word stands where a predicate should.
    #[error("unknown predicate '{word}'")]
    Unknown {
        /// The word.
        word: String,
        /// The predicate whose name is the most like it, if one is like it.
        near: Option<Kind>,
    },
    /// The words end too early.
    #[error("'--{}' needs {} behind it", .0.name(), .0.words().join(" "))]
    Missing(Kind),
    /// `--not` at the end, or before another `--not`.
    #[error("'--not' needs a predicate behind it")]
    NotAlone,
    /// A word is no node id.
    #[error("'--{}': '{word}' is no id", .kind.name())]
    Id {
        /// The predicate.
        kind: Kind,
        /// The word.
        word: String,
        /// Why.
        source: IdError,
    },
    /// A word is no id pattern.
    #[error("'--{}': '{word}' is no pattern", .kind.name())]
    Pattern {
        /// The predicate.
        kind: Kind,
        /// The word.
        word: String,
        /// Why.
        source: PatternError,
    },
    /// A word is no JSON value.
    #[error("'--{}': '{word}' is no JSON value", .kind.name())]
    Json {
        /// The predicate.
        kind: Kind,
        /// The word.
        word: String,
        /// Why.
        source: JsonError,
    },
    /// A word is no JSON pointer.
    #[error("'--{}'", .kind.name())]
    Pointer {
        /// The predicate.
        kind: Kind,
        /// Why.
        source: PointerError,
    },
    /// A word is no regular expression, or one that grows too large.
    #[error("'--{}': '{word}' is no regex: {reason}", .kind.name())]
    Regex {
        /// The predicate.
        kind: Kind,
        /// The word.
        word: String,
        /// The last line of what the parser says.
        reason: String,
    },
    /// A word is none of the comparisons.
    #[error("'--count': '{0}' is none of 'lt', 'le', 'eq', 'ne', 'ge', 'gt'")]
    Comparison(String),
    /// A word is no number of nodes.
    #[error("'--count': '{0}' is no number of nodes")]
    Number(String),
}

/// Reads predicates one behind another. `--not` before one negates it, and as many words belong to each as
/// [`Kind::words`] names, whatever they look like.
pub fn parse(words: &[String]) -> Result<Vec<Predicate>, PredicateError> {
    let mut predicates = Vec::new();
    let mut rest = words;
    while let [first, behind @ ..] = rest {
        let is_negated = first == "--not";
        let (name, behind) = match behind {
            [name, behind @ ..] if is_negated && name != "--not" => (name, behind),
            _ if is_negated => return Err(PredicateError::NotAlone),
            _ => (first, behind),
        };
        let kind = kind(name)?;
        let count = kind.words().len();
        let (values, behind) = behind.split_at_checked(count).ok_or(PredicateError::Missing(kind))?;
        let length = usize::from(is_negated) + 1 + count;
        predicates.push(Predicate { words: rest[..length].to_vec(), is_negated, claim: claim(kind, values)? });
        rest = behind;
    }
    Ok(predicates)
}

fn kind(word: &str) -> Result<Kind, PredicateError> {
    let known = Kind::ALL.into_iter().find(|kind| word.strip_prefix("--") == Some(kind.name()));
    known.ok_or_else(|| {
        let name = word.trim_start_matches('-');
        let likeness = |kind: Kind| (strsim::jaro_winkler(kind.name(), name), kind);
        let likest = Kind::ALL.into_iter().map(likeness).max_by(|a, b| a.0.total_cmp(&b.0));
        let near = likest.filter(|(likeness, _)| *likeness > LIKE).map(|(_, kind)| kind);
        PredicateError::Unknown { word: word.to_owned(), near }
    })
}

/// Reads the words behind a predicate, of which there are as many as it takes.
fn claim(kind: Kind, words: &[String]) -> Result<Claim, PredicateError> {
    let word = |at: usize| words[at].as_str();
    let id = || NodeId::new(word(0)).map_err(|source| PredicateError::Id { kind, word: words[0].clone(), source });
    let pattern = || {
        let told = |source| PredicateError::Pattern { kind, word: words[0].clone(), source };
        Pattern::parse(word(0), false).map_err(told)
    };
    let json = |at: usize| {
        let told = |source| PredicateError::Json { kind, word: words[at].clone(), source };
        Content::from_json(word(at)).map_err(told)
    };
    let path = || Pointer::new(word(1)).map_err(|source| PredicateError::Pointer { kind, source });
    Ok(match kind {
        Kind::Present => Claim::Present(id()?),
        Kind::Absent => Claim::Absent(id()?),
        Kind::Equals => Claim::Equals(id()?, words[1].clone()),
        Kind::EqualsJson => Claim::EqualsJson(id()?, json(1)?),
        Kind::Contains => Claim::Contains(id()?, words[1].clone()),
        Kind::Matches => Claim::Matches(id()?, regex(word(1))?),
        Kind::PathExists => Claim::PathExists(id()?, path()?),
        Kind::PathEquals => Claim::PathEquals(id()?, path()?, json(2)?),
        Kind::Count => Claim::Count(pattern()?, Comparison::read(word(1))?, number(word(2))?),
        Kind::Any => Claim::Any(pattern()?, words[1].clone()),
    })
}

fn regex(text: &str) -> Result<Regex, PredicateError> {
    RegexBuilder::new(text).size_limit(MAX_REGEX_BYTES).build().map_err(|error| {
        let said = error.to_string();
        let reason = said.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
        PredicateError::Regex { kind: Kind::Matches, word: text.to_owned(), reason }
    })
}

fn number(text: &str) -> Result<u64, PredicateError> {
    let has_digits_alone = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| has_digits_alone).ok_or_else(|| PredicateError::Number(text.to_owned()))
}

impl Comparison {
    fn read(word: &str) -> Result<Self, PredicateError> {
        Ok(match word {
            "lt" => Self::Less,
            "le" => Self::AtMost,
            "eq" => Self::Equal,
            "ne" => Self::NotEqual,
            "ge" => Self::AtLeast,
            "gt" => Self::More,
            other => return Err(PredicateError::Comparison(other.to_owned())),
        })
    }
}

impl Pointer {
    fn new(text: &str) -> Result<Self, PointerError> {
        pointer("null", text)?;
        Ok(Self(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    fn refused(text: &[&str]) -> String {
        parse(&words(text)).expect_err("no predicates").to_string()
    }

    #[test]
    fn words_that_are_no_predicates_are_refused() {
        for (text, said) in [
            (&["diet"][..], "unknown predicate 'diet'"),
            (&["present", "x"], "unknown predicate 'present'"),
            (&["-present", "x"], "unknown predicate '-present'"),
            (&["---present", "x"], "unknown predicate '---present'"),
            (&["--Present", "x"], "unknown predicate '--Present'"),
            (&["--present=x"], "unknown predicate '--present=x'"),
            (&["--"], "unknown predicate '--'"),
            (&[""], "unknown predicate ''"),
            (&["--present", "x", "y"], "unknown predicate 'y'"),
            (&["--present"], "'--present' needs ID behind it"),
            (&["--path-equals", "x", "/a"], "'--path-equals' needs ID POINTER JSON behind it"),
            (&["--count", "x", "eq"], "'--count' needs PATTERN lt|le|eq|ne|ge|gt NUMBER behind it"),
            (&["--not"], "'--not' needs a predicate behind it"),
            (&["--present", "x", "--not"], "'--not' needs a predicate behind it"),
            (&["--not", "--not", "--present", "x"], "'--not' needs a predicate behind it"),
            (&["--present", " "], "'--present': ' ' is no id"),
            (&["--any", "a[", "x"], "'--any': 'a[' is no pattern"),
            (&["--equals-json", "x", "1,"], "'--equals-json': '1,' is no JSON value"),
            (&["--equals-json", "x", "\u{feff}1"], "'--equals-json': '\u{feff}1' is no JSON value"),
            (&["--path-equals", "x", "/a", ""], "'--path-equals': '' is no JSON value"),
            (&["--path-exists", "x", "a"], "'--path-exists'"),
            (&["--path-equals", "x", "/~", "1"], "'--path-equals'"),
            (&["--matches", "x", "("], "'--matches': '(' is no regex: unclosed group"),
            (
                &["--matches", "x", r"(\w{999}){999}"],
                r"'--matches': '(\w{999}){999}' is no regex: Compiled regex exceeds size limit of 10485760 bytes.",
            ),
            (&["--count", "x", "=", "1"], "'--count': '=' is none of 'lt', 'le', 'eq', 'ne', 'ge', 'gt'"),
            (&["--count", "x", "eq", "-1"], "'--count': '-1' is no number of nodes"),
            (&["--count", "x", "eq", "+1"], "'--count': '+1' is no number of nodes"),
            (&["--count", "x", "eq", ""], "'--count': '' is no number of nodes"),
            (
                &["--count", "x", "eq", "18446744073709551616"],
                "'--count': '18446744073709551616' is no number of nodes",
            ),
        ] {
            assert_eq!(refused(text), said, "{text:?}");
        }
    }

    #[test]
    fn a_like_name_is_offered() {
        for (word, near) in [
            ("--equal", Some(Kind::Equals)),
            ("--equals_json", Some(Kind::EqualsJson)),
            ("present", Some(Kind::Present)),
            ("--pth-exists", Some(Kind::PathExists)),
            ("--zzz", None),
            ("", None),
        ] {
            let found = parse(&words(&[word]));
            assert!(matches!(found, Err(PredicateError::Unknown { near: found, .. }) if found == near), "{word}");
        }
    }

    #[test]
    fn words_behind_a_predicate_are_taken_as_they_are() {
        let text = words(&["--contains", "--not", "--not", "--not", "--equals", "--present", "--", "--absent", "-x"]);
        let predicates = parse(&text).expect("predicates");
        let read: Vec<_> = predicates.iter().map(|predicate| (predicate.is_negated, &predicate.words[..])).collect();
        assert_eq!(read, [(false, &text[0..3]), (true, &text[3..7]), (false, &text[7..9])]);
        assert!(matches!(&predicates[0].claim, Claim::Contains(id, text) if id.as_str() == "--not" && text == "--not"));
        assert!(matches!(&predicates[1].claim, Claim::Equals(id, text) if id.as_str() == "--present" && text == "--"));
    }

    /// A predicate's words, each of which is what it should be.
    fn spelled() -> impl Strategy<Value = Vec<String>> {
        let parts = (any::<bool>(), prop::sample::select(Kind::ALL.to_vec()), "[a-z/*-]{1,4}", "[a-z-]{0,4}", "/[ab]?");
        let more = ("0|-1|\"x\"|\\[1 \\]", "lt|le|eq|ne|ge|gt", any::<u64>());
        (parts, more).prop_map(|((is_negated, kind, id, text, path), (json, comparison, number))| {
            let value = |word: &&str| match *word {
                "ID" | "PATTERN" => id.clone(),
                "TEXT" | "REGEX" => text.clone(),
                "JSON" => json.clone(),
                "POINTER" => path.clone(),
                "NUMBER" => number.to_string(),
                _ => comparison.clone(),
            };
            let not = is_negated.then(|| "--not".to_owned());
            let name = format!("--{}", kind.name());
            not.into_iter().chain([name]).chain(kind.words().iter().map(value)).collect()
        })
    }

    proptest! {
        #[test]
        fn what_was_read_has_the_words_it_was_read_from(spelled in prop::collection::vec(spelled(), 0..6)) {
            let predicates = parse(&spelled.concat()).expect("predicates");
            let words: Vec<_> = predicates.iter().map(|predicate| predicate.words().to_vec()).collect();
            prop_assert_eq!(words, spelled.clone());
            let negated: Vec<_> = predicates.iter().map(|predicate| predicate.is_negated).collect();
            prop_assert_eq!(negated, spelled.iter().map(|words| words[0] == "--not").collect::<Vec<_>>());
        }

        #[test]
        fn no_words_break_the_parser(words in prop::collection::vec("--(not|present|equals|count)|[a-z(\\[]{0,3}", 0..6)) {
            let _any = parse(&words);
        }
    }
}
