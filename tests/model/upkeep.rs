//! What nothing names any more, and goes; and what nodes said that goes.

use crate::command::Time;
use crate::history::At;
use crate::model::{Head, Model, Outcome, Progress, Refusal, Row, refused_for};
use crate::naive::Known;
use crate::rows::{ANY, text};
use mnemosyne::model::{Author, CommitTime, NodeId};
use mnemosyne::object::Redaction;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

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
            // Whatever the clock said, those behind one that is young stay with it.
            let (mut kept, mut is_young) = (Vec::new(), false);
            for (nth, update) in log.drain(..).enumerate() {
                is_young |= update.time >= oldest;
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

impl Model {
    /// Puts markers in the place of what nodes said, in all commits and in what is staged.
    pub fn redact(&mut self, ids: &[NodeId], source: Option<&str>, reason: Option<&str>) -> Outcome {
        let ids: BTreeSet<_> = ids.iter().collect();
        let is_meant = |id: &NodeId, known: &Known| {
            let is_source = source.is_none() || known.node.provenance.source.as_deref() == source;
            (ids.is_empty() || ids.contains(id)) && is_source && known.redacted.is_none()
        };
        let there = self.there();
        let is_staged = |id: &NodeId| {
            self.sessions.values().any(|own| own.staged.get(id).is_some_and(|staged| staged.new.is_some()))
        };
        let was = |id: &NodeId| there.iter().any(|&at| self.writes(at, id) || self.removes(at, id));
        let unknown: Vec<_> = ids.iter().copied().filter(|id| !is_staged(id) && !was(id)).collect();
        if !unknown.is_empty() {
            return Err(refused_for("no-node", unknown));
        }
        let mut counts: BTreeMap<NodeId, (usize, usize)> = BTreeMap::new();
        for &at in &there {
            for (id, known) in &self.history.commits[at].state {
                if is_meant(id, known) && self.origin(at, id) == at {
                    counts.entry(id.clone()).or_default().0 += 1;
                }
            }
        }
        for own in self.sessions.values() {
            for (id, staged) in &own.staged {
                if staged.new.as_ref().is_some_and(|known| is_meant(id, known)) {
                    counts.entry(id.clone()).or_default().1 += 1;
                }
            }
        }
        if let (Some(source), true) = (source, counts.is_empty()) {
            return Err(Refusal { word: "no-node", about: vec![format!("'{source}'")] });
        }
        let by = Author::new(&self.words("any").author).expect("an author");
        let time = CommitTime::parse(&self.now).expect("a time");
        let marked = |known: &mut Rc<Known>| {
            let id = known.node.id.clone();
            if is_meant(&id, known) {
                let (object, by, reason) = (known.object, by.clone(), reason.map(str::to_owned));
                let redacted = Some(Redaction { object, id, time, by, reason });
                *known = Rc::new(Known { body: known.body.clone(), node: known.node.clone(), object, redacted });
            }
        };
        self.history.commits.iter_mut().flat_map(|commit| commit.state.values_mut()).for_each(marked);
        let staged = self.sessions.values_mut().flat_map(|own| own.staged.values_mut());
        staged.filter_map(|staged| staged.new.as_mut()).for_each(marked);
        let row = |(id, (versions, staged)): (&NodeId, &(usize, usize))| {
            format!(
                "{{\"v\":1,\"type\":\"redacted\",\"id\":{},\"versions\":{versions},\"staged\":{staged}}}",
                text(id.as_str())
            )
        };
        Ok(counts.iter().map(row).collect::<Vec<_>>().into())
    }
}
