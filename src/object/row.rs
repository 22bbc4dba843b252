//! A version of a node as one line of JSON: what exports write and `put --jsonl` reads.

use super::{Kept, encode_node, encode_redaction};
use crate::model::{Node, push_json_string};

/// The version as a row. A marker is its canonical bytes.
pub fn encode_row(kept: &Kept) -> String {
    match kept {
        Kept::Node(node) => node_row(node),
        Kept::Redacted(redaction) => {
            String::from_utf8(encode_redaction(redaction)).expect("a marker is written as text")
        }
    }
}

/// The node as a row: its canonical bytes, but for content with a line break outside strings, which stands as a JSON
/// string under `content_json` instead.
fn node_row(node: &Node) -> String {
    let json = node.content.json();
    if !json.contains(['\n', '\r']) {
        return String::from_utf8(encode_node(node)).expect("a node is written as text");
    }
    let mut out = String::from("{\"id\":");
    push_json_string(&mut out, node.id.as_str());
    out.push_str(",\"content_json\":");
    push_json_string(&mut out, json);
    push_rest(&mut out, node);
    out
}

/// Appends what stands behind a node's content, up to the end of the object.
pub(super) fn push_rest(out: &mut String, node: &Node) {
    out.push_str(",\"content_kind\":\"");
    out.push_str(node.content_kind.name());
    out.push_str("\",\"provenance\":");
    out.push_str(&provenance_json(node));
    if let Some(time) = &node.event_time {
        out.push_str(",\"event_time\":");
        push_json_string(out, time.as_str());
    }
    out.push('}');
}

/// The provenance that is set, as a JSON object.
pub fn provenance_json(node: &Node) -> String {
    let mut out = String::from("{");
    let present = node.provenance.fields().into_iter().filter_map(|(key, value)| value.map(|value| (key, value)));
    for (at, (key, value)) in present.enumerate() {
        out.push_str(if at == 0 { "\"" } else { ",\"" });
        out.push_str(key);
        out.push_str("\":");
        push_json_string(&mut out, value);
    }
    out.push('}');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Content, ContentKind, NodeId, Provenance, Timestamp};

    #[test]
    fn a_row_is_one_line_whatever_the_content() {
        let node = |json: &str| Node {
            id: NodeId::new("k").expect("id"),
            content: Content::from_json(json).expect("JSON"),
            content_kind: ContentKind::Note,
            provenance: Provenance { source: Some("w".into()), ..Provenance::default() },
            event_time: Some(Timestamp::parse("2024-05-06T07:08:09Z").expect("time")),
        };
        let encode_row = |node| encode_row(&Kept::Node(node));
        let tail = r#""content_kind":"note","provenance":{"source":"w"},"event_time":"2024-05-06T07:08:09Z"}"#;
        assert_eq!(encode_row(node("[1, \t2]")), format!("{{\"id\":\"k\",\"content\":[1, \t2],{tail}"));
        assert_eq!(encode_row(node("[1,\n2]")), format!("{{\"id\":\"k\",\"content_json\":\"[1,\\n2]\",{tail}"));
        assert_eq!(encode_row(node("[1,\r2]")), format!("{{\"id\":\"k\",\"content_json\":\"[1,\\r2]\",{tail}"));
    }
}
