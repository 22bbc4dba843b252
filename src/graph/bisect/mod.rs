//! Bisect: which of many commits is the first that is bad.
//!
//! A state machine over a graph of candidates. One of them, the culprit, made bad what descends from it, itself included,
//! and nothing else; what is tested says which it can still be. Knows no process, no clock and no store beyond where the
//! candidates come from.

mod candidates;
mod ends;
mod flaky;
mod pick;
#[cfg(any(test, feature = "internals"))]
pub mod random;
mod search;
#[cfg(test)]
mod tests;
mod weights;

pub use candidates::{Bounds, Candidates};
pub use ends::{bases_to_verify, swapped};
#[cfg(feature = "internals")]
pub use flaky::simulation;
pub use flaky::{Decision, Evidence, FlakySearch, FlakyStep, Posterior, Rate, Standard};
pub use search::{Contradiction, Mark, Search, Step};
