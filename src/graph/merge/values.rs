//! Three JSON values, merged by key and element.

use super::container::{Container, Item, Tokens, Value, members_by_key, written};
use super::regions::{By, Region, regions};
use crate::graph::compare::ARRAY_LIMIT;
use crate::model::{Tree, minify};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

/// The JSON text `base` with the changes of both sides; `None` where they conflict.
///
/// Where one side is the base to the byte, the result is the other side, and two equal sides are the result. In all other
/// cases the result is the base's text, without white space around it, with the changes of both sides:
///
/// - A value that was changed takes the spelling of its side. A scalar that is spelled otherwise was changed.
/// - Objects are merged by key. White space, the order of keys and the spelling of a key stay the base's.
/// - A member that was added stands behind the key of the base that is next before it on its side. Where one
///   side adds some at a place, or both the same, they keep their order; else they stand in the byte order of their keys.
///   One that the sides added in two places stands at the first.
/// - Arrays are merged as texts are, with elements for lines. An element that both changed while neither changed the one
///   beside it is looked into.
/// - A part that was added brings the white space and the comma before it from its side; one that is removed takes its own
///   along. What comes first in a container has the white space of what was first there, and what was first on its side
///   has, behind another, the comma that this one would have had. In a container that was empty, white space at both
///   ends is that of the sides that fill it.
///
/// Changes conflict where both sides set one place differently, or one removes what the other changed; in an array where
/// they overlap or touch; and where both change an object in which a key comes twice, an array of more than 10,000
/// elements or 10 MB, or what is below 128 levels. With texts that are no JSON the answer means nothing.
pub fn merge_values(base: &str, ours: &str, theirs: &str) -> Option<String> {
    if ours == theirs || theirs == base {
        return Some(ours.to_owned());
    }
    if ours == base {
        return Some(theirs.to_owned());
    }
    // Of two spellings of one change the first in byte order counts, so that the order of sides does not.
    let texts = [base, ours.min(theirs), ours.max(theirs)].map(str::trim_ascii);
    let tokens = texts.map(minify);
    let trees = [0, 1, 2].map(|at| Tree::of(&tokens[at], ARRAY_LIMIT));
    let [base, ours, theirs] = [0, 1, 2].map(|at| Value { text: texts[at], tokens: Tokens(&trees[at]) });
    merge(base, ours, theirs).map(Cow::into_owned)
}

/// The text of `base` with the changes of both sides.
fn merge<'a>(base: Value<'a>, ours: Value<'a>, theirs: Value<'a>) -> Option<Cow<'a, str>> {
    match (base.tokens == ours.tokens, base.tokens == theirs.tokens) {
        (true, true) => Some(base.text.into()),
        (false, true) => Some(apply(base, ours)),
        (true, false) => Some(apply(base, theirs)),
        (false, false) if ours.tokens == theirs.tokens => Some(apply(base, ours)),
        (false, false) => merge_inside(base, ours, theirs),
    }
}

/// The text of `base` with the changes of `side`; that of `side` where `base` can't be looked into.
fn apply<'a>(base: Value<'a>, side: Value<'a>) -> Cow<'a, str> {
    merge_inside(base, side, base).unwrap_or(side.text.into())
}

/// Merges what is in three containers of one kind; other values conflict.
fn merge_inside<'a>(base: Value<'a>, ours: Value<'a>, theirs: Value<'a>) -> Option<Cow<'a, str>> {
    let trees = (base.tokens.0, ours.tokens.0, theirs.tokens.0);
    let (base, ours, theirs) = (&Container::of(base)?, &Container::of(ours)?, &Container::of(theirs)?);
    let items = match trees {
        (
            Tree::Object { members: base_members, .. },
            Tree::Object { members: our_members, .. },
            Tree::Object { members: their_members, .. },
        ) => members((base, base_members), (ours, our_members), (theirs, their_members))?,
        (Tree::Array { .. }, Tree::Array { .. }, Tree::Array { .. }) => elements(base, ours, theirs)?,
        _ => return None,
    };
    Some(written(base, &items).into())
}

/// An object and its members.
type Object<'c, 'a> = (&'c Container<'a>, &'a [(Cow<'a, str>, Tree<'a>)]);

fn members<'c, 'a>(
    (base, base_members): Object<'c, 'a>,
    (ours, our_members): Object<'c, 'a>,
    (theirs, their_members): Object<'c, 'a>,
) -> Option<Vec<Item<'c, 'a>>> {
    let in_base = members_by_key(base_members)?;
    let in_ours = members_by_key(our_members)?;
    let in_theirs = members_by_key(their_members)?;
    let is_new = |key: &str| !in_base.contains_key(key);
    let clash = |(key, (_, ours)): (&&str, &(usize, &Tree<'_>))| {
        is_new(key) && in_theirs.get(key).is_some_and(|(_, theirs)| Tokens(ours) != Tokens(theirs))
    };
    if in_ours.iter().any(clash) {
        return None;
    }
    let mut added = Added::by_place(&in_base, [(ours, our_members), (theirs, their_members)]);
    let mut items = added.remove(&0).unwrap_or_default();
    for (at, (key, base_value)) in base_members.iter().enumerate() {
        match (in_ours.get(key.as_ref()), in_theirs.get(key.as_ref())) {
            (Some((our_at, _)), Some((their_at, _))) => {
                let value = merge(base.value(at), ours.value(*our_at), theirs.value(*their_at))?;
                items.push(Item::with(base, at, value));
            }
            (Some((_, left)), None) | (None, Some((_, left))) if Tokens(base_value) != Tokens(left) => return None,
            (Some(_), None) | (None, Some(_)) | (None, None) => {}
        }
        items.extend(added.remove(&(at + 1)).unwrap_or_default());
    }
    Some(items)
}

/// A member that the base has not.
struct Added<'c, 'a> {
    key: &'c str,
    item: Item<'c, 'a>,
}

impl<'c, 'a> Added<'c, 'a> {
    /// What is new on two sides that agree on it, in order, by the number of members of the base that it stands behind.
    fn by_place(
        in_base: &BTreeMap<&str, (usize, &Tree<'_>)>,
        sides: [Object<'c, 'a>; 2],
    ) -> BTreeMap<usize, Vec<Item<'c, 'a>>> {
        let mut first_places: BTreeMap<&str, usize> = BTreeMap::new();
        let placed = sides.map(|(side, members)| {
            let (mut place, mut added) = (0, Vec::new());
            for (at, (key, _)) in members.iter().enumerate() {
                match in_base.get(key.as_ref()) {
                    Some((base_at, _)) => place = base_at + 1,
                    None => {
                        let first = first_places.entry(key).or_insert(place);
                        *first = place.min(*first);
                        added.push((place, Self { key, item: Item::kept(side, at) }));
                    }
                }
            }
            added
        });
        let mut by_place: BTreeMap<usize, [Vec<Self>; 2]> = BTreeMap::new();
        for (nth, side) in placed.into_iter().enumerate() {
            for (place, added) in side.into_iter().filter(|(place, added)| first_places[added.key] == *place) {
                by_place.entry(place).or_default()[nth].push(added);
            }
        }
        by_place.into_iter().map(|(place, sides)| (place, Self::in_order(sides))).collect()
    }

    /// One side's members in its order, and those of two sides in the order of their keys.
    fn in_order([ours, theirs]: [Vec<Self>; 2]) -> Vec<Item<'c, 'a>> {
        let keys = |side: &[Self]| side.iter().map(|added| added.key).collect::<Vec<_>>();
        let one_side = match (keys(&ours), keys(&theirs)) {
            (_, their_keys) if their_keys.is_empty() => ours,
            (our_keys, their_keys) if our_keys.is_empty() || our_keys == their_keys => theirs,
            _ => {
                let by_key = theirs.into_iter().chain(ours).map(|added| (added.key, added.item));
                return by_key.collect::<BTreeMap<_, _>>().into_values().collect();
            }
        };
        one_side.into_iter().map(|added| added.item).collect()
    }
}

fn elements<'c, 'a>(
    base: &'c Container<'a>,
    ours: &'c Container<'a>,
    theirs: &'c Container<'a>,
) -> Option<Vec<Item<'c, 'a>>> {
    let mut items = Vec::new();
    let mut at = 0;
    for Region { by, base: place, ours: our_place, theirs: their_place } in
        regions(base.values(), ours.values(), theirs.values())?
    {
        items.extend((at..place.start).map(|at| Item::kept(base, at)));
        at = place.end;
        match by {
            By::Ours | By::Alike => changed(base, place, ours, our_place, &mut items),
            By::Theirs => changed(base, place, theirs, their_place, &mut items),
            By::Clash if [&place, &our_place, &their_place].iter().all(|range| range.len() == 1) => {
                let [our_value, their_value] = [ours.value(our_place.start), theirs.value(their_place.start)];
                items.push(Item::with(base, place.start, merge(base.value(place.start), our_value, their_value)?));
            }
            By::Clash => return None,
        }
    }
    items.extend((at..base.len()).map(|at| Item::kept(base, at)));
    Some(items)
}

/// Puts what `side` has in `new` in the place of what `base` has in `old`: one into the other where they are as many.
fn changed<'c, 'a>(
    base: &'c Container<'a>,
    old: Range<usize>,
    side: &'c Container<'a>,
    new: Range<usize>,
    items: &mut Vec<Item<'c, 'a>>,
) {
    if old.len() == new.len() {
        let into = |(old, new)| Item::with(base, old, apply(base.value(old), side.value(new)));
        items.extend(old.zip(new).map(into));
    } else {
        items.extend(new.map(|at| Item::kept(side, at)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::MAX_DEPTH;

    fn merged(base: &str, ours: &str, theirs: &str) -> Option<String> {
        let merged = merge_values(base, ours, theirs);
        assert_eq!(merged, merge_values(base, theirs, ours), "{base} {ours} {theirs}");
        merged
    }

    #[test]
    fn changes_in_different_places_go_together() {
        for (base, ours, theirs, expected) in [
            ("1", "2", "3", None),
            ("1", "1.0", "1.00", None),
            (r#"{"a":1,"b":2}"#, r#"{"a":1.0,"b":2}"#, r#"{"a":1,"b":3}"#, Some(r#"{"a":1.0,"b":3}"#)),
            (r#"{"a":1}"#, r#"{"a":2}"#, r#"{"a":3}"#, None),
            (r#"{"a":1}"#, "{}", r#"{"a":3}"#, None),
            (r#"{"a":1,"b":2}"#, r#"{"b":2}"#, r#"{"a":1}"#, Some("{}")),
            (r#"{"a":{"x":1}}"#, r#"{"a":[1]}"#, r#"{"a":{"x":2}}"#, None),
            ("{}", "[]", "1", None),
            (r#"{"a":{"x":1,"y":1}}"#, r#"{"a":{"x":2,"y":1}}"#, r#"{"a":{"x":1}}"#, Some(r#"{"a":{"x":2}}"#)),
            ("{}", r#"{"b":1}"#, r#"{"a":1}"#, Some(r#"{"a":1,"b":1}"#)),
            ("{}", r#"{"a":1}"#, r#"{"a":2}"#, None),
            (r#"{"a":1}"#, r#"{"a":1,"z":1,"b":1}"#, r#"{"a":2}"#, Some(r#"{"a":2,"z":1,"b":1}"#)),
            (r#"{"a":1}"#, r#"{"a":1,"z":1,"b":1}"#, r#"{"a":1,"c":1}"#, Some(r#"{"a":1,"b":1,"c":1,"z":1}"#)),
            (r#"{"a":1}"#, r#"{"a":2,"z":1,"b":1}"#, r#"{"a":1,"z":1,"b":1}"#, Some(r#"{"a":2,"z":1,"b":1}"#)),
            (r#"{"a":1,"b":2}"#, r#"{"n":0,"a":1,"b":2}"#, r#"{"a":1,"n":0,"b":3}"#, Some(r#"{"n":0,"a":1,"b":3}"#)),
            ("[1,2,3]", "[0,1,2,3]", "[1,2,4]", Some("[0,1,2,4]")),
            ("[1,2,3]", "[2,3]", "[1,2,4]", Some("[2,4]")),
            ("[1,2,3]", "[1,3]", "[1,2,4]", None),
            ("[1,2,3]", "[1,2,3,4]", "[1,2,3,5]", None),
            ("[1,2,3]", "[1,2,3,4]", "[0,2,3,4]", Some("[0,2,3,4]")),
            (r#"[{"a":1,"b":1}]"#, r#"[{"a":2,"b":1}]"#, r#"[{"a":1,"b":2}]"#, Some(r#"[{"a":2,"b":2}]"#)),
            (r#"[{"a":1,"b":1}]"#, r#"[0,{"a":2,"b":1}]"#, r#"[{"a":1,"b":2}]"#, None),
            (r#"[{"a":1},{"a":2}]"#, r#"[{"a":1,"b":1},{"a":2}]"#, r#"[{"a":1},{"a":2,"b":1}]"#, None),
            (
                r#"[{"a":1,"b":1},{"a":2,"b":1}]"#,
                r#"[{"a":0,"b":1},{"a":0,"b":1}]"#,
                r#"[{"a":1,"b":0},{"a":2,"b":0}]"#,
                None,
            ),
        ] {
            assert_eq!(merged(base, ours, theirs).as_deref(), expected, "{base} {ours} {theirs}");
        }
    }

    #[test]
    fn the_order_and_the_spelling_of_keys_stay_the_base_s() {
        for (base, ours, theirs, expected) in [
            (r#"{"a":1,"b":2}"#, r#"{"b":2,"a":1}"#, r#"{"a":1,"b":2}"#, r#"{"b":2,"a":1}"#),
            (r#"{"a":1,"b":2}"#, r#"{"b":2,"a":1}"#, r#"{"a":1,"b":3}"#, r#"{"a":1,"b":3}"#),
            (r#"{"a":1,"b":2}"#, r#"{"\u0061":1,"b":2}"#, r#"{"a":1,"b":3}"#, r#"{"a":1,"b":3}"#),
            (r#"{"o":{"a":1,"b":2},"c":0}"#, r#"{"o":{"b":2,"a":1},"c":0}"#, r#"{"c":0}"#, r#"{"c":0}"#),
            (r#"[{"a":1,"b":2},3]"#, r#"[{"b":2,"a":1},3]"#, r#"[{"a":1,"b":2},4]"#, r#"[{"a":1,"b":2},4]"#),
            (r#"[{"a":1,"b":2}]"#, r#"[{"a":3,"b":2}]"#, r#"[{"b":2,"a":3}]"#, r#"[{"a":3,"b":2}]"#),
        ] {
            assert_eq!(merged(base, ours, theirs).as_deref(), Some(expected), "{base} {ours} {theirs}");
        }
    }

    #[test]
    fn white_space_is_the_base_s_and_around_what_is_new_that_of_its_side() {
        for (base, ours, theirs, expected) in [
            ("{ \"a\" : 1,\n\t\"b\":2 }", r#"{"a":3,"b":2}"#, r#"{"a":1,"b":4}"#, "{ \"a\" : 3,\n\t\"b\":4 }"),
            (r#"{"a":1,"b":2}"#, r#"{"a": { "x" : [ ] },"b":2}"#, r#"{"a":1,"b":3}"#, r#"{"a":{ "x" : [ ] },"b":3}"#),
            (
                "{ \"a\":1 ,  \"b\":2\t,\n\"c\":3 }",
                r#"{"b":2,"c":3}"#,
                r#"{"a":1,"b":2,"c":4}"#,
                "{ \"b\":2\t,\n\"c\":4 }",
            ),
            (
                "{ \"a\":1 ,  \"b\":2\t,\n\"c\":3 }",
                r#"{"a":1,"c":3}"#,
                r#"{"a":1,"b":2,"c":4}"#,
                "{ \"a\":1\t,\n\"c\":4 }",
            ),
            (
                "{ \"a\":1 ,  \"b\":2\t,\n\"c\":3 }",
                r#"{"a":1,"b":2}"#,
                r#"{"a":4,"b":2,"c":3}"#,
                "{ \"a\":4 ,  \"b\":2 }",
            ),
            (r#"{ "a":1 }"#, r#"{}"#, r#"{"a":1}"#, "{}"),
            (r#"{"a":1}"#, "{\"a\":1,\n  \"n\" : 2\n}", r#"{"a":3}"#, "{\"a\":3,\n  \"n\" : 2}"),
            (r#"{ "a":1}"#, "{\n  \"n\": 2,\n  \"a\":1\n}", r#"{"a":3}"#, "{ \"n\": 2,\n  \"a\":3}"),
            ("{  }", "{\n  \"b\": 1\n}", "{ \"a\":1}", "{ \"a\":1, \"b\": 1\n}"),
            ("[ ]", "[ 1, 2]", "[ 1, 2 ]", "[ 1, 2 ]"),
            ("[{ },0]", "[{},1]", "[{}, 0]", "[{ },1]"),
            ("[1 , 2,3]", "[1,2,3, 4]", "[0,2,3]", "[0 , 2,3, 4]"),
            (" [1, 2] ", "[1, 3]", " [1,2]", "[1, 3]"),
        ] {
            assert_eq!(merged(base, ours, theirs).as_deref(), Some(expected), "{base} {ours} {theirs}");
        }
    }

    #[test]
    fn what_can_not_be_looked_into_is_taken_from_one_side_or_conflicts() {
        let nested = |depth: usize, inside: &str| format!("{}{inside}{}", "[".repeat(depth), "]".repeat(depth));
        let deep = |a: u8, b: u8| nested(MAX_DEPTH, &format!("{{\"a\":{a},\"b\":{b}}}"));
        let shallow = |a: u8, b: u8| nested(MAX_DEPTH - 1, &format!("{{\"a\":{a},\"b\":{b}}}"));
        let twice = |a: u8, b: u8| format!("{{\"a\":{a},\"b\":{b},\"a\":0}}");
        let long = |count: usize, first: u8, last: u8| format!("[{first},{}{last}]", "0,".repeat(count - 2));
        let wide = |bytes: usize, a: u8, b: u8| format!("[{a},\"{}\",{b}]", "x".repeat(bytes - 8));
        type Made<'a> = &'a dyn Fn(u8, u8) -> String;
        for (value, goes) in [
            (&shallow as Made<'_>, true),
            (&deep, false),
            (&twice, false),
            (&|a, b| long(10_000, a, b), true),
            (&|a, b| long(10_001, a, b), false),
        ] {
            assert_eq!(merged(&value(1, 1), &value(2, 1), &value(1, 2)), goes.then(|| value(2, 2)));
            let beside = |value: &str, n: u8| format!("{{\"v\":{value}, \"n\":{n}}}");
            let (base, ours, theirs) = (beside(&value(1, 1), 1), beside(&value(2, 2), 1), beside(&value(1, 1), 2));
            assert_eq!(merged(&base, &ours, &theirs), Some(beside(&value(2, 2), 2)));
        }
        for (bytes, goes) in [(10_000_000, true), (10_000_001, false)] {
            let whole = merge_values(&wide(bytes, 1, 1), &wide(bytes, 2, 1), &wide(bytes, 1, 2));
            assert_eq!(whole, goes.then(|| wide(bytes, 2, 2)));
        }
        for (base, ours, theirs) in [
            (r#"{"k":1,"b":1}"#, r#"{"k":1,"k":1,"b":1}"#, r#"{"k":1,"b":2}"#),
            (r#"{"k":1,"k":2,"b":1}"#, r#"{"k":1,"b":1}"#, r#"{"k":1,"b":2}"#),
        ] {
            assert_eq!(merged(base, ours, theirs), None, "{base} {ours} {theirs}");
        }
    }
}
