//! Patterns that choose nodes by id.

use super::{IdError, NodeId};
use regex::Regex;
use std::borrow::Cow;
use std::iter::Peekable;
use std::str::Chars;

/// An id pattern: one id; all ids below a prefix; or a glob.
///
/// - A text without `*`, `?` and `[` is the id itself.
/// - With a `/` at its end it is every id that begins with it, that text as an id included.
/// - A glob matches the whole id. `*` is any run and `?` any one character but `/`; `**` is any run, and `**/` at the
///   start of a part may also be nothing, so that `a/**/b` matches `a/b`. `[a-z]` is one of the characters and `[!a-z]`
///   or `[^a-z]` one of the others, never `/`; `]` stands first and `-` first or last to mean itself. `\` takes its
///   meaning from the next character. A `/` at the end is everything below, as above. Braces mean themselves.
///
/// Ids are texts and no paths: `..`, `//` and a leading dot have no meaning of their own.
#[derive(Clone, Debug)]
pub struct Pattern(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Exact(NodeId),
    Below(String),
    /// The literal text at its start, and what the rest of an id has to match.
    Glob(String, Regex),
}

/// Why a text is no id pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// Blank, too long or with control characters, as no id may be.
    #[error(transparent)]
    Id(#[from] IdError),
    /// A `[` without its `]`.
    #[error("a '[' has no ']' in pattern '{0}'")]
    OpenClass(String),
    /// A range whose last character comes before its first.
    #[error("range '{1}-{2}' is upside down in pattern '{0}'")]
    Range(String, char, char),
    /// A glob that ends with `\`.
    #[error("nothing stands behind the last '\\' in pattern '{0}'")]
    OpenEscape(String),
}

impl Pattern {
    /// Reads `text`; `literal` turns globs off and leaves the `/` at the end its meaning.
    pub fn parse(text: &str, literal: bool) -> Result<Self, PatternError> {
        let id = NodeId::new(text)?;
        let kind = if !literal && text.contains(['*', '?', '[']) {
            glob(text)?
        } else if text.ends_with('/') {
            Kind::Below(text.to_owned())
        } else {
            Kind::Exact(id)
        };
        Ok(Self(kind))
    }

    /// Whether it chooses the node with the id `id`.
    pub fn matches(&self, id: &str) -> bool {
        match &self.0 {
            Kind::Exact(exact) => exact.as_str() == id,
            Kind::Below(prefix) => id.starts_with(prefix),
            Kind::Glob(prefix, rest) => id.strip_prefix(prefix.as_str()).is_some_and(|id| rest.is_match(id)),
        }
    }

    /// Whether one of `patterns` chooses the node with the id `id`; where there is none, every node is chosen.
    pub fn choose(patterns: &[Self], id: &str) -> bool {
        patterns.is_empty() || patterns.iter().any(|pattern| pattern.matches(id))
    }

    /// The one id that it can match, where its text says that there is just one.
    pub fn exact(&self) -> Option<&NodeId> {
        match &self.0 {
            Kind::Exact(id) => Some(id),
            Kind::Below(_) | Kind::Glob(..) => None,
        }
    }

    /// The literal text, as long as it may be, with which every match begins.
    pub fn literal_prefix(&self) -> &str {
        match &self.0 {
            Kind::Exact(id) => id.as_str(),
            Kind::Below(prefix) | Kind::Glob(prefix, _) => prefix,
        }
    }
}

/// The one that matches this id alone.
impl From<NodeId> for Pattern {
    fn from(id: NodeId) -> Self {
        Self(Kind::Exact(id))
    }
}

/// One piece of a glob.
enum Piece {
    /// This character.
    Literal(char),
    /// What this regex matches.
    Wild(Cow<'static, str>),
}

/// Translates a glob to a regex over characters.
///
/// Not by globset: it matches bytes, so that its `?` and `[é]` never match `é`; it takes `**` inside a part for `*`; and
/// it cannot leave braces alone.
fn glob(text: &str) -> Result<Kind, PatternError> {
    let mut prefix = String::new();
    let mut regex = String::new();
    let mut begins_part = true;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let piece = match c {
            '*' if chars.next_if_eq(&'*').is_none() => Piece::Wild("[^/]*".into()),
            '*' => {
                while chars.next_if_eq(&'*').is_some() {}
                if begins_part && chars.next_if_eq(&'/').is_some() {
                    regex.push_str("(?:.*/)?");
                    continue;
                }
                Piece::Wild(".*".into())
            }
            '?' => Piece::Wild("[^/]".into()),
            '[' => class(&mut chars, text)?,
            '\\' => Piece::Literal(chars.next().ok_or_else(|| PatternError::OpenEscape(text.to_owned()))?),
            other => Piece::Literal(other),
        };
        begins_part = matches!(piece, Piece::Literal('/'));
        match piece {
            Piece::Literal(c) if regex.is_empty() => prefix.push(c),
            Piece::Literal(c) => regex.push_str(&escape(c)),
            Piece::Wild(wild) => regex.push_str(&wild),
        }
    }
    if regex.is_empty() {
        return Ok(if begins_part { Kind::Below(prefix) } else { Kind::Exact(NodeId::new(prefix)?) });
    }
    let below = if begins_part { ".*" } else { "" };
    let rest = Regex::new(&format!(r"\A{regex}{below}\z"))
        .expect("each piece is a well-formed regex, and the length of a pattern keeps them under the size limit");
    Ok(Kind::Glob(prefix, rest))
}

/// Reads a class from behind its `[` up to its `]`. One character alone is a literal.
fn class(chars: &mut Peekable<Chars<'_>>, text: &str) -> Result<Piece, PatternError> {
    let open = || PatternError::OpenClass(text.to_owned());
    let negated = chars.next_if(|c| matches!(c, '!' | '^')).is_some();
    let mut ranges = Vec::new();
    while ranges.is_empty() || chars.next_if_eq(&']').is_none() {
        let first = class_char(chars).ok_or_else(open)?;
        let mut ahead = chars.clone();
        let is_range = ahead.next() == Some('-') && ahead.next() != Some(']');
        let last = if is_range { chars.next().and_then(|_| class_char(chars)).ok_or_else(open)? } else { first };
        if last < first {
            return Err(PatternError::Range(text.to_owned(), first, last));
        }
        ranges.push((first, last));
    }
    if let [(first, last)] = ranges[..]
        && first == last
        && first != '/'
        && !negated
    {
        return Ok(Piece::Literal(first));
    }
    let set: String = ranges.iter().map(|&(first, last)| format!("{}-{}", escape(first), escape(last))).collect();
    Ok(Piece::Wild(if negated { format!("[^/{set}]") } else { format!("[[{set}]&&[^/]]") }.into()))
}

/// Reads one character of a class, without the `\` before it.
fn class_char(chars: &mut Peekable<Chars<'_>>) -> Option<char> {
    chars.next().and_then(|c| if c == '\\' { chars.next() } else { Some(c) })
}

/// Spells `c` so that a regex takes it for itself.
fn escape(c: char) -> String {
    regex::escape(c.encode_utf8(&mut [0; 4]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pattern(text: &str) -> Pattern {
        Pattern::parse(text, false).unwrap_or_else(|error| panic!("{text:?}: {error}"))
    }

    #[test]
    fn a_pattern_matches_what_its_page_says() {
        let table: &[(&str, &[&str], &[&str])] = &[
            ("diet", &["diet"], &["diet/x", "die", "Diet", "diet "]),
            ("a/", &["a/", "a/b", "a//", "a/b/c", "a/../x"], &["a", "ab", "b/a/"]),
            ("//", &["//", "///", "//x"], &["/", "/x"]),
            ("*", &["a", "..", ".hidden", "é", " ", "a{b}"], &["a/", "/", "/a", "a/b"]),
            ("?", &["a", "é", "😀", "."], &["/", "ab", "", "e\u{301}"]),
            ("a?c", &["abc", "aéc"], &["a/c", "ac", "abbc"]),
            ("a*c", &["ac", "abc", "abcc", "a..c"], &["a/c", "acb", "xac"]),
            ("*/*", &["a/b", "/", "a/", "/b", "../x"], &["a", "a/b/c", "a//b"]),
            ("../*", &["../x", "../", "../.."], &["..", "../x/y", "a/../x"]),
            ("*.md", &["a.md", ".md", "é.md"], &["a/b.md", "a.md/", "amd"]),
            ("**", &["a", "a/b", "/", "a//b", "a/", "../x"], &[]),
            ("**/x", &["x", "a/x", "/x", "a/b/x", "a//x", "../x"], &["ax", "x/", "a/xx"]),
            ("a/**", &["a/", "a/b", "a/b/", "a//b"], &["a", "ab/c"]),
            ("a/**/b", &["a/b", "a/x/b", "a/x/y/b", "a//b"], &["ab", "a/xb", "a/b/", "xa/b"]),
            ("**/**/b", &["b", "x/b", "x/y/b"], &["xb"]),
            ("a**b", &["ab", "a/b", "axxb", "a/x/yb"], &["a", "abx"]),
            ("a**/b", &["a/b", "ax/b", "a/x/b"], &["ab", "axb"]),
            ("a***b", &["ab", "a/b"], &["ba"]),
            ("***/b", &["b", "a/b"], &["ab"]),
            ("a/*/", &["a/b/", "a/b/c", "a/b/c/d", "a//"], &["a/b", "a/", "b/a/c"]),
            ("a/**/", &["a/", "a/b", "a/b/c"], &["a", "ab"]),
            ("x[abc]", &["xa", "xc"], &["xd", "x", "x/", "xab"]),
            ("[a-cx]*", &["a", "b1", "xx"], &["d", "-", "A"]),
            ("[é-ë]", &["é", "ê", "ë"], &["e", "ì"]),
            ("[!a-c]", &["d", "é", "!", "^"], &["a", "b", "/", ""]),
            ("[^a-c]", &["d", "é", "!"], &["a", "b", "/"]),
            ("[!^]", &["a", "!"], &["^"]),
            ("x[a/]", &["xa"], &["x/"]),
            ("x[.-0]", &["x.", "x0"], &["x/"]),
            ("x[/]", &[], &["x/", "x", "x[/]"]),
            ("[]a]", &["]", "a"], &["[", "[]a]"]),
            ("[!]a]", &["b"], &["]", "a"]),
            ("[a-]", &["a", "-"], &["b"]),
            ("[-a]", &["a", "-"], &["b"]),
            ("[a-c-e]", &["b", "-", "e"], &["d"]),
            (r"[\]\\]", &["]", r"\"], &["["]),
            (r"[\^a]", &["^", "a"], &["b", r"\"]),
            ("[[&&~~-]", &["[", "&", "~", "-"], &["a", "]", "\u{7d}"]),
            ("{a,b}*", &["{a,b}", "{a,b}c"], &["a", "b"]),
            ("(a|b).+$^*", &["(a|b).+$^", "(a|b).+$^x"], &["a", "b"]),
            (r"a\*?", &["a*b"], &["aab", "a*", r"a\*b"]),
            (r"a\b*", &["ab", "abc"], &[r"a\b", "a"]),
            (r"a\b", &[r"a\b"], &["ab"]),
        ];
        for (text, matching, others) in table {
            let pattern = pattern(text);
            for id in *matching {
                assert!(pattern.matches(id), "{text:?} matches {id:?}");
            }
            for id in *others {
                assert!(!pattern.matches(id), "{text:?} does not match {id:?}");
            }
        }
    }

    #[test]
    fn the_literal_prefix_is_as_long_as_may_be() {
        for (text, prefix, exact) in [
            ("a", "a", true),
            ("a b/", "a b/", false),
            ("ab*c", "ab", false),
            ("a/**/b", "a/", false),
            ("**", "", false),
            ("é?", "é", false),
            (r"a\*b\?c*", "a*b?c", false),
            ("a[*]b[xy]", "a*b", false),
            (r"a\*b", "a*b", true),
            ("a[?]", "a?", true),
            ("[[]x/", "[x/", false),
            ("a[!b]", "a", false),
        ] {
            let pattern = pattern(text);
            assert_eq!(pattern.literal_prefix(), prefix, "{text:?}");
            assert_eq!(pattern.exact().map(NodeId::as_str), exact.then_some(prefix), "{text:?}");
        }
    }

    #[test]
    fn literal_turns_globs_off_and_nothing_else() {
        for text in ["a*b", "[", r"\?", "a[b]"] {
            let pattern = Pattern::parse(text, true).expect("an id");
            assert_eq!(pattern.exact().map(NodeId::as_str), Some(text));
            assert!(pattern.matches(text));
        }
        let below = Pattern::parse("a*/", true).expect("a prefix");
        assert!(below.matches("a*/x") && !below.matches("ab/x") && below.exact().is_none());
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        let refused = |text: &str| Pattern::parse(text, false).expect_err("no pattern");
        assert_eq!(refused(" "), PatternError::Id(IdError::Blank));
        assert_eq!(refused("[ ]"), PatternError::Id(IdError::Blank));
        assert_eq!(refused("a\u{1}/"), PatternError::Id(IdError::Control { character: '\u{1}', at: 1 }));
        assert_eq!(refused("*\n"), PatternError::Id(IdError::Control { character: '\n', at: 1 }));
        assert_eq!(refused(&"*".repeat(1025)), PatternError::Id(IdError::TooLong(1025)));
        for text in ["[", "a[b", "[]", "[!", "[!]", "[a-", r"[a\]", r"[\", "[]-", r"[a-\"] {
            assert_eq!(refused(text), PatternError::OpenClass(text.to_owned()), "{text:?}");
        }
        assert_eq!(refused("x[z-a]"), PatternError::Range("x[z-a]".to_owned(), 'z', 'a'));
        assert_eq!(refused(r"*\"), PatternError::OpenEscape(r"*\".to_owned()));
    }

    #[test]
    fn the_longest_patterns_compile() {
        for piece in ["?", "*?", "[!a]", "[!é]", "[a-é]", "[?é]", "**/", "**a", "[\u{a0}-\u{10ffff}]", "[!😀]"] {
            let text = piece.repeat(1024 / piece.len());
            assert_eq!(pattern(&text).matches(" "), piece == "**/", "{piece}");
        }
    }

    /// A glob of letters, `/`, `?`, `*` and `**`, matched the slow way.
    fn slow(glob: &[char], begins_part: bool, id: &[char]) -> bool {
        let tails = || (0..=id.len()).map(|at| id.split_at(at));
        match glob {
            [] => begins_part || id.is_empty(),
            ['*', '*', '*', ..] => slow(&glob[1..], begins_part, id),
            ['*', '*', '/', rest @ ..] if begins_part => {
                slow(rest, true, id) || tails().any(|(run, tail)| run.last() == Some(&'/') && slow(rest, true, tail))
            }
            ['*', '*', rest @ ..] => tails().any(|(_, tail)| slow(rest, false, tail)),
            ['*', rest @ ..] => tails().any(|(run, tail)| !run.contains(&'/') && slow(rest, false, tail)),
            ['?', rest @ ..] => matches!(id, [c, tail @ ..] if *c != '/' && slow(rest, false, tail)),
            [c, rest @ ..] => matches!(id, [d, tail @ ..] if c == d && slow(rest, *c == '/', tail)),
        }
    }

    proptest! {
        #[test]
        fn a_glob_matches_as_the_slow_way_does(text in "[ab/?*é]{0,5}[?*][ab/?*é]{0,4}", id in "[abé/]{0,6}") {
            let chars: Vec<char> = text.chars().collect();
            let id_chars: Vec<char> = id.chars().collect();
            prop_assert_eq!(pattern(&text).matches(&id), slow(&chars, true, &id_chars), "{:?} {:?}", text, id);
        }

        #[test]
        fn a_match_begins_with_the_literal_prefix(text in r"[ab/?*\[\]!\\-]{1,8}", id in r"[ab/*?\[\]-]{1,6}") {
            if let Ok(pattern) = Pattern::parse(&text, false) {
                prop_assert!(!pattern.matches(&id) || id.starts_with(pattern.literal_prefix()));
                if let Some(exact) = pattern.exact() {
                    prop_assert!(pattern.matches(exact.as_str()));
                    prop_assert_eq!(pattern.matches(&id), exact.as_str() == id);
                }
            }
        }

        #[test]
        fn an_escaped_id_is_matched_by_itself_alone(id in r"[ab*?\[\]\\{!-]{1,8}", other in r"[ab*?\[\]\\{!-]{1,8}") {
            let escaped: String = id.chars().flat_map(|c| ['\\', c]).collect();
            let pattern = pattern(&format!("{escaped}[*]"));
            prop_assert!(pattern.matches(&(id.clone() + "*")));
            prop_assert_eq!(pattern.matches(&(other.clone() + "*")), id == other);
        }

        #[test]
        fn no_text_breaks_the_parser(text in any::<String>(), id in any::<String>()) {
            if let Ok(pattern) = Pattern::parse(&text, false) {
                pattern.matches(&id);
            }
        }
    }
}
