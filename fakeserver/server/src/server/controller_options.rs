//! The selection of a server's controllers.

use std::sync::Arc;

use crate::{controllers::EnabledControllers, nodes::WorkloadOptions};

/// Which controllers work in a server: by default those without which deletions do not end.
///
/// The controller of custom resource definitions always works, as in a real API server.
///
/// # Examples
///
/// ```
/// # use fakeserver_server as fakeserver;
/// use fakeserver::{Controllers, FakeServer};
///
/// let controllers = Controllers::default().with_quota(true);
/// let server = FakeServer::builder().with_controllers(controllers).build();
/// # drop(server);
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct Controllers {
    pub(super) enabled: EnabledControllers,
    pub(super) workloads: Option<Arc<dyn WorkloadOptions>>,
}

// === impl Controllers ===

impl Controllers {
    /// No controllers: deleted namespaces stay terminating, and the garbage collector's finalizers are never removed.
    pub fn none() -> Self {
        Self {
            enabled: EnabledControllers::NONE,
            workloads: None,
        }
    }

    /// Sets whether dependents of deleted owners are deleted, and finalizers `orphan` and `foregroundDeletion` are
    /// served.
    #[doc(alias = "garbagecollector")]
    pub fn with_garbage_collector(mut self, is_on: bool) -> Self {
        self.enabled.garbage_collector = is_on;
        self
    }

    /// Sets whether deleted namespaces are emptied and end.
    pub fn with_namespaces(mut self, is_on: bool) -> Self {
        self.enabled.namespaces = is_on;
        self
    }

    /// Sets whether resource quotas get their limits into their status, and their usage counted. Without that they limit
    /// nothing, until a client writes their status.
    #[doc(alias = "resourcequota")]
    pub fn with_quota(mut self, is_on: bool) -> Self {
        self.enabled.quota = is_on;
        self
    }

    /// Sets whether leaders are elected among lease candidates, on servers
    /// [that have them](crate::FakeServerBuilder::with_coordinated_leader_election).
    pub fn with_leader_election(mut self, is_on: bool) -> Self {
        self.enabled.leader_election = is_on;
        self
    }

    /// Sets whether every namespace gets the service account `default` and the config map `kube-root-ca.crt`, and secrets of the
    /// type `kubernetes.io/service-account-token` a token. Pods need a service account then, since this turns
    /// on the admission plugin `ServiceAccount`, unless it is [disabled](crate::AdmissionPlugins::with_disabled).
    pub fn with_service_accounts(mut self, is_on: bool) -> Self {
        self.enabled.service_accounts = is_on;
        self
    }

    /// Sets whether approved certificate signing requests of the built-in signers are signed, requests of kubelets are
    /// approved if an authorizer allows it, and old requests are deleted.
    ///
    /// The authority is that of [`with_certificates`](crate::FakeServerBuilder::with_certificates), or else one of its own,
    /// which signs for no connection.
    #[cfg(feature = "tls")]
    #[doc(alias = "csrsigning")]
    #[doc(alias = "csrapproving")]
    #[doc(alias = "csrcleaner")]
    pub fn with_certificates(mut self, is_on: bool) -> Self {
        self.enabled.certificates = is_on;
        self
    }

    /// Runs deployments, replica sets, replication controllers, stateful sets, daemon sets, jobs and cron jobs, a scheduler,
    /// and a kubelet for every node; gives services endpoints and claims volumes; evicts pods from nodes that fail;
    /// [counts quotas](Self::with_quota), signs certificates, and gives namespaces
    /// [service accounts](Self::with_service_accounts).
    pub fn with_workloads(mut self, workloads: impl WorkloadOptions + 'static) -> Self {
        self.workloads = Some(Arc::new(workloads));
        self.enabled.quota = true;
        self.enabled.certificates = true;
        self.enabled.service_accounts = true;
        self
    }

    /// Returns whether `metrics.k8s.io` is served.
    pub fn serves_metrics(&self) -> bool {
        self.workloads
            .as_ref()
            .is_some_and(|workloads| workloads.serves_metrics())
    }
}
