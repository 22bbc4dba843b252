//! Canonical bytes of a commit.

use super::{CommitId, DecodeError, StateId, sha256};
use crate::model::{Author, CommitTime, Message, push_json_string};
use serde::Deserialize;

/// One step of the history: a memory, where it came from, and who says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// The commits that it continues, in order; none for the first of a history.
    pub parents: Vec<CommitId>,
    /// The memory as it is after the commit.
    pub state: StateId,
    /// Who made it.
    pub author: Author,
    /// When it was recorded.
    pub time: CommitTime,
    /// What it says.
    pub message: Message,
}
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    parents: Vec<String>,
    state: String,
    author: String,
    time: String,
    message: String,
}

impl Commit {
    /// Writes the commit as JSON: keys in the order parents, state, author, time, message, no white space.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = String::with_capacity(256 + self.message.as_str().len());
        out.push_str("{\"parents\":[");
        for (at, parent) in self.parents.iter().enumerate() {
            out.push_str(if at == 0 { "\"" } else { ",\"" });
            out.push_str(&parent.to_string());
            out.push('"');
        }
        out.push_str("],\"state\":\"");
        out.push_str(&self.state.to_string());
        out.push_str("\",\"author\":");
        push_json_string(&mut out, self.author.as_str());
        out.push_str(",\"time\":\"");
        out.push_str(&self.time.to_string());
        out.push_str("\",\"message\":");
        push_json_string(&mut out, self.message.as_str());
        out.push('}');
        out.into_bytes()
    }

    /// Reads canonical bytes; refuses whatever [`Commit::encode`] would have written otherwise.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let fault = |what| DecodeError::NotCanonical(what);
        let fields: Fields =
            serde_json::from_slice(bytes).map_err(|_| fault("a commit is no JSON object of its five keys"))?;
        let parents: Option<_> = fields.parents.iter().map(|id| CommitId::parse(id)).collect();
        let commit = Self {
            parents: parents.ok_or_else(|| fault("a commit's parent is no id"))?,
            state: StateId::parse(&fields.state).ok_or_else(|| fault("a commit's state is no id"))?,
            author: Author::new(&fields.author).map_err(|_| fault("a commit's author is blank"))?,
            time: CommitTime::parse(&fields.time).map_err(|_| fault("a commit's time is no time"))?,
            message: Message::new(&fields.message).map_err(|_| fault("a commit's message is blank"))?,
        };
        if commit.encode() == bytes { Ok(commit) } else { Err(fault("a commit is spelled otherwise")) }
    }

    /// The id of the commit.
    pub fn id(&self) -> CommitId {
        CommitId::from_bytes(sha256(&[b"commit 1\0", &self.encode()]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commit() -> Commit {
        Commit {
            parents: vec![CommitId::from_bytes([1; 32]), CommitId::from_bytes([0xab; 32])],
            state: StateId::from_bytes([2; 32]),
            author: Author::new("Ada <a@b>").expect("author"),
            time: CommitTime::parse("2024-05-06T07:08:09.010+05:30").expect("time"),
            message: Message::new("one\n\"two\"").expect("message"),
        }
    }

    #[test]
    fn the_bytes_of_a_commit_are_fixed() {
        let text = format!(
            r#"{{"parents":["{}","{}"],"state":"{}","author":"Ada <a@b>","time":"2024-05-06T07:08:09.010+05:30","message":"one\n\"two\""}}"#,
            "01".repeat(32),
            "ab".repeat(32),
            "02".repeat(32)
        );
        assert_eq!(String::from_utf8(commit().encode()).expect("UTF-8"), text);
        assert_eq!(Commit::decode(text.as_bytes()), Ok(commit()));
    }

    #[test]
    fn whatever_is_not_canonical_is_refused() {
        let good = String::from_utf8(commit().encode()).expect("UTF-8");
        for (from, to) in [
            ("{\"parents\"", "{ \"parents\""),
            ("\"abab", "\"ABab"),
            ("\"abab", "\"ab"),
            ("\"state\":\"02", "\"state\":\"0"),
            ("Ada <a@b>", " Ada <a@b>"),
            ("Ada <a@b>", " "),
            ("+05:30", "Z"),
            (".010", ".01"),
            ("two\\\"\"", "two\\\"\\n\""),
            ("one", "\\u006fne"),
            ("\"author\"", "\"extra\":1,\"author\""),
        ] {
            assert_ne!(good.replace(from, to), good, "{from}");
            assert!(Commit::decode(good.replace(from, to).as_bytes()).is_err(), "{to}");
        }
    }
}
