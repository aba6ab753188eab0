//! The features that a server has by its feature gates.

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

// === impl Features ===

impl Features {
    /// Returns those of a version, where `set` does not say otherwise.
    pub(crate) fn new(version: KubernetesVersion, set: impl Fn(Feature) -> Option<bool>) -> Self {
        let is_on = |feature: Feature| {
            set(feature).unwrap_or_else(|| version.gates().is_on(feature.gate()))
        };
        Self {
            has_watch_lists: is_on(Feature::WatchList),
            compresses_watch_lists: is_on(Feature::WatchListCompression),
            drops_managed_fields: is_on(Feature::ManagedFieldsOptOut),
            refuses_late_lists: is_on(Feature::ConsistentListFromCacheSkipTimeoutFallback),
        }
    }
}
