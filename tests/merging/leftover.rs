//! What a command that failed has left in the staged log, and what begins something after it.

use crate::place::{empty, revision, signature, time, words};
use mnemosyne::graph::Selection;
use mnemosyne::model::{BranchName, Content, ContentKind, Node, NodeId, Provenance, SessionName};
use mnemosyne::ops::{
    self, Condition, FastForward, MergeOutcome, MergeRequest, OpError, ResetMode, RevertRequest, Reverting, Underway,
    Write,
};
use mnemosyne::store::{Store, StoreError};
use std::time::Duration;

const ID: &str = "n";

fn node(id: &str, text: &str) -> Write {
    let (id, content) = (NodeId::new(id).expect("an id"), Content::from_text(text));
    let (content_kind, provenance) = (ContentKind::Note, Provenance::default());
    Write::Set(Node { id, content, content_kind, provenance, event_time: None })
}

fn commit(store: &Store, at: usize, writes: Vec<Write>) {
    let session = SessionName::default();
    ops::put_and_commit(store, &session, writes, Condition::Any, &words(at)).expect("a commit");
}

fn put(store: &Store, at: usize, text: &str) {
    commit(store, at, vec![node(ID, text)]);
}

/// A store in which a reset has failed that would have staged the node, since somebody else was writing.
fn after_a_reset_that_failed() -> (Store, tempfile::TempDir) {
    let (store, directory) = empty("main");
    let session = SessionName::default();
    put(&store, 0, "a");
    let side = BranchName::new("side").expect("a name");
    put(&store, 1, "b");
    ops::create_branch(&store, &session, &side, &revision("HEAD"), false, time(2)).expect("a branch");
    ops::reset(&store, &session, &revision("HEAD~1"), ResetMode::Hard, time(3)).expect("a reset");
    put(&store, 4, "c");
    let impatient = Store::new(store.directory().to_owned(), Duration::ZERO);
    let writing = store.write(store.snapshot().expect("a snapshot"), |_| {
        let reset = ops::reset(&impatient, &session, &revision("HEAD~1"), ResetMode::Soft, time(5));
        assert!(matches!(reset, Err(OpError::Store(StoreError::Busy { .. }))), "{reset:?}");
        Ok::<_, StoreError>(())
    });
    writing.expect("nothing is written");
    (store, directory)
}

fn holds_that_nothing_is_settled(store: &Store, underway: Underway) {
    let session = SessionName::default();
    let progress = ops::status(store, &session).expect("a status").progress.expect("it stopped");
    assert_eq!(progress.conflicts.len(), 1);
    assert_eq!(progress.conflicts[0].settled, None);
    let concluded = ops::conclude(store, &session, underway, None, &signature(7));
    assert!(matches!(concluded, Err(OpError::Unsettled(_))), "{concluded:?}");
}

#[test]
fn what_a_reset_left_that_failed_settles_no_conflict_of_a_merge() {
    let (store, _directory) = after_a_reset_that_failed();
    let request = MergeRequest {
        revision: revision("side"),
        fast_forward: FastForward::Allowed,
        unrelated: false,
        message: None,
        signature: signature(6),
    };
    let report = ops::merge(&store, &SessionName::default(), &request).expect("a merge");
    let MergeOutcome::Stopped(conflicts) = report.outcome else { panic!("it conflicts") };
    assert_eq!(conflicts.iter().map(|conflict| conflict.settled).collect::<Vec<_>>(), [None]);
    holds_that_nothing_is_settled(&store, Underway::Merge);
}

#[test]
fn what_a_reset_left_that_failed_settles_no_conflict_of_a_revert() {
    let (store, _directory) = after_a_reset_that_failed();
    let request = RevertRequest {
        selections: vec![Selection::Of(revision("side"))],
        what: Reverting::Commits { mainline: 0 },
        message: None,
        signature: signature(6),
    };
    let report = ops::revert(&store, &SessionName::default(), &request).expect("a revert");
    let stop = report.reverted.stopped.expect("it conflicts");
    assert_eq!(stop.conflicts.iter().map(|conflict| conflict.settled).collect::<Vec<_>>(), [None]);
    holds_that_nothing_is_settled(&store, Underway::Revert);
}

#[test]
fn what_was_said_of_no_conflict_settles_none_of_the_next_revert() {
    let (store, _directory) = empty("main");
    let session = SessionName::default();
    commit(&store, 0, vec![node("m", "a"), node("n", "a")]);
    commit(&store, 1, vec![node("n", "b")]);
    commit(&store, 2, vec![node("m", "b")]);
    commit(&store, 3, vec![node("m", "c"), node("n", "c")]);
    let request = RevertRequest {
        selections: ["HEAD~2", "HEAD~1"].map(|text| Selection::Of(revision(text))).into(),
        what: Reverting::Commits { mainline: 0 },
        message: None,
        signature: signature(4),
    };
    ops::revert(&store, &session, &request).expect("a revert");
    ops::put(&store, &session, vec![node("m", "c"), node("n", "c")], Condition::Any).expect("staged");
    let concluded = ops::conclude(&store, &session, Underway::Revert, None, &signature(5)).expect("the next stops");
    let stop = concluded.reverted.stopped.expect("it conflicts");
    let told: Vec<_> = stop.conflicts.iter().map(|conflict| (conflict.id.as_str(), conflict.settled)).collect();
    assert_eq!(told, [("m", None)]);
}
