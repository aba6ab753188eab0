//! Discovery: groups, versions and resources; the server's version and health.

mod remote;
mod plain;
mod aggregated;
mod health;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

pub(crate) use self::remote::{Remote, RemoteVersion, resources_in, resources_of};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use fakeserver_kinds::registry::{Group, Registry};
use fakeserver_value::{cbor, status::Status};
use fakeserver_versions::{KubernetesVersion, PerVersion};
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::edge::{
    request::{ApiPath, MediaTypes, Query, header_text},
    response::{Delivery, check_route, pretty},
};

/// The group versions that a fault hides from aggregated discovery.
type HiddenVersions = BTreeSet<(String, String)>;

/// The media type of aggregated discovery documents.
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const JSON: &str = "application/json";
/// The same in CBOR.
const AGGREGATED_CBOR: &str =
    "application/cbor;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const CBOR: &str = "application/cbor";

/// The address in documents if the request has no host.
const DEFAULT_HOST: &str = "127.0.0.1:8001";

/// A document with its digest, made once in a process.
struct Document {
    body: Bytes,
    etag: HeaderValue,
}

/// Returns the document of the core group. No definition adds to it, so that it is constant.
fn aggregated_core(kubernetes: KubernetesVersion) -> &'static Document {
    static CORE: PerVersion<Document> = PerVersion::new();
    CORE.get_or_init(kubernetes, || {
        let registry = Registry::builtin(kubernetes);
        Document::new(&aggregated::core(&registry, &HiddenVersions::new()))
    })
}

/// Returns the document of the groups of a server without custom resources.
fn aggregated_groups(kubernetes: KubernetesVersion) -> &'static Document {
    static GROUPS: PerVersion<Document> = PerVersion::new();
    GROUPS.get_or_init(kubernetes, || {
        let (registry, remote) = (Registry::builtin(kubernetes), Remote::default());
        Document::new(&aggregated::groups(
            kubernetes,
            &remote.merged(&registry),
            &HiddenVersions::new(),
        ))
    })
}

/// The part of a real server that gives a document: they have other media types, and other ways to refuse some.
#[derive(Clone, Copy)]
enum Server {
    /// The versions of the core group.
    Core(MediaTypes),
    /// The groups, and one of them.
    Aggregator(MediaTypes),
    /// The resources of a custom group.
    Definitions(MediaTypes),
    /// The resources of a built-in group.
    Group(MediaTypes),
}

// === impl Server ===

impl Server {
    /// Returns the media types of its documents.
    fn media_types(self) -> MediaTypes {
        match self {
            Self::Core(media_types)
            | Self::Aggregator(media_types)
            | Self::Definitions(media_types)
            | Self::Group(media_types) => media_types,
        }
    }

    /// Returns whether its router refuses media types before a handler does.
    fn is_routed(self) -> bool {
        matches!(self, Self::Core(_) | Self::Group(_))
    }
}

/// The sources of discovery documents.
pub(crate) struct DiscoverySource<'a> {
    pub(crate) registry: &'a Registry,
    pub(crate) remote: &'a Remote,
    pub(crate) media_types: MediaTypes,
    /// Returns whether a group version is hidden from aggregated discovery.
    pub(crate) is_hidden: &'a dyn Fn(&str, &str) -> bool,
}

/// Answers a request for one of these documents; nothing if `path` leads to none.
pub(crate) fn serve(
    source: &DiscoverySource<'_>,
    method: &Method,
    path: &ApiPath,
    query: &Query,
    headers: &HeaderMap,
    is_pretty: bool,
) -> Option<Result<Response, Status>> {
    let registry = source.registry;
    let answer = match path {
        ApiPath::CoreVersions => {
            let server = Server::Core(
                source
                    .media_types
                    .outside_of_resources(source.registry.kubernetes()),
            );
            let plain = || to_bytes(&plain::core_versions(registry, host(headers)));
            let hidden = source.hidden(|group| group.name.is_empty());
            if hidden.is_empty() {
                let core = aggregated_core(registry.kubernetes());
                versions(headers, server, is_pretty, core, plain)
            } else {
                let aggregated = Document::new(&aggregated::core(registry, &hidden));
                versions(headers, server, is_pretty, &aggregated, plain)
            }
        }
        ApiPath::Groups => groups(source, headers, is_pretty),
        ApiPath::Group(name) => {
            let group = source.remote.merged_group(registry, name)?;
            let server = Server::Aggregator(
                source
                    .media_types
                    .outside_of_resources(source.registry.kubernetes()),
            );
            document(headers, server, is_pretty, || {
                to_bytes(&plain::one_group(&group))
            })
        }
        ApiPath::Version { group, version } => {
            let group = registry.group(group)?;
            resources(source, headers, is_pretty, group, version)?
        }
        // These two documents have no kind, and are always indented.
        ApiPath::Root => Ok(json(
            pretty(&to_bytes(&plain::paths(registry))).into(),
            JSON,
        )),
        ApiPath::ServerVersion => check_route(headers, &[JSON]).map(|()| {
            json(
                pretty(&to_bytes(&plain::server_version(registry.kubernetes()))).into(),
                JSON,
            )
        }),
        ApiPath::Health { endpoint, check } => {
            health::serve(registry.kubernetes(), endpoint, check.as_deref(), query)?
        }
        ApiPath::Metrics
        | ApiPath::OpenApi(_)
        | ApiPath::Resource(_)
        | ApiPath::Deeper(_)
        | ApiPath::NoResource
        | ApiPath::Other => {
            return None;
        }
    };
    if method == Method::GET || !has_method_routes(registry, path) {
        Some(answer)
    } else {
        Some(Err(Status::method_not_allowed()))
    }
}

/// Answers with all groups but the core one.
fn groups(
    source: &DiscoverySource<'_>,
    headers: &HeaderMap,
    is_pretty: bool,
) -> Result<Response, Status> {
    let registry = source.registry;
    let server = Server::Aggregator(
        source
            .media_types
            .outside_of_resources(source.registry.kubernetes()),
    );
    let hidden = source.hidden(|group| !group.name.is_empty());
    let groups = source.remote.merged(registry);
    let plain = || to_bytes(&plain::groups(&groups));
    if registry.is_builtin() && hidden.is_empty() && source.remote.versions.is_empty() {
        let aggregated = aggregated_groups(registry.kubernetes());
        return versions(headers, server, is_pretty, aggregated, plain);
    }
    let aggregated = Document::new(&aggregated::groups(registry.kubernetes(), &groups, &hidden));
    versions(headers, server, is_pretty, &aggregated, plain)
}

/// Returns whether a path has a route, which goes by the method. Other handlers answer any.
fn has_method_routes(registry: &Registry, path: &ApiPath) -> bool {
    match path {
        ApiPath::CoreVersions | ApiPath::ServerVersion => true,
        ApiPath::Version { group, .. } => {
            let group = registry.group(group);
            group.is_some_and(|group| !group.is_custom)
        }
        _ => false,
    }
}

/// Answers with the resources of a version of a group; nothing if a custom group does not have it.
fn resources(
    source: &DiscoverySource<'_>,
    headers: &HeaderMap,
    is_pretty: bool,
    group: &Group,
    version: &str,
) -> Option<Result<Response, Status>> {
    let server = if group.is_custom {
        Server::Definitions(
            source
                .media_types
                .outside_of_resources(source.registry.kubernetes()),
        )
    } else {
        Server::Group(source.media_types)
    };
    match source.registry.version(&group.name, version) {
        Some(version) => Some(document(headers, server, is_pretty, || {
            to_bytes(&plain::resources(group, version))
        })),
        None if group.is_custom => None,
        None => Some(Err(Status::unknown_resource())),
    }
}

/// The groups in the form that the client prefers, all in one, or their names alone.
fn versions(
    headers: &HeaderMap,
    server: Server,
    is_pretty: bool,
    aggregated: &Document,
    plain: impl FnOnce() -> Bytes,
) -> Result<Response, Status> {
    let accept = header_text(headers, header::ACCEPT);
    let is_aggregated = |clause: &str| {
        let mut parts = clause.split(';').map(str::trim);
        let has_form = match parts.next() {
            Some(JSON) => true,
            Some(CBOR) => server.media_types().has_cbor(),
            _ => false,
        };
        let parameters: Vec<&str> = parts.collect();
        has_form
            && ["g=apidiscovery.k8s.io", "v=v2", "as=APIGroupDiscoveryList"]
                .iter()
                .all(|parameter| parameters.contains(parameter))
    };
    let first = accept
        .split(',')
        .find(|clause| is_aggregated(clause) || is_plain(clause));
    match first {
        Some(clause) if is_aggregated(clause) => Ok(aggregated.answer(headers, |body| {
            if clause.trim_start().starts_with(CBOR) {
                in_cbor(&body)
            } else {
                json(indented_if(body, is_pretty), AGGREGATED)
            }
        })),
        _ => document(headers, server, is_pretty, plain),
    }
}

/// A document that is an object, in the format that the client accepts.
fn document(
    headers: &HeaderMap,
    server: Server,
    is_pretty: bool,
    body: impl FnOnce() -> Bytes,
) -> Result<Response, Status> {
    let (media_types, is_routed) = (server.media_types(), server.is_routed());
    let delivery = Delivery::plain(headers, media_types, is_routed, is_pretty)?;
    Ok(delivery.negotiated(StatusCode::OK, body()))
}

fn is_plain(clause: &str) -> bool {
    let mut parts = clause.split(';').map(str::trim);
    let is_json = matches!(parts.next(), Some(JSON | "*/*"));
    is_json && !parts.any(|parameter| parameter.starts_with("as="))
}

fn indented_if(body: Bytes, is_pretty: bool) -> Bytes {
    if is_pretty {
        pretty(&body).into()
    } else {
        body
    }
}

/// Returns an aggregated document as CBOR.
fn in_cbor(body: &[u8]) -> Response {
    let document: Value = serde_json::from_slice(body).expect("it was written as JSON");
    let content_type = [(header::CONTENT_TYPE, AGGREGATED_CBOR)];
    (content_type, cbor::encode(&document, None)).into_response()
}

fn json(body: Bytes, media_type: &'static str) -> Response {
    ([(header::CONTENT_TYPE, media_type)], body).into_response()
}

fn to_bytes(document: &impl Serialize) -> Bytes {
    let mut body = serde_json::to_vec(document).expect("documents have no maps");
    body.push(b'\n');
    body.into()
}

fn host(headers: &HeaderMap) -> &str {
    match header_text(headers, header::HOST) {
        "" => DEFAULT_HOST,
        host => host,
    }
}

// === impl DiscoverySource ===

impl DiscoverySource<'_> {
    /// Returns the versions of the selected groups that a fault hides.
    fn hidden(&self, is_asked: impl Fn(&Group) -> bool) -> HiddenVersions {
        let groups = self.registry.groups().iter();
        let groups = groups.filter(|group| is_asked(group));
        let versions = groups.flat_map(|group| {
            let versions = group.versions.iter();
            versions.map(move |version| (group.name.to_string(), version.name.to_string()))
        });
        let remote = self.remote.versions.iter();
        let remote = remote.map(|remote| (remote.group.clone(), remote.version.clone()));
        versions
            .chain(remote)
            .filter(|(group, version)| (self.is_hidden)(group, version))
            .collect()
    }
}

// === impl Document ===

impl Document {
    fn new(document: &impl Serialize) -> Self {
        let body = to_bytes(document);
        let digest = Sha256::digest(&body);
        let hex: String = digest.iter().fold(String::new(), |mut hex, byte| {
            use std::fmt::Write;
            let _ = write!(hex, "{byte:02X}");
            hex
        });
        let etag = HeaderValue::from_str(&format!("\"{hex}\"")).expect("hexadecimal is ASCII");
        Self { body, etag }
    }

    /// The document, or that the client has it already.
    fn answer(&self, headers: &HeaderMap, encode: impl FnOnce(Bytes) -> Response) -> Response {
        let etags = header_text(headers, header::IF_NONE_MATCH);
        let has_it = etags
            .split(',')
            .any(|tag| tag.trim().as_bytes() == self.etag.as_bytes());
        let mut response = if has_it {
            StatusCode::NOT_MODIFIED.into_response()
        } else {
            encode(self.body.clone())
        };
        let headers = response.headers_mut();
        headers.insert(header::ETAG, self.etag.clone());
        headers.insert(header::VARY, HeaderValue::from_static("Accept"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("public"));
        response
    }
}
