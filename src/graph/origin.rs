//! Who wrote the version of a node that stands in a state: its record and the commit of that record are numbered in one
//! row, so no index and no walk is needed.

use crate::model::NodeId;
use crate::object::{Kept, Leaf, Link, get};
use crate::store::{Access, CommitRecord, Number, StoreError, Tables};

/// A version of a node, with the commit that wrote it.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The number of the commit.
    pub number: Number,
    /// The commit.
    pub commit: CommitRecord,
    /// The node as it wrote it.
    pub node: Kept,
}

/// Who wrote a version of a node.
#[derive(Clone, Debug)]
pub struct Writer {
    /// The commit; `None` where the version is staged.
    pub commit: Option<CommitRecord>,
    /// The node as it was written.
    pub node: Kept,
}

impl From<Origin> for Writer {
    fn from(origin: Origin) -> Self {
        Self { commit: Some(origin.commit), node: origin.node }
    }
}

/// The end of a node.
#[derive(Clone, Debug)]
pub struct Removal {
    /// Who took it away; `None` where that is staged.
    pub commit: Option<CommitRecord>,
    /// What it said last.
    pub last: Writer,
}

/// Who wrote the node of `id` in the state below `root`; `None` where it has none.
pub fn origin<A: Access>(tables: &Tables<A>, root: Option<Link>, id: &NodeId) -> Result<Option<Origin>, StoreError> {
    get(tables, root, id)?.map(|leaf| written(tables, leaf)).transpose()
}

/// Who wrote the record of a node.
pub fn written<A: Access>(tables: &Tables<A>, (record, object): Leaf) -> Result<Origin, StoreError> {
    let (number, commit) = tables.commit_that_wrote(record)?;
    Ok(Origin { number, commit, node: tables.kept(record, object)? })
}
