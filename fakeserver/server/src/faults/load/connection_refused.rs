//! A server that does not listen.

use std::{io::ErrorKind, time::Duration};

use serde::{Deserialize, Serialize};

use crate::faults::{
    CatalogueEntry, Definition, Property, Recovery, RequestFacts, RequestVerdict, Target,
    definition::is_default,
};

/// The parameters of [`Fault::ConnectionRefused`](crate::faults::Fault::ConnectionRefused).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ConnectionRefused {
    /// Milliseconds for which connections over TCP are refused from each such request on.
    #[serde(skip_serializing_if = "is_default")]
    pub closed_ms: u64,
}

impl Definition for ConnectionRefused {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F26",
        fault: "connection_refused",
        parameters: &["closedMs"],
        effect: "Fails a request before it is served: in process with that error, over TCP by a reset connection. From then on \
                 connections of all clients are refused for `closedMs`; open connections stay open.",
        models: "the server does not listen",
        suffered: "every client of a server that restarts",
        target: Target::Requests,
        recovery: Recovery::Retry,
        properties: &[Property::NeedsTcp],
    };

    fn on_request(&self, _: &RequestFacts) -> Option<RequestVerdict> {
        Some(match self.closed_ms {
            0 => RequestVerdict::Sever(ErrorKind::ConnectionRefused),
            closed_ms => RequestVerdict::Refuse(Duration::from_millis(closed_ms)),
        })
    }
}
