//! Named assertions over a memory, and who wrote what makes one fail.

use super::OpError;
use crate::graph::{
    Blame, Doubt, Evaluation, Found, Held, Memory, Parts, Predicate, Removal, Revision, Subject, Unit, Writer, lines,
};
use crate::model::{NodeId, Pattern, SessionName};
use crate::store::{Access, Disk, Store, StoreError};
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
    /// Who took away the node that is missed, and what it said last.
    pub removal: Option<Removal>,
    /// Who wrote that. Where a number of nodes is wrong, who wrote them, the latest first and at most ten.
    pub writers: Vec<Writer>,
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
                    let writers = writers(&memory, predicate, &found)?;
                    let removal = match (predicate.subject(), &found) {
                        (Subject::Node(id), Found::Absent(_)) => memory.removal(id)?,
                        (Subject::Node(_) | Subject::Nodes(_), _) => None,
                    };
                    failures.push(Failure { predicate, found, removal, writers });
                }
            }
            checked.push(failures);
        }
        Ok::<_, OpError>((checked, memory.doubt.clone()))
    })
}

/// Who wrote what a predicate looked at: of a pointer the leaves there, of a text in which something should not stand the
/// lines where it stands, else the node.
fn writers<A: Access>(
    memory: &Memory<'_, '_, A>,
    predicate: &Predicate,
    found: &Found,
) -> Result<Vec<Writer>, StoreError> {
    let (id, parts) = match (predicate.subject(), found) {
        (Subject::Nodes(pattern), Found::Number(_)) => return latest(memory, pattern),
        (_, Found::Value(id, path, Some(_))) => {
            (id, Parts { unit: Some(Unit::Leaf), path: Some(path.clone()), ..Parts::default() })
        }
        (_, Found::Node(id, content)) => {
            let text = content.readable();
            let stands = |line: &&str| predicate.finds_in(line.strip_suffix('\n').unwrap_or(line));
            let lines: Vec<_> = lines(&text);
            let there: Vec<_> = lines.iter().enumerate().filter(|(_, line)| stands(line)).map(|(at, _)| at).collect();
            match (there.first(), lines.len() > 1) {
                (Some(_), true) => return line_writers(memory, id, &there),
                (Some(_) | None, _) => (id, Parts { unit: Some(Unit::Node), ..Parts::default() }),
            }
        }
        (_, Found::Value(id, _, None)) => (id, Parts { unit: Some(Unit::Node), ..Parts::default() }),
        (_, Found::Absent(_) | Found::Nothing | Found::Number(_)) => return Ok(Vec::new()),
    };
    let Some(held) = memory.find(id)? else { return Ok(Vec::new()) };
    Ok(memory.blame(id, held, &parts)?.map_or_else(|_| Vec::new(), Blame::into_writers))
}

/// Who wrote these lines of a node, each once.
fn line_writers<A: Access>(
    memory: &Memory<'_, '_, A>,
    id: &NodeId,
    lines: &[usize],
) -> Result<Vec<Writer>, StoreError> {
    let Some(held) = memory.find(id)? else { return Ok(Vec::new()) };
    let parts = Parts { unit: Some(Unit::Line), ..Parts::default() };
    let Ok(mut blame) = memory.blame(id, held, &parts)? else { return Ok(Vec::new()) };
    let kept: BTreeSet<_> = lines.iter().map(|&at| blame.parts[at].version).collect();
    blame.writers.retain(|version, _| kept.contains(version));
    Ok(blame.into_writers())
}

/// Who wrote the nodes that match and were written last. Records are numbered as they are written.
fn latest<A: Access>(memory: &Memory<'_, '_, A>, pattern: &Pattern) -> Result<Vec<Writer>, StoreError> {
    let mut nodes: Vec<_> = memory.select(std::slice::from_ref(pattern))?.into_iter().collect();
    nodes.sort_by_key(|(_, held)| match held {
        Held::Staged(_) => Reverse(u64::MAX),
        Held::Stored((number, _)) => Reverse(*number),
    });
    nodes.iter().take(MOST).filter_map(|(id, _)| memory.writer(id).transpose()).collect()
}
