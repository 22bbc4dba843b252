//! The indexes, row by row: what no commit accounts for, and whether the rows of an id lead from one to the next.

use super::super::read::read_number;
use super::super::record::{CommitRecord, Number, Place};
use super::super::rows::{Access, Rows, Scanned};
use super::super::tables::{TIP, Tables, history_key, read_split_key};
use super::super::{StoreError, open::guarded};
use super::commits::{Walk, chain_name, history_name, is_refusal, told};
use super::finding::{Fault, Finding, Fix};
use crate::model::NodeId;
use crate::object::{CommitId, get, hex};
use redb::Key;
use std::collections::{BTreeMap, BTreeSet};

impl Walk {
    /// Looks at all rows of the indexes, once the commits were looked at.
    pub fn indexes<A: Access>(&mut self, tables: &Tables<A>) -> Result<(), StoreError> {
        self.hashes(tables)?;
        // Which chain a commit stands on that cannot be read, or that may not stand there, is not known.
        let is_known = self.unread.is_empty() && !self.findings.iter().any(|it| it.fault == Fault::CommitChain);
        let tips = if is_known { self.tips.clone() } else { BTreeMap::new() };
        for (chain, position) in tips {
            self.chain_row(tables, Place { chain, position: TIP }, position.to_le_bytes().to_vec())?;
        }
        self.chains(tables)?;
        self.histories(tables)
    }

    /// The findings of the table `fault` that name a row, so that it is not told twice.
    fn is_told(&self, about: &str) -> bool {
        self.findings.iter().any(|finding| finding.about == about)
    }

    fn hashes<A: Access>(&mut self, tables: &Tables<A>) -> Result<(), StoreError> {
        let mut rows = Vec::new();
        let mut sound = 0;
        let broken = each(&tables.hash, |(key, row)| {
            let id = CommitId::from_bytes(*key.value());
            match row.and_then(|row| read_number(row.bytes())) {
                Ok(_) => sound += 1,
                Err(error) => rows.push((id, told(&error))),
            }
        })?;
        if sound > self.hash_rows {
            each(&tables.hash, |(key, row)| {
                let id = CommitId::from_bytes(*key.value());
                if let Ok(Ok(number)) = row.map(|row| read_number(row.bytes())) {
                    let there = self.commits.binary_search(&number).is_ok();
                    let is_right = there
                        && (self.unread.contains(&number)
                            || guarded(|| tables.commit(number))
                                .and_then(|read| read)
                                .is_ok_and(|commit| commit.id == id));
                    if !is_right {
                        rows.push((id, format!("it leads to {number}, which is not that commit")));
                    }
                }
            })?;
        }
        for (id, what) in rows {
            let about = format!("index of ids, {id}");
            if !self.is_told(&about) {
                let fix = Fix::Hash { id: *id.as_bytes(), number: None };
                self.findings.push(Finding::new(Fault::HashRow, about, what).fixed_by(fix));
            }
        }
        self.broken("hash", broken);
        Ok(())
    }

    fn chains<A: Access>(&mut self, tables: &Tables<A>) -> Result<(), StoreError> {
        let mut rows = Vec::new();
        let mut sound = 0;
        let broken = each(&tables.chain, |(key, row)| {
            let (chain, position) = key.value();
            match row {
                Ok(_) => sound += 1,
                Err(error) => rows.push((Place { chain, position }, told(&error))),
            }
        })?;
        let is_sure = self.unsure.is_empty() && !self.findings.iter().any(|it| it.fault == Fault::CommitChain);
        if sound > self.chain_rows && is_sure {
            let mut expected = BTreeSet::new();
            for &number in &self.commits {
                if let Ok(CommitRecord { place, parents, .. }) = guarded(|| tables.commit(number)).and_then(|read| read)
                    && (place.position == 0 || parents.len() > 1)
                {
                    expected.insert((place.chain, place.position));
                }
            }
            each(&tables.chain, |(key, row)| {
                let (chain, position) = key.value();
                let is_right = match position {
                    TIP => self.tips.contains_key(&chain),
                    _ => expected.contains(&(chain, position)),
                };
                if row.is_ok() && !is_right {
                    rows.push((Place { chain, position }, "no commit accounts for it".to_owned()));
                }
            })?;
        }
        for (place, what) in rows {
            let about = chain_name(place);
            if !self.is_told(&about) {
                let fix = Fix::Chain { place, row: None };
                self.findings.push(Finding::new(Fault::ChainRow, about, what).fixed_by(fix));
            }
        }
        self.broken("chain", broken);
        Ok(())
    }

    /// The rows of an id stand next to each other, in the order of commits.
    fn histories<A: Access>(&mut self, tables: &Tables<A>) -> Result<(), StoreError> {
        let mut damaged = Vec::new();
        let mut astray = Vec::new();
        let mut sound = 0;
        let mut last: Option<(String, Number)> = None;
        let broken = each(&tables.history, |(key, row)| {
            let key = key.value();
            let (id, number) = match read_split_key(key) {
                Ok((id, number)) if NodeId::new(id).is_ok() => (id, number),
                Ok(_) | Err(_) => return damaged.push((key.to_vec(), "its key is none".to_owned())),
            };
            let before = last.take().filter(|(last, _)| last == id).map_or(0, |(_, number)| number);
            last = Some((id.to_owned(), number));
            match row.and_then(|row| read_number(row.bytes())) {
                Err(error) => damaged.push((key.to_vec(), told(&error))),
                Ok(previous) => {
                    sound += u64::from(!self.unsure.contains(&number));
                    if previous != before {
                        astray.push((id.to_owned(), number, previous, before));
                    }
                }
            }
        })?;
        if sound > self.history_rows {
            each(&tables.history, |(key, row)| {
                let key = key.value();
                if let (Ok((id, number)), Ok(_)) = (read_split_key(key), row)
                    && let Ok(id) = NodeId::new(id)
                    && !self.unsure.contains(&number)
                    && !self.accounts_for(tables, &id, number)
                {
                    damaged.push((key.to_vec(), format!("commit {number} did not change it")));
                }
            })?;
        }
        for (key, what) in damaged {
            self.history_row(key, what, false);
        }
        for (id, number, previous, before) in astray {
            // Where a row is lost or too much, the next one is as it should be.
            let is_right = [previous, before].iter().any(|&other| self.is_told(&history_name(&id, other)));
            if !is_right {
                let what = format!("it leads to {previous} and not to {before}");
                self.history_row(history_key(&id, number), what, true);
            }
        }
        self.broken("history", broken);
        Ok(())
    }

    fn history_row(&mut self, key: Vec<u8>, what: String, is_there: bool) {
        let (about, id) = match read_split_key(&key) {
            Ok((id, number)) => (history_name(id, number), NodeId::new(id).ok()),
            Err(_) => (format!("history, key {}", hex(&key)), None),
        };
        if !self.is_told(&about) {
            let mut finding = Finding::new(Fault::HistoryRow, about, what).fixed_by(Fix::History { key, is_there });
            finding.ids.extend(id);
            self.findings.push(finding);
        }
    }

    /// Whether a commit has a row in the history of an id.
    fn accounts_for<A: Access>(&self, tables: &Tables<A>, id: &NodeId, number: Number) -> bool {
        let looked = guarded(|| -> Result<bool, StoreError> {
            let Ok(at) = self.commits.binary_search(&number) else { return Ok(false) };
            let before = if at == 0 { 0 } else { self.commits[at - 1] };
            let commit = tables.commit(number)?;
            if let Some((record, _)) = get(tables, commit.root.link(), id)? {
                return Ok(record > before);
            }
            for &parent in &commit.parents {
                if get(tables, tables.commit(parent)?.root.link(), id)?.is_none() {
                    return Ok(false);
                }
            }
            Ok(!commit.parents.is_empty())
        });
        // What cannot be looked up is told elsewhere.
        looked.and_then(|looked| looked).unwrap_or(true)
    }

    /// A table that could not be read to its end.
    pub fn broken(&mut self, table: &str, broken: Option<StoreError>) {
        let about = format!("table '{table}'");
        if let Some(error) = broken.filter(|_| !self.is_told(&about)) {
            self.findings.push(Finding::new(Fault::Table, about, told(&error)));
        }
    }
}

/// Calls `visit` with each row of a table, sound or not; returns why that ended before the end of the table.
pub fn each<A: Access, K: Key + 'static>(
    rows: &Rows<A, K>,
    mut visit: impl FnMut(Scanned<'_, K>),
) -> Result<Option<StoreError>, StoreError> {
    let read = guarded(|| -> Result<(), StoreError> {
        for entry in rows.scan::<K::SelfType<'_>>(..)? {
            visit(entry?);
        }
        Ok(())
    });
    match read.and_then(|read| read) {
        Ok(()) => Ok(None),
        Err(error) if is_refusal(&error) => Err(error),
        Err(error) => Ok(Some(error)),
    }
}
