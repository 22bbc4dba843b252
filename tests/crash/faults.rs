//! Calls to the disk that fail: the n-th of a kind, once or for ever.

use crate::disk::{Call, Fault, SimulatedDisk};
use crate::image::{Image, Moment, Random};
use crate::oracle::Oracle;
use crate::workload::{Command, SETTLES, SOFT_RESET, State, execute, large, moves, new_store, observe, small};
use mnemosyne::ops::OpError;
use mnemosyne::store::StoreError;

const EIO: i32 = 5;
const ENOSPC: i32 = 28;

/// Calls that fail, together where several are named, and with which error.
const KINDS: [(&[Call], i32); 9] = [
    (&[Call::Open], EIO),
    (&[Call::Read], EIO),
    (&[Call::Write], EIO),
    (&[Call::Write], ENOSPC),
    (&[Call::Length], EIO),
    (&[Call::Length], ENOSPC),
    (&[Call::Sync, Call::SyncNames], EIO),
    (&[Call::Rename], EIO),
    (&[Call::Sync, Call::Length], EIO),
];

/// Counts of what was tried.
#[derive(Debug, Default)]
struct Counts {
    faults: usize,
    refused: usize,
}

/// What a command may say of a failing disk: which call failed, never that the store is damaged.
fn is_honest(error: &OpError) -> bool {
    matches!(error, OpError::Store(StoreError::Io { .. } | StoreError::Database(_)))
}

/// Lets each call of one command fail in turn, on a disk where all that came before is durable.
fn fail_each(
    start: &Image,
    state: &State,
    command: &Command,
    counts: &mut Counts,
    oracle: &mut Oracle,
    random: &mut Random,
) {
    let after = [state.after(command)];
    let both = [state.clone(), after[0].clone()];
    for (calls, error) in KINDS {
        for (database, forever) in [(true, false), (true, true), (false, false), (false, true)] {
            for nth in 1.. {
                let disk = SimulatedDisk::new(start.clone());
                let what = || format!("{command:?}: {calls:?} number {nth}, {database} {forever} {error}");
                disk.set_fault(Some(Fault { database, calls, nth, forever, error }));
                let outcome = execute(&disk.store(), state, command);
                let fired = disk.fired();
                disk.set_fault(None);
                if fired == 0 {
                    break;
                }
                counts.faults += 1;
                let allowed = match &outcome {
                    Ok(()) => &after[..],
                    Err(error) => {
                        counts.refused += 1;
                        if !is_honest(error) {
                            oracle.wrong.push(format!("{}: {error:?}", what()));
                        }
                        &both[..]
                    }
                };
                oracle.judge(disk.image(), allowed, &what);
                let mut moment = Moment::new(start.clone());
                for event in disk.events() {
                    moment.advance(&event);
                }
                oracle.judge(moment.random_crash(random), allowed, &what);
            }
        }
    }
}

/// Lets each call of a look at the store fail in turn: nothing but what stands is ever shown.
fn fail_each_of_a_look(start: &Image, state: &State, counts: &mut Counts, oracle: &mut Oracle) {
    for (calls, error) in KINDS {
        for (database, forever) in [(true, false), (true, true), (false, false), (false, true)] {
            for nth in 1.. {
                let disk = SimulatedDisk::new(start.clone());
                disk.set_fault(Some(Fault { database, calls, nth, forever, error }));
                let found = observe(&disk.store());
                if disk.fired() == 0 {
                    break;
                }
                counts.faults += 1;
                counts.refused += usize::from(found.is_err());
                let right = found.as_ref().map_or_else(is_honest, |found| found == state);
                if !right {
                    oracle.wrong.push(format!("a look, {calls:?} number {nth}, {database} {forever}: {found:?}"));
                }
            }
        }
    }
}

fn fail_all(commands: &[Command], fail: &[usize]) -> (Counts, Oracle) {
    let (mut counts, mut oracle, mut random) = (Counts::default(), Oracle::default(), Random::new(3));
    let (mut image, mut state) = (new_store(), State::new());
    for (at, command) in commands.iter().enumerate() {
        if fail.contains(&at) {
            fail_each(&image, &state, command, &mut counts, &mut oracle, &mut random);
        }
        let disk = SimulatedDisk::new(image);
        execute(&disk.store(), &state, command).expect("no fault");
        (image, state) = (disk.image(), state.after(command));
    }
    fail_each_of_a_look(&image, &state, &mut counts, &mut oracle);
    (counts, oracle)
}

#[test]
fn whatever_call_fails_the_command_fails_or_succeeds_and_nothing_is_lost() {
    let (small, moves, large) = (small(), moves(), large());
    // A batch, what appends before its transaction or takes over, a history, and the fold; where more images are wanted, all of the one, and what follows the fold.
    // A switch that finds a staged change there already, and a reset that stages what it leaves behind.
    let (mut of_small, mut of_moves, mut of_large) = (vec![1, 6, 9, 16], vec![SETTLES, SOFT_RESET], vec![5]);
    if crate::wanted() > crate::IMAGES {
        of_small = (0..small.len()).collect();
        of_moves = (0..moves.len()).collect();
        of_large = vec![5, 8, 10, 11];
    }
    for (commands, fail) in [(&small, &of_small[..]), (&moves, &of_moves[..]), (&large, &of_large[..])] {
        let (counts, oracle) = fail_all(commands, fail);
        crate::tell(&format!(
            "{} faults of the disk, {} of which made the command fail; {} images: {} wrong",
            counts.faults,
            counts.refused,
            oracle.images,
            oracle.wrong.len()
        ));
        oracle.assert_right();
    }
}
