//! The features that a server has by its feature gates.

use std::collections::BTreeMap;

use fakeserver_versions::KubernetesVersion;

/// A feature gate of kube-apiserver that concerns reads, or kinds that are served, and can be set.
///
/// Without a setting a server has what its version has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Feature {
    /// Streaming lists: watches with `sendInitialEvents`.
    WatchList,
    /// Streaming lists are compressed for clients that accept gzip.
    WatchListCompression,
    /// Answers come without `metadata.managedFields` if the accepted media type has the parameter
    /// `drop=metadata.managedFields`.
    ManagedFieldsOptOut,
    /// A list of the latest state that the watch cache cannot serve in time is refused with 429, instead of read from the store.
    ConsistentListFromCacheSkipTimeoutFallback,
    /// `Workload` and `PodGroup` are served, where the version knows them.
    GenericWorkload,
    /// `EvictionRequest` and `Eviction` are served, where the version knows them.
    EvictionRequestApi,
}

/// The features that were turned on or off. The others are as in the version of Kubernetes.
#[derive(Clone, Debug, Default)]
pub(crate) struct FeatureSettings {
    settings: BTreeMap<Feature, bool>,
}

/// The features of reads that are on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a feature gate, and independent of the others"
)]
pub(crate) struct Features {
    pub(crate) has_watch_lists: bool,
    pub(crate) compresses_watch_lists: bool,
    pub(crate) drops_managed_fields: bool,
    pub(crate) refuses_late_lists: bool,
}

// === impl Feature ===

impl Feature {
    /// Every feature.
    pub const ALL: [Self; 6] = [
        Self::WatchList,
        Self::WatchListCompression,
        Self::ManagedFieldsOptOut,
        Self::ConsistentListFromCacheSkipTimeoutFallback,
        Self::GenericWorkload,
        Self::EvictionRequestApi,
    ];
    /// Those that serve more kinds.
    pub(crate) const OF_KINDS: [Self; 2] = [Self::GenericWorkload, Self::EvictionRequestApi];

    /// Returns the name of its feature gate.
    pub fn gate(self) -> &'static str {
        match self {
            Self::WatchList => "WatchList",
            Self::WatchListCompression => "WatchListCompression",
            Self::ManagedFieldsOptOut => "ManagedFieldsOptOut",
            Self::ConsistentListFromCacheSkipTimeoutFallback => {
                "ConsistentListFromCacheSkipTimeoutFallback"
            }
            Self::GenericWorkload => "GenericWorkload",
            Self::EvictionRequestApi => "EvictionRequestAPI",
        }
    }
}

// === impl FeatureSettings ===

impl FeatureSettings {
    /// Turns a feature on or off in all versions.
    pub(crate) fn set(&mut self, feature: Feature, is_on: bool) {
        self.settings.insert(feature, is_on);
    }

    /// Returns whether a version of Kubernetes has a feature: as it was set, or else by default.
    pub(crate) fn is_on(&self, feature: Feature, version: KubernetesVersion) -> bool {
        let by_default = || version.gates().is_on(feature.gate());
        let setting = self.settings.get(&feature).copied();
        setting.unwrap_or_else(by_default)
    }

    /// Returns the features of reads that a version of Kubernetes has.
    pub(crate) fn of_version(&self, version: KubernetesVersion) -> Features {
        let is_on = |feature| self.is_on(feature, version);
        Features {
            has_watch_lists: is_on(Feature::WatchList),
            compresses_watch_lists: is_on(Feature::WatchListCompression),
            drops_managed_fields: is_on(Feature::ManagedFieldsOptOut),
            refuses_late_lists: is_on(Feature::ConsistentListFromCacheSkipTimeoutFallback),
        }
    }
}
