//! Features that kube-apiserver has behind gates that are off by default.

use std::sync::Arc;

use fakeserver_kinds::registry::{ELECTIONS, Registry};
use fakeserver_versions::KubernetesVersion;

use super::{Controllers, FakeServerBuilder};

use crate::edge::request::{Feature, FeatureSettings, MediaTypes};

/// The features that are on.
#[derive(Clone, Debug, Default)]
pub(super) struct FeatureGates {
    pub(super) media_types: MediaTypes,
    pub(super) has_shards: bool,
    pub(super) holds_elections: bool,
    pub(super) settings: FeatureSettings,
}

// === impl FeatureGates ===

impl FeatureGates {
    /// Leaves out the controllers of features that are off.
    pub(super) fn allowed(&self, controllers: Controllers) -> Controllers {
        let holds_elections = controllers.enabled.leader_election && self.holds_elections;
        controllers.with_leader_election(holds_elections)
    }

    /// Returns the resources that are served without definitions.
    pub(super) fn registry(&self, kubernetes: KubernetesVersion) -> Arc<Registry> {
        let elections = self.holds_elections.then_some(ELECTIONS);
        let features = Feature::OF_KINDS.into_iter();
        let features = features.filter(|feature| self.settings.is_on(*feature, kubernetes));
        let gates: Vec<&str> = elections
            .into_iter()
            .chain(features.map(Feature::gate))
            .collect();
        Registry::gated(kubernetes, &gates)
    }
}

// === impl FakeServerBuilder ===

impl FakeServerBuilder {
    /// Serves CBOR as well, as kube-apiserver does with the feature gate `CBORServingAndStorage`. By default it does not.
    #[doc(alias = "feature-gates")]
    pub fn with_cbor(mut self, has_cbor: bool) -> Self {
        self.gates.media_types = MediaTypes::new(has_cbor);
        self
    }

    /// Turns a feature on or off, as the feature gate of its name does.
    ///
    /// By default a server has what its version has: `WatchListCompression` is on from 1.37, `WatchList` is off in 1.31 and
    /// in 1.33. A feature can also be turned on in a version that does not have its gate.
    #[doc(alias = "feature-gates")]
    pub fn with_feature(mut self, feature: Feature, is_on: bool) -> Self {
        self.gates.settings.set(feature, is_on);
        self
    }

    /// Selects by the parameter `shardSelector` in lists and watches, as kube-apiserver does with the feature gate
    /// `ShardedListAndWatch`. By default the gate is off: the parameter has no effect, and lists contain no shard info.
    #[doc(alias = "feature-gates")]
    pub fn with_shards(mut self, has_shards: bool) -> Self {
        self.gates.has_shards = has_shards;
        self
    }

    /// Serves `LeaseCandidate` in `coordination.k8s.io/v1beta1`, and elects leaders among the candidates (KEP-4355), as
    /// kube-apiserver does with the feature gate `CoordinatedLeaderElection` and that version of the API. By default it does
    /// not, and drops the strategy and the preferred holder of leases.
    #[doc(alias = "feature-gates")]
    #[doc(alias = "CoordinatedLeaderElection")]
    pub fn with_coordinated_leader_election(mut self, holds_elections: bool) -> Self {
        self.gates.holds_elections = holds_elections;
        self
    }
}
