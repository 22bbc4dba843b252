//! Who wrote what stands in a memory, and from what it was drawn.

use super::OpError;
use crate::graph::{
    Blame, Doubt, Held, Lacking, Made, Memory, Parts, Removal, Revision, Seen, Step, Turn, Unit, Writer, history,
    last_version, resolve, written,
};
use crate::model::{Content, NodeId, Pattern, SessionName, pointer};
use crate::object::{Kept, get};
use crate::store::{Access, Disk, Store, short_branch};
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
    /// The node stands, and what is asked for of it.
    Stands(Box<Blame>),
    /// It was taken away.
    Removed(Box<Ended>),
}

/// The end of a node, or of a part of it.
#[derive(Debug)]
pub struct Ended {
    /// Who took it away, and who wrote it last.
    pub removal: Removal,
    /// The JSON pointer that was asked for, and what stood there last.
    pub part: Option<(String, Content)>,
    /// The version that lacks the part, where it is not the node that was taken away.
    pub version: Option<Kept>,
    /// Whether the node is absent.
    pub is_absent: bool,
    /// Who wrote each part of what was taken away, where parts are asked for.
    pub blame: Option<Blame>,
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
        let parts = Parts { ignored, ..request.parts.clone() };
        let report = match memory.find(id)? {
            Some(held) => match memory.blame(id, held, &parts)? {
                Ok(blame) => BlameReport::Stands(Box::new(blame)),
                Err(Lacking::Path(_)) => BlameReport::Removed(Box::new(ended(&memory, id, &parts)?)),
                Err(Lacking::Lines(lines)) => return Err(OpError::NoLine { id: id.clone(), lines }),
            },
            None => BlameReport::Removed(Box::new(ended(&memory, id, &parts)?)),
        };
        Ok((report, doubts))
    })
}

/// Who took away the node, or what it had at the pointer that is asked for.
fn ended<A: Access>(memory: &Memory<'_, '_, A>, id: &NodeId, parts: &Parts) -> Result<Ended, OpError> {
    let no_path = |path: &String| OpError::NoPath { ids: vec![id.clone()], path: path.clone() };
    let at = |content: &Content, path: &str| pointer(content.json(), path).ok().flatten().map(str::to_owned);
    let is_gone = |content: &Content| parts.path.as_ref().is_some_and(|path| at(content, path).is_none());
    let is_gone_in = |seen: &Seen| match seen {
        Seen::Absent => true,
        // What cannot be read may have had it.
        Seen::Redacted => false,
        Seen::Content(content) => is_gone(content),
    };
    let turn = memory.turn(id, &is_gone_in, None)?;
    let Some((Turn { made, .. }, before)) = turn.and_then(|turn| turn.before.map(|before| (turn, before))) else {
        let was = memory.find(id)?.is_some() || memory.removal(id)?.is_some();
        let error = parts.path.as_ref().filter(|_| was).map(no_path);
        return Err(error.unwrap_or_else(|| OpError::NoNode(vec![id.clone()])));
    };
    let (mut removal, version) = match made {
        Made::Removed(removal) => (*removal, None),
        Made::Written(writer) => {
            let Writer { commit, node } = *writer;
            (Removal { commit, last: written(memory.tables(), before)?.into() }, Some(node))
        }
    };
    let content = removal.last.node.content();
    let part = parts.path.as_ref().and_then(|path| Some((path.clone(), at(content?, path)?)));
    let part = part.map(|(path, json)| (path, Content::from_json(&json).expect("a part of JSON is JSON")));
    let asks_parts = parts.unit.is_some() || !parts.ignored.is_empty();
    let blame = if asks_parts { Some(memory.blame(id, Held::Stored(before), parts)?) } else { None };
    let blame = blame.transpose().map_err(|lacking| match lacking {
        Lacking::Path(path) => no_path(&path),
        Lacking::Lines(lines) => OpError::NoLine { id: id.clone(), lines },
    })?;
    if let Some((Some((_, writer)), true)) =
        blame.as_ref().map(|blame| (blame.writers.last_key_value(), part.is_some()))
    {
        removal.last = writer.clone();
    }
    Ok(Ended { removal, part, version, is_absent: memory.find(id)?.is_none(), blame })
}

/// A node of a memory, with who wrote what it says.
#[derive(Debug)]
pub struct Row {
    /// The node as it stands.
    pub node: Kept,
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
    /// The places of the patterns that are no id and choose nothing.
    pub unmatched: Vec<usize>,
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
        let is_unmatched =
            |pattern: &Pattern| pattern.exact().is_none() && !chosen.keys().any(|id| pattern.matches(id.as_str()));
        found.unmatched = (0..patterns.len()).filter(|&at| is_unmatched(&patterns[at])).collect();
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
                    let node = Held::Staged(bytes).kept(view.tables)?;
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
