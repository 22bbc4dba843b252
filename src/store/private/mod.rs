//! Private copies of a store, for a program under test that may write to its memory: what it writes is thrown away.
//!
//! Knows where they lie, how long, and what is in them; not what runs against them.

mod clone;
mod copy;
mod place;
mod state;
#[cfg(test)]
mod tests;

pub use clone::clone_at;
pub use copy::{Copying, Extent, copy};
pub use place::Scratch;
