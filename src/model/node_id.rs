//! The logical key of a node.

use std::fmt;

/// The most bytes an id may have.
pub const MAX_ID_BYTES: usize = 1024;

/// A node's key: 1 to 1024 bytes of UTF-8 without control characters, not blank. Compared by bytes, never normalised.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(String);

/// Why a text is no node id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// Empty, or nothing but Unicode white space.
    #[error("an id may not be blank")]
    Blank,
    /// More than `MAX_ID_BYTES`.
    #[error("an id may have at most {MAX_ID_BYTES} bytes, this one has {0}")]
    TooLong(usize),
    /// A C0, DEL or C1 character at this byte.
    #[error("an id may not hold control characters, this one has U+{:04X} at byte {at}", *.character as u32)]
    Control {
        /// The character.
        character: char,
        /// Its byte offset.
        at: usize,
    },
}

impl NodeId {
    /// Checks `text` and keeps it as it is.
    pub fn new(text: impl Into<String>) -> Result<Self, IdError> {
        let text = text.into();
        if text.len() > MAX_ID_BYTES {
            return Err(IdError::TooLong(text.len()));
        }
        if let Some((at, character)) = text.char_indices().find(|(_, c)| c.is_control()) {
            return Err(IdError::Control { character, at });
        }
        if text.trim().is_empty() {
            return Err(IdError::Blank);
        }
        Ok(Self(text))
    }

    /// The id as it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_without_control_characters_is_an_id() {
        for text in ["a", "../escape", "notes/2024/todo.md", "-todo", " a ", "caf\u{e9}", "cafe\u{301}", "\u{202e}x"] {
            assert_eq!(NodeId::new(text).map(|id| id.as_str().to_owned()), Ok(text.to_owned()));
        }
        assert!(NodeId::new("k".repeat(MAX_ID_BYTES)).is_ok());
    }

    #[test]
    fn blank_long_and_control_are_refused() {
        for blank in ["", " ", "\u{2003}\u{a0}"] {
            assert_eq!(NodeId::new(blank), Err(IdError::Blank));
        }
        assert_eq!(NodeId::new("é".repeat(513)), Err(IdError::TooLong(1026)));
        for (text, character) in [("a\nb", '\n'), ("a\0", '\0'), ("a\u{7f}", '\u{7f}'), ("a\u{9b}", '\u{9b}')] {
            assert_eq!(NodeId::new(text), Err(IdError::Control { character, at: 1 }));
        }
        assert_eq!(NodeId::new("\t"), Err(IdError::Control { character: '\t', at: 0 }));
    }
}
