//! Where refs are and where sessions stand.

use crate::history::At;
use crate::model::{Answer, Head, Model, Outcome, Refusal, Staged, branch_ref, refused, refused_for, short, tag_ref};
use crate::revision::Rev;
use mnemosyne::model::NodeId;
use std::collections::BTreeSet;

/// Where a session goes.
struct Plan {
    head: Head,
    commit: Option<At>,
    /// Whether the ref of the branch is to be set.
    sets: bool,
    /// Whether it is there, and elsewhere.
    moves: bool,
    /// As the log of the branch tells where it was put.
    origin: String,
}

impl Plan {
    fn to(head: Head, commit: Option<At>) -> Self {
        Self { head, commit, sets: false, moves: false, origin: "HEAD".to_owned() }
    }
}

impl Model {
    fn resolved(&self, session: &str, rev: Option<&Rev>) -> Result<At, Refusal> {
        rev.unwrap_or(&Rev::head()).resolve(self, session)
    }

    fn text_of(&self, rev: Option<&Rev>) -> String {
        rev.map_or("HEAD".to_owned(), |rev| rev.text(self))
    }

    fn refuse_in_use(&self, reference: &str, except: Option<&str>) -> Result<(), Refusal> {
        let sessions = self.sessions_on(reference).into_iter().filter(|name| Some(*name) != except);
        let about: Vec<_> = sessions.map(|name| format!("'{name}'")).collect();
        if about.is_empty() { Ok(()) } else { Err(Refusal { word: "branch-in-use", about }) }
    }

    fn refuse_existing(&self, reference: &str) -> Result<(), Refusal> {
        if self.refs.contains_key(reference) { Err(refused("ref-exists")) } else { Ok(()) }
    }

    fn existing(&self, reference: &str) -> Result<At, Refusal> {
        self.refs.get(reference).copied().ok_or_else(|| refused("bad-revision"))
    }

    pub fn branch(&mut self, session: &str, name: &str, rev: Option<&Rev>, force: bool) -> Outcome {
        let name = branch_ref(name);
        if !force {
            self.refuse_existing(&name)?;
        }
        let (at, old) = (self.resolved(session, rev)?, self.refs.get(&name).copied());
        if old != Some(at) {
            self.refuse_in_use(&name, None)?;
            let did = if old.is_some() { "moved to" } else { "created from" };
            let (now, reason) = (self.now.clone(), format!("branch: {did} {}", self.text_of(rev)));
            self.set_ref(&name, at, &now, &reason);
        }
        Ok(vec![self.ref_row(&name, old, Some(at))].into())
    }

    pub fn delete(&mut self, session: &str, names: &[String], force: bool) -> Outcome {
        let names: BTreeSet<_> = names.iter().map(|name| branch_ref(name)).collect();
        for name in &names {
            self.existing(name)?;
            self.refuse_in_use(name, None)?;
        }
        let stays = self.refs.iter().filter(|(name, _)| name.starts_with("refs/heads/") && !names.contains(*name));
        let stays: Vec<At> = stays.map(|(_, at)| *at).chain(self.at(session)).collect();
        let is_lost = |name: &&String| !stays.iter().any(|&at| self.history.is_behind(self.refs[*name], at));
        let lost: Vec<_> = names.iter().filter(is_lost).map(|name| format!("'{}'", short(name))).collect();
        if !force && !lost.is_empty() {
            return Err(Refusal { word: "not-merged", about: lost });
        }
        let rows: Vec<_> = names.iter().map(|name| self.ref_row(name, self.refs.get(name).copied(), None)).collect();
        names.iter().for_each(|name| self.remove_ref(name, "branch: deleted"));
        Ok(rows.into())
    }

    pub fn rename(&mut self, session: &str, old: Option<&str>, new: &str, force: bool) -> Outcome {
        let (old, new) = match (old.map(branch_ref), self.head(session)) {
            (Some(old), _) | (None, Head::Branch(old)) => (old, branch_ref(new)),
            (None, Head::Detached(_)) => return Err(refused("usage")),
        };
        let is_unborn = !self.refs.contains_key(&old) && !self.sessions_on(&old).is_empty();
        if !is_unborn {
            self.existing(&old)?;
        }
        if !force || is_unborn {
            self.refuse_existing(&new)?;
        }
        if old == new {
            return Ok(Answer::default());
        }
        self.refuse_in_use(&new, None)?;
        let mut rows = Vec::new();
        if let Some(&at) = self.refs.get(&old) {
            let replaced = self.refs.get(&new).copied();
            rows = vec![self.ref_row(&old, Some(at), None), self.ref_row(&new, replaced, Some(at))];
            let (now, reason) = (self.now.clone(), format!("branch: renamed {} to {}", short(&old), short(&new)));
            self.set_ref(&new, at, &now, &reason);
            self.remove_ref(&old, &reason);
        }
        let (from, to) = (Head::Branch(old), Head::Branch(new));
        for name in crate::model::SESSIONS {
            let is_on = self.sessions[name].row.is_some() || self.sessions[name].begun.is_some();
            let row = self.sessions[name].row.as_ref();
            if is_on && (self.head(name) == from || row.is_some_and(|row| row.previous.as_ref() == Some(&from))) {
                let row = self.row(name);
                row.previous = row.previous.take().map(|head| if head == from { to.clone() } else { head });
                if row.head == from {
                    row.head = to.clone();
                }
            }
        }
        Ok(rows.into())
    }

    pub fn tag(&mut self, session: &str, name: &str, rev: Option<&Rev>, message: Option<&str>, force: bool) -> Outcome {
        let name = tag_ref(name);
        if !force {
            self.refuse_existing(&name)?;
        }
        let (at, old) = (self.resolved(session, rev)?, self.refs.get(&name).copied());
        let reason = message.map_or("tag".to_owned(), |message| format!("tag: {message}"));
        let stands = old == Some(at) && self.log(&name).last().is_some_and(|update| update.reason == reason);
        if !stands {
            let now = self.now.clone();
            self.set_ref(&name, at, &now, &reason);
        }
        Ok(vec![self.ref_row(&name, old, Some(at))].into())
    }

    pub fn untag(&mut self, names: &[String]) -> Outcome {
        let names: BTreeSet<_> = names.iter().map(|name| tag_ref(name)).collect();
        names.iter().try_for_each(|name| self.existing(name).map(drop))?;
        let rows: Vec<_> = names.iter().map(|name| self.ref_row(name, self.refs.get(name).copied(), None)).collect();
        names.iter().for_each(|name| self.remove_ref(name, "tag: deleted"));
        Ok(rows.into())
    }

    pub fn switch(&mut self, session: &str, name: &str) -> Outcome {
        self.refuse_in_progress(session)?;
        let head = Head::Branch(branch_ref(name));
        let commit = self.commit_of(&head);
        if commit.is_none() && head != self.head(session) {
            return Err(refused("bad-revision"));
        }
        self.stand(session, Plan::to(head, commit))
    }

    pub fn create(&mut self, session: &str, name: &str, rev: Option<&Rev>, force: bool) -> Outcome {
        self.refuse_in_progress(session)?;
        let commit = match rev {
            Some(rev) => Some(rev.resolve(self, session)?),
            None => self.at(session),
        };
        let name = branch_ref(name);
        let old = self.refs.get(&name).copied();
        if commit.is_none() || !force {
            self.refuse_existing(&name)?;
        }
        let sets = commit.is_some() && commit != old;
        if sets {
            self.refuse_in_use(&name, Some(session))?;
        }
        let origin = self.text_of(rev);
        self.stand(session, Plan { sets, moves: sets && old.is_some(), origin, ..Plan::to(Head::Branch(name), commit) })
    }

    pub fn detach(&mut self, session: &str, rev: &Rev) -> Outcome {
        self.refuse_in_progress(session)?;
        let at = rev.resolve(self, session)?;
        self.stand(session, Plan::to(Head::Detached(at), Some(at)))
    }

    pub fn back(&mut self, session: &str) -> Outcome {
        self.refuse_in_progress(session)?;
        let previous = self.sessions[session].row.as_ref().and_then(|row| row.previous.clone());
        let head = previous.ok_or_else(|| refused("bad-revision"))?;
        let commit = self.commit_of(&head);
        if commit.is_none() {
            return Err(refused("bad-revision"));
        }
        self.stand(session, Plan::to(head, commit))
    }

    fn stand(&mut self, session: &str, plan: Plan) -> Outcome {
        let (from, old) = (self.head(session), self.at(session));
        let already = plan.head == from && plan.commit == old;
        let there = self.state_at(plan.commit);
        let (mut carried, mut settled) = (0, BTreeSet::new());
        if !already {
            let mut collisions = Vec::new();
            for (id, staged) in self.changes(session) {
                let found = there.get(&id).cloned();
                if found == staged.new {
                    settled.insert(id);
                    continue;
                }
                carried += 1;
                if staged.collides_with(&found) && plan.commit != old {
                    collisions.push(id);
                }
            }
            if !collisions.is_empty() {
                return Err(refused_for("would-overwrite", &collisions));
            }
        }
        let seen = self.log(&format!("session/{session}")).last().and_then(|update| update.new);
        if already && self.sessions[session].row.is_some() && (plan.commit.is_none() || seen == plan.commit) {
            return Ok(vec![self.switched(session, 0, 0)].into());
        }
        let (now, from_name) = (self.now.clone(), self.place_name(&from));
        let reason = format!("switch: from {from_name} to {}", self.place_name(&plan.head));
        match plan.commit {
            Some(at) if plan.head == from && !already => {
                self.row(session).orig_head = old;
                self.advance(session, at, &now, &reason);
            }
            Some(_) if plan.head == from => {
                self.row(session);
                self.log_head(session, old, old, &now, &reason);
            }
            None if plan.head == from => drop(self.row(session)),
            commit => {
                if let (Head::Branch(name), Some(at), true) = (&plan.head, commit, plan.sets) {
                    let did = if plan.moves { "moved to" } else { "created from" };
                    self.set_ref(name, at, &now, &format!("branch: {did} {}", plan.origin));
                }
                let row = self.row(session);
                row.previous = Some(std::mem::replace(&mut row.head, plan.head));
                self.log_head(session, old, commit, &now, &reason);
            }
        }
        if !settled.is_empty() {
            self.session(session).staged.retain(|id, staged| staged.is_change() && !settled.contains(id));
        }
        Ok(vec![self.switched(session, carried, settled.len())].into())
    }

    pub fn reset(&mut self, session: &str, rev: Option<&Rev>, hard: bool) -> Outcome {
        let (to, old) = (self.resolved(session, rev)?, self.at(session));
        let mut staged = std::collections::BTreeMap::new();
        let mut between = Vec::new();
        if !hard {
            self.refuse_in_progress(session)?;
            let collides = |(id, staged): &(NodeId, Staged)| staged.collides_with(&self.held(session, id));
            let conflicts: Vec<_> = self.changes(session).into_iter().filter(collides).map(|(id, _)| id).collect();
            if !conflicts.is_empty() {
                return Err(refused_for("conflict", &conflicts));
            }
            let (seen, there) = (self.seen(session), self.state_at(Some(to)));
            for (id, (base, new)) in crate::rows::differing(&there, &seen) {
                staged.insert(id.clone(), Staged { base, new });
            }
            // Before the move it is written down that the memory stays as it is: no change where there is none.
            let mut begun = self.clone();
            for (id, new) in staged.iter().map(|(id, staged)| (id, &staged.new)) {
                let no_change = Staged { base: new.clone(), new: new.clone() };
                let before = begun.session(session).staged.entry(id.clone()).or_insert(no_change);
                before.new = new.clone();
            }
            begun.append(session);
            between.extend((!staged.is_empty()).then_some(begun));
        }
        let (now, reason) = (self.now.clone(), format!("reset: {}", self.text_of(rev)));
        if old != Some(to) {
            self.advance(session, to, &now, &reason);
        }
        let row = self.row(session);
        (row.orig_head, row.progress) = (old, None);
        self.session(session).staged = staged;
        Ok(Answer { rows: vec![self.commit_row(session, to)], stop: None, between })
    }
}
