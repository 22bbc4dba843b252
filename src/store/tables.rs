//! The tables of a store, held together by one transaction.

use super::StoreError;
use super::record::{Number, RefUpdate};
use super::redact::Redacting;
use super::rows::{Access, Reading, Rows, Writing};
use redb::{ReadTransaction, WriteTransaction};

/// The version of the format that this version reads and writes.
pub const FORMAT: u64 = 1;

/// All tables of `docs/format.md`.
pub struct Tables<A: Access> {
    /// number → node or inner node.
    pub(super) object: Rows<A, Number>,
    /// number → commit.
    pub(super) commit: Rows<A, Number>,
    /// commit id → number.
    pub(super) hash: Rows<A, &'static [u8; 32]>,
    /// (chain, position) → parents outside the chain; (chain, [`TIP`]) → position of the tip.
    pub(super) chain: Rows<A, (Number, u64)>,
    /// [`history_key`] → the number of the id's row before.
    pub(super) history: Rows<A, &'static [u8]>,
    /// ref name → commit number.
    pub(super) reference: Rows<A, &'static str>,
    /// [`log_key`] → an update.
    pub(super) reflog: Rows<A, &'static [u8]>,
    /// session name → where it stands.
    pub(super) session: Rows<A, &'static str>,
    /// key → value.
    pub(super) setting: Rows<A, &'static str>,
}

/// The position under which a chain's row of its tip stands.
pub const TIP: u64 = u64::MAX;

const SETTING: &str = "setting";
pub(super) const FORMAT_KEY: &str = "format";
pub(super) const NEXT_KEY: &str = "next";
pub(super) const REDACT_KEY: &str = "redact";
/// What the keys of the user's settings begin with.
pub(super) const CONFIG_PREFIX: &str = "config/";

macro_rules! tables {
    ($open:ident, $transaction:expr, $setting:expr) => {
        Tables {
            object: Rows::$open($transaction, "object")?,
            commit: Rows::$open($transaction, "commit")?,
            hash: Rows::$open($transaction, "hash")?,
            chain: Rows::$open($transaction, "chain")?,
            history: Rows::$open($transaction, "history")?,
            reference: Rows::$open($transaction, "ref")?,
            reflog: Rows::$open($transaction, "reflog")?,
            session: Rows::$open($transaction, "session")?,
            setting: $setting,
        }
    };
}

impl Tables<Reading> {
    /// Opens the tables of a snapshot, once the format is known to be ours.
    pub fn open(transaction: &ReadTransaction) -> Result<Self, StoreError> {
        let setting = Rows::open(transaction, SETTING)?;
        check_format(&setting)?;
        Ok(tables!(open, transaction, setting))
    }
}

/// Opens a table, or else the one in `nothing` that has no rows, and notes why.
fn open_or_empty<K: redb::Key + 'static>(
    transaction: &ReadTransaction,
    nothing: &ReadTransaction,
    name: &'static str,
    lost: &mut Vec<(&'static str, StoreError)>,
) -> Result<Rows<Reading, K>, StoreError> {
    match super::open::guarded(|| Rows::open(transaction, name)).and_then(|opened| opened) {
        Err(error @ StoreError::Io { .. }) => Err(error),
        Err(error) => {
            lost.push((name, error));
            Rows::open(nothing, name)
        }
        opened => opened,
    }
}

impl Tables<Reading> {
    /// Opens the tables of a snapshot that is to be looked at whatever it holds; those that cannot be opened come from
    /// `nothing`, where they have no rows, and are noted in `lost`.
    pub(super) fn open_what_is_there(
        transaction: &ReadTransaction,
        nothing: &ReadTransaction,
        lost: &mut Vec<(&'static str, StoreError)>,
    ) -> Result<Self, StoreError> {
        Ok(Tables {
            object: open_or_empty(transaction, nothing, "object", lost)?,
            commit: open_or_empty(transaction, nothing, "commit", lost)?,
            hash: open_or_empty(transaction, nothing, "hash", lost)?,
            chain: open_or_empty(transaction, nothing, "chain", lost)?,
            history: open_or_empty(transaction, nothing, "history", lost)?,
            reference: open_or_empty(transaction, nothing, "ref", lost)?,
            reflog: open_or_empty(transaction, nothing, "reflog", lost)?,
            session: open_or_empty(transaction, nothing, "session", lost)?,
            setting: open_or_empty(transaction, nothing, SETTING, lost)?,
        })
    }
}

impl<'t> Tables<Writing<'t>> {
    /// Opens the tables of a write transaction, once the format is known to be ours.
    pub fn open_to_write(transaction: &'t WriteTransaction) -> Result<Self, StoreError> {
        let setting = Rows::open_to_write(transaction, SETTING)?;
        check_format(&setting)?;
        Ok(tables!(open_to_write, transaction, setting))
    }

    /// Creates the tables of a new store.
    pub fn create(transaction: &'t WriteTransaction) -> Result<Self, StoreError> {
        let mut setting = Rows::open_to_write(transaction, SETTING)?;
        setting.insert(FORMAT_KEY, &FORMAT.to_le_bytes())?;
        setting.insert(NEXT_KEY, &1u64.to_le_bytes())?;
        Ok(tables!(open_to_write, transaction, setting))
    }

    /// Writes all rows of `from` but those of sessions; `false` where `go_on` was no longer true.
    pub(super) fn fill<A: Access>(&mut self, from: &Tables<A>, go_on: &dyn Fn() -> bool) -> Result<bool, StoreError> {
        Ok(self.object.fill(&from.object, go_on)?
            && self.commit.fill(&from.commit, go_on)?
            && self.hash.fill(&from.hash, go_on)?
            && self.chain.fill(&from.chain, go_on)?
            && self.history.fill(&from.history, go_on)?
            && self.reference.fill(&from.reference, go_on)?
            && self.reflog.fill(&from.reflog, go_on)?
            && self.setting.fill(&from.setting, go_on)?)
    }

    /// Writes all rows of `from` but those of objects.
    pub(super) fn fill_but_objects<A: Access>(&mut self, from: &Tables<A>) -> Result<(), StoreError> {
        self.commit.fill(&from.commit, &|| true)?;
        self.hash.fill(&from.hash, &|| true)?;
        self.chain.fill(&from.chain, &|| true)?;
        self.history.fill(&from.history, &|| true)?;
        self.fill_loose(from, |_, update| Some(update))
    }

    /// Keeps what is to be redacted, or that nothing is left to be.
    pub(super) fn set_redacting(&mut self, redacting: Option<&Redacting>) -> Result<(), StoreError> {
        match redacting {
            Some(redacting) => self.setting.insert(REDACT_KEY, &redacting.encode()),
            None => self.setting.remove(REDACT_KEY),
        }
    }

    /// Writes what belongs to no commit: refs, sessions, settings, and the updates of refs for which `take` returns one.
    pub(super) fn fill_loose<A: Access>(
        &mut self,
        from: &Tables<A>,
        mut take: impl FnMut(&[u8], RefUpdate) -> Option<RefUpdate>,
    ) -> Result<(), StoreError> {
        self.reference.fill(&from.reference, &|| true)?;
        self.session.fill(&from.session, &|| true)?;
        self.setting.fill(&from.setting, &|| true)?;
        for row in from.reflog.range::<&[u8]>(..)? {
            let (key, row) = row?;
            let update =
                RefUpdate::decode(row.bytes()).map_err(|error| StoreError::decode("an update of a ref", error))?;
            if let Some(update) = take(key.value(), update) {
                self.reflog.insert(key.value(), &update.encode())?;
            }
        }
        Ok(())
    }

    /// Gives a setting a value, or takes it away.
    pub fn set_setting(&mut self, key: &str, value: Option<&str>) -> Result<(), StoreError> {
        let key = format!("{CONFIG_PREFIX}{key}");
        match value {
            Some(value) => self.setting.insert(&key[..], value.as_bytes()),
            None => self.setting.remove(&key[..]),
        }
    }

    /// Keeps the number that the next record will have.
    pub(super) fn set_next_number(&mut self, next: Number) -> Result<(), StoreError> {
        self.setting.insert(NEXT_KEY, &next.to_le_bytes())
    }
}

impl<A: Access> Tables<A> {
    /// Reads every row of every table, each of which has a check.
    pub fn check_rows(&self) -> Result<(), StoreError> {
        self.object.check()?;
        self.commit.check()?;
        self.hash.check()?;
        self.chain.check()?;
        self.history.check()?;
        self.reference.check()?;
        self.reflog.check()?;
        self.session.check()?;
        self.setting.check()
    }

    /// A setting of the user.
    pub fn setting(&self, key: &str) -> Result<Option<String>, StoreError> {
        let row = self.setting.get(&format!("{CONFIG_PREFIX}{key}")[..])?;
        let text = row.map(|row| std::str::from_utf8(row.bytes()).map(str::to_owned)).transpose();
        text.map_err(|_| StoreError::corrupt(format!("the setting '{key}' is not UTF-8")))
    }

    /// What was to be redacted and is not yet, for it was interrupted.
    pub fn redacting(&self) -> Result<Option<Redacting>, StoreError> {
        let row = self.setting.get(REDACT_KEY)?;
        let request = row.map(|row| Redacting::decode(row.bytes())).transpose();
        request.map_err(|error| StoreError::decode("the setting 'redact'", error))
    }

    /// The settings of the user, in the order of their keys.
    pub fn settings(&self) -> Result<Vec<(String, String)>, StoreError> {
        let mut found = Vec::new();
        for row in self.setting.range(CONFIG_PREFIX..)? {
            let (key, row) = row?;
            let Some(key) = key.value().strip_prefix(CONFIG_PREFIX) else { break };
            let value = std::str::from_utf8(row.bytes())
                .map_err(|_| StoreError::corrupt(format!("the setting '{key}' is not UTF-8")))?;
            found.push((key.to_owned(), value.to_owned()));
        }
        Ok(found)
    }

    /// The number that the next record will have.
    pub(super) fn next_number(&self) -> Result<Number, StoreError> {
        number(&self.setting, NEXT_KEY)
    }
}

fn check_format<A: Access>(setting: &Rows<A, &'static str>) -> Result<(), StoreError> {
    match number(setting, FORMAT_KEY)? {
        FORMAT => Ok(()),
        other => Err(StoreError::UnsupportedFormat { found: format!("format {other}") }),
    }
}

fn number<A: Access>(setting: &Rows<A, &'static str>, key: &str) -> Result<u64, StoreError> {
    let row = setting.get(key)?.ok_or_else(|| StoreError::corrupt(format!("the setting '{key}' is missing")))?;
    let bytes = row.bytes().try_into().map_err(|_| StoreError::corrupt(format!("the setting '{key}' is no number")))?;
    Ok(u64::from_le_bytes(bytes))
}

/// The key of a row in `history`: the id, a zero byte, the commit's number in big-endian order.
pub fn history_key(id: &str, number: Number) -> Vec<u8> {
    split_key(id, number)
}

/// The key of a row in `reflog`: the name, a zero byte, a count in big-endian order.
pub fn log_key(name: &str, index: u64) -> Vec<u8> {
    split_key(name, index)
}

fn split_key(name: &str, number: u64) -> Vec<u8> {
    let mut key = Vec::with_capacity(name.len() + 9);
    key.extend_from_slice(name.as_bytes());
    key.push(0);
    key.extend_from_slice(&number.to_be_bytes());
    key
}

/// Takes a key of `history` or `reflog` apart.
pub fn read_split_key(key: &[u8]) -> Result<(&str, u64), StoreError> {
    let fault = || StoreError::corrupt("a key of the history or the reflog");
    let (name, number) = key.split_last_chunk().ok_or_else(fault)?;
    let name = name.strip_suffix(&[0]).ok_or_else(fault)?;
    Ok((std::str::from_utf8(name).map_err(|_| fault())?, u64::from_be_bytes(*number)))
}
