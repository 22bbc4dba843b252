//! Sums over the ancestors of every candidate.

use super::super::Candidates;

/// How the ancestors of a candidate are had from those of one of its parents.
#[derive(Clone, Debug)]
struct Step {
    /// The parent with the most ancestors.
    base: Option<usize>,
    /// The ancestors that are none of the base, without the candidate itself.
    others: Vec<usize>,
}

/// Which candidates are ancestors of which, so laid that a sum over the ancestors of each takes one pass: on a line it is
/// a running sum, and at a merge what comes in by the smaller sides is added one by one.
#[derive(Clone, Debug)]
pub struct Descent {
    steps: Vec<Step>,
}

impl Descent {
    /// Walks once from every merge.
    pub fn of(candidates: &Candidates) -> Self {
        let mut counts = vec![0; candidates.len()];
        // With whom it was seen from, so that nothing has to be cleared for the next.
        let mut seen = vec![usize::MAX; candidates.len()];
        let mut walk = |own: usize, from: &[usize]| {
            let (mut found, mut open) = (Vec::new(), from.to_vec());
            while let Some(candidate) = open.pop() {
                if std::mem::replace(&mut seen[candidate], own) != own {
                    found.push(candidate);
                    open.extend(candidates.parents(candidate));
                }
            }
            found
        };
        let steps = (0..candidates.len()).map(|own| {
            let parents = candidates.parents(own);
            let base = parents.iter().copied().max_by_key(|&parent| counts[parent]);
            let others = match base {
                Some(base) if parents.len() > 1 => {
                    walk(own, &[base]);
                    walk(own, parents)
                }
                Some(_) | None => Vec::new(),
            };
            counts[own] = base.map_or(0, |base| counts[base]) + others.len() + 1;
            Step { base, others }
        });
        Self { steps: steps.collect() }
    }

    /// For each candidate the sum of the terms of its ancestors, itself included.
    pub fn sums<const N: usize>(&self, terms: &[[f64; N]]) -> Vec<[f64; N]> {
        let mut sums: Vec<[f64; N]> = Vec::with_capacity(terms.len());
        for (step, &own) in self.steps.iter().zip(terms) {
            let mut sum = own;
            let base = step.base.map(|base| &sums[base]);
            for term in base.into_iter().chain(step.others.iter().map(|&other| &terms[other])) {
                sum.iter_mut().zip(term).for_each(|(sum, term)| *sum += term);
            }
            sums.push(sum);
        }
        sums
    }
}
