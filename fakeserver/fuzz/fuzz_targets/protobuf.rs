//! Built-in objects as protobuf.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| fakeserver::fuzzing::protobuf(data));
