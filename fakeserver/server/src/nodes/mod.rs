//! The cluster behind the API server, as traits: its nodes, and the simulated cluster that it begins with.
//!
//! An API server runs no containers and places no pods. A crate above this one implements these traits, and passes the
//! implementation to the builder of a server: [`WorkloadOptions`] by [`Controllers::with_workloads`], and
//! [`ClusterSource`] by [`FakeServerBuilder::with_cluster`].
//!
//! [`Controllers::with_workloads`]: crate::Controllers::with_workloads
//! [`FakeServerBuilder::with_cluster`]: crate::FakeServerBuilder::with_cluster

pub mod exec;
mod pod_backend;

use std::{fmt::Debug, sync::Arc};

use tokio_util::sync::CancellationToken;

pub use self::{
    exec::{ExecHandler, ExecOutput, ExecRequest},
    pod_backend::{PodBackend, PodBackendError},
};
use crate::{
    controllers::controller::WorkloadControllers, kubelets::Kubelets, task::TaskSet,
    verbs::KubeletApi, write::Backend,
};

/// The options of workloads, from which a server makes its nodes.
pub trait WorkloadOptions: Debug + Send + Sync {
    /// Returns whether `metrics.k8s.io` is served.
    fn serves_metrics(&self) -> bool;

    /// Creates the nodes of a server. Their clients leave when `stop` fires.
    fn nodes(&self, containers: ContainerOptions, stop: &CancellationToken) -> Arc<dyn Nodes>;
}

/// The nodes of a cluster: the controllers of workloads, and kubelets that answer about the containers of their pods.
pub trait Nodes: Kubelets + KubeletApi + WorkloadControllers {}

impl<T: Kubelets + KubeletApi + WorkloadControllers> Nodes for T {}

/// The options of a simulated cluster, from which a server makes its own.
pub trait ClusterSource: Debug + Send + Sync {
    /// Creates a cluster that is not filled in yet.
    fn cluster(&self) -> Arc<dyn SimulatedCluster>;
}

/// A simulated cluster, whose objects a server starts with.
pub trait SimulatedCluster: Debug + Send + Sync {
    /// Writes the objects of the cluster, and calls `progress` with the number of written objects and their total.
    fn fill(&self, backend: &Backend, progress: &mut dyn FnMut(usize, usize));

    /// Starts the task that changes the cluster, unless it runs already or the cluster is static.
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
