//! A connection that leads to a replica behind the state that its client has seen.

use rand::{RngExt, rngs::ChaCha8Rng};
use serde::{Deserialize, Serialize};

use super::is_of_replica;
use crate::faults::{
    CatalogueEntry, Definition, Property, ReadBound, Recovery, RequestFacts, RequestVerdict,
    Target, catalogue::SHOWS_OLD_STATES, definition::is_default,
};

/// The parameters of [`Fault::TimeTravel`](crate::faults::Fault::TimeTravel).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct TimeTravel {
    /// The number of revisions that the state is behind, 5 by default.
    pub behind_revisions: u64,
    /// True if lists of the most recent state are behind too.
    #[serde(skip_serializing_if = "is_default")]
    pub quorum: bool,
}

impl Default for TimeTravel {
    fn default() -> Self {
        Self {
            behind_revisions: 5,
            quorum: false,
        }
    }
}

impl Definition for TimeTravel {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F17",
        fault: "time_travel",
        parameters: &["behindRevisions", "quorum"],
        effect: "Shows a list, or the beginning of a watch, the state of `behindRevisions` before, which may be older than what its \
                 client has seen. Later changes of a watch follow as usual. A list that names no version gets the most recent \
                 state, unless `quorum` is set.",
        models: "a connection leads to a replica that is behind what was seen",
        suffered: "kubelets at a restart of a server (kubernetes#59848); kube-runtime 5.0: streaming lists from version 0",
        target: Target::Reads,
        recovery: Recovery::Retry,
        properties: &[Property::BreaksPromises, SHOWS_OLD_STATES],
    };

    fn drawn(rng: &mut ChaCha8Rng) -> Self {
        Self {
            behind_revisions: rng.random_range(1..20),
            quorum: false,
        }
    }

    fn on_request(&self, request: &RequestFacts) -> Option<RequestVerdict> {
        if request.verb == "get" || !is_of_replica(request, self.quorum) {
            return None;
        }
        let then = request.revision.saturating_sub(self.behind_revisions);
        Some(RequestVerdict::BoundRead(ReadBound::Revision(then)))
    }
}
