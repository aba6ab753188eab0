//! The controllers of workloads, compiled out.

use super::controller::Controller;

/// The times and sizes of the controllers of workloads, of which there are none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Workloads {}

// === impl Workloads ===

impl Workloads {
    /// Returns whether `metrics.k8s.io` is served.
    pub(crate) fn serves_metrics(&self) -> bool {
        match *self {}
    }
}

/// Returns no controllers.
pub(super) fn controllers(options: &Workloads) -> Vec<Box<dyn Controller>> {
    match *options {}
}

pub(super) mod pods {
    //! The pods of the index, for which no controller asks.

    use std::sync::Arc;

    use crate::{
        controllers::meta::Meta,
        store::{ObjectKey, StoredObject},
    };

    /// The pods: none.
    #[derive(Debug, Default)]
    pub(in crate::controllers) struct Pods;

    // === impl Pods ===

    impl Pods {
        /// Takes a change in.
        pub(in crate::controllers) fn apply(
            &mut self,
            _: &ObjectKey,
            _: Option<(&Arc<StoredObject>, &Meta)>,
        ) {
        }
    }
}
