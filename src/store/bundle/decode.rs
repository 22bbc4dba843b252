//! The bytes of a bundle, read one commit after the other.

use super::{BundleFault, BundledRef, END, Header, LONGEST, MAGIC, REMOVED, SET, SUM, VERSION};
use crate::model::{NodeId, push_json_string};
use crate::object::{Commit, CommitId, DecodeError, ObjectId, Reader, decode_kept, kept_object_id, sha256};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufReader, ErrorKind, Read};

/// The longest version that is named in a message.
const VERSION_DIGITS: usize = 20;

/// A commit of a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundledCommit {
    /// Its id.
    pub id: CommitId,
    /// What it says.
    pub commit: Commit,
    /// What it changed against its first parent, or against nothing, in the order of the keys.
    pub changes: Vec<BundledChange>,
}

/// What a commit made of an id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BundledChange {
    /// It set a version of a node.
    Set {
        /// The node's id.
        id: NodeId,
        /// Its id as an object.
        object: ObjectId,
        /// Its canonical bytes: those of the node, or of the marker in its place.
        version: Vec<u8>,
    },
    /// It removed the node.
    Removed(NodeId),
}

impl BundledChange {
    /// The id that is changed.
    pub fn id(&self) -> &NodeId {
        match self {
            Self::Set { id, .. } | Self::Removed(id) => id,
        }
    }
}

/// Reads a bundle from front to back. What it refuses is refused by every store; whether the commits have the memories that
/// they name is not seen here.
///
/// Holds one commit with its changes, and the ids of all commits so far.
pub struct Decoder<R> {
    input: Input<R>,
    header: Header,
    parents: BTreeMap<CommitId, Vec<CommitId>>,
    /// Commits of which no other is a child yet.
    tips: BTreeSet<CommitId>,
    /// Prerequisites of which no commit is a child yet.
    unused: BTreeSet<CommitId>,
    ended: bool,
}

impl<R: Read> Decoder<R> {
    /// Begins to read a bundle of `length` bytes.
    pub fn begin(reader: R, length: u64) -> Result<Self, BundleFault> {
        let mut input = Input::begin(reader, length)?;
        let header = Header::decode(&input.string()?)?;
        let unused = header.prerequisites.clone();
        Ok(Self { input, header, parents: BTreeMap::new(), tips: BTreeSet::new(), unused, ended: false })
    }

    /// What stands before the commits.
    #[cfg(feature = "internals")]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The parents of each commit so far.
    pub fn into_parents(self) -> (Header, BTreeMap<CommitId, Vec<CommitId>>) {
        (self.header, self.parents)
    }

    /// The next commit; `None` once, behind the last one, when the whole is known to be as the bundle says.
    pub fn next_commit(&mut self) -> Result<Option<BundledCommit>, BundleFault> {
        if self.ended {
            return Ok(None);
        }
        let canonical = self.input.string()?;
        if canonical.is_empty() {
            self.end()?;
            self.ended = true;
            return Ok(None);
        }
        let id = CommitId::from_bytes(sha256(&[b"commit 1\0", &canonical]));
        let commit = Commit::decode(&canonical).map_err(|error| BundleFault::of_commit(id, error))?;
        let fault = |what: &str| BundleFault::damaged(format!("commit {id} {what}"));
        if self.parents.contains_key(&id) || self.header.prerequisites.contains(&id) {
            return Err(fault("is there twice"));
        }
        if !commit.parents.iter().all(|id| self.parents.contains_key(id) || self.header.prerequisites.contains(id)) {
            return Err(fault("stands before its parent"));
        }
        for parent in &commit.parents {
            self.tips.remove(parent);
            self.unused.remove(parent);
        }
        self.tips.insert(id);
        self.parents.insert(id, commit.parents.clone());
        let changes = self.changes(id)?;
        Ok(Some(BundledCommit { id, commit, changes }))
    }

    fn changes(&mut self, commit: CommitId) -> Result<Vec<BundledChange>, BundleFault> {
        let mut changes = Vec::new();
        let mut last = None;
        loop {
            let change = match self.input.byte()? {
                END => return Ok(changes),
                SET => {
                    let version = self.input.string()?;
                    let kept = decode_kept(&version).map_err(|error| BundleFault::of_commit(commit, error))?;
                    BundledChange::Set { id: kept.id().clone(), object: kept_object_id(&version), version }
                }
                REMOVED => {
                    let id = String::from_utf8(self.input.string()?).ok().and_then(|text| NodeId::new(text).ok());
                    BundledChange::Removed(id.ok_or_else(|| {
                        BundleFault::of_commit(commit, DecodeError::NotCanonical("a node's id is no id"))
                    })?)
                }
                other => return Err(BundleFault::damaged(format!("commit {commit} has a change of kind {other}"))),
            };
            let key = Some(sha256(&[change.id().as_str().as_bytes()]));
            if last >= key {
                let mut id = String::new();
                push_json_string(&mut id, change.id().as_str());
                return Err(BundleFault::damaged(format!("commit {commit} changes {id} out of order")));
            }
            last = key;
            changes.push(change);
        }
    }

    /// Reads what stands behind the last commit.
    fn end(&mut self) -> Result<(), BundleFault> {
        if self.input.varint()? != self.parents.len() as u64 {
            return Err(BundleFault::damaged("it has not as many commits as it says"));
        }
        self.input.finish()?;
        for (name, BundledRef { commit, .. }) in &self.header.refs {
            if !self.parents.contains_key(commit) && !self.header.prerequisites.contains(commit) {
                return Err(BundleFault::damaged(format!(
                    "the ref '{name}' names commit {commit}, which it does not have"
                )));
            }
            self.tips.remove(commit);
            self.unused.remove(commit);
        }
        match (self.tips.first(), self.unused.first()) {
            (Some(id), _) => Err(BundleFault::damaged(format!("no ref leads to commit {id}"))),
            (None, Some(id)) => Err(BundleFault::damaged(format!("nothing in it builds on commit {id}"))),
            (None, None) => Ok(()),
        }
    }
}

/// The bytes of a bundle up to its sum, which is compared at the end.
struct Input<R> {
    reader: BufReader<R>,
    sum: Sha256,
    /// How many bytes there are before the sum.
    left: u64,
}

impl<R: Read> Input<R> {
    /// Reads the first line.
    fn begin(reader: R, length: u64) -> Result<Self, BundleFault> {
        let mut input = Self { reader: BufReader::new(reader), sum: Sha256::new(), left: length };
        let mut magic = [0; MAGIC.len()];
        if input.left < magic.len() as u64 {
            return Err(BundleFault::NoBundle);
        }
        input.fill(&mut magic)?;
        if magic != MAGIC {
            return Err(BundleFault::NoBundle);
        }
        let mut version = Vec::new();
        while version.last() != Some(&b'\n') {
            version.push(input.byte()?);
            if version.len() > VERSION_DIGITS {
                return Err(BundleFault::NoBundle);
            }
        }
        version.pop();
        if version != VERSION {
            let text = String::from_utf8(version).ok().filter(|text| text.bytes().all(|b| b.is_ascii_graphic()));
            return Err(text.map_or(BundleFault::NoBundle, BundleFault::Version));
        }
        input.left = input.left.checked_sub(SUM as u64).ok_or_else(cut)?;
        Ok(input)
    }

    fn fill(&mut self, out: &mut [u8]) -> Result<(), BundleFault> {
        self.left = self.left.checked_sub(out.len() as u64).ok_or_else(cut)?;
        self.reader.read_exact(out).map_err(read_fault)?;
        self.sum.update(out);
        Ok(())
    }

    fn byte(&mut self) -> Result<u8, BundleFault> {
        let mut byte = [0];
        self.fill(&mut byte)?;
        Ok(byte[0])
    }

    fn varint(&mut self) -> Result<u64, BundleFault> {
        let mut bytes = Vec::with_capacity(10);
        loop {
            let byte = self.byte()?;
            bytes.push(byte);
            if byte < 0x80 || bytes.len() == bytes.capacity() {
                return Ok(Reader::new(&bytes).varint()?);
            }
        }
    }

    /// Reads a string; its length is looked at before there is room for it.
    fn string(&mut self) -> Result<Vec<u8>, BundleFault> {
        let length = self.varint()?;
        if length > LONGEST {
            return Err(BundleFault::damaged("a string in it is too long for a store"));
        }
        self.left = self.left.checked_sub(length).ok_or_else(cut)?;
        let mut bytes = Vec::new();
        (&mut self.reader).take(length).read_to_end(&mut bytes).map_err(read_fault)?;
        if bytes.len() as u64 != length {
            return Err(cut());
        }
        self.sum.update(&bytes);
        Ok(bytes)
    }

    /// Compares the sum, behind which nothing may be.
    fn finish(&mut self) -> Result<(), BundleFault> {
        if self.left > 0 {
            return Err(BundleFault::damaged("there is something behind its end"));
        }
        let mut found = [0; SUM];
        self.reader.read_exact(&mut found).map_err(read_fault)?;
        compare(&self.sum, &found)
    }
}

fn compare(sum: &Sha256, found: &[u8]) -> Result<(), BundleFault> {
    if sum.clone().finalize()[..] == *found {
        Ok(())
    } else {
        Err(BundleFault::damaged("its checksum does not fit: it was changed or cut off"))
    }
}

fn cut() -> BundleFault {
    BundleFault::damaged("it is cut off")
}

fn read_fault(error: std::io::Error) -> BundleFault {
    if error.kind() == ErrorKind::UnexpectedEof { cut() } else { error.into() }
}

/// Compares the sum of a bundle of `length` bytes, and looks at nothing behind the first line: so whatever was damaged on the
/// way is told as that, whichever bytes it has become.
pub(super) fn check_sum(reader: impl Read, length: u64) -> Result<(), BundleFault> {
    let mut input = Input::begin(reader, length)?;
    let mut piece = vec![0; 1 << 16];
    while input.left > 0 {
        let count = usize::try_from(input.left).unwrap_or(usize::MAX).min(piece.len());
        input.fill(&mut piece[..count])?;
    }
    input.finish()
}
