//! Discovery requests, and requests that other servers answer, with the faults that apply to them.

use axum::response::Response;
use fakeserver_value::resource_path::ResourcePath;
use fakeserver_versions::KubernetesVersion;
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
    if let ApiPath::Version { group, version } = path {
        return discover(request, group, version).await;
    }
    let (ApiPath::Resource(resource) | ApiPath::Deeper(resource)) = path else {
        return Ok(());
    };
    let Some(facts) = request.facts_about(resource, query) else {
        return Ok(());
    };
    let connection = request.parts.extensions.get::<Connection>();
    let connection = connection.cloned().unwrap_or_default();
    let faults = RequestFaults::of(request.api, &connection, &facts).await?;
    faults.delay_head().await;
    Ok(())
}

/// Returns the version of Kubernetes of the server that answers a request, if a fault lets another one than this do it.
pub(crate) fn peer_of(
    request: &DiscoveryRequest<'_>,
    path: &ApiPath,
    query: &Query,
) -> Option<KubernetesVersion> {
    let facts = || match path {
        ApiPath::Resource(resource) | ApiPath::Deeper(resource) => {
            let facts = request.facts_about(resource, query);
            facts.unwrap_or_else(|| request.facts(&resource.group, &resource.version))
        }
        ApiPath::Version { group, version } => request.facts(group, version),
        _ => request.facts("", ""),
    };
    match path {
        ApiPath::Health { .. } | ApiPath::Metrics | ApiPath::Other => None,
        _ => {
            let own = request.api.backend.registry().kubernetes();
            request.api.faults.served_by(own, facts)
        }
    }
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

    /// Returns the facts of a request for a resource; `None` if its method means nothing there.
    fn facts_about(&self, resource: &ResourcePath, query: &Query) -> Option<RequestFacts> {
        Some(RequestFacts {
            verb: Verb::of(&self.parts.method, resource, query)?.name(),
            resource: resource.resource.clone(),
            subresource: resource.subresource.clone(),
            namespace: resource.namespace.clone(),
            name: resource.name.clone(),
            ..self.facts(&resource.group, &resource.version)
        })
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
