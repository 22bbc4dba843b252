//! Rows of redb tables, each with a check of its own.
//!
//! redb does not verify its checksums on ordinary reads, so every value ends with a CRC-32C (four bytes, little-endian)
//! over the table's name, a zero byte, the key's bytes and the value.

use super::StoreError;
use redb::{
    AccessGuard, Key, Range, ReadOnlyTable, ReadTransaction, ReadableTable, Table, TableDefinition, WriteTransaction,
};
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

/// Rows of a range, from either end. What is left of the range becomes smaller with each.
///
/// A search in a table is led astray only by a damaged key, and ends next to it; or by damaged pages above, and ends next
/// to a row that should stand elsewhere. So the row is read too that stands before the first, and the one behind the last.
pub struct Between<'r, A: Access, K: Key + 'static> {
    rows: &'r Rows<A, K>,
    found: Range<'r, K, &'static [u8]>,
    low: Edge,
    high: Edge,
}

/// One end of what is left of a range.
struct Edge {
    bound: Bound<Vec<u8>>,
    /// On which side of the bound the range lies.
    inside: Ordering,
    /// Whether rows were asked for from this end.
    is_asked: bool,
}

impl Edge {
    fn new(bound: Bound<Vec<u8>>, inside: Ordering) -> Self {
        Self { bound, inside, is_asked: false }
    }

    /// The same end of what is on its other side; `None` where there is nothing.
    fn outside(&self) -> Option<Self> {
        let bound = match &self.bound {
            Bound::Unbounded => return None,
            Bound::Included(key) => Bound::Excluded(key.clone()),
            Bound::Excluded(key) => Bound::Included(key.clone()),
        };
        Some(Self::new(bound, self.inside.reverse()))
    }

    fn admits<K: Key>(&self, key: &[u8]) -> bool {
        match &self.bound {
            Bound::Unbounded => true,
            Bound::Included(edge) => K::compare(key, edge) != self.inside.reverse(),
            Bound::Excluded(edge) => K::compare(key, edge) == self.inside,
        }
    }
}

type Entry<'r, K> = (AccessGuard<'r, K>, AccessGuard<'r, &'static [u8]>);

/// A row that passed its check, with the bytes of its key.
struct Found<'r, K: Key + 'static> {
    bytes: Vec<u8>,
    row: (AccessGuard<'r, K>, Row<'r>),
}

impl<'r, A: Access, K: Key + 'static> Between<'r, A, K> {
    /// The next row of the range from one end: a row that stands where it should. Before the first of them the row on the
    /// other side of that end is read, and behind the last of them the one that is none of them any more.
    fn step(&mut self, is_back: bool) -> Result<Option<(AccessGuard<'r, K>, Row<'r>)>, StoreError> {
        let edge = if is_back { &mut self.high } else { &mut self.low };
        if !std::mem::replace(&mut edge.is_asked, true)
            && let Some(outside) = edge.outside()
            && let Some(beyond) = self.rows.nearest(&outside.bound, !is_back)?
            && !outside.admits::<K>(&beyond.bytes)
        {
            return Err(self.rows.out_of_order());
        }
        let entry = if is_back { self.found.next_back() } else { self.found.next() };
        let Some(entry) = entry else {
            self.rows.nearest(if is_back { &self.high.bound } else { &self.low.bound }, is_back)?;
            return Ok(None);
        };
        let found = self.rows.found(entry?)?;
        if !self.low.admits::<K>(&found.bytes) || !self.high.admits::<K>(&found.bytes) {
            return Err(self.rows.out_of_order());
        }
        let edge = if is_back { &mut self.high } else { &mut self.low };
        edge.bound = Bound::Excluded(found.bytes);
        Ok(Some(found.row))
    }
}

impl<'r, A: Access, K: Key + 'static> Iterator for Between<'r, A, K> {
    type Item = Result<(AccessGuard<'r, K>, Row<'r>), StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.step(false).transpose()
    }
}

impl<A: Access, K: Key + 'static> DoubleEndedIterator for Between<'_, A, K> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.step(true).transpose()
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
                let bytes = K::as_bytes(key).as_ref().to_vec();
                let key = || K::from_bytes(&bytes);
                match self.range::<K::SelfType<'_>>(key()..=key())?.next() {
                    Some(_) => Err(self.out_of_order()),
                    None => Ok(None),
                }
            }
        }
    }

    /// Reads every row.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        self.range::<K::SelfType<'_>>(..)?.try_for_each(|row| row.map(drop))
    }

    /// The rows with keys in this range, in the order of the keys. Each must stand there by its key.
    pub fn range<'k, Q>(&self, range: impl RangeBounds<Q> + 'k) -> Result<Between<'_, A, K>, StoreError>
    where
        Q: Borrow<K::SelfType<'k>> + 'k,
    {
        let bytes = |key: &Q| K::as_bytes(key.borrow()).as_ref().to_vec();
        let low = Edge::new(range.start_bound().map(bytes), Ordering::Greater);
        let high = Edge::new(range.end_bound().map(bytes), Ordering::Less);
        Ok(Between { rows: self, found: self.table.range::<Q>(range)?, low, high })
    }

    /// The row that is nearest to a bound: the last before it, or the first behind it; where there is no bound, that of the
    /// whole table.
    fn nearest(&self, bound: &Bound<Vec<u8>>, is_back: bool) -> Result<Option<Found<'_, K>>, StoreError> {
        let bound = bound.as_ref().map(|key| K::from_bytes(key));
        let entry = match is_back {
            true => self.table.range::<K::SelfType<'_>>((Bound::Unbounded, bound))?.next_back(),
            false => self.table.range::<K::SelfType<'_>>((bound, Bound::Unbounded))?.next(),
        };
        entry.transpose()?.map(|entry| self.found(entry)).transpose()
    }

    fn found<'r>(&self, (key, guard): Entry<'r, K>) -> Result<Found<'r, K>, StoreError> {
        let bytes = K::as_bytes(&key.value()).as_ref().to_vec();
        let row = self.checked(&bytes, guard)?;
        Ok(Found { bytes, row: (key, row) })
    }

    fn out_of_order(&self) -> StoreError {
        StoreError::corrupt(format!("the rows of the table '{}' are out of order", self.name))
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
    use std::ops::RangeInclusive;

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

    /// The file of a database with the rows 1 to `last`.
    fn file(last: u64) -> Vec<u8> {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("database");
        let database = Database::create(&path).expect("a database");
        let transaction = database.begin_write().expect("a transaction");
        {
            let mut table = transaction.open_table(TABLE).expect("a table");
            for key in 1..=last {
                let value = [&b"v"[..], &check(NAME, &key.to_le_bytes(), b"v")].concat();
                table.insert(key, &value[..]).expect("a row");
            }
        }
        transaction.commit().expect("committed");
        drop(database);
        std::fs::read(&path).expect("a file")
    }

    /// Where keys stand one behind the other, if they are in one page.
    fn place(file: &[u8], keys: RangeInclusive<u64>) -> Option<usize> {
        let keys = keys.flat_map(u64::to_le_bytes).collect::<Vec<_>>();
        file.windows(keys.len()).rposition(|bytes| bytes == keys)
    }

    fn opened(file: &[u8]) -> Rows<Reading, u64> {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("database");
        std::fs::write(&path, file).expect("written");
        let database = redb::Builder::new().open_read_only(&path).expect("a database");
        Rows::open(&database.begin_read().expect("a snapshot"), NAME).expect("a table")
    }

    /// Every range between `edges` from either end, and every key of them, is all there or refused; returns how many were
    /// refused.
    fn refusals(file: &[u8], last: u64, edges: &[u64]) -> usize {
        let rows = opened(file);
        let mut refused = 0;
        let mut is_right = |found: Result<Vec<u64>, StoreError>, right: Vec<u64>| match found {
            Ok(found) => assert_eq!(found, right),
            Err(error) => {
                assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
                refused += 1;
            }
        };
        let key = |row: Result<(AccessGuard<'_, u64>, Row<'_>), StoreError>| row.map(|(key, _)| key.value());
        for &low in edges {
            let got = rows.get(low).map(|row| row.map(|_| low).into_iter().collect());
            is_right(got, (1..=last).filter(|key| *key == low).collect());
            for &high in edges.iter().filter(|high| **high >= low) {
                let right: Vec<_> = (low.max(1)..high.min(last + 1)).collect();
                let range = || rows.range(low..high).expect("a range");
                is_right(range().map(key).collect(), right.clone());
                is_right(range().rev().map(key).collect(), right.iter().rev().copied().collect());
                is_right(range().next().map(key).into_iter().collect(), right.first().copied().into_iter().collect());
                is_right(
                    range().next_back().map(key).into_iter().collect(),
                    right.last().copied().into_iter().collect(),
                );
            }
        }
        refused
    }

    #[test]
    fn whatever_key_is_damaged_no_range_lacks_a_row() {
        let (file, edges) = (file(9), (0..=11).collect::<Vec<_>>());
        let keys = place(&file, 1..=9).expect("one page");
        assert_eq!(refusals(&file, 9, &edges), 0);
        for key in 1..=9 {
            let at = keys + usize::try_from(key - 1).expect("small") * 8;
            for other in (0..=10).chain([u64::MAX]).filter(|other| *other != key) {
                let mut file = file.clone();
                file[at..at + 8].copy_from_slice(&other.to_le_bytes());
                assert!(refusals(&file, 9, &edges) > 0, "{key} as {other}");
            }
        }
    }

    const PAGE: usize = 4096;
    const MANY: u64 = 1200;

    #[test]
    fn whatever_separator_is_damaged_no_range_lacks_a_row() {
        let file = file(MANY);
        let branch = file.chunks(PAGE).position(|page| page[..2] == [2, 0xff] && page[2] > 3).expect("a branch") * PAGE;
        let count = usize::from(file[branch + 2]);
        // Behind a checksum and a number for each child.
        let keys = branch + 8 + (count + 1) * (16 + 8);
        let mut refused = 0;
        for at in (keys..).step_by(8).take(count) {
            let separator = u64::from_le_bytes(file[at..at + 8].try_into().expect("eight bytes"));
            assert!((1..MANY).contains(&separator), "{separator}");
            let edges = [0, separator - 99, separator, separator + 1, separator + 2, separator + 99, u64::MAX];
            for other in [separator, 0, separator - 100, separator - 1, separator + 1, separator + 100, u64::MAX] {
                let mut file = file.clone();
                file[at..at + 8].copy_from_slice(&other.to_le_bytes());
                let count = refusals(&file, MANY, &edges);
                assert!(count == 0 || other != separator);
                refused += count;
            }
        }
        assert!(refused > 0);
    }

    #[test]
    fn pages_that_are_exchanged_or_stand_twice_are_refused_by_whoever_reads_all() {
        let file = file(MANY);
        let leaf = |key: u64| Some(place(&file, key..=key + 1)? / PAGE);
        let mut leaves: Vec<_> = (1..MANY).step_by(40).filter_map(leaf).collect();
        leaves.dedup();
        assert!(leaves.len() > 4, "{leaves:?}");
        for &one in &leaves {
            for &other in leaves.iter().filter(|other| **other != one) {
                let page = |page: usize| page * PAGE..(page + 1) * PAGE;
                let mut twice = file.clone();
                twice.copy_within(page(one), other * PAGE);
                let mut exchanged = twice.clone();
                exchanged[page(one)].copy_from_slice(&file[page(other)]);
                for damaged in [twice, exchanged] {
                    let rows = opened(&damaged);
                    let all = || rows.range::<u64>(..).expect("a range");
                    assert!(all().any(|row| row.is_err()) && all().rev().any(|row| row.is_err()), "{one} and {other}");
                }
            }
        }
    }
}
