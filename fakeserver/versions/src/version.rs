//! The name of a version, as users write it, and what it stands for.

use std::{borrow::Cow, fmt, str::FromStr};

use crate::{
    diff,
    number::ReleaseNumber,
    release::{BASE, COUNT, File, RELEASES, Release},
};

/// A version of Kubernetes that a server can be.
///
/// # Examples
///
/// ```
/// use fakeserver_versions::KubernetesVersion;
///
/// let version: KubernetesVersion = "1.35".parse().unwrap();
/// assert_eq!(version.to_string(), "1.35.6");
/// assert_eq!("v1.35.6".parse(), Ok(version));
/// assert_eq!("latest".parse(), Ok(KubernetesVersion::LATEST));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct KubernetesVersion(u8);

/// A version of which there is no data.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no version {given:?} of Kubernetes; there are {}, `latest` and `latest-1` for the newest ones",
    all_names()
)]
pub struct UnknownVersionError {
    given: String,
}

// === impl KubernetesVersion ===

impl KubernetesVersion {
    /// The version of a server that is not asked for another one.
    pub const DEFAULT: Self = Self(BASE);
    /// The newest version.
    pub const LATEST: Self = Self(COUNT - 1);

    /// Returns every version, from old to new.
    pub fn all() -> impl DoubleEndedIterator<Item = Self> {
        (0..=Self::LATEST.0).map(Self)
    }

    /// Returns its name without the patch: `1.36`.
    pub fn name(self) -> &'static str {
        self.texts().name
    }

    /// Returns the release whose data it has: `1.36.2`.
    pub fn release(self) -> &'static str {
        self.texts().number.trim_ascii_end()
    }

    /// Returns the release as programs print it: `v1.36.2`.
    pub fn git_version(self) -> String {
        format!("v{}", self.release())
    }

    /// Returns major and minor version: `("1", "36")`.
    pub fn parts(self) -> (&'static str, &'static str) {
        self.name().split_once('.').expect("a name has two parts")
    }

    /// Returns the fields of the Go types, as JSON.
    pub fn types(self) -> Cow<'static, str> {
        self.text(File::Types)
    }

    /// Returns the structural schemas of its OpenAPI documents, as JSON.
    pub fn openapi_structure(self) -> Cow<'static, str> {
        self.text(File::Structure)
    }

    /// Returns its discovery, as JSON.
    pub fn discovery(self) -> Cow<'static, str> {
        self.text(File::Discovery)
    }

    /// Returns the columns of tables, as JSON.
    pub fn table_columns(self) -> Cow<'static, str> {
        self.text(File::Columns)
    }

    /// Returns the objects of a new cluster: JSON values one after another.
    pub fn initial_objects(self) -> Cow<'static, str> {
        self.text(File::InitialObjects)
    }

    /// Returns the flags of its `kube-apiserver`, one a line.
    pub fn kube_apiserver_flags(self) -> Cow<'static, str> {
        self.text(File::Flags)
    }

    /// Returns its feature gates, one a line.
    pub(crate) fn feature_gates(self) -> Cow<'static, str> {
        self.text(File::Gates)
    }

    /// Returns its place among [all](Self::all) versions, from 0.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// Returns the next version, to which a cluster of this one is upgraded; the one before for the newest.
    #[must_use]
    pub fn adjacent(self) -> Self {
        let next = self.0 + 1;
        if next < COUNT {
            Self(next)
        } else {
            Self(self.0 - 1)
        }
    }

    fn texts(self) -> &'static Release {
        &RELEASES[self.index()]
    }

    fn text(self, file: File) -> Cow<'static, str> {
        let text = self.texts().texts[file as usize];
        match self.neighbour() {
            None => text.into(),
            Some(other) if text.is_empty() => other.text(file),
            Some(other) => diff::apply(&other.text(file), text).into(),
        }
    }

    /// Returns the version from which its texts are a difference; `None` if they are whole.
    fn neighbour(self) -> Option<Self> {
        match self.cmp(&Self::DEFAULT) {
            std::cmp::Ordering::Less => Some(Self(self.0 + 1)),
            std::cmp::Ordering::Equal => None,
            std::cmp::Ordering::Greater => Some(Self(self.0 - 1)),
        }
    }
}

impl Default for KubernetesVersion {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Returns the number of the release.
impl From<KubernetesVersion> for ReleaseNumber {
    fn from(version: KubernetesVersion) -> Self {
        Self::parse(version.release()).expect("a release has three numbers")
    }
}

/// Prints the release: `1.36.2`.
impl fmt::Display for KubernetesVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.release())
    }
}

impl fmt::Debug for KubernetesVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KubernetesVersion({self})")
    }
}

/// Reads `1.36`, `1.36.2`, `1.36.x` and `1.36.*`, each with `v` or without, `latest`, and `latest-1` and so on.
impl FromStr for KubernetesVersion {
    type Err = UnknownVersionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = if let Some(back) = text.strip_prefix("latest") {
            let back = match back.strip_prefix('-') {
                Some(count) => count.parse().ok(),
                None => back.is_empty().then_some(0),
            };
            back.and_then(|back| Self::all().nth_back(back))
        } else {
            let name = text.strip_prefix('v').unwrap_or(text);
            Self::all().find(|version| {
                let patch = name.strip_prefix(version.name());
                name == version.release() || matches!(patch, Some("" | ".x" | ".*"))
            })
        };
        found.ok_or_else(|| UnknownVersionError {
            given: text.to_owned(),
        })
    }
}

/// Lists the releases.
fn all_names() -> String {
    let names: Vec<&str> = KubernetesVersion::all()
        .map(KubernetesVersion::release)
        .collect();
    names.join(", ")
}
