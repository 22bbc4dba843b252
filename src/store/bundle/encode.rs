//! The bytes of a bundle, one after the other.

use super::{END, Header, MAGIC, REMOVED, SET, VERSION};
use crate::model::NodeId;
use crate::object::push_varint;
use sha2::{Digest, Sha256};
use std::io::{self, Write};

/// Writes a bundle from front to back, and holds nothing of it.
///
/// Who calls it sees to what the format demands: parents before children, changes in the order of their keys.
pub struct Encoder<W> {
    out: W,
    sum: Sha256,
    commits: u64,
    bytes: u64,
}

impl<W: Write> Encoder<W> {
    /// Begins a bundle.
    pub fn begin(out: W, header: &Header) -> io::Result<Self> {
        let mut encoder = Self { out, sum: Sha256::new(), commits: 0, bytes: 0 };
        for part in [MAGIC, VERSION, b"\n"] {
            encoder.push(part)?;
        }
        encoder.string(&header.encode())?;
        Ok(encoder)
    }

    /// Begins a commit with its canonical bytes. Its changes follow.
    pub fn commit(&mut self, canonical: &[u8]) -> io::Result<()> {
        self.commits += 1;
        self.string(canonical)
    }

    /// A version of a node that the commit sets: the canonical bytes of the node, or of the marker in its place.
    pub fn set(&mut self, version: &[u8]) -> io::Result<()> {
        self.push(&[SET])?;
        self.string(version)
    }

    /// An id that the commit removes.
    pub fn removed(&mut self, id: &NodeId) -> io::Result<()> {
        self.push(&[REMOVED])?;
        self.string(id.as_str().as_bytes())
    }

    /// Ends a commit.
    pub fn end_commit(&mut self) -> io::Result<()> {
        self.push(&[END])
    }

    /// Ends the bundle, and returns how many bytes it has.
    pub fn finish(mut self) -> io::Result<u64> {
        self.string(b"")?;
        let commits = self.commits;
        self.varint(commits)?;
        let sum = self.sum.finalize();
        self.out.write_all(&sum)?;
        Ok(self.bytes + sum.len() as u64)
    }

    fn varint(&mut self, number: u64) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(10);
        push_varint(&mut bytes, number);
        self.push(&bytes)
    }

    fn string(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.varint(bytes.len() as u64)?;
        self.push(bytes)
    }

    fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.sum.update(bytes);
        self.bytes += bytes.len() as u64;
        self.out.write_all(bytes)
    }
}
