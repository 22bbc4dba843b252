//! A long conversation of an assistant: what its memory held is read back at every commit.

use super::oracle::{self, Id, Node};
use super::support::{AUTHOR, Place, json};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

const COMMITS: usize = 40;

/// Numbers that look random and are the same each time (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).expect("it is below")
    }

    fn one<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.below(of.len())]
    }
}

/// What the agent does to one node.
#[derive(Clone)]
enum Change {
    Set(Node),
    Remove(String),
}

impl Change {
    /// The row of `put --jsonl`. A content with line ends outside strings goes as text.
    fn row(&self) -> String {
        let node = match self {
            Self::Set(node) => node,
            Self::Remove(id) => return format!("{{\"id\":{},\"deleted\":true}}\n", json(id)),
        };
        let content = if node.content.contains('\n') {
            format!("\"content_json\":{}", json(&node.content))
        } else {
            format!("\"content\":{}", node.content)
        };
        let fields: Vec<_> = node.provenance.iter().map(|(key, text)| format!("\"{key}\":{}", json(text))).collect();
        let time = node.event_time.as_ref().map_or("null".to_owned(), |time| json(time));
        let id = json(&node.id);
        format!("{{\"id\":{id},{content},\"provenance\":{{{}}},\"event_time\":{time}}}\n", fields.join(","))
    }

    fn id(&self) -> &str {
        match self {
            Self::Set(node) => &node.id,
            Self::Remove(id) => id,
        }
    }
}

/// The agent, and what it has noted so far.
struct Agent {
    numbers: Numbers,
    /// Minutes since the conversation began.
    clock: u64,
    turns: usize,
}

impl Agent {
    fn text(&mut self) -> String {
        const WORDS: [&str; 24] = [
            "Maria",
            "prefers",
            "oat milk",
            "naïve",
            "☕",
            "日本語",
            "the train at 07:40",
            "\"quoted\"",
            "C:\\temp",
            "👩\u{200d}🚀",
            "שלום",
            "budget",
            "re-plan",
            "e\u{301}té",
            "tomorrow",
            "<b>",
            "& then",
            "\u{1f600}",
            "gate B12",
            "peanuts",
            "allergy",
            "\tindented",
            "ok.",
            "\u{a0}",
        ];
        let lines = 1 + self.numbers.below(6);
        let line = |numbers: &mut Numbers| {
            let words = 3 + numbers.below(12);
            (0..words).map(|_| numbers.one(&WORDS)).collect::<Vec<_>>().join(" ")
        };
        let text: Vec<_> = (0..lines).map(|_| line(&mut self.numbers)).collect();
        let end = self.numbers.one(&["", "\n", "\r\n", "\n\n"]);
        text.join(self.numbers.one(&["\n", "\n\n", "\r\n"])) + end
    }

    /// JSON as different writers spell it.
    fn value(&mut self, depth: usize) -> String {
        let scalars: [&str; 12] = [
            "null",
            "true",
            "1.10",
            "1e2",
            "-0",
            "\"\\u00e9\"",
            "12345678901234567890123",
            "\"\\ud83d\"",
            "\"a\\/b\"",
            "0.1",
            "\"\"",
            "[]",
        ];
        let space = self.numbers.one(&["", "", " ", "\n  "]);
        match self.numbers.below(if depth == 0 { 2 } else { 5 }) {
            0 => self.numbers.one(&scalars).to_owned(),
            1 => json(&self.text()),
            2 => {
                let items: Vec<_> = (0..self.numbers.below(5)).map(|_| self.value(depth - 1)).collect();
                format!("[{space}{}{space}]", items.join(&format!(",{space}")))
            }
            _ => {
                let keys = ["turn", "role", "tool", "args", "score", "turn", "ünï", "a/b"];
                let member = |agent: &mut Self| {
                    let key = json(agent.numbers.one(&keys));
                    format!("{key}:{space}{}", agent.value(depth - 1))
                };
                let members: Vec<_> = (0..1 + self.numbers.below(5)).map(|_| member(self)).collect();
                format!("{{{}}}", members.join(&format!(",{space}")))
            }
        }
    }

    fn event_time(&mut self) -> Option<String> {
        self.clock += self.numbers.next() % 90;
        let (day, hour, minute) = (1 + self.clock / 1440, self.clock / 60 % 24, self.clock % 60);
        let rest = self.numbers.one(&[":00Z", ":07.5+01:00", ":59.123456789-05:30", ":00z", ":30-00:00"]);
        let keep = self.numbers.below(4) > 0;
        keep.then(|| format!("2025-{:02}-{:02}T{hour:02}:{minute:02}{rest}", 1 + day / 28, 1 + day % 28))
    }

    fn node(&mut self, id: String) -> Node {
        let content = if self.numbers.below(2) == 0 { json(&self.text()) } else { self.value(4) };
        let step = self.turns.to_string();
        let tool = format!("search/{}", self.numbers.below(300));
        let all = [
            ("agent_step", step),
            ("observation", format!("chat/{}", self.turns)),
            ("tool_call", tool),
            ("source", "https://example.org/ü?q=1#a".to_owned()),
            ("note", self.numbers.one(&["", "said twice", "\"sure\"?", "line\nbreak"]).to_owned()),
        ];
        let provenance = all.into_iter().filter(|_| self.numbers.below(2) == 0).collect();
        let event_time = self.event_time();
        Node { id, content, provenance, event_time }
    }

    /// What one stretch of the conversation does: new turns, facts and results of tools; some are put anew, some go.
    fn stretch(&mut self, memory: &Memory) -> Vec<Change> {
        let mut changes = Vec::new();
        let known: Vec<_> = memory.keys().cloned().collect();
        for _ in 0..56 {
            self.turns += 1;
            let turn = self.turns;
            let subject = self.numbers.one(&["user", "trip", "tools", "project/münchen", "家族"]);
            let id = match self.numbers.below(3) {
                0 => format!("chat/2025/turn-{turn:05}"),
                1 => format!("{subject}/{turn}"),
                _ => format!("{subject}/notes/{} {turn}.md", self.numbers.one(&["to do", "é", "e\u{301}", "..", "😀"])),
            };
            changes.push(Change::Set(self.node(id)));
        }
        for _ in 0..if known.is_empty() { 0 } else { 14 } {
            let id = self.numbers.one(&known.iter().map(String::as_str).collect::<Vec<_>>()).to_owned();
            changes.push(match self.numbers.below(4) {
                0 => Change::Remove(id),
                1 => Change::Set(memory[&id].node.clone()),
                _ => Change::Set(self.node(id)),
            });
        }
        changes
    }
}

/// A node with what was computed of it.
struct Noted {
    node: Node,
    digest: Id,
    row: String,
}

type Memory = BTreeMap<String, Rc<Noted>>;

fn state_of(memory: &Memory) -> String {
    oracle::state_of(memory.iter().map(|(id, noted)| (id.as_str(), noted.digest)))
}

fn apply(memory: &mut Memory, changes: &[Change]) {
    for change in changes {
        match change {
            Change::Set(node) => {
                let noted = Noted { node: node.clone(), digest: node.digest(), row: node.row() };
                memory.insert(node.id.clone(), Rc::new(noted));
            }
            Change::Remove(id) => drop(memory.remove(id)),
        }
    }
}

/// One commit of the conversation.
struct Stretch {
    changes: Vec<Change>,
    /// What the memory holds then.
    memory: Memory,
    commit: String,
}

fn conversation() -> Vec<Stretch> {
    let mut agent = Agent { numbers: Numbers(7), clock: 0, turns: 0 };
    let (mut memory, mut stretches) = (BTreeMap::new(), Vec::<Stretch>::new());
    for at in 0..COMMITS {
        let changes = agent.stretch(&memory);
        apply(&mut memory, &changes);
        let parents: Vec<_> = stretches.last().map(|last| last.commit.as_str()).into_iter().collect();
        let state = state_of(&memory);
        let time = format!("2025-12-01T08:{at:02}:00.000+00:00");
        let commit = oracle::commit(&parents, &state, AUTHOR, &time, &format!("stretch {at}"));
        stretches.push(Stretch { changes, memory: memory.clone(), commit });
    }
    stretches
}

/// The change counts of a commit, as `commit` tells them.
fn counts(before: &Memory, after: &Memory) -> [usize; 3] {
    let added = after.keys().filter(|id| !before.contains_key(*id)).count();
    let is_new = |old: &Rc<Noted>, new: &Rc<Noted>| !Rc::ptr_eq(old, new) && old.digest != new.digest;
    let modified = after.iter().filter(|(id, new)| before.get(*id).is_some_and(|old| is_new(old, new))).count();
    [added, modified, before.keys().filter(|id| !after.contains_key(*id)).count()]
}

#[test]
fn the_whole_conversation_is_read_back_byte_for_byte_at_every_commit() {
    let stretches = conversation();
    let ids: BTreeSet<_> = stretches.iter().flat_map(|stretch| stretch.changes.iter().map(Change::id)).collect();
    assert!(ids.len() >= 2_000 && stretches.len() == COMMITS, "{} nodes", ids.len());

    let place = Place::with_store();
    let nothing = BTreeMap::new();
    for (at, stretch) in stretches.iter().enumerate() {
        let rows: String = stretch.changes.iter().map(Change::row).collect();
        let said: String = stretch.changes.iter().map(|change| format!("{}\n", change.id())).collect();
        place.mnem(&["put", "--jsonl", "-", "-q"]).input(rows).says(&said, "");
        let [added, modified, removed] =
            counts(at.checked_sub(1).map_or(&nothing, |at| &stretches[at].memory), &stretch.memory);
        let commit = place.mnem(&["commit", "--json", "-qm", &format!("stretch {at}")]);
        let row = commit.env("MNEM_DATE", format!("2025-12-01T08:{at:02}:00Z")).output();
        let counted = format!("\"changes\":{{\"added\":{added},\"modified\":{modified},\"removed\":{removed}}}}}\n");
        assert!(row.contains(&format!("\"id\":\"{}\"", stretch.commit)) && row.ends_with(&counted), "{row}");
    }
    for stretch in &stretches {
        let (present, absent): (Vec<&str>, Vec<&str>) = ids.iter().partition(|id| stretch.memory.contains_key(**id));
        let rows: String = stretch.memory.values().map(|noted| noted.row.as_str()).collect();
        place.mnem(&["get", "--json", "-r", &stretch.commit, "--"]).arguments(&present).says(&rows, "");
        let gone = place.mnem(&["get", "--json", "-r", &stretch.commit, "--"]).arguments(&absent).answer();
        assert!(gone.status == if absent.is_empty() { 129 } else { 1 } && !gone.stdout.contains("\"absent\":false"));
        assert_eq!(gone.stdout.lines().filter(|row| row.ends_with(",\"absent\":true}")).count(), absent.len());
        for change in stretch.changes.iter().step_by(8) {
            let get = place.mnem(&["get", "-t", "json", "-r", &stretch.commit, "--", change.id()]);
            match stretch.memory.get(change.id()) {
                Some(noted) => get.says(&noted.node.content, ""),
                None => assert_eq!(get.answer().status, 1),
            }
        }
    }
}

#[test]
fn the_state_hangs_on_the_memory_and_not_on_how_it_came_about() {
    let stretches = conversation();
    let state = |place: &Place| {
        let row = place.mnem(&["log", "--json", "-n1"]).output();
        let row: serde_json::Value = serde_json::from_str(&row).expect("JSON");
        row["state"].as_str().expect("a text").to_owned()
    };
    for at in [0, 13, COMMITS - 1] {
        let stretch = &stretches[at];
        let expected = state_of(&stretch.memory);
        let rows: Vec<_> = stretch.memory.values().map(|noted| Change::Set(noted.node.clone()).row()).collect();

        let at_once = Place::with_store();
        let backwards: String = rows.iter().rev().map(String::as_str).collect();
        at_once.mnem(&["put", "--jsonl", "-", "-m", "all at once"]).input(backwards).output();
        assert_eq!(state(&at_once), expected);

        let by_detours = Place::with_store();
        for (part, rows) in rows.chunks(rows.len() / 3 + 1).enumerate() {
            let wrong = rows.iter().enumerate().map(|(at, row)| {
                let end = if at % 2 == 0 { "\"extra\"" } else { "\"other\"" };
                let id = row.split(',').next().expect("the key 'id'");
                format!("{id},\"content\":{end}}}\n{{\"id\":\"detour/{part}/{at}\",\"content\":{at}}}\n")
            });
            let wrong: String = wrong.collect();
            by_detours.mnem(&["put", "--jsonl", "-", "-m", "a detour"]).input(wrong).output();
            let back = (0..rows.len()).map(|at| format!("{{\"id\":\"detour/{part}/{at}\",\"deleted\":true}}\n"));
            let right: String = rows.iter().cloned().chain(back).collect();
            by_detours.mnem(&["put", "--jsonl", "-"]).input(right).output();
            by_detours.mnem(&["commit", "-qm", "the way back"]).output();
        }
        assert_eq!(state(&by_detours), expected);
    }
}
