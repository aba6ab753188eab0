//! Containers, compiled out: without kubelets there are none.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::{
    kinds::metrics::usage::ScriptedContainers,
    store::{Change, ChangeSink, ObjectKey},
};

/// The containers of a server's pods, of which there are none.
#[derive(Debug)]
pub(crate) enum Containers {}

/// The parts of containers that a test scripts: nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ContainerOptions;

// === impl Containers ===

impl Containers {
    /// Returns none.
    pub(crate) fn of(_: bool, _: ContainerOptions, _: &CancellationToken) -> Option<Arc<Self>> {
        None
    }

    /// Returns nothing, since there are no pods.
    pub(crate) fn address(&self, _: &Value) -> Result<String, String> {
        match *self {}
    }

    /// Returns nothing, since there are no pods.
    pub(crate) fn has_backends(&self) -> bool {
        match *self {}
    }

    /// Returns nothing, since there are no pods.
    pub(crate) fn usage(&self, _: &ObjectKey, _: Timestamp) -> ScriptedContainers {
        match *self {}
    }

    /// Lets no clients leave.
    pub(crate) fn disconnect(&self) {
        match *self {}
    }
}

impl ChangeSink for Containers {
    fn changed(&self, _: &Arc<Change>) {
        match *self {}
    }

    fn reset(&self) {
        match *self {}
    }
}
