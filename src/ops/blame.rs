//! Who wrote what stands in a memory, and from what it was drawn.

use super::OpError;
use crate::graph::{
    Blame, Doubt, Held, Lacking, Memory, Parts, Removal, Revision, Step, Unit, Writer, history, last_version, resolve,
    written,
};
use crate::model::{Node, NodeId, Pattern, SessionName};
use crate::object::get;
use crate::store::{Disk, Store, short_branch};
use std::collections::BTreeSet;

/// Of what the origin is asked.
#[derive(Clone, Debug, Default)]
pub struct BlameRequest {
    /// Where to look; HEAD with what is staged if none is named.
    pub revision: Option<Revision>,
    /// Which parts.
    pub parts: Parts,
    /// Commits to pass over, as if what they changed had been so before.
    pub ignored: Vec<Revision>,
}

/// What [`blame`] found.
#[derive(Debug)]
pub enum BlameReport {
    /// The node stands.
    Stands(Blame),
    /// It was taken away.
    Removed(Removal),
}

/// Who wrote each part of the node `id`, and what the names of revisions stand for beside what was taken.
pub fn blame<D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    id: &NodeId,
    request: &BlameRequest,
) -> Result<(BlameReport, Vec<Doubt>), OpError> {
    store.read(session, |view| {
        let memory = Memory::at(view, request.revision.as_ref())?;
        let mut doubts: Vec<_> = memory.doubt.clone().into_iter().collect();
        let mut ignored = BTreeSet::new();
        for revision in &request.ignored {
            let resolved = resolve(view, revision)?;
            doubts.extend(resolved.doubt);
            ignored.insert(resolved.number);
        }
        let report = match memory.find(id)? {
            Some(held) => {
                let parts = Parts { ignored, ..request.parts.clone() };
                match memory.blame(id, held, &parts)? {
                    Ok(blame) => BlameReport::Stands(blame),
                    Err(Lacking::Path(path)) => return Err(OpError::NoPath { ids: vec![id.clone()], path }),
                    Err(Lacking::Lines(lines)) => return Err(OpError::NoLine { id: id.clone(), lines }),
                }
            }
            None => BlameReport::Removed(memory.removal(id)?.ok_or_else(|| OpError::NoNode(vec![id.clone()]))?),
        };
        Ok((report, doubts))
    })
}

/// A node of a memory, with who wrote what it says.
#[derive(Debug)]
pub struct Row {
    /// The node as it stands.
    pub node: Node,
    /// Who wrote its content.
    pub writer: Writer,
    /// Who wrote its provenance or event time anew since.
    pub rewritten: Option<Writer>,
}

/// Nodes of a memory, with who wrote what they say.
#[derive(Debug, Default)]
pub struct Rows {
    /// In the order of the ids.
    pub rows: Vec<Row>,
    /// Those that were asked for by their id and were taken away.
    pub removed: Vec<(NodeId, Removal)>,
    /// Those that were asked for by their id and never were.
    pub absent: Vec<NodeId>,
    /// The branch that has no commit yet, where HEAD was asked for.
    pub unborn: Option<String>,
    /// What the name of the revision stands for beside what was taken.
    pub doubt: Option<Doubt>,
}

/// Who wrote each node that `patterns` choose, all where there is none.
pub fn blame_all<D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    patterns: &[Pattern],
    revision: Option<&Revision>,
) -> Result<Rows, OpError> {
    store.read(session, |view| {
        let memory = Memory::at(view, revision)?;
        let is_unborn = revision.is_none() && view.head_commit()?.is_none();
        let unborn = view.head.branch().filter(|_| is_unborn).map(|name| short_branch(name).to_owned());
        let mut found = Rows { doubt: memory.doubt.clone(), unborn, ..Rows::default() };
        let parts = Parts { unit: Some(Unit::Node), ..Parts::default() };
        let chosen = memory.select(patterns)?;
        for id in patterns.iter().filter_map(Pattern::exact).filter(|id| !chosen.contains_key(*id)) {
            match memory.removal(id)? {
                Some(removal) => found.removed.push((id.clone(), removal)),
                None => found.absent.push(id.clone()),
            }
        }
        for (id, held) in chosen {
            if let Ok(mut blame) = memory.blame(&id, held, &parts)?
                && let Some((_, writer)) = blame.writers.pop_first()
            {
                let node = blame.rewritten.as_ref().unwrap_or(&writer).node.clone();
                found.rows.push(Row { node, writer, rewritten: blame.rewritten });
            }
        }
        Ok(found)
    })
}

/// A version that a node had, or the end of one.
#[derive(Debug)]
pub enum Version {
    /// It was written so.
    Written(Box<Writer>),
    /// It was taken away.
    Removed(Box<Removal>),
}

/// Every version of the node `id`, the newest first, as far as it was in the history of a revision, HEAD with what is
/// staged if none is named; and what its name stands for beside what was taken.
pub fn versions_of<D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    id: &NodeId,
    revision: Option<&Revision>,
) -> Result<(Vec<Version>, Option<Doubt>), OpError> {
    store.read(session, |view| {
        let (start, doubt) = match revision {
            Some(revision) => {
                let resolved = resolve(view, revision)?;
                (Some(resolved.number), resolved.doubt)
            }
            None => (view.head_commit()?, None),
        };
        let mut found = Vec::new();
        let staged = if revision.is_none() { view.find(id)? } else { None };
        if let Some(change) = staged {
            match (change.node, get(view.tables, view.tables.root(view.head_commit()?)?, id)?) {
                (Some(bytes), _) => {
                    let node = Held::Staged(bytes).node(view.tables)?;
                    found.push(Version::Written(Box::new(Writer { commit: None, node })));
                }
                (None, Some(leaf)) => {
                    found.push(Version::Removed(Box::new(Removal {
                        commit: None,
                        last: written(view.tables, leaf)?.into(),
                    })));
                }
                (None, None) => {}
            }
        }
        if let Some(start) = start {
            for step in history(view.tables, id, start)? {
                let Step { commit, leaf, .. } = step?;
                found.push(match leaf {
                    Some(leaf) => Version::Written(Box::new(written(view.tables, leaf)?.into())),
                    None => {
                        let commit = view.tables.commit(commit)?;
                        let last = last_version(view.tables, id, &commit)?;
                        Version::Removed(Box::new(Removal { commit: Some(commit), last }))
                    }
                });
            }
        }
        if found.is_empty() { Err(OpError::NoNode(vec![id.clone()])) } else { Ok((found, doubt)) }
    })
}
