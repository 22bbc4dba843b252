//! The ends and the patterns of a search for the first bad commit: shared by the verbs that search.

use super::OpError;
use crate::graph::bisect::Contradiction;
use crate::model::Pattern;
use crate::store::{Access, Marks, StoreError, Tables};

/// The patterns of a search by hand.
pub(super) fn read_patterns(marks: &Marks) -> Result<Vec<Pattern>, StoreError> {
    let read = |text: &String| {
        Pattern::parse(text, marks.literal).map_err(|_| StoreError::corrupt("a pattern of a search can't be read"))
    };
    marks.patterns.iter().map(read).collect()
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
