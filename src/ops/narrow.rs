//! What differs between two commits, and commits of some of it, for a search for what a test needs to fail.

use super::OpError;
use crate::graph::{Doubt, Revision, resolve};
use crate::model::{Author, CommitTime, Message, NodeId, SessionName};
use crate::object::{CommitId, Leaf, Source, StateId, diff, encode_kept};
use crate::store::{CommitWords, Disk, Number, Store, StoreError, Tables, Writing};
use std::collections::BTreeMap;

/// Who makes the commits of tries. Nobody wrote what is in them but who wrote it before.
const AUTHOR: &str = "mnem";

/// A commit between which and another one changes are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NarrowEnd {
    /// Its number.
    pub number: Number,
    /// Its id.
    pub id: CommitId,
    /// The id of its memory.
    pub state: StateId,
}

/// The node changes between two commits.
#[derive(Clone, Debug)]
pub struct NarrowPlan {
    /// The memory without any of them.
    pub good: NarrowEnd,
    /// The memory with all of them.
    pub bad: NarrowEnd,
    /// Whose nodes differ, in the order of the ids. A change is spoken of by its index here.
    pub changes: Vec<NodeId>,
    /// What names stand for beside what was taken.
    pub doubts: Vec<Doubt>,
    /// What the bad commit has of each; `None` where it lacks the node.
    nodes: Vec<Option<Leaf>>,
    /// When the bad commit was made.
    time: CommitTime,
}

/// A commit with some of the changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NarrowTry {
    /// Its number, in the copy in which it was made.
    pub number: Number,
    /// Its id.
    pub id: CommitId,
    /// The id of its memory.
    pub state: StateId,
}

/// The node changes between two commits, of which neither need be an ancestor of the other; where no good one is named, from
/// the first parent of the bad one. Reads follow what differs.
pub fn narrow_plan<D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    good: Option<&Revision>,
    bad: &Revision,
) -> Result<NarrowPlan, OpError> {
    store.read(session, |view| {
        let tables = view.tables;
        let bad = resolve(view, bad)?;
        let new = tables.commit(bad.number)?;
        let (good, doubt) = match good {
            Some(good) => {
                let good = resolve(view, good)?;
                (good.number, good.doubt)
            }
            None => (*new.parents.first().ok_or(OpError::NoParent(new.id))?, None),
        };
        let doubts = doubt.into_iter().chain(bad.doubt).collect();
        let old = tables.commit(good)?;
        let mut changed = BTreeMap::new();
        diff(tables, old.root.link(), new.root.link(), |old, new| {
            if let Some((number, object)) = new.or(old) {
                changed.insert(tables.node_id(number, object)?, new);
            }
            Ok::<_, StoreError>(())
        })?;
        let (changes, nodes) = changed.into_iter().unzip();
        let good = NarrowEnd { number: good, id: old.id, state: old.state() };
        let bad = NarrowEnd { number: bad.number, id: new.id, state: new.state() };
        Ok::<_, OpError>(NarrowPlan { good, bad, changes, doubts, nodes, time: new.time })
    })
}

/// Commits the memory of the good commit with the `chosen` changes, whose indices are below the number of changes.
///
/// `copy` is a private copy, with all history, of the store in which the plan was made: there each commit and node has the
/// number that it has in the store. Parents are the good commit and the bad one, so every node is one that a parent has
/// already, and blame leads to who wrote it; which is why nothing is said of nodes in the history of nodes. No session and
/// no branch moves. The commit is the same whenever it is made, and made once: the copy has it when this returns, nobody has
/// it open, and it may be cloned. Reads and writes follow the number of changes.
pub fn narrow_try<D: Disk>(copy: &Store<D>, plan: &NarrowPlan, chosen: &[usize]) -> Result<NarrowTry, OpError> {
    let (made, closed) = copy.write(copy.snapshot()?, |tables| plan.commit(tables, chosen))?;
    closed.map_or(Ok(made), |error| Err(error.into()))
}

impl NarrowPlan {
    fn commit(&self, tables: &mut Tables<Writing<'_>>, chosen: &[usize]) -> Result<NarrowTry, StoreError> {
        let (good, bad) = (self.good.number, self.bad.number);
        let mut changes = BTreeMap::new();
        for &at in chosen {
            let node = self.nodes[at].map(|(number, object)| tables.kept(number, object)).transpose()?;
            changes.insert(self.changes[at].clone(), node.as_ref().map(encode_kept));
        }
        let words = self.words(changes.len());
        let update = tables.update_from(tables.root(Some(good))?, changes)?;
        // A commit may be both ends, and is one parent then.
        let parents = if good == bad { vec![good] } else { vec![good, bad] };
        let (number, id) = tables.append_commit(parents, words, update)?;
        Ok(NarrowTry { number, id, state: tables.commit(number)?.state() })
    }

    fn words(&self, chosen: usize) -> CommitWords {
        let all = self.changes.len();
        let message = format!("try with {chosen} of {all} {}", if all == 1 { "change" } else { "changes" });
        CommitWords {
            author: Author::new(AUTHOR).expect("it is not blank"),
            time: self.time,
            message: Message::new(&message).expect("it is not blank"),
        }
    }
}
