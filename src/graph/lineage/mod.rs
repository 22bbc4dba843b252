//! Where each part of a content comes from: a walk over the versions of a node, from the newest back.

mod part;
#[cfg(test)]
mod tests;

use super::compare::Remark;
use crate::model::Content;
use crate::store::Number;
use part::{Link, Links, View, source};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;

/// The versions of a node, as records. A version's number is larger than its parents'.
pub trait Versions {
    /// Why one could not be read.
    type Error;

    /// What the node holds in this version; `None` where that cannot be read: then nothing is known to come from it.
    fn content(&self, version: Number) -> Result<Option<Content>, Self::Error>;

    /// The version in each parent of the commit that wrote this one, in order; `None` where the parent lacks the node.
    fn parents(&self, version: Number) -> Result<Vec<Option<Number>>, Self::Error>;
}

/// What a content is taken apart into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nothing: the whole is one part.
    Node,
    /// The lines of a text, or of the JSON text of what has none.
    Line,
    /// The leaves of a JSON value, and whole what is too deep or too large to be looked into.
    Leaf,
}

/// A part of a content, and the version that it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The oldest version from which it came unchanged to the start.
    pub version: Number,
    /// Of a leaf its RFC 6901 pointer at the start.
    pub path: Option<String>,
    /// A line with its ending; else JSON text, that of a leaf without white space outside strings.
    pub text: String,
    /// Of a line where it stands in `version`, from 1.
    pub origin_line: Option<usize>,
}

/// What [`lineage`] found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lineage {
    /// In their order at the start.
    pub parts: Vec<Part>,
    /// Why some parts may be older than is said: something was too deep or too large to be looked into.
    pub coarse: Option<Remark>,
    /// Whether a comparison gave up early, so that some parts may be older than is said.
    pub simplified: bool,
}

/// A part of the start that is looked for, and where it stands in a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Sought {
    place: usize,
    part: usize,
}

/// A version with parts that are looked for.
struct Open {
    content: Content,
    sought: Vec<Sought>,
}

/// Finds for the parts of the version `start` that are in `wanted`, counted from 0, or for all, where they come from.
///
/// A part comes from the first parent that has it unchanged and in its place; all of a content that a parent has byte for
/// byte comes from that parent. An ignored version passes also what it replaced: a line to the one that stood there or
/// the last of those, a leaf to the leaf, a whole to the first that there is. Reads only versions to which a part leads,
/// and their parents.
pub fn lineage<V: Versions>(
    versions: &V,
    start: Number,
    unit: Unit,
    ignored: &dyn Fn(Number) -> Result<bool, V::Error>,
    wanted: Option<Range<usize>>,
) -> Result<Lineage, V::Error> {
    let Some(content) = versions.content(start)? else { return Ok(Lineage::default()) };
    let (mut parts, coarse) = part::parts(&content, unit, start);
    let wanted = wanted.map_or(0..parts.len(), |wanted| wanted.start..wanted.end.min(parts.len()));
    let sought = wanted.clone().map(|place| Sought { place, part: place }).collect();
    let open = BTreeMap::from([(start, Open { content, sought })]);
    let mut walk = Walk { versions, unit, ignored, open, coarse, simplified: false };
    while let Some((version, left)) = walk.step()? {
        for Sought { place, part } in left {
            parts[part].version = version;
            parts[part].origin_line = parts[part].origin_line.map(|_| place + 1);
        }
    }
    parts.truncate(wanted.end);
    let parts = parts.split_off(wanted.start.min(parts.len()));
    Ok(Lineage { parts, coarse: walk.coarse, simplified: walk.simplified })
}

/// The pointers of the leaves into which a value is taken apart; what is too deep or too large to be looked into is one.
pub fn leaf_paths(content: &Content) -> Vec<String> {
    part::parts(content, Unit::Leaf, 0).0.into_iter().filter_map(|part| part.path).collect()
}

/// A walk under way.
struct Walk<'w, V: Versions> {
    versions: &'w V,
    unit: Unit,
    ignored: &'w dyn Fn(Number) -> Result<bool, V::Error>,
    /// Only versions with parts that are looked for, but for the parents of the one that is taken.
    open: BTreeMap<Number, Open>,
    coarse: Option<Remark>,
    simplified: bool,
}

impl<V: Versions> Walk<'_, V> {
    /// Takes the newest version and tells what no parent has of it. All that lead to it have larger numbers and were taken.
    fn step(&mut self) -> Result<Option<(Number, Vec<Sought>)>, V::Error> {
        let Some((version, Open { content, mut sought })) = self.open.pop_last() else { return Ok(None) };
        let parents: Vec<_> = self.versions.parents(version)?.into_iter().flatten().collect();
        let mut same = false;
        for &parent in &parents {
            let open = match self.open.entry(parent) {
                Entry::Vacant(vacant) => match self.versions.content(parent)? {
                    Some(content) => vacant.insert(Open { content, sought: Vec::new() }),
                    None => continue,
                },
                Entry::Occupied(occupied) => occupied.into_mut(),
            };
            same = open.content == content;
            if same {
                open.sought.append(&mut sought);
                break;
            }
        }
        if !same {
            sought.sort_unstable();
            self.pass(version, &content, &parents, &mut sought)?;
        }
        for parent in parents {
            if self.open.get(&parent).is_some_and(|open| open.sought.is_empty()) {
                self.open.remove(&parent);
            }
        }
        Ok(Some((version, sought)))
    }

    /// Gives to the parents what is theirs.
    fn pass(
        &mut self,
        version: Number,
        content: &Content,
        parents: &[Number],
        sought: &mut Vec<Sought>,
    ) -> Result<(), V::Error> {
        let source = source(content, self.unit);
        let view = View::of(source.as_deref(), self.unit);
        let mut replaced = Vec::new();
        for parent in parents {
            let Some(open) = self.open.get_mut(parent).filter(|_| !sought.is_empty()) else { break };
            let parent_source = part::source(&open.content, self.unit);
            let links = Links::between(&View::of(parent_source.as_deref(), self.unit), &view, sought);
            self.coarse = self.coarse.or(links.coarse);
            self.simplified |= links.simplified;
            follow(&links.same, sought, &mut open.sought);
            replaced.push((parent, links.replaced));
        }
        if sought.is_empty() || replaced.is_empty() || !(self.ignored)(version)? {
            return Ok(());
        }
        for (parent, links) in replaced {
            if let Some(open) = self.open.get_mut(parent) {
                follow(&links, sought, &mut open.sought);
            }
        }
        Ok(())
    }
}

/// Takes out of `sought` what a link leads to the older version, where it is sought from then on.
fn follow(links: &[Link], sought: &mut Vec<Sought>, older: &mut Vec<Sought>) {
    sought.retain(|&Sought { place, part }| {
        let before = links.partition_point(|link| link.new.start <= place);
        match links[..before].last().filter(|link| link.new.contains(&place)) {
            Some(link) => {
                older.push(Sought { place: link.old + (place - link.new.start), part });
                false
            }
            None => true,
        }
    });
}
