//! Bundles that are cut, flipped, reordered or made up: nothing is changed, and the error is the bundle's.

use crate::place::{Place, id, node, opened, words};
use mnemosyne::model::{CommitTime, Message};
use mnemosyne::object::{Commit, CommitId, StateId, encode_node};
use mnemosyne::ops::OpError;
use mnemosyne::store::{
    BundleFault, BundleFile, BundledChange, BundledRef, BundledTag, Decoder, Encoder, Header, Reading, rebuild,
};
use sha2::{Digest, Sha256};
use std::io::{self, Cursor, Read, Seek, SeekFrom};

const MAIN: &str = "refs/heads/main";

/// A bundle taken apart, of which anything can be changed.
#[derive(Clone)]
struct Parts {
    header: Header,
    commits: Vec<Part>,
}

/// A commit, and each change: the bytes of a node, or the id of one that goes.
#[derive(Clone)]
struct Part {
    bytes: Vec<u8>,
    changes: Vec<Result<Vec<u8>, String>>,
}

impl Part {
    fn commit(&self) -> Commit {
        Commit::decode(&self.bytes).expect("a commit")
    }
}

impl Parts {
    fn of(bytes: &[u8]) -> Self {
        let mut decoder = Decoder::begin(bytes, bytes.len() as u64).expect("a bundle");
        let header = decoder.header().clone();
        let mut commits = Vec::new();
        while let Some(bundled) = decoder.next_commit().expect("a bundle") {
            let change = |change| match change {
                BundledChange::Set { version, .. } => Ok(version),
                BundledChange::Removed(id) => Err(id.as_str().to_owned()),
            };
            let changes = bundled.changes.into_iter().map(change).collect();
            commits.push(Part { bytes: bundled.commit.encode(), changes });
        }
        Self { header, commits }
    }

    fn bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut encoder = Encoder::begin(&mut out, &self.header).expect("memory");
        for part in &self.commits {
            encoder.commit(&part.bytes).expect("memory");
            for change in &part.changes {
                match change {
                    Ok(version) => encoder.set(version).expect("memory"),
                    Err(gone) => encoder.removed(&id(gone)).expect("memory"),
                }
            }
            encoder.end_commit().expect("memory");
        }
        encoder.finish().expect("memory");
        out
    }

    /// Changes what the last commit says, and lets the branch name it.
    fn with_last(mut self, change: impl FnOnce(&mut Commit)) -> Self {
        let last = self.commits.last_mut().expect("a commit");
        let mut commit = last.commit();
        change(&mut commit);
        last.bytes = commit.encode();
        self.header.refs.get_mut(MAIN).expect("a branch").commit = commit.id();
        self
    }
}

/// The same bytes with the sum that they have now.
pub fn summed(bytes: &[u8]) -> Vec<u8> {
    let (body, _) = bytes.split_at(bytes.len() - 32);
    [body, &Sha256::digest(body)[..]].concat()
}

/// Four commits: two nodes, one of them changed, one removed and one added, and a merge.
fn place() -> Place {
    let place = Place::new();
    let first = place.commit(&[], &[("a", Some("1")), ("b", Some("2"))], words("first", 1), &[]);
    let second = place.commit(&[first], &[("a", Some("3"))], words("second", 2), &[]);
    let third = place.commit(&[first], &[("b", None), ("c", Some("é"))], words("third", 3), &[]);
    place.commit(&[second, third], &[("b", None), ("c", Some("é"))], words("merge", 4), &[MAIN]);
    place.set("refs/tags/v1", &second, "tag: said");
    place
}

fn fault(error: OpError) -> BundleFault {
    match error {
        OpError::Bundle { name, fault } => {
            assert_eq!(name, "it");
            fault
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_written_is_read_and_written_again() {
    let bytes = place().bundle(&[]);
    assert_eq!(Parts::of(&bytes).bytes(), bytes);
    let (_, summary) = opened(&bytes).expect("a bundle");
    assert_eq!((summary.parents.len(), summary.changes), (4, 7));
}

#[test]
fn a_bundle_that_is_cut_anywhere_is_none() {
    let bytes = place().bundle(&[]);
    for length in 0..bytes.len() {
        match fault(opened(&bytes[..length]).expect_err("it is cut")) {
            BundleFault::NoBundle => assert!(length < 12, "{length}"),
            BundleFault::Damaged(_) => assert!(length >= 12, "{length}"),
            other => panic!("{length}: {other:?}"),
        }
        // A reader that knows no length is told the same.
        assert!(Decoder::begin(&bytes[..length], bytes.len() as u64).and_then(|mut it| drain(&mut it)).is_err());
    }
    let more = opened(&[&bytes[..], &[0]].concat()).expect_err("there is more");
    assert!(matches!(fault(more), BundleFault::Damaged(_)));
}

fn drain<R: Read>(decoder: &mut Decoder<R>) -> Result<(), BundleFault> {
    while decoder.next_commit()?.is_some() {}
    Ok(())
}

#[test]
fn a_byte_that_is_flipped_anywhere_is_told_as_damage() {
    let bytes = place().bundle(&[]);
    for at in 0..bytes.len() {
        for flip in [1, 0x80, 0xff] {
            let mut flipped = bytes.clone();
            flipped[at] ^= flip;
            // Also where it is flipped behind the back of who has looked at the sum.
            let late = Decoder::begin(&flipped[..], bytes.len() as u64).and_then(|mut decoder| drain(&mut decoder));
            assert!(late.is_err(), "{at}");
            match fault(opened(&flipped).expect_err("a byte was flipped")) {
                BundleFault::NoBundle => assert!(at < 14, "{at}"),
                BundleFault::Version(_) => assert!((12..14).contains(&at), "{at}"),
                BundleFault::Damaged(what) => {
                    assert!(at >= 14, "{at}");
                    assert_eq!(what, "its checksum does not fit: it was changed or cut off");
                }
                other => panic!("{at}: {other:?}"),
            }
        }
    }
}

#[test]
fn a_byte_that_is_changed_and_summed_anew_changes_refs_at_the_most() {
    let place = place();
    let bytes = place.bundle(&[]);
    let (commits, mut taken) = (Parts::of(&bytes).commits.len(), 0);
    let header = bytes.windows(10).position(|part| part == b"{\"parents\"").expect("a commit");
    for at in 14..bytes.len() - 32 {
        for flip in [1, 0x20] {
            let mut changed = bytes.clone();
            changed[at] ^= flip;
            let changed = summed(&changed);
            if opened(&changed).is_err() || place.verify(&changed).is_err() {
                continue;
            }
            assert!(at < header, "{at}: {flip}");
            assert_eq!(Parts::of(&changed).bytes(), changed);
            assert_eq!(Parts::of(&changed).commits.len(), commits);
            Place::new().import(&changed, None).expect("what is verified is taken in");
            taken += 1;
        }
    }
    assert!(taken > 0, "a name or a word may be another");
}

/// Says how a bundle was changed, what is said of it, and on what it is to come.
type Case = (&'static str, Parts, &'static str);

#[test]
fn whatever_is_not_as_it_says_changes_nothing_although_its_sum_is_right() {
    let place = place();
    let good = Parts::of(&place.bundle(&[]));
    let edit = |change: &dyn Fn(&mut Parts)| {
        let mut parts = good.clone();
        change(&mut parts);
        parts
    };
    let set = |name: &str, text: &str| Ok(encode_node(&node(&id(name), text)));
    let spelled = |from: &str, to: &str| {
        let bytes = good.commits[1].changes[0].clone().expect("a node");
        let text = String::from_utf8(bytes).expect("UTF-8");
        assert!(text.contains(from));
        Ok(text.replace(from, to).into_bytes())
    };
    let zero = CommitId::from_bytes([0; 32]);
    let cases: Vec<Case> = vec![
        ("swapped", edit(&|it| it.commits.swap(0, 1)), "stands before its parent"),
        ("reversed", edit(&|it| it.commits.reverse()), "stands before its parent"),
        ("without the first", edit(&|it| drop(it.commits.remove(0))), "stands before its parent"),
        ("without one between", edit(&|it| drop(it.commits.remove(2))), "stands before its parent"),
        ("without the last", edit(&|it| drop(it.commits.pop())), "which it does not have"),
        ("without all", edit(&|it| it.commits.clear()), "which it does not have"),
        ("twice", edit(&|it| it.commits.insert(1, it.commits[0].clone())), "is there twice"),
        ("other content", edit(&|it| it.commits[1].changes[0] = set("a", "4")), "names another memory"),
        ("other id", edit(&|it| it.commits[1].changes[0] = set("d", "3")), "names another memory"),
        ("without a change", edit(&|it| drop(it.commits[2].changes.pop())), "names another memory"),
        ("other order", edit(&|it| it.commits[2].changes.reverse()), "out of order"),
        ("set twice", edit(&|it| it.commits[1].changes.push(set("a", "3"))), "out of order"),
        (
            "removes what is not there",
            edit(&|it| it.commits[1].changes[0] = Err("x".into())),
            "has a change that is none",
        ),
        ("sets what is there", edit(&|it| it.commits[1].changes[0] = set("a", "1")), "has a change that is none"),
        (
            "other state",
            good.clone().with_last(|commit| commit.state = StateId::from_bytes([7; 32])),
            "names another memory",
        ),
        ("other parent", good.clone().with_last(|commit| commit.parents.swap(0, 1)), "has a change that is none"),
        ("a parent less", good.clone().with_last(|commit| commit.parents.truncate(1)), "no ref leads to commit"),
        (
            "a parent from elsewhere",
            good.clone().with_last(|commit| commit.parents[1] = zero),
            "stands before its parent",
        ),
        (
            "a claim",
            edit(&|it| it.commits[1].changes[0] = spelled("note", "claim")),
            "content kind 'claim' is reserved",
        ),
        ("no kind", edit(&|it| it.commits[1].changes[0] = spelled("note", "notes")), "unknown content kind 'notes'"),
        (
            "spelled otherwise",
            edit(&|it| it.commits[1].changes[0] = spelled(":\"3\"", ": \"3\"")),
            "not in canonical form",
        ),
        ("no node", edit(&|it| it.commits[1].changes[0] = Ok(b"{}".to_vec())), "not in canonical form"),
        ("a commit spelled otherwise", edit(&|it| it.commits[0].bytes.push(b' ')), "not in canonical form"),
        ("a spare commit", edit(&|it| assert!(it.header.prerequisites.insert(zero))), "nothing in it builds on"),
        (
            "a ref to elsewhere",
            edit(&|it| it.header.refs.get_mut(MAIN).expect("it").commit = zero),
            "which it does not have",
        ),
        ("without the branch", edit(&|it| drop(it.header.refs.remove(MAIN))), "no ref leads to commit"),
        ("without refs", edit(&|it| it.header.refs.clear()), "it has no ref"),
        (
            "a ref of no kind",
            edit(&|it| {
                let main = it.header.refs[MAIN].clone();
                it.header.refs.insert("refs/other/x".into(), main);
            }),
            "'refs/other/x' is no name of a ref",
        ),
        (
            "a name that is none",
            edit(&|it| {
                let main = it.header.refs[MAIN].clone();
                it.header.refs.insert("refs/heads/a..b".into(), main);
            }),
            "'refs/heads/a..b' is no name of a ref",
        ),
    ];
    // Somebody else's store with a history, and one that has the first commits already.
    let other = Place::new();
    other.commit(&[], &[("a", Some("9"))], words("own", 9), &["refs/heads/own"]);
    let copies = [Place::new(), other];
    for (what, parts, said) in cases {
        let bytes = parts.bytes();
        for copy in &copies {
            let before = copy.dump();
            for refused in [copy.import(&bytes, None).map(drop), copy.verify(&bytes)] {
                let fault = fault(refused.expect_err(what));
                assert!(fault.to_string().contains(said), "{what}: {fault}");
                let is_kind = matches!(fault, BundleFault::Kind { .. });
                assert_eq!(is_kind, said.contains("content kind"), "{what}: {fault:?}");
                assert!(is_kind || matches!(fault, BundleFault::Damaged(_)), "{what}: {fault:?}");
            }
            assert_eq!(copy.dump(), before, "{what}");
        }
    }
    for copy in &copies {
        copy.import(&good.bytes(), None).expect("the bundle itself is taken in");
    }
}

#[test]
fn a_commit_that_is_here_is_kept_and_one_on_top_of_it_is_still_compared() {
    let (place, copy) = (place(), Place::new());
    copy.import(&place.bundle(&["v1"]), None).expect("a bundle");
    let mut parts = Parts::of(&place.bundle(&[]));
    parts.commits[3].changes.pop();
    let before = copy.dump();
    let refused = fault(copy.import(&parts.bytes(), None).expect_err("another memory"));
    assert!(refused.to_string().contains("names another memory"), "{refused}");
    assert_eq!(copy.dump(), before);
}

#[test]
fn what_a_bundle_builds_on_is_missed_also_by_who_does_not_ask_first() {
    let (place, copy) = (place(), Place::new());
    let bytes = place.bundle(&["v1..main"]);
    let before = copy.dump();
    let (mut bundle, _) = opened(&bytes).expect("a bundle");
    let snapshot = copy.store.snapshot().expect("a snapshot");
    let refused = copy.store.write(snapshot, |tables| Ok::<_, OpError>(tables.import_commits(&mut bundle)?));
    let directory = tempfile::tempdir().expect("a directory");
    let rebuilt = rebuild::<Reading, _>(&mut bundle, None, directory.path());
    for refused in [refused.map(drop), rebuilt.map_err(OpError::from)] {
        let told = fault(refused.expect_err("what it builds on is not here"));
        assert!(told.to_string().contains("is not here, and commits of the bundle build on it"), "{told}");
    }
    assert_eq!(copy.dump(), before);
}

/// A disk that fails behind so many bytes.
struct Failing(Cursor<Vec<u8>>, u64);

impl Read for Failing {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.1.saturating_sub(self.0.position())).expect("small");
        if left == 0 {
            return Err(io::Error::other("no more"));
        }
        let count = left.min(out.len());
        self.0.read(&mut out[..count])
    }
}

impl Seek for Failing {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

#[test]
fn what_can_not_be_read_is_no_damage() {
    let bytes = place().bundle(&[]);
    for until in 0..bytes.len() as u64 {
        let opened = BundleFile::open("it", Failing(Cursor::new(bytes.clone()), until));
        let told = fault(opened.map(drop).expect_err("it fails").into());
        assert!(matches!(&told, BundleFault::Read(error) if error.to_string() == "no more"), "{until}: {told:?}");
    }
    assert!(BundleFile::open("it", Failing(Cursor::new(bytes.clone()), bytes.len() as u64)).is_ok());
}

#[test]
fn lengths_that_are_lies_take_no_room() {
    let begin = |rest: &[u8]| [b"mnem bundle 1\n", rest].concat();
    let huge = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f];
    for (rest, said) in [
        (&huge[..], "a string in it is too long for a store"),
        (&[0xff, 0xff, 0xff, 0xff, 0x0f], "it is cut off"),
        (&[9, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f], "a record is cut off"),
        (&[10, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f], "a record is cut off"),
        (&[0x80, 0], "not in its shortest form"),
        (&[0xff; 11], "not in its shortest form"),
    ] {
        let bytes = summed(&[begin(rest), vec![0; 32]].concat());
        let fault = fault(opened(&bytes).expect_err(said));
        assert!(matches!(&fault, BundleFault::Damaged(what) if what.contains(said)), "{rest:x?}: {fault:?}");
    }
    // Right in all but the count at the end.
    let bytes = place().bundle(&[]);
    let mut miscounted = bytes.clone();
    let at = bytes.len() - 33;
    miscounted[at] = 5;
    let told = fault(opened(&summed(&miscounted)).expect_err("five are none"));
    assert_eq!(told.to_string(), "it has not as many commits as it says");
    let more = summed(&[&bytes[..bytes.len() - 32], &[0], &[0; 32]].concat());
    let told = fault(opened(&more).expect_err("there is more"));
    assert_eq!(told.to_string(), "there is something behind its end");
}

#[test]
fn another_file_and_another_version_are_told_apart() {
    for bytes in
        [&b""[..], b"# v2 git bundle\n", b"mnem bundle", b"mnem bundle one two three four\n", b"mnem bundle \xff\n"]
    {
        assert!(matches!(fault(opened(bytes).expect_err("none")), BundleFault::NoBundle), "{bytes:?}");
    }
    let bytes = place().bundle(&[]);
    let next = [b"mnem bundle 2\n", &bytes[14..]].concat();
    assert!(matches!(fault(opened(&next).expect_err("newer")), BundleFault::Version(version) if version == "2"));
}

#[test]
fn a_header_is_spelled_in_one_way() {
    let id = CommitId::from_bytes([3; 32]);
    let tag = |message: Option<&str>| BundledTag {
        time: CommitTime::new(1_764_576_000_123, -90).expect("a time"),
        message: message.map(|text| Message::new(text).expect("a message")),
    };
    let refs = [
        ("refs/heads/é", BundledRef { commit: id, tag: None }),
        ("refs/tags/a", BundledRef { commit: id, tag: Some(tag(None)) }),
        ("refs/tags/b", BundledRef { commit: id, tag: Some(tag(Some(" a\nb"))) }),
    ];
    let header = Header {
        prerequisites: [id, CommitId::from_bytes([2; 32])].into(),
        refs: refs.map(|(name, it)| (name.to_owned(), it)).into(),
    };
    let bytes = header.encode();
    assert_eq!(Header::decode(&bytes).expect("a header"), header);
    for end in 0..bytes.len() {
        assert!(Header::decode(&bytes[..end]).is_err(), "{end}");
    }
    assert!(Header::decode(&[&bytes[..], &[0]].concat()).is_err());
    let swap = |from: &[u8], to: &[u8]| {
        let at = bytes.windows(from.len()).position(|part| part == from).expect("it is there");
        let swapped = [&bytes[..at], to, &bytes[at + from.len()..]].concat();
        Header::decode(&swapped).expect_err("it is spelled otherwise").to_string()
    };
    let both = [[2; 32], [3; 32]].concat();
    assert!(swap(&both, &[[3; 32], [2; 32]].concat()).contains("out of order"));
    assert!(swap(&both, &[[3; 32], [3; 32]].concat()).contains("out of order"));
    assert!(swap(b"refs/tags/b", b"refs/tags/a").contains("out of order"));
    assert!(swap(b"refs/tags/b", b"refs/tags/A").contains("out of order"));
    assert!(swap(b" a\nb", b"    ").contains("what a tag says"));
    assert!(swap(b" a\nb", b" ab\n").contains("what a tag says"));
}
