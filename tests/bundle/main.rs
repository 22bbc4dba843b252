//! Bundles: what is taken in is what was there, and what is not as a bundle says changes nothing.

mod golden;
mod graphs;
mod place;
mod redacted;
mod refs;
mod tampered;
