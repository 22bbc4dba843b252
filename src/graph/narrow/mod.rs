//! Narrow: which of many changes a test needs to fail.
//!
//! Delta debugging (Zeller and Hildebrandt 2002, "Simplifying and Isolating Failure-Inducing Input"): ddmin, a state machine
//! over the numbers of the changes. Knows no process, no clock and no store, nor what a change is.

mod ahead;
mod reduction;
mod search;
#[cfg(test)]
mod tests;

pub use search::{Narrow, NarrowStep, Tried};
