//! The unit that is versioned.

use super::{Content, NodeId, Provenance, Timestamp};

/// What kind of content a node has. `note` is the one kind that this version reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContentKind {
    /// Freeform content.
    #[default]
    Note,
}

/// A content kind that this version does not accept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KindError {
    /// Named in the format for a later version.
    #[error("content kind 'claim' is reserved for a later version")]
    Claim,
    /// No kind of the format.
    #[error("unknown content kind '{0}'")]
    Unknown(String),
}

impl ContentKind {
    /// Reads the kind's name.
    pub fn parse(name: &str) -> Result<Self, KindError> {
        match name {
            "note" => Ok(Self::Note),
            "claim" => Err(KindError::Claim),
            other => Err(KindError::Unknown(other.to_owned())),
        }
    }

    /// The kind's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
        }
    }
}

/// A memory node: immutable; an update is the same id in a new commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The stable logical key.
    pub id: NodeId,
    /// What the agent wrote.
    pub content: Content,
    /// Always [`ContentKind::Note`].
    pub content_kind: ContentKind,
    /// How it came to exist.
    pub provenance: Provenance,
    /// When the agent formed the belief.
    pub event_time: Option<Timestamp>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn note_is_the_one_kind_and_claim_is_named() {
        assert_eq!(ContentKind::parse("note"), Ok(ContentKind::Note));
        assert_eq!(ContentKind::parse("claim"), Err(KindError::Claim));
        assert_eq!(ContentKind::parse("Note"), Err(KindError::Unknown("Note".into())));
    }
}
