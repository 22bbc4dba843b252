//! What is staged, and how it becomes commits.

use crate::command::{Empty, Group, Held, Pattern, When, Write};
use crate::history::At;
use crate::model::{Answer, Model, Outcome, Refusal, Staged, Words, refused, refused_for, with};
use crate::revision::Rev;
use crate::rows;
use mnemosyne::model::NodeId;
use std::collections::{BTreeMap, BTreeSet};

/// What must hold of each id as the session sees it.
#[derive(Clone, Debug)]
pub enum Condition {
    Always,
    Present,
    Is(Held),
}

/// The last write of each id.
fn last(writes: &[Write]) -> BTreeMap<NodeId, Held> {
    writes.iter().cloned().collect()
}

fn chosen(only: &[Pattern], id: &NodeId) -> bool {
    only.is_empty() || only.iter().any(|pattern| pattern.matches(id))
}

impl Model {
    pub fn condition(&self, session: &str, id: &NodeId, when: When) -> Condition {
        match when {
            When::Always => Condition::Always,
            When::Absent => Condition::Is(None),
            When::AsSeen => Condition::Is(self.seen(session).get(id).cloned()),
            When::AsInHead => Condition::Is(self.held(session, id)),
        }
    }

    fn check(&self, session: &str, writes: &[Write], condition: &Condition) -> Result<(), Refusal> {
        let (seen, writes) = (self.seen(session), last(writes));
        let fails = |wanted: &dyn Fn(&Held) -> bool| -> Vec<NodeId> {
            writes.keys().filter(|id| !wanted(&seen.get(*id).cloned())).cloned().collect()
        };
        match condition {
            Condition::Always => Ok(()),
            Condition::Present => match fails(&Option::is_some) {
                absent if absent.is_empty() => Ok(()),
                absent => Err(refused_for("no-node", &absent)),
            },
            Condition::Is(held) => match fails(&|found| found == held) {
                others if others.is_empty() => Ok(()),
                others => Err(refused_for("precondition-failed", others.first())),
            },
        }
    }

    /// Nodes of which the branch has become neither what a staged change replaced nor what it sets nor what is to be.
    fn refuse_conflicts(&self, session: &str, writes: &[Write]) -> Result<(), Refusal> {
        let changes = self.changes(session);
        let hides = |(id, new): &(NodeId, Held)| {
            let head = self.held(session, id);
            head != *new && changes.get(id).is_some_and(|staged| staged.collides_with(&head))
        };
        let found: Vec<_> = last(writes).into_iter().filter(hides).map(|(id, _)| id).collect();
        if found.is_empty() { Ok(()) } else { Err(refused_for("conflict", &found)) }
    }

    /// Stages one change; tells whether that has to be written down.
    fn stage_one(&mut self, session: &str, id: &NodeId, new: &Held) -> bool {
        let head = self.held(session, id);
        let is_underway = self.progress(session).is_some();
        let staged = &mut self.session(session).staged;
        let over_head = Staged { base: head.clone(), new: new.clone() };
        match staged.get(id).cloned() {
            // What stands already is an answer to a conflict too.
            _ if is_underway => drop(staged.insert(id.clone(), over_head)),
            before if *new == head => {
                staged.remove(id);
                return before.is_some();
            }
            Some(before) if before.is_change() && before.new == *new => return false,
            Some(before) if before.is_change() && before.base != *new && before.new != head => {
                drop(staged.insert(id.clone(), Staged { base: before.base, new: new.clone() }));
            }
            Some(_) | None => drop(staged.insert(id.clone(), over_head)),
        }
        true
    }

    fn stage(&mut self, session: &str, writes: &[Write]) {
        let writes = last(writes);
        let told = writes.iter().filter(|(id, new)| self.stage_one(session, id, new)).count();
        if told > 0 {
            self.append(session);
        }
    }

    fn staged_rows(&self, session: &str, writes: &[Write]) -> Vec<String> {
        writes.iter().map(|(id, new)| rows::staged(id, &self.held(session, id), new, session)).collect()
    }

    pub fn put(&mut self, session: &str, writes: &[Write], condition: &Condition) -> Outcome {
        match self.check(session, writes, condition) {
            Err(refusal) if refusal.word == "no-node" && self.are_conflicts(session, &refusal) => {}
            checked => checked?,
        }
        let rows = self.staged_rows(session, writes);
        self.stage(session, writes);
        Ok(rows.into())
    }

    fn are_conflicts(&self, session: &str, refusal: &Refusal) -> bool {
        let worked = self.progress(session).map(|progress| self.work_out(session, progress));
        let is_one =
            |worked: &crate::model::Worked, name: &String| worked.conflicts.iter().any(|id| format!("'{id}'") == *name);
        worked.is_some_and(|worked| refusal.about.iter().all(|name| is_one(&worked, name)))
    }

    pub fn try_put(&self, session: &str, writes: &[Write], condition: &Condition, commits: bool) -> Outcome {
        if commits {
            self.refuse_in_progress(session)?;
            self.refuse_conflicts(session, writes)?;
        }
        self.check(session, writes, condition)?;
        Ok(self.staged_rows(session, writes).into())
    }

    /// Lets what is staged stay but for these ids, if something is staged for one of them.
    fn take_over(&mut self, session: &str, ids: &BTreeSet<NodeId>) {
        let staged = &mut self.session(session).staged;
        if staged.keys().any(|id| ids.contains(id)) {
            staged.retain(|id, staged| staged.is_change() && !ids.contains(id));
        }
    }

    pub fn put_and_commit(
        &mut self,
        session: &str,
        writes: &[Write],
        condition: &Condition,
        message: &str,
        needs_change: bool,
    ) -> Outcome {
        self.refuse_in_progress(session)?;
        self.refuse_conflicts(session, writes)?;
        self.check(session, writes, condition)?;
        let heads: Vec<_> = writes.iter().map(|(id, _)| self.held(session, id)).collect();
        let mut changes = last(writes);
        changes.retain(|id, new| self.held(session, id) != *new);
        let rows = |commit: Option<&str>| -> Vec<String> {
            let row = |((id, new), old): (&Write, _)| rows::committed(id, old, new, session, commit);
            writes.iter().zip(&heads).map(row).collect()
        };
        if changes.is_empty() {
            if needs_change {
                return Err(refused("nothing-to-commit"));
            }
            self.stage(session, writes);
            return Ok(rows(None).into());
        }
        let words = self.words(message);
        let made = self.commit_on(session, &[], &changes, words, "put");
        self.take_over(session, &last(writes).into_keys().collect());
        Ok(rows(Some(&self.made[made].id)).into())
    }

    /// Commits groups on top of each other, and stages what comes behind.
    fn batch(&mut self, session: &str, groups: Vec<(Vec<Write>, Words, bool)>, rest: &[Write]) -> Outcome {
        self.refuse_in_progress(session)?;
        let (mut planned, mut without) = (Vec::new(), Vec::new());
        let mut memory = self.state(session);
        for (at, (writes, words, may_be_empty)) in groups.into_iter().enumerate() {
            let after = with(&memory, &last(&writes));
            if after != memory {
                planned.push((writes, words));
            } else if may_be_empty {
                without.extend(writes);
            } else {
                return Err(Refusal { word: "nothing-to-commit", about: vec![format!("commit {}", at + 1)] });
            }
            memory = after;
        }
        if planned.is_empty() {
            let all = [&without[..], rest].concat();
            self.stage(session, &all);
            return Ok(Answer::default());
        }
        let all: Vec<Write> = planned.iter().flat_map(|(writes, _)| writes.clone()).chain(without).collect();
        self.refuse_conflicts(session, &all)?;
        let mut made = Vec::new();
        for (writes, words) in planned {
            made.push(self.commit_on(session, &[], &last(&writes), words, "put"));
        }
        self.take_over(session, &last(&all).into_keys().collect());
        let rows: Vec<_> = made.into_iter().map(|at| self.commit_row(session, at)).collect();
        let between = if rest.is_empty() { Vec::new() } else { vec![self.clone()] };
        self.stage(session, rest);
        Ok(Answer { rows, stop: None, between })
    }

    pub fn put_history(&mut self, session: &str, groups: &[Group], rest: &[Write]) -> Outcome {
        let group = |group: &Group| {
            let mut words = self.words(&group.message);
            words.author = group.author.clone().unwrap_or(words.author);
            words.time = group.time.map_or(words.time, crate::command::told);
            (group.writes.clone(), words, false)
        };
        let groups = groups.iter().map(group).collect();
        self.batch(session, groups, rest)
    }

    pub fn put_every(&mut self, session: &str, writes: &[Write], count: usize, message: &str) -> Outcome {
        let groups = writes.chunks(count).map(|writes| (writes.to_vec(), self.words(message), true)).collect();
        self.batch(session, groups, &[])
    }

    fn remove(&mut self, session: &str, ids: BTreeSet<NodeId>, if_exists: bool, message: Option<&str>) -> Outcome {
        let writes: Vec<Write> = ids.into_iter().map(|id| (id, None)).collect();
        if writes.is_empty() {
            return Ok(Answer::default());
        }
        let condition = if if_exists { Condition::Always } else { Condition::Present };
        match message {
            None => self.put(session, &writes, &condition),
            Some(message) => self.put_and_commit(session, &writes, &condition, message, false),
        }
    }

    pub fn rm(&mut self, session: &str, ids: &[NodeId], if_exists: bool, message: Option<&str>) -> Outcome {
        let seen = self.seen(session);
        let ids = ids.iter().filter(|id| !if_exists || seen.contains_key(*id)).cloned().collect();
        self.remove(session, ids, if_exists, message)
    }

    pub fn rm_all(&mut self, session: &str, pattern: &Pattern, if_exists: bool, message: Option<&str>) -> Outcome {
        let ids: BTreeSet<_> = self.seen(session).into_keys().filter(|id| pattern.matches(id)).collect();
        if ids.is_empty() && !if_exists {
            return Err(Refusal { word: "no-node", about: vec![format!("'{}'", pattern.text())] });
        }
        self.remove(session, ids, if_exists, message)
    }

    pub fn restore(&mut self, session: &str, patterns: &[Pattern], source: Option<&Rev>) -> Outcome {
        let head = self.state(session);
        let from = match source {
            Some(rev) => self.state_at(Some(rev.resolve(self, session)?)),
            None => head.clone(),
        };
        let conflicts = self.progress(session).map(|progress| self.work_out(session, progress).conflicts);
        let conflicts = conflicts.unwrap_or_default();
        let staged = self.sessions[session].staged.clone();
        let ids: BTreeSet<NodeId> =
            staged.keys().chain(head.keys()).chain(from.keys()).chain(&conflicts).cloned().collect();
        let unmatched = patterns.iter().filter(|pattern| !ids.iter().any(|id| pattern.matches(id)));
        let unmatched: Vec<_> = unmatched.map(|pattern| format!("'{}'", pattern.text())).collect();
        if !unmatched.is_empty() {
            return Err(Refusal { word: "no-node", about: unmatched });
        }
        let (mut rows, underway) = (Vec::new(), self.progress(session).is_some());
        for id in ids.iter().filter(|id| patterns.iter().any(|pattern| pattern.matches(id))) {
            let (old, new) = (head.get(id).cloned(), from.get(id).cloned());
            let is_named =
                source.is_some() || patterns.iter().any(|pattern| matches!(pattern, Pattern::Id(own) if own == id));
            let is_told = if is_named && conflicts.contains(id) {
                self.session(session).staged.insert(id.clone(), Staged { base: old.clone(), new: new.clone() });
                true
            } else {
                self.without_progress(session, underway, |model| model.stage_one(session, id, &new))
            };
            if is_told {
                rows.push(rows::staged(id, &old, &new, session));
            }
        }
        if !rows.is_empty() {
            self.append(session);
        }
        Ok(rows.into())
    }

    /// Stages as if nothing were in progress.
    fn without_progress(&mut self, session: &str, underway: bool, stage: impl FnOnce(&mut Self) -> bool) -> bool {
        if !underway {
            return stage(self);
        }
        let progress = self.row(session).progress.take();
        let is_told = stage(self);
        self.row(session).progress = progress;
        is_told
    }

    /// The changes that a commit would make.
    fn plan(&self, session: &str, only: &[Pattern], overwrite: bool) -> Result<BTreeMap<NodeId, Held>, Refusal> {
        let (mut changes, mut conflicts) = (BTreeMap::new(), Vec::new());
        for (id, staged) in self.changes(session) {
            let head = self.held(session, &id);
            if !chosen(only, &id) || staged.new == head {
                continue;
            }
            if staged.collides_with(&head) && !overwrite {
                conflicts.push(id);
            } else {
                changes.insert(id, staged.new);
            }
        }
        if conflicts.is_empty() { Ok(changes) } else { Err(refused_for("conflict", &conflicts)) }
    }

    fn take(&mut self, session: &str, only: &[Pattern]) {
        self.session(session).staged.retain(|id, staged| staged.is_change() && !chosen(only, id));
    }

    pub fn commit(&mut self, session: &str, words: Words, only: &[Pattern], empty: Empty, overwrite: bool) -> Outcome {
        self.refuse_in_progress(session)?;
        let changes = self.plan(session, only, overwrite)?;
        if changes.is_empty() {
            match empty {
                Empty::Refused => return Err(refused("nothing-to-commit")),
                Empty::Skipped => return Ok(self.head_row(session).into()),
                Empty::Allowed => {}
            }
        }
        let made = self.commit_on(session, &[], &changes, words, "commit");
        self.take(session, only);
        Ok(vec![self.commit_row(session, made)].into())
    }

    pub fn try_commit(&self, session: &str, only: &[Pattern], empty: Empty, overwrite: bool) -> Outcome {
        let changes = self.plan(session, only, overwrite)?;
        if changes.is_empty() && empty == Empty::Refused {
            return Err(refused("nothing-to-commit"));
        }
        let changes: Vec<Write> = changes.into_iter().collect();
        Ok(self.staged_rows(session, &changes).into())
    }

    pub fn amend(
        &mut self,
        session: &str,
        message: Option<&str>,
        author: Option<&str>,
        only: &[Pattern],
        overwrite: bool,
    ) -> Outcome {
        self.refuse_in_progress(session)?;
        let last: At = self.at(session).ok_or_else(|| refused("bad-revision"))?;
        let seen = self.log(&format!("session/{session}")).last().and_then(|update| update.new);
        if seen != Some(last) {
            return Err(refused("conflict"));
        }
        let state = with(&self.state(session), &self.plan(session, only, overwrite)?);
        let made = self.made[last].clone();
        let words = Words {
            author: author.map_or(made.author, str::to_owned),
            time: self.now.clone(),
            message: message.map_or(made.message, str::to_owned),
        };
        let time = words.time.clone();
        let amended = self.learn(self.history.commits[last].parents.clone(), state, words);
        self.row(session).orig_head = Some(last);
        self.advance(session, amended, &time, "commit (amend)");
        self.take(session, only);
        Ok(vec![self.commit_row(session, amended)].into())
    }

    pub fn import(&mut self, session: &str, of: &Rev, replace: bool, message: Option<&str>) -> Outcome {
        let state = of.resolve(self, session).ok();
        let state = state.map(|at| self.state_at(Some(at))).unwrap_or_default();
        let mut writes: Vec<Write> = state.iter().map(|(id, known)| (id.clone(), Some(known.clone()))).collect();
        if replace {
            let seen = self.seen(session);
            let ids: BTreeSet<_> = seen.into_keys().chain(self.changes(session).into_keys()).collect();
            writes.extend(ids.into_iter().filter(|id| !state.contains_key(id)).map(|id| (id, None)));
        }
        let is_told = |row: &String| !row.contains("\"change\":\"unchanged\"");
        match message {
            None => {
                let mut answer = self.put(session, &writes, &Condition::Always)?;
                answer.rows.retain(is_told);
                Ok(answer)
            }
            Some(message) => {
                self.put_and_commit(session, &writes, &Condition::Always, message, true)?;
                Ok(self.head_row(session).into())
            }
        }
    }
}
