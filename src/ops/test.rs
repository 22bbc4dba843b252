//! Whether predicates hold in a memory.

use super::OpError;
use crate::graph::{Evaluation, Memory, Predicate, Revision};
use crate::model::SessionName;
use crate::store::{Disk, Store};

/// What each predicate comes to: at `revision`, or in HEAD with the session's staged changes.
///
/// Says which branch name is the prefix of a commit id too.
pub fn test<D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    revision: Option<&Revision>,
    predicates: &[Predicate],
) -> Result<(Vec<Evaluation>, Option<String>), OpError> {
    store.read(session, |view| {
        let memory = Memory::at(view, revision)?;
        let found = predicates.iter().map(|predicate| predicate.evaluate(&memory)).collect::<Result<_, _>>()?;
        Ok::<_, OpError>((found, memory.also_prefix.clone()))
    })
}
