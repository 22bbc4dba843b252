//! A version of a node as it is kept: the node, or the marker in its place.

use super::node::node_id_in;
use super::redaction::{Redaction, decode_redaction, encode_redaction, is_marker, object_in};
use super::{DecodeError, ObjectId, decode_node, encode_node, node_object_id};
use crate::model::{Content, Node, NodeId, Provenance, Timestamp};

/// A version of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept {
    /// It can be read.
    Node(Node),
    /// It was redacted: nobody knows what it said.
    Redacted(Redaction),
}

impl Kept {
    /// Whose version it is.
    pub fn id(&self) -> &NodeId {
        match self {
            Self::Node(node) => &node.id,
            Self::Redacted(redaction) => &redaction.id,
        }
    }

    /// The node, where it can be read.
    pub fn node(&self) -> Option<&Node> {
        match self {
            Self::Node(node) => Some(node),
            Self::Redacted(_) => None,
        }
    }

    /// What is known of a node that can not be read.
    pub fn redaction(&self) -> Option<&Redaction> {
        match self {
            Self::Node(_) => None,
            Self::Redacted(redaction) => Some(redaction),
        }
    }

    /// What the agent wrote, where that can be read.
    pub fn content(&self) -> Option<&Content> {
        self.node().map(|node| &node.content)
    }

    /// How it came to exist, where that can be read.
    pub fn provenance(&self) -> Option<&Provenance> {
        self.node().map(|node| &node.provenance)
    }

    /// When the agent formed the belief, where that was said and can be read.
    pub fn event_time(&self) -> Option<&Timestamp> {
        self.node()?.event_time.as_ref()
    }

    /// The object that it is or stands for.
    pub fn object_id(&self) -> ObjectId {
        match self {
            Self::Node(node) => node_object_id(&encode_node(node)),
            Self::Redacted(redaction) => redaction.object,
        }
    }
}

impl From<Node> for Kept {
    fn from(node: Node) -> Self {
        Self::Node(node)
    }
}

/// Writes the canonical bytes of a version.
pub fn encode_kept(version: &Kept) -> Vec<u8> {
    match version {
        Kept::Node(node) => encode_node(node),
        Kept::Redacted(redaction) => encode_redaction(redaction),
    }
}

/// Reads the canonical bytes of a version; refuses whatever [`encode_kept`] would have written otherwise.
pub fn decode_kept(bytes: &[u8]) -> Result<Kept, DecodeError> {
    if is_marker(bytes) { decode_redaction(bytes).map(Kept::Redacted) } else { decode_node(bytes).map(Kept::Node) }
}

/// Reads the id alone; of a node without a look at the rest.
pub fn kept_id_in(bytes: &[u8]) -> Result<NodeId, DecodeError> {
    if is_marker(bytes) { decode_redaction(bytes).map(|redaction| redaction.id) } else { node_id_in(bytes) }
}

/// The object that these canonical bytes are or stand for.
pub fn kept_object_id(bytes: &[u8]) -> ObjectId {
    object_in(bytes).unwrap_or_else(|| node_object_id(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Author, CommitTime, ContentKind};

    #[test]
    fn a_version_comes_back_with_its_id_and_its_object() {
        let id = NodeId::new("k").expect("an id");
        let node = Node {
            id: id.clone(),
            content: Content::from_text("v"),
            content_kind: ContentKind::Note,
            provenance: Provenance { source: Some("web".to_owned()), ..Provenance::default() },
            event_time: Some(Timestamp::parse("2026-05-06T07:08:09Z").expect("a time")),
        };
        let redaction = Redaction {
            object: node_object_id(&encode_node(&node)),
            id: id.clone(),
            time: CommitTime::parse("2026-05-06T07:08:09.010+00:00").expect("a time"),
            by: Author::new("Ada").expect("an author"),
            reason: None,
        };
        for version in [Kept::from(node.clone()), Kept::Redacted(redaction.clone())] {
            let bytes = encode_kept(&version);
            assert_eq!(kept_id_in(&bytes).as_ref(), Ok(&id));
            assert_eq!((kept_object_id(&bytes), version.object_id()), (redaction.object, redaction.object));
            assert_eq!(version.id(), &id);
            assert_eq!(decode_kept(&bytes), Ok(version));
        }
        let node = Kept::Node(node);
        assert!(node.content().is_some() && node.provenance().is_some() && node.event_time().is_some());
        let redacted = Kept::Redacted(redaction.clone());
        assert!(redacted.content().is_none() && redacted.provenance().is_none() && redacted.event_time().is_none());
        assert_eq!((node.redaction(), redacted.redaction()), (None, Some(&redaction)));
    }
}
