//! The times and sizes of the controllers of workloads.

use std::time::Duration;

use super::stages::Stage;

/// The times and sizes of the controllers of workloads, and of the nodes that they run on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Workloads {
    pub(crate) node_count: usize,
    pub(crate) pods_per_node: u32,
    pub(crate) pod_start: Duration,
    pub(crate) pod_run: Duration,
    pub(crate) pod_stop: Duration,
    pub(crate) restart_backoff: Duration,
    pub(crate) has_storage_class: bool,
    pub(crate) has_system_pods: bool,
    pub(crate) has_metrics: bool,
    pub(crate) stages: Vec<Stage>,
}

// === impl Workloads ===

impl Workloads {
    /// Sets the number of nodes, `node-0` and so on, that are created at the start of the controllers if the cluster has no nodes. The
    /// default is 1.
    pub fn with_nodes(mut self, count: usize) -> Self {
        self.node_count = count;
        self
    }

    /// Sets the number of pods that fit on a created node, or on one without a capacity. The default is 110.
    pub fn with_pods_per_node(mut self, count: u32) -> Self {
        self.pods_per_node = count;
        self
    }

    /// Sets the time until a pod on a node is running and ready. The default is 1 s.
    pub fn with_pod_start(mut self, after: Duration) -> Self {
        self.pod_start = after;
        self
    }

    /// Sets the time after which a pod ends by itself: one of a job, or any whose restart policy is not `Always`. The
    /// default is 5 s.
    ///
    /// The pod succeeds, unless its annotation `fakeserver/exit-code` or a [stage](Self::with_stages) says another code than 0:
    /// then it fails, or its containers are restarted if its policy is `OnFailure`.
    pub fn with_pod_run(mut self, after: Duration) -> Self {
        self.pod_run = after;
        self
    }

    /// Sets the time that a deleted pod takes to stop, its grace period at most: its containers end with 0 then, or with 137
    /// if the grace period was too short or they were to end by themselves. The default is 1 s.
    pub fn with_pod_stop(mut self, after: Duration) -> Self {
        self.pod_stop = after;
        self
    }

    /// Sets the first pause before a container that ended for the second time is restarted, and before a pull is tried again.
    /// Each further pause is twice as long, up to thirty times the first. The default is 10 s, as of real kubelets.
    pub fn with_restart_backoff(mut self, first: Duration) -> Self {
        self.restart_backoff = first;
        self
    }

    /// Sets whether the default storage class `standard` is created if there is no class when the controllers start, so that
    /// claims get volumes. The default is true.
    pub fn with_storage_class(mut self, is_made: bool) -> Self {
        self.has_storage_class = is_made;
        self
    }

    /// Sets whether `kube-system` has the pods of a cluster's own components: the deployment `coredns` with the service
    /// `kube-dns`, the daemon set `kube-proxy`, and static pods of the control plane on the first node with the label
    /// `node-role.kubernetes.io/control-plane`, or else on the first node. The default is false.
    ///
    /// The first node that is [created](Self::with_nodes) has that label then. What is missing of the deployment, the service
    /// and the daemon set is created whenever the controllers start; static pods come back at any time. Nothing happens while
    /// there is no namespace `kube-system`.
    pub fn with_system_pods(mut self, are_made: bool) -> Self {
        self.has_system_pods = are_made;
        self
    }

    /// Sets whether `metrics.k8s.io` is served, as by the metrics server of a cluster. Without it autoscalers know no usage. The
    /// default is true.
    #[doc(alias = "metrics-server")]
    pub fn with_metrics(mut self, are_served: bool) -> Self {
        self.has_metrics = are_served;
        self
    }

    /// Returns whether `metrics.k8s.io` is served.
    pub(crate) fn serves_metrics(&self) -> bool {
        self.has_metrics
    }

    /// Adds stages, which say what becomes of pods and other objects. Of those that select the same container the first
    /// counts.
    pub fn with_stages(mut self, stages: impl IntoIterator<Item = Stage>) -> Self {
        self.stages.extend(stages);
        self
    }
}

impl Default for Workloads {
    fn default() -> Self {
        Self {
            node_count: 1,
            pods_per_node: 110,
            pod_start: Duration::from_secs(1),
            pod_run: Duration::from_secs(5),
            pod_stop: Duration::from_secs(1),
            restart_backoff: Duration::from_secs(10),
            has_storage_class: true,
            has_system_pods: false,
            has_metrics: true,
            stages: Vec::new(),
        }
    }
}
