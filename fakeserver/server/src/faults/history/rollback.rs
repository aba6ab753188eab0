//! A cluster that was restored from a backup.

use serde::{Deserialize, Serialize};

use crate::faults::{
    Action, CatalogueEntry, Definition, Property, Recovery, RequestFacts, RequestVerdict, Target,
};

/// The parameters of [`Fault::Rollback`](crate::faults::Fault::Rollback).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Rollback {
    /// The number of revisions that are undone, 5 by default.
    pub revisions: u64,
}

impl Default for Rollback {
    fn default() -> Self {
        Self { revisions: 5 }
    }
}

impl Definition for Rollback {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F13",
        fault: "rollback",
        parameters: &["revisions"],
        effect: "Takes the store back by `revisions` before a request is served, at most to the beginning of its history. Later \
                 writes are lost, watches end, and other writes take the lost revisions again; an object made again under its \
                 name has another uid. A watch from a lost revision brings nothing until the store has passed it.",
        models: "a cluster is restored from a backup: versions go down, names come back with other uids",
        suffered: "every cache that trusts its versions",
        target: Target::Reads,
        recovery: Recovery::SilenceTimeout,
        properties: &[
            Property::BreaksPromises,
            Property::ServerOnly("it changes what the server stores"),
            Property::NotDrawn(
                "a server that goes back and passes its old revision cannot be told from one that did not",
            ),
        ],
    };

    fn on_request(&self, _: &RequestFacts) -> Option<RequestVerdict> {
        let revisions = self.revisions;
        Some(RequestVerdict::Perform(Action::RollBack { revisions }))
    }
}
