//! Commits in the order of their numbers: the records that each added are looked at, and then the whole commit is worked out
//! anew from its parents, by what wrote it, and compared. So what holds for the parents holds for it.

use super::super::read::read_number;
use super::super::record::{ChangeCount, CommitRecord, Number, ObjectRecord, Place};
use super::super::rows::Access;
use super::super::tables::{Tables, history_key};
use super::super::write::settle;
use super::super::{StoreError, open::guarded};
use super::finding::{Fault, Finding, Fix, Seat};
use super::index::each;
use super::recent::Recent;
use super::source::{Held, Own, Stop};
use super::{Stage, Tell};
use crate::model::NodeId;
use crate::object::{
    DecodeError, Inner, Link, New, ObjectId, Root, Source, decode_kept, diff, kept_id_in, kept_object_id, update, write,
};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// What is known once all commits were looked at.
#[derive(Debug, Default)]
pub struct Walk {
    pub findings: Vec<Finding>,
    /// The numbers of all commits, damaged ones too.
    pub commits: Vec<Number>,
    /// Those that cannot be read.
    pub unread: BTreeSet<Number>,
    /// Those that could not be worked out anew; what they changed is not known.
    pub unsure: BTreeSet<Number>,
    /// Records that cannot be used.
    pub bad: BTreeSet<Number>,
    /// The position of each chain's last commit.
    pub tips: BTreeMap<Number, u64>,
    /// How many rows of the indexes were found to be right.
    pub hash_rows: u64,
    pub chain_rows: u64,
    pub history_rows: u64,
    /// The largest number of an object.
    pub last_object: Number,
    /// Sound records that the next commits may refer to.
    pub recent: RefCell<Recent>,
    /// How many object records were looked at, and their bytes.
    pub objects: u64,
    pub bytes: u64,
}

/// What a commit changed, as far as the indexes tell it.
struct Worked {
    /// The ids that have a row in the history.
    history: Vec<NodeId>,
    /// The number of the first record that the commit should have added.
    first: Number,
}

pub fn object_name(number: Number) -> String {
    format!("object {number}")
}

pub fn commit_name(number: Number) -> String {
    format!("commit {number}")
}

/// Whether the system refused, so that nothing can be said.
pub fn is_refusal(error: &StoreError) -> bool {
    matches!(error, StoreError::Io { .. })
}

/// An error with its causes behind it.
pub fn told(error: &StoreError) -> String {
    let mut text = match error {
        StoreError::Corrupt { what, .. } => what.clone(),
        other => other.to_string(),
    };
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

impl Walk {
    /// Looks at all commits and objects of the tables, whose next number is `next`.
    pub fn all_commits<A: Access>(
        &mut self,
        tables: &Tables<A>,
        next: Number,
        tell: &mut Tell<'_>,
    ) -> Result<(), StoreError> {
        self.list_commits(tables, next)?;
        let commits = self.commits.clone();
        let mut before = 0;
        for &number in &commits {
            tell(Stage::Commits, number, next);
            self.commit(tables, number, before)?;
            before = number;
        }
        let mut behind = Own { before, ..Own::default() };
        self.read_own(tables, &mut behind, None)?;
        self.stray(behind.numbers().collect());
        Ok(())
    }

    fn find(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    /// A record that cannot be used.
    fn find_bad(&mut self, fault: Fault, number: Number, what: impl Into<String>) {
        if self.bad.insert(number) {
            self.find(Finding::new(fault, object_name(number), what).at(Seat::Object(number)));
        }
    }

    /// Finds the numbers of all commits, also of those that only the index of ids knows.
    fn list_commits<A: Access>(&mut self, tables: &Tables<A>, next: Number) -> Result<(), StoreError> {
        let mut found = BTreeSet::new();
        let broken = each(&tables.commit, |(key, _)| {
            found.insert(key.value());
        })?;
        if broken.is_some() {
            // That it is broken from this side too is no news.
            drop(guarded(|| -> Result<(), StoreError> {
                for entry in tables.commit.scan::<Number>(..)?.rev() {
                    found.insert(entry?.0.value());
                }
                Ok(())
            }));
        }
        self.broken("commit", broken);
        let mut named = Vec::new();
        // What is wrong with the index is told where it is looked at.
        each(&tables.hash, |(_, row)| named.extend(row.and_then(|row| read_number(row.bytes())).ok()))?;
        let is_lost = |number: &Number| {
            let object = || guarded(|| tables.object.get(*number).map(|row| row.is_some())).and_then(|there| there);
            (1..next).contains(number) && !found.contains(number) && !matches!(object(), Ok(true))
        };
        let lost: Vec<_> = named.into_iter().filter(is_lost).collect();
        found.extend(lost);
        self.commits = found.into_iter().collect();
        Ok(())
    }

    /// Reads the records from behind `own.before` up to `end`.
    fn read_own<A: Access>(
        &mut self,
        tables: &Tables<A>,
        own: &mut Own,
        end: Option<Number>,
    ) -> Result<(), StoreError> {
        let end = end.unwrap_or(Number::MAX);
        let mut at = own.before + 1;
        let scanned = guarded(|| -> Result<(), StoreError> {
            for entry in tables.object.scan(at..end)? {
                let (key, row) = entry?;
                at = key.value() + 1;
                match row {
                    Ok(row) => self.record(key.value(), row.bytes(), own),
                    Err(error) => self.find_bad(Fault::ObjectRow, key.value(), told(&error)),
                }
            }
            Ok(())
        });
        match scanned.and_then(|done| done) {
            Ok(()) => Ok(()),
            Err(error) if is_refusal(&error) => Err(error),
            Err(error) => {
                self.broken("object", Some(error));
                if end < Number::MAX {
                    (at..end).for_each(|number| self.read_alone(tables, number, own));
                }
                Ok(())
            }
        }
    }

    /// Reads one record where they cannot be read in a row.
    fn read_alone<A: Access>(&mut self, tables: &Tables<A>, number: Number, own: &mut Own) {
        match guarded(|| tables.object.get(number)).and_then(|row| row) {
            Ok(Some(row)) => self.record(number, row.bytes(), own),
            Ok(None) => {}
            Err(error) => self.find_bad(Fault::ObjectRow, number, told(&error)),
        }
    }

    /// Looks at a record by itself: kind and canonical form, and which object it is.
    fn record(&mut self, number: Number, bytes: &[u8], own: &mut Own) {
        self.objects += 1;
        self.last_object = self.last_object.max(number);
        self.bytes += bytes.len() as u64;
        match ObjectRecord::decode(bytes) {
            Ok(ObjectRecord::Node(node) | ObjectRecord::Redacted(node)) => self.node(number, node, own),
            Ok(ObjectRecord::Inner(payload)) => match Inner::decode(payload, number) {
                Ok(inner) => own.inners.push(number, inner),
                Err(error) => self.find_bad(Fault::ObjectForm, number, error.to_string()),
            },
            Err(error) => self.unread(number, &error),
        }
    }

    fn node(&mut self, number: Number, bytes: &[u8], own: &mut Own) {
        let id = match decode_kept(bytes) {
            Ok(node) => Ok(node.id().clone()),
            // Its id and its hash are where they always are.
            Err(error @ DecodeError::Kind(_)) => {
                let finding = Finding::new(Fault::UnsupportedKind, object_name(number), error.to_string());
                self.find(finding.at(Seat::Object(number)));
                kept_id_in(bytes)
            }
            Err(error) => Err(error),
        };
        match id {
            Ok(id) => own.nodes.push(number, (kept_object_id(bytes), id)),
            Err(error) => self.unread(number, &error),
        }
    }

    fn unread(&mut self, number: Number, error: &DecodeError) {
        let fault = match error {
            DecodeError::NotCanonical(_) => Fault::ObjectForm,
            DecodeError::Kind(_) => Fault::UnsupportedKind,
            DecodeError::UnknownRecord(_) => Fault::UnsupportedFormat,
        };
        self.find_bad(fault, number, error.to_string());
    }

    fn stray(&mut self, numbers: BTreeSet<Number>) {
        for number in numbers {
            self.find(Finding::new(Fault::ObjectStray, object_name(number), "it belongs to no commit"));
        }
    }

    fn commit<A: Access>(&mut self, tables: &Tables<A>, number: Number, before: Number) -> Result<(), StoreError> {
        let mut own = Own { before, ..Own::default() };
        self.read_own(tables, &mut own, Some(number))?;
        let Some(commit) = self.read_commit(tables, number)? else {
            self.unread.insert(number);
            self.unsure.insert(number);
            return Ok(());
        };
        let mut parents = Vec::new();
        for &parent in &commit.parents {
            match guarded(|| tables.commit(parent)).and_then(|read| read) {
                Ok(record) => parents.push(record),
                Err(error) if is_refusal(&error) => return Err(error),
                Err(_) if self.unread.contains(&parent) => {}
                Err(_) => {
                    let what = format!("its parent, commit {parent}, is not there");
                    self.find_of(Fault::CommitParent, number, what);
                }
            }
        }
        if parents.len() < commit.parents.len() {
            self.unsure.insert(number);
            let root = commit.root.link();
            if let Some(culprit) = root.and_then(|root| culprit(&own, root, root.id()?)) {
                self.find_bad(Fault::ObjectHash, culprit, "it is not the object that is referred to by this number");
            }
            self.tips.insert(commit.place.chain, commit.place.position);
            self.index_id(tables, number, &commit);
            return Ok(());
        }
        if commit.commit(parents.iter().map(|parent| parent.id).collect()).id() != commit.id {
            let what = format!("what it says has another id than {}", commit.id);
            self.find_of(Fault::CommitHash, number, what);
        } else {
            self.index_id(tables, number, &commit);
        }
        self.chain(tables, number, &commit, &parents)?;
        let worked = self.work_out(tables, &own, number, &commit, &parents);
        match worked {
            Ok(worked) => {
                self.stray(own.numbers().filter(|&number| number < worked.first).collect());
                let recent = self.recent.get_mut();
                own.inners.into_iter().for_each(|(number, inner)| recent.keep_inner(number, inner));
                own.nodes.into_iter().for_each(|(number, (_, id))| recent.keep_id(number, id));
                worked.history.iter().try_for_each(|id| self.index_history(tables, id, number))
            }
            Err(stop) => {
                self.stopped(stop, &own, number, &commit)?;
                self.unsure.insert(number);
                Ok(())
            }
        }
    }

    fn read_commit<A: Access>(
        &mut self,
        tables: &Tables<A>,
        number: Number,
    ) -> Result<Option<CommitRecord>, StoreError> {
        let row = guarded(|| tables.commit.get(number)).and_then(|row| row);
        let (fault, what) = match row {
            Ok(Some(row)) => match CommitRecord::decode(row.bytes(), number) {
                Ok(commit) if commit.encode(number) == row.bytes() => return Ok(Some(commit)),
                Ok(_) => (Fault::CommitForm, "it is spelled otherwise".to_owned()),
                Err(error @ DecodeError::UnknownRecord(_)) => (Fault::UnsupportedFormat, error.to_string()),
                Err(error) => (Fault::CommitForm, error.to_string()),
            },
            Ok(None) => (Fault::CommitRow, "it is named in the index of ids and not there".to_owned()),
            Err(error) if is_refusal(&error) => return Err(error),
            Err(error) => (Fault::CommitRow, told(&error)),
        };
        self.find_of(fault, number, what);
        Ok(None)
    }

    /// Works a commit out anew from its parents.
    fn work_out<A: Access>(
        &mut self,
        tables: &Tables<A>,
        own: &Own,
        number: Number,
        commit: &CommitRecord,
        parents: &[CommitRecord],
    ) -> Result<Worked, Stop> {
        let bad = std::mem::take(&mut self.bad);
        let mut held = Held { tables, own, bad: &bad, recent: &self.recent, next: 0, written: Vec::new() };
        let worked = work_out(&mut held, number, commit, parents);
        let written = std::mem::take(&mut held.written);
        self.bad = bad;
        let (root, changes, first, lacking) = worked?;
        let count = parents.first().map_or(0, |parent| parent.count).wrapping_add(changes.added);
        let count = count.wrapping_sub(changes.removed);
        if (changes, count) != (commit.changes, commit.count) {
            let what = format!(
                "it has {count} nodes, and added {}, modified {} and removed {}, and its record says {}, {}, {} and {}",
                changes.added,
                changes.modified,
                changes.removed,
                commit.count,
                commit.changes.added,
                commit.changes.modified,
                commit.changes.removed
            );
            self.find(Finding::new(Fault::CommitCount, commit_name(number), what));
        }
        if root != commit.root {
            let same_id = root.link().and_then(Link::id) == commit.root.link().and_then(Link::id);
            let (fault, what) = match same_id {
                true => (Fault::RecordRule, "its state begins with another record than it should"),
                false => (Fault::TrieShape, "its state has another root than its nodes lead to"),
            };
            self.find_of(fault, number, what);
        }
        let nodes = written.iter().filter_map(|&number| Some(own.nodes.get(number)?.1.clone()));
        let mut history: Vec<_> = nodes.chain(lacking).collect();
        history.sort_unstable();
        Ok(Worked { history, first })
    }

    /// Damage of a commit that its state or its children show.
    fn find_of(&mut self, fault: Fault, commit: Number, what: impl Into<String>) {
        self.find(Finding::new(fault, commit_name(commit), what).at(Seat::Commit(commit)));
    }

    /// Tells why a commit could not be worked out, unless that is known: the record that is not what is referred to; or else
    /// what is wrong with the commit, where nothing is wrong with its parents.
    fn stopped(&mut self, stop: Stop, own: &Own, number: Number, commit: &CommitRecord) -> Result<(), StoreError> {
        let root = commit.root.link();
        if let Some(culprit) = root.and_then(|root| culprit(own, root, root.id()?)) {
            self.find_bad(Fault::ObjectHash, culprit, "it is not the object that is referred to by this number");
            return Ok(());
        }
        let is_sure = commit.parents.iter().all(|parent| !self.unsure.contains(parent));
        let (fault, what) = match stop {
            Stop::Store(error) => return Err(error),
            Stop::Bad => return Ok(()),
            Stop::Missing(missing) => {
                let what = format!("commit {number} refers to it, and it is not there");
                self.find_bad(Fault::ObjectMissing, missing, what);
                return Ok(());
            }
            Stop::OtherInner { number: other, expected } => match own.inners.get(other) {
                Some(found) if has_ids_of(found, &expected) => {
                    (Fault::RecordRule, format!("object {other} refers to other records than the parents' states do"))
                }
                Some(_) | None => (
                    Fault::TrieShape,
                    format!("object {other} is not the inner node that the nodes of the state lead to"),
                ),
            },
            Stop::OtherKind(other) | Stop::OtherNode(other) => {
                (Fault::TrieShape, format!("object {other} is not of the kind that is referred to"))
            }
            Stop::Misplaced(other) => (Fault::TrieShape, format!("object {other} stands where no state has it")),
            Stop::NotAdded(other) => (Fault::RecordRule, format!("object {other} is not the node that is added there")),
            Stop::TooFew => (Fault::RecordRule, "it has added fewer records than it should".to_owned()),
        };
        if is_sure {
            self.find_of(fault, number, what);
        }
        Ok(())
    }

    fn index_id<A: Access>(&mut self, tables: &Tables<A>, number: Number, commit: &CommitRecord) {
        let row = guarded(|| tables.hash.get(commit.id.as_bytes())).and_then(|row| row);
        let what = match row.map(|row| row.map(|row| read_number(row.bytes()))) {
            Ok(Some(Ok(found))) if found == number => {
                self.hash_rows += 1;
                return;
            }
            Ok(Some(Ok(found))) => format!("it leads to commit {found} and not to {number}"),
            Ok(None) => format!("commit {number} has no row"),
            Ok(Some(Err(error))) | Err(error) => told(&error),
        };
        let fix = Fix::Hash { id: *commit.id.as_bytes(), number: Some(number) };
        self.find(Finding::new(Fault::HashRow, format!("index of ids, {}", commit.id), what).fixed_by(fix));
    }

    fn index_history<A: Access>(&mut self, tables: &Tables<A>, id: &NodeId, number: Number) -> Result<(), StoreError> {
        let key = history_key(id.as_str(), number);
        let what = match guarded(|| tables.history.get(&key[..]).map(|row| row.is_some())).and_then(|row| row) {
            Ok(true) => {
                self.history_rows += 1;
                return Ok(());
            }
            Ok(false) => "it is not there".to_owned(),
            Err(error) if is_refusal(&error) => return Err(error),
            Err(error) => told(&error),
        };
        let fix = Fix::History { key, is_there: true };
        let mut finding = Finding::new(Fault::HistoryRow, history_name(id.as_str(), number), what).fixed_by(fix);
        finding.ids.push(id.clone());
        self.find(finding);
        Ok(())
    }

    fn chain<A: Access>(
        &mut self,
        tables: &Tables<A>,
        number: Number,
        commit: &CommitRecord,
        parents: &[CommitRecord],
    ) -> Result<(), StoreError> {
        let Place { chain, position } = commit.place;
        let first = parents.first().map(|parent| parent.place);
        let continues =
            first.is_some_and(|first| chain == first.chain && position.checked_sub(1) == Some(first.position));
        let begins = chain == number && position == 0;
        let follows = match self.tips.get(&chain) {
            Some(&tip) => continues && position == tip + 1,
            None => begins,
        };
        if follows {
            self.tips.insert(chain, position);
        } else {
            let what = format!("it stands at position {position} of the chain of commit {chain}, and may not");
            let tip = self.tips.entry(chain).or_insert(position);
            *tip = position.max(*tip);
            self.find(Finding::new(Fault::CommitChain, commit_name(number), what));
            return Ok(());
        }
        let outside: Vec<_> = parents.iter().skip(usize::from(continues)).map(|parent| parent.place).collect();
        if begins || !outside.is_empty() {
            let row = super::super::record::encode_places(&outside, chain);
            self.chain_row(tables, commit.place, row)?;
        }
        Ok(())
    }

    /// Compares a row of the index of ancestry.
    pub fn chain_row<A: Access>(
        &mut self,
        tables: &Tables<A>,
        place: Place,
        expected: Vec<u8>,
    ) -> Result<(), StoreError> {
        let row = guarded(|| tables.chain.get((place.chain, place.position))).and_then(|row| row);
        let what = match row {
            Ok(Some(row)) if row.bytes() == expected => {
                self.chain_rows += 1;
                return Ok(());
            }
            Ok(Some(_)) => "it is not what the commits say".to_owned(),
            Ok(None) => "it is not there".to_owned(),
            Err(error) if is_refusal(&error) => return Err(error),
            Err(error) => told(&error),
        };
        let fix = Fix::Chain { place, row: Some(expected) };
        self.find(Finding::new(Fault::ChainRow, chain_name(place), what).fixed_by(fix));
        Ok(())
    }
}

/// Whether the children have the ids of those of `expected`, in whichever records.
fn has_ids_of(found: &Inner, expected: &Inner) -> bool {
    let pairs = || found.children.iter().flatten().zip(expected.children.iter().flatten());
    found.mask() == expected.mask() && pairs().all(|(found, link)| found.id().is_none() || found.id() == link.id())
}

/// The id that an inner node has by what its record says of its children.
fn said(own: &Own, number: Number) -> Option<ObjectId> {
    let mut inner = *own.inners.get(number)?;
    for child in inner.children.iter_mut().flatten() {
        if let Link::Inner { number, id: id @ None } = child {
            *id = Some(said(own, *number)?);
        }
    }
    inner.id()
}

/// Which of a commit's own records below `link` is not the object that is referred to by `id`.
fn culprit(own: &Own, link: Link, id: ObjectId) -> Option<Number> {
    let number = link.number();
    if let Some((found, _)) = own.nodes.get(number) {
        return (*found != id).then_some(number);
    }
    let inner = own.inners.get(number)?;
    let children = || inner.children.iter().flatten().copied();
    if said(own, number)? != id {
        return Some(odd(own, number).unwrap_or(number));
    }
    children().find_map(|child| culprit(own, child, child.id().or_else(|| said(own, child.number()))?))
}

/// Of an inner node and those below it that leave their ids out, the one that names an id that its child does not have.
fn odd(own: &Own, number: Number) -> Option<Number> {
    own.inners.get(number)?.children.iter().flatten().find_map(|child| match child {
        Link::Inner { number: child, id: None } => odd(own, *child),
        Link::Inner { number: child, id: Some(id) } => said(own, *child).filter(|said| said != id).map(|_| number),
        Link::Node { number: child, object } => own.nodes.get(*child).filter(|node| node.0 != *object).map(|_| number),
    })
}

pub fn history_name(id: &str, number: Number) -> String {
    format!("history of '{id}', commit {number}")
}

pub fn chain_name(place: Place) -> String {
    if place.position == super::super::tables::TIP {
        format!("chain of commit {}, its tip", place.chain)
    } else {
        format!("chain of commit {}, position {}", place.chain, place.position)
    }
}

type WorkedOut = (Root, ChangeCount, Number, Vec<NodeId>);

/// What the commit should be: its root, what it changed, the first number of its records, and the ids that it lacks and all
/// its parents have.
fn work_out<A: Access>(
    held: &mut Held<'_, A>,
    number: Number,
    commit: &CommitRecord,
    parents: &[CommitRecord],
) -> Result<WorkedOut, Stop> {
    let (first, others) = match parents.split_first() {
        Some((first, others)) => (Some(first), others),
        None => (None, &[][..]),
    };
    let base = first.and_then(|parent| parent.root.link());
    let mut changes = BTreeMap::new();
    let source = &*held;
    diff(source, base, commit.root.link(), |old, new| {
        let (id, new) = match (old, new) {
            (_, Some((number, object))) => {
                (source.node_id(number, object)?, Some((number, New { object, payload: () })))
            }
            (Some((number, object)), None) => (source.node_id(number, object)?, None),
            (None, None) => return Ok(()),
        };
        let at = new.as_ref().map_or(number, |(number, _)| *number);
        match changes.insert(id, new.map(|(_, new)| new)) {
            // One id in two places of a state.
            Some(_) => Err(Stop::Misplaced(at)),
            None => Ok(()),
        }
    })?;
    let update = update(source, base, changes)?;
    let counts = ChangeCount::of(&update.effects);
    let (tree, lacking) = settle(source, update, others)?;
    let fresh = tree.as_ref().map_or(0, crate::object::Tree::fresh);
    held.next = number.checked_sub(fresh).filter(|&start| start > held.own.before).ok_or(Stop::TooFew)?;
    let root = write(held, tree)?;
    Ok((root, counts, number - fresh, lacking))
}
