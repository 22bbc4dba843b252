//! A store whose rows are changed behind its back, each with the check that it must have.

use mnemosyne::store::Store;
use redb::{Builder, ConcurrencyMode, Database, Key, ReadableDatabase, TableDefinition};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Where a test's store is; the real binary makes it.
pub struct Place {
    directory: tempfile::TempDir,
}

impl Place {
    pub fn empty() -> Self {
        Self { directory: tempfile::tempdir().expect("a directory") }
    }

    /// With a store without commits.
    pub fn new() -> Self {
        let place = Self::empty();
        place.run(&["init"]);
        place
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    pub fn store_path(&self) -> PathBuf {
        self.path().join(".mnemosyne")
    }

    pub fn database(&self) -> PathBuf {
        self.store_path().join("store.redb")
    }

    pub fn log(&self, session: &str) -> PathBuf {
        self.store_path().join("staged").join(session)
    }

    pub fn store(&self) -> Store {
        Store::new(self.store_path(), Duration::from_secs(30))
    }

    /// Runs a command that must do.
    pub fn run(&self, arguments: &[&str]) -> String {
        self.run_at("2024-05-06T07:08:09+00:00", arguments)
    }

    /// The same at another time.
    pub fn run_at(&self, time: &str, arguments: &[&str]) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mnem"));
        command.env_clear().current_dir(self.path()).env("MNEM_DATE", time);
        let output = command.env("MNEM_AUTHOR", "Ada").args(arguments).output().expect("the binary");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    /// Copies the database and the logs of a store to here.
    pub fn take(&self, from: &Path) {
        fs::create_dir_all(self.store_path().join("staged")).expect("a directory");
        fs::copy(from.join("store.redb"), self.database()).expect("copied");
        for log in fs::read_dir(from.join("staged")).into_iter().flatten() {
            let log = log.expect("an entry");
            fs::copy(log.path(), self.store_path().join("staged").join(log.file_name())).expect("copied");
        }
    }
}

/// The tables, changed row by row; each change is a transaction of its own.
pub struct Raw {
    database: Database,
}

pub type Table<K> = TableDefinition<'static, K, &'static [u8]>;

pub const OBJECT: Table<u64> = Table::new("object");
pub const COMMIT: Table<u64> = Table::new("commit");
pub const HASH: Table<&[u8; 32]> = Table::new("hash");
pub const CHAIN: Table<(u64, u64)> = Table::new("chain");
pub const HISTORY: Table<&[u8]> = Table::new("history");
pub const REF: Table<&str> = Table::new("ref");
pub const REFLOG: Table<&[u8]> = Table::new("reflog");
pub const SESSION: Table<&str> = Table::new("session");
pub const SETTING: Table<&str> = Table::new("setting");

/// The check of a row.
fn check(table: &str, key: &[u8], value: &[u8]) -> [u8; 4] {
    let sum = crc32c::crc32c(table.as_bytes());
    let sum = crc32c::crc32c_append(crc32c::crc32c_append(sum, &[0]), key);
    crc32c::crc32c_append(sum, value).to_le_bytes()
}

/// The key of a row in `history` or `reflog`.
pub fn split_key(name: &str, number: u64) -> Vec<u8> {
    [name.as_bytes(), &[0], &number.to_be_bytes()].concat()
}

impl Raw {
    pub fn open(path: &Path) -> Self {
        let mut builder = Builder::new();
        builder.set_concurrency_mode(ConcurrencyMode::MultiWriter);
        Self { database: builder.open(path).expect("a database") }
    }

    /// Lets the file go as a writer does that ends well.
    pub fn close(self) {
        self.database.close().expect("closed");
    }

    /// The value of a row, without its check.
    pub fn get<'k, K: Key + 'static>(&self, table: Table<K>, key: K::SelfType<'k>) -> Vec<u8> {
        let transaction = self.database.begin_read().expect("a snapshot");
        let rows = transaction.open_table(table).expect("a table");
        let value = rows.get(key).expect("readable").expect("there").value().to_vec();
        value[..value.len() - 4].to_vec()
    }

    /// The keys of a table, in their order.
    pub fn keys<K: Key + 'static>(&self, table: Table<K>) -> Vec<Vec<u8>> {
        let transaction = self.database.begin_read().expect("a snapshot");
        let rows = transaction.open_table(table).expect("a table");
        let all = rows.range::<K::SelfType<'_>>(..).expect("readable");
        all.map(|row| K::as_bytes(&row.expect("readable").0.value()).as_ref().to_vec()).collect()
    }

    pub fn put<'k, K: Key + 'static>(&self, table: Table<K>, key: K::SelfType<'k>, value: &[u8]) {
        let sum = check(redb::TableHandle::name(&table), K::as_bytes(&key).as_ref(), value);
        self.put_with(table, key, value, sum);
    }

    /// Writes a row whose check is wrong.
    pub fn spoil<'k, K: Key + 'static>(&self, table: Table<K>, key: K::SelfType<'k>, value: &[u8]) {
        let [first, rest @ ..] = check(redb::TableHandle::name(&table), K::as_bytes(&key).as_ref(), value);
        let [a, b, c] = rest;
        self.put_with(table, key, value, [first ^ 1, a, b, c]);
    }

    fn put_with<'k, K: Key + 'static>(&self, table: Table<K>, key: K::SelfType<'k>, value: &[u8], sum: [u8; 4]) {
        let transaction = self.database.begin_write().expect("a transaction");
        let row = [value, &sum].concat();
        transaction.open_table(table).expect("a table").insert(key, &row[..]).expect("written");
        transaction.commit().expect("committed");
    }

    pub fn remove<'k, K: Key + 'static>(&self, table: Table<K>, key: K::SelfType<'k>) {
        let transaction = self.database.begin_write().expect("a transaction");
        let removed = transaction.open_table(table).expect("a table").remove(key).expect("removed").is_some();
        assert!(removed, "the row is there");
        transaction.commit().expect("committed");
    }

    /// Takes a whole table away.
    pub fn drop_table<K: Key + 'static>(&self, table: Table<K>) {
        let transaction = self.database.begin_write().expect("a transaction");
        assert!(transaction.delete_table(table).expect("deleted"));
        transaction.commit().expect("committed");
    }
}
