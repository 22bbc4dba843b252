//! Two lines: the words that differ.

use super::edits;
use similar::DiffableStr;
use std::ops::Range;
use std::time::Instant;

/// A longer line is not split into words.
const MAX_BYTES: usize = 64 << 10;

/// A line of more words is not searched for common ones.
const MAX_WORDS: usize = 8 << 10;

/// Of what is no white space, at least one part in so many is equal, or else all counts as changed.
const LEAST_EQUAL: usize = 5;

/// A part of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    /// Never empty.
    pub text: &'a str,
    /// Whether the other line has something else there.
    pub changed: bool,
}

/// The pieces of a line and of the one that took its place. Together those of a side are the side.
///
/// Words are those of Unicode. Of a very long line only what it shares at both ends counts as unchanged; where next to
/// nothing is equal all counts as changed.
pub fn words<'a>(old: &'a str, new: &'a str, until: Option<Instant>) -> (Vec<Piece<'a>>, Vec<Piece<'a>>) {
    let (old_changed, new_changed) = match (split(old), split(new)) {
        (Some(old), Some(new)) => changed_words(&old, &new, until),
        _ => {
            let (old, new) = between_common_ends(old, new);
            (vec![old], vec![new])
        }
    };
    let changed: usize = old_changed.iter().map(|range| weight(&old[range.clone()])).sum();
    let equal = weight(old) - changed;
    let total = weight(old).max(weight(new));
    if equal * LEAST_EQUAL < total {
        let whole = |line: &'a str| if line.is_empty() { vec![] } else { vec![Piece { text: line, changed: true }] };
        return (whole(old), whole(new));
    }
    (pieces(old, &old_changed), pieces(new, &new_changed))
}

/// How many bytes are no white space.
fn weight(text: &str) -> usize {
    text.split_whitespace().map(str::len).sum()
}

/// The words and what stands between them; `None` where that is too much.
fn split(line: &str) -> Option<Vec<&str>> {
    if line.len() > MAX_BYTES {
        return None;
    }
    let words = line.tokenize_unicode_words();
    (words.len() <= MAX_WORDS).then_some(words)
}

/// What differs of each side, in bytes.
fn changed_words(old: &[&str], new: &[&str], until: Option<Instant>) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    let (old_ends, new_ends) = (ends(old), ends(new));
    let edits = edits(old, new, until).edits;
    let ranges = |ends: &[usize], words: &Range<usize>| ends[words.start]..ends[words.end];
    edits.iter().map(|edit| (ranges(&old_ends, &edit.old), ranges(&new_ends, &edit.new))).unzip()
}

/// Where the words begin, and where the last ends.
fn ends(words: &[&str]) -> Vec<usize> {
    let mut at = 0;
    let mut ends = vec![0];
    ends.extend(words.iter().map(|word| {
        at += word.len();
        at
    }));
    ends
}

/// What stands between the common beginning and the common end.
fn between_common_ends(old: &str, new: &str) -> (Range<usize>, Range<usize>) {
    let same = |(old, new): &(char, char)| old == new;
    let prefix: usize = old.chars().zip(new.chars()).take_while(same).map(|(c, _)| c.len_utf8()).sum();
    let behind = old[prefix..].chars().rev().zip(new[prefix..].chars().rev());
    let suffix: usize = behind.take_while(same).map(|(c, _)| c.len_utf8()).sum();
    (prefix..old.len() - suffix, prefix..new.len() - suffix)
}

/// Cuts `line` at the ends of what changed.
fn pieces<'a>(line: &'a str, changed: &[Range<usize>]) -> Vec<Piece<'a>> {
    let mut pieces = Vec::new();
    let mut push = |range: Range<usize>, changed| {
        if !range.is_empty() {
            pieces.push(Piece { text: &line[range], changed });
        }
    };
    let mut at = 0;
    for range in changed.iter().filter(|range| !range.is_empty()) {
        push(at..range.start, false);
        push(range.clone(), true);
        at = range.end;
    }
    push(at..line.len(), false);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Both sides with their changed pieces in brackets.
    fn marked(old: &str, new: &str) -> (String, String) {
        let mark = |pieces: Vec<Piece<'_>>| -> String {
            let mark =
                |piece: Piece<'_>| if piece.changed { format!("[{}]", piece.text) } else { piece.text.to_owned() };
            pieces.into_iter().map(mark).collect()
        };
        let (old, new) = words(old, new, None);
        (mark(old), mark(new))
    }

    #[test]
    fn words_that_differ_are_picked_out() {
        for (old, new, old_marked, new_marked) in [
            ("", "", "", ""),
            ("", "a", "", "[a]"),
            ("a b", "a b", "a b", "a b"),
            ("likes red cars\n", "likes blue cars\n", "likes [red] cars\n", "likes [blue] cars\n"),
            ("a b c", "a c", "a [b ]c", "a c"),
            ("=®🕴", "=🕴", "=[®]🕴", "=🕴"),
            ("a\r\n", "a\n", "a[\r\n]", "a[\n]"),
            ("die Häuser sind grün", "die Bäume sind grün", "die [Häuser] sind grün", "die [Bäume] sind grün"),
            ("{\"a\": 1.5}", "{\"a\": 1.25}", "{\"a\": [1.5]}", "{\"a\": [1.25]}"),
            ("one two three", "four five six", "[one two three]", "[four five six]"),
            ("a bbbb", "a cccc", "a [bbbb]", "a [cccc]"),
            ("a bbbbb", "a ccccc", "[a bbbbb]", "[a ccccc]"),
        ] {
            assert_eq!(marked(old, new), (old_marked.to_owned(), new_marked.to_owned()), "{old:?} {new:?}");
        }
    }

    #[test]
    fn of_a_long_line_the_ends_are_compared() {
        for middle in ["é ".repeat(MAX_BYTES / 2), ".".repeat(MAX_WORDS + 1)] {
            let (old, new) = (format!("{middle}éa b{middle}"), format!("{middle}èa c{middle}"));
            assert_eq!(marked(&old, &new), (format!("{middle}[éa b]{middle}"), format!("{middle}[èa c]{middle}")));
        }
    }

    proptest! {
        #[test]
        fn pieces_are_the_line(old in "([ab\r\n é🇩🇪]|\\PC){0,12}", new in "([ab\r\n é🇩🇪]|\\PC){0,12}") {
            let joined = |pieces: &[Piece<'_>]| pieces.iter().map(|piece| piece.text).collect::<String>();
            let kept = |pieces: &[Piece<'_>]| pieces.iter().filter(|p| !p.changed).map(|p| p.text).collect::<String>();
            let (old_pieces, new_pieces) = words(&old, &new, None);
            prop_assert_eq!(joined(&old_pieces), old.as_str());
            prop_assert_eq!(joined(&new_pieces), new.as_str());
            prop_assert_eq!(kept(&old_pieces), kept(&new_pieces));
            for pieces in [&old_pieces, &new_pieces] {
                prop_assert!(pieces.iter().all(|piece| !piece.text.is_empty()));
                prop_assert!(pieces.windows(2).all(|pair| pair[0].changed != pair[1].changed));
            }
            if old == new {
                prop_assert!(old_pieces.iter().all(|piece| !piece.changed));
            }
        }

        #[test]
        fn common_ends_are_cut_between_characters(old in "[éèaß]{0,6}", new in "[éèaß]{0,6}") {
            let (a, b) = between_common_ends(&old, &new);
            prop_assert_eq!(&old[..a.start], &new[..b.start]);
            prop_assert_eq!(&old[a.end..], &new[b.end..]);
            let (old, new) = (&old[a], &new[b]);
            let apart = old.chars().next() != new.chars().next() && old.chars().last() != new.chars().last();
            prop_assert!(apart || old.is_empty() || new.is_empty());
        }
    }
}
