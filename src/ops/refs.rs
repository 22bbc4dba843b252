//! What the verbs share that move branches and tags.

use super::OpError;
use crate::graph::{Doubt, nearest};
use crate::model::{Message, SessionName};
use crate::object::CommitId;
use crate::store::{Access, Disk, Head, Number, Store, StoreError, Summary, Tables, short_branch, short_tag};
use std::collections::BTreeMap;

/// What became of a ref.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefChange {
    /// Its full name, such as `refs/heads/main`.
    pub name: String,
    /// The commit that it named before; `None` where it was not there.
    pub old: Option<CommitId>,
    /// The commit that it names now; `None` where it is gone.
    pub new: Option<CommitId>,
}

/// What a verb changed.
#[derive(Debug)]
pub struct RefsReport {
    /// Each ref that it was about.
    pub changes: Vec<RefChange>,
    /// What the name of the revision stands for beside what was taken.
    pub doubt: Option<Doubt>,
    /// What failed after the change was durable.
    pub warning: Option<StoreError>,
}

/// The commit of a ref that must be there.
pub(super) fn existing<A: Access>(tables: &Tables<A>, name: &str) -> Result<Number, OpError> {
    if let Some(number) = tables.reference(name)? {
        return Ok(number);
    }
    let (prefix, short) = match short_tag(name) {
        Some(short) => ("refs/tags/", short),
        None => ("refs/heads/", short_branch(name)),
    };
    let refs = tables.references(prefix)?;
    let near = nearest(short, refs.iter().map(|(full, _)| (&full[prefix.len()..], &full[prefix.len()..])));
    Err(OpError::NoRef { name: name.to_owned(), near })
}

/// The sessions that stand on a branch, but for `except`.
pub(super) fn sessions_on<D: Disk, A: Access>(
    store: &Store<D>,
    tables: &Tables<A>,
    branch: &str,
    except: Option<&SessionName>,
) -> Result<Vec<SessionName>, StoreError> {
    let standings = store.standings(tables)?.into_iter();
    let on = standings.filter(|(name, session)| session.head.branch() == Some(branch) && Some(name) != except);
    Ok(on.map(|(name, _)| name).collect())
}

/// Refuses where a session stands on a branch, but for `except`.
pub(super) fn refuse_in_use<D: Disk, A: Access>(
    store: &Store<D>,
    tables: &Tables<A>,
    branch: &str,
    except: Option<&SessionName>,
) -> Result<(), OpError> {
    let sessions = sessions_on(store, tables, branch, except)?;
    let in_use = |sessions| Err(OpError::BranchInUse { branch: short_branch(branch).to_owned(), sessions });
    if sessions.is_empty() { Ok(()) } else { in_use(sessions) }
}

/// Refuses to create a ref that is there.
pub(super) fn refuse_existing<A: Access>(tables: &Tables<A>, name: &str) -> Result<(), OpError> {
    match tables.reference(name)? {
        Some(_) => Err(OpError::RefExists(name.to_owned())),
        None => Ok(()),
    }
}

/// Refuses a bundle that builds on commits which are not here.
pub(super) fn refuse_lacking<A: Access>(tables: &Tables<A>, name: &str, summary: &Summary) -> Result<(), OpError> {
    let mut commits = Vec::new();
    for id in &summary.header.prerequisites {
        if tables.commit_number(id)?.is_none() {
            commits.push(*id);
        }
    }
    if commits.is_empty() { Ok(()) } else { Err(OpError::Lacking { name: name.to_owned(), commits }) }
}

/// How the log of refs calls the place where a session stands.
pub(super) fn place_name<A: Access>(tables: &Tables<A>, head: &Head) -> Result<String, StoreError> {
    match head {
        Head::Branch(name) => Ok(short_branch(name).to_owned()),
        Head::Detached(number) => Ok(tables.commit_id(*number)?.to_string()),
    }
}

/// The sessions that stand on each branch, but for `except`.
pub(super) fn sessions_by_branch<D: Disk, A: Access>(
    store: &Store<D>,
    tables: &Tables<A>,
    except: &SessionName,
) -> Result<BTreeMap<String, Vec<SessionName>>, StoreError> {
    let mut found: BTreeMap<String, Vec<SessionName>> = BTreeMap::new();
    for (name, session) in store.standings(tables)? {
        if let (Head::Branch(branch), true) = (session.head, name != *except) {
            found.entry(branch).or_default().push(name);
        }
    }
    Ok(found)
}

/// What the log of a ref says of a tag; behind it, if the tag says something, `: ` and that.
const TAG: &str = "tag";

/// What the log says of a tag that is set.
pub(super) fn tag_reason(message: Option<&Message>) -> String {
    message.map_or_else(|| TAG.to_owned(), |message| format!("{TAG}: {}", message.as_str()))
}

/// What a tag says, by the log of its ref.
pub(super) fn said(reason: &str) -> Option<String> {
    reason.strip_prefix(TAG)?.strip_prefix(": ").map(str::to_owned)
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
