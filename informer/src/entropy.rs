//! The only place that draws from the operating system: the seed of a reflector that was given none.
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
