//! A request to the whole API, from its first line to its body.

#![no_main]

use fakeserver::fuzzing::Fuzzed;
use libfuzzer_sys::fuzz_target;

thread_local! {
    static SERVER: Fuzzed = Fuzzed::new();
}

fuzz_target!(|data: &[u8]| SERVER.with(|server| server.request(data)));
