//! The rows of JSON that commands print, as `docs/json.md` describes them.

use crate::command::Held;
use crate::history::At;
use crate::model::{Head, Model, Progress, Staged, Worked, short};
use crate::naive::{Known, State, Version, version};
use mnemosyne::model::{NodeId, Provenance};
use mnemosyne::object::{Redaction, encode_redaction};
use std::collections::BTreeMap;
use std::rc::Rc;

/// In an expected row: anything, of which the model says nothing.
pub const ANY: char = '\u{1}';

/// A text as JSON.
pub fn text(text: &str) -> String {
    serde_json::to_string(text).expect("a text")
}

pub fn or_null(value: Option<&str>) -> String {
    value.map_or("null".to_owned(), text)
}

pub fn list(items: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", items.into_iter().collect::<Vec<_>>().join(","))
}

/// Whether a row is as expected.
pub fn is_as_expected(row: &str, expected: &str) -> bool {
    let mut parts = expected.split(ANY);
    let Some(mut rest) = parts.next().and_then(|first| row.strip_prefix(first)) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    false
}

pub fn init() -> String {
    format!("{{\"v\":1,\"type\":\"init\",\"path\":\"{ANY}\",\"created\":false}}")
}

pub fn provenance(provenance: &Provenance) -> String {
    let Provenance { agent_step, observation, tool_call, source, note } = provenance;
    format!(
        "{{\"agent_step\":{},\"observation\":{},\"tool_call\":{},\"source\":{},\"note\":{}}}",
        or_null(agent_step.as_deref()),
        or_null(observation.as_deref()),
        or_null(tool_call.as_deref()),
        or_null(source.as_deref()),
        or_null(note.as_deref())
    )
}

pub fn redaction(marker: &Redaction) -> String {
    format!(
        "{{\"time\":{},\"by\":{},\"reason\":{}}}",
        text(&marker.time.to_string()),
        text(marker.by.as_str()),
        or_null(marker.reason.as_deref())
    )
}

/// The keys and values of a node, or of what is left of one, without braces.
fn node_fields(known: &Known) -> String {
    let node = &known.node;
    if let Some(marker) = &known.redacted {
        return format!(
            "\"v\":1,\"type\":\"node\",\"id\":{},\"hash\":\"{}\",\"content\":null,\"content_kind\":null,\"provenance\":null,\"event_time\":null,\"redacted\":{}",
            text(node.id.as_str()),
            known.object,
            redaction(marker)
        );
    }
    format!(
        "\"v\":1,\"type\":\"node\",\"id\":{},\"hash\":\"{}\",\"content\":{},\"content_kind\":\"note\",\"provenance\":{},\"event_time\":{}",
        text(node.id.as_str()),
        known.object,
        node.content.json(),
        provenance(&node.provenance),
        or_null(node.event_time.as_ref().map(|time| time.as_str()))
    )
}

/// The row that `put --jsonl` reads and `export` writes, of a content that is one line of JSON.
pub fn exported(known: &Known) -> String {
    let node = &known.node;
    if let Some(marker) = &known.redacted {
        return String::from_utf8(encode_redaction(marker)).expect("UTF-8");
    }
    let fields = node.provenance.fields().into_iter().filter_map(|(name, value)| Some((name, value?)));
    let fields: Vec<_> = fields.map(|(name, value)| format!("\"{name}\":{}", text(value))).collect();
    let time = node.event_time.as_ref().map(|time| format!(",\"event_time\":{}", text(time.as_str())));
    format!(
        "{{\"id\":{},\"content\":{},\"content_kind\":\"note\",\"provenance\":{{{}}}{}}}",
        text(node.id.as_str()),
        node.content.json(),
        fields.join(","),
        time.unwrap_or_default()
    )
}

pub fn node(known: &Known) -> String {
    format!("{{{}}}", node_fields(known))
}

/// How what is to be compares with what is.
pub fn change(old: &Held, new: &Held) -> &'static str {
    match (old, new) {
        (None, Some(_)) => "added",
        (Some(_), None) => "removed",
        (Some(old), Some(new)) if old != new => "modified",
        (None, None) | (Some(_), Some(_)) => "unchanged",
    }
}

fn staged_fields(id: &NodeId, old: &Held, new: &Held, session: &str) -> String {
    let hash = new.as_ref().map(|known| known.object.to_string());
    format!(
        "\"v\":1,\"type\":\"staged\",\"id\":{},\"hash\":{},\"change\":\"{}\",\"session\":{}",
        text(id.as_str()),
        or_null(hash.as_deref()),
        change(old, new),
        text(session)
    )
}

pub fn staged(id: &NodeId, old: &Held, new: &Held, session: &str) -> String {
    format!("{{{}}}", staged_fields(id, old, new, session))
}

pub fn committed(id: &NodeId, old: &Held, new: &Held, session: &str, commit: Option<&str>) -> String {
    format!("{{{},\"commit\":{}}}", staged_fields(id, old, new, session), or_null(commit))
}

pub fn setting(key: &str, value: &str) -> String {
    format!("{{\"v\":1,\"type\":\"setting\",\"key\":{},\"value\":{}}}", text(key), text(value))
}

/// Which ids two memories have differently.
pub fn differing<'s>(old: &'s State, new: &'s State) -> BTreeMap<&'s NodeId, (Held, Held)> {
    let mut found = BTreeMap::new();
    for id in old.keys().chain(new.keys()) {
        let (old, new) = (old.get(id).cloned(), new.get(id).cloned());
        if old != new {
            found.insert(id, (old, new));
        }
    }
    found
}

impl Model {
    pub fn id_of(&self, at: Option<At>) -> Option<&str> {
        at.map(|at| self.made[at].id.as_str())
    }

    pub fn ref_row(&self, name: &str, old: Option<At>, new: Option<At>) -> String {
        format!(
            "{{\"v\":1,\"type\":\"ref\",\"ref\":{},\"old\":{},\"new\":{}}}",
            text(name),
            or_null(self.id_of(old)),
            or_null(self.id_of(new))
        )
    }

    /// The refs that name a commit, the session's own branch first.
    fn refs_of(&self, session: &str, at: At) -> Vec<String> {
        let own = self.head(session);
        let mut names: Vec<_> =
            self.refs.iter().filter(|(_, found)| **found == at).map(|(name, _)| name.clone()).collect();
        names.sort_by_key(|name| Head::Branch(name.clone()) != own);
        names
    }

    pub fn commit_row(&self, session: &str, at: At) -> String {
        self.commit_row_with(at, &self.refs_of(session, at))
    }

    /// The same with other refs.
    pub fn commit_row_with(&self, at: At, refs: &[String]) -> String {
        let (made, commit) = (&self.made[at], &self.history.commits[at]);
        let before = self.state_at(commit.parents.first().copied());
        let changes = differing(&before, &commit.state);
        let count = |kind: &str| changes.values().filter(|(old, new)| change(old, new) == kind).count();
        format!(
            "{{\"v\":1,\"type\":\"commit\",\"id\":{},\"parents\":{},\"state\":{},\"author\":{},\"time\":{},\"message\":{},\"refs\":{},\"changes\":{{\"added\":{},\"modified\":{},\"removed\":{}}}}}",
            text(&made.id),
            list(commit.parents.iter().map(|&parent| text(&self.made[parent].id))),
            text(&made.state),
            text(&made.author),
            text(&made.time),
            text(&made.message),
            list(refs.iter().map(|name| text(name))),
            count("added"),
            count("modified"),
            count("removed")
        )
    }

    /// The commit on which a session stands.
    pub fn head_row(&self, session: &str) -> Vec<String> {
        self.at(session).map(|at| self.commit_row(session, at)).into_iter().collect()
    }

    /// Who wrote the node that a commit has under an id: the first parent that has the same has it from there.
    pub fn origin(&self, mut at: At, id: &NodeId) -> At {
        let known = Rc::clone(&self.history.commits[at].state[id]);
        while let Some(&parent) = self.history.commits[at]
            .parents
            .iter()
            .find(|&&parent| self.history.commits[parent].state.get(id) == Some(&known))
        {
            at = parent;
        }
        at
    }

    /// Whether a commit wrote the node that it has under an id.
    pub fn writes(&self, at: At, id: &NodeId) -> bool {
        self.history.commits[at].state.contains_key(id) && self.origin(at, id) == at
    }

    /// Whether a commit lacks an id that every parent of it has.
    pub fn removes(&self, at: At, id: &NodeId) -> bool {
        let commit = &self.history.commits[at];
        let all_have = commit.parents.iter().all(|&parent| self.history.commits[parent].state.contains_key(id));
        !commit.state.contains_key(id) && !commit.parents.is_empty() && all_have
    }

    /// Who took an id away that a commit lacks: the last who did so and on whose removal nobody has written it again; else
    /// the last.
    pub fn removal(&self, at: At, id: &NodeId) -> Option<At> {
        let behind = |one: &At| self.history.is_behind(*one, at);
        let removals: Vec<_> = (0..=at).rev().filter(behind).filter(|&one| self.removes(one, id)).collect();
        let writers: Vec<_> = (0..=at).filter(behind).filter(|&one| self.writes(one, id)).collect();
        let stands = |one: &&At| !writers.iter().any(|&writer| writer > **one && self.history.is_behind(**one, writer));
        removals.iter().find(stands).or(removals.first()).copied()
    }

    /// What an id was before a commit took it away.
    pub fn last(&self, removal: At, id: &NodeId) -> At {
        let mut parents = self.history.commits[removal].parents.iter();
        let parent =
            *parents.find(|&&parent| self.history.commits[parent].state.contains_key(id)).expect("it was there");
        self.origin(parent, id)
    }

    fn side(&self, state: &str, known: Option<&Known>, commit: Option<At>, last: Option<&str>) -> String {
        let made = commit.map(|at| &self.made[at]);
        format!(
            "{{\"state\":\"{state}\",\"node\":{},\"commit\":{},\"author\":{},\"time\":{},\"last\":{}}}",
            known.map_or("null".to_owned(), node),
            or_null(made.map(|made| made.id.as_str())),
            or_null(made.map(|made| made.author.as_str())),
            or_null(made.map(|made| made.time.as_str())),
            last.unwrap_or("null")
        )
    }

    /// A side of a conflict, of which a commit has what there is.
    fn side_at(&self, version: &Version, id: &NodeId, at: Option<At>) -> String {
        match (version, at) {
            (Version::Undecided, _) => self.side("undecided", None, None, None),
            (Version::Is(Some(known)), Some(at)) => self.side("node", Some(known), Some(self.origin(at, id)), None),
            (Version::Is(None), Some(at)) if self.removal(at, id).is_some() => {
                let removal = self.removal(at, id).expect("it was looked for");
                let last = self.last(removal, id);
                let last = &self.history.commits[last].state[id];
                let content = last.redacted.is_none().then(|| last.node.content.json());
                self.side("removed", None, Some(removal), content)
            }
            (Version::Is(None), _) => self.side("absent", None, None, None),
            (Version::Is(Some(_)), None) => panic!("no commit has '{id}'"),
        }
    }

    pub fn conflict(&self, session: &str, worked: &Worked, id: &NodeId) -> String {
        let base = version(&worked.base, id);
        let base = match (&base, &worked.bases[..]) {
            // Of what was merged for a base, who wrote it may be told of any of these.
            (Version::Is(Some(_)), [_, _, ..]) => ANY.to_string(),
            (Version::Is(None), _) => self.side("absent", None, None, None),
            (base, bases) => self.side_at(base, id, bases.first().copied()),
        };
        let ours = Version::Is(self.held(session, id));
        format!(
            "{{\"v\":1,\"type\":\"conflict\",\"id\":{},\"base\":{base},\"ours\":{},\"theirs\":{},\"settled\":{}}}",
            text(id.as_str()),
            self.side_at(&ours, id, self.at(session)),
            self.side_at(&version(&worked.theirs, id), id, worked.their_commit),
            or_null(self.settled(session, worked, id))
        )
    }

    pub fn conflicts(&self, session: &str, worked: &Worked) -> Vec<String> {
        worked.conflicts.iter().map(|id| self.conflict(session, worked, id)).collect()
    }

    pub fn switched(&self, session: &str, carried: usize, settled: usize) -> String {
        let branch = self.branch_of(session);
        format!(
            "{{\"v\":1,\"type\":\"switched\",\"session\":{},\"branch\":{},\"head\":{},\"carried\":{carried},\"settled\":{settled}}}",
            text(session),
            or_null(branch.as_deref()),
            or_null(self.id_of(self.at(session)))
        )
    }

    /// The branch on which a session stands, in short.
    pub fn branch_of(&self, session: &str) -> Option<String> {
        match self.head(session) {
            Head::Branch(name) => Some(short(&name).to_owned()),
            Head::Detached(_) => None,
        }
    }

    pub fn status(&self, session: &str) -> String {
        let changes = self.changes(session);
        let told = changes.iter().filter(|(id, staged)| staged.new != self.held(session, id));
        let told = told.map(|(id, change)| staged(id, &self.held(session, id), &change.new, session));
        let collides = |(id, staged): &(&NodeId, &Staged)| staged.collides_with(&self.held(session, id));
        let progress = self.progress(session).map(|progress| self.progress_json(session, progress));
        let others =
            self.sessions.iter().filter(|(name, other)| **name != session && (other.head().is_some() || other.has_log));
        let others = others.map(|(name, _)| {
            let staged = self.changes(name).iter().filter(|(id, staged)| staged.new != self.held(name, id)).count();
            format!(
                "{{\"session\":{},\"branch\":{},\"head\":{},\"staged\":{staged},\"in_progress\":{}}}",
                text(name),
                or_null(self.branch_of(name).as_deref()),
                or_null(self.id_of(self.at(name))),
                or_null(self.progress(name).map(|progress| progress.underway().name()))
            )
        });
        format!(
            "{{\"v\":1,\"type\":\"status\",\"session\":{},\"branch\":{},\"head\":{},\"staged\":{},\"conflicts\":{},\"in_progress\":{},\"sessions\":{},\"damaged\":[]}}",
            text(session),
            or_null(self.branch_of(session).as_deref()),
            or_null(self.id_of(self.at(session))),
            list(told),
            list(changes.iter().filter(collides).map(|(id, _)| text(id.as_str()))),
            progress.unwrap_or("null".to_owned()),
            list(others)
        )
    }

    fn progress_json(&self, session: &str, progress: &Progress) -> String {
        let (name, commit, to_come) = match progress {
            Progress::Merge { theirs, name, .. } => (Some(name.as_str()), *theirs, 0),
            Progress::Revert { commits, .. } => (None, commits[0], commits.len() - 1),
        };
        let worked = self.work_out(session, progress);
        format!(
            "{{\"kind\":\"{}\",\"name\":{},\"commit\":{},\"to_come\":{to_come},\"conflicts\":{}}}",
            progress.underway().name(),
            or_null(name),
            text(&self.made[commit].id),
            list(self.conflicts(session, &worked))
        )
    }
}
