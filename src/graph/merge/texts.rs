//! Three texts, merged by line.

use super::regions::{By, regions};
use crate::graph::compare::lines;

/// The text `base` with the changes of both sides; `None` where they conflict.
///
/// Changes conflict where they overlap or touch without an unchanged line between them, unless both sides have the same
/// lines there. So does git. An edit that may have several places gets the last of them, as git gives it when it merges;
/// where the text would be another with the first of them, that is a conflict. A last line without a line feed is another
/// line than one with it.
pub fn merge_texts(base: &str, ours: &str, theirs: &str) -> Option<String> {
    let [base, ours, theirs] = [base, ours, theirs].map(lines);
    let mut merged = String::new();
    let mut at = 0;
    for region in regions(&base, &ours, &theirs)? {
        merged.extend(base[at..region.base.start].iter().copied());
        merged.extend(match region.by {
            By::Ours | By::Alike => ours[region.ours].iter().copied(),
            By::Theirs => theirs[region.theirs].iter().copied(),
            By::Clash => return None,
        });
        at = region.base.end;
    }
    merged.extend(base[at..].iter().copied());
    Some(merged)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_of_both_sides_go_together_where_they_do_not_touch() {
        for (base, ours, theirs, expected) in [
            ("a b c", "A b c", "a b C", Some("A b C")),
            ("a b c", "A b c", "a B c", None),
            ("a b c", "A b c", "a x b c", None),
            ("a b c", "A b c", "a b x c", Some("A b x c")),
            ("a b c", "a c", "a b c d", Some("a c d")),
            ("a b c", "b c", "a b", Some("b")),
            ("a b c", "b c", "a c", None),
            ("a b c", "a x b c", "a x b c d", Some("a x b c d")),
            ("a b c", "a x b c", "a y b c", None),
            ("a b c", "x y c", "x y C", None),
            ("a b c d", "X b c d", "X b c D", Some("X b c D")),
            ("a b c", "a B", "a B", Some("a B")),
            ("", "x", "x", Some("x")),
            ("", "x", "y", None),
            ("a b c", "", "a b c d", None),
            ("a b c", "", "", Some("")),
        ] {
            let text = |words: &str| words.split_whitespace().map(|word| format!("{word}\n")).collect::<String>();
            assert_eq!(
                merge_texts(&text(base), &text(ours), &text(theirs)),
                expected.map(text),
                "{base} {ours} {theirs}"
            );
        }
    }

    #[test]
    fn a_last_line_without_a_line_feed_is_another_line() {
        for (base, ours, theirs, expected) in [
            ("a\nb\nc", "a\nb\nc\n", "A\nb\nc", Some("A\nb\nc\n")),
            ("a\nb\nc", "a\nb\nc\n", "a\nb\nc\nd", None),
            ("a\nb\nc\n", "a\nb\nc", "A\nb\nc\n", Some("A\nb\nc")),
            ("a\nb\nc\n", "a\nb\nc", "a\nB\nc\n", None),
            ("a\r\nb\nc\n", "a\nb\nc\n", "a\r\nb\nC\n", Some("a\nb\nC\n")),
        ] {
            assert_eq!(merge_texts(base, ours, theirs).as_deref(), expected, "{base:?} {ours:?} {theirs:?}");
        }
    }

    #[test]
    fn where_the_place_of_an_edit_decides_the_text_it_is_a_conflict() {
        let base = "a\nb\nc\na\nb\nc\n";
        let twice = "a\nb\nc\na\nb\nc\na\nb\nc\n";
        assert_eq!(merge_texts(base, twice, "a\nB\nc\na\nb\nc\n"), None);
        assert_eq!(merge_texts(base, twice, "a\nb\nc\na\nB\nc\n"), None);
        assert_eq!(merge_texts("x\na\na\ny\n", "x\na\na\na\ny\n", "X\na\na\ny\n").as_deref(), Some("X\na\na\na\ny\n"));
    }
}
