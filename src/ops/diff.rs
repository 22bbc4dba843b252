//! What differs between two memories.

use super::OpError;
use crate::graph::{Changed, Doubt, Memory, Revision, RevisionError, changed, changed_in_memory, merge_bases, resolve};
use crate::model::{Pattern, SessionName};
use crate::store::{Access, Disk, Number, SessionView, Store, short_branch};

/// Which two memories to compare.
#[derive(Clone, Debug)]
pub enum Between {
    /// From a revision, HEAD if none is named, to the memory that is read: that of a revision, or HEAD with what is
    /// staged.
    Memory {
        /// The older side.
        from: Option<Revision>,
        /// The memory that is read.
        memory: Option<Revision>,
    },
    /// From one revision to another.
    Revisions(Revision, Revision),
    /// From the best common ancestor of two revisions to the second.
    MergeBase(Revision, Revision),
}

/// What [`diff`] found.
#[derive(Debug, Default)]
pub struct DiffReport {
    /// What differs, in the order of the ids.
    pub changed: Vec<Changed>,
    /// The branch that has no commit yet, where HEAD was compared.
    pub unborn: Option<String>,
    /// What the names of the revisions stand for beside what was taken.
    pub doubts: Vec<Doubt>,
    /// How many best common ancestors there are beside the one that was taken.
    pub other_bases: usize,
}

/// Compares two memories; only nodes that `patterns` choose, all where there is none.
pub fn diff<D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    between: &Between,
    patterns: &[Pattern],
) -> Result<DiffReport, OpError> {
    store.read(session, |view| {
        let mut report = DiffReport::default();
        let root = |number: Option<Number>| view.tables.root(number);
        match between {
            Between::Memory { from, memory } => {
                let old = match from {
                    Some(from) => Some(find(view, from, &mut report)?),
                    None => view.head_commit()?,
                };
                if from.is_none() && old.is_none() {
                    report.unborn = view.head.branch().map(|name| short_branch(name).to_owned());
                }
                let memory = Memory::at(view, memory.as_ref())?;
                report.doubts.extend(memory.doubt.clone());
                report.changed = changed_in_memory(root(old)?, &memory, patterns)?;
            }
            Between::Revisions(old, new) => {
                let (old, new) = (find(view, old, &mut report)?, find(view, new, &mut report)?);
                report.changed = changed(view.tables, root(Some(old))?, root(Some(new))?, patterns)?;
            }
            Between::MergeBase(one, other) => {
                let (old, new) = (find(view, one, &mut report)?, find(view, other, &mut report)?);
                let bases = merge_bases(view.tables, old, new)?;
                let Some(&base) = bases.first() else {
                    return Err(RevisionError::Unrelated { one: one.to_string(), other: other.to_string() }.into());
                };
                report.other_bases = bases.len() - 1;
                report.changed = changed(view.tables, root(Some(base))?, root(Some(new))?, patterns)?;
            }
        }
        Ok(report)
    })
}

fn find<A: Access>(
    view: &SessionView<'_, A>,
    revision: &Revision,
    report: &mut DiffReport,
) -> Result<Number, RevisionError> {
    let resolved = resolve(view, revision)?;
    report.doubts.extend(resolved.doubt);
    Ok(resolved.number)
}
