//! A search for the first bad commit by hand: its marks are kept with the session, and nothing else of it moves.

use super::OpError;
use super::ends::{ends_error, read_patterns, selected};
use crate::graph::bisect::{Bounds, Candidates, Search, Step, swapped};
use crate::graph::{Doubt, Revision, Selection, resolve};
use crate::model::SessionName;
use crate::object::CommitId;
use crate::store::{Access, Disk, Marked, Marks, Number, SessionView, Store, StoreError, Tables};

/// How a search by hand stands.
#[derive(Debug)]
pub struct MarksReport {
    /// What was said so far.
    pub marks: Marks,
    /// The ids of what was said, in the order of the commands.
    pub said: Vec<(Marked, Vec<(CommitId, String)>)>,
    /// What is to be done next.
    pub next: Next,
    /// What names stand for beside what was taken.
    pub doubts: Vec<Doubt>,
    /// What failed after it was durable.
    pub warning: Option<StoreError>,
}

/// What is to be done next in a search by hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// A bad commit is to be named.
    NeedsBad,
    /// A good commit is to be named.
    NeedsGood,
    /// This commit is to be tested.
    Test {
        /// Its number.
        number: Number,
        /// Its id.
        id: CommitId,
        /// What it says, on one line.
        subject: String,
        /// How many commits may be the culprit.
        left: usize,
        /// About how many tests are to come.
        steps: u32,
    },
    /// This is the culprit.
    Found(CommitId),
    /// These are left, and none of them can be tested.
    Unsure(Vec<CommitId>),
}

/// The ends between which marks leave the culprit.
fn bounds_of(marks: &Marks) -> Bounds {
    Bounds { bad: marks.of(Marked::Bad), good: marks.of(Marked::Good), first_parent: marks.first_parent }
}

/// What comes of marks.
fn next<A: Access>(tables: &Tables<A>, marks: &Marks) -> Result<Next, OpError> {
    let bounds = bounds_of(marks);
    if bounds.bad.is_empty() {
        return Ok(Next::NeedsBad);
    }
    if bounds.good.is_empty() {
        return Ok(Next::NeedsGood);
    }
    if let Some(contradiction) = swapped(tables, &bounds)? {
        return Err(ends_error(tables, &contradiction)?);
    }
    let candidates = Candidates::of(tables, &bounds, &read_patterns(marks)?)?;
    if candidates.numbers().is_empty() {
        return Err(OpError::NothingBetween);
    }
    let mut search = Search::new(candidates);
    for skipped in marks.of(Marked::Skip) {
        search.mark(skipped, crate::graph::bisect::Mark::Skip).expect("nothing is marked otherwise");
    }
    Ok(match search.next(1) {
        Step::Found(culprit) => Next::Found(tables.commit_id(culprit)?),
        Step::Unsure { candidates } => {
            Next::Unsure(candidates.into_iter().map(|number| tables.commit_id(number)).collect::<Result<_, _>>()?)
        }
        Step::Test(picks) => {
            let number = picks[0];
            let commit = tables.commit(number)?;
            let (left, steps) = (search.left(), search.steps());
            Next::Test { number, id: commit.id, subject: commit.message.subject().to_owned(), left, steps }
        }
    })
}

fn report<A: Access>(tables: &Tables<A>, marks: Marks) -> Result<MarksReport, OpError> {
    let next = next(tables, &marks)?;
    let told = |number: &Number| {
        let commit = tables.commit(*number)?;
        Ok((commit.id, commit.message.subject().to_owned()))
    };
    let said = |(marked, numbers): &(Marked, Vec<Number>)| {
        Ok((*marked, numbers.iter().map(told).collect::<Result<_, StoreError>>()?))
    };
    let said = marks.said.iter().map(said).collect::<Result<_, StoreError>>()?;
    Ok(MarksReport { marks, said, next, doubts: Vec::new(), warning: None })
}

/// What a session's search is changed to.
#[derive(Clone, Debug)]
pub enum Marking {
    /// A new one, in place of one that is there.
    Start(Marks, Vec<(Marked, Vec<Revision>)>),
    /// More is said; of the commit that is to be tested next, else of HEAD, where none is named.
    Say(Marked, Vec<Selection>),
    /// What the last command said is taken back.
    Undo,
}

/// How a session's search stands; `None` where there is none.
pub fn marks<D: Disk>(store: &Store<D>, session: &SessionName) -> Result<Option<MarksReport>, OpError> {
    store.read(session, |view| match found(view) {
        Some(marks) => report(view.tables, marks.clone()).map(Some),
        None => Ok(None),
    })
}

fn found<'v, A: Access>(view: &'v SessionView<'_, A>) -> Option<&'v Marks> {
    view.row.as_ref()?.marks.as_ref()
}

/// Changes a session's search; nothing else of the session.
pub fn set_marks<D: Disk>(store: &Store<D>, session: &SessionName, marking: &Marking) -> Result<MarksReport, OpError> {
    let mut log = store.lock_log(session)?;
    let bytes = log.read().map_err(StoreError::from)?;
    let path = log.path().to_owned();
    let snapshot = store.snapshot()?;
    // Asked of the snapshot, so that what is refused leaves the store as it was.
    let (asked, doubts) = {
        let view = SessionView::new(&snapshot, session, &path, &bytes)?;
        let (marks, doubts) = changed(&view, marking)?;
        (report(&snapshot, marks)?, doubts)
    };
    let ((), warning) = store.write(snapshot, |tables| -> Result<_, OpError> {
        let mut row = SessionView::new(tables, session, &path, &bytes)?.next_row();
        row.marks = Some(asked.marks.clone());
        Ok(tables.set_session(session, &row)?)
    })?;
    Ok(MarksReport { doubts, warning, ..asked })
}

fn changed<A: Access>(view: &SessionView<'_, A>, marking: &Marking) -> Result<(Marks, Vec<Doubt>), OpError> {
    let mut doubts = Vec::new();
    let mut named = |revision: &Revision| -> Result<Number, OpError> {
        let resolved = resolve(view, revision)?;
        doubts.extend(resolved.doubt);
        Ok(resolved.number)
    };
    let marks = match marking {
        Marking::Start(marks, said) => {
            // There is nothing to search before the first commit.
            resolve(view, &Revision::head())?;
            let mut marks = marks.clone();
            for (marked, revisions) in said {
                let numbers = revisions.iter().map(&mut named).collect::<Result<Vec<_>, _>>()?;
                marks.said.push((*marked, numbers));
            }
            marks
        }
        Marking::Say(marked, selections) => {
            let mut marks = found(view).ok_or(OpError::NoBisect)?.clone();
            let numbers = if selections.is_empty() {
                vec![match next(view.tables, &marks)? {
                    Next::Test { number, .. } => number,
                    Next::NeedsBad | Next::NeedsGood | Next::Found(_) | Next::Unsure(_) => named(&Revision::head())?,
                }]
            } else {
                let (numbers, more) = selected(view, selections)?;
                doubts.extend(more);
                numbers
            };
            marks.said.push((*marked, numbers));
            marks
        }
        Marking::Undo => {
            let mut marks = found(view).ok_or(OpError::NoBisect)?.clone();
            marks.said.pop().ok_or(OpError::NothingMarked)?;
            marks
        }
    };
    Ok((marks, doubts))
}

/// Ends a session's search; what was said, where there was one, to begin it again.
pub fn forget_marks<D: Disk>(store: &Store<D>, session: &SessionName) -> Result<Option<MarksReport>, OpError> {
    let Some(report) = marks(store, session)? else { return Ok(None) };
    let mut log = store.lock_log(session)?;
    let bytes = log.read().map_err(StoreError::from)?;
    let path = log.path().to_owned();
    let snapshot = store.snapshot()?;
    let ((), warning) = store.write(snapshot, |tables| -> Result<_, OpError> {
        let mut row = SessionView::new(tables, session, &path, &bytes)?.next_row();
        row.marks = None;
        Ok(tables.set_session(session, &row)?)
    })?;
    Ok(Some(MarksReport { warning, ..report }))
}
