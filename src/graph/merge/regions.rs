//! Three sequences, of which two were made of one: which parts of the base which side changed.

use crate::graph::compare::{Edit, edits};
use std::hash::Hash;
use std::ops::Range;

/// Who changed a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    Ours,
    Theirs,
    /// Both, and both have the same there.
    Alike,
    /// Both, and they differ.
    Clash,
}

/// A part of the base that was changed, and what each side has in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Region {
    pub(super) by: By,
    pub(super) base: Range<usize>,
    pub(super) ours: Range<usize>,
    pub(super) theirs: Range<usize>,
}

/// The regions that two sides changed, in order. What is in none is the same on all three.
///
/// Changes that overlap or touch are in one region: two regions have an item of the base between them that nobody changed.
/// A change that may have several places gets the last of them, and `None` says that with the first of them something else
/// would come of it, and no clash.
pub(super) fn regions<T: Eq + Hash>(base: &[T], ours: &[T], theirs: &[T]) -> Option<Vec<Region>> {
    let sides = [base, ours, theirs].map(|side| side.iter().collect::<Vec<_>>());
    let found = side_by_side(&sides);
    let is_by_both =
        found.iter().any(|region| region.by != By::Ours) && found.iter().any(|region| region.by != By::Theirs);
    if is_by_both {
        let mirrored = sides.clone().map(|side| side.into_iter().rev().collect());
        if let Some(mut other) = result(&mirrored, &side_by_side(&mirrored)) {
            other.reverse();
            if result(&sides, &found) != Some(other) {
                return None;
            }
        }
    }
    Some(found)
}

/// What the regions come to without a clash.
fn result<'t, T>([base, ours, theirs]: &[Vec<&'t T>; 3], regions: &[Region]) -> Option<Vec<&'t T>> {
    let mut items = Vec::new();
    let mut at = 0;
    for region in regions {
        items.extend_from_slice(&base[at..region.base.start]);
        items.extend_from_slice(match region.by {
            By::Ours | By::Alike => &ours[region.ours.clone()],
            By::Theirs => &theirs[region.theirs.clone()],
            By::Clash => return None,
        });
        at = region.base.end;
    }
    items.extend_from_slice(&base[at..]);
    Some(items)
}

fn side_by_side<T: Eq + Hash>([base, ours, theirs]: &[Vec<T>; 3]) -> Vec<Region> {
    let [our_edits, their_edits] = [ours, theirs].map(|side| edits(base, side, None).edits);
    let (mut our_cursor, mut their_cursor) = (Cursor::of(&our_edits), Cursor::of(&their_edits));
    let mut regions = Vec::new();
    while let Some(start) = our_cursor.next().into_iter().chain(their_cursor.next()).min() {
        let (our_start, their_start) = (our_cursor.place(start), their_cursor.place(start));
        let (mut end, mut by_us, mut by_them) = (start, false, false);
        loop {
            let passed = (our_cursor.pass(&mut end), their_cursor.pass(&mut end));
            (by_us, by_them) = (by_us || passed.0, by_them || passed.1);
            if passed == (false, false) {
                break;
            }
        }
        let (our_place, their_place) = (our_start..our_cursor.place(end), their_start..their_cursor.place(end));
        let by = match (by_us, by_them) {
            (_, false) => By::Ours,
            (false, true) => By::Theirs,
            (true, true) if ours[our_place.clone()] == theirs[their_place.clone()] => By::Alike,
            (true, true) => By::Clash,
        };
        regions.push(Region { by, base: start..end, ours: our_place, theirs: their_place });
    }
    regions
}

/// A place in the base, on the way over the edits of a side.
struct Cursor<'a> {
    edits: &'a [Edit],
    /// The ends of what was passed last, in the base and on the side.
    passed: (usize, usize),
}

impl<'a> Cursor<'a> {
    fn of(edits: &'a [Edit]) -> Self {
        Self { edits, passed: (0, 0) }
    }

    /// Where the next edit begins in the base.
    fn next(&self) -> Option<usize> {
        self.edits.first().map(|edit| edit.old.start)
    }

    /// Passes the next edit if it begins no later than `end`, which moves to its end.
    fn pass(&mut self, end: &mut usize) -> bool {
        match self.edits.split_first() {
            Some((edit, rest)) if edit.old.start <= *end => {
                *end = edit.old.end.max(*end);
                (self.edits, self.passed) = (rest, (edit.old.end, edit.new.end));
                true
            }
            Some(_) | None => false,
        }
    }

    /// Where the side has a place of the base that is behind all that was passed, and before what was not.
    fn place(&self, base: usize) -> usize {
        base - self.passed.0 + self.passed.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who changed it, and where it is in the base and on the sides.
    type Told = (By, Range<usize>, Range<usize>, Range<usize>);

    fn found(base: &str, ours: &str, theirs: &str) -> Option<Vec<Told>> {
        let found = regions(base.as_bytes(), ours.as_bytes(), theirs.as_bytes())?;
        Some(found.into_iter().map(|region| (region.by, region.base, region.ours, region.theirs)).collect())
    }

    #[test]
    fn changes_that_touch_are_in_one_region() {
        for (base, ours, theirs, expected) in [
            ("abc", "abc", "abc", vec![]),
            ("abc", "Abc", "abC", vec![(By::Ours, 0..1, 0..1, 0..1), (By::Theirs, 2..3, 2..3, 2..3)]),
            ("abc", "Abc", "aBc", vec![(By::Clash, 0..2, 0..2, 0..2)]),
            ("abcd", "axbcd", "abCd", vec![(By::Ours, 1..1, 1..2, 1..1), (By::Theirs, 2..3, 3..4, 2..3)]),
            ("abcd", "axbcd", "aBcd", vec![(By::Clash, 1..2, 1..3, 1..2)]),
            ("abcd", "xabcd", "xabcD", vec![(By::Alike, 0..0, 0..1, 0..1), (By::Theirs, 3..4, 4..5, 4..5)]),
            ("abcde", "ABcdE", "aBCDe", vec![(By::Clash, 0..5, 0..5, 0..5)]),
            ("abcde", "cde", "abc", vec![(By::Ours, 0..2, 0..0, 0..2), (By::Theirs, 3..5, 1..3, 3..3)]),
        ] {
            assert_eq!(found(base, ours, theirs), Some(expected), "{base} {ours} {theirs}");
        }
    }

    #[test]
    fn where_two_places_of_a_change_come_to_different_sequences_there_is_no_answer() {
        assert_eq!(found("abcabc", "abcabcabc", "aBcabc"), None);
        assert_eq!(found("abcabc", "abcabcabc", "abcaBc"), None);
        assert_eq!(found("abcabc", "abcabcabc", "abcabc").map(|found| found.len()), Some(1));
        assert_eq!(found("xaay", "xaaay", "Xaay").map(|found| found.len()), Some(2));
    }
}
