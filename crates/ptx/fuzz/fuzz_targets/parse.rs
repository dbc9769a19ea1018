//! `cargo +nightly fuzz run parse fuzz/corpus tests/data` in `crates/ptx` (the second folder is a first corpus):
//! no bytes may bring the parser or the analyses behind it down.
#![no_main]

#[path = "../../tests/common/mod.rs"]
mod common;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| common::exercise(bytes));
