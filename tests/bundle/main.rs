//! Bundles: what is taken in is what was there, and what is not as a bundle says changes nothing.

mod graphs;
mod place;
mod refs;
mod tampered;
