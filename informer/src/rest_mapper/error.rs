//! Errors of lookups by name, and their predicates.

use std::{fmt, time::Duration};

use crate::discovery::{
    DiscoveryError, DiscoveryFailure, GroupKind, GroupVersionKind, GroupVersionResource,
};

/// The reason why a name has no single meaning.
///
/// Only [`Undiscovered`](Self::Undiscovered) and [`Discovery`](Self::Discovery) are worth trying again by themselves;
/// a name that is not served may be served later, when its custom resource definition is installed.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RestMapperError {
    /// The text cannot be the name of a resource. Trying again is useless.
    #[error("{name:?} does not name a resource: {reason}")]
    InvalidName {
        /// The text.
        name: String,
        /// The problem.
        reason: &'static str,
    },
    /// The server serves no such resource. Correct the name, or install what defines it.
    #[doc(alias = "NoResourceMatchError")]
    #[error("the server has no resource {name:?}{}", advice(.candidates))]
    NoResourceMatch {
        /// The name that was asked for.
        name: String,
        /// Resources that may have been meant.
        candidates: Vec<GroupVersionResource>,
    },
    /// The server serves no such kind, or not in these versions. Ask for another version, or install what defines it.
    #[doc(alias = "NoKindMatchError")]
    #[error(
        "the server has no kind \"{kind}\"{}{}",
        in_versions(.versions),
        advice(.candidates)
    )]
    NoKindMatch {
        /// The kind that was asked for.
        kind: Box<GroupKind>,
        /// The versions that were asked for; empty if any would have done.
        versions: Vec<String>,
        /// Kinds that may have been meant.
        candidates: Vec<GroupVersionKind>,
    },
    /// Several resources have the name, and none comes first. Ask by one of the full names.
    #[doc(alias = "AmbiguousResourceError")]
    #[doc(alias = "AmbiguousKindError")]
    #[error("{name:?} may be any of {}; ask by one of these names", List(.candidates))]
    Ambiguous {
        /// The name that was asked for.
        name: String,
        /// The resources that have it, in the server's order.
        candidates: Vec<GroupVersionResource>,
    },
    /// Nothing that is known has the name, but not everything is known. Try again later.
    #[error(
        "whether the server has {name:?} is not known, because discovery failed ({})",
        List(.failures)
    )]
    Undiscovered {
        /// The name that was asked for.
        name: String,
        /// The failed groups that may have it.
        failures: Vec<DiscoveryFailure>,
    },
    /// Nothing is known, because the server could not be asked. [`DiscoveryError::is_retryable`] reports whether to try
    /// again.
    #[error("discovery failed")]
    Discovery(#[from] Box<DiscoveryError>),
}

/// Prints values with commas between them.
struct List<'a, T>(&'a [T]);

// === impl RestMapperError ===

impl RestMapperError {
    /// Returns whether it is known that the server does not serve it.
    #[doc(alias = "IsNoMatchError")]
    pub fn is_no_match(&self) -> bool {
        matches!(
            self,
            Self::NoResourceMatch { .. } | Self::NoKindMatch { .. }
        )
    }

    /// Returns whether several resources have the name.
    #[doc(alias = "IsAmbiguousError")]
    pub fn is_ambiguous(&self) -> bool {
        matches!(self, Self::Ambiguous { .. })
    }

    /// Returns whether it is unknown if the server serves it.
    pub fn is_unknown(&self) -> bool {
        matches!(self, Self::Undiscovered { .. } | Self::Discovery(_))
    }

    /// Returns whether the same lookup may succeed later without any change by the user.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Undiscovered { failures, .. } => {
                failures.iter().any(|failure| failure.error.is_retryable())
            }
            Self::Discovery(error) => error.is_retryable(),
            _ => false,
        }
    }

    /// The least time to wait before asking again, if it is known.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Undiscovered { failures, .. } => failures
                .iter()
                .filter_map(|failure| failure.error.retry_after())
                .min(),
            Self::Discovery(error) => error.retry_after(),
            _ => None,
        }
    }

    /// Returns whether a refresh of discovery could resolve it.
    pub(super) fn is_missing(&self) -> bool {
        self.is_no_match() || matches!(self, Self::Undiscovered { .. })
    }

    /// The same, if some of what may have the name could not be read again: what was a known absence is not known.
    pub(super) fn with_failures(self, more: Vec<DiscoveryFailure>) -> Self {
        if more.is_empty() {
            return self;
        }
        let (name, mut failures) = match self {
            Self::NoResourceMatch { name, .. } => (name, Vec::new()),
            Self::NoKindMatch { kind, .. } => (kind.to_string(), Vec::new()),
            Self::Undiscovered { name, failures } => (name, failures),
            other => return other,
        };
        failures.extend(more);
        Self::Undiscovered { name, failures }
    }
}

// === impl List ===

impl<T: fmt::Display> fmt::Display for List<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, value) in self.0.iter().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            write!(f, "{comma}{value}")?;
        }
        Ok(())
    }
}

fn advice<T: fmt::Display>(candidates: &[T]) -> String {
    match candidates {
        [] => "; check the name, or install what defines it".to_owned(),
        [one] => format!("; did you mean {one}?"),
        _ => format!("; did you mean one of {}?", List(candidates)),
    }
}

fn in_versions(versions: &[String]) -> String {
    match versions {
        [] => String::new(),
        [one] => format!(" in version {one}"),
        _ => format!(" in any of the versions {}", List(versions)),
    }
}

const _: () = assert!(size_of::<RestMapperError>() <= 64);
