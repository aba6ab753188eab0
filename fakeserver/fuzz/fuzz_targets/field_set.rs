//! Sets of fields, as managed fields write them.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| fakeserver::fuzzing::field_set(data));
