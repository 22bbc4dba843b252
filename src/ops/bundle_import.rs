//! Commits and refs of a bundle, taken into a store.

use super::OpError;
use super::refs::{refuse_lacking, tag_reason};
use crate::graph::Reach;
use crate::model::{BranchName, CommitTime, TagName};
use crate::object::CommitId;
use crate::store::{
    Access, BundleFile, BundledRef, Disk, Number, Store, StoreError, Summary, Tables, short_branch, short_tag,
};
use std::collections::BTreeSet;
use std::io::{Read, Seek};

/// What the log says of a branch that comes of a bundle.
const REASON: &str = "bundle import";

/// What became of a ref of a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedRef {
    /// What it is called here, in full.
    pub name: String,
    /// The commit that it names in the bundle.
    pub bundled: CommitId,
    /// The commit that it named here; `None` where it was not there.
    pub old: Option<CommitId>,
    /// The commit that it names here now.
    pub new: CommitId,
}

/// What was taken in, or would be.
#[derive(Debug)]
pub struct BundleImportReport {
    /// How many commits are new.
    pub new: u64,
    /// How many were there.
    pub known: u64,
    /// The refs, in the order of their names in the bundle.
    pub refs: Vec<ImportedRef>,
    /// What failed after the change was durable.
    pub warning: Option<StoreError>,
}

/// Takes a bundle in, all of it or nothing, in one transaction; with `prefix` its refs go below that. A branch that is there
/// moves only forward, and stays where it has all that the bundle's has; a tag that is there stays.
pub fn import_bundle<D: Disk, R: Read + Seek>(
    store: &Store<D>,
    bundle: &mut BundleFile<R>,
    summary: &Summary,
    prefix: Option<&str>,
    time: CommitTime,
) -> Result<BundleImportReport, OpError> {
    let (report, snapshot) = store.look(|tables| plan(tables, bundle.name(), summary, prefix))?;
    if report.new == 0 && report.refs.iter().all(|it| it.old == Some(it.new)) {
        return Ok(report);
    }
    let (report, warning) = store.write(snapshot, |tables| {
        let report = plan(tables, bundle.name(), summary, prefix)?;
        let imported = tables.import_commits(bundle)?;
        debug_assert_eq!((imported.new, imported.known), (report.new, report.known));
        for (imported, bundled) in report.refs.iter().zip(summary.header.refs.values()) {
            if imported.old == Some(imported.new) {
                continue;
            }
            let lost = || StoreError::corrupt(format!("commit {} is missing in the index of ids", imported.new));
            let number = tables.commit_number(&imported.new)?.ok_or_else(lost)?;
            match &bundled.tag {
                None => tables.set_reference(&imported.name, number, time, REASON)?,
                Some(tag) => {
                    tables.set_reference(&imported.name, number, tag.time, &tag_reason(tag.message.as_ref()))?;
                }
            }
        }
        Ok::<_, OpError>(report)
    })?;
    Ok(BundleImportReport { warning, ..report })
}

/// What [`import_bundle`] would do, if the memories of the bundle are those that its commits name.
pub fn plan_bundle<D: Disk>(
    store: &Store<D>,
    name: &str,
    summary: &Summary,
    prefix: Option<&str>,
) -> Result<BundleImportReport, OpError> {
    Ok(store.look(|tables| plan(tables, name, summary, prefix))?.0)
}

fn plan<A: Access>(
    tables: &Tables<A>,
    name: &str,
    summary: &Summary,
    prefix: Option<&str>,
) -> Result<BundleImportReport, OpError> {
    refuse_lacking(tables, name, summary)?;
    let mut new = 0;
    for id in summary.parents.keys() {
        new += u64::from(tables.commit_number(id)?.is_none());
    }
    let (mut refs, mut diverged, mut elsewhere) = (Vec::new(), Vec::new(), Vec::new());
    for (name, BundledRef { commit, .. }) in &summary.header.refs {
        let name = local_name(name, prefix)?;
        let mut imported = ImportedRef { name, bundled: *commit, old: None, new: *commit };
        if let Some(number) = tables.reference(&imported.name)? {
            let old = tables.commit_id(number)?;
            imported.old = Some(old);
            if old == *commit {
                // It is there.
            } else if let Some(tag) = short_tag(&imported.name) {
                elsewhere.push(tag.to_owned());
            } else if is_ahead(tables, number, commit)? {
                imported.new = old;
            } else if !is_behind(tables, summary, number, *commit)? {
                diverged.push(short_branch(&imported.name).to_owned());
            }
        }
        refs.push(imported);
    }
    if !diverged.is_empty() {
        return Err(OpError::Diverged { name: name.to_owned(), branches: diverged });
    }
    if !elsewhere.is_empty() {
        return Err(OpError::TagsElsewhere { name: name.to_owned(), tags: elsewhere });
    }
    Ok(BundleImportReport { new, known: summary.parents.len() as u64 - new, refs, warning: None })
}

/// What a ref of a bundle is called here.
fn local_name(name: &str, prefix: Option<&str>) -> Result<String, OpError> {
    let Some(prefix) = prefix else { return Ok(name.to_owned()) };
    match short_tag(name) {
        Some(short) => Ok(TagName::new(&format!("{prefix}/{short}"))?.ref_name()),
        None => Ok(BranchName::new(&format!("{prefix}/{}", short_branch(name)))?.ref_name()),
    }
}

/// Whether a commit of the bundle is here, and an ancestor of this one.
fn is_ahead<A: Access>(tables: &Tables<A>, own: Number, bundled: &CommitId) -> Result<bool, StoreError> {
    let Some(bundled) = tables.commit_number(bundled)? else { return Ok(false) };
    Reach::of([tables.commit(own)?.place]).contains(tables, tables.commit(bundled)?.place)
}

/// Whether a commit of here is an ancestor of one of the bundle.
fn is_behind<A: Access>(
    tables: &Tables<A>,
    summary: &Summary,
    own: Number,
    bundled: CommitId,
) -> Result<bool, StoreError> {
    let (mut here, mut seen, mut open) = (Vec::new(), BTreeSet::new(), vec![bundled]);
    while let Some(id) = open.pop() {
        if seen.insert(id) {
            match tables.commit_number(&id)? {
                Some(number) => here.push(tables.commit(number)?.place),
                None => open.extend(summary.parents.get(&id).into_iter().flatten()),
            }
        }
    }
    Reach::of(here).contains(tables, tables.commit(own)?.place)
}
