//! Reports about rules: those in force, and their firings.

use serde::Serialize;

use super::FaultSpec;

/// A rule in force that was made from a [`FaultSpec`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct InstalledFault {
    /// The id by which it can be removed.
    pub id: u64,
    /// Its spec.
    pub spec: FaultSpec,
    /// The number of its firings.
    pub fired: u64,
    /// The revision at its last firing: that of the frame, or that of the server at the arrival of the request.
    pub last_revision: Option<u64>,
}

/// A firing of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Firing {
    /// The id of the rule.
    pub id: u64,
    /// The name of the rule.
    pub rule: &'static str,
    /// The client of the request or watch.
    pub client: String,
    /// The verb of the request; `watch` for a frame.
    pub verb: &'static str,
    /// The resource of the request.
    pub resource: String,
    /// The revision of the frame, or of the server at the arrival of the request.
    pub revision: u64,
}
