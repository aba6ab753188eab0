//! The order of versions.

use std::cmp::Ordering;

/// The order of versions in discovery: stable ones, then beta, then alpha, each from the highest down; then the names
/// that are no versions, by the alphabet.
pub fn compare_versions(a: &str, b: &str) -> Ordering {
    match (Priority::parse(a), Priority::parse(b)) {
        (Some(one), Some(other)) => other.cmp(&one),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => a.cmp(b),
    }
}

/// A version of Kubernetes' form, such as `v1beta2`; the greater one is preferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Priority {
    stability: Stability,
    major: u64,
    minor: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stability {
    Alpha,
    Beta,
    Stable,
}

// === impl Priority ===

impl Priority {
    fn parse(version: &str) -> Option<Self> {
        let rest = version.strip_prefix('v')?;
        let digits = |text: &str| {
            let is_number = !text.is_empty()
                && !text.starts_with('0')
                && text.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then(|| text.parse().ok()).flatten()
        };
        for (word, stability) in [("alpha", Stability::Alpha), ("beta", Stability::Beta)] {
            if let Some((major, minor)) = rest.split_once(word) {
                return Some(Self {
                    stability,
                    major: digits(major)?,
                    minor: digits(minor)?,
                });
            }
        }
        Some(Self {
            stability: Stability::Stable,
            major: digits(rest)?,
            minor: 0,
        })
    }
}
