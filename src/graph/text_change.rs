//! Changes of text that are looked for.

use super::compare::{line_edits, lines};
use crate::model::Content;
use memchr::memmem;
use regex::Regex;
use std::collections::BTreeMap;

/// What is to become of the text of a node: that of a string, or the JSON text of any other value. An absent node is as
/// good as an empty text.
#[derive(Clone, Debug)]
pub enum TextChange {
    /// This, which is not empty, occurs more or less often. Occurrences do not overlap.
    Occurrences(String),
    /// A line that matches came or went.
    Line(Regex),
}

impl TextChange {
    /// Whether it is what became of `old`.
    pub fn is_between(&self, old: Option<&Content>, new: Option<&Content>) -> bool {
        let [old, new] = [old, new].map(|content| content.map(Content::readable).unwrap_or_default());
        match self {
            Self::Occurrences(text) => {
                let finder = memmem::Finder::new(text);
                finder.find_iter(old.as_bytes()).count() != finder.find_iter(new.as_bytes()).count()
            }
            Self::Line(regex) => line_changes(regex, &old, &new),
        }
    }
}

/// Whether a line that matches is on one side only. Equal lines are paired one to one: so where the sides do not have the
/// same matching lines as often, one came or went whatever the others do, and else one may have moved.
fn line_changes(regex: &Regex, old: &str, new: &str) -> bool {
    let (old, new) = (lines(old), lines(new));
    let is_match = |line: &&str| regex.is_match(line.strip_suffix('\n').unwrap_or(line));
    let mut surplus: BTreeMap<&str, i64> = BTreeMap::new();
    for (side, sign) in [(&old, -1), (&new, 1)] {
        for line in side.iter().copied().filter(|line| is_match(line)) {
            *surplus.entry(line).or_default() += sign;
        }
    }
    if surplus.values().any(|surplus| *surplus != 0) {
        return true;
    }
    let moved = |line: &&str| surplus.contains_key(line);
    !surplus.is_empty()
        && line_edits(&old, &new, None)
            .edits
            .into_iter()
            .any(|edit| old[edit.old].iter().any(moved) || new[edit.new].iter().any(moved))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn occurrences(text: &str, old: Option<&str>, new: Option<&str>) -> bool {
        let [old, new] = [old, new].map(|json| json.map(|json| Content::from_json(json).expect("JSON")));
        TextChange::Occurrences(text.to_owned()).is_between(old.as_ref(), new.as_ref())
    }

    #[test]
    fn how_often_a_text_occurs_is_counted_in_what_a_person_reads() {
        for (text, old, new, expected) in [
            ("a", None, Some(r#""a""#), true),
            ("a", Some(r#""a""#), None, true),
            ("a", None, Some(r#""b""#), false),
            ("a", Some(r#""a b""#), Some(r#""c a""#), false),
            ("a", Some(r#""a""#), Some(r#""a a""#), true),
            ("aa", Some(r#""aaa""#), Some(r#""aa""#), false),
            ("aa", Some(r#""aaa""#), Some(r#""aaaa""#), true),
            ("é", Some(r#""\u00e9""#), Some(r#""é""#), false),
            ("\\u", Some(r#""\u00e9""#), Some(r#""é""#), false),
            ("\\ud800", None, Some(r#""\ud800""#), true),
            ("1", Some("[1]"), Some("[1, 1.0]"), true),
            ("\"k\"", Some(r#"{"k":1}"#), Some("1"), true),
            ("\"", Some(r#""a""#), Some(r#""b""#), false),
        ] {
            assert_eq!(occurrences(text, old, new), expected, "{text}: {old:?} to {new:?}");
        }
    }

    fn line(regex: &str, old: &str, new: &str) -> bool {
        let [old, new] = [old, new].map(Content::from_text);
        TextChange::Line(Regex::new(regex).expect("a regex")).is_between(Some(&old), Some(&new))
    }

    #[test]
    fn a_line_matches_that_came_or_went_or_moved() {
        for (regex, old, new, expected) in [
            ("a", "a\n", "a\nb\n", false),
            ("b", "a\n", "a\nb\n", true),
            ("b", "a\nb\n", "a\n", true),
            ("a", "a", "a\n", true),
            ("^$", "a\n", "b\n", false),
            ("^a$", "a\n", "b\n", true),
            ("a", "a\nb\nc\n", "b\nc\na\n", true),
            ("b", "a\nb\nc\n", "b\nc\na\n", false),
            ("x", "a\n", "b\n", false),
            ("", "", "", false),
        ] {
            assert_eq!(line(regex, old, new), expected, "{regex}: {old:?} to {new:?}");
        }
    }

    proptest! {
        #[test]
        fn lines_are_those_of_the_edits(old in "[abc\n]{0,24}", new in "[abc\n]{0,24}", at in 0..4usize) {
            let made = line_edits(&lines(&old), &lines(&new), None).edits;
            let of = |text, range: std::ops::Range<usize>| lines(text)[range].concat();
            let touched = made.into_iter().flat_map(|edit| [of(&old, edit.old), of(&new, edit.new)]);
            let touched: Vec<_> = touched.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect();
            let text = ["a", "a[bc]", "^$", "^b?$"][at];
            let regex = Regex::new(text).expect("a regex");
            let expected = touched.iter().any(|line| regex.is_match(line));
            prop_assert_eq!(line(text, &old, &new), expected);
        }
    }
}
