//! Bytes of everything that is stored.

#![no_main]

#[allow(dead_code, reason = "shared by targets")]
#[path = "../../tests/fuzz/bytes.rs"]
mod bytes;
#[allow(dead_code, reason = "shared by targets")]
#[path = "../../tests/fuzz/commit.rs"]
mod commit;
#[allow(dead_code, reason = "shared by targets")]
#[path = "../../tests/fuzz/json.rs"]
mod json;
#[allow(dead_code, reason = "shared by targets")]
#[path = "../../tests/fuzz/node.rs"]
mod node;
#[path = "../../tests/fuzz/object/mod.rs"]
mod object;
#[allow(dead_code, reason = "shared by targets")]
#[path = "../../tests/fuzz/time.rs"]
mod time;

libfuzzer_sys::fuzz_target!(|data: &[u8]| object::check(data));
