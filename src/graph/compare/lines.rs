//! Text by line, and edits with the lines around them.

use super::sequence::edits_placed;
use super::{Edit, Edits};
use std::cmp::Reverse;
use std::ops::Range;
use std::time::Instant;

/// The lines of `text`, each with its line feed, which the last may lack. A carriage return is part of its line.
pub fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Blank lines in a row count as no more than these.
const MAX_BLANK: usize = 20;

/// Makes the lines `new` of `old`, as [`edits`](super::edits) does. Of the places that an edit of one side may have, it gets
/// one between paragraphs and blocks: where the lines behind its two ends are least indented, and of those where the most
/// blank lines are at the ends, rather before than behind them.
pub fn line_edits(old: &[&str], new: &[&str], until: Option<Instant>) -> Edits {
    edits_placed(old, new, until, |lines, run| {
        let (start, end) = (Cut::at(lines, run.start), Cut::at(lines, run.end));
        let (before, behind) = (start.blank_before + end.blank_before, start.blank_behind + end.blank_behind);
        (start.indent + end.indent, Reverse(before + behind), Reverse(before))
    })
}

/// What is around a place between two lines.
struct Cut {
    /// White space that the next line begins with that is not blank.
    indent: usize,
    blank_before: usize,
    blank_behind: usize,
}

impl Cut {
    fn at(lines: &[&str], at: usize) -> Self {
        let is_blank = |line: &&&str| line.trim().is_empty();
        let (before, behind) = lines.split_at(at);
        let blank_before = before.iter().rev().take(MAX_BLANK).take_while(is_blank).count();
        let blank_behind = behind.iter().take(MAX_BLANK).take_while(is_blank).count();
        let indent = behind.get(blank_behind).map_or(0, |line| line.len() - line.trim_start().len());
        Self { indent, blank_before, blank_behind }
    }
}

/// Edits that are shown together, with what is equal between and around them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// What it covers of the old side.
    pub old: Range<usize>,
    /// What it covers of the new side.
    pub new: Range<usize>,
    /// The edits in it, in order; never empty.
    pub edits: Vec<Edit>,
}

/// Gathers edits into hunks with `context` equal items before and behind them, where the sides have as many.
///
/// Edits whose contexts touch or overlap come into one hunk.
pub fn hunks(edits: &[Edit], old_len: usize, new_len: usize, context: usize) -> Vec<Hunk> {
    let mut hunks: Vec<Hunk> = Vec::new();
    for edit in edits {
        match hunks.last_mut() {
            Some(hunk) if edit.old.start - hunk.old.end <= context.saturating_mul(2) => hunk.edits.push(edit.clone()),
            _ => hunks.push(Hunk { old: edit.old.clone(), new: edit.new.clone(), edits: vec![edit.clone()] }),
        }
        if let Some(hunk) = hunks.last_mut() {
            (hunk.old.end, hunk.new.end) = (edit.old.end, edit.new.end);
        }
    }
    for hunk in &mut hunks {
        let before = context.min(hunk.old.start).min(hunk.new.start);
        let behind = context.min(old_len - hunk.old.end).min(new_len - hunk.new.end);
        hunk.old = hunk.old.start - before..hunk.old.end + behind;
        hunk.new = hunk.new.start - before..hunk.new.end + behind;
    }
    hunks
}

#[cfg(test)]
mod tests {
    use super::super::{edits, equal_runs};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_line_ends_behind_its_line_feed() {
        for (text, expected) in [
            ("", &[][..]),
            ("a", &["a"]),
            ("a\n", &["a\n"]),
            ("a\nb", &["a\n", "b"]),
            ("a\r\n\n\rb\r", &["a\r\n", "\n", "\rb\r"]),
            ("\u{2028}\u{85}\u{b}\n", &["\u{2028}\u{85}\u{b}\n"]),
        ] {
            assert_eq!(lines(text), expected, "{text:?}");
        }
    }

    #[test]
    fn an_edit_of_lines_stands_between_paragraphs_and_blocks() {
        let placed = |old: &str, new: &str| -> Vec<_> {
            let found = line_edits(&lines(old), &lines(new), None);
            found.edits.into_iter().map(|edit| (edit.old, edit.new)).collect()
        };
        // A paragraph goes with the blank line behind it.
        assert_eq!(placed("a\n\nc\n", "a\n\nb\n\nc\n"), [(2..2, 2..4)]);
        assert_eq!(placed("a\n\nb\n\nc\n", "a\n\nc\n"), [(2..4, 2..2)]);
        // More blank lines are a better place than fewer.
        assert_eq!(placed("x\n\n\nx\n\ny\n", "x\n\n\nx\n\n\nx\n\ny\n"), [(3..3, 3..6)]);
        // A block begins with the line that is least indented.
        assert_eq!(placed("- a\n  x\n- c\n  x\n", "- a\n  x\n- b\n  x\n- c\n  x\n"), [(2..2, 2..4)]);
        assert_eq!(placed("f\n  x\nend\n", "f\n  x\nend\nf\n  x\nend\n"), [(3..3, 3..6)]);
        assert_eq!(placed("\tx\n\n\tx\n", "\tx\n\n\tx\n\n\tx\n"), [(3..3, 3..5)]);
        // With nothing to choose by, or beside another edit, as for any sequence.
        assert_eq!(placed("x\na\na\ny\n", "x\na\na\na\ny\n"), [(3..3, 3..4)]);
        assert_eq!(placed("a\n\n\nz\n", "a\nx\n\nz\n"), [(1..2, 1..2)]);
    }

    #[test]
    fn edits_whose_contexts_touch_come_into_one_hunk() {
        let edits =
            [Edit { old: 5..6, new: 5..5 }, Edit { old: 10..10, new: 9..11 }, Edit { old: 17..18, new: 18..19 }];
        let found = |context| -> Vec<_> {
            hunks(&edits, 20, 21, context).into_iter().map(|hunk| (hunk.old, hunk.new, hunk.edits.len())).collect()
        };
        assert_eq!(found(0), [(5..6, 5..5, 1), (10..10, 9..11, 1), (17..18, 18..19, 1)]);
        assert_eq!(found(1), [(4..7, 4..6, 1), (9..11, 8..12, 1), (16..19, 17..20, 1)]);
        assert_eq!(found(2), [(3..12, 3..13, 2), (15..20, 16..21, 1)]);
        assert_eq!(found(3), [(2..13, 2..14, 2), (14..20, 15..21, 1)]);
        assert_eq!(found(4), [(1..20, 1..21, 3)]);
        assert_eq!(found(usize::MAX), [(0..20, 0..21, 3)]);
        assert!(hunks(&[], 3, 3, 3).is_empty());
    }

    proptest! {
        #[test]
        fn edits_of_lines_keep_as_many_as_others(old in "[ab \n]{0,40}", new in "[ab \n]{0,40}") {
            let (old, new) = (lines(&old), lines(&new));
            let kept = |edits: Edits| edits.edits.iter().map(|edit| edit.old.len() + edit.new.len()).sum::<usize>();
            let found = line_edits(&old, &new, None);
            for (at, run) in equal_runs(&found.edits, new.len()) {
                prop_assert_eq!(&old[at..at + run.len()], &new[run]);
            }
            prop_assert_eq!(kept(found), kept(edits(&old, &new, None)));
        }

        #[test]
        fn hunks_hold_every_edit_and_do_not_meet(
            old in "[ab\n]{0,30}", new in "[ab\n]{0,30}", context in prop_oneof![0..5usize, Just(usize::MAX)],
        ) {
            let (old, new) = (lines(&old), lines(&new));
            let edits = edits(&old, &new, None).edits;
            let hunks = hunks(&edits, old.len(), new.len(), context);
            let held: Vec<_> = hunks.iter().flat_map(|hunk| hunk.edits.clone()).collect();
            prop_assert_eq!(held, edits);
            let (mut old_at, mut new_at) = (0, 0);
            for (nth, hunk) in hunks.iter().enumerate() {
                prop_assert!(nth == 0 || hunk.old.start > old_at);
                prop_assert_eq!(&old[old_at..hunk.old.start], &new[new_at..hunk.new.start]);
                let (first, last) = (&hunk.edits[0], &hunk.edits[hunk.edits.len() - 1]);
                prop_assert_eq!(first.old.start - hunk.old.start, context.min(first.old.start));
                prop_assert_eq!(hunk.old.end - last.old.end, context.min(old.len() - last.old.end));
                prop_assert_eq!(&old[hunk.old.start..first.old.start], &new[hunk.new.start..first.new.start]);
                prop_assert_eq!(&old[last.old.end..hunk.old.end], &new[last.new.end..hunk.new.end]);
                (old_at, new_at) = (hunk.old.end, hunk.new.end);
            }
            prop_assert_eq!(&old[old_at..], &new[new_at..]);
        }
    }
}
