//! The version of an object or a list, as the server names it.

use std::{cmp::Ordering, fmt, sync::Arc};

/// A server's name for a point in its history: opaque to send back, comparable where it is well formed.
///
/// Empty means "not known", which the server reads as "the most recent".
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct ResourceVersion(Arc<str>);

// === impl ResourceVersion ===

impl ResourceVersion {
    /// The version as the server wrote it.
    pub fn new(version: impl Into<Arc<str>>) -> Self {
        Self(version.into())
    }

    /// The empty version.
    pub fn unknown() -> Self {
        Self::default()
    }

    /// The version as the server wrote it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether no version is known.
    pub fn is_unknown(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether a watch from here on sends every later change. From the empty version or `0` the server begins
    /// with the present state instead, at any version.
    pub fn is_resumable(&self) -> bool {
        !matches!(&*self.0, "" | "0")
    }

    /// Which of two versions of one resource type is the later one (KEP-5504).
    ///
    /// `None` if either is not a decimal number without leading zeros: then nothing may be concluded.
    #[doc(alias = "CompareResourceVersion")]
    pub fn compare(&self, other: &Self) -> Option<Ordering> {
        if !self.is_comparable() || !other.is_comparable() {
            return None;
        }
        let (a, b) = (self.0.as_bytes(), other.0.as_bytes());
        Some(a.len().cmp(&b.len()).then_with(|| a.cmp(b)))
    }

    /// Returns whether this version is known to be earlier than `other`.
    pub fn is_before(&self, other: &Self) -> bool {
        self.compare(other) == Some(Ordering::Less)
    }

    fn is_comparable(&self) -> bool {
        let digits = self.0.as_bytes();
        !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) && (digits[0] != b'0')
    }
}

impl fmt::Display for ResourceVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ResourceVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0)
    }
}

impl From<&str> for ResourceVersion {
    fn from(version: &str) -> Self {
        Self::new(version)
    }
}
