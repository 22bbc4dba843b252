//! A bundle that an input describes: a history of a few commits and refs that lead to it, with a wrong step here and there.

use super::naive::{Nodes, commit_id, state};
use crate::bytes::{push_string, push_varint};
use crate::choices::Choices;
use crate::commit::Commit;
use crate::node::{Marker, Node, object_of};
use mnemosyne::object::{ObjectId, sha256};
use std::collections::{BTreeMap, BTreeSet};

const IDS: [&str; 6] = ["a", "b", "b/c", "\u{e9}", "user/diet", "x"];

const NAMES: [&str; 10] = [
    "refs/heads/main",
    "refs/heads/a/b",
    "refs/heads/\u{e9}",
    "refs/tags/v1",
    "refs/tags/v2",
    "refs/heads/HEAD",
    "refs/heads/a..b",
    "refs/tags/",
    "refs/notes/n",
    "main",
];

const MESSAGES: [&str; 4] = ["", "what it says", "one\n\ntwo", "ends\n"];

/// A commit that is there before.
pub struct Base {
    pub commit: Commit,
    pub nodes: Nodes,
}

/// The version of a node that a byte chooses: content, or a marker for the content 1.
pub fn version(id: &str, choice: u8) -> Vec<u8> {
    let node = |content: String| Node {
        id: id.to_owned(),
        content,
        content_kind: if choice == 253 { "claim" } else { "note" }.to_owned(),
        ..Node::default()
    };
    match choice {
        254 => {
            let object = ObjectId::from_bytes(object_of(&node("1".to_owned()).bytes())).to_string();
            let (time, by) = ("2024-05-06T07:08:09.010+00:00".to_owned(), "Ada".to_owned());
            Marker { object, id: id.to_owned(), time, by, reason: None }.bytes()
        }
        255 => node(" 1".to_owned()).bytes(),
        content => node(content.to_string()).bytes(),
    }
}

/// Changes in the order of their keys.
fn sorted(changes: BTreeMap<String, Option<Vec<u8>>>) -> Vec<(String, Option<Vec<u8>>)> {
    let mut changes: Vec<_> = changes.into_iter().collect();
    changes.sort_by_key(|(id, _)| sha256(&[id.as_bytes()]));
    changes
}

struct Making {
    /// All commits, the base first, with what each adds to the bundle.
    commits: Vec<(String, Nodes)>,
    body: Vec<Vec<u8>>,
    /// Prerequisites that are needed, and commits that no ref and no commit leads to.
    prerequisites: BTreeSet<String>,
    tips: BTreeSet<String>,
    has_base: bool,
}

/// Makes the bytes of a bundle.
pub fn bundle(choices: &mut Choices<'_>, base: &Base) -> Vec<u8> {
    let (count, flags) = (choices.byte() % 7, choices.byte());
    let start = (commit_id(&base.commit.bytes()), base.nodes.clone());
    let mut making = Making {
        commits: vec![start],
        body: Vec::new(),
        prerequisites: BTreeSet::new(),
        tips: BTreeSet::new(),
        has_base: false,
    };
    if flags & 1 == 1 {
        making.base(base);
    }
    for number in 0..count {
        making.commit(number, choices);
    }
    let header = making.header(choices, flags & 2 == 0);
    let mut out = b"mnem bundle 1\n".to_vec();
    push_string(&mut out, &header);
    making.body.iter().for_each(|commit| out.extend_from_slice(commit));
    out.push(0);
    push_varint(&mut out, making.body.len() as u64 + u64::from(flags & 4 == 4));
    // What the sum is right for although it should not be there.
    while !choices.is_over() {
        match choices.byte() % 4 {
            0 => {
                let (at, change) = (choices.below(out.len()), choices.byte());
                out[at] ^= change;
            }
            1 => out.truncate(out.len() - choices.below(out.len())),
            2 => {
                let (at, byte) = (choices.below(out.len()), choices.byte());
                out.insert(at, byte);
            }
            _ => drop(out.remove(choices.below(out.len()))),
        }
        if out.is_empty() {
            break;
        }
    }
    let mut sum = sha256(&[&out]);
    sum[31] ^= flags >> 7;
    out.extend_from_slice(&sum);
    out
}

impl Making {
    /// The commit that is there before, as one of the bundle.
    fn base(&mut self, base: &Base) {
        self.has_base = true;
        let changes = base.nodes.iter().map(|(id, bytes)| (id.clone(), Some(bytes.clone())));
        self.push(&base.commit, sorted(changes.collect()));
        self.tips.insert(self.commits[0].0.clone());
    }

    fn parent(&mut self, at: usize) -> String {
        let id = self.commits[at % self.commits.len()].0.clone();
        if id == self.commits[0].0 && !self.has_base {
            self.prerequisites.insert(id.clone());
        }
        self.tips.remove(&id);
        id
    }

    fn commit(&mut self, number: u8, choices: &mut Choices<'_>) {
        let last = self.commits.len() - 1;
        let (kind, wrong) = (choices.byte(), choices.byte());
        let places = match kind % 6 {
            0 => vec![],
            1..=3 => vec![last],
            4 => vec![usize::from(choices.byte())],
            _ => vec![last, usize::from(choices.byte())],
        };
        let mut nodes = places.first().map_or_else(Nodes::new, |at| self.commits[at % self.commits.len()].1.clone());
        let parents: Vec<_> = places.into_iter().map(|at| self.parent(at)).collect();
        let mut changes = BTreeMap::new();
        for _ in 0..choices.byte() % 5 {
            let id = IDS[usize::from(choices.byte()) % IDS.len()];
            let version = Some(choices.byte()).filter(|choice| *choice != 0).map(|choice| version(id, choice));
            changes.insert(id.to_owned(), version);
        }
        // A change that is none, or is there only wrongly.
        let is_change = |id: &String, version: &Option<Vec<u8>>| {
            nodes.get(id).map(|bytes| object_of(bytes)) != version.as_deref().map(object_of)
        };
        if wrong != 1 {
            changes.retain(|id, version| is_change(id, version));
        }
        for (id, version) in &changes {
            match version {
                Some(version) => drop(nodes.insert(id.clone(), version.clone())),
                None => drop(nodes.remove(id)),
            }
        }
        let mut changes = sorted(changes);
        let mut commit = Commit {
            parents,
            state: state(&nodes),
            author: "Ada".to_owned(),
            time: "2024-05-06T07:08:09.010+05:30".to_owned(),
            message: format!("commit {number}"),
        };
        match wrong {
            2 => changes.reverse(),
            3 => commit.state = state(&Nodes::new()),
            4 => commit.parents.push("ab".repeat(32)),
            5 => commit.author.push(' '),
            6 => drop(changes.pop()),
            7 => commit.parents.extend(commit.parents.first().cloned()),
            _ => {}
        }
        let id = self.push(&commit, changes);
        self.tips.insert(id.clone());
        self.commits.push((id, nodes));
        if wrong == 8 {
            self.body.extend(self.body.last().cloned());
        }
    }

    fn push(&mut self, commit: &Commit, changes: Vec<(String, Option<Vec<u8>>)>) -> String {
        let canonical = commit.bytes();
        let mut out = Vec::new();
        push_string(&mut out, &canonical);
        for (id, version) in changes {
            out.push(if version.is_some() { 1 } else { 2 });
            push_string(&mut out, version.as_deref().unwrap_or(id.as_bytes()));
        }
        out.push(0);
        self.body.push(out);
        commit_id(&canonical)
    }

    /// The refs that are chosen, and one for each commit that none leads to where nothing is to be left out.
    fn header(&mut self, choices: &mut Choices<'_>, is_whole: bool) -> Vec<u8> {
        let mut refs = BTreeMap::new();
        for _ in 0..choices.byte() % 4 {
            let name = NAMES[usize::from(choices.byte()) % NAMES.len()].to_owned();
            let commit = self.parent(choices.byte().into());
            let mut tag = Vec::new();
            if name.starts_with("refs/tags/") {
                push_varint(&mut tag, choices.number(6));
                push_varint(&mut tag, choices.number(1));
                push_string(&mut tag, MESSAGES[usize::from(choices.byte()) % MESSAGES.len()].as_bytes());
            }
            refs.insert(name, (commit, tag));
        }
        if is_whole {
            for (at, tip) in self.tips.iter().enumerate() {
                refs.insert(format!("refs/heads/tip-{at}"), (tip.clone(), Vec::new()));
            }
        }
        let digits = |id: &str| ObjectId::parse(id).expect("an id");
        let mut out = Vec::new();
        push_varint(&mut out, self.prerequisites.len() as u64);
        self.prerequisites.iter().for_each(|id| out.extend_from_slice(digits(id).as_bytes()));
        push_varint(&mut out, refs.len() as u64);
        for (name, (commit, tag)) in refs {
            push_string(&mut out, name.as_bytes());
            out.extend_from_slice(digits(&commit).as_bytes());
            out.extend_from_slice(&tag);
        }
        out
    }
}
