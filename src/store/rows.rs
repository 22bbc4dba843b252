//! Rows of redb tables, each with a check of its own.
//!
//! redb does not verify its checksums on ordinary reads, so every value ends with a CRC-32C (four bytes, little-endian)
//! over the table's name, a zero byte, the key's bytes and the value.

use super::StoreError;
use redb::{AccessGuard, Key, ReadOnlyTable, ReadTransaction, ReadableTable, Table, TableDefinition, WriteTransaction};
use std::borrow::Borrow;
use std::marker::PhantomData;
use std::ops::RangeBounds;

const CHECK_BYTES: usize = 4;

/// How the tables of a transaction are held: for reading or for writing.
pub trait Access {
    /// A table with keys `K` and byte strings as values.
    type Table<K: Key + 'static>: ReadableTable<K, &'static [u8]>;
}

/// Tables of a read snapshot.
#[derive(Debug)]
pub struct Reading;

/// Tables of a write transaction.
#[derive(Debug)]
pub struct Writing<'t>(PhantomData<&'t ()>);

impl Access for Reading {
    type Table<K: Key + 'static> = ReadOnlyTable<K, &'static [u8]>;
}

impl<'t> Access for Writing<'t> {
    type Table<K: Key + 'static> = Table<'t, K, &'static [u8]>;
}

/// A table whose rows are checked.
pub struct Rows<A: Access, K: Key + 'static> {
    name: &'static str,
    table: A::Table<K>,
}

/// The value of a row that passed its check.
pub struct Row<'a>(AccessGuard<'a, &'static [u8]>);

impl Row<'_> {
    /// The value, without its check.
    pub fn bytes(&self) -> &[u8] {
        let value = self.0.value();
        &value[..value.len() - CHECK_BYTES]
    }
}

/// The name and type of a table.
pub type Definition<K> = TableDefinition<'static, K, &'static [u8]>;

impl<K: Key + 'static> Rows<Reading, K> {
    pub(super) fn open(transaction: &ReadTransaction, name: &'static str) -> Result<Self, StoreError> {
        Ok(Self { name, table: transaction.open_table(Definition::<K>::new(name))? })
    }
}

impl<'t, K: Key + 'static> Rows<Writing<'t>, K> {
    pub(super) fn open_to_write(transaction: &'t WriteTransaction, name: &'static str) -> Result<Self, StoreError> {
        Ok(Self { name, table: transaction.open_table(Definition::<K>::new(name))? })
    }

    /// Writes a row, in place of one with the same key.
    pub fn insert<'k>(&mut self, key: impl Borrow<K::SelfType<'k>>, value: &[u8]) -> Result<(), StoreError> {
        let key = key.borrow();
        let check = check(self.name, K::as_bytes(key).as_ref(), value);
        let mut place = self.table.insert_reserve(key, value.len() + CHECK_BYTES)?;
        let place = place.as_mut();
        place[..value.len()].copy_from_slice(value);
        place[value.len()..].copy_from_slice(&check);
        Ok(())
    }
}

impl<K: Key + 'static> Rows<Writing<'_>, K> {
    /// Takes a row away, if it is there.
    pub fn remove<'k>(&mut self, key: impl Borrow<K::SelfType<'k>>) -> Result<(), StoreError> {
        self.table.remove(key)?;
        Ok(())
    }
}

impl<A: Access, K: Key + 'static> Rows<A, K> {
    /// The row with this key.
    pub fn get<'k>(&self, key: impl Borrow<K::SelfType<'k>>) -> Result<Option<Row<'_>>, StoreError> {
        let key = key.borrow();
        match self.table.get(key)? {
            Some(guard) => self.checked(K::as_bytes(key).as_ref(), guard).map(Some),
            None => Ok(None),
        }
    }

    /// The rows with keys in this range, in the order of the keys.
    pub fn range<'k, Q>(
        &self,
        range: impl RangeBounds<Q> + 'k,
    ) -> Result<impl DoubleEndedIterator<Item = Result<(AccessGuard<'_, K>, Row<'_>), StoreError>>, StoreError>
    where
        Q: Borrow<K::SelfType<'k>> + 'k,
    {
        Ok(self.table.range::<Q>(range)?.map(|entry| {
            let (key, guard) = entry?;
            let row = self.checked(K::as_bytes(&key.value()).as_ref(), guard)?;
            Ok((key, row))
        }))
    }

    fn checked<'a>(&self, key: &[u8], guard: AccessGuard<'a, &'static [u8]>) -> Result<Row<'a>, StoreError> {
        let good = guard.value().split_last_chunk().is_some_and(|(value, sum)| *sum == check(self.name, key, value));
        if good {
            Ok(Row(guard))
        } else {
            Err(StoreError::corrupt(format!("a row of the table '{}' fails its check", self.name)))
        }
    }
}

fn check(table: &str, key: &[u8], value: &[u8]) -> [u8; CHECK_BYTES] {
    let sum = crc32c::crc32c(table.as_bytes());
    let sum = crc32c::crc32c_append(sum, &[0]);
    let sum = crc32c::crc32c_append(sum, key);
    crc32c::crc32c_append(sum, value).to_le_bytes()
}
