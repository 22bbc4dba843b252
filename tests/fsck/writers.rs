//! Beside writers: they are not held up for the length of a check, and what they do is never taken for damage.

use crate::raw::Place;
use mnemosyne::model::{Author, CommitTime, Content, ContentKind, Message, Node, NodeId, Provenance, SessionName};
use mnemosyne::ops::{self, Condition, Write};
use mnemosyne::store::{CommitWords, Note, Stage};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

fn commit(place: &Place, number: usize) {
    let words = CommitWords {
        author: Author::new("Ada").expect("an author"),
        time: CommitTime::parse("2024-05-06T07:08:09.000+00:00").expect("a time"),
        message: Message::new(&format!("step {number}")).expect("a message"),
    };
    let node = Node {
        id: NodeId::new(format!("n/{}", number % 40)).expect("an id"),
        content: Content::from_text(&format!("{number} {}", "word ".repeat(number * 7 % 400))),
        content_kind: ContentKind::Note,
        provenance: Provenance::default(),
        event_time: None,
    };
    let writes = vec![Write::Set(node)];
    ops::put_and_commit(&place.store(), &SessionName::default(), writes, Condition::Any, &words).expect("committed");
}

#[test]
fn a_writer_at_work_is_not_taken_for_damage() {
    let place = Place::new();
    (0..60).for_each(|number| commit(&place, number));
    let (is_over, written) = (AtomicBool::new(false), AtomicUsize::new(60));
    /// Ends the writer, also where the test fails.
    struct Over<'a>(&'a AtomicBool);
    impl Drop for Over<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    std::thread::scope(|scope| {
        let _over = Over(&is_over);
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                commit(&place, written.fetch_add(1, Ordering::Relaxed));
            }
        });
        for _ in 0..12 {
            let report = place.store().fsck(&mut |_, _, _| ()).expect("no refusal");
            assert_eq!(report.findings, []);
            // One that ends while a check looks at the header leaves it to the next one to recover the file.
            assert!(report.notes.iter().all(|note| *note == Note::Unrecovered), "{:?}", report.notes);
        }
    });
    assert!(written.load(Ordering::Relaxed) > 62, "it was at work");
}

/// Were the writer held off, this would never end.
#[test]
fn a_writer_commits_while_pages_and_commits_are_looked_at() {
    let place = Place::new();
    (0..30).for_each(|number| commit(&place, number));
    let mut number = 30;
    let mut seen = Vec::new();
    let report = place.store().fsck(&mut |stage, _, _| {
        if !seen.contains(&stage) {
            seen.push(stage);
            for _ in 0..3 {
                commit(&place, number);
                number += 1;
            }
        }
    });
    let report = report.expect("no refusal");
    assert_eq!((report.findings, report.commits), (vec![], 30), "the store as it was when it began");
    assert_eq!(seen, [Stage::Pages, Stage::Commits, Stage::Indexes, Stage::Damage, Stage::Staged]);
}
