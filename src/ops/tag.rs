//! Tags: their list, and what creates, moves and deletes them. What a tag says is kept in the log of its ref.

use super::OpError;
use super::refs::{RefChange, RefsReport, existing, refuse_existing};
use crate::graph::{Resolved, Revision, resolve};
use crate::model::{CommitTime, Message, SessionName, TagName};
use crate::object::CommitId;
use crate::store::{Access, Disk, Number, SessionView, Store, StoreError, Tables, short_tag};

const TAGS: &str = "refs/tags/";
/// What the log of a ref says of a tag; behind it, if the tag says something, `: ` and that.
const REASON: &str = "tag";

/// A tag as it is listed.
#[derive(Clone, Debug)]
pub struct Tag {
    /// Its short name.
    pub name: String,
    /// The commit that it names.
    pub commit: CommitId,
    /// When it was set.
    pub time: CommitTime,
    /// What it says.
    pub message: Option<String>,
    /// The first line of what the commit says.
    pub subject: String,
}

/// A tag that was changed.
#[derive(Debug)]
pub struct TagsReport {
    /// The refs.
    pub refs: RefsReport,
    /// For each of them what the tag said before, if it was there and said something.
    pub said: Vec<Option<String>>,
}

/// All tags, in the order of their names.
pub fn tags<D: Disk>(store: &Store<D>, session: &SessionName) -> Result<Vec<Tag>, OpError> {
    store.read(session, |view| {
        let mut found = Vec::new();
        for (name, number) in view.tables.references(TAGS)? {
            let commit = view.tables.commit(number)?;
            let (_, update) = view.tables.last_update(&name)?.ok_or_else(|| lost(&name))?;
            if update.new != Some(number) {
                return Err(lost(&name).into());
            }
            found.push(Tag {
                name: short_tag(&name).unwrap_or(&name).to_owned(),
                commit: commit.id,
                time: update.time,
                message: said(&update.reason),
                subject: commit.message.subject().to_owned(),
            });
        }
        Ok(found)
    })
}

fn lost(name: &str) -> StoreError {
    StoreError::corrupt(format!("the ref '{name}' is not where its log says"))
}

/// What a tag says, by the log of its ref.
fn said(reason: &str) -> Option<String> {
    reason.strip_prefix(REASON)?.strip_prefix(": ").map(str::to_owned)
}

/// Sets a tag at a revision. With `force` one that is there is moved.
pub fn create_tag<D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    name: &TagName,
    revision: &Revision,
    message: Option<&Message>,
    force: bool,
    time: CommitTime,
) -> Result<TagsReport, OpError> {
    let name = name.ref_name();
    let reason = message.map_or_else(|| REASON.to_owned(), |message| format!("{REASON}: {}", message.as_str()));
    let (seen, snapshot) = store.look(|tables| creation(store, tables, session, &name, revision, force))?;
    let doubt = seen.resolved.doubt;
    let report = |change, said, warning| TagsReport {
        refs: RefsReport { changes: vec![change], doubt, warning },
        said: vec![said],
    };
    if seen.change.old == seen.change.new && seen.said.as_deref() == message.map(Message::as_str) {
        return Ok(report(seen.change, seen.said, None));
    }
    let ((change, said), warning) = store.write(snapshot, |tables| {
        let creation = creation(store, tables, session, &name, revision, force)?;
        tables.set_reference(&name, creation.resolved.number, time, &reason)?;
        Ok::<_, OpError>((creation.change, creation.said))
    })?;
    Ok(report(change, said, warning))
}

struct Creation {
    change: RefChange,
    said: Option<String>,
    resolved: Resolved,
}

fn creation<D: Disk, A: Access>(
    store: &Store<D>,
    tables: &Tables<A>,
    session: &SessionName,
    name: &str,
    revision: &Revision,
    force: bool,
) -> Result<Creation, OpError> {
    if !force {
        refuse_existing(tables, name)?;
    }
    let resolved = resolve(&SessionView::standing(tables, session, store.standing(tables, session)?)?, revision)?;
    let old = tables.reference(name)?;
    let id = |number: Number| tables.commit_id(number);
    let change = RefChange { name: name.to_owned(), old: old.map(id).transpose()?, new: Some(id(resolved.number)?) };
    let said = if old.is_some() { last_said(tables, name)? } else { None };
    Ok(Creation { change, said, resolved })
}

fn last_said<A: Access>(tables: &Tables<A>, name: &str) -> Result<Option<String>, StoreError> {
    Ok(tables.last_update(name)?.and_then(|(_, update)| said(&update.reason)))
}

/// Deletes tags, all or none.
pub fn delete_tags<D: Disk>(store: &Store<D>, names: &[TagName], time: CommitTime) -> Result<TagsReport, OpError> {
    let mut names: Vec<_> = names.iter().map(TagName::ref_name).collect();
    names.sort();
    names.dedup();
    let ((), snapshot) = store.look(|tables| deletion(tables, &names).map(drop))?;
    let ((changes, said), warning) = store.write(snapshot, |tables| {
        let deletion = deletion(tables, &names)?;
        for name in &names {
            tables.remove_reference(name, time, "tag: deleted")?;
        }
        Ok::<_, OpError>(deletion)
    })?;
    Ok(TagsReport { refs: RefsReport { changes, doubt: None, warning }, said })
}

fn deletion<A: Access>(tables: &Tables<A>, names: &[String]) -> Result<(Vec<RefChange>, Vec<Option<String>>), OpError> {
    let (mut changes, mut said) = (Vec::new(), Vec::new());
    for name in names {
        let old = Some(tables.commit_id(existing(tables, name)?)?);
        changes.push(RefChange { name: name.clone(), old, new: None });
        said.push(last_said(tables, name)?);
    }
    Ok((changes, said))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_tag_says_stands_behind_the_first_colon() {
        for (reason, expected) in [
            ("tag", None),
            ("tag: x", Some("x")),
            ("tag: a: b\n\nc", Some("a: b\n\nc")),
            ("tags: x", None),
            ("branch: x", None),
        ] {
            assert_eq!(said(reason).as_deref(), expected, "{reason:?}");
        }
    }
}
