//! The size of a simulated cluster, and the rates of its churn.

use std::time::Duration;

/// A cluster that is there when the server is built, and lives on by itself: nodes, and what would run on them.
///
/// # Examples
///
/// ```
/// # mod fakeserver { pub use fakeserver_cluster::*; pub use fakeserver_server::*; }
/// use fakeserver::{ClusterOptions, FakeServer};
///
/// let cluster = ClusterOptions::new(3, 40);
/// let server = FakeServer::builder().with_seed(7).with_cluster(cluster).build();
/// assert_eq!(server.objects("", "v1", "nodes").len(), 3);
/// assert_eq!(server.objects("", "v1", "pods").len(), 40);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct ClusterOptions {
    pub(crate) nodes: u32,
    pub(crate) pods: u32,
    pub(crate) churn: Churn,
}

/// The churn of a simulated cluster: its kinds and their rates.
///
/// By default nothing does.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Churn {
    pub(crate) writes_per_second: u32,
    pub(crate) lease_interval: Option<Duration>,
    pub(crate) status_interval: Option<Duration>,
    pub(crate) failure_interval: Option<Duration>,
    pub(crate) rollouts: u32,
    pub(crate) scalings: u32,
    pub(crate) crashes: u32,
    pub(crate) jobs: u32,
}

// === impl ClusterOptions ===

impl ClusterOptions {
    /// Creates options of a cluster without churn that has `nodes` nodes, at least one, and `pods` pods.
    pub fn new(nodes: u32, pods: u32) -> Self {
        Self {
            nodes: nodes.max(1),
            pods,
            churn: Churn::default(),
        }
    }

    /// Lets things happen, from the first request to the server on.
    pub fn with_churn(mut self, churn: Churn) -> Self {
        self.churn = churn;
        self
    }
}

// === impl Churn ===

impl Churn {
    /// Creates a churn of `writes_per_second` writes a second, on average over the cluster. Every revision that the
    /// cluster takes counts.
    ///
    /// Leases and reports of nodes come first; the rest goes to pods and their workloads.
    pub fn new(writes_per_second: u32) -> Self {
        Self {
            writes_per_second,
            ..Self::default()
        }
    }

    /// Sets the interval at which every node renews its lease. The default is 10 s; with `None` leases are not renewed.
    pub fn with_lease_interval(mut self, interval: Option<Duration>) -> Self {
        self.lease_interval = interval;
        self
    }

    /// Sets the interval at which every node reports its status. The default is 5 min; with `None` it is not reported.
    /// The default is 5 min; without one they do not.
    pub fn with_node_status_interval(mut self, interval: Option<Duration>) -> Self {
        self.status_interval = interval;
        self
    }

    /// Sets the interval at which some node is lost, for five minutes. The default is 10 min; with `None` none is lost.
    /// The default is 10 min; without one none is.
    pub fn with_node_failure_interval(mut self, interval: Option<Duration>) -> Self {
        self.failure_interval = interval;
        self
    }

    /// Sets the share of roll-outs among activities. The default is 4.
    pub fn with_rollouts(mut self, share: u32) -> Self {
        self.rollouts = share;
        self
    }

    /// Sets the share of scalings among activities. The default is 2.
    pub fn with_scalings(mut self, share: u32) -> Self {
        self.scalings = share;
        self
    }

    /// Sets the share of container crashes among activities. The default is 10.
    pub fn with_crashes(mut self, share: u32) -> Self {
        self.crashes = share;
        self
    }

    /// Sets the share of jobs among activities. The default is 20.
    pub fn with_jobs(mut self, share: u32) -> Self {
        self.jobs = share;
        self
    }
}

impl Default for Churn {
    fn default() -> Self {
        Self {
            writes_per_second: 0,
            lease_interval: Some(Duration::from_secs(10)),
            status_interval: Some(Duration::from_mins(5)),
            failure_interval: Some(Duration::from_mins(10)),
            rollouts: 4,
            scalings: 2,
            crashes: 10,
            jobs: 20,
        }
    }
}
