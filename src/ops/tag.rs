//! Tags: their list, and what creates, moves and deletes them. What a tag says is kept in the log of its ref.

use super::OpError;
use super::refs::{RefChange, RefsReport, existing, refuse_existing, said, tag_reason};
use crate::graph::{Resolved, Revision, resolve};
use crate::model::{CommitTime, Message, Pattern, SessionName, TagName};
use crate::object::CommitId;
use crate::store::{Access, Disk, Number, SessionView, Store, StoreError, Tables, short_tag};

const TAGS: &str = "refs/tags/";

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

/// What a tag was before it was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagBefore {
    /// When it was set.
    pub time: CommitTime,
    /// What it said.
    pub message: Option<String>,
}

/// A tag that was changed.
#[derive(Debug)]
pub struct TagsReport {
    /// The refs.
    pub refs: RefsReport,
    /// What each of them was; `None` where it was not there.
    pub before: Vec<Option<TagBefore>>,
}

/// The tags whose names one of `patterns` chooses, all where there is none, in the order of their names.
pub fn tags<D: Disk>(store: &Store<D>, session: &SessionName, patterns: &[Pattern]) -> Result<Vec<Tag>, OpError> {
    store.read(session, |view| {
        let mut found = Vec::new();
        for (name, number) in view.tables.references(TAGS)? {
            if !Pattern::choose(patterns, short_tag(&name).unwrap_or(&name)) {
                continue;
            }
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
    let reason = tag_reason(message);
    let (seen, snapshot) = store.look(|tables| creation(store, tables, session, &name, revision, force))?;
    let doubt = seen.resolved.doubt;
    let report = |change, before, warning| TagsReport {
        refs: RefsReport { changes: vec![change], doubt, warning },
        before: vec![before],
    };
    let said = seen.before.as_ref().and_then(|before| before.message.as_deref());
    if seen.change.old == seen.change.new && said == message.map(Message::as_str) {
        return Ok(report(seen.change, seen.before, None));
    }
    let ((change, before), warning) = store.write(snapshot, |tables| {
        let creation = creation(store, tables, session, &name, revision, force)?;
        tables.set_reference(&name, creation.resolved.number, time, &reason)?;
        Ok::<_, OpError>((creation.change, creation.before))
    })?;
    Ok(report(change, before, warning))
}

struct Creation {
    change: RefChange,
    before: Option<TagBefore>,
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
    let before = if old.is_some() { before(tables, name)? } else { None };
    Ok(Creation { change, before, resolved })
}

fn before<A: Access>(tables: &Tables<A>, name: &str) -> Result<Option<TagBefore>, StoreError> {
    let update = tables.last_update(name)?.map(|(_, update)| update);
    Ok(update.map(|update| TagBefore { time: update.time, message: said(&update.reason) }))
}

/// Deletes tags, all or none.
pub fn delete_tags<D: Disk>(store: &Store<D>, names: &[TagName], time: CommitTime) -> Result<TagsReport, OpError> {
    let mut names: Vec<_> = names.iter().map(TagName::ref_name).collect();
    names.sort();
    names.dedup();
    let ((), snapshot) = store.look(|tables| deletion(tables, &names).map(drop))?;
    let ((changes, before), warning) = store.write(snapshot, |tables| {
        let deletion = deletion(tables, &names)?;
        for name in &names {
            tables.remove_reference(name, time, "tag: deleted")?;
        }
        Ok::<_, OpError>(deletion)
    })?;
    Ok(TagsReport { refs: RefsReport { changes, doubt: None, warning }, before })
}

fn deletion<A: Access>(
    tables: &Tables<A>,
    names: &[String],
) -> Result<(Vec<RefChange>, Vec<Option<TagBefore>>), OpError> {
    let (mut changes, mut befores) = (Vec::new(), Vec::new());
    for name in names {
        let old = Some(tables.commit_id(existing(tables, name)?)?);
        changes.push(RefChange { name: name.clone(), old, new: None });
        befores.push(before(tables, name)?);
    }
    Ok((changes, befores))
}
