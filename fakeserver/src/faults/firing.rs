//! What can be known of rules: that they are in force, and that they have fired.

use serde::Serialize;

use super::FaultSpec;

/// A rule in force that was made of a [`FaultSpec`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct InstalledFault {
    /// By which it can be removed.
    pub id: u64,
    /// What it was made of.
    pub spec: FaultSpec,
    /// How often it has fired.
    pub fired: u64,
    /// The revision at which it fired last: of the frame, or of the server when the request came.
    pub last_revision: Option<u64>,
}

/// One firing of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Firing {
    /// Of which rule, by its id.
    pub id: u64,
    /// The rule's name.
    pub rule: &'static str,
    /// Whose request or watch met it.
    pub client: String,
    /// What the request was for; `watch` for a frame.
    pub verb: &'static str,
    /// Which resource it was for.
    pub resource: String,
    /// The revision of the frame, or of the server when the request came.
    pub revision: u64,
}
