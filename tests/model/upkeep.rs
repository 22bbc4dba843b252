//! What nothing names any more, and goes.

use crate::command::Time;
use crate::history::At;
use crate::model::{Head, Model, Outcome, Progress, Row};
use crate::rows::ANY;
use std::collections::BTreeSet;

impl Row {
    fn commits(&self) -> Vec<At> {
        let heads = [Some(&self.head), self.previous.as_ref()].into_iter().flatten();
        let detached = heads.filter_map(|head| match head {
            Head::Branch(_) => None,
            Head::Detached(at) => Some(*at),
        });
        let underway = match &self.progress {
            None => Vec::new(),
            Some(Progress::Merge { theirs, .. }) => vec![*theirs],
            Some(Progress::Revert { start, reached, commits, .. }) => [&[*start, *reached], &commits[..]].concat(),
        };
        let marked = self.search.iter().flat_map(|search| search.said.iter().flat_map(|(_, commits)| commits.clone()));
        detached.chain(self.orig_head).chain(underway).chain(marked).collect()
    }
}

impl Model {
    /// How many days movements are kept where so many are named, or none.
    pub fn days(&self, named: Option<u32>) -> u32 {
        let set = self.settings.get("reflog-days").map(|days| days.parse().expect("a count"));
        named.or(set).unwrap_or(90)
    }

    /// Drops movements that are older than `days` days, but for the last of each ref, then commits that nothing names.
    pub fn gc(&mut self, days: u32, dry_run: bool) -> Outcome {
        let oldest = if days == 0 { self.now.clone() } else { crate::command::told(Time::MIN) };
        let (mut after, mut named, mut movements) = (self.clone(), BTreeSet::new(), 0);
        for log in after.logs.values_mut() {
            let last = log.len() - 1;
            let mut kept = Vec::new();
            for (nth, update) in log.drain(..).enumerate() {
                let is_young = update.time >= oldest;
                if is_young || nth == last {
                    named.extend(update.new.into_iter().chain(update.old.filter(|_| is_young)));
                    kept.push(update);
                } else {
                    movements += 1;
                }
            }
            *log = kept;
        }
        named.extend(self.refs.values());
        for session in self.sessions.values() {
            named.extend(session.row.iter().flat_map(Row::commits));
            if let Some(Head::Detached(at)) = session.head() {
                named.insert(*at);
            }
        }
        let is_named = |at: &At| named.iter().any(|&from| self.history.is_behind(*at, from));
        let lost: BTreeSet<At> = (0..self.made.len()).filter(|at| !self.gone.contains(at) && !is_named(at)).collect();
        for update in after.logs.values_mut().flatten() {
            update.old = update.old.filter(|old| !lost.contains(old));
        }
        let row = format!(
            "{{\"v\":1,\"type\":\"gc\",\"dry_run\":{dry_run},\"commits\":{},\"objects\":{ANY},\"movements\":{movements},\"bytes_before\":{ANY},\"bytes_after\":{}}}",
            lost.len(),
            if dry_run { "null".to_owned() } else { ANY.to_string() }
        );
        if !dry_run {
            after.gone.extend(lost);
            *self = after;
        }
        Ok(vec![row].into())
    }

    /// The commits that are there.
    pub fn there(&self) -> Vec<At> {
        (0..self.made.len()).filter(|at| !self.gone.contains(at)).collect()
    }
}
