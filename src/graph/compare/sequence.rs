//! Two sequences: the runs that differ.

use similar::algorithms::{DiffHook, lcs, myers};
use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::hash::Hash;
use std::ops::Range;
use std::time::Instant;

/// A search by table has at most so many cells, 4 bytes each.
const MAX_TABLE: usize = 1 << 20;

/// A run that differs. What stands between two edits is equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What the old side has there.
    pub old: Range<usize>,
    /// What the new side has there.
    pub new: Range<usize>,
}

impl Edit {
    /// Both sides one to one from the front; what is left over of one has no other.
    pub fn pairs(&self) -> impl Iterator<Item = (Option<usize>, Option<usize>)> {
        let (mut old, mut new) = (self.old.clone(), self.new.clone());
        std::iter::from_fn(move || match (old.next(), new.next()) {
            (None, None) => None,
            pair => Some(pair),
        })
    }
}

/// What [`edits`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edits {
    /// In order; two of them never touch.
    pub edits: Vec<Edit>,
    /// Whether the search gave up somewhere: an edit has equal items on both sides.
    pub simplified: bool,
}

/// Makes `new` of `old`. Of the places that an edit may have, it gets the one beside another edit, or else the last.
///
/// After `until`, and after much work with very different sides, the search gives up and the edits are coarser. Without
/// `until` the answer depends on nothing but the sides.
pub fn edits<T: Eq + Hash>(old: &[T], new: &[T], until: Option<Instant>) -> Edits {
    edits_placed(old, new, until, |_, _| ())
}

/// As [`edits`], but an edit of one side that is beside no other gets the place with the least `rank`, of those the last.
///
/// The rank is that of a run of items of one side.
pub(super) fn edits_placed<T: Eq + Hash, R: Ord>(
    old: &[T],
    new: &[T],
    until: Option<Instant>,
    rank: impl Fn(&[T], Range<usize>) -> R,
) -> Edits {
    let mut changed = search(old, new, until, MAX_TABLE);
    let simplified = changed.edits().iter().any(|edit| {
        let there: HashSet<&T> = old[edit.old.clone()].iter().collect();
        new[edit.new.clone()].iter().any(|item| there.contains(item))
    });
    slide(old, &mut changed.old, &changed.new, &rank);
    slide(new, &mut changed.new, &changed.old, &rank);
    Edits { edits: changed.edits(), simplified }
}

/// Finds items that are equal, in order; as many as there can be unless the search gives up.
///
/// A table, of at most `table` cells, of all pairs agrees best with git on which of many equal items are matched; next to
/// it comes the search from the new side to the old.
fn search<T: Eq + Hash>(old: &[T], new: &[T], until: Option<Instant>, table: usize) -> Changed {
    let prefix = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let behind = old[prefix..].iter().rev().zip(new[prefix..].iter().rev());
    let suffix = behind.take_while(|(old, new)| old == new).count();
    let (old_middle, new_middle) = (prefix..old.len() - suffix, prefix..new.len() - suffix);
    let mut changed = Changed::between(old.len(), &old_middle, new.len(), &new_middle);
    let shared = Shared::of(old, old_middle, new, new_middle);
    let (old_range, new_range) = (0..shared.old.len(), 0..shared.new.len());
    let mut matches = Matches { shared: &shared, changed: &mut changed };
    let Ok(()) = if old_range.len().saturating_mul(new_range.len()) <= table {
        lcs::diff_deadline(&mut matches, &shared.old, old_range, &shared.new, new_range, until)
    } else {
        myers::diff_deadline(&mut Swapped(matches), &shared.new, new_range, &shared.old, old_range, until)
    };
    changed
}

/// What stands between `edits`: runs of the new side, each with where the old side has the same.
pub fn equal_runs(edits: &[Edit], new_len: usize) -> impl Iterator<Item = (usize, Range<usize>)> {
    let starts = std::iter::once((0, 0)).chain(edits.iter().map(|edit| (edit.old.end, edit.new.end)));
    let ends = edits.iter().map(|edit| edit.new.start).chain([new_len]);
    starts.zip(ends).map(|((old, new), end)| (old, new..end)).filter(|(_, new)| !new.is_empty())
}

/// The items that both sides have, as numbers, and their places. An item of one side alone can't be matched.
struct Shared {
    old: Vec<u32>,
    old_places: Vec<usize>,
    new: Vec<u32>,
    new_places: Vec<usize>,
}

impl Shared {
    fn of<T: Eq + Hash>(old: &[T], old_range: Range<usize>, new: &[T], new_range: Range<usize>) -> Self {
        let in_new: HashSet<&T> = new[new_range.clone()].iter().collect();
        let mut numbers: HashMap<&T, u32> = HashMap::new();
        let mut shared = Self { old: Vec::new(), old_places: Vec::new(), new: Vec::new(), new_places: Vec::new() };
        for place in old_range {
            if in_new.contains(&old[place]) {
                let next = u32::try_from(numbers.len()).expect("no content has so many parts");
                shared.old.push(*numbers.entry(&old[place]).or_insert(next));
                shared.old_places.push(place);
            }
        }
        for place in new_range {
            if let Some(&number) = numbers.get(&new[place]) {
                shared.new.push(number);
                shared.new_places.push(place);
            }
        }
        shared
    }
}

/// Which items of each side are part of an edit. Those that are not are equal, one by one.
struct Changed {
    old: Vec<bool>,
    new: Vec<bool>,
}

impl Changed {
    fn between(old_len: usize, old_middle: &Range<usize>, new_len: usize, new_middle: &Range<usize>) -> Self {
        let mut changed = Self { old: vec![false; old_len], new: vec![false; new_len] };
        changed.old[old_middle.clone()].fill(true);
        changed.new[new_middle.clone()].fill(true);
        changed
    }

    fn edits(&self) -> Vec<Edit> {
        let end = |side: &[bool], start: usize| start + side[start..].iter().take_while(|changed| **changed).count();
        let (mut edits, mut old_at, mut new_at) = (Vec::new(), 0, 0);
        loop {
            let (old_end, new_end) = (end(&self.old, old_at), end(&self.new, new_at));
            if old_at < old_end || new_at < new_end {
                edits.push(Edit { old: old_at..old_end, new: new_at..new_end });
            }
            if old_end == self.old.len() {
                return edits;
            }
            (old_at, new_at) = (old_end + 1, new_end + 1);
        }
    }
}

/// Marks what the search matches.
struct Matches<'a> {
    shared: &'a Shared,
    changed: &'a mut Changed,
}

impl DiffHook for Matches<'_> {
    type Error = Infallible;

    fn equal(&mut self, old: usize, new: usize, len: usize) -> Result<(), Infallible> {
        self.shared.old_places[old..old + len].iter().for_each(|&place| self.changed.old[place] = false);
        self.shared.new_places[new..new + len].iter().for_each(|&place| self.changed.new[place] = false);
        Ok(())
    }
}

/// Marks what a search from the new side to the old matches.
struct Swapped<'a>(Matches<'a>);

impl DiffHook for Swapped<'_> {
    type Error = Infallible;

    fn equal(&mut self, new: usize, old: usize, len: usize) -> Result<(), Infallible> {
        self.0.equal(old, new, len)
    }
}

/// Moves each run of changed items of one side over the equal items around it, as far as what is equal stays so: to the
/// last place where the other side has changed items too, or else to the one with the least `rank`, of those the last.
/// Runs that meet become one.
fn slide<T: Eq, R: Ord>(items: &[T], changed: &mut [bool], other: &[bool], rank: &impl Fn(&[T], Range<usize>) -> R) {
    // Between the equal items, from before the first to behind the last: whether the other side has changed ones there.
    let mut beside = vec![false];
    for &changed in other {
        match beside.last_mut() {
            Some(last) if changed => *last = true,
            _ => beside.push(false),
        }
    }
    let (mut start, mut gap) = (0, 0);
    while start < items.len() {
        if !changed[start] {
            (start, gap) = (start + 1, gap + 1);
            continue;
        }
        let mut run = Run { items, changed, start, end: start, gap };
        run.grow();
        let place = loop {
            let size = run.end - run.start;
            while run.up() {}
            let mut place = beside[run.gap].then_some(run.gap);
            while run.down() {
                if beside[run.gap] {
                    place = Some(run.gap);
                }
            }
            if run.end - run.start == size {
                break place;
            }
        };
        let place = place.unwrap_or_else(|| {
            let mut best = (rank(items, run.start..run.end), run.gap);
            while run.up() {
                let here = rank(items, run.start..run.end);
                if here < best.0 {
                    best = (here, run.gap);
                }
            }
            best.1
        });
        while place < run.gap && run.up() {}
        while place > run.gap && run.down() {}
        (start, gap) = (run.end, run.gap);
    }
}

/// A run of changed items with none beside it, and how many equal ones come before it.
struct Run<'a, T> {
    items: &'a [T],
    changed: &'a mut [bool],
    start: usize,
    end: usize,
    gap: usize,
}

impl<T: Eq> Run<'_, T> {
    /// Takes in the changed items that it touches.
    fn grow(&mut self) {
        while self.start > 0 && self.changed[self.start - 1] {
            self.start -= 1;
        }
        while self.end < self.items.len() && self.changed[self.end] {
            self.end += 1;
        }
    }

    /// Moves towards the front by one, if it may.
    fn up(&mut self) -> bool {
        if self.start == 0 || self.items[self.start - 1] != self.items[self.end - 1] {
            return false;
        }
        (self.start, self.end, self.gap) = (self.start - 1, self.end - 1, self.gap - 1);
        (self.changed[self.start], self.changed[self.end]) = (true, false);
        self.grow();
        true
    }

    /// Moves towards the end by one, if it may.
    fn down(&mut self) -> bool {
        if self.end == self.items.len() || self.items[self.start] != self.items[self.end] {
            return false;
        }
        (self.changed[self.start], self.changed[self.end]) = (false, true);
        (self.start, self.end, self.gap) = (self.start + 1, self.end + 1, self.gap + 1);
        self.grow();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::time::Duration;

    fn pairs(old: &str, new: &str) -> Vec<(Range<usize>, Range<usize>)> {
        let found = edits(old.as_bytes(), new.as_bytes(), None);
        assert!(!found.simplified);
        found.edits.into_iter().map(|edit| (edit.old, edit.new)).collect()
    }

    /// The length of a longest common sequence.
    fn common(old: &[u8], new: &[u8]) -> usize {
        let mut row = vec![0; new.len() + 1];
        for item in old {
            let mut corner = 0;
            for (at, other) in new.iter().enumerate() {
                let above = row[at + 1];
                row[at + 1] = if item == other { corner + 1 } else { above.max(row[at]) };
                corner = above;
            }
        }
        row[new.len()]
    }

    fn applied<T: Clone>(old: &[T], new: &[T], edits: &[Edit]) -> Vec<T> {
        let (mut made, mut at) = (Vec::new(), 0);
        for edit in edits {
            made.extend_from_slice(&old[at..edit.old.start]);
            made.extend_from_slice(&new[edit.new.clone()]);
            at = edit.old.end;
        }
        made.extend_from_slice(&old[at..]);
        made
    }

    #[test]
    fn an_edit_stands_at_the_last_of_its_places() {
        assert_eq!(pairs("", ""), []);
        assert_eq!(pairs("", "ab"), [(0..0, 0..2)]);
        assert_eq!(pairs("ab", ""), [(0..2, 0..0)]);
        assert_eq!(pairs("abc", "axc"), [(1..2, 1..2)]);
        assert_eq!(pairs("xaaay", "xaaaay"), [(4..4, 4..5)]);
        assert_eq!(pairs("xaaaay", "xaaay"), [(4..5, 4..4)]);
        assert_eq!(pairs("1{2}", "1{2}{3}"), [(4..4, 4..7)]);
        assert_eq!(pairs("xbca", "ybcaa"), [(0..1, 0..1), (4..4, 4..5)]);
    }

    #[test]
    fn an_edit_goes_where_the_other_side_has_one() {
        assert_eq!(pairs("abbz", "axbz"), [(1..2, 1..2)]);
        assert_eq!(pairs("axbz", "abbz"), [(1..2, 1..2)]);
    }

    #[test]
    fn runs_that_meet_become_one() {
        let mut changed = [true, false, true, false, false];
        slide(b"aaabc", &mut changed, &[false; 3], &|_, _| ());
        assert_eq!(changed, [false, true, true, false, false]);
    }

    #[test]
    fn a_search_that_must_stop_says_so() {
        #[allow(clippy::disallowed_methods, reason = "any moment that has passed")]
        let passed = Instant::now().checked_sub(Duration::from_secs(1)).expect("a moment ago");
        for size in [100, 2000] {
            let old: Vec<u32> = (0..size).map(|n| n * n % 61).collect();
            let new: Vec<u32> = (0..size).map(|n| n * 7 % 61).collect();
            let found = edits(&old, &new, Some(passed));
            assert!(found.simplified);
            assert_eq!(applied(&old, &new, &found.edits), new);
            let apart = edits(&old, &[100; 2000], Some(passed));
            assert_eq!((apart.edits.len(), apart.simplified), (1, false));
        }
    }

    #[test]
    fn sides_without_a_common_item_are_one_edit() {
        let (old, new): (Vec<u32>, Vec<u32>) = ((0..300_000).collect(), (300_000..600_000).collect());
        assert_eq!(edits(&old, &new, None).edits, [Edit { old: 0..300_000, new: 0..300_000 }]);
    }

    proptest! {
        #[test]
        fn edits_make_the_new_side_and_keep_the_most(old in vec(0..5u8, 0..40), new in vec(2..8u8, 0..40)) {
            let found = edits(&old, &new, None);
            prop_assert!(!found.simplified);
            prop_assert_eq!(applied(&old, &new, &found.edits), new.clone());
            let kept: Vec<_> = equal_runs(&found.edits, new.len()).flat_map(|(at, run)| (at..).zip(run)).collect();
            for &(old_at, new_at) in &kept {
                prop_assert_eq!(old[old_at], new[new_at]);
            }
            let dropped: usize = found.edits.iter().map(|edit| edit.old.len()).sum();
            prop_assert_eq!(old.len() - dropped, common(&old, &new));
            prop_assert_eq!(old.len() - dropped, kept.len());
            for pair in found.edits.windows(2) {
                prop_assert!(pair[0].old.end < pair[1].old.start && pair[0].new.end < pair[1].new.start);
            }
            for edit in &found.edits {
                prop_assert!(!edit.old.is_empty() || !edit.new.is_empty());
            }
            let back: usize = edits(&new, &old, None).edits.iter().map(|edit| edit.new.len()).sum();
            prop_assert_eq!(dropped, back);
        }

        #[test]
        fn both_searches_match_the_most(old in vec(0..6u8, 0..60), new in vec(0..6u8, 0..60)) {
            for table in [0, MAX_TABLE] {
                let changed = search(&old, &new, None, table);
                let kept = |side: &[u8], changed: &[bool]| -> Vec<u8> {
                    side.iter().zip(changed).filter(|(_, changed)| !**changed).map(|(item, _)| *item).collect()
                };
                let kept = [kept(&old, &changed.old), kept(&new, &changed.new)];
                prop_assert_eq!(&kept[0], &kept[1]);
                prop_assert_eq!(kept[0].len(), common(&old, &new));
            }
        }

        #[test]
        fn a_side_has_no_edits_against_itself(items in vec(0..3u8, 0..40)) {
            prop_assert_eq!(edits(&items, &items, None), Edits { edits: vec![], simplified: false });
        }

        #[test]
        fn an_edit_of_one_side_has_no_later_place(old in vec(0..3u8, 0..20), at in 0..20usize, run in vec(0..3u8, 1..4)) {
            let mut new = old.clone();
            let at = at.min(old.len());
            new.splice(at..at, run);
            if let [edit] = &edits(&old, &new, None).edits[..] {
                prop_assert!(edit.old.is_empty());
                prop_assert!(edit.new.end == new.len() || new[edit.new.start] != new[edit.new.end]);
            }
        }
    }
}
