//! Predicates by their descriptions, read and evaluated the slow way over values.

use super::pattern;
use crate::json::{self, Spelled, Value};
use crate::node::is_id;
use mnemosyne::graph::Found;
use mnemosyne::model::{Content, NodeId};
use regex::{Regex, RegexBuilder};
use std::collections::BTreeMap;

/// How many words each takes.
const WORDS: [(&str, usize); 10] = [
    ("present", 1),
    ("absent", 1),
    ("equals", 2),
    ("equals-json", 2),
    ("contains", 2),
    ("matches", 2),
    ("path-exists", 2),
    ("path-equals", 3),
    ("count", 3),
    ("any", 2),
];

/// The nodes by their ids.
pub type Memory<'a> = BTreeMap<&'a str, Spelled<'a>>;

/// One predicate.
pub struct Claim<'w> {
    pub is_negated: bool,
    pub name: &'w str,
    words: &'w [String],
}

/// What a claim comes to.
pub struct Evaluation {
    /// Whether it is true, negated or not; `None` where that is not known here.
    pub claimed: Option<bool>,
    pub found: Found,
}

/// Reads predicates one behind another; `None` where a word is out of place.
pub fn parse(words: &[String]) -> Option<Vec<Claim<'_>>> {
    let mut claims = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let is_negated = words[at] == "--not";
        at += usize::from(is_negated);
        let name = words.get(at)?.strip_prefix("--")?;
        let (_, count) = WORDS.into_iter().find(|(known, _)| *known == name)?;
        let behind = words.get(at + 1..at + 1 + count)?;
        at += 1 + count;
        let claim = Claim { is_negated, name, words: behind };
        claim.is_sound().then(|| claims.push(claim))?;
    }
    Some(claims)
}

fn regex(text: &str) -> Option<Regex> {
    RegexBuilder::new(text).size_limit(10 << 20).build().ok()
}

impl Claim<'_> {
    fn word(&self, at: usize) -> &str {
        &self.words[at]
    }

    fn is_sound(&self) -> bool {
        let subject = match self.name {
            "count" | "any" => pattern::Pattern::read(self.word(0)).is_some(),
            _ => is_id(self.word(0)),
        };
        subject
            && match self.name {
                "equals-json" => json::read(self.word(1)).is_some(),
                "matches" => regex(self.word(1)).is_some(),
                "path-exists" => tokens(self.word(1)).is_some(),
                "path-equals" => tokens(self.word(1)).is_some() && json::read(self.word(2)).is_some(),
                "count" => {
                    let is_digits = !self.word(2).is_empty() && self.word(2).chars().all(|c| c.is_ascii_digit());
                    ["lt", "le", "eq", "ne", "ge", "gt"].contains(&self.word(1))
                        && is_digits
                        && self.word(2).parse::<u64>().is_ok()
                }
                _ => true,
            }
    }

    /// What it comes to in a memory.
    pub fn evaluate(&self, memory: &Memory<'_>) -> Evaluation {
        let known = |claimed: bool, found| Evaluation { claimed: Some(claimed), found };
        if let "count" | "any" = self.name {
            let pattern = pattern::Pattern::read(self.word(0)).expect("sound");
            let mut chosen = memory.iter().filter(|(id, _)| pattern.matches(id));
            if self.name == "any" {
                return match chosen.find(|(_, value)| readable(value).contains(self.word(1))) {
                    Some((id, value)) => known(true, Found::Node(node_id(id), content(value))),
                    None => known(false, Found::Nothing),
                };
            }
            let count = chosen.count() as u64;
            let wanted: u64 = self.word(2).parse().expect("sound");
            let claimed = match self.word(1) {
                "lt" => count < wanted,
                "le" => count <= wanted,
                "eq" => count == wanted,
                "ne" => count != wanted,
                "ge" => count >= wanted,
                _ => count > wanted,
            };
            return known(claimed, Found::Number(count));
        }

        let id = node_id(self.word(0));
        let Some(value) = memory.get(self.word(0)) else {
            return known(self.name == "absent", Found::Absent(id));
        };
        if let "path-exists" | "path-equals" = self.name {
            let tokens = tokens(self.word(1)).expect("sound");
            let place = tokens.iter().try_fold(value, |value, token| child(value, token));
            let claimed = match place {
                Some(place) if self.name == "path-equals" => same(place, self.word(2)),
                place => Some(place.is_some()),
            };
            return Evaluation { claimed, found: Found::Value(id, self.word(1).to_owned(), place.map(content)) };
        }
        let claimed = match self.name {
            "present" => Some(true),
            "absent" => Some(false),
            "equals" => Some(readable(value) == self.word(1)),
            "equals-json" => same(value, self.word(1)),
            "contains" => Some(readable(value).contains(self.word(1))),
            "matches" => Some(regex(self.word(1)).expect("sound").is_match(&readable(value))),
            other => unreachable!("{other}"),
        };
        Evaluation { claimed, found: Found::Node(id, content(value)) }
    }
}

fn node_id(text: &str) -> NodeId {
    NodeId::new(text).expect("an id")
}

fn content(value: &Spelled<'_>) -> Content {
    Content::from_json(value.text).expect("a value")
}

/// The text of a string that has one, and the JSON text of anything else.
fn readable(value: &Spelled<'_>) -> String {
    value.string().unwrap_or_else(|| value.text.to_owned())
}

/// The keys and indices of a JSON pointer.
fn tokens(pointer: &str) -> Option<Vec<String>> {
    let mut parts = pointer.split('/');
    if parts.next() != Some("") {
        return None;
    }
    let read = |token: &str| {
        let mut read = String::new();
        let mut chars = token.chars();
        while let Some(c) = chars.next() {
            read.push(match c {
                '~' => match chars.next()? {
                    '0' => '~',
                    '1' => '/',
                    _ => return None,
                },
                c => c,
            });
        }
        Some(read)
    };
    parts.map(read).collect()
}

/// The element or the last member that a token names.
fn child<'v, 'a>(value: &'v Spelled<'a>, token: &str) -> Option<&'v Spelled<'a>> {
    match &value.value {
        Value::Array(elements) => {
            elements.iter().enumerate().find(|(at, _)| at.to_string() == token).map(|found| found.1)
        }
        Value::Object(members) => {
            let is_named = |key: &Spelled<'_>| match key.string() {
                Some(text) => text == token,
                None => &key.text[1..key.text.len() - 1] == token,
            };
            members.iter().rev().find(|(key, _)| is_named(key)).map(|(_, value)| value)
        }
        Value::Word | Value::Number | Value::String(_) => None,
    }
}

/// A value that is the same however it is spelled.
#[derive(PartialEq, Eq)]
enum Plain {
    Word(String),
    /// The sign, digits without a zero at either end, and the power of ten that they are multiplied with.
    Number(bool, String, i128),
    String(Vec<u16>),
    Array(Vec<Plain>),
    Object(BTreeMap<Vec<u16>, Plain>),
}

/// Whether a value is the one that a JSON text spells; `None` where an exponent is too long for a number here.
fn same(value: &Spelled<'_>, json: &str) -> Option<bool> {
    let other = json::read(json).expect("sound");
    Some(plain(value)? == plain(&other)?)
}

fn plain(value: &Spelled<'_>) -> Option<Plain> {
    Some(match &value.value {
        Value::Word => Plain::Word(value.text.to_owned()),
        Value::Number => number(value.text)?,
        Value::String(units) => Plain::String(units.clone()),
        Value::Array(elements) => Plain::Array(elements.iter().map(plain).collect::<Option<_>>()?),
        Value::Object(members) => {
            let mut found = BTreeMap::new();
            for (key, value) in members {
                let Value::String(key) = &key.value else { unreachable!("a key is a string") };
                found.insert(key.clone(), plain(value)?);
            }
            Plain::Object(found)
        }
    })
}

fn number(text: &str) -> Option<Plain> {
    let lower = text.to_ascii_lowercase();
    let (mantissa, exponent) = lower.split_once('e').unwrap_or((&lower, "0"));
    let mut power: i128 = exponent.parse().ok().filter(|power: &i128| power.unsigned_abs() < 1 << 120)?;
    let digits = mantissa.trim_start_matches('-');
    power -= digits.split_once('.').map_or(0, |(_, fraction)| fraction.len()) as i128;
    let mut digits = digits.replace('.', "");
    while digits.ends_with('0') {
        digits.pop();
        power += 1;
    }
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() {
        return Some(Plain::Number(false, String::new(), 0));
    }
    Some(Plain::Number(mantissa.starts_with('-'), digits.to_owned(), power))
}
