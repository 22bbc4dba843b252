//! Whether predicates hold in a memory.

use super::OpError;
use crate::graph::{Doubt, Evaluation, Memory, Predicate, Revision};
use crate::model::SessionName;
use crate::store::{Disk, Store};

/// What each predicate comes to: at `revision`, or in HEAD with the session's staged changes.
///
/// Tells what the name of the revision stands for beside what was taken.
pub fn test<D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    revision: Option<&Revision>,
    predicates: &[Predicate],
) -> Result<(Vec<Evaluation>, Option<Doubt>), OpError> {
    store.read(session, |view| {
        let memory = Memory::at(view, revision)?;
        let found = predicates.iter().map(|predicate| predicate.evaluate(&memory)).collect::<Result<_, _>>()?;
        Ok::<_, OpError>((found, memory.doubt.clone()))
    })
}
