//! JSON values of which each leaf says which commit brought it.

use crate::script::{At, Dice, Fresh};

/// Keys that a pointer has to escape are among them.
const KEYS: [&str; 7] = ["a", "b", "c", "x/y", "t~z", "", "é"];

/// A value.
#[derive(Clone, Debug)]
pub enum Tree {
    Scalar {
        token: String,
        at: At,
    },
    /// The items stand in the order of their keys, in every version of the array.
    Array {
        items: Vec<(u128, Tree)>,
        empty_since: At,
    },
    Object {
        members: Vec<(String, Tree)>,
        empty_since: At,
    },
}

/// A leaf of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// Its RFC 6901 pointer.
    pub path: String,
    pub token: String,
    pub at: At,
}

/// A key between those of the neighbours at `place`, where there is room.
pub fn key_at(place: usize, keys: &[u128]) -> Option<u128> {
    let before = place.checked_sub(1).map_or(0, |at| keys[at]);
    let after = keys.get(place).copied().unwrap_or(u128::MAX);
    let middle = before + (after - before) / 2;
    (middle > before).then_some(middle)
}

fn scalar(fresh: &mut Fresh) -> Tree {
    Tree::Scalar { token: fresh.token(), at: fresh.at }
}

/// A small value of which nothing was there before.
fn small(dice: &mut Dice, fresh: &mut Fresh, may_be_empty: bool) -> Tree {
    let empty_since = fresh.at;
    match dice.roll(10) {
        0 if may_be_empty => Tree::Array { items: vec![], empty_since },
        1 if may_be_empty => Tree::Object { members: vec![], empty_since },
        2 => array(dice, fresh, 3, |_, fresh| scalar(fresh)),
        3 => Tree::Object {
            members: vec![("n".to_owned(), scalar(fresh)), ("m".to_owned(), scalar(fresh))],
            empty_since,
        },
        _ => scalar(fresh),
    }
}

fn array(dice: &mut Dice, fresh: &mut Fresh, most: usize, item: fn(&mut Dice, &mut Fresh) -> Tree) -> Tree {
    let count = 1 + dice.roll(most);
    let step = u128::MAX / (count as u128 + 1);
    let items = (1..=count).map(|nth| (step * nth as u128, item(dice, fresh))).collect();
    Tree::Array { items, empty_since: fresh.at }
}

/// A value of some size of which nothing was there before.
pub fn large(dice: &mut Dice, fresh: &mut Fresh) -> Tree {
    let record = |dice: &mut Dice, fresh: &mut Fresh| match small(dice, fresh, false) {
        Tree::Scalar { .. } => {
            let members = vec![("id".to_owned(), scalar(fresh)), ("of".to_owned(), scalar(fresh))];
            Tree::Object { members, empty_since: fresh.at }
        }
        other => other,
    };
    match dice.roll(6) {
        0 => Tree::Scalar { token: fresh.number(), at: fresh.at },
        1 => array(dice, fresh, 6, |_, fresh| scalar(fresh)),
        2 => array(dice, fresh, 5, record),
        _ => {
            let mut members: Vec<_> = KEYS.map(|key| (key.to_owned(), small(dice, fresh, true))).into();
            members.rotate_left(dice.roll(KEYS.len()));
            members.truncate(3 + dice.roll(4));
            members.push(("list".to_owned(), array(dice, fresh, 5, record)));
            Tree::Object { members, empty_since: fresh.at }
        }
    }
}

impl Tree {
    /// Replaces what is at a place, brings something in or takes something away; once, somewhere in the value.
    /// Nothing below an array is ever empty, so that its items can be told apart.
    pub fn edit(&mut self, dice: &mut Dice, fresh: &mut Fresh, in_array: bool) {
        let empty = in_array || dice.roll(8) > 0;
        match self {
            Self::Scalar { .. } => *self = Self::Scalar { token: fresh.number(), at: fresh.at },
            Self::Array { items, empty_since } => match (dice.roll(5), items.len()) {
                (0 | 1, _) | (_, 0) => {
                    let place = dice.roll(items.len() + 1);
                    let keys: Vec<_> = items.iter().map(|(key, _)| *key).collect();
                    if let Some(key) = key_at(place, &keys) {
                        items.insert(place, (key, small(dice, fresh, false)));
                    }
                }
                (2, length) if length > 1 || !empty => {
                    items.remove(dice.roll(length));
                    *empty_since = fresh.at;
                }
                (_, length) => items[dice.roll(length)].1.change(dice, fresh, true),
            },
            Self::Object { members, empty_since } => match (dice.roll(6), members.len()) {
                (0, _) | (_, 0) => {
                    let key = KEYS[dice.roll(KEYS.len())];
                    if members.iter().all(|(other, _)| other != key) {
                        let place = dice.roll(members.len() + 1);
                        members.insert(place, (key.to_owned(), small(dice, fresh, !in_array)));
                    }
                }
                (1, length) if length > 1 || !empty => {
                    members.remove(dice.roll(length));
                    *empty_since = fresh.at;
                }
                (2, length) => members.rotate_left(dice.roll(length)),
                (_, length) => members[dice.roll(length)].1.change(dice, fresh, in_array),
            },
        }
    }

    /// Changes a value that is in another: mostly within it, where it has an inside.
    fn change(&mut self, dice: &mut Dice, fresh: &mut Fresh, in_array: bool) {
        match self {
            Self::Array { .. } | Self::Object { .. } if dice.roll(5) > 0 => self.edit(dice, fresh, in_array),
            Self::Array { .. } | Self::Object { .. } => *self = scalar(fresh),
            Self::Scalar { .. } => *self = small(dice, fresh, !in_array),
        }
    }

    /// The JSON text, with `gap` behind each comma and colon.
    pub fn json(&self, gap: &str) -> String {
        match self {
            Self::Scalar { token, .. } => token.clone(),
            Self::Array { items, .. } => {
                let items: Vec<_> = items.iter().map(|(_, item)| item.json(gap)).collect();
                format!("[{}]", items.join(&format!(",{gap}")))
            }
            Self::Object { members, .. } => {
                let members: Vec<_> =
                    members.iter().map(|(key, value)| format!("\"{key}\":{gap}{}", value.json(gap))).collect();
                format!("{{{}}}", members.join(&format!(",{gap}")))
            }
        }
    }

    /// The leaves in their order.
    pub fn leaves(&self) -> Vec<Leaf> {
        let mut found = Vec::new();
        self.collect("", &mut found);
        found
    }

    fn collect(&self, path: &str, found: &mut Vec<Leaf>) {
        let mut leaf = |token: &str, at| found.push(Leaf { path: path.to_owned(), token: token.to_owned(), at });
        match self {
            Self::Scalar { token, at } => leaf(token, *at),
            Self::Array { items, empty_since } if items.is_empty() => leaf("[]", *empty_since),
            Self::Object { members, empty_since } if members.is_empty() => leaf("{}", *empty_since),
            Self::Array { items, .. } => {
                for (nth, (_, item)) in items.iter().enumerate() {
                    item.collect(&format!("{path}/{nth}"), found);
                }
            }
            Self::Object { members, .. } => {
                for (key, value) in members {
                    value.collect(&format!("{path}/{}", key.replace('~', "~0").replace('/', "~1")), found);
                }
            }
        }
    }

    /// Says of the leaves in their order which commits brought them.
    pub fn set_origins(&mut self, origins: &mut impl Iterator<Item = At>) {
        match self {
            Self::Scalar { at, .. } => *at = origins.next().expect("one a leaf"),
            Self::Array { items, empty_since } if items.is_empty() => {
                *empty_since = origins.next().expect("one a leaf");
            }
            Self::Object { members, empty_since } if members.is_empty() => {
                *empty_since = origins.next().expect("one a leaf");
            }
            Self::Array { items, .. } => items.iter_mut().for_each(|(_, item)| item.set_origins(origins)),
            Self::Object { members, .. } => members.iter_mut().for_each(|(_, value)| value.set_origins(origins)),
        }
    }

    /// Which commits brought the leaves that `old` has in their place. `None` where it can be read in several ways what
    /// took the place of what.
    pub fn inherited(&self, old: &Self) -> Option<Vec<Option<At>>> {
        if self.json("") == old.json("") {
            return Some(old.leaves().iter().map(|leaf| Some(leaf.at)).collect());
        }
        let none = |value: &Self| vec![None; value.leaves().len()];
        let mut found = Vec::new();
        match (self, old) {
            (Self::Object { members, .. }, Self::Object { members: old, .. }) if !members.is_empty() => {
                for (key, value) in members {
                    match old.iter().find(|(other, _)| other == key) {
                        Some((_, old)) => found.extend(value.inherited(old)?),
                        None => found.extend(none(value)),
                    }
                }
            }
            (Self::Array { items, .. }, Self::Array { items: old, .. }) if !items.is_empty() => {
                let old: Vec<_> = old.iter().map(|(_, item)| (item.json(""), item)).collect();
                let new: Vec<_> = items.iter().map(|(_, item)| (item.json(""), item)).collect();
                let is_in = |side: &[(String, &Self)], text: &str| side.iter().any(|(other, _)| other == text);
                let (mut old_at, mut new_at) = (0, 0);
                while new_at < new.len() {
                    let old_run = old[old_at..].iter().take_while(|(text, _)| !is_in(&new, text)).count();
                    let new_run = new[new_at..].iter().take_while(|(text, _)| !is_in(&old, text)).count();
                    let (gone, come) = (&old[old_at..old_at + old_run], &new[new_at..new_at + new_run]);
                    let has_inside =
                        |side: &[(String, &Self)]| side.iter().any(|(_, item)| !matches!(item, Self::Scalar { .. }));
                    match (gone, come) {
                        ([(_, gone)], [(_, come)]) => found.extend(come.inherited(gone)?),
                        ([], _) | (_, []) => found.extend(come.iter().flat_map(|(_, item)| none(item))),
                        _ if has_inside(gone) && has_inside(come) => return None,
                        _ => found.extend(come.iter().flat_map(|(_, item)| none(item))),
                    }
                    (old_at, new_at) = (old_at + old_run, new_at + new_run);
                    if let (Some((text, same)), Some((other, _))) = (old.get(old_at), new.get(new_at)) {
                        assert_eq!(text, other, "items keep their order");
                        found.extend(same.leaves().iter().map(|leaf| Some(leaf.at)));
                        (old_at, new_at) = (old_at + 1, new_at + 1);
                    }
                }
            }
            _ => found = none(self),
        }
        Some(found)
    }
}
