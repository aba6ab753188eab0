//! The seeds of generators. This is the only place that draws from the operating system, for a reflector that was given none.
//!
//! Everything random follows from a seed, so that a run can be repeated. Copies of one program must not share it: they would
//! come back to a server all at once. A test gives its own.

/// A seed that no other process has.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the one place that draws ambient entropy"
)]
pub(crate) fn seed() -> u64 {
    // Where there is no entropy, there is jitter all the same.
    getrandom::u64().unwrap_or_default()
}

/// Returns a number for a text, the same in every run (64-bit FNV-1a).
pub(crate) fn fnv1a(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
