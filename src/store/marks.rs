//! A search for the first bad commit that goes on by hand, as a session's row holds it: what was said, and never what comes
//! of it, which is worked out anew each time.

use super::record::Number;
use crate::object::{DecodeError, Reader, push_bytes, push_varint};

/// What was said of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marked {
    /// It is good.
    Good,
    /// It is bad.
    Bad,
    /// It cannot be tested.
    Skip,
}

/// A search by hand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// What good and bad are called, where it is not that.
    pub terms: Option<(String, String)>,
    /// Whether only first parents are followed.
    pub first_parent: bool,
    /// Only commits that changed such a node, as the patterns were given.
    pub patterns: Vec<String>,
    /// Whether `*`, `?` and `[` in them stand for themselves.
    pub literal: bool,
    /// What each command said, in their order.
    pub said: Vec<(Marked, Vec<Number>)>,
}

const GOOD: u8 = 1;
const BAD: u8 = 2;
const SKIP: u8 = 3;

impl Marks {
    /// All commits of which this was said.
    pub fn of(&self, marked: Marked) -> Vec<Number> {
        let said = self.said.iter().filter(|(kind, _)| *kind == marked);
        said.flat_map(|(_, numbers)| numbers.iter().copied()).collect()
    }

    /// Writes the field of a session's row.
    pub(super) fn encode(&self) -> Vec<u8> {
        let Self { terms, first_parent, patterns, literal, said } = self;
        let mut out = vec![u8::from(*first_parent), u8::from(*literal), u8::from(terms.is_some())];
        for term in terms.iter().flat_map(|(good, bad)| [good, bad]) {
            push_bytes(&mut out, term.as_bytes());
        }
        push_varint(&mut out, patterns.len() as u64);
        for pattern in patterns {
            push_bytes(&mut out, pattern.as_bytes());
        }
        for (marked, numbers) in said {
            out.push(match marked {
                Marked::Good => GOOD,
                Marked::Bad => BAD,
                Marked::Skip => SKIP,
            });
            push_varint(&mut out, numbers.len() as u64);
            numbers.iter().for_each(|number| push_varint(&mut out, *number));
        }
        out
    }

    /// Reads what [`Marks::encode`] wrote.
    pub(super) fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes);
        let flag = |reader: &mut Reader<'_>| Ok::<_, DecodeError>(reader.byte()? == 1);
        let (first_parent, literal, has_terms) = (flag(&mut reader)?, flag(&mut reader)?, flag(&mut reader)?);
        let terms = match has_terms {
            true => Some((reader.text()?.to_owned(), reader.text()?.to_owned())),
            false => None,
        };
        let count = reader.varint()?;
        let patterns = (0..count).map(|_| reader.text().map(str::to_owned)).collect::<Result<_, _>>()?;
        let mut said = Vec::new();
        while !reader.is_empty() {
            let marked = match reader.byte()? {
                GOOD => Marked::Good,
                BAD => Marked::Bad,
                SKIP => Marked::Skip,
                unknown => return Err(DecodeError::UnknownRecord(unknown)),
            };
            said.push((marked, (0..reader.varint()?).map(|_| reader.varint()).collect::<Result<_, _>>()?));
        }
        Ok(Self { terms, first_parent, patterns, literal, said })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_comes_back() {
        let said = vec![(Marked::Bad, vec![300]), (Marked::Good, vec![1, 2]), (Marked::Skip, vec![])];
        let all = [
            Marks::default(),
            Marks { said: said.clone(), ..Marks::default() },
            Marks {
                terms: Some(("fast".into(), "slow".into())),
                first_parent: true,
                patterns: vec!["a*".into(), String::new()],
                literal: true,
                said,
            },
        ];
        for marks in all {
            assert_eq!(Marks::decode(&marks.encode()), Ok(marks));
        }
        assert_eq!(Marks::decode(&[0, 0, 0, 0, 9, 0]), Err(DecodeError::UnknownRecord(9)));
        assert!(Marks::decode(&[0, 0, 0]).is_err() && Marks::decode(&[0, 0, 0, 0, 1, 1]).is_err());
    }
}
