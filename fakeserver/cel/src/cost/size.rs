//! Ranges of sizes and costs, which stop at the greatest number.

/// A range of sizes, or of costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) min: u64,
    pub(super) max: u64,
}

// === impl Range ===

impl Range {
    pub(super) const UNKNOWN: Self = Self {
        min: 0,
        max: u64::MAX,
    };
    pub(super) const ZERO: Self = Self::fixed(0);
    pub(super) const ONE: Self = Self::fixed(1);

    pub(super) const fn fixed(value: u64) -> Self {
        Self {
            min: value,
            max: value,
        }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            min: self.min.saturating_add(other.min),
            max: self.max.saturating_add(other.max),
        }
    }

    pub(super) fn times(self, other: Self) -> Self {
        Self {
            min: self.min.saturating_mul(other.min),
            max: self.max.saturating_mul(other.max),
        }
    }

    /// Scales the size to the cost of a traversal, in which each part costs `factor`.
    pub(super) fn by(self, factor: f64) -> Self {
        Self {
            min: scale(self.min, factor),
            max: scale(self.max, factor),
        }
    }

    pub(super) fn union(self, other: Self) -> Self {
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }
}

/// Returns a number times a factor, rounded up.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "costs are computed as a real server does it, and the conversion stops at the greatest number"
)]
pub(super) fn scale(number: u64, factor: f64) -> u64 {
    (number as f64 * factor).ceil() as u64
}
