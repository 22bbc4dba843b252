//! Rows of JSON Lines: what `put --jsonl` reads.

use super::error::{CliError, Word};
use super::get::node_id;
use super::input::{name, refuse_too_large};
use super::put::{event_time, utf8};
use crate::model::{Author, CommitTime, Content, ContentKind, JsonError, Message, Node, NodeId, Provenance, Timestamp};
use crate::object::{ObjectId, Redaction};
use crate::ops::Write;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;
use std::path::Path;

const HINT: &str = r#"a row is such as {"id":"user/diet","content":"vegan"}"#;

/// What a row takes that does not say otherwise, and how much it may say.
#[derive(Clone, Debug)]
pub struct Defaults {
    /// For a row without the key `provenance`; a row with it has that and nothing else.
    pub provenance: Provenance,
    /// For a row without the key `event_time`, or with null.
    pub event_time: Option<Timestamp>,
    /// The most bytes that a content may have as JSON text.
    pub limit: u64,
}

/// Lays a JSON object of provenance over `provenance`; null clears a field.
pub fn overlay_provenance(json: &str, provenance: &mut Provenance) -> Result<(), CliError> {
    const KEYS: [&str; 5] = ["agent_step", "observation", "tool_call", "source", "note"];
    let values = fields(json, KEYS)?;
    let Provenance { agent_step, observation, tool_call, source, note } = provenance;
    for ((key, value), field) in KEYS.into_iter().zip(values).zip([agent_step, observation, tool_call, source, note]) {
        if value.is_some() {
            *field = read(key, value)?;
        }
    }
    Ok(())
}

/// The values of an object that has these keys and no others, each at most once; `None` where one is left out.
pub fn fields<'a, const N: usize>(json: &'a str, keys: [&str; N]) -> Result<[Option<&'a RawValue>; N], CliError> {
    let mut found = [None; N];
    for (key, value) in members(json)? {
        let Some(at) = keys.iter().position(|known| *known == key) else {
            return Err(fault(format!("unknown key '{key}'; the keys are '{}'", keys.join("', '"))));
        };
        if found[at].replace(value).is_some() {
            return Err(fault(format!("the key '{key}' stands twice")));
        }
    }
    Ok(found)
}

/// Reads the value of a key; null is nothing, as one that is left out.
pub fn read<'a, T: Deserialize<'a>>(key: &str, value: Option<&'a RawValue>) -> Result<Option<T>, CliError> {
    let read = value.map(|value| serde_json::from_str::<Option<T>>(value.get())).transpose();
    let refused = |error| match JsonError::from(error) {
        JsonError::Syntax { reason, .. } => fault(format!("the key '{key}': {reason}")),
        other @ JsonError::ByteOrderMark => other.into(),
    };
    read.map(Option::flatten).map_err(refused)
}

fn is_set(value: Option<&RawValue>) -> bool {
    value.is_some_and(|value| value.get() != "null")
}

/// A row that is not as it should be.
pub fn fault(what: impl Into<String>) -> CliError {
    CliError::new(Word::BadJson, what)
}

/// The members of a JSON object in their order. Where it is none, the key at which that shows is named.
fn members(json: &str) -> Result<Vec<(String, &RawValue)>, CliError> {
    let mut members = Members::default();
    let mut reader = serde_json::Deserializer::from_str(json);
    // The line is left out: a row is one line.
    let told = |error: serde_json::Error, key: Option<String>| match (JsonError::from(error), key) {
        // What is no object at all has no place within it.
        (JsonError::Syntax { reason, column: 0, .. }, None) => fault(reason),
        (JsonError::Syntax { reason, column, .. }, Some(key)) => {
            fault(format!("the key '{key}': {reason} at column {column}"))
        }
        (JsonError::Syntax { reason, column, .. }, None) => fault(format!("{reason} at column {column}")),
        (other @ JsonError::ByteOrderMark, _) => other.into(),
    };
    match reader.deserialize_map(&mut members) {
        Ok(()) => reader.end().map(|()| members.found).map_err(|error| told(error, None)),
        Err(error) => Err(told(error, members.key.or(members.found.pop().map(|(key, _)| key)))),
    }
}

#[derive(Default)]
struct Members<'a> {
    found: Vec<(String, &'a RawValue)>,
    /// The key whose value is none.
    key: Option<String>,
}

impl<'de> Visitor<'de> for &mut Members<'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            let value = map.next_value().inspect_err(|_| self.key = Some(key.clone()))?;
            self.found.push((key, value));
        }
        Ok(())
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

/// Reads rows of changes, all or none; a refusal names the line and, where there is one, the key.
pub fn read_rows(
    lines: Lines<'_>,
    defaults: &Defaults,
    mut new_id: impl FnMut() -> NodeId,
) -> Result<Vec<Write>, CliError> {
    each_row(lines, HINT, |line| {
        let row = read_row(line, defaults, &mut new_id);
        row.map_err(|error| if is_commit(line) { commits_are_not_asked_for() } else { error })
    })
}

/// The same for rows among which there are commits.
pub fn read_history(
    lines: Lines<'_>,
    defaults: &Defaults,
    mut new_id: impl FnMut() -> NodeId,
) -> Result<Vec<Asked>, CliError> {
    each_row(lines, HINT, |line| {
        if !is_commit(line) {
            return read_row(line, defaults, &mut new_id).map(Asked::Write);
        }
        let [row] = fields(line, ["commit"])?;
        let row = read_commit(row.map_or("null", RawValue::get));
        row.map_err(|error| error.about("the key 'commit'")).map(Asked::Commit)
    })
}

fn is_commit(line: &str) -> bool {
    members(line).is_ok_and(|members| members.iter().any(|(key, _)| key == "commit"))
}

fn commits_are_not_asked_for() -> CliError {
    CliError::usage("a row with the key 'commit' makes a commit, which only 'put --jsonl --commits' does")
        .hint("mnem put --jsonl FILE --commits")
}

fn read_commit(json: &str) -> Result<CommitRow, CliError> {
    let [message, author, time] = fields(json, ["message", "author", "time"])?;
    let message: Option<String> = read("message", message)?;
    let message = message.ok_or_else(|| fault("the key 'message' is missing"))?;
    let refused = |key: &str, error| fault(format!("the key '{key}' {error}"));
    let author: Option<String> = read("author", author)?;
    let author =
        author.map(|author| Author::one_line(&author).map_err(|error| refused("author", error))).transpose()?;
    let time: Option<String> = read("time", time)?;
    let instant = |time: &str| Timestamp::parse(time).and_then(|time| CommitTime::at(&time.instant()));
    let time = time.map(|time| instant(&time).map_err(|error| CliError::from(error).about(&format!("'{time}'"))));
    let time = time.transpose().map_err(|error| error.about("the key 'time'"))?;
    Ok(CommitRow { message: Message::new(&message).map_err(|error| refused("message", error))?, author, time })
}

/// The bytes of some rows, and from where they are.
#[derive(Clone, Copy, Debug)]
pub struct Lines<'a> {
    /// All of them.
    pub bytes: &'a [u8],
    /// The file, or `-`.
    pub path: &'a Path,
}

/// Reads each line that is not blank, all or none; a refusal names the file and the line, and has a hint.
pub fn each_row<T>(
    lines: Lines<'_>,
    hint: &str,
    mut read: impl FnMut(&str) -> Result<T, CliError>,
) -> Result<Vec<T>, CliError> {
    let text = utf8(lines.bytes, &name(lines.path))?;
    let file = if lines.path == Path::new("-") { String::new() } else { format!("{}: ", lines.path.display()) };
    let mut rows = Vec::new();
    for (at, line) in text.split('\n').enumerate() {
        if line.trim_matches([' ', '\t', '\r']).is_empty() {
            continue;
        }
        let refused = |error: CliError| error.about(&format!("{file}line {}", at + 1)).or_hint(hint);
        rows.push(read(line).map_err(refused)?);
    }
    Ok(rows)
}

fn read_row(line: &str, defaults: &Defaults, new_id: &mut impl FnMut() -> NodeId) -> Result<Write, CliError> {
    if line.starts_with('\u{feff}') {
        return Err(JsonError::ByteOrderMark.into());
    }
    if is_marker_row(line) {
        return read_marker(line).map(Write::Mark);
    }
    const KEYS: [&str; 7] = ["id", "content", "content_json", "content_kind", "provenance", "event_time", "deleted"];
    let [id, content, content_json, content_kind, stated, time, deleted] = fields(line, KEYS)?;
    let id: Option<String> = read("id", id)?;
    let id = id.map(|id| node_id(&id).map_err(|error| error.about("the key 'id'"))).transpose()?;
    if read("deleted", deleted)? == Some(true) {
        let only_id = content.is_none() && ![content_json, content_kind, stated, time].into_iter().any(is_set);
        let id = id.ok_or_else(|| fault("the key 'deleted' needs the key 'id'"))?;
        return if only_id {
            Ok(Write::Remove(id))
        } else {
            Err(fault("beside the key 'deleted' only 'id' may stand"))
        };
    }
    let content_json: Option<String> = read("content_json", content_json)?;
    let content = match (content, &content_json) {
        (Some(raw), None) => {
            refuse_too_large(raw.get().len() as u64, defaults.limit, "the key 'content'")?;
            Content::from_json(raw.get())?
        }
        (None, Some(json)) => {
            refuse_too_large(json.len() as u64, defaults.limit, "the key 'content_json'")?;
            Content::from_json(json).map_err(|error| CliError::from(error).about("the key 'content_json'"))?
        }
        (Some(_), Some(_)) => return Err(fault("the keys 'content' and 'content_json' exclude each other")),
        (None, None) => return Err(fault("the key 'content' is missing")),
    };
    let content_kind: Option<String> = read("content_kind", content_kind)?;
    let content_kind = content_kind.as_deref().map_or(Ok(ContentKind::Note), ContentKind::parse);
    let content_kind = content_kind.map_err(|error| CliError::from(error).about("the key 'content_kind'"))?;
    let time: Option<String> = read("event_time", time)?;
    let time = time.as_deref().map(event_time).transpose().map_err(|error| error.about("the key 'event_time'"))?;
    let provenance = match stated.filter(|stated| is_set(Some(stated))) {
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

/// Whether a row is what is left of a node that was redacted, as an export writes it.
fn is_marker_row(line: &str) -> bool {
    members(line).is_ok_and(|members| members.iter().any(|(key, _)| key == "redacted"))
}

fn read_marker(line: &str) -> Result<Redaction, CliError> {
    let [object, id, time, by, reason] = fields(line, ["redacted", "id", "time", "by", "reason"])?;
    let text = |key: &'static str, value| {
        let text: Option<String> = read(key, value)?;
        text.ok_or_else(|| fault(format!("beside the key 'redacted' the key '{key}' is missing")))
    };
    let object = ObjectId::parse(&text("redacted", object)?).ok_or_else(|| fault("the key 'redacted' is no hash"))?;
    let id = node_id(&text("id", id)?).map_err(|error| error.about("the key 'id'"))?;
    let time = text("time", time)?;
    let time = CommitTime::parse(&time).map_err(|error| CliError::from(error).about("the key 'time'"))?;
    let by = Author::one_line(&text("by", by)?).map_err(|error| fault(format!("the key 'by' {error}")))?;
    let reason: Option<String> = read("reason", reason)?;
    Ok(Redaction { object, id, time, by, reason: reason.filter(|reason| !reason.is_empty()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The most bytes of a content here.
    const LIMIT: u64 = 40;

    fn defaults() -> Defaults {
        Defaults {
            provenance: Provenance { source: Some("default".into()), note: Some("n".into()), ..Provenance::default() },
            event_time: None,
            limit: LIMIT,
        }
    }

    fn from_stdin(bytes: &[u8]) -> Lines<'_> {
        Lines { bytes, path: Path::new("-") }
    }

    fn new_id() -> NodeId {
        NodeId::new("new").expect("id")
    }

    fn rows(text: &str) -> Result<Vec<Write>, CliError> {
        read_rows(from_stdin(text.as_bytes()), &defaults(), new_id)
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
    fn a_content_may_have_just_so_many_bytes_as_json() {
        for key in ["content", "content_json"] {
            let row = |length: u64| {
                let json = format!("\"{}\"", "x".repeat(usize::try_from(length).expect("short") - 2));
                let value = if key == "content" { json } else { serde_json::to_string(&json).expect("a string") };
                format!("{{\"id\":\"k\",\"{key}\": {value}}}")
            };
            assert_eq!(node(&row(LIMIT)).content.json().len() as u64, LIMIT, "{key}");
            let refused = rows(&row(LIMIT + 1)).expect_err(key);
            let said = format!("line 1: the key '{key}' has more than {LIMIT} bytes as JSON text");
            assert_eq!((refused.exit(), refused.to_string()), (129, said));
            let commits = read_history(from_stdin(row(LIMIT + 1).as_bytes()), &defaults(), new_id);
            assert_eq!(commits.expect_err(key).exit(), 129);
        }
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
        let read = |text: &str| read_history(from_stdin(text.as_bytes()), &defaults(), new_id);
        let history = "{\"content\":1}\n{\"commit\":{\"message\":\"m\\n\",\"author\":\" A \",\"time\":\"2026-01-02T03:04:05.678+01:00\"}}";
        let asked = read(history).expect("rows");
        let Asked::Commit(commit) = &asked[1] else { panic!("{asked:?}") };
        assert_eq!(commit.message.as_str(), "m");
        assert_eq!(commit.author.as_ref().map(Author::as_str), Some("A"));
        assert_eq!(commit.time.map(|time| time.to_string()).as_deref(), Some("2026-01-02T03:04:05.678+01:00"));
        assert!(read_rows(from_stdin(history.as_bytes()), &defaults(), new_id).is_err());
        for bad in [
            r#"{"commit":{}}"#,
            r#"{"commit":{"message":" "}}"#,
            r#"{"commit":{"message":"m","author":""}}"#,
            r#"{"commit":{"message":"m","author":"a\nb"}}"#,
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
            (r#"{"content":1,"id":2}"#, "line 3", "the key 'id': invalid type: integer `2`, expected a string", 129),
            (r#"{"id":"k","content":tru}"#, "line 3", "the key 'content': expected ident at column 24", 129),
            (r#"{"id":"k","content":1,,"x":2}"#, "line 3", "the key 'content': ", 129),
            (r#"{"id":"\ud83d","content":1}"#, "line 3", "the key 'id': ", 129),
            (r#"{"content":1,"provenance":{"note":1}}"#, "line 3", "the key 'provenance': the key 'note': ", 129),
            (r#"{"content":1,"id":""}"#, "line 3", "'id'", 129),
            (r#"{"id":"k"}"#, "line 3", "'content'", 129),
            (r#"{"content":1,"content_json":"1"}"#, "line 3", "'content_json'", 129),
            (r#"{"content_json":"{"}"#, "line 3", "'content_json'", 129),
            (r#"{"content":1,"content_kind":"claim"}"#, "line 3", "'content_kind'", 129),
            (r#"{"content":1,"event_time":"noon"}"#, "line 3", "'event_time'", 129),
            (r#"{"content":1,"provenance":{"who":"x"}}"#, "line 3", "who", 129),
            (r#"{"content":1,"content":2}"#, "line 3", "the key 'content' stands twice", 129),
            ("[1]", "line 3", "", 129),
            (r#"["k",1,null,null,null,null,null]"#, "line 3", "expected a JSON object", 129),
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
        assert!(read_rows(from_stdin(b"{\"content\":\"\xff\"}"), &defaults(), new_id).is_err());
    }
}
