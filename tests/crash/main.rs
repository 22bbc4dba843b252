//! Crashes and faults of the disk, simulated in the process: nothing acknowledged is lost.

mod controls;
mod disk;
mod faults;
mod image;
mod oracle;
mod sweep;
mod tables;
mod workload;

use image::Random;
use oracle::Oracle;
use std::io::Write;
use workload::{
    History, SETTLES, SOFT_RESET, State, execute, folded_by_a_batch, folded_by_a_commit, folded_by_a_put_and_commit,
    large, moves, observe, small,
};

/// How many images are judged, unless `MNEM_CRASH_IMAGES` says otherwise.
const IMAGES: usize = 10_000;

/// Tells a count, so that it can be quoted; not captured as the output of a passing test is.
fn tell(line: &str) {
    writeln!(std::io::stderr(), "{line}").expect("a standard error");
}

#[expect(clippy::disallowed_methods, reason = "how long a test may take is for whoever runs it to say")]
fn wanted() -> usize {
    std::env::var("MNEM_CRASH_IMAGES").map_or(IMAGES, |number| number.parse().expect("MNEM_CRASH_IMAGES is a number"))
}

#[test]
fn without_a_crash_every_command_comes_to_what_it_must() {
    for commands in [small(), moves(), large(), folded_by_a_commit(), folded_by_a_put_and_commit(), folded_by_a_batch()]
    {
        let disk = disk::SimulatedDisk::new(workload::new_store());
        let mut state = State::new();
        for command in commands {
            execute(&disk.store(), &state, &command).expect("no fault");
            state = state.after(&command);
            assert_eq!(observe(&disk.store()).expect("no fault"), state, "{command:?}");
            tables::verify(&tables::dump(disk.database()).expect("readable")).expect("sound");
        }
    }
}

#[test]
fn the_workloads_fold_a_log_and_let_the_database_grow() {
    let folds = |history: &History| {
        history.events.iter().filter(|event| matches!(event, disk::Event::Name { before: Some(_), .. })).count()
    };
    for commands in [folded_by_a_commit(), folded_by_a_put_and_commit(), folded_by_a_batch()] {
        assert_eq!(folds(&History::record(&commands, execute)), 1);
    }
    let history = History::record(&large(), execute);
    let grows = history.events.iter().filter(|event| matches!(event, disk::Event::Length { file: disk::DATABASE, .. }));
    assert_eq!((folds(&history), grows.count() > 0), (1, true));
}

#[test]
fn whatever_a_crash_leaves_is_the_state_before_or_after() {
    let mut oracle = Oracle::default();
    let mut random = Random::new(1);
    let record = |commands: Vec<_>| History::record(&commands, execute);
    let (small, moves, large) = (record(small()), record(moves()), record(large()));
    // Of what moves refs, that which writes to the log and in a transaction too; the rest is one transaction each.
    let of_moves = if wanted() > IMAGES { moves.all_moments() } else { moves.moments(SETTLES..=SETTLES + 1) };
    let soft = moves.moments(SOFT_RESET..=SOFT_RESET);
    for (history, moments) in
        [(&small, small.all_moments()), (&moves, of_moves), (&moves, soft), (&large, large.all_moments())]
    {
        sweep::systematic(history, moments.clone(), &mut oracle, &mut random);
        sweep::killed(history, moments, &mut oracle, &mut random);
    }
    let more = wanted().saturating_sub(oracle.images);
    let begun = oracle.images;
    sweep::drawn(&small, &mut oracle, &mut random, begun + more * 3 / 8);
    sweep::drawn(&moves, &mut oracle, &mut random, begun + more * 3 / 4);
    sweep::drawn(&large, &mut oracle, &mut random, wanted());
    tell(&format!(
        "{} crash images, {} of them from a crash in recovery and {} after a kill: {} wrong",
        oracle.images,
        oracle.second,
        oracle.killed,
        oracle.wrong.len()
    ));
    oracle.assert_right();
}
