//! Three nodes under one id, any of which may be absent.

use super::{Merged, Side, merge_contents};
use crate::model::{Node, Provenance};

/// What comes of two versions of a node. A side that is taken may be absent: then the node is removed.
pub type NodeMerge = Merged<Node>;

/// Merges two versions of a node by content, provenance and event time, of which the last two are not taken apart.
///
/// Where the content was made of the changes of both, the provenance is `note` alone, unless one side had all of them. Two
/// provenances that are such notes, of whatever merges, are taken as one: nobody wrote them. A node is new only where neither
/// side has it as it is.
pub fn merge_nodes(base: Option<&Node>, ours: Option<&Node>, theirs: Option<&Node>, note: &str) -> NodeMerge {
    let whole = Merged::whole(&base, &ours, &theirs);
    let (Merged::Conflict, Some(base), Some(ours), Some(theirs)) = (&whole, base, ours, theirs) else {
        return whole;
    };
    let mut content = merge_contents(Some(&base.content), Some(&ours.content), Some(&theirs.content));
    let provenance = match &content {
        Merged::New(made) if *made == ours.content => Merged::Take(Side::Ours),
        Merged::New(made) if *made == theirs.content => Merged::Take(Side::Theirs),
        Merged::New(_) => Merged::New(Provenance { note: Some(note.to_owned()), ..Provenance::default() }),
        Merged::Take(_) | Merged::Same | Merged::Conflict => {
            merge_provenances(&base.provenance, &ours.provenance, &theirs.provenance)
        }
    };
    if let (Merged::New(_), Merged::Take(side)) = (&content, &provenance) {
        content = Merged::Take(*side);
    }
    let content_kind = Merged::whole(&base.content_kind, &ours.content_kind, &theirs.content_kind);
    let event_time = Merged::whole(&base.event_time, &ours.event_time, &theirs.event_time);
    let merged = || {
        Some(Node {
            id: ours.id.clone(),
            content: content.settled(&ours.content, &theirs.content)?,
            content_kind: content_kind.settled(&ours.content_kind, &theirs.content_kind)?,
            provenance: provenance.settled(&ours.provenance, &theirs.provenance)?,
            event_time: event_time.settled(&ours.event_time, &theirs.event_time)?,
        })
    };
    match merged() {
        None => Merged::Conflict,
        Some(node) if node == *ours => Merged::Take(Side::Ours),
        Some(node) if node == *theirs => Merged::Take(Side::Theirs),
        Some(node) => Merged::New(node),
    }
}

fn merge_provenances(base: &Provenance, ours: &Provenance, theirs: &Provenance) -> Merged<Provenance> {
    let same = |one: &Provenance, other: &Provenance| one == other || is_note_of_merge(one) && is_note_of_merge(other);
    match (same(ours, theirs), same(theirs, base), same(ours, base)) {
        (true, _, _) if ours == theirs => Merged::Same,
        (true, _, _) => Merged::Take(if ours < theirs { Side::Ours } else { Side::Theirs }),
        (false, true, _) => Merged::Take(Side::Ours),
        (false, false, true) => Merged::Take(Side::Theirs),
        (false, false, false) => Merged::Conflict,
    }
}

/// What the notes of contents that were made of two begin with.
const MADE: [&str; 3] = ["merge of ", "revert of ", "undo in "];

/// Whether a provenance is nothing but the note of a merge.
fn is_note_of_merge(provenance: &Provenance) -> bool {
    let note = provenance.note.as_deref().filter(|note| MADE.iter().any(|made| note.starts_with(made)));
    let rest = Provenance { note: None, ..provenance.clone() };
    note.is_some() && rest == Provenance::default()
}

impl<T: Clone> Merged<T> {
    /// What it comes to; `None` for a conflict.
    fn settled(self, ours: &T, theirs: &T) -> Option<T> {
        match self {
            Self::Take(Side::Ours) | Self::Same => Some(ours.clone()),
            Self::Take(Side::Theirs) => Some(theirs.clone()),
            Self::New(new) => Some(new),
            Self::Conflict => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Content, ContentKind, NodeId, Timestamp};
    use proptest::prelude::*;

    /// A node of a content in JSON, a source and the hour of its event, each of which may be absent.
    fn node((content, source, hour): (&str, &str, &str)) -> Node {
        let present = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let time = |hour: String| Timestamp::parse(&format!("2026-01-01T{hour}:00:00Z")).expect("a time");
        Node {
            id: NodeId::new("n").expect("an id"),
            content: Content::from_json(content).expect("valid"),
            content_kind: ContentKind::Note,
            provenance: Provenance { source: present(source), ..Provenance::default() },
            event_time: present(hour).map(time),
        }
    }

    const NOTE: &str = "merge of main and try";

    type Plain = (&'static str, &'static str, &'static str);

    fn merged(base: Option<Plain>, ours: Option<Plain>, theirs: Option<Plain>) -> NodeMerge {
        let [base, ours, theirs] = [base, ours, theirs].map(|side| side.map(node));
        let merged = merge_nodes(base.as_ref(), ours.as_ref(), theirs.as_ref(), NOTE);
        let swapped = match merge_nodes(base.as_ref(), theirs.as_ref(), ours.as_ref(), NOTE) {
            Merged::Take(Side::Ours) => Merged::Take(Side::Theirs),
            Merged::Take(Side::Theirs) => Merged::Take(Side::Ours),
            swapped => swapped,
        };
        assert_eq!(merged, swapped);
        merged
    }

    #[test]
    fn a_side_that_alone_changed_a_node_is_taken() {
        let (base, other) = (Some(("1", "s", "")), Some(("2", "t", "10")));
        assert_eq!(merged(base, base, base), Merged::Same);
        assert_eq!(merged(base, other, other), Merged::Same);
        assert_eq!(merged(base, None, None), Merged::Same);
        assert_eq!(merged(None, other, other), Merged::Same);
        assert_eq!(merged(base, other, base), Merged::Take(Side::Ours));
        assert_eq!(merged(base, None, base), Merged::Take(Side::Ours));
        assert_eq!(merged(None, None, other), Merged::Take(Side::Theirs));
    }

    #[test]
    fn a_node_that_one_side_removed_or_both_added_conflicts() {
        assert_eq!(merged(Some(("1", "", "")), None, Some(("1", "s", ""))), Merged::Conflict);
        assert_eq!(merged(None, Some(("1", "", "")), Some(("1", "s", ""))), Merged::Conflict);
        assert_eq!(merged(None, Some(("[1]", "", "")), Some(("[2]", "", ""))), Merged::Conflict);
    }

    #[test]
    fn each_field_is_merged_by_itself() {
        let base = ("1", "s", "");
        for (ours, theirs, expected) in [
            (("2", "s", ""), ("1", "t", ""), Some(("2", "t", ""))),
            (("2", "s", ""), ("1", "s", "10"), Some(("2", "s", "10"))),
            (("1", "t", ""), ("1", "s", "10"), Some(("1", "t", "10"))),
            (("1", "t", "10"), ("1", "u", ""), None),
            (("1", "s", "10"), ("1", "t", "11"), None),
            (("2", "t", ""), ("3", "t", ""), None),
            (("2", "t", ""), ("2", "u", ""), None),
            (("2", "", "10"), ("1", "", "10"), Some(("2", "", "10"))),
        ] {
            let took = |node: &Plain| expected == Some(*node);
            let expected = match expected {
                _ if took(&ours) => Merged::Take(Side::Ours),
                Some(expected) => Merged::New(node(expected)),
                None => Merged::Conflict,
            };
            assert_eq!(merged(Some(base), Some(ours), Some(theirs)), expected, "{ours:?} {theirs:?}");
        }
    }

    #[test]
    fn a_content_that_was_made_of_both_has_the_note_for_its_provenance() {
        let base = ("[1,0,1]", "s", "");
        for (ours, theirs) in [
            (("[2,0,1]", "t", ""), ("[1,0,2]", "u", "")),
            (("[2,0,1]", "t", ""), ("[1,0,2]", "s", "")),
            (("[2,0,1]", "t", ""), ("[1,0,2]", "t", "")),
            (("[2,0,1]", "s", ""), ("[1,0,2]", "s", "")),
        ] {
            let mut expected = node(("[2,0,2]", "", ""));
            expected.provenance.note = Some(NOTE.to_owned());
            assert_eq!(merged(Some(base), Some(ours), Some(theirs)), Merged::New(expected), "{ours:?} {theirs:?}");
        }
        let (ours, theirs) = (("[2,0,1]", "t", "10"), ("[1,0,2]", "u", "11"));
        assert_eq!(merged(Some(base), Some(ours), Some(theirs)), Merged::Conflict);
    }

    fn plain() -> impl Strategy<Value = Option<Plain>> {
        let content = prop::sample::select(vec!["1", "\"a\"", "[1,0,1]", "[2,0,1]", "[1,0,2]"]);
        let (source, hour) = (prop::sample::select(vec!["", "s", "t"]), prop::sample::select(vec!["", "10", "11"]));
        prop::option::weighted(0.9, (content, source, hour))
    }

    proptest! {
        #[test]
        fn every_field_of_a_merge_comes_from_a_side_or_is_new(base in plain(), ours in plain(), theirs in plain()) {
            prop_assert_eq!(merged(base, ours, base), if ours == base { Merged::Same } else { Merged::Take(Side::Ours) });
            if let (Merged::New(new), Some(base), Some(ours), Some(theirs)) = (merged(base, ours, theirs), base, ours, theirs) {
                let [base, ours, theirs] = [base, ours, theirs].map(node);
                prop_assert!(new != ours && new != theirs);
                // Both sides have it, or one has it and the base has not.
                let fits = |has: [bool; 3]| matches!(has, [_, true, true] | [false, true, false] | [false, false, true]);
                let nodes = [&base, &ours, &theirs];
                prop_assert!(fits(nodes.map(|node| node.event_time == new.event_time)));
                let provenances = nodes.map(|node| node.provenance == new.provenance);
                let is_noted = new.provenance.note.as_deref() == Some(NOTE);
                prop_assert!(is_noted || fits(provenances));
                prop_assert!(!is_noted || (new.content != ours.content || new.content != theirs.content));
            }
        }
    }
}
