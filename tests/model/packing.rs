//! A bundle that is written, and taken in again when the store has gone on.

use crate::history::At;
use crate::model::{Made, Model, Outcome, refused};
use crate::naive::State;
use crate::rows::{differing, list, or_null, text};
use std::collections::BTreeMap;

/// The file that bundles are written to.
pub const FILE: &str = "pack";

/// What is in a bundle.
#[derive(Clone, Debug)]
pub struct Pack {
    /// Parents come first. The parents are named by their ids.
    commits: Vec<(Made, Vec<String>, State)>,
    refs: BTreeMap<String, Packed>,
}

#[derive(Clone, Debug)]
struct Packed {
    commit: String,
    /// When a tag was set, and by what reason of its log.
    tag: Option<(String, String)>,
}

impl Model {
    pub fn pack(&mut self) -> Outcome {
        let is_wanted = |at: &At| self.refs.values().any(|&tip| self.history.is_behind(*at, tip));
        let wanted: Vec<_> = self.there().into_iter().filter(is_wanted).collect();
        if wanted.is_empty() {
            return Err(refused("nothing-to-commit"));
        }
        let mut changes = 0;
        let commit = |&at: &At| {
            let commit = &self.history.commits[at];
            changes += differing(&self.state_at(commit.parents.first().copied()), &commit.state).len();
            let parents = commit.parents.iter().map(|&parent| self.made[parent].id.clone()).collect();
            (self.made[at].clone(), parents, commit.state.clone())
        };
        let commits: Vec<_> = wanted.iter().map(commit).collect();
        let packed = |(name, &at): (&String, &At)| {
            let set = self.log(name).last().map(|update| (update.time.clone(), update.reason.clone()));
            let tag = set.filter(|_| name.starts_with("refs/tags/"));
            (name.clone(), Packed { commit: self.made[at].id.clone(), tag })
        };
        let refs: BTreeMap<_, _> = self.refs.iter().map(packed).collect();
        let told = refs.iter().map(|(name, Packed { commit, tag })| {
            let time = tag.as_ref().map(|(time, _)| time.as_str());
            let message = tag.as_ref().and_then(|(_, reason)| reason.strip_prefix("tag: "));
            let (name, commit, time, message) = (text(name), text(commit), or_null(time), or_null(message));
            format!("{{\"ref\":{name},\"commit\":{commit},\"time\":{time},\"message\":{message}}}")
        });
        let row = format!(
            "{{\"v\":1,\"type\":\"bundle\",\"commits\":{},\"changes\":{changes},\"prerequisites\":[],\"refs\":{}}}",
            commits.len(),
            list(told)
        );
        self.pack = Some(Pack { commits, refs });
        Ok(vec![row].into())
    }

    pub fn unpack(&mut self, prefix: Option<&str>, dry_run: bool) -> Outcome {
        let pack = self.pack.clone().ok_or_else(|| refused("io"))?;
        let mut after = self.clone();
        let (mut new, mut known) = (0, 0);
        for (made, parents, state) in pack.commits {
            if self.named(&made.id).is_some() {
                known += 1;
                continue;
            }
            new += 1;
            let parents = parents.iter().map(|parent| after.named(parent).expect("it came before")).collect();
            after.learn(parents, state, made.into());
        }
        let (mut rows, mut is_diverged, mut is_elsewhere) = (Vec::new(), false, false);
        for (name, Packed { commit, tag }) in &pack.refs {
            let below =
                |kind: &str| name.strip_prefix(kind).zip(prefix).map(|(short, at)| format!("{kind}{at}/{short}"));
            let name = below("refs/heads/").or(below("refs/tags/")).unwrap_or_else(|| name.clone());
            let (bundled, old) = (after.named(commit).expect("it is there now"), self.refs.get(&name).copied());
            let mut now = bundled;
            match old {
                Some(old) if old == bundled => {}
                Some(_) if tag.is_some() => is_elsewhere = true,
                Some(old) if self.history.commits.len() > bundled && self.history.is_behind(bundled, old) => now = old,
                Some(old) if after.history.is_behind(old, bundled) => {}
                Some(_) => is_diverged = true,
                None => {}
            }
            rows.push(format!(
                "{{\"ref\":{},\"bundled\":{},\"old\":{},\"new\":{}}}",
                text(&name),
                text(commit),
                or_null(self.id_of(old)),
                or_null(after.id_of(Some(now)))
            ));
            if old != Some(now) {
                let (time, reason) = tag.clone().unwrap_or((self.now.clone(), "bundle import".to_owned()));
                after.set_ref(&name, now, &time, &reason);
            }
        }
        if is_diverged {
            return Err(refused("not-fast-forward"));
        }
        if is_elsewhere {
            return Err(refused("ref-exists"));
        }
        if !dry_run {
            *self = after;
        }
        let refs = list(rows);
        Ok(vec![format!("{{\"v\":1,\"type\":\"imported\",\"new\":{new},\"known\":{known},\"refs\":{refs}}}")].into())
    }

    /// The commit of this id, if it is there.
    fn named(&self, id: &str) -> Option<At> {
        self.there().into_iter().find(|&at| self.made[at].id == id)
    }
}
