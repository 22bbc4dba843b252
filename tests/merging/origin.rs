//! Where the nodes of a history come from, and the parts of them.

use crate::body::Tag;
use crate::history::{At, History};
use crate::naive::{Known, State};
use mnemosyne::model::NodeId;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Where a node of a state comes from.
#[derive(Clone, Debug)]
pub struct Held {
    /// Who wrote it as it is.
    pub writer: At,
    /// Who wrote its content.
    pub content_at: At,
    /// Who brought each part.
    pub tags: Rc<BTreeMap<Tag, At>>,
}

/// Of each commit where its nodes come from: what a parent has, from there; the first parent before the others.
pub fn origins(script: &History) -> Vec<BTreeMap<NodeId, Held>> {
    let mut found: Vec<BTreeMap<NodeId, Held>> = Vec::new();
    for (own, commit) in script.commits.iter().enumerate() {
        let held = commit.state.iter().map(|(id, known)| {
            let having = commit.parents.iter().filter_map(|&parent| {
                let state: &State = &script.commits[parent].state;
                state.get(id).map(|theirs| (theirs, &found[parent][id]))
            });
            let having: Vec<_> = having.collect();
            let same_node = having.iter().find(|(theirs, _)| *theirs == known);
            let is_readable = |known: &Known| known.redacted.is_none();
            let same_content = having.iter().find(|(theirs, _)| {
                is_readable(known) && is_readable(theirs) && theirs.node.content == known.node.content
            });
            let origin = |tag: Tag| having.iter().find_map(|(_, held)| held.tags.get(&tag)).copied().unwrap_or(own);
            let held = match (same_node, same_content) {
                (Some((_, held)), _) => (*held).clone(),
                (None, Some((_, held))) => Held { writer: own, ..(*held).clone() },
                (None, None) if !is_readable(known) => Held { writer: own, content_at: own, tags: Rc::default() },
                (None, None) => {
                    let tags = known.body.tags().into_iter().map(|tag| (tag, origin(tag))).collect();
                    Held { writer: own, content_at: own, tags: Rc::new(tags) }
                }
            };
            (id.clone(), held)
        });
        let held = held.collect();
        found.push(held);
    }
    found
}
