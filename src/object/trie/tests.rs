//! Tries over records in memory, held against maps.

use super::*;
use proptest::prelude::*;
use std::cell::Cell;
use std::collections::BTreeMap;

/// Ids of which each further one or two share one more slot with the first: up to eleven.
const IDS: [&str; 22] = [
    "0", "2", "5", "1", "3", "23", "28", "104", "134", "26", "369", "2072", "2760", "5506", "14469", "47607", "16873",
    "83274", "343389", "150755", "1451845", "3686952",
];

type Map = BTreeMap<NodeId, u8>;
type Batch = Vec<(usize, Option<u8>)>;

enum Record {
    Node(NodeId, ObjectId),
    Inner(Vec<u8>),
    Commit,
}

/// Records as a store holds them; the first has the number 1.
#[derive(Default)]
struct Memory {
    records: Vec<Record>,
    reads: Cell<usize>,
}

#[derive(Debug, PartialEq)]
enum Fault {
    Record(u64),
    Misplaced(u64),
}

impl Memory {
    fn record(&self, number: u64) -> &Record {
        self.reads.set(self.reads.get() + 1);
        &self.records[number as usize - 1]
    }

    fn push(&mut self, record: Record) -> u64 {
        self.records.push(record);
        self.records.len() as u64
    }

    /// Applies a batch as a commit would.
    fn commit(&mut self, parent: Root, batch: &Batch) -> (Root, Vec<(NodeId, Effect)>) {
        self.merge(&[parent], changes(batch))
    }

    fn merge(
        &mut self,
        parents: &[Root],
        changes: BTreeMap<NodeId, Option<New<NodeId>>>,
    ) -> (Root, Vec<(NodeId, Effect)>) {
        let mut update = update(self, parents[0].link(), changes).expect("sound");
        for parent in &parents[1..] {
            adopt(self, &mut update.tree, parent.link()).expect("sound");
        }
        let root = write(self, update.tree).expect("sound");
        self.push(Record::Commit);
        (root, update.effects)
    }

    fn leaves(&self, root: Root) -> Vec<Leaf> {
        let mut found = Vec::new();
        leaves(self, root.link(), |leaf| {
            found.push(leaf);
            Ok(())
        })
        .expect("sound");
        found
    }

    fn diff(&self, old: Root, new: Root) -> Vec<(Option<Leaf>, Option<Leaf>)> {
        let mut found = Vec::new();
        diff(self, old.link(), new.link(), |old, new| {
            found.push((old, new));
            Ok(())
        })
        .expect("sound");
        found
    }

    /// Each inner node below `link` by its path: its number and those of its children.
    fn inners(&self, link: Option<Link>, path: &[usize], found: &mut BTreeMap<Vec<usize>, (u64, [Option<u64>; 4])>) {
        if let Some(Link::Inner { number, .. }) = link {
            let children = self.inner(number).expect("sound").children;
            found.insert(path.to_vec(), (number, children.map(|child| child.map(Link::number))));
            for (slot, child) in children.into_iter().enumerate() {
                self.inners(child, &[path, &[slot]].concat(), found);
            }
        }
    }

    fn reads_of<R>(&self, work: impl FnOnce() -> R) -> (R, usize) {
        self.reads.set(0);
        let result = work();
        (result, self.reads.get())
    }
}

impl Source for Memory {
    type Error = Fault;

    fn inner(&self, number: u64) -> Result<Inner, Fault> {
        match self.record(number) {
            Record::Inner(payload) => Inner::decode(payload, number).map_err(|_| Fault::Record(number)),
            Record::Node(..) | Record::Commit => Err(Fault::Record(number)),
        }
    }

    fn node_id(&self, number: u64, object: ObjectId) -> Result<NodeId, Fault> {
        match self.record(number) {
            Record::Node(id, stored) if *stored == object => Ok(id.clone()),
            Record::Node(..) | Record::Inner(_) | Record::Commit => Err(Fault::Record(number)),
        }
    }

    fn misplaced(&self, number: u64) -> Fault {
        Fault::Misplaced(number)
    }
}

impl Sink<NodeId> for Memory {
    fn put_node(&mut self, object: ObjectId, id: NodeId) -> Result<u64, Fault> {
        Ok(self.push(Record::Node(id, object)))
    }

    fn put_inner(&mut self, inner: &Inner) -> Result<u64, Fault> {
        let payload = inner.encode(self.records.len() as u64 + 1);
        Ok(self.push(Record::Inner(payload)))
    }
}

#[expect(clippy::needless_pass_by_value, reason = "called with texts and numbers")]
fn id(text: impl ToString) -> NodeId {
    NodeId::new(text.to_string()).expect("an id")
}

fn object(id: &NodeId, version: u8) -> ObjectId {
    ObjectId::from_bytes(sha256(&[b"node 1\0", id.as_str().as_bytes(), &[version]]))
}

fn change(id: &NodeId, version: Option<u8>) -> (NodeId, Option<New<NodeId>>) {
    (id.clone(), version.map(|version| New { object: object(id, version), payload: id.clone() }))
}

fn changes(batch: &Batch) -> BTreeMap<NodeId, Option<New<NodeId>>> {
    batch.iter().map(|(at, version)| change(&id(IDS[*at]), *version)).collect()
}

fn apply_to_map(map: &mut Map, batch: &Batch) {
    for (at, version) in batch {
        match version {
            Some(version) => map.insert(id(IDS[*at]), *version),
            None => map.remove(&id(IDS[*at])),
        };
    }
}

/// What became of each id between two maps.
fn map_diff(old: &Map, new: &Map) -> Vec<(NodeId, Effect)> {
    let ids: std::collections::BTreeSet<_> = old.keys().chain(new.keys()).collect();
    let effect = |id: &NodeId| match (old.get(id), new.get(id)) {
        (None, Some(_)) => Some(Effect::Added),
        (Some(_), None) => Some(Effect::Removed),
        (Some(old), Some(new)) if old != new => Some(Effect::Modified),
        (Some(_), Some(_)) | (None, None) => None,
    };
    ids.into_iter().filter_map(|id| Some((id.clone(), effect(id)?))).collect()
}

fn bits(id: &NodeId) -> Vec<u8> {
    sha256(&[id.as_str().as_bytes()]).iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1)).collect()
}

/// Kind and id of a subtree, straight from the format's definition.
fn by_definition(entries: &[(Vec<u8>, ObjectId)], level: usize) -> (u8, [u8; 32]) {
    match entries {
        [] => (0, [0; 32]),
        [(_, object)] => (1, *object.as_bytes()),
        _ => {
            let mut bytes = vec![0];
            for slot in 0..4u8 {
                let here = |(bits, _): &&(Vec<u8>, _)| bits[level * 2] * 2 + bits[level * 2 + 1] == slot;
                let here: Vec<_> = entries.iter().filter(here).cloned().collect();
                let (kind, id) = by_definition(&here, level + 1);
                bytes[0] |= [0, 1, 0x11][usize::from(kind)] << slot;
                bytes.extend_from_slice(if kind == 0 { &[] } else { &id });
            }
            (2, sha256(&[b"inner 1\0", &bytes]))
        }
    }
}

fn state_by_definition(map: &Map) -> StateId {
    let entries: Vec<_> = map.iter().map(|(id, version)| (bits(id), object(id, *version))).collect();
    let (kind, root) = by_definition(&entries, 0);
    StateId::from_bytes(sha256(&[b"state 1\0", &(map.len() as u64).to_le_bytes(), &[kind], &root]))
}

fn batch() -> impl Strategy<Value = Batch> {
    proptest::collection::vec((0..IDS.len(), proptest::option::weighted(0.6, 0..3u8)), 0..12)
}

fn history() -> impl Strategy<Value = Vec<Batch>> {
    proptest::collection::vec(batch(), 1..8)
}

/// A state of `count` nodes.
fn large(count: u32) -> (Memory, Root) {
    let mut memory = Memory::default();
    let (root, _) = memory.merge(&[Root::Empty], (0..count).map(|n| change(&id(n), Some(0))).collect());
    (memory, root)
}

#[test]
fn the_ids_share_their_slots_as_stated() {
    let first = bits(&id(IDS[0]));
    let shared = |text: &str| bits(&id(text)).chunks(2).zip(first.chunks(2)).take_while(|(a, b)| a == b).count();
    let shared: Vec<_> = IDS[1..].iter().map(|id| shared(id)).collect();
    assert_eq!(shared, [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 8, 8, 9, 10, 10, 11]);
}

#[test]
fn the_ids_of_small_states_are_fixed() {
    let mut memory = Memory::default();
    let zeros = [0; 32];
    let state =
        |count: u8, kind: u8, root: &[u8; 32]| sha256(&[b"state 1\0", &[count, 0, 0, 0, 0, 0, 0, 0, kind], root]);
    assert_eq!(Root::Empty.state_id(0).as_bytes(), &state(0, 0, &zeros));
    assert_eq!(Root::Empty.state_id(0).to_string(), "e831d06264fcb540423fd320660cc6cb3ba37383fab7ee1da3f0d7e18fdd4a41");

    let (a, b, c) = (object(&id("0"), 0), object(&id("2"), 0), object(&id("1"), 0));
    let (one, _) = memory.commit(Root::Empty, &vec![(0, Some(0))]);
    assert_eq!(one.state_id(1).as_bytes(), &state(1, 1, a.as_bytes()));

    // sha256("0") begins with 5f, sha256("2") with d4, sha256("1") with 6b: slots 1 1, 3 and 1 2.
    let (two, _) = memory.commit(one, &vec![(1, Some(0))]);
    let inner = sha256(&[b"inner 1\0", &[0b0000_1010], a.as_bytes(), b.as_bytes()]);
    assert_eq!(two.state_id(2).as_bytes(), &state(2, 2, &inner));
    assert_eq!(two.state_id(2).to_string(), "f99f23be7ee8c65e6939045d0f9fa1a341b24fccbc96ec36b7c1b2f26a4c6de5");

    let (deep, _) = memory.commit(one, &vec![(3, Some(0))]);
    let below = sha256(&[b"inner 1\0", &[0b0000_0110], a.as_bytes(), c.as_bytes()]);
    let inner = sha256(&[b"inner 1\0", &[0b0010_0010], &below]);
    assert_eq!(deep.state_id(2).as_bytes(), &state(2, 2, &inner));
}

#[test]
fn nodes_are_written_before_inner_nodes_and_the_last_inner_child_lies_next_to_its_parent() {
    let (memory, root) = large(500);
    let nodes = memory.records.iter().take_while(|record| matches!(record, Record::Node(..))).count();
    assert_eq!(nodes, 500);
    let mut inners = BTreeMap::new();
    memory.inners(root.link(), &[], &mut inners);
    assert_eq!(inners.len() + nodes + 1, memory.records.len());
    for (number, children) in inners.into_values() {
        if let Some(last) = children.into_iter().flatten().filter(|child| *child > 500).max() {
            assert_eq!(last, number - 1);
        }
    }
    let Root::Inner { number, id } = root else { panic!("an inner node") };
    assert_eq!(link_id(&memory, Link::Inner { number, id: None }), Ok(id));
    assert_eq!(link_id(&memory, Link::Inner { number, id: None }), Ok(id));
}

#[test]
fn reads_follow_the_change_and_not_the_state() {
    let (mut memory, root) = large(4000);
    let levels = 9;
    let (found, reads) = memory.reads_of(|| get(&memory, root.link(), &id(77)).expect("sound"));
    assert_eq!(found.map(|(_, found)| found), Some(object(&id(77), 0)));
    assert!(reads <= levels + 1, "{reads} reads to get a node");

    let (update, reads) = memory.reads_of(|| update(&memory, root.link(), [change(&id(77), Some(1))].into()));
    assert!(reads <= levels + 1, "{reads} reads to update a node");
    assert_eq!(update.expect("sound").effects, [(id(77), Effect::Modified)]);

    let (left, _) = memory.merge(&[root], [change(&id(77), Some(1))].into());
    let (right, _) = memory.merge(&[root], [change(&id(1234), Some(1)), change(&id("new"), Some(0))].into());
    let (found, reads) = memory.reads_of(|| memory.diff(left, right));
    assert_eq!(found.len(), 3);
    assert!(reads <= 3 * 2 * (levels + 1), "{reads} reads to compare");
    assert_eq!(memory.reads_of(|| memory.diff(left, left)), (vec![], 0));

    let taken = [change(&id(1234), Some(1)), change(&id("new"), Some(0))].into();
    let mut tree = super::update(&memory, left.link(), taken).expect("sound").tree;
    let (adopted, reads) = memory.reads_of(|| adopt(&memory, &mut tree, right.link()));
    assert_eq!(adopted, Ok(()));
    assert!(reads <= 2 * levels, "{reads} reads to adopt");
    let before = memory.records.len();
    write(&mut memory, tree).expect("sound");
    assert!(memory.records.len() - before <= 4, "inner nodes where both sides changed something");
}

#[test]
fn a_node_that_was_written_twice_is_no_difference_and_its_id_is_not_read() {
    let mut memory = Memory::default();
    let (one, _) = memory.commit(Root::Empty, &vec![(0, Some(0)), (1, Some(0))]);
    let (two, _) = memory.commit(Root::Empty, &vec![(0, Some(0)), (1, Some(0))]);
    assert_eq!(memory.reads_of(|| memory.diff(one, two)), (vec![], 2));
}

#[test]
fn a_walk_over_all_records_visits_each_once_and_one_that_leads_to_another_first() {
    let (memory, root) = large(9);
    let mut visited = Vec::new();
    let visit = |link| {
        visited.push(link);
        Ok(())
    };
    links(&memory, root.link(), visit).expect("sound");
    let mut open: Vec<_> = root.link().into_iter().collect();
    for link in &visited {
        assert_eq!(open.pop(), Some(*link));
        if let Link::Inner { number, .. } = *link {
            open.extend(memory.inner(number).expect("sound").children.into_iter().flatten().rev());
        }
    }
    assert!(open.is_empty());
    let nodes = visited.iter().filter(|link| matches!(link, Link::Node { .. })).count();
    assert_eq!(nodes, memory.leaves(root).len());
}

#[test]
fn an_error_of_the_visitor_ends_a_walk() {
    let (memory, root) = large(9);
    let mut visited = 0;
    let mut stop = |_| {
        visited += 1;
        if visited == 3 { Err(Fault::Record(0)) } else { Ok(()) }
    };
    assert_eq!(leaves(&memory, root.link(), &mut stop), Err(Fault::Record(0)));
    assert_eq!(diff(&memory, None, root.link(), |_, _| Err(Fault::Record(1))), Err(Fault::Record(1)));
    assert_eq!(visited, 3);
}

/// A sound record of a node, an inner node, and a chain of `length` inner nodes that leads to it along the key of `id`.
fn chain(id: &NodeId, length: usize) -> (Memory, Option<Link>) {
    let mut memory = Memory::default();
    let object = object(id, 0);
    let leaf = Link::Node { number: memory.push(Record::Node(id.clone(), object)), object };
    memory.push(Record::Inner(Inner { children: [Some(leaf); 4] }.encode(2)));
    for level in (0..length).rev() {
        memory.push(Record::Inner(vec![0x11 << Key::of(id).slot(level), 1]));
    }
    let top = Link::Inner { number: memory.records.len() as u64, id: None };
    (memory, Some(top))
}

#[test]
fn a_state_deeper_than_its_keys_is_refused() {
    let id = id("0");
    let (memory, top) = chain(&id, Key::LEVELS - 1);
    assert_eq!(get(&memory, top, &id), Ok(Some((1, object(&id, 0)))));

    let (mut memory, top) = chain(&id, Key::LEVELS);
    let fault = Err(Fault::Misplaced(2));
    assert_eq!(get(&memory, top, &id).map(|_| ()), fault);
    assert_eq!(link_id(&memory, Link::Inner { number: memory.records.len() as u64, id: None }).map(|_| ()), fault);
    assert_eq!(leaves(&memory, top, |_| Ok(())), fault);
    assert_eq!(update(&memory, top, [change(&id, None)].into()).map(|_| ()), fault);
    assert_eq!(diff(&memory, None, top, |_, _| Ok(())), fault);
    let mut tree = update(&memory, None, [change(&id, Some(2))].into()).expect("sound").tree;
    assert_eq!(adopt(&memory, &mut tree, top), fault);

    let object = object(&id, 1);
    let number = memory.push(Record::Node(id, object));
    let leaf = Some(Link::Node { number, object });
    assert_eq!(diff(&memory, top, leaf, |_, _| Ok(())), fault);
    assert_eq!(diff(&memory, leaf, top, |_, _| Ok(())), Err(Fault::Misplaced(number)));
}

#[test]
fn an_update_refuses_a_leaf_outside_of_its_slots() {
    for wrong in ["2", "1", "104", "0"] {
        let mut memory = Memory::default();
        memory.commit(Root::Empty, &vec![(0, Some(0)), (9, Some(0))]);
        let place =
            memory.records.iter_mut().find(|record| matches!(record, Record::Node(id, _) if id.as_str() == "26"));
        let object = object(&id("26"), 0);
        *place.expect("written") = Record::Node(id(wrong), object);
        let root = Some(Link::Inner { number: memory.records.len() as u64 - 1, id: None });
        let changed = update(&memory, root, [change(&id("26"), Some(1))].into());
        assert!(matches!(changed, Err(Fault::Misplaced(1 | 2))), "{wrong}");
    }
}

#[test]
fn a_missing_record_is_the_error_of_its_source() {
    let (mut memory, root) = large(9);
    let Root::Inner { number, .. } = root else { panic!("an inner node") };
    memory.records[number as usize - 1] = Record::Commit;
    let fault = Fault::Record(number);
    assert_eq!(get(&memory, root.link(), &id(1)).as_ref(), Err(&fault));
    assert_eq!(update(&memory, root.link(), [change(&id(1), None)].into()).map(|_| ()).as_ref(), Err(&fault));
    assert_eq!(leaves(&memory, root.link(), |_| Ok(())).as_ref(), Err(&fault));
}

proptest! {
    #[test]
    fn a_state_follows_from_its_map_alone(history in history()) {
        let mut memory = Memory::default();
        let (mut root, mut map) = (Root::Empty, Map::new());
        for batch in &history {
            let (before, written) = (map.clone(), memory.records.len());
            apply_to_map(&mut map, batch);
            let parent = root;
            let (next, effects) = memory.commit(parent, batch);
            root = next;
            prop_assert_eq!(&effects, &map_diff(&before, &map));
            if effects.is_empty() {
                prop_assert_eq!(root, parent);
                prop_assert_eq!(memory.records.len(), written + 1);
            }
            let count = map.len() as u64;
            prop_assert_eq!(root.state_id(count), state_by_definition(&map));
            let (fresh, _) = Memory::default().merge(&[Root::Empty], map.iter().map(|(id, v)| change(id, Some(*v))).collect());
            prop_assert_eq!(fresh.state_id(count), root.state_id(count));
            for text in IDS {
                let found = get(&memory, root.link(), &id(text)).expect("sound");
                prop_assert_eq!(found.map(|(_, found)| found), map.get(&id(text)).map(|v| object(&id(text), *v)));
            }
            let mut expected: Vec<_> = map.iter().map(|(id, version)| (bits(id), object(id, *version))).collect();
            expected.sort();
            let found: Vec<_> = memory.leaves(root).into_iter().map(|(_, object)| object).collect();
            prop_assert_eq!(found, expected.into_iter().map(|(_, object)| object).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_diff_is_that_of_the_maps(history in history(), forks in proptest::collection::vec(0..8usize, 8)) {
        let mut memory = Memory::default();
        let mut states = vec![(Root::Empty, Map::new())];
        for (batch, fork) in history.iter().zip(forks) {
            let (parent, mut map) = states[fork % states.len()].clone();
            apply_to_map(&mut map, batch);
            let (root, _) = memory.commit(parent, batch);
            states.push((root, map));
        }
        for (old, old_map) in &states {
            for (new, new_map) in &states {
                let mut found = Vec::new();
                for (old, new) in memory.diff(*old, *new) {
                    let (number, node) = old.or(new).expect("one of them");
                    let id = memory.node_id(number, node).expect("sound");
                    for (leaf, map) in [(old, old_map), (new, new_map)] {
                        prop_assert_eq!(leaf.map(|(_, found)| found), map.get(&id).map(|v| object(&id, *v)));
                    }
                    found.push((id, match (old, new) {
                        (None, _) => Effect::Added,
                        (_, None) => Effect::Removed,
                        (Some(_), Some(_)) => Effect::Modified,
                    }));
                }
                let mut expected = map_diff(old_map, new_map);
                expected.sort_by_key(|(id, _)| bits(id));
                prop_assert_eq!(found, expected);
            }
        }
    }

    #[test]
    fn a_merge_keeps_the_records_of_the_first_parent_that_has_them(
        base in batch(),
        sides in proptest::collection::vec((batch(), batch()), 2..4),
        picks in proptest::collection::vec(0..5usize, IDS.len()),
    ) {
        let mut memory = Memory::default();
        let (base_root, _) = memory.commit(Root::Empty, &base);
        let mut base_map = Map::new();
        apply_to_map(&mut base_map, &base);
        let (mut parents, mut maps) = (vec![], vec![]);
        for (first, second) in &sides {
            let (root, _) = memory.commit(base_root, first);
            let (root, _) = memory.commit(root, second);
            let mut map = base_map.clone();
            apply_to_map(&mut map, first);
            apply_to_map(&mut map, second);
            parents.push(root);
            maps.push(map);
        }
        let mut merged = Map::new();
        for (text, pick) in IDS.into_iter().zip(picks) {
            let from = if pick == 4 { Some(9) } else { maps[pick % maps.len()].get(&id(text)).copied() };
            merged.extend(from.map(|version| (id(text), version)));
        }
        let wanted = IDS.into_iter().map(|text| change(&id(text), merged.get(&id(text)).copied())).collect();
        let start = memory.records.len() as u64;
        let (root, effects) = memory.merge(&parents, wanted);
        prop_assert_eq!(root.state_id(merged.len() as u64), state_by_definition(&merged));
        prop_assert_eq!(effects, map_diff(&maps[0], &merged));

        let mut new = 0;
        for (id, version) in &merged {
            let (number, object) = get(&memory, root.link(), id).expect("sound").expect("present");
            let holder = parents.iter().zip(&maps).find(|(_, map)| map.get(id) == Some(version));
            match holder {
                Some((parent, _)) => prop_assert_eq!(get(&memory, parent.link(), id), Ok(Some((number, object)))),
                None => prop_assert!(number > start),
            }
            new += usize::from(holder.is_none());
        }
        let mut inners = BTreeMap::new();
        memory.inners(root.link(), &[], &mut inners);
        for (path, (number, children)) in inners {
            let holder = parents.iter().find_map(|parent| {
                let mut theirs = BTreeMap::new();
                memory.inners(parent.link(), &[], &mut theirs);
                theirs.get(&path).filter(|theirs| theirs.1 == children).map(|theirs| theirs.0)
            });
            match holder {
                Some(kept) => prop_assert_eq!(number, kept),
                None => prop_assert!(number > start),
            }
            new += usize::from(holder.is_none());
        }
        prop_assert_eq!(memory.records.len(), start as usize + new + 1, "nothing else is written");
    }
}
