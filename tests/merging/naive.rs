//! What merges come to, read off the rules: stretches between what nobody changed, keys one by one, bases of bases.

use crate::body::{Body, Item, Value};
use mnemosyne::model::{ContentKind, Node, NodeId, Provenance, Timestamp};
use mnemosyne::object::{ObjectId, Redaction, encode_node, node_object_id};
use std::collections::BTreeMap;
use std::rc::Rc;

/// A node, and what it is made of.
#[derive(Debug)]
pub struct Known {
    pub body: Body,
    pub node: Node,
    pub object: ObjectId,
    /// What is left of it, where it is redacted.
    pub redacted: Option<Redaction>,
}

impl PartialEq for Known {
    fn eq(&self, other: &Self) -> bool {
        self.object == other.object
    }
}

impl Known {
    pub fn new(id: &NodeId, body: Body, provenance: Provenance, event_time: Option<Timestamp>) -> Rc<Self> {
        let content = body.content();
        let node = Node { id: id.clone(), content, content_kind: ContentKind::Note, provenance, event_time };
        let object = node_object_id(&encode_node(&node));
        Rc::new(Self { body, node, object, redacted: None })
    }
}

/// What an id has, or what a merge makes of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Version {
    Is(Option<Rc<Known>>),
    /// Sides that don't go together. It is never known to be what another is.
    Undecided,
}

impl Version {
    fn is(&self, other: &Self) -> bool {
        *self != Self::Undecided && self == other
    }

    pub fn node(&self) -> Option<&Node> {
        match self {
            Self::Is(known) => known.as_ref().map(|known| &known.node),
            Self::Undecided => None,
        }
    }

    pub fn object(&self) -> Option<ObjectId> {
        match self {
            Self::Is(known) => known.as_ref().map(|known| known.object),
            Self::Undecided => None,
        }
    }
}

/// The nodes of a memory.
pub type State = BTreeMap<NodeId, Rc<Known>>;

/// What each id has that is anywhere.
pub type Versions = BTreeMap<NodeId, Version>;

pub fn version(versions: &Versions, id: &NodeId) -> Version {
    versions.get(id).cloned().unwrap_or(Version::Is(None))
}

pub fn versions(state: &State) -> Versions {
    state.iter().map(|(id, known)| (id.clone(), Version::Is(Some(Rc::clone(known))))).collect()
}

/// Merges two memories, all ids of the three.
pub fn merged(base: &Versions, ours: &Versions, theirs: &Versions, note: &str) -> Versions {
    let mut found = Versions::new();
    for id in base.keys().chain(ours.keys()).chain(theirs.keys()) {
        if !found.contains_key(id) {
            let [base, ours, theirs] = [base, ours, theirs].map(|side| version(side, id));
            found.insert(id.clone(), merged_version(&base, &ours, &theirs, note));
        }
    }
    found
}

fn merged_version(base: &Version, ours: &Version, theirs: &Version, note: &str) -> Version {
    if ours.is(theirs) || theirs.is(base) {
        return ours.clone();
    }
    if ours.is(base) {
        return theirs.clone();
    }
    match (base, ours, theirs) {
        (Version::Is(Some(base)), Version::Is(Some(ours)), Version::Is(Some(theirs)))
            // What cannot be read cannot be taken apart.
            if [base, ours, theirs].iter().all(|known| known.redacted.is_none()) =>
        {
            merged_node(base, ours, theirs, note).map_or(Version::Undecided, |known| Version::Is(Some(known)))
        }
        _ => Version::Undecided,
    }
}

/// What one side alone changed, or both alike.
fn whole<'v, T: PartialEq + ?Sized>(base: &'v T, ours: &'v T, theirs: &'v T) -> Option<&'v T> {
    match () {
        () if ours == theirs || theirs == base => Some(ours),
        () if ours == base => Some(theirs),
        () => None,
    }
}

fn merged_node(base: &Known, ours: &Known, theirs: &Known, note: &str) -> Option<Rc<Known>> {
    let nodes = [&base.node, &ours.node, &theirs.node];
    let [base_content, our_content, their_content] = nodes.map(|node| &node.content);
    let event_time = whole(&nodes[0].event_time, &nodes[1].event_time, &nodes[2].event_time)?;
    let (body, provenance) = match whole(base_content, our_content, their_content) {
        Some(content) => {
            let body = if content == our_content { &ours.body } else { &theirs.body };
            let provenance = merged_provenance(nodes.map(|node| &node.provenance))?;
            (body.clone(), provenance.clone())
        }
        None => {
            let body = match (&base.body, &ours.body, &theirs.body) {
                (Body::Text(base), Body::Text(ours), Body::Text(theirs)) => {
                    Body::Text(sequence(base, ours, theirs, false)?)
                }
                (Body::Value(base), Body::Value(ours), Body::Value(theirs)) => {
                    let (first, other) =
                        if our_content.json() < their_content.json() { (ours, theirs) } else { (theirs, ours) };
                    Body::Value(value(base, first, other)?)
                }
                // The order of keys counts only where nothing else changes.
                (Body::Value(base), Body::Value(ours), theirs) if base.tokens() == ours.tokens() => theirs.clone(),
                (Body::Value(base), ours, Body::Value(theirs)) if base.tokens() == theirs.tokens() => ours.clone(),
                _ => return None,
            };
            // One side may have had the changes of both.
            let is_whole = |side: &&Node| body.content() == side.content;
            let provenance = match [nodes[1], nodes[2]].into_iter().find(is_whole) {
                Some(side) => side.provenance.clone(),
                None => Provenance { note: Some(note.to_owned()), ..Provenance::default() },
            };
            (body, provenance)
        }
    };
    Some(Known::new(&nodes[0].id, body, provenance, event_time.clone()))
}

/// Notes of merges are as good as one another.
fn merged_provenance([base, ours, theirs]: [&Provenance; 3]) -> Option<&Provenance> {
    let is_note = |provenance: &Provenance| {
        let alone = Provenance { note: provenance.note.clone(), ..Provenance::default() } == *provenance;
        let made = ["merge of ", "revert of ", "undo in "];
        alone && provenance.note.as_ref().is_some_and(|note| made.iter().any(|made| note.starts_with(made)))
    };
    let alike = |one: &Provenance, other: &Provenance| one == other || is_note(one) && is_note(other);
    match () {
        () if alike(ours, theirs) => Some(ours.min(theirs)),
        () if alike(theirs, base) => Some(ours),
        () if alike(ours, base) => Some(theirs),
        () => None,
    }
}

fn tokens(items: &[Item]) -> Vec<String> {
    items.iter().map(|(_, item)| item.tokens()).collect()
}

/// Items that all three have part the rest into stretches, of which each is taken from a side or conflicts.
fn sequence(base: &[Item], ours: &[Item], theirs: &[Item], looks_inside: bool) -> Option<Vec<Item>> {
    let [base_tokens, our_tokens, their_tokens] = [base, ours, theirs].map(tokens);
    let place = |tokens: &[String], wanted: &str| tokens.iter().position(|token| token == wanted);
    let in_all = base_tokens
        .iter()
        .enumerate()
        .filter_map(|(at, token)| Some([at, place(&our_tokens, token)?, place(&their_tokens, token)?]));
    let (mut made, mut from) = (Vec::new(), [0, 0, 0]);
    for to in in_all.chain([[base.len(), ours.len(), theirs.len()]]) {
        let parts = (&base[from[0]..to[0]], &ours[from[1]..to[1]], &theirs[from[2]..to[2]]);
        made.extend(stretch(parts.0, parts.1, parts.2, looks_inside)?);
        made.extend(base.get(to[0]).cloned());
        from = to.map(|at| at + 1);
    }
    Some(made)
}

fn stretch(base: &[Item], ours: &[Item], theirs: &[Item], looks_inside: bool) -> Option<Vec<Item>> {
    let all = [base, ours, theirs].map(tokens);
    match (base, ours, theirs) {
        _ if all[1] == all[2] || all[2] == all[0] => Some(put_into(base, ours)),
        _ if all[1] == all[0] => Some(put_into(base, theirs)),
        ([(key, base)], [(_, ours)], [(_, theirs)]) if looks_inside => Some(vec![(*key, value(base, ours, theirs)?)]),
        _ => None,
    }
}

/// As many items each take the place of one.
fn put_into(base: &[Item], side: &[Item]) -> Vec<Item> {
    if base.len() != side.len() {
        return side.to_vec();
    }
    base.iter().zip(side).map(|((_, base), (key, side))| (*key, applied(base, side))).collect()
}

fn value(base: &Value, ours: &Value, theirs: &Value) -> Option<Value> {
    let [base_tokens, our_tokens, their_tokens] = [base, ours, theirs].map(Value::tokens);
    match () {
        () if our_tokens == base_tokens && their_tokens == base_tokens => Some(base.clone()),
        () if their_tokens == base_tokens || our_tokens == their_tokens => Some(applied(base, ours)),
        () if our_tokens == base_tokens => Some(applied(base, theirs)),
        () => inside(base, ours, theirs),
    }
}

/// `side`, with members in the order of the base.
fn applied(base: &Value, side: &Value) -> Value {
    inside(base, side, base).unwrap_or_else(|| side.clone())
}

fn inside(base: &Value, ours: &Value, theirs: &Value) -> Option<Value> {
    match (base, ours, theirs) {
        (Value::Array(base), Value::Array(ours), Value::Array(theirs)) => {
            sequence(base, ours, theirs, true).map(Value::Array)
        }
        (Value::Object(base), Value::Object(ours), Value::Object(theirs)) => {
            members(base, ours, theirs).map(Value::Object)
        }
        _ => None,
    }
}

type Member = (String, Value);

fn find<'v>(members: &'v [Member], key: &str) -> Option<&'v Value> {
    members.iter().find(|(other, _)| other == key).map(|(_, value)| value)
}

fn members(base: &[Member], ours: &[Member], theirs: &[Member]) -> Option<Vec<Member>> {
    // Each new member with the number of members of the base that it stands behind.
    let placed = |side: &[Member]| {
        let (mut place, mut found) = (0, Vec::new());
        for (key, value) in side {
            match base.iter().position(|(other, _)| other == key) {
                Some(at) => place = at + 1,
                None => found.push((place, key.clone(), value.clone())),
            }
        }
        found
    };
    let (mut our_new, mut their_new) = (placed(ours), placed(theirs));
    for (place, key, value) in our_new.clone() {
        if let Some(at) = their_new.iter().position(|(_, other, _)| *other == key) {
            if their_new[at].2.tokens() != value.tokens() {
                return None;
            }
            // Of two places the first.
            if place < their_new[at].0 {
                their_new.remove(at);
            } else if place > their_new[at].0 {
                our_new.retain(|(_, other, _)| *other != key);
            }
        }
    }
    let mut made: Vec<Member> = Vec::new();
    for place in 0..=base.len() {
        if let Some((key, old)) = place.checked_sub(1).map(|at| &base[at]) {
            match (find(ours, key), find(theirs, key)) {
                (Some(ours), Some(theirs)) => made.push((key.clone(), value(old, ours, theirs)?)),
                (Some(left), None) | (None, Some(left)) if left.tokens() != old.tokens() => return None,
                _ => {}
            }
        }
        let here = |new: &[(usize, String, Value)]| {
            let here = new.iter().filter(|(at, ..)| *at == place);
            here.map(|(_, key, value)| (key.clone(), value.clone())).collect::<Vec<_>>()
        };
        let (ours, theirs) = (here(&our_new), here(&their_new));
        let keys = |side: &[Member]| side.iter().map(|(key, _)| key.clone()).collect::<Vec<_>>();
        if theirs.is_empty() {
            made.extend(ours);
        } else if ours.is_empty() || keys(&ours) == keys(&theirs) {
            made.extend(theirs);
        } else {
            let by_key: BTreeMap<_, _> = theirs.into_iter().chain(ours).collect();
            made.extend(by_key);
        }
    }
    Some(made)
}
