//! A bundle of commits of a store.

use super::super::rows::Access;
use super::super::tables::Tables;
use super::super::{Number, StoreError};
use super::{Encoder, Header};
use crate::object::{Link, Source, diff};
use std::io::{self, Write};

/// Why a bundle could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The place where the bundle was to go failed.
    #[error(transparent)]
    Output(#[from] io::Error),
}

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// How many changes of nodes the commits have.
    pub changes: u64,
    /// How many bytes the bundle has.
    pub bytes: u64,
}

impl<A: Access> Tables<A> {
    /// Writes the commits with these numbers, which must rise; what `header` says must fit. Holds one version of a node at a time.
    pub fn write_bundle(
        &self,
        header: &Header,
        commits: &[Number],
        out: &mut dyn Write,
    ) -> Result<Written, WriteError> {
        let mut written = Written::default();
        let mut encoder = Encoder::begin(out, header)?;
        for &number in commits {
            let record = self.commit(number)?;
            let parents = record.parents.iter().map(|&parent| self.commit_id(parent)).collect::<Result<_, _>>()?;
            let commit = record.commit(parents);
            if commit.id() != record.id {
                return Err(StoreError::corrupt(format!("commit {} has another id", record.id)).into());
            }
            encoder.commit(&commit.encode())?;
            let (old, new) = (self.root(record.parents.first().copied())?, record.root.link());
            self.write_changes(old, new, &mut encoder, &mut written)?;
            encoder.end_commit()?;
        }
        written.bytes = encoder.finish()?;
        Ok(written)
    }

    fn write_changes(
        &self,
        old: Option<Link>,
        new: Option<Link>,
        encoder: &mut Encoder<&mut dyn Write>,
        written: &mut Written,
    ) -> Result<(), WriteError> {
        let mut failed = Ok(());
        diff(self, old, new, |old, new| {
            if failed.is_err() {
                return Ok(());
            }
            failed = match (old, new) {
                (_, Some((number, object))) => self.with_kept(number, object, |bytes| encoder.set(bytes))?,
                (Some((number, object)), None) => encoder.removed(&self.node_id(number, object)?),
                (None, None) => Ok(()),
            };
            written.changes += 1;
            Ok::<_, StoreError>(())
        })?;
        Ok(failed?)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::{CommitWords, Store, init};
    use super::*;
    use crate::model::{Author, BranchName, CommitTime, Message};
    use crate::object::Update;
    use std::time::Duration;

    #[test]
    fn a_commit_with_another_id_than_its_content_goes_into_no_bundle() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("store");
        init(&path, &BranchName::new("main").expect("a name")).expect("a store");
        let store = Store::new(path, Duration::from_secs(60));
        let message = |text| Message::new(text).expect("a message");
        let author = Author::new("Ada").expect("an author");
        let words = CommitWords { author, time: CommitTime::new(0, 0).expect("a time"), message: message("one") };
        let write = |altered: bool| {
            store.write(store.snapshot().expect("a snapshot"), |tables| {
                let update = Update { tree: None, effects: Vec::new() };
                let (number, _) = tables.append_commit(Vec::new(), words.clone(), update)?;
                let mut record = tables.commit(number)?;
                if altered {
                    record.message = message("two");
                    tables.commit.insert(number, &record.encode(number))?;
                }
                Ok::<_, StoreError>(number)
            })
        };
        for altered in [false, true] {
            let (number, _) = write(altered).expect("a commit");
            let snapshot = store.snapshot().expect("a snapshot");
            let written = snapshot.write_bundle(&Header::default(), &[number], &mut Vec::new());
            assert_eq!(matches!(written, Err(WriteError::Store(StoreError::Corrupt { .. }))), altered);
        }
    }
}
