//! Which controllers work in a server.

use std::time::Duration;

/// Which controllers work in a server: by default those without which deletions do not end.
///
/// Definitions of custom resources are looked after always, as in a real API server.
///
/// # Examples
///
/// ```
/// use fakeserver::{Controllers, FakeServer, Workloads};
///
/// let controllers = Controllers::default().with_workloads(Workloads::default());
/// let server = FakeServer::builder().with_controllers(controllers).build();
/// # drop(server);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Controllers {
    pub(crate) garbage_collector: bool,
    pub(crate) namespaces: bool,
    pub(crate) workloads: Option<Workloads>,
}

/// The times and sizes of the controllers of workloads, and of the nodes that they run on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Workloads {
    pub(crate) node_count: usize,
    pub(crate) pods_per_node: u32,
    pub(crate) pod_start: Duration,
    pub(crate) pod_run: Duration,
    pub(crate) pod_stop: Duration,
}

// === impl Controllers ===

impl Controllers {
    /// No controllers: deleted namespaces stay as they are, and finalizers of the garbage collector stay for ever.
    pub fn none() -> Self {
        Self {
            garbage_collector: false,
            namespaces: false,
            workloads: None,
        }
    }

    /// Whether what owners leave behind is deleted, and finalizers `orphan` and `foregroundDeletion` are served.
    #[doc(alias = "garbagecollector")]
    pub fn with_garbage_collector(mut self, is_on: bool) -> Self {
        self.garbage_collector = is_on;
        self
    }

    /// Whether deleted namespaces are emptied and end.
    pub fn with_namespaces(mut self, is_on: bool) -> Self {
        self.namespaces = is_on;
        self
    }

    /// Runs deployments, replica sets, stateful sets, daemon sets and jobs, a scheduler, and a kubelet for every node.
    pub fn with_workloads(mut self, workloads: Workloads) -> Self {
        self.workloads = Some(workloads);
        self
    }
}

impl Default for Controllers {
    fn default() -> Self {
        Self {
            garbage_collector: true,
            namespaces: true,
            workloads: None,
        }
    }
}

// === impl Workloads ===

impl Workloads {
    /// How many nodes are made, `node-0` and so on, if there are none when the controllers start. The default is 1.
    pub fn with_nodes(mut self, count: usize) -> Self {
        self.node_count = count;
        self
    }

    /// How many pods fit on a node that is made, or that does not say. The default is 110.
    pub fn with_pods_per_node(mut self, count: u32) -> Self {
        self.pods_per_node = count;
        self
    }

    /// How long a pod on a node takes until it is running and ready. The default is 1 s.
    pub fn with_pod_start(mut self, after: Duration) -> Self {
        self.pod_start = after;
        self
    }

    /// How long a pod runs that is to end by itself: one of a job, or any whose restart policy is not `Always`. The
    /// default is 5 s.
    ///
    /// It succeeds, unless its annotation `fakeserver/exit-code` says another code than 0: then it fails.
    pub fn with_pod_run(mut self, after: Duration) -> Self {
        self.pod_run = after;
        self
    }

    /// How long a deleted pod takes to stop, its grace period at most. The default is 1 s.
    pub fn with_pod_stop(mut self, after: Duration) -> Self {
        self.pod_stop = after;
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
        }
    }
}
