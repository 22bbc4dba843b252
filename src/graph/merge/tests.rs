//! Merges against edit scripts, of which it is known what comes of them.

use super::*;
use crate::model::{ArrayLimit, Tree, minify, parts};
use proptest::collection::vec;
use proptest::prelude::*;
use std::cmp::Ordering;
use std::collections::BTreeSet;

/// Numbers to choose by; at the end always 0.
struct Choices<'a> {
    bytes: &'a [u8],
    /// The last token that was made.
    token: u32,
}

impl<'a> Choices<'a> {
    fn of(bytes: &'a [u8]) -> Self {
        Self { bytes, token: 0 }
    }

    /// Less than `sides`.
    fn roll(&mut self, sides: usize) -> usize {
        let Some((byte, rest)) = self.bytes.split_first() else { return 0 };
        self.bytes = rest;
        usize::from(*byte) % sides
    }

    /// A number that is nowhere else.
    fn token(&mut self) -> u32 {
        self.token += 1;
        self.token
    }
}

/// A JSON value. Keys are told apart by their order too.
#[derive(Clone, Debug, PartialEq)]
enum V {
    Scalar(u32),
    Array(Vec<V>),
    Object(Vec<(String, V)>),
}

/// What a side does to a value.
#[derive(Clone, Debug)]
enum Script {
    Keep,
    Set(V),
    /// `None` removes a part. Before each part and behind the last, others may be added; keys count in objects only.
    Inside(Vec<Option<Script>>, Vec<Vec<(String, V)>>),
}

impl V {
    fn random(choices: &mut Choices<'_>, depth: usize, arrays: bool) -> Self {
        let kind = if depth == 0 { choices.roll(2) + 2 } else { choices.roll(4) };
        let count = if depth < 3 { 1 + choices.roll(4) } else { 0 };
        match kind {
            2 if arrays && count > 0 => {
                Self::Array((0..count).map(|_| Self::random(choices, depth + 1, arrays)).collect())
            }
            2 | 3 if count > 0 => {
                Self::Object((0..count).map(|n| (format!("k{n}"), Self::random(choices, depth + 1, arrays))).collect())
            }
            _ => Self::Scalar(choices.token()),
        }
    }

    fn children(&self) -> Vec<&V> {
        match self {
            Self::Scalar(_) => vec![],
            Self::Array(elements) => elements.iter().collect(),
            Self::Object(members) => members.iter().map(|(_, value)| value).collect(),
        }
    }

    /// As JSON text with white space all over; with `shuffled`, keys are spelled and ordered otherwise.
    fn text(&self, choices: &mut Choices<'_>, shuffled: bool) -> String {
        let space = |choices: &mut Choices<'_>| ["", "", " ", "\n  "][choices.roll(4)];
        let mut list = Vec::new();
        let (open, close) = match self {
            Self::Scalar(token) => return token.to_string(),
            Self::Array(elements) => {
                for element in elements {
                    list.push(format!("{}{}{}", space(choices), element.text(choices, shuffled), space(choices)));
                }
                ('[', ']')
            }
            Self::Object(members) => {
                for (key, value) in members {
                    let (first, rest) = key.split_at(1);
                    let respelled = shuffled && choices.roll(4) == 1;
                    let first = if respelled { format!("\\u{:04x}", first.as_bytes()[0]) } else { first.to_owned() };
                    let (before, behind, end) = (space(choices), space(choices), space(choices));
                    list.push(format!("{before}\"{first}{rest}\":{behind}{}{end}", value.text(choices, shuffled)));
                }
                if shuffled && choices.roll(3) == 1 {
                    let by = choices.roll(list.len().max(1));
                    list.rotate_left(by);
                }
                ('{', '}')
            }
        };
        if list.is_empty() {
            list.push(space(choices).to_owned());
        }
        format!("{open}{}{close}", list.join(","))
    }

    fn read(json: &str) -> Self {
        fn of(tree: &Tree<'_>) -> V {
            match tree {
                Tree::Array { elements, .. } => V::Array(elements.iter().map(of).collect()),
                Tree::Object { members, .. } => {
                    V::Object(members.iter().map(|(key, value)| (key.to_string(), of(value))).collect())
                }
                scalar => V::Scalar(scalar.text().parse().expect("a token")),
            }
        }
        Content::from_json(json).expect("valid JSON");
        of(&Tree::of(&minify(json), ArrayLimit::NONE))
    }

    /// With all keys in order.
    fn sorted(&self) -> Self {
        match self {
            Self::Scalar(token) => Self::Scalar(*token),
            Self::Array(elements) => Self::Array(elements.iter().map(Self::sorted).collect()),
            Self::Object(members) => {
                let mut members: Vec<_> = members.iter().map(|(key, value)| (key.clone(), value.sorted())).collect();
                members.sort_by(|one, other| one.0.cmp(&other.0));
                Self::Object(members)
            }
        }
    }
}

impl Script {
    /// Much of `other` may be in it.
    fn random(choices: &mut Choices<'_>, value: &V, other: Option<&Script>, depth: usize) -> Self {
        if let (Some(other), 1) = (other, choices.roll(6)) {
            return other.clone();
        }
        let kind = if depth == 0 { choices.roll(6) + 2 } else { choices.roll(6) };
        match (kind, value) {
            (2, V::Array(_)) if choices.roll(2) == 1 => {
                Self::Set(V::Object(vec![("k0".into(), V::Scalar(choices.token()))]))
            }
            (2, V::Object(_)) if choices.roll(2) == 1 => Self::Set(V::Array(vec![V::Scalar(choices.token())])),
            (2, _) => Self::Set(V::Scalar(choices.token())),
            (0 | 1, _) | (_, V::Scalar(_)) => Self::Keep,
            (_, V::Array(_) | V::Object(_)) => {
                let children = value.children();
                let others = |at: usize| match other {
                    Some(Script::Inside(parts, _)) => parts[at].as_ref(),
                    Some(Script::Keep | Script::Set(_)) | None => None,
                };
                let parts = children.iter().enumerate();
                let parts: Vec<_> = parts
                    .map(|(at, child)| {
                        (choices.roll(8) != 1).then(|| Self::random(choices, child, others(at), depth + 1))
                    })
                    .collect();
                let mut used = BTreeSet::new();
                let added = (0..=children.len()).map(|at| match (choices.roll(5), other) {
                    (1, Some(Script::Inside(_, added))) => {
                        added[at].iter().filter(|(key, _)| used.insert(key.clone())).cloned().collect()
                    }
                    (1 | 2, _) => {
                        (0..=choices.roll(2)).filter_map(|_| Self::added(choices, value, &mut used)).collect()
                    }
                    _ => vec![],
                });
                let added = added.collect();
                Self::Inside(parts, added)
            }
        }
    }

    /// A new part for `value`. Keys that begin with an `s` may come on both sides.
    fn added(choices: &mut Choices<'_>, value: &V, used: &mut BTreeSet<String>) -> Option<(String, V)> {
        let token = choices.token();
        if matches!(value, V::Array(_)) {
            return Some((format!("e{token}"), V::Scalar(token)));
        }
        let (key, value) = match choices.roll(4) {
            0 => (format!("s{}", choices.roll(3)), V::Scalar(90_000 + u32::from(choices.roll(4) == 1))),
            1 => (format!("a{token}"), V::Object(vec![("k0".into(), V::Scalar(token))])),
            2 => (format!("z{token}"), V::Array(vec![])),
            _ => (format!("m{token}"), V::Scalar(token)),
        };
        used.insert(key.clone()).then_some((key, value))
    }

    fn applied(&self, value: &V) -> V {
        let (parts, added) = match self {
            Self::Keep => return value.clone(),
            Self::Set(value) => return value.clone(),
            Self::Inside(parts, added) => (parts, added),
        };
        let mut made = added[0].clone();
        for ((at, child), script) in value.children().into_iter().enumerate().zip(parts) {
            if let Some(script) = script {
                let key = if let V::Object(members) = value { members[at].0.clone() } else { String::new() };
                made.push((key, script.applied(child)));
            }
            made.extend(added[at + 1].iter().cloned());
        }
        match value {
            V::Object(_) => V::Object(made),
            V::Array(_) | V::Scalar(_) => V::Array(made.into_iter().map(|(_, value)| value).collect()),
        }
    }
}

/// What two scripts make of a value together.
fn expected(base: &V, ours: &Script, theirs: &Script) -> Option<V> {
    let (our_value, their_value) = (ours.applied(base), theirs.applied(base));
    if our_value == their_value || their_value == *base {
        return Some(our_value);
    }
    if our_value == *base {
        return Some(their_value);
    }
    let (Script::Inside(our_parts, our_added), Script::Inside(their_parts, their_added)) = (ours, theirs) else {
        return None;
    };
    match base {
        V::Scalar(_) => None,
        V::Array(elements) => {
            let mut made = Vec::new();
            let mut stretch = Stretch::default();
            for at in 0..=elements.len() {
                stretch.ours.extend(our_added[at].iter().map(|(_, value)| value.clone()));
                stretch.theirs.extend(their_added[at].iter().map(|(_, value)| value.clone()));
                let Some(element) = elements.get(at) else { break };
                let scripts = [&our_parts[at], &their_parts[at]];
                if scripts
                    .iter()
                    .all(|script| script.as_ref().is_some_and(|script| script.applied(element) == *element))
                {
                    made.extend(std::mem::take(&mut stretch).merged()?);
                    made.push(element.clone());
                } else {
                    stretch.ours.extend(our_parts[at].iter().map(|script| script.applied(element)));
                    stretch.theirs.extend(their_parts[at].iter().map(|script| script.applied(element)));
                    stretch.base.push((element.clone(), our_parts[at].clone(), their_parts[at].clone()));
                }
            }
            made.extend(stretch.merged()?);
            Some(V::Array(made))
        }
        V::Object(members) => {
            // Each new member with the number of members of the base that it stands behind.
            let places = |parts: &[Option<Script>], added: &[Vec<(String, V)>]| {
                let mut placed = Vec::new();
                for (at, added) in added.iter().enumerate() {
                    let place = parts[..at].iter().rposition(Option::is_some).map_or(0, |at| at + 1);
                    placed.extend(added.iter().map(|(key, value)| (place, key.clone(), value.clone())));
                }
                placed
            };
            let (mut our_new, mut their_new) = (places(our_parts, our_added), places(their_parts, their_added));
            for (place, key, value) in our_new.clone() {
                if let Some(there) = their_new.iter().position(|(_, their_key, _)| *their_key == key) {
                    if their_new[there].2 != value {
                        return None;
                    }
                    match place.cmp(&their_new[there].0) {
                        Ordering::Less => drop(their_new.remove(there)),
                        Ordering::Equal => {}
                        Ordering::Greater => our_new.retain(|(_, our_key, _)| *our_key != key),
                    }
                }
            }
            let mut made = Vec::new();
            for place in 0..=members.len() {
                if let Some(at) = place.checked_sub(1) {
                    let (key, value) = &members[at];
                    match (&our_parts[at], &their_parts[at]) {
                        (None, None) => {}
                        (None, Some(left)) | (Some(left), None) if left.applied(value) == *value => {}
                        (None, Some(_)) | (Some(_), None) => return None,
                        (Some(ours), Some(theirs)) => made.push((key.clone(), expected(value, ours, theirs)?)),
                    }
                }
                let here = |new: &[(usize, String, V)]| -> Vec<_> {
                    new.iter()
                        .filter(|new| new.0 == place)
                        .map(|(_, key, value)| (key.clone(), value.clone()))
                        .collect()
                };
                let (ours, theirs) = (here(&our_new), here(&their_new));
                let in_order = ours.is_empty() || theirs.is_empty() || ours == theirs;
                let mut here = if ours == theirs { ours } else { [ours, theirs].concat() };
                if !in_order {
                    here.sort_by(|one, other| one.0.cmp(&other.0));
                    here.dedup();
                }
                made.extend(here);
            }
            Some(V::Object(made))
        }
    }
}

/// Whether two scripts come to the same somewhere but for the order of keys.
fn are_reordered(base: &V, ours: &Script, theirs: &Script) -> bool {
    let [our_value, their_value] = [ours, theirs].map(|script| script.applied(base));
    if our_value != their_value && our_value.sorted() == their_value.sorted() {
        return true;
    }
    let (Script::Inside(ours, _), Script::Inside(theirs, _)) = (ours, theirs) else { return false };
    let parts = base.children().into_iter().zip(ours).zip(theirs);
    parts.into_iter().any(|((child, ours), theirs)| {
        ours.as_ref().zip(theirs.as_ref()).is_some_and(|(ours, theirs)| are_reordered(child, ours, theirs))
    })
}

/// What stands between two elements that nobody changed.
#[derive(Default)]
struct Stretch {
    base: Vec<(V, Option<Script>, Option<Script>)>,
    ours: Vec<V>,
    theirs: Vec<V>,
}

impl Stretch {
    fn merged(self) -> Option<Vec<V>> {
        let base: Vec<_> = self.base.iter().map(|(value, _, _)| value.clone()).collect();
        if self.ours == self.theirs || self.theirs == base {
            return Some(self.ours);
        }
        match &self.base[..] {
            _ if self.ours == base => Some(self.theirs),
            [(element, Some(ours), Some(theirs))] if self.ours.len() == 1 && self.theirs.len() == 1 => {
                Some(vec![expected(element, ours, theirs)?])
            }
            _ => None,
        }
    }
}

/// The text of each part of `base` that neither script changes and that is not in an element of an array that got or lost
/// elements; no part of one that is told already.
fn untouched(base: &V, text: &str, scripts: [&Script; 2], found: &mut Vec<String>) {
    if scripts.iter().all(|script| script.applied(base) == *base) {
        found.push(text.to_owned());
    } else if let [Script::Keep | Script::Inside(..), Script::Keep | Script::Inside(..)] = scripts {
        let as_many = |script: &&Script| match script {
            Script::Inside(parts, added) => parts.iter().all(Option::is_some) && added.iter().all(Vec::is_empty),
            Script::Keep | Script::Set(_) => true,
        };
        let looks_inside = matches!(base, V::Object(_)) || scripts.iter().all(as_many);
        for (at, (child, part)) in base.children().into_iter().zip(parts(text)).enumerate() {
            let inside = |script: &Script| match script {
                Script::Inside(parts, _) => parts[at].clone(),
                Script::Keep | Script::Set(_) => Some(Script::Keep),
            };
            if let [Some(ours), Some(theirs)] = scripts.map(inside) {
                let is_kept = [&ours, &theirs].iter().all(|script| script.applied(child) == *child);
                if looks_inside || is_kept {
                    untouched(child, &text[part.value..part.end], [&ours, &theirs], found);
                }
            }
        }
    }
}

/// A line for each token.
fn text_of(lines: &[u32], line_feed: bool) -> String {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    if line_feed { text } else { text.trim_end().to_owned() }
}

#[test]
fn texts_are_merged_by_line_and_values_by_leaf() {
    let content = |json: &str| (!json.is_empty()).then(|| Content::from_json(json).expect("valid"));
    for (base, ours, theirs, expected) in [
        (r#""a\nb\nc""#, r#""A\nb\nc""#, r#""a\nb\nC""#, Some(r#""A\nb\nC""#)),
        (r#""a\nb\nc""#, r#""A\nb\nc""#, r#""a\nB\nc""#, None),
        (r#"{"a":"x\ny\nz","b":1}"#, r#"{"a":"X\ny\nz","b":1}"#, r#"{"a":"x\ny\nZ","b":1}"#, None),
        (r#"{"a":1,"b":1}"#, r#"{"a":2,"b":1}"#, r#"{"a":1,"b":2}"#, Some(r#"{"a":2,"b":2}"#)),
        (r#""a""#, "1", r#""b""#, None),
        (r#""a""#, r#"{"a":1}"#, r#"{"a":2}"#, None),
        ("[1]", r#""[1,2]""#, "[2]", None),
        (r#""a""#, r#""\u0061""#, r#""\u0062""#, Some(r#""\u0062""#)),
        (r#""a""#, r#""\u0062""#, r#""b""#, Some(r#""\u0062""#)),
        (r#""a\nb\nc""#, r#""\u0061\nb\nC""#, r#""A\nb\nc""#, Some(r#""A\nb\nC""#)),
        (r#""\ud83d""#, r#""a""#, r#""b""#, None),
        (r#""a""#, "", r#""b""#, None),
        ("", r#""a""#, r#""b""#, None),
        ("", "[1]", "[1,2]", None),
    ] {
        let [base, ours, theirs] = [base, ours, theirs].map(content);
        let expected = expected.and_then(content).map_or(Merged::Conflict, Merged::New);
        assert_eq!(merge_contents(base.as_ref(), ours.as_ref(), theirs.as_ref()), expected, "{ours:?} {theirs:?}");
        assert_eq!(merge_contents(base.as_ref(), theirs.as_ref(), ours.as_ref()), expected, "{ours:?} {theirs:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8000))]

    #[test]
    fn values_merge_as_their_scripts_say(bytes in vec(any::<u8>(), 0..300), arrays in any::<bool>(), shuffled in any::<bool>()) {
        let mut choices = Choices::of(&bytes);
        let base = V::random(&mut choices, 0, arrays);
        let ours = Script::random(&mut choices, &base, None, 0);
        let theirs = Script::random(&mut choices, &base, Some(&ours), 0);
        let base_text = base.text(&mut choices, false);
        let our_text = ours.applied(&base).text(&mut choices, shuffled);
        let their_text = theirs.applied(&base).text(&mut choices, shuffled);
        let merged = merge_values(&base_text, &our_text, &their_text);
        prop_assert_eq!(&merged, &merge_values(&base_text, &their_text, &our_text));
        let expected = expected(&base, &ours, &theirs);
        // What took the place of another element has the keys in the order of that one, and where both sides come to the same
        // but for the order, it is that of one of them.
        let in_any_order = shuffled || arrays || are_reordered(&base, &ours, &theirs);
        let order = |value: V| if in_any_order { value.sorted() } else { value };
        prop_assert_eq!(merged.as_deref().map(V::read).map(order), expected.clone().map(order), "{} {} {}", base_text, our_text, their_text);
        let whole = [&our_text, &their_text].map(|side| *side == base_text);
        if let (Some(merged), [false, false]) = (merged, whole) && our_text != their_text {
            let mut kept = Vec::new();
            untouched(&base, &base_text, [&ours, &theirs], &mut kept);
            for part in kept {
                prop_assert!(merged.contains(&part), "{} in {}", part, merged);
            }
        }
    }

    #[test]
    fn texts_merge_as_their_scripts_say(bytes in vec(any::<u8>(), 0..80), line_feeds in any::<[bool; 3]>()) {
        let mut choices = Choices::of(&bytes);
        let base: Vec<u32> = (0..choices.roll(10)).map(|_| choices.token()).collect();
        let value = V::Array(base.iter().copied().map(V::Scalar).collect());
        let ours = Script::random(&mut choices, &value, None, 0);
        let theirs = Script::random(&mut choices, &value, Some(&ours), 0);
        let lines = |value: V| match value {
            V::Array(lines) => lines.into_iter().map(|line| if let V::Scalar(line) = line { line } else { 0 }).collect(),
            V::Object(_) | V::Scalar(_) => vec![],
        };
        let sides = [value.clone(), ours.applied(&value), theirs.applied(&value)].map(lines);
        let [base_text, our_text, their_text] = &[0, 1, 2].map(|at| text_of(&sides[at], line_feeds[0] || line_feeds[at]));
        let merged = merge_texts(base_text, our_text, their_text);
        prop_assert_eq!(&merged, &merge_texts(base_text, their_text, our_text));
        if line_feeds[0] {
            let whole = [&ours, &theirs].iter().any(|script| matches!(script, Script::Set(_)));
            if !whole {
                let expected = expected(&value, &ours, &theirs).map(|value| text_of(&lines(value), true));
                prop_assert_eq!(merged, expected);
            }
        }
    }

    #[test]
    fn a_merge_with_an_unchanged_side_is_the_other(base in "[ab\n]{0,12}", side in "[ab\n]{0,12}", other in "[ab\n]{0,12}") {
        prop_assert_eq!(merge_texts(&base, &side, &base), Some(side.clone()));
        prop_assert_eq!(merge_texts(&base, &side, &side), Some(side.clone()));
        prop_assert_eq!(merge_texts(&base, &side, &other), merge_texts(&base, &other, &side));
        prop_assert_eq!(merge_values(&base, &side, &base), Some(side.clone()));
        prop_assert_eq!(merge_values(&base, &side, &side), Some(side.clone()));
    }

    #[test]
    fn values_with_equal_parts_merge_to_valid_json(bytes in vec(any::<u8>(), 0..200), seeds in any::<[u8; 3]>()) {
        let mut choices = Choices::of(&bytes);
        let [base, ours, theirs] = seeds.map(|_| {
            // The same few tokens on all sides.
            choices.token = 0;
            let value = V::random(&mut choices, 0, true);
            value.text(&mut choices, true)
        });
        let merged = merge_values(&base, &ours, &theirs);
        prop_assert_eq!(&merged, &merge_values(&base, &theirs, &ours));
        merged.as_deref().map(V::read);
        let respaced = base.replacen(['{', '['], "$0 ", 1).replace("$0", &base[..1]);
        let alone = merge_values(&base, &ours, &respaced).expect("one side has no change");
        prop_assert_eq!(V::read(&alone).sorted(), V::read(&ours).sorted(), "{} {} {}", base, ours, alone);
        let respaced = ours.replace(':', " :");
        let alike = merge_values(&base, &ours, &respaced).expect("both made the same change");
        prop_assert_eq!(V::read(&alike).sorted(), V::read(&ours).sorted());
    }

    #[test]
    fn no_text_breaks_a_merge(texts in [r#"[\[\]{}",:\\ a1é\n]{0,12}"#, r#"[\[\]{}",:\\ a1é\n]{0,12}"#, r#"[\[\]{}",:\\ a1é\n]{0,12}"#]) {
        let [base, ours, theirs] = &texts;
        merge_values(base, ours, theirs);
        merge_texts(base, ours, theirs);
    }
}
