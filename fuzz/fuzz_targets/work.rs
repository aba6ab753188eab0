//! Texts of growing lengths for everything that reads what clients send.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::run(env!("CARGO_BIN_NAME"), data));
