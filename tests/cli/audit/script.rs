//! A history of a thousand commits as plain data, and what there is to tell of it.

use super::super::oracle::{self, Id};
use super::super::support::json;
use std::collections::BTreeMap;

/// How many commits there are.
pub const COMMITS: usize = 1_000;
/// The commit that first says that Maria eats meat.
pub const POISON: usize = 613;
/// What it says.
pub const POISONED: &str = "loves steak since 613";
/// Whose belief that is.
pub const DIET: &str = "user/diet";
/// From where commits draw what they say; the first only now and then.
pub const SOURCES: [&str; 3] = ["https://forum.example/t/88", "https://wiki.example/diet", "chat/maria"];

/// A part of a content, and the commit that brought it.
pub type Part = (String, usize);

/// What a node holds. No two lines and no two tokens of a history are the same.
#[derive(Clone, Debug)]
pub enum Said {
    /// A text without line feed.
    Line(String),
    /// Lines with a line feed behind each.
    Text(Vec<Part>),
    /// The members of an object: key, token, and who brought it.
    Value(Vec<(String, Part)>),
}

impl Said {
    pub fn json(&self) -> String {
        match self {
            Self::Line(text) => json(text),
            Self::Text(_) => json(&self.text()),
            Self::Value(members) => {
                let members: Vec<_> = members.iter().map(|(key, (token, _))| format!("\"{key}\":{token}")).collect();
                format!("{{{}}}", members.join(","))
            }
        }
    }

    /// As `get` prints it.
    pub fn text(&self) -> String {
        match self {
            Self::Line(text) => text.clone(),
            Self::Text(lines) => lines.iter().map(|(line, _)| format!("{line}\n")).collect(),
            Self::Value(_) => self.json(),
        }
    }
}

/// A node as it stands after some commit.
#[derive(Clone, Debug)]
pub struct Held {
    pub said: Said,
    /// What is set, in the order of the format.
    pub provenance: Vec<(&'static str, String)>,
    pub event_time: Option<String>,
    /// The commit that wrote its content.
    pub content_at: usize,
    /// The commit that wrote it as it is.
    pub writer: usize,
}

impl Held {
    pub fn node(&self, id: &str) -> oracle::Node {
        oracle::Node {
            id: id.to_owned(),
            content: self.said.json(),
            provenance: self.provenance.clone(),
            event_time: self.event_time.clone(),
        }
    }

    pub fn source(&self) -> Option<&str> {
        self.provenance.iter().find(|(key, _)| *key == "source").map(|(_, source)| source.as_str())
    }
}

/// A commit.
#[derive(Clone, Debug)]
pub struct Commit {
    pub id: String,
    pub author: &'static str,
    /// In seconds since the epoch.
    pub seconds: i64,
    /// The nodes that it wrote or took away, in the order of their ids.
    pub changed: Vec<String>,
    /// All nodes that stand after it.
    pub state: BTreeMap<String, Held>,
}

impl Commit {
    pub fn time(&self) -> String {
        time(self.seconds, ".000+00:00")
    }
}

fn time(seconds: i64, end: &str) -> String {
    let time = chrono::DateTime::from_timestamp(seconds, 0).expect("a time");
    format!("{}{end}", time.format("%Y-%m-%dT%H:%M:%S"))
}

/// Numbers that follow from a seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ mixed >> 31) % end as u64).expect("below an usize")
    }
}

/// All commits, the oldest first.
pub fn script() -> Vec<Commit> {
    let mut numbers = Numbers(88);
    let mut digests: BTreeMap<String, Id> = BTreeMap::new();
    let mut commits: Vec<Commit> = Vec::new();
    for at in 0..COMMITS {
        let mut state = commits.last().map_or(BTreeMap::new(), |last: &Commit| last.state.clone());
        let mut changed: Vec<_> = (0..1 + numbers.below(2)).map(|_| some_id(&mut numbers)).collect();
        if at == POISON {
            changed.push(DIET.to_owned());
        }
        changed.sort();
        changed.dedup();
        for id in &changed {
            match next(id, state.get(id), at, &mut numbers) {
                Some(held) => {
                    digests.insert(id.clone(), held.node(id).digest());
                    state.insert(id.clone(), held);
                }
                None => drop((digests.remove(id), state.remove(id))),
            }
        }
        // A clock that goes back by a quarter of an hour now and then.
        let seconds = 1_764_576_000 + 60 * i64::try_from(at).expect("small") - if at % 40 == 39 { 900 } else { 0 };
        let author = ["Ada <ada@example.org>", "Bo <bo@example.org>"][at % 2];
        let root = oracle::state_of(digests.iter().map(|(id, digest)| (id.as_str(), *digest)));
        let parents: Vec<_> = commits.last().map(|last| last.id.as_str()).into_iter().collect();
        let id = oracle::commit(&parents, &root, author, &time(seconds, ".000+00:00"), &message(at));
        commits.push(Commit { id, author, seconds, changed, state });
    }
    commits
}

pub fn message(at: usize) -> String {
    format!("step {at}")
}

fn some_id(numbers: &mut Numbers) -> String {
    match numbers.below(5) {
        0 => DIET.to_owned(),
        1 => format!("user/fact-{}", numbers.below(10)),
        2 | 3 => format!("note/{}", numbers.below(12)),
        _ => format!("plan/{}", numbers.below(8)),
    }
}

/// What a commit makes of a node; `None` where it takes it away.
fn next(id: &str, old: Option<&Held>, at: usize, numbers: &mut Numbers) -> Option<Held> {
    let fresh = |said| Held {
        said,
        provenance: provenance(id, at),
        event_time: at.is_multiple_of(6).then(|| time(1_764_000_000 + 3600 * i64::try_from(at).expect("small"), "Z")),
        content_at: at,
        writer: at,
    };
    let Some(old) = old else {
        return Some(fresh(match &id[..4] {
            "note" => Said::Text((0..4 + at % 9).map(|nth| (format!("note {at}.{nth}"), at)).collect()),
            "plan" => Said::Value((0..3).map(|key| (format!("k{key}"), (format!("{at}.{key}"), at))).collect()),
            _ => Said::Line(line(id, at)),
        }));
    };
    match numbers.below(12) {
        0 if id != DIET => return None,
        1 if at != POISON => {
            // Only where it comes from is another.
            let again = Held { provenance: vec![("note", format!("looked at again in {at}"))], ..old.clone() };
            return Some(Held { writer: at, ..again });
        }
        _ => {}
    }
    let mut said = old.said.clone();
    match &mut said {
        Said::Line(text) => *text = line(id, at),
        Said::Text(lines) => {
            let (place, new) = (numbers.below(lines.len()), (format!("note {at}"), at));
            match numbers.below(3) {
                0 => lines.insert(place, new),
                1 if lines.len() > 3 => drop(lines.remove(place)),
                _ => lines[place] = new,
            }
        }
        Said::Value(members) => {
            let (key, new) = (format!("k{}", numbers.below(8)), (format!("\"v {at}\""), at));
            match members.iter().position(|(other, _)| *other == key) {
                Some(place) if members.len() > 2 && at.is_multiple_of(3) => drop(members.remove(place)),
                Some(place) => members[place].1 = new,
                None => members.push((key, new)),
            }
        }
    }
    Some(fresh(said))
}

/// One line. The diet is vegan up to the poison, and what follows repeats what it said.
fn line(id: &str, at: usize) -> String {
    match id {
        DIET if at < POISON => format!("vegan since {at}"),
        DIET => format!("loves steak since {at}"),
        _ => format!("fact {at}"),
    }
}

fn provenance(id: &str, at: usize) -> Vec<(&'static str, String)> {
    let source = match (id, at) {
        (DIET, POISON) => SOURCES[0],
        _ if at.is_multiple_of(37) => SOURCES[0],
        _ => SOURCES[1 + at % 2],
    };
    let mut set = vec![("agent_step", at.to_string())];
    if !at.is_multiple_of(3) {
        set.push(("observation", format!("chat/{at}")));
    }
    if at.is_multiple_of(5) || at.is_multiple_of(37) || at == POISON {
        set.push(("source", source.to_owned()));
    }
    set
}

/// The rows that `put --jsonl --commits` reads.
pub fn rows(commits: &[Commit]) -> String {
    let mut rows = String::new();
    for (at, commit) in commits.iter().enumerate() {
        for id in &commit.changed {
            rows += &match commit.state.get(id) {
                Some(held) => {
                    let set: Vec<_> =
                        held.provenance.iter().map(|(key, text)| format!("\"{key}\":{}", json(text))).collect();
                    let time = held.event_time.as_ref().map_or("null".to_owned(), |time| json(time));
                    let (id, content) = (json(id), held.said.json());
                    let set = set.join(",");
                    format!("{{\"id\":{id},\"content\":{content},\"provenance\":{{{set}}},\"event_time\":{time}}}\n")
                }
                None => format!("{{\"id\":{},\"deleted\":true}}\n", json(id)),
            };
        }
        let (message, author, time) = (json(&message(at)), json(commit.author), json(&time(commit.seconds, "Z")));
        rows += &format!("{{\"commit\":{{\"message\":{message},\"author\":{author},\"time\":{time}}}}}\n");
    }
    rows
}
