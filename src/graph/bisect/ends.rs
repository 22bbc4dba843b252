//! What is to be known of the ends before a search.

use super::super::Reach;
use super::super::ancestry::Chains;
use super::super::walk::{Commits, merge_bases_with};
use super::{Bounds, Contradiction};
use crate::store::Number;
use std::collections::BTreeSet;

/// A bad end that is an ancestor of a good one: most likely the two were mistaken for each other.
pub fn swapped<C: Chains>(chains: &C, bounds: &Bounds) -> Result<Option<Contradiction>, C::Error> {
    for &good in &bounds.good {
        let mut reach = Reach::of_commits(chains, &[good])?;
        for &bad in &bounds.bad {
            if reach.contains(chains, chains.place(bad)?)? {
                return Ok(Some(Contradiction::between(bad, good)));
            }
        }
    }
    Ok(None)
}

/// The commits that have to be good for the candidates to hold the culprit, where a good end is no ancestor of a bad one:
/// the best common ancestors of the two, without the good ends themselves. The highest number first.
///
/// As git does it: one that tests bad means that what is looked for was mended on the way to a good end, and no search
/// finds that; one that cannot be tested leaves it open whether the candidates hold the culprit. Bad ends must not be
/// ancestors of good ones. Reads the commits between the ends, and none where good ones are ancestors of bad ones.
pub fn bases_to_verify<C>(graph: &C, bounds: &Bounds) -> Result<Vec<Number>, <C as Commits>::Error>
where
    C: Commits + Chains<Error = <C as Commits>::Error>,
{
    let mut bases = BTreeSet::new();
    for &bad in &bounds.bad {
        let mut reach = Reach::of_commits(graph, &[bad])?;
        for &good in &bounds.good {
            if !reach.contains(graph, graph.place(good)?)? {
                bases.extend(merge_bases_with(graph, &bounds.good, bad)?);
                break;
            }
        }
    }
    Ok(bases.into_iter().rev().filter(|base| !bounds.good.contains(base)).collect())
}
