//! Which sets are worth a try before it is known whether they are needed.

use super::Tried;
use super::reduction::{Odds, Reduction};
use std::collections::{BTreeMap, BTreeSet};

/// How much less likely it is, in halvings, that a try ends otherwise than is expected.
const UNEXPECTED: u32 = 4;

/// The set that a reduction waits for and up to `count` in all that it is likely to wait for after it, the likeliest first.
/// What was `known` is not among them.
///
/// The ways on fork with each try, by whether it fails; the likelier a way, the sooner it is followed. So all of them are
/// sets that one try at a time might come to, and which of them it does is not for the order of the results to say.
pub fn ahead(reduction: &Reduction, known: &BTreeMap<Vec<usize>, Tried>, count: usize) -> Vec<Vec<usize>> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    let mut open = BTreeMap::from([((0, 0), reduction.clone())]);
    let mut next = 1;
    while found.len() < count.max(1)
        && let Some(((unlikely, _), mut way)) = open.pop_first()
    {
        let Some(set) = way.wanted().map(<[usize]>::to_vec) else { continue };
        if let Some(&tried) = known.get(&set) {
            way.take(tried);
            open.insert((unlikely, next), way);
            next += 1;
            continue;
        }
        let (fails, passes) = match way.odds() {
            Odds::Even => (1, 1),
            Odds::Fails => (0, UNEXPECTED),
            Odds::Passes => (UNEXPECTED, 0),
        };
        for (tried, cost) in [(Tried::Fails, fails), (Tried::Passes, passes)] {
            let mut way = way.clone();
            way.take(tried);
            open.insert((unlikely + cost, next), way);
            next += 1;
        }
        if seen.insert(set.clone()) {
            found.push(set);
        }
    }
    found
}
