//! Commits and refs of a store, written as a bundle.

use super::OpError;
use super::refs::said;
use crate::graph::{Doubt, Selection, Walk, ref_named, resolve, resolve_all};
use crate::model::{Message, SessionName};
use crate::object::CommitId;
use crate::store::{
    Access, BundledRef, BundledTag, Disk, Header, Number, SessionView, Store, StoreError, Tables, WriteError, short_tag,
};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

/// What is to be in a bundle.
#[derive(Clone, Debug, Default)]
pub struct BundleRequest {
    /// Branches and tags with their ancestors, and what is left out; all branches and tags where none is named.
    pub revisions: Vec<Selection>,
    /// All branches and tags beside those that are named.
    pub all: bool,
}

/// A bundle that was written.
#[derive(Debug)]
pub struct BundleReport {
    /// What it builds on, and its refs.
    pub header: Header,
    /// How many commits it has.
    pub commits: u64,
    /// How many changes of nodes.
    pub changes: u64,
    /// How many bytes.
    pub bytes: u64,
    /// What the names of the revisions stand for beside what was taken.
    pub doubts: Vec<Doubt>,
}

struct Plan {
    header: Header,
    /// Rising.
    commits: Vec<Number>,
    doubts: Vec<Doubt>,
}

/// Writes a bundle to `out`, from one snapshot. What is held in memory is a number a commit and one node at a time.
pub fn create_bundle<D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    request: &BundleRequest,
    out: &mut dyn Write,
) -> Result<BundleReport, OpError> {
    let (plan, snapshot) = store.look(|tables| {
        let view = SessionView::standing(tables, session, store.standing(tables, session)?)?;
        plan(&view, request)
    })?;
    let Plan { header, commits, doubts } = plan;
    let written = snapshot.guarded(|tables| match tables.write_bundle(&header, &commits, out) {
        Ok(written) => Ok(written),
        Err(WriteError::Store(error)) => Err(OpError::Store(error)),
        Err(WriteError::Output(error)) => Err(OpError::Output(error)),
    })?;
    let commits = commits.len() as u64;
    Ok(BundleReport { header, commits, changes: written.changes, bytes: written.bytes, doubts })
}

fn plan<A: Access>(view: &SessionView<'_, A>, request: &BundleRequest) -> Result<Plan, OpError> {
    let tables = view.tables;
    let ends = resolve_all(view, &request.revisions)?;
    let mut refs = BTreeMap::new();
    for (revision, left_out) in request.revisions.iter().flat_map(Selection::ends) {
        if !left_out {
            let name = ref_named(view, revision)?.filter(|name| name.starts_with("refs/"));
            let name = name.ok_or_else(|| OpError::NotARef(revision.to_string()))?;
            refs.insert(name, resolve(view, revision)?.number);
        }
    }
    if request.all || refs.is_empty() {
        refs.extend(tables.references("refs/")?);
    }
    let (mut commits, mut prerequisites) = (Vec::new(), BTreeSet::new());
    for step in Walk::new(tables, refs.values().copied(), ends.without, false) {
        let (number, commit) = step?;
        commits.push(number);
        prerequisites.extend(commit.parents);
    }
    if commits.is_empty() {
        return Err(OpError::NothingChosen);
    }
    commits.reverse();
    prerequisites.extend(refs.values());
    prerequisites.retain(|number| commits.binary_search(number).is_err());
    let id = |number: Number| tables.commit_id(number);
    let header = Header {
        prerequisites: prerequisites.into_iter().map(id).collect::<Result<_, _>>()?,
        refs: refs
            .into_iter()
            .map(|(name, number)| Ok((name.clone(), bundled(tables, &name, id(number)?)?)))
            .collect::<Result<_, StoreError>>()?,
    };
    Ok(Plan { header, commits, doubts: ends.doubts })
}

fn bundled<A: Access>(tables: &Tables<A>, name: &str, commit: CommitId) -> Result<BundledRef, StoreError> {
    if short_tag(name).is_none() {
        return Ok(BundledRef { commit, tag: None });
    }
    let lost = || StoreError::corrupt(format!("the ref '{name}' is not where its log says"));
    let (_, update) = tables.last_update(name)?.ok_or_else(lost)?;
    let said = said(&update.reason).map(|said| Message::new(&said).ok().filter(|message| message.as_str() == said));
    let message = match said {
        None => None,
        Some(Some(message)) => Some(message),
        Some(None) => return Err(StoreError::corrupt(format!("what the ref '{name}' says is no message"))),
    };
    Ok(BundledRef { commit, tag: Some(BundledTag { time: update.time, message }) })
}
