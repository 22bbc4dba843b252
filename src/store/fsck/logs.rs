//! Staged logs: frames, numbers, and what is in them.

use super::super::StoreError;
use super::super::disk::Disk;
use super::super::open::{HEADER_GRACE, Snapshot, Store, builder, guarded};
use super::super::overlay::open_over;
use super::super::record::Head;
use super::super::staged::{Change, LogError, LogView};
use super::super::tables::Tables;
use super::Report;
use super::finding::{Fault, Finding, Note};
use crate::model::SessionName;
use crate::object::{DecodeError, decode_kept};
use redb::{DatabaseError, ReadableDatabase};

/// How often a log is read without a lock, where a writer was in between.
const UNLOCKED_READS: usize = 2;

const CACHE_BYTES: usize = 4 << 20;

impl<D: Disk> Store<D> {
    /// Looks at the logs of all sessions.
    pub(super) fn check_logs(&self, report: &mut Report) -> Result<(), StoreError> {
        for name in self.disk().logs()? {
            self.check_log(&name, report)?;
        }
        Ok(())
    }

    fn check_log(&self, name: &SessionName, report: &mut Report) -> Result<(), StoreError> {
        let mut looks = 0;
        loop {
            let locked = looks == UNLOCKED_READS;
            let log = match self.disk().read_log(name, locked.then(|| self.lock_timeout().max(HEADER_GRACE))) {
                Ok(log) => log,
                Err(error @ LogError::NotAFile { .. }) => {
                    report.findings.push(Finding::new(Fault::StagedLog, log_name(name), error.to_string()));
                    return Ok(());
                }
                Err(error) => return Err(error.into()),
            };
            // What is staged is not to be judged where its session cannot be read, and that is told.
            let Ok(row) = self.unwritten_snapshot()?.and_then(|seen| seen.guarded(|tables| tables.session(name)))
            else {
                return Ok(());
            };
            if row.is_none() && *name == SessionName::default() {
                // Its row is lost, and that is told.
                return Ok(());
            }
            let is_current = locked || log.is_current()?;
            let consumed = row.as_ref().map_or(0, |row| row.consumed);
            let mut found = Report::default();
            judge(name, &log, consumed, row.is_none(), &mut found);
            if is_current && (locked || found.findings.is_empty()) {
                report.findings.extend(found.findings);
                report.notes.extend(found.notes);
                return Ok(());
            }
            looks += 1;
        }
    }

    /// A snapshot without a repair of the file; inside it why there is none.
    fn unwritten_snapshot(&self) -> Result<Result<Snapshot, StoreError>, StoreError> {
        let disk = self.disk().clone();
        self.bounded(self.lock_timeout().max(HEADER_GRACE), move || {
            let mut builder = builder();
            builder.set_cache_size(CACHE_BYTES);
            let opened = disk.open_database(false)?.file;
            let opened = guarded(|| builder.open_read_only_with_backend(opened));
            Ok(match opened {
                Ok(Ok(database)) => guarded(|| {
                    let transaction = database.begin_read()?;
                    Ok(Snapshot::new(Tables::open(&transaction)?, None))
                })
                .and_then(|opened| opened),
                Ok(Err(DatabaseError::RepairAborted)) => guarded(|| {
                    let database =
                        open_over(disk.open_database(false)?.file, &disk.open_database(false)?.file, CACHE_BYTES)?;
                    let transaction = database.begin_read()?;
                    Ok(Snapshot::new(Tables::open(&transaction)?, Some(database)))
                })
                .and_then(|opened| opened),
                Ok(Err(error)) => Err(error.into()),
                Err(error) => Err(error),
            })
        })
    }
}

fn log_name(name: &SessionName) -> String {
    format!("staged log of '{name}'")
}

/// Looks at one log whose session has consumed so much, and has no row if `is_new`.
fn judge(name: &SessionName, log: &LogView, consumed: u64, is_new: bool, report: &mut Report) {
    let mut find = |fault, what: String| report.findings.push(Finding::new(fault, log_name(name), what));
    let staged = match log.staged(consumed) {
        Ok(staged) => staged,
        Err(LogError::Damaged { what, offset, .. }) => {
            return find(Fault::StagedLog, format!("at byte {offset}: {what}"));
        }
        Err(error) => return find(Fault::StagedLog, error.to_string()),
    };
    if is_new {
        match staged.head().map(|head| head.map(Head::decode)) {
            Ok(None | Some(Ok(_))) => {}
            Ok(Some(Err(error))) => find(fault_of(&error, Fault::StagedLog), format!("its head: {error}")),
            Err(error) => find(Fault::StagedLog, error.to_string()),
        }
    }
    let mut nodes = Vec::new();
    for (at, change) in staged.entries() {
        match change {
            Err(error) => find(fault_of(&error, Fault::StagedLog), format!("at byte {at}: {error}")),
            Ok(change) => match change.id().read() {
                Err(error) => find(Fault::StagedLog, format!("at byte {at}: {error}")),
                Ok(id) => match change {
                    Change::Remove { .. } | Change::Unstage { .. } => {}
                    Change::Set { node, .. } => match decode_kept(node) {
                        Ok(node) if *node.id() == id => {}
                        Ok(node) => nodes.push((id, Fault::StagedNode, format!("at byte {at}: it is '{}'", node.id()))),
                        Err(error) => {
                            let fault = fault_of(&error, Fault::StagedNode);
                            nodes.push((id, fault, format!("at byte {at}: {error}")));
                        }
                    },
                },
            },
        }
    }
    for (id, fault, what) in nodes {
        let mut finding = Finding::new(fault, format!("{}, '{id}'", log_name(name)), what);
        finding.ids.push(id);
        report.findings.push(finding);
    }
    let torn = staged.torn();
    if torn > 0 {
        report.notes.push(Note::TornTail { session: name.clone(), bytes: torn as u64 });
    }
}

fn fault_of(error: &DecodeError, damaged: Fault) -> Fault {
    match error {
        DecodeError::NotCanonical(_) => damaged,
        DecodeError::Kind(_) => Fault::UnsupportedKind,
        DecodeError::UnknownRecord(_) => Fault::UnsupportedFormat,
    }
}
