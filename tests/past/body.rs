//! What a node holds, with the commit that brought each part of it.

use crate::script::{At, Dice, Fresh};
use crate::tree::{Tree, key_at, large};
use mnemosyne::model::Content;

const GAPS: [&str; 3] = ["", " ", "\n\t"];

/// A line of a text.
#[derive(Clone, Debug)]
pub struct Line {
    /// Lines stand in the order of their keys, in every version of a text.
    key: u128,
    text: String,
    at: At,
}

/// What a node holds.
#[derive(Clone, Debug)]
pub enum Body {
    /// A text; whether a line feed is at its end.
    Text { lines: Vec<Line>, ended: bool },
    /// A JSON value; which of the gaps is between its tokens.
    Value { tree: Tree, gap: usize },
}

impl Body {
    /// One of which nothing was there before.
    pub fn fresh(dice: &mut Dice, fresh: &mut Fresh) -> Self {
        let count = match dice.roll(4) {
            0 | 1 => return Self::Value { tree: large(dice, fresh), gap: dice.roll(GAPS.len()) },
            2 => 1,
            _ => 2 + dice.roll(10),
        };
        let step = u128::MAX / (count as u128 + 1);
        let line = |nth: usize| Line { key: step * nth as u128, text: fresh.line(), at: fresh.at };
        let lines = (1..=count).map(line).collect();
        Self::Text { lines, ended: count > 1 && dice.roll(4) > 0 }
    }

    /// One edit of a value, or up to three of a text.
    pub fn edit(&mut self, dice: &mut Dice, fresh: &mut Fresh) {
        match self {
            Self::Value { gap, .. } if dice.roll(8) == 0 => *gap = (*gap + 1) % GAPS.len(),
            Self::Value { tree, .. } => tree.edit(dice, fresh, false),
            Self::Text { lines, ended } => {
                let before = bare(lines, *ended);
                for _ in 0..1 + dice.roll(3) {
                    edit_lines(lines, dice, fresh);
                }
                *ended ^= dice.roll(12) == 0;
                let after = bare(lines, *ended);
                // With or without its line feed a line is another.
                for text in [&before, &after].into_iter().flatten().filter(|_| before != after) {
                    lines.iter_mut().filter(|line| line.text == *text).for_each(|line| line.at = fresh.at);
                }
            }
        }
    }

    /// This one with some of what `other` has; `None` where they do not go together.
    pub fn combined(&self, other: &Self, dice: &mut Dice) -> Option<Self> {
        match (self, other) {
            (Self::Text { lines, ended }, Self::Text { lines: others, .. }) => {
                let mut lines = lines.clone();
                for line in others {
                    match lines.binary_search_by_key(&line.key, |own| own.key) {
                        Ok(place) if dice.roll(2) == 0 => lines[place] = line.clone(),
                        Err(place) if dice.roll(4) > 0 => lines.insert(place, line.clone()),
                        Ok(_) | Err(_) => {}
                    }
                }
                Some(Self::Text { lines, ended: *ended })
            }
            (
                Self::Value { tree: Tree::Object { members, empty_since }, gap },
                Self::Value { tree: Tree::Object { members: others, .. }, .. },
            ) => {
                let mut members = members.clone();
                for (key, value) in others.iter().filter(|_| dice.roll(2) == 0) {
                    match members.iter_mut().find(|(own, _)| own == key) {
                        Some((_, own)) => *own = value.clone(),
                        None => members.push((key.clone(), value.clone())),
                    }
                }
                let tree = Tree::Object { members, empty_since: *empty_since };
                Some(Self::Value { tree, gap: *gap })
            }
            _ => None,
        }
    }

    /// Takes the origin of each part from the first of `parents` that has it in its place, and else from `own`. Says
    /// whether there is only one way to do that.
    pub fn adopt(&mut self, parents: &[&Self], own: At) -> bool {
        let parts = self.parts().len();
        let mut origins = vec![None; parts];
        for parent in parents {
            let inherited = match (&*self, parent) {
                (Self::Text { .. }, Self::Text { .. }) => {
                    let theirs = parent.parts();
                    let origin =
                        |(text, _): &(String, At)| theirs.iter().find(|(other, _)| other == text).map(|(_, at)| *at);
                    self.parts().iter().map(origin).collect()
                }
                (Self::Value { tree, .. }, Self::Value { tree: theirs, .. }) => match tree.inherited(theirs) {
                    Some(inherited) => inherited,
                    None => return false,
                },
                _ => vec![None; parts],
            };
            assert_eq!(inherited.len(), parts);
            origins = origins.into_iter().zip(inherited).map(|(first, next)| first.or(next)).collect();
        }
        let mut origins = origins.into_iter().map(|origin| origin.unwrap_or(own));
        match self {
            Self::Text { lines, .. } => lines.iter_mut().zip(origins).for_each(|(line, origin)| line.at = origin),
            Self::Value { tree, .. } => tree.set_origins(&mut origins),
        }
        true
    }

    pub fn content(&self) -> Content {
        match self {
            Self::Text { .. } => {
                Content::from_text(&self.parts().into_iter().map(|(text, _)| text).collect::<String>())
            }
            Self::Value { tree, gap } => Content::from_json(&tree.json(GAPS[*gap])).expect("JSON"),
        }
    }

    /// The lines with their ends, or the leaves as `POINTER: TOKEN`, each with the commit that brought it.
    pub fn parts(&self) -> Vec<(String, At)> {
        match self {
            Self::Text { lines, ended } => {
                let end = |nth: usize| if nth + 1 < lines.len() || *ended { "\n" } else { "" };
                lines.iter().enumerate().map(|(nth, line)| (format!("{}{}", line.text, end(nth)), line.at)).collect()
            }
            Self::Value { tree, .. } => {
                tree.leaves().into_iter().map(|leaf| (format!("{}: {}", leaf.path, leaf.token), leaf.at)).collect()
            }
        }
    }
}

/// The last line, where no line feed is behind it.
fn bare(lines: &[Line], ended: bool) -> Option<String> {
    lines.last().filter(|_| !ended).map(|line| line.text.clone())
}

fn edit_lines(lines: &mut Vec<Line>, dice: &mut Dice, fresh: &mut Fresh) {
    let at = fresh.at;
    match (dice.roll(3), lines.len()) {
        (0, _) | (_, 0) => {
            let place = dice.roll(lines.len() + 1);
            let keys: Vec<_> = lines.iter().map(|line| line.key).collect();
            if let Some(key) = key_at(place, &keys) {
                lines.insert(place, Line { key, text: fresh.line(), at });
            }
        }
        (1, length) => {
            let line = &mut lines[dice.roll(length)];
            (line.text, line.at) = (fresh.line(), at);
        }
        (_, length) => drop(lines.remove(dice.roll(length))),
    }
}
