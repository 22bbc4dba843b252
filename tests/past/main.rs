//! What is told of the past, in random histories of which every edit is remembered line by line and leaf by leaf.

mod body;
mod claims;
mod place;
mod script;
mod tree;

use claims::{Parts, hold};
use place::Place;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use script::{Shape, script};

/// How many histories each test plays, unless `MNEM_PAST_CASES` says otherwise.
const CASES: u32 = 1;
const COMMITS: usize = 200;

#[expect(clippy::disallowed_methods, reason = "tests ask for themselves")]
fn config() -> ProptestConfig {
    let cases = std::env::var("MNEM_PAST_CASES").map_or(CASES, |text| text.parse().expect("a count"));
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(1_764_576_000),
        failure_persistence: None,
        max_shrink_iters: 20,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_line_of_commits_is_told_as_it_was_made(seeds in vec(any::<u64>(), COMMITS)) {
        let commits = script(&seeds, Shape { merges: false, repeats: false });
        hold(&Place::by_verbs(&commits), &commits, Parts::Known)?;
    }

    #[test]
    fn a_history_with_merges_is_told_as_it_was_made(seeds in vec(any::<u64>(), COMMITS)) {
        let commits = script(&seeds, Shape { merges: true, repeats: false });
        hold(&Place::by_tables(&commits), &commits, Parts::Known)?;
    }

    #[test]
    fn who_is_blamed_for_what_occurs_often_has_it_too(seeds in vec(any::<u64>(), COMMITS)) {
        let commits = script(&seeds, Shape { merges: true, repeats: true });
        hold(&Place::by_tables(&commits), &commits, Parts::Somewhere)?;
    }
}
