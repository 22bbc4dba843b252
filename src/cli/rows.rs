//! Rows of JSON Lines: what `put --jsonl` reads.

use super::error::{CliError, Word};
use super::get::node_id;
use super::put::{event_time, utf8};
use crate::model::{Author, CommitTime, Content, ContentKind, JsonError, Message, Node, NodeId, Provenance, Timestamp};
use crate::ops::Write;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// What a row takes that does not say otherwise.
#[derive(Clone, Debug, Default)]
pub struct Defaults {
    /// For a row without the key `provenance`; a row with it has that and nothing else.
    pub provenance: Provenance,
    /// For a row without the key `event_time`, or with null.
    pub event_time: Option<Timestamp>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row<'a> {
    id: Option<String>,
    #[serde(borrow, default, deserialize_with = "present")]
    content: Option<&'a RawValue>,
    content_json: Option<String>,
    content_kind: Option<String>,
    #[serde(borrow)]
    provenance: Option<&'a RawValue>,
    event_time: Option<String>,
    deleted: Option<bool>,
}

/// A key that is there counts, whatever its value: null is a content too.
fn present<'de: 'a, 'a, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'a RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// A field that is there, null or not, and one that is left out are different things.
#[expect(clippy::option_option, reason = "left out, null, a text")]
fn stated<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::option_option, reason = "left out, null, a text")]
struct ProvenanceRow {
    #[serde(default, deserialize_with = "stated")]
    agent_step: Option<Option<String>>,
    #[serde(default, deserialize_with = "stated")]
    observation: Option<Option<String>>,
    #[serde(default, deserialize_with = "stated")]
    tool_call: Option<Option<String>>,
    #[serde(default, deserialize_with = "stated")]
    source: Option<Option<String>>,
    #[serde(default, deserialize_with = "stated")]
    note: Option<Option<String>>,
}

impl ProvenanceRow {
    fn over(self, provenance: &mut Provenance) {
        let fields = [
            (self.agent_step, &mut provenance.agent_step),
            (self.observation, &mut provenance.observation),
            (self.tool_call, &mut provenance.tool_call),
            (self.source, &mut provenance.source),
            (self.note, &mut provenance.note),
        ];
        for (stated, field) in fields {
            if let Some(stated) = stated {
                *field = stated;
            }
        }
    }
}

/// Lays a JSON object of provenance over `provenance`; null clears a field.
pub fn overlay_provenance(json: &str, provenance: &mut Provenance) -> Result<(), CliError> {
    let row: ProvenanceRow = object(json)?;
    row.over(provenance);
    Ok(())
}

/// Reads a JSON object; an array of the values in their order, which serde would take too, is none.
fn object<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T, CliError> {
    let read = serde_json::from_str(json).map_err(|error| CliError::new(Word::BadJson, in_row(error)))?;
    if json.trim_start_matches([' ', '\t', '\r', '\n']).starts_with('{') {
        Ok(read)
    } else {
        Err(CliError::new(Word::BadJson, "not a JSON object"))
    }
}

/// A row that commits what came before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitRow {
    /// What it says.
    pub message: Message,
    /// Who commits; the command's author if it does not say.
    pub author: Option<Author>,
    /// When; the command's time if it does not say.
    pub time: Option<CommitTime>,
}

/// What a row asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// A change.
    Write(Write),
    /// A commit.
    Commit(CommitRow),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CommitLine<'a> {
    #[serde(borrow)]
    commit: &'a RawValue,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CommitFields {
    message: String,
    author: Option<String>,
    time: Option<String>,
}

/// Reads rows of changes, all or none; a refusal names the line and, where there is one, the key.
pub fn read_rows(
    bytes: &[u8],
    defaults: &Defaults,
    mut new_id: impl FnMut() -> NodeId,
) -> Result<Vec<Write>, CliError> {
    each_row(bytes, |line| read_row(line, defaults, &mut new_id))
}

/// The same for rows among which there are commits.
pub fn read_history(
    bytes: &[u8],
    defaults: &Defaults,
    mut new_id: impl FnMut() -> NodeId,
) -> Result<Vec<Asked>, CliError> {
    each_row(bytes, |line| match object::<CommitLine<'_>>(line) {
        Ok(row) => read_commit(row.commit.get()).map_err(|error| error.about("the key 'commit'")).map(Asked::Commit),
        Err(_) => read_row(line, defaults, &mut new_id).map(Asked::Write),
    })
}

fn read_commit(json: &str) -> Result<CommitRow, CliError> {
    let fields: CommitFields = object(json)?;
    let blank = |key: &str| CliError::new(Word::BadJson, format!("the key '{key}' may not be blank"));
    let author = fields.author.map(|author| Author::new(&author).map_err(|_| blank("author"))).transpose()?;
    let time = fields.time.map(|time| event_time(&time).and_then(|time| Ok(CommitTime::at(&time.instant())?)));
    let time = time.transpose().map_err(|error| error.about("the key 'time'"))?;
    Ok(CommitRow { message: Message::new(&fields.message).map_err(|_| blank("message"))?, author, time })
}

fn each_row<T>(bytes: &[u8], mut read: impl FnMut(&str) -> Result<T, CliError>) -> Result<Vec<T>, CliError> {
    let text = utf8(bytes, "JSON Lines")?;
    let mut writes = Vec::new();
    for (at, line) in text.split('\n').enumerate() {
        if line.trim_matches([' ', '\t', '\r']).is_empty() {
            continue;
        }
        writes.push(read(line).map_err(|error| error.about(&format!("line {}", at + 1)))?);
    }
    Ok(writes)
}

fn read_row(line: &str, defaults: &Defaults, new_id: &mut impl FnMut() -> NodeId) -> Result<Write, CliError> {
    if line.starts_with('\u{feff}') {
        return Err(JsonError::ByteOrderMark.into());
    }
    let row: Row<'_> = object(line)?;
    let fault = |what: &str| CliError::new(Word::BadJson, what);
    let id = row.id.as_deref().map(|id| node_id(id).map_err(|error| error.about("the key 'id'"))).transpose()?;
    if row.deleted == Some(true) {
        let only_id = row.content.is_none()
            && row.content_json.is_none()
            && row.content_kind.is_none()
            && row.provenance.is_none()
            && row.event_time.is_none();
        let id = id.ok_or_else(|| fault("the key 'deleted' needs the key 'id'"))?;
        return if only_id {
            Ok(Write::Remove(id))
        } else {
            Err(fault("beside the key 'deleted' only 'id' may stand"))
        };
    }
    let content = match (row.content, &row.content_json) {
        (Some(raw), None) => Content::from_json(raw.get())?,
        (None, Some(json)) => {
            Content::from_json(json).map_err(|error| CliError::from(error).about("the key 'content_json'"))?
        }
        (Some(_), Some(_)) => return Err(fault("the keys 'content' and 'content_json' exclude each other")),
        (None, None) => return Err(fault("the key 'content' is missing")),
    };
    let content_kind = row.content_kind.as_deref().map_or(Ok(ContentKind::Note), ContentKind::parse);
    let content_kind = content_kind.map_err(|error| CliError::from(error).about("the key 'content_kind'"))?;
    let time = row.event_time.as_deref().map(event_time).transpose();
    let time = time.map_err(|error| error.about("the key 'event_time'"))?;
    let provenance = match row.provenance {
        Some(stated) => {
            let mut provenance = Provenance::default();
            overlay_provenance(stated.get(), &mut provenance).map_err(|error| error.about("the key 'provenance'"))?;
            provenance
        }
        None => defaults.provenance.clone(),
    };
    let event_time = time.or_else(|| defaults.event_time.clone());
    Ok(Write::Set(Node { id: id.unwrap_or_else(new_id), content, content_kind, provenance, event_time }))
}

/// What serde says, its line left out: a row is one line.
fn in_row(error: serde_json::Error) -> String {
    match JsonError::from(error) {
        JsonError::Syntax { reason, column, .. } => format!("{reason} at column {column}"),
        other @ JsonError::ByteOrderMark => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Result<Vec<Write>, CliError> {
        let defaults = Defaults {
            provenance: Provenance { source: Some("default".into()), note: Some("n".into()), ..Provenance::default() },
            event_time: None,
        };
        read_rows(text.as_bytes(), &defaults, || NodeId::new("new").expect("id"))
    }

    fn node(text: &str) -> Node {
        match rows(text).expect("rows").pop() {
            Some(Write::Set(node)) => node,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn content_is_kept_as_it_is_spelled_null_included() {
        for json in ["null", "1e400", "{ \"b\":1 , \"a\":1.10, \"a\":2}", r#""\ud83d""#, "[]", "-0"] {
            assert_eq!(node(&format!(r#"{{"id":"k","content": {json} }}"#)).content.json(), json);
        }
        assert_eq!(node(r#"{"content_json":"[1,\n2]"}"#).content.json(), "[1,\n2]");
        assert_eq!(node(r#"{"content":1}"#).id.as_str(), "new");
    }

    #[test]
    fn provenance_in_a_row_stands_alone() {
        let named = node(r#"{"content":1,"provenance":{"tool_call":"t","note":null,"observation":""}}"#).provenance;
        let (tool_call, observation) = (Some("t".into()), Some(String::new()));
        assert_eq!(named, Provenance { tool_call, observation, ..Provenance::default() });
        assert_eq!(node(r#"{"content":1,"provenance":{}}"#).provenance, Provenance::default());
        assert_eq!(node(r#"{"content":1}"#).provenance.source.as_deref(), Some("default"));
    }

    #[test]
    fn an_option_lies_over_the_defaults_and_null_clears() {
        let mut provenance = Provenance { source: Some("s".into()), note: Some("n".into()), ..Provenance::default() };
        overlay_provenance(r#"{"note":null,"agent_step":"a"}"#, &mut provenance).expect("provenance");
        let (agent_step, source) = (Some("a".into()), Some("s".into()));
        assert_eq!(provenance, Provenance { agent_step, source, ..Provenance::default() });
        assert!(overlay_provenance("[]", &mut provenance).is_err());
        assert!(overlay_provenance(r#"["s",null,null,null,null]"#, &mut provenance).is_err());
        assert!(overlay_provenance(r#"{"who":"x"}"#, &mut provenance).is_err());
        assert!(overlay_provenance(r#"{"source":1}"#, &mut provenance).is_err());
    }

    #[test]
    fn removals_are_rows_of_an_id_and_nothing_else() {
        assert_eq!(rows(r#"{"id":"k","deleted":true}"#).expect("rows"), [Write::Remove(NodeId::new("k").expect("id"))]);
        for bad in [
            r#"{"deleted":true}"#,
            r#"{"id":"k","deleted":true,"content":1}"#,
            r#"{"id":"k","deleted":true,"provenance":{}}"#,
        ] {
            assert!(rows(bad).is_err(), "{bad}");
        }
        assert_eq!(node(r#"{"id":"k","deleted":false,"content":1}"#).id.as_str(), "k");
    }

    #[test]
    fn commits_stand_among_the_rows_of_a_history() {
        let read = |text: &str| read_history(text.as_bytes(), &Defaults::default(), || NodeId::new("x").expect("id"));
        let history = "{\"content\":1}\n{\"commit\":{\"message\":\"m\\n\",\"author\":\" A \",\"time\":\"2026-01-02T03:04:05.678+01:00\"}}";
        let asked = read(history).expect("rows");
        let Asked::Commit(commit) = &asked[1] else { panic!("{asked:?}") };
        assert_eq!(commit.message.as_str(), "m");
        assert_eq!(commit.author.as_ref().map(Author::as_str), Some("A"));
        assert_eq!(commit.time.map(|time| time.to_string()).as_deref(), Some("2026-01-02T03:04:05.678+01:00"));
        assert!(read_rows(history.as_bytes(), &Defaults::default(), || NodeId::new("x").expect("id")).is_err());
        for bad in [
            r#"{"commit":{}}"#,
            r#"{"commit":{"message":" "}}"#,
            r#"{"commit":{"message":"m","author":""}}"#,
            r#"{"commit":{"message":"m","time":"noon"}}"#,
            r#"{"commit":{"message":"m","who":1}}"#,
            r#"{"commit":["m",null,null]}"#,
            r#"{"commit":{"message":"m"},"id":"k"}"#,
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_refusal_names_line_and_key() {
        let good = "{\"content\":1}\n\n";
        for (row, line, key, status) in [
            (r#"{"content":1,"kontent":2}"#, "line 3", "kontent", 129),
            (r#"{"content":1,"id":2}"#, "line 3", "invalid type", 129),
            (r#"{"content":1,"id":""}"#, "line 3", "'id'", 129),
            (r#"{"id":"k"}"#, "line 3", "'content'", 129),
            (r#"{"content":1,"content_json":"1"}"#, "line 3", "'content_json'", 129),
            (r#"{"content_json":"{"}"#, "line 3", "'content_json'", 129),
            (r#"{"content":1,"content_kind":"claim"}"#, "line 3", "'content_kind'", 129),
            (r#"{"content":1,"event_time":"noon"}"#, "line 3", "'event_time'", 129),
            (r#"{"content":1,"provenance":{"who":"x"}}"#, "line 3", "who", 129),
            (r#"{"content":1,"content":2}"#, "line 3", "content", 129),
            ("[1]", "line 3", "", 129),
            (r#"["k",1,null,null,null,null,null]"#, "line 3", "object", 129),
            (r#"{"content":1,"provenance":["s"]}"#, "line 3", "'provenance'", 129),
            (r#"{"content":1,"provenance":[null,null,null,null,null]}"#, "line 3", "'provenance'", 129),
            ("{", "line 3", "column 1", 129),
            ("\u{feff}{\"content\":1}", "line 3", "byte-order mark", 129),
        ] {
            let error = rows(&format!("{good}{row}")).expect_err(row);
            let mut told = Vec::new();
            error.write(&mut told, true, super::super::paint::Paint::default()).expect("told");
            let told = String::from_utf8(told).expect("text");
            assert!(told.contains(line) && told.contains(key), "{row}: {told}");
            assert_eq!(error.exit(), status);
        }
        assert!(read_rows(b"{\"content\":\"\xff\"}", &Defaults::default(), || NodeId::new("x").expect("id")).is_err());
    }
}
