//! The text of a JSON container, taken apart and put together.

use crate::model::{Part, Tree, parts};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

/// A JSON value.
#[derive(Clone, Copy)]
pub(super) struct Value<'a> {
    /// As it is spelled, without white space around it.
    pub(super) text: &'a str,
    pub(super) tokens: Tokens<'a>,
}

/// A value without white space outside strings. Equal ones differ at most in the order and the spelling of keys.
#[derive(Clone, Copy)]
pub(super) struct Tokens<'a>(pub(super) &'a Tree<'a>);

impl PartialEq for Tokens<'_> {
    fn eq(&self, other: &Self) -> bool {
        if self.0.text() == other.0.text() {
            return true;
        }
        match (self.0, other.0) {
            (Tree::Array { elements: one, .. }, Tree::Array { elements: other, .. }) => {
                one.len() == other.len() && one.iter().zip(other).all(|(one, other)| Tokens(one) == Tokens(other))
            }
            (Tree::Object { members: one, .. }, Tree::Object { members: other, .. }) if one.len() == other.len() => {
                members_by_key(one).zip(members_by_key(other)).is_some_and(|(one, other)| {
                    let same = |key, value| other.get(key).is_some_and(|(_, there)| Tokens(value) == Tokens(there));
                    one.into_iter().all(|(key, (_, value))| same(key, value))
                })
            }
            _ => false,
        }
    }
}

impl Eq for Tokens<'_> {}

impl Hash for Tokens<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self.0 {
            Tree::Scalar(text) | Tree::Closed { text, .. } => text.hash(state),
            Tree::Array { elements, .. } => elements.iter().for_each(|element| Tokens(element).hash(state)),
            Tree::Object { members, .. } => {
                let mut members: Vec<_> = members.iter().map(|(key, value)| (key, Tokens(value))).collect();
                members.sort_by_key(|(key, _)| *key);
                members.hash(state);
            }
        }
    }
}

/// Members by their keys, each with its place; `None` where a key comes twice.
pub(super) fn members_by_key<'t, 'a>(
    members: &'t [(Cow<'a, str>, Tree<'a>)],
) -> Option<BTreeMap<&'t str, (usize, &'t Tree<'a>)>> {
    let by_key: BTreeMap<_, _> =
        members.iter().enumerate().map(|(at, (key, value))| (key.as_ref(), (at, value))).collect();
    (by_key.len() == members.len()).then_some(by_key)
}

/// An array or an object, and where its parts are.
pub(super) struct Container<'a> {
    text: &'a str,
    parts: Vec<Part>,
    values: Vec<Tokens<'a>>,
}

impl<'a> Container<'a> {
    /// `None` for a scalar and for what is not looked into.
    pub(super) fn of(value: Value<'a>) -> Option<Self> {
        let values: Vec<_> = match value.tokens.0 {
            Tree::Array { elements, .. } => elements.iter().map(Tokens).collect(),
            Tree::Object { members, .. } => members.iter().map(|(_, value)| Tokens(value)).collect(),
            Tree::Scalar(_) | Tree::Closed { .. } => return None,
        };
        let parts = parts(value.text);
        // So it is in JSON; in other texts brackets may be missing, and tokens that white space parts become one.
        let is_whole = parts.len() == values.len() && parts.last().map_or(1, |part| part.end) < value.text.len();
        is_whole.then_some(Self { text: value.text, parts, values })
    }

    pub(super) fn len(&self) -> usize {
        self.parts.len()
    }

    pub(super) fn values(&self) -> &[Tokens<'a>] {
        &self.values
    }

    pub(super) fn value(&self, at: usize) -> Value<'a> {
        let Part { value, end, .. } = self.parts[at];
        Value { text: &self.text[value..end], tokens: self.values[at] }
    }

    /// The key of a member and what is between it and the value; nothing for an element.
    fn key(&self, at: usize) -> &'a str {
        let Part { start, value, .. } = self.parts[at];
        &self.text[start..value]
    }

    /// What is before the first part, or all where there is none.
    fn opening(&self) -> &'a str {
        let end = self.parts.first().map_or(self.text.len() - 1, |part| part.start);
        &self.text[1..end]
    }

    /// What is behind the last part.
    fn closing(&self) -> &'a str {
        let start = self.parts.last().map_or(1, |part| part.end);
        &self.text[start..self.text.len() - 1]
    }

    /// A comma and the white space around it as it stands, or would, before this part.
    fn separator(&self, at: usize) -> Cow<'a, str> {
        match self.parts.get(at.saturating_sub(1)..=at.max(1)) {
            Some([before, part]) => self.text[before.end..part.start].into(),
            Some(_) | None => format!(",{}", self.opening()).into(),
        }
    }
}

/// A part of a container that is to be.
pub(super) struct Item<'c, 'a> {
    /// Where it comes from.
    from: &'c Container<'a>,
    at: usize,
    value: Cow<'a, str>,
}

impl<'c, 'a> Item<'c, 'a> {
    /// A part as it stands.
    pub(super) fn kept(from: &'c Container<'a>, at: usize) -> Self {
        Self { from, at, value: from.value(at).text.into() }
    }

    /// A part with another value in it.
    pub(super) fn with(from: &'c Container<'a>, at: usize, value: Cow<'a, str>) -> Self {
        Self { from, at, value }
    }
}

/// The text of `base` with these items in it.
pub(super) fn written<'a>(base: &Container<'a>, items: &[Item<'_, 'a>]) -> String {
    let (open, close) = (&base.text[..1], &base.text[base.text.len() - 1..]);
    let (Some(first), Some(last)) = (items.first(), items.last()) else {
        let inside = if base.len() == 0 { base.opening() } else { "" };
        return [open, inside, close].concat();
    };
    let (opening, closing) =
        if base.len() == 0 { (first.from.opening(), last.from.closing()) } else { (base.opening(), base.closing()) };
    let mut text = [open, opening].concat();
    for (nth, item) in items.iter().enumerate() {
        if nth > 0 {
            let of = if item.at == 0 { first } else { item };
            text.push_str(&of.from.separator(of.at));
        }
        text.push_str(item.from.key(item.at));
        text.push_str(&item.value);
    }
    text.push_str(closing);
    text.push_str(close);
    text
}
