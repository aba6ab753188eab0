//! The record in a lease.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The part of a Lease's spec that an election reads and writes. Other fields are not changed.
#[doc(alias = "LeaderElectionRecord")]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Record {
    pub(crate) holder_identity: Option<String>,
    pub(crate) lease_duration_seconds: Option<i32>,
    pub(crate) acquire_time: Option<String>,
    pub(crate) renew_time: Option<String>,
    pub(crate) lease_transitions: Option<i32>,
    /// The candidate to whom a coordinator wants the lease to be handed over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) preferred_holder: Option<String>,
}

// === impl Record ===

impl Record {
    /// Returns the holder of the lease; `None` if the name is empty.
    pub(crate) fn holder(&self) -> Option<&str> {
        self.holder_identity
            .as_deref()
            .filter(|holder| !holder.is_empty())
    }

    /// Returns the candidate to whom `identity` is to hand the lease over, if it is.
    pub(super) fn preferred(&self, identity: &str) -> Option<&str> {
        let preferred = self.preferred_holder.as_deref();
        preferred.filter(|other| !other.is_empty() && *other != identity)
    }

    /// Returns whether it says the same, wishes of a coordinator aside.
    pub(super) fn is_same_term(&self, other: &Self) -> bool {
        let without_wish = |record: &Self| Self {
            preferred_holder: None,
            ..record.clone()
        };
        without_wish(self) == without_wish(other)
    }

    pub(crate) fn duration(&self) -> Duration {
        let seconds = self.lease_duration_seconds.unwrap_or_default();
        Duration::from_secs(u64::try_from(seconds).unwrap_or_default())
    }

    pub(super) fn transitions(&self) -> i32 {
        self.lease_transitions.unwrap_or_default()
    }
}

/// A `MicroTime`, as the API writes it.
pub(crate) fn micro_time(time: Timestamp) -> String {
    format!("{time:.6}")
}
