//! The parts of a server that verbs use.

use std::sync::Arc;

use fakeserver_kinds::{metrics, registry::Registry};
use fakeserver_versions::KubernetesVersion;

use super::{inert::InertWarnings, kubelet_api::KubeletApi, tally::Tally};

use crate::{
    edge::{
        authentication::Authenticator,
        request::{FeatureSettings, MediaTypes},
    },
    faults::Faults,
    task::TaskSet,
    write::Backend,
};

/// The backend, and the parts of a server that only verbs use.
#[derive(Debug)]
pub struct Api {
    pub backend: Arc<Backend>,
    pub faults: Faults,
    pub authenticator: Authenticator,
    /// The API of the kubelets, if there are any.
    pub kubelet_api: Option<Arc<dyn KubeletApi>>,
    pub tally: Tally,
    pub(crate) media_types: MediaTypes,
    /// True if lists and watches can be of shards.
    pub has_shards: bool,
    /// The feature gates that were set.
    pub(crate) features: FeatureSettings,
    /// True if the usage of nodes and pods is served.
    pub has_metrics: bool,
    /// The warnings about objects without effect that were given.
    pub inert: InertWarnings,
    /// The owner of the tasks of watches, and of the server's others.
    pub tasks: TaskSet,
}

// === impl Api ===

impl Api {
    /// Returns the resources that are served now.
    pub fn registry(&self) -> Arc<Registry> {
        self.registry_of(None)
    }

    /// Returns the resources that are served now, by a server of the version of `peer` if there is one.
    pub(crate) fn registry_of(&self, peer: Option<KubernetesVersion>) -> Arc<Registry> {
        let stored = self.stored_registry_of(peer);
        if self.has_metrics {
            stored.with_unstored(metrics::GROUP, || metrics::group(stored.kubernetes()))
        } else {
            stored
        }
    }

    /// Returns the same without what is served but not stored.
    pub(crate) fn stored_registry_of(&self, peer: Option<KubernetesVersion>) -> Arc<Registry> {
        match peer {
            None => self.backend.registry(),
            Some(peer) => {
                // It may write what this server does not know.
                self.backend.writers.insert(peer);
                self.backend.registry_in(peer)
            }
        }
    }
}
