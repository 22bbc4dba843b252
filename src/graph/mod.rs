//! Questions about states and commits, over small traits. Pure: no process, no clock, no terminal.

mod ancestry;
mod back;
pub mod bisect;
mod blame;
mod change;
mod change_filter;
mod changed_commits;
mod compare;
mod entry;
mod flips;
mod history;
mod lineage;
mod merge;
pub mod narrow;
mod near;
mod node_filter;
mod node_versions;
mod origin;
mod predicate;
mod revision;
mod select;
#[cfg(any(test, feature = "internals"))]
mod test_graph;
mod text_change;
mod turn;
mod versions;
mod walk;

pub use ancestry::Reach;
pub use blame::{Blame, Blamed, Lacking, Parts, Share};
pub use change::{Changed, Field, changed, changed_in_memory};
pub use change_filter::ChangeFilter;
pub use changed_commits::{changed_by_record, changed_commits, changed_on_first_parent, differs_from_first_parent};
pub use compare::*;
pub use entry::{Entry, Surroundings};
pub use flips::{Flip, FlipSearch, Flips};
pub use history::{Step, history, last_version, removal};
pub use lineage::{Lineage, Unit, Versions, leaf_paths, lineage};
#[cfg(feature = "internals")]
pub use merge::{Base, Conflict, Merged, NodeMerge, Side, merge_contents, merge_nodes, merge_texts, merge_values};
pub use merge::{Join, Outcome, join, merged_base, undone};
pub use near::nearest;
pub use node_filter::NodeFilter;
pub use node_versions::{NodeVersions, STAGED};
pub use origin::{Origin, Removal, Writer, origin, written};
pub use predicate::{Evaluation, Found, Kind, Predicate, PredicateError, Seen, State, Subject, parse};
pub use revision::{
    Doubt, Ends, Meaning, Resolved, Revision, RevisionError, Selection, abbreviated, ref_log, ref_named, resolve,
    resolve_all, shortest,
};
pub use select::{Held, Memory, select};
pub use text_change::TextChange;
pub use turn::{Made, Turn};
pub use versions::versions;
pub use walk::{Walk, merge_bases};
