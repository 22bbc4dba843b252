//! Whether a store is what the format says, and what of it can be put right.

use super::OpError;
use crate::store::{Disk, Finding, Group, Report, Store, StoreError, Tell};

/// What a check came to, and what a repair before it wrote.
#[derive(Debug, Default)]
pub struct FsckReport {
    /// What is wrong now.
    pub report: Report,
    /// What was wrong and was put right.
    pub repaired: Vec<Finding>,
    /// Whether a repair was asked for and refused, for what the rows follow from is damaged itself.
    pub refused: bool,
    /// What failed after the repair was written.
    pub warning: Option<StoreError>,
}

/// Looks at all of a store; with `repair` it then writes the rows again that follow from the rest, and looks once more.
pub fn fsck<D: Disk>(store: &Store<D>, repair: bool, tell: &mut Tell<'_>) -> Result<FsckReport, OpError> {
    let report = store.fsck(tell)?;
    if !repair || !report.findings.iter().any(Finding::is_repairable) {
        return Ok(FsckReport { report, ..FsckReport::default() });
    }
    if report.findings.iter().any(|finding| finding.fault.group() == Group::Ground) {
        return Ok(FsckReport { report, refused: true, ..FsckReport::default() });
    }
    let repaired = store.repair(tell)?;
    let report = store.fsck(tell)?;
    Ok(FsckReport { report, repaired: repaired.findings, refused: false, warning: repaired.warning })
}
