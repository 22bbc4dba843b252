//! Canonical bytes of a node.

use super::row::push_rest;
use super::{DecodeError, ObjectId, sha256};
use crate::model::{Content, ContentKind, JsonError, Node, NodeId, Provenance, Timestamp, push_json_string};
use serde::Deserialize;
use serde_json::value::RawValue;

/// The keys of a node and nothing else; values as they are spelled.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields<'a> {
    id: String,
    #[serde(borrow)]
    content: &'a RawValue,
    content_kind: String,
    provenance: ProvenanceFields,
    event_time: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProvenanceFields {
    agent_step: Option<String>,
    observation: Option<String>,
    tool_call: Option<String>,
    source: Option<String>,
    note: Option<String>,
}

/// Writes a node as JSON: keys in the order id, content, content_kind, provenance, event_time, no white space outside
/// `content`; absent provenance fields and an absent event time are left out.
pub fn encode_node(node: &Node) -> Vec<u8> {
    let content = node.content.json();
    let mut out = String::with_capacity(content.len() + node.id.as_str().len() + 96);
    out.push_str("{\"id\":");
    push_json_string(&mut out, node.id.as_str());
    out.push_str(",\"content\":");
    out.push_str(content);
    push_rest(&mut out, node);
    out.into_bytes()
}

/// Reads canonical bytes; refuses whatever [`encode_node`] would have written otherwise.
pub fn decode_node(bytes: &[u8]) -> Result<Node, DecodeError> {
    let text = std::str::from_utf8(bytes).map_err(|_| DecodeError::NotCanonical("a node is not UTF-8"))?;
    let fields: Fields<'_> = serde_json::from_str(text)
        .map_err(|_| DecodeError::NotCanonical("a node is no JSON object of its five keys"))?;
    let content_kind = ContentKind::parse(&fields.content_kind)?;
    let content = Content::from_json(fields.content.get())
        .map_err(|_: JsonError| DecodeError::NotCanonical("a node's content is no JSON"))?;
    let event_time = fields
        .event_time
        .map(|time| Timestamp::parse(&time).map_err(|_| DecodeError::NotCanonical("a node's event time is no time")))
        .transpose()?;
    let ProvenanceFields { agent_step, observation, tool_call, source, note } = fields.provenance;
    let node = Node {
        id: NodeId::new(fields.id).map_err(|_| DecodeError::NotCanonical("a node's id is no id"))?,
        content,
        content_kind,
        provenance: Provenance { agent_step, observation, tool_call, source, note },
        event_time,
    };
    if encode_node(&node) == bytes { Ok(node) } else { Err(DecodeError::NotCanonical("a node is spelled otherwise")) }
}

/// Reads the id alone, without a look at the rest.
pub fn node_id_in(bytes: &[u8]) -> Result<NodeId, DecodeError> {
    const HEAD: &[u8] = b"{\"id\":";
    let fault = DecodeError::NotCanonical("a node does not begin with its id");
    let rest = bytes.strip_prefix(HEAD).ok_or_else(|| fault.clone())?;
    let id = serde_json::Deserializer::from_slice(rest)
        .into_iter::<String>()
        .next()
        .and_then(Result::ok)
        .ok_or_else(|| fault.clone())?;
    NodeId::new(id).map_err(|_| fault)
}

/// The id of the node that these canonical bytes are.
pub fn node_object_id(bytes: &[u8]) -> ObjectId {
    ObjectId::from_bytes(sha256(&[b"node 1\0", bytes]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bare(id: &str, content: Content) -> Node {
        Node {
            id: NodeId::new(id).expect("id"),
            content,
            content_kind: ContentKind::Note,
            provenance: Provenance::default(),
            event_time: None,
        }
    }

    #[test]
    fn the_bytes_of_a_node_are_fixed() {
        let node = bare("a\"b", Content::from_text("x\n"));
        assert_eq!(
            String::from_utf8(encode_node(&node)).expect("UTF-8"),
            r#"{"id":"a\"b","content":"x\n","content_kind":"note","provenance":{}}"#
        );
        let full = Node {
            provenance: Provenance {
                agent_step: Some("s".into()),
                observation: None,
                tool_call: Some(String::new()),
                source: Some("w".into()),
                note: Some("n".into()),
            },
            event_time: Some(Timestamp::parse("2024-05-06T07:08:09+05:30").expect("time")),
            ..bare("k", Content::from_json("{ \"a\":1.10 }").expect("JSON"))
        };
        assert_eq!(
            String::from_utf8(encode_node(&full)).expect("UTF-8"),
            concat!(
                r#"{"id":"k","content":{ "a":1.10 },"content_kind":"note","provenance":{"agent_step":"s","tool_call":"","#,
                r#""source":"w","note":"n"},"event_time":"2024-05-06T07:08:09+05:30"}"#
            )
        );
        assert_eq!(decode_node(&encode_node(&full)), Ok(full));
    }

    #[test]
    fn whatever_is_not_canonical_is_refused() {
        let good = r#"{"id":"k","content":1,"content_kind":"note","provenance":{"agent_step":"s"},"event_time":"2024-05-06T07:08:09Z"}"#;
        assert!(decode_node(good.as_bytes()).is_ok());
        for (from, to) in [
            ("{\"id\"", " {\"id\""),
            ("{\"id\"", "{ \"id\""),
            ("\"content\":1", "\"content\": 1"),
            ("\"content\":1", "\"content\":1 "),
            ("\"content\":1", "\"content\":01"),
            ("\"k\"", "\"\\u006b\""),
            ("\"k\"", "\"\""),
            ("\"k\"", "\"\\n\""),
            ("\"s\"", "null"),
            ("\"s\"", "1"),
            ("agent_step", "agent-step"),
            ("\"provenance\":{\"agent_step\":\"s\"},", ""),
            ("\"content_kind\":\"note\",", ""),
            ("\"content_kind\"", "\"extra\":1,\"content_kind\""),
            ("\"content\":1", "\"content\":1,\"content\":1"),
            ("2024-05-06", "2024-02-30"),
            ("\"2024-05-06T07:08:09Z\"", "null"),
            ("Z\"}", "Z\"}\n"),
        ] {
            assert_ne!(good.replace(from, to), good, "{from}");
            assert!(
                matches!(decode_node(good.replace(from, to).as_bytes()), Err(DecodeError::NotCanonical(_))),
                "{to}"
            );
        }
        let swapped = r#"{"content":1,"id":"k","content_kind":"note","provenance":{}}"#;
        assert!(decode_node(swapped.as_bytes()).is_err());
        assert!(decode_node(b"{\"id\":\"\xff\",\"content\":1,\"content_kind\":\"note\",\"provenance\":{}}").is_err());
    }

    #[test]
    fn claim_is_named() {
        let claim = br#"{"id":"k","content":1,"content_kind":"claim","provenance":{}}"#;
        assert_eq!(decode_node(claim), Err(DecodeError::Kind(crate::model::KindError::Claim)));
    }

    proptest! {
        #[test]
        fn a_node_comes_back_and_so_does_its_id(
            id in "[^\\p{C}]{1,20}", text in any::<String>(), step in proptest::option::of(any::<String>())
        ) {
            prop_assume!(NodeId::new(id.as_str()).is_ok());
            let provenance = Provenance { agent_step: step, ..Provenance::default() };
            let node = Node { provenance, ..bare(&id, Content::from_text(&text)) };
            let bytes = encode_node(&node);
            prop_assert_eq!(node_id_in(&bytes), Ok(node.id.clone()));
            prop_assert_eq!(decode_node(&bytes), Ok(node));
        }
    }
}
