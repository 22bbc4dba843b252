//! The tables of a database, read without the code that wrote them, and what is derived computed once more.
//!
//! A small check of a whole store without upkeep: no number was ever dropped, no branch deleted.

use crate::disk::SimulatedFile;
use mnemosyne::object::{CommitId, Inner, Link, ObjectId, Root, decode_node, node_object_id, push_varint, sha256};
use mnemosyne::store::CommitRecord;
use redb::{Builder, ConcurrencyMode, Key, ReadTransaction, ReadableDatabase, ReadableTable, TableDefinition};
use std::collections::{BTreeMap, BTreeSet};

/// Key and value of each row, in order, without the check behind the value.
type Rows = Vec<(Vec<u8>, Vec<u8>)>;

/// All rows of all tables.
pub type Dump = BTreeMap<&'static str, Rows>;

/// The node of each id: its record and its object.
type Leaves = BTreeMap<String, (u64, ObjectId)>;

/// Reads all rows, each with its check.
pub fn dump(database: SimulatedFile) -> Result<Dump, String> {
    let mut builder = Builder::new();
    builder.set_concurrency_mode(ConcurrencyMode::MultiWriter);
    let database = builder.open_read_only_with_backend(database).map_err(said)?;
    let transaction = database.begin_read().map_err(said)?;
    let mut dump = Dump::new();
    dump.insert("object", rows::<u64>(&transaction, "object")?);
    dump.insert("commit", rows::<u64>(&transaction, "commit")?);
    dump.insert("hash", rows::<&[u8; 32]>(&transaction, "hash")?);
    dump.insert("chain", rows::<(u64, u64)>(&transaction, "chain")?);
    dump.insert("history", rows::<&[u8]>(&transaction, "history")?);
    dump.insert("ref", rows::<&str>(&transaction, "ref")?);
    dump.insert("reflog", rows::<&[u8]>(&transaction, "reflog")?);
    dump.insert("session", rows::<&str>(&transaction, "session")?);
    dump.insert("setting", rows::<&str>(&transaction, "setting")?);
    Ok(dump)
}

fn said(error: impl std::fmt::Debug) -> String {
    format!("{error:?}")
}

fn rows<K: Key + 'static>(transaction: &ReadTransaction, name: &'static str) -> Result<Rows, String> {
    let table = transaction.open_table(TableDefinition::<K, &[u8]>::new(name)).map_err(said)?;
    let mut rows = Rows::new();
    for row in table.iter().map_err(said)? {
        let (key, value) = row.map_err(said)?;
        let key = K::as_bytes(&key.value()).as_ref().to_vec();
        let (value, sum) = value.value().split_last_chunk().ok_or("a row without a check")?;
        let all = [name.as_bytes(), &[0], &key, value].concat();
        ensure(crc32c::crc32c(&all).to_le_bytes() == *sum, || format!("a row of {name} fails its check"))?;
        rows.push((key, value.to_vec()));
    }
    Ok(rows)
}

fn ensure(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}

fn number(bytes: &[u8]) -> Result<u64, String> {
    Ok(u64::from_le_bytes(bytes.try_into().map_err(|_| "a number is not of eight bytes")?))
}

/// A name, a zero byte, a number in big-endian order.
fn split(key: &[u8]) -> Result<(String, u64), String> {
    let (name, number) = key.split_last_chunk().ok_or("a short key")?;
    let name = name.strip_suffix(&[0]).ok_or("a key without a zero byte")?;
    Ok((String::from_utf8(name.to_vec()).map_err(said)?, u64::from_be_bytes(*number)))
}

fn joined(name: &str, number: u64) -> Vec<u8> {
    [name.as_bytes(), &[0], &number.to_be_bytes()].concat()
}

/// An object, checked.
enum Object {
    Node(String),
    Inner([Option<Link>; 4]),
}

/// A commit, checked.
struct Commit {
    record: CommitRecord,
    leaves: Leaves,
}

/// Checks every object against its id and everything derived against what it derives from.
pub fn verify(dump: &Dump) -> Result<(), String> {
    let objects = objects(dump)?;
    let commits = commits(dump, &objects)?;
    let numbers: BTreeSet<u64> = objects.keys().chain(commits.keys()).copied().collect();
    let last = commits.keys().next_back().copied().unwrap_or(0);
    ensure(numbers.len() == objects.len() + commits.len(), || "a number is used twice".to_owned())?;
    ensure(numbers.into_iter().eq(1..=last), || "numbers are missing, or belong to no commit".to_owned())?;

    let setting = [("format", 1u64), ("next", last + 1)];
    let setting = setting.map(|(key, value)| (key.as_bytes().to_vec(), value.to_le_bytes().to_vec()));
    same(dump, "setting", setting.into_iter().collect())?;
    let hash =
        commits.iter().map(|(number, commit)| (commit.record.id.as_bytes().to_vec(), number.to_le_bytes().to_vec()));
    same(dump, "hash", hash.collect())?;
    same(dump, "history", history(&commits)?)?;
    same(dump, "chain", chain(&commits)?)?;
    refs(dump, &commits)
}

fn same(dump: &Dump, table: &str, mut expected: Rows) -> Result<(), String> {
    let by_number = |(key, _): &(Vec<u8>, Vec<u8>)| {
        let numbers = key.chunks(8).map(|part| number(part).unwrap_or(0));
        numbers.collect::<Vec<_>>()
    };
    if table == "chain" {
        expected.sort_by_key(by_number);
    } else {
        expected.sort();
    }
    ensure(dump[table] == expected, || format!("{table} is {:?}, not {expected:?}", dump[table]))
}

fn objects(dump: &Dump) -> Result<BTreeMap<u64, (ObjectId, Object)>, String> {
    let mut objects = BTreeMap::<u64, (ObjectId, Object)>::new();
    for (key, record) in &dump["object"] {
        let own = number(key)?;
        let (id, object) = match record.split_first() {
            Some((1, bytes)) => {
                let node = decode_node(bytes).map_err(said)?;
                (node_object_id(bytes), Object::Node(node.id.to_string()))
            }
            Some((2, payload)) => {
                let mut inner = Inner::decode(payload, own).map_err(said)?;
                for child in inner.children.iter_mut().flatten() {
                    let (found, object) = objects.get(&child.number()).ok_or(format!("{own} lacks a child"))?;
                    ensure(child.id().is_none_or(|id| id == *found), || format!("a child of {own} has another id"))?;
                    let is_node = matches!(object, Object::Node(_));
                    ensure(is_node == matches!(child, Link::Node { .. }), || {
                        format!("a child of {own} of another kind")
                    })?;
                    if let Link::Inner { id, .. } = child {
                        *id = Some(*found);
                    }
                }
                (inner.id().ok_or("an id is missing")?, Object::Inner(inner.children))
            }
            Some(_) | None => return Err(format!("object {own} is of no kind")),
        };
        objects.insert(own, (id, object));
    }
    Ok(objects)
}

fn below(objects: &BTreeMap<u64, (ObjectId, Object)>, link: Option<Link>, leaves: &mut Leaves) -> Result<(), String> {
    let Some(link) = link else { return Ok(()) };
    let (found, object) = objects.get(&link.number()).ok_or(format!("object {} is missing", link.number()))?;
    ensure(link.id().is_none_or(|id| id == *found), || format!("object {} has another id", link.number()))?;
    match object {
        Object::Node(id) => drop(leaves.insert(id.clone(), (link.number(), *found))),
        Object::Inner(children) => {
            for child in children {
                below(objects, *child, leaves)?;
            }
        }
    }
    Ok(())
}

/// The id of the part of a state that holds `entries`, by its definition.
fn state_part(entries: &[([u8; 32], ObjectId)], level: usize) -> Option<(bool, ObjectId)> {
    match entries {
        [] => None,
        [(_, object)] => Some((false, *object)),
        _ => {
            let slot = |key: &[u8; 32]| key[level / 4] >> (6 - level % 4 * 2) & 3;
            let (mut mask, mut ids) = (0u8, Vec::new());
            for at in 0..4 {
                let there: Vec<_> = entries.iter().filter(|(key, _)| slot(key) == at).copied().collect();
                if let Some((is_inner, id)) = state_part(&there, level + 1) {
                    mask |= if is_inner { 0x11 } else { 1 } << at;
                    ids.extend_from_slice(id.as_bytes());
                }
            }
            Some((true, ObjectId::from_bytes(sha256(&[b"inner 1\0", &[mask], &ids]))))
        }
    }
}

fn commits(dump: &Dump, objects: &BTreeMap<u64, (ObjectId, Object)>) -> Result<BTreeMap<u64, Commit>, String> {
    let mut commits = BTreeMap::<u64, Commit>::new();
    for (key, bytes) in &dump["commit"] {
        let own = number(key)?;
        let record = CommitRecord::decode(bytes, own).map_err(said)?;
        let parents = record.parents.iter().map(|parent| commits.get(parent).ok_or(format!("{own} lacks a parent")));
        let parents: Vec<&Commit> = parents.collect::<Result<_, _>>()?;
        let ids: Vec<CommitId> = parents.iter().map(|parent| parent.record.id).collect();
        ensure(record.commit(ids).id() == record.id, || format!("commit {own} has another id"))?;

        let mut leaves = Leaves::new();
        below(objects, record.root.link(), &mut leaves)?;
        ensure(leaves.len() as u64 == record.count, || format!("commit {own} counts wrong"))?;
        let entries: Vec<_> = leaves.iter().map(|(id, (_, object))| (sha256(&[id.as_bytes()]), *object)).collect();
        let root = match record.root {
            Root::Empty => None,
            Root::Node { object, .. } => Some((false, object)),
            Root::Inner { id, .. } => Some((true, id)),
        };
        ensure(root == state_part(&entries, 0), || format!("the state of commit {own} has another id"))?;

        let empty = Leaves::new();
        let before = parents.first().map_or(&empty, |parent| &parent.leaves);
        let added = leaves.keys().filter(|id| !before.contains_key(*id)).count() as u64;
        let removed = before.keys().filter(|id| !leaves.contains_key(*id)).count() as u64;
        let modified = leaves.iter().filter(|(id, leaf)| before.get(*id).is_some_and(|old| old.1 != leaf.1)).count();
        let changes = (record.changes.added, record.changes.modified, record.changes.removed);
        ensure(changes == (added, modified as u64, removed), || format!("commit {own} tells other changes"))?;

        let first = commits.keys().next_back().copied().unwrap_or(0) + 1;
        for (id, (number, object)) in &leaves {
            let kept = parents.iter().find_map(|parent| parent.leaves.get(id).filter(|leaf| leaf.1 == *object));
            let right = kept.map_or((first..own).contains(number), |leaf| leaf.0 == *number);
            ensure(right, || format!("'{id}' in commit {own} has a record of another commit"))?;
        }
        commits.insert(own, Commit { record, leaves });
    }
    Ok(commits)
}

fn history(commits: &BTreeMap<u64, Commit>) -> Result<Rows, String> {
    let (mut rows, mut last) = (Rows::new(), BTreeMap::<String, u64>::new());
    let mut first = 1;
    for (own, commit) in commits {
        let written = commit.leaves.iter().filter(|(_, leaf)| leaf.0 >= first).map(|(id, _)| id.clone());
        let mut parents = commit.record.parents.iter().map(|parent| &commits[parent].leaves);
        let held: BTreeSet<String> = parents.next().map(|leaves| leaves.keys().cloned().collect()).unwrap_or_default();
        let held = parents.fold(held, |held, leaves| held.into_iter().filter(|id| leaves.contains_key(id)).collect());
        let lacking = held.into_iter().filter(|id| !commit.leaves.contains_key(id));
        for id in written.chain(lacking) {
            let previous = last.insert(id.clone(), *own).unwrap_or(0);
            rows.push((joined(&id, *own), previous.to_le_bytes().to_vec()));
        }
        first = own + 1;
    }
    Ok(rows)
}

fn chain(commits: &BTreeMap<u64, Commit>) -> Result<Rows, String> {
    let key = |chain: u64, position: u64| [chain.to_le_bytes(), position.to_le_bytes()].concat();
    let (mut rows, mut tips) = (Rows::new(), BTreeMap::<u64, u64>::new());
    for (own, commit) in commits {
        let mut outside: Vec<_> = commit.record.parents.iter().map(|parent| commits[parent].record.place).collect();
        let mut place = (*own, 0);
        if let Some(first) = outside.first().copied()
            && tips[&first.chain] == first.position
        {
            place = (first.chain, first.position + 1);
            outside.remove(0);
        }
        let found = (commit.record.place.chain, commit.record.place.position);
        ensure(found == place, || format!("commit {own} stands at {found:?}, not {place:?}"))?;
        if place.1 == 0 || !outside.is_empty() {
            let mut value = Vec::new();
            for parent in outside {
                let distance = place.0.cast_signed() - parent.chain.cast_signed();
                push_varint(&mut value, (distance << 1 ^ distance >> 63).cast_unsigned());
                push_varint(&mut value, parent.position);
            }
            rows.push((key(place.0, place.1), value));
        }
        tips.insert(place.0, place.1);
    }
    rows.extend(tips.into_iter().map(|(chain, tip)| (key(chain, u64::MAX), tip.to_le_bytes().to_vec())));
    Ok(rows)
}

/// Each ref stands where its log says, and the log has no gap.
fn refs(dump: &Dump, commits: &BTreeMap<u64, Commit>) -> Result<(), String> {
    let mut logs = BTreeMap::<String, Vec<(u64, u64)>>::new();
    for (key, value) in &dump["reflog"] {
        let (name, index) = split(key)?;
        let mut reader = mnemosyne::object::Reader::new(value);
        let update = (reader.varint().map_err(said)?, reader.varint().map_err(said)?);
        let log = logs.entry(name.clone()).or_default();
        ensure(log.len() as u64 == index, || format!("the log of {name} has a gap"))?;
        let previous = log.last().map(|update| update.1);
        let follows = name.starts_with("session/") || previous.unwrap_or(0) == update.0;
        ensure(follows, || format!("an update of {name} does not follow the one before"))?;
        let is_deleted = update.1 == 0 && !name.starts_with("session/");
        ensure(is_deleted || commits.contains_key(&update.1), || format!("{name} was at no commit"))?;
        log.push(update);
    }
    let mut refs = BTreeMap::new();
    for (name, value) in &dump["ref"] {
        refs.insert(String::from_utf8(name.clone()).map_err(said)?, number(value)?);
    }
    logs.retain(|name, _| !name.starts_with("session/"));
    let logged: BTreeMap<String, u64> =
        logs.into_iter().filter_map(|(name, log)| Some((name, log.last()?.1))).filter(|(_, last)| *last != 0).collect();
    ensure(refs == logged, || format!("refs are {refs:?}, by their log {logged:?}"))
}
