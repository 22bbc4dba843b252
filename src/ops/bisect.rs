//! Between which commits a search for the first bad one takes place.

use super::OpError;
use super::ends::{ends_error, selected};
use crate::graph::bisect::{Bounds, Candidates, bases_to_verify, swapped};
use crate::graph::{Doubt, Revision, Selection, Walk, resolve};
use crate::model::{Pattern, SessionName};
use crate::object::{CommitId, StateId};
use crate::store::{Disk, Number, Store, StoreError};

/// The good ends that are asked for.
#[derive(Clone, Debug)]
pub enum GoodEnds {
    /// These.
    Named(Vec<Revision>),
    /// The first of the bad end's first-parent ancestors that tests good, at the distances 1, 2, 4 and so on.
    Auto,
}

/// The ends of a search.
#[derive(Clone, Debug, Default)]
pub struct BisectEnds {
    /// The bad one.
    pub bad: Number,
    /// Others that are bad.
    pub also_bad: Vec<Number>,
    /// The good ones.
    pub good: Vec<Number>,
    /// Where a good one is to be looked for, the nearest first.
    pub ladder: Vec<Number>,
    /// What names stand for beside what was taken.
    pub doubts: Vec<Doubt>,
}

/// Finds the ends of a search.
pub fn bisect_ends<D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    bad: &Revision,
    good: &GoodEnds,
) -> Result<BisectEnds, OpError> {
    store.read(session, |view| {
        let bad = resolve(view, bad)?;
        let mut ends = BisectEnds { bad: bad.number, doubts: bad.doubt.into_iter().collect(), ..BisectEnds::default() };
        match good {
            GoodEnds::Named(revisions) => {
                for revision in revisions {
                    let good = resolve(view, revision)?;
                    ends.good.push(good.number);
                    ends.doubts.extend(good.doubt);
                }
            }
            GoodEnds::Auto => {
                let mut next = 1;
                for (distance, step) in Walk::new(view.tables, [ends.bad], [], true).enumerate() {
                    let (number, commit) = step?;
                    if distance == next || (commit.parents.is_empty() && distance > 0) {
                        ends.ladder.push(number);
                        next *= 2;
                    }
                }
            }
        }
        Ok::<_, OpError>(ends)
    })
}

/// What is to be searched.
#[derive(Clone, Debug)]
pub struct BisectPlan {
    /// The commits of which one is the culprit.
    pub candidates: Candidates,
    /// Commits that have to be good for that, and are not said to be.
    pub bases: Vec<Number>,
    /// Candidates that are not to be tested.
    pub skipped: Vec<Number>,
    /// What names stand for beside what was taken.
    pub doubts: Vec<Doubt>,
}

/// The candidates between ends, of which those that `skip` chooses are not to be tested.
pub fn bisect_plan<D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    bounds: &Bounds,
    patterns: &[Pattern],
    skip: &[Selection],
) -> Result<BisectPlan, OpError> {
    store.read(session, |view| {
        if let Some(contradiction) = swapped(view.tables, bounds)? {
            return Err(ends_error(view.tables, &contradiction)?);
        }
        let candidates = Candidates::of(view.tables, bounds, patterns)?;
        let bases = bases_to_verify(view.tables, bounds)?;
        let (skipped, doubts) = selected(view, skip)?;
        Ok(BisectPlan { candidates, bases, skipped, doubts })
    })
}

/// A commit that is tested.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Its number.
    pub number: Number,
    /// Its id.
    pub id: CommitId,
    /// The id of its memory.
    pub state: StateId,
    /// The numbers of its parents.
    pub parents: Vec<Number>,
    /// What it says, on one line.
    pub subject: String,
}

/// The ids of commits, in the order of `numbers`.
pub fn commit_ids<D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    numbers: &[Number],
) -> Result<Vec<CommitId>, OpError> {
    store.read(session, |view| {
        let ids = numbers.iter().map(|&number| view.tables.commit_id(number));
        ids.collect::<Result<Vec<_>, StoreError>>().map_err(OpError::from)
    })
}

/// What is to be known of commits for a test, in the order of `numbers`.
pub fn bisect_subjects<D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    numbers: &[Number],
) -> Result<Vec<Subject>, OpError> {
    store.read(session, |view| {
        let subject = |&number: &Number| {
            let commit = view.tables.commit(number)?;
            let (id, state) = (commit.id, commit.state());
            let subject = commit.message.subject().to_owned();
            Ok(Subject { number, id, state, parents: commit.parents, subject })
        };
        numbers.iter().map(subject).collect::<Result<Vec<_>, StoreError>>().map_err(OpError::from)
    })
}
