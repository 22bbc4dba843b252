//! Texts of revisions and of selections.

#![no_main]

#[path = "../../tests/fuzz/revision/mod.rs"]
mod revision;

libfuzzer_sys::fuzz_target!(|data: &[u8]| revision::check(data));
