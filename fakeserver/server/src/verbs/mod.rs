//! The verbs, one a file.
//!
//! A verb is a function of the [`Api`] and a [`Request`]. A verb that writes creates a [`Draft`](crate::write::Draft).

mod requester;
mod tally;
mod api;
mod request;
mod log_options;
mod kubelet_api;
mod request_faults;
mod durability;
mod shaping;
mod facts;
mod discover;
mod author;
mod inert;
mod body;
mod answer;
mod present;
mod selection;
mod version;
mod get;
mod list;
mod watch;
mod duplicate_owners;
mod create;
mod update;
mod patch_operations;
mod patch;
mod apply;
mod delete;
mod delete_collection;
mod deprecation;
mod admit;
pub mod subresources;
mod load;
mod reviews;
mod usage_metrics;

use std::{pin::pin, time::Duration};

use axum::{body::Body, response::Response};
use fakeserver_value::{
    audit_annotations::AuditAnnotations, resource_path::ResourcePath, status::Status,
};
use fakeserver_versions::KubernetesVersion;
use http::{Method, request::Parts};

use tokio::time::timeout;

pub use self::api::Api;
pub use self::kubelet_api::KubeletApi;
#[cfg(feature = "client")]
pub use self::load::find as find_object;
pub use self::log_options::{LogOptions, LogSelection};
pub use self::request::Request;
pub(crate) use self::{
    discover::{DiscoveryRequest, admit_forwarded, discover, peer_of},
    inert::InertWarnings,
    load::{apply as apply_object, delete as delete_object, load as load_object},
    requester::Requester,
    tally::Tally,
};
use self::{
    request::{concerns_definitions, find_target},
    request_faults::RequestFaults,
    reviews::Review,
    subresources::Subresource,
    usage_metrics::MetricsKind,
};

use crate::{
    edge::{
        request::{ListOptions, Query, query_text, read_body, time_limit},
        response::{refusal_to, timed_out},
    },
    faults::{Connection, RequestFacts},
    write::definitions,
};

/// Shorter timeouts count as expired.
const QUICKEST: Duration = Duration::from_micros(1);

#[cfg(test)]
mod tests;

/// The verb of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    Get,
    List,
    Watch,
    Create,
    Update,
    Patch,
    Delete,
    DeleteCollection,
}

/// Answers a request for a resource, as a server of the version of `peer` if there is one. Fault rules see the request before
/// its authorization.
pub async fn serve(
    api: &Api,
    (requester, peer): (&Requester, Option<KubernetesVersion>),
    parts: &Parts,
    path: ResourcePath,
    query: Query,
    body: Body,
) -> Result<Response, Status> {
    let connection = parts.extensions.get::<Connection>();
    let audit = parts.extensions.get::<AuditAnnotations>();
    let registry = api.registry_of(peer);
    let features = api.features.of_version(registry.kubernetes());
    let understood = find_target(&registry, path).and_then(|target| {
        let mut request = Request {
            target,
            peer,
            requester: requester.clone(),
            query,
            headers: &parts.headers,
            uri: parts.uri.clone(),
            media_types: api.media_types,
            has_shards: api.has_shards,
            features,
            connection: connection.cloned().unwrap_or_default(),
            audit: audit.cloned().unwrap_or_default(),
        };
        let verb = request.verb(&parts.method)?;
        if verb == Verb::Create && request.target.path.subresource.is_none() {
            // The name of a created custom object is in its body.
            request.target.path.name = None;
        }
        Ok((verb, request))
    });
    let (verb, request) = match understood {
        Ok(understood) => understood,
        // A requester without the permission gets 403, and not the reason why the request is invalid.
        Err(status) => {
            let refusal = requester.refusal(&parts.headers);
            // No resource handler has answered.
            let types = api.media_types.outside_of_resources(registry.kubernetes());
            let query = Query::parse(query_text(&parts.uri, &parts.extensions));
            return Ok(refusal.unwrap_or_else(|| refusal_to(types, &query, &parts.headers, status)));
        }
    };
    // A watch has its own timeout, at which it ends without an error.
    let limit = match verb {
        Verb::Watch => None,
        _ => Some(time_limit(&request.query)?),
    };
    request.check_name(verb)?;
    let options = match verb {
        Verb::Get | Verb::List | Verb::Watch => request.list_options(verb),
        _ => Ok(ListOptions::default()),
    };
    let options = match options {
        Ok(options) => options,
        Err(status) => return deprecation::warn_of(&request.target.resource, Err(status)),
    };
    // Counted once the request is valid, and before faults: clients count the requests that a fault fails.
    api.tally.count(&request.target, verb.name());

    // Before authorization: a fault stands for the network and the server's front, which do not know permissions.
    let facts = facts::facts(&request, verb, &options, api.backend.storage.revision());
    let mut faults = match RequestFaults::of(api, &request.connection, &facts).await {
        Ok(faults) => faults,
        Err(answer) => return Ok(answer),
    };
    if let Some(refused) = requester.refusal(&parts.headers) {
        // The response to a forbidden request is delayed, but not replaced or cut: nothing was served.
        faults.delay_head().await;
        return Ok(refused);
    }
    let durable = durability::admit(&api.backend, &request, verb)?;
    if let Some(durable) = durable {
        faults.sees = Some(faults.sees.map_or(durable, |sees| sees.min(durable)));
    }
    // The time limit covers the handler, and not the faults: those are delays beyond the server's control.
    let answering = pin!(answer(api, &request, verb, facts, &options, &faults, body));
    let mut answer = within(limit, answering).await;
    // A watch waits for each of its events. What a stalled log lets a read see is on the disk.
    if let Some(log) = api.backend.durability()
        && verb != Verb::Watch
        && durable.is_none()
    {
        answer = durability::settle(log, verb, answer).await;
    }
    faults.deliver(&request.connection, answer).await
}

/// Waits for an answer up to the limit, if there is one.
async fn within(
    limit: Option<Duration>,
    answering: impl Future<Output = Result<Response, Status>>,
) -> Result<Response, Status> {
    match limit {
        None => answering.await,
        // No request is that quick.
        Some(limit) if limit <= QUICKEST => Ok(timed_out()),
        Some(limit) => match timeout(limit, answering).await {
            Ok(answer) => answer,
            Err(_) => Ok(timed_out()),
        },
    }
}

async fn answer(
    api: &Api,
    request: &Request<'_>,
    verb: Verb,
    facts: RequestFacts,
    options: &ListOptions,
    faults: &RequestFaults,
    body: Body,
) -> Result<Response, Status> {
    let target = &request.target;
    // Reviews are no resources with objects: no deprecation, no definitions, no leases.
    if let Some(review) = Review::of(target) {
        return review.serve(api, request, &read_body(body).await?).await;
    }
    let answer = served(api, request, verb, facts, options, faults, body).await;
    deprecation::warn_of(&target.resource, answer)
}

async fn served(
    api: &Api,
    request: &Request<'_>,
    verb: Verb,
    facts: RequestFacts,
    options: &ListOptions,
    faults: &RequestFaults,
    body: Body,
) -> Result<Response, Status> {
    let target = &request.target;
    if let Some(metrics_kind) = MetricsKind::of(target) {
        return metrics_kind.serve(api, request, verb, options, faults.sees);
    }
    if let Some(subresource) = Subresource::of(target) {
        return subresource.serve(api, request, verb, body).await;
    }
    let answer = match verb {
        Verb::Get => get::get(api, request, options, faults.sees).await,
        Verb::List => list::list(api, request, options, faults).await,
        Verb::Watch => watch::watch(api, request, facts, options, faults).await,
        Verb::Create => create::create(api, request, &read_body(body).await?).await,
        Verb::Update => update::update(api, request, &read_body(body).await?).await,
        Verb::Patch => patch::patch(api, request, &read_body(body).await?).await,
        Verb::Delete => delete::delete(api, request, &read_body(body).await?).await,
        Verb::DeleteCollection => {
            let body = read_body(body).await?;
            delete_collection::delete_collection(api, request, &body).await
        }
    };
    let backend = &api.backend;
    // Before the response: a client that has created a definition can use its resource at once, if its conditions say
    // so.
    if concerns_definitions(target, verb) {
        definitions::settle(backend).await;
    }
    // Here, since tasks need a runtime: a store that is filled before the first request has none.
    backend.leases.start_expiry(&backend.storage, &api.tasks);
    answer
}

// === impl Verb ===

impl Verb {
    /// Returns the verb of `method` at `path`, whether or not the resource has it.
    pub fn of(method: &Method, path: &ResourcePath, query: &Query) -> Option<Self> {
        let is_object = path.name.is_some();
        Some(match (method, is_object) {
            (&Method::GET, _) if path.is_watch => Self::Watch,
            // A path of a watch supports no other verb, with any method.
            _ if path.is_watch => return None,
            (&Method::GET, true) => Self::Get,
            (&Method::GET, false) if query.bool("watch") == Some(true) => Self::Watch,
            (&Method::GET, false) => Self::List,
            (&Method::POST, false) => Self::Create,
            // Some subresources are created: evictions, bindings, tokens.
            (&Method::POST, true) if path.subresource.is_some() => Self::Create,
            (&Method::PUT, true) => Self::Update,
            (&Method::PATCH, true) => Self::Patch,
            (&Method::DELETE, true) => Self::Delete,
            (&Method::DELETE, false) => Self::DeleteCollection,
            _ => return None,
        })
    }

    /// Returns the verb's name in discovery, RBAC and audit logs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Create => "create",
            Self::Update => "update",
            Self::Patch => "patch",
            Self::Delete => "delete",
            Self::DeleteCollection => "deletecollection",
        }
    }
}
