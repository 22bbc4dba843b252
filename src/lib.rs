//! `mnem`: version control for the memory of AI agents.
//!
//! The library is there for the binary, its tests, benches and fuzz targets; only [`run`] and [`command`] are public,
//! and with the feature `internals` the layers too.

#[cfg(feature = "internals")]
pub mod model;
#[cfg(not(feature = "internals"))]
mod model;

#[cfg(feature = "internals")]
pub mod object;
#[cfg(not(feature = "internals"))]
mod object;

#[cfg(feature = "internals")]
pub mod store;
#[cfg(not(feature = "internals"))]
mod store;

#[cfg(feature = "internals")]
pub mod graph;
#[cfg(not(feature = "internals"))]
mod graph;

#[cfg(feature = "internals")]
pub mod ops;
#[cfg(not(feature = "internals"))]
mod ops;

#[cfg(feature = "internals")]
pub mod cli;
#[cfg(not(feature = "internals"))]
mod cli;

#[cfg(feature = "internals")]
pub use cli::{World, run_in};
pub use cli::{command, run};
