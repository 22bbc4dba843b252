//! What revisions stand for.

use super::OpError;
use crate::graph::{Doubt, Resolved, RevisionError, Selection, abbreviated, merge_bases, ref_named, resolve, shortest};
use crate::model::SessionName;
use crate::object::CommitId;
use crate::store::{Disk, Store};

/// What [`rev_parse`] is to tell.
#[derive(Clone, Debug, Default)]
pub struct RevParseRequest {
    /// The revisions and ranges.
    pub selections: Vec<Selection>,
    /// How many digits a short id has at the least; `None` where none is wanted.
    pub digits: Option<usize>,
    /// Whether only names are wanted: then a branch without commits has one.
    pub names: bool,
}

/// What a revision stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parsed {
    /// The revision as it was given; of a merge base its id.
    pub revision: String,
    /// Whether the commit and its ancestors are left out.
    pub left_out: bool,
    /// The commit; `None` on a branch without one.
    pub commit: Option<CommitId>,
    /// The beginning of the commit's id that no other has, if it is wanted.
    pub short: Option<String>,
    /// The full name of the ref that it is by name, that of its branch for HEAD, and `HEAD` where that is on none.
    pub reference: Option<String>,
    /// The shortest name by which that ref is found.
    pub abbreviated: Option<String>,
}

/// Tells what revisions stand for, in their order: of a range first its end, then its start, then what is left out.
pub fn rev_parse<D: Disk>(
    store: &Store<D>,
    session: &SessionName,
    request: &RevParseRequest,
) -> Result<(Vec<Parsed>, Vec<Doubt>), OpError> {
    store.read(session, |view| {
        let (mut rows, mut doubts) = (Vec::new(), Vec::new());
        let short = |id: &CommitId| request.digits.map(|digits| shortest(view.tables, id, digits)).transpose();
        for selection in &request.selections {
            let mut numbers = Vec::new();
            for (revision, left_out) in selection.ends() {
                let reference = ref_named(view, revision)?;
                let commit = match resolve(view, revision) {
                    Ok(Resolved { number, doubt }) => {
                        numbers.push(number);
                        doubts.extend(doubt);
                        Some(view.tables.commit_id(number)?)
                    }
                    Err(RevisionError::Unborn { .. }) if request.names && reference.is_some() => None,
                    Err(error) => return Err(error.into()),
                };
                let abbreviated =
                    reference.as_deref().map(|name| abbreviated(view.tables, name).map(str::to_owned)).transpose()?;
                let short = commit.as_ref().map_or(Ok(None), short)?;
                rows.push(Parsed { revision: revision.to_string(), left_out, commit, short, reference, abbreviated });
            }
            if let (Selection::Either(..), &[one, other]) = (selection, &numbers[..]) {
                for base in merge_bases(view.tables, one, other)? {
                    let id = view.tables.commit_id(base)?;
                    rows.push(Parsed {
                        revision: id.to_string(),
                        left_out: true,
                        commit: Some(id),
                        short: short(&id)?,
                        reference: None,
                        abbreviated: None,
                    });
                }
            }
        }
        Ok::<_, OpError>((rows, doubts))
    })
}
