//! Bundles.

#![no_main]

#[path = "../../tests/fuzz/bundle/mod.rs"]
mod bundle;
#[allow(dead_code, reason = "shared by targets")]
#[path = "../../tests/fuzz/bytes.rs"]
mod bytes;
#[allow(dead_code, reason = "shared by targets")]
#[path = "../../tests/fuzz/choices.rs"]
mod choices;
#[allow(dead_code, reason = "shared by targets")]
#[path = "../../tests/fuzz/commit.rs"]
mod commit;
#[allow(dead_code, reason = "shared by targets")]
#[path = "../../tests/fuzz/json.rs"]
mod json;
#[allow(dead_code, reason = "shared by targets")]
#[path = "../../tests/fuzz/memory_disk.rs"]
mod memory_disk;
#[allow(dead_code, reason = "shared by targets")]
#[path = "../../tests/fuzz/node.rs"]
mod node;
#[allow(dead_code, reason = "shared by targets")]
#[path = "../../tests/fuzz/time.rs"]
mod time;

libfuzzer_sys::fuzz_target!(|data: &[u8]| bundle::check(data));
