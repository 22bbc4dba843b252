//! The content of a node: JSON text, kept byte for byte.

use serde_json::value::RawValue;
use std::borrow::Cow;

/// The most bytes a content may have: 1 GiB.
pub const MAX_CONTENT_BYTES: u64 = 1 << 30;

/// A string or any JSON value, as the JSON text that the caller spelled.
///
/// White space around the value is no part of it. Two contents are equal when their texts are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content(Box<str>);

/// Why a text is no JSON value, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    /// A byte-order mark stands before the value.
    #[error("the JSON begins with a byte-order mark (U+FEFF)")]
    ByteOrderMark,
    /// Not a JSON text by RFC 8259.
    #[error("{reason} at line {line} column {column}")]
    Syntax {
        /// What is wrong.
        reason: String,
        /// From 1.
        line: usize,
        /// In bytes, from 1.
        column: usize,
    },
}

impl From<serde_json::Error> for JsonError {
    fn from(error: serde_json::Error) -> Self {
        let (line, column) = (error.line(), error.column());
        let text = error.to_string();
        let place = format!(" at line {line} column {column}");
        let reason = text.strip_suffix(&place).unwrap_or(&text).to_owned();
        Self::Syntax { reason, line, column }
    }
}

impl Content {
    /// Makes the JSON string whose text is `text`, spelled in the canonical way.
    pub fn from_text(text: &str) -> Self {
        Self(json_string(text).into_boxed_str())
    }

    /// Keeps one JSON value as it is spelled, without the white space around it.
    pub fn from_json(text: &str) -> Result<Self, JsonError> {
        if text.starts_with('\u{feff}') {
            return Err(JsonError::ByteOrderMark);
        }
        let raw: &RawValue = serde_json::from_str(text)?;
        Ok(Self(raw.get().into()))
    }

    /// The JSON text, as it was spelled.
    pub fn json(&self) -> &str {
        &self.0
    }

    /// Whether the value is a string.
    pub fn is_string(&self) -> bool {
        self.0.starts_with('"')
    }

    /// The text of a string; `None` for any other value and for a string with a lone surrogate, which has no text.
    pub fn text(&self) -> Option<Cow<'_, str>> {
        if !self.is_string() {
            return None;
        }
        let inside = &self.0[1..self.0.len() - 1];
        if !inside.contains('\\') {
            return Some(Cow::Borrowed(inside));
        }
        serde_json::from_str::<String>(&self.0).ok().map(Cow::Owned)
    }

    /// The text of a string, and the JSON text of what has none.
    pub fn readable(&self) -> Cow<'_, str> {
        self.text().unwrap_or(Cow::Borrowed(&self.0))
    }

    /// Whether both are strings of the same text, spelled in two ways.
    pub fn respells(&self, other: &Self) -> bool {
        self != other && self.text().is_some_and(|text| other.text() == Some(text))
    }
}

/// How many bytes the JSON string of `text` has, without making it.
pub fn json_string_length(text: &str) -> u64 {
    let spelled = |byte: u8| match byte {
        b'"' | b'\\' | 0x08 | b'\t' | b'\n' | 0x0c | b'\r' => 2,
        0..0x20 => 6,
        _ => 1,
    };
    2 + text.bytes().map(spelled).sum::<u64>()
}

/// Spells `text` as a JSON string: `"` and `\` behind a `\`; U+0008, 09, 0A, 0C, 0D as `\b \t \n \f \r`; other
/// characters below U+0020 as `\u00xx` in lower case; all else as it is.
pub fn json_string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    push_json_string(&mut out, text);
    out
}

/// Appends what `json_string` makes.
pub fn push_json_string(out: &mut String, text: &str) {
    out.push('"');
    let mut kept = 0;
    for (at, byte) in text.bytes().enumerate() {
        let short = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            0x08 => "\\b",
            b'\t' => "\\t",
            b'\n' => "\\n",
            0x0c => "\\f",
            b'\r' => "\\r",
            0..0x20 => "",
            _ => continue,
        };
        out.push_str(&text[kept..at]);
        kept = at + 1;
        if short.is_empty() {
            out.push_str(&format!("\\u{byte:04x}"));
        } else {
            out.push_str(short);
        }
    }
    out.push_str(&text[kept..]);
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn json_is_kept_as_it_is_spelled() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        for text in [
            r#"{"n":9007199254740991.0}"#,
            r#"{"seq":340282366920938463463374607431768211457}"#,
            r#"{"a":1e2,"b":5E7,"c":-0,"d":1e400,"e":0.10}"#,
            r#"{"zeta":1,"alpha":2}"#,
            r#"{"goal":"a","goal":"b"}"#,
            r#"{"t":"\ud83d"}"#,
            r#"["\u00e9","a\/b"]"#,
            "{ \"a\" :\n\t1 }",
            "null",
            &deep,
        ] {
            assert_eq!(Content::from_json(text).expect("valid").json(), text);
            assert_eq!(Content::from_json(&format!(" \r\n\t{text} ")).expect("valid").json(), text);
        }
    }

    #[test]
    fn what_is_no_json_is_refused_with_its_place() {
        for text in
            ["", " ", "{", "[1,]", "01", "1.", ".5", "+1", "NaN", "'a'", "\"\u{1}\"", "\"\\x\"", "1 2", "\u{a0}1"]
        {
            assert!(matches!(Content::from_json(text), Err(JsonError::Syntax { .. })), "{text:?}");
        }
        let error = Content::from_json("[1,\n 2,\n x]").expect_err("no JSON");
        assert!(matches!(error, JsonError::Syntax { line: 3, column: 2, .. }), "{error:?}");
        assert_eq!(Content::from_json("\u{feff}{}"), Err(JsonError::ByteOrderMark));
    }

    #[test]
    fn a_lone_surrogate_has_no_text() {
        assert_eq!(Content::from_json(r#""\ud83d""#).expect("valid").text(), None);
        assert_eq!(Content::from_json(r#""\ud83d\ude00""#).expect("valid").text().as_deref(), Some("😀"));
        assert_eq!(Content::from_json("1").expect("valid").text(), None);
    }

    #[test]
    fn the_same_text_may_be_spelled_in_two_ways() {
        let content = |json| Content::from_json(json).expect("valid");
        for (one, other, respelled) in [
            (r#""a""#, r#""\u0061""#, true),
            (r#""a""#, r#""a""#, false),
            (r#""a""#, r#""b""#, false),
            (r#""\/""#, r#""/""#, true),
            (r#""\ud83d""#, r#""\uD83D""#, false),
            ("1", "1.0", false),
            (r#""1""#, "1", false),
        ] {
            assert_eq!(content(one).respells(&content(other)), respelled, "{one} {other}");
            assert_eq!(content(other).respells(&content(one)), respelled, "{other} {one}");
        }
    }

    #[test]
    fn the_spelling_of_a_string_is_fixed() {
        let text = "\u{0}\u{8}\t\n\u{b}\u{c}\r\u{1b}\u{1f}\"\\/\u{7f}é\u{2028}😀";
        assert_eq!(json_string(text), "\"\\u0000\\b\\t\\n\\u000b\\f\\r\\u001b\\u001f\\\"\\\\/\u{7f}é\u{2028}😀\"");
    }

    proptest! {
        #[test]
        fn text_comes_back(text in any::<String>()) {
            let content = Content::from_text(&text);
            prop_assert_eq!(json_string_length(&text), content.json().len() as u64);
            prop_assert_eq!(content.text().expect("text"), text.as_str());
            prop_assert_eq!(Content::from_json(content.json()).expect("valid"), content.clone());
        }
    }
}
