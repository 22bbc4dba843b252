//! Merges and reverts.

use crate::command::Held;
use crate::history::At;
use crate::model::{Answer, Head, Model, Outcome, Progress, Refusal, Staged, Worked, refused, refused_for, short};
use crate::naive::{Version, Versions, merged, version, versions};
use crate::revision::Rev;
use crate::rows;
use mnemosyne::model::NodeId;
use mnemosyne::ops::{Choice, FastForward, Underway};
use std::collections::{BTreeMap, BTreeSet};

/// Digits of a short id.
const SHORT: usize = 10;

fn conflict() -> Option<Refusal> {
    Some(refused("conflict"))
}

impl Model {
    /// How the place of a session is called in what merges say.
    fn here(&self, session: &str) -> String {
        match self.head(session) {
            Head::Branch(name) => short(&name).to_owned(),
            Head::Detached(at) => self.made[at].id[..SHORT].to_owned(),
        }
    }

    fn join(&self, session: &str, base: (Versions, Vec<At>), theirs: Option<At>, note: &str) -> Worked {
        let (ours, their_versions) = (versions(&self.state(session)), versions(&self.state_at(theirs)));
        let (mut made, mut conflicts) = (BTreeMap::new(), BTreeSet::new());
        for (id, found) in merged(&base.0, &ours, &their_versions, note) {
            match found {
                Version::Undecided => drop(conflicts.insert(id)),
                Version::Is(known) if Version::Is(known.clone()) == version(&ours, &id) => {}
                Version::Is(known) => drop(made.insert(id, known)),
            }
        }
        Worked { base: base.0, bases: base.1, theirs: their_versions, their_commit: theirs, made, conflicts }
    }

    pub fn work_out(&self, session: &str, progress: &Progress) -> Worked {
        let here = self.here(session);
        match progress {
            Progress::Merge { theirs, name, .. } => {
                let bases = self.at(session).map_or(Vec::new(), |head| self.history.bases(head, *theirs));
                let mut names = [here.as_str(), name.as_str()];
                names.sort_unstable();
                let note = format!("merge of {} and {}", names[0], names[1]);
                self.join(session, (self.history.base(&bases), bases), Some(*theirs), &note)
            }
            Progress::Revert { commits, mainline, .. } => {
                let (at, back) = (commits[0], self.parent_of(commits[0], *mainline).expect("it was asked for"));
                let note = format!("revert of {} in {here}", &self.made[at].id[..SHORT]);
                self.join(session, (versions(&self.history.commits[at].state), vec![at]), back, &note)
            }
        }
    }

    /// To which parent a revert goes back.
    fn parent_of(&self, at: At, mainline: u64) -> Result<Option<At>, Refusal> {
        let parents = &self.history.commits[at].parents;
        let nth = usize::try_from(mainline).expect("small");
        match (parents.len(), nth) {
            (0 | 1, 0) => Ok(parents.first().copied()),
            (2.., 1..) if nth <= parents.len() => Ok(Some(parents[nth - 1])),
            _ => Err(refused("usage")),
        }
    }

    /// What the commit of a step says where nothing else is said.
    fn default_message(&self, session: &str, progress: &Progress) -> String {
        match progress {
            Progress::Merge { name, message, .. } => {
                message.clone().unwrap_or(format!("merge {name} into {}", self.here(session)))
            }
            Progress::Revert { commits, message, .. } => message.clone().unwrap_or_else(|| {
                let made = &self.made[commits[0]];
                let subject = made.message.lines().next().unwrap_or_default();
                format!("revert \"{subject}\"\n\nThis reverts commit {}.", made.id)
            }),
        }
    }

    /// On what a conflict is settled.
    pub fn settled(&self, session: &str, worked: &Worked, id: &NodeId) -> Option<&'static str> {
        let ours = self.held(session, id);
        let staged = self.sessions[session].staged.get(id).filter(|_| self.progress(session).is_some());
        let staged = staged.filter(|staged| !staged.collides_with(&ours))?;
        let is = |version: Version| Version::Is(staged.new.clone()) == version;
        Some(match &staged.new {
            new if *new == ours => "ours",
            _ if is(version(&worked.theirs, id)) => "theirs",
            _ if is(version(&worked.base, id)) => "base",
            None => "delete",
            Some(_) => "other",
        })
    }

    /// Refuses where a staged change would hide what is to come.
    fn refuse_hidden(&self, session: &str, hides: impl Fn(&NodeId, &Staged) -> bool) -> Result<(), Refusal> {
        let hidden: Vec<_> =
            self.changes(session).into_iter().filter(|(id, staged)| hides(id, staged)).map(|(id, _)| id).collect();
        if hidden.is_empty() { Ok(()) } else { Err(refused_for("would-overwrite", &hidden)) }
    }

    fn underway(&self, session: &str, wanted: Underway) -> Result<Progress, Refusal> {
        match self.progress(session) {
            None => Err(refused("usage")),
            Some(progress) if progress.underway() == wanted => Ok(progress.clone()),
            Some(_) => Err(refused("in-progress")),
        }
    }

    pub fn merge(
        &mut self,
        session: &str,
        other: &Rev,
        forward: FastForward,
        unrelated: bool,
        message: Option<&str>,
        dry_run: bool,
    ) -> Outcome {
        self.refuse_in_progress(session)?;
        let theirs = other.resolve(self, session)?;
        let head = self.at(session);
        let named = other.reference(self, session).filter(|name| name != "HEAD");
        let name = named.map_or_else(|| self.made[theirs].id[..SHORT].to_owned(), |name| short(&name).to_owned());
        if head.is_some_and(|head| self.history.is_behind(theirs, head)) {
            return Ok(if dry_run { Answer::default() } else { self.head_row(session).into() });
        }
        let moves = head.is_none_or(|head| self.history.is_behind(head, theirs));
        if moves && (forward != FastForward::Never || head.is_none()) {
            let there = self.state_at(Some(theirs));
            self.refuse_hidden(session, |id, staged| staged.collides_with(&there.get(id).cloned()))?;
            if dry_run {
                let state = self.state(session);
                let changes = rows::differing(&state, &there);
                let row = |(id, (old, new)): (&&NodeId, &(Held, Held))| rows::staged(id, old, new, session);
                return Ok(changes.iter().map(row).collect::<Vec<_>>().into());
            }
            self.row(session).orig_head = head.or(self.row(session).orig_head);
            let now = self.now.clone();
            self.advance(session, theirs, &now, &format!("merge {name}: fast-forward"));
            return Ok(self.head_row(session).into());
        }
        let head = head.expect("only a commit can be no ancestor");
        if forward == FastForward::Only {
            return Err(refused("not-fast-forward"));
        }
        if !unrelated && self.history.bases(head, theirs).is_empty() {
            return Err(refused("bad-revision"));
        }
        let progress = Progress::Merge { theirs, name: name.clone(), message: message.map(str::to_owned) };
        let worked = self.work_out(session, &progress);
        self.refuse_hidden(session, |id, _| worked.concerns(id))?;
        if dry_run {
            let row = |(id, new): (&NodeId, &Held)| rows::staged(id, &self.held(session, id), new, session);
            let made = worked.made.iter().map(row);
            let stop = if worked.conflicts.is_empty() { None } else { conflict() };
            let rows = made.chain(self.conflicts(session, &worked)).collect();
            return Ok(Answer { rows, stop, between: Vec::new() });
        }
        if !worked.conflicts.is_empty() {
            let rows = self.conflicts(session, &worked);
            self.stop(session, progress);
            return Ok(Answer { rows, stop: conflict(), between: Vec::new() });
        }
        let words = self.words(&self.default_message(session, &progress));
        self.row(session).orig_head = Some(head);
        self.commit_on(session, &[theirs], &worked.made, words, &format!("merge {name}"));
        Ok(self.head_row(session).into())
    }

    /// Something stops at conflicts. What was staged before settles none of them.
    fn stop(&mut self, session: &str, progress: Progress) {
        self.row(session).progress = Some(progress);
        self.session(session).staged.retain(|_, staged| staged.is_change());
    }

    pub fn revert(&mut self, session: &str, revs: &[Rev], mainline: u64, message: Option<&str>) -> Outcome {
        if message.is_some() && revs.len() > 1 {
            return Err(refused("usage"));
        }
        self.refuse_in_progress(session)?;
        let commits = revs.iter().map(|rev| rev.resolve(self, session)).collect::<Result<Vec<_>, _>>()?;
        let start = self.at(session).ok_or_else(|| refused("bad-revision"))?;
        for &at in &commits {
            self.parent_of(at, mainline)?;
        }
        let message = message.map(str::to_owned);
        let step = |at: At| {
            let commits = vec![at];
            let progress = Progress::Revert { start, reached: start, commits, mainline, message: message.clone() };
            self.work_out(session, &progress)
        };
        let is_empty = |worked: &Worked| worked.made.is_empty() && worked.conflicts.is_empty();
        let Some(first) = commits.iter().map(|&at| step(at)).find(|worked| !is_empty(worked)) else {
            return Err(refused("nothing-to-commit"));
        };
        self.refuse_hidden(session, |id, _| first.concerns(id))?;
        let mut made = Vec::new();
        let stopped = self.reverts(session, start, &commits, mainline, message.as_deref(), &mut made)?;
        if made.is_empty() && stopped.is_none() {
            return Err(refused("nothing-to-commit"));
        }
        if !made.is_empty() {
            self.row(session).orig_head = Some(start);
        }
        Ok(self.reverted(session, &made, stopped.as_ref()))
    }

    /// The commits that were made, of which only the last has refs, and what conflicts.
    fn reverted(&self, session: &str, made: &[At], stopped: Option<&Worked>) -> Answer {
        let mut rows: Vec<_> = made.iter().map(|&at| self.commit_row_with(at, &[])).collect();
        if let (Some(last), Some(&at)) = (rows.last_mut(), made.last()) {
            *last = self.commit_row(session, at);
        }
        let stop = stopped.and_then(|_| conflict());
        rows.extend(stopped.iter().flat_map(|worked| self.conflicts(session, worked)));
        Answer { rows, stop, between: Vec::new() }
    }

    /// Undoes commits up to the first that conflicts.
    fn reverts(
        &mut self,
        session: &str,
        start: At,
        commits: &[At],
        mainline: u64,
        message: Option<&str>,
        made: &mut Vec<At>,
    ) -> Result<Option<Worked>, Refusal> {
        for nth in 0..commits.len() {
            let reached = self.at(session).unwrap_or(start);
            let left = commits[nth..].to_vec();
            let progress =
                Progress::Revert { start, reached, commits: left, mainline, message: message.map(str::to_owned) };
            let worked = self.work_out(session, &progress);
            self.refuse_hidden(session, |id, _| worked.concerns(id))?;
            if !worked.conflicts.is_empty() {
                self.stop(session, progress);
                return Ok(Some(worked));
            }
            if !worked.made.is_empty() {
                let words = self.words(&self.default_message(session, &progress));
                self.row(session).progress = None;
                made.push(self.commit_on(session, &[], &worked.made, words, "revert"));
            }
        }
        Ok(None)
    }

    pub fn settle(&mut self, session: &str, wanted: Underway, choices: &[(NodeId, Choice)]) -> Outcome {
        let progress = self.underway(session, wanted)?;
        let worked = self.work_out(session, &progress);
        let mut settled = Vec::new();
        for (id, choice) in choices {
            if !worked.conflicts.contains(id) {
                return Err(refused_for("no-node", [id]));
            }
            let ours = self.held(session, id);
            let new = match choice {
                Choice::Ours => Version::Is(ours.clone()),
                Choice::Theirs => version(&worked.theirs, id),
                Choice::Base => version(&worked.base, id),
                Choice::Delete => Version::Is(None),
            };
            let Version::Is(new) = new else { return Err(refused("usage")) };
            settled.push((id.clone(), Staged { base: ours, new }));
        }
        self.session(session).staged.extend(settled);
        Ok(self.conflicts(session, &worked).into())
    }

    fn leave(&mut self, session: &str, worked: &Worked) {
        self.session(session).staged.retain(|id, staged| staged.is_change() && !worked.concerns(id));
        self.row(session).progress = None;
    }

    pub fn conclude(&mut self, session: &str, wanted: Underway, message: Option<&str>) -> Outcome {
        let progress = self.underway(session, wanted)?;
        let worked = self.work_out(session, &progress);
        let (mut open, mut changes) = (worked.conflicts.clone(), worked.made.clone());
        for (id, staged) in self.sessions[session].staged.iter().filter(|(id, _)| worked.concerns(id)) {
            let head = self.held(session, id);
            if staged.collides_with(&head) {
                open.insert(id.clone());
                continue;
            }
            open.remove(id);
            changes.remove(id);
            if staged.new != head {
                changes.insert(id.clone(), staged.new.clone());
            }
        }
        if !open.is_empty() {
            return Err(refused_for("conflict", &open));
        }
        let default = self.default_message(session, &progress);
        let words = self.words(message.unwrap_or(&default));
        let head = self.at(session);
        self.leave(session, &worked);
        let mut made = Vec::new();
        match progress {
            Progress::Merge { theirs, name, .. } => {
                if !worked.bases.contains(&theirs) {
                    self.row(session).orig_head = head.or(self.row(session).orig_head);
                    self.commit_on(session, &[theirs], &changes, words, &format!("merge {name}"));
                }
                Ok(self.head_row(session).into())
            }
            Progress::Revert { start, commits, mainline, .. } => {
                if !changes.is_empty() {
                    self.row(session).orig_head = head.or(self.row(session).orig_head);
                    made.push(self.commit_on(session, &[], &changes, words, "revert"));
                }
                let stopped = self.reverts(session, start, &commits[1..], mainline, None, &mut made)?;
                Ok(self.reverted(session, &made, stopped.as_ref()))
            }
        }
    }

    pub fn abort(&mut self, session: &str, wanted: Underway) -> Outcome {
        let progress = self.underway(session, wanted)?;
        let worked = self.work_out(session, &progress);
        self.leave(session, &worked);
        if let Progress::Revert { start, reached, .. } = progress
            && self.at(session) == Some(reached)
            && start != reached
        {
            let now = self.now.clone();
            self.advance(session, start, &now, "revert: aborted");
        }
        Ok(self.head_row(session).into())
    }
}
