//! The file of a store, damaged.

#![no_main]

#[allow(dead_code, reason = "shared by targets")]
#[path = "../../tests/fuzz/choices.rs"]
mod choices;
#[allow(dead_code, reason = "shared by targets")]
#[path = "../../tests/fuzz/memory_disk.rs"]
mod memory_disk;
#[path = "../../tests/fuzz/spliced_store/mod.rs"]
mod spliced_store;

libfuzzer_sys::fuzz_target!(|data: &[u8]| spliced_store::check(data));
