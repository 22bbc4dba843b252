//! Canonical bytes of nodes by the page of the format, read and written the slow way.

use crate::json::{self, Spelled};
use crate::time::{is_commit_time, is_time};
use mnemosyne::object::sha256;

pub const PROVENANCE: [&str; 5] = ["agent_step", "observation", "tool_call", "source", "note"];

/// A node in the texts that canonical bytes have: the content and the event time as they are spelled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    pub id: String,
    pub content: String,
    pub content_kind: String,
    pub provenance: [Option<String>; 5],
    pub event_time: Option<String>,
}

impl Node {
    pub fn bytes(&self) -> Vec<u8> {
        let set = PROVENANCE.iter().zip(&self.provenance).filter_map(|(key, value)| Some((key, value.as_ref()?)));
        let set: Vec<_> = set.map(|(key, value)| format!("\"{key}\":{}", json::canonical(value))).collect();
        let time = self.event_time.iter().map(|time| format!(",\"event_time\":{}", json::canonical(time)));
        let bytes = format!(
            "{{\"id\":{},\"content\":{},\"content_kind\":{},\"provenance\":{{{}}}{}}}",
            json::canonical(&self.id),
            self.content,
            json::canonical(&self.content_kind),
            set.join(","),
            time.collect::<String>()
        );
        bytes.into_bytes()
    }

    /// Reads a node of any kind.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let text = str::from_utf8(bytes).ok()?;
        let mut node = Self::default();
        for (key, value) in json::read(text)?.members()? {
            match key.as_str() {
                "id" => node.id = value.string()?,
                "content" => node.content = value.text.to_owned(),
                "content_kind" => node.content_kind = value.string()?,
                "provenance" => node.provenance = provenance(value)?,
                "event_time" => node.event_time = Some(value.string()?),
                _ => return None,
            }
        }
        let sound = is_id(&node.id) && node.event_time.as_deref().is_none_or(is_time);
        (sound && node.bytes() == bytes).then_some(node)
    }
}

/// The values of an object with no other keys.
fn provenance(spelled: &Spelled<'_>) -> Option<[Option<String>; 5]> {
    let mut values = [const { None }; 5];
    for (key, value) in spelled.members()? {
        let at = PROVENANCE.iter().position(|known| *known == key)?;
        values[at] = Some(value.string()?);
    }
    Some(values)
}

/// What is left of a node that was redacted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marker {
    /// 64 hexadecimal digits.
    pub object: String,
    pub id: String,
    pub time: String,
    pub by: String,
    pub reason: Option<String>,
}

impl Marker {
    pub fn bytes(&self) -> Vec<u8> {
        let reason = self.reason.iter().map(|reason| format!(",\"reason\":{}", json::canonical(reason)));
        let bytes = format!(
            "{{\"redacted\":{},\"id\":{},\"time\":{},\"by\":{}{}}}",
            json::canonical(&self.object),
            json::canonical(&self.id),
            json::canonical(&self.time),
            json::canonical(&self.by),
            reason.collect::<String>()
        );
        bytes.into_bytes()
    }

    pub fn read(bytes: &[u8]) -> Option<Self> {
        let text = str::from_utf8(bytes).ok()?;
        let mut marker = Self::default();
        for (key, value) in json::read(text)?.members()? {
            match key.as_str() {
                "redacted" => marker.object = value.string()?,
                "id" => marker.id = value.string()?,
                "time" => marker.time = value.string()?,
                "by" => marker.by = value.string()?,
                "reason" => marker.reason = Some(value.string()?),
                _ => return None,
            }
        }
        let sound = is_hash(&marker.object)
            && is_id(&marker.id)
            && is_commit_time(&marker.time)
            && is_author(&marker.by)
            && marker.reason.as_deref() != Some("");
        (sound && marker.bytes() == bytes).then_some(marker)
    }
}

/// Whether bytes in the place of a node begin as a marker does.
pub fn begins_as_marker(bytes: &[u8]) -> bool {
    bytes.starts_with(b"{\"redacted\":\"")
}

/// The object that the bytes of a version stand for.
pub fn object_of(bytes: &[u8]) -> [u8; 32] {
    let Some(Marker { object, .. }) = Marker::read(bytes) else { return sha256(&[b"node 1\0", bytes]) };
    let digit = |at: usize| u8::from_str_radix(&object[at * 2..at * 2 + 2], 16).expect("two digits");
    std::array::from_fn(digit)
}

/// Whether a text is a hash as canonical bytes have it.
pub fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Whether a text can be an author as canonical bytes have it.
pub fn is_author(text: &str) -> bool {
    !text.is_empty() && text.trim() == text
}

/// Whether a text can be the id of a node.
pub fn is_id(text: &str) -> bool {
    let is_control = |c| matches!(c, '\0'..'\u{20}' | '\u{7f}'..'\u{a0}');
    text.len() <= 1024 && !text.contains(is_control) && !text.chars().all(char::is_whitespace)
}
