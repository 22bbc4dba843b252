//! Predicates over a memory.

#![no_main]

#[allow(dead_code, reason = "shared by targets")]
#[path = "../../tests/fuzz/json.rs"]
mod json;
#[allow(dead_code, reason = "shared by targets")]
#[path = "../../tests/fuzz/node.rs"]
mod node;
#[path = "../../tests/fuzz/predicate/mod.rs"]
mod predicate;
#[allow(dead_code, reason = "shared by targets")]
#[path = "../../tests/fuzz/time.rs"]
mod time;

libfuzzer_sys::fuzz_target!(|data: &[u8]| predicate::check(data));
