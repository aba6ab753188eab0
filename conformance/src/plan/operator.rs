//! The operators of label selectors.

use serde::{Deserialize, Serialize};

use super::LABEL;

/// A second value of selectors with lists, which no object has.
const OTHER: &str = "cache";

/// An operator of a label selector on [`LABEL`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Operator {
    /// `tier=web`.
    #[default]
    Equal,
    /// `tier!=web`.
    NotEqual,
    /// `tier in (web,cache)`.
    In,
    /// `tier notin (web,cache)`.
    NotIn,
    /// `tier`.
    Exists,
    /// `!tier`.
    Absent,
}

// === impl Operator ===

impl Operator {
    /// All operators.
    pub const ALL: [Self; 6] = [
        Self::Equal,
        Self::NotEqual,
        Self::In,
        Self::NotIn,
        Self::Exists,
        Self::Absent,
    ];

    /// Returns true for the default, which is not written.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
    pub(crate) fn is_equal(&self) -> bool {
        *self == Self::Equal
    }

    /// Returns true if a selector with this value selects an object of this label.
    pub(crate) fn selects(self, value: &str, label: Option<&str>) -> bool {
        match self {
            Self::Equal | Self::In => label == Some(value),
            Self::NotEqual | Self::NotIn => label != Some(value),
            Self::Exists => label.is_some(),
            Self::Absent => label.is_none(),
        }
    }

    /// Formats the selector with this value.
    pub(crate) fn selector(self, value: &str) -> String {
        match self {
            Self::Equal => format!("{LABEL}={value}"),
            Self::NotEqual => format!("{LABEL}!={value}"),
            Self::In => format!("{LABEL} in ({value},{OTHER})"),
            Self::NotIn => format!("{LABEL} notin ({value},{OTHER})"),
            Self::Exists => LABEL.to_owned(),
            Self::Absent => format!("!{LABEL}"),
        }
    }
}
