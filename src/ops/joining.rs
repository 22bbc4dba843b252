//! A merge or a revert that is under way: what comes of it, what conflicts, how that is settled. Shared by the verbs that
//! join changes, and by those that are refused meanwhile.
//!
//! How a conflict is settled is staged, so it survives whatever happens, and a version that was settled on counts only while
//! HEAD has what it was settled against.

use super::{OpError, refs::place_name};
use crate::graph::{
    Entry, Join, NodeFilter, Outcome, Reach, Removal, Surroundings, Writer, join, last_version, merge_bases,
    merged_base, removal, undone, written,
};
use crate::model::{Author, CommitTime, Message, Node, NodeId, Provenance, SessionName};
use crate::object::{CommitId, Link, ObjectId, encode_kept, get};
use crate::store::{
    Access, Change, CommitRecord, CommitWords, Head, LogFile, NodeBytes, Number, Progress, Session, SessionView,
    StagedChange, StagedLog, StoreError, Tables, Undo, Writing,
};
use std::collections::{BTreeMap, BTreeSet};

/// Who makes a commit, and when.
#[derive(Clone, Debug)]
pub struct Signature {
    /// Who.
    pub author: Author,
    /// When.
    pub time: CommitTime,
}

impl Signature {
    pub(super) fn saying(&self, message: Message) -> CommitWords {
        CommitWords { author: self.author.clone(), time: self.time, message }
    }
}

/// What is begun and not finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Underway {
    /// A merge.
    Merge,
    /// A revert.
    Revert,
}

impl Underway {
    /// The command that goes on with it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Merge => "merge",
            Self::Revert => "revert",
        }
    }
}

impl From<&Progress> for Underway {
    fn from(progress: &Progress) -> Self {
        match progress {
            Progress::Merge { .. } => Self::Merge,
            Progress::Revert { .. } | Progress::Undo(_) => Self::Revert,
        }
    }
}

/// Refuses where the session has begun something: that is to be finished or left first.
pub(super) fn refuse_in_progress<A: Access>(view: &SessionView<'_, A>) -> Result<(), OpError> {
    match view.progress() {
        Some(progress) => Err(OpError::InProgress(progress.into())),
        None => Ok(()),
    }
}

/// Whether all of `ids` conflict in what the session has begun.
pub(super) fn are_conflicts<A: Access>(view: &SessionView<'_, A>, ids: &[NodeId]) -> Result<bool, OpError> {
    let Some(progress) = view.progress() else { return Ok(false) };
    let conflicts = work_out(view.tables, &view.head, progress)?.join.conflicts;
    Ok(ids.iter().all(|id| conflicts.contains_key(id)))
}

/// What the session has begun, which must be of this kind.
pub(super) fn underway<'v, A: Access>(view: &'v SessionView<'_, A>, wanted: Underway) -> Result<&'v Progress, OpError> {
    match view.progress() {
        None => Err(OpError::NothingInProgress(wanted)),
        Some(progress) if Underway::from(progress) == wanted => Ok(progress),
        Some(progress) => Err(OpError::InProgress(progress.into())),
    }
}

/// What comes of a step on HEAD as it is.
pub(super) struct Worked {
    pub join: Join,
    /// The commit that has what the other side has, where one does.
    pub theirs: Option<Number>,
    /// The parents of the commit that it leads to.
    pub parents: Vec<Number>,
    /// What that says, if nothing else is said.
    pub message: Message,
    /// Whether HEAD has it all by now.
    pub is_done: bool,
}

/// Works out what comes of the next step of what is begun, on a head as it is.
pub(super) fn work_out<A: Access>(tables: &Tables<A>, place: &Head, progress: &Progress) -> Result<Worked, OpError> {
    let head = tables.head_commit(place)?;
    let here = short(&place_name(tables, place)?);
    match progress {
        Progress::Merge { theirs, name, message } => {
            let bases = head.map_or(Ok(Vec::new()), |head| merge_bases(tables, head, *theirs))?;
            let mut names = [here.as_str(), name];
            // So both sides say the same when each merges the other.
            names.sort_unstable();
            let note = format!("merge of {} and {}", names[0], names[1]);
            let base = merged_base(tables, &bases)?;
            let join = join(tables, &base, tables.root(head)?, tables.root(Some(*theirs))?, &note)?;
            let parents = head.into_iter().chain([*theirs]).collect();
            let message = said(message.as_ref().unwrap_or(&format!("merge {name} into {here}")))?;
            Ok(Worked { join, theirs: Some(*theirs), parents, message, is_done: bases.contains(theirs) })
        }
        Progress::Revert { commits, mainline, message, .. } => {
            let number = *commits.first().ok_or_else(|| StoreError::corrupt("a revert has nothing to revert"))?;
            let commit = tables.commit(number)?;
            let back = parent_of(&commit, *mainline)?;
            let note = format!("revert of {} in {here}", short(&commit.id.to_string()));
            let join = join(tables, &commit.root.link().into(), tables.root(head)?, tables.root(back)?, &note)?;
            let default = format!("revert \"{}\"\n\nThis reverts commit {}.", commit.message.subject(), commit.id);
            let message = said(message.as_ref().unwrap_or(&default))?;
            Ok(Worked { join, theirs: back, parents: head.into_iter().collect(), message, is_done: false })
        }
        Progress::Undo(Undo { provenance, ids, commits, message }) => {
            let head = head.ok_or_else(|| StoreError::corrupt("a revert stands on no commit"))?;
            let filter = NodeFilter { provenance: provenance.clone(), ..NodeFilter::default() };
            let ids: BTreeSet<_> = ids.iter().cloned().collect();
            let commits: BTreeSet<_> = commits.iter().copied().collect();
            let chosen = (!commits.is_empty()).then_some(&commits);
            let join = undone(tables, head, &ids, &filter, chosen, &format!("undo in {here}"))?;
            Ok(Worked { join, theirs: None, parents: vec![head], message: said(message)?, is_done: false })
        }
    }
}

fn said(message: &str) -> Result<Message, StoreError> {
    Message::new(message).map_err(|_| StoreError::corrupt("the message of what is in progress is blank"))
}

/// To which parent a revert goes back: `None` where the commit has none.
pub(super) fn parent_of(commit: &CommitRecord, mainline: u64) -> Result<Option<Number>, OpError> {
    let at = usize::try_from(mainline).unwrap_or(usize::MAX);
    match (commit.parents.as_slice(), at) {
        (parents, 0) if parents.len() < 2 => Ok(parents.first().copied()),
        (parents, at) if parents.len() > 1 && (1..=parents.len()).contains(&at) => Ok(Some(parents[at - 1])),
        (parents, at) => Err(OpError::Mainline { commit: commit.id, parents: parents.len(), named: at }),
    }
}

/// A short id for a full one; any other name as it is.
fn short(name: &str) -> String {
    let is_id = name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    name[..if is_id { 10 } else { name.len() }].to_owned()
}

/// What a side of a conflict has.
#[derive(Clone, Debug)]
pub enum Told {
    /// A node, and who wrote it.
    Node(Box<Writer>),
    /// Nothing, since somebody took it away.
    Removed(Box<Removal>),
    /// Nothing.
    Absent,
    /// A node that was made of two that were merged.
    Made(Box<Node>),
    /// Two that conflict themselves.
    Undecided,
}

/// On what a conflict was settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// What HEAD has.
    Ours,
    /// What the other side has.
    Theirs,
    /// What both were made of.
    Base,
    /// The node goes.
    Delete,
    /// Something else.
    Other,
}

/// A node that both sides changed, and not alike.
#[derive(Clone, Debug)]
pub struct ConflictReport {
    /// Its id.
    pub id: NodeId,
    /// What both were made of.
    pub base: Told,
    /// What HEAD has.
    pub ours: Told,
    /// What the other side has.
    pub theirs: Told,
    /// How it is settled, if it is.
    pub settled: Option<Settled>,
}

/// What is staged, changes that are none included.
pub(super) type StagedChanges<'a> = BTreeMap<NodeId, StagedChange<'a>>;

/// Tells the conflicts of what is under way on a head, with how they are settled.
pub(super) fn conflicts<A: Access>(
    tables: &Tables<A>,
    place: &Head,
    staged: &StagedChanges<'_>,
    worked: &Worked,
) -> Result<Vec<ConflictReport>, StoreError> {
    let head = tables.head_commit(place)?;
    let mut found = Vec::new();
    for (id, conflict) in &worked.join.conflicts {
        let ours = conflict.ours.map(|(_, object)| object);
        let settled = staged.get(id).filter(|change| settles(change, ours)).map(|change| {
            let version = change.version();
            let is_base = conflict.base != Outcome::Undecided && version == conflict.base.object();
            match version {
                version if version == ours => Settled::Ours,
                version if version == conflict.theirs.object() => Settled::Theirs,
                _ if is_base => Settled::Base,
                None => Settled::Delete,
                Some(_) => Settled::Other,
            }
        });
        found.push(ConflictReport {
            id: id.clone(),
            base: told(tables, id, &conflict.base, None)?,
            ours: told(tables, id, &Outcome::Stored(conflict.ours), head)?,
            theirs: told(tables, id, &conflict.theirs, worked.theirs)?,
            settled,
        });
    }
    Ok(found)
}

/// Whether a staged change was made against what HEAD has.
fn settles(change: &StagedChange<'_>, head: Option<ObjectId>) -> bool {
    !change.collides_with(head)
}

fn told<A: Access>(
    tables: &Tables<A>,
    id: &NodeId,
    version: &Outcome,
    commit: Option<Number>,
) -> Result<Told, StoreError> {
    Ok(match version {
        Outcome::Stored(Some(leaf)) => Told::Node(Box::new(written(tables, *leaf)?.into())),
        Outcome::Made(node) => Told::Made(node.clone()),
        Outcome::Undecided => Told::Undecided,
        Outcome::Stored(None) => {
            let removed = commit.map(|commit| removal(tables, id, commit)).transpose()?.flatten();
            let Some(removed) = removed else { return Ok(Told::Absent) };
            let commit = tables.commit(removed)?;
            let last = last_version(tables, id, &commit)?;
            Told::Removed(Box::new(Removal { commit: Some(commit), last }))
        }
    })
}

/// Refuses where something is staged for a node that the step is about: it was staged for something else.
pub(super) fn refuse_staged(staged: &StagedChanges<'_>, join: &Join) -> Result<(), OpError> {
    let hidden = staged.iter().filter(|(id, change)| change.is_change() && join.concerns(id));
    let hidden: Vec<_> = hidden.map(|(id, _)| id.clone()).collect();
    if hidden.is_empty() { Ok(()) } else { Err(OpError::WouldOverwrite(hidden)) }
}

/// Forgets staged changes that are none, as a reset that failed leaves them: of what is begun now they would settle conflicts.
pub(super) fn forget_no_changes<F: LogFile, A: Access>(
    log: &mut StagedLog<F>,
    view: &SessionView<'_, A>,
) -> Result<(), StoreError> {
    let staged = view.staged.replay()?;
    let none = staged.iter().filter(|(_, change)| !change.is_change());
    let forgotten: Vec<_> = none.map(|(id, _)| Change::Unstage { id: id.into() }).collect();
    if !forgotten.is_empty() {
        log.append(&view.next_frame(forgotten)?)?;
    }
    Ok(())
}

/// The frame entries by which `version` settles a node for which HEAD has `head`, whatever was staged before.
pub(super) fn settling<'c>(id: &'c NodeId, version: Option<&'c [u8]>, head: Option<ObjectId>) -> [Change<'c>; 2] {
    let change = match version {
        Some(node) => Change::Set { id: id.into(), base: head, node },
        None => Change::Remove { id: id.into(), base: head },
    };
    [Change::Unstage { id: id.into() }, change]
}

/// What the step changes in HEAD, conflicts as they are settled. Where one is not, or HEAD has something else by now than it
/// was settled against, these are named.
pub(super) fn settled_changes<A: Access>(
    tables: &Tables<A>,
    place: &Head,
    staged: &StagedChanges<'_>,
    join: Join,
) -> Result<BTreeMap<NodeId, Option<NodeBytes>>, OpError> {
    let root = tables.root(tables.head_commit(place)?)?;
    let Join { changes, conflicts } = join;
    let mut open: BTreeSet<NodeId> = conflicts.keys().cloned().collect();
    let mut settled: BTreeMap<_, _> =
        changes.into_iter().map(|(id, node)| (id, node.as_ref().map(encode_kept))).collect();
    for (id, change) in staged {
        if !open.contains(id) && !settled.contains_key(id) {
            continue;
        }
        let head = get(tables, root, id)?.map(|(_, object)| object);
        if !settles(change, head) {
            open.insert(id.clone());
            continue;
        }
        open.remove(id);
        if change.version() == head {
            settled.remove(id);
        } else {
            settled.insert(id.clone(), change.node.map(<[u8]>::to_vec));
        }
    }
    if open.is_empty() { Ok(settled) } else { Err(OpError::Unsettled(open.into_iter().collect())) }
}

/// Makes the commit of a step and moves HEAD to it; what was begun is then done.
pub(super) fn commit_step(
    tables: &mut Tables<Writing<'_>>,
    session: &SessionName,
    row: &mut Session,
    parents: Vec<Number>,
    changes: BTreeMap<NodeId, Option<NodeBytes>>,
    words: CommitWords,
    reason: &str,
) -> Result<Number, StoreError> {
    let root: Option<Link> = tables.root(parents.first().copied())?;
    let update = tables.update_from(root, changes)?;
    let time = words.time;
    let (number, _) = tables.append_commit(parents, words, update)?;
    row.progress = None;
    tables.advance_head(session, row, number, time, reason)?;
    Ok(number)
}

/// Commits that are to be undone one after the other.
pub(super) struct Reverts<'a> {
    /// Where HEAD was before the first of them.
    pub start: Number,
    /// Those to come.
    pub commits: &'a [Number],
    /// To which parent merges go back, counted from 1; 0 where none was named.
    pub mainline: u64,
    /// What the commit is to say, where that was said.
    pub message: Option<String>,
}

/// What came of reverts.
#[derive(Clone, Debug, Default)]
pub struct Reverted {
    /// The commits that were made, in their order.
    pub made: Vec<Entry>,
    /// Commits that are to be undone, and of which HEAD has nothing any more.
    pub unchanged: Vec<CommitId>,
    /// Where it stopped, if it did.
    pub stopped: Option<Stop>,
}

/// Conflicts that are to be settled before it goes on.
#[derive(Clone, Debug)]
pub struct Stop {
    /// The commit that was to be undone; `None` where that is not one.
    pub commit: Option<CommitId>,
    /// What conflicts.
    pub conflicts: Vec<ConflictReport>,
}

/// Undoes commits up to the first that conflicts, which the row keeps with those behind it.
pub(super) fn run_reverts(
    tables: &mut Tables<Writing<'_>>,
    session: &SessionName,
    row: &mut Session,
    reverts: Reverts<'_>,
    staged: &StagedChanges<'_>,
    signature: &Signature,
    reverted: &mut Reverted,
) -> Result<(), OpError> {
    let Reverts { start, mut commits, mainline, message } = reverts;
    while let Some((&number, rest)) = commits.split_first() {
        let reached = tables.head_commit(&row.head)?.unwrap_or(start);
        let (left, message) = (commits.to_vec(), message.clone());
        let progress = Progress::Revert { start, reached, commits: left, mainline, message };
        let worked = work_out(tables, &row.head, &progress)?;
        refuse_staged(staged, &worked.join)?;
        let id = tables.commit_id(number)?;
        if !worked.join.conflicts.is_empty() {
            let conflicts = conflicts(tables, &row.head, staged, &worked)?;
            reverted.stopped = Some(Stop { commit: Some(id), conflicts });
            row.progress = Some(progress);
            break;
        }
        if worked.join.changes.is_empty() {
            reverted.unchanged.push(id);
        } else {
            let changes = settled_changes(tables, &row.head, &BTreeMap::new(), worked.join)?;
            let words = signature.saying(worked.message);
            commit_step(tables, session, row, worked.parents, changes, words, "revert")?;
            reverted.made.extend(head_entry(tables, &row.head)?);
        }
        commits = rest;
    }
    reverted.look_again(tables, &row.head)?;
    Ok(())
}

impl Reverted {
    /// Tells the refs of what was made as they are at the end.
    fn look_again<A: Access>(&mut self, tables: &Tables<A>, head: &Head) -> Result<(), StoreError> {
        if let Some((last, others)) = self.made.split_last_mut() {
            others.iter_mut().for_each(|entry| (entry.is_head, entry.refs) = (false, Vec::new()));
            if let Some(entry) = head_entry(tables, head)? {
                *last = entry;
            }
        }
        Ok(())
    }
}

/// The commit on which a head stands.
pub(super) fn head_entry<A: Access>(tables: &Tables<A>, head: &Head) -> Result<Option<Entry>, StoreError> {
    let Some(number) = tables.head_commit(head)? else { return Ok(None) };
    let commit = tables.commit(number)?;
    Ok(Some(Surroundings::new(tables, head)?.entry(tables, number, commit, &BTreeMap::new())?))
}

/// What was in progress and is left, with all that begins it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Left {
    /// A merge.
    Merge {
        /// What was merged, by its name.
        name: String,
        /// What the commit was to say, where that was said.
        message: Option<String>,
    },
    /// Commits that were to be undone.
    Revert {
        /// The one that stopped, and those to come.
        commits: Vec<CommitId>,
        /// To which parent merges go back, counted from 1; 0 where none was named.
        mainline: u64,
        /// What the commit was to say, where that was said.
        message: Option<String>,
    },
    /// What came from somewhere.
    Undo {
        /// From where.
        provenance: Provenance,
        /// Of which nodes.
        ids: Vec<NodeId>,
        /// Of which commits; of all where there is none.
        commits: Vec<CommitId>,
        /// What the commit was to say.
        message: String,
    },
}

impl Left {
    /// What is left with this.
    pub(super) fn of<A: Access>(tables: &Tables<A>, progress: &Progress) -> Result<Self, StoreError> {
        let ids = |numbers: &[Number]| -> Result<Vec<_>, StoreError> {
            numbers.iter().map(|number| tables.commit_id(*number)).collect()
        };
        Ok(match progress {
            Progress::Merge { name, message, .. } => Self::Merge { name: name.clone(), message: message.clone() },
            Progress::Revert { commits, mainline, message, .. } => {
                Self::Revert { commits: ids(commits)?, mainline: *mainline, message: message.clone() }
            }
            Progress::Undo(Undo { provenance, ids: nodes, commits, message }) => Self::Undo {
                provenance: provenance.clone(),
                ids: nodes.clone(),
                commits: ids(commits)?,
                message: message.clone(),
            },
        })
    }
}

/// From where a provenance says that something came, in words.
pub(super) fn told_provenance(provenance: &Provenance) -> String {
    let told = provenance.fields().into_iter().filter_map(|(name, value)| Some((name.replace('_', " "), value?)));
    told.map(|(name, value)| format!("{name} '{value}'")).collect::<Vec<_>>().join(", ")
}

/// Whether `one` is an ancestor of `other`.
pub(super) fn is_ancestor<A: Access>(tables: &Tables<A>, one: Number, other: Number) -> Result<bool, StoreError> {
    Reach::of([tables.commit(other)?.place]).contains(tables, tables.commit(one)?.place)
}
