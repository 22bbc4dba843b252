//! Named assertions over a memory, and who wrote what makes one fail.

use super::OpError;
use crate::graph::{Doubt, Evaluation, Found, Held, Memory, Predicate, Removal, Revision, Subject, Writer};
use crate::model::{Pattern, SessionName};
use crate::store::{Access, Disk, Store, StoreError};
use std::cmp::Reverse;

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
                    let removal = match &found {
                        Found::Absent(id) => memory.removal(id)?,
                        Found::Node(..) | Found::Value(..) | Found::Number(_) | Found::Nothing => None,
                    };
                    failures.push(Failure { predicate, found, removal, writers });
                }
            }
            checked.push(failures);
        }
        Ok::<_, OpError>((checked, memory.doubt.clone()))
    })
}

fn writers<A: Access>(
    memory: &Memory<'_, '_, A>,
    predicate: &Predicate,
    found: &Found,
) -> Result<Vec<Writer>, StoreError> {
    match (predicate.subject(), found) {
        (Subject::Nodes(pattern), Found::Number(_)) => latest(memory, pattern),
        (Subject::Nodes(_), Found::Node(id, _)) | (Subject::Node(id), _) => {
            Ok(memory.writer(id)?.into_iter().collect())
        }
        (Subject::Nodes(_), Found::Absent(_) | Found::Value(..) | Found::Nothing) => Ok(Vec::new()),
    }
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
