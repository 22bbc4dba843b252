//! What a node holds, made of parts that each have a tag of their own, and the edits of it.
//!
//! A part has one tag for ever and no other has it, so what became of it is told by looking for its tag. Lines and elements
//! have keys beside, by which they are in order in every version: no edit lets two of them change places.

use crate::dice::Dice;
use mnemosyne::model::Content;
use std::collections::BTreeSet;

/// The tag of a line or a scalar.
pub type Tag = u32;

/// A line or an element of an array, with its key.
pub type Item = (u64, Value);

const KEYS: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];

/// A JSON value.
#[derive(Clone, Debug)]
pub enum Value {
    Scalar(Tag),
    Array(Vec<Item>),
    Object(Vec<(String, Value)>),
}

/// What a node holds.
#[derive(Clone, Debug)]
pub enum Body {
    /// A scalar a line.
    Text(Vec<Item>),
    Value(Value),
}

/// Where new parts come from.
pub struct Fresh {
    pub tag: Tag,
    /// Whether elements of arrays may be objects.
    pub records: bool,
}

impl Fresh {
    fn scalar(&mut self) -> Value {
        self.tag += 1;
        Value::Scalar(self.tag)
    }

    fn items(&mut self, count: usize, mut item: impl FnMut(&mut Self) -> Value) -> Vec<Item> {
        let step = u64::MAX / (count as u64 + 1);
        (1..=count as u64).map(|nth| (step * nth, item(self))).collect()
    }

    fn object(&mut self, dice: &mut Dice) -> Value {
        let mut members: Vec<_> = KEYS.iter().map(|key| ((*key).to_owned(), self.scalar())).collect();
        members.rotate_left(dice.roll(KEYS.len()));
        members.truncate(1 + dice.roll(5));
        Value::Object(members)
    }

    fn element(&mut self, dice: &mut Dice) -> Value {
        if self.records && dice.once_in(3) { self.object(dice) } else { self.scalar() }
    }

    fn array(&mut self, dice: &mut Dice) -> Value {
        let count = 1 + dice.roll(6);
        Value::Array(self.items(count, |fresh| fresh.element(dice)))
    }

    fn small(&mut self, dice: &mut Dice) -> Value {
        match dice.roll(6) {
            0 => self.array(dice),
            1 => self.object(dice),
            _ => self.scalar(),
        }
    }

    /// A body of which nothing was there before.
    pub fn body(&mut self, dice: &mut Dice) -> Body {
        match dice.roll(8) {
            0 => Body::Value(self.scalar()),
            1 => Body::Text(self.items(1, Self::scalar)),
            2 => Body::Value(self.array(dice)),
            3 | 4 => {
                let Value::Object(mut members) = self.object(dice) else { return Body::Value(self.scalar()) };
                for (_, value) in &mut members {
                    *value = self.small(dice);
                }
                Body::Value(Value::Object(members))
            }
            _ => {
                let count = 3 + dice.roll(7);
                Body::Text(self.items(count, Self::scalar))
            }
        }
    }
}

fn token(tag: Tag) -> String {
    if tag.is_multiple_of(2) { tag.to_string() } else { format!("\"t{tag}\"") }
}

impl Value {
    /// As JSON, with the members of objects in their order.
    pub fn json(&self) -> String {
        match self {
            Self::Scalar(tag) => token(*tag),
            Self::Array(items) => {
                format!("[{}]", items.iter().map(|(_, item)| item.json()).collect::<Vec<_>>().join(","))
            }
            Self::Object(members) => {
                let members = members.iter().map(|(key, value)| format!("\"{key}\":{}", value.json()));
                format!("{{{}}}", members.collect::<Vec<_>>().join(","))
            }
        }
    }

    /// The same for all values that differ at most in the order of members.
    pub fn tokens(&self) -> String {
        match self {
            Self::Scalar(tag) => token(*tag),
            Self::Array(items) => {
                format!("[{}]", items.iter().map(|(_, item)| item.tokens()).collect::<Vec<_>>().join(","))
            }
            Self::Object(members) => {
                let mut members: Vec<_> =
                    members.iter().map(|(key, value)| format!("\"{key}\":{}", value.tokens())).collect();
                members.sort();
                format!("{{{}}}", members.join(","))
            }
        }
    }

    /// Calls `visit` with the pointer and the value of each leaf; an empty container is one.
    pub fn leaves<'v>(&'v self, pointer: &str, visit: &mut impl FnMut(String, &'v Self)) {
        match self {
            Self::Array(items) if !items.is_empty() => {
                for (nth, (_, item)) in items.iter().enumerate() {
                    item.leaves(&format!("{pointer}/{nth}"), visit);
                }
            }
            Self::Object(members) if !members.is_empty() => {
                for (key, value) in members {
                    value.leaves(&format!("{pointer}/{key}"), visit);
                }
            }
            leaf => visit(pointer.to_owned(), leaf),
        }
    }
}

impl Body {
    pub fn content(&self) -> Content {
        match self {
            Self::Text(lines) => {
                let line = |(_, line): &Item| format!("line {}\n", line.json());
                Content::from_text(&lines.iter().map(line).collect::<String>())
            }
            Self::Value(value) => Content::from_json(&value.json()).expect("JSON"),
        }
    }

    pub fn tags(&self) -> BTreeSet<Tag> {
        let mut tags = BTreeSet::new();
        let mut visit = |_, leaf: &Value| {
            if let Value::Scalar(tag) = leaf {
                tags.insert(*tag);
            }
        };
        match self {
            Self::Text(lines) => lines.iter().for_each(|(_, line)| line.leaves("", &mut visit)),
            Self::Value(value) => value.leaves("", &mut visit),
        }
        tags
    }
}

/// A step from a value into it.
#[derive(Clone, Debug)]
enum Step {
    Item(u64),
    Member(String),
}

#[derive(Clone, Debug)]
enum Act {
    /// An item comes in.
    Insert(Item),
    /// An item goes.
    Remove(u64),
    /// An item goes, and another comes.
    Replace(u64, Item),
    /// A member comes in, at a place.
    Add(usize, String, Value),
    /// A member goes.
    Drop(String),
    /// Something else stands there.
    Set(Value),
}

/// A change of one place, which can be made in other versions too.
#[derive(Clone, Debug)]
pub struct Edit {
    path: Vec<Step>,
    act: Act,
}

/// A key between those of the neighbours at `place`.
fn key_at(place: usize, items: &[Item], dice: &mut Dice) -> u64 {
    let before = place.checked_sub(1).map_or(0, |at| items[at].0);
    let after = items.get(place).map_or(u64::MAX, |(key, _)| *key);
    before + 1 + dice.next() % (after - before - 1).max(1)
}

fn insert(items: &mut Vec<Item>, item: Item) -> bool {
    match items.binary_search_by_key(&item.0, |(key, _)| *key) {
        Ok(_) => false,
        Err(place) => {
            items.insert(place, item);
            true
        }
    }
}

fn remove(items: &mut Vec<Item>, key: u64) -> bool {
    let before = items.len();
    items.retain(|(other, _)| *other != key);
    items.len() < before
}

/// An edit of items; `fresh` makes a new one.
fn edit_items(items: &[Item], dice: &mut Dice, mut fresh: impl FnMut(&mut Dice) -> Value) -> Act {
    let place = dice.roll(items.len() + 1);
    match (dice.roll(3), items.get(place)) {
        (0, Some((key, _))) if items.len() > 1 => Act::Remove(*key),
        (1, Some((key, _))) => {
            let others: Vec<_> = items.iter().filter(|(other, _)| other != key).cloned().collect();
            Act::Replace(*key, (key_at(place, &others, dice), fresh(dice)))
        }
        _ => Act::Insert((key_at(place, items, dice), fresh(dice))),
    }
}

impl Edit {
    /// An edit that changes `body`.
    pub fn of(body: &Body, dice: &mut Dice, fresh: &mut Fresh) -> Self {
        let mut path = Vec::new();
        let act = match body {
            Body::Text(lines) => edit_items(lines, dice, |_| fresh.scalar()),
            Body::Value(value) => Self::inside(value, &mut path, dice, fresh),
        };
        Self { path, act }
    }

    fn inside(value: &Value, path: &mut Vec<Step>, dice: &mut Dice, fresh: &mut Fresh) -> Act {
        let in_array = path.iter().any(|step| matches!(step, Step::Item(_)));
        match value {
            Value::Scalar(_) if in_array || dice.roll(6) > 0 => Act::Set(fresh.scalar()),
            Value::Scalar(_) => Act::Set(fresh.small(dice)),
            Value::Array(items) => {
                let place = dice.roll(items.len().max(1));
                match items.get(place) {
                    Some((key, item @ Value::Object(_))) if dice.once_in(2) => {
                        path.push(Step::Item(*key));
                        Self::inside(item, path, dice, fresh)
                    }
                    Some(_) | None => edit_items(items, dice, |dice| fresh.element(dice)),
                }
            }
            Value::Object(members) => {
                let key = *dice.pick(&KEYS);
                match members.iter().find(|(other, _)| other == key) {
                    None => {
                        let value = if in_array { fresh.scalar() } else { fresh.small(dice) };
                        Act::Add(dice.roll(members.len() + 1), key.to_owned(), value)
                    }
                    // What is in an array stays full, so that no two elements become the same.
                    Some(_) if !in_array && dice.once_in(4) => Act::Drop(key.to_owned()),
                    Some((key, value)) => {
                        path.push(Step::Member(key.clone()));
                        Self::inside(value, path, dice, fresh)
                    }
                }
            }
        }
    }

    /// Makes the edit where there is what it is about; tells whether it did.
    pub fn apply(&self, body: &mut Body) -> bool {
        let value = match body {
            Body::Text(lines) => return self.path.is_empty() && self.apply_to_items(lines),
            Body::Value(value) => value,
        };
        let mut place = value;
        for step in &self.path {
            let next = match (place, step) {
                (Value::Array(items), Step::Item(key)) => {
                    items.iter_mut().find(|(other, _)| other == key).map(|(_, item)| item)
                }
                (Value::Object(members), Step::Member(key)) => {
                    members.iter_mut().find(|(other, _)| other == key).map(|(_, value)| value)
                }
                _ => None,
            };
            match next {
                Some(next) => place = next,
                None => return false,
            }
        }
        match (place, &self.act) {
            (place, Act::Set(value)) => *place = value.clone(),
            (Value::Array(items), _) => return self.apply_to_items(items),
            (Value::Object(members), Act::Add(at, key, value)) => {
                if members.iter().any(|(other, _)| other == key) {
                    return false;
                }
                members.insert((*at).min(members.len()), (key.clone(), value.clone()));
            }
            (Value::Object(members), Act::Drop(key)) => {
                let before = members.len();
                members.retain(|(other, _)| other != key);
                return members.len() < before;
            }
            _ => return false,
        }
        true
    }

    fn apply_to_items(&self, items: &mut Vec<Item>) -> bool {
        match &self.act {
            Act::Insert(item) => insert(items, item.clone()),
            Act::Remove(key) => remove(items, *key),
            Act::Replace(key, item) => {
                let is_new = items.iter().all(|(other, _)| *other != item.0);
                is_new && remove(items, *key) && insert(items, item.clone())
            }
            Act::Add(..) | Act::Drop(_) | Act::Set(_) => false,
        }
    }
}
