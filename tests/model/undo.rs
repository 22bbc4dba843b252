//! Taking back what came from a source. What becomes of contents that others have changed since is no matter of maps, and is
//! held against rules of its own elsewhere; so what a commit has come to is read from the store, and all else is held here.

use crate::body::{Body, Item, Tag, Value};
use crate::command::{Held, Step, Typed, told};
use crate::history::At;
use crate::model::{Model, refused, refused_for};
use crate::naive::Known;
use crate::reports::{Wrong, compare};
use crate::shell::{Said, Shell};
use mnemosyne::model::{Content, NodeId, Provenance, Timestamp};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Reads the bodies of nodes back.
struct Reader<'t>(&'t str);

impl Reader<'_> {
    fn take(&mut self, letter: char) -> bool {
        let rest = self.0.strip_prefix(letter);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    fn string(&mut self) -> Option<String> {
        let (text, rest) = self.0.strip_prefix('"')?.split_once('"')?;
        self.0 = rest;
        Some(text.to_owned())
    }

    fn tag(&mut self) -> Option<Tag> {
        if self.0.starts_with('"') {
            return self.string()?.strip_prefix('t')?.parse().ok();
        }
        let end = self.0.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(self.0.len());
        let (digits, rest) = self.0.split_at(end);
        self.0 = rest;
        digits.parse().ok()
    }

    fn value(&mut self) -> Option<Value> {
        if self.take('[') {
            let mut items = Vec::new();
            while !self.take(']') {
                self.take(',');
                items.push(self.value()?);
            }
            return Some(Value::Array(placed(items)));
        }
        if self.take('{') {
            let mut members = Vec::new();
            while !self.take('}') {
                self.take(',');
                let key = self.string()?;
                self.take(':');
                members.push((key, self.value()?));
            }
            return Some(Value::Object(members));
        }
        self.tag().map(Value::Scalar)
    }
}

/// With keys by which they are in order.
fn placed(values: Vec<Value>) -> Vec<Item> {
    let step = u64::MAX / (values.len() as u64 + 1);
    (1..).map(|nth| step * nth).zip(values).collect()
}

fn body(content: &Content) -> Option<Body> {
    let Some(text) = content.text() else { return Reader(content.json()).value().map(Body::Value) };
    let line = |line: &str| Reader(line.strip_prefix("line ")?).tag().map(Value::Scalar);
    Some(Body::Text(placed(text.lines().map(line).collect::<Option<_>>()?)))
}

/// What is taken back.
pub struct Undoing<'u> {
    pub step: &'u Step,
    pub source: &'u str,
    pub message: Option<&'u str>,
}

impl Undoing<'_> {
    pub fn typed(source: &str, message: Option<&str>) -> Typed {
        let mut words = ["revert", "--source", source].map(str::to_owned).to_vec();
        words.extend(message.iter().flat_map(|message| ["--message".to_owned(), (*message).to_owned()]));
        Typed { words, input: String::new() }
    }

    fn run(&self, shell: &Shell, words: &[&str]) -> Said {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        shell.run(self.step.session, &told(self.step.time), &Typed { words, input: String::new() })
    }

    /// Does it, and lets the model know what it has come to. What conflicts is left at once.
    pub fn play(&self, model: &mut Model, shell: &Shell) -> Result<&'static str, Wrong> {
        let session = self.step.session;
        model.now = told(self.step.time);
        let said = shell.run(session, &model.now, &Self::typed(self.source, self.message));
        let head = model.refuse_in_progress(session).and_then(|()| model.at(session).ok_or(refused("bad-revision")));
        let head = match head {
            Ok(head) => head,
            Err(refusal) => {
                compare(&said, &[], Some(&refusal))?;
                return Ok(refusal.word);
            }
        };
        let error: serde_json::Value =
            said.err.lines().last().and_then(|line| serde_json::from_str(line).ok()).unwrap_or_default();
        match error["code"].as_str() {
            None => self.made(model, shell, head, &said).map(|()| "done"),
            Some("nothing-to-commit") => compare(&said, &[], Some(&refused("nothing-to-commit"))).map(|()| "none"),
            Some("would-overwrite") => {
                let message = error["message"].as_str().unwrap_or_default();
                let mut changes = model.changes(session);
                changes.retain(|id, _| message.contains(&format!("'{id}'")) && model.came(head, id, self.source));
                let refusal = refused_for("would-overwrite", changes.keys());
                if changes.is_empty() {
                    return Err(format!("nothing is staged of it: {message}"));
                }
                compare(&said, &[], Some(&refusal)).map(|()| "would-overwrite")
            }
            Some("conflict") => self.conflicts(model, shell, head, &said).map(|()| "conflict"),
            Some(_) => Err(format!("it is refused: {}", said.err)),
        }
    }

    fn conflicts(&self, model: &mut Model, shell: &Shell, head: At, said: &Said) -> Result<(), Wrong> {
        let session = self.step.session;
        for row in said.out.lines() {
            let row: serde_json::Value = serde_json::from_str(row).map_err(|error| error.to_string())?;
            let id = NodeId::new(row["id"].as_str().unwrap_or_default()).map_err(|error| error.to_string())?;
            if row["settled"] != serde_json::Value::Null || !model.came(head, &id, self.source) {
                return Err(format!("it conflicts, and none of it came from there: {row}"));
            }
        }
        model.row(session);
        model.session(session).staged.retain(|_, staged| staged.is_change());
        let left = self.run(shell, &["revert", "--abort"]);
        compare(&left, &model.head_row(session), None)
    }

    fn made(&self, model: &mut Model, shell: &Shell, head: At, said: &Said) -> Result<(), Wrong> {
        let session = self.step.session;
        let listed = self.run(shell, &["ls", "-r", "HEAD"]);
        let mut after = BTreeMap::new();
        for row in listed.out.lines() {
            let (id, known) = read(model, row).ok_or_else(|| format!("it is not read: {row}"))?;
            after.insert(id, known);
        }
        let before = model.state_at(Some(head));
        let changes = crate::rows::differing(&before, &after);
        let staged = model.changes(session);
        let changes: BTreeMap<NodeId, Held> = changes.into_iter().map(|(id, (_, new))| (id.clone(), new)).collect();
        if let Some(id) = changes.keys().find(|id| !model.came(head, id, self.source) || staged.contains_key(*id)) {
            return Err(format!("'{id}' is changed"));
        }
        let default = format!("revert what came from source '{}'", self.source);
        let words = model.words(self.message.unwrap_or(&default));
        let row = model.row(session);
        (row.orig_head, row.progress) = (Some(head), None);
        model.commit_on(session, &[], &changes, words, "revert");
        model.session(session).staged.retain(|_, staged| staged.is_change());
        compare(said, &model.head_row(session), None)
    }
}

impl Model {
    /// Whether a commit behind `head` wrote a version of a node that is known to come from the source.
    fn came(&self, head: At, id: &NodeId, source: &str) -> bool {
        (0..=head).any(|at| {
            let known = self.history.commits[at].state.get(id);
            let is_from =
                |known: &Rc<Known>| known.redacted.is_none() && known.node.provenance.source.as_deref() == Some(source);
            self.history.is_behind(at, head) && known.is_some_and(is_from)
        })
    }
}

/// A row of a node: what the model knows by its hash, or what it says.
fn read(model: &Model, row: &str) -> Option<(NodeId, Rc<Known>)> {
    let told: serde_json::Value = serde_json::from_str(row).ok()?;
    let id = NodeId::new(told["id"].as_str()?).ok()?;
    let hash = told["hash"].as_str()?;
    let mut versions = model.history.commits.iter().filter_map(|commit| commit.state.get(&id));
    if let Some(known) = versions.find(|known| known.object.to_string() == hash) {
        return Some((id, Rc::clone(known)));
    }
    let (_, content) = row.split_once("\"content\":")?;
    let (content, _) = content.split_once(",\"content_kind\":")?;
    let text = |field: &str| told["provenance"][field].as_str().map(str::to_owned);
    let provenance = Provenance { source: text("source"), note: text("note"), ..Provenance::default() };
    let event_time = told["event_time"].as_str().map(|time| Timestamp::parse(time).expect("a time"));
    let known = Known::new(&id, body(&Content::from_json(content).ok()?)?, provenance, event_time);
    Some((id, known))
}
