//! JSON text as a tree whose tokens are kept as they are spelled.

use super::json::Cursor;
use std::borrow::Cow;

/// Containers below more levels of containers are not looked into.
pub const MAX_DEPTH: usize = 128;

/// A value and what is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tree<'a> {
    /// A string, number, truth value or null.
    Scalar(&'a str),
    /// An array.
    Array {
        /// As it is spelled.
        text: &'a str,
        /// In their order.
        elements: Vec<Tree<'a>>,
        /// How many leaves it has.
        leaves: usize,
    },
    /// An object.
    Object {
        /// As it is spelled.
        text: &'a str,
        /// In their order, with duplicates. A key is its text; one with a lone surrogate has none and is its spelling.
        members: Vec<(Cow<'a, str>, Tree<'a>)>,
        /// How many leaves it has.
        leaves: usize,
    },
    /// A container that was not looked into.
    Closed {
        /// As it is spelled.
        text: &'a str,
        /// Why not.
        limit: Limit,
    },
}

/// Why a container is not looked into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// More than [`MAX_DEPTH`] levels.
    Depth,
    /// An array that is larger than wanted.
    Size,
}

/// The size above which an array is not looked into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrayLimit {
    /// The most elements.
    pub elements: usize,
    /// The most bytes, as it is spelled.
    pub bytes: usize,
}

impl ArrayLimit {
    /// Every array is looked into.
    pub const NONE: Self = Self { elements: usize::MAX, bytes: usize::MAX };
}

impl<'a> Tree<'a> {
    /// Reads one valid JSON value; of any other text the tree means nothing.
    pub fn of(json: &'a str, limit: ArrayLimit) -> Self {
        Reader { cursor: Cursor { json, at: 0 }, limit }.value(0)
    }

    /// The value as it is spelled, without the white space around it.
    pub fn text(&self) -> &'a str {
        match self {
            Self::Scalar(text) | Self::Array { text, .. } | Self::Object { text, .. } | Self::Closed { text, .. } => {
                text
            }
        }
    }

    /// Whether there is nothing in it to look into.
    pub fn is_leaf(&self) -> bool {
        match self {
            Self::Scalar(_) | Self::Closed { .. } => true,
            Self::Array { elements, .. } => elements.is_empty(),
            Self::Object { members, .. } => members.is_empty(),
        }
    }

    /// How many leaves it has: scalars, and containers with nothing in them or closed.
    pub fn leaves(&self) -> usize {
        match self {
            Self::Scalar(_) | Self::Closed { .. } => 1,
            Self::Array { leaves, .. } | Self::Object { leaves, .. } => *leaves,
        }
    }
}

/// A container without anything in it is a leaf itself.
fn leaves_of<'t, 'a: 't>(inside: impl Iterator<Item = &'t Tree<'a>>) -> usize {
    inside.map(Tree::leaves).sum::<usize>().max(1)
}

/// Makes a tree on the way through the text.
struct Reader<'a> {
    cursor: Cursor<'a>,
    limit: ArrayLimit,
}

impl<'a> Reader<'a> {
    fn value(&mut self, depth: usize) -> Tree<'a> {
        match self.cursor.peek() {
            Some(b'[' | b'{') if depth == MAX_DEPTH => Tree::Closed { text: self.cursor.value(), limit: Limit::Depth },
            Some(b'[') => self.array(depth),
            Some(b'{') => self.object(depth),
            Some(_) | None => Tree::Scalar(self.cursor.value()),
        }
    }

    /// What was passed since the cursor stood at `start`.
    fn passed(&self, start: usize) -> &'a str {
        &self.cursor.json[start..self.cursor.at]
    }

    fn array(&mut self, depth: usize) -> Tree<'a> {
        let start = self.cursor.at;
        let mut elements = Vec::new();
        self.cursor.take(b'[');
        while !self.cursor.take(b']') {
            if elements.len() == self.limit.elements {
                self.cursor.at = start;
                return Tree::Closed { text: self.cursor.value(), limit: Limit::Size };
            }
            elements.push(self.value(depth + 1));
            if !self.cursor.take(b',') {
                self.cursor.take(b']');
                break;
            }
        }
        let text = self.passed(start);
        if text.len() > self.limit.bytes {
            return Tree::Closed { text, limit: Limit::Size };
        }
        let leaves = leaves_of(elements.iter());
        Tree::Array { text, elements, leaves }
    }

    fn object(&mut self, depth: usize) -> Tree<'a> {
        let start = self.cursor.at;
        let mut members = Vec::new();
        self.cursor.take(b'{');
        while let Some(key) = self.cursor.key() {
            members.push((key, self.value(depth + 1)));
            self.cursor.take(b',');
        }
        let leaves = leaves_of(members.iter().map(|(_, value)| value));
        Tree::Object { text: self.passed(start), members, leaves }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::json::tests::spaced_json;
    use crate::model::json::{elements, members};
    use proptest::prelude::*;

    /// Makes the tree level by level.
    fn slow(json: &str) -> Tree<'_> {
        let text = json.trim();
        match (elements(text), members(text)) {
            (Some(all), _) => {
                let leaves = slow_leaves(text);
                Tree::Array { text, elements: all.into_iter().map(slow).collect(), leaves }
            }
            (None, Some(all)) => {
                let members = all.into_iter().map(|(key, value)| (key, slow(value))).collect();
                Tree::Object { text, members, leaves: slow_leaves(text) }
            }
            (None, None) => Tree::Scalar(text),
        }
    }

    fn slow_leaves(json: &str) -> usize {
        let inside =
            elements(json).or_else(|| members(json).map(|all| all.into_iter().map(|(_, value)| value).collect()));
        match inside.as_deref() {
            None | Some([]) => 1,
            Some(inside) => inside.iter().map(|json| slow_leaves(json)).sum(),
        }
    }

    #[test]
    fn what_is_too_deep_stays_closed() {
        for (open, close) in [("[", "]"), (r#"{"a":"#, "}")] {
            for (depth, closed) in [(MAX_DEPTH, false), (MAX_DEPTH + 1, true), (100_000, true)] {
                let json = format!("{}0{}", open.repeat(depth), close.repeat(depth));
                let tree = Tree::of(&json, ArrayLimit::NONE);
                let mut at = &tree;
                let mut levels = 0;
                let end = loop {
                    at = match at {
                        Tree::Array { elements, .. } => &elements[0],
                        Tree::Object { members, .. } => &members[0].1,
                        Tree::Scalar(_) | Tree::Closed { .. } => break at,
                    };
                    levels += 1;
                };
                assert_eq!(levels, MAX_DEPTH);
                let text = format!("{}0{}", open.repeat(depth - MAX_DEPTH), close.repeat(depth - MAX_DEPTH));
                let expected =
                    if closed { Tree::Closed { text: &text, limit: Limit::Depth } } else { Tree::Scalar("0") };
                assert_eq!(end, &expected);
            }
        }
    }

    #[test]
    fn a_large_array_stays_closed() {
        let json = r#"{"a": [1, [2, 3], "]"], "b": [[4,5 ,6,7], 8 ]}"#;
        let tree = |elements, bytes| match Tree::of(json, ArrayLimit { elements, bytes }) {
            Tree::Object { members, .. } => members,
            other => panic!("{other:?}"),
        };
        let closed = |text| Tree::Closed { text, limit: Limit::Size };
        assert_eq!(tree(2, 99)[0], ("a".into(), closed(r#"[1, [2, 3], "]"]"#)));
        assert_eq!(tree(3, 15)[0], ("a".into(), closed(r#"[1, [2, 3], "]"]"#)));
        assert_eq!(tree(3, 16)[0], ("a".into(), slow(r#"[1, [2, 3], "]"]"#)));
        let elements = vec![closed("[4,5 ,6,7]"), Tree::Scalar("8")];
        let b = Tree::Array { text: "[[4,5 ,6,7], 8 ]", elements, leaves: 2 };
        assert_eq!(tree(3, 99)[1], ("b".into(), b));
    }

    proptest! {
        #[test]
        fn the_tree_is_that_of_a_look_at_each_level(json in spaced_json()) {
            prop_assert_eq!(Tree::of(&json, ArrayLimit::NONE), slow(&json));
        }

        #[test]
        fn no_text_breaks_the_tree(json in r#"[\[\]{}",:\\ a1é\n]{0,12}"#, elements in 0..3usize) {
            Tree::of(&json, ArrayLimit { elements, bytes: 5 });
        }
    }
}
