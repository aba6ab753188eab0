//! The cluster behind the API server, as the server knows it: its nodes, and the simulated cluster that it begins with.
//!
//! An API server runs no containers and places no pods. What does implements these traits in a crate above this one, and
//! is handed to the builder of a server as a value: [`WorkloadOptions`] by [`Controllers::with_workloads`], and
//! [`ClusterSource`] by [`FakeServerBuilder::with_cluster`].
//!
//! [`Controllers::with_workloads`]: crate::Controllers::with_workloads
//! [`FakeServerBuilder::with_cluster`]: crate::FakeServerBuilder::with_cluster

pub mod exec;
mod log_options;
mod pod_backend;
mod session;

use std::{fmt::Debug, sync::Arc};

use axum::{body::Body, response::Response};
use fakeserver_kinds::metrics::usage::ScriptedContainers;
use fakeserver_value::status::Status;
use futures::future::BoxFuture;
use jiff::Timestamp;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

pub use self::{
    exec::{ExecHandler, ExecOutput, ExecRequest},
    log_options::{LogOptions, LogSelection},
    pod_backend::{PodBackend, PodBackendError},
    session::{Conversation, PendingSession, Session},
};
use crate::{
    controllers::controller::Controller,
    store::{ChangeSink, ObjectKey},
    task::TaskSet,
    verbs::{Api, Request, Verb},
    write::Backend,
};

/// The options of workloads, from which a server makes its nodes.
pub trait WorkloadOptions: Debug + Send + Sync {
    /// Returns whether `metrics.k8s.io` is served.
    fn serves_metrics(&self) -> bool;

    /// Creates the nodes of a server. Their clients leave when `stop` fires.
    fn nodes(&self, containers: ContainerOptions, stop: &CancellationToken) -> Arc<dyn Nodes>;
}

/// The nodes of a cluster: the controllers of workloads, and kubelets that answer about the containers of their pods.
///
/// They are a [`ChangeSink`], and hear of each change before watchers do, so that the log of a pod ends with the pod.
pub trait Nodes: ChangeSink + Debug {
    /// Returns the controllers of workloads, in the order in which they hear of changes. A server asks for them again
    /// after it was reset.
    fn controllers(&self) -> Vec<Box<dyn Controller>>;

    /// Answers a request for the log of a container of `pod`, which is on a node.
    ///
    /// # Errors
    ///
    /// The container has no log, as a real kubelet says it.
    fn log(
        &self,
        api: &Api,
        request: &Request<'_>,
        pod: &Value,
        container: &str,
        options: &LogOptions,
    ) -> Result<Response, Status>;

    /// Answers a request for a connection with `pod`, which is on a node: `exec`, `attach` or `portforward`. The answer
    /// carries a [`PendingSession`] among its extensions.
    ///
    /// # Errors
    ///
    /// The request asks for no connection, or for one that the requester may not have.
    fn connect(
        &self,
        api: &Api,
        request: &Request<'_>,
        pod: &Value,
        container: &str,
    ) -> Result<Response, Status>;

    /// Forwards a request to a pod or a service.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the forwarded request ends too.
    fn proxy<'a>(
        &'a self,
        api: &'a Api,
        request: &'a Request<'a>,
        verb: Verb,
        body: Body,
    ) -> BoxFuture<'a, Result<Response, Status>>;

    /// Returns the address that stands for a pod, or the reason why none can be reached.
    ///
    /// # Errors
    ///
    /// The pod does not run, or no address stands for it.
    fn address(&self, pod: &Value) -> Result<String, String>;

    /// Returns whether an address stands for any pods.
    fn has_backends(&self) -> bool;

    /// Returns what the containers of a pod use at a time, as far as stages say it.
    fn usage(&self, pod: &ObjectKey, at: Timestamp) -> ScriptedContainers;

    /// Appends the lines of `text` to the log of a container, as standard output. The pod is to be stored meanwhile.
    fn write_log(&self, pod: &ObjectKey, container: &str, at: Timestamp, text: &str);

    /// Lets all clients leave that follow a log or are connected to a container.
    fn disconnect(&self);
}

/// The options of a simulated cluster, from which a server makes its own.
pub trait ClusterSource: Debug + Send + Sync {
    /// Creates a cluster that is not filled in yet.
    fn cluster(&self) -> Arc<dyn SimulatedCluster>;
}

/// A simulated cluster, whose objects a server begins with.
pub trait SimulatedCluster: Debug + Send + Sync {
    /// Writes the objects of the cluster, and tells `progress` the number of written objects and their total.
    fn fill(&self, backend: &Backend, progress: &mut dyn FnMut(usize, usize));

    /// Starts the task in which the cluster changes, unless it runs or nothing is to change.
    fn start(self: Arc<Self>, backend: &Arc<Backend>, tasks: &TaskSet);

    /// Ends all changes until the cluster is filled in again.
    fn clear(&self);
}

/// The parts of containers that a test scripts.
#[derive(Clone, Debug, Default)]
pub struct ContainerOptions {
    /// Functions that answer commands, the first of them first.
    pub commands: Vec<ExecHandler>,
    /// Addresses that stand for pods, the first of them first.
    pub backends: Vec<PodBackend>,
}
