//! Policies, as the labels of a namespace describe them.

use std::fmt;

use fakeserver_value::status::FieldError;
use serde_json::{Value, json};

/// The prefix of all labels that describe a policy.
const PREFIX: &str = "pod-security.kubernetes.io/";
/// The names of the levels, the most permissive first.
const LEVELS: [(&str, Level); 3] = [
    ("privileged", Level::Privileged),
    ("baseline", Level::Baseline),
    ("restricted", Level::Restricted),
];

/// The levels, the most permissive first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Privileged,
    Baseline,
    Restricted,
}

/// The version of the checks of a level: the minor version of a release, or the latest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    Minor(u64),
    Latest,
}

/// A level, and the version of its checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LevelVersion {
    pub(super) level: Level,
    pub(super) version: Version,
}

/// The policies of a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Policy {
    pub(super) enforce: LevelVersion,
    pub(super) audit: LevelVersion,
    pub(super) warn: LevelVersion,
}

/// The reader of the labels of a namespace.
struct Labels<'a, F> {
    get: F,
    errors: &'a mut Vec<FieldError>,
}

/// Returns whether a label describes a part of a policy.
pub(super) fn is_policy_label(name: &str) -> bool {
    name.starts_with(PREFIX)
}

/// The error of an invalid level.
#[derive(Clone, Copy)]
struct UnknownLevel;

// === impl Policy ===

impl Policy {
    /// Reads the policies in labels, which `get` finds by name, and returns them with what is wrong with the labels.
    ///
    /// A wrong level is `restricted` where it is enforced, and `privileged` where it is not. What is enforced is warned of
    /// too, unless the labels have another level for that.
    pub(super) fn new<'a>(get: impl Fn(&str) -> Option<&'a str>) -> (Self, Vec<FieldError>) {
        let mut errors = Vec::new();
        let mut labels = Labels {
            get,
            errors: &mut errors,
        };
        let enforced = labels.level("enforce");
        let enforce = LevelVersion {
            level: enforced.map_or(Level::Privileged, |level| {
                level.unwrap_or(Level::Restricted)
            }),
            version: labels.version("enforce-version").unwrap_or(Version::Latest),
        };
        let audited = labels.level("audit").and_then(Result::ok);
        let audit = LevelVersion {
            level: audited.unwrap_or(Level::Privileged),
            version: labels.version("audit-version").unwrap_or(Version::Latest),
        };
        let warned = labels.level("warn");
        let version = labels.version("warn-version");
        let mut warn = LevelVersion {
            level: warned.and_then(Result::ok).unwrap_or(Level::Privileged),
            version: version.unwrap_or(Version::Latest),
        };
        if warned.is_none()
            && let Some(Ok(level)) = enforced
            && level > warn.level
        {
            warn = LevelVersion {
                level,
                version: version.unwrap_or(enforce.version),
            };
        }
        let policy = Self {
            enforce,
            audit,
            warn,
        };
        (policy, errors)
    }

    /// Reads the policies in the labels of an object.
    pub(super) fn of_labels(labels: &Value) -> (Self, Vec<FieldError>) {
        Self::new(|name| labels[name].as_str())
    }
}

// === impl Labels ===

impl<'a, F: Fn(&str) -> Option<&'a str>> Labels<'_, F> {
    /// Returns the level in a label: nothing if there is no such label, an error if its value is no level.
    fn level(&mut self, name: &str) -> Option<Result<Level, UnknownLevel>> {
        let value = self.get(name)?;
        let found = LEVELS.iter().find(|(name, _)| *name == value);
        if found.is_none() {
            self.refuse(
                name,
                value,
                "must be one of privileged, baseline, restricted",
            );
        }
        Some(found.map(|(_, level)| *level).ok_or(UnknownLevel))
    }

    /// Returns the version in a label, if there is such a label. One that is no version stands for the latest.
    fn version(&mut self, name: &str) -> Option<Version> {
        let value = self.get(name)?;
        Some(Version::parse(value).unwrap_or_else(|| {
            self.refuse(name, value, "must be \"latest\" or \"v1.x\"");
            Version::Latest
        }))
    }

    fn get(&self, name: &str) -> Option<&'a str> {
        (self.get)(&format!("{PREFIX}{name}"))
    }

    fn refuse(&mut self, name: &str, value: &str, why: &str) {
        let field = format!("metadata.labels[{PREFIX}{name}]");
        self.errors
            .push(FieldError::invalid(field, &json!(value), why));
    }
}

// === impl Version ===

impl Version {
    /// Returns whether checks of the minor version `since` are part of this version.
    pub(super) fn is_at_least(self, since: u64) -> bool {
        match self {
            Self::Minor(minor) => minor >= since,
            Self::Latest => true,
        }
    }

    fn parse(text: &str) -> Option<Self> {
        if text == "latest" {
            return Some(Self::Latest);
        }
        let minor = text.strip_prefix("v1.")?;
        let is_number = minor.bytes().all(|byte| byte.is_ascii_digit());
        let number: i64 = minor.parse().ok().filter(|_| is_number)?;
        // A number does not begin with a zero.
        let is_plain = number.to_string() == minor;
        u64::try_from(number)
            .ok()
            .filter(|_| is_plain)
            .map(Self::Minor)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Minor(minor) => write!(f, "v1.{minor}"),
            Self::Latest => f.write_str("latest"),
        }
    }
}

// === impl LevelVersion ===

impl LevelVersion {
    /// The level that holds without labels.
    pub(super) const PRIVILEGED: Self = Self {
        level: Level::Privileged,
        version: Version::Latest,
    };

    /// Returns whether pods that were admitted under `old` may violate this policy.
    pub(super) fn is_stricter(self, old: Self) -> bool {
        self != old
            && self.level != Level::Privileged
            && (self.version != old.version || self.level > old.level)
    }
}

impl fmt::Display for LevelVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = LEVELS.iter().find(|(_, level)| *level == self.level);
        let name = named.map_or("", |(name, _)| name);
        write!(f, "{name}:{}", self.version)
    }
}
