//! Rows of redb tables, each with a check of its own.
//!
//! redb does not verify its checksums on ordinary reads, so every value ends with a CRC-32C (four bytes, little-endian)
//! over the table's name, a zero byte, the key's bytes and the value.

use super::StoreError;
use redb::{AccessGuard, Key, ReadOnlyTable, ReadTransaction, ReadableTable, Table, TableDefinition, WriteTransaction};
use std::borrow::Borrow;
use std::cmp::Ordering;
use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds};

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

/// The key of a row, and the row if it passes its check.
pub type Scanned<'a, K> = (AccessGuard<'a, K>, Result<Row<'a>, StoreError>);

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
    /// Writes all rows of `from`, in place of those with the same keys; `false` where `go_on` was no longer true.
    pub(super) fn fill<A: Access>(&mut self, from: &Rows<A, K>, go_on: &dyn Fn() -> bool) -> Result<bool, StoreError> {
        for row in from.range::<K::SelfType<'_>>(..)? {
            let (key, row) = row?;
            if !go_on() {
                return Ok(false);
            }
            self.insert(key.value(), row.bytes())?;
        }
        Ok(true)
    }

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
            None => {
                let key = K::as_bytes(key);
                self.check_around(key.as_ref(), key.as_ref()).map(|()| None)
            }
        }
    }

    /// Reads the row before the key `first` and the row behind the key `last`, for whoever found some or none between.
    ///
    /// A search is led astray only by a damaged key, and ends next to it; or by damaged pages above, and ends next to a
    /// row that should stand on the other side.
    pub fn check_around(&self, first: &[u8], last: &[u8]) -> Result<(), StoreError> {
        let before = (Bound::Unbounded, Bound::Excluded(K::from_bytes(first)));
        let behind = (Bound::Excluded(K::from_bytes(last)), Bound::Unbounded);
        let around = [
            (self.table.range::<K::SelfType<'_>>(before)?.next_back(), first, Ordering::Less),
            (self.table.range::<K::SelfType<'_>>(behind)?.next(), last, Ordering::Greater),
        ];
        for (neighbour, edge, side) in around {
            let Some((key, guard)) = neighbour.transpose()? else { continue };
            let key = key.value();
            let key = K::as_bytes(&key);
            self.checked(key.as_ref(), guard)?;
            if K::compare(key.as_ref(), edge) != side {
                return Err(StoreError::corrupt(format!("the rows of the table '{}' are out of order", self.name)));
            }
        }
        Ok(())
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

    /// The same with what is wrong with single rows beside their keys: such a row does not end the search for others.
    pub(super) fn scan<'k, Q>(
        &self,
        range: impl RangeBounds<Q> + 'k,
    ) -> Result<impl DoubleEndedIterator<Item = Result<Scanned<'_, K>, StoreError>>, StoreError>
    where
        Q: Borrow<K::SelfType<'k>> + 'k,
    {
        Ok(self.table.range::<Q>(range)?.map(|entry| {
            let (key, guard) = entry?;
            let row = self.checked(K::as_bytes(&key.value()).as_ref(), guard);
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

#[cfg(test)]
mod tests {
    use super::*;
    use redb::backends::InMemoryBackend;
    use redb::{Database, ReadableDatabase};

    const NAME: &str = "t";
    const TABLE: Definition<u64> = Definition::new(NAME);

    /// A table of one row a number, each with the check of the key beside it.
    fn table(rows: &[(u64, u64)]) -> (Database, Rows<Reading, u64>) {
        let database = Database::builder().create_with_backend(InMemoryBackend::new()).expect("a database");
        let transaction = database.begin_write().expect("a transaction");
        {
            let mut table = transaction.open_table(TABLE).expect("a table");
            for (key, checked) in rows {
                let value = [&b"v"[..], &check(NAME, &checked.to_le_bytes(), b"v")].concat();
                table.insert(key, &value[..]).expect("a row");
            }
        }
        transaction.commit().expect("committed");
        let rows = Rows::open(&database.begin_read().expect("a snapshot"), NAME).expect("a table");
        (database, rows)
    }

    #[test]
    fn a_row_that_is_not_there_is_absent_only_between_rows_that_pass_their_checks() {
        let (_database, good) = table(&[(1, 1), (3, 3), (5, 5)]);
        assert!(good.get(3).expect("sound").is_some());
        for absent in [0, 2, 4, 6] {
            assert!(good.get(absent).expect("sound").is_none(), "{absent}");
        }
        let (_empty, empty) = table(&[]);
        assert!(empty.get(0).expect("sound").is_none());
        // The key 3 was changed to 4: nobody may hear that there is no 3, and neither row is in its place for 2 to 6.
        let (_damaged, damaged) = table(&[(1, 1), (4, 3), (7, 7)]);
        for absent in [2, 3, 5, 6] {
            assert!(matches!(damaged.get(absent), Err(StoreError::Corrupt { .. })), "{absent}");
        }
        for absent in [0, 8] {
            assert!(damaged.get(absent).expect("not next to it").is_none(), "{absent}");
        }
    }
}
