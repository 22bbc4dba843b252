//! Content comes back as it was given: every JSON text of RFC 8259, and every text of UTF-8.

use super::oracle::{Node, minified};
use super::support::{Place, json};
use proptest::prelude::*;

fn space() -> impl Strategy<Value = String> {
    prop_oneof![3 => Just(String::new()), 1 => "[ \t\r\n]{1,3}"]
}

/// A number of any spelling.
fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        "-?(0|[1-9][0-9]{0,40})(\\.[0-9]{1,30})?([eE][+-]?[0-9]{1,6})?",
        prop::sample::select(vec![
            "-0",
            "0.0",
            "1.10",
            "1e400",
            "-1E-400",
            "5E7",
            "1e+2",
            "9007199254740991.0",
            "9223372036854775808",
            "340282366920938463463374607431768211457",
            "0e0",
            "123456789012345678901234567890",
        ])
        .prop_map(str::to_owned),
    ]
}

/// A string of any spelling: characters, short escapes, escapes of UTF-16, lone surrogates among them.
fn string() -> impl Strategy<Value = String> {
    let character = any::<char>().prop_filter("escaped in JSON", |c| *c >= ' ' && *c != '"' && *c != '\\');
    let piece = prop_oneof![
        4 => character.prop_map(String::from),
        2 => "[a-z ]{1,8}",
        1 => "\\\\[\"\\\\/bfnrt]",
        1 => "\\\\u[0-9a-fA-F]{4}",
        1 => prop::sample::select(vec!["\\ud83d", "\\udE00", "\\uD83D\\ude00", "\\u0000", "\\/", "\u{7f}", "\u{2028}"])
            .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| format!("\"{}\"", pieces.concat()))
}

/// A value of any spelling, with white space inside.
fn value() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec!["null", "true", "false"]).prop_map(str::to_owned);
    let scalar = prop_oneof![1 => word, 3 => number(), 3 => string()];
    scalar.prop_recursive(6, 64, 6, |inner| {
        let spaced =
            (space(), inner, space()).prop_map(|(before, value, after)| format!("{before}{value}{after}")).boxed();
        // Few keys, so that they stand twice.
        let key =
            prop_oneof![string(), prop::sample::select(vec!["\"a\"", "\"\\u0061\"", "\"\""]).prop_map(str::to_owned)];
        let member = (space(), key, space(), spaced.clone());
        let member = member.prop_map(|(before, key, after, value)| format!("{before}{key}{after}:{value}"));
        let list = |items: Vec<String>, space: String| if items.is_empty() { space } else { items.join(",") };
        prop_oneof![
            (prop::collection::vec(spaced, 0..6), space()).prop_map(move |(items, s)| format!("[{}]", list(items, s))),
            (prop::collection::vec(member, 0..6), space())
                .prop_map(move |(items, s)| format!("{{{}}}", list(items, s))),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, max_shrink_iters: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_json_text_comes_back_as_it_was_given(
        values in prop::collection::vec(value(), 40..120),
        around in (space(), space()),
    ) {
        let place = Place::with_store();
        // A row is a line; outside strings, where no raw line feed may stand, a space does as well.
        let lines: Vec<_> = values.iter().map(|value| value.replace('\n', " ")).collect();
        let (mut rows, mut nodes) = (String::new(), Vec::new());
        for (at, (value, line)) in values.iter().zip(&lines).enumerate() {
            rows += &format!("{{\"id\":\"line/{at}\",\"content\":{line}}}\n");
            rows += &format!("{{\"id\":\"text/{at}\",\"content_json\":{}}}\n", json(value));
            nodes.push(Node::new(&format!("line/{at}"), line));
            nodes.push(Node::new(&format!("text/{at}"), value));
        }
        let ids: Vec<_> = nodes.iter().map(|node| node.id.as_str()).collect();
        place.mnem(&["put", "--jsonl", "-"]).input(rows).says(&(ids.join("\n") + "\n"), "");
        // The hash in a row is that of the text as it is spelled.
        let expected: String = nodes.iter().map(Node::row).collect();
        place.mnem(&["get", "--json"]).arguments(&ids).says(&expected, "");

        let whole = format!("[{}]", values.join(" ,\n"));
        let spaced = format!("{}{whole}{}", around.0, around.1);
        place.mnem(&["put", "whole", "-t", "json", "-"]).input(spaced.clone()).says("whole\n", "");
        place.mnem(&["get", "-t", "json", "whole"]).says(&whole, "");
        place.mnem(&["commit", "-qm", "c"]).output();
        place.mnem(&["get", "whole", "-r", "HEAD"]).says(&whole, "");
        place.mnem(&["get", "--json", "whole"]).says(&Node::new("whole", &whole).row(), "");
        place.mnem(&["get", "--json", "-r", "HEAD"]).arguments(&ids).says(&expected, "");
        place.mnem(&["put", "whole", "-t", "json", "-"]).input(spaced).says("whole\n", "unchanged: 'whole'\n");
        let last = values.len() - 1;
        let path = format!("/{last}");
        let value = place.mnem(&["get", "-t", "json", "whole", "--path", &path]).output();
        prop_assert_eq!(&value, &values[last]);
        prop_assert_eq!(minified(&value), minified(&lines[last]));
    }

    #[test]
    fn every_text_comes_back_as_it_was_given(
        texts in prop::collection::vec(
            prop_oneof![any::<String>(), "[\0-\u{1f}\"\\\\\u{7f}-\u{9f}a\u{feff}\u{2028}é😀]{0,60}", r"(\PC{0,20}\r?\n){0,9}"],
            6..10,
        ),
    ) {
        let place = Place::with_store();
        let whole = texts.concat();
        let mut rows = String::new();
        for (at, text) in texts.iter().chain([&whole]).enumerate() {
            let id = format!("pipe/{at}");
            place.mnem(&["put", &id, "-"]).input(text.as_str()).output();
            place.write("file", text);
            place.mnem(&["put", &format!("file/{at}"), "-F", "file"]).output();
            rows += &format!("{{\"id\":\"row/{at}\",\"content\":{}}}\n", json(text));
        }
        place.mnem(&["put", "--jsonl", "-"]).input(rows).output();
        place.mnem(&["commit", "-qm", "c"]).output();
        for (at, text) in texts.iter().chain([&whole]).enumerate() {
            for way in ["pipe", "file", "row"] {
                let id = format!("{way}/{at}");
                place.mnem(&["get", &id]).says(text, "");
                // All three ways make one content, spelled in the canonical way.
                place.mnem(&["get", "-t", "json", &id]).says(&json(text), "");
            }
        }
    }
}

#[test]
fn the_texts_and_values_that_went_wrong_elsewhere_come_back() {
    let place = Place::with_store();
    for text in ["note\n", "note", "a\r\nb\r\n", "left\0right", "\u{feff}hello", "00712", "\"q\"", "\n", "\0", "null"] {
        place.mnem(&["put", "k", "-"]).input(text).output();
        place.mnem(&["get", "k"]).says(text, "");
    }
    for value in [
        "{\"n\":9007199254740991.0}",
        "{\"seq\":340282366920938463463374607431768211457}",
        "{\"a\":1e2,\"b\":5E7}",
        "{\"zeta\":1,\"alpha\":2}",
        "{\"goal\":\"a\",\"goal\":\"b\"}",
        "{\"t\":\"\\ud83d\"}",
        "[\"\\u00e9\",\"a\\/b\"]",
        "{\"$serde_json::private::RawValue\":\"1\"}",
        "{\"$serde_json::private::Number\":\"1\"}",
    ] {
        place.mnem(&["put", "k", "-t", "json", "-"]).input(value).output();
        place.mnem(&["get", "k"]).says(value, "");
        place.mnem(&["get", "k", "--json"]).says(&Node::new("k", value).row(), "");
    }
    place.mnem(&["put", "k", "-t", "json", "{\"x\":1,\"y\":2}", "-m", "a"]).says("k\n", "");
    place.mnem(&["put", "k", "-t", "json", "{\"y\":2,\"x\":1}", "-m", "b"]).says("k\n", "");
    place.mnem(&["get", "k", "-r", "HEAD~1"]).says("{\"x\":1,\"y\":2}", "");
    place.mnem(&["get", "k", "-r", "HEAD"]).says("{\"y\":2,\"x\":1}", "");
}

#[test]
fn a_value_may_be_a_hundred_thousand_levels_deep() {
    let place = Place::with_store();
    let depth = 100_000;
    for (open, close, step) in [("[", "]", "/0"), ("{\"a\":", "}", "/a"), ("[ 1, {\"a\" :\t[", "] } ]", "/1/a/0")] {
        let value = format!("{}null{}", open.repeat(depth), close.repeat(depth));
        place.mnem(&["put", "k", "-t", "json", "-"]).input(value.clone()).says("k\n", "");
        place.mnem(&["commit", "-qm", "c"]).output();
        assert!(place.mnem(&["get", "k"]).output() == value);
        let row = Node::new("k", &value).row();
        assert!(place.mnem(&["get", "k", "--json"]).output() == row);
        let rows = format!("{{\"id\":\"row\",\"content\":{value}}}\n");
        place.mnem(&["put", "--jsonl", "-"]).input(rows).says("row\n", "");
        assert!(place.mnem(&["get", "row"]).output() == value);
        // An argument holds no more than 128 KiB.
        let path = step.repeat(100);
        let inner = place.mnem(&["get", "k", "--path", &path]).output();
        assert!(inner == value[open.len() * 100..value.len() - close.len() * 100]);
        let cut = &value[..value.len() - 1];
        let answer = place.mnem(&["put", "k", "-t", "json", "-"]).input(cut).answer();
        assert_eq!(answer.status, 129);
        assert!(answer.stderr.starts_with("mnem: error[bad-json]: the content: EOF while parsing"), "{answer:?}");
    }
}
