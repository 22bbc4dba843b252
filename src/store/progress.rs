//! What a session has begun and not finished, as its row holds it: what was asked for, and never what comes of it, which is
//! worked out anew each time. How conflicts are settled is staged.

use super::record::Number;
use crate::model::{NodeId, Provenance};
use crate::object::{DecodeError, Reader, push_bytes, push_varint};

/// A merge or a revert that waits for conflicts to be settled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Another commit is merged into HEAD.
    Merge {
        /// The other commit.
        theirs: Number,
        /// What it was called.
        name: String,
        /// What the commit is to say, where that was said.
        message: Option<String>,
    },
    /// Commits are undone one after the other.
    Revert {
        /// Where HEAD was before the first of them.
        start: Number,
        /// Where HEAD was left when the next one stopped.
        reached: Number,
        /// The one that stopped, and those to come.
        commits: Vec<Number>,
        /// To which parent merges go back, counted from 1; 0 where none was named.
        mainline: u64,
        /// What the commit is to say, where that was said.
        message: Option<String>,
    },
    /// What came from somewhere is undone.
    Undo(Undo),
}

/// What is to be taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undo {
    /// The fields that are set must be just these.
    pub provenance: Provenance,
    /// Of which nodes.
    pub ids: Vec<NodeId>,
    /// Of which commits; of all that HEAD has where there is none.
    pub commits: Vec<Number>,
    /// What the commit is to say.
    pub message: String,
}

const MERGE: u8 = 1;
const REVERT: u8 = 2;
const UNDO: u8 = 3;

impl Progress {
    /// Writes the field of a session's row: a kind, then what belongs to it in the order of the fields here. A number or a
    /// text that is not there is 0 or empty, a list is its length and its items.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            Self::Merge { theirs, name, message } => {
                out.push(MERGE);
                push_varint(&mut out, *theirs);
                push_bytes(&mut out, name.as_bytes());
                push_text(&mut out, message.as_deref());
            }
            Self::Revert { start, reached, commits, mainline, message } => {
                out.push(REVERT);
                push_varint(&mut out, *start);
                push_varint(&mut out, *reached);
                push_numbers(&mut out, commits);
                push_varint(&mut out, *mainline);
                push_text(&mut out, message.as_deref());
            }
            Self::Undo(Undo { provenance, ids, commits, message }) => {
                out.push(UNDO);
                for (_, value) in provenance.fields() {
                    out.push(u8::from(value.is_some()));
                    push_text(&mut out, value);
                }
                push_varint(&mut out, ids.len() as u64);
                for id in ids {
                    push_bytes(&mut out, id.as_str().as_bytes());
                }
                push_numbers(&mut out, commits);
                push_bytes(&mut out, message.as_bytes());
            }
        }
        out
    }

    /// Reads what [`Progress::encode`] wrote.
    pub(super) fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes);
        let progress = match reader.byte()? {
            MERGE => Self::Merge {
                theirs: reader.varint()?,
                name: reader.text()?.to_owned(),
                message: read_text(&mut reader)?,
            },
            REVERT => Self::Revert {
                start: reader.varint()?,
                reached: reader.varint()?,
                commits: read_numbers(&mut reader)?,
                mainline: reader.varint()?,
                message: read_text(&mut reader)?,
            },
            UNDO => Self::Undo(Undo {
                provenance: read_provenance(&mut reader)?,
                ids: read_ids(&mut reader)?,
                commits: read_numbers(&mut reader)?,
                message: reader.text()?.to_owned(),
            }),
            unknown => return Err(DecodeError::UnknownRecord(unknown)),
        };
        reader.finish()?;
        Ok(progress)
    }
}

fn push_text(out: &mut Vec<u8>, text: Option<&str>) {
    push_bytes(out, text.unwrap_or_default().as_bytes());
}

fn read_text(reader: &mut Reader<'_>) -> Result<Option<String>, DecodeError> {
    let text = reader.text()?;
    Ok((!text.is_empty()).then(|| text.to_owned()))
}

fn push_numbers(out: &mut Vec<u8>, numbers: &[Number]) {
    push_varint(out, numbers.len() as u64);
    for number in numbers {
        push_varint(out, *number);
    }
}

fn read_numbers(reader: &mut Reader<'_>) -> Result<Vec<Number>, DecodeError> {
    (0..reader.varint()?).map(|_| reader.varint()).collect()
}

fn read_provenance(reader: &mut Reader<'_>) -> Result<Provenance, DecodeError> {
    let mut field = || -> Result<Option<String>, DecodeError> {
        let is_set = reader.byte()? == 1;
        let text = reader.text()?.to_owned();
        Ok(is_set.then_some(text))
    };
    Ok(Provenance {
        agent_step: field()?,
        observation: field()?,
        tool_call: field()?,
        source: field()?,
        note: field()?,
    })
}

fn read_ids(reader: &mut Reader<'_>) -> Result<Vec<NodeId>, DecodeError> {
    let id = |text| NodeId::new(text).map_err(|_| DecodeError::NotCanonical("an id can't be one"));
    (0..reader.varint()?).map(|_| id(reader.text()?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<Progress> {
        let message = Some("one\n\ntwo".to_owned());
        let provenance =
            Provenance { source: Some(String::new()), tool_call: Some("c".into()), ..Provenance::default() };
        let ids = ["a", "b/c"].map(|id| NodeId::new(id).expect("an id"));
        vec![
            Progress::Merge { theirs: 300, name: "try".into(), message: None },
            Progress::Merge { theirs: 3, name: "@{-1}".into(), message: message.clone() },
            Progress::Revert { start: 9, reached: 400, commits: vec![8, 7, 300], mainline: 2, message: None },
            Progress::Revert { start: 9, reached: 9, commits: vec![], mainline: 0, message },
            Progress::Undo(Undo { provenance, ids: ids.into(), commits: vec![4], message: "m".into() }),
        ]
    }

    #[test]
    fn it_comes_back_and_nothing_shorter_or_longer_does() {
        for progress in all() {
            let bytes = progress.encode();
            assert_eq!(Progress::decode(&bytes), Ok(progress));
            for end in 0..bytes.len() {
                assert!(Progress::decode(&bytes[..end]).is_err(), "{end} of {bytes:?}");
            }
            assert!(Progress::decode(&[&bytes[..], &[0]].concat()).is_err());
        }
    }

    #[test]
    fn an_unknown_kind_is_told_from_damage() {
        assert_eq!(Progress::decode(&[9]), Err(DecodeError::UnknownRecord(9)));
        assert!(matches!(Progress::decode(&[]), Err(DecodeError::NotCanonical(_))));
        let huge = [REVERT, 1, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f];
        assert!(Progress::decode(&huge).is_err(), "a list as long as it says would not fit");
    }
}
