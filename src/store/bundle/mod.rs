//! Bundles: commits with all that they changed, and refs, in one file that other stores can take in.
//!
//! The bytes are those of `docs/format.md`. `Encoder` and `Decoder` know nothing but them; the other parts make them of a
//! store, take them into one, and try whether that can be done.

mod decode;
mod encode;
mod error;
mod file;
mod header;
mod import;
mod rebuild;
mod write;

#[cfg(feature = "internals")]
pub use decode::Decoder;
pub use decode::{BundledChange, BundledCommit};
pub use encode::Encoder;
pub use error::{BundleError, BundleFault};
pub use file::{BundleFile, Summary};
pub use header::{BundledRef, BundledTag, Header};
#[cfg(feature = "internals")]
pub use import::Imported;
pub use rebuild::rebuild;
pub use write::WriteError;
#[cfg(feature = "internals")]
pub use write::Written;

/// What every bundle begins with, before its version and a line feed.
pub const MAGIC: &[u8] = b"mnem bundle ";
/// The version that is written and read.
const VERSION: &[u8] = b"1";
/// The bytes of the SHA-256 at the end.
const SUM: usize = 32;
/// The most bytes of one string: more than a record of a store can have.
const LONGEST: u64 = 1 << 32;

/// What stands before a change: there is one more.
const SET: u8 = 1;
const REMOVED: u8 = 2;
/// What stands behind the last change of a commit.
const END: u8 = 0;
