//! Nothing acknowledged is lost: the real binary with real processes, signals, file systems and damaged files.
//!
//! What is skipped, and the counts that may be quoted, are printed: `cargo test --features internals --test reliability
//! -- --nocapture`. What needs another user or a mount runs as root only. `MNEM_TEST_PUTS`, `MNEM_TEST_KILLS` and
//! `MNEM_TEST_FLIPS` ask for more than the default run does.
#![allow(clippy::print_stdout, reason = "counts are told")]

mod between;
mod checked;
mod crowd;
mod damage;
mod full;
mod killed;
mod outsiders;
mod place;
mod planted;
mod rewritten;
mod stopped;
