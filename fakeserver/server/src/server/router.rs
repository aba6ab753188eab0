//! The routes of requests to their handlers.

use std::{any::Any, sync::Arc};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    middleware::{self, Next},
    response::{IntoResponse, Response},
};
use fakeserver_kinds::registry::{Lookup, Registry};
use fakeserver_value::{resource_path::ResourcePath, status::Status};
use fakeserver_versions::KubernetesVersion;
use http::{Method, StatusCode, header, request::Parts};
use tower_http::catch_panic::CatchPanicLayer;
use tracing::{error, info};

#[cfg(feature = "tls")]
use super::openid;
use super::{
    access, aggregator,
    assembly::Server,
    control, in_flight,
    logging::LoggedRequest,
    metrics,
    origins::{self, PlainTcp},
    page, request_log, response_headers,
    websocket::Handshake,
};

use crate::{
    edge::{
        authorization::request_attributes,
        discovery::{self, DiscoverySource},
        openapi,
        request::{ApiPath, LongQuery, MediaTypes, OpenApiPath, Query, query_text, time_limit},
        response::{is_pretty, refusal_to},
    },
    verbs::{self, DiscoveryRequest, Requester, discover},
};

/// The API as a service.
pub(super) fn router(server: Arc<Server>) -> Router {
    Router::new()
        .fallback(handle)
        .with_state(Arc::clone(&server))
        .layer(CatchPanicLayer::custom(on_panic))
        .layer(middleware::from_fn_with_state(Arc::clone(&server), limit))
        .layer(middleware::from_fn_with_state(Arc::clone(&server), record))
        // Outermost, so that an answer to a panic has the headers of every answer.
        .layer(middleware::from_fn_with_state(server, wrap))
}

async fn wrap(State(server): State<Arc<Server>>, request: Request, next: Next) -> Response {
    server.start();
    let is_audited = server.logs.audit.is_some();
    let flow = server.access.default_flow;
    response_headers::wrap(&server.backend().entropy, is_audited, flow, request, next).await
}

async fn record(State(server): State<Arc<Server>>, request: Request, next: Next) -> Response {
    request_log::record(&server.logs, &server.backend().storage, request, next).await
}

async fn limit(State(server): State<Arc<Server>>, request: Request, next: Next) -> Response {
    in_flight::admit(&server.in_flight, &server.api.tasks, request, next).await
}

async fn handle(State(server): State<Arc<Server>>, request: Request) -> Response {
    let (mut parts, body) = request.into_parts();
    let handshake = Handshake::of(&mut parts);
    let (response, logged) = respond(&server, &parts, body).await;
    match handshake {
        Some(handshake) => handshake.answer(&server, response, logged),
        None => logged.answer(response),
    }
}

/// Answers a request: authenticates, authorizes and serves it. The caller passes the sent response to the returned log
/// entries.
pub(super) async fn respond(
    server: &Arc<Server>,
    parts: &Parts,
    body: Body,
) -> (Response, LoggedRequest) {
    let query = Query::parse(query_text(&parts.uri, &parts.extensions));
    // The time limit comes before authentication, as in the filters of a real server.
    let admitted = check_origin(parts)
        .and_then(|()| check_time_limit(parts, &query))
        .and_then(|()| access::admit(&server.api, &server.access.authorizer, parts, &query));
    let attributes = || request_attributes(&parts.method, parts.uri.path(), &query);
    // Begun for failed authentication, too: it is in the logs.
    let logged = LoggedRequest::begin(
        server.logs.audit.as_ref(),
        server.backend().clock,
        parts,
        attributes,
        admitted.as_ref().ok(),
    );
    let requester = match admitted {
        Ok(requester) => requester,
        Err(mut refused) => {
            refused
                .extensions_mut()
                .insert(response_headers::UnclassifiedResponse);
            return (*refused, logged);
        }
    };
    let storage = &server.backend().storage;
    // After authentication: flow schemas select by user. A 401 has no such headers.
    let classification = server
        .access
        .flows
        .classify(storage, &requester.user, attributes);
    let body = logged.observe(body);
    let mut response = answer(server, parts, query, requester, body).await;
    response
        .headers_mut()
        .extend(classification.into_iter().flatten());
    (response, logged)
}

/// Rejects what a browser sends for another site, on a server without TLS.
fn check_origin(parts: &Parts) -> Result<(), Box<Response>> {
    if parts.extensions.get::<PlainTcp>().is_none() {
        return Ok(());
    }
    let Some(why) = origins::refusal(&parts.uri, &parts.headers) else {
        return Ok(());
    };
    info!(
        why = why.trim_end(),
        path = parts.uri.path(),
        "request refused"
    );
    Err(Box::new(plain(StatusCode::FORBIDDEN, why.to_owned())))
}

/// Rejects an invalid `timeout` parameter of any request that is not exempt from limits.
fn check_time_limit(parts: &Parts, query: &Query) -> Result<(), Box<Response>> {
    let text = query_text(&parts.uri, &parts.extensions);
    if in_flight::is_exempt(&parts.method, parts.uri.path(), text) {
        return Ok(());
    }
    let limit = time_limit(query).map(drop);
    limit.map_err(|status| {
        Box::new(refusal_to(
            MediaTypes::default(),
            query,
            &parts.headers,
            status,
        ))
    })
}

/// Answers a request of an authenticated user.
async fn answer(
    server: &Arc<Server>,
    parts: &Parts,
    query: Query,
    requester: Requester,
    body: Body,
) -> Response {
    let (method, headers) = (&parts.method, &parts.headers);
    // No tunnels: a target without a path is found nowhere.
    if *method == Method::CONNECT && parts.uri.path().is_empty() {
        return not_found();
    }
    let path = ApiPath::parse(parts.uri.path());
    if is_too_long(server, parts, &path) {
        let why = "414 URI Too Long: this query cannot be passed on to another server\n";
        return plain(StatusCode::URI_TOO_LONG, why.to_owned());
    }
    if let Some(target) = aggregated_api(server, parts, &path) {
        return aggregator::forward(&server.api, parts, &query, &requester, body, &target).await;
    }
    let discovery_request = DiscoveryRequest::new(&server.api, &requester, parts);
    let peer = verbs::peer_of(&discovery_request, &path, &query);
    let registry = server.api.registry_of(peer);
    let path = match path {
        ApiPath::Resource(path) if is_routed(&registry, method, &path) => {
            return resource(server, parts, path, query, (&requester, peer), body).await;
        }
        ApiPath::Deeper(path) if is_proxy(&path) => {
            return resource(server, parts, path, query, (&requester, peer), body).await;
        }
        ApiPath::Deeper(path)
            if !has_routes(&registry, &path) && is_routed(&registry, method, &path) =>
        {
            return resource(server, parts, path, query, (&requester, peer), body).await;
        }
        path => path,
    };
    // Requests for resources are authorized by their verbs, after faults and the conversion of their path.
    if let Some(refused) = requester.refusal(headers) {
        return refused;
    }
    if let Some(action) = parts.uri.path().strip_prefix("/_control/") {
        return controlled(server, parts, action, body).await;
    }
    settle_documents(server, &path).await;
    let rejection = match &path {
        ApiPath::CoreVersions | ApiPath::Groups => discover(&discovery_request, "", "").await,
        ApiPath::Version { group, version } => discover(&discovery_request, group, version).await,
        _ => Ok(()),
    };
    if let Err(answer) = rejection {
        return answer;
    }
    let answer = match path {
        ApiPath::NoResource => Some(Ok(no_resource(parts.uri.path()))),
        ApiPath::Deeper(path) => {
            has_routes(&registry, &path).then(|| Err(Status::unknown_resource()))
        }
        ApiPath::Metrics => Some(metrics::serve(
            method,
            &server.stats(),
            &server.seats(),
            server.log_counts(),
        )),
        ApiPath::OpenApi(path) => {
            let documents = server.openapi.of(server.api.stored_registry_of(peer));
            let merged = aggregator::documents(
                &server.aggregator,
                &server.backend().storage,
                &server.openapi,
                &documents,
            );
            openapi::serve(&merged, &server.backend().clock, &path, &query, headers).map(Ok)
        }
        #[cfg(feature = "tls")]
        ApiPath::Other => openid::serve(&server.api.authenticator, parts).map(Ok),
        path => {
            let is_pretty = is_pretty(&query, headers);
            let source = DiscoverySource {
                registry: &registry,
                remote: &aggregator::groups(&server.aggregator, &server.backend().storage),
                media_types: server.api.media_types,
                is_hidden: &|group, version| discovery_request.is_hidden(group, version),
            };
            discovery::serve(&source, method, &path, &query, headers, is_pretty)
        }
    };
    answer.map_or_else(not_found, |answer| {
        let media_types = server
            .api
            .media_types
            .outside_of_resources(registry.kubernetes());
        answer.unwrap_or_else(|status| refusal_to(media_types, &query, headers, status))
    })
}

/// Returns the API of another server that answers a request.
fn aggregated_api(
    server: &Server,
    parts: &Parts,
    path: &ApiPath,
) -> Option<aggregator::AggregatedApi> {
    let (all, storage) = (&server.aggregator, &server.backend().storage);
    match path {
        ApiPath::OpenApi(OpenApiPath::V3(document)) => {
            let found = all.find(storage, &format!("/{document}"))?;
            found.has_document(document).then_some(found)
        }
        _ => all.find(storage, parts.uri.path()),
    }
}

/// Waits until the definitions that show in a document are on the disk. Those of a log that does not advance go out
/// nevertheless: they name no revision.
async fn settle_documents(server: &Server, path: &ApiPath) {
    let is_document = !matches!(
        path,
        ApiPath::Metrics | ApiPath::Health { .. } | ApiPath::Other
    );
    if let Some(log) = server.backend().durability().filter(|_| is_document) {
        let _ = log.settled().await;
    }
}

/// Answers a request below `/_control/`.
async fn controlled(server: &Server, parts: &Parts, action: &str, body: Body) -> Response {
    match action.strip_prefix("page") {
        Some(below) => page::serve(server, parts, below),
        // Browsers send simple POSTs across sites, without asking: a page on the web must not control a local server.
        None if origins::is_of_other_site(&parts.uri, &parts.headers) => {
            let why = "/_control answers no page of another site\n";
            (StatusCode::FORBIDDEN, why).into_response()
        }
        None => control::handle(server, &parts.method, action, body).await,
    }
}

/// Answers a request for a resource.
async fn resource(
    server: &Arc<Server>,
    parts: &Parts,
    path: ResourcePath,
    query: Query,
    requester: (&Requester, Option<KubernetesVersion>),
    body: Body,
) -> Response {
    let answer = verbs::serve(&server.api, requester, parts, path, query, body).await;
    answer.unwrap_or_else(|status| {
        let query = Query::parse(query_text(&parts.uri, &parts.extensions));
        refusal_to(server.api.media_types, &query, &parts.headers, status)
    })
}

/// Returns whether the resources of a group have routes, as all built-in ones have. A missing resource is answered by them,
/// with a status; those of custom groups go by the beginning of the path.
fn has_routes(registry: &Registry, path: &ResourcePath) -> bool {
    let group = registry.group(&path.group);
    group.is_some_and(|group| !group.is_custom)
}

/// Returns whether a handler serves `path`.
fn is_routed(registry: &Registry, method: &Method, path: &ResourcePath) -> bool {
    if has_routes(registry, path) {
        return true;
    }
    let found = registry.lookup(&path.group, &path.version, &path.resource);
    let Lookup::Found(resource) = found else {
        return false;
    };
    // Objects of all namespaces are only listed and watched.
    let is_read = matches!(*method, Method::GET | Method::HEAD) && path.name.is_none();
    match path.namespace {
        Some(_) => resource.is_namespaced,
        None => !resource.is_namespaced || is_read || path.is_watch,
    }
}

/// Returns whether a request is passed on to another server, and its query is too long for that.
fn is_too_long(server: &Server, parts: &Parts, path: &ApiPath) -> bool {
    let is_proxied = match path {
        ApiPath::Resource(path) | ApiPath::Deeper(path) => is_proxy(path),
        _ => false,
    };
    parts.extensions.get::<LongQuery>().is_some()
        && (is_proxied || aggregated_api(server, parts, path).is_some())
}

/// Returns whether a path leads through the proxy of a pod, a service or a node.
fn is_proxy(path: &ResourcePath) -> bool {
    path.group.is_empty() && path.version == "v1" && path.subresource.as_deref() == Some("proxy")
}

/// Answers a path that is not served.
fn not_found() -> Response {
    plain(StatusCode::NOT_FOUND, "404 page not found\n".to_owned())
}

/// Answers a path below a version that is no resource.
fn no_resource(path: &str) -> Response {
    let message = format!(
        "Internal Server Error: {path:?}: failed to create RequestInfo: unable to determine kind and namespace from url, \
         {path}\n"
    );
    plain(StatusCode::INTERNAL_SERVER_ERROR, message)
}

pub(super) fn plain(code: StatusCode, message: String) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/plain; charset=utf-8"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (code, headers, message).into_response()
}

/// A panic is a defect of this server; its clients see what they would see of a panic in a real one.
#[expect(clippy::needless_pass_by_value, reason = "the layer hands it over")]
fn on_panic(panic: Box<dyn Any + Send>) -> http::Response<Body> {
    let reason = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("unknown");
    error!(error = reason, "request handler panicked");
    Status::internal(reason).into_response()
}
