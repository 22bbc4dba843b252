//! Questions about states and commits, over small traits. Pure: no process, no clock, no terminal.

mod ancestry;
mod change;
#[cfg(any(test, feature = "internals"))]
pub mod compare;
mod entry;
#[cfg(feature = "internals")]
mod origin;
mod revision;
mod select;
mod versions;
mod walk;

pub use ancestry::Reach;
pub use change::{Changed, Field, changed, changed_in_memory};
pub use entry::{Entry, Surroundings};
#[cfg(feature = "internals")]
pub use origin::{Origin, origin, written};
pub use revision::{Ends, Revision, RevisionError, Selection, resolve, resolve_all};
pub use select::{Held, Memory, select};
pub use versions::versions;
pub use walk::{Walk, merge_bases};
