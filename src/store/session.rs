//! What a session sees: its HEAD, and its staged changes over it.

use super::StoreError;
use super::disk::Disk;
use super::open::{HEADER_GRACE, MayBeDamage, Snapshot, Store};
use super::progress::Progress;
use super::record::{Head, Number, Session, session_log_name};
use super::rows::Access;
use super::staged::{Change, LogError, NewFrame, Staged, StagedChange, StagedLog};
use super::tables::Tables;
use crate::model::{NodeId, SessionName};
use crate::object::ObjectId;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// How often a reader looks again without a lock, when a writer was in between.
const UNLOCKED_READS: usize = 2;

/// A session at one moment: what is staged belongs to just this snapshot.
pub struct SessionView<'a, A: Access> {
    /// The tables of the moment.
    pub tables: &'a Tables<A>,
    /// Its name.
    pub name: SessionName,
    /// Its row; `None` before its first transaction.
    pub row: Option<Session>,
    /// Where it stands.
    pub head: Head,
    /// What is staged.
    pub staged: Staged<'a>,
}

impl<'a, A: Access> SessionView<'a, A> {
    /// Puts the tables and the bytes of the log at `path` together.
    pub fn new(tables: &'a Tables<A>, name: &SessionName, path: &Path, log: &'a [u8]) -> Result<Self, StoreError> {
        Self::of(tables, name, |consumed| Staged::scan(path, log, consumed))
    }

    /// The same for a command that asks for a few nodes and appends; see `Staged::skim`.
    pub fn skimmed(
        tables: &'a Tables<A>,
        name: &SessionName,
        path: &Path,
        log: &'a [u8],
        ids: &[&NodeId],
    ) -> Result<Self, StoreError> {
        Self::of(tables, name, |consumed| Staged::skim(path, log, consumed, ids))
    }

    fn of(
        tables: &'a Tables<A>,
        name: &SessionName,
        scan: impl FnOnce(u64) -> Result<Staged<'a>, LogError>,
    ) -> Result<Self, StoreError> {
        let row = tables.session(name)?;
        let staged = scan(row.as_ref().map_or(0, |row| row.consumed))?;
        let head = match &row {
            Some(row) => row.head.clone(),
            None => logged_head(name, &staged)?.map_or_else(|| tables.default_head(), Ok)?,
        };
        Ok(Self { tables, name: name.clone(), row, head, staged })
    }

    /// A session as it stands, without what it has staged.
    pub fn standing(tables: &'a Tables<A>, name: &SessionName, session: Session) -> Result<Self, StoreError> {
        let staged = Staged::scan(Path::new(""), &[], session.consumed)?;
        Ok(Self { tables, name: name.clone(), head: session.head.clone(), staged, row: Some(session) })
    }

    /// The commit on which it stands.
    pub fn head_commit(&self) -> Result<Option<Number>, StoreError> {
        self.tables.head_commit(&self.head)
    }

    /// What it has begun and not finished.
    pub fn progress(&self) -> Option<&Progress> {
        self.row.as_ref()?.progress.as_ref()
    }

    /// The name under which the movements of its HEAD are logged.
    pub fn log_name(&self) -> String {
        session_log_name(&self.name)
    }

    /// What is staged for one node, if it is a change.
    pub fn find(&self, id: &NodeId) -> Result<Option<StagedChange<'a>>, StoreError> {
        Ok(self.staged.find(id)?.filter(StagedChange::is_change))
    }

    /// The staged changes that are changes.
    pub fn changes(&self) -> Result<BTreeMap<NodeId, StagedChange<'a>>, StoreError> {
        let mut changes = self.staged.replay()?;
        changes.retain(|_, change| change.is_change());
        Ok(changes)
    }

    /// The next frame of its log. The first of a session without a row says where the session stands.
    pub fn next_frame<'c>(&self, changes: impl IntoIterator<Item = Change<'c>>) -> Result<NewFrame, StoreError> {
        let head = (self.row.is_none() && self.staged.is_empty()).then(|| self.head.encode());
        Ok(self.staged.next_frame(head.as_deref(), changes)?)
    }

    /// The frame of what stays staged when a commit takes the changes of `chosen` and sets the mark to
    /// [`NewFrame::mark`]; `None` where nothing stays. It has to be in the log before the mark is set.
    pub fn staying(&self, chosen: impl Fn(&NodeId) -> bool) -> Result<Option<NewFrame>, StoreError> {
        let mut staying = self.staged.replay()?;
        staying.retain(|id, change| change.is_change() && !chosen(id));
        if staying.is_empty() {
            return Ok(None);
        }
        self.next_frame(staying.iter().map(|(id, change)| change.of(id.into()))).map(Some)
    }

    /// The row that the session's next transaction writes, if nothing else changes in it.
    pub fn next_row(&self) -> Session {
        self.row.clone().unwrap_or_else(|| Session::at(self.head.clone()))
    }
}

/// What is staged in the log at `path`, whose session has consumed so much; changes that are none included.
pub fn staged_changes<'l>(
    path: &Path,
    log: &'l [u8],
    consumed: u64,
) -> Result<BTreeMap<NodeId, StagedChange<'l>>, StoreError> {
    Ok(Staged::scan(path, log, consumed)?.replay()?)
}

/// Where the head entry of a log says that its session stands.
fn logged_head(name: &SessionName, staged: &Staged<'_>) -> Result<Option<Head>, StoreError> {
    let head = staged.head()?.map(Head::decode).transpose();
    head.map_err(|error| StoreError::decode(format!("the head of '{name}'"), error))
}

/// What a frame must say so that `version`, the new object and its bytes or nothing, is what stands for `id`, where HEAD
/// has `head` and `staged` is staged.
pub fn entries<'c>(
    id: &'c NodeId,
    version: Option<(ObjectId, &'c [u8])>,
    head: Option<ObjectId>,
    staged: Option<StagedChange<'_>>,
) -> Vec<Change<'c>> {
    let object = version.map(|(object, _)| object);
    let forget = staged.map(|_| Change::Unstage { id: id.into() });
    if object == head {
        return forget.into_iter().collect();
    }
    let set = |base| match version {
        Some((_, node)) => Change::Set { id: id.into(), base, node },
        None => Change::Remove { id: id.into(), base },
    };
    match staged {
        Some(staged) if staged.version() == object && staged.is_change() => Vec::new(),
        // What the first change replaced comes back, although HEAD has something else by now; or HEAD has by now what was
        // staged: a change of its own.
        Some(staged) if staged.base == object || staged.version() == head || !staged.is_change() => {
            forget.into_iter().chain([set(head)]).collect()
        }
        Some(staged) => vec![set(staged.base)],
        None => vec![set(head)],
    }
}

impl<D: Disk> Store<D> {
    /// All sessions, with a row or only a log, in the order of their names.
    pub fn sessions(&self) -> Result<Vec<SessionName>, StoreError> {
        let mut names = self.disk().logs()?;
        names.extend(self.snapshot()?.guarded(|tables| tables.sessions())?.into_iter().map(|(name, _)| name));
        names.sort();
        names.dedup();
        Ok(names)
    }

    /// The row of a session, or that which its next transaction writes.
    ///
    /// Where it has no row its log is read without a lock. In a write transaction such a log only grows; beside a snapshot
    /// it may seem damaged, see [`Store::look`].
    pub fn standing<A: Access>(&self, tables: &Tables<A>, name: &SessionName) -> Result<Session, StoreError> {
        match tables.session(name)? {
            Some(row) => Ok(row),
            None => Ok(Session::at(self.logged_head(name)?.map_or_else(|| tables.default_head(), Ok)?)),
        }
    }

    /// All sessions that stand somewhere of their own and not just where `default` does, in the order of their names, as
    /// [`Store::standing`] has them.
    pub fn standings<A: Access>(&self, tables: &Tables<A>) -> Result<BTreeMap<SessionName, Session>, StoreError> {
        let mut found: BTreeMap<_, _> = tables.sessions()?.into_iter().collect();
        for name in self.disk().logs()? {
            if !found.contains_key(&name)
                && let Some(head) = self.logged_head(&name)?
            {
                found.insert(name, Session::at(head));
            }
        }
        Ok(found)
    }

    fn logged_head(&self, name: &SessionName) -> Result<Option<Head>, StoreError> {
        let log = self.disk().read_log(name, None)?;
        logged_head(name, &log.staged(0)?)
    }

    /// Calls `look` with a snapshot, and returns both. Where something seems damaged, a session may just have been at work:
    /// then once more with a new snapshot.
    pub fn look<R, E: MayBeDamage>(
        &self,
        look: impl Fn(&Tables<super::rows::Reading>) -> Result<R, E>,
    ) -> Result<(R, Snapshot), E> {
        let mut looks = 0;
        loop {
            looks += 1;
            let snapshot = self.snapshot()?;
            match snapshot.guarded(&look) {
                Ok(found) => return Ok((found, snapshot)),
                Err(error) if error.is_damage() && looks <= UNLOCKED_READS => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Locks the session's log for one command that writes. Nothing is created in a store that cannot be read.
    pub fn lock_log(&self, name: &SessionName) -> Result<StagedLog<D::Log>, StoreError> {
        if !self.disk().has_log(name) {
            drop(self.snapshot()?);
        }
        if !self.asks_settings() {
            return Ok(self.disk().lock_log(name, self.lock_timeout())?);
        }
        match self.disk().lock_log(name, Duration::ZERO) {
            Err(LogError::Busy { .. }) => {
                let patience = self.snapshot()?.guarded(|tables| self.patience(tables))?;
                Ok(self.disk().lock_log(name, patience)?)
            }
            locked => Ok(locked?),
        }
    }

    /// Calls `read` with what the session sees in a store that needs no repair; never waits longer than a header write
    /// takes, and repairs nothing.
    pub fn peek<R, E: MayBeDamage>(
        &self,
        name: &SessionName,
        read: impl FnOnce(&SessionView<'_, super::rows::Reading>) -> Result<R, E>,
    ) -> Result<R, E> {
        let log = self.disk().read_log(name, None).map_err(StoreError::from)?;
        self.clean_snapshot()?
            .guarded(|tables| read(&SessionView::of(tables, name, |consumed| log.staged(consumed)).map_err(E::from)?))
    }

    /// Calls `read` with what the session sees. Takes no lock, unless a writer was in between again and again.
    ///
    /// Where the snapshot is an overlay and seems damaged, a writer may have been underneath: then once more.
    pub fn read<R, E: MayBeDamage>(
        &self,
        name: &SessionName,
        mut read: impl FnMut(&SessionView<'_, super::rows::Reading>) -> Result<R, E>,
    ) -> Result<R, E> {
        let mut overlay_retry = true;
        let mut unlocked_reads = 0;
        loop {
            let locked = unlocked_reads == UNLOCKED_READS;
            let wait = locked.then(|| self.lock_timeout().max(HEADER_GRACE));
            let log = self.disk().read_log(name, wait).map_err(StoreError::from)?;
            let snapshot = self.snapshot()?;
            if !locked && !log.is_current().map_err(StoreError::from)? {
                unlocked_reads += 1;
                continue;
            }
            let result = snapshot.guarded(|tables| {
                let consumed = tables.session(name).map_err(E::from)?.map_or(0, |row| row.consumed);
                if !locked && matches!(log.staged(consumed), Err(LogError::Damaged { .. })) {
                    // A writer may just have been at it.
                    return Ok(None);
                }
                let view = SessionView::of(tables, name, |consumed| log.staged(consumed)).map_err(E::from)?;
                read(&view).map(Some)
            });
            match result {
                Ok(Some(answer)) => return Ok(answer),
                Ok(None) => unlocked_reads += 1,
                Err(error) if overlay_retry && snapshot.is_overlay() && error.is_damage() => overlay_retry = false,
                Err(error) => return Err(error),
            }
        }
    }
}
