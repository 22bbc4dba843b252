//! How many ancestors many commits have.

use super::Candidates;

/// The candidates that are looked at, with their parents among them, all by their place in the list.
struct Part {
    /// Where the parents of each begin; one more than there are.
    starts: Vec<usize>,
    parents: Vec<usize>,
}

impl Part {
    fn of(candidates: &Candidates, nodes: &[usize]) -> Self {
        let mut places = vec![usize::MAX; candidates.len()];
        let mut part = Self { starts: vec![0], parents: Vec::new() };
        for (place, &node) in nodes.iter().enumerate() {
            let parents = candidates.parents(node).iter().map(|&parent| places[parent]);
            part.parents.extend(parents.filter(|&parent| parent != usize::MAX));
            part.starts.push(part.parents.len());
            places[node] = place;
        }
        part
    }

    fn len(&self) -> usize {
        self.starts.len() - 1
    }

    fn parents(&self, of: usize) -> &[usize] {
        &self.parents[self.starts[of]..self.starts[of + 1]]
    }

    fn count_one(&self, of: usize, counts: &[bool], seen: &mut [usize]) -> usize {
        let (mut count, mut open) = (0, vec![of]);
        while let Some(place) = open.pop() {
            // Marked with whom it was seen from, so that nothing has to be cleared for the next.
            if std::mem::replace(&mut seen[place], of) != of {
                count += usize::from(counts[place]);
                open.extend(self.parents(place));
            }
        }
        count
    }

    /// Adds to `weights` how many of up to 64 places are ancestors of each.
    fn count_block(&self, block: &[usize], weights: &mut [usize], masks: &mut [u64]) {
        let Some(&first) = block.first() else { return };
        let mut own = block.iter().zip(0..).peekable();
        for place in first..self.len() {
            let mut mask = own.next_if(|&(&source, _)| source == place).map_or(0, |(_, bit)| 1 << bit);
            for &parent in self.parents(place).iter().filter(|&&parent| parent >= first) {
                mask |= masks[parent];
            }
            masks[place] = mask;
            weights[place] += mask.count_ones() as usize;
        }
    }
}

/// For each of `nodes`, which ascend, how many of those that count are its ancestors, itself included. Every way from one
/// of them to one that counts must lead through `nodes` alone.
///
/// With few merges what a merge has is counted by a walk, and all else is its parent's and itself, as in git; with many,
/// 64 ancestors at a time are passed on from parents to children.
pub fn weights(candidates: &Candidates, nodes: &[usize], is_counted: impl Fn(usize) -> bool) -> Vec<usize> {
    const BLOCK: usize = u64::BITS as usize;
    let part = Part::of(candidates, nodes);
    let counts: Vec<_> = nodes.iter().map(|&node| is_counted(node)).collect();
    let mut weights = vec![0; nodes.len()];
    let merges = (0..part.len()).filter(|&place| part.parents(place).len() > 1).count();
    if merges * BLOCK <= part.len() {
        let mut seen = vec![usize::MAX; part.len()];
        for place in 0..part.len() {
            weights[place] = match part.parents(place) {
                [] => usize::from(counts[place]),
                [parent] => weights[*parent] + usize::from(counts[place]),
                _ => part.count_one(place, &counts, &mut seen),
            };
        }
    } else {
        let counted: Vec<_> = (0..part.len()).filter(|&place| counts[place]).collect();
        let mut masks = vec![0; part.len()];
        for block in counted.chunks(BLOCK) {
            part.count_block(block, &mut weights, &mut masks);
        }
    }
    weights
}
