//! Discovery requests, and requests that other servers answer, with the faults that apply to them.

use axum::response::Response;
use http::request::Parts;

use super::{Api, Requester, Verb, facts::client, request_faults::RequestFaults};
use crate::{
    edge::request::{ApiPath, Query},
    faults::{Connection, RequestFacts},
};

/// A discovery request, or one for an aggregated server.
#[derive(Debug)]
pub(crate) struct DiscoveryRequest<'a> {
    api: &'a Api,
    parts: &'a Parts,
    user: &'a str,
}

/// Waits as long as faults want for a question about a version of a group, or about all of them if both are empty; gives
/// the answer, if a fault has one.
///
/// # Cancel safety
///
/// A fault has fired, and nothing else has happened.
pub(crate) async fn discover(
    request: &DiscoveryRequest<'_>,
    group: &str,
    version: &str,
) -> Result<(), Response> {
    let connection = request.parts.extensions.get::<Connection>();
    let connection = connection.cloned().unwrap_or_default();
    let facts = request.facts(group, version);
    let faults = RequestFaults::of(request.api, &connection, &facts).await?;
    // Discovery changes nothing, so a delay before it is indistinguishable from one after it.
    faults.delay_head().await;
    Ok(())
}

/// Waits as long as faults want for a request that another server is to answer; gives the answer, if a fault has one. Faults
/// of streams and of bodies have no effect on it.
///
/// # Cancel safety
///
/// A fault has fired, and nothing else has happened.
pub(crate) async fn admit_forwarded(
    request: &DiscoveryRequest<'_>,
    path: &ApiPath,
    query: &Query,
) -> Result<(), Response> {
    let (ApiPath::Resource(resource) | ApiPath::Deeper(resource)) = path else {
        return match path {
            ApiPath::Version { group, version } => discover(request, group, version).await,
            _ => Ok(()),
        };
    };
    let Some(verb) = Verb::of(&request.parts.method, resource, query) else {
        return Ok(());
    };
    let connection = request.parts.extensions.get::<Connection>();
    let connection = connection.cloned().unwrap_or_default();
    let facts = RequestFacts {
        verb: verb.name(),
        resource: resource.resource.clone(),
        subresource: resource.subresource.clone(),
        namespace: resource.namespace.clone(),
        name: resource.name.clone(),
        ..request.facts(&resource.group, &resource.version)
    };
    let faults = RequestFaults::of(request.api, &connection, &facts).await?;
    faults.delay_head().await;
    Ok(())
}

// === impl DiscoveryRequest ===

impl<'a> DiscoveryRequest<'a> {
    pub(crate) fn new(api: &'a Api, requester: &'a Requester, parts: &'a Parts) -> Self {
        Self {
            api,
            parts,
            user: requester.user.name(),
        }
    }

    /// Returns whether a fault hides a version of a group where all are listed together.
    pub(crate) fn is_hidden(&self, group: &str, version: &str) -> bool {
        self.api.faults.hides(&self.facts(group, version))
    }

    fn facts(&self, group: &str, version: &str) -> RequestFacts {
        RequestFacts {
            client: client(&self.parts.headers).to_owned(),
            verb: "discover",
            group: group.to_owned(),
            version: version.to_owned(),
            user: self.user.to_owned(),
            revision: self.api.backend.storage.revision().get(),
            ..RequestFacts::default()
        }
    }
}
