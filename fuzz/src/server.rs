//! Arbitrary requests to the fake server.

use fakeserver::fuzzing::Fuzzed;
pub use fakeserver::fuzzing::{cbor, field_set, json_syntax, protobuf, selectors};

thread_local! {
    static SERVER: Fuzzed = Fuzzed::new();
}

/// Sends a request; see [`Fuzzed::request`].
pub fn request(data: &[u8]) {
    SERVER.with(|server| server.request(data));
}

/// Patches an object; see [`Fuzzed::patch`].
pub fn patch(data: &[u8]) {
    SERVER.with(|server| server.patch(data));
}
