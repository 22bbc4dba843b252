//! Staged logs.

#![no_main]

#[allow(dead_code, reason = "shared by targets")]
#[path = "../../tests/fuzz/bytes.rs"]
mod bytes;
#[allow(dead_code, reason = "shared by targets")]
#[path = "../../tests/fuzz/choices.rs"]
mod choices;
#[allow(dead_code, reason = "shared by targets")]
#[path = "../../tests/fuzz/json.rs"]
mod json;
#[allow(dead_code, reason = "shared by targets")]
#[path = "../../tests/fuzz/memory_disk.rs"]
mod memory_disk;
#[allow(dead_code, reason = "shared by targets")]
#[path = "../../tests/fuzz/node.rs"]
mod node;
#[path = "../../tests/fuzz/staged/mod.rs"]
mod staged;
#[allow(dead_code, reason = "shared by targets")]
#[path = "../../tests/fuzz/time.rs"]
mod time;

libfuzzer_sys::fuzz_target!(|data: &[u8]| staged::check(data));
