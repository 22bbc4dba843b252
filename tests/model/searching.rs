//! Searches by hand for the first bad commit: what is marked, and what that leaves.

use crate::history::At;
use crate::model::{Answer, Model, Outcome, Refusal, refused};
use crate::revision::Rev;
use crate::rows::{ANY, list, or_null, text};
use mnemosyne::model::NodeId;
use mnemosyne::store::Marked;
use std::collections::BTreeSet;

/// A search.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Search {
    /// Only commits that changed this node.
    pub only: Option<NodeId>,
    /// What each command said, in their order.
    pub said: Vec<(Marked, Vec<At>)>,
}

impl Search {
    fn of(&self, marked: Marked) -> Vec<At> {
        self.said.iter().filter(|(kind, _)| *kind == marked).flat_map(|(_, commits)| commits.clone()).collect()
    }
}

impl Model {
    fn searching(&self, session: &str) -> Result<Search, Refusal> {
        let search = self.sessions[session].row.as_ref().and_then(|row| row.search.clone());
        search.ok_or_else(|| refused("bisect-no-session"))
    }

    /// The row that tells of a search.
    fn search_row(&self, search: &Search) -> Outcome {
        let [bad, good, skipped] = [Marked::Bad, Marked::Good, Marked::Skip].map(|kind| search.of(kind));
        let ids = |commits: &[At]| list(commits.iter().map(|&at| text(&self.made[at].id)));
        let row = |next: &str, found: Option<At>, candidates: &[At], left: &str, steps: &str| {
            format!(
                "{{\"v\":1,\"type\":\"bisect_status\",\"next\":{next},\"found\":{},\"candidates\":{},\"left\":{left},\"steps\":{steps},\"bad\":{},\"good\":{},\"skipped\":{}}}",
                or_null(self.id_of(found)),
                ids(candidates),
                ids(&bad),
                ids(&good),
                ids(&skipped)
            )
        };
        if bad.is_empty() || good.is_empty() {
            return Ok(vec![row("null", None, &[], "null", "null")].into());
        }
        if bad.iter().any(|&bad| good.iter().any(|&good| self.history.is_behind(bad, good))) {
            return Err(refused("bisect-endpoints"));
        }
        let is_left = |at: &At| {
            bad.iter().all(|&bad| self.history.is_behind(*at, bad))
                && !good.iter().any(|&good| self.history.is_behind(*at, good))
                && search.only.as_ref().is_none_or(|id| self.writes(*at, id) || self.removes(*at, id))
        };
        let left: Vec<_> = (0..self.made.len()).filter(is_left).collect();
        match left[..] {
            [] => return Err(refused("bisect-endpoints")),
            [only] => return Ok(vec![row("null", Some(only), &[], "null", "null")].into()),
            [_, _, ..] => {}
        }
        // The test of a commit tells something where some of those left are its ancestors and some are not.
        let tells = |at: &&At| left.iter().any(|&other| !self.history.is_behind(other, **at));
        let testable: BTreeSet<_> = left.iter().filter(|at| !skipped.contains(at)).filter(tells).collect();
        if testable.is_empty() {
            let rows = vec![row("null", None, &left, "null", "null")];
            return Ok(Answer { rows, stop: Some(refused("bisect-inconclusive")), between: Vec::new() });
        }
        let count = left.len().to_string();
        Ok(vec![row(&format!("\"{ANY}\""), None, &[], &count, &ANY.to_string())].into())
    }

    fn search(&mut self, session: &str, search: Search) -> Outcome {
        let answer = self.search_row(&search)?;
        self.row(session).search = Some(search);
        Ok(answer)
    }

    pub fn start_search(&mut self, session: &str, bad: Option<&Rev>, good: &[Rev], only: Option<&NodeId>) -> Outcome {
        Rev::head().resolve(self, session)?;
        let resolve = |rev: &Rev| rev.resolve(self, session);
        let bad = bad.map(resolve).transpose()?;
        let good = good.iter().map(resolve).collect::<Result<Vec<_>, _>>()?;
        let mut said: Vec<_> = bad.into_iter().map(|bad| (Marked::Bad, vec![bad])).collect();
        if !good.is_empty() {
            said.push((Marked::Good, good));
        }
        self.search(session, Search { only: only.cloned(), said })
    }

    pub fn mark(&mut self, session: &str, marked: Marked, revs: &[Rev]) -> Outcome {
        let mut search = self.searching(session)?;
        let commits = revs.iter().map(|rev| rev.resolve(self, session)).collect::<Result<Vec<_>, _>>()?;
        search.said.push((marked, commits));
        self.search(session, search)
    }

    pub fn unmark(&mut self, session: &str) -> Outcome {
        let mut search = self.searching(session)?;
        search.said.pop().ok_or_else(|| refused("usage"))?;
        self.search(session, search)
    }

    pub fn end_search(&mut self, session: &str) -> Outcome {
        if self.searching(session).is_ok() {
            self.row(session).search = None;
        }
        Ok(Answer::default())
    }

    pub fn search_status(&self, session: &str) -> Outcome {
        self.search_row(&self.searching(session)?)
    }
}
