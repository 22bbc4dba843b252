//! What became of one node over the history of a commit.

use super::{Reach, Writer, origin, versions};
use crate::model::NodeId;
use crate::object::{Leaf, get};
use crate::store::{Access, CommitRecord, Number, Place, StoreError, Tables};

/// A commit that wrote a version of a node, or took the node away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The commit.
    pub commit: Number,
    /// Where it stands.
    pub place: Place,
    /// The node as it left it; `None` where it took it away.
    pub leaf: Option<Leaf>,
}

/// The steps of `id` among the ancestors of `start`, newest first; from the history index, so no commit is read that has
/// none.
pub fn history<'a, A: Access>(
    tables: &'a Tables<A>,
    id: &'a NodeId,
    start: Number,
) -> Result<impl Iterator<Item = Result<Step, StoreError>> + 'a, StoreError> {
    let mut reach = Reach::of([tables.commit(start)?.place]);
    let step = move |number: Number| {
        let commit = tables.commit(number)?;
        if !reach.contains(tables, commit.place)? {
            return Ok(None);
        }
        Ok(Some(Step { commit: number, place: commit.place, leaf: get(tables, commit.root.link(), id)? }))
    };
    let older = versions(tables, id, &[start])?.into_iter().filter(move |&number| number <= start);
    Ok(older.map(step).filter_map(Result::transpose))
}

/// The commit that took `id` away, where the state of `start` lacks it; `None` where no ancestor of `start` had it.
///
/// Of several, the newest that no later one wrote the node over.
pub fn removal<A: Access>(tables: &Tables<A>, id: &NodeId, start: Number) -> Result<Option<Number>, StoreError> {
    let mut written: Option<Reach> = None;
    let mut overwritten = None;
    let mut places = Vec::new();
    for step in history(tables, id, start)? {
        let Step { commit, place, leaf } = step?;
        if leaf.is_some() {
            places.push(place);
            written = None;
            continue;
        }
        let written = written.get_or_insert_with(|| Reach::of(places.iter().copied()));
        if !written.contains(tables, place)? {
            return Ok(Some(commit));
        }
        overwritten = overwritten.or(Some(commit));
    }
    Ok(overwritten)
}

/// What a node said before `commit` took it away.
pub fn last_version<A: Access>(tables: &Tables<A>, id: &NodeId, commit: &CommitRecord) -> Result<Writer, StoreError> {
    let last = commit.parents.iter().map(|&parent| origin(tables, tables.root(Some(parent))?, id));
    let last = last.filter_map(Result::transpose).next().transpose()?;
    let missing = || StoreError::corrupt(format!("the version of '{id}' that was removed is missing"));
    last.map(Writer::from).ok_or_else(missing)
}
