//! What the frames of a log come to: the staged changes, and the next frame.
//!
//! Knows bytes only, no file. A frame is live when its number is larger than the last one that a commit consumed. Dead
//! frames may stand anywhere (a truncation is not synced) and never count. Live ones follow each other without a gap.

use super::LogError;
use super::frame::{Change, Frame, MAGIC, StoredId, encode};
use crate::model::NodeId;
use crate::object::{DecodeError, ObjectId, Redaction, encode_redaction, kept_object_id};
use memchr::memmem;
use std::collections::BTreeMap;
use std::iter;
use std::path::{Path, PathBuf};

/// The log is folded when more bytes than this are of no use any more; whether they are is asked once so many bytes.
const FOLD_BYTES: usize = 1 << 20;

/// What is staged for one node: the last change, with the base of the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StagedChange<'a> {
    /// The version that it replaces, `None` where the id was absent.
    pub base: Option<ObjectId>,
    /// The canonical bytes of the new version, `None` where the node is to be absent.
    pub node: Option<&'a [u8]>,
}

impl<'a> StagedChange<'a> {
    /// The id of the new version, `None` where the node is to be absent.
    pub fn version(&self) -> Option<ObjectId> {
        self.node.map(kept_object_id)
    }

    /// Whether the new version differs from the base.
    pub fn is_change(&self) -> bool {
        self.version() != self.base
    }

    /// Whether the node has become something else where `found` stands: neither what the change replaces nor the new version.
    pub fn collides_with(&self, found: Option<ObjectId>) -> bool {
        found != self.base && found != self.version()
    }

    fn after(before: Option<Self>, change: Change<'a>) -> Option<Self> {
        let first = |base| before.map_or(base, |before| before.base);
        match change {
            Change::Set { base, node, .. } => Some(Self { base: first(base), node: Some(node) }),
            Change::Remove { base, .. } => Some(Self { base: first(base), node: None }),
            Change::Unstage { .. } => None,
        }
    }

    /// The entry that says so.
    pub fn of(self, id: StoredId<'a>) -> Change<'a> {
        match self.node {
            Some(node) => Change::Set { id, base: self.base, node },
            None => Change::Remove { id, base: self.base },
        }
    }
}

/// A frame that is ready to be written, for the very log that it was made from.
#[derive(Debug)]
pub struct NewFrame {
    /// Its sequence number.
    pub(super) number: u64,
    /// The length of the log that it was made from.
    pub(super) seen: u64,
    pub(super) place: Place,
    pub(super) bytes: Vec<u8>,
}

impl NewFrame {
    /// The mark of a commit that leaves just this frame staged.
    pub fn mark(&self) -> u64 {
        self.number - 1
    }
}

/// Where bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// At this offset, in place of all that stands there.
    At(u64),
    /// Into a new file in place of the log.
    NewFile,
}

/// The staged changes of a session.
#[derive(Clone, Debug)]
pub struct Staged<'a> {
    path: PathBuf,
    /// The sound frames from the front on.
    frames: &'a [u8],
    seen: usize,
    consumed: u64,
    next: u64,
    /// Where the frames are that may be about the nodes that were asked for, if only their sums and that of the last were
    /// looked at.
    skimmed: Option<Vec<usize>>,
}

impl<'a> Staged<'a> {
    /// Looks through the bytes of the log at `path`, of which a commit has consumed the numbers up to `consumed`.
    ///
    /// Whatever stands behind the last sound frame is a torn tail and left out, unless a live frame comes later.
    pub fn scan(path: &Path, log: &'a [u8], consumed: u64) -> Result<Self, LogError> {
        let mut staged = Self::new(path, log, consumed);
        while let Some(frame) = Frame::at(&log[staged.frames.len()..]).filter(Frame::is_sound) {
            let at = staged.frames.len();
            if frame.to > consumed {
                if frame.from <= consumed {
                    return Err(staged.damage(at, "a frame holds both consumed and live numbers"));
                }
                if frame.from != staged.next {
                    return Err(staged.damage(at, "the sequence numbers do not follow each other"));
                }
                staged.next = frame.to + 1;
            }
            staged.frames = &log[..at + frame.length()];
        }
        let end = staged.frames.len();
        if holds_live_frame(&log[end..], consumed) {
            return Err(staged.damage(end, "a bad frame stands before a good one"));
        }
        Ok(staged)
    }

    /// The same for a command that asks for the nodes `ids` and appends: of all frames only the last one and those about
    /// these nodes, which are found by the bytes of their ids, are looked at, but all are where the last one is odd: live
    /// ones may stand before a dead one.
    pub fn skim(path: &Path, log: &'a [u8], consumed: u64, ids: &[&NodeId]) -> Result<Self, LogError> {
        let mut staged = Self::new(path, log, consumed);
        let mut marks: Vec<usize> = Vec::new();
        for id in ids {
            marks.extend(memmem::find_iter(log, &StoredId::from(*id).mark()));
        }
        marks.sort_unstable();
        let mut marks = marks.into_iter();
        let mut mark = marks.next().unwrap_or(usize::MAX);
        let (mut end, mut asked, mut last) = (0, Vec::new(), 0);
        while let Some(length) = Frame::length_at(&log[end..]) {
            (last, end) = (end, end + length);
            if mark < end {
                asked.push(last);
                mark = marks.find(|&mark| mark >= end).unwrap_or(usize::MAX);
            }
        }
        match Frame::at(&log[last..]).filter(Frame::is_sound) {
            Some(frame) if end == log.len() && frame.to > consumed => {
                staged.next = frame.to + 1;
                Ok(Self { frames: log, skimmed: Some(asked), ..staged })
            }
            Some(_) | None => Self::scan(path, log, consumed),
        }
    }

    fn new(path: &Path, log: &'a [u8], consumed: u64) -> Self {
        let next = consumed.saturating_add(1);
        Self { path: path.to_owned(), frames: &[], seen: log.len(), consumed, next, skimmed: None }
    }

    /// Looks at the sums of all frames, where that was put off.
    fn checked(&self) -> Result<(), LogError> {
        if self.skimmed.is_none() { Ok(()) } else { Self::scan(&self.path, self.frames, self.consumed).map(|_| ()) }
    }

    /// Whether no frame is live. Frames that cancel each other are live all the same.
    pub fn is_empty(&self) -> bool {
        self.last() <= self.consumed
    }

    /// The last sequence number that is used up: the mark of a commit that takes all.
    pub fn last(&self) -> u64 {
        self.next - 1
    }

    /// Where a session without a row begins, if its first live frame says so.
    pub fn head(&self) -> Result<Option<&'a [u8]>, LogError> {
        let first = self.live().next();
        let Some((at, frame)) = first else { return Ok(None) };
        if self.skimmed.is_some() && !frame.is_sound() {
            return Err(self.damage(at, "a bad frame stands before a good one"));
        }
        frame.head().map_err(|error| self.unread(at, &error))
    }

    /// What is staged for one node; after [`Staged::skim`], for one of those that were named.
    pub fn find(&self, id: &NodeId) -> Result<Option<StagedChange<'a>>, LogError> {
        let Some(asked) = &self.skimmed else { return self.find_in(self.live(), id) };
        let frames = asked.iter().filter_map(|&at| Some((at, Frame::at(&self.frames[at..])?)));
        let frames = frames.filter(|(_, frame)| frame.to > self.consumed);
        let mut sound = Vec::with_capacity(asked.len());
        for (at, frame) in frames {
            if !frame.is_sound() {
                return Err(self.damage(at, "a bad frame stands before a good one"));
            }
            sound.push((at, frame));
        }
        self.find_in(sound, id)
    }

    fn find_in(
        &self,
        frames: impl IntoIterator<Item = (usize, Frame<'a>)>,
        id: &NodeId,
    ) -> Result<Option<StagedChange<'a>>, LogError> {
        let mut found = None;
        for (at, frame) in frames {
            for change in frame.changes() {
                let change = change.map_err(|error| self.unread(at, &error))?;
                if change.id().is(id) {
                    found = StagedChange::after(found, change);
                }
            }
        }
        Ok(found)
    }

    /// How many bytes stand behind the last sound frame.
    pub fn torn(&self) -> usize {
        self.seen - self.frames.len()
    }

    /// The changes of all live frames as they stand there, each with the offset of its frame.
    pub fn entries(&self) -> impl Iterator<Item = (usize, Result<Change<'a>, DecodeError>)> + use<'a> {
        self.live().flat_map(|(at, frame)| frame.changes().map(move |change| (at, change)))
    }

    /// What is staged for every node, changes that are none included.
    pub fn replay(&self) -> Result<BTreeMap<NodeId, StagedChange<'a>>, LogError> {
        let read = |(id, (at, change)): (StoredId<'a>, (usize, _))| match id.read() {
            Ok(id) => Ok((id, change)),
            Err(error) => Err(self.unread(at, &error)),
        };
        self.last_changes()?.into_iter().map(read).collect()
    }

    /// Makes the next frame. Once more than 1 MiB of the log is of no use any more, it takes the live changes along into
    /// a new file.
    pub fn next_frame<'c>(
        &self,
        head: Option<&[u8]>,
        changes: impl IntoIterator<Item = Change<'c>>,
    ) -> Result<NewFrame, LogError> {
        let (number, seen) = (self.next, self.seen as u64);
        if number == u64::MAX {
            return Err(self.damage(self.frames.len(), "no sequence number is left"));
        }
        let changes: Vec<_> = changes.into_iter().collect();
        let bytes = encode(number..=number, head, changes.iter().copied());
        let end = if self.is_empty() { 0 } else { self.frames.len() };
        if end / FOLD_BYTES != (end + bytes.len()) / FOLD_BYTES {
            let last = self.last().max(self.consumed.saturating_add(2));
            let mut folded = self.folded(last)?;
            if folded.len() + FOLD_BYTES < end && last < u64::MAX - 1 {
                let number = last + 1;
                folded.extend_from_slice(&encode(number..=number, head, changes));
                return Ok(NewFrame { number, seen, place: Place::NewFile, bytes: folded });
            }
        }
        Ok(NewFrame { number, seen, place: Place::At(end as u64), bytes })
    }

    /// One frame that comes to the same as all live ones, and uses the numbers up to `last` up. These are two at the
    /// least: by that a fold is known.
    fn folded(&self, last: u64) -> Result<Vec<u8>, LogError> {
        let changes = self.last_changes()?;
        let changes = changes.into_iter().map(|(id, (_, change))| change.of(id));
        Ok(encode(self.consumed + 1..=last, self.head()?, changes))
    }

    /// A new file for the log in which `mark` has put markers in the place of nodes, and whose nodes these were; `None` where
    /// nothing is live.
    pub fn redacted(
        &self,
        mark: impl Fn(&[u8]) -> Result<Option<Redaction>, DecodeError>,
    ) -> Result<(Option<NewFrame>, Vec<NodeId>), LogError> {
        if self.is_empty() {
            return Ok((None, Vec::new()));
        }
        let (mut redacted, mut markers) = (Vec::new(), BTreeMap::new());
        let changes = self.last_changes()?;
        for (id, (at, change)) in &changes {
            let marker = change.node.map(&mark).transpose().map_err(|error| self.unread(*at, &error))?.flatten();
            if let Some(marker) = marker {
                markers.insert(*id, encode_redaction(&marker));
                redacted.push(marker.id);
            }
        }
        let changes = changes.into_iter().map(|(id, (_, change))| {
            let node = markers.get(&id).map(Vec::as_slice).or(change.node);
            StagedChange { node, ..change }.of(id)
        });
        let last = self.last().max(self.consumed.saturating_add(2));
        let bytes = encode(self.consumed + 1..=last, self.head()?, changes);
        Ok((Some(NewFrame { number: last, seen: self.seen as u64, place: Place::NewFile, bytes }), redacted))
    }

    /// What is staged for every node, with the offset of its last frame.
    fn last_changes(&self) -> Result<BTreeMap<StoredId<'a>, (usize, StagedChange<'a>)>, LogError> {
        self.checked()?;
        let mut map = BTreeMap::new();
        for change in self.changes() {
            let (at, change) = change?;
            let id = change.id();
            let before = map.get(&id).map(|(_, before)| *before);
            match StagedChange::after(before, change) {
                Some(after) => map.insert(id, (at, after)),
                None => map.remove(&id),
            };
        }
        Ok(map)
    }

    /// The changes of all live frames, each with the offset of its frame.
    fn changes(&self) -> impl Iterator<Item = Result<(usize, Change<'a>), LogError>> {
        self.live().flat_map(move |(at, frame)| {
            frame.changes().map(move |change| match change {
                Ok(change) => Ok((at, change)),
                Err(error) => Err(self.unread(at, &error)),
            })
        })
    }

    /// The live frames and their offsets.
    fn live(&self) -> impl Iterator<Item = (usize, Frame<'a>)> + use<'a> {
        let (frames, consumed) = (self.frames, self.consumed);
        let mut end = 0;
        let all = iter::from_fn(move || {
            let at = end;
            let frame = Frame::at(&frames[at..])?;
            end += frame.length();
            Some((at, frame))
        });
        all.filter(move |(_, frame)| frame.to > consumed)
    }

    fn damage(&self, at: usize, what: &'static str) -> LogError {
        LogError::Damaged { path: self.path.clone(), what, offset: at as u64 }
    }

    fn unread(&self, at: usize, error: &DecodeError) -> LogError {
        let what = match error {
            DecodeError::NotCanonical(what) => what,
            DecodeError::UnknownRecord(_) | DecodeError::Kind(_) => "an entry is of a kind that is not known",
        };
        self.damage(at, what)
    }
}

/// Whether a log is as a fold left it, with nothing behind: its name may not be on the disk yet.
pub(super) fn is_fresh_fold(log: &[u8]) -> bool {
    let Some(fold) = Frame::at(log).filter(|frame| frame.from < frame.to) else { return false };
    let Some(first) = Frame::at(&log[fold.length()..]) else { return true };
    Frame::at(&log[fold.length() + first.length()..]).is_none_or(|next| !next.is_sound())
}

/// Whether a sound live frame begins anywhere in `bytes`.
///
/// Texts in a torn frame never look like a beginning, so few sums are computed. Bytes that ask for more than four times
/// their length are no torn frame, and count as if they held one.
fn holds_live_frame(bytes: &[u8], consumed: u64) -> bool {
    let mut budget = bytes.len().saturating_mul(4);
    let mut at = 0;
    while let Some(step) = bytes[at..].iter().position(|byte| *byte == MAGIC[0]) {
        at += step;
        if let Some(frame) = Frame::at(&bytes[at..]).filter(|frame| frame.to > consumed) {
            if frame.length() > budget || frame.is_sound() {
                return true;
            }
            budget -= frame.length();
        }
        at += 1;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::super::frame::encode_payload;
    use super::*;
    use proptest::collection::vec;
    use proptest::option;
    use proptest::prelude::*;

    const BASE: Option<ObjectId> = Some(ObjectId::from_bytes([7; 32]));

    fn id(name: &str) -> NodeId {
        NodeId::new(name).expect("id")
    }

    fn scan(log: &[u8], consumed: u64) -> Result<Staged<'_>, LogError> {
        Staged::scan(Path::new("staged/default"), log, consumed)
    }

    fn good(log: &[u8], consumed: u64) -> Staged<'_> {
        scan(log, consumed).expect("a good log")
    }

    fn set(number: u64, name: &str, node: &[u8]) -> Vec<u8> {
        encode(number..=number, None, [Change::Set { id: (&id(name)).into(), base: BASE, node }])
    }

    fn nodes(staged: &Staged<'_>) -> Vec<(String, Option<Vec<u8>>)> {
        let all = staged.replay().expect("a good log").into_iter();
        all.map(|(id, change)| (id.to_string(), change.node.map(<[u8]>::to_vec))).collect()
    }

    #[track_caller]
    fn assert_damaged<T: std::fmt::Debug>(result: Result<T, LogError>, wanted: &str, at: usize) {
        match result {
            Err(LogError::Damaged { what, offset, .. }) => assert_eq!((what, offset), (wanted, at as u64)),
            other => panic!("not damaged: {other:?}"),
        }
    }

    fn skim<'a>(log: &'a [u8], consumed: u64, ids: &[&NodeId]) -> Result<Staged<'a>, LogError> {
        Staged::skim(Path::new("staged/default"), log, consumed, ids)
    }

    #[test]
    fn a_skimmed_log_never_answers_from_a_frame_whose_sum_is_wrong() {
        let frames = [set(1, "a", b"1"), set(2, "b", b"2"), set(3, "c", b"3")];
        let log = frames.concat();
        for at in 0..frames[0].len() {
            let mut bad = log.clone();
            bad[at] ^= 1;
            // A flip may take the frame away from its id, never change what it says.
            match skim(&bad, 0, &[&id("a")])
                .and_then(|staged| staged.find(&id("a")).map(|found| found.map(|change| change.node)))
            {
                Ok(found) => assert_eq!(found, None, "byte {at}"),
                Err(error) => assert!(matches!(error, LogError::Damaged { .. }), "byte {at}: {error:?}"),
            }
            assert_eq!(
                skim(&log, 0, &[&id("b")]).and_then(|staged| Ok(staged.find(&id("b"))?.is_some())).ok(),
                Some(true)
            );
        }
    }

    #[test]
    fn a_skimmed_log_has_the_live_frames_before_a_dead_one() {
        let log = [set(3, "a", b"3"), set(2, "b", b"2")].concat();
        let staged = skim(&log, 2, &[&id("a")]).expect("a good log");
        assert_eq!((staged.is_empty(), staged.last()), (false, 3));
        assert_eq!(nodes(&staged), [("a".to_owned(), Some(b"3".to_vec()))]);
        assert_eq!(staged.next_frame(None, []).expect("a frame").place, Place::At(log.len() as u64));
    }

    #[test]
    fn a_skimmed_log_is_checked_before_all_of_it_is_told() {
        let frames = [set(1, "a", b"1"), set(2, "b", b"2"), set(3, "c", b"3")];
        let mut log = frames.concat();
        let last = log.len() - 1;
        log[frames[0].len() + 40] ^= 1;
        assert!(skim(&log, 0, &[]).is_ok(), "a frame in the middle is not looked at");
        assert!(skim(&log, 0, &[]).and_then(|staged| staged.replay().map(|_| ())).is_err());
        log[last] ^= 1;
        assert_eq!(skim(&log, 0, &[]).ok().map(|staged| staged.last()), Some(1), "both are a torn tail now");
    }

    #[test]
    fn an_empty_log_has_nothing_staged() {
        let staged = good(b"", 4);
        assert!(staged.is_empty());
        assert_eq!((staged.last(), nodes(&staged)), (4, vec![]));
        assert_eq!(staged.head().expect("a good log"), None);
    }

    #[test]
    fn a_torn_last_frame_leaves_the_state_before_it() {
        let before = [set(1, "a", b"1"), set(2, "b", b"2")].concat();
        let log = [&before[..], &set(3, "a", b"3")].concat();
        for length in before.len()..log.len() {
            for tail in [0, 1, 100] {
                let mut torn = log[..length].to_vec();
                torn.resize(length + tail, 0);
                let staged = good(&torn, 0);
                assert_eq!((staged.last(), nodes(&staged)), (2, nodes(&good(&before, 0))), "{length}+{tail}");
                let next = staged.next_frame(None, []).expect("a frame");
                assert_eq!((next.number, next.seen), (3, torn.len() as u64));
                assert_eq!(next.place, Place::At(before.len() as u64));
            }
        }
        assert_eq!(good(&log, 0).last(), 3);
    }

    #[test]
    fn a_bad_frame_before_a_live_one_is_damage() {
        let (first, middle, last) = (set(1, "a", b"1"), set(2, "b", b"2"), set(3, "c", b"3"));
        for byte in 0..middle.len() {
            let mut bad = middle.clone();
            bad[byte] ^= 0xff;
            let log = [&first[..], &bad, &last].concat();
            assert_damaged(scan(&log, 0), "a bad frame stands before a good one", first.len());
        }
        let missing = [&first[..], &middle[..9], &last].concat();
        assert_damaged(scan(&missing, 0), "a bad frame stands before a good one", first.len());
    }

    #[test]
    fn bad_bytes_before_dead_frames_are_a_torn_tail() {
        let dead = [set(1, "a", b"a long old value"), set(2, "b", b"2")].concat();
        let live = set(3, "c", b"3");
        // A truncation that did not reach the disk, and a frame over the old bytes that did: all of it, or half.
        let whole = [&live[..], &dead[live.len()..]].concat();
        assert_eq!(nodes(&good(&whole, 2)), [("c".to_owned(), Some(b"3".to_vec()))]);
        let half = [&live[..9], &dead[9..]].concat();
        assert!(good(&half, 2).is_empty());
        assert_damaged(scan(&half, 1), "a bad frame stands before a good one", 0);
        let same_length = [set(2, "c", b"3"), set(1, "a", b"1")].concat();
        assert_eq!(nodes(&good(&same_length, 1)), [("c".to_owned(), Some(b"3".to_vec()))]);
    }

    #[test]
    fn a_gap_in_the_numbers_is_damage() {
        let wanted = "the sequence numbers do not follow each other";
        let first = set(1, "a", b"1");
        assert_damaged(scan(&[&first[..], &set(3, "b", b"2")].concat(), 0), wanted, first.len());
        assert_damaged(scan(&[&first[..], &set(1, "b", b"2")].concat(), 0), wanted, first.len());
        assert_damaged(scan(&set(2, "a", b"1"), 0), wanted, 0);
        assert_damaged(scan(&[&first[..], &set(3, "b", b"2")].concat(), 1), wanted, first.len());
    }

    #[test]
    fn a_fold_is_consumed_whole_or_not_at_all() {
        let fold = encode(3..=6, None, []);
        assert_eq!(good(&fold, 2).last(), 6);
        assert!(good(&fold, 6).is_empty());
        for consumed in 3..6 {
            assert_damaged(scan(&fold, consumed), "a frame holds both consumed and live numbers", 0);
        }
    }

    #[test]
    fn old_frames_before_the_live_ones_do_not_count() {
        let log = [set(1, "a", b"1"), set(2, "b", b"2"), set(3, "b", b"3")].concat();
        assert_eq!(nodes(&good(&log, 2)), [("b".to_owned(), Some(b"3".to_vec()))]);
        let all = good(&log, 3);
        assert!(all.is_empty());
        let next = all.next_frame(None, []).expect("a frame");
        assert_eq!((next.number, next.place), (4, Place::At(0)), "old frames go when nothing is live");
    }

    #[test]
    fn frames_that_cancel_each_other_are_live() {
        let unstage = encode(2..=2, None, [Change::Unstage { id: (&id("a")).into() }]);
        let log = [set(1, "a", b"1"), unstage].concat();
        let staged = good(&log, 0);
        assert!(!staged.is_empty());
        assert_eq!((staged.last(), nodes(&staged)), (2, vec![]));
    }

    #[test]
    fn the_base_is_the_first_one_until_it_is_unstaged() {
        let (name, other) = (id("a"), Some(ObjectId::from_bytes([8; 32])));
        let set = |base| Change::Set { id: (&name).into(), base, node: b"1" };
        let remove = |base| Change::Remove { id: (&name).into(), base };
        let unstage = Change::Unstage { id: (&name).into() };
        type Found = Option<(Option<ObjectId>, bool)>;
        let cases: [(&[Change<'_>], Found); 6] = [
            (&[set(BASE), set(other)], Some((BASE, true))),
            (&[set(None), remove(other)], Some((None, false))),
            (&[remove(BASE), set(None)], Some((BASE, true))),
            (&[set(BASE), unstage], None),
            (&[set(BASE), unstage, set(other)], Some((other, true))),
            (&[unstage, remove(other), set(BASE)], Some((other, true))),
        ];
        for (changes, wanted) in cases {
            let one = encode(1..=1, None, changes.iter().copied());
            let many: Vec<u8> = (1..).zip(changes).flat_map(|(n, change)| encode(n..=n, None, [*change])).collect();
            for log in [one, many] {
                let found = good(&log, 0).find(&name).expect("a good log");
                assert_eq!(found.map(|change| (change.base, change.node.is_some())), wanted, "{changes:?}");
            }
        }
    }

    #[test]
    fn a_version_equal_to_its_base_is_no_change() {
        let node = Some(&b"{}"[..]);
        let same = Some(kept_object_id(b"{}"));
        for (base, node, wanted) in
            [(None, node, true), (BASE, node, true), (same, node, false), (BASE, None, true), (None, None, false)]
        {
            assert_eq!(StagedChange { base, node }.is_change(), wanted, "{base:?} {node:?}");
        }
    }

    #[test]
    fn the_head_is_that_of_the_first_live_frame() {
        let log = [encode(1..=1, Some(b"old"), []), encode(2..=2, Some(b"new"), []), encode(3..=3, None, [])].concat();
        for (consumed, wanted) in [(0, Some(&b"old"[..])), (1, Some(b"new")), (2, None), (3, None)] {
            assert_eq!(good(&log, consumed).head().expect("a good log"), wanted);
        }
    }

    #[test]
    fn entries_that_can_not_be_read_are_damage_where_their_frame_begins() {
        let first = set(1, "a", b"1");
        let bad_id = encode(2..=2, None, [Change::Remove { id: StoredId::any(b"\n"), base: None }]);
        let log = [&first[..], &bad_id].concat();
        assert_damaged(good(&log, 0).replay(), "an id is no id", first.len());
        let mut unknown = first.clone();
        unknown.extend(encode_payload(2, &[9]));
        assert_damaged(good(&unknown, 0).replay(), "an entry is of a kind that is not known", first.len());
        assert_damaged(good(&unknown, 0).find(&id("a")), "an entry is of a kind that is not known", first.len());
        let cut = encode_payload(1, &[4, 9]);
        assert_damaged(good(&cut, 0).head(), "a record is cut off", 0);
    }

    #[test]
    fn the_last_number_is_not_given_out() {
        let last = u64::MAX - 1;
        let log = encode(last..=last, None, []);
        assert_damaged(good(&log, last - 1).next_frame(None, []), "no sequence number is left", log.len());
        assert_damaged(good(b"", u64::MAX).next_frame(None, []), "no sequence number is left", 0);
        assert_eq!(good(b"", last - 1).next_frame(None, []).expect("a frame").number, last);
    }

    #[test]
    fn a_search_among_false_beginnings_ends_soon_and_says_damage() {
        let mut header = encode(1..=1, None, [])[..32].to_vec();
        header[4..12].copy_from_slice(&500_000u64.to_le_bytes());
        let log = header.repeat(30_000);
        assert_damaged(scan(&log, 0), "a bad frame stands before a good one", 0);
        assert!(good(&[0xff; 1_000_000], 0).is_empty());
    }

    /// Stages one node of `size` bytes after the other, as the writer would.
    fn stage(log: &mut Vec<u8>, name: &str, size: usize) -> Place {
        let (name, node) = (id(name), vec![b'x'; size]);
        let change = Change::Set { id: (&name).into(), base: BASE, node: &node };
        let next = good(log, 0).next_frame(None, [change]).expect("a frame");
        match next.place {
            Place::At(end) => log.truncate(usize::try_from(end).expect("fits")),
            Place::NewFile => log.clear(),
        }
        log.extend_from_slice(&next.bytes);
        next.place
    }

    #[test]
    fn a_log_is_folded_when_a_mebibyte_of_it_is_of_no_use() {
        let mut log = encode(1..=1, Some(b"refs/heads/main"), []);
        let places: Vec<_> = (0..6).map(|_| stage(&mut log, "a", 400_000)).collect();
        let folds: Vec<_> = places.iter().map(|place| *place == Place::NewFile).collect();
        assert_eq!(folds, [false, false, false, false, false, true], "at 2 MiB 1.6 MB are replaced, at 1 MiB 0.4 MB");
        let staged = good(&log, 0);
        assert_eq!((staged.last(), staged.live().count()), (7, 2));
        assert_eq!(staged.head().expect("a good log"), Some(&b"refs/heads/main"[..]));
        assert!(log.len() < 900_000);
    }

    #[test]
    fn a_fold_of_one_live_frame_is_known_as_a_fold_and_consumed_by_the_mark_before_what_comes_next() {
        let node = vec![b'x'; 2 * FOLD_BYTES - 200];
        let log = [set(1, "a", &node), set(2, "b", b"2")].concat();
        let c = id("c");
        let change = Change::Set { id: (&c).into(), base: BASE, node: &[b'y'; 200] };
        let frame = good(&log, 1).next_frame(None, [change]).expect("a frame");
        assert_eq!((frame.place, frame.number, frame.mark()), (Place::NewFile, 4, 3));
        assert!(is_fresh_fold(&frame.bytes));
        let after = good(&frame.bytes, 1);
        assert_eq!((after.last(), nodes(&after).len()), (4, 2));
        assert_eq!(nodes(&good(&frame.bytes, frame.mark())), [("c".to_owned(), Some(vec![b'y'; 200]))]);
    }

    #[test]
    fn a_log_is_a_fresh_fold_until_something_sound_stands_behind() {
        let fold = [encode(1..=2, None, []), set(3, "a", b"1")].concat();
        let next = set(4, "a", b"2");
        for (log, fresh) in [
            (Vec::new(), false),
            (set(1, "a", b"1"), false),
            ([set(1, "a", b"1"), set(2, "a", b"1")].concat(), false),
            (fold.clone(), true),
            ([&fold[..], &next[..next.len() - 1]].concat(), true),
            ([&fold[..], &next].concat(), false),
        ] {
            assert_eq!(is_fresh_fold(&log), fresh, "{log:?}");
        }
    }

    #[test]
    fn a_log_of_nothing_but_last_changes_is_not_folded() {
        let mut log = Vec::new();
        for number in 0..9 {
            assert_ne!(stage(&mut log, &format!("n{number}"), 400_000), Place::NewFile);
        }
    }

    /// What a frame does to `(base, node)` of one of four ids.
    type Step = (u8, u8, Option<u8>, u8);

    fn frames(steps: &[Vec<Step>]) -> Vec<Vec<u8>> {
        let ids = ["a", "b", "c/d", "\u{e9}"].map(id);
        let change = |step: &Step| {
            let id = (&ids[usize::from(step.1)]).into();
            let base = step.2.map(|byte| ObjectId::from_bytes([byte; 32]));
            match step.0 {
                0 => Change::Set { id, base, node: [&b"0"[..], b"1", b"2"][usize::from(step.3)] },
                1 => Change::Remove { id, base },
                _ => Change::Unstage { id },
            }
        };
        (1..).zip(steps).map(|(n, steps)| encode(n..=n, (n == 1).then_some(b"h"), steps.iter().map(change))).collect()
    }

    proptest! {
        #[test]
        fn a_fold_anywhere_keeps_what_is_staged(
            steps in vec(vec((0..3u8, 0..4u8, option::of(0..3u8), 0..3u8), 0..4), 1..12),
            at in any::<prop::sample::Index>(),
        ) {
            let frames = frames(&steps);
            let at = at.index(frames.len()) + 1;
            let log = frames.concat();
            let front = frames[..at].concat();
            let front = good(&front, 0);
            let folded = front.folded(front.last()).expect("a good log");
            let folded = [&folded[..], &frames[at..].concat()].concat();
            let (plain, folded) = (good(&log, 0), good(&folded, 0));
            prop_assert_eq!(folded.replay().expect("a good log"), plain.replay().expect("a good log"));
            prop_assert_eq!(folded.head().expect("a good log"), plain.head().expect("a good log"));
            prop_assert_eq!(folded.last(), plain.last());
        }

        #[test]
        fn one_id_is_found_as_the_replay_has_it(
            steps in vec(vec((0..3u8, 0..4u8, option::of(0..3u8), 0..3u8), 0..4), 1..12), consumed in 0..12u64,
        ) {
            let log = frames(&steps).concat();
            let staged = good(&log, consumed.min(steps.len() as u64));
            let all = staged.replay().expect("a good log");
            for name in ["a", "b", "c/d", "\u{e9}", "absent"] {
                prop_assert_eq!(staged.find(&id(name)).expect("a good log"), all.get(&id(name)).copied());
            }
        }

        #[test]
        fn no_bytes_make_the_scan_panic(mut log in vec(any::<u8>(), 0..200), at in any::<prop::sample::Index>()) {
            let frame = set(1, "a", b"1");
            log.splice(at.index(log.len() + 1).., frame);
            drop(scan(&log, 0));
        }
    }

    proptest! {
        #[test]
        fn a_skimmed_log_answers_as_a_scanned_one(
            frames in vec(vec((0u8..3, 0u8..4, vec(any::<u8>(), 0..200)), 0..3), 0..20),
            consumed in 0u64..6,
            tail in 0usize..40,
        ) {
            let mut log = Vec::new();
            for (number, changes) in (1..).zip(&frames) {
                let ids: Vec<_> = changes.iter().map(|(_, name, _)| id(&format!("id{name}"))).collect();
                let changes = changes.iter().zip(&ids).map(|((kind, _, node), id)| match kind {
                    0 => Change::Set { id: id.into(), base: BASE, node },
                    1 => Change::Remove { id: id.into(), base: None },
                    _ => Change::Unstage { id: id.into() },
                });
                log.extend(encode(number..=number, None, changes));
            }
            log.truncate(log.len().saturating_sub(tail));
            let all: Vec<_> = (0..4).map(|name| id(&format!("id{name}"))).collect();
            match (scan(&log, consumed), skim(&log, consumed, &all.iter().collect::<Vec<_>>())) {
                (Ok(scanned), Ok(skimmed)) => {
                    prop_assert_eq!(scanned.last(), skimmed.last());
                    for id in &all {
                        prop_assert_eq!(scanned.find(id).ok(), skimmed.find(id).ok());
                    }
                    prop_assert_eq!(scanned.replay().ok(), skimmed.replay().ok());
                }
                (scanned, skimmed) => prop_assert_eq!(scanned.is_err(), skimmed.is_err()),
            }
        }
    }
}
