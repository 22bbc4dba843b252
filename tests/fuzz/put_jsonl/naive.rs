//! Rows by their description, read the slow way over values.

use super::start::{EVENT_TIME, SOURCE};
use crate::json::{self, Spelled, Value};
use crate::node::{Marker, Node, PROVENANCE, is_hash, is_id};
use crate::time::{commit_time, is_commit_time, is_time};
use std::collections::BTreeMap;

/// The canonical bytes that an id is to have; `None` for a removal.
pub type Version = (String, Option<Vec<u8>>);

/// What a row says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Row {
    Version(String, Option<Vec<u8>>),
    Commit {
        message: String,
        author: Option<String>,
        /// Unix milliseconds and the offset in minutes.
        time: Option<(i64, i16)>,
    },
}

/// The id that a row gets which has none, counted from 1.
pub fn new_id(count: usize) -> String {
    format!("n{count}")
}

/// Reads all rows; the error is the number of the first line that is none, where they are text at all.
pub fn rows(bytes: &[u8], has_commits: bool) -> Result<Vec<Row>, Option<usize>> {
    let text = str::from_utf8(bytes).map_err(|_| None)?;
    let (mut rows, mut new_ids) = (Vec::new(), 0);
    for (at, line) in text.split('\n').enumerate() {
        if !line.chars().all(|c| matches!(c, ' ' | '\t' | '\r')) {
            rows.push(row(line, has_commits, &mut new_ids).ok_or(Some(at + 1))?);
        }
    }
    Ok(rows)
}

/// The values of keys that stand there once, none of them unknown.
fn keyed<'v, 'a>(value: &'v Spelled<'a>, keys: &[&str]) -> Option<BTreeMap<String, &'v Spelled<'a>>> {
    let mut found = BTreeMap::new();
    for (key, value) in value.members()? {
        let is_new = keys.contains(&key.as_str()) && found.insert(key, value).is_none();
        is_new.then_some(())?;
    }
    Some(found)
}

/// A text, or nothing for null and for a key that is left out; `None` for another value.
fn text(value: Option<&&Spelled<'_>>) -> Option<Option<String>> {
    match value {
        Some(value) if value.text != "null" => value.string().map(Some),
        Some(_) | None => Some(None),
    }
}

fn row(line: &str, has_commits: bool, new_ids: &mut usize) -> Option<Row> {
    let value = json::read(line)?;
    if has_commits && value.members()?.iter().any(|(key, _)| key == "commit") {
        return commit(&value);
    }
    if value.members()?.iter().any(|(key, _)| key == "redacted") {
        return marker(&value);
    }
    let keys = ["id", "content", "content_json", "content_kind", "provenance", "event_time", "deleted"];
    let values = keyed(&value, &keys)?;
    let id = text(values.get("id"))?;
    if id.as_deref().is_some_and(|id| !is_id(id)) {
        return None;
    }
    match values.get("deleted").map(|value| value.text) {
        Some("true") => {
            let others = ["content_json", "content_kind", "provenance", "event_time"];
            let is_alone = others.iter().all(|key| values.get(*key).is_none_or(|value| value.text == "null"));
            return (is_alone && !values.contains_key("content")).then_some(Row::Version(id?, None));
        }
        Some("false" | "null") | None => {}
        Some(_) => return None,
    }
    let content = match (values.get("content"), text(values.get("content_json"))?) {
        (Some(content), None) => content.text.to_owned(),
        (None, Some(json)) => json::read(&json)?.text.to_owned(),
        (Some(_), Some(_)) | (None, None) => return None,
    };
    let content_kind = text(values.get("content_kind"))?.unwrap_or_else(|| "note".to_owned());
    let event_time = text(values.get("event_time"))?;
    if content_kind != "note" || event_time.as_deref().is_some_and(|time| !is_time(time)) {
        return None;
    }
    let provenance = match values.get("provenance").filter(|value| value.text != "null") {
        Some(stated) => {
            let stated = keyed(stated, &PROVENANCE)?;
            let mut fields = [const { None }; 5];
            for (field, key) in fields.iter_mut().zip(PROVENANCE) {
                *field = text(stated.get(key))?;
            }
            fields
        }
        None => PROVENANCE.map(|key| (key == "source").then(|| SOURCE.to_owned())),
    };
    let id = id.unwrap_or_else(|| {
        *new_ids += 1;
        new_id(*new_ids)
    });
    let event_time = event_time.or(Some(EVENT_TIME.to_owned()));
    let node = Node { id: id.clone(), content, content_kind, provenance, event_time };
    Some(Row::Version(id, Some(node.bytes())))
}

/// What is left of a node, as exports write it.
fn marker(row: &Spelled<'_>) -> Option<Row> {
    let values = keyed(row, &["redacted", "id", "time", "by", "reason"])?;
    let needed = |key: &str| text(values.get(key))?;
    let (object, id, time) = (needed("redacted")?.to_ascii_lowercase(), needed("id")?, needed("time")?);
    let by = one_line(&needed("by")?)?;
    let reason = text(values.get("reason"))?.filter(|reason| !reason.is_empty());
    let is_sound = is_hash(&object) && is_id(&id) && is_commit_time(&time);
    let bytes = Marker { object, id: id.clone(), time, by, reason }.bytes();
    is_sound.then_some(Row::Version(id, Some(bytes)))
}

/// A text without white space around it, if it has one line.
fn one_line(text: &str) -> Option<String> {
    let trimmed = text.trim();
    (!trimmed.is_empty() && !trimmed.contains(['\n', '\r'])).then(|| trimmed.to_owned())
}

fn commit(row: &Spelled<'_>) -> Option<Row> {
    let row = keyed(row, &["commit"])?;
    let commit = row["commit"];
    let Value::Object(_) = commit.value else { return None };
    let values = keyed(commit, &["message", "author", "time"])?;
    let message = text(values.get("message"))??;
    let message = message.trim_end_matches(['\n', '\r']);
    let author = match text(values.get("author"))? {
        Some(author) => Some(one_line(&author)?),
        None => None,
    };
    if message.trim().is_empty() {
        return None;
    }
    let time = match text(values.get("time"))? {
        Some(time) => Some(commit_time(&time)?),
        None => None,
    };
    Some(Row::Commit { message: message.to_owned(), author, time })
}
