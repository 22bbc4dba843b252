//! Two JSON values: what differs, by leaf.

use super::leaves::Pointer;
use super::{Edit, edits};
use crate::model::{ArrayLimit, Limit, Tree, minify};
use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::time::Instant;

/// A larger array is compared as a whole.
pub(in crate::graph) const ARRAY_LIMIT: ArrayLimit = ArrayLimit { elements: 10_000, bytes: 10_000_000 };

/// What became of a place in a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Only the new value has it.
    Add,
    /// Only the old value has it.
    Remove,
    /// It holds something else.
    Replace,
}

/// A place where two values differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathChange {
    /// What became of it.
    pub op: Op,
    /// Its RFC 6901 pointer: into the old value for a removal, else into the new one.
    pub path: String,
    /// What was there, as it is spelled, without white space outside strings.
    pub old: Option<String>,
    /// What is there.
    pub new: Option<String>,
}

/// What is to be said of a comparison besides its changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remark {
    /// A part deeper than 128 levels was compared as a whole.
    TooDeep,
    /// An array of more than 10,000 elements or 10 MB was compared as a whole.
    TooLarge,
    /// No leaf differs, but keys stand in another order.
    Reordered,
    /// No leaf differs, and neither does the order, but white space or the spelling of a key does.
    Respelled,
}

impl From<Limit> for Remark {
    fn from(limit: Limit) -> Self {
        match limit {
            Limit::Depth => Self::TooDeep,
            Limit::Size => Self::TooLarge,
        }
    }
}

/// What [`value_edits`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueEdits {
    /// In the order of the values: of an object first what the old one has too, then what was added.
    pub changes: Vec<PathChange>,
    /// `None` for equal texts, and where the changes say all.
    pub remark: Option<Remark>,
    /// Whether the search for common elements gave up somewhere.
    pub simplified: bool,
}

/// What makes the value `new` of the value `old`, both JSON text.
///
/// Objects are compared by key, the n-th of equal keys with the n-th; arrays by a longest common sequence of elements,
/// and what took the place of something else is compared with it one to one. Tokens are equal when they are spelled alike.
pub fn value_edits(old: &str, new: &str, until: Option<Instant>) -> ValueEdits {
    let (old_tokens, new_tokens) = (minify(old), minify(new));
    let mut comparison = Comparison { until, ..Comparison::default() };
    comparison.compare(&Tree::of(&old_tokens, ARRAY_LIMIT), &Tree::of(&new_tokens, ARRAY_LIMIT));
    let Comparison { changes, remark, simplified, reordered, .. } = comparison;
    let same = match (changes.is_empty(), old == new) {
        (false, _) | (true, true) => None,
        (true, false) if reordered => Some(Remark::Reordered),
        (true, false) => Some(Remark::Respelled),
    };
    ValueEdits { changes, remark: remark.or(same), simplified }
}

/// A key and its value.
type Member<'a> = (Cow<'a, str>, Tree<'a>);

/// A comparison under way, at a place in both values.
#[derive(Default)]
struct Comparison {
    until: Option<Instant>,
    old_path: Pointer,
    new_path: Pointer,
    changes: Vec<PathChange>,
    remark: Option<Remark>,
    simplified: bool,
    reordered: bool,
}

impl Comparison {
    fn compare(&mut self, old: &Tree<'_>, new: &Tree<'_>) {
        if old.text() == new.text() {
            return;
        }
        match (old, new) {
            (Tree::Object { members: old, .. }, Tree::Object { members: new, .. }) => self.members(old, new),
            (Tree::Array { elements: old, .. }, Tree::Array { elements: new, .. }) => self.elements(old, new),
            (Tree::Closed { limit, .. }, _) | (_, Tree::Closed { limit, .. })
                if old.text().as_bytes().first() == new.text().as_bytes().first() =>
            {
                self.remark.get_or_insert(Remark::from(*limit));
                self.push(Op::Replace, Some(old), Some(new));
            }
            _ => self.push(Op::Replace, Some(old), Some(new)),
        }
    }

    fn push(&mut self, op: Op, old: Option<&Tree<'_>>, new: Option<&Tree<'_>>) {
        let path = match op {
            Op::Remove => &self.old_path,
            Op::Add | Op::Replace => &self.new_path,
        };
        let text = |tree: &Tree<'_>| tree.text().to_owned();
        self.changes.push(PathChange { op, path: path.as_str().to_owned(), old: old.map(text), new: new.map(text) });
    }

    fn members(&mut self, old: &[Member<'_>], new: &[Member<'_>]) {
        let pairs = pair_members(old, new);
        let mut added = vec![true; new.len()];
        let mut last = 0;
        for ((key, old), at) in old.iter().zip(pairs) {
            let ends = (self.old_path.push_key(key), self.new_path.push_key(key));
            match at {
                Some(at) => {
                    self.compare(old, &new[at].1);
                    self.reordered |= at < last;
                    (added[at], last) = (false, at);
                }
                None => self.push(Op::Remove, Some(old), None),
            }
            self.back_to(ends);
        }
        for ((key, new), _) in new.iter().zip(added).filter(|(_, added)| *added) {
            let end = self.new_path.push_key(key);
            self.push(Op::Add, None, Some(new));
            self.new_path.back_to(end);
        }
    }

    fn elements(&mut self, old: &[Tree<'_>], new: &[Tree<'_>]) {
        let found = edits(&texts(old), &texts(new), self.until);
        self.simplified |= found.simplified;
        for (old_at, new_at) in found.edits.iter().flat_map(Edit::pairs) {
            // The path of the side that has nothing there is told of nothing.
            let [old_index, new_index] = [old_at, new_at].map(Option::unwrap_or_default);
            let ends = (self.old_path.push_index(old_index), self.new_path.push_index(new_index));
            match (old_at.map(|at| &old[at]), new_at.map(|at| &new[at])) {
                (Some(old), Some(new)) => self.compare(old, new),
                (Some(old), None) => self.push(Op::Remove, Some(old), None),
                (None, new) => self.push(Op::Add, None, new),
            }
            self.back_to(ends);
        }
    }

    fn back_to(&mut self, (old_end, new_end): (usize, usize)) {
        self.old_path.back_to(old_end);
        self.new_path.back_to(new_end);
    }
}

/// For each old member the place of the new one that is compared with it: the n-th of equal keys with the n-th.
pub(in crate::graph) fn pair_members(old: &[Member<'_>], new: &[Member<'_>]) -> Vec<Option<usize>> {
    let mut places: HashMap<&str, VecDeque<usize>> = HashMap::new();
    for (at, (key, _)) in new.iter().enumerate() {
        places.entry(key).or_default().push_back(at);
    }
    old.iter().map(|(key, _)| places.get_mut(key.as_ref())?.pop_front()).collect()
}

/// Each element as it is spelled.
pub(in crate::graph) fn texts<'a>(elements: &[Tree<'a>]) -> Vec<&'a str> {
    elements.iter().map(Tree::text).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    /// A value of few kinds of leaves, so that two of them have much in common.
    pub(in super::super) fn value() -> impl Strategy<Value = Value> {
        let scalar = prop::sample::select(vec!["null", "1", "1.0", "\"a\"", "\"b\"", "[]", "{}"]);
        let scalar = scalar.prop_map(|text| serde_json::from_str::<Value>(text).expect("a value"));
        let key = prop::sample::select(vec!["a", "b", "", "~1", "/", "0"]).prop_map(str::to_owned);
        scalar.prop_recursive(4, 40, 6, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::btree_map(key.clone(), inner, 0..5)
                    .prop_map(|all| Value::Object(all.into_iter().collect())),
            ]
        })
    }

    fn told(old: &str, new: &str) -> (Vec<String>, Option<Remark>) {
        let ValueEdits { changes, remark, simplified } = value_edits(old, new, None);
        assert!(!simplified);
        let line = |change: PathChange| {
            let (old, new) = (change.old.as_deref(), change.new.as_deref());
            match change.op {
                Op::Add => format!("+ {} {}{}", change.path, new.expect("it is new"), old.unwrap_or_default()),
                Op::Remove => format!("- {} {}{}", change.path, old.expect("it was there"), new.unwrap_or_default()),
                Op::Replace => format!("! {} {} {}", change.path, old.expect("it was there"), new.expect("it is new")),
            }
        };
        (changes.into_iter().map(line).collect(), remark)
    }

    #[test]
    fn changes_are_told_by_leaf_as_spelled() {
        for (old, new, expected) in [
            ("1", "1", &[][..]),
            ("1", "1.0", &["!  1 1.0"]),
            (r#""a""#, r#""\u0061""#, &[r#"!  "a" "\u0061""#]),
            ("[]", "{}", &["!  [] {}"]),
            (r#"{"a":1,"b":{"c":[1 , 2]}}"#, r#"{"a":2}"#, &["! /a 1 2", r#"- /b {"c":[1,2]}"#]),
            (r#"{"x":0,"a":1}"#, r#"{"z" : [ 1, {"y": 2} ],"a":1}"#, &["- /x 0", r#"+ /z [1,{"y":2}]"#]),
            ("{}", r#"{"a/~":null}"#, &["+ /a~1~0 null"]),
            (r#"{"a":1}"#, r#"{"a":[1]}"#, &["! /a 1 [1]"]),
            ("[1,2,3]", "[0,1,3]", &["+ /0 0", "- /1 2"]),
            ("[1,2,3]", "[1,4,5,3]", &["! /1 2 4", "+ /2 5"]),
            ("[1,2,3,4]", "[1,5,4]", &["! /1 2 5", "- /2 3"]),
            (r#"[0,{"a":1},9]"#, r#"[{"a":2,"b":[]},9]"#, &["! /0 0 {\"a\":2,\"b\":[]}", "- /1 {\"a\":1}"]),
            (r#"[9,{"a":[1,2]}]"#, r#"[8,7,9,{"a":[1]}]"#, &["+ /0 8", "+ /1 7", "- /1/a/1 2"]),
            (r#"[9,{"a":[1]}]"#, r#"[8,9,{"a":[1,2]}]"#, &["+ /0 8", "+ /2/a/1 2"]),
            (r#"{"k":1,"k":2,"k":3}"#, r#"{"k":1,"k":4}"#, &["! /k 2 4", "- /k 3"]),
            (r#"{"k":1}"#, r#"{"k":1,"k":1}"#, &["+ /k 1"]),
            (r#"{"b":1,"a":1}"#, r#"{"a":2,"b":1}"#, &["! /a 1 2"]),
            (r#"{ "b":1, "a":1}"#, r#"{"b":2,"a":1}"#, &["! /b 1 2"]),
        ] {
            let expected: Vec<_> = expected.iter().map(|line| (*line).to_owned()).collect();
            assert_eq!(told(old, new), (expected, None), "{old} {new}");
        }
    }

    #[test]
    fn where_no_leaf_differs_the_remark_says_what_does() {
        for (old, new, remark) in [
            (r#"{"a":1}"#, r#"{ "a":1}"#, Remark::Respelled),
            ("[ ]", "[]", Remark::Respelled),
            (r#"{"a":1}"#, r#"{"\u0061":1}"#, Remark::Respelled),
            (r#"{"a":1,"b":2}"#, r#"{"b":2,"a":1}"#, Remark::Reordered),
            (r#"[{"a":1,"b":2}]"#, r#"[{ "b":2,"\u0061":1}]"#, Remark::Reordered),
            (r#"{"a":1,"b":2,"a":3}"#, r#"{"a":1,"a":3,"b":2}"#, Remark::Reordered),
        ] {
            assert_eq!(told(old, new), (vec![], Some(remark)), "{old} {new}");
        }
    }

    #[test]
    fn a_part_over_a_limit_is_one_leaf() {
        let nested = |depth: usize, inside: &str| format!("{}{inside}{}", "[".repeat(depth), "]".repeat(depth));
        let path = |depth| "/0".repeat(depth);
        assert_eq!(told(&nested(128, "1"), &nested(128, "2")), (vec![format!("! {} 1 2", path(128))], None));
        let deep = (vec![format!("! {} [1] [2]", path(128))], Some(Remark::TooDeep));
        assert_eq!(told(&nested(129, "1"), &nested(129, "2")), deep);
        assert_eq!(told(&nested(128, "1"), &nested(128, "[2]")), (vec![format!("! {} 1 [2]", path(128))], None));
        assert_eq!(told(&nested(130, "1"), &nested(130, "1")), (vec![], None));

        let long = |count: usize, last: &str| format!("[{}{last}]", "0,".repeat(count - 1));
        let of = |count| (long(count, "1"), long(count, "2"));
        let (old, new) = of(10_000);
        assert_eq!(told(&old, &new), (vec!["! /9999 1 2".to_owned()], None));
        for (old, new) in [of(10_001), (long(10_001, "1"), long(10_000, "1")), (long(1, "1"), long(10_001, "1"))] {
            let whole = (vec![format!("! /a {old} {new}")], Some(Remark::TooLarge));
            assert_eq!(told(&format!(r#"{{"a":{old}}}"#), &format!(r#"{{"a":{new}}}"#)), whole);
        }
        let wide = |bytes: usize, last: &str| format!("[\"{}\",{last}]", "x".repeat(bytes - 6));
        assert_eq!(told(&wide(10_000_000, "1"), &wide(10_000_000, "2")), (vec!["! /1 1 2".to_owned()], None));
        assert_eq!(told(&wide(10_000_001, "1"), "[1]").1, Some(Remark::TooLarge));
    }

    /// Takes out of `root`, puts into it or changes what `path` leads to.
    fn apply(root: &mut Value, change: &PathChange) {
        let new = change.new.as_deref().map(|text| serde_json::from_str::<Value>(text).expect("a value"));
        let Some((parent, key)) = change.path.rsplit_once('/') else {
            *root = new.expect("the root is replaced");
            return;
        };
        let key = key.replace("~1", "/").replace("~0", "~");
        match (root.pointer_mut(parent).expect("the parent is there"), change.op, new) {
            (Value::Object(members), Op::Remove, None) => drop(members.remove(&key).expect("it is there")),
            (Value::Object(members), op, Some(new)) => {
                assert_eq!(members.insert(key, new).is_some(), op == Op::Replace);
            }
            (Value::Array(elements), op, new) => {
                let at: usize = key.parse().expect("an index");
                match (op, new) {
                    (Op::Remove, None) => drop(elements.remove(at)),
                    (Op::Add, Some(new)) => elements.insert(at, new),
                    (Op::Replace, Some(new)) => elements[at] = new,
                    (op, new) => panic!("{op:?} {new:?}"),
                }
            }
            (parent, op, new) => panic!("{parent} {op:?} {new:?}"),
        }
    }

    proptest! {
        #[test]
        fn the_changes_make_the_new_value(old in value(), new in value(), space in any::<(bool, bool)>()) {
            let text = |value: &Value, space| if space { serde_json::to_string_pretty(value) } else { serde_json::to_string(value) };
            let (old_text, new_text) = (text(&old, space.0).expect("a value"), text(&new, space.1).expect("a value"));
            let edits = value_edits(&old_text, &new_text, None);
            let removed = |change: &&PathChange| change.op == Op::Remove;
            let mut made = old.clone();
            for change in edits.changes.iter().filter(removed).rev() {
                let held = old.pointer(&change.path).map(Value::to_string);
                prop_assert_eq!(&held, &change.old);
                apply(&mut made, change);
            }
            for change in edits.changes.iter().filter(|change| !removed(change)) {
                let held = new.pointer(&change.path).map(Value::to_string);
                prop_assert_eq!(&held, &change.new);
                apply(&mut made, change);
            }
            prop_assert_eq!(&made, &new);
            prop_assert_eq!(edits.changes.is_empty(), old == new);
            let respelled = old == new && old_text != new_text;
            prop_assert_eq!(edits.remark, respelled.then_some(Remark::Respelled));
        }

        #[test]
        fn no_text_breaks_the_comparison(old in r#"[\[\]{}",:\\ a1é\n]{0,12}"#, new in r#"[\[\]{}",:\\ a1é\n]{0,12}"#) {
            value_edits(&old, &new, None);
            super::super::leaves(&old);
        }
    }
}
