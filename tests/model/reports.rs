//! What the reports of a store say, held against what the model says.

use crate::body::{Body, Value};
use crate::command::Held;
use crate::command::Typed;
use crate::generate::SOURCES;
use crate::history::At;
use crate::model::{Head, Model, Refusal, SESSIONS, refused, short};
use crate::naive::{Known, State};
use crate::origin::{self, origins};
use crate::rows::{self, ANY, is_as_expected, list, or_null, text};
use crate::shell::{Said, Shell};
use mnemosyne::model::{NodeId, Provenance};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// What is wrong.
pub type Wrong = String;

/// Holds what a command said against its rows and what it says in the end.
pub fn compare(said: &Said, rows: &[String], refusal: Option<&Refusal>) -> Result<(), Wrong> {
    let found: Vec<_> = said.out.lines().collect();
    let exit = refusal.map_or(0, Refusal::exit);
    let error = said.err.lines().last().and_then(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let word = error.as_ref().and_then(|error| error["code"].as_str());
    let told = || {
        let expected = rows.join("\n").replace(ANY, "…");
        format!("expected {exit} {refusal:?}\n{expected}\nfound {} {}\n{}", said.status, said.err, said.out)
    };
    if word != refusal.map(|refusal| refusal.word) || said.status != exit {
        return Err(told());
    }
    let message = error.as_ref().and_then(|error| error["message"].as_str()).unwrap_or_default();
    if refusal.is_some_and(|refusal| !refusal.about.iter().all(|name| message.contains(name))) {
        return Err(told());
    }
    let alike = found.len() == rows.len() && found.iter().zip(rows).all(|(row, wanted)| is_as_expected(row, wanted));
    if alike { Ok(()) } else { Err(told()) }
}

/// A store and what it should be.
pub struct Holding<'h> {
    pub model: &'h Model,
    pub shell: &'h Shell,
}

impl Holding<'_> {
    fn ask(&self, session: &str, words: &[&str], rows: &[String], refusal: Option<&Refusal>) -> Result<(), Wrong> {
        let typed = Typed { words: words.iter().map(|word| (*word).to_owned()).collect(), input: String::new() };
        let said = self.shell.run(session, &self.model.now, &typed);
        compare(&said, rows, refusal).map_err(|wrong| format!("'{}' of '{session}': {wrong}", words.join(" ")))
    }

    fn answers(&self, session: &str, words: &[&str], rows: &[String]) -> Result<(), Wrong> {
        self.ask(session, words, rows, None)
    }

    /// The first that is looked at after every command.
    pub fn briefly(&self, session: &str) -> Result<(), Wrong> {
        self.answers(session, &["status"], &[self.model.status(session)])?;
        self.answers(session, &["ls"], &nodes(&self.model.seen(session)))?;
        self.answers(session, &["branch"], &self.model.branches(session))?;
        self.answers(session, &["reflog", "-n", "2"], &self.moved(&format!("session/{session}"), "HEAD", 2))
    }

    /// Nothing is wrong with the store.
    pub fn is_sound(&self) -> Result<(), Wrong> {
        self.answers("default", &["fsck"], &[])
    }

    /// All that commands move, the refs also that `other` has.
    pub fn all_that_moves(&self, other: &Model) -> Result<(), Wrong> {
        let model = self.model;
        self.is_sound()?;
        for session in SESSIONS {
            self.briefly(session)?;
            self.answers(session, &["reflog"], &self.moved(&format!("session/{session}"), "HEAD", usize::MAX))?;
            self.earlier(session)?;
            let search = model.search_status(session);
            let (rows, refusal) = match &search {
                Ok(answer) => (&answer.rows[..], answer.stop.as_ref()),
                Err(refusal) => (&[][..], Some(refusal)),
            };
            self.ask(session, &["bisect", "status"], rows, refusal)?;
        }
        self.answers("default", &["tag"], &model.tags())?;
        let settings: Vec<_> = model.settings.iter().map(|(key, value)| rows::setting(key, value)).collect();
        self.answers("default", &["config"], &settings)?;
        for name in other.logs.keys().filter(|name| name.starts_with("refs/")) {
            let is_known = !model.log(name).is_empty() || model.head("default") == Head::Branch(name.clone());
            let refusal = refused("bad-revision");
            let refusal = if is_known { None } else { Some(&refusal) };
            self.ask("default", &["reflog", name], &self.moved(name, name, usize::MAX), refusal)?;
        }
        Ok(())
    }

    /// Every commit, and that those are gone that are.
    pub fn commits(&self) -> Result<(), Wrong> {
        let model = self.model;
        model.there().into_iter().try_for_each(|at| self.commit(at))?;
        for at in &model.gone {
            let name = &model.made[*at].id;
            // It may have been made again.
            if !model.there().iter().any(|&other| model.made[other].id == *name) {
                self.ask("default", &["log", name], &[], Some(&refused("bad-revision")))?;
            }
        }
        Ok(())
    }

    /// All that can be asked.
    pub fn wholly(&self) -> Result<(), Wrong> {
        let model = self.model;
        self.all_that_moves(model)?;
        SESSIONS.iter().try_for_each(|session| self.session(session))?;
        self.commits()?;
        let origins = origins(&model.history);
        for at in model.refs.values().collect::<BTreeSet<_>>() {
            self.blame(*at, &origins[*at])?;
        }
        Ok(())
    }

    fn moved(&self, log: &str, name: &str, most: usize) -> Vec<String> {
        let newest = self.model.log(log).iter().rev().take(most).enumerate();
        let row = |(index, update): (usize, &crate::model::Update)| {
            format!(
                "{{\"v\":1,\"type\":\"reflog\",\"ref\":{},\"index\":{index},\"old\":{},\"new\":{},\"time\":{},\"reason\":{}}}",
                text(name),
                or_null(self.model.id_of(update.old)),
                or_null(self.model.id_of(update.new)),
                text(&update.time),
                text(&update.reason)
            )
        };
        newest.map(row).collect()
    }

    /// What a session sees of the history.
    pub fn session(&self, session: &str) -> Result<(), Wrong> {
        let model = self.model;
        let head = model.at(session);
        let log = |starts: &[At]| -> Vec<String> {
            model.walk(starts).into_iter().map(|at| model.commit_row(session, at)).collect()
        };
        self.answers(session, &["log"], &log(head.as_slice()))?;
        let all: Vec<_> = model.refs.values().copied().chain(head).collect();
        self.answers(session, &["log", "--all"], &log(&all))?;
        let staged = rows::differing(&model.state(session), &model.seen(session))
            .into_iter()
            .map(|(id, (old, new))| changed(id, rows::change(&old, &new)))
            .collect::<Vec<_>>();
        self.answers(session, &["diff", "--name-status"], &staged)?;
        let Some(head) = head else { return Ok(()) };
        for other in model.refs.values() {
            let mut bases = model.history.bases(head, *other);
            bases.reverse();
            let rows: Vec<_> = bases
                .iter()
                .map(|&at| format!("{{\"v\":1,\"type\":\"base\",\"id\":{}}}", text(&model.made[at].id)))
                .collect();
            let typed = Typed {
                words: ["merge-base", "--all", "HEAD", &model.made[*other].id].map(str::to_owned).into(),
                input: String::new(),
            };
            let said = self.shell.run(session, &model.now, &typed);
            let found: Vec<_> = said.out.lines().collect();
            if found != rows || said.status != u8::from(rows.is_empty()) {
                return Err(format!("merge bases {found:?}, not {rows:?}"));
            }
        }
        for source in SOURCES {
            let is_from = |at: &At, (id, known): (&NodeId, &Rc<Known>)| {
                let is_readable = known.redacted.is_none();
                is_readable && known.node.provenance.source.as_deref() == Some(source) && model.writes(*at, id)
            };
            let wrote = |at: &At| model.history.commits[*at].state.iter().any(|node| is_from(at, node));
            let rows: Vec<_> =
                model.walk(&[head]).into_iter().filter(wrote).map(|at| model.commit_row(session, at)).collect();
            self.answers(session, &["log", "--source", source], &rows)?;
        }
        let seen = model.seen(session);
        let exported: Vec<_> = seen.values().map(|known| rows::exported(known)).collect();
        self.answers(session, &["export"], &exported)?;
        for id in model.ids() {
            let wrote: Vec<_> =
                model.walk(&[head]).into_iter().filter(|&at| model.writes(at, &id) || model.removes(at, &id)).collect();
            let rows: Vec<_> = wrote.iter().map(|&at| model.commit_row(session, at)).collect();
            self.answers(session, &["log", "--", id.as_str()], &rows)?;
            let versions: Vec<_> = wrote.iter().map(|&at| self.version(at, &id)).collect();
            if !versions.is_empty() {
                self.answers(session, &["blame", "--history", "-r", "HEAD", id.as_str()], &versions)?;
            }
        }
        Ok(())
    }

    /// Where a session stood.
    fn earlier(&self, session: &str) -> Result<(), Wrong> {
        let model = self.model;
        let row = model.sessions[session].row.as_ref();
        if let Some(orig_head) = row.and_then(|row| row.orig_head) {
            self.answers(session, &["rev-parse", "ORIG_HEAD"], &[self.parsed("ORIG_HEAD", orig_head, None)])?;
        }
        match row.and_then(|row| row.previous.as_ref()) {
            Some(Head::Branch(name)) => {
                if let Some(&at) = model.refs.get(name) {
                    self.answers(session, &["rev-parse", "@{-1}"], &[self.parsed("@{-1}", at, Some(name))])?;
                }
            }
            Some(Head::Detached(at)) => {
                self.answers(session, &["rev-parse", "@{-1}"], &[self.parsed("@{-1}", *at, None)])?;
            }
            None => {}
        }
        Ok(())
    }

    fn parsed(&self, name: &str, at: At, reference: Option<&str>) -> String {
        format!(
            "{{\"v\":1,\"type\":\"revision\",\"revision\":{},\"id\":{},\"left_out\":false,\"ref\":{}}}",
            text(name),
            text(&self.model.made[at].id),
            or_null(reference)
        )
    }

    /// Who wrote a version: the keys and values, without braces.
    fn writer(&self, at: At, id: &NodeId) -> String {
        let (made, known) = (&self.model.made[at], &self.model.history.commits[at].state[id]);
        let is_readable = known.redacted.is_none();
        let event_time = known.node.event_time.as_ref().filter(|_| is_readable).map(|time| time.as_str());
        let unknown = Provenance::default();
        format!(
            "\"commit\":{},\"author\":{},\"time\":{},\"event_time\":{},\"effective_time\":{},\"provenance\":{}",
            text(&made.id),
            text(&made.author),
            text(&made.time),
            or_null(event_time),
            text(event_time.unwrap_or(&made.time)),
            rows::provenance(if is_readable { &known.node.provenance } else { &unknown })
        )
    }

    fn version(&self, at: At, id: &NodeId) -> String {
        let model = self.model;
        let row = |writer: &str, change: &str, of: At, last: &str| {
            let (content, redacted) = told(&model.history.commits[of].state[id]);
            format!(
                "{{\"v\":1,\"type\":\"blame\",\"id\":{},\"by\":\"node\",\"line\":null,\"path\":null,{writer},\"change\":\"{change}\",\"content\":{content},\"rewritten\":null,\"last\":{last}{redacted}}}",
                text(id.as_str())
            )
        };
        if model.history.commits[at].state.contains_key(id) {
            return row(&self.writer(at, id), "set", at, "null");
        }
        let (made, last) = (&model.made[at], model.last(at, id));
        let writer = format!(
            "\"commit\":{},\"author\":{},\"time\":{},\"event_time\":null,\"effective_time\":{},\"provenance\":{}",
            text(&made.id),
            text(&made.author),
            text(&made.time),
            text(&made.time),
            rows::provenance(&Provenance::default())
        );
        row(&writer, "removed", last, &format!("{{{}}}", self.writer(last, id)))
    }

    /// A commit, whether a ref leads to it or not.
    fn commit(&self, at: At) -> Result<(), Wrong> {
        let model = self.model;
        let (id, state) = (model.made[at].id.as_str(), &model.history.commits[at].state);
        self.answers("default", &["log", "-n", "1", id], &[model.commit_row("default", at)])?;
        let listed: Vec<_> = state
            .iter()
            .map(|(id, known)| {
                let made = &model.made[model.origin(at, id)];
                let node = rows::node(known);
                let node = node.strip_suffix('}').expect("an object");
                format!("{node},\"commit\":{},\"time\":{}}}", text(&made.id), text(&made.time))
            })
            .collect();
        self.answers("default", &["ls", "-l", "-r", id], &listed)?;
        let exported: Vec<_> = state.values().map(|known| rows::exported(known)).collect();
        self.answers("default", &["export", "-r", id], &exported)?;
        let before = model.state_at(model.history.commits[at].parents.first().copied());
        let mut rows = vec![model.commit_row("default", at)];
        let changes = rows::differing(&before, state).into_iter();
        rows.extend(changes.map(|(node, (old, new))| {
            let side = |held: Held| held.map_or("null".to_owned(), |known| rows::node(&known));
            let change = rows::change(&old, &new);
            format!(
                "{{\"v\":1,\"type\":\"change\",\"id\":{},\"change\":\"{change}\",\"old\":{},\"new\":{},\"fields\":{ANY}}}",
                text(node.as_str()),
                side(old),
                side(new)
            )
        }));
        self.answers("default", &["show", id], &rows)
    }

    /// Who wrote what a commit has, as a whole and part by part.
    fn blame(&self, at: At, origins: &BTreeMap<NodeId, origin::Held>) -> Result<(), Wrong> {
        let (model, mut rows) = (self.model, Vec::new());
        let commit = model.made[at].id.as_str();
        for (id, known) in &model.history.commits[at].state {
            let (held, (content, redacted)) = (&origins[id], told(known));
            let rewritten = if held.writer == held.content_at {
                "null".to_owned()
            } else {
                format!("{{{}}}", self.writer(held.writer, id))
            };
            let row = |by: &str, line: &str, path: &str, of: Option<At>, content: &str, rewritten: &str| {
                let writer = of.map_or(ANY.to_string(), |of| self.writer(of, id));
                format!(
                    "{{\"v\":1,\"type\":\"blame\",\"id\":{},\"by\":\"{by}\",\"line\":{line},\"path\":{path},{writer},\"change\":\"set\",\"content\":{content},\"rewritten\":{rewritten},\"last\":null{redacted}}}",
                    text(id.as_str())
                )
            };
            let whole = row("node", "null", "null", Some(held.content_at), content, &rewritten);
            let mut parts = Vec::new();
            // What is empty has no part that tells where it is from.
            let of = |leaf: &Value| match leaf {
                Value::Scalar(tag) => Some(held.tags[tag]),
                Value::Array(_) | Value::Object(_) => None,
            };
            match &known.body {
                _ if known.redacted.is_some() => parts.push(whole.clone()),
                Body::Text(lines) if lines.len() > 1 => {
                    for (nth, (_, line)) in (1..).zip(lines) {
                        let said = text(&format!("line {}", line.json()));
                        parts.push(row("line", &format!("{nth}"), "null", of(line), &said, "null"));
                    }
                }
                Body::Value(value @ (Value::Array(_) | Value::Object(_))) => {
                    value.leaves("", &mut |path, leaf| {
                        parts.push(row("path", "null", &text(&path), of(leaf), &leaf.json(), "null"));
                    });
                }
                Body::Text(_) | Body::Value(Value::Scalar(_)) => parts.push(whole.clone()),
            }
            self.answers("default", &["blame", "-r", commit, "--", id.as_str()], &parts)?;
            rows.push(whole);
        }
        self.answers("default", &["blame", "-r", commit], &rows)
    }
}

/// A content as JSON, and what stands behind all else where it is redacted.
fn told(known: &Known) -> (&str, String) {
    match &known.redacted {
        None => (known.node.content.json(), String::new()),
        Some(marker) => ("null", format!(",\"redacted\":{}", rows::redaction(marker))),
    }
}

fn changed(id: &NodeId, change: &str) -> String {
    format!(
        "{{\"v\":1,\"type\":\"changed\",\"commit\":null,\"id\":{},\"change\":\"{change}\",\"lines_added\":null,\"lines_removed\":null,\"leaves_added\":null,\"leaves_removed\":null}}",
        text(id.as_str())
    )
}

fn nodes(state: &State) -> Vec<String> {
    state.values().map(|known| rows::node(known)).collect()
}

impl Model {
    /// The ancestors of commits, the last that was learned of first.
    fn walk(&self, starts: &[At]) -> Vec<At> {
        let is_wanted = |at: &At| starts.iter().any(|&start| self.history.is_behind(*at, start));
        (0..self.made.len()).rev().filter(is_wanted).collect()
    }

    /// All ids that a commit has.
    fn ids(&self) -> BTreeSet<NodeId> {
        self.history.commits.iter().flat_map(|commit| commit.state.keys().cloned()).collect()
    }

    fn branches(&self, session: &str) -> Vec<String> {
        let refs = self.refs.iter().filter(|(name, _)| name.starts_with("refs/heads/"));
        let row = |(name, &at): (&String, &At)| {
            let (own, made) = (Head::Branch(name.clone()), &self.made[at]);
            let others = self.sessions_on(name).into_iter().filter(|other| *other != session);
            format!(
                "{{\"v\":1,\"type\":\"branch\",\"name\":{},\"commit\":{},\"time\":{},\"subject\":{},\"current\":{},\"sessions\":{}}}",
                text(short(name)),
                text(&made.id),
                text(&made.time),
                text(made.message.lines().next().unwrap_or_default()),
                self.head(session) == own,
                list(others.map(text))
            )
        };
        refs.map(row).collect()
    }

    fn tags(&self) -> Vec<String> {
        let refs = self.refs.iter().filter(|(name, _)| name.starts_with("refs/tags/"));
        let row = |(name, &at): (&String, &At)| {
            let update = self.log(name).last().expect("it was set");
            format!(
                "{{\"v\":1,\"type\":\"tag\",\"name\":{},\"commit\":{},\"time\":{},\"message\":{},\"subject\":{}}}",
                text(short(name)),
                text(&self.made[at].id),
                text(&update.time),
                or_null(update.reason.strip_prefix("tag: ")),
                text(self.made[at].message.lines().next().unwrap_or_default())
            )
        };
        refs.map(row).collect()
    }
}
