//! What happens to whole machines, where a fault is about requests and frames.

use serde::{Deserialize, Serialize};

/// One thing that happens to a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Incident {
    /// From when.
    pub at_ms: u64,
    /// For how long.
    pub for_ms: u64,
    /// What.
    pub kind: IncidentKind,
}

/// What happens to a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "snake_case")]
#[non_exhaustive]
pub enum IncidentKind {
    /// An informer's connections break and lead to a replica of the server, which lags behind it. At the end they break
    /// again, and lead back.
    ///
    /// What has to be the most recent state is, as from a real server: a replica that is asked for that catches up first.
    Replica {
        /// Whose connections, by his place in the plan; everybody's if `None`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        informer: Option<usize>,
        /// By how much.
        lag_ms: u64,
    },
    /// The server restarts with its data: connections break, none can be made until the end, and changes from before
    /// cannot be watched any more.
    Restart,
    /// The server restarts without the objects that plans are about, with its revision moved far on, as an etcd that is
    /// restored as it should be: whoever watched has to list.
    DataLoss,
    /// The machine on which everything runs sleeps: all that was due meanwhile is due at once.
    Suspend,
}

// === impl Incident ===

impl Incident {
    /// The incident `kind` from a time on for a while.
    pub fn new(at_ms: u64, for_ms: u64, kind: IncidentKind) -> Self {
        Self {
            at_ms,
            for_ms,
            kind,
        }
    }

    /// Whose connections it is about; everybody's if `None`.
    pub(crate) fn informer(&self) -> Option<usize> {
        match self.kind {
            IncidentKind::Replica { informer, .. } => informer,
            IncidentKind::Restart | IncidentKind::DataLoss | IncidentKind::Suspend => None,
        }
    }
}

// === impl IncidentKind ===

impl IncidentKind {
    /// The name by which reports count it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Replica { .. } => "replica",
            Self::Restart => "restart",
            Self::DataLoss => "data_loss",
            Self::Suspend => "suspend",
        }
    }
}
