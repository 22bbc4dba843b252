//! Whole states, and what differs between two.

use super::{Key, Leaf, Link, SLOTS, Source, read};

/// Visits each node below `root`, in the order of the keys.
pub fn leaves<S: Source>(
    source: &S,
    root: Option<Link>,
    visit: impl FnMut(Leaf) -> Result<(), S::Error>,
) -> Result<(), S::Error> {
    leaves_above(source, root, 0, visit)
}

/// Visits each node below `root` whose record has a larger number than `floor`, in the order of the keys.
///
/// An inner node is numbered behind all that it leads to, so one that is not above the floor is not read.
pub fn leaves_above<S: Source>(
    source: &S,
    root: Option<Link>,
    floor: u64,
    mut visit: impl FnMut(Leaf) -> Result<(), S::Error>,
) -> Result<(), S::Error> {
    links_above(source, root, floor, |link| match link {
        Link::Node { number, object } => visit((number, object)),
        Link::Inner { .. } => Ok(()),
    })
}

/// Visits each record below `root`, that of an inner node before those that it leads to.
pub fn links<S: Source>(
    source: &S,
    root: Option<Link>,
    visit: impl FnMut(Link) -> Result<(), S::Error>,
) -> Result<(), S::Error> {
    links_above(source, root, 0, visit)
}

fn links_above<S: Source>(
    source: &S,
    root: Option<Link>,
    floor: u64,
    mut visit: impl FnMut(Link) -> Result<(), S::Error>,
) -> Result<(), S::Error> {
    fn below<S: Source>(
        source: &S,
        link: Link,
        level: usize,
        floor: u64,
        visit: &mut impl FnMut(Link) -> Result<(), S::Error>,
    ) -> Result<(), S::Error> {
        if link.number() <= floor {
            return Ok(());
        }
        visit(link)?;
        match link {
            Link::Node { .. } => Ok(()),
            Link::Inner { number, .. } => {
                let inner = read(source, number, level)?;
                inner.children.into_iter().flatten().try_for_each(|child| below(source, child, level + 1, floor, visit))
            }
        }
    }
    root.map_or(Ok(()), |link| below(source, link, 0, floor, &mut visit))
}

/// Visits what differs between two states, in the order of the keys: the node of an id in each, where it has one.
///
/// What has one record in both is the same and is not read; so is a node that was written twice. Ids are read only of
/// nodes that differ, and of one that has moved to another level.
pub fn diff<S: Source>(
    source: &S,
    old: Option<Link>,
    new: Option<Link>,
    visit: impl FnMut(Option<Leaf>, Option<Leaf>) -> Result<(), S::Error>,
) -> Result<(), S::Error> {
    Diff { source, visit, last_key: None }.pair(old, new, 0)
}

struct Diff<'a, S, F> {
    source: &'a S,
    visit: F,
    /// The key that was read last, and of which record: a leaf that faces an inner node is asked for it at each level.
    last_key: Option<(u64, Key)>,
}

impl<S: Source, F: FnMut(Option<Leaf>, Option<Leaf>) -> Result<(), S::Error>> Diff<'_, S, F> {
    fn pair(&mut self, old: Option<Link>, new: Option<Link>, level: usize) -> Result<(), S::Error> {
        match (old, new) {
            (None, None) => Ok(()),
            (Some(old), Some(new)) if old.number() == new.number() => Ok(()),
            (Some(Link::Node { number, object }), None) => (self.visit)(Some((number, object)), None),
            (None, Some(Link::Node { number, object })) => (self.visit)(None, Some((number, object))),
            (Some(Link::Node { number: a, object: old }), Some(Link::Node { number: b, object: new })) => {
                self.leaves((a, old), (b, new))
            }
            (Some(Link::Inner { .. }), _) | (_, Some(Link::Inner { .. })) => {
                let (old, new) = (self.children(old, level)?, self.children(new, level)?);
                old.into_iter().zip(new).try_for_each(|(old, new)| self.pair(old, new, level + 1))
            }
        }
    }

    fn leaves(&mut self, old: Leaf, new: Leaf) -> Result<(), S::Error> {
        if old.1 == new.1 {
            return Ok(());
        }
        let (old_key, new_key) = (self.key(old)?, self.key(new)?);
        if old_key == new_key {
            return (self.visit)(Some(old), Some(new));
        }
        let mut events = [(Some(old), None), (None, Some(new))];
        if new_key < old_key {
            events.reverse();
        }
        events.into_iter().try_for_each(|(old, new)| (self.visit)(old, new))
    }

    /// What stands in the slots at `level`; a leaf stands in its own.
    fn children(&mut self, link: Option<Link>, level: usize) -> Result<[Option<Link>; SLOTS], S::Error> {
        match link {
            None => Ok([None; SLOTS]),
            Some(Link::Inner { number, .. }) => Ok(read(self.source, number, level)?.children),
            Some(Link::Node { number, .. }) if level >= Key::LEVELS => Err(self.source.misplaced(number)),
            Some(Link::Node { number, object }) => {
                let mut children = [None; SLOTS];
                children[self.key((number, object))?.slot(level)] = link;
                Ok(children)
            }
        }
    }

    fn key(&mut self, (number, object): Leaf) -> Result<Key, S::Error> {
        match self.last_key {
            Some((last, key)) if last == number => Ok(key),
            Some(_) | None => {
                let key = Key::of(&self.source.node_id(number, object)?);
                self.last_key = Some((number, key));
                Ok(key)
            }
        }
    }
}
