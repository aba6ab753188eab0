//! The feature gates of a version.

use std::collections::{BTreeMap, BTreeSet};

use crate::{KubernetesVersion, PerVersion};

/// The changes of Kubernetes that came without a gate: a name, and the first version that has it.
const UNGATED: &str = include_str!("../data/ungated.txt");

/// The gates that are in the sources of the next Kubernetes, and in no version yet.
const UPCOMING: &str = include_str!("../data/upcoming-gates.txt");

/// The feature gates of a version, with their stages and defaults.
#[derive(Debug)]
pub struct FeatureGates {
    /// The changes without a gate that the version has.
    ungated: BTreeSet<&'static str>,
    by_name: BTreeMap<String, FeatureGate>,
    /// The gates of the next version, of the newest one.
    upcoming: BTreeMap<String, FeatureGate>,
}

/// A feature gate of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeatureGate {
    stage: Stage,
    default: bool,
    is_locked: bool,
}

/// The maturity of a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "complete by definition: featuregate's prerelease"
)]
pub enum Stage {
    /// Off by default, and may go.
    Alpha,
    /// Off or on by default.
    Beta,
    /// On for good, and soon without a gate.
    Ga,
    /// On its way out.
    Deprecated,
}

// === impl KubernetesVersion ===

impl KubernetesVersion {
    /// Returns its feature gates.
    pub fn gates(self) -> &'static FeatureGates {
        static GATES: PerVersion<FeatureGates> = PerVersion::new();
        GATES.get_or_init(self, || FeatureGates::read(self, &self.feature_gates()))
    }
}

// === impl FeatureGates ===

impl FeatureGates {
    /// Returns whether a feature is on by default, or whether the version has a change that came without a gate. What the
    /// version does not have is off.
    pub fn is_on(&self, name: &str) -> bool {
        let gate = self.find(name);
        gate.map_or_else(|| self.ungated.contains(name), |gate| gate.default)
    }

    /// Returns the gate of that name.
    pub fn find(&self, name: &str) -> Option<FeatureGate> {
        self.by_name.get(name).copied()
    }

    /// Returns the gate that a user can set by that name: one of the version, or for the newest version one of the next
    /// Kubernetes, which no server of the version has.
    pub fn find_settable(&self, name: &str) -> Option<FeatureGate> {
        let upcoming = || self.upcoming.get(name).copied();
        self.find(name).or_else(upcoming)
    }

    /// Lists the gates by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, FeatureGate)> {
        let gates = self.by_name.iter();
        gates.map(|(name, gate)| (name.as_str(), *gate))
    }

    /// Reads lines of a name, a stage, the default, and `locked`.
    pub(crate) fn read(version: KubernetesVersion, text: &str) -> Self {
        let upcoming = Some(UPCOMING).filter(|_| version == KubernetesVersion::LATEST);
        let ungated = UNGATED.lines().filter_map(|line| {
            let (name, since) = line.split_once(' ')?;
            let since: KubernetesVersion = since.parse().expect("a change has a version");
            (version >= since).then_some(name)
        });
        Self {
            ungated: ungated.collect(),
            by_name: text.lines().map(FeatureGate::read).collect(),
            upcoming: upcoming
                .unwrap_or_default()
                .lines()
                .map(FeatureGate::read)
                .collect(),
        }
    }
}

// === impl FeatureGate ===

impl FeatureGate {
    /// Reads a line.
    fn read(line: &str) -> (String, Self) {
        let mut words = line.split(' ');
        let name = words.next().unwrap_or_default().to_owned();
        let stage = words.next().and_then(Stage::read);
        let gate = Self {
            stage: stage.expect("an embedded gate has a stage"),
            default: words.next() == Some("true"),
            is_locked: words.next() == Some("locked"),
        };
        (name, gate)
    }

    /// Returns its maturity.
    pub fn stage(self) -> Stage {
        self.stage
    }

    /// Returns whether it is on if nobody sets it.
    pub fn default_value(self) -> bool {
        self.default
    }

    /// Returns whether nothing but its default can be set.
    pub fn is_locked(self) -> bool {
        self.is_locked
    }
}

// === impl Stage ===

impl Stage {
    fn read(text: &str) -> Option<Self> {
        match text {
            "ALPHA" => Some(Self::Alpha),
            "BETA" => Some(Self::Beta),
            "GA" => Some(Self::Ga),
            "DEPRECATED" => Some(Self::Deprecated),
            _ => None,
        }
    }
}
