//! The commits since which predicates hold or no longer hold, and who made it so.

use super::OpError;
use crate::graph::{
    Doubt, Entry, Flip, FlipSearch, Flips, Found, Memory, Predicate, Reach, Removal, Resolved, Revision, Share,
    Subject, Surroundings, changed, changed_commits, differs_from_first_parent, resolve,
};
use crate::model::{NodeId, Pattern, SessionName};
use crate::object::Effect;
use crate::store::{Access, CommitRecord, Disk, Number, SessionView, Store, StoreError, Tables};
use std::collections::BTreeMap;

/// How many nodes are told at the most where it is their number that changed.
const MOST: usize = 10;

/// What is searched, and for what.
#[derive(Clone, Debug)]
pub struct FindRequest {
    /// Only commits that are not its ancestors; `None` for all back to the empty memory before the first commit.
    pub start: Option<Revision>,
    /// Only its ancestors.
    pub end: Revision,
    /// At least one; it holds where all of them do.
    pub predicates: Vec<Predicate>,
    /// Only commits that changed a node which one of these chooses; any where there is none.
    pub changed: Vec<Pattern>,
    /// Follow first parents only, and hold each commit against its first parent alone.
    pub first_parent: bool,
    /// Every flip, and not only that since which it is as it is at the end.
    pub all: bool,
}

/// What [`find`] found.
#[derive(Debug)]
pub struct FindReport<'p> {
    /// The flips, the newest first. Unless all are wanted, one, or none where nothing is to be found: it is the same at
    /// both ends, or was so before all that is searched.
    pub flips: Vec<FlipReport<'p>>,
    /// How many there are in all.
    pub count: usize,
    /// How many of them made it as it is at the end: several where parallel branches came to it.
    pub origins: usize,
    /// Whether all predicates hold at the start.
    pub at_start: bool,
    /// Whether all predicates hold at the end.
    pub at_end: bool,
    /// Whether there is nothing to search since the end is an ancestor of the start.
    pub is_reversed: bool,
    /// The ref of the branch on which the session stands.
    pub head_branch: Option<String>,
    /// What the names of the revisions stand for beside what was taken.
    pub doubts: Vec<Doubt>,
}

/// A commit since which all predicates hold that did not in any parent, or the other way round.
#[derive(Clone, Debug)]
pub struct FlipReport<'p> {
    /// The commit.
    pub entry: Entry,
    /// Whether they hold from then on.
    pub holds: bool,
    /// Each predicate that came or ceased to hold.
    pub turned: Vec<Turned<'p>>,
}

/// A predicate that came or ceased to hold.
#[derive(Clone, Debug)]
pub struct Turned<'p> {
    /// The predicate.
    pub predicate: &'p Predicate,
    /// What it found before: in the first parent in which it was otherwise, or in the empty memory.
    pub before: Found,
    /// What it finds at the commit.
    pub after: Found,
    /// The nodes that count. Of a number of nodes those that came and went, at most ten.
    pub nodes: Vec<Touched>,
}

/// Who made a node as it is at a commit.
#[derive(Clone, Debug)]
pub struct Touched {
    /// The node.
    pub id: NodeId,
    /// Who wrote it; `None` where there is none.
    pub share: Option<Share>,
    /// Who took it away, and what it said last; `None` where it is there.
    pub removal: Option<Removal>,
}

/// Finds the commit since which it is as it is at the end, or all since which it is otherwise than before.
pub fn find<'p, D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    request: &'p FindRequest,
) -> Result<FindReport<'p>, OpError> {
    store.read(session, |view| {
        let tables = view.tables;
        let mut doubts = Vec::new();
        let mut number = |revision: &Revision| {
            let Resolved { number, doubt } = resolve(view, revision)?;
            doubts.extend(doubt);
            Ok::<_, OpError>(number)
        };
        let end = number(&request.end)?;
        let start = request.start.as_ref().map(number).transpose()?;
        let search = FlipSearch { predicates: &request.predicates, start, end, first_parent: request.first_parent };
        let Flips { at_start, at_end, flips, mut origins } = search.run(tables)?;
        let flips = admitted(tables, request, end, flips)?;
        origins.retain(|origin| flips.contains(origin));
        let told = match (request.all, origins.first()) {
            (true, _) => &flips[..],
            (false, Some(newest)) => std::slice::from_ref(newest),
            (false, None) => &[],
        };
        let surroundings = Surroundings::new(tables, &view.head)?;
        let report = |flip: &Flip| {
            let entry = surroundings.entry(tables, flip.number, tables.commit(flip.number)?, &BTreeMap::new())?;
            Ok(FlipReport { entry, holds: flip.holds, turned: turned(view, request, flip.number)? })
        };
        Ok::<_, OpError>(FindReport {
            flips: told.iter().map(report).collect::<Result<_, StoreError>>()?,
            count: flips.len(),
            origins: origins.len(),
            at_start,
            at_end,
            is_reversed: start.map_or(Ok(false), |start| is_reversed(tables, start, end))?,
            head_branch: view.head.branch().map(str::to_owned),
            doubts,
        })
    })
}

/// Those that changed a node as it is wanted.
fn admitted<A: Access>(
    tables: &Tables<A>,
    request: &FindRequest,
    end: Number,
    flips: Vec<Flip>,
) -> Result<Vec<Flip>, StoreError> {
    if request.changed.is_empty() {
        return Ok(flips);
    }
    let changed = changed_commits(tables, &[end], &request.changed)?;
    let mut admitted = Vec::new();
    for flip in flips {
        let is_one = if request.first_parent {
            differs_from_first_parent(tables, flip.number, &tables.commit(flip.number)?, &changed, &request.changed)?
        } else {
            changed.contains(&flip.number)
        };
        if is_one {
            admitted.push(flip);
        }
    }
    Ok(admitted)
}

fn is_reversed<A: Access>(tables: &Tables<A>, start: Number, end: Number) -> Result<bool, StoreError> {
    let mut reach = Reach::of([tables.commit(start)?.place]);
    Ok(start != end && reach.contains(tables, tables.commit(end)?.place)?)
}

/// The predicates that are otherwise at a commit than in one of its parents.
fn turned<'p, A: Access>(
    view: &SessionView<'_, A>,
    request: &'p FindRequest,
    number: Number,
) -> Result<Vec<Turned<'p>>, StoreError> {
    let (memory, commit) = (Memory::of(view, Some(number))?, view.tables.commit(number)?);
    let parents = &commit.parents;
    let followed = if request.first_parent { parents.len().min(1) } else { parents.len() };
    let root = parents.is_empty().then_some(None);
    let before = parents[..followed].iter().copied().map(Some).chain(root);
    let before = before.map(|parent| Memory::of(view, parent)).collect::<Result<Vec<_>, _>>()?;
    let mut turned = Vec::new();
    for predicate in &request.predicates {
        let now = predicate.evaluate(&memory)?;
        for older in &before {
            let was = predicate.evaluate(older)?;
            if was.holds != now.holds {
                let nodes = touched((&memory, &commit), older, predicate, (&was.found, &now.found))?;
                turned.push(Turned { predicate, before: was.found, after: now.found, nodes });
                break;
            }
        }
    }
    Ok(turned)
}

/// Who made the nodes as they are in the memory of a commit that count for what a predicate found before and finds
/// there.
fn touched<A: Access>(
    (memory, commit): (&Memory<'_, '_, A>, &CommitRecord),
    before: &Memory<'_, '_, A>,
    predicate: &Predicate,
    (was, now): (&Found, &Found),
) -> Result<Vec<Touched>, StoreError> {
    let ids = match (now, was, predicate.subject()) {
        (Found::Node(id, _) | Found::Value(id, ..) | Found::Absent(id) | Found::Redacted(id), _, _)
        | (Found::Nothing, Found::Node(id, _), _) => vec![id.clone()],
        (Found::Number(_), _, Subject::Nodes(pattern)) => {
            let changed = changed(memory.tables(), before.root(), memory.root(), std::slice::from_ref(pattern))?;
            let came_or_went = changed.iter().filter(|changed| changed.effect() != Effect::Modified);
            came_or_went.take(MOST).map(|changed| changed.id().clone()).collect()
        }
        (Found::Nothing | Found::Number(_), _, _) => Vec::new(),
    };
    let path = match now {
        Found::Value(_, path, Some(_)) => Some(path),
        Found::Value(_, _, None)
        | Found::Node(..)
        | Found::Absent(_)
        | Found::Redacted(_)
        | Found::Number(_)
        | Found::Nothing => None,
    };
    let touched = |id: NodeId| {
        if let Some(writer) = memory.writer(&id)? {
            let share = Share { paths: path.cloned().into_iter().collect(), ..writer.into() };
            return Ok(Touched { id, share: Some(share), removal: None });
        }
        let removal = match memory.removal(&id)? {
            // Who takes a side that never had it, a merge, removes it from the others.
            None => before.writer(&id)?.map(|last| Removal { commit: Some(commit.clone()), last }),
            removal => removal,
        };
        Ok(Touched { id, share: None, removal })
    };
    ids.into_iter().map(touched).collect()
}
