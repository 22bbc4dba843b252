//! Inner nodes of a state: what their records hold, and their ids.

use super::bytes::{Reader, push_varint};
use super::{DecodeError, ObjectId, sha256};

/// How many children an inner node has room for: each level takes two bits of the key.
pub(super) const SLOTS: usize = 4;

/// The distance at which an inner child's id is left out: whoever wants it reads the record next door.
const NEXT_DOOR: u64 = 1;

/// Where a part of a state lies, and its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// A subtree of one entry.
    Node {
        /// The node's record.
        number: u64,
        /// The node's id as an object.
        object: ObjectId,
    },
    /// A subtree of more than one entry.
    Inner {
        /// The inner node's record.
        number: u64,
        /// Its id; `None` where the record that links to it leaves it out.
        id: Option<ObjectId>,
    },
}

impl Link {
    /// The number of the record.
    pub const fn number(self) -> u64 {
        match self {
            Self::Node { number, .. } | Self::Inner { number, .. } => number,
        }
    }

    /// The id of what the record holds; `None` where it was left out.
    pub const fn id(self) -> Option<ObjectId> {
        match self {
            Self::Node { object, .. } => Some(object),
            Self::Inner { id, .. } => id,
        }
    }
}

/// An inner node of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inner {
    /// What stands in each slot.
    pub children: [Option<Link>; SLOTS],
}

impl Inner {
    /// Low four bits: the slot is occupied, slot 0 the lowest; high four: it holds an inner node.
    pub fn mask(&self) -> u8 {
        self.children.iter().zip(0..).fold(0, |mask, (child, slot)| match child {
            None => mask,
            Some(Link::Node { .. }) => mask | 1 << slot,
            Some(Link::Inner { .. }) => mask | 0x11 << slot,
        })
    }

    /// SHA-256 over `inner 1\0`, the mask and the ids of the children; `None` where one of these was left out.
    pub fn id(&self) -> Option<ObjectId> {
        let mut ids: [&[u8]; SLOTS] = [&[]; SLOTS];
        for (child, id) in self.children.iter().zip(&mut ids) {
            match child {
                None => {}
                Some(Link::Node { object, .. }) => *id = object.as_bytes(),
                Some(Link::Inner { id: known, .. }) => *id = known.as_ref()?.as_bytes(),
            }
        }
        let [first, second, third, fourth] = ids;
        Some(ObjectId::from_bytes(sha256(&[b"inner 1\0", &[self.mask()], first, second, third, fourth])))
    }

    /// Writes what the record `number` holds: the mask, then for each child the distance to its record as a LEB128
    /// number and its id, which is left out for an inner node at distance 1.
    ///
    /// Children must lie before `number` and have their ids.
    pub fn encode(&self, number: u64) -> Vec<u8> {
        let mut out = Vec::with_capacity(1 + SLOTS * (3 + 32));
        out.push(self.mask());
        for child in self.children.iter().flatten() {
            let distance = number.checked_sub(child.number()).filter(|distance| *distance > 0);
            let distance = distance.expect("children are recorded before their parent");
            push_varint(&mut out, distance);
            match child {
                Link::Inner { .. } if distance == NEXT_DOOR => {}
                Link::Node { .. } | Link::Inner { .. } => {
                    out.extend_from_slice(child.id().expect("an id is left out at distance 1 only").as_bytes());
                }
            }
        }
        out
    }

    /// Reads what the record `number` holds; refuses whatever [`Inner::encode`] would have written otherwise, and what
    /// no state has: an inner node without a child, or with one node as its only child.
    pub fn decode(payload: &[u8], number: u64) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(payload);
        let mask = reader.byte()?;
        let (occupied, inner) = (mask & 0xf, mask >> 4);
        if inner & !occupied != 0 {
            return Err(DecodeError::NotCanonical("an inner node in an empty slot"));
        }
        if inner == 0 && occupied.count_ones() < 2 {
            return Err(DecodeError::NotCanonical("an inner node over less than two nodes"));
        }
        let mut children = [None; SLOTS];
        for (slot, child) in children.iter_mut().enumerate() {
            if occupied >> slot & 1 == 0 {
                continue;
            }
            let distance = reader.varint()?;
            let number = number.checked_sub(distance).filter(|number| distance > 0 && *number > 0);
            let number = number.ok_or(DecodeError::NotCanonical("a child that is not recorded before its parent"))?;
            *child = Some(if inner >> slot & 1 == 0 {
                Link::Node { number, object: ObjectId::from_bytes(reader.array()?) }
            } else if distance == NEXT_DOOR {
                Link::Inner { number, id: None }
            } else {
                Link::Inner { number, id: Some(ObjectId::from_bytes(reader.array()?)) }
            });
        }
        reader.finish()?;
        Ok(Self { children })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ID: [u8; 32] = [7; 32];

    fn node(number: u64) -> Option<Link> {
        Some(Link::Node { number, object: ObjectId::from_bytes(ID) })
    }

    fn inner(number: u64) -> Option<Link> {
        Some(Link::Inner { number, id: Some(ObjectId::from_bytes(ID)) })
    }

    fn record(parts: &[&[u8]]) -> Vec<u8> {
        parts.concat()
    }

    #[test]
    fn the_bytes_of_a_record_are_fixed() {
        let children = [node(299), None, inner(100), inner(299)];
        let bytes = record(&[&[0b1100_1101, 1], &ID, &[200, 1], &ID, &[1]]);
        assert_eq!(Inner { children }.encode(300), bytes);
        let left_out = Some(Link::Inner { number: 299, id: None });
        assert_eq!(Inner::decode(&bytes, 300), Ok(Inner { children: [node(299), None, inner(100), left_out] }));
    }

    #[test]
    fn the_id_is_that_of_mask_and_ids_and_needs_them_all() {
        let id = ObjectId::from_bytes(sha256(&[b"inner 1\0", &[0b1000_1001], &[7; 64]]));
        assert_eq!(Inner { children: [node(1), None, None, inner(2)] }.id(), Some(id));
        assert_eq!(Inner { children: [node(1), None, None, Some(Link::Inner { number: 2, id: None })] }.id(), None);
    }

    #[test]
    fn whatever_is_not_canonical_is_refused() {
        let good = record(&[&[0b0010_0011, 8], &ID, &[7], &ID]);
        assert_eq!(Inner::decode(&good, 9), Ok(Inner { children: [node(1), inner(2), None, None] }));
        assert!(Inner::decode(&[0b0001_0001, 1], 9).is_ok(), "an inner node may be the only child");
        for (bad, why) in [
            (record(&[&[0b0110_0011, 8], &ID, &[7], &ID]), "an inner node in an empty slot"),
            (vec![0], "no child"),
            (record(&[&[0b0000_0100, 8], &ID]), "a node as the only child"),
            (record(&[&[0b0010_0011, 0], &ID, &[7], &ID]), "a node at distance 0"),
            (record(&[&[0b0010_0011, 8], &ID, &[0], &ID]), "an inner node at distance 0"),
            (record(&[&[0b0010_0011, 9], &ID, &[7], &ID]), "a distance to the number 0, which no record has"),
            (record(&[&[0b0010_0011, 10], &ID, &[7], &ID]), "a distance beyond the first record"),
            (record(&[&[0b0010_0011, 0x88, 0], &ID, &[7], &ID]), "a long number"),
            (record(&[&[0b0010_0011, 8], &ID, &[1], &ID]), "an id that must be left out"),
            (record(&[&good, &[0]]), "bytes behind the end"),
        ] {
            assert!(Inner::decode(&bad, 9).is_err(), "{why}");
        }
        for end in 0..good.len() {
            assert!(Inner::decode(&good[..end], 9).is_err(), "cut at {end}");
        }
    }

    #[test]
    #[should_panic(expected = "children are recorded before their parent")]
    fn a_child_at_its_parents_number_is_never_written() {
        Inner { children: [node(9), node(8), None, None] }.encode(9);
    }

    fn children() -> impl Strategy<Value = [Option<Link>; SLOTS]> {
        let link = (1..1000u64, any::<[u8; 32]>(), any::<bool>()).prop_map(|(number, id, is_inner)| {
            let id = ObjectId::from_bytes(id);
            let left_out = is_inner && number == 999;
            if is_inner {
                Link::Inner { number, id: (!left_out).then_some(id) }
            } else {
                Link::Node { number, object: id }
            }
        });
        let links = proptest::array::uniform4(proptest::option::of(link));
        links.prop_filter("an inner node", |all| {
            let inner = Inner { children: *all };
            inner.mask() >> 4 != 0 || inner.mask().count_ones() > 1
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(children in children()) {
            let inner = Inner { children };
            prop_assert_eq!(Inner::decode(&inner.encode(1000), 1000), Ok(inner));
        }

        #[test]
        fn what_is_read_is_written(children in children(), at in 0..140usize, byte in any::<u8>()) {
            let mut bytes = Inner { children }.encode(1000);
            if let Some(place) = bytes.get_mut(at) {
                *place = byte;
            }
            if let Ok(inner) = Inner::decode(&bytes, 1000) {
                prop_assert_eq!(inner.encode(1000), bytes);
            }
        }
    }
}
