//! The nodes of a memory.

use super::OpError;
use crate::graph::{Doubt, Held, Memory, NodeFilter, Revision};
use crate::model::{CommitTime, NodeId, Pattern, SessionName};
use crate::object::{CommitId, Kept};
use crate::store::{Disk, Store, short_branch};
use std::cmp::Reverse;

/// In which order nodes are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// By the bytes of the id.
    #[default]
    Id,
    /// The newest commit first; what is staged before all.
    Time,
    /// The newest event time first, the commit's time where a node has none.
    EventTime,
}

/// Which nodes are wanted, and what of them.
#[derive(Clone, Debug, Default)]
pub struct LsRequest {
    /// Whose ids match one of these; all where there is none.
    pub patterns: Vec<Pattern>,
    /// Which are such nodes.
    pub filter: NodeFilter,
    /// The memory at this revision; HEAD and what is staged where none is named.
    pub revision: Option<Revision>,
    /// In which order.
    pub order: Order,
    /// Whether the nodes themselves are wanted.
    pub nodes: bool,
    /// Whether it is wanted where they come from.
    pub origins: bool,
}

/// The commit that wrote a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Its id.
    pub commit: CommitId,
    /// When it was made.
    pub time: CommitTime,
}

/// A node of the list.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Its id.
    pub id: NodeId,
    /// The node, if it was asked for.
    pub node: Option<Kept>,
    /// Where it comes from, if that was asked for; `None` also for what is staged.
    pub origin: Option<Origin>,
}

impl Listed {
    /// When the belief was formed, as far as is known: in seconds and nanoseconds since the epoch; the latest for what is
    /// staged and says nothing.
    fn effective_time(&self) -> Option<chrono::DateTime<chrono::FixedOffset>> {
        let event = self.node.as_ref().and_then(Kept::event_time).map(|time| time.instant());
        event.or_else(|| self.origin.map(|origin| origin.time.instant()))
    }
}

/// What [`ls`] found.
#[derive(Clone, Debug, Default)]
pub struct LsReport {
    /// The nodes, in the order that was asked for.
    pub nodes: Vec<Listed>,
    /// The branch that has no commit yet, where HEAD was asked for.
    pub unborn: Option<String>,
    /// What the name of the revision stands for beside what was taken.
    pub doubt: Option<Doubt>,
}

/// Lists the nodes. Reads follow what is listed.
pub fn ls<D: Disk>(store: &Store<D>, session: &SessionName, request: &LsRequest) -> Result<LsReport, OpError> {
    store.read(session, |view| {
        let memory = Memory::at(view, request.revision.as_ref())?;
        let is_unborn = request.revision.is_none() && view.head_commit()?.is_none();
        let unborn = view.head.branch().filter(|_| is_unborn).map(|name| short_branch(name).to_owned());
        let nodes = request.nodes || request.order == Order::EventTime || !request.filter.is_open();
        let origins = request.origins || request.order != Order::Id;
        let mut listed = Vec::new();
        for (id, held) in memory.select(&request.patterns)? {
            let node = if nodes { Some(held.kept(view.tables)?) } else { None };
            if let Some(node) = &node
                && !request.filter.admits(view.tables, held, node)?
            {
                continue;
            }
            let origin = match held {
                Held::Stored((number, _)) if origins => {
                    let (_, commit) = view.tables.commit_that_wrote(number)?;
                    Some(Origin { commit: commit.id, time: commit.time })
                }
                Held::Stored(_) | Held::Staged(_) => None,
            };
            listed.push(Listed { id, node, origin });
        }
        // Stable, and the list is in the order of the ids: equal times keep that.
        match request.order {
            Order::Id => {}
            Order::Time => {
                listed.sort_by_key(|row| Reverse(latest_if_none(row.origin.map(|origin| origin.time.instant()))));
            }
            Order::EventTime => listed.sort_by_key(|row| Reverse(latest_if_none(row.effective_time()))),
        }
        Ok::<_, OpError>(LsReport { nodes: listed, unborn, doubt: memory.doubt.clone() })
    })
}

fn latest_if_none<T>(time: Option<T>) -> (bool, Option<T>) {
    (time.is_none(), time)
}
