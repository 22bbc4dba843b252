//! A memory as a folder of files: one file a node, and `index.jsonl`, which maps both ways.
//!
//! The folder is flat. A file's name is the id, every byte outside `A-Za-z0-9_-.` and a first dot as `%XX`; a name over
//! 200 bytes, and one that differs from another in case only, is cut and gets a hash behind `~`. Links are never
//! followed, neither on the way out nor on the way in.

use super::context::Context;
use super::error::{CliError, Word};
use super::get::node_id;
use super::input::not_utf8;
use super::rows::overlay_provenance;
use crate::model::{Content, ContentKind, Node, NodeId, Provenance, Timestamp, push_json_string};
use crate::object::{
    Kept, ObjectId, decode_redaction, encode_node, encode_row, is_marker, node_object_id, provenance_json, sha256,
};
use rustix::fs::OFlags;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The name of the file that maps names to ids.
const INDEX: &str = "index.jsonl";
/// What to do where it is a file of the user's own.
const NO_INDEX: &str = "where it is no index that 'mnem export' wrote, give it another name";
/// The longest name that is not cut, and how much of a longer one is kept.
const LONGEST: usize = 200;
const KEPT: usize = 160;

/// A file of the folder: what it says a node is to be.
#[derive(Debug)]
pub struct FolderNode {
    /// The node, as far as the folder tells, or what is left of it.
    pub node: Kept,
    /// Whether provenance and event time are the folder's own words, or have to be found elsewhere.
    pub is_stated: bool,
}

fn failed(action: &str, path: &Path) -> impl FnOnce(io::Error) -> CliError + use<> {
    let subject = format!("{action} '{}' failed", path.display());
    move |error| CliError::from(error).about(&subject)
}

/// Writes nodes into `folder`, which is created, or empty; where that fails, nothing of it stays.
pub fn write(folder: &Path, nodes: &[Kept]) -> Result<(), CliError> {
    let folder = &without_slash(folder);
    match fs::symlink_metadata(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => write_new(folder, nodes),
        Err(error) => Err(failed("creating", folder)(error)),
        Ok(metadata) => {
            if !metadata.is_dir() || fs::read_dir(folder).map_err(failed("reading", folder))?.next().is_some() {
                let message = format!("'{}' is there already and is no empty directory", folder.display());
                return Err(CliError::usage(message).hint("name a directory that is not there yet"));
            }
            let mut created = Vec::new();
            let filled = fill(folder, folder, nodes, &mut created);
            filled.inspect_err(|_| created.iter().for_each(|path| drop(fs::remove_file(path))))
        }
    }
}

/// Writes the folder under another name, and gives it its own when it is whole.
fn write_new(folder: &Path, nodes: &[Kept]) -> Result<(), CliError> {
    let beside = folder.with_file_name(format!(".mnem-export-{}", std::process::id()));
    fs::create_dir(&beside).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => failed("creating", &beside)(error),
        _ => failed("creating", folder)(error),
    })?;
    let named = fill(&beside, folder, nodes, &mut Vec::new())
        .and_then(|()| fs::rename(&beside, folder).map_err(failed("creating", folder)));
    named.inspect_err(|_| drop(fs::remove_dir_all(&beside)))
}

/// Writes the files into the directory `into`, which messages call `folder`, and names those that it created.
fn fill(into: &Path, folder: &Path, nodes: &[Kept], created: &mut Vec<PathBuf>) -> Result<(), CliError> {
    let mut create = |name: &str, text: &str| {
        let path = into.join(name);
        let flags = (OFlags::NOFOLLOW | OFlags::CLOEXEC).bits().cast_signed();
        let file = File::options().write(true).create_new(true).custom_flags(flags).open(&path);
        file.and_then(|mut file| {
            created.push(path);
            file.write_all(text.as_bytes())
        })
        .map_err(failed("writing", &folder.join(name)))
    };
    let mut index = String::new();
    let mut taken = BTreeSet::from([INDEX.to_owned()]);
    for kept in nodes {
        let Kept::Node(node) = kept else {
            // There is nothing to be put into a file.
            index.push_str(&encode_row(kept));
            index.push('\n');
            continue;
        };
        let name = file_name(&node.id, &mut taken);
        let text = node.content.text();
        let kind = if text.is_some() { "text" } else { "json" };
        create(&name, text.as_deref().unwrap_or(node.content.json()))?;
        index.push_str("{\"file\":");
        push_json_string(&mut index, &name);
        index.push_str(",\"id\":");
        push_json_string(&mut index, node.id.as_str());
        index.push_str(&format!(",\"type\":\"{kind}\",\"hash\":\"{}\"", node_object_id(&encode_node(node))));
        // The same text may be spelled otherwise; then the spelling is kept beside the file.
        if text.is_some_and(|text| Content::from_text(&text) != node.content) {
            index.push_str(",\"content_json\":");
            push_json_string(&mut index, node.content.json());
        }
        index.push_str(",\"provenance\":");
        index.push_str(&provenance_json(node));
        if let Some(time) = &node.event_time {
            index.push_str(",\"event_time\":");
            push_json_string(&mut index, time.as_str());
        }
        index.push_str("}\n");
    }
    create(INDEX, &index)
}

/// A path as it is without `/` at its end, which would follow a link.
fn without_slash(path: &Path) -> PathBuf {
    path.components().collect()
}

/// The name of a node's file; `taken` holds the names so far in lower case.
fn file_name(id: &NodeId, taken: &mut BTreeSet<String>) -> String {
    let mut name = String::new();
    for (at, byte) in id.as_str().bytes().enumerate() {
        if byte.is_ascii_alphanumeric() || b"_-".contains(&byte) || (byte == b'.' && at > 0) {
            name.push(char::from(byte));
        } else {
            name.push_str(&format!("%{byte:02X}"));
        }
    }
    if name.len() > LONGEST || !taken.insert(name.to_ascii_lowercase()) {
        let hash = ObjectId::from_bytes(sha256(&[id.as_str().as_bytes()])).to_string();
        name.truncate(KEPT);
        name = format!("{name}~{}", &hash[..32]);
        taken.insert(name.clone());
    }
    name
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct IndexRow<'a> {
    file: String,
    id: String,
    r#type: String,
    hash: String,
    content_json: Option<String>,
    #[serde(borrow)]
    provenance: &'a RawValue,
    event_time: Option<String>,
}

/// Whether it is the index of an export. Rows that only begin like one count too, so that a damaged index is told.
fn is_index(text: &str) -> bool {
    let is_row = |line: &str| {
        line.starts_with("{\"file\":")
            || is_marker(line.as_bytes())
            || serde_json::from_str::<IndexRow<'_>>(line).is_ok()
    };
    text.trim().is_empty() || text.lines().any(is_row)
}

/// Reads a folder: its index where there is one, and every other regular file below it that does not begin with a dot,
/// as text, under its path as id. What is passed over is told.
pub fn read(folder: &Path, context: &Context) -> Result<BTreeMap<NodeId, FolderNode>, CliError> {
    let folder = &without_slash(folder);
    let metadata = fs::symlink_metadata(folder).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => failed("reading", folder)(error).hint("name a folder that is there"),
        _ => failed("reading", folder)(error),
    })?;
    if !metadata.is_dir() {
        let hint = "name the folder itself, or take JSON Lines from a file with '--format jsonl'";
        return Err(CliError::usage(format!("'{}' is not a directory", folder.display())).hint(hint));
    }
    let mut nodes = BTreeMap::new();
    let mut indexed = BTreeSet::new();
    let index = folder.join(INDEX);
    let text = if fs::symlink_metadata(&index).is_ok() { read_file(&index)? } else { None };
    match text {
        Some(text) if is_index(&text) => {
            indexed.insert(PathBuf::from(INDEX));
            for (at, line) in text.lines().enumerate() {
                if is_marker(line.as_bytes()) {
                    let marker = decode_redaction(line.as_bytes())
                        .map_err(|error| CliError::new(Word::BadJson, error.to_string()));
                    let taken = marker.and_then(|marker| {
                        add(&mut nodes, FolderNode { node: Kept::Redacted(marker), is_stated: true })
                    });
                    taken.map_err(|error| {
                        error.about(&format!("'{}' line {}", index.display(), at + 1)).or_hint(NO_INDEX)
                    })?;
                    continue;
                }
                let row = indexed_node(folder, line).and_then(|(name, node)| {
                    if !indexed.insert(PathBuf::from(&name)) {
                        return Err(CliError::new(Word::BadJson, format!("'{name}' is named twice")));
                    }
                    node.map_or(Ok(()), |node| add(&mut nodes, node))
                });
                row.map_err(|error| error.about(&format!("'{}' line {}", index.display(), at + 1)).or_hint(NO_INDEX))?;
            }
        }
        Some(_) => context.warn(&format!("'{INDEX}' is no index of an export, so it is a note as any other file")),
        None => {}
    }
    let mut open = vec![PathBuf::new()];
    while let Some(below) = open.pop() {
        let directory = folder.join(&below);
        for entry in fs::read_dir(&directory).map_err(failed("reading", &directory))? {
            let entry = entry.map_err(failed("reading", &directory))?;
            let path = below.join(entry.file_name());
            if indexed.contains(&path) {
                continue;
            }
            let kind = entry.file_type().map_err(failed("reading", &directory))?;
            let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            if !hidden && kind.is_dir() {
                open.push(path);
            } else if !hidden && kind.is_file() {
                add(&mut nodes, loose_node(folder, &path)?)
                    .map_err(|error| error.about(&format!("'{}'", folder.join(&path).display())))?;
            } else {
                let why = if hidden { "a hidden file" } else { "not a regular file" };
                context.warn(&format!("passed over '{}': {why}", path.display()));
            }
        }
    }
    Ok(nodes)
}

/// Takes a node in. Which of two with one id is meant nobody can tell.
fn add(nodes: &mut BTreeMap<NodeId, FolderNode>, node: FolderNode) -> Result<(), CliError> {
    let id = node.node.id().clone();
    match nodes.insert(id.clone(), node) {
        None => Ok(()),
        Some(_) => Err(CliError::new(Word::BadId, format!("another file is the node '{id}' already"))
            .hint("move one of the two away")),
    }
}

/// A file that the index names; `None` where it is gone.
fn indexed_node(folder: &Path, line: &str) -> Result<(String, Option<FolderNode>), CliError> {
    let fault = |what: String| CliError::new(Word::BadJson, what);
    let row: IndexRow<'_> = serde_json::from_str(line).map_err(|error| fault(error.to_string()))?;
    let plain = !row.file.is_empty() && !row.file.starts_with('.') && !row.file.contains(['/', '\0']);
    if !plain {
        return Err(fault(format!("'{}' is no name of a file in the folder", row.file)));
    }
    let id = node_id(&row.id)?;
    let path = folder.join(&row.file);
    let Some(text) = read_file(&path)? else { return Ok((row.file, None)) };
    let content = match row.r#type.as_str() {
        "text" => Content::from_text(&text),
        "json" => {
            Content::from_json(&text).map_err(|error| CliError::from(error).about(&format!("'{}'", path.display())))?
        }
        other => return Err(fault(format!("'{other}' is no type of a file"))),
    };
    let mut provenance = Provenance::default();
    overlay_provenance(row.provenance.get(), &mut provenance)?;
    let event_time = row.event_time.as_deref().map(super::put::event_time).transpose()?;
    let mut node = Node { id, content, content_kind: ContentKind::Note, provenance, event_time };
    if let Some(spelled) = &row.content_json {
        let spelled = Content::from_json(spelled)?;
        if spelled.text() == node.content.text() {
            node.content = spelled;
        }
    }
    // An edited file is somebody else's word: what the index says of its origin no longer holds.
    let is_stated = node_object_id(&encode_node(&node)).to_string() == row.hash;
    Ok((row.file, Some(FolderNode { node: Kept::Node(node), is_stated })))
}

/// A file that no index names: a note, whose id is its path.
fn loose_node(folder: &Path, below: &Path) -> Result<FolderNode, CliError> {
    let path = folder.join(below);
    let id = below
        .to_str()
        .ok_or_else(|| CliError::new(Word::BadUtf8, format!("the name '{}' is not UTF-8", path.display())))?;
    let id = node_id(id)?;
    let content = Content::from_text(&read_file(&path)?.unwrap_or_default());
    let (provenance, event_time): (_, Option<Timestamp>) = (Provenance::default(), None);
    let node = Node { id, content, content_kind: ContentKind::Note, provenance, event_time };
    Ok(FolderNode { node: Kept::Node(node), is_stated: false })
}

/// The text of a regular file; `None` where it is gone. A link is refused.
fn read_file(path: &Path) -> Result<Option<String>, CliError> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC).bits().cast_signed();
    let mut file = match File::options().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed("reading", path)(error)),
    };
    if !file.metadata().map_err(failed("reading", path))?.is_file() {
        return Err(CliError::usage(format!("'{}' is not a regular file", path.display())));
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(failed("reading", path))?;
    let text = String::from_utf8(bytes);
    text.map(Some).map_err(|error| not_utf8(&path.display().to_string(), error.utf8_error().valid_up_to()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(ids: &[&str]) -> Vec<String> {
        let mut taken = BTreeSet::from([INDEX.to_owned()]);
        ids.iter().map(|id| file_name(&NodeId::new(*id).expect("id"), &mut taken)).collect()
    }

    #[test]
    fn a_name_stays_in_the_folder_and_says_the_id() {
        let names = named(&["a", "../x", "a/b", "CON", ".hidden", "é", "a b", "a%b", "a.b", "a~b"]);
        let expected = ["a", "%2E.%2Fx", "a%2Fb", "CON", "%2Ehidden", "%C3%A9", "a%20b", "a%25b", "a.b", "a%7Eb"];
        assert_eq!(names, expected);
    }

    #[test]
    fn names_that_clash_and_long_names_get_a_hash() {
        let names = named(&["Goal", "goal", "index.jsonl", &"k".repeat(1024), &"k".repeat(200)]);
        assert_eq!(names[0], "Goal");
        for (name, start) in [(&names[1], "goal~"), (&names[2], "index.jsonl~"), (&names[3], "kkkk")] {
            assert!(name.starts_with(start) && name.contains('~') && name.len() <= LONGEST, "{name}");
        }
        assert_eq!(names[4].len(), 200);
    }
}
