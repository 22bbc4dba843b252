//! Questions about states and commits, over small traits. Pure: no process, no clock, no terminal.

mod ancestry;
#[cfg(feature = "internals")]
pub mod compare;
mod entry;
#[cfg(feature = "internals")]
mod lineage;
mod revision;
mod select;
mod versions;
mod walk;

pub use ancestry::Reach;
pub use entry::{Entry, Surroundings};
#[cfg(feature = "internals")]
pub use lineage::{Lineage, Part, Unit, Versions, lineage};
pub use revision::{Ends, Revision, RevisionError, Selection, resolve, resolve_all};
pub use select::{Held, Memory, select};
pub use versions::versions;
pub use walk::{Walk, merge_bases};
