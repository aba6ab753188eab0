//! Ranges of versions, as users write them.

use std::{fmt, str::FromStr};

use crate::version::{KubernetesVersion, UnknownVersionError};

/// Versions from one to another, both included.
///
/// # Examples
///
/// ```
/// use fakeserver_versions::VersionRange;
///
/// let range: VersionRange = "1.34..1.36".parse().unwrap();
/// let names: Vec<&str> = range.versions().map(|version| version.name()).collect();
/// assert_eq!(names, ["1.34", "1.35", "1.36"]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VersionRange {
    first: KubernetesVersion,
    last: KubernetesVersion,
}

/// A text that is no range of versions.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VersionRangeError {
    /// There is no such version.
    #[error(transparent)]
    Unknown(#[from] UnknownVersionError),
    /// The first version is newer than the last.
    #[error("the range {given:?} is empty: the older version comes first, as in `{last}..{first}`")]
    Empty {
        /// The text.
        given: String,
        /// The name of the version that it begins with.
        first: &'static str,
        /// The name of the version that it ends with.
        last: &'static str,
    },
}

// === impl VersionRange ===

impl VersionRange {
    /// Returns its versions, from old to new. There is at least one.
    pub fn versions(self) -> impl DoubleEndedIterator<Item = KubernetesVersion> {
        let is_in = move |version: &KubernetesVersion| (self.first..=self.last).contains(version);
        KubernetesVersion::all().filter(is_in)
    }
}

/// Returns the range of this version alone.
impl From<KubernetesVersion> for VersionRange {
    fn from(version: KubernetesVersion) -> Self {
        Self {
            first: version,
            last: version,
        }
    }
}

/// Reads a version, or two with `..` between them; without the second one it ends with the newest.
impl FromStr for VersionRange {
    type Err = VersionRangeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let Some((first, last)) = text.split_once("..") else {
            return Ok(text.parse::<KubernetesVersion>()?.into());
        };
        let first: KubernetesVersion = first.parse()?;
        let last = match last {
            "" => KubernetesVersion::LATEST,
            last => last.parse()?,
        };
        if first <= last {
            return Ok(Self { first, last });
        }
        Err(VersionRangeError::Empty {
            given: text.to_owned(),
            first: first.name(),
            last: last.name(),
        })
    }
}

/// Prints its releases: `1.36.2`, or `1.34.9..1.36.2`.
impl fmt::Display for VersionRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.first)?;
        if self.first == self.last {
            return Ok(());
        }
        write!(f, "..{}", self.last)
    }
}
