//! What two memories were made of: the state of their best common ancestor, or, where histories cross and there are
//! several, what comes of merging those.

use super::join::{Outcome, joined};
use crate::graph::walk::merge_bases_with;
use crate::model::NodeId;
use crate::object::{Link, get};
use crate::store::{Access, Number, StoreError, Tables};
use std::collections::BTreeMap;

/// A state, and what differs from it.
#[derive(Clone, Debug, Default)]
pub struct Base {
    /// The state.
    pub root: Option<Link>,
    /// The ids that have another version.
    pub over: BTreeMap<NodeId, Outcome>,
}

impl From<Option<Link>> for Base {
    fn from(root: Option<Link>) -> Self {
        Self { root, over: BTreeMap::new() }
    }
}

impl Base {
    /// The version of an id.
    pub fn version<A: Access>(&self, tables: &Tables<A>, id: &NodeId) -> Result<Outcome, StoreError> {
        match self.over.get(id) {
            Some(version) => Ok(version.clone()),
            None => Ok(Outcome::Stored(get(tables, self.root, id)?)),
        }
    }
}

/// The note of what is merged in a base. No commit ever has it.
const NOTE: &str = "merge of bases";

/// The base of merging commits that have `bases` for their best common ancestors; the empty memory where there are none.
///
/// Several are merged one after the other, each with the base that it has with those before it, and so on to the roots of
/// the history. A node that conflicts on the way is [`Outcome::Undecided`].
pub fn merged_base<A: Access>(tables: &Tables<A>, bases: &[Number]) -> Result<Base, StoreError> {
    if let [] | [_] = bases {
        return Ok(Base::from(tables.root(bases.first().copied())?));
    }
    let mut steps = BTreeMap::new();
    let mut open = vec![sorted(bases)];
    while let Some(bases) = open.pop() {
        if bases.len() < 2 || steps.contains_key(&(bases.last().copied(), bases.clone())) {
            continue;
        }
        let below = (1..bases.len()).map(|at| Ok(sorted(&merge_bases_with(tables, &bases[..at], bases[at])?)));
        let below = below.collect::<Result<Vec<_>, StoreError>>()?;
        open.extend(below.iter().cloned());
        steps.insert((bases.last().copied(), bases), below);
    }
    // The bases of bases are ancestors and so have smaller numbers: they are made first.
    let mut made: BTreeMap<Vec<Number>, Base> = BTreeMap::new();
    for ((_, bases), below) in steps {
        let mut merged = Base::from(tables.root(bases.first().copied())?);
        for (other, below) in bases[1..].iter().zip(below) {
            let base = match made.get(&below) {
                Some(base) => base.clone(),
                None => Base::from(tables.root(below.first().copied())?),
            };
            let changes = joined(tables, &base, &merged, tables.root(Some(*other))?, NOTE)?;
            merged.over.extend(changes);
        }
        made.insert(bases, merged);
    }
    Ok(made.remove(&sorted(bases)).expect("it is the last one that was made"))
}

fn sorted(numbers: &[Number]) -> Vec<Number> {
    let mut numbers = numbers.to_vec();
    numbers.sort_unstable();
    numbers
}
