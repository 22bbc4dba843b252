//! What a shell may offer for a word that is half typed. Reads a clean store without waiting, or answers with an error.

use super::OpError;
use crate::graph::{Memory, abbreviated};
use crate::model::{Content, SessionName};
use crate::store::{Access, Disk, SessionView, Store, StoreError};

/// A value, and a word of explanation where there is one.
type Offers = Vec<(String, Option<String>)>;

/// How many characters of a content are shown.
const PREVIEW: usize = 40;

/// Up to `most` ids that begin with `word`, with the beginning of their content.
pub fn complete_ids<D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    word: &str,
    most: usize,
) -> Result<Offers, OpError> {
    store.peek(session, |view: &SessionView<'_, _>| {
        let memory = Memory::at(view, None)?;
        let mut found = Vec::new();
        for (id, held) in memory.beginning_with(word)?.into_iter().take(most) {
            let kept = held.kept(view.tables)?;
            let text = kept.content().map(Content::readable);
            let preview = text.map(|text| text.lines().next().unwrap_or_default().chars().take(PREVIEW).collect());
            found.push((id.as_str().to_owned(), preview));
        }
        Ok(found)
    })
}

/// HEAD, the branches and tags, and up to `most` commits whose id begins with `word`.
pub fn complete_revisions<D: Disk>(store: &Store<D>, word: &str, most: usize) -> Result<Offers, OpError> {
    store.peek(&SessionName::default(), |view| {
        let mut found = vec![("HEAD".to_owned(), None)];
        for (name, number) in view.tables.references("refs/")? {
            let name = abbreviated(view.tables, &name)?.to_owned();
            found.push((name, Some(subject(view, number)?)));
        }
        for (id, number) in view.tables.commits_with_prefix(word, most)? {
            found.push((id.to_string(), Some(subject(view, number)?)));
        }
        Ok(found)
    })
}

/// The branches.
pub fn complete_branches<D: Disk>(store: &Store<D>) -> Result<Offers, OpError> {
    store.peek(&SessionName::default(), |view| Ok(refs(view, "refs/heads/")?))
}

/// The tags.
pub fn complete_tags<D: Disk>(store: &Store<D>) -> Result<Offers, OpError> {
    store.peek(&SessionName::default(), |view| Ok(refs(view, "refs/tags/")?))
}

/// The refs below a prefix, by their short names.
fn refs<A: Access>(view: &SessionView<'_, A>, prefix: &str) -> Result<Offers, StoreError> {
    let refs = view.tables.references(prefix)?.into_iter();
    refs.map(|(name, number)| Ok((name[prefix.len()..].to_owned(), Some(subject(view, number)?)))).collect()
}

fn subject<A: Access>(view: &SessionView<'_, A>, number: u64) -> Result<String, StoreError> {
    Ok(view.tables.commit(number)?.message.subject().to_owned())
}

/// The sessions.
pub fn complete_sessions<D: Disk>(store: &Store<D>) -> Result<Offers, OpError> {
    store.peek(&SessionName::default(), |view| {
        let rows = view.tables.sessions()?.into_iter().map(|(name, _)| name);
        let mut names: Vec<_> = rows.chain(store.disk().logs().map_err(StoreError::from)?).collect();
        names.sort();
        names.dedup();
        Ok(names.into_iter().map(|name| (name.as_str().to_owned(), None)).collect())
    })
}
