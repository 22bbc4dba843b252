//! The ends and the patterns of a search for the first bad commit: shared by the verbs that search.

use super::OpError;
use crate::graph::bisect::Contradiction;
use crate::graph::{Doubt, Selection, Walk, resolve, resolve_all};
use crate::model::Pattern;
use crate::store::{Access, Marks, Number, SessionView, StoreError, Tables};

/// The patterns of a search by hand.
pub(super) fn read_patterns(marks: &Marks) -> Result<Vec<Pattern>, StoreError> {
    let read = |text: &String| {
        Pattern::parse(text, marks.literal).map_err(|_| StoreError::corrupt("a pattern of a search can't be read"))
    };
    marks.patterns.iter().map(read).collect()
}

/// The commits that selections name one by one: a revision is its commit, all else every commit that it admits.
pub(super) fn selected<A: Access>(
    view: &SessionView<'_, A>,
    selections: &[Selection],
) -> Result<(Vec<Number>, Vec<Doubt>), OpError> {
    let (mut numbers, mut doubts) = (Vec::new(), Vec::new());
    for selection in selections {
        match selection {
            Selection::Of(revision) => {
                let resolved = resolve(view, revision)?;
                numbers.push(resolved.number);
                doubts.extend(resolved.doubt);
            }
            Selection::Without(_) | Selection::Between(..) | Selection::Either(..) => {
                let ends = resolve_all(view, std::slice::from_ref(selection))?;
                for step in Walk::new(view.tables, ends.starts, ends.without, false) {
                    numbers.push(step?.0);
                }
                doubts.extend(ends.doubts);
            }
        }
    }
    Ok((numbers, doubts))
}

/// What is wrong with ends.
pub(super) fn ends_error<A: Access>(tables: &Tables<A>, contradiction: &Contradiction) -> Result<OpError, StoreError> {
    Ok(match contradiction {
        Contradiction::Both(number) => OpError::BothEnds(tables.commit_id(*number)?),
        Contradiction::Mended { bad, good } => {
            OpError::SwappedEnds { bad: tables.commit_id(*bad)?, good: tables.commit_id(*good)? }
        }
        Contradiction::Unexplained { bad } => OpError::BothEnds(tables.commit_id(bad[0])?),
    })
}
