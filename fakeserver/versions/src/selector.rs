//! Expressions that select releases, in the grammar of `setup-envtest`.

use std::{ops::Range, str::FromStr};

use crate::{
    number::{self, ReleaseNumber},
    version::KubernetesVersion,
};

/// An expression that selects releases.
///
/// # Examples
///
/// ```
/// use fakeserver_versions::{KubernetesVersion, VersionSelector};
///
/// let selector: VersionSelector = "~1.34.3".parse().unwrap();
/// let version: KubernetesVersion = "1.34".parse().unwrap();
/// assert!(selector.selects(version.into()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionSelector {
    releases: Range<ReleaseNumber>,
    /// The one release that it names, if it names one by number.
    exact: Option<ReleaseNumber>,
}

/// A text that selects nothing that can be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{given:?} is no version; write `latest`, `latest-1`, `1.34`, `1.34.x`, `1.34.9`, `~1.34.3`, `<1.36` or `<=1.36`, \
     each with `!` behind it or without"
)]
pub struct VersionSelectorError {
    given: String,
}

// === impl VersionSelector ===

impl VersionSelector {
    /// Returns the selector of every release.
    pub const fn all() -> Self {
        Self {
            releases: ReleaseNumber::ZERO..ReleaseNumber::END,
            exact: None,
        }
    }

    /// Returns true if it selects this release.
    pub fn selects(&self, release: ReleaseNumber) -> bool {
        self.releases.contains(&release)
    }

    /// Returns the selector of all releases of the same minor version, if it names one release by number.
    pub fn of_minor(&self) -> Option<Self> {
        let release = self.exact?;
        Some(Self {
            releases: release.with_patch(0)..release.next_minor(),
            exact: None,
        })
    }
}

/// Reads an expression. `!`, which has `setup-envtest` ask for releases that it has not got yet, makes no difference, since
/// all versions are here.
impl FromStr for VersionSelector {
    type Err = VersionSelectorError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || VersionSelectorError {
            given: text.to_owned(),
        };
        let expression = text.strip_suffix('!').unwrap_or(text);
        if expression == "latest" {
            return Ok(Self::all());
        }
        if expression.starts_with("latest") {
            let version: KubernetesVersion = expression.parse().map_err(|_| error())?;
            let release = ReleaseNumber::from(version);
            return Ok(Self {
                releases: release..release.next_patch(),
                exact: None,
            });
        }
        let comparisons = ["<=", "<", "~", "v", ""];
        let (comparison, number) = comparisons
            .iter()
            .find_map(|sign| Some((*sign, expression.strip_prefix(sign)?)))
            .ok_or_else(error)?;
        let (minor, patch) = number::parts(number).ok_or_else(error)?;
        let first = patch.map_or(minor, |patch| minor.with_patch(patch));
        let end = patch.map_or(first.next_minor(), |_| first.next_patch());
        let (releases, exact) = match comparison {
            "<" => (ReleaseNumber::ZERO..first, None),
            "<=" => (ReleaseNumber::ZERO..end, None),
            "~" => (first..first.next_minor(), None),
            _ => (first..end, patch.map(|_| first)),
        };
        Ok(Self { releases, exact })
    }
}
