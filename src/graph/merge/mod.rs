//! Three versions of something, of which two were made of one: the changes of both in one version, or a conflict.
//!
//! Up to the node these are pure values. No answer depends on which side is which.

mod base;
mod container;
mod join;
mod node;
mod regions;
#[cfg(test)]
mod tests;
mod texts;
mod undo;
mod values;

pub use base::{Base, merged_base};
#[cfg(feature = "internals")]
pub use join::Conflict;
pub use join::{Join, Outcome, join};
#[cfg(feature = "internals")]
pub use node::NodeMerge;
pub use node::merge_nodes;
pub use texts::merge_texts;
pub use undo::undone;
pub use values::merge_values;

use crate::model::Content;

/// One of the two versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The first.
    Ours,
    /// The other.
    Theirs,
}

/// What comes of two versions of one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Merged<T> {
    /// One side alone changed it: what it has.
    Take(Side),
    /// Both have the same.
    Same,
    /// Both changed it, and this has the changes of both.
    New(T),
    /// Both changed it, and the changes don't go together.
    Conflict,
}

impl<T> Merged<T> {
    /// Merges what can't be taken apart.
    fn whole<V: PartialEq + ?Sized>(base: &V, ours: &V, theirs: &V) -> Self {
        if ours == theirs {
            Self::Same
        } else if theirs == base {
            Self::Take(Side::Ours)
        } else if ours == base {
            Self::Take(Side::Theirs)
        } else {
            Self::Conflict
        }
    }

    /// Tries `merge` where the changes don't go together as a whole.
    fn or_merge(self, merge: impl FnOnce() -> Option<T>) -> Self {
        match self {
            Self::Conflict => merge().map_or(Self::Conflict, Self::New),
            merged => merged,
        }
    }
}

/// Merges contents, any of which may be absent: texts by line, other values by leaf.
///
/// Contents that both sides have without a base, or that one side removed and the other changed, conflict unless they are
/// the same, and so do a text and another value that took its place. Where both sides made it the same text in two
/// spellings, it is spelled as on the side whose spelling is first in byte order.
pub fn merge_contents(base: Option<&Content>, ours: Option<&Content>, theirs: Option<&Content>) -> Merged<Content> {
    Merged::whole(&base, &ours, &theirs).or_merge(|| {
        let (base, ours, theirs) = (base?, ours?, theirs?);
        let texts = (base.text(), ours.text(), theirs.text());
        let (Some(base_text), Some(our_text), Some(their_text)) = texts else {
            let merged = merge_values(base.json(), ours.json(), theirs.json())?;
            return Some(Content::from_json(&merged).expect("what is made of valid values by token is one"));
        };
        let merged = merge_texts(&base_text, &our_text, &their_text)?;
        let spelled = [ours, theirs].into_iter().filter(|side| side.text().as_deref() == Some(&merged));
        Some(spelled.min_by_key(|side| side.json()).cloned().unwrap_or_else(|| Content::from_text(&merged)))
    })
}
