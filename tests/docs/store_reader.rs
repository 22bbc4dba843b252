//! A reader of stores, written from `docs/format.md` alone: it shares no code with the program. It panics where a store
//! is not as the document says.

use chrono::{DateTime, FixedOffset};
use redb::{ConcurrencyMode, Database, ReadTransaction, ReadableDatabase, ReadableTable, TableDefinition};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

pub type Id = [u8; 32];

/// SHA-256 of the parts, one after the other.
pub fn sha256(parts: &[&[u8]]) -> Id {
    Sha256::digest(parts.concat()).into()
}

/// Lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn crc(parts: &[&[u8]]) -> [u8; 4] {
    crc32c::crc32c(&parts.concat()).to_le_bytes()
}

/// A JSON string in canonical bytes.
fn string(text: &str) -> String {
    let escaped = text.chars().map(|c| match c {
        '"' | '\\' => format!("\\{c}"),
        '\u{8}' => "\\b".to_owned(),
        '\t' => "\\t".to_owned(),
        '\n' => "\\n".to_owned(),
        '\u{c}' => "\\f".to_owned(),
        '\r' => "\\r".to_owned(),
        '\0'..' ' => format!("\\u{:04x}", u32::from(c)),
        _ => c.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

/// The front of what is left of a record.
struct Record<'a>(&'a [u8]);

impl<'a> Record<'a> {
    fn take(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(count);
        self.0 = rest;
        taken
    }

    fn byte(&mut self) -> u8 {
        self.take(1)[0]
    }

    fn id(&mut self) -> Id {
        self.take(32).try_into().expect("32 bytes")
    }

    fn fixed(&mut self) -> u64 {
        u64::from_le_bytes(self.take(8).try_into().expect("8 bytes"))
    }

    fn varint(&mut self) -> u64 {
        let mut number = 0;
        for shift in (0..).step_by(7) {
            let byte = self.byte();
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                assert!(byte != 0 || shift == 0, "the shortest form");
                break;
            }
        }
        number
    }

    fn zigzag(&mut self) -> i64 {
        let number = self.varint();
        let half = i64::try_from(number / 2).expect("fits");
        if number.is_multiple_of(2) { half } else { -half - 1 }
    }

    fn distance(&mut self, own: u64) -> u64 {
        let number = own - self.varint();
        assert!(number >= 1, "a number");
        number
    }

    fn string(&mut self) -> &'a [u8] {
        let length = self.varint();
        self.take(usize::try_from(length).expect("fits"))
    }

    fn time(&mut self) -> DateTime<FixedOffset> {
        let (milliseconds, minutes) = (self.zigzag(), self.zigzag());
        let offset = FixedOffset::east_opt(i32::try_from(minutes).expect("fits") * 60).expect("an offset");
        DateTime::from_timestamp_millis(milliseconds).expect("a time").with_timezone(&offset)
    }

    fn rest(&mut self) -> String {
        String::from_utf8(self.take(self.0.len()).to_vec()).expect("UTF-8")
    }

    fn number_or_none(&mut self) -> Option<u64> {
        Some(self.varint()).filter(|number| *number != 0)
    }
}

/// A commit record.
#[derive(Debug)]
pub struct Commit {
    pub number: u64,
    pub id: Id,
    parents: Vec<u64>,
    /// Kind, number, id.
    root: (u8, u64, Id),
    count: u64,
    changes: [u64; 3],
    chain: (u64, u64),
    time: DateTime<FixedOffset>,
    author: String,
    pub message: String,
}

/// The node of an entry of a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    number: u64,
    pub object: Id,
}

type State = BTreeMap<String, Node>;

/// All rows of a store.
pub struct Reader {
    path: PathBuf,
    /// Table → key → value without its check.
    tables: BTreeMap<&'static str, BTreeMap<Vec<u8>, Vec<u8>>>,
}

fn rows<K: redb::Key + 'static>(
    snapshot: &ReadTransaction,
    name: &'static str,
    key_bytes: impl Fn(K::SelfType<'_>) -> Vec<u8>,
) -> (&'static str, BTreeMap<Vec<u8>, Vec<u8>>) {
    let table = snapshot.open_table(TableDefinition::<K, &[u8]>::new(name)).expect("a table");
    let row = |row: Result<(redb::AccessGuard<'_, K>, redb::AccessGuard<'_, &[u8]>), _>| {
        let (key, value) = row.expect("a row");
        let key = key_bytes(key.value());
        let (value, check) = value.value().split_last_chunk().expect("a check");
        assert_eq!(*check, crc(&[name.as_bytes(), &[0], &key, value]), "{name} {}", hex(&key));
        (key, value.to_vec())
    };
    (name, table.iter().expect("rows").map(row).collect())
}

impl Reader {
    pub fn open(store: &Path) -> Self {
        let mut options = Database::builder();
        options.set_concurrency_mode(ConcurrencyMode::MultiWriter);
        let database = options.open_read_only(store.join("store.redb")).expect("a database");
        let snapshot = database.begin_read().expect("a snapshot");
        let number = |number: u64| number.to_le_bytes().to_vec();
        let tables = [
            rows::<u64>(&snapshot, "object", number),
            rows::<u64>(&snapshot, "commit", number),
            rows::<[u8; 32]>(&snapshot, "hash", |id| id.to_vec()),
            rows::<(u64, u64)>(&snapshot, "chain", |(chain, position)| [number(chain), number(position)].concat()),
            rows::<&[u8]>(&snapshot, "history", <[u8]>::to_vec),
            rows::<&str>(&snapshot, "ref", |name| name.as_bytes().to_vec()),
            rows::<&[u8]>(&snapshot, "reflog", <[u8]>::to_vec),
            rows::<&str>(&snapshot, "session", |name| name.as_bytes().to_vec()),
            rows::<&str>(&snapshot, "setting", |key| key.as_bytes().to_vec()),
        ];
        let reader = Self { path: store.to_owned(), tables: tables.into() };
        assert_eq!(reader.row("setting", b"format"), [1, 0, 0, 0, 0, 0, 0, 0]);
        reader
    }

    /// One line a row: table, key, value, check.
    pub fn dump(&self) -> String {
        let mut dump = String::new();
        for (name, rows) in &self.tables {
            for (key, value) in rows {
                let check = crc(&[name.as_bytes(), &[0], key, value]);
                let cells = [(*name).to_owned(), hex(key), hex(value), hex(&check)];
                dump.push_str(&cells.join(" ").replace("  ", " - "));
                dump.push('\n');
            }
        }
        dump
    }

    fn row(&self, table: &str, key: &[u8]) -> &[u8] {
        self.tables[table].get(key).unwrap_or_else(|| panic!("no row {} in {table}", hex(key)))
    }

    fn fixed(&self, table: &str, key: &[u8]) -> u64 {
        let mut record = Record(self.row(table, key));
        let number = record.fixed();
        assert!(record.0.is_empty());
        number
    }

    /// The number of a commit.
    pub fn number(&self, id: &str) -> u64 {
        let found = self.tables["hash"].keys().find(|key| hex(key) == id).expect("a commit");
        self.fixed("hash", found)
    }

    pub fn commit(&self, number: u64) -> Commit {
        let mut record = Record(self.row("commit", &number.to_le_bytes()));
        assert_eq!(record.byte(), 1);
        let id = record.id();
        let parents = (0..record.varint()).map(|_| record.distance(number)).collect();
        let root = match record.byte() {
            0 => (0, 0, [0; 32]),
            kind => (kind, record.distance(number), record.id()),
        };
        let count = record.varint();
        let changes = [(); 3].map(|()| record.varint());
        let chain = (record.distance(number), record.varint());
        let time = record.time();
        let author = String::from_utf8(record.string().to_vec()).expect("UTF-8");
        Commit { number, id, parents, root, count, changes, chain, time, author, message: record.rest() }
    }

    /// The memory after a commit; its whole trie is checked.
    pub fn state(&self, commit: &Commit) -> State {
        let mut state = State::new();
        let (kind, number, id) = commit.root;
        match kind {
            0 => {}
            1 => self.node(number, id, &[], &mut state),
            2 => assert_eq!(self.inner(number, &mut Vec::new(), &mut state), id),
            other => panic!("a root of kind {other}"),
        }
        assert_eq!(state.len() as u64, commit.count);
        state
    }

    /// Adds the node in a record, which the slots lead to.
    fn node(&self, number: u64, object: Id, slots: &[u8], state: &mut State) {
        let mut record = Record(self.row("object", &number.to_le_bytes()));
        assert_eq!(record.byte(), 1);
        assert_eq!(sha256(&[b"node 1\0", record.0]), object);
        let node: BTreeMap<String, serde_json::Value> = serde_json::from_slice(record.0).expect("JSON");
        let id = node["id"].as_str().expect("an id").to_owned();
        let key = sha256(&[id.as_bytes()]);
        for (level, slot) in slots.iter().enumerate() {
            assert_eq!(key[level / 4] >> [6, 4, 2, 0][level % 4] & 3, *slot, "{id} at level {level}");
        }
        assert_eq!(state.insert(id, Node { number, object }), None);
    }

    /// Adds what is below an inner node and returns its id.
    fn inner(&self, number: u64, slots: &mut Vec<u8>, state: &mut State) -> Id {
        let mut record = Record(self.row("object", &number.to_le_bytes()));
        assert_eq!(record.byte(), 2);
        let mask = record.byte();
        let (mut hashed, before) = (vec![mask], state.len());
        for slot in (0..4).filter(|slot| mask >> slot & 1 == 1) {
            slots.push(slot);
            let child = record.distance(number);
            if mask >> (4 + slot) & 1 == 0 {
                let id = record.id();
                self.node(child, id, slots, state);
                hashed.extend(id);
            } else {
                let told = (number - child > 1).then(|| record.id());
                let id = self.inner(child, slots, state);
                assert!(told.is_none_or(|told| told == id));
                hashed.extend(id);
            }
            slots.pop();
        }
        assert!(record.0.is_empty() && state.len() > before + 1, "an inner node is over more than one entry");
        sha256(&[b"inner 1\0", &hashed])
    }

    /// Checks all that the document says of commits without merges.
    pub fn check(&self) {
        let mut history = BTreeMap::new();
        let mut chain = BTreeMap::new();
        let mut last_rows = BTreeMap::new();
        let mut before: Option<(Commit, State)> = None;
        let number = |bytes: &Vec<u8>| u64::from_le_bytes(bytes[..].try_into().expect("8 bytes"));
        let numbers: Vec<_> = self.tables["commit"].keys().map(number).collect();
        let mut numbers = numbers;
        numbers.sort_unstable();
        for own in numbers {
            let commit = self.commit(own);
            let state = self.state(&commit);
            let (parent, old) =
                before.as_ref().map_or((None, State::new()), |(parent, old)| (Some(parent), old.clone()));
            let first = parent.map_or(1, |parent| parent.number + 1);
            assert_eq!(commit.parents, parent.map(|parent| parent.number).into_iter().collect::<Vec<_>>());
            assert_eq!(commit.id, self.commit_id(&commit, parent));
            assert_eq!(self.fixed("hash", &commit.id), own);

            let mut changes = [0; 3];
            let mut new_rows = Vec::new();
            for (id, node) in &state {
                match old.get(id) {
                    Some(old) if old.object == node.object => {
                        assert_eq!(old.number, node.number, "{id} keeps its record");
                    }
                    other => {
                        changes[usize::from(other.is_some())] += 1;
                        assert!((first..own).contains(&node.number), "{id} has a new record");
                        new_rows.push(id.clone());
                    }
                }
            }
            let gone = old.keys().filter(|id| !state.contains_key(*id));
            new_rows.extend(gone.clone().cloned());
            changes[2] = gone.count() as u64;
            assert_eq!(commit.changes, changes);
            for id in new_rows {
                let key = [id.as_bytes(), &[0], &own.to_be_bytes()].concat();
                history.insert(key, last_rows.insert(id, own).unwrap_or(0u64).to_le_bytes().to_vec());
            }

            let place = parent.map_or((own, 0), |parent| (parent.chain.0, parent.chain.1 + 1));
            assert_eq!(commit.chain, place);
            let key = |position: u64| [place.0.to_le_bytes(), position.to_le_bytes()].concat();
            if place.1 == 0 {
                chain.insert(key(0), Vec::new());
            }
            chain.insert(key(u64::MAX), place.1.to_le_bytes().to_vec());
            let objects =
                self.tables["object"].keys().map(number).filter(|number| (first..own).contains(number)).count();
            assert_eq!(objects as u64, own - first, "its own records and no others");
            before = Some((commit, state));
        }
        assert_eq!(self.tables["history"], history);
        assert_eq!(self.tables["chain"], chain);
        self.check_refs(before.map(|(commit, _)| commit.number));
    }

    fn commit_id(&self, commit: &Commit, parent: Option<&Commit>) -> Id {
        let (kind, _, root) = commit.root;
        let state = sha256(&[b"state 1\0", &commit.count.to_le_bytes(), &[kind], &root]);
        let parents: Vec<_> = parent.iter().map(|parent| string(&hex(&parent.id))).collect();
        let json = format!(
            r#"{{"parents":[{}],"state":"{}","author":{},"time":"{}","message":{}}}"#,
            parents.join(","),
            hex(&state),
            string(&commit.author),
            commit.time.format("%Y-%m-%dT%H:%M:%S%.3f%:z"),
            string(&commit.message)
        );
        sha256(&[b"commit 1\0", json.as_bytes()])
    }

    /// Checks `ref`, `reflog`, and `next`, where `last` is the newest commit.
    fn check_refs(&self, last: Option<u64>) {
        let mut tips: BTreeMap<Vec<u8>, (u64, Option<u64>)> = BTreeMap::new();
        for (key, value) in &self.tables["reflog"] {
            let (name, index) = key.split_last_chunk().expect("an index");
            let name = name.strip_suffix(&[0]).expect("a zero byte");
            let mut record = Record(value);
            let (old, new) = (record.number_or_none(), record.number_or_none());
            record.time();
            assert!(["commit", "put"].contains(&record.rest().as_str()));
            let before = tips.insert(name.to_vec(), (u64::from_be_bytes(*index), new));
            assert_eq!(before.map_or(0, |(index, _)| index + 1), u64::from_be_bytes(*index));
            if name.starts_with(b"refs/") {
                assert_eq!(before.and_then(|(_, new)| new), old);
            }
        }
        tips.retain(|name, _| name.starts_with(b"refs/"));
        let tips = tips.into_iter().filter_map(|(name, (_, new))| Some((name, new?.to_le_bytes().to_vec())));
        assert_eq!(self.tables["ref"], tips.collect());
        assert_eq!(
            self.tables["ref"].get(&b"refs/heads/main"[..]).map(Vec::as_slice),
            last.map(u64::to_le_bytes).as_ref().map(<[u8; 8]>::as_slice)
        );
        assert_eq!(self.fixed("setting", b"next"), last.unwrap_or(0) + 1);
    }

    /// What a session has staged: the new version of each id, or `None` for its removal.
    pub fn staged(&self, session: &str) -> BTreeMap<String, Option<Vec<u8>>> {
        let mut fields = Record(self.row("session", session.as_bytes()));
        let mut consumed = 0;
        while !fields.0.is_empty() {
            let (tag, value) = (fields.byte(), fields.string());
            match tag {
                1 => assert_eq!(value, b"refs/heads/main"),
                3 => consumed = Record(value).varint(),
                other => panic!("a field of tag {other}"),
            }
        }
        let log = fs::read(self.path.join("staged").join(session)).expect("a log");
        let mut staged: BTreeMap<String, (Option<Id>, Option<Vec<u8>>)> = BTreeMap::new();
        let mut frames = Record(&log);
        while !frames.0.is_empty() {
            let start = frames.0;
            assert_eq!(frames.take(4), b"\xffmf1");
            let (length, from, to) = (frames.fixed(), frames.fixed(), frames.fixed());
            let sum = frames.take(4);
            let payload = frames.take(usize::try_from(length).expect("fits"));
            assert_eq!(sum, crc(&[&start[..28], payload]));
            if to <= consumed {
                continue;
            }
            assert_eq!((from, to), (consumed + 1, to), "live frames follow each other");
            consumed = to;
            let mut entries = Record(payload);
            while !entries.0.is_empty() {
                let tag = entries.byte();
                let id = String::from_utf8(entries.string().to_vec()).expect("UTF-8");
                if tag == 3 {
                    staged.remove(&id);
                    continue;
                }
                let base = (entries.byte() == 1).then(|| entries.id());
                let node = match tag {
                    1 => Some(entries.string().to_vec()),
                    2 => None,
                    other => panic!("an entry of tag {other}"),
                };
                let base = staged.get(&id).map_or(base, |(base, _)| *base);
                staged.insert(id, (base, node));
            }
        }
        let is_change = |(base, node): &(Option<Id>, Option<Vec<u8>>)| {
            node.as_ref().map(|node| sha256(&[b"node 1\0", node])) != *base
        };
        staged.into_iter().filter(|(_, change)| is_change(change)).map(|(id, (_, node))| (id, node)).collect()
    }
}
