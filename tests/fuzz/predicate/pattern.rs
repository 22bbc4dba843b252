//! Id patterns by their description, matched by the places that can be reached.

use crate::node::is_id;

/// What a piece of a pattern matches.
enum Piece {
    One(char),
    /// One character but `/`.
    Any,
    /// One character of these, or of all others, but never `/`.
    Class(bool, Vec<(char, char)>),
    /// Any run without `/`.
    Run,
    /// Any run.
    Deep,
    /// Nothing, or any run that ends with `/`.
    Parts,
}

pub struct Pattern(Vec<Piece>);

impl Pattern {
    pub fn read(text: &str) -> Option<Self> {
        if !is_id(text) {
            return None;
        }
        let chars: Vec<_> = text.chars().collect();
        let mut pieces: Vec<Piece> = Vec::new();
        if !chars.iter().any(|c| matches!(c, '*' | '?' | '[')) {
            pieces.extend(chars.into_iter().map(Piece::One));
        } else {
            let mut at = 0;
            while at < chars.len() {
                let starts_part = matches!(pieces.last(), None | Some(Piece::One('/') | Piece::Parts));
                let (piece, length) = piece(&chars[at..], starts_part)?;
                pieces.push(piece);
                at += length;
            }
        }
        // What is a literal in the end must be an id, or all below it.
        let literal: Option<String> =
            pieces.iter().map(|piece| if let Piece::One(c) = piece { Some(*c) } else { None }).collect();
        let below = matches!(pieces.last(), Some(Piece::One('/') | Piece::Parts));
        if literal.is_some_and(|literal| !below && !is_id(&literal)) {
            return None;
        }
        if below {
            pieces.push(Piece::Deep);
        }
        Some(Self(pieces))
    }

    pub fn matches(&self, id: &str) -> bool {
        let chars: Vec<_> = id.chars().collect();
        let mut reached = vec![false; chars.len() + 1];
        reached[0] = true;
        for piece in &self.0 {
            let mut next = vec![false; chars.len() + 1];
            for from in (0..=chars.len()).filter(|from| reached[*from]) {
                let ends = from..=chars.len();
                ends.filter(|to| piece.matches(&chars[from..*to])).for_each(|to| next[to] = true);
            }
            reached = next;
        }
        reached[chars.len()]
    }
}

impl Piece {
    fn matches(&self, run: &[char]) -> bool {
        match (self, run) {
            (Self::One(c), [found]) => c == found,
            (Self::Any, [found]) => *found != '/',
            (Self::Class(negated, ranges), [found]) => {
                *found != '/' && *negated != ranges.iter().any(|(first, last)| first <= found && found <= last)
            }
            (Self::One(_) | Self::Any | Self::Class(..), _) => false,
            (Self::Run, run) => !run.contains(&'/'),
            (Self::Deep, _) => true,
            (Self::Parts, run) => matches!(run.last(), None | Some('/')),
        }
    }
}

/// The first piece of a glob, and how many characters spell it.
fn piece(chars: &[char], starts_part: bool) -> Option<(Piece, usize)> {
    Some(match chars {
        ['*', '*', ..] => {
            let stars = chars.iter().take_while(|c| **c == '*').count();
            match starts_part && chars.get(stars) == Some(&'/') {
                true => (Piece::Parts, stars + 1),
                false => (Piece::Deep, stars),
            }
        }
        ['*', ..] => (Piece::Run, 1),
        ['?', ..] => (Piece::Any, 1),
        ['\\', rest @ ..] => (Piece::One(*rest.first()?), 2),
        ['[', rest @ ..] => {
            let negated = matches!(rest, ['!' | '^', ..]);
            let mut at = usize::from(negated);
            let mut ranges = Vec::new();
            while ranges.is_empty() || rest.get(at) != Some(&']') {
                let (first, length) = class_char(rest.get(at..)?)?;
                at += length;
                let mut last = first;
                if rest.get(at) == Some(&'-') && rest.get(at + 1) != Some(&']') {
                    let (end, length) = class_char(rest.get(at + 1..)?)?;
                    last = end;
                    at += 1 + length;
                }
                ranges.push((first, last));
                if last < first {
                    return None;
                }
            }
            let piece = match (negated, &ranges[..]) {
                (false, [(first, last)]) if first == last && *first != '/' => Piece::One(*first),
                (_, _) => Piece::Class(negated, ranges),
            };
            (piece, at + 2)
        }
        [c, ..] => (Piece::One(*c), 1),
        [] => return None,
    })
}

/// One character of a class, and how many spell it.
fn class_char(chars: &[char]) -> Option<(char, usize)> {
    match chars {
        ['\\', rest @ ..] => Some((*rest.first()?, 2)),
        [c, ..] => Some((*c, 1)),
        [] => None,
    }
}
