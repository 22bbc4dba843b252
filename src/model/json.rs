//! A look into JSON text that is kept as it is spelled: white space, elements, members, pointers.
//!
//! Works on the text alone and never makes values of it, so order, duplicate keys and the spelling of every token stay.
//! The input is one valid JSON value; with any other text the answers mean nothing, but nothing panics or hangs. No
//! function recurses, so depth costs no stack, and each takes time linear in the text.

use std::borrow::Cow;

/// Why a text is no JSON pointer of RFC 6901.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PointerError {
    /// Not empty, and no `/` at its start.
    #[error("JSON pointer '{0}' does not begin with '/'")]
    NoSlash(String),
    /// A `~` without `0` or `1` behind it.
    #[error("JSON pointer '{0}' has a '~' that is neither '~0' nor '~1'")]
    Tilde(String),
}

/// Drops the white space outside strings.
pub fn minify(json: &str) -> Cow<'_, str> {
    let mut cursor = Cursor { json, at: 0 };
    let mut minified = String::new();
    let mut kept = 0;
    while let Some(byte) = cursor.byte() {
        match byte {
            b'"' => cursor.skip_string(),
            b' ' | b'\t' | b'\n' | b'\r' => {
                minified.push_str(&json[kept..cursor.at]);
                cursor.at += 1;
                kept = cursor.at;
            }
            _ => cursor.at += 1,
        }
    }
    if kept == 0 {
        return Cow::Borrowed(json);
    }
    minified.push_str(&json[kept..]);
    Cow::Owned(minified)
}

/// The brackets of a value and, as they are spelled, its keys, strings, numbers and words, in their order.
pub fn pieces(json: &str) -> impl Iterator<Item = &str> {
    let mut cursor = Cursor { json, at: 0 };
    std::iter::from_fn(move || {
        while cursor.take(b',') || cursor.take(b':') {}
        let bracket = matches!(cursor.peek()?, b'[' | b'{' | b']' | b'}');
        if !bracket {
            return Some(cursor.value());
        }
        cursor.at += 1;
        json.get(cursor.at - 1..cursor.at)
    })
}

/// The elements of an array; `None` for any other value.
#[cfg(test)]
pub fn elements(json: &str) -> Option<Vec<&str>> {
    let mut cursor = Cursor { json, at: 0 };
    let mut elements = Vec::new();
    if !cursor.take(b'[') {
        return None;
    }
    while !cursor.take(b']') {
        elements.push(cursor.value());
        if !cursor.take(b',') {
            break;
        }
    }
    Some(elements)
}

/// The members of an object, in their order and with duplicates; `None` for any other value.
///
/// A key is its text. A key with a lone surrogate has no text and is what stands between its quotes.
#[cfg(test)]
pub fn members(json: &str) -> Option<Vec<(Cow<'_, str>, &str)>> {
    let mut cursor = Cursor { json, at: 0 };
    let mut members = Vec::new();
    if !cursor.take(b'{') {
        return None;
    }
    while let Some(key) = cursor.key() {
        members.push((key, cursor.value()));
        cursor.take(b',');
    }
    Some(members)
}

/// Where an element or a member stands in the text of its container, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Where it begins: a member with its key.
    pub start: usize,
    /// Where its value begins.
    pub value: usize,
    /// Where its value ends.
    pub end: usize,
}

/// The elements of an array or the members of an object, in their order; none of any other value.
pub fn parts(json: &str) -> Vec<Part> {
    let mut cursor = Cursor { json, at: 0 };
    let mut parts = Vec::new();
    let is_object = cursor.take(b'{');
    if !is_object && !cursor.take(b'[') {
        return parts;
    }
    while !matches!(cursor.peek(), None | Some(b']' | b'}')) {
        let start = cursor.at;
        if is_object && cursor.key().is_none() {
            break;
        }
        cursor.peek();
        let value = cursor.at;
        cursor.value();
        parts.push(Part { start, value, end: cursor.at });
        if !cursor.take(b',') {
            break;
        }
    }
    parts
}

/// The value at an RFC 6901 pointer; `None` where the value has no such place.
///
/// Of duplicate keys the last wins, also where an earlier one leads further. A key with a lone surrogate has no text and is
/// what stands between its quotes.
pub fn pointer<'a>(json: &'a str, pointer: &str) -> Result<Option<&'a str>, PointerError> {
    let tokens = tokens(pointer)?;
    let mut cursor = Cursor { json, at: 0 };
    // The containers around the cursor, the outermost first, each with the token of the same place leading out of it.
    let mut open = Vec::new();
    loop {
        let mut found = None;
        match (tokens.get(open.len()), cursor.peek()) {
            (None, _) => found = Some(cursor.value()),
            (Some(_), Some(b'{')) => {
                cursor.at += 1;
                open.push(Container::Object);
            }
            (Some(token), Some(b'[')) => {
                cursor.at += 1;
                open.push(Container::Array);
                if cursor.seek_element(token) {
                    continue;
                }
            }
            (Some(_), _) => {
                cursor.value();
            }
        }
        // A later member with the same key sends the cursor down again, and what was found no longer counts.
        loop {
            match open.last() {
                None => return Ok(found),
                Some(Container::Object) if cursor.seek_member(&tokens[open.len() - 1]) => break,
                Some(Container::Object) => {}
                Some(Container::Array) => cursor.finish_array(),
            }
            open.pop();
        }
    }
}

/// Splits a pointer into the keys or indices that it names.
fn tokens(pointer: &str) -> Result<Vec<Cow<'_, str>>, PointerError> {
    if pointer.is_empty() {
        return Ok(Vec::new());
    }
    let path = pointer.strip_prefix('/').ok_or_else(|| PointerError::NoSlash(pointer.to_owned()))?;
    if path.split('~').skip(1).any(|behind| !behind.starts_with(['0', '1'])) {
        return Err(PointerError::Tilde(pointer.to_owned()));
    }
    let unescape = |token: &str| token.replace("~1", "/").replace("~0", "~");
    Ok(path.split('/').map(|token| if token.contains('~') { unescape(token).into() } else { token.into() }).collect())
}

/// Reads an array index: digits without a leading zero.
fn index(token: &str) -> Option<usize> {
    let spelled_well = token.bytes().all(|byte| byte.is_ascii_digit()) && (token == "0" || !token.starts_with('0'));
    if spelled_well { token.parse().ok() } else { None }
}

/// What holds a value.
enum Container {
    Array,
    Object,
}

/// A place in JSON text.
pub(super) struct Cursor<'a> {
    pub(super) json: &'a str,
    pub(super) at: usize,
}

impl<'a> Cursor<'a> {
    fn byte(&self) -> Option<u8> {
        self.json.as_bytes().get(self.at).copied()
    }

    /// The next byte that is no white space, before which the cursor comes to stand.
    pub(super) fn peek(&mut self) -> Option<u8> {
        while matches!(self.byte(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
        self.byte()
    }

    /// Passes `byte` if it comes next.
    pub(super) fn take(&mut self, byte: u8) -> bool {
        let next = self.peek() == Some(byte);
        self.at += usize::from(next);
        next
    }

    /// Passes the string that begins here.
    fn skip_string(&mut self) {
        self.at += 1;
        while let Some(byte) = self.byte() {
            match byte {
                b'"' => {
                    self.at += 1;
                    return;
                }
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.at = self.json.len();
    }

    /// Passes the next value and returns it.
    pub(super) fn value(&mut self) -> &'a str {
        let first = self.peek();
        let start = self.at;
        match first {
            Some(b'"') => self.skip_string(),
            Some(b'[' | b'{') => self.skip_container(),
            Some(_) | None => {
                let rest = &self.json[start..];
                self.at += rest.find([',', ']', '}', ' ', '\t', '\n', '\r']).unwrap_or(rest.len());
            }
        }
        &self.json[start..self.at]
    }

    /// Passes the array or object that begins here.
    fn skip_container(&mut self) {
        let mut depth = 0_usize;
        while let Some(byte) = self.byte() {
            match byte {
                b'"' => {
                    self.skip_string();
                    continue;
                }
                b'[' | b'{' => depth += 1,
                b']' | b'}' => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return;
            }
        }
    }

    /// Passes the next key and its colon; at the end of the object, passes that and returns `None`.
    pub(super) fn key(&mut self) -> Option<Cow<'a, str>> {
        if self.peek() != Some(b'"') {
            self.take(b'}');
            return None;
        }
        let spelled = self.value();
        self.take(b':');
        let inside = spelled.get(1..spelled.len() - 1).unwrap_or_default();
        let text = if inside.contains('\\') { serde_json::from_str(spelled).ok() } else { None };
        Some(text.map_or(Cow::Borrowed(inside), Cow::Owned))
    }

    /// From behind a `[`: goes to the element with this index; `false` where the array has none.
    fn seek_element(&mut self, token: &str) -> bool {
        let Some(index) = index(token) else { return false };
        for _ in 0..index {
            self.value();
            if !self.take(b',') {
                return false;
            }
        }
        self.peek() != Some(b']')
    }

    /// From before a member, or from behind one: goes to the value of the next one with this key; past the end of the
    /// object and `false` where none follows.
    fn seek_member(&mut self, token: &str) -> bool {
        self.take(b',');
        while let Some(key) = self.key() {
            if key == token {
                return true;
            }
            self.value();
            self.take(b',');
        }
        false
    }

    /// From before an element, or from behind one, where the next value is empty: goes past the end of the array.
    fn finish_array(&mut self) {
        self.value();
        while self.take(b',') {
            self.value();
        }
        self.take(b']');
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde::de::{Deserializer, MapAccess, Visitor};
    use serde_json::value::RawValue;

    /// The members as serde_json reads them.
    struct RawMembers<'a>(Vec<(String, &'a str)>);

    impl<'de> serde::Deserialize<'de> for RawMembers<'de> {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct InOrder;
            impl<'de> Visitor<'de> for InOrder {
                type Value = RawMembers<'de>;
                fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str("an object")
                }
                fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                    let mut members = Vec::new();
                    while let Some((key, value)) = map.next_entry::<String, &RawValue>()? {
                        members.push((key, value.get()));
                    }
                    Ok(RawMembers(members))
                }
            }
            deserializer.deserialize_map(InOrder)
        }
    }

    fn raw_elements(json: &str) -> Option<Vec<&str>> {
        let raw: Option<Vec<&RawValue>> = serde_json::from_str(json).ok();
        raw.map(|raw| raw.into_iter().map(RawValue::get).collect())
    }

    fn raw_members(json: &str) -> Option<Vec<(String, &str)>> {
        serde_json::from_str::<RawMembers<'_>>(json).ok().map(|raw| raw.0)
    }

    /// Follows `tokens` one level at a time.
    fn raw_pointer<'a>(json: &'a str, tokens: &[String]) -> Option<&'a str> {
        let [token, rest @ ..] = tokens else { return Some(json) };
        let inside = match raw_members(json) {
            Some(members) => members.into_iter().rfind(|(key, _)| key == token).map(|(_, value)| value),
            None => {
                raw_elements(json)?.into_iter().enumerate().find(|(at, _)| at.to_string() == *token).map(|(_, v)| v)
            }
        };
        raw_pointer(inside?, rest)
    }

    /// Any value, with white space and odd spellings.
    pub(in crate::model) fn spaced_json() -> impl Strategy<Value = String> {
        let space = "[ \t\r\n]{0,2}";
        let key =
            prop::sample::select(vec![r#""a""#, r#""b""#, r#""""#, r#""\u0061""#, r#""0""#, r#""/~""#, r#""é\n""#]);
        let scalar = r#"null|true|-0|1e400|1\.10|""|" ,\]\} "|"\\\\"|"\\"\\u0061\[""#;
        let leaf = (space, scalar, space).prop_map(|(before, text, after)| format!("{before}{text}{after}"));
        leaf.prop_recursive(5, 48, 4, move |inner| {
            let member = (space, key.clone(), space, inner.clone());
            let member = member.prop_map(|(before, key, after, value)| format!("{before}{key}{after}:{value}"));
            let list = move |open, close, items: Vec<String>, (before, inside, after): (String, String, String)| {
                let items = if items.is_empty() { inside } else { items.join(",") };
                format!("{before}{open}{items}{close}{after}")
            };
            prop_oneof![
                (prop::collection::vec(inner, 0..4), (space, space, space))
                    .prop_map(move |(v, s)| list('[', ']', v, s)),
                (prop::collection::vec(member, 0..5), (space, space, space))
                    .prop_map(move |(v, s)| list('{', '}', v, s)),
            ]
        })
    }

    #[test]
    fn minify_keeps_every_token() {
        for (text, minified) in [
            ("1", "1"),
            (" \n1\t", "1"),
            ("{ \"a b\" :\r\n[ 1.10 , 1e2,-0 ], \"a b\": \" \\\" x \" }", r#"{"a b":[1.10,1e2,-0],"a b":" \" x "}"#),
            (r#"["\\" , "\ud83d", "é "]"#, r#"["\\","\ud83d","é "]"#),
        ] {
            assert_eq!(minify(text), minified);
            assert!(matches!(minify(minified), Cow::Borrowed(_)), "{minified}");
        }
    }

    #[test]
    fn parts_have_their_places() {
        let json = "{ \"a\" :\t[1 ] ,\"\\u0062\":2}";
        let told = |part: Part| (&json[part.start..part.value], &json[part.value..part.end]);
        let found: Vec<_> = parts(json).into_iter().map(told).collect();
        assert_eq!(found, [("\"a\" :\t", "[1 ]"), ("\"\\u0062\":", "2")]);
        assert_eq!(parts("[ 1.0 ,[] ]"), [Part { start: 2, value: 2, end: 5 }, Part { start: 7, value: 7, end: 9 }]);
        for json in ["[ ]", "{ }", "1", r#""[1]""#] {
            assert_eq!(parts(json), [], "{json}");
        }
    }

    #[test]
    fn a_look_inside_keeps_order_duplicates_and_spelling() {
        assert_eq!(elements(r#"[ 1.0 , "a\u0062",{"x" : 1} ]"#), Some(vec!["1.0", r#""a\u0062""#, r#"{"x" : 1}"#]));
        assert_eq!(elements("[ ]"), Some(vec![]));
        assert_eq!(
            members(r#"{"z":1e400,"\u0061" : [ ] ,"z":{}, "":"\"}"}"#),
            Some(vec![("z".into(), "1e400"), ("a".into(), "[ ]"), ("z".into(), "{}"), ("".into(), r#""\"}""#)])
        );
        assert_eq!(members("{ }"), Some(vec![]));
        for other in ["{}", "1", "\"[\"", "null"] {
            assert_eq!(elements(other), None);
        }
        for other in ["[]", "1", "\"{\"", "null"] {
            assert_eq!(members(other), None);
        }
    }

    #[test]
    fn a_key_with_a_lone_surrogate_is_its_spelling() {
        let json = r#"{"\ud83d\n":1,"\ud83d\ude00":2}"#;
        assert_eq!(members(json), Some(vec![(r"\ud83d\n".into(), "1"), ("😀".into(), "2")]));
        assert_eq!(pointer(json, r"/\ud83d\n"), Ok(Some("1")));
        assert_eq!(pointer(json, "/😀"), Ok(Some("2")));
    }

    #[test]
    fn pointers_follow_the_standard() {
        let json = r#"{ "foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\j": 5, "k\"l": 6, " ": 7,
            "m~n": 8, "~1": 9, "01": [10, [11]], "-": [] }"#;
        for (text, value) in [
            ("", Some(json)),
            ("/foo", Some(r#"["bar", "baz"]"#)),
            ("/foo/0", Some("\"bar\"")),
            ("/foo/1", Some("\"baz\"")),
            ("/", Some("0")),
            ("/a~1b", Some("1")),
            ("/c%d", Some("2")),
            ("/e^f", Some("3")),
            ("/g|h", Some("4")),
            ("/i\\j", Some("5")),
            ("/k\"l", Some("6")),
            ("/ ", Some("7")),
            ("/m~0n", Some("8")),
            ("/~01", Some("9")),
            ("/01/1/0", Some("11")),
            ("/-", Some("[]")),
            ("/-/0", None),
            ("/-/", None),
            ("/foo/2", None),
            ("/foo/-", None),
            ("/foo/00", None),
            ("/foo/01", None),
            ("/foo/+1", None),
            ("/foo/-1", None),
            ("/foo/1e0", None),
            ("/foo/", None),
            ("/foo/99999999999999999999999", None),
            ("/foo/0/0", None),
            ("/nope", None),
            ("//", None),
        ] {
            assert_eq!(pointer(json, text), Ok(value), "{text:?}");
        }
        assert_eq!(pointer(" [1] ", ""), Ok(Some("[1]")));
    }

    #[test]
    fn what_is_no_pointer_is_refused() {
        for text in ["a", "a/b", " /a", "#/a", "0"] {
            assert_eq!(pointer("{}", text), Err(PointerError::NoSlash(text.to_owned())));
        }
        for text in ["/~", "/a~", "/~2", "/~~0", "/~/0"] {
            assert_eq!(pointer("{}", text), Err(PointerError::Tilde(text.to_owned())));
        }
    }

    #[test]
    fn the_last_of_duplicate_keys_wins_at_every_level() {
        let json = r#"{"a":{"b":1,"b":2},"x":0,"\u0061":{"b":3,"c":[{"d":4,"d":5},6]}}"#;
        assert_eq!(pointer(json, "/a/b"), Ok(Some("3")));
        assert_eq!(pointer(json, "/a/c/0/d"), Ok(Some("5")));
        for shadowed in ["[]", "[1,[2]]", "{}", r#"{"b":[1]}"#, r#""b""#, "0"] {
            assert_eq!(pointer(&format!(r#"{{"a":{shadowed},"a":{{"b":3}}}}"#), "/a/b"), Ok(Some("3")), "{shadowed}");
        }
        assert_eq!(pointer(r#"{"a":{"b":1},"a":2}"#, "/a/b"), Ok(None));
        assert_eq!(pointer(r#"{"a":{"b":1},"a":[]}"#, "/a/b"), Ok(None));
        assert_eq!(pointer(r#"{"a":{"b":1},"a":{}}"#, "/a/b"), Ok(None));
    }

    #[test]
    fn depth_costs_neither_stack_nor_squared_time() {
        let depth = 100_000;
        for (open, close, step) in [("[0,", ",0]", "/1"), (r#"{"a":"#, r#","b":[]}"#, "/a")] {
            let json = format!("{}7{}", open.repeat(depth), close.repeat(depth));
            assert_eq!(pointer(&json, &step.repeat(depth)), Ok(Some("7")));
            assert_eq!(pointer(&json, &step.repeat(depth + 1)), Ok(None));
            assert_eq!(minify(&json), json);
            let size = elements(&json).map(|all| all.len()).or(members(&json).map(|all| all.len()));
            assert!(matches!(size, Some(2 | 3)));
        }
    }

    proptest! {
        #[test]
        fn the_look_inside_agrees_with_the_parser(
            json in spaced_json(),
            tokens in prop::collection::vec(prop::sample::select(vec!["a", "b", "", "0", "1", "2", "/~", "é\n"]), 0..4),
        ) {
            let json = serde_json::from_str::<&RawValue>(&json).expect("valid").get();
            prop_assert_eq!(elements(json), raw_elements(json));
            let ours = members(json).map(|all| all.into_iter().map(|(key, v)| (key.into_owned(), v)).collect::<Vec<_>>());
            prop_assert_eq!(ours, raw_members(json));
            let tokens: Vec<String> = tokens.into_iter().map(str::to_owned).collect();
            let text: String = tokens.iter().map(|t| format!("/{}", t.replace('~', "~0").replace('/', "~1"))).collect();
            prop_assert_eq!(pointer(json, &text), Ok(raw_pointer(json, &tokens)));
        }

        #[test]
        fn minified_json_is_the_same_tokens(json in spaced_json()) {
            let minified = minify(&json);
            prop_assert!(!minified.contains(['\n', '\r', '\t']));
            let raw: &RawValue = serde_json::from_str(&minified).expect("still valid");
            prop_assert_eq!(raw.get(), minified.as_ref());
            prop_assert_eq!(minify(&minified), minified.as_ref());
            prop_assert_eq!(serde_json::to_string(&Tokens(&json)).ok(), serde_json::to_string(&Tokens(&minified)).ok());
        }

        #[test]
        fn the_pieces_are_all_but_white_space_commas_and_colons(json in spaced_json()) {
            let minified = minify(&json).into_owned();
            let mut rest = minified.as_str();
            for piece in pieces(&json) {
                rest = rest.trim_start_matches([',', ':']).strip_prefix(piece).expect("the next piece");
                let scalar: Result<&RawValue, _> = serde_json::from_str(piece);
                prop_assert!(matches!(piece, "[" | "]" | "{" | "}") || scalar.is_ok(), "{}", piece);
            }
            prop_assert_eq!(rest, "");
        }

        #[test]
        fn no_text_breaks_the_cursor(json in r#"[\[\]{}",:\\ a1é\n]{0,12}"#, path in "(/[a0é]?){0,3}") {
            minify(&json);
            pieces(&json).for_each(drop);
            elements(&json);
            members(&json);
            parts(&json);
            prop_assert!(pointer(&json, &path).is_ok());
        }
    }

    /// The scalars and the shape of a value, by the parser.
    struct Tokens<'a>(&'a str);

    impl serde::Serialize for Tokens<'_> {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            match (raw_members(self.0), raw_elements(self.0)) {
                (Some(members), _) => serializer.collect_map(members.iter().map(|(key, value)| (key, Tokens(value)))),
                (None, Some(elements)) => serializer.collect_seq(elements.into_iter().map(Tokens)),
                (None, None) => serializer.serialize_str(self.0.trim()),
            }
        }
    }
}
