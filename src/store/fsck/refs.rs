//! Refs against their logs, sessions and settings: what stands for itself and names commits.

use super::super::StoreError;
use super::super::read::read_number;
use super::super::record::{Head, Number, RefUpdate, Session, short_tag};
use super::super::redact::Redacting;
use super::super::rows::Access;
use super::super::tables::{CONFIG_PREFIX, FORMAT, FORMAT_KEY, NEXT_KEY, REDACT_KEY, Tables, read_split_key};
use super::commits::{Walk, told};
use super::finding::{Fault, Finding, Fix};
use super::index::each;
use crate::model::{BranchName, SessionName, TagName};
use crate::object::DecodeError;
use std::collections::{BTreeMap, BTreeSet};

/// How the log of a name ends.
struct End {
    index: u64,
    /// Where the last update left the ref; the outer `None` where its row cannot be read.
    new: Option<Option<Number>>,
}

fn log_name(name: &str, index: u64) -> String {
    format!("log of '{name}', row {index}")
}

fn ref_name(name: &str) -> String {
    format!("ref '{name}'")
}

fn session_name(name: &str) -> String {
    format!("session '{name}'")
}

/// Whether refs may have this name.
fn is_ref_name(name: &str) -> bool {
    match (name.strip_prefix("refs/heads/"), short_tag(name)) {
        (Some(branch), _) => BranchName::new(branch).is_ok(),
        (None, Some(tag)) => TagName::new(tag).is_ok(),
        (None, None) => false,
    }
}

impl Walk {
    /// Looks at refs, sessions and settings, once the commits were looked at.
    pub fn names<A: Access>(&mut self, tables: &Tables<A>) -> Result<(), StoreError> {
        let ends = self.logs(tables)?;
        self.references(tables, &ends)?;
        self.sessions(tables)?;
        self.settings(tables)
    }

    fn is_commit(&self, number: Number) -> bool {
        self.commits.binary_search(&number).is_ok()
    }

    fn push(&mut self, fault: Fault, about: String, what: impl Into<String>) {
        self.findings.push(Finding::new(fault, about, what));
    }

    fn logs<A: Access>(&mut self, tables: &Tables<A>) -> Result<BTreeMap<String, End>, StoreError> {
        let mut ends = BTreeMap::<String, End>::new();
        let broken = each(&tables.reflog, |(key, row)| {
            let key = key.value();
            let (name, index) = match read_split_key(key) {
                Ok((name, index)) if is_ref_name(name) || is_session_log(name) => (name, index),
                Ok((name, index)) => return self.push(Fault::ReflogRow, log_name(name, index), "its name is none"),
                Err(error) => return self.push(Fault::ReflogRow, "log of no name".to_owned(), told(&error)),
            };
            let about = || log_name(name, index);
            let before = ends.get(name);
            if before.is_some_and(|before| before.index.checked_add(1) != Some(index)) {
                self.push(Fault::ReflogRow, about(), "the row before it is lost");
            }
            let update = match row {
                Ok(row) => RefUpdate::decode(row.bytes())
                    .and_then(|update| {
                        let same = update.encode() == row.bytes();
                        if same { Ok(update) } else { Err(DecodeError::NotCanonical("an update is spelled otherwise")) }
                    })
                    .map_err(|error| error.to_string()),
                Err(error) => Err(told(&error)),
            };
            let new = match update {
                Err(what) => {
                    self.push(Fault::ReflogRow, about(), what);
                    None
                }
                Ok(update) => {
                    if let Some(number) = update.new.filter(|&number| !self.is_commit(number)) {
                        self.push(Fault::RefTarget, about(), format!("there is no commit {number}"));
                    }
                    // A session on a branch goes along when another one moves that.
                    let from = match before {
                        Some(before) if before.index + 1 == index => before.new,
                        Some(_) => None,
                        None => (index == 0).then_some(None),
                    };
                    if !is_session_log(name) && from.is_some_and(|from| from != update.old) {
                        self.push(Fault::ReflogRow, about(), "it does not begin where the row before it ends");
                    }
                    Some(update.new)
                }
            };
            ends.insert(name.to_owned(), End { index, new });
        })?;
        self.broken("reflog", broken);
        Ok(ends)
    }

    /// A row that is lost or cannot be read follows from its log. Where both can be read and differ, nobody knows which of
    /// them lost something.
    fn references<A: Access>(&mut self, tables: &Tables<A>, ends: &BTreeMap<String, End>) -> Result<(), StoreError> {
        let mut seen = BTreeSet::new();
        let broken = each(&tables.reference, |(key, row)| {
            let name = key.value();
            seen.insert(name.to_owned());
            let about = ref_name(name);
            if !is_ref_name(name) {
                return self.push(Fault::RefRow, about, "its name is none");
            }
            let end = ends.get(name).and_then(|end| end.new);
            match (row.and_then(|row| read_number(row.bytes())), end) {
                (Err(error), Some(number)) => {
                    let finding = Finding::new(Fault::RefRow, about, told(&error));
                    let fix = Fix::Reference { name: name.to_owned(), number };
                    self.findings.push(finding.fixed_by(fix));
                }
                (Err(error), None) => self.push(Fault::RefRow, about, told(&error)),
                (Ok(_), None) if !ends.contains_key(name) => self.push(Fault::RefLog, about, "it has no log"),
                (Ok(number), None) => {
                    if !self.is_commit(number) {
                        self.push(Fault::RefTarget, about, format!("there is no commit {number}"));
                    }
                }
                (Ok(number), Some(Some(end))) if number == end => {}
                (Ok(number), Some(Some(end))) => {
                    self.push(Fault::RefRow, about, format!("it stands at commit {number}, and its log ends at {end}"));
                }
                (Ok(number), Some(None)) => {
                    self.push(
                        Fault::RefRow,
                        about,
                        format!("it stands at commit {number}, and its log ends with its end"),
                    );
                }
            }
        })?;
        if broken.is_none() {
            let lost = ends.iter().filter(|(name, _)| is_ref_name(name) && !seen.contains(*name));
            for (name, end) in lost {
                if let Some(Some(number)) = end.new {
                    let what = format!("it is not there, and its log ends at commit {number}");
                    let fix = Fix::Reference { name: name.clone(), number: Some(number) };
                    self.findings.push(Finding::new(Fault::RefRow, ref_name(name), what).fixed_by(fix));
                }
            }
        }
        self.broken("ref", broken);
        Ok(())
    }

    fn sessions<A: Access>(&mut self, tables: &Tables<A>) -> Result<(), StoreError> {
        let mut has_default = false;
        let broken = each(&tables.session, |(key, row)| {
            let name = key.value();
            has_default |= name == SessionName::DEFAULT;
            let about = session_name(name);
            if SessionName::new(name).is_err() {
                return self.push(Fault::SessionRow, about, "its name is none");
            }
            let session = match row {
                Ok(row) => Session::decode(row.bytes()),
                Err(error) => return self.push(Fault::SessionRow, about, told(&error)),
            };
            match session {
                Err(error @ (DecodeError::UnknownRecord(_) | DecodeError::Kind(_))) => {
                    self.push(Fault::UnsupportedFormat, about, error.to_string());
                }
                Err(error) => self.push(Fault::SessionRow, about, error.to_string()),
                Ok(session) => {
                    for head in [Some(&session.head), session.previous.as_ref()].into_iter().flatten() {
                        if let Head::Branch(branch) = head
                            && branch.strip_prefix("refs/heads/").is_none_or(|name| BranchName::new(name).is_err())
                        {
                            self.push(Fault::SessionRow, about.clone(), format!("'{branch}' is no branch"));
                        }
                    }
                    let lost = session.commits().into_iter().filter(|&number| !self.is_commit(number));
                    for number in lost.collect::<BTreeSet<_>>() {
                        self.push(Fault::SessionTarget, about.clone(), format!("there is no commit {number}"));
                    }
                }
            }
        })?;
        if !has_default && broken.is_none() {
            self.push(Fault::SessionRow, session_name(SessionName::DEFAULT), "it is not there");
        }
        self.broken("session", broken);
        Ok(())
    }

    fn settings<A: Access>(&mut self, tables: &Tables<A>) -> Result<(), StoreError> {
        let last = self.bad.last().copied().max(self.commits.last().copied()).unwrap_or(0).max(self.last_object);
        let mut seen = BTreeSet::new();
        let broken = each(&tables.setting, |(key, row)| {
            let key = key.value();
            seen.insert(key.to_owned());
            let about = setting_name(key);
            let row = match row {
                Ok(row) => row,
                Err(error) => return self.push(Fault::Setting, about, told(&error)),
            };
            match key {
                FORMAT_KEY => match read_number(row.bytes()) {
                    Ok(FORMAT) => {}
                    Ok(other) => self.push(Fault::UnsupportedFormat, about, format!("format {other} is not known")),
                    Err(error) => self.push(Fault::Setting, about, told(&error)),
                },
                NEXT_KEY => match read_number(row.bytes()) {
                    Ok(next) if next > last => {}
                    Ok(next) => {
                        self.push(Fault::Setting, about, format!("it is {next}, and the number {last} is in use"));
                    }
                    Err(error) => self.push(Fault::Setting, about, told(&error)),
                },
                REDACT_KEY => {
                    if let Err(error) = Redacting::decode(row.bytes()) {
                        self.push(Fault::Setting, about, error.to_string());
                    }
                }
                _ if key.starts_with(CONFIG_PREFIX) => {
                    if std::str::from_utf8(row.bytes()).is_err() {
                        self.push(Fault::Setting, about, "it is not UTF-8");
                    }
                }
                _ => self.push(Fault::Setting, about, "it is not known"),
            }
        })?;
        if broken.is_none() {
            for key in [FORMAT_KEY, NEXT_KEY] {
                if !seen.contains(key) {
                    self.push(Fault::Setting, setting_name(key), "it is not there");
                }
            }
        }
        self.broken("setting", broken);
        Ok(())
    }
}

fn setting_name(key: &str) -> String {
    format!("setting '{key}'")
}

fn is_session_log(name: &str) -> bool {
    name.strip_prefix("session/").is_some_and(|name| SessionName::new(name).is_ok())
}
