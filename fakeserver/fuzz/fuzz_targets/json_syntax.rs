//! What is wrong with a text that should be JSON.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| fakeserver::fuzzing::json_syntax(data));
