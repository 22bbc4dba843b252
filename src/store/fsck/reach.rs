//! How far damage reaches: the commits whose states lead to a damaged record, and the ids whose lookup runs into it. Costs
//! reads only where there is damage.

use super::super::record::{Number, ObjectRecord};
use super::super::rows::Access;
use super::super::tables::{Tables, read_split_key};
use super::super::{StoreError, open::guarded, read::read_number};
use super::commits::{Walk, is_refusal};
use super::finding::{Finding, Seat};
use super::index::each;
use crate::model::NodeId;
use crate::object::{CommitId, Inner, Key, Link, Source};
use std::collections::{BTreeMap, BTreeSet};

/// How many damaged things are followed at once: one a bit.
const AT_ONCE: usize = 64;

/// What leads to one damaged record.
#[derive(Default)]
struct Target {
    number: Number,
    /// The slots on the ways from roots to it.
    ways: BTreeSet<Vec<usize>>,
    is_leaf: bool,
    /// The commit that wrote it.
    writer: Option<Number>,
    /// Ids that have such a way.
    near: BTreeSet<NodeId>,
    /// Those of them that this commit wrote.
    written: BTreeSet<NodeId>,
}

impl Walk {
    /// Names commits and ids in the findings that have a seat.
    pub fn reach<A: Access>(&mut self, tables: &Tables<A>) -> Result<(), StoreError> {
        let mut findings = std::mem::take(&mut self.findings);
        let mut named: Vec<&mut Finding> = findings.iter_mut().filter(|it| it.seat != Seat::Nowhere).collect();
        for group in named.chunks_mut(AT_ONCE) {
            self.reach_of(tables, group)?;
        }
        self.findings = findings;
        Ok(())
    }

    fn reach_of<A: Access>(&self, tables: &Tables<A>, group: &mut [&mut Finding]) -> Result<(), StoreError> {
        let mut masks = BTreeMap::<Number, u64>::new();
        for (bit, finding) in group.iter().enumerate() {
            if let Seat::Object(number) = finding.seat {
                *masks.entry(number).or_default() |= 1 << bit;
            }
        }
        if !masks.is_empty() {
            self.spread(tables, &mut masks)?;
        }
        let ids = self.ids_of_unread(tables)?;
        let mut targets: Vec<_> = group.iter().map(|finding| self.target(finding)).collect();
        let mut seen = BTreeSet::new();
        let mut of_commits = BTreeMap::<Number, u64>::new();
        for &number in &self.commits {
            let mut mask = 0;
            for (bit, finding) in group.iter().enumerate() {
                mask |= u64::from(finding.seat == Seat::Commit(number)) << bit;
            }
            let commit = guarded(|| tables.commit(number)).and_then(|commit| commit).ok();
            let parents = commit.iter().flat_map(|commit| &commit.parents);
            mask |= parents.map(|parent| of_commits.get(parent).copied().unwrap_or(0)).fold(0, |all, one| all | one);
            if mask != 0 {
                of_commits.insert(number, mask);
            }
            let root = commit.as_ref().and_then(|commit| commit.root.link());
            if let Some(root) = root.filter(|root| masks.contains_key(&root.number())) {
                mask |= masks[&root.number()];
                follow(tables, &masks, root, &mut Vec::new(), &mut targets, &mut seen);
            }
            let id = commit.map(|commit| commit.id).or_else(|| ids.get(&number).copied());
            for (bit, finding) in group.iter_mut().enumerate() {
                finding.commits.extend(id.filter(|_| mask >> bit & 1 == 1));
            }
        }
        self.ids(tables, &mut targets)?;
        for (finding, target) in group.iter_mut().zip(targets) {
            let found = if target.is_leaf && !target.written.is_empty() { target.written } else { target.near };
            finding.ids.extend(found);
        }
        Ok(())
    }

    fn target(&self, finding: &Finding) -> Target {
        match finding.seat {
            Seat::Object(number) => {
                let behind = self.commits.partition_point(|&commit| commit < number);
                Target { number, writer: self.commits.get(behind).copied(), ..Target::default() }
            }
            Seat::Commit(number) => Target { writer: Some(number), is_leaf: true, ..Target::default() },
            Seat::Nowhere => Target::default(),
        }
    }

    /// The ids that the index has for commits that cannot be read.
    fn ids_of_unread<A: Access>(&self, tables: &Tables<A>) -> Result<BTreeMap<Number, CommitId>, StoreError> {
        let mut found = BTreeMap::new();
        if !self.unread.is_empty() {
            each(&tables.hash, |(key, row)| {
                if let Ok(Ok(number)) = row.map(|row| read_number(row.bytes()))
                    && self.unread.contains(&number)
                {
                    found.insert(number, CommitId::from_bytes(*key.value()));
                }
            })?;
        }
        Ok(found)
    }

    /// Goes through all inner nodes, children before parents, and marks those that lead to what is marked.
    fn spread<A: Access>(&self, tables: &Tables<A>, masks: &mut BTreeMap<Number, u64>) -> Result<(), StoreError> {
        let first = masks.keys().next().copied().unwrap_or(0);
        let last = self.last_object.max(self.commits.last().copied().unwrap_or(0));
        let mut at = first;
        let mut visit = |number, bytes: &[u8]| {
            let Ok(ObjectRecord::Inner(payload)) = ObjectRecord::decode(bytes) else { return };
            let Ok(inner) = Inner::decode(payload, number) else { return };
            let children =
                inner.children.iter().flatten().map(|child| masks.get(&child.number()).copied().unwrap_or(0));
            let mask = children.fold(0, |all, one| all | one);
            if mask != 0 {
                *masks.entry(number).or_default() |= mask;
            }
        };
        let read = guarded(|| -> Result<(), StoreError> {
            for entry in tables.object.scan(first..)? {
                let (key, row) = entry?;
                at = key.value() + 1;
                if let Ok(row) = row {
                    visit(key.value(), row.bytes());
                }
            }
            Ok(())
        });
        match read.and_then(|read| read) {
            Ok(()) => Ok(()),
            Err(error) if is_refusal(&error) => Err(error),
            Err(_) => {
                for number in at..=last {
                    if let Ok(Some(row)) = guarded(|| tables.object.get(number)).and_then(|row| row) {
                        visit(number, row.bytes());
                    }
                }
                Ok(())
            }
        }
    }

    /// Goes through all ids that ever were.
    fn ids<A: Access>(&self, tables: &Tables<A>, targets: &mut [Target]) -> Result<(), StoreError> {
        let mut last: Option<(NodeId, Key)> = None;
        // A history that cannot be read to its end is told where it is looked at.
        each(&tables.history, |(key, _)| {
            let Ok((id, number)) = read_split_key(key.value()) else { return };
            if last.as_ref().is_none_or(|(last, _)| last.as_str() != id) {
                let Ok(id) = NodeId::new(id) else { return };
                let key = Key::of(&id);
                last = Some((id, key));
            }
            let Some((id, key)) = &last else { return };
            for target in targets.iter_mut() {
                let is_near =
                    target.ways.iter().any(|way| way.iter().enumerate().all(|(level, &slot)| key.slot(level) == slot));
                let is_written = target.writer == Some(number) && (is_near || target.number == 0);
                if is_near && !target.near.contains(id) {
                    target.near.insert(id.clone());
                }
                if is_written {
                    target.written.insert(id.clone());
                }
            }
        })?;
        Ok(())
    }
}

/// Notes the ways from `link` to what is marked. An inner node always stands at the same place, so it is followed once.
fn follow<A: Access>(
    tables: &Tables<A>,
    masks: &BTreeMap<Number, u64>,
    link: Link,
    way: &mut Vec<usize>,
    targets: &mut [Target],
    seen: &mut BTreeSet<Number>,
) {
    for target in targets.iter_mut().filter(|target| target.number == link.number() && target.number != 0) {
        target.is_leaf = matches!(link, Link::Node { .. });
        target.ways.insert(way.clone());
    }
    let leads_on = matches!(link, Link::Inner { .. }) && masks.contains_key(&link.number());
    if way.len() >= Key::LEVELS || !leads_on || !seen.insert(link.number()) {
        return;
    }
    let Ok(Ok(inner)) = guarded(|| tables.inner(link.number())) else { return };
    for (slot, child) in inner.children.iter().enumerate() {
        if let Some(child) = child {
            way.push(slot);
            follow(tables, masks, *child, way, targets, seen);
            way.pop();
        }
    }
}
