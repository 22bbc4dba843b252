//! Random commands, of which most can be done where the store stands as the model says.

use crate::body::{Edit, Fresh};
use crate::command::{Command, Empty, Form, Group, Held, Pattern, Step, Time, When, Write};
use crate::dice::Dice;
use crate::model::{Model, Progress, SESSIONS};
use crate::naive::Known;
use crate::revision::{Back, Base, Rev};
use mnemosyne::model::{NodeId, Provenance, Timestamp};
use mnemosyne::ops::{Choice, FastForward, Underway};
use mnemosyne::store::Marked;

const IDS: [&str; 8] = ["n/0", "n/1", "n/2", "m/a", "m/a/b", "m/z", "top", "é \"q\" \\"];
const BRANCHES: [&str; 5] = ["main", "dev", "try", "x/y", "side"];
/// One is called as a branch is.
const TAGS: [&str; 3] = ["v1", "v/2", "dev"];
/// Where nodes come from.
pub const SOURCES: [&str; 3] = ["web", "chat", "own"];
const AUTHORS: [&str; 2] = ["Bob <bob@example.org>", "Cy \"c\""];

/// Once in so many commands there is a crash.
const CRASHES: usize = 6;

pub struct Maker {
    dice: Dice,
    fresh: Fresh,
    time: Time,
    /// How many messages were made.
    messages: usize,
}

pub fn id(name: &str) -> NodeId {
    NodeId::new(name).expect("an id")
}

impl Maker {
    pub fn new(seed: u64) -> Self {
        Self { dice: Dice::of(seed), fresh: Fresh { tag: 0, records: false }, time: 1000, messages: 0 }
    }

    pub fn step(&mut self, model: &Model) -> Step {
        // Clocks stand still, and run backward.
        match self.dice.roll(12) {
            0..=2 => {}
            3 => self.time = self.time.saturating_sub(100),
            _ => self.time += 1,
        }
        let session = SESSIONS[[0, 0, 0, 1, 1, 2][self.dice.roll(6)]];
        let command = match model.progress(session) {
            Some(progress) if !self.dice.once_in(4) => self.going_on(model, session, progress),
            Some(_) | None => self.command(model, session),
        };
        let crash = self.maybe(CRASHES, |maker| maker.dice.next()).filter(|_| command.may_crash());
        let step = Step { session, time: self.time, command, crash: None };
        // Nothing is on its way where nothing is done.
        let crash = crash.filter(|_| model.clone().run(&step).is_ok());
        Step { crash, ..step }
    }

    fn maybe<T>(&mut self, once_in: usize, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.dice.once_in(once_in).then(|| make(self))
    }

    fn id(&mut self) -> NodeId {
        // Some are written often, so that sides meet.
        let most = if self.dice.once_in(2) { IDS.len() } else { 3 };
        id(IDS[self.dice.roll(most)])
    }

    fn ids(&mut self) -> Vec<NodeId> {
        (0..1 + self.dice.roll(3)).map(|_| self.id()).collect()
    }

    fn branch(&mut self) -> String {
        (*self.dice.pick(&BRANCHES)).to_owned()
    }

    fn tag(&mut self) -> String {
        (*self.dice.pick(&TAGS)).to_owned()
    }

    fn author(&mut self) -> String {
        (*self.dice.pick(&AUTHORS)).to_owned()
    }

    fn message(&mut self) -> String {
        self.messages += 1;
        match self.dice.roll(8) {
            0 => "again".to_owned(),
            1 => format!("{}: \"so\"\n\nand more", self.messages),
            _ => format!("message {}", self.messages),
        }
    }

    fn pattern(&mut self) -> Pattern {
        match self.dice.roll(6) {
            0 => Pattern::Below(["n/", "m/", "m/a/"][self.dice.roll(3)]),
            1 => Pattern::Glob(["n/", "m/", ""][self.dice.roll(3)]),
            _ => Pattern::Id(self.id()),
        }
    }

    fn patterns(&mut self) -> Vec<Pattern> {
        (0..1 + self.dice.roll(2)).map(|_| self.pattern()).collect()
    }

    fn rev(&mut self, model: &Model) -> Rev {
        let some = self.dice.roll(1000);
        let base = match self.dice.roll(16) {
            0..=2 => Base::Head,
            3..=7 => Base::Name(self.there(model)),
            8 => Base::Name(self.tag()),
            9 => Base::Full(self.branch()),
            10 => Base::Digits(some),
            11 => Base::OrigHead,
            12 => Base::Previous,
            // One of the last.
            13 => Base::Made(model.made.len().saturating_sub(1 + some % 4)),
            _ => Base::Made(some),
        };
        let mut rev = Rev::of(base);
        let has_log = matches!(rev.base, Base::Head | Base::Name(_) | Base::Full(_));
        rev.nth = self.maybe(8, |maker| maker.dice.roll(4)).filter(|_| has_log);
        while self.dice.once_in(5) {
            rev.back.push(if self.dice.once_in(4) {
                Back::Parent(1 + self.dice.roll(2))
            } else {
                Back::By(self.dice.roll(3))
            });
        }
        rev
    }

    fn provenance(&mut self) -> Provenance {
        let source = self.maybe(2, |maker| (*maker.dice.pick(&SOURCES)).to_owned());
        let note = self.maybe(6, |maker| format!("note {}", maker.dice.roll(5)));
        Provenance { source, note, ..Provenance::default() }
    }

    /// Something for a node to be: made of what it is, of what it was somewhere, or nothing.
    fn version(&mut self, model: &Model, session: &str, id: &NodeId) -> Held {
        let somewhere = self.dice.roll(model.made.len().max(1));
        let older = model.history.commits.get(somewhere).and_then(|commit| commit.state.get(id));
        // Who puts it again knows what it said.
        let older = older.map(|known| {
            Known::new(id, known.body.clone(), known.node.provenance.clone(), known.node.event_time.clone())
        });
        let event = |day: usize| Timestamp::parse(&format!("2025-01-0{day}T00:00:00Z")).expect("a time");
        match (self.dice.roll(9), model.seen(session).get(id)) {
            (0, _) => None,
            (1, _) => older,
            (2, _) | (_, None) => {
                let (body, provenance) = (self.fresh.body(&mut self.dice), self.provenance());
                let event_time = self.maybe(4, |maker| event(1 + maker.dice.roll(3)));
                Some(Known::new(id, body, provenance, event_time))
            }
            (3, Some(old)) => {
                let provenance = self.provenance();
                Some(Known::new(id, old.body.clone(), provenance, old.node.event_time.clone()))
            }
            (_, Some(old)) => {
                let (mut body, mut provenance) = (old.body.clone(), old.node.provenance.clone());
                Edit::of(&body, &mut self.dice, &mut self.fresh).apply(&mut body);
                if self.dice.once_in(3) {
                    provenance = self.provenance();
                }
                Some(Known::new(id, body, provenance, old.node.event_time.clone()))
            }
        }
    }

    fn writes(&mut self, model: &Model, session: &str, most: usize) -> Vec<Write> {
        let count = 1 + self.dice.roll(most);
        let write = |maker: &mut Self| {
            let id = maker.id();
            (id.clone(), maker.version(model, session, &id))
        };
        (0..count).map(|_| write(self)).collect()
    }

    fn put(&mut self, model: &Model, session: &str) -> Command {
        let message = self.maybe(4, Self::message);
        let dry_run = self.dice.once_in(12);
        if self.dice.once_in(3) {
            let writes = self.writes(model, session, 6);
            return Command::Put { writes, form: Form::Rows, when: When::Always, message, dry_run };
        }
        let id = self.id();
        let new = self.version(model, session, &id);
        let Some(known) = new else {
            return Command::Rm { ids: vec![id], if_exists: self.dice.once_in(2), message };
        };
        let when = match self.dice.roll(10) {
            0 => When::Absent,
            1 => When::AsSeen,
            2 => When::AsInHead,
            _ => When::Always,
        };
        let form = if self.dice.once_in(3) { Form::Input } else { Form::Argument };
        Command::Put { writes: vec![(id, Some(known))], form, when, message, dry_run }
    }

    fn history(&mut self, model: &Model, session: &str) -> Command {
        if self.dice.once_in(3) {
            let writes = self.writes(model, session, 7);
            return Command::Every { writes, count: 1 + self.dice.roll(3), message: self.message() };
        }
        let groups = (0..1 + self.dice.roll(3)).map(|_| Group {
            writes: self.writes(model, session, 3),
            message: self.message(),
            author: self.maybe(3, Self::author),
            time: self.maybe(3, |maker| u32::try_from(maker.dice.roll(5000)).expect("small")),
        });
        let groups = groups.collect();
        let rest = if self.dice.once_in(2) { self.writes(model, session, 2) } else { Vec::new() };
        Command::History { groups, rest }
    }

    fn commit(&mut self) -> Command {
        let only = if self.dice.once_in(3) { self.patterns() } else { Vec::new() };
        let (overwrite, author) = (self.dice.once_in(4), self.maybe(5, Self::author));
        if self.dice.once_in(6) {
            return Command::Amend { message: self.maybe(2, Self::message), only, overwrite, author };
        }
        let empty = [Empty::Refused, Empty::Refused, Empty::Refused, Empty::Allowed, Empty::Skipped][self.dice.roll(5)];
        let dry_run = self.dice.once_in(10);
        Command::Commit { message: self.message(), only, empty, overwrite, author, dry_run }
    }

    fn underway(&mut self) -> Underway {
        if self.dice.once_in(2) { Underway::Merge } else { Underway::Revert }
    }

    fn choice(&mut self) -> Choice {
        [Choice::Ours, Choice::Theirs, Choice::Base, Choice::Delete][self.dice.roll(4)]
    }

    fn going_on(&mut self, model: &Model, session: &str, progress: &Progress) -> Command {
        let underway = progress.underway();
        let worked = model.work_out(session, progress);
        let conflicts: Vec<_> = worked.conflicts.iter().collect();
        match (self.dice.roll(10), &conflicts[..]) {
            (0, _) => Command::Abort(underway),
            (1..=3, _) | (_, []) => Command::Continue { underway, message: self.maybe(4, Self::message) },
            (4, ids) => {
                let id = (*self.dice.pick(ids)).clone();
                match self.version(model, session, &id) {
                    None => Command::Rm { ids: vec![id], if_exists: false, message: None },
                    new => {
                        let form = Form::Argument;
                        Command::Put {
                            writes: vec![(id, new)],
                            form,
                            when: When::Always,
                            message: None,
                            dry_run: false,
                        }
                    }
                }
            }
            (5, ids) => {
                let patterns = vec![Pattern::Id((*self.dice.pick(ids)).clone())];
                Command::Restore { patterns, source: self.maybe(2, |maker| maker.rev(model)) }
            }
            (6..=7, ids) => {
                let choices = ids.iter().map(|id| ((*id).clone(), self.choice())).collect();
                Command::Settle { underway, choices }
            }
            (_, ids) => {
                let id = (*self.dice.pick(ids)).clone();
                Command::Settle { underway, choices: vec![(id, self.choice())] }
            }
        }
    }

    fn command(&mut self, model: &Model, session: &str) -> Command {
        // Of the first commit there is not much to be said before it is made.
        if model.made.is_empty() && !self.dice.once_in(4) {
            return if self.dice.once_in(3) { self.commit() } else { self.put(model, session) };
        }
        match self.dice.roll(85) {
            0..=17 => self.put(model, session),
            18..=20 => self.history(model, session),
            21..=22 => {
                let (ids, if_exists) = (self.ids(), self.dice.once_in(2));
                Command::Rm { ids, if_exists, message: self.maybe(3, Self::message) }
            }
            23 => {
                let (pattern, if_exists) = (self.pattern(), self.dice.once_in(2));
                Command::RmAll { pattern, if_exists, message: self.maybe(3, Self::message) }
            }
            24..=26 => {
                let patterns = self.patterns();
                Command::Restore { patterns, source: self.maybe(2, |maker| maker.rev(model)) }
            }
            27..=38 => self.commit(),
            39..=48 => self.place(model),
            49..=50 => {
                let (name, at) = (self.tag(), self.maybe(2, |maker| maker.rev(model)));
                Command::Tag { name, at, message: self.maybe(2, Self::message), force: self.dice.once_in(2) }
            }
            51 => Command::Untag((0..1 + self.dice.roll(2)).map(|_| self.tag()).collect()),
            52..=61 => {
                let other = if self.dice.once_in(6) { self.rev(model) } else { Rev::name(&self.there(model)) };
                let forward = [FastForward::Allowed, FastForward::Allowed, FastForward::Only, FastForward::Never];
                Command::Merge {
                    other,
                    forward: forward[self.dice.roll(4)],
                    unrelated: !self.dice.once_in(6),
                    message: self.maybe(3, Self::message),
                    dry_run: self.dice.once_in(8),
                }
            }
            62 if self.dice.once_in(2) => {
                let source = (*self.dice.pick(&SOURCES)).to_owned();
                Command::Undo { source, message: self.maybe(3, Self::message) }
            }
            62..=65 => {
                let commits: Vec<_> = (0..1 + self.dice.roll(4) / 2).map(|_| self.rev(model)).collect();
                let is_merge =
                    |rev: &Rev| rev.resolve(model, session).is_ok_and(|at| model.history.commits[at].parents.len() > 1);
                let is_asked = commits.iter().any(is_merge) != self.dice.once_in(8);
                let mainline = is_asked.then(|| 1 + self.dice.next() % 2);
                Command::Revert { commits, mainline, message: self.maybe(5, Self::message) }
            }
            66..=68 => {
                let to = if self.dice.once_in(5) { None } else { Some(self.rev(model)) };
                Command::Reset { to, hard: self.dice.once_in(2) }
            }
            69..=70 => {
                let (of, folder, replace) = (self.rev(model), self.dice.once_in(2), self.dice.once_in(2));
                Command::Import { of, folder, replace, message: self.maybe(2, Self::message) }
            }
            71 => match self.dice.roll(4) {
                0 => Command::Init,
                1 => Command::Config { key: "author", value: self.maybe(2, Self::author) },
                2 => {
                    let value = self.maybe(2, |maker| maker.dice.roll(99).to_string());
                    Command::Config { key: "reflog-days", value }
                }
                _ => Command::Config { key: "lock-timeout", value: Some("7s".to_owned()) },
            },
            // What is not in progress, or another thing.
            72..=73 => {
                let underway = self.underway();
                match self.dice.roll(3) {
                    0 => Command::Abort(underway),
                    1 => Command::Continue { underway, message: None },
                    _ => Command::Settle { underway, choices: vec![(self.id(), self.choice())] },
                }
            }
            74..=78 => self.search(model, session),
            80..=81 => Command::Pack,
            82..=83 => Command::Unpack { prefix: self.maybe(2, |_| "in"), dry_run: self.dice.once_in(4) },
            79 => {
                let source = self.maybe(3, |maker| (*maker.dice.pick(&SOURCES)).to_owned());
                let ids = if source.is_some() && self.dice.once_in(2) { Vec::new() } else { self.ids() };
                Command::Redact { ids, source, reason: self.maybe(2, Self::message) }
            }
            _ => Command::Gc { days: self.maybe(2, |_| 0), dry_run: self.dice.once_in(3) },
        }
    }

    /// A branch that is there, if there is one.
    fn there(&mut self, model: &Model) -> String {
        let there: Vec<_> = model.refs.keys().filter_map(|name| name.strip_prefix("refs/heads/")).collect();
        if there.is_empty() || self.dice.once_in(9) {
            return self.branch();
        }
        (*self.dice.pick(&there)).to_owned()
    }

    /// Where refs are, and where the session stands.
    fn place(&mut self, model: &Model) -> Command {
        match self.dice.roll(10) {
            0..=1 => {
                let name = self.branch();
                Command::Branch { name, at: self.maybe(2, |maker| maker.rev(model)), force: self.dice.once_in(3) }
            }
            2 if self.dice.once_in(2) => {
                let names = (0..1 + self.dice.roll(3) / 2).map(|_| self.there(model)).collect();
                Command::Delete { names, force: self.dice.once_in(3) }
            }
            2 => {
                let old = self.maybe(2, |maker| maker.there(model));
                Command::Rename { old, new: self.branch(), force: self.dice.once_in(3) }
            }
            3..=5 => Command::Switch(self.there(model)),
            6..=7 => {
                let name = self.branch();
                Command::Create { name, at: self.maybe(3, |maker| maker.rev(model)), force: self.dice.once_in(4) }
            }
            8 => Command::Detach(self.rev(model)),
            _ => Command::Back,
        }
    }

    fn search(&mut self, model: &Model, session: &str) -> Command {
        let is_searching = model.search_status(session).is_ok() != self.dice.once_in(8);
        let some = |maker: &mut Self, most: usize| -> Vec<Rev> {
            (0..maker.dice.roll(most + 1)).map(|_| maker.rev(model)).collect()
        };
        // One of the first.
        let good = |maker: &mut Self| Rev::of(Base::Made(maker.dice.roll(4)));
        match self.dice.roll(8) {
            _ if !is_searching => {
                let bad = if self.dice.once_in(5) { None } else { Some(self.rev(model)) };
                let good = if bad.is_none() { Vec::new() } else { [&some(self, 1)[..], &[good(self)]].concat() };
                Command::StartSearch { bad, good, only: self.maybe(4, Self::id) }
            }
            0 => Command::Unmark,
            1 => Command::EndSearch,
            2 => Command::Mark(Marked::Good, vec![good(self)]),
            kind => {
                let marked = [Marked::Good, Marked::Bad, Marked::Skip][kind % 3];
                let first = self.rev(model);
                Command::Mark(marked, [&[first], &some(self, 1)[..]].concat())
            }
        }
    }
}
