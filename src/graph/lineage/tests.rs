//! The walk against one that follows each part by itself and knows no order.

use super::*;
use crate::graph::compare::{edits, line_edits};
use crate::model::{elements, members, minify};
use proptest::collection::vec;
use proptest::prelude::*;
use std::cell::RefCell;
use std::convert::Infallible;

/// Versions, numbered from 0, each with its parents.
#[derive(Clone, Debug, Default)]
struct Graph {
    versions: Vec<(Content, Vec<Option<Number>>)>,
    read: RefCell<Vec<Number>>,
}

fn index(number: Number) -> usize {
    usize::try_from(number).expect("small")
}

impl Versions for Graph {
    type Error = Infallible;

    fn content(&self, version: Number) -> Result<Option<Content>, Infallible> {
        self.read.borrow_mut().push(version);
        Ok(Some(self.versions[index(version)].0.clone()))
    }

    fn parents(&self, version: Number) -> Result<Vec<Option<Number>>, Infallible> {
        Ok(self.versions[index(version)].1.clone())
    }
}

fn json(text: &str) -> Content {
    Content::from_json(text).expect("valid")
}

fn text(text: &str) -> Content {
    Content::from_text(text)
}

impl Graph {
    /// Versions of which each has the one before as its parent.
    fn line(contents: impl IntoIterator<Item = Content>) -> Self {
        let parents = |at: Number| if at == 0 { vec![] } else { vec![Some(at - 1)] };
        Self::of(contents.into_iter().zip(0..).map(|(content, at)| (content, parents(at))))
    }

    fn of(versions: impl IntoIterator<Item = (Content, Vec<Option<Number>>)>) -> Self {
        Self { versions: versions.into_iter().collect(), read: RefCell::default() }
    }

    fn lineage(&self, unit: Unit, ignored: &[Number], wanted: Option<Range<usize>>) -> Lineage {
        let last = Number::try_from(self.versions.len() - 1).expect("small");
        let Ok(found) = lineage(self, last, unit, &|number| Ok(ignored.contains(&number)), wanted);
        found
    }

    /// The parts as text, each with its version and line.
    fn told(&self, unit: Unit, ignored: &[Number]) -> Vec<String> {
        let found = self.lineage(unit, ignored, None);
        assert_eq!(found.coarse, None);
        let told = |part: Part| {
            let place = part.origin_line.map_or_else(|| part.path.unwrap_or_default(), |line| line.to_string());
            format!("{}:{place} {}", part.version, part.text.trim_end())
        };
        found.parts.into_iter().map(told).collect()
    }
}

#[test]
fn a_line_keeps_its_origin_and_its_number_there() {
    let graph = Graph::line(["a\nb\nc\n", "a\nx\nb\nc\n", "x\nb\nC\nd"].map(text));
    assert_eq!(graph.told(Unit::Line, &[]), ["1:2 x", "0:2 b", "2:3 C", "2:4 d"]);
    assert_eq!(graph.told(Unit::Line, &[2]), ["1:2 x", "0:2 b", "0:3 C", "0:3 d"]);
    assert_eq!(graph.told(Unit::Line, &[1, 2]), ["1:2 x", "0:2 b", "0:3 C", "0:3 d"]);
    let [part] = &graph.lineage(Unit::Line, &[], Some(1..2)).parts[..] else { panic!("one is wanted") };
    let expected = Part { version: 0, path: None, text: "b\n".to_owned(), origin_line: Some(2) };
    assert_eq!(part, &expected);
}

#[test]
fn a_leaf_keeps_its_origin_while_its_token_stays_in_its_place() {
    let graph = Graph::line(
        [
            r#"{"a":1,"l":[1,{"x":1,"y":2},3]}"#,
            r#"{"l": [0, 1,{"x":1,"y":3},3], "a":1.0}"#,
            r#"{"l":[0,1,{"y":3,"x":1},[],3],"a":1.0,"b":{}}"#,
        ]
        .map(json),
    );
    let leaves = ["1:/l/0 0", "0:/l/1 1", "1:/l/2/y 3", "0:/l/2/x 1", "2:/l/3 []", "0:/l/4 3", "1:/a 1.0", "2:/b {}"];
    assert_eq!(graph.told(Unit::Leaf, &[]), leaves);
    let leaves = ["1:/l/0 0", "0:/l/1 1", "0:/l/2/y 3", "0:/l/2/x 1", "2:/l/3 []", "0:/l/4 3", "0:/a 1.0", "2:/b {}"];
    assert_eq!(graph.told(Unit::Leaf, &[1]), leaves);
}

#[test]
fn a_whole_keeps_its_origin_while_its_bytes_stay() {
    let graph = Graph::line(["1", "2", "2", "2.0", "2.0"].map(json));
    assert_eq!(graph.told(Unit::Node, &[]), ["3: 2.0"]);
    assert_eq!(graph.told(Unit::Node, &[3]), ["1: 2.0"]);
    assert_eq!(graph.told(Unit::Node, &[1, 3]), ["0: 2.0"]);
    assert_eq!(graph.told(Unit::Node, &[0, 1, 3]), ["0: 2.0"]);
}

#[test]
fn a_parent_with_all_of_it_comes_before_the_first() {
    let graph = Graph::of([(text("a\nb\n"), vec![]), (text("a\n"), vec![]), (text("a\nb\n"), vec![Some(1), Some(0)])]);
    assert_eq!(graph.told(Unit::Line, &[]), ["0:1 a", "0:2 b"]);
    assert_eq!(graph.read.take(), [2, 1, 0]);
    let graph = Graph {
        versions: [&graph.versions[..2], &[(text("a\n"), vec![Some(1), Some(0)])]].concat(),
        ..Graph::default()
    };
    assert_eq!(graph.told(Unit::Line, &[]), ["1:1 a"]);
    assert_eq!(graph.read.take(), [2, 1]);
}

#[test]
fn the_first_parent_comes_before_the_others() {
    let graph = Graph::of([
        (text("a\nb\n"), vec![]),
        (text("a\nc\n"), vec![]),
        (text("a\nb\nc\nd\n"), vec![None, Some(1), Some(0)]),
    ]);
    assert_eq!(graph.told(Unit::Line, &[]), ["1:1 a", "0:2 b", "1:2 c", "2:4 d"]);
}

#[test]
fn what_was_removed_and_came_back_is_new() {
    let graph = Graph::of([
        (text("a\nb\n"), vec![]),
        (text("a\n"), vec![Some(0)]),
        (text("a\nb\n"), vec![Some(1)]),
        (text("a\nb\n"), vec![None]),
    ]);
    assert_eq!(graph.told(Unit::Line, &[]), ["3:1 a", "3:2 b"]);
    let graph = Graph { versions: graph.versions[..3].to_vec(), ..Graph::default() };
    assert_eq!(graph.told(Unit::Line, &[]), ["0:1 a", "2:2 b"]);
}

#[test]
fn a_text_and_a_value_have_lines_in_common_and_no_leaf() {
    let contents = [json("{\"a\":1}"), text("a\n"), json(r#""\ud83d""#), json(r#"{"a":1}"#), text("a\n")];
    let graph = Graph::line(contents.clone());
    assert_eq!(graph.told(Unit::Line, &[]), ["4:1 a"]);
    assert_eq!(graph.told(Unit::Line, &[1, 2, 3, 4]), ["0:1 a"]);
    let spaced = json("{\n\"a\":1\n}");
    let graph = Graph::line([text("x\n\"a\":1\n"), spaced]);
    assert_eq!(graph.told(Unit::Line, &[]), ["1:1 {", "0:2 \"a\":1", "1:3 }"]);
    let graph = Graph::line(contents.into_iter().take(4));
    assert_eq!(graph.told(Unit::Line, &[]), [r#"3:1 {"a":1}"#]);
    assert_eq!(graph.told(Unit::Leaf, &[]), ["3:/a 1"]);
    assert_eq!(graph.told(Unit::Leaf, &[3]), ["3:/a 1"]);
}

#[test]
fn what_can_not_be_looked_into_is_one_part_and_said() {
    let long = |last: &str| format!("{{\"a\":[{}{last}],\"b\":1}}", "0,".repeat(10_000));
    let (old, new) = (long("1"), long("2"));
    let graph = Graph::line([&old, &new].map(|text| json(text)));
    let found = graph.lineage(Unit::Leaf, &[], None);
    let parts: Vec<_> = found.parts.iter().map(|part| (part.version, part.path.as_deref(), part.text.len())).collect();
    assert_eq!(parts, [(1, Some("/a"), new.len() - "{\"a\":,\"b\":1}".len()), (0, Some("/b"), 1)]);
    assert_eq!(found.coarse, Some(Remark::TooLarge));
    assert_eq!(graph.lineage(Unit::Leaf, &[1], None).parts[0].version, 0);
    let small = Graph::line([json(&old), json(r#"{"a":[0],"b":1}"#)]).lineage(Unit::Leaf, &[], None);
    assert_eq!((small.parts[0].version, small.coarse), (1, Some(Remark::TooLarge)));
    let other = Graph::line([json(&old), json(r#"{"a":{"c":0},"b":1}"#)]).lineage(Unit::Leaf, &[], None);
    assert_eq!((other.parts[0].version, other.coarse), (1, None));
    let deep = json(&format!("{}{}", "[".repeat(200), "]".repeat(200)));
    assert_eq!(Graph::line([deep]).lineage(Unit::Leaf, &[], None).coarse, Some(Remark::TooDeep));
}

#[test]
fn what_is_not_wanted_is_not_looked_for() {
    let all = |count: usize| (0..count).map(|line| format!("{line}\n")).collect::<String>();
    let graph = Graph::line((1..=50).map(|count| text(&all(count))));
    assert_eq!(graph.lineage(Unit::Line, &[], Some(47..49)).parts.len(), 2);
    assert_eq!(graph.read.take(), [49, 48, 47, 46]);
    for (wanted, expected) in [(0..0, 0), (49..60, 1), (50..60, 0), (60..70, 0)] {
        assert_eq!(graph.lineage(Unit::Line, &[], Some(wanted)).parts.len(), expected);
    }
}

#[test]
fn a_version_that_waits_is_not_read_again() {
    // 0 - 1 - 3 - 4 with 0 - 2 merged into 3.
    let lines = ["a\ne\n", "b\na\n", "a\nc\ne\n", "b\na\nc\ne\n", "b\na\nc\ne\nd\n"];
    let parents = [vec![], vec![Some(0)], vec![Some(0)], vec![Some(1), Some(2)], vec![Some(3)]];
    let graph = Graph::of(lines.map(text).into_iter().zip(parents));
    assert_eq!(graph.told(Unit::Line, &[]), ["1:1 b", "0:1 a", "2:2 c", "0:2 e", "4:5 d"]);
    assert_eq!(graph.read.take(), [4, 3, 1, 2, 0]);
}

#[test]
fn what_can_not_be_read_ends_the_walk() {
    struct Broken;
    impl Versions for Broken {
        type Error = Number;
        fn content(&self, version: Number) -> Result<Option<Content>, Number> {
            if version == 1 { Err(version) } else { Ok(Some(text("a"))) }
        }
        fn parents(&self, version: Number) -> Result<Vec<Option<Number>>, Number> {
            if version == 3 { Err(version) } else { Ok(vec![Some(version - 1)]) }
        }
    }
    for (start, error) in [(2, 1), (3, 3), (1, 1)] {
        assert_eq!(lineage(&Broken, start, Unit::Node, &|_| Ok(false), None), Err(error));
    }
    let graph = Graph::line([text("a"), text("b")]);
    struct Refusing(Graph);
    impl Versions for Refusing {
        type Error = ();
        fn content(&self, version: Number) -> Result<Option<Content>, ()> {
            Ok(Some(self.0.versions[index(version)].0.clone()))
        }
        fn parents(&self, version: Number) -> Result<Vec<Option<Number>>, ()> {
            Ok(self.0.versions[index(version)].1.clone())
        }
    }
    assert_eq!(lineage(&Refusing(graph), 1, Unit::Node, &|_| Err(()), None), Err(()));
}

/// A step into a value: the nth member with a key, or an element.
#[derive(Clone, Debug, PartialEq)]
enum Step {
    Member(String, usize),
    Element(usize),
}

/// The values directly in `json`, each with the step that leads there.
fn inside(json: &str) -> Vec<(Step, &str)> {
    let mut seen = Vec::new();
    let members = members(json).unwrap_or_default().into_iter().map(|(key, value)| {
        let nth = seen.iter().filter(|other| **other == key).count();
        seen.push(key.clone());
        (Step::Member(key.into_owned(), nth), value)
    });
    let members: Vec<_> = members.collect();
    let elements = elements(json).unwrap_or_default().into_iter().enumerate();
    members.into_iter().chain(elements.map(|(at, value)| (Step::Element(at), value))).collect()
}

fn slow_leaves(json: &str, steps: &[Step], found: &mut Vec<Vec<Step>>) {
    let inside = inside(json);
    if inside.is_empty() {
        found.push(steps.to_vec());
    }
    for (step, value) in inside {
        slow_leaves(value, &[steps, &[step]].concat(), found);
    }
}

/// Where the leaf at `steps` of `new` is in `old`, and whether it is the same there.
fn slow_leaf(old: &str, new: &str, steps: &[Step]) -> Option<(Vec<Step>, bool)> {
    if old == new {
        return Some((steps.to_vec(), true));
    }
    let Some((step, rest)) = steps.split_first() else {
        return inside(old)
            .is_empty()
            .then(|| (vec![], false))
            .filter(|_| old.as_bytes()[0] != new.as_bytes()[0] || !old.starts_with(['[', '{']));
    };
    let (olds, news) = (inside(old), inside(new));
    let (_, new_value) = news.iter().find(|(other, _)| other == step)?;
    let old_step = match step {
        Step::Member(..) => step.clone(),
        Step::Element(at) => {
            let texts = [elements(old)?, elements(new)?];
            let edits = edits(&texts[0], &texts[1], None).edits;
            let before = edits.iter().rfind(|edit| edit.new.start <= *at);
            let place = match before {
                None => *at,
                Some(edit) if edit.new.contains(at) => edit.old.clone().nth(at - edit.new.start)?,
                Some(edit) => edit.old.end + (at - edit.new.end),
            };
            Step::Element(place)
        }
    };
    let (_, old_value) = olds.iter().find(|(other, _)| *other == old_step)?;
    let (found, same) = slow_leaf(old_value, new_value, rest)?;
    Some(([vec![old_step], found].concat(), same))
}

/// Where a part of `new` is in `old`, and whether it is the same there.
fn slow_place(old: &Content, new: &Content, unit: Unit, place: usize) -> Option<(usize, bool)> {
    match unit {
        Unit::Node => Some((0, old == new)),
        Unit::Line => {
            let (old, new) = (old.readable(), new.readable());
            let (old, new): (Vec<_>, Vec<_>) =
                (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
            let (mut shift, edits) = (0, line_edits(&old, &new, None).edits);
            for edit in edits {
                if edit.new.contains(&place) {
                    let last = edit.old.clone().next_back()?;
                    return Some((last.min(edit.old.start + place - edit.new.start), false));
                }
                if edit.new.end <= place {
                    shift = edit.old.end.wrapping_sub(edit.new.end);
                }
            }
            Some((place.wrapping_add(shift), true))
        }
        Unit::Leaf => {
            let (old, new) = (minify(old.json()), minify(new.json()));
            let (mut old_leaves, mut new_leaves) = (Vec::new(), Vec::new());
            slow_leaves(&old, &[], &mut old_leaves);
            slow_leaves(&new, &[], &mut new_leaves);
            let (steps, same) = slow_leaf(&old, &new, &new_leaves[place])?;
            Some((old_leaves.iter().position(|other| *other == steps)?, same))
        }
    }
}

fn slow_origin(graph: &Graph, version: Number, unit: Unit, place: usize, ignored: &[Number]) -> (Number, usize) {
    let (content, parents) = &graph.versions[index(version)];
    let parents: Vec<_> = parents.iter().flatten().copied().collect();
    let further = |parent, place| slow_origin(graph, parent, unit, place, ignored);
    if let Some(&parent) = parents.iter().find(|&&parent| graph.versions[index(parent)].0 == *content) {
        return further(parent, place);
    }
    let found = |parent: &Number| {
        let (place, same) = slow_place(&graph.versions[index(*parent)].0, content, unit, place)?;
        Some((*parent, place, same))
    };
    let found: Vec<_> = parents.iter().filter_map(found).collect();
    let same = found.iter().find(|(_, _, same)| *same);
    match same.or(found.first().filter(|_| ignored.contains(&version))) {
        Some(&(parent, place, _)) => further(parent, place),
        None => (version, place),
    }
}

/// How a version is made of its first parent.
type Seed = (u8, u32, u32, u8);

/// A history in which a version may be merged, go back to what an older one had, or come after the node was gone.
fn history(seeds: &[Seed], first: Content, edit: impl Fn(&Content, u32, u8) -> Content) -> Graph {
    let mut graph = Graph::of([(first, vec![])]);
    for &(kind, one, other, how) in seeds {
        let size = u32::try_from(graph.versions.len()).expect("small");
        let (one, other) = (Number::from(one % size), Number::from(other % size));
        let last = Number::from(size - 1);
        let base = graph.versions[index(last)].0.clone();
        let older = graph.versions[index(one)].0.clone();
        graph.versions.push(match kind % 8 {
            0 => (older, vec![Some(last)]),
            1 => (edit(&base, size, how), vec![None, Some(last)]),
            2 => (edit(&older, size, how), vec![Some(last), Some(one)]),
            3 => (edit(&edit(&base, size, how), size, how / 2), vec![Some(one), None, Some(other)]),
            4 => (edit(&older, size, how), vec![Some(one)]),
            _ => (edit(&base, size, how), vec![Some(last)]),
        });
    }
    graph
}

fn edit_lines(content: &Content, seed: u32, how: u8) -> Content {
    let Some(old) = content.text().filter(|_| how != 255) else { return text("a\nb\n") };
    if how == 254 {
        return json("{\"a\":1}");
    }
    let mut lines: Vec<String> = old.split_inclusive('\n').map(str::to_owned).collect();
    let at = usize::from(how / 4) % (lines.len() + 1);
    let line = format!("{}\n", ["a", "b", "c", &seed.to_string()][usize::from(how) % 4]);
    match how % 3 {
        0 => lines.insert(at, line),
        1 if at < lines.len() => lines[at] = line,
        2 if at < lines.len() => drop(lines.drain(at..(at + 2).min(lines.len()))),
        _ => lines.push("end".to_owned()),
    }
    text(&lines.concat())
}

fn edit_value(content: &Content, seed: u32, how: u8) -> Content {
    let inside = inside(content.json());
    let scalar = ["1", "2", "[]", "{\"a\":1,\"b\":[1,2]}", &seed.to_string()][usize::from(how) % 5].to_owned();
    if inside.is_empty() {
        return json(["{\"a\":1,\"b\":[1,2]}", "[1,{\"a\":2},1]", "7"][usize::from(how) % 3]);
    }
    let at = usize::from(how / 8) % inside.len();
    let is_object = content.json().starts_with('{');
    let mut parts: Vec<String> = Vec::new();
    for (nth, (step, value)) in inside.iter().enumerate() {
        let key = match step {
            Step::Member(key, _) => format!("{key:?} :"),
            Step::Element(_) => String::new(),
        };
        match how % 4 {
            _ if nth != at => parts.push(format!("{key}{value}")),
            0 => parts.push(format!("{key}{}", edit_value(&json(value), seed, how / 4).json())),
            1 => parts.push(format!("{key}{scalar}")),
            2 => {
                let new_key = if is_object { "\"a\":" } else { "" };
                parts.extend([format!("{new_key}{scalar}"), format!("{key}{value}")]);
            }
            _ => {}
        }
    }
    let (open, close) = if is_object { ('{', '}') } else { ('[', ']') };
    json(&format!("{open}{}{close}", parts.join(" ,")))
}

proptest! {
    #[test]
    fn the_walk_finds_what_following_each_part_finds(
        seeds in vec(any::<Seed>(), 1..25), ignored in vec(1u64..25, 0..6), kind in 0..3usize,
    ) {
        let unit = [Unit::Node, Unit::Line, Unit::Leaf][kind];
        let graph = match unit {
            Unit::Line => history(&seeds, text("a\nb\nc\n"), edit_lines),
            Unit::Node | Unit::Leaf => history(&seeds, json("{\"a\":1,\"l\":[1,2,{\"b\":2}]}"), edit_value),
        };
        let last = Number::try_from(seeds.len()).expect("small");
        let found = graph.lineage(unit, &ignored, None);
        prop_assert_eq!(found.coarse, None);
        for (place, part) in found.parts.iter().enumerate() {
            let (version, at) = slow_origin(&graph, last, unit, place, &ignored);
            prop_assert_eq!(part.version, version, "{} {:?}", place, graph.versions);
            if let Some(line) = part.origin_line {
                prop_assert_eq!(line, at + 1);
            }
        }
        match unit {
            Unit::Line => {
                let whole = graph.versions[seeds.len()].0.readable();
                prop_assert_eq!(found.parts.iter().map(|part| part.text.as_str()).collect::<String>(), whole);
            }
            Unit::Node | Unit::Leaf => prop_assert!(!found.parts.is_empty()),
        }
        let edges: usize = graph.versions.iter().map(|(_, parents)| parents.iter().flatten().count()).sum();
        prop_assert!(graph.read.take().len() <= 1 + edges);

        let middle = found.parts.len() / 3..found.parts.len() / 3 + 2;
        let wanted = graph.lineage(unit, &ignored, Some(middle.clone())).parts;
        prop_assert_eq!(&wanted[..], &found.parts[middle.start..middle.end.min(found.parts.len())]);
    }
}
