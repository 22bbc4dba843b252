//! What is left of a node whose content was taken out of a store for good, and its canonical bytes.
//!
//! A marker stands wherever the bytes of the node would stand, and names the object that it stands for: so the ids of the
//! states that hold it stay what they were.

use super::{DecodeError, ObjectId};
use crate::model::{Author, CommitTime, NodeId, push_json_string};
use serde::Deserialize;

/// What a marker begins with; no node does.
const HEAD: &[u8] = b"{\"redacted\":\"";

/// What is known of a node that was redacted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redaction {
    /// The object that it stands for.
    pub object: ObjectId,
    /// Whose version that was.
    pub id: NodeId,
    /// When it was redacted.
    pub time: CommitTime,
    /// By whom.
    pub by: Author,
    /// Why, where that was said; never empty.
    pub reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    redacted: String,
    id: String,
    time: String,
    by: String,
    reason: Option<String>,
}

/// Whether these bytes, which stand in the place of a node, are a marker.
pub fn is_marker(bytes: &[u8]) -> bool {
    bytes.starts_with(HEAD)
}

/// The object that a marker says it stands for; `None` where it says none.
pub(super) fn object_in(bytes: &[u8]) -> Option<ObjectId> {
    let digits = bytes.strip_prefix(HEAD)?.get(..64)?;
    ObjectId::parse(std::str::from_utf8(digits).ok()?)
}

/// Writes a marker as JSON: keys in the order redacted, id, time, by, reason, no white space; an absent reason is left out.
pub fn encode_redaction(redaction: &Redaction) -> Vec<u8> {
    let Redaction { object, id, time, by, reason } = redaction;
    let mut out = format!("{{\"redacted\":\"{object}\",\"id\":");
    push_json_string(&mut out, id.as_str());
    out.push_str(",\"time\":\"");
    out.push_str(&time.to_string());
    out.push_str("\",\"by\":");
    push_json_string(&mut out, by.as_str());
    if let Some(reason) = reason {
        out.push_str(",\"reason\":");
        push_json_string(&mut out, reason);
    }
    out.push('}');
    out.into_bytes()
}

/// Reads a marker; refuses whatever [`encode_redaction`] would have written otherwise.
pub fn decode_redaction(bytes: &[u8]) -> Result<Redaction, DecodeError> {
    let fault = |what| DecodeError::NotCanonical(what);
    let fields: Fields = serde_json::from_slice(bytes).map_err(|_| fault("a marker is no JSON object of its keys"))?;
    let redaction = Redaction {
        object: ObjectId::parse(&fields.redacted).ok_or_else(|| fault("a marker stands for no object"))?,
        id: NodeId::new(fields.id).map_err(|_| fault("a marker's id is no id"))?,
        time: CommitTime::parse(&fields.time).map_err(|_| fault("a marker's time is no time"))?,
        by: Author::new(&fields.by).map_err(|_| fault("a marker says of nobody that they redacted"))?,
        reason: fields.reason,
    };
    if redaction.reason.as_deref() != Some("") && encode_redaction(&redaction) == bytes {
        Ok(redaction)
    } else {
        Err(fault("a marker is spelled otherwise"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redaction(reason: Option<&str>) -> Redaction {
        Redaction {
            object: ObjectId::from_bytes([0xab; 32]),
            id: NodeId::new("user/\"diet\"").expect("an id"),
            time: CommitTime::parse("2026-05-06T07:08:09.010+05:30").expect("a time"),
            by: Author::new("Ada <a@b>").expect("an author"),
            reason: reason.map(str::to_owned),
        }
    }

    #[test]
    fn the_bytes_of_a_marker_are_fixed() {
        let head = format!(
            r#"{{"redacted":"{}","id":"user/\"diet\"","time":"2026-05-06T07:08:09.010+05:30","by":"Ada <a@b>""#,
            "ab".repeat(32)
        );
        for (reason, tail) in [(None, "}"), (Some("a\nsecret"), r#","reason":"a\nsecret"}"#)] {
            let bytes = encode_redaction(&redaction(reason));
            assert_eq!(String::from_utf8(bytes.clone()).expect("UTF-8"), format!("{head}{tail}"));
            assert_eq!(decode_redaction(&bytes), Ok(redaction(reason)));
            assert!(is_marker(&bytes));
            assert_eq!(object_in(&bytes), Some(ObjectId::from_bytes([0xab; 32])));
        }
    }

    #[test]
    fn whatever_is_not_canonical_is_refused() {
        let good = String::from_utf8(encode_redaction(&redaction(Some("why")))).expect("UTF-8");
        for (from, to) in [
            ("{\"redacted\"", "{ \"redacted\""),
            ("\"abab", "\"ABab"),
            ("\"abab", "\"ab"),
            ("user/", "\\u0075ser/"),
            ("user/\\\"diet\\\"", ""),
            ("+05:30", "Z"),
            (".010", ".01"),
            ("Ada <a@b>", " Ada <a@b>"),
            ("Ada <a@b>", " "),
            ("\"why\"", "\"\""),
            ("\"why\"", "null"),
            ("\"why\"", "1"),
            ("\"reason\"", "\"why\""),
            ("\"by\"", "\"extra\":1,\"by\""),
            ("}", "}\n"),
        ] {
            let bad = good.replacen(from, to, 1);
            assert_ne!(bad, good, "{from}");
            assert!(matches!(decode_redaction(bad.as_bytes()), Err(DecodeError::NotCanonical(_))), "{to}");
        }
        assert_eq!(object_in(b"{\"redacted\":\"ab\""), None);
        assert_eq!(object_in(good.replacen("abab", "abxb", 1).as_bytes()), None);
    }
}
