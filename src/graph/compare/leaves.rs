//! A JSON value by leaf.

use crate::model::{ArrayLimit, Tree};
use std::fmt::Write;

/// A scalar, an empty array or an empty object in a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf<'a> {
    /// Its RFC 6901 pointer.
    pub path: String,
    /// As it is spelled, without white space in an empty container.
    pub token: &'a str,
}

/// The leaves of a value, in their order; `None` where it is deeper than 128 levels.
pub fn leaves(json: &str) -> Option<Vec<Leaf<'_>>> {
    let (mut leaves, mut whole) = (Vec::new(), true);
    each_leaf(&Tree::of(json, ArrayLimit::NONE), &mut Pointer::default(), &mut |path, leaf| {
        let token = match leaf {
            Tree::Scalar(text) => text,
            Tree::Array { .. } => "[]",
            Tree::Object { .. } => "{}",
            Tree::Closed { .. } => {
                whole = false;
                return;
            }
        };
        leaves.push(Leaf { path: path.to_owned(), token });
    });
    whole.then_some(leaves)
}

/// Tells in their order the leaves of `tree`, of which `path` is the place; what is closed is one too.
pub(in crate::graph) fn each_leaf<'a>(tree: &Tree<'a>, path: &mut Pointer, tell: &mut impl FnMut(&str, &Tree<'a>)) {
    match tree {
        Tree::Array { elements, .. } if !tree.is_leaf() => {
            for (at, element) in elements.iter().enumerate() {
                let end = path.push_index(at);
                each_leaf(element, path, tell);
                path.back_to(end);
            }
        }
        Tree::Object { members, .. } if !tree.is_leaf() => {
            for (key, value) in members {
                let end = path.push_key(key);
                each_leaf(value, path, tell);
                path.back_to(end);
            }
        }
        Tree::Scalar(_) | Tree::Array { .. } | Tree::Object { .. } | Tree::Closed { .. } => tell(path.as_str(), tree),
    }
}

/// An RFC 6901 pointer on the way through a value.
#[derive(Clone, Debug, Default)]
pub(in crate::graph) struct Pointer(String);

impl Pointer {
    pub(in crate::graph) fn as_str(&self) -> &str {
        &self.0
    }

    /// Goes one key further and returns where to go back to.
    pub(in crate::graph) fn push_key(&mut self, key: &str) -> usize {
        let end = self.0.len();
        self.0.push('/');
        for c in key.chars() {
            match c {
                '~' => self.0.push_str("~0"),
                '/' => self.0.push_str("~1"),
                c => self.0.push(c),
            }
        }
        end
    }

    /// Goes one index further and returns where to go back to.
    pub(in crate::graph) fn push_index(&mut self, index: usize) -> usize {
        let end = self.0.len();
        write!(self.0, "/{index}").expect("a string takes all");
        end
    }

    /// Goes back to where a push has told.
    pub(in crate::graph) fn back_to(&mut self, end: usize) {
        self.0.truncate(end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{MAX_DEPTH, minify, pointer};
    use proptest::prelude::*;
    use serde_json::Value;

    fn paths(json: &str) -> Vec<(String, &str)> {
        leaves(json).expect("not deep").into_iter().map(|leaf| (leaf.path, leaf.token)).collect()
    }

    #[test]
    fn leaves_have_their_place_and_spelling() {
        let found = paths(r#"{ "a/b": [1.0, [ ], {"~": "\u0061"}], "": { }, "n": null, "n": -0 }"#);
        let expected = [
            ("/a~1b/0", "1.0"),
            ("/a~1b/1", "[]"),
            ("/a~1b/2/~0", r#""\u0061""#),
            ("/", "{}"),
            ("/n", "null"),
            ("/n", "-0"),
        ];
        assert_eq!(found, expected.map(|(path, token)| (path.to_owned(), token)));
        assert_eq!(paths(" 7 "), [(String::new(), "7")]);
        assert_eq!(paths("[]"), [(String::new(), "[]")]);
    }

    #[test]
    fn a_value_that_is_too_deep_has_none() {
        let nested = |depth| format!("[0,{}{}]", "[".repeat(depth - 1), "]".repeat(depth - 1));
        assert_eq!(leaves(&nested(MAX_DEPTH)).map(|leaves| leaves.len()), Some(2));
        assert_eq!(leaves(&nested(MAX_DEPTH + 1)), None);
    }

    /// The leaves of a parsed value.
    fn parsed(value: &Value, path: &str, found: &mut Vec<(String, Value)>) {
        let step = |key: &str| format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"));
        match value {
            Value::Array(all) if !all.is_empty() => {
                all.iter().enumerate().for_each(|(at, value)| parsed(value, &step(&at.to_string()), found));
            }
            Value::Object(all) if !all.is_empty() => {
                all.iter().for_each(|(key, value)| parsed(value, &step(key), found));
            }
            _ => found.push((path.to_owned(), value.clone())),
        }
    }

    proptest! {
        #[test]
        fn leaves_are_those_of_the_parser(value in super::super::values::tests::value()) {
            let json = serde_json::to_string_pretty(&value).expect("a value");
            let mut expected = Vec::new();
            parsed(&value, "", &mut expected);
            let mut found: Vec<_> = paths(&json).into_iter().map(|(path, token)| (path, serde_json::from_str(token).expect("a token"))).collect();
            found.sort_by(|a, b| a.0.cmp(&b.0));
            expected.sort_by(|a, b| a.0.cmp(&b.0));
            prop_assert_eq!(found, expected);
            for leaf in leaves(&json).expect("not deep") {
                prop_assert_eq!(pointer(&json, &leaf.path).map(|at| at.map(|at| minify(at).into_owned())), Ok(Some(leaf.token.to_owned())));
            }
        }
    }
}
