//! Changes that are asked for together, staged or committed: shared by the verbs that stage.

use super::joining::{are_conflicts, refuse_in_progress};
use super::staged::{FEW, Standing, Version, last_versions};
use super::{Condition, OpError, StagedReport, Write};
use crate::graph::Memory;
use crate::model::{NodeId, SessionName};
use crate::object::{CommitId, decode_kept};
use crate::store::{Access, CommitWords, Disk, NewFrame, NodeBytes, SessionView, Store, StoreError};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// What is asked for. What of it depends on how the memory stands is looked up in each view anew.
#[derive(Clone, Debug, Default)]
pub(super) struct Wanted {
    /// The changes, the last of an id counts.
    pub versions: Vec<Version>,
    /// What must hold, or nothing is done.
    pub condition: Condition,
    /// Ids of which only the content is asked for: where it stands already, the whole node stays.
    pub contents: BTreeSet<NodeId>,
    /// Whether what no change names is to be absent.
    pub replaces: bool,
    /// Whether a commit where HEAD has it all is refused, with what is staged left as it is.
    pub needs_change: bool,
}

/// What [`Wanted::commit`] did.
#[derive(Debug)]
pub struct PutAndCommitReport {
    /// What became of each change.
    pub reports: Vec<StagedReport>,
    /// The commit; `None` where HEAD had it all.
    pub commit: Option<CommitId>,
    /// What failed after the commit was durable.
    pub warning: Option<StoreError>,
}

impl Wanted {
    pub fn new(writes: Vec<Write>, condition: Condition) -> Self {
        Self { versions: writes.into_iter().map(Version::from).collect(), condition, ..Self::default() }
    }

    /// Whether the changes are the same in every memory.
    fn is_settled(&self) -> bool {
        self.contents.is_empty() && !self.replaces
    }

    /// The changes as they are in this memory. Ids that are staged are among those of any other view of the same log.
    fn at<A: Access>(&self, view: &SessionView<'_, A>) -> Result<Cow<'_, [Version]>, OpError> {
        if self.is_settled() {
            return Ok(Cow::Borrowed(&self.versions));
        }
        let standing = Memory::at(view, None)?.select(&[])?;
        let mut versions = Vec::with_capacity(self.versions.len());
        for version in &self.versions {
            let held = standing.get(&version.id).filter(|_| self.contents.contains(&version.id));
            let stays = match (held, &version.bytes) {
                (Some(held), Some(bytes)) => {
                    let kept = held.kept(view.tables)?;
                    let wanted = decode_kept(bytes).expect("it was encoded here");
                    (wanted.content().is_some() && wanted.content() == kept.content()).then_some(kept)
                }
                (None, _) | (_, None) => None,
            };
            versions.push(stays.map_or_else(|| version.clone(), |kept| Write::from(kept).into()));
        }
        if self.replaces {
            let kept: BTreeSet<_> = self.versions.iter().map(|version| &version.id).collect();
            // HEAD may have a node whose removal is staged and no part of this.
            let ids: BTreeSet<_> = standing.into_keys().chain(view.changes()?.into_keys()).collect();
            let gone = ids.into_iter().filter(|id| !kept.contains(id));
            versions.extend(gone.map(|id| Version::from(Write::Remove(id))));
        }
        Ok(Cow::Owned(versions))
    }

    /// Stages it; one fsync when this returns, none where nothing is to change.
    pub fn stage<D: Disk>(&self, store: &Store<D>, session: &SessionName) -> Result<Vec<StagedReport>, OpError> {
        let mut log = store.lock_log(session)?;
        let bytes = log.read().map_err(StoreError::from)?;
        let snapshot = store.snapshot()?;
        let view = if self.is_settled() && self.versions.len() <= FEW {
            let ids: Vec<_> = self.versions.iter().map(|version| &version.id).collect();
            SessionView::skimmed(&snapshot, session, log.path(), &bytes, &ids)?
        } else {
            SessionView::new(&snapshot, session, log.path(), &bytes)?
        };
        let versions = self.at(&view)?;
        let standing = Standing::of(&view, &versions)?;
        match standing.check(self.condition, &versions) {
            // A removal settles also a conflict of a node that HEAD has removed.
            Err(OpError::NoNode(absent)) if are_conflicts(&view, &absent)? => {}
            checked => checked?,
        }
        standing.stage(&mut log, &view, &versions)?;
        Ok(standing.reports(&versions))
    }

    /// What staging it would do, or committing it where `commits`, without doing it.
    pub fn try_out<D: Disk>(
        &self,
        store: &Store<D>,
        session: &SessionName,
        commits: bool,
    ) -> Result<Vec<StagedReport>, OpError> {
        store.read(session, |view| {
            let versions = self.at(view)?;
            let standing = Standing::of(view, &versions)?;
            if commits {
                refuse_in_progress(view)?;
                standing.refuse_conflicts(&versions)?;
            }
            standing.check(self.condition, &versions)?;
            Ok(standing.reports(&versions))
        })
    }

    /// Commits just this in one transaction, whatever else is staged stays so. No commit where HEAD has it all.
    ///
    /// All is asked again within the transaction, so that what others commit until then counts.
    pub fn commit<D: Disk>(
        &self,
        store: &Store<D>,
        session: &SessionName,
        words: &CommitWords,
    ) -> Result<PutAndCommitReport, OpError> {
        let mut log = store.lock_log(session)?;
        let bytes = log.read().map_err(StoreError::from)?;
        let path = log.path().to_owned();

        // Asked of a snapshot first, so that nothing is committed where HEAD has it all.
        let snapshot = store.snapshot()?;
        let view = SessionView::new(&snapshot, session, &path, &bytes)?;
        refuse_in_progress(&view)?;
        let versions = self.at(&view)?;
        let ours = last_versions(&versions);
        let standing = Standing::of(&view, &versions)?;
        standing.refuse_conflicts(&versions)?;
        standing.check(self.condition, &versions)?;
        if ours.iter().all(|(id, version)| standing.heads[*id] == version.object) {
            if self.needs_change {
                return Err(OpError::NothingToCommit);
            }
            standing.stage(&mut log, &view, &versions)?;
            return Ok(PutAndCommitReport { reports: standing.reports(&versions), commit: None, warning: None });
        }
        let takes_over = ours.keys().any(|id| standing.is_staged(id));
        let staying = if takes_over { view.staying(|id| ours.contains_key(id))? } else { None };
        let consumed = takes_over.then(|| staying.as_ref().map_or(view.staged.last(), NewFrame::mark));
        if let Some(frame) = &staying {
            log.append(frame).map_err(StoreError::from)?;
        }

        let ((reports, commit), warning) = store.write(snapshot, |tables| -> Result<_, OpError> {
            let view = SessionView::new(tables, session, &path, &bytes)?;
            let versions = self.at(&view)?;
            let standing = Standing::of(&view, &versions)?;
            standing.refuse_conflicts(&versions)?;
            standing.check(self.condition, &versions)?;
            let mut row = view.next_row();
            row.consumed = consumed.unwrap_or(row.consumed);
            let changes: BTreeMap<_, Option<NodeBytes>> = last_versions(&versions)
                .into_iter()
                .filter(|(id, version)| standing.heads[*id] != version.object)
                .map(|(id, version)| (id.clone(), version.bytes.clone()))
                .collect();
            let reports = standing.reports(&versions);
            match (changes.is_empty(), self.needs_change) {
                (false, _) => {
                    let (_, commit) = tables.commit_on_head(session, row, changes, words.clone(), "put")?;
                    Ok((reports, Some(commit)))
                }
                // Another session has just committed the same.
                (true, false) => {
                    tables.set_session(session, &row)?;
                    Ok((reports, None))
                }
                (true, true) => Err(OpError::NothingToCommit),
            }
        })?;
        let truncated = if takes_over && staying.is_none() { log.truncate().err() } else { None };
        Ok(PutAndCommitReport { reports, commit, warning: warning.or(truncated.map(StoreError::from)) })
    }
}
