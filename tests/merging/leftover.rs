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

fn put(store: &Store, at: usize, text: &str) {
    let (id, content) = (NodeId::new(ID).expect("an id"), Content::from_text(text));
    let node =
        Node { id, content, content_kind: ContentKind::Note, provenance: Provenance::default(), event_time: None };
    let session = SessionName::default();
    ops::put_and_commit(store, &session, vec![Write::Set(node)], Condition::Any, &words(at)).expect("a commit");
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
    assert!(matches!(report.outcome, MergeOutcome::Stopped(_)));
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
    assert!(report.reverted.stopped.is_some());
    holds_that_nothing_is_settled(&store, Underway::Revert);
}
