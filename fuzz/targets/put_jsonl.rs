//! Rows of `put --jsonl`.

#![no_main]

#[allow(dead_code, reason = "shared by targets")]
#[path = "../../tests/fuzz/json.rs"]
mod json;
#[allow(dead_code, reason = "shared by targets")]
#[path = "../../tests/fuzz/memory_disk.rs"]
mod memory_disk;
#[allow(dead_code, reason = "shared by targets")]
#[path = "../../tests/fuzz/node.rs"]
mod node;
#[path = "../../tests/fuzz/put_jsonl/mod.rs"]
mod put_jsonl;
#[allow(dead_code, reason = "shared by targets")]
#[path = "../../tests/fuzz/time.rs"]
mod time;

libfuzzer_sys::fuzz_target!(|data: &[u8]| put_jsonl::check(data));
