//! Faulty disks and faulty programs, each of which the simulation has to catch. What is not caught here proves nothing
//! elsewhere.

use crate::disk::{DATABASE, Event, SimulatedDisk};
use crate::image::Random;
use crate::oracle::Oracle;
use crate::sweep;
use crate::workload::{
    Command, Execute, History, SESSIONS, SETTLES, State, execute, large, moves, node, session, small, words,
};
use mnemosyne::object::{encode_node, node_object_id};
use mnemosyne::ops::OpError;
use mnemosyne::store::{SessionView, Store, StoreError, entries};
use std::collections::BTreeMap;

/// Whether an image is wrong.
fn is_wrong(history: &History) -> bool {
    let mut oracle = Oracle::default();
    sweep::until_wrong(history, &mut oracle, &mut Random::new(2));
    !oracle.wrong.is_empty()
}

fn record(commands: &[Command], execute: Execute) -> History {
    History::record(commands, execute)
}

/// Up to the third commit.
fn few() -> Vec<Command> {
    small().into_iter().take(8).collect()
}

#[test]
fn the_commands_of_the_controls_are_right_on_a_true_disk() {
    assert!(!is_wrong(&record(&few(), execute)));
}

#[test]
fn a_dropped_sync_of_a_log_is_caught() {
    let history = record(&few(), execute);
    let lying = history.without(|_, event| matches!(event, Event::Sync { file } if *file != DATABASE));
    assert!(is_wrong(&lying));
}

#[test]
fn a_dropped_sync_of_the_directory_is_caught() {
    let history = record(&few(), execute);
    assert!(is_wrong(&history.without(|_, event| matches!(event, Event::SyncNames))), "of a new log");
    let history = record(&large()[..7], execute);
    let renamed = history.events.iter().position(|event| matches!(event, Event::Name { before: Some(_), .. }));
    let renamed = renamed.expect("a fold");
    let lying = history.without(|at, event| at > renamed && matches!(event, Event::SyncNames));
    assert!(is_wrong(&lying), "of a log that was folded");
}

#[test]
fn dropped_syncs_of_the_database_are_caught() {
    let commands = &small()[10..11];
    let history = record(commands, execute);
    let is_sync = |event: &Event| matches!(event, Event::Sync { file: DATABASE });
    assert!(is_wrong(&history.without(|_, event| is_sync(event))), "all of them");
    let syncs: Vec<_> = (0..history.events.len()).filter(|at| is_sync(&history.events[*at])).collect();
    let caught = syncs.iter().filter(|sync| is_wrong(&history.without(|at, _| at == **sync))).count();
    crate::tell(&format!("{caught} of {} syncs of the database are caught when they alone are dropped", syncs.len()));
    assert!(caught > 0, "not one");
}

#[test]
fn a_batch_in_two_frames_is_caught() {
    fn one_by_one(store: &Store<SimulatedDisk>, state: &State, command: &Command) -> Result<(), OpError> {
        match command {
            Command::Put(session, rows) => {
                rows.iter().try_for_each(|row| execute(store, state, &Command::Put(session, vec![row.clone()])))
            }
            other => execute(store, state, other),
        }
    }
    assert!(is_wrong(&record(&few(), one_by_one)));
}

/// A put and its commit as two transactions.
#[test]
fn a_put_and_commit_in_two_transactions_is_caught() {
    fn in_two(store: &Store<SimulatedDisk>, state: &State, command: &Command) -> Result<(), OpError> {
        match command {
            Command::PutCommit(session, id, text) => {
                execute(store, state, &Command::Put(session, vec![(id, Some(text.clone()))]))?;
                execute(store, state, &Command::CommitOnly(session, id))
            }
            other => execute(store, state, other),
        }
    }
    assert!(is_wrong(&record(&small()[9..11], in_two)));
}

/// Commits all that is staged as [`execute`] does, but for the mark or the time of the truncation.
fn commit(
    store: &Store<SimulatedDisk>,
    state: &State,
    by: &str,
    marks: bool,
    truncates_first: bool,
) -> Result<(), OpError> {
    let name = session(by);
    let mut log = store.lock_log(&name)?;
    let bytes = log.read().map_err(StoreError::from)?;
    let path = log.path().to_owned();
    if truncates_first {
        log.truncate().map_err(StoreError::from)?;
    }
    store.write(store.snapshot()?, |tables| {
        let view = SessionView::new(tables, &name, &path, &bytes)?;
        let changes = view.changes()?.into_iter();
        let changes: BTreeMap<_, _> = changes.map(|(id, change)| (id, change.node.map(<[u8]>::to_vec))).collect();
        let mut row = view.next_row();
        if marks {
            row.consumed = view.staged.last();
        }
        drop(view);
        tables.commit_on_head(&name, row, changes, words(state, by), "commit").map(drop).map_err(OpError::from)
    })?;
    if !truncates_first {
        log.truncate().map_err(StoreError::from)?;
    }
    Ok(())
}

#[test]
fn the_commit_of_the_controls_is_right_with_mark_and_order() {
    fn right(store: &Store<SimulatedDisk>, state: &State, command: &Command) -> Result<(), OpError> {
        match command {
            Command::Commit(session) => commit(store, state, session, true, false),
            other => execute(store, state, other),
        }
    }
    assert!(!is_wrong(&record(&few(), right)));
}

#[test]
fn a_commit_that_does_not_set_its_mark_is_caught() {
    fn unmarked(store: &Store<SimulatedDisk>, state: &State, command: &Command) -> Result<(), OpError> {
        match command {
            Command::Commit(session) => commit(store, state, session, false, false),
            other => execute(store, state, other),
        }
    }
    assert!(is_wrong(&record(&few()[..3], unmarked)));
}

#[test]
fn a_truncation_before_the_transaction_is_caught() {
    fn early(store: &Store<SimulatedDisk>, state: &State, command: &Command) -> Result<(), OpError> {
        match command {
            Command::Commit(session) => commit(store, state, session, true, true),
            other => execute(store, state, other),
        }
    }
    assert!(is_wrong(&record(&few()[..3], early)));
}

/// What stays staged must lie behind the mark before the mark is set.
#[test]
fn a_commit_of_a_part_that_keeps_the_rest_afterwards_is_caught() {
    fn late(store: &Store<SimulatedDisk>, state: &State, command: &Command) -> Result<(), OpError> {
        let Command::CommitOnly(name, chosen) = command else { return execute(store, state, command) };
        let rest: Vec<_> = state.staged[name].iter().filter(|(id, _)| id != chosen).collect();
        assert_eq!(rest.len(), 1, "one stays");
        execute(store, state, &Command::Restore(name, KEPT))?;
        execute(store, state, &Command::Commit(name))?;
        let name = session(name);
        let mut log = store.lock_log(&name)?;
        let bytes = log.read().map_err(StoreError::from)?;
        let snapshot = store.snapshot()?;
        let view = SessionView::new(&snapshot, &name, log.path(), &bytes)?;
        let kept = node(KEPT, "kept");
        let node = encode_node(&kept);
        let changes = entries(&kept.id, Some((node_object_id(&node), &node)), None, None);
        let frame = view.next_frame(changes)?;
        log.append(&frame).map_err(StoreError::from)?;
        Ok(())
    }
    const KEPT: &str = "kept";
    let [first, _] = SESSIONS;
    let rows = vec![(KEPT, Some("kept".to_owned())), ("taken", Some("taken".to_owned()))];
    let commands = [Command::Put(first, rows), Command::CommitOnly(first, "taken")];
    assert!(!is_wrong(&record(&commands, execute)));
    assert!(is_wrong(&record(&commands, late)));
}

/// What stands there already stays staged until the session stands there.
#[test]
fn a_switch_that_forgets_before_its_transaction_is_caught() {
    fn early(store: &Store<SimulatedDisk>, state: &State, command: &Command) -> Result<(), OpError> {
        if let Command::Switch(session, _) = command {
            execute(store, state, &Command::Restore(session, "s/a"))?;
        }
        execute(store, state, command)
    }
    let commands = &moves()[..=SETTLES];
    assert!(!is_wrong(&record(commands, execute)));
    assert!(is_wrong(&record(commands, early)));
}
