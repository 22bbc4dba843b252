//! Crashes and faults of the disk, simulated in the process: nothing acknowledged is lost.

mod controls;
mod disk;
mod faults;
mod image;
mod oracle;
mod sweep;
mod tables;
mod workload;

use image::{Image, Moment, Random};
use oracle::Oracle;
use std::io::Write;
use workload::{
    History, REDACTS, SECRET, SETTLES, SOFT_RESET, State, execute, folded_by_a_batch, folded_by_a_commit,
    folded_by_a_put_and_commit, large, moves, observe, rewritten, small,
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
    let folded = [folded_by_a_commit(), folded_by_a_put_and_commit(), folded_by_a_batch()];
    let plain = [small(), moves(), large()].into_iter().chain(folded);
    for (commands, is_plain) in plain.map(|commands| (commands, true)).chain([(rewritten(), false)]) {
        let disk = disk::SimulatedDisk::new(workload::new_store());
        let mut state = State::new();
        for command in commands {
            execute(&disk.store(), &state, &command).expect("no fault");
            state = state.after(&command);
            assert_eq!(observe(&disk.store()).expect("no fault"), state, "{command:?}");
            oracle::sound(&disk, "then").expect("sound");
            if is_plain {
                tables::verify(&tables::dump(disk.database()).expect("readable")).expect("sound");
            }
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
fn whatever_a_crash_leaves_of_a_store_that_is_written_anew_is_the_state_before_or_after() {
    let mut oracle = Oracle::of_what_is_kept_up();
    let mut random = Random::new(2);
    let history = History::record(&rewritten(), execute);
    // Each step of a file that has no name that counts is as good as any other: some of them stand for all.
    sweep::sampled(&history, &mut oracle, &mut random, wanted() / 10);
    tell(&format!("{} crash images of stores that are written anew: {} wrong", oracle.images, oracle.wrong.len()));
    oracle.assert_right();
}

#[test]
fn once_a_redaction_is_acknowledged_no_crash_brings_back_what_was_redacted() {
    let history = History::record(&rewritten(), execute);
    let holds =
        |image: &Image| image.named_bytes().any(|bytes| memchr::memmem::find(bytes, SECRET.as_bytes()).is_some());
    let mut moment = Moment::new(history.start.clone());
    let (mut held, mut random) = (0, Random::new(3));
    for (at, event) in history.events.iter().enumerate() {
        if at >= history.acknowledged[REDACTS] {
            moment.each_crash(3, &mut random, &mut |image, how| assert!(!holds(&image), "after {at} events, {how}"));
        } else if at >= history.acknowledged[0] {
            held += usize::from(holds(moment.live()));
        }
        moment.advance(event);
    }
    assert!(held > 100, "it was there before");
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
        "{} crash images, {} of them checked as a whole, {} from a crash in recovery and {} after a kill: {} wrong",
        oracle.images,
        oracle.checked,
        oracle.second,
        oracle.killed,
        oracle.wrong.len()
    ));
    oracle.assert_right();
}
