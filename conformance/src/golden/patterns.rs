//! The parts of texts that differ from run to run, for every normaliser.

use std::sync::LazyLock;

use regex::Regex;

/// A uid.
pub(crate) static UID: LazyLock<Regex> =
    pattern!(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}");
/// A version in a message, and the current one after it.
pub(crate) static VERSION_IN_TEXT: LazyLock<Regex> =
    pattern!(r"(resource version:? )\d+( \(\d+\))?");
/// A version in a message about a precondition.
pub(crate) static VERSION_OF_PRECONDITION: LazyLock<Regex> =
    pattern!(r"(ResourceVersion in (?:the precondition|record)) \(\d+\)");
/// The address of the server.
pub(crate) static ADDRESS: LazyLock<Regex> = pattern!(r"127\.0\.0\.1:\d+");

macro_rules! pattern {
    ($pattern:expr) => {
        LazyLock::new(|| Regex::new($pattern).expect("the pattern is a constant"))
    };
}
pub(crate) use pattern;
