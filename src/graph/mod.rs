//! Questions about states and commits, over small traits. Pure: no process, no clock, no terminal.

mod ancestry;
mod change;
mod change_filter;
#[cfg(any(test, feature = "internals"))]
pub mod compare;
mod entry;
mod node_filter;
#[cfg(feature = "internals")]
mod origin;
mod revision;
mod select;
mod versions;
mod walk;

pub use ancestry::Reach;
pub use change::{Changed, Field, changed, changed_in_memory};
pub use change_filter::ChangeFilter;
pub use entry::{Entry, Surroundings};
pub use node_filter::NodeFilter;
#[cfg(feature = "internals")]
pub use origin::{Origin, origin, written};
pub use revision::{Ends, Revision, RevisionError, Selection, resolve, resolve_all};
pub use select::{Held, Memory, select};
pub use versions::versions;
pub use walk::{Walk, merge_bases};
