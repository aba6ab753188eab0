//! The state of the kubelets behind the API, as far as the API server itself reads it.

use std::fmt::Debug;

use fakeserver_kinds::metrics::usage::ScriptedContainers;
use jiff::Timestamp;
use serde_json::Value;

use crate::store::{ChangeSink, ObjectKey};

/// The kubelets of a server's nodes.
///
/// They are a [`ChangeSink`], which receives each change under the lock of the store, so that the log of a pod ends with
/// the pod.
pub trait Kubelets: ChangeSink + Debug {
    /// Returns the address that connections with a pod lead to, or the reason why there is none.
    ///
    /// # Errors
    ///
    /// The pod does not run, or has no address.
    fn address(&self, pod: &Value) -> Result<String, String>;

    /// Returns whether any pods have an address that connections lead to.
    fn has_backends(&self) -> bool;

    /// Returns the resources that the containers of a pod use at a time, as far as stages set them.
    fn usage(&self, pod: &ObjectKey, at: Timestamp) -> ScriptedContainers;

    /// Appends the lines of `text` to the log of a container, as standard output. The caller makes sure that the pod stays
    /// stored meanwhile.
    fn write_log(&self, pod: &ObjectKey, container: &str, at: Timestamp, text: &str);

    /// Closes all streams of logs and all connections with containers.
    fn disconnect(&self);
}
