//! The parts of a server that verbs use.

use std::sync::Arc;

use super::{inert::InertWarnings, tally::Tally};
use crate::{
    edge::{authentication::Authenticator, request::MediaTypes},
    faults::Faults,
    kinds::{metrics, registry::Registry},
    task::TaskSet,
    write::Backend,
};

/// The backend, and the parts of a server that only verbs use.
#[derive(Debug)]
pub(crate) struct Api {
    pub(crate) backend: Arc<Backend>,
    pub(crate) faults: Faults,
    pub(crate) authenticator: Authenticator,
    pub(crate) tally: Tally,
    pub(crate) media_types: MediaTypes,
    /// True if lists and watches can be of shards.
    pub(crate) has_shards: bool,
    /// True if the usage of nodes and pods is served.
    pub(crate) has_metrics: bool,
    /// The warnings about objects without effect that were given.
    pub(crate) inert: InertWarnings,
    /// The owner of the tasks of watches, and of the server's others.
    pub(crate) tasks: TaskSet,
}

// === impl Api ===

impl Api {
    /// Returns the resources that are served now.
    pub(crate) fn registry(&self) -> Arc<Registry> {
        let stored = self.backend.registry();
        if self.has_metrics {
            stored.with_unstored(metrics::GROUP, metrics::group)
        } else {
            stored
        }
    }
}
