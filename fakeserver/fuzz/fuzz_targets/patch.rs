//! A patch of each kind to objects of several types.

#![no_main]

use fakeserver::fuzzing::Fuzzed;
use libfuzzer_sys::fuzz_target;

thread_local! {
    static SERVER: Fuzzed = Fuzzed::new();
}

fuzz_target!(|data: &[u8]| SERVER.with(|server| server.patch(data)));
