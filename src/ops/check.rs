//! Named assertions over a memory, and who wrote what makes one fail.

use super::OpError;
use crate::graph::{
    Doubt, Evaluation, Found, Held, Made, Memory, Parts, Predicate, Removal, Revision, Share, Subject, Turn, Unit,
    lines,
};
use crate::model::{Content, NodeId, Pattern, SessionName};
use crate::store::{Access, Disk, Number, Store, StoreError};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// How many nodes are told at the most where it is their number that is wrong.
const MOST: usize = 10;

/// Predicates with a name; it holds where all of them do.
#[derive(Clone, Debug)]
pub struct Assertion {
    /// What it is called.
    pub name: String,
    /// At least one.
    pub predicates: Vec<Predicate>,
}

/// A predicate that does not hold.
#[derive(Clone, Debug)]
pub struct Failure<'a> {
    /// The predicate.
    pub predicate: &'a Predicate,
    /// What stands where it looked.
    pub found: Found,
    /// Who took away the node that is missed or had what is missed, and what it said last.
    pub removal: Option<Removal>,
    /// Who wrote the version since which it does not hold, or who wrote what stands there; the latest first. Where a number
    /// of nodes is wrong, who wrote them, the latest first and at most ten.
    pub shares: Vec<Share>,
}

/// What is wrong with each assertion, in their order: at `revision`, or in HEAD with the session's staged changes.
///
/// Tells what the name of the revision stands for beside what was taken.
pub fn check<'a, D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    revision: Option<&Revision>,
    assertions: &'a [Assertion],
) -> Result<(Vec<Vec<Failure<'a>>>, Option<Doubt>), OpError> {
    store.read(session, |view| {
        let memory = Memory::at(view, revision)?;
        let mut checked = Vec::with_capacity(assertions.len());
        for assertion in assertions {
            let mut failures = Vec::new();
            for predicate in &assertion.predicates {
                let Evaluation { holds, found } = predicate.evaluate(&memory)?;
                if !holds {
                    let Named { shares, removal } = named(&memory, predicate, &found)?;
                    failures.push(Failure { predicate, found, removal, shares });
                }
            }
            checked.push(failures);
        }
        Ok::<_, OpError>((checked, memory.doubt.clone()))
    })
}

/// Who is to be named for a predicate that does not hold.
#[derive(Default)]
struct Named {
    shares: Vec<Share>,
    removal: Option<Removal>,
}

impl From<Made> for Named {
    fn from(made: Made) -> Self {
        match made {
            Made::Written(writer) => Self { shares: vec![Share::from(*writer)], removal: None },
            Made::Removed(removal) => Self { shares: Vec::new(), removal: Some(*removal) },
        }
    }
}

/// Who is to be named for a predicate that does not hold: who made the change since which it does not. Where it never did,
/// who wrote what it looked at.
fn named<A: Access>(memory: &Memory<'_, '_, A>, predicate: &Predicate, found: &Found) -> Result<Named, StoreError> {
    match (found, predicate.subject()) {
        (Found::Node(id, content), _) => {
            let lines = lines_with(predicate, content);
            let unit = if lines.is_empty() { Unit::Node } else { Unit::Line };
            standing(memory, predicate, id, &Parts { unit: Some(unit), ..Parts::default() }, &lines)
        }
        (Found::Value(id, path, value), _) => {
            let unit = if value.is_some() { Unit::Leaf } else { Unit::Node };
            let parts = Parts { unit: Some(unit), path: Some(path.clone()), ..Parts::default() };
            standing(memory, predicate, id, &parts, &BTreeSet::new())
        }
        (Found::Redacted(id), _) => Ok(memory
            .writer(id)?
            .map_or_else(Named::default, |writer| Named { shares: vec![Share::from(writer)], removal: None })),
        (Found::Absent(_), Subject::Node(id)) => {
            let named = turn(memory, predicate, id, None)?.map_or_else(Named::default, |turn| turn.made.into());
            let removal = if named.removal.is_some() { named.removal } else { memory.removal(id)? };
            Ok(Named { removal, ..named })
        }
        (Found::Nothing, Subject::Nodes(pattern)) => last_to_hold(memory, predicate, pattern),
        (Found::Number(_), Subject::Nodes(pattern)) => latest(memory, pattern),
        (Found::Absent(_), Subject::Nodes(_)) | (Found::Nothing | Found::Number(_), Subject::Node(_)) => {
            Ok(Named::default())
        }
    }
}

fn turn<A: Access>(
    memory: &Memory<'_, '_, A>,
    predicate: &Predicate,
    id: &NodeId,
    after: Option<Number>,
) -> Result<Option<Turn>, StoreError> {
    memory.turn(id, &|seen| !predicate.holds_with(id, seen), after)
}

/// The lines, counted from 0, in which something stands that should not; none where the content has but one.
fn lines_with(predicate: &Predicate, content: &Content) -> BTreeSet<usize> {
    let text = content.readable();
    let lines = lines(&text);
    let stands = |line: &str| predicate.finds_in(line.strip_suffix('\n').unwrap_or(line));
    let there = lines.iter().enumerate().filter(|(_, line)| stands(line)).map(|(at, _)| at);
    if lines.len() > 1 { there.collect() } else { BTreeSet::new() }
}

/// Who is to be named where the node stands: of lines in which something should not stand who wrote each, but who brought it
/// in for those that are the oldest, since they may have been written over.
fn standing<A: Access>(
    memory: &Memory<'_, '_, A>,
    predicate: &Predicate,
    id: &NodeId,
    parts: &Parts,
    lines: &BTreeSet<usize>,
) -> Result<Named, StoreError> {
    let mut named = turn(memory, predicate, id, None)?.map_or_else(Named::default, |turn| turn.made.into());
    if let (Some(share), true) = (named.shares.first_mut(), lines.is_empty()) {
        share.paths.extend(parts.path.clone());
        return Ok(named);
    }
    let Some(held) = memory.find(id)? else { return Ok(named) };
    let Ok(mut blame) = memory.blame(id, held, parts)? else { return Ok(named) };
    if !lines.is_empty() {
        blame.parts = lines.iter().map(|&at| blame.parts[at].clone()).collect();
        let kept: BTreeSet<_> = blame.parts.iter().map(|part| part.version).collect();
        blame.writers.retain(|version, _| kept.contains(version));
    }
    let turned = std::mem::replace(&mut named.shares, blame.into_shares()).pop();
    if let (Some(turned), Some(oldest)) = (turned, named.shares.last_mut()) {
        oldest.writer = turned.writer;
    }
    Ok(named)
}

/// Who took the text away that no node that matches has any more, where the last of them had it.
fn last_to_hold<A: Access>(
    memory: &Memory<'_, '_, A>,
    predicate: &Predicate,
    pattern: &Pattern,
) -> Result<Named, StoreError> {
    let mut last: Option<Turn> = None;
    for id in memory.ids_ever(pattern)? {
        let after = last.as_ref().map(|turn| turn.number);
        last = turn(memory, predicate, &id, after)?.or(last);
    }
    Ok(last.map_or_else(Named::default, |turn| turn.made.into()))
}

/// Who wrote the nodes that match and were written last. Records are numbered as they are written.
fn latest<A: Access>(memory: &Memory<'_, '_, A>, pattern: &Pattern) -> Result<Named, StoreError> {
    let mut nodes: Vec<_> = memory.select(std::slice::from_ref(pattern))?.into_iter().collect();
    nodes.sort_by_key(|(_, held)| match held {
        Held::Staged(_) => Reverse(u64::MAX),
        Held::Stored((number, _)) => Reverse(*number),
    });
    let writers = nodes.iter().take(MOST).filter_map(|(id, _)| memory.writer(id).transpose());
    let shares = writers.map(|writer| writer.map(Share::from)).collect::<Result<_, _>>()?;
    Ok(Named { shares, removal: None })
}
