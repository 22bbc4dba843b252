//! Whether a predicate holds in a memory, and what stood there.

use super::json_value::same_value;
use super::{Claim, Comparison, Pointer, Predicate, Subject};
use crate::model::{Content, NodeId, Pattern, pointer};
use crate::object::Kept;
use std::convert::Infallible;

/// What a memory has under an id, as far as a predicate can tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// No node.
    Absent,
    /// A node that nobody can read.
    Redacted,
    /// A node with this content.
    Content(Content),
}

impl Seen {
    /// What the node says, where there is one that can be read.
    pub fn content(&self) -> Option<&Content> {
        match self {
            Self::Content(content) => Some(content),
            Self::Absent | Self::Redacted => None,
        }
    }
}

impl From<Option<Kept>> for Seen {
    fn from(kept: Option<Kept>) -> Self {
        match kept {
            None => Self::Absent,
            Some(Kept::Redacted(_)) => Self::Redacted,
            Some(Kept::Node(node)) => Self::Content(node.content),
        }
    }
}

/// A memory that can be asked.
pub trait State {
    /// Why it cannot be read.
    type Error;

    /// What it has under an id.
    fn seen(&self, id: &NodeId) -> Result<Seen, Self::Error>;

    /// How many nodes match.
    fn count(&self, pattern: &Pattern) -> Result<u64, Self::Error>;

    /// The first node, in the order of the ids, that matches and whose content is `wanted`; with that content.
    fn first(
        &self,
        pattern: &Pattern,
        wanted: impl FnMut(&Content) -> bool,
    ) -> Result<Option<(NodeId, Content)>, Self::Error>;
}

/// What a predicate came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evaluation {
    /// Whether it holds.
    pub holds: bool,
    /// What it found.
    pub found: Found,
}

/// What stands where a predicate looked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// No node of this id.
    Absent(NodeId),
    /// The node of this id, which is redacted.
    Redacted(NodeId),
    /// The node of this id, with this content: where several match, the first that contains the text.
    Node(NodeId, Content),
    /// The node of this id, and the value that its content has at a JSON pointer, if any.
    Value(NodeId, String, Option<Content>),
    /// So many nodes that match.
    Number(u64),
    /// No node that matches and contains the text.
    Nothing,
}

impl Predicate {
    /// Holds it against a memory.
    pub fn evaluate<S: State>(&self, state: &S) -> Result<Evaluation, S::Error> {
        let (claimed, found) = match &self.claim {
            Claim::Present(id) => on_content(state, id, |_| true)?,
            Claim::Absent(id) => {
                let (_, found) = on_content(state, id, |_| true)?;
                (matches!(found, Found::Absent(_)), found)
            }
            Claim::Equals(id, text) => on_content(state, id, |content| content.readable() == *text)?,
            Claim::EqualsJson(id, json) => on_content(state, id, |content| same_value(content.json(), json.json()))?,
            Claim::Contains(id, text) => on_content(state, id, |content| contains(content, text))?,
            Claim::Matches(id, regex) => on_content(state, id, |content| regex.is_match(&content.readable()))?,
            Claim::PathExists(id, path) => on_value(state, id, path, |_| true)?,
            Claim::PathEquals(id, path, json) => on_value(state, id, path, |value| same_value(value, json.json()))?,
            Claim::Count(pattern, comparison, number) => {
                let count = state.count(pattern)?;
                (comparison.holds(count, *number), Found::Number(count))
            }
            Claim::Any(pattern, text) => {
                let first = state.first(pattern, |content| contains(content, text))?;
                (first.is_some(), first.map_or(Found::Nothing, |(id, content)| Found::Node(id, content)))
            }
        };
        Ok(Evaluation { holds: claimed != self.is_negated, found })
    }
}

impl Predicate {
    /// Whether it asks that something does not stand in a text, and that stands in `text`.
    pub fn finds_in(&self, text: &str) -> bool {
        let found = match &self.claim {
            Claim::Contains(_, wanted) | Claim::Any(_, wanted) => !wanted.is_empty() && text.contains(wanted.as_str()),
            Claim::Matches(_, regex) => regex.is_match(text),
            Claim::Present(_)
            | Claim::Absent(_)
            | Claim::Equals(..)
            | Claim::EqualsJson(..)
            | Claim::PathExists(..)
            | Claim::PathEquals(..)
            | Claim::Count(..) => false,
        };
        found && self.is_negated
    }
}

/// A memory of which one node counts, or its absence.
struct Alone<'a>(&'a NodeId, &'a Seen);

impl State for Alone<'_> {
    type Error = Infallible;

    fn seen(&self, _: &NodeId) -> Result<Seen, Infallible> {
        Ok(self.1.clone())
    }

    fn count(&self, _: &Pattern) -> Result<u64, Infallible> {
        Ok(u64::from(*self.1 != Seen::Absent))
    }

    fn first(
        &self,
        _: &Pattern,
        mut wanted: impl FnMut(&Content) -> bool,
    ) -> Result<Option<(NodeId, Content)>, Infallible> {
        Ok(self.1.content().filter(|content| wanted(content)).map(|content| (self.0.clone(), content.clone())))
    }
}

impl Predicate {
    /// Whether it would hold if of all nodes at which it looks there were only `id`, with this under it.
    pub fn holds_with(&self, id: &NodeId, seen: &Seen) -> bool {
        let Ok(Evaluation { holds, .. }) = self.evaluate(&Alone(id, seen));
        holds
    }
}

impl Predicate {
    /// Whether it looks at the node `id`.
    pub fn looks_at(&self, id: &NodeId) -> bool {
        match self.subject() {
            Subject::Node(own) => own == id,
            Subject::Nodes(pattern) => pattern.matches(id.as_str()),
        }
    }

    /// What the node `id`, with this under it, adds to the number by which [`Predicate::holds_at`] decides. That
    /// of a memory is the sum over all nodes, and where it looks at one that is absent, that of the absent one.
    pub fn weight(&self, id: &NodeId, seen: &Seen) -> u64 {
        u64::from(
            self.looks_at(id)
                && match &self.claim {
                    Claim::Count(..) => *seen != Seen::Absent,
                    Claim::Any(_, text) => seen.content().is_some_and(|content| contains(content, text)),
                    Claim::Present(_)
                    | Claim::Absent(_)
                    | Claim::Equals(..)
                    | Claim::EqualsJson(..)
                    | Claim::Contains(..)
                    | Claim::Matches(..)
                    | Claim::PathExists(..)
                    | Claim::PathEquals(..) => self.holds_with(id, seen),
                },
        )
    }

    /// Whether it holds in a memory whose nodes add up to `number`.
    pub fn holds_at(&self, number: u64) -> bool {
        match &self.claim {
            Claim::Count(_, comparison, wanted) => comparison.holds(number, *wanted) != self.is_negated,
            Claim::Any(..) => (number > 0) != self.is_negated,
            Claim::Present(_)
            | Claim::Absent(_)
            | Claim::Equals(..)
            | Claim::EqualsJson(..)
            | Claim::Contains(..)
            | Claim::Matches(..)
            | Claim::PathExists(..)
            | Claim::PathEquals(..) => number > 0,
        }
    }
}

fn on_content<S: State>(
    state: &S,
    id: &NodeId,
    claim: impl FnOnce(&Content) -> bool,
) -> Result<(bool, Found), S::Error> {
    Ok(match state.seen(id)? {
        Seen::Content(content) => (claim(&content), Found::Node(id.clone(), content)),
        Seen::Redacted => (false, Found::Redacted(id.clone())),
        Seen::Absent => (false, Found::Absent(id.clone())),
    })
}

fn on_value<S: State>(
    state: &S,
    id: &NodeId,
    Pointer(path): &Pointer,
    claim: impl FnOnce(&str) -> bool,
) -> Result<(bool, Found), S::Error> {
    let content = match state.seen(id)? {
        Seen::Content(content) => content,
        Seen::Redacted => return Ok((false, Found::Redacted(id.clone()))),
        Seen::Absent => return Ok((false, Found::Absent(id.clone()))),
    };
    let value = pointer(content.json(), path).expect("the pointer was checked when it was read");
    let kept = value.map(|value| Content::from_json(value).expect("a part of JSON is JSON"));
    Ok((value.is_some_and(claim), Found::Value(id.clone(), path.clone(), kept)))
}

fn contains(content: &Content, text: &str) -> bool {
    content.readable().contains(text)
}

impl Comparison {
    fn holds(self, count: u64, number: u64) -> bool {
        match self {
            Self::Less => count < number,
            Self::AtMost => count <= number,
            Self::Equal => count == number,
            Self::NotEqual => count != number,
            Self::AtLeast => count >= number,
            Self::More => count > number,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// A memory of a few nodes: ids with JSON texts.
    struct Few(BTreeMap<NodeId, Content>);

    impl Few {
        fn of(nodes: &[(&str, &str)]) -> Self {
            let node =
                |(id, json): &(&str, &str)| (NodeId::new(*id).expect("an id"), Content::from_json(json).expect("JSON"));
            Self(nodes.iter().map(node).collect())
        }
    }

    impl State for Few {
        type Error = Infallible;

        fn seen(&self, id: &NodeId) -> Result<Seen, Infallible> {
            Ok(self.0.get(id).map_or(Seen::Absent, |content| Seen::Content(content.clone())))
        }

        fn count(&self, pattern: &Pattern) -> Result<u64, Infallible> {
            Ok(self.0.keys().filter(|id| pattern.matches(id.as_str())).count() as u64)
        }

        fn first(
            &self,
            pattern: &Pattern,
            mut wanted: impl FnMut(&Content) -> bool,
        ) -> Result<Option<(NodeId, Content)>, Infallible> {
            let found = self.0.iter().find(|(id, content)| pattern.matches(id.as_str()) && wanted(content));
            Ok(found.map(|(id, content)| (id.clone(), content.clone())))
        }
    }

    /// Evaluates one predicate.
    fn evaluated(state: &Few, words: &[&str]) -> Evaluation {
        let words: Vec<_> = words.iter().map(|word| (*word).to_owned()).collect();
        let [predicate] = &parse(&words).expect("predicates")[..] else { panic!("one predicate: {words:?}") };
        predicate.evaluate(state).expect("it is readable")
    }

    #[test]
    fn each_predicate_holds_where_its_page_says() {
        let state = Few::of(&[
            ("diet", r#""vegan since\n2019""#),
            ("escaped", r#""\u0071""#),
            ("lone", r#""\ud83d""#),
            ("empty", r#""""#),
            ("one", "1.0"),
            ("list", r#"{ "a" : [1, {"b": null}], "x/y": "-5" }"#),
            ("user/a", r#""steak""#),
            ("user/b", "true"),
            ("user/b/c", "0"),
        ]);
        for (words, holds) in [
            (&["--present", "diet"][..], true),
            (&["--present", "none"], false),
            (&["--absent", "diet"], false),
            (&["--absent", "none"], true),
            (&["--equals", "diet", "vegan since\n2019"], true),
            (&["--equals", "diet", "vegan"], false),
            (&["--equals", "diet", r#""vegan since\n2019""#], false),
            (&["--equals", "escaped", "q"], true),
            (&["--equals", "lone", r#""\ud83d""#], true),
            (&["--equals", "empty", ""], true),
            (&["--equals", "one", "1.0"], true),
            (&["--equals", "one", "1"], false),
            (&["--equals", "none", ""], false),
            (&["--equals-json", "one", "1"], true),
            (&["--equals-json", "one", "\"1.0\""], false),
            (&["--equals-json", "escaped", "\"q\""], true),
            (&["--equals-json", "list", r#"{"x\/y":"-5","a":[1e0,{"b":null}]}"#], true),
            (&["--equals-json", "list", r#"{"x/y":"-5"}"#], false),
            (&["--equals-json", "none", "null"], false),
            (&["--contains", "diet", "an since"], true),
            (&["--contains", "diet", ""], true),
            (&["--contains", "diet", "Vegan"], false),
            (&["--contains", "list", "\"b\": null"], true),
            (&["--contains", "escaped", "u"], false),
            (&["--contains", "none", ""], false),
            (&["--matches", "diet", "^vegan.*"], true),
            (&["--matches", "diet", "since$"], false),
            (&["--matches", "diet", "(?m)since$"], true),
            (&["--matches", "diet", "2[0-9]+"], true),
            (&["--matches", "one", r"^1\.0$"], true),
            (&["--matches", "none", ""], false),
            (&["--path-exists", "list", "/a/1/b"], true),
            (&["--path-exists", "list", "/a/2"], false),
            (&["--path-exists", "list", ""], true),
            (&["--path-exists", "diet", "/a"], false),
            (&["--path-exists", "none", ""], false),
            (&["--path-equals", "list", "/a/1/b", "null"], true),
            (&["--path-equals", "list", "/a/0", "10e-1"], true),
            (&["--path-equals", "list", "/x~1y", "\"-5\""], true),
            (&["--path-equals", "list", "/x~1y", "-5"], false),
            (&["--path-equals", "list", "/b", "null"], false),
            (&["--path-equals", "none", "", "null"], false),
            (&["--count", "user/", "eq", "3"], true),
            (&["--count", "user/*", "eq", "2"], true),
            (&["--count", "user/*", "lt", "2"], false),
            (&["--count", "user/*", "lt", "3"], true),
            (&["--count", "user/*", "le", "1"], false),
            (&["--count", "user/*", "le", "2"], true),
            (&["--count", "user/*", "ne", "2"], false),
            (&["--count", "user/*", "ne", "3"], true),
            (&["--count", "user/*", "ge", "3"], false),
            (&["--count", "user/*", "ge", "2"], true),
            (&["--count", "user/*", "gt", "2"], false),
            (&["--count", "user/*", "gt", "1"], true),
            (&["--count", "none", "eq", "0"], true),
            (&["--any", "user/", "tea"], true),
            (&["--any", "user/b/", "tea"], false),
            (&["--any", "none", ""], false),
        ] {
            assert_eq!(evaluated(&state, words).holds, holds, "{words:?}");
            let negated = [&["--not"], words].concat();
            assert_eq!(evaluated(&state, &negated).holds, !holds, "{negated:?}");
        }
    }

    #[test]
    fn what_was_found_is_what_stands_there() {
        let state = Few::of(&[("a", r#"{"b":[ 1 ]}"#), ("c", "\"steak\""), ("d", "\"steak\"")]);
        let id = |text: &str| NodeId::new(text).expect("an id");
        let json = |text: &str| Content::from_json(text).expect("JSON");
        for (words, found) in [
            (&["--present", "c"][..], Found::Node(id("c"), json("\"steak\""))),
            (&["--not", "--present", "x"], Found::Absent(id("x"))),
            (&["--absent", "c"], Found::Node(id("c"), json("\"steak\""))),
            (&["--path-exists", "a", "/b"], Found::Value(id("a"), "/b".to_owned(), Some(json("[ 1 ]")))),
            (&["--path-equals", "a", "/c", "1"], Found::Value(id("a"), "/c".to_owned(), None)),
            (&["--path-equals", "x", "/c", "1"], Found::Absent(id("x"))),
            (&["--count", "[cd]", "eq", "0"], Found::Number(2)),
            (&["--any", "*", "steak"], Found::Node(id("c"), json("\"steak\""))),
            (&["--any", "*", "tofu"], Found::Nothing),
        ] {
            assert_eq!(evaluated(&state, words).found, found, "{words:?}");
        }
    }

    /// A scalar, or an array or object of scalars, small enough for serde_json to be right about it.
    fn content() -> impl Strategy<Value = String> {
        prop::sample::select(vec!["1", "2", "true", "\"a\"", "\"ab\"", "[1]", "{\"a\":1}", "[1,\"a\"]", "{\"a\":[1]}"])
            .prop_map(str::to_owned)
    }

    /// The same by the parser's own values.
    fn naive(nodes: &BTreeMap<String, String>, words: &[String]) -> bool {
        let value = |json: &String| serde_json::from_str::<serde_json::Value>(json).expect("JSON");
        let text = |json: &String| match value(json) {
            serde_json::Value::String(text) => text,
            _ => json.clone(),
        };
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        let matches = |pattern: &str, id: &str| pattern == id || pattern == "*";
        let inside = |pattern: &str| -> Vec<&String> {
            nodes.iter().filter(|(id, _)| matches(pattern, id)).map(|(_, json)| json).collect()
        };
        match words[..] {
            ["--not", ..] => !naive(nodes, &words[1..].iter().map(|word| (*word).to_owned()).collect::<Vec<_>>()),
            ["--present", id] => nodes.contains_key(id),
            ["--absent", id] => !nodes.contains_key(id),
            ["--equals", id, wanted] => nodes.get(id).is_some_and(|json| text(json) == wanted),
            ["--contains", id, wanted] => nodes.get(id).is_some_and(|json| text(json).contains(wanted)),
            ["--equals-json", id, wanted] => nodes.get(id).is_some_and(|json| value(json) == value(&wanted.to_owned())),
            ["--path-exists", id, path] => nodes.get(id).is_some_and(|json| value(json).pointer(path).is_some()),
            ["--path-equals", id, path, wanted] => {
                nodes.get(id).is_some_and(|json| value(json).pointer(path) == Some(&value(&wanted.to_owned())))
            }
            ["--count", pattern, "gt", number] => inside(pattern).len() > number.parse().expect("a number"),
            ["--any", pattern, wanted] => inside(pattern).into_iter().any(|json| text(json).contains(wanted)),
            _ => panic!("{words:?}"),
        }
    }

    fn predicate() -> impl Strategy<Value = Vec<String>> {
        let id = prop::sample::select(vec!["a", "b", "c"]);
        let pattern = prop::sample::select(vec!["a", "b", "*"]);
        let path = prop::sample::select(vec!["", "/a", "/0", "/1", "/a/0"]);
        let parts = (id, pattern, path, content(), prop::sample::select(vec!["", "a", "b", "1", "[1]"]), 0..3_u8);
        (parts, 0..9_u8, any::<bool>()).prop_map(|((id, pattern, path, json, text, number), kind, is_negated)| {
            let number = number.to_string();
            let words = match kind {
                0 => vec!["--present", id],
                1 => vec!["--absent", id],
                2 => vec!["--equals", id, text],
                3 => vec!["--contains", id, text],
                4 => vec!["--equals-json", id, &json],
                5 => vec!["--path-exists", id, path],
                6 => vec!["--path-equals", id, path, &json],
                7 => vec!["--count", pattern, "gt", &number],
                _ => vec!["--any", pattern, text],
            };
            let not = is_negated.then_some("--not");
            not.into_iter().chain(words).map(str::to_owned).collect()
        })
    }

    proptest! {
        #[test]
        fn a_predicate_holds_where_the_naive_reading_says(
            nodes in prop::collection::btree_map("[abc]", content(), 0..4),
            words in predicate(),
        ) {
            let few: Vec<_> = nodes.iter().map(|(id, json)| (id.as_str(), json.as_str())).collect();
            let words_read: Vec<_> = words.iter().map(String::as_str).collect();
            prop_assert_eq!(evaluated(&Few::of(&few), &words_read).holds, naive(&nodes, &words), "{:?} {:?}", few, words);
        }

        #[test]
        fn the_nodes_of_a_memory_add_up_to_whether_it_holds(
            nodes in prop::collection::btree_map("[abc]", content(), 0..4),
            words in predicate(),
        ) {
            let few: Vec<_> = nodes.iter().map(|(id, json)| (id.as_str(), json.as_str())).collect();
            let few = Few::of(&few);
            let predicate = &parse(&words).expect("a predicate")[0];
            let mut sum: u64 = few.0.iter().map(|(id, content)| predicate.weight(id, &Seen::Content(content.clone()))).sum();
            if let Subject::Node(id) = predicate.subject() && !few.0.contains_key(id) {
                sum += predicate.weight(id, &Seen::Absent);
            }
            let Ok(Evaluation { holds, .. }) = predicate.evaluate(&few);
            prop_assert_eq!(predicate.holds_at(sum), holds, "{:?} {:?}", nodes, words);
        }
    }
}
