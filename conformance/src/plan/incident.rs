//! Incidents of whole machines; faults concern requests and frames.

use fakeserver::KubernetesVersion;
use serde::{Deserialize, Serialize};

use super::kubernetes_version;

/// An incident of a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Incident {
    /// The beginning.
    pub at_ms: u64,
    /// The duration.
    pub for_ms: u64,
    /// The kind.
    pub kind: IncidentKind,
}

/// The kinds of incidents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "snake_case")]
#[non_exhaustive]
pub enum IncidentKind {
    /// An informer's connections break and lead to a replica of the server that lags behind. At the end they break
    /// again and lead back.
    ///
    /// As with a real server, a request for the most recent state waits until the replica has caught up.
    Replica {
        /// The informer, by its place in the plan; all if `None`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        informer: Option<usize>,
        /// The lag.
        lag_ms: u64,
    },
    /// The server restarts with its data: connections break, new ones fail until the end, and earlier changes cannot be
    /// watched any more.
    Restart,
    /// The server restarts without the objects of the plan, and its revision moves far on, as after a correct restore
    /// of etcd:
    /// every watch is followed by a list.
    DataLoss,
    /// The machine of the whole run sleeps: everything due in between is due at once.
    Suspend,
    /// The server becomes another version of Kubernetes with its watches open, and goes back at the end.
    Upgrade {
        /// The other version.
        #[serde(with = "kubernetes_version")]
        version: KubernetesVersion,
        /// True if connections break each time, as those to a server that another one replaces.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_rolling: bool,
    },
}

// === impl Incident ===

impl Incident {
    /// Creates an incident.
    pub fn new(at_ms: u64, for_ms: u64, kind: IncidentKind) -> Self {
        Self {
            at_ms,
            for_ms,
            kind,
        }
    }

    /// Returns whether the server becomes another version of Kubernetes.
    pub(crate) fn is_upgrade(&self) -> bool {
        matches!(self.kind, IncidentKind::Upgrade { .. })
    }

    /// Returns the informer that it concerns; `None` for all.
    pub(crate) fn informer(&self) -> Option<usize> {
        match self.kind {
            IncidentKind::Replica { informer, .. } => informer,
            IncidentKind::Restart
            | IncidentKind::DataLoss
            | IncidentKind::Suspend
            | IncidentKind::Upgrade { .. } => None,
        }
    }
}

// === impl IncidentKind ===

impl IncidentKind {
    /// Returns whether connections break when it begins, and when it ends.
    pub(crate) fn breaks_connections(self) -> bool {
        match self {
            Self::Suspend => false,
            Self::Upgrade { is_rolling, .. } => is_rolling,
            Self::Replica { .. } | Self::Restart | Self::DataLoss => true,
        }
    }

    /// Returns its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Replica { .. } => "replica",
            Self::Restart => "restart",
            Self::DataLoss => "data_loss",
            Self::Suspend => "suspend",
            Self::Upgrade { .. } => "upgrade",
        }
    }
}
