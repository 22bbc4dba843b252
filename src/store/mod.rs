//! `.mnemosyne` on disk: finding and opening it, its tables, refs, sessions, staged logs.
//!
//! Knows objects and their bytes; what a question about history or a merge means is the business of the layers above.

mod bundle;
mod discover;
mod disk;
mod error;
mod fsck;
mod gc;
mod init;
mod marks;
mod open;
mod overlay;
mod private;
mod progress;
mod read;
mod record;
mod redact;
mod rewrite;
mod rows;
mod session;
mod staged;
mod tables;
mod write;

pub use bundle::MAGIC as BUNDLE_MAGIC;
pub use bundle::{BundleError, BundleFault, BundleFile, BundledRef, BundledTag, Header, Summary, WriteError, rebuild};
#[cfg(feature = "internals")]
pub use bundle::{BundledChange, BundledCommit, Decoder, Encoder, Imported, Written};
pub use discover::{STORE_DIRECTORY, Trust, check, discover, named};
pub use disk::Disk;
#[cfg(feature = "internals")]
pub use disk::Files;
#[cfg(feature = "internals")]
pub use disk::{FileId, Opened};
pub use error::StoreError;
pub use fsck::{Fault, Finding, Group, Note, Report, Stage, Tell};
pub use gc::{Dropped, Keeping};
#[cfg(feature = "internals")]
pub use init::create_tables;
pub use init::{Created, init};
pub use marks::{Marked, Marks};
#[cfg(feature = "internals")]
pub use open::Snapshot;
pub use open::{MayBeDamage, Store};
pub use private::clone_at;
pub use private::{Copying, Extent, Scratch, copy};
pub use progress::{Progress, Undo};
pub use read::FIRST_BRANCH;
pub use record::{ChangeCount, CommitRecord, Head, Number, Place, RefUpdate, Session, short_branch, short_tag};
#[cfg(feature = "internals")]
pub use record::{ObjectRecord, decode_places, encode_places};
pub use redact::{RedactedCount, RedactedVersions, Redacting};
pub use rows::{Access, Reading, Writing};
pub use session::{SessionView, entries, staged_changes};
pub use staged::{Change, LogFile, NewFrame, StagedChange, StagedLog};
#[cfg(feature = "internals")]
pub use staged::{LogError, LogView, Staged};
pub use tables::{FORMAT, Tables};
pub use write::{CommitWords, NodeBytes};
