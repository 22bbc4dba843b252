//! The check of a store: whether all of it is what the format says, down to the last row. Writes nothing, but for a repair,
//! which writes what follows from the rest and nothing else.

mod commits;
mod finding;
mod index;
mod logs;
mod opening;
mod reach;
mod recent;
mod refs;
mod repair;
mod source;

pub use finding::{Fault, Finding, Group, Note, Report};

use super::disk::Disk;
use super::open::{Store, guarded};
use super::rows::Access;
use super::tables::Tables;
use super::{Number, StoreError};
use commits::{Walk, told};
use opening::{FILE, Moment};

/// How often the check begins again where a writer was in between; the last time it is held off.
const ATTEMPTS: usize = 3;

/// What the check is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// redb looks at its pages.
    Pages,
    /// Commits and objects, by their numbers.
    Commits,
    /// The indexes.
    Indexes,
    /// How far damage reaches.
    Damage,
    /// What is staged.
    Staged,
}

/// Told how far a stage is: so many of so many, or 0 of 0 where that is not known.
pub type Tell<'a> = dyn FnMut(Stage, u64, u64) + 'a;

impl<D: Disk> Store<D> {
    /// Looks at all of the store.
    ///
    /// Fails only where the system refuses; damage is in the report. No writer is kept waiting for longer than redb's look at
    /// the pages takes, and that only where another one came in between before.
    pub fn fsck(&self, tell: &mut Tell<'_>) -> Result<Report, StoreError> {
        let mut attempt = 1;
        loop {
            let last = attempt == ATTEMPTS;
            let (report, is_still) = self.fsck_once(last, tell)?;
            if report.findings.is_empty() || is_still || last {
                return Ok(report);
            }
            attempt += 1;
        }
    }

    /// Looks once; the second part of the answer is whether nobody wrote meanwhile.
    fn fsck_once(&self, locked: bool, tell: &mut Tell<'_>) -> Result<(Report, bool), StoreError> {
        let mut moment = match Moment::take(self) {
            Ok(moment) => moment,
            Err(error @ StoreError::Corrupt { .. }) => {
                let findings = vec![Finding::new(Fault::Structure, FILE, told(&error))];
                return Ok((Report { findings, ..Report::default() }, true));
            }
            Err(error) => return Err(error),
        };
        if !locked {
            moment.unlock()?;
        }
        let mut report = Report { findings: moment.header_findings(), ..Report::default() };
        tell(Stage::Pages, 0, 0);
        let (structure, recovered) = moment.check()?;
        report.findings.extend(structure);
        if moment.is_unrecovered {
            report.notes.push(Note::Unrecovered);
        } else {
            // The snapshot keeps its pages from here on.
            moment.unlock()?;
        }
        if let Some(opened) = moment.tables(recovered)? {
            // A request that cannot be read is told with the settings.
            if matches!(guarded(|| opened.tables.redacting()), Ok(Ok(Some(_)))) {
                report.notes.push(Note::RedactionLeft);
            }
            let walk = look(&opened.tables, &opened.lost, tell)?;
            report.commits = walk.commits.len() as u64;
            (report.objects, report.bytes) = (walk.objects, walk.bytes);
            report.findings.extend(walk.findings);
        }
        tell(Stage::Staged, 0, 0);
        self.check_logs(&mut report)?;
        Ok((report, moment.is_still()?))
    }
}

/// Looks at all rows of the tables, of which those in `lost` could not be opened.
fn look<A: Access>(
    tables: &Tables<A>,
    lost: &[(&'static str, StoreError)],
    tell: &mut Tell<'_>,
) -> Result<Walk, StoreError> {
    // Only to tell how far the check is; what is wrong with it is told with the settings.
    let next = guarded(|| tables.next_number()).and_then(|next| next).unwrap_or(Number::MAX);
    let mut walk = Walk::default();
    for (table, error) in lost {
        walk.broken(table, Some(StoreError::corrupt(told(error))));
    }
    if lost.iter().any(|(table, _)| ["object", "commit"].contains(table)) {
        return Ok(walk);
    }
    walk.all_commits(tables, next, tell)?;
    tell(Stage::Indexes, 0, 0);
    walk.indexes(tables)?;
    walk.names(tables)?;
    tell(Stage::Damage, 0, 0);
    walk.reach(tables)?;
    let is_lost = |finding: &Finding| {
        let about = |table: &&'static str| match finding.fault {
            Fault::HashRow => *table == "hash",
            Fault::ChainRow => *table == "chain",
            Fault::HistoryRow => *table == "history",
            Fault::RefRow => ["ref", "reflog"].contains(table),
            Fault::RefLog => *table == "reflog",
            Fault::SessionRow => *table == "session",
            Fault::Setting => *table == "setting",
            _ => false,
        };
        lost.iter().any(|(table, _)| about(table))
    };
    walk.findings.retain(|finding| !is_lost(finding));
    Ok(walk)
}
