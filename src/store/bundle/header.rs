//! What a bundle says before its commits.

use super::super::record::{push_time, read_time};
use super::BundleFault;
use crate::model::{BranchName, CommitTime, Message, TagName};
use crate::object::{CommitId, Reader, push_bytes, push_varint};
use std::collections::{BTreeMap, BTreeSet};

/// What is asked of who takes a bundle in, and which refs it has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Commits that must be there already.
    pub prerequisites: BTreeSet<CommitId>,
    /// The refs by their full names.
    pub refs: BTreeMap<String, BundledRef>,
}

/// A branch or a tag in a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundledRef {
    /// The commit that it names, one of the bundle or a prerequisite.
    pub commit: CommitId,
    /// What is to be known of a tag; `None` for a branch.
    pub tag: Option<BundledTag>,
}

/// A tag in a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundledTag {
    /// When it was set.
    pub time: CommitTime,
    /// What it says.
    pub message: Option<Message>,
}

/// Which kind of ref a name is.
enum Kind {
    Branch,
    Tag,
}

impl Kind {
    /// `None` for what is no name of a ref.
    fn of(name: &str) -> Option<Self> {
        if let Some(short) = name.strip_prefix("refs/heads/") {
            return BranchName::new(short).ok().map(|_| Self::Branch);
        }
        TagName::new(name.strip_prefix("refs/tags/")?).ok().map(|_| Self::Tag)
    }
}

impl Header {
    /// Writes the prerequisites, then the refs, each in their order behind their count.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        push_varint(&mut out, self.prerequisites.len() as u64);
        for id in &self.prerequisites {
            out.extend_from_slice(id.as_bytes());
        }
        push_varint(&mut out, self.refs.len() as u64);
        for (name, BundledRef { commit, tag }) in &self.refs {
            push_bytes(&mut out, name.as_bytes());
            out.extend_from_slice(commit.as_bytes());
            if let Some(BundledTag { time, message }) = tag {
                push_time(&mut out, *time);
                push_bytes(&mut out, message.as_ref().map_or("", Message::as_str).as_bytes());
            }
        }
        out
    }

    /// Reads what [`Header::encode`] wrote, and refuses what it would have written otherwise.
    pub fn decode(bytes: &[u8]) -> Result<Self, BundleFault> {
        let mut reader = Reader::new(bytes);
        let mut header = Self::default();
        for _ in 0..reader.varint()? {
            let id = CommitId::from_bytes(reader.array()?);
            if header.prerequisites.last().is_some_and(|last| *last >= id) {
                return Err(BundleFault::damaged("the commits that it builds on are out of order"));
            }
            header.prerequisites.insert(id);
        }
        for _ in 0..reader.varint()? {
            let name = reader.text()?;
            let kind = Kind::of(name).ok_or_else(|| BundleFault::damaged(format!("'{name}' is no name of a ref")))?;
            if header.refs.last_key_value().is_some_and(|(last, _)| &last[..] >= name) {
                return Err(BundleFault::damaged("its refs are out of order"));
            }
            let commit = CommitId::from_bytes(reader.array()?);
            let tag = match kind {
                Kind::Branch => None,
                Kind::Tag => Some(BundledTag { time: read_time(&mut reader)?, message: read_message(&mut reader)? }),
            };
            header.refs.insert(name.to_owned(), BundledRef { commit, tag });
        }
        reader.finish()?;
        if header.refs.is_empty() {
            return Err(BundleFault::damaged("it has no ref"));
        }
        Ok(header)
    }
}

fn read_message(reader: &mut Reader<'_>) -> Result<Option<Message>, BundleFault> {
    let text = reader.text()?;
    if text.is_empty() {
        return Ok(None);
    }
    let message = Message::new(text).ok().filter(|message| message.as_str() == text);
    message.map(Some).ok_or_else(|| BundleFault::damaged("what a tag says is blank or ends with a line end"))
}
