//! `fsck` finds every flip, cut and exchange that changes anything in a store.

use super::damage::{self, PAGE};
use super::place::{Numbers, Place, wanted};
use mnemosyne::store::{Fault, Report, Store, StoreError};
use redb::{Builder, ConcurrencyMode, Key, ReadTransaction, ReadableDatabase, TableDefinition};
use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::Duration;

/// Flips in each page in a default run.
const FLIPS: usize = 2;

type Rows = BTreeMap<(&'static str, Vec<u8>), Vec<u8>>;

/// All rows of all tables as a reader gets them, or none where one cannot be had.
fn dump(path: &Path) -> Option<Rows> {
    fn add<K: Key + 'static>(all: &mut Rows, from: &ReadTransaction, name: &'static str) -> Option<()> {
        let table = from.open_table(TableDefinition::<K, &[u8]>::new(name)).ok()?;
        for row in table.range::<K::SelfType<'_>>(..).ok()? {
            let (key, value) = row.ok()?;
            all.insert((name, K::as_bytes(&key.value()).as_ref().to_vec()), value.value().to_vec());
        }
        Some(())
    }
    let read = || {
        let mut builder = Builder::new();
        builder.set_concurrency_mode(ConcurrencyMode::MultiWriter);
        let database = match builder.open_read_only(path) {
            Err(redb::DatabaseError::RepairAborted) => {
                drop(builder.open(path).ok()?);
                builder.open_read_only(path).ok()?
            }
            opened => opened.ok()?,
        };
        let transaction = database.begin_read().ok()?;
        let mut all = Rows::new();
        for name in ["object", "commit"] {
            add::<u64>(&mut all, &transaction, name)?;
        }
        add::<&[u8; 32]>(&mut all, &transaction, "hash")?;
        add::<(u64, u64)>(&mut all, &transaction, "chain")?;
        for name in ["history", "reflog"] {
            add::<&[u8]>(&mut all, &transaction, name)?;
        }
        for name in ["ref", "session", "setting"] {
            add::<&str>(&mut all, &transaction, name)?;
        }
        Some(all)
    };
    catch_unwind(AssertUnwindSafe(read)).unwrap_or(None)
}

/// A healthy store, and all that its readers get.
struct Healthy {
    place: Place,
    database: Vec<u8>,
    rows: Rows,
}

/// How often what was found.
#[derive(Default)]
struct Count {
    files: usize,
    changed: usize,
    unchanged_and_found: usize,
    named: usize,
    missed: Vec<String>,
}

impl Count {
    fn tell(&self, what: &str) {
        println!(
            "{} {what}: {} change what readers get, all of them found; {} more found; {} name commits or ids",
            self.files, self.changed, self.unchanged_and_found, self.named
        );
        let first: Vec<_> = self.missed.iter().take(5).collect();
        assert!(self.missed.is_empty(), "{} of {} missed: {first:#?}", self.missed.len(), self.files);
        assert!(self.changed > 0);
    }
}

impl Healthy {
    fn new() -> Self {
        damage::hush();
        let place = damage::place(damage::COMMITS, damage::IDS);
        let database = fs::read(place.database()).expect("a file");
        let rows = dump(&place.database()).expect("a sound store");
        let healthy = Self { place, database, rows };
        let report = healthy.check().expect("no fault");
        assert_eq!((&report.findings, &report.notes), (&vec![], &vec![]));
        healthy
    }

    fn pages(&self) -> usize {
        self.database.len() / PAGE
    }

    fn check(&self) -> Result<Report, StoreError> {
        Store::new(self.place.store(), Duration::from_secs(30)).fsck(&mut |_, _, _| ())
    }

    fn examine(&self, damage: &str, database: &[u8], count: &mut Count) {
        fs::write(self.place.database(), database).expect("written");
        count.files += 1;
        let report = catch_unwind(AssertUnwindSafe(|| self.check()));
        if fs::read(self.place.database()).expect("a file") != database {
            count.missed.push(format!("{damage}: the check wrote"));
        }
        let report = match report {
            Ok(Ok(report)) => report,
            Ok(Err(error)) => return count.missed.push(format!("{damage}: {error:?}")),
            Err(_) => return count.missed.push(format!("{damage}: a panic")),
        };
        let rows = dump(&self.place.database());
        let is_changed = rows.as_ref() != Some(&self.rows);
        let is_found = report.findings.iter().any(|finding| finding.fault != Fault::UnsupportedFormat);
        count.changed += usize::from(is_changed);
        count.unchanged_and_found += usize::from(is_found && !is_changed);
        let names = report.findings.iter().any(|finding| !finding.commits.is_empty() || !finding.ids.is_empty());
        count.named += usize::from(names);
        if is_changed && report.findings.is_empty() {
            count.missed.push(format!("{damage}: other rows, and nothing found"));
        }
    }
}

#[test]
fn every_flip_that_changes_anything_is_found() {
    let healthy = Healthy::new();
    let (mut numbers, mut count) = (Numbers(11), Count::default());
    for page in 0..healthy.pages() {
        for flip in 0..wanted("MNEM_TEST_FLIPS", FLIPS) {
            let within = numbers.below(if flip == 0 { 64 } else { PAGE as u64 });
            let at = page * PAGE + usize::try_from(within).expect("small");
            let mut database = healthy.database.clone();
            database[at] ^= u8::try_from(1 + numbers.below(255)).expect("a byte");
            healthy.examine(&format!("byte {within} of page {page}"), &database, &mut count);
        }
    }
    count.tell("flips");
}

#[test]
fn every_flip_of_the_header_that_changes_anything_is_found() {
    let healthy = Healthy::new();
    let (mut numbers, mut count) = (Numbers(12), Count::default());
    for at in 0..320 {
        // All flags, and one bit of every other byte.
        let bits = if at == 9 { 0..8 } else { numbers.below(8)..0 };
        for bit in if bits.is_empty() { bits.start..bits.start + 1 } else { bits } {
            let mut database = healthy.database.clone();
            database[at] ^= 1 << bit;
            healthy.examine(&format!("bit {bit} of byte {at} of the header"), &database, &mut count);
        }
    }
    count.tell("flips in the header");
}

#[test]
fn every_cut_is_found() {
    let healthy = Healthy::new();
    let mut count = Count::default();
    for page in 0..healthy.pages() {
        let end = page * PAGE + if page % 2 == 0 { 0 } else { PAGE / 2 };
        healthy.examine(&format!("cut at {end}"), &healthy.database[..end], &mut count);
    }
    count.tell("cuts");
}

#[test]
fn every_exchange_of_pages_that_changes_anything_is_found() {
    let healthy = Healthy::new();
    let (mut numbers, mut count) = (Numbers(13), Count::default());
    let pages = healthy.pages() as u64;
    for one in 0..healthy.pages() {
        let other = usize::try_from(numbers.below(pages)).expect("small");
        let mut database = healthy.database.clone();
        if one % 2 == 0 {
            for at in 0..PAGE {
                database.swap(one * PAGE + at, other * PAGE + at);
            }
            healthy.examine(&format!("pages {one} and {other} exchanged"), &database, &mut count);
        } else {
            // An old version of a page in place of the new one is an exchange with one side.
            database.copy_within(other * PAGE..(other + 1) * PAGE, one * PAGE);
            healthy.examine(&format!("page {other} in place of {one}"), &database, &mut count);
        }
    }
    count.tell("exchanged pages");
}
