//! Text by line, and edits with the lines around them.

use super::Edit;
use std::ops::Range;

/// The lines of `text`, each with its line feed, which the last may lack. A carriage return is part of its line.
pub fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
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
    use super::super::edits;
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
