//! The lines beside a log that join commits to their parents.
//!
//! Each lane waits for one commit. A lane keeps its column until its commit comes, so columns that became free stay blank
//! until another lane takes them.

/// The lanes between one commit and the next.
#[derive(Debug, Default)]
pub struct Lanes {
    /// The commit for which each column waits.
    waiting: Vec<Option<u64>>,
}

/// What stands to the left of a commit's lines.
#[derive(Debug, PartialEq, Eq)]
pub struct Drawing {
    /// Beside its first line.
    pub commit: String,
    /// Beside the lines that follow, where there are some, and on lines of their own where there are not.
    pub edges: Vec<String>,
    /// Beside all further lines.
    pub lanes: String,
}

impl Lanes {
    /// Draws the next commit, whose children have all been drawn.
    pub fn draw(&mut self, commit: u64, parents: &[u64]) -> Drawing {
        let own = self.column_of(commit).unwrap_or_else(|| self.free_column(0));
        self.waiting[own] = Some(commit);
        let mut drawn = self.row();
        drawn[2 * own] = '*';
        self.waiting[own] = parents.first().copied();
        let mut edges = Vec::new();
        for &parent in parents.iter().skip(1) {
            let there = self.column_of(parent);
            let column = there.unwrap_or_else(|| self.free_column(own + 1));
            edges.push(self.edge(own, column));
            self.waiting[column] = Some(parent);
        }
        let same = |&column: &usize| column != own && self.waiting[column] == self.waiting[own];
        if let (Some(_), Some(other)) = (self.waiting[own], (0..self.waiting.len()).find(same)) {
            let (kept, gone) = (own.min(other), own.max(other));
            self.waiting[gone] = None;
            edges.push(self.edge(gone, kept));
        }
        while self.waiting.last() == Some(&None) {
            self.waiting.pop();
        }
        Drawing { commit: text(&drawn), edges: edges.iter().map(|edge| text(edge)).collect(), lanes: self.beside() }
    }

    /// The lanes as they stand.
    pub fn beside(&self) -> String {
        text(&self.row())
    }

    /// The lanes as they run down; columns stand two apart.
    fn row(&self) -> Vec<char> {
        self.waiting.iter().flat_map(|waiting| [if waiting.is_some() { '|' } else { ' ' }, ' ']).collect()
    }

    /// The lanes with a line across that leads down from one column to another.
    fn edge(&self, from: usize, to: usize) -> Vec<char> {
        let mut row = self.row();
        let (left, right) = (from.min(to), from.max(to));
        for blank in row[2 * left + 1..2 * right].iter_mut().filter(|there| **there == ' ') {
            *blank = '_';
        }
        if from < to {
            row[2 * right - 1] = '\\';
        } else {
            row[2 * left + 1] = '/';
        }
        row
    }

    fn column_of(&self, commit: u64) -> Option<usize> {
        self.waiting.iter().position(|&waiting| waiting == Some(commit))
    }

    /// The first blank column at `from` or behind it.
    fn free_column(&mut self, from: usize) -> usize {
        let blank = (from..self.waiting.len()).find(|&column| self.waiting[column].is_none());
        blank.unwrap_or_else(|| {
            self.waiting.resize(self.waiting.len().max(from) + 1, None);
            self.waiting.len() - 1
        })
    }
}

fn text(row: &[char]) -> String {
    row.iter().collect::<String>().trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn drawn(commits: &[(u64, &[u64])]) -> String {
        let mut lanes = Lanes::default();
        let mut text = String::new();
        for (commit, parents) in commits {
            let drawing = lanes.draw(*commit, parents);
            text.push_str(&format!("{} {commit}\n", drawing.commit));
            drawing.edges.iter().for_each(|edge| text.push_str(&format!("{edge}\n")));
        }
        text
    }

    #[test]
    fn a_line_has_one_lane() {
        assert_eq!(drawn(&[(3, &[2]), (2, &[1]), (1, &[])]), "* 3\n* 2\n* 1\n");
    }

    #[test]
    fn a_merge_opens_a_lane_and_its_fork_closes_it() {
        let diamond: &[(u64, &[u64])] = &[(4, &[2, 3]), (3, &[1]), (2, &[1]), (1, &[])];
        assert_eq!(drawn(diamond), "* 4\n|\\\n| * 3\n* | 2\n|/\n* 1\n");
    }

    #[test]
    fn lines_cross_the_lanes_between() {
        let octopus: &[(u64, &[u64])] = &[(5, &[2, 3, 4]), (4, &[1]), (3, &[1]), (2, &[1]), (1, &[])];
        assert_eq!(drawn(octopus), "* 5\n|\\\n|_|\\\n| | * 4\n| * | 3\n| |/\n* | 2\n|/\n* 1\n");
        let two_heads: &[(u64, &[u64])] = &[(4, &[1]), (3, &[2]), (2, &[]), (1, &[])];
        assert_eq!(drawn(two_heads), "* 4\n| * 3\n| * 2\n* 1\n");
        let crossed: &[(u64, &[u64])] = &[(6, &[4, 3]), (5, &[3, 4]), (4, &[2]), (3, &[2]), (2, &[])];
        assert_eq!(drawn(crossed), "* 6\n|\\\n| | * 5\n|/|_|\n| |/\n* | 4\n| * 3\n|/\n* 2\n");
    }

    #[test]
    fn a_parent_that_is_not_shown_keeps_its_lane() {
        let mut lanes = Lanes::default();
        assert_eq!(lanes.draw(9, &[4]).lanes, "|");
        let drawing = lanes.draw(7, &[5]);
        assert_eq!((drawing.commit.as_str(), drawing.lanes.as_str()), ("| *", "| |"));
    }

    proptest! {
        /// Below each commit there is one lane for each parent that is still to come, and no other.
        #[test]
        fn each_commit_is_waited_for_once(parents in prop::collection::vec(prop::collection::btree_set(0_usize..12, 0..4), 1..12)) {
            let mut lanes = Lanes::default();
            let mut waited = BTreeMap::new();
            for (commit, parents) in parents.iter().enumerate().rev() {
                let parents: Vec<u64> = parents.iter().filter(|&&parent| parent < commit).map(|&parent| parent as u64).collect();
                let drawing = lanes.draw(commit as u64, &parents);
                prop_assert_eq!(drawing.commit.matches('*').count(), 1);
                waited.remove(&(commit as u64));
                waited.extend(parents.iter().map(|&parent| (parent, ())));
                prop_assert_eq!(drawing.lanes.matches('|').count(), waited.len());
                let mut held: Vec<_> = lanes.waiting.iter().flatten().copied().collect();
                held.sort_unstable();
                prop_assert_eq!(held, waited.keys().copied().collect::<Vec<_>>());
            }
        }
    }
}
