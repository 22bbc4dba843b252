//! The search against tests whose answers are known.

use super::{Narrow, NarrowStep, Tried};
use std::collections::{BTreeMap, BTreeSet};

type Set = Vec<usize>;

/// Random numbers that are the same each time (xorshift64*, Vigna 2016).
struct Random(u64);

impl Random {
    fn of(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let high = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33;
        usize::try_from(high).expect("31 bits") % count
    }

    fn set(&mut self, size: usize, count: usize) -> BTreeSet<usize> {
        let mut set = BTreeSet::new();
        while set.len() < size {
            set.insert(self.below(count));
        }
        set
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.below(at + 1));
        }
    }
}

/// How a search went.
struct Played {
    end: NarrowStep,
    tries: BTreeMap<Set, Tried>,
    rounds: usize,
}

/// Plays a search to its end, so many tries at a time, whose results come in random order. No set may be tried twice, and
/// until the last result of a round is told nothing else is asked than before, but for what is known.
fn play(count: usize, at_once: usize, random: &mut Random, mut test: impl FnMut(&[usize]) -> Tried) -> Played {
    let mut search = Narrow::new(count);
    let (mut tries, mut rounds) = (BTreeMap::new(), 0);
    loop {
        let mut sets = match search.next(at_once) {
            NarrowStep::Try(sets) => sets,
            end @ (NarrowStep::Found(_) | NarrowStep::FailsWithout | NarrowStep::PassesWithAll(_)) => {
                return Played { end, tries, rounds };
            }
        };
        assert!((1..=at_once).contains(&sets.len()), "{} sets where {at_once} were asked for", sets.len());
        rounds += 1;
        random.shuffle(&mut sets);
        for set in sets {
            assert!(set.is_sorted_by(|one, next| one < next) && set.iter().all(|&change| change < count), "{set:?}");
            let tried = test(&set);
            search.tell(&set, tried);
            let least = tries.iter().chain([(&set, &tried)]).filter(|(_, tried)| **tried == Tried::Fails);
            let least = least.map(|(set, _)| set.len()).min();
            assert_eq!(search.smallest().map(<[usize]>::len), least);
            assert_eq!(tries.insert(set, tried), None, "tried twice");
        }
    }
}

fn fails_if(fails: bool) -> Tried {
    if fails { Tried::Fails } else { Tried::Passes }
}

fn has_all(set: &[usize], hidden: &BTreeSet<usize>) -> bool {
    hidden.iter().all(|change| set.binary_search(change).is_ok())
}

fn without(set: &[usize], at: usize) -> Set {
    [&set[..at], &set[at + 1..]].concat()
}

/// What was found is minimal, and that was tried.
fn assert_minimal(played: &Played, test: impl Fn(&[usize]) -> Tried) -> Set {
    let NarrowStep::Found(found) = &played.end else { panic!("{:?}", played.end) };
    assert_eq!((test(found), played.tries.get(found)), (Tried::Fails, Some(&Tried::Fails)), "{found:?}");
    for at in 0..found.len() {
        let less = without(found, at);
        assert_ne!(test(&less), Tried::Fails, "{less:?} of {found:?}");
        assert!(played.tries.contains_key(&less), "{less:?} of {found:?} was not tried");
    }
    found.clone()
}

#[test]
fn a_hidden_set_is_found_exactly_and_within_the_bounds() {
    // Changes, hidden ones, mean and most tries one at a time, mean and most rounds of four at a time.
    for (count, hidden, mean, most, mean_rounds, most_rounds) in [
        (40, 1, 10.2, 12, 4.7, 6),
        (40, 2, 18.5, 26, 7.8, 10),
        (40, 3, 24.8, 36, 10.4, 14),
        (200, 1, 13.8, 17, 6.4, 8),
        (200, 2, 25.6, 34, 10.5, 13),
        (200, 3, 35.2, 47, 14.2, 17),
    ] {
        let mut random = Random::of(count as u64 + hidden as u64);
        let (mut tries, mut rounds) = (Vec::new(), Vec::new());
        for _ in 0..300 {
            let hidden = random.set(hidden, count);
            let test = |set: &[usize]| fails_if(has_all(set, &hidden));
            let one = play(count, 1, &mut random, test);
            let four = play(count, 4, &mut random, test);
            for played in [&one, &four] {
                let found = assert_minimal(played, test);
                assert_eq!(BTreeSet::from_iter(found), hidden);
            }
            tries.push(one.tries.len());
            rounds.push(four.rounds);
        }
        let bound = 4.0 * hidden as f64 * (count as f64).log2() + 40.0;
        for (counts, mean, most) in [(&tries, mean, most), (&rounds, mean_rounds, most_rounds)] {
            let own_mean = counts.iter().sum::<usize>() as f64 / counts.len() as f64;
            let own_most = *counts.iter().max().expect("some");
            assert!(own_mean <= mean && own_most <= most, "{hidden} of {count}: mean {own_mean:.2}, most {own_most}");
            assert!(own_most as f64 <= bound);
        }
    }
}

/// A test that fails with all of one of some sets; where it is not monotone, sets pass or are unresolved all the same by chance.
fn random_test(seed: u64, count: usize, kind: u64) -> impl Fn(&[usize]) -> Tried {
    let mut random = Random::of(seed);
    let causes: Vec<_> = (0..1 + random.below(3))
        .map(|_| {
            let size = 1 + random.below(count.min(4));
            random.set(size, count)
        })
        .collect();
    move |set| {
        let bits = set.iter().fold(seed, |bits, &change| bits.wrapping_mul(31).wrapping_add(change as u64 + 1));
        let mut chance = Random::of(bits);
        chance.below(2);
        let is_end = set.is_empty() || set.len() == count;
        match (kind, if is_end { 9 } else { chance.below(10) }) {
            (1 | 3, 0..3) => Tried::Passes,
            (2 | 3, 3..6) => Tried::Unresolved,
            (4, 0..4) if !set.is_empty() => Tried::Fails,
            _ => fails_if(causes.iter().any(|cause| has_all(set, cause))),
        }
    }
}

#[test]
fn what_is_found_is_minimal_and_the_same_however_many_are_tried_at_a_time() {
    let mut seed = 0;
    for count in [1, 2, 3, 7, 12, 25] {
        // Monotone; passing by chance; unresolved by chance; both; failing by chance.
        for kind in 0..5 {
            for _ in 0..60 {
                seed += 1;
                let test = random_test(seed, count, kind);
                let mut random = Random::of(seed);
                let one = assert_minimal(&play(count, 1, &mut random, &test), &test);
                for at_once in [2, 4, 9] {
                    let more = assert_minimal(&play(count, at_once, &mut random, &test), &test);
                    assert_eq!(more, one, "seed {seed}, {at_once} at a time");
                }
            }
        }
    }
}

#[test]
fn nothing_is_tried_but_the_ends_until_both_are_known() {
    let mut search = Narrow::new(3);
    assert_eq!(search.next(0), NarrowStep::Try(vec![vec![]]));
    assert_eq!(search.next(4), NarrowStep::Try(vec![vec![], vec![0, 1, 2]]));
    search.tell(&[0, 1, 2], Tried::Fails);
    assert_eq!(search.next(4), NarrowStep::Try(vec![vec![]]));
    assert_eq!(search.smallest(), Some(&[0, 1, 2][..]));
    search.tell(&[], Tried::Unresolved);
    assert_eq!(search.next(0), NarrowStep::Try(vec![vec![0, 1]]));
    assert_eq!(search.next(1), search.next(0));
}

#[test]
fn ends_that_are_not_as_they_should_be_are_told() {
    for (count, without, with, expected) in [
        (5, Tried::Fails, Tried::Fails, NarrowStep::FailsWithout),
        (5, Tried::Fails, Tried::Passes, NarrowStep::FailsWithout),
        (5, Tried::Passes, Tried::Passes, NarrowStep::PassesWithAll(Tried::Passes)),
        (5, Tried::Passes, Tried::Unresolved, NarrowStep::PassesWithAll(Tried::Unresolved)),
        (5, Tried::Unresolved, Tried::Passes, NarrowStep::PassesWithAll(Tried::Passes)),
        (1, Tried::Passes, Tried::Fails, NarrowStep::Found(vec![0])),
        (1, Tried::Unresolved, Tried::Fails, NarrowStep::Found(vec![0])),
        (1, Tried::Fails, Tried::Fails, NarrowStep::FailsWithout),
        (1, Tried::Passes, Tried::Passes, NarrowStep::PassesWithAll(Tried::Passes)),
        (0, Tried::Fails, Tried::Fails, NarrowStep::FailsWithout),
        (0, Tried::Passes, Tried::Passes, NarrowStep::PassesWithAll(Tried::Passes)),
        (0, Tried::Unresolved, Tried::Unresolved, NarrowStep::PassesWithAll(Tried::Unresolved)),
    ] {
        for at_once in [1, 4] {
            let test = |set: &[usize]| if set.is_empty() { without } else { with };
            let played = play(count, at_once, &mut Random::of(1), test);
            assert_eq!(played.end, expected, "{count} {without:?} {with:?}");
            assert!(played.tries.len() <= 2, "{count} {without:?} {with:?}");
        }
    }
}

#[test]
fn what_was_told_beforehand_is_not_tried_and_stands() {
    let hidden = BTreeSet::from([1, 6]);
    let mut search = Narrow::new(8);
    search.tell(&[1, 2, 6], Tried::Fails);
    search.tell(&(0..8).collect::<Vec<_>>(), Tried::Fails);
    search.tell(&[], Tried::Passes);
    search.tell(&[], Tried::Fails);
    assert_eq!(search.smallest(), Some(&[1, 2, 6][..]), "told, though nobody asked for it");
    let mut tries = 0;
    let found = loop {
        match search.next(1) {
            NarrowStep::Try(sets) => {
                tries += sets.len();
                assert!(!sets.contains(&vec![1, 2, 6]));
                sets.iter().for_each(|set| search.tell(set, fails_if(has_all(set, &hidden))));
            }
            NarrowStep::Found(found) => break found,
            other @ (NarrowStep::FailsWithout | NarrowStep::PassesWithAll(_)) => panic!("{other:?}"),
        }
    };
    assert_eq!((found, search.smallest()), (vec![1, 6], Some(&[1, 6][..])));
    assert!(tries < 16, "{tries}");
}

#[test]
fn two_changes_that_fail_only_together_are_both_found() {
    let hidden = BTreeSet::from([0, 39]);
    let test = |set: &[usize]| fails_if(has_all(set, &hidden));
    let played = play(40, 1, &mut Random::of(1), test);
    assert_eq!(assert_minimal(&played, test), [0, 39]);
}

#[test]
fn all_changes_are_found_where_all_are_needed() {
    let test = |set: &[usize]| fails_if(set.len() == 16);
    let played = play(16, 1, &mut Random::of(1), test);
    assert_eq!(assert_minimal(&played, test), (0..16).collect::<Vec<_>>());
    assert!(played.tries.len() <= 2 + 2 * 16, "each piece once: {}", played.tries.len());
}

#[test]
fn unresolved_tries_do_not_hide_the_parts_of_a_set() {
    // Two changes of one piece go only together, as long as the piece is broken all is unresolved; the cause is elsewhere.
    let test = |set: &[usize]| {
        let (one, other) = (set.contains(&1), set.contains(&4));
        if one != other { Tried::Unresolved } else { fails_if(set.contains(&6)) }
    };
    for at_once in [1, 4] {
        let played = play(8, at_once, &mut Random::of(1), test);
        assert_eq!(assert_minimal(&played, test), [6]);
    }
}

#[test]
fn where_no_try_rules_out_another_it_still_goes_on_behind_what_was_left_out() {
    let mut random = Random::of(3);
    let mut tries = 0;
    for _ in 0..300 {
        let hidden = random.set(3, 40);
        let test = |set: &[usize]| if has_all(set, &hidden) { Tried::Fails } else { Tried::Unresolved };
        let played = play(40, 1, &mut random, test);
        assert_eq!(BTreeSet::from_iter(assert_minimal(&played, test)), hidden);
        tries += played.tries.len();
    }
    assert!(tries <= 300 * 53, "{tries}");
}

#[test]
fn a_set_of_changes_that_pass_only_with_others_is_minimal_all_the_same() {
    // Fails with an odd number of changes: no set says anything of its parts.
    for count in [1, 5, 17] {
        let test = |set: &[usize]| fails_if(set.len() % 2 == 1);
        for at_once in [1, 3] {
            assert_minimal(&play(count, at_once, &mut Random::of(1), test), test);
        }
    }
}
