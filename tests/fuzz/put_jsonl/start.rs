//! The memory before: something in HEAD, something staged over it.

use super::Nodes;
use crate::memory_disk::{Files, MemoryDisk};
use mnemosyne::cli::rows::Defaults;
use mnemosyne::model::{
    Author, BranchName, CommitTime, Content, ContentKind, MAX_CONTENT_BYTES, Message, Node, NodeId, Provenance,
    SessionName, Timestamp,
};
use mnemosyne::object::encode_node;
use mnemosyne::ops::{self, Condition, Write};
use mnemosyne::store::{CommitWords, Disk, create_tables};
use std::sync::LazyLock;

pub static START: LazyLock<Start> = LazyLock::new(Start::new);

pub struct Start {
    pub files: Files,
    /// What HEAD has.
    pub head: Nodes,
    /// The same with what is staged.
    pub staged: Nodes,
}

/// The provenance and the event time of rows that say nothing of them.
pub const SOURCE: &str = "default";
pub const EVENT_TIME: &str = "2024-05-06t07:08:09.5-00:00";

pub fn defaults() -> Defaults {
    Defaults {
        provenance: Provenance { source: Some(SOURCE.into()), ..Provenance::default() },
        event_time: Some(Timestamp::parse(EVENT_TIME).expect("a time")),
        limit: MAX_CONTENT_BYTES,
    }
}

/// What a commit says that does not say so itself.
pub fn words() -> CommitWords {
    CommitWords {
        author: Author::new("Ada").expect("an author"),
        time: CommitTime::new(0, 60).expect("a time"),
        message: Message::new("start").expect("a message"),
    }
}

fn node(id: &str, json: &str) -> Node {
    Node {
        id: NodeId::new(id).expect("an id"),
        content: Content::from_json(json).expect("JSON"),
        content_kind: ContentKind::Note,
        provenance: Provenance::default(),
        event_time: None,
    }
}

fn nodes(all: &[(&str, &str)]) -> Nodes {
    all.iter().map(|(id, json)| ((*id).to_owned(), encode_node(&node(id, json)))).collect()
}

impl Start {
    fn new() -> Self {
        let disk = MemoryDisk::default();
        let file = disk.open_database(true).expect("a file").file;
        create_tables(file, &BranchName::new("main").expect("a name")).expect("a store");
        let (store, session) = (disk.store(), SessionName::default());
        let head = [("a", "1"), ("b", "[2]"), ("g", "\"gone soon\""), ("user/diet", "\"vegan\"")];
        let writes = head.iter().map(|(id, json)| Write::Set(node(id, json))).collect();
        ops::put_and_commit(&store, &session, writes, Condition::Any, &words()).expect("a commit");
        let gone = NodeId::new("g").expect("an id");
        let staged = [Write::Set(node("b", "[3]")), Write::Set(node("s", "null")), Write::Remove(gone)];
        ops::put(&store, &session, staged.into(), Condition::Any).expect("staged");
        let files = disk.files().clone();
        let staged = nodes(&[("a", "1"), ("b", "[3]"), ("s", "null"), ("user/diet", "\"vegan\"")]);
        Self { files, head: nodes(&head), staged }
    }
}
