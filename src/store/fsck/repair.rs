//! Writes the rows that follow from commits, objects and logs, where those are sound.

use super::super::StoreError;
use super::super::disk::Disk;
use super::super::open::Store;
use super::super::rows::Writing;
use super::super::tables::{Tables, history_key, read_split_key};
use super::commits::Walk;
use super::finding::{Finding, Fix, Group};
use super::{Tell, look};
use std::collections::BTreeSet;

/// What a repair did.
#[derive(Debug, Default)]
pub struct Repaired {
    /// What was wrong and no longer is.
    pub findings: Vec<Finding>,
    /// What failed after that was written.
    pub warning: Option<StoreError>,
}

impl<D: Disk> Store<D> {
    /// Looks at all rows once more, with writers held off, and writes those again that follow from the rest.
    ///
    /// Nothing is written where an object or a commit is damaged: what follows from it is not known.
    pub fn repair(&self, tell: &mut Tell<'_>) -> Result<Repaired, StoreError> {
        let seen = self.snapshot()?;
        let (findings, warning) = self.write(seen, |tables| {
            let walk = look(tables, &[], tell)?;
            mend(tables, &walk)
        })?;
        Ok(Repaired { findings, warning })
    }
}

fn mend(tables: &mut Tables<Writing<'_>>, walk: &Walk) -> Result<Vec<Finding>, StoreError> {
    if walk.findings.iter().any(|finding| finding.fault.group() == Group::Ground) {
        return Ok(Vec::new());
    }
    let found: Vec<_> = walk.findings.iter().filter(|finding| finding.is_repairable()).cloned().collect();
    let mut relinked = BTreeSet::new();
    for fix in found.iter().flat_map(|finding| &finding.fixes) {
        match fix {
            Fix::Hash { id, number: Some(number) } => tables.hash.insert(id, &number.to_le_bytes())?,
            Fix::Hash { id, number: None } => tables.hash.remove(id)?,
            Fix::Chain { place, row: Some(row) } => tables.chain.insert((place.chain, place.position), row)?,
            Fix::Chain { place, row: None } => tables.chain.remove((place.chain, place.position))?,
            Fix::History { key, is_there } => {
                match is_there {
                    true => tables.history.insert(&key[..], &0u64.to_le_bytes())?,
                    false => tables.history.remove(&key[..])?,
                }
                relinked.extend(read_split_key(key).ok().map(|(id, _)| id.to_owned()));
            }
            Fix::Reference { name, number: Some(number) } => {
                tables.reference.insert(&name[..], &number.to_le_bytes())?;
            }
            Fix::Reference { name, number: None } => tables.reference.remove(&name[..])?,
        }
    }
    relinked.iter().try_for_each(|id| relink(tables, id))?;
    Ok(found)
}

/// Lets each row in the history of an id lead to the one before.
fn relink(tables: &mut Tables<Writing<'_>>, id: &str) -> Result<(), StoreError> {
    let (first, last) = (history_key(id, 0), history_key(id, u64::MAX));
    let mut keys = Vec::new();
    for row in tables.history.range(&first[..]..=&last[..])? {
        keys.push(row?.0.value().to_vec());
    }
    let mut before = 0u64;
    for key in keys {
        tables.history.insert(&key[..], &before.to_le_bytes())?;
        before = read_split_key(&key)?.1;
    }
    Ok(())
}
