//! The names of operating systems and architectures, as Go has them.

use std::{env::consts, fmt};

/// The name that stands for all.
const ANY: &str = "*";

/// An operating system and an architecture, each of which can be `*`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Platform {
    pub(super) os: String,
    pub(super) arch: String,
}

// === impl Platform ===

impl Platform {
    /// Returns the one of this program.
    pub(super) fn of_program() -> Self {
        let os = match consts::OS {
            "macos" => "darwin",
            other => other,
        };
        let arch = match consts::ARCH {
            "x86_64" => "amd64",
            "x86" => "386",
            "aarch64" => "arm64",
            "powerpc64" => "ppc64le",
            other => other,
        };
        Self {
            os: os.to_owned(),
            arch: arch.to_owned(),
        }
    }

    /// Returns true if either name stands for all.
    pub(super) fn is_pattern(&self) -> bool {
        self.os == ANY || self.arch == ANY
    }

    /// Returns true if it is `other`, or stands for it.
    pub(super) fn matches(&self, other: &Self) -> bool {
        let matches = |own: &str, other: &str| own == ANY || own == other;
        matches(&self.os, &other.os) && matches(&self.arch, &other.arch)
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.os, self.arch)
    }
}
