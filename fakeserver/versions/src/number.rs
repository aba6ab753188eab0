//! The number of a release, and its parts as users write them.

use std::fmt;

/// The number of a release: `1.36.2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReleaseNumber {
    major: u64,
    minor: u64,
    patch: u64,
}

// === impl ReleaseNumber ===

impl ReleaseNumber {
    pub(crate) const ZERO: Self = Self::new(0, 0, 0);
    pub(crate) const END: Self = Self::new(u64::MAX, 0, 0);

    pub(crate) const fn new(major: u64, minor: u64, patch: u64) -> Self {
        Self {
            major,
            minor,
            patch,
        }
    }

    /// Reads three numbers, as in `1.36.2`.
    pub fn parse(text: &str) -> Option<Self> {
        let (minor, patch) = parts(text)?;
        Some(minor.with_patch(patch?))
    }

    /// Returns the number of another patch of its minor version.
    pub(crate) const fn with_patch(self, patch: u64) -> Self {
        Self::new(self.major, self.minor, patch)
    }

    /// Returns the least number behind this one.
    pub(crate) fn next_patch(self) -> Self {
        Self::new(self.major, self.minor, self.patch + 1)
    }

    /// Returns the first number of the next minor version.
    pub(crate) fn next_minor(self) -> Self {
        Self::new(self.major, self.minor + 1, 0)
    }
}

impl fmt::Display for ReleaseNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// Reads `1.34`, `1.34.x`, `1.34.*` and `1.34.9` as the first number of the minor version and the patch.
pub(crate) fn parts(text: &str) -> Option<(ReleaseNumber, Option<u64>)> {
    let mut parts = text.split('.');
    let (major, minor) = (part(parts.next()?)?, part(parts.next()?)?);
    let patch = match parts.next() {
        None | Some("x" | "*") => None,
        Some(patch) => Some(part(patch)?),
    };
    let is_whole = parts.next().is_none();
    is_whole.then(|| (ReleaseNumber::new(major, minor, 0), patch))
}

/// Reads a number without leading zeros, of 32 bits, so that there is a greater one.
fn part(text: &str) -> Option<u64> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    let has_zeros = text.len() > 1 && text.starts_with('0');
    let number: u32 = text.parse().ok().filter(|_| is_number && !has_zeros)?;
    Some(number.into())
}
