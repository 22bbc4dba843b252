//! A bundle as a file.

use super::decode::{Decoder, check_sum};
use super::{BundleError, BundleFault, Header};
use crate::object::CommitId;
use std::collections::BTreeMap;
use std::io::{Read, Seek, SeekFrom};

/// A bundle whose sum was compared. It may be read several times.
#[derive(Debug)]
pub struct BundleFile<R> {
    name: String,
    reader: R,
    length: u64,
}

/// What a bundle says of itself, when each of its bytes was looked at.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Its prerequisites and refs.
    pub header: Header,
    /// Its commits with their parents.
    pub parents: BTreeMap<CommitId, Vec<CommitId>>,
    /// How many changes of nodes its commits have.
    pub changes: u64,
}

impl<R: Read + Seek> BundleFile<R> {
    /// Takes what is in `reader`, which messages call `name`.
    pub fn open(name: impl Into<String>, mut reader: R) -> Result<Self, BundleError> {
        let name = name.into();
        let checked = reader.seek(SeekFrom::End(0)).map_err(BundleFault::from).and_then(|length| {
            reader.rewind()?;
            check_sum(&mut reader, length).map(|()| length)
        });
        match checked {
            Ok(length) => Ok(Self { name, reader, length }),
            Err(fault) => Err(BundleError::Bundle { name, fault }),
        }
    }

    /// What messages call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Reads all of it, without a store.
    pub fn summary(&mut self) -> Result<Summary, BundleError> {
        let mut changes = 0;
        let decoder = self.each(|bundled| {
            changes += bundled.changes.len() as u64;
            Ok(())
        })?;
        let (header, parents) = decoder.into_parents();
        Ok(Summary { header, parents, changes })
    }

    /// Calls `visit` with each commit, parents before children. What `visit` was called with counts only when this
    /// returns: the end of the bundle is looked at last.
    pub(super) fn each(
        &mut self,
        mut visit: impl FnMut(super::BundledCommit) -> Result<(), Refusal>,
    ) -> Result<Decoder<&mut R>, BundleError> {
        let name = &self.name;
        let named = |fault: BundleFault| BundleError::Bundle { name: name.clone(), fault };
        self.reader.rewind().map_err(|error| named(error.into()))?;
        let mut decoder = Decoder::begin(&mut self.reader, self.length).map_err(named)?;
        while let Some(bundled) = decoder.next_commit().map_err(named)? {
            visit(bundled).map_err(|refusal| match refusal {
                Refusal::Bundle(fault) => named(fault),
                Refusal::Store(error) => error.into(),
            })?;
        }
        Ok(decoder)
    }
}

/// Why a commit is not taken.
pub(super) enum Refusal {
    Bundle(BundleFault),
    Store(super::super::StoreError),
}

impl From<super::super::StoreError> for Refusal {
    fn from(error: super::super::StoreError) -> Self {
        Self::Store(error)
    }
}

impl Refusal {
    /// A commit that is not as the bundle says.
    pub(super) fn of(id: CommitId, what: &str) -> Self {
        Self::Bundle(BundleFault::Damaged(format!("commit {id} {what}")))
    }
}
