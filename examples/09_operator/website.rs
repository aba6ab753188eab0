//! The resource: a website is an image and a number of replicas.

// ANCHOR: resource
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The desired state. The derive makes `Website`, with metadata and a status around it.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "example.com", version = "v1", kind = "Website", namespaced)]
#[kube(status = "WebsiteStatus")]
#[serde(rename_all = "camelCase")]
pub(crate) struct WebsiteSpec {
    /// The image that serves the website.
    pub(crate) image: String,
    /// The number of replicas.
    #[schemars(range(min = 1, max = 10))]
    pub(crate) replicas: i32,
}

/// The observed state.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WebsiteStatus {
    /// The number of replicas that are ready.
    pub(crate) ready_replicas: i32,
}
// ANCHOR_END: resource
