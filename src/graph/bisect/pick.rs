//! Which candidates are tested next.

use super::Candidates;
use super::weights::weights;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Up to `count` of the candidates `left`, which ascend, that part them as evenly as can be: each cuts off, with its
/// ancestors, a piece of what those before it left over. None of `skipped`.
///
/// One alone halves them by git's rule: of the numbers of those that are its ancestors and those that are not the smaller
/// is as large as can be. Among equals the newest is taken, of the highest number: git takes what it comes upon first, and
/// over many histories this takes a little less.
pub fn spread(candidates: &Candidates, left: &[usize], skipped: &BTreeSet<usize>, count: usize) -> Vec<usize> {
    let mut picks = Vec::new();
    let mut rest = left.to_vec();
    let mut is_cut = vec![false; candidates.len()];
    for pieces in (2..=count.saturating_add(1).min(left.len())).rev() {
        if let Some(&last) = picks.last() {
            for candidate in candidates.ancestors(last, |candidate| is_cut[candidate]) {
                is_cut[candidate] = true;
            }
            rest.retain(|&candidate| !is_cut[candidate]);
        }
        let weighed = rest.iter().copied().zip(weights(candidates, &rest, |_| true));
        let Some(pick) = nearest(weighed, rest.len(), pieces, skipped) else { break };
        picks.push(pick);
    }
    picks
}

/// A candidate that is not `left`, nor known to be good, and still tells some of `left` from others; for when none of
/// `left` can be tested that does. `open` ascends and holds all that are not known to be good.
pub fn beside(candidates: &Candidates, left: &[usize], open: &[usize], skipped: &BTreeSet<usize>) -> Option<usize> {
    let is_left = |candidate: usize| left.binary_search(&candidate).is_ok();
    let weighed = open.iter().copied().zip(weights(candidates, open, is_left));
    nearest(weighed.filter(|&(candidate, _)| !is_left(candidate)), left.len(), 2, skipped)
}

/// Of candidates with their weights the one that cuts most nearly one of so many even pieces off `total`. Where that one
/// is skipped, one from further away, for what lies around it is likely to be skipped too.
fn nearest(
    weighed: impl Iterator<Item = (usize, usize)>,
    total: usize,
    pieces: usize,
    skipped: &BTreeSet<usize>,
) -> Option<usize> {
    let parting = weighed.filter(|&(_, weight)| weight > 0 && weight < total);
    let rank = |(own, weight): (usize, usize)| (weight.saturating_mul(pieces).abs_diff(total), Reverse(own));
    let mut ranked: Vec<_> = parting.map(rank).collect();
    let (_, Reverse(best)) = *ranked.iter().min()?;
    if !skipped.contains(&best) {
        return Some(best);
    }
    ranked.retain(|(_, Reverse(own))| !skipped.contains(own));
    ranked.sort_unstable();
    let last = ranked.len().checked_sub(1)?;
    // git counts the bad end too.
    let (_, Reverse(own)) = ranked[away(ranked.len() + 1).min(last)];
    Some(own)
}

/// Which of so many, the best first, is taken when the very best is skipped: a number less than `count` that looks random
/// and is always the same, nearer to the best than to the worst. That of git (`skip_away` in its `bisect.c`).
fn away(count: usize) -> usize {
    const MODULO: u64 = 32768;
    let count = u64::try_from(count).unwrap_or(u64::MAX);
    let seed = u32::try_from(count & u64::from(u32::MAX)).unwrap_or(0);
    let random = u64::from(seed.wrapping_mul(1_103_515_245).wrapping_add(12345) / 65536) % MODULO;
    let index = (count.saturating_mul(random) / MODULO) * random.isqrt() / MODULO.isqrt();
    usize::try_from(index).unwrap_or(0)
}
